"""What all trees of the suite have: leaves that count y, and print a rate each."""

import numpy as np

from defragtrees.outcomes.intervals import wilson_interval


class Leaves:
    """Base of trees: `tree_` has arrays of nodes, `apply` the leaf of each row."""

    def count(self, X, y):
        """Let the leaves count y, which are numbers or codes of classes."""
        leaf, n_nodes = self.apply(X), len(self.tree_.children_left)
        self.is_number = y.dtype.kind == "f"
        columns = [y] if self.is_number else [y == k for k in range(y.max() + 1)]
        self.n_rows = np.bincount(leaf, minlength=n_nodes)
        sums = [np.bincount(leaf, column, n_nodes) for column in columns]
        self.values = np.column_stack(sums) / np.maximum(self.n_rows, 1)[:, None]
        return self

    def predict(self, X):
        """Numbers, or the most frequent class."""
        values = self.values[self.apply(X)]
        return values[:, 0] if self.is_number else values.argmax(axis=1)

    def predict_proba(self, X):
        """Shares of classes."""
        return self.values[self.apply(X)]

    def printed(self, X):
        """For each leaf its rows in X, its rate, and Wilson's interval."""
        leaf = self.apply(X)
        for k in np.flatnonzero(self.n_rows):
            rate = self.values[k, 1]
            yield leaf == k, rate, *wilson_interval(rate, self.n_rows[k])

    @property
    def n_rules(self):
        return int((self.tree_.children_left < 0).sum())

    @property
    def n_conditions(self):
        """Conditions on the ways to all leaves."""
        left, right = self.tree_.children_left, self.tree_.children_right
        depth = np.zeros(len(left), dtype=int)
        for node in np.flatnonzero(left >= 0):
            depth[[left[node], right[node]]] = depth[node] + 1
        return int(depth[left < 0].sum())
