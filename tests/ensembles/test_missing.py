"""A number that counts as missing, against the rule applied by hand."""

import itertools

import numpy as np
import pytest

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.rewriting import count_as_missing

THRESHOLDS = (-3.0, -1.0, np.nextafter(-1.0, -2), -0.5, 0.0, 1.0, np.nextafter(1, 2), 3)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-1.0, -1.0)])
def test_the_interval_goes_the_way_of_missing_values(
    threshold, missing_left, low, high
):
    stump = Tree(
        [0, -1, -1],
        [threshold, 0, 0],
        [1, -1, -1],
        [2, -1, -1],
        [missing_left, False, False],
        [0.0, 10.0, 20.0],
    )
    changed = count_as_missing(stump, low, high, stump.feature == 0)
    x = np.array([-9, *THRESHOLDS, 9, *np.nextafter(THRESHOLDS, 9), np.nan])
    found = Forest((changed,), ("x1",), "regression").predict(x[:, None])
    for value, answer in zip(x, found, strict=True):
        is_missing = np.isnan(value) or low <= value <= high
        goes_left = missing_left if is_missing else value <= threshold
        assert answer == (10.0 if goes_left else 20.0), value


def test_only_the_named_splits_change():
    both = Tree(
        [0, 1, -1, -1, -1],
        [5.0, 5.0, 0, 0, 0],
        [1, 2, -1, -1, -1],
        [4, 3, -1, -1, -1],
        [False] * 5,
        [0.0, 0.0, 1.0, 2.0, 3.0],
        cover=[9, 8, 5, 3, 1],
    )
    changed = count_as_missing(both, 0.0, 0.0, both.feature == 1)
    forest = Forest((changed,), ("x1", "x2"), "regression")
    rows = list(itertools.product([0.0, 1.0], [0.0, 1.0]))
    assert forest.predict(rows).tolist() == [2.0, 1.0, 2.0, 1.0]
    assert changed.n_nodes == 7
    assert changed.cover[:5].tolist() == [9, 8, 5, 3, 1]


def test_without_a_split_to_change_the_tree_is_the_same():
    leaf = Tree([-1], [0.0], [-1], [-1], [False], [7.0])
    assert count_as_missing(leaf, 0.0, 0.0, leaf.feature >= 0) == leaf
