"""Trees that Node Harvest grows itself, where the ensemble's nodes are not wanted."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from defragtrees.forest import Forest, Tree, exact_threshold
from defragtrees.methods.leaves import Split, make_tree
from defragtrees.methods.node_harvest.nodes import cut_forest, find_nodes

__all__ = ["grow_forest"]

TREES_PER_ROUND = 30
SHARE_OF_ROWS = 0.632
MOST_COPIES = 10_000_000  # of rows with whole weights; else a row is one
NOISE = 0.01  # of the target's spread; so that trees differ where features are few


def grow_forest(
    problem, target, rng, *, max_depth, min_samples, n_nodes, round_digits=None
):
    """A forest with at least `n_nodes` nodes of the right size, grown as in the paper.

    Rounds of 30 regression trees, each on 63.2 % of the rows without replacement, with
    a third of the features tried at each split, on a target with a little noise. A
    category is told from all others at once. The trees' answers are not used.

    Parameters
    ----------
    problem : Problem
    target : float64 array of shape (n_samples, n_outputs)
    rng : numpy.random.Generator
    max_depth : int
    min_samples : int
        Smaller nodes are not split, and do not count.
    n_nodes : int
    round_digits : int, optional
        Significant digits to which thresholds are rounded.

    Returns
    -------
    Forest
    """
    sample, places = _sample(problem, target)
    grown = Forest(
        (), problem.feature_names, "regression", categories=problem.categories
    )
    if not places:
        return grown
    trees: list[Tree] = []
    n_found = 0
    for _ in range(max(100, n_nodes // 5)):
        noisy = sample.noisy(rng)
        new = [
            _grow(sample, noisy, rng, max_depth, min_samples)
            for _ in range(TREES_PER_ROUND)
        ]
        made = tuple(_as_tree(nodes, places, problem.categories) for nodes in new)
        grown = dataclasses.replace(grown, trees=made)
        grown = cut_forest(grown, max_depth, TREES_PER_ROUND, round_digits)
        trees += grown.trees
        one_round = problem.with_forest(grown, shorten=False)
        more = find_nodes(one_round, max_depth, min_samples, math.inf).n_candidates
        n_found += more
        # The original goes on where a round found nothing, and finds nothing again.
        if not more or n_found >= n_nodes:
            break
    return dataclasses.replace(grown, trees=tuple(trees))


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that trees draw from, as they see them."""

    columns: np.ndarray
    target: np.ndarray
    weight: np.ndarray

    def noisy(self, rng):
        """The target with a little noise."""
        share = self.weight / self.weight.sum()
        spread = np.sqrt(share @ (self.target - share @ self.target) ** 2)
        return self.target + NOISE * spread * rng.normal(size=self.target.shape)


def _sample(problem, target):
    """The sample, and of each of its columns the feature and the category or None."""
    columns, places = _columns(problem)
    weight = problem.sample_weight
    if (weight == np.floor(weight)).all() and weight.sum() <= MOST_COPIES:
        # A weight of two is a row given twice, also where rows are drawn.
        rows = np.repeat(np.arange(len(weight)), weight.astype(np.intp))
        columns, target, weight = columns[rows], target[rows], np.ones(len(rows))
    return _Sample(columns, target, weight), places


def _columns(problem):
    """What the trees see, and of each column its feature and category or None."""
    columns, places = [], []
    for j in problem.feature_order:
        column = problem.X[:, j]
        labels = problem.categories[j] if problem.categories else None
        for k in (None,) if labels is None else range(len(labels)):
            is_one = np.where(np.isnan(column), np.nan, column == k)
            columns.append(column if k is None else is_one)
            places.append((j, k))
    with np.errstate(over="ignore"):  # scikit-learn says that they are too large
        table = np.array(columns, dtype=np.float32).reshape(len(places), -1)
    return table.T, places


def _grow(sample, noisy, rng, max_depth, min_samples):
    n_rows, n_columns = sample.columns.shape
    rows = rng.permutation(n_rows)[: math.ceil(SHARE_OF_ROWS * n_rows)]
    model = DecisionTreeRegressor(
        max_depth=max_depth,
        min_samples_split=min_samples + 1,
        max_features=max(1, n_columns // 3),
        random_state=int(rng.integers(2**31)),
    )
    return model.fit(sample.columns[rows], noisy[rows], sample.weight[rows]).tree_


def _as_tree(nodes, places, categories):
    splits = []
    for node, threshold in enumerate(exact_threshold(nodes.threshold, np.float32)):
        if nodes.children_left[node] < 0:
            splits.append(None)
            continue
        feature, category = places[nodes.feature[node]]
        missing_left = bool(nodes.missing_go_to_left[node])
        if category is None:
            split = Split(feature, threshold, missing_left=missing_left)
        else:
            # Zero, "is another one", goes left.
            labels = categories[feature]
            split = Split.from_others(feature, category, labels, missing_left)
        splits.append(split)
    return make_tree(splits, nodes.children_left, nodes.children_right)
