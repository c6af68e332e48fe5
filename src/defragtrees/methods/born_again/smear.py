"""Smearing: synthetic rows within a node, mixed from the values of training rows."""

import numpy as np

__all__ = ["base_weight", "smear"]


def smear(table, box, n_rows, replace_share, rng):
    """Synthetic rows in a box, as codes.

    A row starts as a copy of a training row, anywhere. Each of its values is, with
    probability `replace_share`, replaced by that of another training row within the
    box, drawn for that feature alone; a row that is outside in the end is rejected.
    Here no row is rejected and the law is the same: training rows are drawn with the
    probability that they would survive, and what lies outside is always replaced.

    Parameters
    ----------
    table : CodeTable
    box : dict from int to bool array
        For each column that is bounded, which of its codes are inside.
    n_rows : int
    replace_share : float
    rng : numpy.random.Generator

    Returns
    -------
    int array of shape (n_rows, n_columns)
    """
    # A fixed number of draws: weights and limits have no say in what comes after.
    draws = rng.random(n_rows)
    is_replaced = rng.random((n_rows, table.n_columns)) < replace_share
    places = rng.random((n_rows, table.n_columns))
    base = _pick(base_weight(table, box, replace_share), draws)
    base_codes = table.codes[base]
    other = _pick(table.weight, places)
    smeared = np.where(
        is_replaced, table.codes[other, np.arange(table.n_columns)], base_codes
    )
    for column, inside in box.items():
        start = table.starts[column]
        codes = slice(start, table.starts[column + 1])
        new = start + _pick(table.code_weight[codes] * inside, places[:, column])
        kept = inside[base_codes[:, column] - start] & ~is_replaced[:, column]
        smeared[:, column] = np.where(kept, base_codes[:, column], new)
    return smeared


def base_weight(table, box, replace_share):
    """Weight of each training row, times the probability that its smear survives."""
    n_outside = np.zeros(len(table.codes), dtype=np.intp)
    for column, inside in box.items():
        n_outside += ~inside[table.codes[:, column] - table.starts[column]]
    return table.weight * float(replace_share) ** n_outside


def _pick(weight, draws):
    """Places drawn by weight; a weight of two is the same as standing there twice."""
    reached = np.cumsum(weight)
    total = reached[-1]
    # A draw just below one may be rounded up to the total, where nobody stands.
    draws = np.minimum(draws * total, np.nextafter(total, 0))
    return np.searchsorted(reached, draws, side="right")
