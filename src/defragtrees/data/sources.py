"""Sources of rows: tables in memory, memory maps, files, iterators, Dask.

A source yields its rows in parts, each a table with its labels and weights. Only a few
parts are in memory at a time.
"""

import contextlib
import dataclasses
import os
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np

from defragtrees._utils.formatting import nearest
from defragtrees.data.shards import LocalShards, in_order, joined
from defragtrees.outcomes.base import n_columns
from defragtrees.tables import (
    as_dense,
    check_length,
    column_names,
    n_rows_of,
    one_column,
    reject_mask,
    relative_weight,
    select_columns,
    slice_rows,
    stacked,
)

MANY_ROWS = 100_000  # with more rows, only codes are kept
PART_ROWS = 2**16  # rows per part, if the source can choose


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows as given by the user: a table, and its labels and weights if any."""

    X: Any
    y: Any = None
    sample_weight: Any = None


def open_source(X, y=None, sample_weight=None):
    """Open a source of rows.

    X is an array, a data frame, the path of a file (CSV, JSON lines, Parquet, Feather)
    or of a folder of Parquet files, an iterator of tables, or a Dask collection; with a
    file, y and weights are names of columns.
    """
    if is_dask(X):
        return import_module("defragtrees.data.dask").DaskSource(X, y, sample_weight)
    if isinstance(X, (str, os.PathLike)):
        return import_module("defragtrees.data.files").FileSource(X, y, sample_weight)
    if hasattr(X, "__next__"):
        return IteratorSource(X, y, sample_weight)
    source = TableSource(X, y, sample_weight)
    if source.sample_weight is not None:
        with contextlib.suppress(
            TypeError, ValueError
        ):  # what is no number is rejected later
            weight = np.asarray(source.sample_weight, dtype=np.float64)
            source.sample_weight = relative_weight(weight)
    return source


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection."""
    return type(X).__module__.split(".")[0].startswith("dask")


def with_exposure(X: Any, y: Any, exposure: Any = None) -> tuple[Any, Any]:
    """X, and y with the exposure beside it; each 1 where there is none.

    The exposure is an array, or the name of a column, which X is then without.
    """
    if y is None and exposure is not None:
        raise ValueError("exposure needs y, the number of events of each row.")
    if isinstance(X, str | os.PathLike):
        return X, (y if exposure is None else (y, exposure))
    y = y if hasattr(y, "shape") else np.asarray(y)
    is_one = n_columns(y) == 1
    if exposure is None and not is_one:
        return X, y
    if hasattr(X, "__next__"):
        raise ValueError(
            "With an iterator of tables, exposure must be the second column of y; let "
            "it yield (X, y) with y of the columns events and exposure."
        )
    if isinstance(exposure, str):
        names = list(X.columns) if is_dask(X) else column_names(X) or ()
        if exposure not in names:
            raise ValueError(
                "exposure must be one number per row, or a column of X; X has no "
                f"column {exposure!r}; {nearest(exposure, names)}"
            )
        others = [name for name in names if name != exposure]
        rest = X[others] if is_dask(X) else select_columns(X, others)
        X, exposure = rest, X[exposure]
    if not is_one:
        raise ValueError(
            "With exposure, y must have one column, the number of events; got "
            f"{n_columns(y)}."
        )
    if is_dask(X):
        return X, import_module("defragtrees.data.dask").beside(y, exposure)
    events = one_column(y, warn=True)
    exposure = np.ones(len(events)) if exposure is None else np.asarray(exposure)
    if exposure.ndim != 1:
        raise ValueError(
            f"exposure must be one number per row; got the shape {exposure.shape}."
        )
    check_length(len(events), len(exposure), "exposure")
    kinds = [("events", events.dtype), ("exposure", exposure.dtype)]
    both = np.empty(len(events), dtype=kinds)  # whose names say what they are
    both["events"], both["exposure"] = events, exposure
    return X, both


class Source:
    """Rows that are read by this machine."""

    is_in_memory = False
    has_labels = False

    def n_rows(self):
        """Number of rows; above MANY_ROWS it may be a lower bound."""
        raise NotImplementedError

    def parts(self):
        """Yield the rows in parts, in order."""
        raise NotImplementedError

    def first(self):
        """A part, for its names and types."""
        return next(iter(self.parts()))

    def select(self, names):
        """Read only these columns, in this order, if the source has names."""

    def expect(self, model, others=False):
        """Read the columns of a model as it needs them, and `others` if asked."""
        if not others:
            self.select(model.feature_names)

    def load(self):
        """Load the rows as a table in memory."""
        return table_of(list(self.parts()) or [self.first()])

    def encode(self, encode, n_jobs=None, watch=None):
        """Encode all rows; returns shards and the sum of their digests.

        `encode` turns a Part into its Shard and its digest, in `n_jobs` threads.
        `watch` is called with the number of rows of each part done.
        """
        shards, total = [], None
        for shard, digest in in_order(encode, self.parts(), n_jobs):
            shards.append(shard)
            total = digest if total is None else total + digest
            if watch is not None:
                watch(len(shard))
        return LocalShards(joined(shards, PART_ROWS), n_jobs), total

    def each(self, function, dtype=None, n_outputs=None):
        """Apply `function(X)` to every part; returns one array.

        A lazy source needs the `dtype` and number of columns (`n_outputs`) in advance.
        """
        parts = [function(part.X) for part in self.parts()]
        return np.concatenate(parts or [function(self.first().X[:0])])

    def total(self, function, n_jobs=None):
        """Sum `function(part)` over all parts, in order."""
        total = None
        for part in in_order(function, self.parts(), n_jobs):
            total = part if total is None else total + part
        return total


class TableSource(Source):
    """An array, a memory map or a data frame."""

    is_in_memory = True

    def __init__(self, X, y=None, sample_weight=None):
        self.X = as_dense(X)
        if isinstance(sample_weight, Number):
            sample_weight = np.full(self.n_rows(), float(sample_weight))
        self.y = self._checked_length(y, "y")
        self.sample_weight = self._checked_length(sample_weight, "sample_weight")
        self.has_labels = y is not None

    def _checked_length(self, values, role):
        """Check that there are as many labels or weights as rows."""
        if values is None:
            return None
        if not hasattr(values, "__len__"):
            values = np.asarray(values)
        reject_mask(values, role)
        if getattr(values, "shape", None) != ():
            check_length(self.n_rows(), len(values), role)
        return values

    def n_rows(self):
        """Number of rows."""
        return n_rows_of(self.X)

    def parts(self):
        """Yield slices, in order; a table with few rows is one part."""
        n_rows = self.n_rows()
        size = PART_ROWS if n_rows > MANY_ROWS else max(n_rows, 1)
        for start in range(0, max(n_rows, 1), size):
            rows = slice(start, min(start + size, n_rows))
            columns = self.X, self.y, self.sample_weight
            yield Part(*(slice_rows(column, rows) for column in columns))

    def first(self):
        """The first rows; all of a small table."""
        n_rows = 5 if self.n_rows() > MANY_ROWS else self.n_rows()
        return Part(slice_rows(self.X, slice(0, n_rows)))

    def expect(self, model, others=False):
        """Select the columns of a model of a data frame, if it has them all."""
        if not others:
            self.X = select_columns(self.X, model.feature_names)

    def load(self):
        """Return the table itself."""
        return self


def table_of(parts):
    """All rows of some parts as a table in memory."""
    names = ("X", "y", "sample_weight")
    return TableSource(*(stacked([getattr(p, name) for p in parts]) for name in names))


class IteratorSource(Source):
    """An iterator of tables, or of tuples of a table, its labels and its weights."""

    def __init__(self, tables, y=None, sample_weight=None):
        if y is not None or sample_weight is not None:
            raise ValueError(
                "With an iterator of tables, y and sample_weight must be None; let it "
                "yield (X, y) or (X, y, sample_weight)."
            )
        self.waiting = map(_as_part, tables)
        first = next(self.waiting, None)
        if first is None:
            raise ValueError("The iterator must yield at least one table; got none.")
        self.head, self.n_read = [first], len(first.X)
        while not self.n_read and (more := next(self.waiting, None)) is not None:
            # Empty tables are skipped, unless there is no other.
            self.head, self.n_read = [more], len(more.X)
        self.model = self.head[0]
        self.has_labels = self.model.y is not None
        self.names = ()

    def select(self, names):
        """Select these columns of data frames that have them all."""
        self.names = names

    def n_rows(self):
        """Number of rows read so far; it reads until just above MANY_ROWS."""
        while self.n_read <= MANY_ROWS and (more := next(self.waiting, None)):
            self.head.append(more)
            self.n_read += len(more.X)
        return self.n_read

    def first(self):
        """The first table."""
        return dataclasses.replace(
            self.model, X=select_columns(self.model.X, self.names)
        )

    def parts(self):
        """Yield the tables, large ones in slices; can be called once."""
        head, self.head = self.head, []
        for part in chain(head, self.waiting):
            for name in ("y", "sample_weight"):
                has = getattr(part, name) is not None
                if has != (getattr(self.model, name) is not None):
                    raise ValueError(
                        f"All tables of the iterator must come with {name}, or none; "
                        "got some with and some without."
                    )
            X = select_columns(part.X, self.names)
            yield from TableSource(X, part.y, part.sample_weight).parts()


def _as_part(item):
    """Convert an item of an iterator to a Part."""
    if isinstance(item, Part):
        return item
    part = Part(*item) if isinstance(item, tuple) and len(item) <= 3 else Part(item)
    if not hasattr(part.X, "shape") or len(part.X.shape) != 2:
        raise TypeError(
            "An iterator must yield arrays or data frames, or tuples (X, y) or "
            f"(X, y, sample_weight); got {type(part.X).__name__}."
        )
    reject_mask(part.y, "y")
    reject_mask(part.sample_weight, "sample_weight")
    return dataclasses.replace(part, X=as_dense(part.X))
