"""LeafWords: what an ensemble of small trees says of rows, from their codes alone.

The leaves of a tree are bits of a word. For each feature that a tree asks about, a
table says of every bin which leaves a row with it cannot be in. One look at each of
these tables, and the leaf of a row is the one bit that none of them rejects; no
threshold is compared, and no row waits for the split before.
"""

from dataclasses import dataclass
from importlib import import_module

import numpy as np

__all__ = ["LeafWords"]

MOST_LEAVES = 64  # bits of a word


@dataclass(frozen=True, eq=False)
class LeafWords:
    """The trees of a forest as tables of words.

    Parameters
    ----------
    used : uint64 array of shape (n_used,)
        The features that each tree asks about, tree after tree.
    starts : uint64 array of shape (n_used,)
        Where the bins of each of them begin in `rejects`.
    rejects : uint64 array
        The leaves that a row with a bin cannot be in, as bits.
    ends : uint64 array of shape (n_trees,)
        Where the features of each tree end in `used`.
    leaves : uint64 array of shape (n_trees,)
        Where the leaves of each tree begin in `values`.
    values : float64 array of shape (n_leaves, n_outputs)
        What each leaf says, times the weight of its tree.
    """

    used: np.ndarray
    starts: np.ndarray
    rejects: np.ndarray
    ends: np.ndarray
    leaves: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, forest, grid):
        """The words of a forest on a grid of its own thresholds; None if none fit.

        Parameters
        ----------
        forest : Forest
        grid : ThresholdGrid
        """
        adds_up = forest.answers_by_trees and forest.combine != "median"
        if not (adds_up and forest.trees):
            return None
        used, sizes, words, values = [], [], [], []
        for tree, weight in zip(forest.trees, forest.weights, strict=True):
            leaves = _leaf_order(tree)
            if leaves is None:
                return None
            tables = _tables(tree, grid)
            used.append(list(tables))
            words += tables.values()
            sizes.append(len(leaves))
            values.append(weight * tree.value[leaves])
        widths = [len(own) for own in words]
        return cls(
            np.array([j for own in used for j in own], dtype=np.uint64),
            (np.cumsum(widths) - widths).astype(np.uint64),
            np.concatenate([np.empty(0, np.uint64), *words]),
            np.cumsum([len(own) for own in used]).astype(np.uint64),
            (np.cumsum(sizes) - sizes).astype(np.uint64),
            np.concatenate(values),
        )

    def add_to(self, total, codes, compiled=False):
        """Add what the trees say of rows, tree after tree.

        Parameters
        ----------
        total : float64 array of shape (n_samples, n_outputs)
        codes : unsigned int array of shape (n_samples, n_features)
        compiled : bool, default=False
            Whether by a compiled loop, which needs numba.
        """
        kernel = plain_leaf_sums
        if compiled:
            kernel = import_module("defragtrees.rows.compiled_rows").leaf_sums
        own = self.used, self.starts, self.rejects, self.ends, self.leaves, self.values
        kernel(np.ascontiguousarray(codes), *own, total)


def _leaf_order(tree):
    """The leaves of a tree from left to right; None if they are too many.

    A leaf to which two ways lead comes twice.
    """
    leaves, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree.feature[node] < 0:
            leaves.append(node)
            if len(leaves) > MOST_LEAVES:
                return None
        else:
            waiting += [int(tree.right[node]), int(tree.left[node])]
    return leaves


def _tables(tree, grid):
    """For each feature of a tree the words of its bins."""
    tables, sizes = {}, _n_leaves(tree)
    n_before, waiting = 0, [0]
    # In the order of leaves: all of a left side come before those of the right.
    while waiting:
        node = waiting.pop()
        j = int(tree.feature[node])
        if j < 0:
            n_before += 1
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        n_left, n_right = sizes[left], sizes[right]
        goes_left = _goes_left(tree, node, grid)
        if j not in tables:
            tables[j] = np.zeros(len(goes_left), dtype=np.uint64)
        on_left = ((1 << n_left) - 1) << n_before
        on_right = ((1 << n_right) - 1) << (n_before + n_left)
        tables[j] |= np.where(goes_left, np.uint64(on_right), np.uint64(on_left))
        waiting += [right, left]
    return tables


def _n_leaves(tree):
    """The number of ways to a leaf from each node."""
    counted = {}

    def count(node):
        if node not in counted:
            if tree.feature[node] < 0:
                counted[node] = 1
            else:
                sides = int(tree.left[node]), int(tree.right[node])
                counted[node] = sum(map(count, sides))
        return counted[node]

    count(0)
    return counted


def _goes_left(tree, node, grid):
    """Which bins of its feature a node sends to the left."""
    j = int(tree.feature[node])
    goes_left = np.zeros(int(grid.n_bins[j]), dtype=bool)
    if grid.is_categorical(j):
        goes_left[:-1] = tree.categories[node, : len(goes_left) - 1]
    else:
        place = np.searchsorted(grid.splits[j], tree.threshold[node])
        goes_left[: place + 1] = True
    goes_left[-1] = tree.missing_left[node]
    return goes_left


def plain_leaf_sums(codes, used, starts, rejects, ends, leaves, values, total):
    """Add what each tree says to `total`, tree after tree; see LeafWords."""
    first = 0
    for end, leaf in zip(ends.tolist(), leaves, strict=True):
        words = np.zeros(len(codes), dtype=np.uint64)
        for u in range(first, end):
            # Widened first: before numpy 2 the sum would have the few bits of codes.
            words |= rejects[starts[u] + codes[:, int(used[u])].astype(np.uint64)]
        first = end
        # A power of two; as a float64 its exponent says which.
        bit = (~words & (words + np.uint64(1))).astype(np.float64)
        place = leaf + (np.frexp(bit)[1] - 1).astype(np.uint64)
        total += values[place]
