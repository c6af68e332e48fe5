"""JSON comes back as the same rules, and its schema says what is in it."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings

import defragtrees
from defragtrees import Condition, Rule, RuleList, RuleModel, Scorecard
from defragtrees.export import export
from defragtrees.export.tables import schema
from defragtrees.outcomes.intervals import RateBands, Residuals
from defragtrees.rules.models import MODELS
from tests.export import cases

jsonschema = pytest.importorskip("jsonschema", reason="the schema is checked by it")


def validator():
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema())
    return kind(schema())


@pytest.mark.parametrize("form", MODELS)
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_json_is_valid_and_comes_back(form, task, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS.get(kind))
    data = json.loads(export(rules, "json"))
    validator().validate(data)
    validator().validate(rules.to_dict())
    assert RuleModel.from_dict(data) == rules


@given(cases.rule_sets())
@settings(max_examples=60)
def test_any_rules_are_valid_and_come_back(rules):
    data = json.loads(export(rules, "json", indent=None))
    validator().validate(data)
    assert RuleModel.from_dict(data) == rules


def test_a_condition_for_missing_values_only_is_valid(tmp_path):
    only = Rule((Condition(0, lower=np.inf, missing=True),), 1.0, coverage=0.5)
    rules = RuleList((only,), Rule((), 0.0), ("a",), "regression")
    export(rules, "json", tmp_path / "rules.json")
    validator().validate(json.loads((tmp_path / "rules.json").read_text()))
    assert defragtrees.load(tmp_path / "rules.json") == rules


def test_what_numbers_tell_of_their_rows_is_valid_and_comes_back():
    rule = Rule((), 2.0, spread=1.5, quantiles=(0.5, 3.5), n_rows=10.0)
    found = Residuals(((-1.0, 0.5),), (0.7,), (-1.4, 0.7), low=0.0)
    rules = RuleList((), rule, ("a",), "regression", residuals=found)
    data = json.loads(export(rules, "json"))
    validator().validate(data)
    assert data["default"]["quantiles"] == [0.5, 3.5]
    assert data["residuals"]["bands"] == [[-1.0, 0.5]]
    assert RuleModel.from_dict(data) == rules


def test_rates_in_bands_are_valid_and_come_back():
    rule = Rule((), "a", (0.6, 0.4), points=(-0.4,))
    bands = RateBands((0.25,), (0.2, 0.5), (40.0, 60.0))
    rules = Scorecard((), rule, ("x",), "classification", ("a", "b"), rate_bands=bands)
    data = json.loads(export(rules, "json"))
    validator().validate(data)
    assert RuleModel.from_dict(data) == rules


def spoilt():
    def change(path, value):
        def act(data):
            for step in path[:-1]:
                data = data[step]
            data[path[-1]] = value

        return act

    return [
        change(["format"], "defragtrees-rules-0"),
        change(["task"], "ranking"),
        change(["classes"], None),
        change(["form"], "vote"),
        change(["feature_names"], [1]),
        change(["rules", 0, "weight"], "much"),
        change(["rules", 0, "coverage"], 1.5),
        change(["rules", 0, "distribution"], None),
        change(["rules", 0, "conditions", 0, "lower"], "nan"),
        change(["rules", 0, "conditions", 0, "feature"], -1),
        change(["rules", 0, "conditions", 0, "surprise"], 1),
        change(["default", "prediction"], [1]),
        change(["default", "conditions"], [Condition(0, upper=1.0).to_dict()]),
    ]


@pytest.mark.parametrize("spoil", spoilt())
def test_what_is_no_rule_set_is_not_valid(spoil):
    rng = np.random.default_rng(0)
    good = cases.make_rules(rng, "average", ("a", "b")).to_dict()
    bad = copy.deepcopy(good)
    spoil(bad)
    assert validator().is_valid(good)
    assert not validator().is_valid(bad)


def test_numbers_of_numpy_are_written_and_others_refused():
    labels = (np.int64(1), np.int64(2))
    rules = RuleList((), Rule((), labels[0]), ("a",), "classification", labels)
    assert json.loads(export(rules, "json"))["classes"] == [1, 2]
    for odd in (1j, float("nan")):
        rules = RuleList((), Rule((), odd), ("a",), "classification", (odd,))
        with pytest.raises(ValueError, match="Turn them into text or finite numbers"):
            export(rules, "json")
