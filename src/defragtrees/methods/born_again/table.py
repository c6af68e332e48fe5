"""Training rows as codes: the rank of each value within its column.

All that a born-again tree draws or splits on is a value that the data has, so growing
it needs ranks only. Columns stand in the order of their names, and the codes of all
columns are numbered through: the codes of a column are its values in ascending order
and then one for missing values.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["CodeTable", "make_table"]


@dataclass(frozen=True, eq=False)
class CodeTable:
    """Rows as codes, and what may split them.

    Parameters
    ----------
    features : int array of shape (n_columns,)
        Number in X of each column.
    values : float64 array of shape (n_codes,)
        The value of each code; NaN stands for missing.
    starts : int array of shape (n_columns + 1,)
        First code of each column, and the number of codes.
    codes : int array of shape (n_rows, n_columns)
    weight : float64 array of shape (n_rows,)
    sets : dict from int to bool array of shape (n_sets, n_codes of the column)
        Of a column with categories: the codes that may go left together.
    positions : dict from int to bool array of shape (n_sets, n_categories + 1)
        The same sets over all positions.
    allowed : tuple of array or None
        Columns, last codes to the left and thresholds of the only splits of numbers
        that may be used; None for midpoints between values.
    """

    features: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    sets: dict[int, np.ndarray]
    positions: dict[int, np.ndarray]
    allowed: tuple[np.ndarray, ...] | None = None

    @property
    def n_columns(self):
        """Number of columns."""
        return len(self.features)

    @cached_property
    def code_weight(self):
        """Weight of the rows that have each code."""
        weight = np.repeat(self.weight, self.n_columns)
        return np.bincount(self.codes.ravel(), weight, self.starts[-1])

    @cached_property
    def is_set(self):
        """Which columns have categories."""
        return np.isin(np.arange(self.n_columns), list(self.sets))

    def width(self, column):
        """Number of codes of a column, that of missing values included."""
        return int(self.starts[column + 1] - self.starts[column])

    def take(self, rows):
        """The table of some rows, with the same codes."""
        return dataclasses.replace(
            self, codes=self.codes[rows], weight=self.weight[rows]
        )

    def matrix(self, codes):
        """The rows that these codes stand for, with columns as in X."""
        X = np.empty(codes.shape)
        X[:, self.features] = self.values[codes]
        return X


def make_table(problem, thresholds="data"):
    """The rows of a problem as codes.

    Parameters
    ----------
    problem : Problem
    thresholds : {"data", "ensemble"}
        Whether numbers are split midway between values or where the ensemble does.
    """
    codes = np.empty(problem.X.shape, dtype=np.int32)
    values, starts = [], [0]
    sets, positions, between = {}, {}, []
    for k, j in enumerate(problem.feature_order):
        column = problem.X[:, j]
        missing = np.isnan(column)
        distinct, place = np.unique(column[~missing], return_inverse=True)
        codes[~missing, k] = place + starts[-1]
        codes[missing, k] = len(distinct) + starts[-1]
        if problem.categories[j] is not None:
            positions[k] = _with_all(problem.grid.splits[j])
            sets[k] = _over_codes(positions[k], distinct)
        elif thresholds == "ensemble":
            between.append(
                _between_values(problem.grid.splits[j], distinct, k, starts[-1])
            )
        values += [distinct, [np.nan]]
        starts.append(starts[-1] + len(distinct) + 1)
    if thresholds == "ensemble":
        empty = np.empty((3, 0))
        column, code, threshold = np.concatenate([empty, *between], axis=1)
        allowed = (column.astype(np.intp), code.astype(np.intp), threshold)
    return CodeTable(
        features=np.array(problem.feature_order, dtype=np.intp),
        values=np.concatenate(values),
        starts=np.array(starts, dtype=np.intp),
        codes=codes,
        weight=problem.sample_weight,
        sets=sets,
        positions=positions,
        allowed=allowed if thresholds == "ensemble" else None,
    )


def _with_all(sets):
    """The sets, and last the one of all categories: only missing values go right."""
    return np.vstack([sets, np.ones((1, sets.shape[1]), dtype=bool)])


def _over_codes(positions, distinct):
    """Sets over the categories that the rows have; missing values in none of them."""
    place = np.minimum(distinct.astype(np.intp), positions.shape[1] - 1)
    return np.column_stack([positions[:, place], np.zeros(len(positions), dtype=bool)])


def _between_values(thresholds, distinct, column, start):
    """Column, last code to the left and threshold of those that separate values.

    Of several between the same two values the middle one is taken.
    """
    below = np.searchsorted(distinct, thresholds, side="right")
    first = np.searchsorted(below, np.arange(1, len(distinct)))
    end = np.searchsorted(below, np.arange(1, len(distinct)), side="right")
    used = end > first
    middle = thresholds[(first[used] + end[used] - 1) // 2]
    code = start + np.flatnonzero(used)
    return np.vstack([np.full(len(code), column), code, middle])
