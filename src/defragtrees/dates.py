"""Columns of dates and times as numbers of days, which can be compared and printed.

A date or a moment is the days since 1970-01-01, a time of day those since midnight; a
moment with a time zone counts by the clock of its zone. `labels.KINDS` prints them.
"""

import datetime as dt

import numpy as np

from defragtrees.columns import is_missing

__all__ = ["as_days", "column_kinds", "dates_as_days", "days_kind", "object_as_days"]

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
