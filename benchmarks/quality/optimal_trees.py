"""Optimal trees of STreeD and ConTree, each fitted in a process of its own.

STreeD (van der Linden et al., 2023) finds the tree with the fewest wrong classes, or
the smallest squared error, among all trees with so many leaves on given cuts: those
with the largest gain in greedy trees. ConTree (Briţa et al., 2025) searches all cuts,
for classes, to a given depth. A solver that ends its process has failed.
"""

import math
import warnings
from types import SimpleNamespace

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.quality.leaves import Leaves

DEEPEST = 4  # beyond, a proof takes too long
N_CUTS = 40
N_GUESSES = 12  # greedy trees
TIME_LIMIT = 5.0


class OptimalTree(Leaves):
    """A tree with at most `size` leaves, whose solver is a subclass's."""

    def __init__(self, size):
        self.size = size

    def fit(self, X, y):
        """Solve in another process; the leaves count y."""
        X = np.array(X, dtype=np.float32)
        with ProcessPoolExecutor(1) as process:
            self.tree_ = process.submit(*self._problem(X, y)).result()
        return self.count(X, y)

    def apply(self, X):
        """The leaf of each row."""
        X, tree = np.array(X, dtype=np.float32), self.tree_
        node = np.zeros(len(X), dtype=int)
        for _ in range(DEEPEST):
            is_right = X[np.arange(len(X)), tree.feature[node]] > tree.threshold[node]
            sides = tree.children_right[node], tree.children_left[node]
            below = np.where(is_right, *sides)
            node = np.where(below < 0, node, below)
        return node


class STreeD(OptimalTree):
    """The best tree over the cuts with the largest gain in greedy trees."""

    package = "pystreed"
    kinds = ("two classes", "classes", "numbers")

    def _problem(self, X, y):
        depth = min(math.ceil(math.log2(self.size)), DEEPEST)
        is_number = y.dtype.kind == "f"
        cuts = guess_cuts(X, y, depth, is_number)
        settings = {
            "max_depth": depth,
            "max_num_nodes": min(self.size - 1, 2**depth - 1),
            "time_limit": TIME_LIMIT,
        }
        flags = np.column_stack([X[:, j] > t for j, t in cuts]).astype(np.intc)
        return solve_streed, settings, cuts, flags, y if is_number else y.astype("i4")


class ConTree(OptimalTree):
    """The best tree over all cuts, of the depth at which it has at most `size` leaves.

    It limits the depth only.
    """

    package = "pycontree"
    kinds = ("two classes", "classes")

    def _problem(self, X, y):
        return solve_contree, int(math.log2(self.size)), X.astype(float), y


def guess_cuts(X, y, depth, is_number):
    """The cuts with the largest gain in greedy trees, as (feature, threshold)."""
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    greedy = kind(
        N_GUESSES,
        max_depth=depth + 1,
        max_features=0.5,
        bootstrap=False,
        random_state=0,
    ).fit(X, y)
    gains = {}
    for tree in (member.tree_ for member in greedy.estimators_):
        weighted = tree.impurity * tree.weighted_n_node_samples
        for k in np.flatnonzero(tree.children_left >= 0):
            cut = int(tree.feature[k]), float(tree.threshold[k])
            below = weighted[tree.children_left[k]] + weighted[tree.children_right[k]]
            gains[cut] = gains.get(cut, 0.0) + weighted[k] - below
    return sorted(sorted(gains, key=lambda cut: (-gains[cut], cut))[:N_CUTS])


def solve_streed(settings, cuts, flags, y):
    """Fit STreeD; runs in the other process."""
    import pystreed

    if y.dtype.kind == "f":
        solver = pystreed.STreeDRegressor("regression", **settings)
    else:
        solver = pystreed.STreeDClassifier("accuracy", **settings)
    warnings.simplefilter("ignore")
    solver.fit(flags, y)
    return as_arrays(
        solver.tree_,
        lambda node: (*cuts[node.feature], node.left_child, node.right_child),
    )


def solve_contree(depth, X, y):
    """Fit ConTree; runs in the other process."""
    import pycontree

    warnings.simplefilter("ignore")
    solver = pycontree.ConTree(max_depth=depth, time_limit=TIME_LIMIT).fit(X, y)
    return as_arrays(
        solver.get_tree(),
        lambda node: (
            node.get_split_feature(),
            node.get_split_threshold(),
            node.get_left(),
            node.get_right(),
        ),
    )


def as_arrays(root, parts):
    """The nodes in arrays like those of scikit-learn's `tree_`."""
    nodes, waiting = [], [root]
    while waiting:
        node = waiting.pop(0)
        if node.is_leaf_node():
            nodes.append((0, 0.0, -1, -1))
            continue
        feature, threshold, *children = parts(node)
        left = len(nodes) + len(waiting) + 1
        nodes.append((feature, threshold, left, left + 1))
        waiting += children
    feature, threshold, left, right = map(np.array, zip(*nodes, strict=True))
    return SimpleNamespace(
        feature=feature, threshold=threshold, children_left=left, children_right=right
    )
