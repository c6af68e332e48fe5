"""Gains: by hand, and against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import precision_score, recall_score

from defragtrees import Condition, Rule, RuleList, metrics, simplify

X = [[30.0], [25.0], [15.0], [16.0], [5.0], [4.0], [3.0], [2.0]]
Y = ["yes", "no", "yes", "yes", "no", "no", "no", "yes"]


def made(first=0.5, second=0.75, rest=0.1, **settings):
    warm = Rule((Condition(0, lower=20.0),), "yes", (1 - first, first))
    mild = Rule((Condition(0, lower=10.0),), "yes", (1 - second, second))
    rules, rest = (warm, mild), Rule((), "no", (1 - rest, rest))
    labels = ("no", "yes")
    return RuleList(rules, rest, ("degrees",), "classification", labels, **settings)


def test_gains_by_hand():
    steps = metrics.gains(made(), X, Y)
    assert [step["rules"] for step in steps] == [(2,), (1,), (3,)]
    assert [step["threshold"] for step in steps] == [0.75, 0.5, 0.1]
    assert [step["share"] for step in steps] == [0.25, 0.5, 1.0]
    assert [step["n_rows"] for step in steps] == [2, 4, 8]
    assert [step["n_positive"] for step in steps] == [2, 3, 4]
    assert [step["expected"] for step in steps] == pytest.approx([1.5, 2.5, 2.9])
    assert [step["captured"] for step in steps] == [0.5, 0.75, 1.0]
    assert [step["precision"] for step in steps] == [1.0, 0.75, 0.5]
    assert [step["lift"] for step in steps] == [2.0, 1.5, 1.0]


def test_rules_with_the_same_probability_are_one_step():
    first, last = metrics.gains(made(first=0.75), X, Y)
    assert first["rules"] == (1, 2)
    assert (first["n_rows"], first["n_positive"]) == (4, 3)
    assert (last["captured"], last["lift"]) == (1.0, 1.0)


def test_weights_count_and_the_positive_class_may_be_the_first():
    weight = [1, 3, 1, 1, 1, 1, 1, 1]
    steps = metrics.gains(made(pos_label="no"), X, Y, weight)
    assert [step["rules"] for step in steps] == [(3,), (1,), (2,)]
    assert [step["n_rows"] for step in steps] == [4, 8, 10]
    assert [step["captured"] for step in steps] == [0.5, 1.0, 1.0]
    assert steps[0]["lift"] == pytest.approx(0.75 / 0.6)


@pytest.mark.parametrize("form", ["list", "points", "standalone"])
def test_gains_are_those_of_scikit_learn_at_each_threshold(form):
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X[:300], y[:300])
    settings = {"max_rules": 4, "form": form, "random_state": 0}
    simple = simplify(forest, X[:300], y[:300], **settings)
    X, y = X[300:], y[300:]
    likely = np.round(simple.predict_proba(X)[:, 1], 12)
    steps = metrics.gains(simple, X, y)
    assert [step["threshold"] for step in steps] == sorted({*likely}, reverse=True)
    for step in steps:
        flagged = likely >= step["threshold"]
        assert step["n_rows"] == flagged.sum()
        assert step["captured"] == pytest.approx(recall_score(y, flagged))
        assert step["precision"] == pytest.approx(precision_score(y, flagged))
        assert step["lift"] == pytest.approx(step["precision"] / y.mean())
        assert step["expected"] == pytest.approx(likely[flagged].sum())


def test_gains_need_two_classes_and_a_positive_row():
    numbers = RuleList((), Rule((), 1.0), ("degrees",), "regression")
    with pytest.raises(ValueError, match="gains needs rules for two classes"):
        metrics.gains(numbers, X, [1.0] * 8)
    with pytest.raises(ValueError, match="none is yes"):
        metrics.gains(made(), X, ["no"] * 8)
