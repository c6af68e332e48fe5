"""Rule files are checked as the published schema says, and the place is named."""

import json
import random

import pytest
from jsonschema import Draft202012Validator

import defragtrees
from defragtrees import (
    Rule,
    RuleEnsemble,
    RuleList,
    RuleModel,
    RuleSet,
    Scorecard,
)
from defragtrees._utils.files import to_json
from defragtrees.errors import ModelFileError
from defragtrees.export.tables import schema as rules_schema
from defragtrees.rules import RuleTree
from tests.fuzz.cases import SEEDS
from tests.fuzz.mutations import alter_document

FILES = sorted(SEEDS.glob("rules-*.json"))


def load(name="rules-classes.json"):
    return json.loads((SEEDS / name).read_text(encoding="utf-8"))


def refused(data, tmp_path):
    path = tmp_path / "rules.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    with pytest.raises(ModelFileError) as caught:
        defragtrees.load(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_saved_rules_are_as_the_schema_has_them(path):
    assert defragtrees.load(path).to_dict() == load(path.name)


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
        ((0, "conditions", 0, "feature"), 99, "has a condition on feature 99"),
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
        ([1, 2], "got [1, 2]. Give a file that RuleModel.save"),
        ({"format": "defragtrees-rules-9"}, "or update defragtrees"),
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
    assert RuleModel.from_dict(data).rules[0].coverage == 1.0000000000000002


def test_the_published_schema_says_the_same():
    complete = Draft202012Validator(rules_schema())
    n_refused = n_more = 0
    for number in range(400):
        rng = random.Random(number)
        document = load(FILES[number % len(FILES)].name)
        data = json.loads(alter_document(document, rng), parse_constant=str)
        is_valid = complete.is_valid(data)
        try:
            rules = RuleModel.from_dict(data)
        except ModelFileError:
            n_refused += 1
            n_more += is_valid
            continue
        assert is_valid, number
        assert complete.is_valid(json.loads(to_json(rules.to_dict())))
    assert 100 < n_refused < 400
    assert n_more < 100  # what goes together is for the constructors to say


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_form_comes_back_as_its_class(path):
    rules = defragtrees.load(path)
    kinds = {
        "list": RuleList,
        "tree": RuleTree,
        "standalone": RuleSet,
        "points": Scorecard,
        "average": RuleEnsemble,
    }
    assert type(rules) is kinds[load(path.name)["form"]]
    assert type(RuleModel.from_dict(rules.to_dict())) is type(rules)
    assert repr(rules).startswith(f"<{type(rules).__name__}: ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alone": 0.5}, "one share for each class"),
        ({"quantiles": [0.1, 0.9]}, "quantiles are for numbers"),
        ({"rates": []}, "one share for each class"),
        ({"model_mean": 0.5}, "one share for each class"),
        ({"points": [10**30]}, "points where they add up, and none elsewhere"),
        ({"weight": None}, "rules[0].weight must be a number; got None"),
        ({"conditions": {}}, "rules[0].conditions must be a list"),
        ({"conditions": [1]}, "rules[0].conditions[0] must be an object; got 1"),
    ],
)
def test_a_rule_of_classes_has_what_classes_have(changes, message, tmp_path):
    data = load()
    data["rules"][0] |= changes
    assert message in refused(data, tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": []}, "rates and distribution are for classes"),
        ({"model_mean": [0.5]}, "model_mean of a number must be a number"),
        ({"alone": [0.5]}, "alone of a number must be a number"),
        ({"prediction": True}, "rules[0].prediction must be a number; got True"),
        ({"prediction": 10**200}, "rules[0].prediction must be up to 1e+100"),
    ],
)
def test_a_rule_of_numbers_has_what_numbers_have(changes, message, tmp_path):
    data = load("rules-numbers.json")
    data["rules"][0] |= changes
    assert message in refused(data, tmp_path)


def test_a_training_column_has_both_ends_or_none(tmp_path):
    data = load("rules-numbers.json")
    place = data["categories"].index(None)
    column = {"feature": place, "counts": [1, 2], "missing": 0, "cuts": [3.5]}
    data["training"] = {"n_rows": 3, "columns": [column]}
    assert RuleModel.from_dict(data).training.n_rows == 3
    column |= {"low": 1.0, "high": None}
    assert "low and high" in refused(data, tmp_path)


def test_a_number_has_no_classes(tmp_path):
    data = load("rules-numbers.json") | {"classes": ["a", "b"]}
    assert "Rules for regression have no classes" in refused(data, tmp_path)


def test_a_long_whole_number_of_points_is_a_number():
    base = Rule((), 2.0, points=(2.0,))
    data = Scorecard((), base, ("a",), "regression").to_dict()
    data["default"]["points"] = [10**30]
    card = RuleModel.from_dict(data)
    assert card.default.points == (1e30,)
    assert card.predict([[1.0]]).tolist() == [1e30]
