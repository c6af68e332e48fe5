"""Whole points as a PMML 4.4 scorecard.

Each rule is a characteristic with its points where it holds and none elsewhere, and the
base is the initial score. A comparison with a missing value is unknown in PMML, and an
attribute whose predicate is unknown is passed over: so it does not hold, unless
`isMissing` is asked too.
"""

from xml.etree import ElementTree

from defragtrees.export import portable
from defragtrees.rules import RuleSet
from defragtrees.sentences import combination_text

__all__ = ["export"]

SUFFIX = ".pmml"
NAMESPACE = "http://www.dmg.org/PMML-4_4"
OPERATORS = {
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "<": "lessThan",
    "<=": "lessOrEqual",
    "=": "equal",
}


def export(rules: RuleSet, *, name: str = "scorecard") -> str:
    """A PMML document with a Scorecard, for numbers or two classes.

    Its outputs are `score`, the total of points, and `prediction` or, for classes,
    `probability` of the second.

    Parameters
    ----------
    rules : RuleSet
        With whole points that add up.
    name : str
        Of the model.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleSet
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> rules = RuleSet((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                 "regression", decision="points")
    >>> 'initialScore="2"' in export(rules)
    True
    """
    _check(rules)
    document = ElementTree.Element("PMML", version="4.4", xmlns=NAMESPACE)
    header = ElementTree.SubElement(
        document, "Header", description=combination_text(rules)
    )
    ElementTree.SubElement(header, "Application", name="defragtrees")
    used = portable.used_features(rules)
    fields = ElementTree.SubElement(
        document, "DataDictionary", numberOfFields=str(len(used))
    )
    for feature in used:
        _data_field(fields, rules, feature)
    model = ElementTree.SubElement(
        document,
        "Scorecard",
        modelName=name,
        functionName="regression",
        useReasonCodes="false",
        initialScore=_number(portable.points(rules)[-1][0]),
    )
    schema = ElementTree.SubElement(model, "MiningSchema")
    for feature in used:
        ElementTree.SubElement(schema, "MiningField", name=rules.feature_names[feature])
    _outputs(model, rules)
    _characteristics(model, rules)
    ElementTree.indent(document)
    text = ElementTree.tostring(document, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _check(rules):
    points = [rule.points for rule in rules]
    is_whole = rules.decision == "points" and all(
        len(own) == 1 and float(own[0]).is_integer() for own in points
    )
    if not is_whole:
        raise ValueError(
            "A PMML scorecard needs whole points for a number or two classes; got "
            f"rules with decision={rules.decision!r}. Fit with form='points' and "
            "points='integer', or choose another format."
        )


def _data_field(fields, rules, feature):
    is_number = portable.column_kind(rules, feature) == "number"
    field = ElementTree.SubElement(
        fields,
        "DataField",
        name=rules.feature_names[feature],
        optype="continuous" if rules.categories[feature] is None else "categorical",
        dataType="double" if is_number else "string",
    )
    if rules.categories[feature] is not None:
        for label in portable.labels_of(rules, feature):
            ElementTree.SubElement(field, "Value", value=_label(label))


def _outputs(model, rules):
    """The total, and what it stands for."""
    output = ElementTree.SubElement(model, "Output")
    made = {"optype": "continuous", "dataType": "double"}
    ElementTree.SubElement(
        output, "OutputField", name="score", feature="predictedValue", **made
    )
    name = "probability" if rules.classes else "prediction"
    field = ElementTree.SubElement(
        output, "OutputField", name=name, feature="transformedValue", **made
    )
    value = _apply(
        "*",
        _apply("-", _field("score"), _constant(rules.origin)),
        _constant(rules.unit),
    )
    if rules.classes:
        falling = _apply("exp", _apply("*", _constant(-1.0), value))
        value = _apply("/", _constant(1.0), _apply("+", _constant(1.0), falling))
    field.append(value)


def _apply(function, *arguments):
    element = ElementTree.Element("Apply", function=function)
    element.extend(arguments)
    return element


def _field(name):
    return ElementTree.Element("FieldRef", field=name)


def _constant(value):
    element = ElementTree.Element("Constant", dataType="double")
    element.text = repr(float(value))
    return element


def _characteristics(model, rules):
    parent = ElementTree.SubElement(model, "Characteristics")
    tests = portable.column_tests(rules)[:-1]
    for k, (rule, asked) in enumerate(zip(rules.rules, tests, strict=True), start=1):
        one = ElementTree.SubElement(
            parent, "Characteristic", name=f"rule {k}", baselineScore="0"
        )
        holds = ElementTree.SubElement(
            one, "Attribute", partialScore=_number(rule.points[0])
        )
        holds.append(_all_of([_predicate(test) for test in asked]))
        rest = ElementTree.SubElement(one, "Attribute", partialScore="0")
        ElementTree.SubElement(rest, "True")


def _all_of(predicates):
    return _compound("and", predicates) if predicates else ElementTree.Element("True")


def _compound(operator, predicates):
    if len(predicates) == 1:
        return predicates[0]
    element = ElementTree.Element("CompoundPredicate", booleanOperator=operator)
    element.extend(predicates)
    return element


def _predicate(test):
    """A condition; with missing values where it accepts them."""
    is_missing = ElementTree.Element(
        "SimplePredicate", field=test.name, operator="isMissing"
    )
    if test.holds_never:
        return is_missing if test.missing else ElementTree.Element("False")
    if test.holds_always:
        if test.missing:
            return ElementTree.Element("True")
        return ElementTree.Element(
            "SimplePredicate", field=test.name, operator="isNotMissing"
        )
    present = _membership(test) if test.labels is not None else _interval(test)
    return _compound("or", [present, is_missing]) if test.missing else present


def _membership(test):
    labels = [_label(label) for label in test.labels]
    element = ElementTree.Element(
        "SimpleSetPredicate",
        field=test.name,
        booleanOperator="isIn" if test.is_listed else "isNotIn",
    )
    array = ElementTree.SubElement(element, "Array", n=str(len(labels)), type="string")
    quoted = [label.replace("\\", "\\\\").replace('"', '\\"') for label in labels]
    array.text = " ".join(f'"{label}"' for label in quoted)
    return element


def _interval(test):
    sides = [
        ElementTree.Element(
            "SimplePredicate",
            field=test.name,
            operator=OPERATORS[sign],
            value=repr(float(bound)),
        )
        for sign, bound in test.sides
    ]
    return _compound("and", sides)


def _label(value):
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else _number(value)


def _number(value):
    """A whole number without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
