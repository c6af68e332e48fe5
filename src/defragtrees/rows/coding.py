"""From numbers to codes, and from codes to other codes; what is known of each bin."""

import dataclasses
from dataclasses import dataclass
from importlib import import_module

import numpy as np

__all__ = ["BinRanges", "compiled_bins", "plain_bins", "recode"]

TILE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class BinRanges:
    """What rows say of the bins of each feature.

    Parameters
    ----------
    counts : list of int array
        For each feature the number of rows in each bin.
    low, high : list of float64 array
        The smallest and the largest value in each bin.
    is_integer : bool array of shape (n_features,)
        Features in which no row has a fraction.
    """

    counts: list[np.ndarray]
    low: list[np.ndarray]
    high: list[np.ndarray]
    is_integer: np.ndarray


def plain_bins(grid, matrix):
    """The codes of rows and what they say of bins.

    Parameters
    ----------
    grid : ThresholdGrid
    matrix : float64 array of shape (n_samples, n_features)

    Returns
    -------
    codes : unsigned int array of shape (n_samples, n_features), C order
    bins : BinRanges
    """
    codes = np.empty(matrix.shape, dtype=grid.dtype)
    # So few rows at a time that they stay in the cache.
    for start in range(0, len(matrix), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        codes[rows] = grid.bin(matrix[rows]).codes
    counts, low, high = [], [], []
    for j, n_bins in enumerate(grid.n_bins):
        column = codes[:, j]
        counts.append(np.bincount(column, minlength=n_bins))
        low.append(np.full(n_bins, np.inf))
        high.append(np.full(n_bins, -np.inf))
        # Sorted, which lets other threads work; NaN has a bin of its own, the last.
        present = np.flatnonzero(counts[-1][:-1])
        values = matrix[np.argsort(column, kind="stable"), j]
        if len(present):
            starts = (np.cumsum(counts[-1]) - counts[-1])[present]
            values = values[: counts[-1][:-1].sum()]
            low[-1][present] = np.minimum.reduceat(values, starts)
            high[-1][present] = np.maximum.reduceat(values, starts)
    columns = (matrix[:, j] for j in range(matrix.shape[1]))
    is_integer = np.array([_has_no_fraction(column) for column in columns], bool)
    return codes, BinRanges(counts, low, high, is_integer)


def _has_no_fraction(column):
    return bool(((column == np.floor(column)) | np.isnan(column)).all())


def compiled_bins(grid, matrix):
    """`plain_bins` by compiled loops, in one visit to each cell; needs numba."""
    kernels = import_module("defragtrees.rows.compiled_rows")
    codes = np.empty(matrix.shape, dtype=grid.dtype)
    n_bins = grid.n_bins
    is_set = np.array([own.ndim == 2 for own in grid.splits], dtype=bool)
    splits = [own if own.ndim == 1 else np.empty(0) for own in grid.splits]
    starts, firsts = (_starts(sizes) for sizes in (map(len, splits), n_bins))
    n_places = int(n_bins.sum())
    counts = np.zeros(n_places, dtype=np.int64)
    low, high = np.full(n_places, np.inf), np.full(n_places, -np.inf)
    is_integer = np.ones(grid.n_features, dtype=bool)
    kernels.code_rows(
        np.ascontiguousarray(matrix),
        np.concatenate([np.empty(0), *splits]),
        *(starts, firsts, n_bins.astype(np.uint64), is_set),
        *(codes, counts, low, high, is_integer),
    )
    parts = (np.split(own, np.cumsum(n_bins)[:-1]) for own in (counts, low, high))
    return codes, BinRanges(*parts, is_integer)


def _starts(sizes):
    """Where each of some arrays begins if they stand one after the other."""
    sizes = np.array([*sizes], dtype=np.intp)
    return (np.cumsum(sizes) - sizes).astype(np.uint64)


def recode(shard, tables, dtype, compiled=False):
    """The shard with other codes.

    Parameters
    ----------
    shard : Shard
    tables : list of int array
        For each feature the new code of each old one.
    dtype : numpy dtype
        Of the new codes.
    compiled : bool, default=False
        Whether by a compiled loop.
    """
    codes = np.empty(shard.codes.shape, dtype=dtype)
    if compiled:
        kernels = import_module("defragtrees.rows.compiled_rows")
        table = np.concatenate([np.empty(0, dtype), *tables]).astype(dtype)
        kernels.recode_rows(shard.codes, table, _starts(map(len, tables)), codes)
    else:
        for j, table in enumerate(tables):
            codes[:, j] = table[shard.codes[:, j]]
    return dataclasses.replace(shard, codes=codes)
