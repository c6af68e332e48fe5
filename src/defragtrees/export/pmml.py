"""Rules in order as a PMML 4.4 rule set, whole points as a scorecard.

In a scorecard each rule is a characteristic with its points where it matches and none
elsewhere; the last one is the base.
"""

import math
import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from defragtrees._utils.files import HIDDEN
from defragtrees.export import portable
from defragtrees.rules.model import RuleModel

NAMESPACE = "http://www.dmg.org/PMML-4_4"
TARGET = "prediction"  # the name of the target field
TEXT = {"optype": "categorical", "dataType": "string"}
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


def to_pmml(rules: RuleModel, *, name: str | None = None) -> str:
    """A PMML document: a RuleSetModel of rules in order, or a Scorecard of points.

    The outputs of a Scorecard are `score`, the total of points, `prediction`, and for
    two classes the probability of `pos_label` or the second, such as `probability yes`.
    Those of a RuleSetModel are `prediction`, `rule`, the number of the predicting rule,
    and `confidence`, the probability of the prediction.

    Parameters
    ----------
    rules : RuleModel
        A rule list for classification, or a scorecard with whole points for regression
        or two classes.
    name : str, optional
        Name of the model.
    """
    add_model = _model_of(rules)
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


def _add_scorecard(document, fields, rules, types, name):
    """Add a Scorecard: each rule is a characteristic, and so is the base."""
    model = SubElement(
        document,
        "Scorecard",
        modelName=name or "scorecard",
        functionName="regression",
        useReasonCodes="false",
        initialScore="0",
    )
    _add_schema(model, rules, types)
    _add_outputs(SubElement(model, "Output"), rules)
    parent = SubElement(model, "Characteristics")
    every = portable.column_tests(rules, has_booleans=True)
    for k, ([value], tests) in enumerate(
        zip(portable.points(rules), every, strict=True), start=1
    ):
        one = SubElement(parent, "Characteristic", name=f"rule {k}")
        for score, test in ((value, _all_of(tests, types)), (0.0, Element("True"))):
            SubElement(one, "Attribute", partialScore=_number_text(score)).append(test)


def _add_outputs(output, rules):
    """Add the total, what it stands for, and the prediction."""
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
