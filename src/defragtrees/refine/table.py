"""Rows for refine: bins that occur, and sums of any number per row by bin.

Codes are those of the training rows only, so that between two neighbouring codes lies
at least one threshold that tells rows apart.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

__all__ = ["Column", "RowTable", "make_table"]

FEW = 0.3  # below this share of rows with a value, summing them alone is faster


@dataclass(frozen=True, eq=False)
class Column:
    """One feature as refine sees it.

    Parameters
    ----------
    feature : int
        Its number in X.
    bins : int array of shape (n_codes,)
        The bin of the grid that each code stands for.
    is_set : bool
        Whether codes are categories.
    has_missing : bool
        Whether the code after the last stands for missing values.
    price : float
        Nats that a condition on this feature costs: for an interval each finite side.
    """

    feature: int
    bins: np.ndarray
    is_set: bool
    has_missing: bool
    price: float

    @property
    def n_codes(self):
        """Number of codes, missing left out."""
        return len(self.bins)


class RowTable:
    """Training rows by code.

    Parameters
    ----------
    columns : tuple of Column
    codes : int array of shape (n_columns, n_samples)
        Missing values have the code `n_codes` of their column.
    """

    def __init__(self, columns, codes):
        self.columns = columns
        self.codes = codes
        self.n_rows = codes.shape[1]
        widths = np.array([c.n_codes + c.has_missing for c in columns], dtype=np.intp)
        self.width = int(max((c.n_codes for c in columns), default=0))
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        n_all = int(starts[-1])
        self.flat = codes + starts[:-1, None]
        row = np.tile(np.arange(self.n_rows), len(columns))
        self.by_code = sparse.csr_matrix(
            (np.ones(row.size), (self.flat.ravel(), row)), shape=(n_all, self.n_rows)
        )
        # Where the sum of (column, code) stands; cells without a code read a zero.
        self.place = np.full((len(columns), self.width), n_all, dtype=np.intp)
        self.missing_place = np.full(len(columns), n_all, dtype=np.intp)
        for j, column in enumerate(columns):
            self.place[j, : column.n_codes] = starts[j] + np.arange(column.n_codes)
            if column.has_missing:
                self.missing_place[j] = starts[j] + column.n_codes
        self.prices = np.array([column.price for column in columns])
        self.is_set = np.array([column.is_set for column in columns], dtype=bool)
        self.n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)

    def coarse(self, rows, most_codes):
        """A table of some of the rows, with neighbouring codes put together.

        Parameters
        ----------
        rows : int array
        most_codes : int
            About how many codes a numeric column keeps, each with as many rows.

        Returns
        -------
        table : RowTable
        groups : list of int array
            For each column the coarse code of each of its codes, missing last.
        """
        columns, codes, groups = [], [], []
        for column, own in zip(self.columns, self.codes[:, rows], strict=True):
            group = np.arange(column.n_codes + 1)
            if not column.is_set and column.n_codes > most_codes:
                count = np.bincount(own, minlength=column.n_codes + 1)[:-1]
                reached = np.cumsum(count) - count
                group = reached * most_codes // max(int(count.sum()), 1)
                group = np.unique(group, return_inverse=True)[1]
                group = np.append(group, group[-1] + 1)
            n_codes = int(group[-1])
            columns.append(replace(column, bins=np.arange(n_codes)))
            codes.append(group[own])
            groups.append(group)
        matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(rows))
        return RowTable(tuple(columns), matrix), groups

    def sums(self, values):
        """Sum of a number per row by code of every column at once.

        Returns
        -------
        sums : array of shape (n_columns, width)
        missing : array of shape (n_columns,)
        """
        rows = np.flatnonzero(values)
        if len(rows) < FEW * self.n_rows:
            weights = np.tile(values[rows], len(self.columns))
            found = np.bincount(
                self.flat[:, rows].ravel(), weights, self.by_code.shape[0] + 1
            )
        else:
            found = np.append(self.by_code @ values, 0.0)
        return found[self.place], found[self.missing_place]

    def sums_of(self, j, values):
        """The same for one column."""
        column = self.columns[j]
        found = np.bincount(self.codes[j], values, column.n_codes + 1)
        return found[: column.n_codes], found[column.n_codes]


def make_table(grid, bins, allowed=None, order=None):
    """The table for binned training rows.

    What a condition costs is what it takes to say it, in nats: log(n_features) to name
    the feature, and log(n_codes) / 2 to name the threshold, as precisely as a number
    estimated from data is worth saying. A set of categories takes log(2) / 2 for each.

    Parameters
    ----------
    grid : ThresholdGrid
    bins : unsigned int array of shape (n_samples, n_features)
        Bin numbers of the rows.
    allowed : collection of int, optional
        Features that rules may use; all by default.
    order : sequence of int, optional
        Features in the order in which ties are broken; as in the grid by default.
    """
    columns, codes = [], []
    usable = []
    for j in range(grid.n_features) if order is None else order:
        if allowed is not None and j not in allowed:
            continue
        present = np.bincount(bins[:, j], minlength=grid.n_bins[j]) > 0
        known = np.flatnonzero(present[:-1])
        if len(known) + present[-1] > 1 and len(grid.splits[j]):
            usable.append((j, known, bool(present[-1])))
    for j, known, has_missing in usable:
        is_set = grid.is_categorical(j)
        precision = len(known) * np.log(2) if is_set else np.log(len(known) + 1)
        price = np.log(len(usable)) + precision / 2
        columns.append(Column(j, known, is_set, has_missing, float(price)))
        codes.append(np.searchsorted(known, bins[:, j]))
    matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(bins))
    return RowTable(tuple(columns), matrix)
