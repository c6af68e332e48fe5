"""Evaluation of trees, compiled by numba."""

import numpy as np
from numba import njit

TILE_ROWS = 256  # so that cells and sums of a tile fit in the cache


def add_trees(total, stacked, weights, matrix):
    """Add the output of each of StackedTrees for each row to `total`, tree by tree."""
    has_sets = stacked.is_set is not None
    is_set = stacked.is_set if has_sets else np.zeros(0, bool)
    sets = stacked.sets if has_sets else np.zeros((0, 1), bool)
    splits = stacked.feature, stacked.threshold, stacked.children
    others = stacked.missing_left, is_set, sets
    trees = stacked.roots, stacked.depths, weights, stacked.value
    is_plain = not has_sets and not np.isnan(matrix).any()
    walk(np.ascontiguousarray(matrix), is_plain, trees, splits, others, total)


@njit(nogil=True, cache=True)
def _step_all(matrix, start, node, splits):
    """Move every row of a tile by one node, without branches."""
    feature, threshold, children = splits
    for i in range(len(node)):
        here = node[i]
        goes_left = matrix[start + i, feature[here]] <= threshold[here]
        node[i] = children[2 * here + 1 - goes_left]


@njit(nogil=True, cache=True)
def _step_each(matrix, start, node, splits, others):
    """Move every row of a tile, with missing values or categories, by one node."""
    (feature, threshold, children), (missing_left, is_set, sets) = splits, others
    for i in range(len(node)):
        here = node[i]
        x = matrix[start + i, feature[here]]
        if np.isnan(x):
            goes_left = missing_left[here]
        elif len(is_set) and is_set[here]:
            goes_left = sets[here, min(int(x), sets.shape[1] - 1)]
        else:
            goes_left = x <= threshold[here]
        node[i] = children[2 * here + 1 - goes_left]


@njit(nogil=True, cache=True)
def walk(matrix, is_plain, trees, splits, others, total):
    """Implement `add_trees`; tuples have the arrays of trees and of their nodes.

    `is_plain` means that the matrix has neither missing values nor categories.
    """
    roots, depths, weights, value = trees
    tile = np.empty(TILE_ROWS, dtype=np.intp)
    for start in range(0, len(matrix), TILE_ROWS):
        node = tile[: min(TILE_ROWS, len(matrix) - start)]
        for tree in range(len(roots)):
            node[:] = roots[tree]
            for _ in range(depths[tree]):
                if is_plain:
                    _step_all(matrix, start, node, splits)
                else:
                    _step_each(matrix, start, node, splits, others)
            for i in range(len(node)):
                for output in range(total.shape[1]):
                    total[start + i, output] += weights[tree] * value[node[i], output]
