"""Tree: one decision tree as plain arrays, and how rows walk through many of them.

One convention holds everywhere: a split sends `x <= threshold` to the left, in float64,
on X as the user gave it. `exact_threshold` turns what a library does (compare in
float32, ask `x < t`) into the one float64 number that decides identically.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from defragtrees._types import Floats, Values
from defragtrees._values import ByValue, freeze

__all__ = ["StackedTrees", "Tree", "Walk", "exact_threshold"]


def exact_threshold(
    threshold: ArrayLike, dtype: DTypeLike = np.float32, strict: bool = False
) -> Floats:
    """The float64 t for which `x <= t` says what a comparison in `dtype` says.

    Parameters
    ----------
    threshold : array-like of float
        Thresholds as the library stores them.
    dtype : dtype, default=float32
        What the library rounds x to before it compares; float64 means no rounding.
    strict : bool, default=False
        True if the library asks `x < threshold`, False if it asks `x <= threshold`.

    Examples
    --------
    >>> float(exact_threshold(1.0, np.float64))
    1.0
    >>> t = exact_threshold(0.5, np.float32)
    >>> bool(np.float32(t) <= 0.5), bool(np.float32(np.nextafter(t, 1)) <= 0.5)
    (True, False)
    """
    t = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore"):
        below = np.nextafter(t, -np.inf) if strict else t
    if np.dtype(dtype) == np.float64:
        return below
    with np.errstate(over="ignore"):
        # The largest value of the small type that goes left ...
        low = below.astype(dtype)
        low = np.where(low.astype(np.float64) > below, _step(low, -np.inf, dtype), low)
        low = low.astype(dtype)
        high = _step(low, np.inf, dtype)
    # ... and the last float64 that rounds to it: the midpoint to the next one belongs
    # to the one of the two whose last mantissa bit is zero (ties to even).
    middle = (_as_finite(low) + _as_finite(high)) / 2
    bits: Values = low.view(np.uint32 if np.dtype(dtype).itemsize == 4 else np.uint16)
    exact = np.where(bits & 1 == 0, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isnan(low) | np.isposinf(low), below, exact)


def _as_finite(values):
    # Rounding to infinity starts halfway to the number after the largest one.
    top = 2.0 ** np.finfo(values.dtype).maxexp
    return np.clip(values.astype(np.float64), -top, top)


def _step(values, towards, dtype):
    return np.nextafter(values, np.dtype(dtype).type(towards)).astype(dtype)


@dataclass(frozen=True, eq=False)
class Tree(ByValue):
    """One decision tree: parallel arrays with an entry per node, the root first.

    Parameters
    ----------
    feature : int array of shape (n_nodes,)
        Feature that the node splits on; -1 at leaves.
    threshold : float64 array of shape (n_nodes,)
        A row with `x <= threshold` goes left. Not used at leaves and set splits.
    left, right : int array of shape (n_nodes,)
        Children; -1 at leaves. Two parents may share a child.
    missing_left : bool array of shape (n_nodes,)
        Whether a missing value goes left.
    value : float64 array of shape (n_nodes, n_outputs)
        What the node answers; only leaves are used.
    cover : float64 array of shape (n_nodes,)
        Weight of the training rows in the node; NaN where the library does not say.
    categories : bool array of shape (n_nodes, n_codes)
        For a split on a categorical feature, which category positions go left; the
        position after the last category stands for any category not in the list.
        No columns if the tree has no such split.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1],
    ...              [True, False, False], [0.0, 1.0, 3.0])
    >>> stump.n_nodes, stump.n_outputs
    (3, 1)
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    cover: np.ndarray | None = None
    categories: np.ndarray | None = None

    def __post_init__(self) -> None:
        n_nodes = len(self.feature)
        cover = np.full(n_nodes, np.nan) if self.cover is None else self.cover
        categories = (
            np.zeros((n_nodes, 0), bool) if self.categories is None else self.categories
        )
        value = np.asarray(self.value, dtype=np.float64)
        if value.ndim == 1:
            value = value[:, None]
        for name, array, dtype in (
            ("feature", self.feature, np.int32),
            ("threshold", self.threshold, np.float64),
            ("left", self.left, np.int32),
            ("right", self.right, np.int32),
            ("missing_left", self.missing_left, bool),
            ("value", value, np.float64),
            ("cover", cover, np.float64),
            ("categories", categories, bool),
        ):
            array = freeze(array, dtype)
            if len(array) != n_nodes:
                raise ValueError(
                    f"{name} must have one entry for each of the {n_nodes} nodes; "
                    f"got {len(array)}."
                )
            object.__setattr__(self, name, array)
        self._check_children(n_nodes)

    def _check_children(self, n_nodes):
        if n_nodes == 0:
            raise ValueError("A tree needs at least one node.")
        inner = self.feature >= 0
        children = np.concatenate([self.left[inner], self.right[inner]])
        if children.size and not (children.min() > 0 and children.max() < n_nodes):
            raise ValueError("A child must be another node of the tree, not its root.")
        object.__setattr__(self, "depth", _depth(inner, self.left, self.right))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """Length of a leaf's answer."""
        return self.value.shape[1]


def _depth(inner, left, right):
    """The number of splits on the longest way down; refused where there is a circle.

    A node is visited once all its parents are, and so just once: ways may be many more
    than nodes where children are shared.
    """
    if _is_plain(inner, left, right):
        return _plain_depth(inner, left, right)
    is_reached = np.zeros(len(inner), dtype=bool)
    n_parents = np.zeros(len(inner), dtype=np.intp)
    reached = np.zeros(1, dtype=np.intp)
    while reached.size:
        is_reached[reached] = True
        splits = reached[inner[reached]]
        children = np.concatenate([left[splits], right[splits]])
        np.add.at(n_parents, children, 1)
        reached = np.unique(children[~is_reached[children]])
    depth, n_visited = -1, 0
    ready = np.zeros(1, dtype=np.intp)
    while ready.size:
        depth += 1
        n_visited += ready.size
        splits = ready[inner[ready]]
        children = np.concatenate([left[splits], right[splits]])
        np.subtract.at(n_parents, children, 1)
        ready = np.unique(children[n_parents[children] == 0])
    if n_visited < is_reached.sum():
        raise ValueError("The nodes of a tree must not form a circle.")
    return depth


def _is_plain(inner, left, right):
    """Whether each node stands after its parent, and has one only."""
    splits = np.flatnonzero(inner)
    children = np.concatenate([left[splits], right[splits]])
    if not children.size:
        return True
    stands_after = (left[splits] > splits) & (right[splits] > splits)
    return bool(stands_after.all()) and int(np.bincount(children).max()) == 1


def _plain_depth(inner, left, right):
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while level.size:
        depth += 1
        splits = level[inner[level]]
        level = np.concatenate([left[splits], right[splits]])
    return depth


class StackedTrees:
    """The nodes of all trees behind one another, so that one walk serves all trees.

    The children of a node stand at 2 * node and 2 * node + 1, and a leaf is its own
    child, so that all rows can walk the same number of steps.
    """

    def __init__(self, trees, categories):
        starts = np.cumsum([0] + [tree.n_nodes for tree in trees])
        shift = np.repeat(starts[:-1], [tree.n_nodes for tree in trees])

        def stacked(name):
            return np.concatenate([getattr(tree, name) for tree in trees])

        feature = stacked("feature")
        leaf = feature < 0
        here = np.arange(len(leaf))
        sides = (np.where(leaf, here, stacked(s) + shift) for s in ("left", "right"))
        self.children = np.column_stack(list(sides)).astype(np.intp).ravel()
        self.roots = starts[:-1].astype(np.intp)
        self.depths = np.array([tree.depth for tree in trees], dtype=np.intp)
        self.depth = int(self.depths.max())
        self.feature = np.where(leaf, 0, feature).astype(np.intp)
        self.threshold = stacked("threshold")
        self.missing_left = stacked("missing_left")
        self.value = stacked("value")
        is_set = np.array([labels is not None for labels in categories], dtype=bool)
        is_set = is_set[self.feature] & ~leaf if is_set.any() else np.zeros(1, bool)
        self.is_set = is_set if is_set.any() else None
        if self.is_set is not None:
            width = max(tree.categories.shape[1] for tree in trees)
            self.sets = np.zeros((len(leaf), width), bool)
            for start, tree in zip(self.roots, trees, strict=True):
                block = self.sets[start : start + tree.n_nodes]
                block[:, : tree.categories.shape[1]] = tree.categories

    def leaves(self, matrix, walk=None):
        """Index of the leaf of each row in each tree, (n_samples, n_trees).

        Parameters
        ----------
        matrix : float64 array of shape (n_samples, n_features)
        walk : Walk, optional
            Memory for at least as many rows; saves getting it from the system anew,
            for which threads wait on one another. The next call overwrites the result.
        """
        n_rows, n_features = matrix.shape
        walk = walk or Walk(len(self.roots), n_rows)
        node, place, x, threshold, goes_right = walk.first(n_rows)
        node[:] = self.roots[:, None]
        if n_features == 0:
            return node.T
        has_missing = bool(np.isnan(matrix).any())
        cells = np.ascontiguousarray(matrix).ravel()
        first = np.arange(n_rows) * n_features
        # "clip" only because numpy would else copy `out`; no number is outside.
        for _ in range(self.depth):
            np.take(self.feature, node, out=place, mode="clip")
            place += first
            np.take(cells, place, out=x, mode="clip")
            np.take(self.threshold, node, out=threshold, mode="clip")
            np.less_equal(x, threshold, out=goes_right)
            np.logical_not(goes_right, out=goes_right)
            if self.is_set is not None:
                in_set = self.is_set[node]
                # A number of a numeric feature may be no position at all.
                code = np.where(in_set & ~np.isnan(x), x, 0).astype(np.intp)
                code = np.minimum(code, self.sets.shape[1] - 1)
                np.copyto(goes_right, ~self.sets[node, code], where=in_set)
            if has_missing:
                missing = np.isnan(x)
                np.copyto(goes_right, ~self.missing_left[node], where=missing)
            np.multiply(node, 2, out=place)
            place += goes_right
            np.take(self.children, place, out=node, mode="clip")
        return node.T


class Walk:
    """Arrays for the steps of some rows through some trees.

    Parameters
    ----------
    n_trees, n_rows : int
    """

    def __init__(self, n_trees, n_rows):
        self.n_trees = n_trees
        kinds = (np.intp, np.intp, np.float64, np.float64, bool)
        self.arrays = [np.empty(n_trees * n_rows, dtype=kind) for kind in kinds]

    def first(self, n_rows):
        """The arrays for this many rows, each of shape (n_trees, n_rows)."""
        size = self.n_trees * n_rows
        return [array[:size].reshape(self.n_trees, n_rows) for array in self.arrays]
