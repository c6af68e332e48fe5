"""Paths of the ensemble's trees, as what they ask of the problem's bins."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Path", "Sides", "find_paths"]


@dataclass(frozen=True, eq=False)
class Sides:
    """The distinct sides of the splits that some paths take.

    Parameters
    ----------
    feature : int array of shape (n_sides,)
    accepts : tuple of bool array
        For each side, which bins of its feature it accepts; the last one stands for
        missing values, and is False where no training row has one.
    """

    feature: np.ndarray
    accepts: tuple[np.ndarray, ...]

    def __len__(self):
        return len(self.accepts)

    def rows(self, codes):
        """Which rows each side accepts, (n_sides, n_samples)."""
        held = np.empty((len(self), len(codes)), dtype=bool)
        for k, (feature, accepts) in enumerate(
            zip(self.feature, self.accepts, strict=True)
        ):
            held[k] = accepts[codes[:, feature]]
        return held

    def conditions(self, grid, sides):
        """The conditions that these sides make together, one for each feature."""
        return grid.conditions(
            (int(self.feature[side]), self.accepts[side]) for side in sides
        )


@dataclass(frozen=True)
class Path:
    """From the root to a node.

    Parameters
    ----------
    sides : tuple of int
        Numbers in `Sides`, from the root on.
    is_leaf : bool
        Whether the node has no children.
    """

    sides: tuple[int, ...]
    is_leaf: bool


def find_paths(problem, max_depth, n_trees=None):
    """Paths to all nodes at depth 1 to `max_depth`, tree by tree, left before right.

    Parameters
    ----------
    problem : Problem
    max_depth : int or sequence of int
        For all trees, or one for each.
    n_trees : int, optional
        How many trees to walk, in their order; all by default.

    Returns
    -------
    sides : Sides
    paths : list of Path
        In depth-first order: a node, then what is below its left child, then its right.
    """
    trees = problem.forest.trees[:n_trees]
    depths = np.broadcast_to(max_depth, (len(trees),))
    names = _SideNames(problem)
    paths = []
    for tree, depth in zip(trees, depths, strict=True):
        waiting = [(0, ())]
        while waiting:
            node, sides = waiting.pop()
            is_leaf = tree.feature[node] < 0
            if sides:
                paths.append(Path(sides, bool(is_leaf)))
            if not is_leaf and len(sides) < depth:
                left, right = names.sides_of(tree, node)
                waiting.append((int(tree.right[node]), (*sides, right)))
                waiting.append((int(tree.left[node]), (*sides, left)))
    return names.sides(), paths


class _SideNames:
    """Gives each distinct side of a split its number."""

    def __init__(self, problem):
        self.grid = problem.grid
        self.raw = problem.forest.splits()
        self.set_numbers = [
            {row.tobytes(): i for i, row in enumerate(values)}
            if values.ndim == 2
            else None
            for values in self.raw
        ]
        codes = problem.binned.codes
        self.has_missing = (codes == self.grid.n_bins - 1).any(axis=0)
        self.numbers = {}
        self.features = []
        self.accepts = []

    def sides_of(self, tree, node):
        """Numbers of the left and the right side of a node's split."""
        feature = int(tree.feature[node])
        if self.set_numbers[feature] is None:
            raw = int(np.searchsorted(self.raw[feature], tree.threshold[node]))
        else:
            width = self.raw[feature].shape[1]
            raw = self.set_numbers[feature][tree.categories[node, :width].tobytes()]
        split = self._split_after_shortening(feature, raw)
        key = (
            feature,
            split,
            bool(tree.missing_left[node] & self.has_missing[feature]),
        )
        if key not in self.numbers:
            self.numbers[key] = len(self.accepts)
            left, right = self._accepted(*key)
            self.accepts += [left, right]
            self.features += [feature, feature]
        return self.numbers[key], self.numbers[key] + 1

    def _split_after_shortening(self, feature, raw):
        # Shortening keeps the order and says how many thresholds became one.
        ends = np.cumsum(self.grid.counts[feature])
        return int(np.searchsorted(ends, raw, side="right"))

    def _accepted(self, feature, split, missing_left):
        n_bins = int(self.grid.n_bins[feature])
        left = np.zeros(n_bins, dtype=bool)
        if self.grid.is_categorical(feature):
            left[:-1] = self.grid.splits[feature][split]
        else:
            left[: split + 1] = True
        right = ~left
        left[-1] = missing_left
        right[-1] = self.has_missing[feature] and not missing_left
        return left, right

    def sides(self):
        return Sides(np.array(self.features, dtype=np.intp), tuple(self.accepts))
