"""The nodes that Node Harvest chooses from: boxes of trees, and the rows in each."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from defragtrees.methods.tree_paths import Path, Sides, find_paths

__all__ = ["Nodes", "cut_forest", "find_nodes"]


@dataclass(frozen=True, eq=False)
class Nodes:
    """Distinct sets of training rows, from small to large; the last is the root.

    Parameters
    ----------
    members : bool array of shape (n_nodes, n_samples)
    sides : Sides
    paths : tuple of Path
        To all nodes but the root.
    n_candidates : int
        How many nodes of trees there were before those with the same rows became one.
    """

    members: np.ndarray
    sides: Sides
    paths: tuple[Path, ...]
    n_candidates: int

    def conditions(self, grid, node):
        """What a node asks of a row; nothing, if it is the root."""
        if node == len(self.paths):
            return ()
        return self.sides.conditions(grid, self.paths[node].sides)


def cut_forest(forest, max_depth, n_trees, round_digits=None):
    """The first trees of a forest, no deeper than `max_depth`.

    Parameters
    ----------
    forest : Forest
    max_depth : int
    n_trees : int
    round_digits : int, optional
        Significant digits to which thresholds are rounded; rows may change sides.
    """
    trees = tuple(_cut(tree, max_depth) for tree in forest.trees[:n_trees])
    if round_digits is not None:
        trees = tuple(
            dataclasses.replace(t, threshold=_rounded(t.threshold, round_digits))
            for t in trees
        )
    return dataclasses.replace(forest, trees=trees, weights=None)


def _cut(tree, max_depth):
    is_inner = np.zeros(tree.n_nodes, dtype=bool)
    reached = np.zeros(1, dtype=np.intp)
    for _ in range(max_depth):
        reached = reached[tree.feature[reached] >= 0]
        is_inner[reached] = True
        reached = np.unique(np.concatenate([tree.left[reached], tree.right[reached]]))
    return dataclasses.replace(tree, feature=np.where(is_inner, tree.feature, -1))


def _rounded(values, digits):
    size = np.abs(np.where(values == 0, 1.0, values))
    shift = 10.0 ** (digits - 1 - np.floor(np.log10(size)))
    return np.round(values * shift) / shift


def find_nodes(problem, max_depth, min_samples, n_nodes):
    """The nodes of the problem's forest that have neither too few rows nor too many.

    Parameters
    ----------
    problem : Problem
    max_depth : int
    min_samples : float
        Least weight of the rows inside, and of those outside.
    n_nodes : float
        No further tree is taken once there are as many.

    Returns
    -------
    Nodes
    """
    sides, paths = find_paths(problem, max_depth)
    weight, codes = problem.sample_weight, problem.binned.codes
    most = weight.sum() - min_samples
    n_candidates, by_rows = 0, {}
    held: dict[int, np.ndarray] = {}
    for of_tree in _by_tree(paths):
        if n_candidates >= n_nodes:
            break
        for path in of_tree:
            rows = np.ones(len(codes), dtype=bool)
            for side in path.sides:
                if side not in held:
                    column = codes[:, sides.feature[side]]
                    held[side] = sides.accepts[side][column]
                rows = rows & held[side]
            size = float(weight @ rows)
            if min_samples <= size <= most:
                # Of nodes with the same rows the last one stays, as in the original,
                # unless an earlier one says it in fewer conditions.
                same = by_rows.get(rows.tobytes())
                if same is not None and len(same[2].sides) < len(path.sides):
                    path = same[2]
                by_rows[rows.tobytes()] = (size, n_candidates, path, rows)
                n_candidates += 1
    kept = sorted(by_rows.values(), key=lambda node: node[:2])
    members = [rows for *_, rows in kept] + [np.ones(len(codes), dtype=bool)]
    return Nodes(
        np.array(members), sides, tuple(path for _, _, path, _ in kept), n_candidates
    )


def _by_tree(paths):
    """The paths of each tree."""
    trees: list[list[Path]] = []
    n_halves = 0
    for path in paths:
        if len(path.sides) == 1:
            # The left half of a tree and then its right half begin at depth one.
            if n_halves % 2 == 0:
                trees.append([])
            n_halves += 1
        trees[-1].append(path)
    return trees
