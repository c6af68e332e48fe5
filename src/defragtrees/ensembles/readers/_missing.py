"""Numbers that stand for missing values, as plain splits.

In XGBoost -999 may mean missing, in LightGBM zero. Such a number goes where missing
values go, whatever the threshold. A Tree has only thresholds and NaN, so a split that
sends the number the other way becomes up to three splits with the same two children.
"""

import dataclasses

import numpy as np

from defragtrees.ensembles.forest import Tree


def count_as_missing(tree, low, high, where):
    """Send every `low <= x <= high` where missing values go.

    `where` is a mask of the nodes to change, all of which split on numbers.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [5.0, 0, 0], [1, -1, -1], [2, -1, -1],
    ...              [False, False, False], [0.0, 1.0, 3.0])
    >>> changed = count_as_missing(stump, 0.0, 0.0, stump.feature == 0)
    >>> changed.feature.tolist(), changed.left.tolist(), changed.right.tolist()
    ([0, -1, -1, 0, 0], [1, -1, -1, 2, 1], [3, -1, -1, 4, 2])
    """
    before = np.nextafter(low, -np.inf)
    chains = _Chains(tree)
    for node in np.flatnonzero(where):
        threshold = tree.threshold[node]
        left, right = tree.left[node], tree.right[node]
        if tree.missing_left[node]:
            if before <= threshold < high:
                chains.threshold[node] = high
            elif threshold < before:
                chains.add(
                    node, (threshold, left), (before, right), (high, left), right
                )
        elif low <= threshold <= high:
            chains.threshold[node] = before
        elif threshold > high:
            chains.add(node, (before, left), (high, right), (threshold, left), right)
    return chains.tree()


class _Chains:
    """The nodes of a tree, and those appended to them."""

    def __init__(self, source):
        self.source = source
        self.threshold = source.threshold.copy()
        self.right = source.right.copy()
        self.missing_left = source.missing_left.copy()
        self.origin = []  # the original node of each added one
        self.added = []  # its threshold, children and side of missing values

    def add(self, node, first, second, third, last):
        """Turn the node into three: `(threshold, where x <= threshold goes)` each."""
        new = self.source.n_nodes + len(self.added)
        missing_left = bool(self.source.missing_left[node])
        self.threshold[node], self.right[node] = first[0], new
        # A missing value leaves at the first node or at the second.
        self.added.append((second[0], second[1], new + 1, not missing_left))
        self.added.append((third[0], third[1], last, missing_left))
        self.origin += [node, node]

    def tree(self):
        if not self.added:
            return dataclasses.replace(self.source, threshold=self.threshold)
        threshold, left, right, missing_left = zip(*self.added, strict=True)
        source, origin = self.source, self.origin
        return Tree(
            feature=np.append(source.feature, source.feature[origin]),
            threshold=np.append(self.threshold, threshold),
            left=np.append(source.left, left),
            right=np.append(self.right, right),
            missing_left=np.append(self.missing_left, missing_left),
            value=np.vstack([source.value, source.value[origin]]),
            cover=np.append(source.cover, np.full(len(origin), np.nan)),
            categories=np.vstack([source.categories, source.categories[origin]]),
        )
