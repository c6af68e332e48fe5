"""Loops of the numba engine for few rows, which stay in memory.

They add in the same order as the numpy engine, so that all numbers are the same.
"""

from numba import njit

from defragtrees.paper.engines._numba_kernels import (
    STEP,
    add,
    fill,
    load,
    number,
    store,
)

__all__ = ["STEP", "add_rows", "fill_masses", "fill_tables", "take_columns"]

LANES = (0,)  # one vector of STEP numbers; see `_numba_kernels`


@njit(nogil=True, cache=True)
def add_rows(ends, indices, dense, total):
    """total[r] = the rows of `dense` that line r of a sparse matrix names, added up.

    Parameters
    ----------
    ends : int array of shape (n_lines + 1,)
        Where the indices of each line begin, and where the last ones end.
    indices : int array
    dense, total : float64 arrays, flat, with STEP numbers in a row
    """
    for line in range(len(ends) - 1):
        own = fill(0.0, LANES)
        for at in range(ends[line], ends[line + 1]):
            own = add(own, load(dense, number(indices, at) * STEP, LANES))
        store(total, line * STEP, own)


@njit(nogil=True, cache=True)
def take_columns(dense, n_columns, start, part):
    """Put STEP columns of a table, from `start` on, side by side; both are flat.

    Of fewer columns, what follows them means nothing.
    """
    n_rows = len(part) // STEP
    width = min(STEP, n_columns - start)
    n_safe = min(max((len(dense) - start - STEP) // n_columns + 1, 0), n_rows)
    for row in range(n_safe):
        store(part, row * STEP, load(dense, row * n_columns + start, LANES))
    for row in range(n_safe, n_rows):
        for c in range(width):
            part[row * STEP + c] = dense[row * n_columns + start + c]


@njit(nogil=True, cache=True)
def fill_masses(bins, spans, floor, reached, above, below):
    """Responsibility above and below each statement, `floor` at least.

    All arrays are flat, so that the rows of a level are one run of numbers.

    Parameters
    ----------
    bins : float64 array of n_rows * n_columns numbers
    spans : int array of shape (n_levels + 1,)
        Where the numbers of each level begin, and where the last ones end.
    floor, reached : float64 arrays of n_features * n_columns numbers
        The least masses; work space.
    above, below : float64 arrays, as `bins` without its first level
        Outputs.
    """
    n_levels, first = len(spans) - 1, spans[1]
    reached[:] = 0.0
    for level in range(n_levels - 1, 0, -1):
        start, end = spans[level], spans[level + 1]
        # Views, whose places are seen to be none below 0: so loops become vectors.
        here, out = bins[start:end], above[start - first : end - first]
        for i in range(len(here)):
            mass = here[i] + reached[i]
            reached[i] = mass
            out[i] = floor[i] if mass < floor[i] else mass
    reached[:] = bins[:first]
    for level in range(1, n_levels):
        start, end = spans[level], spans[level + 1]
        here, out = bins[start:end], below[start - first : end - first]
        for i in range(len(here)):
            mass = reached[i]
            out[i] = floor[i] if mass < floor[i] else mass
            reached[i] = mass + here[i]


@njit(nogil=True, cache=True)
def fill_tables(above, below, weight, spans, base, extra, reached, table):
    """Tables from logarithms of the masses; all arrays are flat.

    Parameters
    ----------
    above, below : float64 arrays, as `table` without its first level
        Their logarithms.
    weight : float64 array, as these
        What each statement counts.
    spans : as for `fill_masses`
    base, extra, reached : float64 arrays of n_features * n_columns numbers
        Added to every code of a feature, one after the other; work space.
    table : float64 array of n_rows * n_columns numbers
        Output.
    """
    n_levels, first = len(spans) - 1, spans[1]
    reached[:] = 0.0
    for level in range(1, n_levels):
        start, end = spans[level] - first, spans[level + 1] - first
        low, own = below[start:end], weight[start:end]
        for i in range(len(own)):
            reached[i] += low[i] * own[i]
    for i in range(first):
        reached[i] = reached[i] + base[i] + extra[i]
    table[:first] = reached
    for level in range(1, n_levels):
        start, end = spans[level] - first, spans[level + 1] - first
        high, low, own = above[start:end], below[start:end], weight[start:end]
        out = table[start + first : end + first]
        for i in range(len(own)):
            mass = reached[i] + (high[i] * own[i] - low[i] * own[i])
            reached[i] = mass
            out[i] = mass
