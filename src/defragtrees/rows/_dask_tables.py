"""A Dask array or data frame as blocks of rows, each with its labels and weights."""

import math

import numpy as np

from defragtrees._optional import require
from defragtrees.rows.sources import Part

dask = require("dask", "A Dask collection")
da = require("dask.array", "A Dask collection")

__all__ = [
    "applied",
    "blocks",
    "check_column",
    "check_equal",
    "check_table",
    "checked_part",
    "cut",
    "is_frame",
    "is_lazy",
    "known_lengths",
    "one_row",
]


def is_frame(values):
    """Whether this is a Dask data frame, or a column of one."""
    return hasattr(values, "divisions")


def is_lazy(values):
    """Whether this is a Dask array, data frame or column."""
    return isinstance(values, da.Array) or is_frame(values)


def known_lengths(X):
    """Number of rows of each block; None where Dask does not know."""
    if is_frame(X) or any(map(math.isnan, X.chunks[0])):
        return None
    return X.chunks[0]


def n_blocks(values):
    """Number of blocks of rows."""
    return values.npartitions if is_frame(values) else values.numblocks[0]


def check_table(X):
    """X with whole rows in each block, or an error that says what is wanted."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(
                f"X must have rows and columns; got a Dask array of shape {X.shape}. "
                "Reshape it to one row for each sample."
            )
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if is_frame(X) and X.ndim == 2:
        return X
    raise TypeError(
        "X must be a Dask array or a Dask data frame; got "
        f"{type(X).__module__.split('.')[0]} {type(X).__name__}."
    )


def check_column(values, X, role):
    """Labels or weights with the blocks of X; arrays in memory stay whole.

    Parameters
    ----------
    values : Dask array, Dask data frame column, array-like or None
    X : what `check_table` gave
    role : str
        "y" or "sample_weight".
    """
    if values is None:
        return None
    known = known_lengths(X)
    if not is_lazy(values):
        array = np.asarray(values)
        if array.ndim == 0:
            raise ValueError(f"{role} must have an entry for each row; got {values!r}.")
        if known is not None:
            check_equal(sum(known), len(array), role)
        return array
    with _kept_partitions():
        if is_frame(X) and not is_frame(values):
            values = require("dask.dataframe", "A data frame").from_dask_array(values)
        elif is_frame(values) and not is_frame(X):
            values = values.to_dask_array()
    if not is_frame(values):
        values = _whole_rows(values)
        theirs = known_lengths(values)
        if known is not None and theirs is not None:
            check_equal(sum(known), sum(theirs), role)
            return values.rechunk({0: known})
    if n_blocks(values) != n_blocks(X):
        raise ValueError(
            f"X and {role} must have equally many partitions where Dask does not know "
            f"their numbers of rows; got {n_blocks(X)} and {n_blocks(values)}. Take "
            "both from one collection, or repartition one of them."
        )
    return values


def _whole_rows(column):
    return column.rechunk({1: -1}) if column.ndim == 2 else column


def check_equal(n_rows, n_values, role):
    """Raise if there are not as many labels or weights as rows."""
    if n_rows != n_values:
        raise ValueError(
            f"X and {role} must have equally many rows; got {n_rows} and {n_values}."
        )


def checked_part(X, y, weight):
    """The rows of a block, or an error if it has more or fewer labels or weights."""
    for role, own in (("y", y), ("sample_weight", weight)):
        if own is not None and len(own) != len(X):
            raise ValueError(
                f"X and {role} must have equally many rows; got {len(X)} and "
                f"{len(own)} in a partition."
            )
    return Part(X, y, weight)


def cut(array, lengths, X, hold=None):
    """An array in memory as a Dask collection with the blocks of X.

    Parameters
    ----------
    array : array
    lengths : sequence of int
        Rows of each block.
    X : Dask array or data frame
    hold : callable, optional
        From a slice of the array to a Delayed of it. A graph should not hold more than
        a few megabytes, so where there is a cluster slices are sent one by one.
    """
    if hold is None:
        lazy = da.from_array(array, chunks=(tuple(lengths), *array.shape[1:]))
    else:
        ends = np.cumsum(lengths)[:-1]
        lazy = da.concatenate(
            [
                da.from_delayed(hold(own), own.shape, own.dtype)
                for own in np.split(array, ends)
            ]
        )
    if is_frame(X):
        return require("dask.dataframe", "A data frame").from_dask_array(lazy)
    return lazy


def blocks(function, X, y=None, weight=None, given=None):
    """The list of `function(X, y, weight, given)` of every block, to be computed.

    Where Dask can, as after `map_blocks`, it makes one task of a block's loading and
    `function`, so that no more blocks are in memory than there are threads.

    Parameters
    ----------
    function : callable
    X, y, weight : Dask collections with equally many blocks; y and weight may be None
    given : Delayed or None
        The same for all blocks.
    """
    if is_frame(X):
        with _kept_partitions():
            made = X.map_partitions(
                function,
                y,
                weight,
                given,
                meta=X._meta.iloc[:, :0],
                enforce_metadata=False,
                transform_divisions=False,
                clear_divisions=True,
            )
            return made.to_delayed()
    pairs = [(X, "ij")]
    for own in (y, weight):
        # A column vector has an axis of its own.
        pairs.append((None, None) if own is None else (own, "ik"[: own.ndim]))
    made = da.blockwise(
        function,
        "ij",  # with the axis of columns, as Dask joins no tasks where an axis goes
        *(item for pair in pairs for item in pair),
        given=given,
        align_arrays=False,
        concatenate=True,
        adjust_chunks={"j": 1},
        dtype=object,
        meta=np.empty((0, 0), dtype=object),
    )
    return made.to_delayed().ravel().tolist()


def _kept_partitions():
    # Else Dask may join partitions of X where fewer columns are read, and not of y.
    return dask.config.set({"optimization.tune.active": False})


def applied(function, X, dtype, n_outputs):
    """`function(block)` of every block, lazily, as a collection like X.

    Parameters
    ----------
    function : callable
        From rows to an array with an entry, or a row, for each of them.
    X : Dask array or data frame
    dtype : numpy dtype
        Of the array.
    n_outputs : int, optional
        Its number of columns, if it has two dimensions.

    Returns
    -------
    Dask array for a Dask array; for a data frame a Series, or a data frame if there is
    `n_outputs`, with the same index and divisions.
    """
    if is_frame(X):
        shape = (0,) if n_outputs is None else (0, n_outputs)
        meta = _indexed(np.empty(shape, dtype), X._meta.index[:0])
        return X.map_partitions(_on_frame, function, meta=meta)
    if n_outputs is None:
        kept = {"chunks": (X.chunks[0],), "drop_axis": 1}
    else:
        kept = {"chunks": (X.chunks[0], (n_outputs,))}
    meta = np.empty((0,) if n_outputs is None else (0, 0), dtype)
    return X.map_blocks(function, dtype=dtype, meta=meta, **kept)


def _on_frame(frame, function):
    return _indexed(function(frame), frame.index)


def _indexed(array, index):
    pandas = require("pandas", "A data frame")
    made = pandas.Series if array.ndim == 1 else pandas.DataFrame
    return made(array, index=index)


def one_row(X):
    """A row or two with the types of X, made up; None if types do not say enough."""
    kinds = [str(kind) for kind in (X._meta.dtypes if is_frame(X) else [X.dtype])]
    if "object" in kinds or "category" in kinds:
        return None
    return X._meta_nonempty if is_frame(X) else np.zeros((1, X.shape[1]), X.dtype)
