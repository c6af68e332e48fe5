"""Regions of models: counted by hand and against the model's own predictions."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import plots
from defragtrees.ensembles.forest import Forest, StackedTrees, Tree
from defragtrees.ensembles.readers import read_forest

from .test_two_features import assert_colours_are_predictions


def make_tree(feature, threshold, left, right, categories=None):
    n_nodes = len(feature)
    value = np.arange(n_nodes, dtype=float)
    missing_left = np.zeros(n_nodes, bool)
    return Tree(
        feature, threshold, left, right, missing_left, value, categories=categories
    )


def make_forest():
    """Two trees over a and b.

    The first tests a <= 1 and, if not, b <= 1; the second b <= 2 and, if not, a <= 3.
    """
    first = make_tree(
        [0, -1, 1, -1, -1], [1, 0, 1, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1]
    )
    second = make_tree(
        [1, -1, 0, -1, -1], [2, 0, 3, 0, 0], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1]
    )
    return Forest((first, second), ("a", "b"), "regression")


def test_regions_of_two_small_trees_are_those_counted_by_hand():
    # With leaves p, q, r of the first tree and s, t, u of the second: ps and pt for
    # a <= 1; qs for b <= 1; rs below b = 2; above it rt to a = 3, and ru.
    assert plots.count_regions(make_forest()) == 6


def test_regions_along_a_line_are_counted_with_the_rest_held_fixed():
    forest = make_forest()
    # For b = 0 only a <= 1 matters; for b = 5, a <= 1 and a <= 3.
    assert plots.count_regions(forest, ["a"], at={"b": 0.0}) == 2
    assert plots.count_regions(forest, at={"b": 5.0}) == 3
    assert plots.count_regions(forest, (), at={"a": 0.0, "b": 0.0}) == 1
    with pytest.raises(ValueError, match="'b' must have a value"):
        plots.count_regions(forest, ["a"])


def test_a_leaf_with_two_parents_is_one_region():
    # a <= 1 or a > 2 end in the same leaf.
    tree = make_tree([0, 0, -1, -1], [1, 2, 0, 0], [2, 3, -1, -1], [1, 2, -1, -1])
    assert plots.count_regions(Forest((tree,), ("a",), "regression")) == 2


def test_categories_that_always_go_together_are_one_region():
    sets = np.zeros((3, 4), bool)
    sets[0, [0, 2]] = True
    tree = make_tree([0, -1, -1], [0, 0, 0], [1, -1, -1], [2, -1, -1], sets)
    forest = Forest((tree,), ("a",), "regression", categories=(("x", "y", "z"),))
    assert plots.count_regions(forest) == 2


def test_a_forest_without_trees_is_one_region():
    assert plots.count_regions(Forest((), ("a", "b"), "regression")) == 1


def test_too_many_cells_to_count_are_rejected():
    rng = np.random.default_rng(0)
    X = rng.random((400, 4))
    model = RandomForestRegressor(5, random_state=0).fit(X, X @ [1, 2, 3, 4])
    with pytest.raises(ValueError, match="at most 20,000,000 cells"):
        plots.count_regions(model)


@pytest.fixture(scope="module")
def xor():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), "yes", "no")
    return RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y), X, y


def test_count_is_that_of_the_leaves_of_many_points(xor):
    model, _, _ = xor
    forest = read_forest(model)
    splits = forest.splits()
    # A point in each cell of the grid.
    sides = [np.append(one, 2.0) for one in splits]
    points = np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)
    leaves = StackedTrees(forest.trees, forest.categories).leaves(points)
    n_regions = len(np.unique(leaves, axis=0))
    assert 10 < n_regions < len(points)
    assert plots.count_regions(model) == n_regions


def test_colours_are_the_predictions_of_the_model(xor):
    model, X, y = xor
    ax = plots.forest_regions(model, X, y)
    forest = read_forest(model)
    rng = np.random.default_rng(3)
    points = rng.random((150, 2)) * 0.9 + 0.05
    for i, thresholds in enumerate(forest.splits()):
        points[:40, i] = rng.choice(thresholds, 40)
        points[20:40, i] = np.nextafter(points[20:40, i], np.inf)
    assert_colours_are_predictions(ax, forest, points, points)
    n_regions = plots.count_regions(model)
    assert ax.get_title(loc="left") == f"{n_regions:,} regions"


def test_borders_are_where_the_leaf_of_a_tree_ends():
    ax = plots.forest_regions(make_forest(), limits=((0, 5), (0, 4)))
    lines = sorted(np.array(line).tolist() for line in ax.collections[1].get_segments())
    assert lines == [
        [[0, 2], [5, 2]],
        [[1, 0], [1, 4]],
        [[1, 1], [5, 1]],
        [[3, 2], [3, 4]],
    ]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


def test_features_are_by_default_those_that_decide_most():
    rng = np.random.default_rng(0)
    X = rng.random((200, 4))
    y = 5.0 * (X[:, 3] > 0.5) + 2.0 * (X[:, 1] > 0.5) + 0.1 * X[:, 0]
    model = RandomForestRegressor(5, max_depth=6, random_state=0).fit(X, y)
    ax = plots.forest_regions(model, X, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x2", "x4")
    assert "at x1 = " in ax.get_title(loc="left")
