"""A list of rules for classes as a PMML RuleSetModel: the first that holds answers."""

import math
from xml.etree import ElementTree

from defragtrees.export import portable
from defragtrees.export._pmml import all_of, label_text, predicate

__all__ = ["add_rule_set"]

TARGET = "answer"  # the name of what is predicted


def add_rule_set(document, fields, rules, used, name):
    """Add a RuleSetModel to a PMML document, and its target to the data dictionary.

    Parameters
    ----------
    document, fields : Element
    rules : RuleSet
    used : sequence of int
        Features that rules ask about.
    name : str
        Of the model.
    """
    target = _free_name(TARGET, rules.feature_names)
    labels = portable.class_labels(rules)
    field = ElementTree.SubElement(
        fields, "DataField", name=target, optype="categorical", dataType="string"
    )
    for label in labels:
        ElementTree.SubElement(field, "Value", value=label_text(label))
    model = ElementTree.SubElement(
        document, "RuleSetModel", modelName=name, functionName="classification"
    )
    schema = ElementTree.SubElement(model, "MiningSchema")
    for feature in used:
        ElementTree.SubElement(schema, "MiningField", name=rules.feature_names[feature])
    ElementTree.SubElement(schema, "MiningField", name=target, usageType="target")
    _add_outputs(model, rules)
    _add_rules(model, rules, labels)


def _free_name(name, taken):
    while name in taken:
        name += "_"
    return name


def _add_outputs(model, rules):
    output = ElementTree.SubElement(model, "Output")
    taken = rules.feature_names
    ElementTree.SubElement(
        output,
        "OutputField",
        name=_free_name("prediction", taken),
        feature="predictedValue",
        optype="categorical",
        dataType="string",
    )
    ElementTree.SubElement(
        output,
        "OutputField",
        name=_free_name("rule", taken),
        feature="entityId",
        optype="categorical",
        dataType="string",
    )
    if portable.has_shares(rules):
        ElementTree.SubElement(
            output,
            "OutputField",
            name=_free_name("confidence", taken),
            feature="confidence",
            optype="continuous",
            dataType="double",
        )


def _add_rules(model, rules, labels):
    answers = [label_text(answer) for answer in portable.answers(rules)]
    rule_set = ElementTree.SubElement(
        model,
        "RuleSet",
        defaultScore=answers[-1],
        defaultConfidence=_confidence(rules.default, labels, answers[-1]),
    )
    ElementTree.SubElement(rule_set, "RuleSelectionMethod", criterion="firstHit")
    _add_shares(rule_set, rules.default, labels)
    # The last rule always holds, so that it has a number and probabilities too.
    tests = portable.column_tests(rules)
    for k, (rule, asked) in enumerate(zip(rules, tests, strict=True)):
        one = ElementTree.SubElement(
            rule_set,
            "SimpleRule",
            id=str(k + 1),
            score=answers[k],
            confidence=_confidence(rule, labels, answers[k]),
        )
        if not math.isnan(rule.n_rows):
            one.set("recordCount", repr(float(rule.n_rows)))
        one.append(all_of([predicate(test) for test in asked]))
        _add_shares(one, rule, labels)


def _confidence(rule, labels, answer):
    """How likely the answer of a rule is; 1 where nobody says."""
    if rule.distribution is None:
        return "1"
    texts = [label_text(label) for label in labels]
    return repr(float(rule.distribution[texts.index(answer)]))


def _add_shares(parent, rule, labels):
    """What a rule tells of each class."""
    if rule.distribution is None:
        return
    n_rows = 1.0 if math.isnan(rule.n_rows) or not rule.n_rows else rule.n_rows
    for label, share in zip(labels, rule.distribution, strict=True):
        ElementTree.SubElement(
            parent,
            "ScoreDistribution",
            value=label_text(label),
            recordCount=repr(float(share * n_rows)),
            confidence=repr(float(share)),
        )
