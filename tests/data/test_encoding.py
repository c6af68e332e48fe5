"""Codes, bins, and predictions of trees from codes: equal to the last bit."""

import numpy as np
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)

from defragtrees import read_forest
from defragtrees.data import encoding
from defragtrees.data.encoding import (
    Encoder,
    LeafWords,
    compiled_bins,
    plain_bins,
)
from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.sources import Part
from defragtrees.ensembles.forest import Forest, Tree


def rows(n_rows=700, n_missing=0.2):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(n_rows, 4))
    X[:, 2] = rng.integers(0, 6, n_rows)
    X[rng.random(X.shape) < n_missing] = np.nan
    X[:50, 2] = 9
    return X, rng.integers(0, 3, n_rows)


MODELS = {
    "classes": lambda X, y: RandomForestClassifier(
        9, max_leaf_nodes=30, random_state=0
    ).fit(X, y),
    "stump": lambda X, y: RandomForestClassifier(1, max_depth=1).fit(X, y),
    "categories": lambda X, y: HistGradientBoostingRegressor(
        max_iter=9, categorical_features=[2]
    ).fit(X, np.nan_to_num(X[:, 0])),
    "boosted classes": lambda X, y: HistGradientBoostingClassifier(max_iter=3).fit(
        X, y
    ),
}


def both(make, monkeypatch):
    """What is made by numpy, and by numba."""
    pytest.importorskip("numba")
    with monkeypatch.context() as without:
        without.setattr(encoding, "has_numba", lambda: False)
        plain = make()
    return plain, make()


def sums(forest, matrix):
    pytest.importorskip("numba")
    grid = ThresholdGrid(tuple(forest.splits()))
    words = LeafWords.of(forest, grid)
    total = np.tile(forest.sum_start(), (len(matrix), 1))
    words.add_to(total, np.ascontiguousarray(grid.bin(matrix).codes))
    return forest.finish_sums(total)


@pytest.mark.parametrize("kind", MODELS)
def test_words_say_what_the_walk_says(kind):
    X, y = rows()
    forest = read_forest(MODELS[kind](X, y))
    matrix = forest.encode(X)
    expected = forest.predict_raw_encoded(matrix)
    np.testing.assert_array_equal(sums(forest, matrix), expected)
    assert len(np.unique(expected)) > 1


def test_a_tree_may_have_as_many_leaves_as_a_word_has_bits():
    X = np.linspace(0, 1, 500)[:, None]
    # A chain: each node parts one leaf from the rest, and the last two share a leaf.
    n_splits = 63
    left = [2 * k + 1 for k in range(n_splits)]
    right = [2 * k + 2 for k in range(n_splits)]
    feature = np.full(2 * n_splits + 1, -1)
    threshold, children = np.zeros(len(feature)), np.full((len(feature), 2), -1)
    for k in range(n_splits):
        node = 2 * k
        feature[node], threshold[node] = 0, (k + 1) / 64
        children[node] = left[k], right[k]
    children[2 * n_splits - 2, 1] = children[2 * n_splits - 4, 0]
    value = np.arange(len(feature)) / 7
    missing = np.zeros(len(feature), bool)
    tree = Tree(feature, threshold, *children.T, missing, value)
    forest = Forest((tree, tree), ("x",), "regression", weights=[0.3, 0.7])
    expected = forest.predict_raw(X)
    np.testing.assert_array_equal(sums(forest, X), expected)
    assert len(np.unique(expected)) == 63


def test_forests_that_words_cannot_say_have_none():
    X, y = rows(n_missing=0.0)
    deep = RandomForestClassifier(2, random_state=0).fit(X, y)
    median = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, X[:, 1])
    for model in (deep, median):
        forest = read_forest(model)
        assert LeafWords.of(forest, ThresholdGrid(tuple(forest.splits()))) is None


@pytest.mark.parametrize("width", [3, 300])
def test_compiled_codes_and_bins_are_those_of_numpy(width):
    pytest.importorskip("numba")
    rng = np.random.default_rng(width)
    X, _ = rows(1000)
    X[:, 1] = rng.integers(-5, 5, 1000)
    X[0, 0] = X[1, 0] = np.inf  # codes are for any number; rows are checked before
    splits = np.unique(rng.normal(size=width))
    X[:100, 0] = rng.choice(splits, 100)  # on a threshold
    grid = ThresholdGrid((splits, np.empty(0), rng.random((4, 6)) < 0.5, [0.5]))
    X[:, 2] = np.where(np.isnan(X[:, 2]), np.nan, np.minimum(X[:, 2], 5))
    (codes, plain), (other, compiled) = (
        make(grid, X) for make in (plain_bins, compiled_bins)
    )
    assert codes.dtype == other.dtype
    np.testing.assert_array_equal(codes, other)
    np.testing.assert_array_equal(plain.is_integer, compiled.is_integer)
    assert plain.is_integer.tolist() == [False, True, True, False]
    for name in ("counts", "low", "high"):
        for mine, theirs in zip(
            getattr(plain, name), getattr(compiled, name), strict=True
        ):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_loops_look_at_an_array_as_it_is(dtype, monkeypatch):
    X, y = rows()
    forest = read_forest(MODELS["classes"](X, y))
    grid = ThresholdGrid(tuple(forest.splits()))
    X = np.asfortranarray(X.astype(dtype))
    encode = Encoder(forest, grid, words=LeafWords.of(forest, grid))
    (plain, plain_digest), (shard, digest) = both(lambda: encode(Part(X)), monkeypatch)
    np.testing.assert_array_equal(shard.codes, plain.codes)
    for name, column in plain.targets.items():
        np.testing.assert_array_equal(shard.targets[name], column)
    for mine, other in zip(digest.low, plain_digest.low, strict=True):
        np.testing.assert_array_equal(mine, other)
    X[5, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        encode(Part(X))
    with pytest.raises(ValueError, match="3 features"):
        encode(Part(X[:, :3]))
