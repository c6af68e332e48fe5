"""Optimal trees of STreeD, for `benchmarks.quality` and `benchmarks.quality.ten_rules`.

`pip install pystreed` brings the solver (van der Linden et al., 2023). It finds the
tree with the fewest wrong classes, or the smallest squared error, among all trees with
so many leaves on given cuts: those with the largest gain in greedy trees. It runs in a
process of its own, which it sometimes ends.
"""

import math
import warnings
from concurrent.futures import BrokenExecutor
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

DEEPEST = 4  # beyond, a proof takes too long
N_CUTS = 40
N_GUESSES = 12  # greedy trees
N_TRIES = 3  # a crash rarely comes twice: it depends on what was in memory


def has_streed():
    return find_spec("pystreed") is not None


class OptimalTree:
    """A tree with at most so many leaves, asked as those of scikit-learn are."""

    def __init__(self, n_leaves, is_number=False, time_limit=20.0):
        self.n_leaves, self.is_number = n_leaves, is_number
        self.time_limit = time_limit

    def fit(self, X, target, y):
        """Choose the splits for `target`; its leaves count `y`."""
        X = self._filled(X)
        self.classes_ = None if self.is_number else np.unique(y)
        depth = min(math.ceil(math.log2(self.n_leaves)), DEEPEST)
        cuts = self._guess_cuts(X, target, depth)
        _, codes = np.unique(target, return_inverse=True)
        self.tree_ = solve(
            self.is_number,
            {
                "max_depth": depth,
                "max_num_nodes": min(self.n_leaves - 1, 2**depth - 1),
                "time_limit": self.time_limit,
            },
            cuts,
            np.column_stack([X[:, j] > t for j, t in cuts]).astype(np.intc),
            target.astype(float) if self.is_number else codes.astype(np.intc),
        )
        leaf, n_nodes = self._leaves(X), len(self.tree_.children_left)
        columns = [y] if self.is_number else [y == label for label in self.classes_]
        sums = [np.bincount(leaf, column, n_nodes) for column in columns]
        counts = np.maximum(np.bincount(leaf, minlength=n_nodes), 1)
        self.values = np.column_stack(sums) / counts[:, None]
        return self

    def apply(self, X):
        """The leaf of each row."""
        return self._leaves(self._filled(X))

    def predict(self, X):
        values = self.values[self.apply(X)]
        return values[:, 0] if self.is_number else self.classes_[values.argmax(axis=1)]

    def predict_proba(self, X):
        return self.values[self.apply(X)]

    def _filled(self, X):
        # Missing values go left.
        X = np.array(X, dtype=np.float32)
        return np.where(np.isnan(X), np.finfo(np.float32).min, X)

    def _leaves(self, X):
        tree, node = self.tree_, np.zeros(len(X), dtype=int)
        for _ in range(DEEPEST):
            is_right = X[np.arange(len(X)), tree.feature[node]] > tree.threshold[node]
            below = np.where(
                is_right, tree.children_right[node], tree.children_left[node]
            )
            node = np.where(below < 0, node, below)
        return node

    def _guess_cuts(self, X, target, depth):
        """The cuts with the largest gain in greedy trees, as (feature, threshold)."""
        kind = RandomForestRegressor if self.is_number else RandomForestClassifier
        greedy = kind(
            N_GUESSES,
            max_depth=depth + 1,
            max_features=0.5,
            bootstrap=False,
            random_state=0,
        ).fit(X, target)
        gains = {}
        for tree in (member.tree_ for member in greedy.estimators_):
            weighted = tree.impurity * tree.weighted_n_node_samples
            for k in np.flatnonzero(tree.children_left >= 0):
                cut = int(tree.feature[k]), float(tree.threshold[k])
                below = (
                    weighted[tree.children_left[k]] + weighted[tree.children_right[k]]
                )
                gains[cut] = gains.get(cut, 0.0) + weighted[k] - below
        return sorted(sorted(gains, key=lambda cut: (-gains[cut], cut))[:N_CUTS])


def solve(is_number, settings, cuts, binary, target):
    """The best tree over the cuts, in a process of its own."""
    for _ in range(N_TRIES):
        try:
            with ProcessPoolExecutor(1) as process:
                job = process.submit(_solved, is_number, settings, cuts, binary, target)
                return job.result()
        except BrokenExecutor as error:
            broken = error
    raise RuntimeError("pystreed ended its process before it had a tree.") from broken


def _solved(is_number, settings, cuts, binary, target):
    import pystreed

    if is_number:
        solver = pystreed.STreeDRegressor("regression", **settings)
    else:
        solver = pystreed.STreeDClassifier("accuracy", **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver.fit(binary, target)
    return _as_arrays(solver.tree_, cuts)


def _as_arrays(tree, cuts):
    """The nodes in arrays like those of scikit-learn's `tree_`."""
    nodes, waiting = [], [tree]
    while waiting:
        node = waiting.pop(0)
        # feature, threshold, left, right; a leaf asks nothing
        if node.is_leaf_node():
            nodes.append((0, 0.0, -1, -1))
            continue
        left = len(nodes) + len(waiting) + 1
        nodes.append((*cuts[node.feature], left, left + 1))
        waiting += [node.left_child, node.right_child]
    feature, threshold, left, right = map(np.array, zip(*nodes, strict=True))
    return SimpleNamespace(
        feature=feature, threshold=threshold, children_left=left, children_right=right
    )
