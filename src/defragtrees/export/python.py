"""Rules as the source of a Python module without dependencies.

Its functions are in `templates/rules.py.txt`, each below a line with its name; here are
those that depend on the conditions, and the constants.
"""

import math
import re
from collections.abc import Sequence
from importlib import resources
from itertools import zip_longest
from typing import Any

from defragtrees._utils import formatting as render
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel
from defragtrees.rules.reasons import Reasons

TYPES = {
    "date": "datetime",
    "datetime": "datetime",
    "datetime UTC": "datetime, True",
    "time": "time",
    "duration": "timedelta",
}


def to_python(
    rules: RuleModel, *, best: str = "high", exclude: Sequence[Any] = ()
) -> str:
    """Source of `predict(row)` and, where rules have them, `predict_proba(row)`.

    A scorecard also has `totals(row)` and, if there is one total, `score(row)` and
    `reasons(row, n=3)`; rules of survival have `further(row)`, with survival at the
    horizons.

    Parameters
    ----------
    rules : RuleModel
    best : {"high", "low"}, default="high"
        Which totals of a scorecard are desired, for reason codes; see
        `Scorecard.reasons`.
    exclude : sequence of str or int, default=()
        Columns that are no reason.
    """
    file = resources.files("defragtrees.export") / "templates/rules.py.txt"
    pieces = re.split(r"^# === (\w+)\n", file.read_text("utf-8"), flags=re.MULTILINE)
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if rules._form.is_exclusive:
        constants, *functions = _ordered(rules, parts)
    elif rules._form.is_sum:
        constants, *functions = _adding(rules, parts, best, exclude)
    else:
        constants, *functions = _averaging(rules, parts)
    if further := rules.outcome.further_outputs(rules._form):
        own = "further" if rules._form.is_exclusive else "means"
        constants.append(f"FURTHER = {further!r}")
        functions.append(parts["powers" if rules._form.is_sum else own])
    used = {_reader(rules, feature)[0] for feature in portable.used_features(rules)}
    readers = [
        parts[name] for name in ("number", "days", "category") if f"_{name}" in used
    ]
    imports = "import datetime\n" if "_days" in used else ""
    if any("math." in function for function in functions):
        imports += "import math\n"
    head = f"{parts['head']}\n{imports}" if imports else parts["head"]
    sections = [head, "\n".join(constants), *readers, *functions]
    return "\n\n".join(section.strip("\n") + "\n" for section in sections)


def _ordered(rules, parts):
    """Constants and functions of rules in order."""
    decision = rules._view.decision_text()
    constants = [f"# {decision}"] if decision else []
    constants.append(f"PREDICTIONS = {_tuple(portable.predictions(rules))}")
    functions = [_chain(rules), parts["predict"]]
    if rules._form.has_probabilities:
        shares = _lines(map(_tuple, portable.outputs(rules)))
        constants += [_classes(rules), f"PROBABILITIES = {shares}"]
        functions.append(parts["predict_proba"])
    return [constants, *functions]


def _averaging(rules, parts):
    """Constants and functions of averaged rules."""
    constants = [
        f"WEIGHTS = {_tuple([float(rule.weight) for rule in rules])}",
        f"OUTPUTS = {_lines(map(_tuple, portable.outputs(rules)))}",
    ]
    functions = [_matching(rules), parts["mean"]]
    if not rules.outcome.has_probabilities:
        return [constants, *functions, parts["predict_number"].format(value="_mean")]
    constants.append(_classes(rules))
    predict = parts["predict_class"].format(chosen="_mean", shares="_mean")
    return [constants, *functions, _how_chosen(rules, parts, constants), predict]


def _classes(rules):
    return f"CLASSES = {_tuple(portable.class_labels(rules))}"


def _how_chosen(rules, parts, constants):
    """The function that chooses a class from shares; adds its constants."""
    if rules.threshold is not None:
        constants.append(f"THRESHOLD = {float(rules.threshold)!r}")
        return parts["choose_threshold"]
    if rules.costs is None:
        return parts["choose_likeliest"]
    rows = ([float(cost) for cost in row] for row in rules.costs)
    constants.append(f"COSTS = {_lines(map(_tuple, rows))}")
    return parts["choose_costs"]


def _adding(rules, parts, best, exclude):
    """Constants and functions of a scorecard."""
    notes = filter(None, [rules._view.combination(), rules._view.decision_text()])
    constants = [
        *(f"# {note}" for note in notes),
        f"POINTS = {_lines(map(_tuple, portable.points(rules)))}",
        f"UNIT, ORIGIN = {float(rules.unit)!r}, {float(rules.origin)!r}",
    ]
    values = "straight"
    if rules.tails:
        constants.append(f"TAILS = {rules.tails!r}")
        values = "bent"
    if rules.outcome.has_probabilities:
        constants.append(_classes(rules))
    functions = [_matching(rules), parts["totals"], parts[values]]
    if rules.outcome.n_points == 1:
        functions.append(parts["score"])
        table = Reasons(rules, best, exclude)
        if table.can_be_listed:
            lines = [_tuple((one.tests, one.text)) for _, one in table.every()]
            constants += [
                "# Conditions with their result, and the text; the largest gain first.",
                f"REASONS = {_lines(lines)}",
            ]
            what = "Whether each of the conditions matches that decide between reasons."
            atoms = [portable.conditions_tests(rules, atom) for atom in table.atoms]
            functions += [_tests("_conditions", what, rules, atoms), parts["reasons"]]
    if rules.outcome.link == "identity":
        functions.append(parts["predict_number"].format(value="_values"))
    elif rules.outcome.link == "log":
        functions.append(parts["predict_rate"])
    elif rules.outcome.link == "logit":
        decision = rules.outcome.decision(rules.threshold, rules.costs)
        constants.append(f"CUT = {_literal(decision.log_odds_cut)}")
        sign = ">" if rules.threshold is None else ">="
        functions.append(parts["points_two"].format(sign=sign))
    else:
        chosen = "_values" if rules.costs is None else "_shares"
        predict = parts["predict_class"].format(chosen=chosen, shares="_shares")
        choose = _how_chosen(rules, parts, constants)
        functions += [choose, parts["shares"], predict]
    return [constants, *functions]


def _chain(rules):
    lines = [
        "def rule(row):",
        '    """Index of the predicting rule from 0; the last is the default."""',
        *_columns(rules),
    ]
    comments = _comments(rules)
    for k, tests in enumerate(portable.column_tests(rules)[:-1]):
        lines.append(f"    # {comments[k]}")
        lines.append(f"    if {_condition(rules, tests)}:")
        lines.append(f"        return {k}")
    return "\n".join([*lines, f"    return {len(rules.rules)}"])


def _tests(name, meaning, rules, every, comments=()):
    """A function of a row that returns a tuple: whether each conjunction is true."""
    lines = [f"def {name}(row):", f'    """{meaning}"""', *_columns(rules)]
    lines.append("    return (")
    for tests, comment in zip_longest(every, comments):
        lines += [f"        # {comment}"] if comment else []
        lines.append(f"        {_condition(rules, tests)},")
    return "\n".join([*lines, "    )"])


def _matching(rules):
    every = portable.column_tests(rules), _comments(rules)
    return _tests("_matches", "Whether each rule matches.", rules, *every)


def _reader(rules, feature):
    """The function that reads a column, and its further argument."""
    if rules.categories[feature] is not None:
        return "_category", ""
    kind = rules._vocabulary.scales[feature].kind
    if kind not in TYPES:
        return "_number", ""
    return "_days", f", datetime.{TYPES[kind]}"


def _columns(rules):
    """Lines that read the columns of the rules."""
    lines = []
    for feature in portable.used_features(rules):
        read, option = _reader(rules, feature)
        name = str(rules.feature_names[feature])
        lines.append(f"    x{feature + 1} = {read}(row[{name!r}]{option})")
    return lines


def _comments(rules):
    """Each rule as text."""
    *others, last = rules._view.rows()
    last = {**last, "if": rules._view.default_text}
    texts = []
    for row in (*others, last):
        then = ", ".join(filter(None, [row["then"], row["estimate_text"]]))
        texts.append(f"{row['rule']}. {row['if']}: {then}")
    # A line break in a name would end the comment and begin a statement.
    return [render.plain(text) for text in texts]


def _condition(rules, tests):
    parts = []
    for test in tests:
        is_number = rules.categories[test.feature] is None
        column = f"x{test.feature + 1}"
        is_missing = f"{column} != {column}" if is_number else f"{column} is None"
        is_present = f"{column} == {column}" if is_number else f"{column} is not None"
        if test.matches_none:
            parts.append(is_missing if test.missing else "False")
        elif test.matches_all:
            parts.append("True" if test.missing else is_present)
        elif test.labels is not None and not test.is_listed:
            # A missing value is not among the labels, so it would match.
            other = f"{column} not in {_tuple(test.labels)}"
            parts.append(other if test.missing else f"{is_present} and {other}")
        else:
            text = _test(test, column)
            parts.append(f"({text} or {is_missing})" if test.missing else text)
    return " and ".join(parts) if parts else "True"


def _test(test, column):
    if test.labels is not None:
        return f"{column} in {_tuple(test.labels)}"
    if len(test.sides) == 1:
        [(sign, value)] = test.sides
        return f"{column} {'==' if sign == '=' else sign} {value!r}"
    (lower_sign, lower), (upper_sign, upper) = test.sides
    flipped = lower_sign.replace(">", "<")
    return f"{lower!r} {flipped} {column} {upper_sign} {upper!r}"


def _tuple(values):
    values = [_literal(value) for value in values]
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def _lines(values):
    return "(\n" + "".join(f"    {value},\n" for value in values) + ")"


def _literal(value):
    is_infinite = isinstance(value, float) and not math.isfinite(value)
    return f"float({str(value)!r})" if is_infinite else repr(value)
