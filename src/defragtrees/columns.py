"""One column of a table, from pandas, polars or numpy.

A column arrives as float64 numbers, as a plain list of values, or as codes of labels;
`frame_column` and `array_column` are the only places that tell the libraries apart.
"""

from dataclasses import dataclass

import numpy as np

__all__ = [
    "NUMBER_KINDS",
    "Column",
    "array_column",
    "as_numbers",
    "as_positions",
    "categories_of",
    "frame_column",
    "is_missing",
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
