"""Regions of forests in the figures of the paper, by hand and by scikit-learn."""

import numpy as np
from matplotlib import pyplot
from sklearn.ensemble import RandomForestClassifier

from benchmarks.paper.regions import count_regions, draw_regions
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import read_forest


def test_regions_of_two_small_trees_are_those_counted_by_hand():
    left, right, missing = [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], np.zeros(5, bool)
    value = np.arange(5.0)
    # The first asks a <= 0.2 and then b <= 0.2, the second b <= 0.4 and then a <= 0.6.
    first = Tree([0, -1, 1, -1, -1], [0.2, 0, 0.2, 0, 0], left, right, missing, value)
    second = Tree([1, -1, 0, -1, -1], [0.4, 0, 0.6, 0, 0], left, right, missing, value)
    # With leaves p, q, r of the first tree and s, t, u of the second: ps and pt for
    # a <= 0.2; qs for b <= 0.2; rs below b = 0.4; above it rt to a = 0.6, and ru.
    assert count_regions(Forest((first, second), ("a", "b"), "regression")) == 6


def test_regions_are_those_of_the_leaves_between_all_thresholds():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    model = RandomForestClassifier(4, max_depth=4, random_state=0).fit(X, y)
    trees = [one.tree_ for one in model.estimators_]
    middles = []
    for j in (0, 1):
        cuts = np.concatenate([one.threshold[one.feature == j] for one in trees])
        ends = np.unique([0, 1, *cuts])
        middles.append((ends[1:] + ends[:-1]) / 2)
    points = np.array(np.meshgrid(*middles)).reshape(2, -1).T
    expected = len(np.unique(model.apply(points), axis=0))
    forest = read_forest(model)
    assert count_regions(forest) == expected > 10
    _, ax = pyplot.subplots()
    draw_regions(ax, forest)
    filled = ax.collections[0].get_array()
    predicted = model.predict(points).reshape(filled.shape)
    np.testing.assert_array_equal(filled == 1, predicted)
    pyplot.close()
