"""The tables of all numeric features at once.

The rows of the tables stand level by level: first the lowest code of every feature,
then the second, and so on, features with more codes first. So a cumulative sum over
the codes of all features, and of all restarts, is one vector addition per level.
"""

import numpy as np
from scipy import sparse

__all__ = ["Levels"]


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

    def rows_of(self, j, n_codes):
        """Rows of the codes of feature j."""
        return self.starts[:n_codes] + j

    def masses(self, bins):
        """Responsibility above and below each statement.

        A statement stands in the row of the code above it, less the first level, whose
        codes have no statement below them.

        Parameters
        ----------
        bins : array of shape (n_rows, n_columns)

        Returns
        -------
        above, below : arrays of shape (n_rows - n_features, n_columns)
        """
        starts, active = self.starts, self.active
        above = bins[self.n_features :].copy()
        below = np.empty_like(above)
        shifted = starts - self.n_features
        for c in range(len(active) - 2, 0, -1):
            n = active[c + 1]
            part = above[shifted[c] : shifted[c] + n]
            part += above[shifted[c + 1] : shifted[c + 1] + n]
        for c in range(1, len(active)):
            n = active[c]
            out = below[shifted[c] : shifted[c] + n]
            last = bins[starts[c - 1] : starts[c - 1] + n]
            if c == 1:
                out[:] = last
            else:
                np.add(below[shifted[c - 1] : shifted[c - 1] + n], last, out=out)
        return above, below

    def tables(self, bins, total, smallest, extra=None):
        """Weighted log-likelihood of every code of every feature.

        Parameters
        ----------
        bins : array of shape (n_rows, n_columns)
        total : array of shape (n_columns,) or (n_features, n_columns)
            Responsibility of the rows in which a feature is present.
        smallest : float
            Least share above or below a statement.
        extra : array of shape (n_features, n_columns), optional
            Added to every code of a feature.
        """
        above, below = self.masses(bins)
        if total.ndim == 2:
            total = total[self.feature]
        floor = smallest * total
        for mass in (above, below):
            np.maximum(mass, floor, out=mass)
            np.log(mass, out=mass)
            mass *= self.weight
        table = np.empty(bins.shape)
        base = self.collect @ (below - self.weight * np.log(total))
        table[: self.n_features] = base if extra is None else base + extra
        steps = np.subtract(above, below, out=above)
        starts, active = self.starts, self.active
        shifted = starts - self.n_features
        for c in range(1, len(active)):
            n = active[c]
            np.add(
                table[starts[c - 1] : starts[c - 1] + n],
                steps[shifted[c] : shifted[c] + n],
                out=table[starts[c] : starts[c] + n],
            )
        return table
