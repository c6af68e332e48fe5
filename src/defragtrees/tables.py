"""Read tables of pandas, polars and numpy as one matrix of numbers.

Every later step sees numbers only. `read_matrix` returns a float64 matrix: a numeric
column as it is, a category as its position in the list of categories, a date as its
number of days since 1970-01-01, a missing value as NaN. A category that is not in the
list gets the position after the last one. Times with a time zone are converted to UTC.

The classes `Pandas` and `Polars` below have what differs between the libraries.
"""

import contextlib
import datetime as dt
import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from defragtrees._utils.formatting import listed, near_name, number
from defragtrees._utils.optional import require
from defragtrees._utils.types import Floats, Values

NUMBER_KINDS = "biuf"
POLARS_KINDS = {
    kind.capitalize(): kind for kind in ("date", "datetime", "time", "duration")
}
ZONED = "datetime UTC"  # the kind of times with a time zone
DATE_KINDS = (*POLARS_KINDS.values(), ZONED)
MICROSECONDS = 86_400_000_000  # in a day
TRUTH = {"true": 1.0, "false": 0.0}
OTHER = "other"  # in generated tables, a category that is not in the list
MOST_TIMES = 1e6  # the smallest weight, for a weight that counts repeated rows
MOST_CELLS = 2**30  # of a sparse matrix made dense, 8 bytes each


def read_matrix(
    X: Any,
    names: Sequence[str] | None = None,
    categories: Any = None,
    what: str = "the model",
    kinds: Sequence[str | None] | None = None,
    needed: Collection[int] | None = None,
) -> Floats:
    """Convert X to a float64 array (n_samples, n_features), categories to positions.

    The array is always a copy. Columns of a frame are selected by name, in any order;
    other columns are ignored. The names "x1", "x2", ... of a model trained without
    names, and the integers of a frame without names, are not compared.

    Categories are compared by value: 2.0 is 2, and True is 1. `kinds` marks columns
    with dates or times, which become days; dates in other columns raise an error. A
    frame must have the columns `needed`, all by default; others become NaN. `what`
    names, in messages, the object that knows the columns.

    Examples
    --------
    >>> read_matrix([["b", 1.0], ["z", 2.0]], categories=(("a", "b"), None)).tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    X = as_dense(X)
    frame_names = column_names(X)
    if frame_names is None:
        X = _plain_array(X)
        n_rows, n_columns = X.shape
    else:
        places = _find_columns(X, frame_names, names, what, needed)
        n_rows, n_columns = len(X), len(places)
    for given in (names, categories):
        if given is not None and n_columns != len(given):
            raise ValueError(
                f"X has {n_columns} features, but {what} saw {len(given)}. Pass these, "
                "in the same order; columns of a data frame are selected by name."
            )
    has_categories = any(known is not None for known in categories or ())
    labels = categories or (None,) * n_columns
    if frame_names is None:
        X = X if kinds is None else dates_as_days(X, kinds)
        if X.dtype.kind in NUMBER_KINDS and not has_categories:
            return X.astype(np.float64, order="C")
        titles = names or range(1, n_columns + 1)
        columns = (
            _array_column(X[:, j], titles[j], labels[j], has_categories)
            for j in range(n_columns)
        )
    else:
        if kinds is not None and len(kinds) == n_columns:
            by_place = dict(zip(places, kinds, strict=True))
            X = dates_as_days(X, [by_place.get(j) for j in range(len(frame_names))])
        columns = (
            None if j is None else frame_column(X, j, frame_names[j]) for j in places
        )
    matrix = np.full((n_rows, n_columns), np.nan)
    for j, column in enumerate(columns):
        if column is not None:
            matrix[:, j] = (
                as_numbers(column)
                if labels[j] is None
                else as_positions(column, labels[j])
            )
    return matrix


def check_finite(matrix: Floats, names: Any) -> None:
    """Raise if a float64 matrix has infinite values; missing values are allowed.

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.nan]]), ("size", "age"))
    >>> check_finite(np.array([[1.0, np.inf]]), ("size", "age"))
    Traceback (most recent call last):
    ...
    ValueError: Input X contains infinity or a value too large for dtype('float64'); \
'age' must hold finite numbers or NaN. Replace or drop these values.
    """
    infinite = np.flatnonzero(np.isinf(matrix).any(axis=0))
    if len(infinite):
        raise ValueError(
            f"Input X contains infinity or a value too large for {matrix.dtype!r}; "
            f"{listed([names[j] for j in infinite])} must hold finite numbers or NaN. "
            "Replace or drop these values."
        )


def column_names(X):
    """The column names of a pandas or polars frame as strings; None for anything else.

    Examples
    --------
    >>> column_names([[1, 2]]) is None
    True
    """
    if not _is_frame(X):
        return None
    names = tuple(str(name) for name in X.columns)
    if len(set(names)) < len(names):
        repeated = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"The columns of X must have different names; {listed(repeated)} "
            "occurs more than once. Rename or drop the repeated columns."
        )
    return names


def lightgbm_names(names):
    """Names as LightGBM stores them, with underscores for spaces.

    Examples
    --------
    >>> lightgbm_names(["petal width", "age"])
    ('petal_width', 'age')
    """
    return tuple(name.replace(" ", "_") for name in names)


def feature_index(which, names, what="features"):
    """Index of a feature given by name or by index, which may be negative.

    Examples
    --------
    >>> feature_index("age", ("size", "age")), feature_index(-2, ("size", "age"))
    (1, 0)
    """
    if isinstance(which, Integral) and not isinstance(which, bool):
        if -len(names) <= which < len(names):
            return int(which) % len(names)
    elif which in names:
        return list(names).index(which)
    message = f"{what} has {which!r}, which is not a feature of X"
    near = near_name(which, names)
    if near is not None:
        raise ValueError(f"{message}; did you mean {near!r}?")
    raise ValueError(
        f"{message}. Pass names or indices of the {len(names)} features, such as "
        f"{listed(names)}."
    )


def n_rows_of(X):
    """Number of rows of a table or column of any library."""
    from sklearn.utils.validation import _num_samples

    if isinstance(X, dict):
        raise TypeError(
            "A table must be an array or a data frame; got a dict. Pass "
            "pandas.DataFrame(X)."
        )
    return _num_samples(X)


def check_length(n_rows: int, n_values: int, role: str) -> None:
    """Raise if the number of labels or weights is not the number of rows."""
    if n_rows != n_values:
        raise ValueError(
            f"X and {role} must have equally many rows; got {n_rows} and {n_values}."
        )


def check_weight(sample_weight: Any, n_rows: int, is_relative: bool = True) -> Floats:
    """Check weights, one finite number >= 0 per row, as float64; ones by default.

    They are returned in a unit of their own, or as they are if not `is_relative`.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    reject_mask(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            "sample_weight must have one number per row; got the shape "
            f"{weight.shape} for {n_rows} rows."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("sample_weight must hold finite numbers from 0.")
    return relative_weight(weight) if is_relative else weight


def relative_weight(weight):
    """Weights in a unit of their own, as only their ratios matter.

    The unit is the smallest weight if all are multiples of it, so that a row of twice
    that weight counts as two rows; else it is their mean. What are no weights is left
    for checks to reject.

    Examples
    --------
    >>> relative_weight(np.array([1e300, 0.0, 3e300])).tolist()
    [1.0, 0.0, 3.0]
    >>> relative_weight(np.array([0.04, 0.06])).round(9).tolist()
    [0.8, 1.2]
    """
    positive = weight[weight > 0]
    if not (np.isfinite(weight).all() and len(positive)):
        return weight
    largest, least = float(positive.max()), float(positive.min())
    mean = None
    if count_odd_weights(positive, least):
        mean = float((positive / largest).mean())  # their sum may be too large
    return in_weight_unit(weight, largest, least, mean)


def count_odd_weights(weight, unit):
    """How many weights are no multiples of a unit, or too large ones."""
    times = weight / unit if unit > 0 else np.full(len(weight), np.inf)
    is_large = times > MOST_TIMES
    times = np.where(is_large, 1.0, times)
    return int((is_large | (np.abs(times - np.round(times)) > 1e-9 * times)).sum())


def in_weight_unit(weight, largest, least, mean=None):
    """Weights divided by the least one, or by a mean, given as a share of the largest.

    Mean and weights are rounded, so that neither the scale of weights nor the parts in
    which they are added up change even the last digits of a result.
    """
    unit = least / largest if mean is None else float(_rounded_bits(mean, 36))
    if abs((least if mean is None else mean * largest) - 1) < 1e-9:
        return _rounded_bits(weight, 40)  # they have this unit already
    return _rounded_bits(weight / largest / unit, 40)


def _rounded_bits(values, n_bits):
    fraction, power = np.frexp(values)
    return np.ldexp(np.round(fraction * 2.0**n_bits), power - n_bits)


def one_column(y: Any, warn: bool = False) -> Values:
    """Labels or numbers as one array; whole numbers and truth values stay such.

    Examples
    --------
    >>> one_column([[1], [2]]).tolist()
    [1, 2]
    """
    reject_mask(y, "y")
    dtype: Any = getattr(y, "dtype", None)
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if getattr(dtype, "names", None) or (len(shape) == 2 and shape[1] > 1):
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} with "
            f"{len(getattr(dtype, 'names', None) or range(shape[1]))} columns instead. "
            "Pass one of them, such as the time of an event, or a model's risk score."
        )
    if hasattr(y, "columns") and len(shape) == 2:  # a frame of one column
        y = y[y.columns[0]]
        dtype = y.dtype
    is_nullable = _library(y) is Pandas and not isinstance(dtype, np.dtype)
    if is_nullable and dtype.kind in "biu" and not y.isna().any():
        y = y.to_numpy(dtype.numpy_dtype)  # scikit-learn would make floats of it
    from sklearn.utils.validation import column_or_1d

    return column_or_1d(y, warn=warn)


def reject_mask(values, role):
    """Raise if some of the labels or weights are masked."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise ValueError(
            f"{role} must have a value in every row; some are masked. Drop these rows."
        )


def as_dense(X: Any) -> Any:
    """Convert a sparse matrix to a dense one, and masked cells to missing values.

    Anything else is returned as it is.
    """
    if isinstance(X, np.ma.MaskedArray):
        numbers = X.dtype.kind in NUMBER_KINDS
        masked: Any = X.astype(np.float64 if numbers else object)
        return masked.filled(np.nan)
    sparse = sys.modules.get("scipy.sparse")  # a sparse X has imported it
    if sparse is None or not sparse.issparse(X):
        return X
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        raise ValueError(
            f"A sparse X must have at most {MOST_CELLS:,} cells, zeros included; got "
            f"{X.shape[0]} rows and {X.shape[1]} columns. Pass fewer rows, or only the "
            "columns that the model uses."
        )
    return X.toarray()


def take_rows(values, rows):
    """Some rows of an array, a frame or a column, in the order given; None stays None.

    Examples
    --------
    >>> take_rows([10, 20, 30], np.array([2, 0])).tolist()
    [30, 10]
    """
    if values is None:
        return None
    if _library(values) is Pandas:
        return values.iloc[rows]
    if _is_frame(values):
        return values[rows.tolist()]
    return np.asarray(values)[rows]


def slice_rows(values, rows):
    """The rows of a slice, without a copy if the library allows it."""
    if values is None or rows == slice(0, n_rows_of(values)):
        return values
    if _library(values) is Pandas:
        return values.iloc[rows]
    if hasattr(values, "__array__") and not hasattr(values, "columns"):
        return np.asarray(values[rows])
    return values[rows]


def stacked(tables):
    """Concatenate the rows of tables of one library; None stays None."""
    if tables[0] is None or len(tables) == 1:
        return tables[0]
    if _library(tables[0]) is Pandas:
        return require("pandas", "A data frame").concat(tables, ignore_index=True)
    if _is_frame(tables[0]):
        return require("polars", "A data frame").concat(tables)
    return np.concatenate([np.asarray(table) for table in tables])


def select_columns(X, names):
    """Select columns of a frame by name, in this order.

    Anything else, and a frame that lacks one of them, is returned as it is.
    """
    there = column_names(X)
    if there is None or not len(names) or there == tuple(names):
        return X
    place = {name: j for j, name in enumerate(there)}
    if not set(names) <= set(place):
        return X
    places = [place[name] for name in names]
    return X.iloc[:, places] if _library(X) is Pandas else X[:, places]


def category_lists(X):
    """The categories of each column of a frame, or None for a numeric column.

    Columns of text count as categorical, with their distinct values in sorted order. A
    polars Categorical has no list of its own, so it counts as text.
    """
    names = column_names(X)
    if names is None:
        return None
    return tuple(
        _categories_of(frame_column(X, j, name)) for j, name in enumerate(names)
    )


def text_as_categories(X):
    """Convert a frame to plain numbers and categories; return anything else as it is.

    Columns of text become categories. Nullable columns of pandas, which libraries do
    not accept, become floats or categories with NaN.
    """
    categories = category_lists(X)
    return X if categories is None else _library(X).with_categories(X, categories)


def ordered_categories(X):
    """The categories of each column of a frame if they are ordered, else None.

    pandas marks ordered categories; an Enum of polars is always ordered.
    """
    levels = declared_categories(X)
    return levels and tuple(
        known if getattr(dtype, "ordered", True) else None
        for known, dtype in zip(levels, X.dtypes, strict=True)
    )


def declared_categories(X):
    """The categories that the type of each column of a frame lists, or None."""
    if not _is_frame(X):
        return None
    return tuple(
        tuple(np.asarray(dtype.categories, dtype=object).tolist())
        if type(dtype).__name__ == "Enum" or str(dtype) == "category"
        else None
        for dtype in X.dtypes
    )


def boolean_columns(X):
    """The positions of the columns of a frame that have booleans."""
    library = _library(X)
    if library is None:
        return []
    return [j for j in range(X.shape[1]) if library.is_boolean(library.column(X, j))]


def column_kinds(X):
    """The kind of date or time of each column of a frame, or None if it has none.

    A kind is a key of `defragtrees.rules.labels.KINDS`. Timestamps that are all at
    midnight are dates. If X is not a frame, the result is None.
    """
    library = _library(X)
    if library is None:
        return None
    kinds = []
    for j in range(X.shape[1]):
        column = library.column(X, j)
        kind = library.days_kind(column)
        # Polars has no letters for types, and no dates among other objects.
        if kind == "datetime" and getattr(column.dtype, "kind", "M") == "M":
            days = as_days(column)
            days = days[~np.isnan(days)]
            kind = "date" if (days == np.floor(days)).all() else kind
        kinds.append(kind)
    return tuple(kinds)


def dates_as_days(X, kinds):
    """Replace dates and times by days, in the columns that have a kind.

    `kinds` has one entry per column; dates in other columns are not changed. Times
    must have a time zone if the kind has one, and none otherwise.
    """
    places = {j: kind for j, kind in enumerate(kinds) if kind in DATE_KINDS}
    library = _library(X)
    if library is not None:
        return library.with_days(X, places)
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "OmM":
        return X
    if X.dtype.kind in "mM":
        for j, kind in places.items():
            _check_zone("datetime", kind, j + 1)
        return as_days(X)
    X = X.copy()
    for j, kind in places.items():
        X[:, j] = [object_as_days(value, kind, j + 1) for value in X[:, j]]
    return X


def as_days(column):
    """Convert dates, timestamps, times or durations to days; missing ones to NaN.

    Timestamps with a time zone are converted to UTC. `column` is an array, or a column
    of a pandas or polars frame.

    Examples
    --------
    >>> as_days(np.array(["2024-03-01", "NaT"], "datetime64[D]")).tolist()
    [19783.0, nan]
    """
    library = _library(column)
    if library is Polars:
        return Polars.as_days(column)
    if library is Pandas:
        if hasattr(column.dtype, "pyarrow_dtype"):
            column = column.array.__arrow_array__()  # which is in UTC
        elif Pandas.is_zoned(column.dtype):
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        column = column.to_numpy()
    parts = column.astype(f"{column.dtype.kind}8[us]")
    return np.where(np.isnat(parts), np.nan, parts.astype(np.int64) / MICROSECONDS)


def days_as_moments(days, kind):
    """Convert numbers of days to timestamps, in UTC, or durations, by their kind."""
    code = "m8[us]" if kind == "duration" else "M8[us]"
    parts = np.rint(np.nan_to_num(days) * MICROSECONDS).astype(np.int64)
    return np.where(np.isnan(days), np.array("NaT", code), parts.view(code))


def object_as_days(value, kind=None, name=None):
    """Convert a date, timestamp, time or duration to days; return others as they are.

    `kind` is that of its column, whose `name` is for messages.

    Examples
    --------
    >>> object_as_days(dt.date(2024, 3, 1)), object_as_days(dt.time(6))
    (19783.0, 0.25)
    """
    if kind is not None and not is_missing(value):
        _check_zone(_kind_of(value), kind, name)
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(as_days(np.asarray([value]))[0])
    if isinstance(value, dt.datetime):
        if value.utcoffset() is not None:
            value = value.astimezone(dt.UTC)
        value = value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)
    elif isinstance(value, dt.date):
        value = value - dt.date(1970, 1, 1)
    elif isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1970, 1, 1), value.replace(tzinfo=None))
        value = value - dt.datetime(1970, 1, 1)
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    return value


def _kind_of(value):
    """The kind of a date, timestamp, time or duration; None for other values."""
    if isinstance(value, dt.datetime) and value.utcoffset() is not None:
        return ZONED
    for types, kind in (
        ((dt.datetime, np.datetime64), "datetime"),  # a datetime is a date too
        (dt.date, "date"),
        (dt.time, "time"),
        ((dt.timedelta, np.timedelta64), "duration"),
    ):
        if isinstance(value, types):
            return kind
    return None


def _check_zone(found, kind, name):
    """Raise if only one of a column and its kind in training has a time zone."""
    if found is None or (found == ZONED) == (kind == ZONED):
        return
    if kind == ZONED:
        raise ValueError(
            f"Column {name!r} must hold times with a time zone, as in the training "
            "data; these have none. Add their zone, such as x.dt.tz_localize('UTC')."
        )
    raise ValueError(
        f"Column {name!r} must hold times without a time zone, as in the training "
        "data; these have one. Convert them to the zone of the training data and drop "
        "it, such as x.dt.tz_convert('UTC').dt.tz_localize(None)."
    )


def is_missing(value):
    """Check whether a value is None, NaN, NaT or pandas.NA.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling one cannot be compared
    # pandas.NA is neither equal nor unequal to itself.
    return value is None or type(value).__name__ == "NAType" or value != value


@dataclass(frozen=True)
class ColumnValues:
    """One column: float64 `numbers`, or a list of `values`, or `codes` of `values`.

    A code of -1 is a missing value. `is_declared` means that the values are the user's
    list of categories, in its order.
    """

    name: object
    numbers: np.ndarray | None = None
    values: list | None = None
    codes: np.ndarray | None = None
    is_declared: bool = False

    def distinct(self):
        """The set of its values."""
        try:
            return set(self.values)
        except TypeError as error:
            raise TypeError(
                f"Column {self.name!r} must hold numbers or categories: {error}. "
                "Convert it to plain values first."
            ) from None


def frame_column(X, j, name):
    """One column of a pandas or polars frame."""
    library = _library(X)
    return library.read(library.column(X, j), name)


def as_numbers(column):
    """The values of a numeric column as float64 numbers; missing ones are NaN."""
    if column.numbers is not None:
        return column.numbers
    kinds = set(map(type, column.values))
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        raise ValueError(
            f"Column {column.name!r} must hold numbers; it holds categories or text. "
            "Encode it, or fit a model that splits on categories."
        )
    for kind in kinds:
        if issubclass(kind, (np.datetime64, np.timedelta64)):
            _reject_kind("M", column.name, kind.__name__)
    try:
        numbers = np.array(
            [np.nan if is_missing(value) else value for value in column.values],
            dtype=np.float64,
        )
        if numbers.ndim > 1:
            raise TypeError("cells are lists")
    except (OverflowError, TypeError, ValueError) as error:
        # scikit-learn's checks look for the text of numpy's error.
        raise TypeError(
            f"Column {column.name!r} must hold numbers: {error}. Convert it to numbers "
            "first."
        ) from None
    return numbers if column.codes is None else np.append(numbers, np.nan)[column.codes]


def as_positions(column, labels):
    """Positions of values in a list of categories; unknown ones get the next one."""
    position = {category: float(j) for j, category in enumerate(labels)}

    def find(value):
        return np.nan if is_missing(value) else position.get(value, len(labels))

    if column.numbers is not None:
        distinct, codes = np.unique(column.numbers, return_inverse=True)
        return np.array([find(value) for value in distinct.tolist()])[codes]
    table = {value: find(value) for value in column.distinct()}
    places = np.array([table[value] for value in column.values], dtype=np.float64)
    return places if column.codes is None else np.append(places, np.nan)[column.codes]


def find_positions(values, expected):
    """For each value its position among the known ones, or None.

    Examples
    --------
    >>> find_positions(["1", "2.0", "x", True], (1, 2))
    [0, 1, None, 0]
    >>> find_positions([1, 2.0], ("1", "2"))
    [0, 1]
    """
    exact = {label: j for j, label in enumerate(expected)}
    numbers = {
        float(label): j
        for j, label in enumerate(expected)
        if isinstance(label, (bool, int, float, np.number, np.bool_))
    }

    def find(value):
        if value in exact:
            return exact[value]
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                text = value.strip().lower()
                return numbers.get(TRUTH[text] if text in TRUTH else float(value))
        elif isinstance(value, (int, float)):
            texts = (str(value), number(value))
            return next((exact[text] for text in texts if text in exact), None)
        return None

    return [find(value) for value in values]


def _categories_of(column):
    """The categories of a column; None if it is numeric."""
    if column.numbers is not None:
        return None
    if column.is_declared:
        return tuple(column.values)
    values = column.distinct()
    if not any(isinstance(value, (str, bytes)) for value in values):
        return None
    present = [value for value in values if not is_missing(value)]
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


class TableForm:
    """The library, names and types of a user's table, to make similar tables.

    Examples
    --------
    >>> form = TableForm(np.array([[1, 2], [3, 4]]))
    >>> form.table(form.matrix(np.array([[5, 6]]))).tolist()
    [[5, 6]]
    """

    def __init__(self, X):
        self.names = column_names(X)
        self.kinds = column_kinds(X)
        self.library = _library(X)
        if self.names is None:
            X = np.asarray(X)
            self.dtypes = X.dtype
            self.categories = _text_categories(X)
        else:
            self.dtypes = list(X.dtypes)
            self.columns = list(X.columns)
            self.categories = category_lists(dates_as_days(X, self.kinds))

    def matrix(self, X):
        """A table of this form as numbers."""
        return read_matrix(X, self.names, self.categories, "the model", self.kinds)

    def table(self, matrix):
        """A matrix of numbers as a table of this form."""
        columns = [self._values(j, matrix[:, j]) for j in range(matrix.shape[1])]
        if self.names is not None:
            return self.library.frame(self.columns, columns, self.dtypes)
        if self.dtypes.kind != "O":
            return np.column_stack(columns).astype(self.dtypes, copy=False)
        table = np.empty(matrix.shape, dtype=object)
        for j, column in enumerate(columns):
            table[:, j] = column
        return table

    def _values(self, j, numbers):
        """A column as numbers, labels or timestamps."""
        labels = self.categories[j] if self.categories else None
        if labels is not None:
            known = np.array([*labels, OTHER, None], dtype=object)
            return known[np.nan_to_num(numbers, nan=len(labels) + 1).astype(int)]
        kind = self.kinds[j] if self.kinds else None
        is_moment = kind in ("date", "datetime", "duration", ZONED)
        return days_as_moments(numbers, kind) if is_moment else numbers


class Pandas:
    """Read frames and columns of pandas."""

    @staticmethod
    def column(X, j):
        """The column at a position."""
        return X.iloc[:, j]

    @staticmethod
    def read(column, name):
        """A column as a `ColumnValues`."""
        dtype = column.dtype
        if str(dtype) == "category":
            labels = column.cat.categories.tolist()
            codes = column.cat.codes.to_numpy()
            return ColumnValues(name, values=labels, codes=codes, is_declared=True)
        _reject_kind(dtype.kind, name, dtype)
        if dtype.kind in NUMBER_KINDS:
            return ColumnValues(
                name, column.to_numpy(dtype=np.float64, na_value=np.nan)
            )
        return ColumnValues(name, values=column.to_list())

    @staticmethod
    def days_kind(column):
        """The kind of dates or times that a column has; None without."""
        if Pandas.is_zoned(column.dtype):
            return ZONED
        if column.dtype.kind != "O":
            return {"M": "datetime", "m": "duration"}.get(column.dtype.kind)
        values = column.head(100).tolist()
        first = next((value for value in values if not is_missing(value)), None)
        return _kind_of(first)

    @staticmethod
    def is_zoned(dtype):
        """Whether a dtype, of pandas or of Arrow, has a time zone."""
        dtype = getattr(dtype, "pyarrow_dtype", dtype)
        return getattr(dtype, "tz", None) is not None

    @staticmethod
    def is_boolean(column):
        """Whether the column has booleans, also as objects beside missing values."""
        if column.dtype.kind != "O":
            return column.dtype.kind == "b"
        pandas = require("pandas", "A data frame")
        return pandas.api.types.infer_dtype(column, skipna=True) == "boolean"

    @staticmethod
    def with_days(X, places):
        """The frame with days in these columns."""
        X = X.copy(deep=False)
        for j, kind in places.items():
            column, name = X.iloc[:, j], X.columns[j]
            if column.dtype.kind in "mM":
                _check_zone(Pandas.days_kind(column), kind, name)
                X.isetitem(j, as_days(column))
            elif column.dtype.kind == "O":
                read = partial(object_as_days, kind=kind, name=name)
                X.isetitem(j, column.map(read, na_action="ignore"))
        return X

    @staticmethod
    def with_categories(X, categories):
        """The frame with these categories, and plain numbers elsewhere."""
        pandas = require("pandas", "A data frame")
        X = X.copy(deep=False)
        for j, labels in enumerate(categories):
            dtype, column = X.dtypes.iloc[j], frame_column(X, j, X.columns[j])
            if labels is not None:
                codes = np.nan_to_num(as_positions(column, labels), nan=-1).astype(int)
                X.isetitem(j, pandas.Categorical.from_codes(codes, list(labels)))
            elif not isinstance(dtype, np.dtype) or dtype.kind == "O":
                X.isetitem(j, as_numbers(column))
        return X

    @staticmethod
    def frame(names, columns, dtypes):
        """A frame of these columns, with their types where the values allow it."""
        pandas = require("pandas", "A data frame")
        frame = pandas.DataFrame(dict(enumerate(columns)))
        for j, dtype in enumerate(dtypes):
            frame.isetitem(j, _as_type(frame.iloc[:, j], dtype, pandas))
        frame.columns = names
        return frame


class Polars:
    """Read frames and columns of polars."""

    @staticmethod
    def column(X, j):
        """The column at a position."""
        return X.to_series(j)

    @staticmethod
    def read(column, name):
        """A column as a `ColumnValues`."""
        kind = _polars_type(column)
        if kind == "Enum":
            labels = list(column.dtype.categories)
            codes = column.to_physical().cast(int).fill_null(-1).to_numpy()
            return ColumnValues(name, values=labels, codes=codes, is_declared=True)
        if kind in POLARS_KINDS:
            _reject_kind("M", name, column.dtype)
        if column.dtype.is_numeric() or kind == "Boolean":
            return ColumnValues(name, column.cast(float).to_numpy())
        return ColumnValues(name, values=column.to_list())

    @staticmethod
    def days_kind(column):
        """The kind of dates or times that a column has; None without."""
        if getattr(column.dtype, "time_zone", None) is not None:
            return ZONED
        return POLARS_KINDS.get(_polars_type(column))

    @staticmethod
    def is_boolean(column):
        """Whether the column has booleans."""
        return _polars_type(column) == "Boolean"

    @staticmethod
    def with_days(X, places):
        """The frame with days in these columns."""
        made = []
        for j, kind in places.items():
            column = X.to_series(j)
            found = Polars.days_kind(column)
            if found is not None:
                _check_zone(found, kind, column.name)
                made.append(type(column)(column.name, as_days(column)))
        return X.with_columns(made) if made else X

    @staticmethod
    def with_categories(X, categories):
        """The frame with text as Categorical."""
        names = [
            name for name, known in zip(X.columns, categories, strict=True) if known
        ]
        polars = require("polars", "A polars frame")
        return X.with_columns(polars.col(names).cast(polars.Categorical))

    @staticmethod
    def as_days(column):
        """Dates, timestamps, times or durations as days."""
        unit = {"Date": 1.0, "Time": 86_400e9}.get(_polars_type(column))
        if unit is None:
            unit = 86_400 * {"ms": 1e3, "us": 1e6, "ns": 1e9}[column.dtype.time_unit]
        days = column.to_physical().cast(float).fill_null(float("nan")).to_numpy()
        return days / unit

    @staticmethod
    def frame(names, columns, dtypes):
        """A frame of these columns, with their types where the values allow it."""
        polars = require("polars", "A polars frame")
        series = []
        for name, column, dtype in zip(names, columns, dtypes, strict=True):
            one = polars.Series(name, column)
            one = one.fill_nan(None) if one.dtype.is_float() else one
            series.append(one.cast(dtype, strict=False))
        return polars.DataFrame(series)


def _library(values):
    """Pandas or Polars, by the library of a frame or column; else None."""
    if hasattr(values, "iloc"):
        return Pandas
    if hasattr(values, "to_series") or hasattr(values, "to_physical"):
        return Polars
    return None


def _as_type(column, dtype, pandas):
    """Convert a column of pandas to a dtype, if its values allow it."""
    if isinstance(dtype, np.dtype) and dtype.kind in "biu":
        return column if column.isna().any() else column.astype(dtype)
    if str(dtype) == "category":
        return pandas.Categorical(column, dtype=dtype)
    if str(dtype) == "object":
        return column.where(column.notna(), np.nan)
    if Pandas.is_zoned(dtype):
        return column.dt.tz_localize("UTC").astype(dtype)
    return column.astype(dtype)


def _text_categories(X):
    """The texts in each column of an array, or None; None for a numeric array."""
    if X.dtype.kind not in "OUS":
        return None
    texts = [
        {v for v in column.tolist() if isinstance(v, (str, bytes))} for column in X.T
    ]
    return tuple(tuple(sorted(found)) if found else None for found in texts)


def _polars_type(column):
    return str(column.dtype).split("(")[0]


def _is_frame(X):
    kind = type(X)
    package = kind.__module__.split(".")[0]
    # Checked first, as a lazy frame warns when its columns are read.
    for name, wanted, remedy in (
        ("polars", "LazyFrame", "collect()"),
        ("dask", None, "compute()"),
        ("pyarrow", None, "to_pandas()"),
    ):
        if package.startswith(name) and wanted in (None, kind.__name__):
            raise TypeError(
                "X must be a table in memory: an array, or a pandas or polars frame; "
                f"got {package}.{kind.__name__}. Pass X.{remedy} instead."
            )
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _array_column(column, name, labels, has_categories):
    """One column of an array; `labels` are its categories, None if it is numeric."""
    _reject_kind(column.dtype.kind, name, column.dtype)
    if column.dtype.kind in NUMBER_KINDS:
        return ColumnValues(name, column.astype(np.float64))
    if column.dtype.kind in "US" and labels is None and has_categories:
        # numpy converts numbers to text if there is text in another column.
        try:
            return ColumnValues(name, column.astype(np.float64))
        except ValueError:
            pass
    return ColumnValues(name, values=column.tolist())


def _reject_kind(kind, name, dtype):
    if kind == "c":
        raise ValueError(
            f"Complex data not supported; column {name!r} holds {dtype}. "
            "Pass the real and the imaginary part as two columns."
        )
    if kind in "mM":
        raise TypeError(
            f"Column {name!r} must hold numbers or categories; it holds dates or times "
            f"({dtype}). Convert it to a number first, such as days since a date."
        )


def _find_columns(X, frame_names, names, what, needed):
    """The position of each column in a frame; None for one that is not needed.

    If names are not compared, columns are taken in order.
    """
    if names is None or tuple(names) == frame_names:
        return range(len(frame_names))
    place = {name: j for j, name in enumerate(frame_names)}
    missing = [
        name
        for j, name in enumerate(names)
        if name not in place and (needed is None or j in needed)
    ]
    if not missing and (needed is not None or place.keys() >= set(names)):
        return [place.get(name) for name in names]
    is_unnamed = all(isinstance(name, Integral) for name in X.columns)
    has_default = tuple(names) == tuple(f"x{j + 1}" for j in range(len(names)))
    is_renamed = tuple(names) == lightgbm_names(frame_names)
    if is_unnamed or has_default or is_renamed or not missing:
        return range(len(frame_names))
    parts = [f"missing {listed(missing)}"]
    extra = [name for name in frame_names if name not in set(names)]
    if extra:
        parts.append(f"unexpected {listed(extra)}")
    raise ValueError(
        f"The columns of X differ from those that {what} saw: {' and '.join(parts)}. "
        "Rename, add or drop columns."
    )


def _plain_array(X):
    if isinstance(X, (str, os.PathLike)):
        raise TypeError(
            f"X must be a table; got the path {str(X)!r}. Read it first, or give it to "
            "an estimator."
        )
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # Lists with text keep their values; numpy would convert numbers to text.
            array = np.array(X, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"X must have rows of one length; got {type(X).__name__}: {error}"
        ) from None
    if array.dtype.names is not None:
        raise ValueError(
            "X must have one type for all columns or be a data frame; got a structured "
            f"array with the fields {listed(array.dtype.names)}. "
            "Pass pandas.DataFrame(X) instead."
        )
    if array.ndim != 2:
        raise ValueError(
            f"X must have rows and columns; got {type(X).__name__} of shape "
            f"{array.shape}. Reshape your data either using array.reshape(-1, 1) if it "
            "has a single feature or array.reshape(1, -1) if it contains a single "
            "sample."
        )
    return array
