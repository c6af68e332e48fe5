"""The tables of all numeric features at once.

The rows of the tables stand level by level: first the lowest code of every feature,
then the second, and so on, features with more codes first. So a cumulative sum over
the codes of all features, and of all restarts, is one vector addition per level.
"""

import numpy as np
from scipy import sparse

__all__ = ["Levels", "Workspace"]


class Levels:
    """Where the codes of numeric features stand, and sums along them.

    Parameters
    ----------
    n_codes : sequence of int
        Number of codes of each feature, in falling order.
    weights : list of array
        For each feature what its statements count; one less than its codes.
    """

    def __init__(self, n_codes, weights):
        n_codes = np.asarray(n_codes, dtype=np.intp)
        n_levels = int(n_codes[0]) if len(n_codes) else 0
        self.active = np.array(
            [np.searchsorted(-n_codes, -level) for level in range(n_levels)], np.intp
        )
        self.starts = np.concatenate([[0], np.cumsum(self.active)]).astype(np.intp)
        self.n_features = len(n_codes)
        self.n_rows = int(self.starts[-1])
        weight = np.zeros(self.n_rows)
        for j, own in enumerate(weights):
            weight[self.rows_of(j, n_codes[j])[1:]] = own
        self.weight = weight[self.n_features :, None]
        # Adds the statements of each feature up.
        feature = np.concatenate(
            [np.empty(0, np.intp), *(np.arange(n) for n in self.active[1:])]
        )
        ones = np.ones(len(feature))
        self.collect = sparse.csr_matrix(
            (ones, (feature, np.arange(len(feature)))),
            shape=(self.n_features, len(feature)),
        )
        self.feature = feature
        self.total_weight = (self.collect @ self.weight)[:, :1]

    def rows_of(self, j, n_codes):
        """Rows of the codes of feature j."""
        return self.starts[:n_codes] + j

    def workspace(self, n_columns):
        """Arrays and views for `fill_tables`, made once and used at every iteration."""
        return Workspace(self, n_columns)


class Workspace:
    """Sums along the levels for tables with a given number of columns.

    A statement stands in the row of the code above it, less the first level, whose
    codes have no statement below them.
    """

    def __init__(self, levels, n_columns):
        self.levels = levels
        first = levels.n_features
        self.bins = np.empty((levels.n_rows, n_columns))
        self.table = np.empty((levels.n_rows, n_columns))
        self.above = np.empty((levels.n_rows - first, n_columns))
        self.below = np.empty((levels.n_rows - first, n_columns))
        starts, active = levels.starts, levels.active
        self.down, self.up, self.forth = [], [], []
        for c in range(1, len(active)):
            n, at, last = active[c], starts[c], starts[c - 1]
            here, before = slice(at, at + n), slice(last, last + n)
            state = slice(at - first, at - first + n)
            lower = slice(last - first, last - first + n)
            if c > 1:
                self.down.insert(0, (self.above[lower], self.above[state]))
                self.up.append(
                    (self.below[lower], self.bins[before], self.below[state])
                )
            self.forth.append((self.table[before], self.above[state], self.table[here]))

    def fill_masses(self, bins):
        """Put the responsibility above and below each statement into its arrays."""
        levels, first = self.levels, self.levels.n_features
        np.copyto(self.bins, bins)
        np.copyto(self.above, self.bins[first:])
        for part, next_part in self.down:
            np.add(part, next_part, out=part)
        if len(levels.active) > 1:
            n = levels.active[1]
            self.below[:n] = self.bins[:n]
        for below, last, out in self.up:
            np.add(below, last, out=out)

    def fill_tables(self, bins, total, smallest, table, extra=None):
        """Weighted log-likelihood of every code of every feature.

        Parameters
        ----------
        bins : array of shape (n_rows, n_columns)
        total : array of shape (n_columns,) or (n_features, n_columns)
            Responsibility of the rows in which a feature is present.
        smallest : float
            Least share above or below a statement.
        table : array of shape (n_rows, n_columns)
            Output.
        extra : array of shape (n_features, n_columns), optional
            Added to every code of a feature.
        """
        levels = self.levels
        self.fill_masses(bins)
        per_row = total[levels.feature] if total.ndim == 2 else total
        floor = smallest * per_row
        for mass in (self.above, self.below):
            np.maximum(mass, floor, out=mass)
            np.log(mass, out=mass)
            np.multiply(mass, levels.weight, out=mass)
        base = levels.collect @ self.below - levels.total_weight * np.log(total)
        self.table[: levels.n_features] = base if extra is None else base + extra
        np.subtract(self.above, self.below, out=self.above)
        for last, step, out in self.forth:
            np.add(last, step, out=out)
        np.copyto(table, self.table)
