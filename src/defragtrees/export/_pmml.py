"""Columns and predicates of PMML documents."""

from xml.etree import ElementTree

from defragtrees.export import portable

__all__ = [
    "all_of",
    "data_field",
    "label_text",
    "number_text",
    "predicate",
]

OPERATORS = {
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "<": "lessThan",
    "<=": "lessOrEqual",
    "=": "equal",
}


def data_field(fields, rules, feature):
    """Add a column to a DataDictionary.

    Its categories are not listed: then any other is a text too, and not invalid.
    """
    is_number = portable.column_kind(rules, feature) == "number"
    ElementTree.SubElement(
        fields,
        "DataField",
        name=rules.feature_names[feature],
        optype="continuous" if rules.categories[feature] is None else "categorical",
        dataType="double" if is_number else "string",
    )


def all_of(predicates):
    """The predicate that all of some hold; true without any."""
    return _compound("and", predicates) if predicates else ElementTree.Element("True")


def _compound(operator, predicates):
    if len(predicates) == 1:
        return predicates[0]
    element = ElementTree.Element("CompoundPredicate", booleanOperator=operator)
    element.extend(predicates)
    return element


def predicate(test):
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
    labels = [label_text(label) for label in test.labels]
    if any(mark in label for label in labels for mark in '"\\'):
        # Scorers do not agree on how an array escapes quotes and backslashes.
        return _compares(test, labels)
    element = ElementTree.Element(
        "SimpleSetPredicate",
        field=test.name,
        booleanOperator="isIn" if test.is_listed else "isNotIn",
    )
    array = ElementTree.SubElement(element, "Array", n=str(len(labels)), type="string")
    array.text = " ".join(f'"{label}"' for label in labels)
    return element


def _compares(test, labels):
    """The same as a comparison with each of the categories."""
    operator = "equal" if test.is_listed else "notEqual"
    parts = [
        ElementTree.Element(
            "SimplePredicate", field=test.name, operator=operator, value=label
        )
        for label in labels
    ]
    return _compound("or" if test.is_listed else "and", parts)


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


def label_text(value):
    """A category or class as PMML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else number_text(value)


def number_text(value):
    """A whole number without a point."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
