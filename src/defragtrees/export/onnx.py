"""Rules as an ONNX model, in plain operators and in doubles."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from defragtrees._utils.formatting import listed
from defragtrees._utils.optional import require
from defragtrees.export import portable
from defragtrees.export.tables import to_text
from defragtrees.rules.model import RuleModel

# Old enough for the runtimes in use; each operator has doubles by then.
OPSET, OPSET_ML, IR_VERSION = 17, 3, 8

OPERATORS = {
    ">": "Greater",
    ">=": "GreaterOrEqual",
    "<": "Less",
    "<=": "LessOrEqual",
    "=": "Equal",
}


def to_onnx(
    rules: RuleModel,
    *,
    single_input: bool = False,
    reasons: int = 0,
    best: str = "high",
    exclude: Sequence[Any] = (),
):
    """An ONNX model that predicts the same as the rules.

    Its inputs are the columns that the rules use, each of shape (n, 1) and named as the
    feature: doubles, in which NaN is missing, or texts, in which the empty text is
    missing. Numeric and boolean categories are doubles. Dates and times are numbers of
    days, as documented in the input. Its outputs are `label` and, if the rules have
    them, `probabilities` as doubles; or `prediction`. A scorecard also has the output
    `score`: the total or, of more than two classes, a column for each. If a feature has
    the same name, an underscore is appended to the output.

    Parameters
    ----------
    rules : RuleModel
    single_input : bool, default=False
        Use one input `X` of doubles with all features as columns.
    reasons : int, default=0
        Add an output `reasons` with so many columns of reason codes of a scorecard, ""
        where there are fewer; see `Scorecard.reasons`.
    best : {"high", "low"}, default="high"
        Which totals are desired, for reason codes.
    exclude : sequence of str or int, default=()
        Columns that are no reason.

    Returns
    -------
    onnx.ModelProto
    """
    onnx = require("onnx", "The ONNX export")
    graph = _Graph(onnx, rules)
    columns = _read_matrix(graph) if single_input else _read_columns(graph)
    matches = [_rule(graph, columns, tests) for tests in portable.column_tests(rules)]
    if rules._form.is_exclusive:
        _write_first(graph, matches)
    elif rules._form.is_sum:
        _write_sum(graph, matches)
    else:
        _write_mean(graph, matches)
    if reasons:
        table, every = portable.reasons(rules, reasons, best, exclude)
        atoms = [portable.conditions_tests(rules, atom) for atom in table.atoms]
        held = [_rule(graph, columns, tests) for tests in atoms]
        _write_reasons(graph, matches[-1], held, every, reasons)
    return graph.model()


def onnx_bytes(model):
    """The model as the bytes of a file."""
    return model.SerializeToString()


class _Graph:
    """The graph of a rule model while it is built."""

    def __init__(self, onnx, rules):
        self.onnx = onnx
        self.rules = rules
        self.nodes, self.constants = [], []
        self.inputs, self.outputs = [], []
        self.taken = {"", "X", *rules.feature_names}

    def fresh(self, name):
        """A unique name."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def add(self, operator, *inputs, place=0, **attributes):
        """Add an operator; return the name of its output at this place."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        outputs = [self.fresh(name) for _ in range(place + 1)]
        make = self.onnx.helper.make_node
        self.nodes.append(make(operator, inputs, outputs, **attributes))
        return outputs[-1]

    def constant(self, values):
        """Add a constant; return its name."""
        values = np.asarray(values)
        if values.dtype.kind == "U":
            values = values.astype(object)
        name = self.fresh(f"constant_{len(self.constants)}")
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def read(self, name, kind, n_columns, note=None):
        """Declare an input."""
        types = self.onnx.TensorProto
        kind = types.STRING if kind == "text" else types.DOUBLE
        info = self.onnx.helper.make_tensor_value_info
        self.inputs.append(info(name, kind, ["n", n_columns], doc_string=note))
        return name

    def write(self, name, value, dtype, *shape):
        """Declare an output."""
        types = self.onnx.TensorProto
        kind = {"U": types.STRING, "b": types.BOOL, "i": types.INT64}
        output = self.fresh(name)
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [output]))
        info = self.onnx.helper.make_tensor_value_info
        self.outputs.append(
            info(output, kind.get(dtype.kind, types.DOUBLE), ["n", *shape])
        )

    def model(self):
        """The finished model; its documentation is the text of the rules."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self.nodes, "rules", self.inputs, self.outputs, self.constants
        )
        return helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid("", OPSET),
                helper.make_opsetid("ai.onnx.ml", OPSET_ML),
            ],
            ir_version=IR_VERSION,
            producer_name="defragtrees",
            doc_string=to_text(self.rules).rstrip("\n"),
        )


def _read_matrix(graph):
    rules = graph.rules
    named = [
        rules.feature_names[j] for j, c in enumerate(rules.categories) if c is not None
    ]
    if named:
        raise ValueError(
            f"single_input needs numeric features only; {listed(named)} "
            "has categories. Leave it out to have one input per column."
        )
    notes = [
        f"{rules.feature_names[j]}: {_note(rules, j)}"
        for j in portable.used_features(rules)
        if _note(rules, j)
    ]
    note = "; ".join(notes) or None
    matrix = graph.read("X", "number", len(rules.feature_names), note)
    return {
        j: graph.add("Gather", matrix, graph.constant([j]), axis=1)
        for j in portable.used_features(rules) or [0]
    }


def _read_columns(graph):
    """The column of each feature; text becomes positions of categories."""
    rules, columns = graph.rules, {}
    # Without any column the number of rows would be unknown.
    for j in portable.used_features(rules) or [0]:
        kind, name = portable.column_kind(rules, j), rules.feature_names[j]
        if not name:
            raise ValueError("An input of ONNX needs a name; a feature has none.")
        columns[j] = graph.read(name, kind, 1, _note(rules, j))
        if kind == "text":
            columns[j] = _positions(graph, j, name)
    return columns


def _note(rules, feature):
    """Meaning of the numbers of a date or time column; ONNX has no such types."""
    return portable.DAYS.get(rules._vocabulary.scales[feature].kind)


def _positions(graph, feature, name):
    labels = list(portable.labels_of(graph.rules, feature))
    if "" in labels:
        raise ValueError(
            f"In ONNX the empty text is a missing value, but {name!r} has it as a "
            "category. Rename that category."
        )
    return graph.add(
        "LabelEncoder",
        name,
        keys_strings=[*labels, ""],
        values_int64s=[*range(len(labels)), len(labels) + 1],
        default_int64=len(labels),
        domain="ai.onnx.ml",
    )


def _rule(graph, columns, tests):
    """Whether a rule matches, (n, 1)."""
    if not tests:
        shape = graph.add("Shape", next(iter(columns.values())))
        true = graph.onnx.numpy_helper.from_array(np.array([True]))
        return graph.add("ConstantOfShape", shape, value=true)
    matches, *others = [_condition(graph, columns[t.feature], t) for t in tests]
    for other in others:
        matches = graph.add("And", matches, other)
    return matches


def _condition(graph, column, test):
    rules = graph.rules
    if portable.column_kind(rules, test.feature) == "text":
        accepted = [
            (label in test.labels) == test.is_listed
            for label in portable.labels_of(rules, test.feature)
        ]
        accepted = graph.constant([*accepted, not test.is_listed, test.missing])
        return graph.add("Gather", accepted, column)
    is_missing = graph.add("IsNaN", column)
    if test.labels is not None:
        matches = _membership(graph, column, test, is_missing)
    else:
        sides = test.sides
        if test.matches_none or not sides:
            sides = (("<=", -math.inf if test.matches_none else math.inf),)
        parts = [graph.add(OPERATORS[s], column, graph.constant(v)) for s, v in sides]
        matches = parts[0] if len(parts) == 1 else graph.add("And", *parts)
    return graph.add("Or", matches, is_missing) if test.missing else matches


def _membership(graph, column, test, is_missing):
    types = graph.onnx.TensorProto
    for label in test.labels:
        if float(label) != label:
            raise ValueError(
                f"ONNX needs numeric categories as doubles; {label!r} of {test.name!r} "
                "is not exact. Convert the categories to text."
            )
    # A list must not be empty, and nothing equals NaN.
    labels = [[float(label) for label in test.labels] or [math.nan]]
    equal = graph.add("Equal", column, graph.constant(labels))
    counts = graph.add("Cast", equal, to=types.INT32)
    any_of = graph.add("ReduceMax", counts, axes=[1], keepdims=1)
    listed_ones = graph.add("Cast", any_of, to=types.BOOL)
    if test.is_listed:
        return listed_ones
    others = graph.add("Not", listed_ones)
    return graph.add("And", others, graph.add("Not", is_missing))


def _write_first(graph, matches):
    rules, types = graph.rules, graph.onnx.TensorProto
    table = graph.add("Concat", *matches, axis=1)
    numbers = graph.add("Cast", table, to=types.FLOAT)
    first = graph.add("ArgMax", numbers, axis=1, keepdims=0)
    values = np.asarray(portable.predictions(rules))
    prediction = graph.add("Gather", graph.constant(values), first)
    name = "label" if rules.outcome.has_probabilities else "prediction"
    graph.write(name, prediction, values.dtype)
    if rules._form.has_probabilities:
        shares = np.array(portable.outputs(rules))
        probabilities = graph.add("Gather", graph.constant(shares), first)
        graph.write("probabilities", probabilities, shares.dtype, shares.shape[1])


def _write_mean(graph, matches):
    """Total divided by weight, added in the order of `predict`."""
    rules = graph.rules
    outputs = np.array(portable.outputs(rules))
    n_outputs = outputs.shape[1]
    weights = np.array([rule.weight for rule in rules], dtype=np.float64)
    summands = np.column_stack([weights[:, None] * outputs, weights])
    zero = graph.constant(np.zeros((1, n_outputs + 1)))
    total = zero
    for holds, row in zip(matches, summands, strict=True):
        term = graph.add("Where", holds, graph.constant(row[None]), zero)
        total = graph.add("Add", total, term)
    columns = graph.constant(list(range(n_outputs)))
    values = graph.add("Gather", total, columns, axis=1)
    weight = graph.add("Gather", total, graph.constant([n_outputs]), axis=1)
    mean = graph.add("Div", values, weight)
    has_weight = graph.add("Greater", weight, graph.constant(0.0))
    mean = graph.add("Where", has_weight, mean, graph.constant(outputs[-1:]))
    if rules.outcome.has_probabilities:
        _write_classes(graph, _chosen(graph, mean), mean)
    else:
        _write_number(graph, mean)


def _write_sum(graph, matches):
    """Points added to the base in the order of `predict`."""
    rules = graph.rules
    points = np.array(portable.points(rules))
    zero = graph.constant(np.zeros((1, points.shape[1])))
    base = graph.constant(points[-1:])
    total = graph.add("Where", matches[-1], base, base)
    for holds, row in zip(matches[:-1], points, strict=False):
        term = graph.add("Where", holds, graph.constant(row[None]), zero)
        total = graph.add("Add", total, term)
    value = graph.add("Sub", total, graph.constant(float(rules.origin)))
    value = graph.add("Mul", value, graph.constant(float(rules.unit)))
    straight = value
    for (end, slope), beyond in zip(rules.tails, ("Less", "Greater"), strict=False):
        end = graph.constant(end)
        further = graph.add("Sub", straight, end)
        bent = graph.add("Mul", further, graph.constant(slope))
        is_beyond = graph.add(beyond, straight, end)
        value = graph.add("Where", is_beyond, graph.add("Add", end, bent), value)
    if rules.outcome.link == "identity":
        _write_number(graph, value)
    elif rules.outcome.link == "log":
        _write_number(graph, graph.add("Exp", value))
    elif rules.outcome.link == "softmax":
        shares = graph.add("Softmax", value, axis=1)
        by = value if rules.costs is None else shares
        _write_classes(graph, _chosen(graph, by), shares)
    else:
        _write_log_odds(graph, value)
    shape = points.shape[1:] if points.shape[1] > 1 else ()
    if not shape:
        total = graph.add("Gather", total, graph.constant(0), axis=1)
    graph.write("score", total, np.dtype(np.float64), *shape)


def _write_reasons(graph, always, held, reasons, n):
    """The texts of the first reasons; "" where there are fewer."""
    flags = []
    for _, reason in reasons:
        flag = always
        for place, is_match in reason.tests:
            one = held[place] if is_match else graph.add("Not", held[place])
            flag = graph.add("And", flag, one)
        flags.append(flag)
    # Empty texts, which come last, are always there.
    flags = graph.add("Concat", *flags, *[always] * n, axis=1)
    texts = graph.constant([*(reason.text for _, reason in reasons), *[""] * n])
    places = np.arange(len(reasons) + n, dtype=np.float32)[None]
    behind = graph.constant(np.full_like(places, places.size))
    keys = graph.add("Where", flags, graph.constant(places), behind)
    first = graph.add("TopK", keys, graph.constant([n]), place=1, axis=1, largest=0)
    graph.write("reasons", graph.add("Gather", texts, first), np.dtype("U1"), n)


def _write_number(graph, value):
    only = graph.add("Gather", value, graph.constant(0), axis=1)
    graph.write("prediction", only, np.dtype(np.float64))


def _write_log_odds(graph, value):
    rules = graph.rules
    second = graph.add("Sigmoid", value)
    first = graph.add("Sub", graph.constant(1.0), second)
    shares = graph.add("Concat", first, second, axis=1)
    decision = rules.outcome.decision(rules.threshold, rules.costs)
    compare = "Greater" if rules.threshold is None else "GreaterOrEqual"
    is_second = graph.add(compare, value, graph.constant(decision.log_odds_cut))
    flat = graph.add("Gather", is_second, graph.constant(0), axis=1)
    place = graph.add("Cast", flat, to=graph.onnx.TensorProto.INT64)
    _write_classes(graph, place, shares)


def _chosen(graph, shares):
    """Index of the class chosen from shares, (n,)."""
    rules, types = graph.rules, graph.onnx.TensorProto
    if rules.threshold is not None:
        second = graph.add("Gather", shares, graph.constant(1), axis=1)
        least = graph.constant(float(rules.threshold))
        is_second = graph.add("GreaterOrEqual", second, least)
        return graph.add("Cast", is_second, to=types.INT64)
    if rules.costs is not None:
        costs = graph.constant(np.array(rules.costs, dtype=np.float64))
        expected = graph.add("MatMul", shares, costs)
        return graph.add("ArgMin", expected, axis=1, keepdims=0)
    return graph.add("ArgMax", shares, axis=1, keepdims=0)


def _write_classes(graph, place, shares):
    classes = np.asarray(portable.class_labels(graph.rules))
    label = graph.add("Gather", graph.constant(classes), place)
    graph.write("label", label, classes.dtype)
    graph.write("probabilities", shares, np.dtype(np.float64), len(classes))
