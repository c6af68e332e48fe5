"""Numba loops over rows: their codes, and sums of trees over codes.

Indices are unsigned, which saves numba's test for negative ones.
"""

import numpy as np
from numba import njit

NONE, ONE = np.uint64(0), np.uint64(1)
TILE_ROWS = 256  # so that cells and sums of a tile stay in the cache
# A single bit times de Bruijn's number has a unique key in its upper six bits.
DE_BRUIJN = 0x03F79D71B4CB0A89
DE_BRUIJN_WORD = np.uint64(DE_BRUIJN)
PLACES = np.zeros(64, dtype=np.uint8)
for _bit in range(64):
    PLACES[(DE_BRUIJN << _bit & 2**64 - 1) >> 58] = _bit


@njit(cache=True, nogil=True)
def lowest_place(word):
    """The position of the lowest set bit of a non-zero unsigned word."""
    lowest = word & (~word + ONE)
    return np.uint64(PLACES[(lowest * DE_BRUIJN_WORD) >> np.uint64(58)])


@njit(cache=True, nogil=True)
def _n_below(splits, start, n_splits, x):
    """Number of sorted thresholds below x, by bisection without a branch."""
    place, size = start, n_splits
    while size > ONE:
        half = size >> ONE
        place += half * np.uint64(splits[place + half - ONE] < x)
        size -= half
    if size:
        place += np.uint64(splits[place] < x)
    return place - start


@njit(cache=True, nogil=True)
def _code_cells(cells, splits, start, n_bins, is_set, first, out, counts, low, high):
    """Codes of one column of a tile, and the digest of its bins.

    Returns whether all numbers are integers.
    """
    missing = n_bins - ONE
    is_integer = True
    for i in range(len(cells)):
        x = cells[i]
        if np.isnan(x):
            out[i] = missing
            counts[first + missing] += 1
            continue
        if is_set:
            code = min(np.uint64(x), missing - ONE)
        else:
            code = _n_below(splits, start, missing - ONE, x)
        out[i] = code
        place = first + code
        counts[place] += 1
        if x < low[place]:
            low[place] = x
        if x > high[place]:
            high[place] = x
        is_integer &= x == np.floor(x)
    return is_integer


@njit(cache=True, nogil=True)
def code_rows(
    matrix, splits, starts, firsts, n_bins, is_set, codes, counts, low, high, is_integer
):
    """Implement `encoding.compiled_bins`; bins of features are concatenated."""
    for begin in range(0, len(matrix), TILE_ROWS):
        tile = matrix[begin : begin + TILE_ROWS]
        out = codes[begin : begin + TILE_ROWS]
        for j in range(matrix.shape[1]):
            is_integer[j] &= _code_cells(
                *(tile[:, j], splits, starts[j], n_bins[j], is_set[j], firsts[j]),
                *(out[:, j], counts, low, high),
            )


@njit(cache=True, nogil=True)
def leaf_sums(codes, used, starts, rejects, ends, leaves, values, total):
    """Add the outputs of each tree to `total`, tree by tree; see `LeafWords`.

    The leaf of a row is the lowest one that none of its bins rejects.
    """
    words = np.empty(TILE_ROWS, dtype=np.uint64)
    for begin in range(0, len(codes), TILE_ROWS):
        cells = codes[begin : begin + TILE_ROWS]
        first = NONE
        for tree in range(len(ends)):
            words[:] = NONE
            for u in range(first, ends[tree]):
                j, start = used[u], starts[u]
                for i in range(len(cells)):
                    words[i] |= rejects[start + np.uint64(cells[i, j])]
            first = ends[tree]
            for i in range(len(cells)):
                leaf = leaves[tree] + lowest_place(~words[i])
                for output in range(total.shape[1]):
                    total[begin + i, output] += values[leaf, np.uint64(output)]
