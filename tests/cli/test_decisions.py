"""Criterion, weights, costs and threshold on the command line."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import defragtrees
from defragtrees import (
    DefragClassifier,
    RuleModel,
    compare,
    read_forest,
    simplify_path,
)
from defragtrees.cli.options import by_classes

FEATURES = ["a", "b"]


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    """A forest with named classes, of which one is rare, and its rows."""
    folder = tmp_path_factory.mktemp("credit")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((600, 2)).round(3), columns=FEATURES)
    risk = 0.02 + 0.35 * (X.a > 0.6) * (X.b > 0.3)
    y = np.where(rng.random(600) < risk, "bad", "good")
    forest = RandomForestClassifier(20, min_samples_leaf=20, random_state=0)
    joblib.dump(forest.fit(X, y), folder / "model.joblib")
    X.assign(status=y).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture
def inputs(credit):
    files = [credit / "model.joblib", credit / "data.csv"]
    return [*files, "--target", "status", "--trust", "pickle"]


def answers(done):
    assert done.code == 0, done.err
    return {row["then"] for row in json.loads(done.out)["rules"]}


def test_costs_and_weights_bring_the_rare_class_back(call, inputs):
    options = ["--test-size", 0, "--max-rules", 4, "--json"]
    assert answers(call("simplify", *inputs, *options)) == {"good"}
    for more in (
        ["--class-weight", "balanced"],
        ["--class-weight", "bad=9"],
        ["--costs", "bad:good=9,good:bad=1"],
        ["--threshold", "0.9"],
    ):
        found = answers(call("simplify", *inputs, *options, *more))
        assert found == {"bad", "good"}, more


def test_a_class_that_no_rule_answers_is_said(call, inputs):
    options = ["--test-size", 0, "--max-rules", 4]
    done = call("simplify", *inputs, *options)
    assert done.code == 0
    assert done.lines[0].startswith("warning: No rule predicts 'bad', the class of 1")
    assert "No rule predicts bad." in " ".join(done.out.split())
    done = call("simplify", *inputs, *options, "--class-weight", "balanced")
    assert "No rule predicts" not in done.err + done.out


@pytest.mark.filterwarnings("ignore:No rule predicts 'bad'")
@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--class-weight", "bad=5, good=2"], {"class_weight": {"bad": 5, "good": 2}}),
        (["--costs", "bad:good=5"], {"costs": {("bad", "good"): 5}}),
        (["--threshold", ".8"], {"threshold": 0.8}),
        (["--form", "standalone"], {"form": "standalone"}),
        (
            ["--form", "points", "--settings", "brevity = 0.05\npoints = 'integer'"],
            {"form": "points", "points": "integer", "brevity": 0.05},
        ),
        (["--min-rows", "0.3"], {"min_rows": 0.3}),
        (["--settings", "criterion = 'probability'"], {"criterion": "probability"}),
        (["--settings", "costs = {'bad:good' = 5}"], {"costs": {("bad", "good"): 5}}),
        (["--settings", "class_weight = 'balanced'"], {"class_weight": "balanced"}),
    ],
)
def test_each_option_is_the_setting_of_the_library(
    call, credit, inputs, tmp_path, options, settings
):
    out = tmp_path / "rules.json"
    table = pd.read_csv(credit / "data.csv")
    model = read_forest(credit / "model.joblib", trust_pickle=True)
    rows = table[FEATURES], table["status"]
    settings = {"max_rules": 4, "random_state": 0, **settings}
    if "--settings" in options:
        *options, text = options
        path = tmp_path / "settings.toml"
        path.write_text(text)
        options.append(path)
    options = [*options, "--max-rules", 4, "--test-size", 0, "--out", out]
    done = call("simplify", *inputs, *options)
    assert done.code == 0, done.err
    expected = DefragClassifier(model, **settings).fit(*rows)
    assert defragtrees.load(out) == expected.rules_


def test_path_takes_them_from_a_file(call, credit, inputs, tmp_path):
    out, path = tmp_path / "rules.json", tmp_path / "settings.toml"
    path.write_text("max_rules = 4\nthreshold = 0.8\n")
    table = pd.read_csv(credit / "data.csv")
    model = read_forest(credit / "model.joblib", trust_pickle=True)
    done = call("path", *inputs, "--settings", path, "--out", out)
    assert done.code == 0, done.err
    settings = {"max_rules": 4, "threshold": 0.8, "random_state": 0}
    expected = simplify_path(model, table[FEATURES], table["status"], **settings)
    assert defragtrees.load(out) == expected.rules


def test_compare_gives_them_to_the_default_method(call, credit, inputs, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("class_weight = 'balanced'\n")
    options = ["--methods", "defrag,distilled", "--max-rules", 3, "--json"]
    done = call("compare", *inputs, *options, "--settings", path)
    found = json.loads(done.out)["methods"]
    plain = json.loads(call("compare", *inputs, *options).out)["methods"]
    assert found[0]["error"] > plain[0]["error"]
    assert found[1]["error"] == plain[1]["error"]
    table = pd.read_csv(credit / "data.csv")
    model = read_forest(credit / "model.joblib", trust_pickle=True)
    expected = compare(
        *(model, table[FEATURES], table["status"]),
        methods=["defrag"],
        budgets=3,
        random_state=0,
    )
    assert plain[0]["error"] == expected.rows()[0]["error"]


def test_report_takes_them(call, inputs, tmp_path):
    out, path = tmp_path / "report.html", tmp_path / "settings.toml"
    path.write_text("[costs]\n'bad:good' = 9.0\n")
    done = call("report", *inputs, "--settings", path, "--out", out)
    assert done.code == 0, done.err
    assert "(&#x27;bad&#x27;, &#x27;good&#x27;): 9.0" in out.read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--costs", "bad:godo=5"], "costs names the class 'godo'"),
        (["--costs", "bad=5"], "costs must have keys such as"),
        (["--costs", "bad:good=much"], "'bad:good=much' must be written as in"),
        (["--costs", "bad:good=-1"], "must be a finite number from 0"),
        (["--costs", "bad:bad=1"], "costs must be 0 for right predictions"),
        (["--costs", "bad:good=0,good:bad=0"], "costs must be above 0 for one mistake"),
        (["--class-weight", "bda=2"], "class_weight names the class 'bda'"),
        (["--class-weight", "equal"], "'equal' must be written as in balanced or A=2"),
        (["--class-weight", "bad=0,good=0"], "must be above 0 for one class"),
        (["--threshold", ".5", "--costs", "bad:good=5"], "threshold or costs"),
        (["--points", "integer"], "points='integer' needs form='points'"),
        (["--method", "distilled", "--form", "points"], "--form is not for Distilled"),
        (["--method", "distilled", "--threshold", ".5"], "--threshold is not for"),
    ],
)
def test_what_is_refused(refused, inputs, options, message):
    assert message in refused("simplify", *inputs, *options)


@pytest.mark.parametrize(
    "options",
    [["--class-weight", "balanced"], ["--costs", "a:b=1"], ["--threshold", ".5"]],
)
def test_they_are_for_classes(refused, files, options):
    shop = [files / "shop.txt", files / "shop.csv", "--target", "price"]
    line = refused("simplify", *shop, *options)
    assert f"{options[0]} is not for DefragRegressor" in line


def test_labels_may_be_numbers_or_have_colons():
    assert by_classes({"1:0": 5.0}, (0, 1)) == {(1, 0): 5.0}
    assert by_classes({"a:b:a": 1.0}, ("a", "b:a")) == {("a", "b:a"): 1.0}
    assert by_classes({"b:a:a": 1.0}, ("a", "b:a")) == {("b:a", "a"): 1.0}


def test_limits_are_kept(call, inputs, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("max_total_conditions = 2\n")
    done = call(
        "simplify", *inputs, "--monotone", "b=1", "--min-rows", "40", "--json",
        "--settings", path, "--must-use", "b", "--test-size", "0",
    )  # fmt: skip
    assert done.code == 0, done.err
    rules = RuleModel.from_dict(json.loads(done.out)["rules_document"])
    assert sum(rule.n_conditions for rule in rules) <= 2
    assert min(rule.n_rows for rule in rules) >= 40
    assert "b" in rules.features
    told = rules.predict_proba([[0.8, b] for b in np.linspace(0, 1, 50)])[:, 1]
    assert (np.diff(told) >= 0).all() or (np.diff(told) <= 0).all()
    without = call("simplify", *inputs, "--exclude", "b", "--json")
    assert set(json.loads(without.out)["rules_document"]["feature_names"]) == {"a", "b"}
    assert "b " not in " ".join(row["if"] for row in json.loads(without.out)["rules"])
    path.write_text("groups = [['a'], ['b']]\n")
    grouped = call("simplify", *inputs, "--settings", path, "--json")
    rules = RuleModel.from_dict(json.loads(grouped.out)["rules_document"])
    assert all(len(rule.conditions) <= 1 for rule in rules)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--monotone", "a"], "'a' must be written as in income=-1"),
        (["--monotone", "a=up"], "'a=up' must be written as in income=-1"),
        (["--monotone", "speed=1"], "monotone has 'speed', which is not a feature"),
        (["--must-use", "speed"], "must_use has 'speed', which is not a feature"),
        (["--exclude", "a,b"], "exclude must leave a feature; it names all"),
        (["--min-rows", "5", "--method", "distilled"], "--min-rows is not for"),
    ],
)
def test_limits_that_do_nothing_are_refused(refused, inputs, options, message):
    assert message in refused("simplify", *inputs, *options)
