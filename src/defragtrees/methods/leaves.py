"""A tree of splits: which leaf has which rows, and its leaves as disjoint rules."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from defragtrees.bins import ThresholdGrid
from defragtrees.methods._listing import answering_rule

__all__ = [
    "Split",
    "SplitTree",
    "cross_validate",
    "leaf_rules",
    "shorten_thresholds",
]


@dataclass(frozen=True, eq=False)
class Split:
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

    def goes_left(self, column):
        """Whether each value of an encoded column goes left."""
        missing = np.isnan(column)
        if self.categories is None:
            inside = column <= self.threshold
        else:
            place = np.where(missing, 0, column).astype(np.intp)
            inside = self.categories[np.minimum(place, len(self.categories) - 1)]
        return np.where(missing, self.missing_left, inside)

    def accepts(self, grid, is_left):
        """The bins of a grid with this split that go to one of its sides."""
        goes_left = np.zeros(grid.n_bins[self.feature], dtype=bool)
        if self.categories is None:
            place = np.searchsorted(grid.splits[self.feature], self.threshold)
            goes_left[: place + 1] = True
        else:
            goes_left[:-1] = self.categories
        goes_left[-1] = self.missing_left
        return goes_left == is_left


@dataclass(frozen=True, eq=False)
class SplitTree:
    """Nodes with their splits, parents before their children.

    Parameters
    ----------
    splits : tuple of (Split or None)
        None at leaves; the root is first.
    left, right : tuple of int
        Children; -1 at leaves.
    """

    splits: tuple[Split | None, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]

    def grid(self, n_features):
        """The grid of all splits, but for those of missing values from the rest."""
        splits = [np.empty(0) for _ in range(n_features)]
        for split in filter(None, self.splits):
            if split.categories is not None:
                splits[split.feature] = split.categories[None, :]
            elif math.isfinite(split.threshold):
                splits[split.feature] = np.append(
                    splits[split.feature], split.threshold
                )
        return ThresholdGrid(tuple(s if s.ndim == 2 else np.unique(s) for s in splits))

    def apply(self, X):
        """The leaf of each row, by its number among the nodes."""
        leaf_of_row = np.zeros(len(X), dtype=np.intp)
        waiting = [(0, np.arange(len(X)))]
        while waiting:
            node, rows = waiting.pop()
            split = self.splits[node]
            if split is None:
                leaf_of_row[rows] = node
                continue
            goes_left = split.goes_left(X[rows, split.feature])
            waiting.append((self.left[node], rows[goes_left]))
            waiting.append((self.right[node], rows[~goes_left]))
        return leaf_of_row

    def paths(self):
        """For each leaf, from left to right, its number and the sides that it took."""
        paths = []
        waiting = [(0, ())]
        while waiting:
            node, sides = waiting.pop()
            split = self.splits[node]
            if split is None:
                paths.append((node, sides))
                continue
            waiting.append((self.right[node], (*sides, (split, False))))
            waiting.append((self.left[node], (*sides, (split, True))))
        return paths

    def cut(self, is_leaf):
        """The tree with some nodes made leaves; what was below them is not reached."""
        splits = tuple(
            None if leaf else split
            for split, leaf in zip(self.splits, is_leaf, strict=True)
        )
        return dataclasses.replace(self, splits=splits)


def shorten_thresholds(tree, X):
    """The tree with thresholds of few digits, no row of X changing its side."""
    raw = tree.grid(X.shape[1])
    grid = raw.shorten(X)
    splits = list(tree.splits)
    for node, split in enumerate(tree.splits):
        if split is None or not math.isfinite(split.threshold):
            continue
        place = np.searchsorted(raw.splits[split.feature], split.threshold)
        # Shortening keeps the order and says how many thresholds became one.
        ends = np.cumsum(grid.counts[split.feature])
        place = np.searchsorted(ends, place, side="right")
        short = float(grid.splits[split.feature][place])
        splits[node] = dataclasses.replace(split, threshold=short)
    return dataclasses.replace(tree, splits=tuple(splits))


def leaf_rules(problem, tree):
    """The leaves as a RuleSet, from left to right, each holding where no other does.

    The leaf with the most conditions (the last of them) is the "otherwise", so it need
    not be read. Missing values are accepted only in features that had some in training.

    Parameters
    ----------
    problem : Problem
    tree : SplitTree

    Returns
    -------
    RuleSet
    """
    leaf_of_row = tree.apply(problem.X)
    has_missing = np.isnan(problem.X).any(axis=0)
    grid = tree.grid(problem.X.shape[1])
    leaves = []
    for leaf, sides in tree.paths():
        accepted = (
            (split.feature, split.accepts(grid, is_left)) for split, is_left in sides
        )
        conditions = grid.conditions(accepted, has_missing)
        leaves.append((conditions, leaf_of_row == leaf))
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
        Given training rows and the number of the fold, a list with the SplitTree of
        each setting.
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
    outcome, X, target = problem.outcome, problem.X, problem.target
    weight = problem.sample_weight
    answers = outcome.best_constants(
        tree.apply(X[train]), target[train], weight[train], len(tree.splits)
    )
    predicted = answers[tree.apply(X[test])]
    return outcome.error(target[test], predicted, weight[test])
