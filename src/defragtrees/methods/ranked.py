"""X as ranks and single categories, for trees that other libraries grow."""

from dataclasses import dataclass

import numpy as np

from defragtrees.methods.leaves import Split, make_tree

__all__ = ["RankedColumns", "make_columns", "read_tree"]


@dataclass(frozen=True, eq=False)
class RankedColumns:
    """What a tree of another library sees of X.

    Parameters
    ----------
    cells : float32 array of shape (n_samples, n_columns)
        Ranks of numbers, since a tree would round the numbers themselves to float32;
        for categories whether a row has this one. NaN for missing.
    feature : tuple of int
        Where each column comes from.
    category : tuple of (int or None)
        Position of the category that a column is about.
    """

    cells: np.ndarray
    feature: tuple[int, ...]
    category: tuple[int | None, ...]


def make_columns(problem):
    """Columns in the order of the features' names; the order in X has no say."""
    cells, feature, category = [], [], []
    for j in problem.feature_order:
        column = problem.X[:, j]
        missing = np.isnan(column)
        values, rank = np.unique(column[~missing], return_inverse=True)
        if problem.categories[j] is None:
            made = [(rank, None)]
        else:
            # Of two categories, one says it all.
            kept = range(len(values)) if len(values) != 2 else [0]
            made = [(rank == k, int(values[k])) for k in kept]
        for numbers, position in made:
            cell_column = np.full(len(column), np.nan, dtype=np.float32)
            cell_column[~missing] = numbers
            cells.append(cell_column)
            feature.append(j)
            category.append(position)
    # A column of nothing, so that a tree can be grown where no feature has a value.
    cells = cells or [np.zeros(len(problem.X), dtype=np.float32)]
    return RankedColumns(np.column_stack(cells), tuple(feature), tuple(category))


def read_tree(tree, columns, problem, rows):
    """Another tree as ours, with thresholds midway between its rows' values.

    Parameters
    ----------
    tree : object
        With arrays as scikit-learn's `tree_` has them, of ranked columns.
    columns : RankedColumns
    problem : Problem
    rows : int array
        The rows that it was grown on.
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
        splits[node] = _split(
            problem,
            columns.feature[place],
            columns.category[place],
            node_rows[goes_left],
            node_rows[~goes_left],
            missing_left,
        )
        waiting.append((tree.children_left[node], node_rows[goes_left]))
        waiting.append((tree.children_right[node], node_rows[~goes_left]))
    return make_tree(splits, tree.children_left, tree.children_right)


def _split(problem, feature, category, left, right, missing_left):
    if category is not None:
        labels = problem.categories[feature]
        return Split.from_others(feature, category, labels, missing_left)
    low = problem.X[left, feature]
    high = problem.X[right, feature]
    if np.isnan(high).all():
        return Split(feature, np.inf, missing_left=False)
    if np.isnan(low).all():
        return Split(feature, -np.inf, missing_left=True)
    low, high = np.nanmax(low), np.nanmin(high)
    middle = low / 2 + high / 2
    return Split(feature, middle if middle < high else low, missing_left=missing_left)
