"""Shared parts of the baselines: paths of trees, trees of other libraries, leaves."""

import dataclasses
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from defragtrees.data.statistics import sums_by_group
from defragtrees.ensembles.forest import Forest, StackedTrees, Tree
from defragtrees.estimators.problem import predicting_rule


@dataclass(frozen=True, eq=False)
class Sides:
    """The distinct sides of the splits on some paths."""

    feature: np.ndarray
    # The bins of its feature that each side accepts; the last one stands for missing
    # values, and is False if there are none in training.
    accepts: tuple[np.ndarray, ...]

    def __len__(self):
        return len(self.accepts)

    def rows(self, codes, sides):
        """Mask (n_sides, n_samples) of the rows that each of these sides accepts."""
        rows = np.empty((len(sides), len(codes)), dtype=bool)
        for k, side in enumerate(sides):
            rows[k] = self.accepts[side][codes[:, self.feature[side]]]
        return rows

    def conditions(self, grid, sides):
        """The conjunction of these sides, as one condition per feature."""
        return grid.conditions(
            (int(self.feature[side]), self.accepts[side]) for side in sides
        )


@dataclass(frozen=True)
class Path:
    """A path from the root to a node."""

    tree: int
    sides: tuple[int, ...]  # numbers in `Sides`, from the root on
    is_leaf: bool


def find_paths(problem, max_depth, n_trees=None):
    """Find the paths to all nodes at depth 1 to `max_depth`, and their sides.

    Tree by tree and depth-first, left child first.
    """
    names = _SideNames(problem)
    paths = []
    for number, tree in enumerate(problem.forest.trees[:n_trees]):
        waiting = [(0, ())]
        while waiting:
            node, sides = waiting.pop()
            is_leaf = tree.feature[node] < 0
            if sides:
                paths.append(Path(number, sides, bool(is_leaf)))
            if not is_leaf and len(sides) < max_depth:
                left, right = names.sides_of(tree, node)
                waiting.append((int(tree.right[node]), (*sides, right)))
                waiting.append((int(tree.left[node]), (*sides, left)))
    sides = Sides(np.array(names.features, dtype=np.intp), tuple(names.accepts))
    return sides, paths


class _SideNames:
    """Numbers of the distinct sides of splits."""

    def __init__(self, problem):
        self.grid = problem.grid
        # Sets of categories as bytes, which sort like the sets.
        self.splits = [
            values
            if values.ndim == 1
            else np.ascontiguousarray(values).view(f"S{values.shape[1]}").ravel()
            for values in problem.forest.splits()
        ]
        codes = problem.codes
        self.has_missing = (codes == self.grid.n_bins - 1).any(axis=0)
        self.has_unknown = (codes == self.grid.n_bins - 2).any(axis=0)
        self.numbers = {}
        self.features = []
        self.accepts = []

    def sides_of(self, tree, node):
        """Numbers of the left and the right side of a node's split."""
        feature = int(tree.feature[node])
        value, known = tree.threshold[node], self.splits[feature]
        if self.grid.is_categorical(feature):
            value = tree.categories[node, : known.itemsize].tobytes()
        raw = int(np.searchsorted(known, value))
        # Rounding keeps the order; the grid has the number of merged thresholds.
        ends = np.cumsum(self.grid.counts[feature])
        split = int(np.searchsorted(ends, raw, side="right"))
        missing_left = bool(tree.missing_left[node] & self.has_missing[feature])
        key = feature, split, missing_left
        if key not in self.numbers:
            self.numbers[key] = len(self.accepts)
            left, right = self._accepted(*key)
            self.accepts += [left, right]
            self.features += [feature, feature]
        return self.numbers[key], self.numbers[key] + 1

    def _accepted(self, feature, split, missing_left):
        left = np.zeros(int(self.grid.n_bins[feature]), dtype=bool)
        if self.grid.is_categorical(feature):
            left[:-1] = self.grid.splits[feature][split]
        else:
            left[: split + 1] = True
        right = ~left
        # Each side of two categories accepts one of them, and is printed with its name,
        # unless there are unknown ones in training.
        is_pair = self.grid.is_categorical(feature) and self.grid.n_bins[feature] == 4
        if is_pair and not self.has_unknown[feature]:
            left[-2] = right[-2] = False
        left[-1] = missing_left
        right[-1] = self.has_missing[feature] and not missing_left
        return left, right


# Small trees, and their leaves as rules.


class Split(NamedTuple):
    """The split of a node.

    A number goes left if `x <= threshold`; if that is infinity, only missing values go
    right. For a categorical feature, `categories` are the positions that go left.
    """

    feature: int
    threshold: float = math.nan
    categories: np.ndarray | None = None
    missing_left: bool = False


def make_tree(splits, left, right):
    """Make a tree without outputs from the splits of its nodes (None at leaves)."""
    splits = [split or Split(-1) for split in splits]
    feature, threshold, sets, missing_left = zip(*splits, strict=True)
    width = max((len(inside) for inside in sets if inside is not None), default=0)
    categories = np.zeros((len(splits), width), dtype=bool)
    for node, inside in enumerate(sets):
        if inside is not None:
            categories[node, : len(inside)] = inside
    numbers = feature, threshold, left, right, missing_left
    return Tree(*numbers, np.zeros(len(splits)), categories=categories)


def cut_to_depth(tree, max_depth):
    """The tree without the splits below a depth; nodes below become unreachable."""
    is_inner = np.zeros(tree.n_nodes, dtype=bool)
    level = np.zeros(1, dtype=np.intp)
    for _ in range(max_depth):
        level = level[tree.feature[level] >= 0]
        if not level.size:
            return tree
        is_inner[level] = True
        level = np.unique(np.concatenate([tree.left[level], tree.right[level]]))
    return with_leaves(tree, ~is_inner)


def with_leaves(tree, is_leaf):
    """Turn some nodes into leaves; nodes below them become unreachable."""
    return dataclasses.replace(tree, feature=np.where(is_leaf, -1, tree.feature))


def leaves_of_rows(tree, X, categories):
    """The node number of the leaf of each row."""
    return StackedTrees((tree,), categories).leaves(X)[:, 0]


def leaf_rules(problem, tree, shorten=False):
    """The leaves as a RuleModel, from left to right; exactly one matches a row.

    The leaf with the most conditions (the last of them) is the default rule. Missing
    values are accepted only in features that had some in training.
    """
    forest = Forest(
        (tree,), problem.feature_names, "regression", categories=problem.categories
    )
    # The same rows on the grid of this tree alone.
    problem = problem.with_forest(forest, shorten)
    sides, paths = find_paths(problem, tree.depth)
    rows = sides.rows(problem.codes, range(len(sides)))
    leaves = [
        (sides.conditions(problem.grid, path.sides), rows[list(path.sides)].all(axis=0))
        for path in paths
        if path.is_leaf
    ] or [((), np.ones(len(problem.X), dtype=bool))]
    n_sides = [sum(c.n_sides for c in conditions) for conditions, _ in leaves]
    last = max(range(len(leaves)), key=lambda k: (n_sides[k], k))
    _, rest = leaves.pop(last)
    rules = [predicting_rule(problem, *leaf) for leaf in [*leaves, ((), rest)]]
    return problem.rule_set(rules, form="tree")


def cross_validate(problem, trees_from, n_folds, rng, n_jobs=None, finished=None):
    """Cross-validated mean error of each setting; None if two folds are impossible.

    Rows with equal X share a fold, so that a row of weight two counts as two rows.
    `trees_from` maps training rows and the number of a fold to one tree per setting.
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
    """Assign groups of equal rows to random folds of about equal size."""
    rows = np.where(np.isnan(X), np.nan, X + 0.0)  # one NaN, and -0 is 0
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    # Groups are numbered by first appearance: rows are in canonical order, while the
    # order of keys depends on that of the columns.
    number = np.empty(len(first), dtype=np.intp)
    number[np.argsort(first)] = rng.permutation(len(first)) % n_folds
    return number[group]


def _error(problem, tree, train, test):
    """The error on test rows of a tree with leaf outputs from training rows."""
    outcome, target, weight = problem.outcome, problem.target, problem.sample_weight
    leaf = leaves_of_rows(tree, problem.X, problem.categories)
    weights, sums = sums_by_group(
        leaf[train], tree.n_nodes, weight[train], outcome.indicators(target[train])
    )
    with np.errstate(invalid="ignore"):  # nodes that are no leaves
        means = sums / weights[:, None]
    outputs = outcome.encode(outcome.decide(means))
    return outcome.error(target[test], outputs[leaf[test]], weight[test])


# X as ranks and single categories, for trees that other libraries grow.


@dataclass(frozen=True, eq=False)
class TreeColumns:
    """X as columns for a tree of another library."""

    cells: np.ndarray  # numbers or their ranks, and indicators of categories
    feature: tuple[int, ...]  # source of each column
    category: tuple[int | None, ...]  # category of each indicator column


def make_columns(problem):
    """Make columns in the order of feature names, whatever their order in X.

    Numbers are given as ranks, since these trees round them to float32.
    """
    cells, feature, category = [], [], []
    for j in problem.feature_order:
        column = problem.X[:, j]
        missing = np.isnan(column)
        values, rank = np.unique(column[~missing], return_inverse=True)
        if problem.categories[j] is None:
            made = [(rank, None)]
        else:
            # One indicator is enough for two categories.
            kept = range(len(values)) if len(values) != 2 else [0]
            made = [(rank == k, int(values[k])) for k in kept]
        for numbers, position in made:
            cell_column = np.full(len(column), np.nan, dtype=np.float32)
            cell_column[~missing] = numbers
            cells.append(cell_column)
            feature.append(j)
            category.append(position)
    # A constant column, so that a tree can be grown if no feature has values.
    cells = cells or [np.zeros(len(problem.X), dtype=np.float32)]
    return TreeColumns(np.column_stack(cells), tuple(feature), tuple(category))


def read_tree(tree, columns, problem, rows):
    """Convert a tree of another library, with thresholds midway between values.

    It has arrays like scikit-learn's `tree_`, and was grown on these rows.
    """
    splits: list[Split | None] = [None] * tree.node_count
    waiting = [(0, rows)]
    while waiting:
        node, node_rows = waiting.pop()
        if tree.children_left[node] < 0:
            continue
        place = tree.feature[node]
        column = columns.cells[node_rows, place]
        missing_left = bool(tree.missing_go_to_left[node])
        goes_left = np.where(
            np.isnan(column), missing_left, column <= tree.threshold[node]
        )
        sides = node_rows[goes_left], node_rows[~goes_left]
        origin = columns.feature[place], columns.category[place]
        splits[node] = _split(problem, *origin, *sides, missing_left)
        children = tree.children_left[node], tree.children_right[node]
        waiting += zip(children, sides, strict=True)
    return make_tree(splits, tree.children_left, tree.children_right)


def _split(problem, feature, category, left, right, missing_left):
    if category is not None:
        others = np.arange(len(problem.categories[feature]) + 1) != category
        return Split(feature, categories=others, missing_left=missing_left)
    low, high = problem.X[left, feature], problem.X[right, feature]
    if np.isnan(high).all():
        return Split(feature, np.inf, missing_left=False)
    if np.isnan(low).all():
        return Split(feature, -np.inf, missing_left=True)
    low, high = np.nanmax(low), np.nanmin(high)
    middle = low / 2 + high / 2
    return Split(feature, middle if middle < high else low, missing_left=missing_left)
