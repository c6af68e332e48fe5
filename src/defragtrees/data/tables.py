"""A user's table as one float64 matrix.

Every later step sees numbers only: a numeric column as it is, a categorical column as
positions in its list of categories, a missing value as NaN. A category that is not in
the list gets the position after the last one.
"""

import datetime as dt
import difflib
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy import sparse

__all__ = [
    "Column",
    "NUMBER_KINDS",
    "array_column",
    "as_days",
    "as_dense",
    "as_numbers",
    "as_positions",
    "categories_of",
    "category_lists",
    "check_finite",
    "column_kinds",
    "column_names",
    "dates_as_days",
    "days_kind",
    "feature_index",
    "frame_column",
    "is_missing",
    "listed",
    "near_name",
    "nearest",
    "object_as_days",
    "ordered_categories",
    "read_matrix",
    "select_columns",
    "take_rows",
]

NUMBER_KINDS = "biuf"
DATE_KINDS = "mM"


@dataclass(frozen=True)
class Column:
    """One column: float64 `numbers`, or a list of `values`, or `codes` of `values`.

    A code of -1 is a missing value. `is_declared` means that the values are the list
    of categories, in the order that the user chose.
    """

    name: object
    numbers: np.ndarray | None = None
    values: list | None = None
    codes: np.ndarray | None = None
    is_declared: bool = False


def frame_column(X, j, name):
    """One column of a pandas or polars frame."""
    if hasattr(X, "iloc"):
        return _pandas_column(X.iloc[:, j], name)
    return _polars_column(X.to_series(j), name)


def _pandas_column(column, name):
    dtype = column.dtype
    if str(dtype) == "category":
        labels = column.cat.categories.tolist()
        codes = column.cat.codes.to_numpy()
        return Column(name, values=labels, codes=codes, is_declared=True)
    _refuse_kind(dtype.kind, name, dtype)
    if dtype.kind in NUMBER_KINDS:
        return Column(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    return Column(name, values=column.to_list())


def _polars_column(column, name):
    kind = str(column.dtype).split("(")[0]
    if kind in ("Categorical", "Enum"):
        is_declared = kind == "Enum"
        distinct = column.drop_nulls().unique()
        values, codes = distinct.to_list(), distinct.to_physical().to_numpy()
        if is_declared:
            values = list(column.dtype.categories)
            codes = np.arange(len(values))
        # From polars' codes, which count all categories ever seen, to ours.
        ours = np.full(codes.max(initial=0) + 2, -1)
        ours[codes] = np.arange(len(codes))
        theirs = column.to_physical().cast(int).fill_null(-1).to_numpy()
        return Column(name, values=values, codes=ours[theirs], is_declared=is_declared)
    if kind in ("Date", "Datetime", "Duration", "Time"):
        _refuse_kind("M", name, column.dtype)
    if column.dtype.is_numeric() or kind == "Boolean":
        return Column(name, column.cast(float).to_numpy())
    return Column(name, values=column.to_list())


def array_column(column, name, labels, has_categories):
    """One column of an array; `labels` are its categories, None where it is numeric."""
    _refuse_kind(column.dtype.kind, name, column.dtype)
    if column.dtype.kind in NUMBER_KINDS:
        return Column(name, column.astype(np.float64))
    if column.dtype.kind in "US" and labels is None and has_categories:
        # numpy made text of the numbers that stand beside text.
        try:
            return Column(name, column.astype(np.float64))
        except ValueError:
            pass
    return Column(name, values=column.tolist())


def _refuse_kind(kind, name, dtype):
    if kind == "c":
        raise ValueError(
            f"Complex data not supported; column {name!r} holds {dtype}. "
            "Pass the real and the imaginary part as two columns."
        )
    if kind in DATE_KINDS:
        raise TypeError(
            f"Column {name!r} must hold numbers or categories; it holds dates or times "
            f"({dtype}). Turn it into a number first, such as days since a date."
        )


def as_numbers(column):
    """The values of a numeric column as float64 numbers; missing ones are NaN."""
    if column.numbers is not None:
        return column.numbers
    numbers = _as_floats(column.values, column.name)
    return numbers if column.codes is None else np.append(numbers, np.nan)[column.codes]


def _as_floats(values, name):
    kinds = set(map(type, values))
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        raise ValueError(
            f"Column {name!r} holds categories or text, where numbers are needed. "
            "Encode it, or fit an ensemble that splits on categories."
        )
    for kind in kinds:
        if issubclass(kind, (np.datetime64, np.timedelta64)):
            _refuse_kind("M", name, kind.__name__)
    try:
        return np.array(
            [np.nan if is_missing(value) else value for value in values],
            dtype=np.float64,
        ).reshape(len(values))
    except (TypeError, ValueError) as error:
        # The text of numpy's own error is what scikit-learn's checks look for.
        raise TypeError(
            f"Column {name!r} must hold numbers: {error}. Turn it into numbers first."
        ) from None


def categories_of(column):
    """The categories of a column; None where it is numeric."""
    if column.numbers is not None:
        return None
    if column.is_declared:
        return tuple(column.values)
    values = _distinct(column)
    if not any(isinstance(value, (str, bytes)) for value in values):
        return None
    present = [value for value in values if not is_missing(value)]
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))


def _distinct(column):
    try:
        return set(column.values)
    except TypeError as error:
        raise TypeError(
            f"Column {column.name!r} must hold numbers or categories: {error}. "
            "Turn it into plain values first."
        ) from None


def as_positions(column, labels):
    """The places of the values in a list of categories; others get the one after it."""
    position = {category: float(j) for j, category in enumerate(labels)}

    def find(value):
        return np.nan if is_missing(value) else position.get(value, len(labels))

    if column.numbers is not None:
        distinct, codes = np.unique(column.numbers, return_inverse=True)
        return np.array([find(value) for value in distinct.tolist()])[codes]
    table = {value: find(value) for value in _distinct(column)}
    places = np.array([table[value] for value in column.values], dtype=np.float64)
    return places if column.codes is None else np.append(places, np.nan)[column.codes]


def is_missing(value):
    """Whether a value is missing: None, NaN, NaT or pandas.NA.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    # pandas.NA is neither equal nor unequal to itself.
    return value is None or type(value).__name__ == "NAType" or value != value


MICROSECONDS = 86_400_000_000  # of a day
MADE_OF_DAYS = ("date", "datetime", "time", "duration")
POLARS = {
    "Date": "date",
    "Datetime": "datetime",
    "Time": "time",
    "Duration": "duration",
}


def days_kind(column):
    """What a column of a frame has: a key of `labels.KINDS`; None if no dates or times.

    Moments that all are at midnight are dates.
    """
    if not hasattr(column, "iloc"):
        kind = POLARS.get(str(column.dtype).split("(")[0])
        is_moment = kind == "datetime"
    elif column.dtype.kind == "O":
        return _kind_of_objects(column)
    else:
        kind = {"M": "datetime", "m": "duration"}.get(column.dtype.kind)
        is_moment = kind == "datetime"
    if is_moment:
        days = as_days(column)
        days = days[~np.isnan(days)]
        return "date" if (days == np.floor(days)).all() else "datetime"
    return kind


def _kind_of_objects(column):
    values = column.head(100).tolist()
    first = next((value for value in values if not is_missing(value)), None)
    if isinstance(first, dt.datetime):
        return "datetime"
    for type_, kind in (
        (dt.date, "date"),
        (dt.time, "time"),
        (dt.timedelta, "duration"),
    ):
        if isinstance(first, type_):
            return kind
    return None


def as_days(column):
    """Dates, moments, times or durations as days; NaN where one is missing.

    Parameters
    ----------
    column : array, or column of a pandas or polars frame

    Examples
    --------
    >>> as_days(np.array(["2024-03-01", "NaT"], "datetime64[D]")).tolist()
    [19783.0, nan]
    """
    if hasattr(column, "dt") and hasattr(column, "iloc"):
        if getattr(column.dtype, "tz", None) is not None:
            column = column.dt.tz_localize(None)
        column = column.to_numpy()
    elif hasattr(column, "to_physical"):
        return _polars_days(column)
    kind = column.dtype.kind
    parts = column.astype(f"{kind}8[us]")
    return np.where(np.isnat(parts), np.nan, parts.astype(np.int64) / MICROSECONDS)


def _polars_days(column):
    if "time_zone" in str(column.dtype) and column.dtype.time_zone is not None:
        column = column.dt.replace_time_zone(None)
    kind = str(column.dtype).split("(")[0]
    unit = {"Date": 1.0, "Time": 86_400e9}.get(kind)
    if unit is None:
        unit = 86_400 * {"ms": 1e3, "us": 1e6, "ns": 1e9}[column.dtype.time_unit]
    return column.to_physical().cast(float).fill_null(float("nan")).to_numpy() / unit


def object_as_days(value):
    """A date, moment, time or duration of Python or numpy as days; others as they are.

    Examples
    --------
    >>> object_as_days(dt.date(2024, 3, 1)), object_as_days(dt.time(6))
    (19783.0, 0.25)
    """
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(as_days(np.asarray([value]))[0])
    if isinstance(value, dt.datetime):
        value = value.replace(tzinfo=None) - dt.datetime(1970, 1, 1)
    elif isinstance(value, dt.date):
        value = value - dt.date(1970, 1, 1)
    elif isinstance(value, dt.time):
        value = dt.datetime.combine(dt.date(1970, 1, 1), value.replace(tzinfo=None))
        value = value - dt.datetime(1970, 1, 1)
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    return value


def column_kinds(X):
    """For each column of a frame what `days_kind` says; None for anything else."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return None
    if hasattr(X, "iloc"):
        columns = (X.iloc[:, j] for j in range(X.shape[1]))
    else:
        columns = (X.to_series(j) for j in range(X.shape[1]))
    return tuple(days_kind(column) for column in columns)


def dates_as_days(X, kinds):
    """A table with numbers of days for dates and times in columns that have a kind.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
    kinds : sequence of (str or None)
        One for each column; dates in others are left as they are.
    """
    places = [j for j, kind in enumerate(kinds) if kind in MADE_OF_DAYS]
    if hasattr(X, "iloc"):
        X = X.copy(deep=False)
        for j in places:
            X.isetitem(j, _pandas_days(X.iloc[:, j]))
        return X
    if hasattr(X, "to_series"):
        series = [X.to_series(j) for j in places]
        made = [type(s)(s.name, as_days(s)) for s in series if _has_dates(s)]
        return X.with_columns(made) if made else X
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "OmM":
        return X
    if X.dtype.kind in "mM":
        return as_days(X)
    X = X.copy()
    for j in places:
        X[:, j] = [object_as_days(value) for value in X[:, j]]
    return X


def _has_dates(series):
    return str(series.dtype).split("(")[0] in POLARS


def _pandas_days(column):
    if column.dtype.kind in "mM":
        return as_days(column)
    if column.dtype.kind == "O":
        return column.map(object_as_days, na_action="ignore")
    return column


MOST_CELLS = 2**30  # of a sparse matrix that is written out, 8 bytes each


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
            "comes more than once. Rename or drop the repeated columns."
        )
    return names


def as_dense(X):
    """X with a cell for each zero, if it is a sparse matrix; else as it is."""
    if not sparse.issparse(X):
        return X
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        raise ValueError(
            f"A sparse X must have at most {MOST_CELLS:,} cells, zeros included; it "
            f"has {X.shape[0]} rows and {X.shape[1]} columns. Pass fewer rows, or only "
            "the columns that the ensemble uses."
        )
    return X.toarray()


def take_rows(values, rows):
    """Some rows of an array or a frame, in the order given; None stays None.

    Examples
    --------
    >>> take_rows([10, 20, 30], np.array([2, 0])).tolist()
    [30, 10]
    """
    if values is None:
        return None
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if column_names(values) is not None:
        return values[rows.tolist()]
    return np.asarray(values)[rows]


def select_columns(X, names):
    """The columns of a frame that have these names, in this order.

    Anything else, and a frame that has not all of them, comes back as it is.

    Parameters
    ----------
    X : array-like or data frame
    names : sequence of str
    """
    there = column_names(X)
    if there is None or not len(names) or there == tuple(names):
        return X
    place = {name: j for j, name in enumerate(there)}
    if not set(names) <= set(place):
        return X
    places = [place[name] for name in names]
    return X.iloc[:, places] if hasattr(X, "iloc") else X[:, places]


def category_lists(X):
    """For each column of a frame its tuple of categories, or None where it is numeric.

    Columns of text count as categorical, with their distinct values in sorted order. A
    polars Categorical has no list of its own, so it counts as text.
    """
    if not _is_frame(X):
        return None
    names = column_names(X)
    return tuple(
        categories_of(frame_column(X, j, name)) for j, name in enumerate(names)
    )


def ordered_categories(X):
    """For each column of a frame its categories if they have an order, else None.

    Those of pandas say whether they have one; an Enum of polars has.
    """
    if not _is_frame(X):
        return None
    lists = []
    for dtype in X.dtypes:
        is_ordered = getattr(dtype, "ordered", False)
        if type(dtype).__name__ == "Enum" or (str(dtype) == "category" and is_ordered):
            lists.append(tuple(dtype.categories))
        else:
            lists.append(None)
    return tuple(lists)


def read_matrix(
    X, names=None, categories=None, what="the ensemble", kinds=None, needed=None
):
    """X as a float64 array of shape (n_samples, n_features), categories as positions.

    The array is a new one, whatever X is. Columns of a frame are taken by their names,
    in whatever order they stand; it may have others too.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
    names : sequence of str, optional
        Names that the columns of a frame must have. The names "x1", "x2", ... of an
        ensemble that saw no names, and the integers of a frame without names, are not
        compared.
    categories : sequence of (tuple or None), optional
        For each column its categories, or None where it is numeric. Categories are
        compared by value: 2.0 is 2, and True is 1.
    what : str
        Who saw these columns first, for the messages.
    kinds : sequence of (str or None), optional
        For each column whether it has dates or times, which become days; those of
        other columns are refused.
    needed : collection of int, optional
        Columns that a frame must have, all by default; others may be NaN.

    Examples
    --------
    >>> read_matrix([["b", 1.0], ["z", 2.0]], categories=(("a", "b"), None)).tolist()
    [[1.0, 1.0], [2.0, 2.0]]
    """
    X = as_dense(X)
    if _is_frame(X):
        columns = _frame_columns(X, names, kinds, what, needed)
        n_rows, n_columns = len(X), len(columns)
    else:
        X = _plain_array(X)
        columns, (n_rows, n_columns) = None, X.shape
    for given in (names, categories):
        if given is not None and n_columns != len(given):
            raise ValueError(
                f"X has {n_columns} features, but {what} saw {len(given)}. Give these, "
                "in their order; of a data frame they are taken by name."
            )
    if columns is None:
        X = X if kinds is None else dates_as_days(X, kinds)
        if X.dtype.kind in NUMBER_KINDS and not _any(categories):
            return X.astype(np.float64, order="C")
        columns = _array_columns(X, names, categories)
    matrix = np.full((n_rows, n_columns), np.nan)
    for j, column in enumerate(columns):
        labels = None if categories is None else categories[j]
        if column is not None:
            matrix[:, j] = (
                as_numbers(column) if labels is None else as_positions(column, labels)
            )
    return matrix


def _frame_columns(X, names, kinds, what, needed):
    """The columns of a frame in the order of the names; None for one not needed."""
    frame_names = column_names(X)
    places = _find_columns(X, frame_names, names, what, needed)
    if kinds is not None and len(kinds) == len(places):
        by_place = dict(zip(places, kinds, strict=True))
        X = dates_as_days(X, [by_place.get(j) for j in range(len(frame_names))])
    return _Columns(
        lambda j: (
            None
            if places[j] is None
            else frame_column(X, places[j], frame_names[places[j]])
        ),
        len(places),
    )


def _array_columns(X, names, categories):
    """The columns of an array."""
    names = names or range(1, X.shape[1] + 1)
    labels = categories or [None] * X.shape[1]
    return _Columns(
        lambda j: array_column(X[:, j], names[j], labels[j], _any(categories)),
        X.shape[1],
    )


class _Columns:
    """Columns that are made one after the other, so that one is held at a time."""

    def __init__(self, make, n_columns):
        self.make = make
        self.n_columns = n_columns

    def __len__(self):
        return self.n_columns

    def __iter__(self):
        return map(self.make, range(self.n_columns))


def check_finite(matrix, names):
    """Raise if a float64 matrix holds infinite values; missing values are allowed.

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
            "Input X contains infinity or a value too large for dtype('float64'); "
            f"{listed([names[j] for j in infinite])} must hold finite numbers or NaN. "
            "Replace or drop these values."
        )


def feature_index(which, names, what="features"):
    """The number of a feature given by name or by number; it may count from the end.

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
        f"{message}. Give names or numbers of {len(names)} features, among them "
        f"{listed(names)}."
    )


def listed(items):
    """The items for a message, cut after five.

    Examples
    --------
    >>> listed("abcdefg")
    "'a', 'b', 'c', 'd', 'e', …"
    """
    items = list(items)
    return ", ".join(repr(item) for item in items[:5]) + (", …" if items[5:] else "")


def nearest(name, names):
    """A guess at the name that was meant, or all names; the end of a sentence."""
    near = near_name(name, names)
    return f"it has {listed(names)}." if near is None else f"did you mean {near!r}?"


def near_name(name, names):
    """The name that was meant, such as "Records" by "Record"; None if there is none."""
    if not isinstance(name, str):
        return None
    lower = {other.lower(): other for other in names if isinstance(other, str)}
    if name.lower() in lower:
        return lower[name.lower()]
    near = difflib.get_close_matches(name, list(lower.values()), n=1, cutoff=0.6)
    return near[0] if near else None


def _any(categories):
    return categories is not None and any(known is not None for known in categories)


def _is_frame(X):
    kind = type(X)
    package = kind.__module__.split(".")[0]
    # Asked first, because a lazy frame warns when it is asked for its columns.
    for name, wanted, remedy in (
        ("polars", "LazyFrame", "collect()"),
        ("dask", None, "compute()"),
        ("pyarrow", None, "to_pandas()"),
    ):
        if package.startswith(name) and wanted in (None, kind.__name__):
            raise TypeError(
                "A table in memory is needed, as an array or a pandas or polars frame; "
                f"got {package}.{kind.__name__}. Pass X.{remedy} instead."
            )
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _find_columns(X, frame_names, names, what, needed):
    """For each name the place of its column in a frame; None if it need not be there.

    Where names are not compared, columns are taken as they stand.
    """
    if names is None or tuple(names) == frame_names:
        return range(len(frame_names))
    place = {name: j for j, name in enumerate(frame_names)}
    missing = [
        name
        for j, name in enumerate(names)
        if name not in place and (needed is None or j in needed)
    ]
    if not missing and (needed or place.keys() >= set(names)):
        return [place.get(name) for name in names]
    is_unnamed = all(isinstance(name, Integral) for name in X.columns)
    has_default = tuple(names) == tuple(f"x{j + 1}" for j in range(len(names)))
    # LightGBM writes an underscore for each space in the names that it saw.
    has_spaces = tuple(names) == tuple(name.replace(" ", "_") for name in frame_names)
    if is_unnamed or has_default or has_spaces or not missing:
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
    if isinstance(X, np.ma.MaskedArray):
        X = X.astype(object).filled(np.nan)
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            # Mixed lists keep what they hold; numpy would turn numbers into text.
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
        remedy = "Stack it into a table with one row for each sample."
        if array.ndim < 2:
            remedy = (
                "Reshape your data either using array.reshape(-1, 1) if it has a "
                "single feature or array.reshape(1, -1) if it contains a single sample."
            )
        raise ValueError(
            f"X must have rows and columns; got {type(X).__name__} of shape "
            f"{array.shape}. {remedy}"
        )
    return array
