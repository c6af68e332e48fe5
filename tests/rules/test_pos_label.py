"""Of two classes the user says which one is told, not the alphabet."""

import json
import re

import numpy as np
import pytest
from sklearn import metrics as theirs
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import defragtrees
from defragtrees import metrics
from defragtrees._api import simplify
from defragtrees._compare import simplify_path
from defragtrees.baselines.distilled import DistilledTreeClassifier
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.report.page import write_report
from defragtrees.rules import RuleModel

FOREST = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)


@pytest.fixture(scope="module")
def loans():
    """Named so that the feared class comes first in the alphabet."""
    data = load_breast_cancer()
    X, y = data.data[:, :6], np.where(data.target == 0, "bad", "good")
    return X[:400], y[:400], X[400:], y[400:]


@pytest.fixture(scope="module")
def forest(loans):
    return clone(FOREST).fit(*loans[:2])


@pytest.fixture(scope="module")
def simple(forest, loans):
    X, y, _, _ = loans
    return simplify(forest, X, y, max_rules=4, random_state=0, pos_label="bad")


def test_every_rule_tells_the_rate_of_that_class(simple, loans):
    X, y, _, _ = loans
    place = simple.apply(X)
    for k, row in enumerate(simple.rules_._view.rows()):
        assert row["class"] == "bad"
        assert row["rate"] == pytest.approx((y[place == k] == "bad").mean())
    assert "P(bad)" in str(simple.rules_).splitlines()[0]
    assert "P(good)" not in str(simple.rules_)
    assert "| P(bad) |" in simple.export("markdown")
    assert "; P(bad) = " in simple.explain(X[0])


def test_the_rules_themselves_are_the_same(simple, forest, loans):
    X, y, X_new, _ = loans
    plain = simplify(forest, X, y, max_rules=4, random_state=0)
    assert plain.rules_.relabel(pos_label="bad") == simple.rules_
    assert list(simple.classes_) == ["bad", "good"]
    assert np.array_equal(plain.predict_proba(X_new), simple.predict_proba(X_new))
    assert "P(bad)" not in str(plain.rules_)


def test_measures_are_those_of_that_class(simple, forest, loans):
    _, _, X, y = loans
    scores, answers = simple.evaluate(X, y), simple.predict(X)
    told = {"pos_label": "bad"}
    assert scores["precision"] == theirs.precision_score(y, answers, **told)
    assert scores["recall"] == theirs.recall_score(y, answers, **told)
    assert scores["average_precision"] == pytest.approx(
        theirs.average_precision_score(y, simple.predict_proba(X)[:, 0], **told)
    )
    assert scores["model_average_precision"] == pytest.approx(
        theirs.average_precision_score(y, forest.predict_proba(X)[:, 0], **told)
    )
    assert scores["model_recall"] == theirs.recall_score(y, forest.predict(X), **told)
    lines = metrics.calibration(simple.rules_, X, y)
    assert {line["class"] for line in lines} == {"bad"}
    assert "are those of bad." in simple.summary(X, y)
    assert "Estimated and observed on these rows, for bad:" in simple.summary(X, y)


def test_a_path_is_measured_for_that_class(forest, loans):
    X, y, _, _ = loans
    settings = {"max_rules": 3, "random_state": 0, "choose_by": "recall"}
    plain = simplify_path(forest, X, y, **settings)
    other = simplify_path(forest, X, y, pos_label="bad", **settings)
    assert plain.model_measures["auc"] == pytest.approx(other.model_measures["auc"])
    assert plain.model_measures["recall"] != other.model_measures["recall"]


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_a_threshold_is_of_that_class(form, forest, loans):
    X, y, X_new, _ = loans
    simple = simplify(
        forest,
        X,
        y,
        max_rules=4,
        random_state=0,
        form=form,
        pos_label="bad",
        threshold=0.2,
    )
    is_bad = simple.predict_proba(X_new)[:, 0] >= 0.2
    assert np.array_equal(simple.predict(X_new) == "bad", is_bad)
    assert is_bad.any()
    assert "Predicts bad if P(bad) >= 0.2." in simple.summary(X)
    assert np.array_equal(
        RuleModel.from_dict(simple.rules_.to_dict()).predict(X_new),
        simple.predict(X_new),
    )


def test_answers_rise_and_fall_for_that_class(forest, loans):
    X, y, _, _ = loans
    settings = {"max_rules": 4, "random_state": 0}
    falls = simplify(forest, X, y, monotone={2: -1}, **settings)
    rises = simplify(forest, X, y, monotone={2: 1}, pos_label="bad", **settings)
    assert rises.rules_ == falls.rules_.relabel(pos_label="bad")


def test_it_is_kept_in_the_file_and_by_edits(simple, loans, tmp_path):
    X, y, _, _ = loans
    simple.rules_.save(tmp_path / "rules.json")
    loaded = defragtrees.load(tmp_path / "rules.json")
    assert loaded == simple.rules_
    assert loaded.pos_label == "bad"
    edited = loaded.drop(1).refit(X, y)
    assert {row["class"] for row in edited._view.rows()} == {"bad"}
    # Files of rules that say nothing of it are as they always were.
    plain = DistilledTreeClassifier(random_state=0).fit(X, y).rules_
    assert "pos_label" not in plain.to_dict()


def test_the_report_speaks_of_that_class(simple, loans, tmp_path):
    _, _, X, y = loans
    page = tmp_path / "report.html"
    write_report(page, simple, X, y)
    text = page.read_text("utf-8")
    assert "Average precision, precision and recall are those of" in text
    start = text.index("Average precision, precision and recall are those of")
    assert "bad" in text[start : start + 120]
    assert '"positive":0' in text.replace(" ", "")
    assert "Rates and probabilities refer to <b><bdi>bad</bdi></b>" in text


def test_the_report_tells_costs_and_groups_of_that_class(forest, loans, tmp_path):
    X, y, X_new, y_new = loans
    costs = {("bad", "good"): 9}
    simple = simplify(
        forest, X, y, max_rules=4, random_state=0, pos_label="bad", costs=costs
    )
    groups = np.where(X_new[:, 0] > 14, "large", "small")
    page = tmp_path / "report.html"
    write_report(page, simple, X_new, y_new, groups=groups)
    text = " ".join(re.sub("<[^>]*>", "", page.read_text("utf-8")).split())
    assert "Costs: good predicted for bad 9, bad predicted for good 1." in text
    assert "Rate of bad" in text
    assert "Rate of good" not in text


def test_all_methods_have_it_and_it_survives_clone(loans):
    X, y, _, _ = loans
    tree = clone(DistilledTreeClassifier(max_rules=3, pos_label="bad", random_state=0))
    assert "P(bad)" in str(tree.fit(X, y).rules_)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("Bad", "pos_label must be one of the classes 'bad', 'good'; got 'Bad'."),
        (1, "pos_label must be one of the classes 'bad', 'good'; got 1."),
    ],
)
def test_what_is_no_class_is_refused(label, message, loans):
    with pytest.raises(ValueError, match=message):
        DefragClassifier(FOREST, pos_label=label).fit(*loans[:2])


def test_more_classes_and_numbers_have_none(loans):
    X, _, _, _ = loans
    three = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="pos_label needs two classes; there are 3"):
        DefragClassifier(FOREST, pos_label=1).fit(X, three)
    X, y = load_diabetes(return_X_y=True)
    trees = RandomForestRegressor(5, random_state=0)
    rules = DefragRegressor(trees).fit(X, y).rules_
    with pytest.raises(ValueError, match="two classes; these rules predict numbers"):
        rules.relabel(pos_label=1)


def test_the_command_line_has_it(simple, tmp_path, capsys):
    pytest.importorskip("click")
    from defragtrees.cli import main

    path = tmp_path / "rules.json"
    simple.rules_.relabel(pos_label="good").save(path)
    assert json.loads(path.read_text("utf-8"))["pos_label"] == "good"
    command = ["edit", str(path), "--pos-label"]
    assert main([*command, "bad"]) == 0
    assert "P(bad)" in capsys.readouterr().out
    assert main([*command, "bat"]) == 2
    assert "pos_label" in capsys.readouterr().err


def test_each_row_has_the_interval_of_its_rule(simple, loans):
    _, _, X, _ = loans
    place = simple.apply(X)
    told = np.array([row["interval"] for row in simple.rules_._view.rows()])
    assert np.array_equal(simple.rate_interval(X), told[place])
    assert np.array_equal(simple.rules_.rate_interval(X), told[place])
    low, high = simple.rate_interval(X).T
    probability = simple.predict_proba(X)[:, 0]
    assert ((low <= probability) & (probability <= high)).all()


def test_rows_of_several_rules_have_the_interval_of_their_band(forest, loans):
    X, y, _, _ = loans
    points = simplify(forest, X, y, max_rules=3, form="points", random_state=0)
    low, high = points.rate_interval(X).T
    chance = points.predict_proba(X)[:, 1]
    assert ((low <= chance) & (chance <= high)).all()
    assert 0.02 < np.mean(high - low) < 0.5
    bad = points.rules_.relabel(pos_label="bad").rate_interval(X)
    assert bad == pytest.approx(1 - np.column_stack([high, low]))
    unknown = simplify(forest, X, max_rules=3, random_state=0)  # without y
    assert np.isnan(unknown.rate_interval(X)).all()
