"""Small trees of a method's own: how they are made, and their leaves as rules."""

import math
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from defragtrees.forest import Forest
from defragtrees.methods.listing import answering_rule
from defragtrees.methods.tree_paths import find_paths
from defragtrees.trees import StackedTrees, Tree

__all__ = ["Split", "cross_validate", "leaf_rules", "leaves_of_rows", "make_tree"]


class Split(NamedTuple):
    """What a node asks.

    Parameters
    ----------
    feature : int
    threshold : float
        A number goes left if `x <= threshold`; at infinity all numbers do, and only
        missing values go right. Not used where there are categories.
    categories : bool array of shape (n_categories + 1,), optional
        Of a categorical feature: which positions go left.
    missing_left : bool
        Whether a missing value goes left.
    """

    feature: int
    threshold: float = math.nan
    categories: np.ndarray | None = None
    missing_left: bool = False

    @classmethod
    def from_others(cls, feature, category, labels, missing_left):
        """The split of a category from all others, which go left."""
        others = np.ones(len(labels) + 1, dtype=bool)
        others[category] = False
        return cls(feature, categories=others, missing_left=missing_left)


def make_tree(splits, left, right):
    """A tree that answers nothing, from the splits of its nodes.

    Parameters
    ----------
    splits : sequence of (Split or None)
        None at leaves; the root is first.
    left, right : sequence of int
        Children; -1 at leaves.
    """
    sets = [s.categories for s in splits if s and s.categories is not None]
    categories = np.zeros((len(splits), max(map(len, sets), default=0)), dtype=bool)
    for node, split in enumerate(splits):
        if split is not None and split.categories is not None:
            categories[node, : len(split.categories)] = split.categories
    return Tree(
        feature=[-1 if split is None else split.feature for split in splits],
        threshold=[0.0 if split is None else split.threshold for split in splits],
        left=left,
        right=right,
        missing_left=[split is not None and split.missing_left for split in splits],
        value=np.zeros(len(splits)),
        categories=categories,
    )


def leaves_of_rows(tree, X, categories):
    """The leaf of each row, by its number among the nodes.

    Parameters
    ----------
    tree : Tree
    X : float64 array of shape (n_samples, n_features)
        With categories as positions.
    categories : tuple of (tuple or None)
    """
    return StackedTrees((tree,), categories).leaves(X)[:, 0]


def leaf_rules(problem, tree, shorten=False):
    """The leaves as a RuleSet, from left to right, each holding where no other does.

    The leaf with the most conditions (the last of them) is the "otherwise", so it need
    not be read. Missing values are accepted only in features that had some in training.

    Parameters
    ----------
    problem : Problem
    tree : Tree
    shorten : bool
        Whether thresholds may move to numbers of few digits, no row changing its side.

    Returns
    -------
    RuleSet
    """
    forest = Forest(
        (tree,), problem.feature_names, "regression", categories=problem.categories
    )
    # The same rows on the grid of this tree alone.
    problem = problem.with_forest(forest, shorten)
    sides, paths = find_paths(problem, tree.depth)
    rows = sides.rows(problem.binned.codes)
    leaves = [
        (sides.conditions(problem.grid, path.sides), rows[list(path.sides)].all(axis=0))
        for path in paths
        if path.is_leaf
    ] or [((), np.ones(len(problem.X), dtype=bool))]
    n_sides = [sum(c.n_sides for c in conditions) for conditions, _ in leaves]
    last = max(range(len(leaves)), key=lambda k: (n_sides[k], k))
    _, rest = leaves.pop(last)
    rules = [answering_rule(problem, *leaf) for leaf in [*leaves, ((), rest)]]
    return problem.rule_set(rules, decision="partition")


def cross_validate(problem, trees_from, n_folds, rng, n_jobs=None, finished=None):
    """Mean errors on rows left out, one for each setting, or None without two folds.

    Rows that are equal in X share a fold, so that a weight of two is a row given twice.

    Parameters
    ----------
    problem : Problem
    trees_from : callable
        Given training rows and the number of the fold, a list with the Tree of each
        setting.
    n_folds : int
    rng : numpy.random.Generator
    n_jobs : int, optional
        Threads.
    finished : callable, optional
        Called after each fold.

    Returns
    -------
    array of shape (n_settings,) or None
    """
    fold_of_row = _folds(problem.X, n_folds, rng)
    n_folds = int(fold_of_row.max()) + 1
    if n_folds < 2:
        return None

    def errors_of(fold):
        train = np.flatnonzero(fold_of_row != fold)
        test = np.flatnonzero(fold_of_row == fold)
        trees = trees_from(train, fold)
        errors = [_error(problem, tree, train, test) for tree in trees]
        if finished is not None:
            finished()
        return errors

    jobs = (delayed(errors_of)(fold) for fold in range(n_folds))
    return np.mean(Parallel(n_jobs=n_jobs, prefer="threads")(jobs), axis=0)


def _folds(X, n_folds, rng):
    """A random fold for each group of equal rows, all of about the same number."""
    rows = np.where(np.isnan(X), np.nan, X + 0.0)  # one NaN, and -0 is 0
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    # Groups are numbered as they first appear: the rows are in canonical order, while
    # the order of keys depends on that of the columns.
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = rng.permutation(len(first)) % n_folds
    return number[group]


def _error(problem, tree, train, test):
    """The error on test rows of a tree whose leaves answer the training rows best."""
    outcome, target, weight = problem.outcome, problem.target, problem.sample_weight
    leaf = leaves_of_rows(tree, problem.X, problem.categories)
    answers = outcome.best_constants(
        leaf[train], target[train], weight[train], tree.n_nodes
    )
    return outcome.error(target[test], answers[leaf[test]], weight[test])
