"""From an encoded matrix back to a table such as the model takes."""

import numpy as np

from defragtrees._optional import require
from defragtrees.dates import column_kinds, dates_as_days
from defragtrees.tables import category_lists, column_names, read_matrix

__all__ = ["TableForm"]

OTHER = "other"  # what stands for a category that is not in the list
MICROSECONDS = 86_400_000_000  # of a day


class TableForm:
    """How a user's table is made: its library, names, types and categories.

    Parameters
    ----------
    X : array or data frame

    Examples
    --------
    >>> form = TableForm(np.array([[1, 2], [3, 4]]))
    >>> form.table(form.matrix(np.array([[5, 6]]))).tolist()
    [[5, 6]]
    """

    def __init__(self, X):
        self.names = column_names(X)
        self.kinds = column_kinds(X)
        if self.names is None:
            X = np.asarray(X)
            self.library, self.dtypes = "numpy", X.dtype
            self.categories = _array_categories(X)
        else:
            self.library = "pandas" if hasattr(X, "iloc") else "polars"
            self.dtypes = list(X.dtypes)
            self.columns = list(X.columns)
            self.categories = category_lists(dates_as_days(X, self.kinds))

    def matrix(self, X):
        """A table of this form as numbers."""
        return read_matrix(X, self.names, self.categories, "the model", self.kinds)

    def table(self, matrix):
        """A matrix of numbers as a table of this form."""
        columns = [self._values(j, matrix[:, j]) for j in range(matrix.shape[1])]
        if self.library == "numpy":
            if self.dtypes.kind != "O":
                return np.column_stack(columns).astype(self.dtypes, copy=False)
            table = np.empty(matrix.shape, dtype=object)
            for j, column in enumerate(columns):
                table[:, j] = column
            return table
        if self.library == "polars":
            return self._polars(columns)
        pandas = require("pandas", "A data frame")
        frame = pandas.DataFrame(dict(enumerate(columns)))
        for j, dtype in enumerate(self.dtypes):
            frame.isetitem(j, _as_type(frame.iloc[:, j], dtype, pandas))
        frame.columns = self.columns
        return frame

    def _values(self, j, numbers):
        """A column as numbers, labels or moments."""
        labels = self.categories[j] if self.categories else None
        if labels is not None:
            known = np.array([*labels, OTHER, None], dtype=object)
            return known[np.nan_to_num(numbers, nan=len(labels) + 1).astype(int)]
        kind = self.kinds[j] if self.kinds else None
        if kind in ("date", "datetime", "duration"):
            code = "m8[us]" if kind == "duration" else "M8[us]"
            parts = np.rint(np.nan_to_num(numbers) * MICROSECONDS).astype(np.int64)
            return np.where(np.isnan(numbers), np.array("NaT", code), parts.view(code))
        return numbers

    def _polars(self, columns):
        polars = require("polars", "A polars frame")
        series = []
        for name, column, dtype in zip(self.columns, columns, self.dtypes, strict=True):
            one = polars.Series(name, column)
            one = one.fill_nan(None) if one.dtype.is_float() else one
            series.append(one.cast(dtype, strict=False))
        return polars.DataFrame(series)


def _array_categories(X):
    """Categories of the columns of text of an array; None where there are none."""
    if X.dtype.kind not in "OUS":
        return None
    pandas_like = [X[:, j].tolist() for j in range(X.shape[1])]
    lists = []
    for values in pandas_like:
        texts = {value for value in values if isinstance(value, (str, bytes))}
        lists.append(tuple(sorted(texts)) if texts else None)
    return tuple(lists)


def _as_type(column, dtype, pandas):
    """A column of pandas with the type that it had, where its values allow it."""
    if isinstance(dtype, np.dtype) and dtype.kind in "biu":
        if column.isna().any():
            return column
        return column.astype(dtype)
    if str(dtype) == "category":
        return pandas.Categorical(column, dtype=dtype)
    if str(dtype) == "object":
        return column.where(column.notna(), np.nan)
    if getattr(dtype, "tz", None) is not None:
        return column.dt.tz_localize(dtype.tz).astype(dtype)
    return column.astype(dtype)
