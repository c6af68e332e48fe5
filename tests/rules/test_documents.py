"""Rule files are checked against the published schema, and the place is named."""

import json
import random

import pytest
from jsonschema import Draft202012Validator

from defragtrees import RuleSet
from defragtrees.errors import ModelFileError
from defragtrees.rules.schema import KEYWORDS, NOTES, find_problem, rules_schema
from tests.fuzz.cases import SEEDS
from tests.fuzz.mutations import alter_document

FILES = sorted(SEEDS.glob("rules-*.json"))


def load(name="rules-classes.json"):
    return json.loads((SEEDS / name).read_text(encoding="utf-8"))


def refused(data, tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    with pytest.raises(ModelFileError) as caught:
        RuleSet.load(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_saved_rules_are_as_the_schema_has_them(path):
    assert RuleSet.load(path).to_dict() == load(path.name)


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ((0, "distribution"), "ab", "rules[0].distribution must be a list or null"),
        ((0, "distribution", 1), [], "rules[0].distribution[1] must be a number"),
        ((0, "distribution", 1), 10**400, "must be up to 1; got 1000"),
        ((0, "distribution", 0), -0.5, "rules[0].distribution[0] must be from 0"),
        ((0, "spread"), "wide", "rules[0].spread must be a number or null"),
        ((0, "spread"), 10**400, "rules[0].spread must be up to 1e+100"),
        ((0, "coverage"), 2, "rules[0].coverage must be up to 1; got 2"),
        (
            (0, "conditions", 0, "lower"),
            True,
            "lower must be a number or null or 'inf'",
        ),
        ((0, "conditions", 0, "feature"), 0.5, "must be a whole number; got 0.5"),
        ((0, "conditions", 0, "feature"), 99, "asks about feature 99"),
        ((0, "extra"), 1, "has 'extra', which this version of defragtrees does not"),
    ],
)
def test_the_place_is_named(keys, value, message, tmp_path):
    data = load()
    holder = data["rules"]
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    assert message in refused(data, tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": 1}, "are an object with the format 'defragtrees-rules-1'; got one with"),
        ([1, 2], "got [1, 2]. Give a file that RuleSet.save wrote."),
        ({"format": "defragtrees-rules-9"}, "Update defragtrees, or save the rules"),
        ('{"format": NaN}', "NaN is no number of JSON"),
        ('{"format": ' + "1" * 5000 + "}", "is not a JSON file"),
        ("[" * 100_000, "is not a JSON file"),
        ("", "is not a JSON file"),
    ],
)
def test_what_is_no_rule_file_is_told_from_one(data, message, tmp_path):
    assert message in refused(data, tmp_path)


def test_categories_are_plain_values(tmp_path):
    data = load()
    place = next(j for j, labels in enumerate(data["categories"]) if labels)
    data["categories"][place][0] = ["a"]
    message = refused(data, tmp_path)
    assert f"categories[{place}][0] must be a text or a number or true" in message


def test_a_share_may_be_one_by_rounding():
    data = load()
    data["rules"][0]["coverage"] = 1.0000000000000002
    assert RuleSet.from_dict(data).rules[0].coverage == 1.0000000000000002


def test_every_word_of_the_schema_is_understood():
    def words(schema):
        yield from schema
        for name in ("properties", "$defs"):
            for part in schema.get(name, {}).values():
                yield from words(part)
        for name in ("items", "if", "then", "else"):
            if name in schema:
                yield from words(schema[name])
        for name in ("allOf", "oneOf"):
            for part in schema.get(name, ()):
                yield from words(part)

    assert set(words(rules_schema())) <= set(KEYWORDS) | NOTES


def test_answers_are_those_of_a_complete_validator():
    schema = rules_schema()
    complete = Draft202012Validator(schema)
    n_refused = 0
    for number in range(400):
        rng = random.Random(number)
        document = load(FILES[number % len(FILES)].name)
        data = json.loads(alter_document(document, rng), parse_constant=str)
        is_refused = find_problem(data, schema) is not None
        assert is_refused == (not complete.is_valid(data)), number
        n_refused += is_refused
    assert 100 < n_refused < 400
