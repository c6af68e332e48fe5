"""Rules in order as a PMML 4.4 rule set, whole points as a scorecard.

In a scorecard each rule is a characteristic with its points where it matches and none
elsewhere, and the base is the initial score. Scorers rank reason codes by how far the
points of a characteristic are from its baseline, added up by code. So each column has
two characteristics more, which add nothing together: one with what its best value would
add as distance, and one below its baseline, as rules are, whose code is a blank. A tiny
part of each baseline makes equal distances differ, so that all scorers rank alike. The
code is empty after the last reason.

A comparison with a missing value is unknown in PMML, and an unknown predicate does not
match, unless `isMissing` is tested too.
"""

import copy
import math
import re
from collections.abc import Sequence
from functools import partial
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from defragtrees._utils.files import HIDDEN
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel

NAMESPACE = "http://www.dmg.org/PMML-4_4"
TARGET = "prediction"  # the name of the target field
TEXT = {"optype": "categorical", "dataType": "string"}
BLANK = " "  # a reason code that is none
NUMBER = {"optype": "continuous", "dataType": "double"}
# By kind of column, except dates, which may be compared with times. PMML has durations
# only as numbers of days or seconds since a date, and no time zones.
DATA_TYPES = {
    "number": "double",
    "text": "string",
    "truth": "boolean",
    "datetime": "dateTime",
    "datetime UTC": "dateTime",
    "time": "time",
    "duration": "double",
}
NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
OPERATORS = {
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "<": "lessThan",
    "<=": "lessOrEqual",
    "=": "equal",
}
OPPOSITES = {
    "greaterThan": "lessOrEqual",
    "lessThan": "greaterOrEqual",
    "equal": "notEqual",
    "isIn": "isNotIn",
    "isMissing": "isNotMissing",
}
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}


def to_pmml(
    rules: RuleModel,
    *,
    name: str | None = None,
    reasons: int | None = None,
    best: str = "high",
    exclude: Sequence[Any] = (),
) -> str:
    """A PMML document: a RuleSetModel of rules in order, or a Scorecard of points.

    The outputs of a Scorecard are `score`, the total of points, `prediction`, for two
    classes the probability of `pos_label` or the second, such as `probability yes`, and
    with `useReasonCodes` the reason codes `reason 1`, `reason 2`, ...: the columns that
    could add most points, blank or missing where no further column could. Those of a
    RuleSetModel are `prediction`, `rule`, the number of the predicting rule, and
    `confidence`, the probability of the prediction.

    Parameters
    ----------
    rules : RuleModel
        A rule list for classification, or a scorecard with whole points for regression
        or two classes.
    name : str, optional
        Name of the model.
    reasons : int, optional
        Number of reason codes of a scorecard, by default 3, 0 for none; see
        `Scorecard.reasons`.
    best : {"high", "low"}, default="high"
        Which totals are desired, for reason codes.
    exclude : sequence of str or int, default=()
        Columns that are no reason.
    """
    add_model = _model_of(rules)
    if add_model is _add_scorecard:
        add_model = partial(
            add_model, n=3 if reasons is None else reasons, best=best, exclude=exclude
        )
    elif reasons:
        rules._scorecard("reasons=")  # raises
    text = rules._view.combination() or "The first rule that matches predicts."
    document = Element("PMML", version="4.4", xmlns=NAMESPACE)
    header = SubElement(document, "Header", description=text)
    SubElement(header, "Application", name="defragtrees")
    fields = SubElement(document, "DataDictionary")
    types = {j: _data_type(rules, j) for j in portable.used_features(rules)}
    _add_columns(fields, rules, types)
    add_model(document, fields, rules, types, name)
    fields.set("numberOfFields", str(len(fields)))
    indent(document)
    text = tostring(document, encoding="unicode")
    if found := NO_XML.search(text):
        raise ValueError(
            f"XML, and so PMML, has no character {found[0]!r}, which a name or label "
            "has. Rename it first."
        )
    text = HIDDEN.sub(lambda sign: f"&#{ord(sign[0])};", text)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _model_of(rules):
    """The function that writes rules of this form; other forms are rejected."""
    has_classes = rules.outcome.has_probabilities
    if rules._form.is_exclusive and has_classes:
        return _add_rule_set
    of_what = f"{rules.outcome.n_classes} classes" if has_classes else "numbers"
    found = f"a {type(rules).__name__} for {of_what}"
    if rules._form.is_sum and rules.outcome.n_points == 1:
        odd = [one for [one] in portable.points(rules) if not one.is_integer()]
        if not odd:
            return _add_scorecard
        found = f"points such as {odd[0]:g}"
    raise ValueError(
        "PMML needs a rule list for classes, or a scorecard with whole points "
        f"(points='integer' or scaled) for numbers or two classes; got {found}. Fit "
        "one of these, or choose another format."
    )


def _add_columns(fields, rules, types):
    for feature, data_type in types.items():
        is_number = rules.categories[feature] is None and data_type != "boolean"
        # Categories are not listed, so that new ones are valid.
        SubElement(
            fields,
            "DataField",
            name=rules.feature_names[feature],
            optype="continuous" if is_number else "categorical",
            dataType=data_type,
        )


def _data_type(rules, feature):
    kind = portable.column_kind(rules, feature)
    if kind != "date":
        return DATA_TYPES[kind]
    moments = [
        portable.moment_text(moment, kind)
        for tests in portable.column_tests(rules)
        for test in tests
        if test.feature == feature
        for _, moment in portable.moments(test, kind)
    ]
    return "dateTime" if any(":" in moment for moment in moments) else "date"


def _add_schema(model, rules, types):
    schema = SubElement(model, "MiningSchema")
    for feature in types:
        SubElement(schema, "MiningField", name=rules.feature_names[feature])
    return schema


def _add_rule_set(document, fields, rules, types, name):
    """Add a RuleSetModel: the first rule that matches predicts."""
    target = portable.free_name(TARGET, rules)
    labels = [_label_text(label) for label in portable.class_labels(rules)]
    field = SubElement(fields, "DataField", name=target, **TEXT)
    for label in labels:
        SubElement(field, "Value", value=label)
    model = SubElement(
        document,
        "RuleSetModel",
        modelName=name or "rules",
        functionName="classification",
    )
    schema = _add_schema(model, rules, types)
    SubElement(schema, "MiningField", name=target, usageType="target")
    outputs = {"prediction": ("predictedValue", TEXT), "rule": ("entityId", TEXT)}
    if rules._form.has_probabilities:
        outputs["confidence"] = ("confidence", NUMBER)
    output = SubElement(model, "Output")
    for output_name, (feature, kind) in outputs.items():
        free = portable.free_name(output_name, rules)
        SubElement(output, "OutputField", name=free, feature=feature, **kind)
    predicted = [_label_text(label) for label in portable.predictions(rules)]
    rule_set = SubElement(
        model,
        "RuleSet",
        defaultScore=predicted[-1],
        defaultConfidence=_confidence(rules.default, labels, predicted[-1]),
    )
    SubElement(rule_set, "RuleSelectionMethod", criterion="firstHit")
    _add_shares(rule_set, rules.default, labels)
    # The default rule is a rule too, so that it has a number and probabilities.
    every = zip(
        rules, predicted, portable.column_tests(rules, has_booleans=True), strict=True
    )
    for number, (rule, label, tests) in enumerate(every, start=1):
        one = SubElement(
            rule_set,
            "SimpleRule",
            id=str(number),
            score=label,
            confidence=_confidence(rule, labels, label),
        )
        if not math.isnan(rule.n_rows):
            one.set("recordCount", repr(float(rule.n_rows)))
        one.append(_all_of(tests, types))
        _add_shares(one, rule, labels)


def _confidence(rule, labels, prediction):
    """The probability of the prediction; 1 where the rule has no distribution."""
    if rule.distribution is None:
        return "1"
    return repr(float(rule.distribution[labels.index(prediction)]))


def _add_shares(parent, rule, labels):
    if rule.distribution is None:
        return
    n_rows = 1.0 if math.isnan(rule.n_rows) or not rule.n_rows else rule.n_rows
    for label, share in zip(labels, rule.distribution, strict=True):
        SubElement(
            parent,
            "ScoreDistribution",
            value=label,
            recordCount=repr(float(share * n_rows)),
            confidence=repr(float(share)),
        )


def _add_scorecard(document, fields, rules, types, name, n, best, exclude):
    """Add a Scorecard: each rule is a characteristic, the base the initial score."""
    *points, [base] = portable.points(rules)
    table, reasons = portable.reasons(rules, n, best, exclude)
    model = SubElement(
        document,
        "Scorecard",
        modelName=name or "scorecard",
        functionName="regression",
        useReasonCodes=str(bool(n)).lower(),
        reasonCodeAlgorithm="pointsBelow",
        initialScore=_number_text(base),
    )
    _add_schema(model, rules, types)
    _add_outputs(SubElement(model, "Output"), rules, n)
    parent = SubElement(model, "Characteristics")
    every = portable.column_tests(rules, has_booleans=True)[:-1]
    for k, ([value], tests) in enumerate(zip(points, every, strict=True)):
        one = _characteristic(parent, f"rule {k + 1}", min(value, 0.0) - 1.0)
        _add_attribute(one, value, _all_of(tests, types), BLANK)
        _add_attribute(one, 0.0, Element("True"), BLANK)
    atoms = [
        _all_of(portable.conditions_tests(rules, atom, True), types)
        for atom in (table.atoms if table else ())
    ]
    places = sorted({place for place, _ in reasons})
    for place in places:
        # All parts together are below the least difference of two gains, a whole point.
        part = (len(places) - places.index(place)) / (len(places) + 1) ** 2
        own = [one for k, one in reasons if k == place]
        column = rules.feature_names[table.columns[place].feature]
        gaining = _characteristic(parent, f"{column}: gain", part)
        without = _characteristic(parent, f"{column}: rest", -1.0)
        for reason in own:
            tests = [
                copy.deepcopy(atoms[k]) if is_match else _none_of(atoms[k])
                for k, is_match in reason.tests
            ]
            held = _compound("and", tests)
            _add_attribute(gaining, -reason.gain, held, reason.text)
            _add_attribute(without, reason.gain, copy.deepcopy(held), BLANK)
        _add_attribute(gaining, 0.0, Element("True"), "")
        _add_attribute(without, 0.0, Element("True"), BLANK)
    # The empty code follows the last reason even if all columns have one.
    one = _characteristic(parent, "no further reason", 0.5 / (len(places) + 1) ** 2)
    _add_attribute(one, 0.0, Element("True"), "")


def _characteristic(parent, name, baseline):
    return SubElement(
        parent, "Characteristic", name=name, baselineScore=_number_text(baseline)
    )


def _add_attribute(parent, score, predicate, code):
    attribute = SubElement(
        parent, "Attribute", partialScore=_number_text(score), reasonCode=code
    )
    attribute.append(predicate)


def _none_of(predicate):
    """That a predicate is false or unknown."""
    kind = predicate.tag
    if kind in ("True", "False"):
        return Element("False" if kind == "True" else "True")
    if kind == "CompoundPredicate":
        operator = "or" if predicate.get("booleanOperator") == "and" else "and"
        return _compound(operator, [_none_of(part) for part in predicate])
    other, name = copy.deepcopy(predicate), "operator"
    if kind == "SimpleSetPredicate":
        name = "booleanOperator"
    other.set(name, OPPOSITES[predicate.get(name)])
    if predicate.get(name) in ("isMissing", "isNotMissing"):
        return other
    missing = Element("SimplePredicate", field=predicate.get("field"))
    missing.set("operator", "isMissing")
    return _compound("or", [other, missing])


def _add_outputs(output, rules, reasons):
    """Add the total, what it stands for, the prediction, and reason codes."""
    score = portable.free_name("score", rules)
    SubElement(output, "OutputField", name=score, feature="predictedValue", **NUMBER)
    total = Element("FieldRef", field=score)
    value = straight = _apply("*", _apply("-", total, rules.origin), rules.unit)
    for (end, slope), beyond in zip(
        rules.tails, ("lessThan", "greaterThan"), strict=False
    ):
        bent = _apply("+", end, _apply("*", _apply("-", straight, end), slope))
        value = _apply("if", _apply(beyond, straight, end), bent, value)
    target = portable.free_name(TARGET, rules)
    if rules.outcome.has_probabilities and not rules.outcome.is_binary:
        [label] = portable.class_labels(rules)  # several have a total each
        _add_computed(output, target, _constant(_label_text(label), "string"), TEXT)
    elif rules.outcome.has_probabilities:
        label = rules.outcome.positive_class
        sign = -1.0 if rules.outcome.positive_index else 1.0
        likely = _apply("+", 1.0, _apply("exp", _apply("*", sign, value)))
        name = portable.free_name(f"probability {label}", rules)
        _add_computed(output, name, _apply("/", 1.0, likely), NUMBER)
        decision = rules.outcome.decision(rules.threshold, rules.costs)
        sign = "greaterThan" if rules.threshold is None else "greaterOrEqual"
        is_second = _apply(sign, value, decision.log_odds_cut)
        first, second = portable.class_labels(rules)
        labels = [_constant(_label_text(one), "string") for one in (second, first)]
        _add_computed(output, target, _apply("if", is_second, *labels), TEXT)
    else:
        if rules.outcome.link == "log":
            value = _apply("exp", value)
        _add_computed(output, target, value, NUMBER)
    for rank in range(1, reasons + 1):
        SubElement(
            output,
            "OutputField",
            name=portable.free_name(f"reason {rank}", rules),
            feature="reasonCode",
            rank=str(rank),
            **TEXT,
        )


def _add_computed(output, name, value, kind):
    feature = "transformedValue"
    SubElement(output, "OutputField", name=name, feature=feature, **kind).append(value)


def _apply(function, *arguments):
    """An Apply element with elements and numbers as arguments."""
    element = Element("Apply", function=function)
    for argument in arguments:
        if not isinstance(argument, Element):
            argument = _constant(repr(float(argument)))
        element.append(argument)
    return element


def _constant(text, data_type="double"):
    element = Element("Constant", dataType=data_type)
    element.text = text
    return element


def _all_of(tests, types):
    """The conjunction of all conditions of a rule; true without any."""
    predicates = [_predicate(test, types[test.feature]) for test in tests]
    return _compound("and", predicates) if predicates else Element("True")


def _compound(operator, predicates):
    if len(predicates) == 1:
        return predicates[0]
    element = Element("CompoundPredicate", booleanOperator=operator)
    element.extend(predicates)
    return element


def _simple(test, operator, **value):
    return Element("SimplePredicate", field=test.name, operator=operator, **value)


def _predicate(test, data_type):
    """The predicate of a condition, including missing values that it accepts."""
    if test.matches_none:
        return _simple(test, "isMissing") if test.missing else Element("False")
    if test.matches_all:
        return Element("True") if test.missing else _simple(test, "isNotMissing")
    if test.labels is not None:
        present = _membership(test)
    else:
        sides = [
            _simple(test, OPERATORS[sign], value=value)
            for sign, value in _sides(test, data_type)
        ]
        present = _compound("and", sides)
    if not test.missing:
        return present
    return _compound("or", [present, _simple(test, "isMissing")])


def _sides(test, data_type):
    """Signs and values of an interval, as text of the data type."""
    kind = {"date": "date", "dateTime": "datetime", "time": "time"}.get(data_type)
    if kind is None:
        return [(sign, repr(float(bound))) for sign, bound in test.sides]
    sides = []
    for sign, moment in portable.moments(test, kind):
        text = portable.moment_text(moment, kind, "T")
        is_short = data_type == "dateTime" and ":" not in text
        sides.append((sign, f"{text}T00:00:00" if is_short else text))
    return sides


def _membership(test):
    labels = [_label_text(label) for label in test.labels]
    if any(mark in label for label in labels for mark in '"\\'):
        # Scorers differ in how an array escapes quotes and backslashes.
        operator = "equal" if test.is_listed else "notEqual"
        parts = [_simple(test, operator, value=label) for label in labels]
        return _compound("or" if test.is_listed else "and", parts)
    element = Element(
        "SimpleSetPredicate",
        field=test.name,
        booleanOperator="isIn" if test.is_listed else "isNotIn",
    )
    array = SubElement(element, "Array", n=str(len(labels)), type="string")
    array.text = " ".join(f'"{label}"' for label in labels)
    return element


def _label_text(value):
    """A category or class as PMML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else _number_text(value)


def _number_text(value):
    """A whole number without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
