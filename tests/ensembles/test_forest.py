"""Forests: how the answers of trees become a prediction."""

import pickle

import numpy as np
import pytest

from defragtrees.ensembles.forest import Forest
from tests.ensembles.test_trees import make_tree


def make_forest(**changes):
    parts = {
        "trees": (make_tree(),),
        "feature_names": ("a", "b"),
        "task": "regression",
        **changes,
    }
    return Forest(**parts)


ROWS = [[0.5, 9.0], [0.6, 2.0], [0.6, 2.1], [np.nan, 9.0], [0.6, np.nan]]


def test_a_row_walks_to_its_leaf():
    assert make_forest().predict(ROWS).tolist() == [1.0, 2.0, 3.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "ranking"}, "Unknown task 'ranking'"),
        ({"combine": "mode"}, "combine must be one of"),
        ({"link": "logit"}, "link must be one of"),
        ({"feature_names": ("a",)}, "splits on feature"),
        ({"feature_names": ("a", "a")}, "names must differ"),
        ({"categories": (None,)}, "one entry per feature"),
        ({"task": "classification"}, "1 outputs do not fit"),
        (
            {"task": "classification", "classes": ("x", "y", "z")},
            "1 outputs do not fit",
        ),
        (
            {"trees": (make_tree(), make_tree(value=np.zeros((5, 2))))},
            "same number of outputs",
        ),
    ],
)
def test_a_forest_that_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make_forest(**changes)


def test_forests_are_compared_by_value():
    assert make_forest() == make_forest()
    assert make_forest() != make_forest(base=[1.0])
    assert make_forest() != make_forest(trees=(make_tree(cover=np.ones(5)),))
    assert make_forest() != make_tree()


def test_a_pickled_forest_is_equal_and_predicts_the_same():
    forest = make_forest(weights=[2.0], base=[0.5], link="exp")
    expected = forest.predict(ROWS)
    again = pickle.loads(pickle.dumps(forest))
    assert again == forest
    assert again.predict(ROWS).tolist() == expected.tolist()


def test_trees_combine_by_sum_mean_or_median():
    trees = tuple(make_tree(value=[0, 1.0 * k, 0, 2.0 * k, 9.0 * k]) for k in (1, 2, 6))
    weights = [1.0, 1.0, 2.0]
    for combine, expected in (
        ("sum", [1 + 2 + 12 + 10]),
        ("mean", [15 / 4 + 10]),
        # Half of the weight is reached at the second of 1, 2, 6.
        ("median", [2 + 10]),
    ):
        forest = make_forest(trees=trees, weights=weights, combine=combine, base=[10.0])
        assert forest.predict(ROWS[:1]).tolist() == expected


@pytest.mark.parametrize(("ties", "expected"), [("first", "x"), ("last", "y")])
def test_ties_decide_between_two_classes(ties, expected):
    forest = make_forest(
        task="classification",
        classes=("x", "y"),
        link="sigmoid",
        ties=ties,
        base=[-1.0],
    )
    assert forest.predict(ROWS[:2]).tolist() == [expected, "y"]
    assert forest.predict_proba(ROWS[:1]).tolist() == [[0.5, 0.5]]


def test_a_single_class_has_one_probability():
    forest = make_forest(
        trees=(make_tree(value=np.ones((5, 1))),),
        task="classification",
        classes=("only",),
        combine="mean",
    )
    assert forest.predict(ROWS).tolist() == ["only"] * 5
    assert forest.predict_proba(ROWS).tolist() == [[1.0]] * 5


def test_categories_that_no_tree_uses_do_no_harm():
    forest = make_forest(feature_names=("a", "b", "c"), categories=(None, None, ("p",)))
    rows = np.array([[0.5, 9.0, "p"], [0.6, 2.1, "q"]], dtype=object)
    assert forest.predict(rows).tolist() == [1.0, 3.0]


def test_splits_lists_thresholds_and_category_sets():
    sets = np.zeros((5, 3), bool)
    sets[2] = [True, False, True]
    forest = make_forest(
        trees=(make_tree(categories=sets), make_tree(categories=sets)),
        categories=(None, ("p", "q")),
    )
    numbers, found = forest.splits()
    assert numbers.tolist() == [0.5]
    assert found.tolist() == [[True, False, True]]
    rows = np.array([[1.0, c] for c in ("p", "q", "new", None)], dtype=object)
    assert forest.predict(rows).tolist() == [4.0, 6.0, 4.0, 6.0]


def test_a_split_into_sets_needs_no_threshold():
    sets = np.zeros((5, 3), dtype=bool)
    sets[0, 0] = True
    tree = make_tree(threshold=[np.nan, 0, 2.0, 0, 0], categories=sets)
    forest = make_forest(trees=(tree,), categories=(("x", "y"), None))
    assert forest.predict([["x", 1.0], ["y", 1.0], ["y", 9.0]]).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="number; in tree"):
        make_forest(trees=(tree,))
