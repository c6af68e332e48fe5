"""Rules in order as a PMML 4.4 rule set, whole points as a scorecard.

In a scorecard each rule is a characteristic with its points where it matches and none
elsewhere, and the base is the initial score. A comparison with a missing value is
unknown in PMML, and an unknown predicate does not match, unless `isMissing` is tested
too.
"""

import math
import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from defragtrees._utils.files import HIDDEN
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel

__all__ = ["to_pmml"]

NAMESPACE = "http://www.dmg.org/PMML-4_4"
TARGET = "prediction"  # the name of the target field
TEXT = {"optype": "categorical", "dataType": "string"}
NUMBER = {"optype": "continuous", "dataType": "double"}
NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
OPERATORS = {
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "<": "lessThan",
    "<=": "lessOrEqual",
    "=": "equal",
}


def to_pmml(rules: RuleModel, *, name: str | None = None) -> str:
    """A PMML document: a RuleSetModel of rules in order, or a Scorecard of points.

    The outputs of a Scorecard are `score`, the total of points, and `prediction` or,
    for two classes, `probability` of the second. Those of a RuleSetModel are
    `prediction`, `rule`, the number of the predicting rule, and `confidence`, the
    probability of the prediction.

    Parameters
    ----------
    rules : RuleModel
        A rule list for classes, or a scorecard with whole points for numbers or two
        classes.
    name : str, optional
        Name of the model.
    """
    add_model = _model_of(rules)
    text = rules._combination_text() or "The first rule that matches predicts."
    document = Element("PMML", version="4.4", xmlns=NAMESPACE)
    header = SubElement(document, "Header", description=text)
    SubElement(header, "Application", name="defragtrees")
    fields = SubElement(document, "DataDictionary")
    types = {j: _data_type(rules, j) for j in portable.used_features(rules)}
    for feature, data_type in types.items():
        _add_field(fields, rules, feature, data_type)
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
    if rules.is_exclusive and has_classes:
        return _add_rule_set
    is_whole = rules.combination == "sum" and all(
        len(values) == 1 and values[0].is_integer() for values in portable.points(rules)
    )
    if is_whole:
        return _add_scorecard
    raise ValueError(
        "PMML needs a rule list for classes, or a scorecard with whole points for "
        f"numbers or two classes; got decision={rules.decision!r} for "
        f"{'classes' if has_classes else 'numbers'}. Fit with form='points' and "
        "points='integer', or choose another format."
    )


def _add_field(fields, rules, feature, data_type):
    # Categories are not listed, so that new ones are valid.
    SubElement(
        fields,
        "DataField",
        name=rules.feature_names[feature],
        optype="continuous" if rules.categories[feature] is None else "categorical",
        dataType=data_type,
    )


def _data_type(rules, feature):
    kind = portable.column_kind(rules, feature)
    if kind != "date":
        # PMML has durations only as numbers of days or seconds since a date, and no
        # time zones.
        types = {"number": "double", "duration": "double", "time": "time"}
        types |= dict.fromkeys(("datetime", "datetime UTC"), "dateTime")
        return types.get(kind, "string")
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
    target = _free_name(TARGET, rules)
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
    if portable.has_shares(rules):
        outputs["confidence"] = ("confidence", NUMBER)
    output = SubElement(model, "Output")
    for output_name, (feature, kind) in outputs.items():
        free = _free_name(output_name, rules)
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
    every = zip(rules, predicted, portable.column_tests(rules), strict=True)
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


def _free_name(name, rules):
    while name in rules.feature_names:
        name += "_"
    return name


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


def _add_scorecard(document, fields, rules, types, name):
    """Add a Scorecard: each rule is a characteristic, the base the initial score."""
    *points, [base] = portable.points(rules)
    model = SubElement(
        document,
        "Scorecard",
        modelName=name or "scorecard",
        functionName="regression",
        useReasonCodes="false",
        initialScore=_number_text(base),
    )
    _add_schema(model, rules, types)
    output = SubElement(model, "Output")
    SubElement(output, "OutputField", name="score", feature="predictedValue", **NUMBER)
    has_classes = rules.outcome.has_probabilities
    field = SubElement(
        output,
        "OutputField",
        name="probability" if has_classes else "prediction",
        feature="transformedValue",
        **NUMBER,
    )
    score = Element("FieldRef", field="score")
    value = _apply("*", _apply("-", score, rules.origin), rules.unit)
    if has_classes:
        falling = _apply("exp", _apply("*", -1.0, value))
        value = _apply("/", 1.0, _apply("+", 1.0, falling))
    field.append(value)
    parent = SubElement(model, "Characteristics")
    every = zip(points, portable.column_tests(rules)[:-1], strict=True)
    for number, ([value], tests) in enumerate(every, start=1):
        one = SubElement(
            parent, "Characteristic", name=f"rule {number}", baselineScore="0"
        )
        matched = SubElement(one, "Attribute", partialScore=_number_text(value))
        matched.append(_all_of(tests, types))
        rest = SubElement(one, "Attribute", partialScore="0")
        SubElement(rest, "True")


def _apply(function, *arguments):
    """An Apply element with elements and numbers as arguments."""
    element = Element("Apply", function=function)
    for argument in arguments:
        if not isinstance(argument, Element):
            constant = Element("Constant", dataType="double")
            constant.text = repr(float(argument))
            argument = constant
        element.append(argument)
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
