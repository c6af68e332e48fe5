"""The tree of scikit-learn answers as the rules do, on rows of float32 numbers."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.tree import export_text

from defragtrees import Condition, Rule, RuleEnsemble, RuleList
from defragtrees.export import export
from tests.export import cases


def float32(value):
    """The closest float32; infinity becomes the largest one, which a tree takes."""
    largest = float(np.finfo(np.float32).max)
    return np.float32(min(max(value, -largest), largest))


def narrow(rows):
    return np.array(
        [[math.nan if x is None else float32(x) for x in row] for row in rows],
        dtype=np.float32,
    )


def check(rules, rows):
    X = narrow(rows)
    tree = export(rules, "sklearn", leaves="predictions")
    # Renamed, as an array has no names to compare.
    assert tree.feature_names_in_.tolist() == list(rules.feature_names)
    del tree.feature_names_in_
    assert tree.predict(X).tolist() == rules.predict(X).tolist()
    if rules.outcome.n_classes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            tree = export(rules, "sklearn")
        del tree.feature_names_in_
        assert (tree.predict_proba(X) == rules.predict_proba(X)).all()


@pytest.mark.parametrize("form", ["list", "tree", "average", "standalone"])
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_tree_agrees_on_a_thousand_rows(form, task, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS.get(kind), n_features=2)
    rows = cases.make_rows(rng, n_features=2)
    check(rules, rows)
    assert len(set(rules.predict(narrow(rows)).tolist())) > 1


@given(cases.rules_and_rows(n_features=2, number=float32))
@settings(max_examples=100)
def test_tree_agrees_on_any_rules(made):
    check(*made)


@pytest.mark.parametrize("labels", [None, ("a", "b")])
def test_a_default_without_weight_answers_alone(labels):
    check(cases.waiting_default(labels), cases.WAITING_ROWS)


def two_rules(distribution=(0.25, 0.75)):
    warm = Rule((Condition(0, lower=0.1),), "b", distribution)
    dry = Rule((Condition(1, upper=5.0, missing=True),), "a", (1.0, 0.0))
    default = Rule((), "b", (0.0, 1.0))
    return RuleList((warm, dry), default, ("x1", "x2"), "classification", ("a", "b"))


def test_a_tree_says_the_shares_of_its_rules():
    rules = two_rules()
    X = np.array([[1, 0], [0, 0], [np.nan, 9], [0, np.nan]], dtype=np.float32)
    tree = export(rules, "sklearn")
    assert tree.predict_proba(X).tolist() == rules.predict_proba(X).tolist()
    assert export_text(tree).splitlines() == [
        "|--- feature_0 <= 0.10",
        "|   |--- feature_1 <= 5.00",
        "|   |   |--- class: a",
        "|   |--- feature_1 >  5.00",
        "|   |   |--- class: b",
        "|--- feature_0 >  0.10",
        "|   |--- class: b",
    ]
    assert tree.get_n_leaves() == 3
    assert tree.get_depth() == 2
    assert pickle.loads(pickle.dumps(tree)).predict(X).tolist() == ["b", "a", "b", "a"]


def test_predictions_of_other_than_the_most_probable_class_need_their_own_leaves():
    rules = two_rules(distribution=(0.75, 0.25))
    with pytest.warns(UserWarning, match="rule 1 predicts another one. Decide from"):
        tree = export(rules, "sklearn")
    assert tree.predict([[1.0, 0.0]]).tolist() == ["a"]
    assert tree.predict_proba([[1.0, 0.0]]).tolist() == [[0.75, 0.25]]
    tree = export(rules, "sklearn", leaves="predictions")
    assert tree.predict([[1.0, 0.0]]).tolist() == ["b"]
    assert tree.predict_proba([[1.0, 0.0]]).tolist() == [[0.0, 1.0]]
    with pytest.raises(ValueError, match=r"leaves must be one of .*; got 'both'"):
        export(rules, "sklearn", leaves="both")


def test_rounding_to_float32_is_the_one_difference():
    rules = two_rules()
    tree = export(rules, "sklearn")
    # The float32 beside the threshold 0.1 is above it.
    assert rules.predict([[0.1, 9.0]]).tolist() == ["b"]
    assert rules.apply([[0.1, 9.0]]).tolist() == [2]
    assert tree.apply([[0.1, 9.0]]).tolist() == tree.apply([[1.0, 9.0]]).tolist()


def test_equal_leaves_are_one():
    same = Rule((Condition(0, upper=1.0), Condition(1, upper=1.0)), 3.0)
    tree = export(
        RuleList((same,), Rule((), 3.0), ("x1", "x2"), "regression"), "sklearn"
    )
    assert tree.get_n_leaves() == 1
    assert tree.predict([[0.0, 0.0]]).tolist() == [3.0]


def test_missing_values_alone_can_be_split_off():
    only = Rule((Condition(0, lower=math.inf, missing=True),), 1.0)
    present = Rule((Condition(1),), 2.0)
    rules = RuleList((only, present), Rule((), 3.0), ("x1", "x2"), "regression")
    X = [[np.nan, 0.0], [0.0, 0.0], [0.0, np.nan], [3e38, -3e38]]
    assert export(rules, "sklearn").predict(X).tolist() == [1.0, 2.0, 3.0, 2.0]


def test_too_many_leaves_and_categories_are_refused():
    rules = RuleEnsemble(
        tuple(
            Rule((Condition(j, upper=0.0),), float(j), weight=1.0) for j in range(12)
        ),
        Rule((), 0.5),
        tuple(f"x{j}" for j in range(12)),
        "regression",
    )
    with pytest.raises(ValueError, match="more than max_leaves=1000 leaves"):
        export(rules, "sklearn")
    assert export(rules, "sklearn", max_leaves=4096).get_n_leaves() == 4096
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="splits on numbers only"):
        export(cases.make_rules(rng, "list", ("a", "b")), "sklearn")
