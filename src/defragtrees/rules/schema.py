"""Plain data from outside, checked against a JSON Schema; errors name the place.

Only what the published schema of rules uses is known here, so that no package is needed
to read rules. Numbers must be finite, which JSON takes for granted. A test compares the
answers with those of a complete validator.
"""

import json
import math
import numbers
from functools import cache
from pathlib import Path

from defragtrees._utils.values import shown
from defragtrees.errors import ModelFileError
from defragtrees.outcomes import OUTCOMES

__all__ = ["KEYWORDS", "check_rules", "find_problem", "rules_schema"]

SCHEMA = Path(__file__).with_name("rules.schema.json")
SLACK = 1e-9  # a share may be above 1 by rounding
TYPES = {
    "array": ("a list", (list, tuple)),
    "boolean": ("true or false", bool),
    "integer": ("a whole number", numbers.Integral),
    "null": ("null", type(None)),
    "number": ("a number", numbers.Real),
    "object": ("an object", dict),
    "string": ("a text", str),
}
NOTES = {"$defs", "$id", "$schema", "default", "description", "title"}


@cache
def _schema_text():
    return SCHEMA.read_text(encoding="utf-8")


def rules_schema():
    """The JSON Schema of saved rules."""
    return json.loads(_schema_text())


def check_rules(data):
    """Refuse what is not as the schema of saved rules has it.

    Examples
    --------
    >>> check_rules({"format": "defragtrees-rules-1"})
    Traceback (most recent call last):
    ...
    ValueError: the file has no 'task'
    """
    schema = rules_schema()
    schema["properties"]["task"]["enum"] = list(OUTCOMES)
    _check_format(data, schema["properties"]["format"]["const"])
    problem = find_problem(data, schema)
    if problem is not None:
        place, text = problem
        raise ValueError(f"{place or 'the file'} {text}")


def _check_format(data, wanted):
    """Refuse what is no saved rules, or those of another version."""
    if not isinstance(data, dict) or "format" not in data:
        came = shown(data)
        if isinstance(data, dict):
            came = f"one with {', '.join(map(shown, list(data)[:5])) or 'nothing'}"
        raise ModelFileError(
            f"Saved rules are an object with the format {wanted!r}; got {came}. "
            "Give a file that RuleSet.save wrote."
        )
    if data["format"] != wanted:
        raise ModelFileError(
            f"Rules must have the format {wanted!r}; got {shown(data['format'])}. "
            "Update defragtrees, or save the rules again with this version."
        )


def find_problem(data, schema):
    """The first thing in data that the schema refuses: its place, and what it is.

    Parameters
    ----------
    data : plain data
    schema : dict

    Returns
    -------
    (str, str) or None

    Examples
    --------
    >>> schema = {"properties": {"a": {"items": {"type": "number"}}}}
    >>> find_problem({"a": [1, "x"]}, schema)
    ('a[1]', "must be a number; got 'x'")
    """
    return next(_problems(data, schema, "", schema), None)


def _problems(value, schema, place, root):
    for keyword, wanted in schema.items():
        if keyword not in NOTES:
            yield from KEYWORDS[keyword](value, wanted, place, root, schema)


def _is_of(value, name):
    kind = TYPES[name][1]
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, kind)


def _type(value, wanted, place, root, schema):
    names = [wanted] if isinstance(wanted, str) else wanted
    if not any(_is_of(value, name) for name in names):
        texts = " or ".join(TYPES[name][0] for name in names)
        yield place, f"must be {texts}; got {shown(value)}"
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, f"must be a finite number; got {value!r}"


def _ref(value, wanted, place, root, schema):
    target = root
    for part in wanted.removeprefix("#/").split("/"):
        target = target[part]
    yield from _problems(value, target, place, root)


def _enum(value, wanted, place, root, schema):
    if not any(_same(value, one) for one in wanted):
        names = ", ".join("null" if one is None else repr(one) for one in wanted)
        yield place, f"must be one of {names}; got {shown(value)}"


def _const(value, wanted, place, root, schema):
    if not _same(value, wanted):
        yield place, f"must be {wanted!r}; got {shown(value)}"


def _same(one, other):
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _limit(text, is_within):
    def check(value, wanted, place, root, schema):
        if _is_of(value, "number") and not is_within(value, wanted):
            yield place, f"must be {text} {wanted:g}; got {shown(value)}"

    return check


def _at_most(value, most):
    return value <= most + SLACK


def _length(text, is_within):
    def check(value, wanted, place, root, schema):
        if _is_of(value, "array") and not is_within(len(value), wanted):
            yield place, f"must have {text} {wanted} entries; got {len(value)}"

    return check


def _unique(value, wanted, place, root, schema):
    if _is_of(value, "array"):
        texts = [json.dumps(entry, sort_keys=True, default=str) for entry in value]
        if len(set(texts)) < len(texts):
            yield place, f"must have no entry twice; got {shown(value)}"


def _items(value, wanted, place, root, schema):
    if _is_of(value, "array"):
        for i, entry in enumerate(value):
            yield from _problems(entry, wanted, f"{place}[{i}]", root)


def _properties(value, wanted, place, root, schema):
    if _is_of(value, "object"):
        for name, entry in wanted.items():
            if name in value:
                inside = f"{place}.{name}" if place else name
                yield from _problems(value[name], entry, inside, root)


def _required(value, wanted, place, root, schema):
    if _is_of(value, "object"):
        for name in wanted:
            if name not in value:
                yield place, f"has no {name!r}"


def _additional(value, wanted, place, root, schema):
    if _is_of(value, "object"):
        for name in value:
            if name not in schema["properties"]:
                yield (
                    place,
                    f"has {shown(name)}, which this version of defragtrees does not "
                    "know",
                )


def _one_of(value, wanted, place, root, schema):
    found = [next(_problems(value, one, place, root), None) for one in wanted]
    if None not in found:
        # The one that got furthest is the one that was meant.
        deepest = max(found, key=lambda problem: len(problem[0]))
        if deepest[0] != place:
            yield deepest
        else:
            texts = (text.split(";")[0].removeprefix("must be ") for _, text in found)
            yield place, f"must be {' or '.join(texts)}; got {shown(value)}"


def _all_of(value, wanted, place, root, schema):
    for one in wanted:
        yield from _problems(value, one, place, root)


def _if(value, wanted, place, root, schema):
    holds = next(_problems(value, wanted, place, root), None) is None
    branch = schema.get("then" if holds else "else", {})
    yield from _problems(value, branch, place, root)


def _nothing(value, wanted, place, root, schema):
    yield from ()


KEYWORDS = {
    "$ref": _ref,
    "additionalProperties": _additional,
    "allOf": _all_of,
    "const": _const,
    "else": _nothing,
    "enum": _enum,
    "exclusiveMaximum": _limit("below", lambda a, b: a < b),
    "exclusiveMinimum": _limit("above", lambda a, b: a > b),
    "if": _if,
    "items": _items,
    "maxItems": _length("at most", lambda a, b: a <= b),
    "maximum": _limit("up to", _at_most),
    "minItems": _length("at least", lambda a, b: a >= b),
    "minimum": _limit("from", lambda a, b: a >= b),
    "oneOf": _one_of,
    "properties": _properties,
    "required": _required,
    "then": _nothing,
    "type": _type,
    "uniqueItems": _unique,
}
