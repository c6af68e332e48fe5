"""Rules in order as a PMML 4.4 rule set, whole points as a scorecard.

In a scorecard each rule is a characteristic with its points where it holds and none
elsewhere, and the base is the initial score. A comparison with a missing value is
unknown in PMML, and what has an unknown predicate is passed over: so it does not hold,
unless `isMissing` is asked too.
"""

from xml.etree import ElementTree

from defragtrees.export import portable
from defragtrees.export._pmml import all_of, data_field, number_text, predicate
from defragtrees.export._pmml_rules import add_rule_set
from defragtrees.rules.model import RuleModel

__all__ = ["export"]

SUFFIX = ".pmml"
NAMESPACE = "http://www.dmg.org/PMML-4_4"


def export(rules: RuleModel, *, name: str | None = None) -> str:
    """A PMML document: a RuleSetModel of rules in order, or a Scorecard of points.

    The outputs of a Scorecard are `score`, the total of points, and `prediction` or,
    for two classes, `probability` of the second. Those of a RuleSetModel are
    `prediction`, `rule`, the number of the rule that answers, and `confidence`, how
    likely the answer is.

    Parameters
    ----------
    rules : RuleModel
        For classes that the first rule that holds answers; or with whole points that
        add up, for numbers or two classes.
    name : str, optional
        Of the model.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> rules = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                   "regression")
    >>> 'initialScore="2"' in export(rules)
    True
    """
    _check(rules)
    text = rules._combination_text() or "The first rule that holds answers."
    document = ElementTree.Element("PMML", version="4.4", xmlns=NAMESPACE)
    header = ElementTree.SubElement(document, "Header", description=text)
    ElementTree.SubElement(header, "Application", name="defragtrees")
    used = portable.used_features(rules)
    fields = ElementTree.SubElement(document, "DataDictionary")
    for feature in used:
        data_field(fields, rules, feature)
    if rules.is_list:
        add_rule_set(document, fields, rules, used, name or "rules")
    else:
        _add_scorecard(document, rules, used, name or "scorecard")
    fields.set("numberOfFields", str(len(fields)))
    ElementTree.indent(document)
    text = ElementTree.tostring(document, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_scorecard(document, rules, used, name):
    model = ElementTree.SubElement(
        document,
        "Scorecard",
        modelName=name,
        functionName="regression",
        useReasonCodes="false",
        initialScore=number_text(portable.points(rules)[-1][0]),
    )
    schema = ElementTree.SubElement(model, "MiningSchema")
    for feature in used:
        ElementTree.SubElement(schema, "MiningField", name=rules.feature_names[feature])
    _outputs(model, rules)
    _characteristics(model, rules)


def _check(rules):
    if rules.is_list and rules.classes:
        return
    points = [rule.points for rule in rules]
    is_whole = rules.decision == "points" and all(
        len(own) == 1 and float(own[0]).is_integer() for own in points
    )
    if not is_whole:
        raise ValueError(
            "PMML needs rules in order that answer classes, or whole points for a "
            f"number or two classes; got decision={rules.decision!r} for "
            f"{'classes' if rules.classes else 'numbers'}. Fit with form='points' and "
            "points='integer', or choose another format."
        )


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
            one, "Attribute", partialScore=number_text(rule.points[0])
        )
        holds.append(all_of([predicate(test) for test in asked]))
        rest = ElementTree.SubElement(one, "Attribute", partialScore="0")
        ElementTree.SubElement(rest, "True")
