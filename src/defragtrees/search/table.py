"""Rows for the search: codes of the bins that occur, and prices of conditions.

Only bins of training rows have codes, so that between two neighbouring codes there is a
threshold that separates rows.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Column:
    """One feature in the search."""

    feature: int  # its index in X
    bins: np.ndarray  # the bin of the grid of each code
    is_set: bool  # whether codes are categories
    has_missing: bool  # whether the code after the last stands for missing values
    # nats for a condition: per finite side of an interval, or for one name of a set
    price: float

    @property
    def n_codes(self):
        """Number of codes, without missing."""
        return len(self.bins)

    def accepts_all(self, accepted):
        """Whether a condition accepts every row that the table can have."""
        return bool(accepted.all() or (not self.has_missing and accepted[:-1].all()))


class RowTable:
    """Training rows by code; missing values have the code `n_codes` of their column.

    `least_price` is the penalty in nats for any condition, and for every further
    category that a set names. A set may name `most_named` categories, inside or
    outside.
    """

    def __init__(self, columns, codes, least_price=0.0, most_named=None):
        self.columns = columns
        self.least_price = least_price
        self.n_codes = np.array([c.n_codes for c in columns], dtype=np.intp)
        self.width = int(self.n_codes.max(initial=0)) + 1
        self.most_named = self.width if most_named is None else most_named
        dtype = np.uint8 if self.width <= 256 else np.uint16
        self.codes = np.ascontiguousarray(codes, dtype=dtype)
        self.n_rows = len(codes)
        prices = np.array([column.price for column in columns])
        self.prices = np.maximum(prices, least_price)
        self.is_set = np.array([column.is_set for column in columns], dtype=bool)
        self.name_prices = np.where(self.is_set, float(least_price), 0.0)
        self._column_codes = {}

    def column_codes(self, j):
        """Codes of all rows in one column, as indices; cached."""
        if j not in self._column_codes:
            self._column_codes[j] = self.codes[:, j].astype(np.intp)
        return self._column_codes[j]

    @cached_property
    def cut_prices(self):
        """Nats for a condition that accepts the first codes in order, by their number.

        One line per column; the first entry is for one code.
        """
        n_further = np.maximum(self._n_cut - 1, 0)
        prices = self.prices[:, None] + self.name_prices[:, None] * n_further
        return np.where(self.is_short, prices, np.inf)

    @cached_property
    def is_short(self):
        """Whether such a condition is an interval, or names few enough categories."""
        return ~self.is_set[:, None] | (self._n_cut <= self.most_named)

    @cached_property
    def _n_cut(self):
        """Number of codes on the smaller side of such a condition."""
        n_inside = np.arange(1, self.width + 1)[None, :]
        return np.minimum(n_inside, self.n_codes[:, None] - n_inside)

    def n_named(self, j, accepted):
        """Number of categories that the text of a condition names; 0 of an interval."""
        column = self.columns[j]
        n_inside = int(np.count_nonzero(accepted[:-1]))
        return min(n_inside, column.n_codes - n_inside) if column.is_set else 0

    def packed(self, box):
        """The columns of a box, and the codes that it accepts of each, as arrays."""
        accepted = np.zeros((len(box), self.width), dtype=bool)
        for row, mask in zip(accepted, box.values(), strict=True):
            row[: len(mask)] = mask
        return np.fromiter(box, dtype=np.intp, count=len(box)), accepted

    def coarse(self, rows, most_codes):
        """A table of some of the rows, with neighbouring codes merged.

        Also returns the coarse code of each code of each column, missing last.
        """
        columns, codes, groups = [], [], []
        for j, column in enumerate(self.columns):
            values = self.codes[rows, j]
            group = np.arange(column.n_codes + 1)
            if not column.is_set and column.n_codes > most_codes:
                count = np.bincount(values, minlength=column.n_codes + 1)[:-1]
                reached = np.cumsum(count) - count
                group = reached * most_codes // max(int(count.sum()), 1)
                group = np.unique(group, return_inverse=True)[1]
                group = np.append(group, group[-1] + 1)
            columns.append(replace(column, bins=np.arange(int(group[-1]))))
            codes.append(group[values])
            groups.append(group)
        matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(rows))
        # The penalty is in proportion to the rows.
        least_price = self.least_price * len(rows) / max(self.n_rows, 1)
        return RowTable(tuple(columns), matrix.T, least_price, self.most_named), groups


def make_table(
    grid, bins, allowed=None, order=None, least_price=0.0, ordered=(), most_named=None
):
    """The table for binned training rows."""
    counts = [
        np.bincount(bins[:, j], minlength=grid.n_bins[j])
        for j in range(grid.n_features)
    ]
    columns = make_columns(grid, counts, allowed, order, ordered)
    codes = [np.searchsorted(own.bins, bins[:, own.feature]) for own in columns]
    matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(bins))
    return RowTable(columns, matrix.T, least_price, most_named)


def make_columns(grid, counts, allowed=None, order=None, ordered=()):
    """The features that distinguish rows, with the price of a condition on each.

    The price is the description length in nats: log(n_features) for the feature, and
    log(n_codes) / 2 for the threshold, the usual precision of an estimated number; for
    a set log(2) per category, inside or outside. Further names of a set, inside or
    outside, whichever are fewer, have a penalty besides.
    """
    usable = []
    for j in range(grid.n_features) if order is None else order:
        if allowed is not None and j not in allowed:
            continue
        present = counts[j] > 0
        occurring = np.flatnonzero(present[:-1])
        if len(occurring) + present[-1] > 1 and len(grid.splits[j]):
            usable.append((j, occurring, bool(present[-1])))
    columns = []
    for j, occurring, has_missing in usable:
        is_set = grid.is_categorical(j) and j not in ordered
        n_codes = len(occurring)
        precision = n_codes * np.log(2) if is_set else np.log(n_codes + 1) / 2
        price = np.log(len(usable)) + precision
        columns.append(Column(j, occurring, is_set, has_missing, float(price)))
    return tuple(columns)
