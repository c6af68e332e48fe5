"""A user's table as one float64 matrix.

Every later step sees numbers only: a numeric column as it is, a categorical column as
positions in its list of categories, a missing value as NaN. A category that is not in
the list gets the position after the last one.
"""

import difflib
from numbers import Integral

import numpy as np
from scipy import sparse

from defragtrees.columns import (
    NUMBER_KINDS,
    array_column,
    as_numbers,
    as_positions,
    categories_of,
    frame_column,
)
from defragtrees.dates import dates_as_days

__all__ = [
    "as_dense",
    "category_lists",
    "check_finite",
    "column_names",
    "feature_index",
    "listed",
    "near_name",
    "nearest",
    "ordered_categories",
    "read_matrix",
    "select_columns",
    "take_rows",
]

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
