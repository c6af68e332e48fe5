"""The kernels that look at sums by column and code, in numpy; see `kernels`."""

import numpy as np

__all__ = ["plain_best_cuts", "plain_condition_values"]


def plain_condition_values(sums, n_codes, prices, name_prices, is_set):
    """Gain of the rows that the best condition on every column accepts, less its price.

    Parameters
    ----------
    sums : float64 array of shape (n_columns, width)
        What `gain_sums` gave.
    n_codes : int array of shape (n_columns,)
        The sum of missing values stands at this place.
    prices : float64 array of shape (n_columns,)
        Of each finite side of an interval, and of a set with its first category.
    name_prices : float64 array of shape (n_columns,)
        Of every further category that a set names.
    is_set : bool array of shape (n_columns,)

    Returns
    -------
    float64 array of shape (n_columns,)
    """
    n_columns, width = sums.shape
    rows, place = np.arange(n_columns), np.arange(width)[None, :]
    missing = sums[rows, n_codes]
    reached = np.cumsum(sums, axis=1)
    total = np.where(n_codes > 0, reached[rows, n_codes - 1], 0.0)
    bonus = np.maximum(missing, 0.0)
    # reached[:, i] is the gain up to code i; a cut after it if it is not the last.
    is_no_cut = place >= (n_codes - 1)[:, None]
    low = np.where(is_no_cut, np.inf, reached)
    high = np.where(is_no_cut, -np.inf, reached)
    lowest, highest = low.min(axis=1), high.max(axis=1)
    whole = total + missing
    only_missing = np.where(missing != 0, missing - prices, -np.inf)
    options = (
        whole,
        total - lowest + bonus - prices,  # x > t
        highest + bonus - prices,  # x <= t
        total - prices,  # not missing
        only_missing,
    )
    value = np.maximum.reduce(options)
    # No interval gains more than from the lowest to the highest, wherever they are.
    inner = np.flatnonzero((highest - lowest + bonus - 2 * prices > value) & ~is_set)
    if len(inner):
        before = np.minimum.accumulate(low[inner], axis=1)[:, :-1]
        between = (high[inner, 1:] - before).max(axis=1, initial=-np.inf)
        between = between + bonus[inner] - 2 * prices[inner]
        value[inner] = np.maximum(value[inner], between)
    if is_set.any():
        present = np.where(place < n_codes[:, None], sums, 0.0)[is_set]
        chosen = _set_values(present, name_prices[is_set], n_codes[is_set])
        chosen = chosen + bonus[is_set] - prices[is_set]
        options = chosen, whole[is_set], only_missing[is_set]
        value[is_set] = np.maximum.reduce(options)
    return value


def _set_values(sums, name_price, n_codes):
    """Gain of the best set of every column, less its names after the first.

    The first name is free, and a set without codes is none.
    """
    is_code = np.arange(sums.shape[1])[None, :] < n_codes[:, None]
    rows = np.arange(len(sums))
    inside = sums > name_price[:, None]
    outside = sums < -name_price[:, None]
    highest = np.where(is_code, sums, -np.inf).argmax(axis=1)
    lowest = np.where(is_code, sums, np.inf).argmin(axis=1)
    outside[rows, lowest] |= sums[rows, lowest] < 0
    inside[rows, highest], outside[rows, highest] = True, False
    values = []
    for named in (inside, is_code & ~outside):
        gained = np.cumsum(np.where(named, sums, 0.0), axis=1)[:, -1]
        n_inside = np.count_nonzero(named, axis=1)
        n_named = np.minimum(n_inside, n_codes - n_inside)
        values.append(gained - name_price * np.maximum(n_named - 1, 0))
    return np.maximum(*values)


def plain_best_cuts(sums, n_codes, prices):
    """For each column the cut whose rows are worth most to a new rule of their own.

    Parameters
    ----------
    sums : float64 array of shape (2 + n_outputs, n_columns, width)
        Of the three terms of `SquaredLoss.new_rule_terms` by column and code: the
        constant, the quadratic and the linear ones.
    n_codes : int array of shape (n_columns,)
    prices : float64 array of shape (n_columns, width)
        Nats for a condition that ends at each code.

    Returns
    -------
    value : float64 array of shape (n_columns,)
        Nats, less the price; -inf if there is no cut.
    cut : int array of shape (n_columns,)
        The last code below.
    is_low : bool array of shape (n_columns,)
        Whether the new rule takes the rows below.
    """
    n_columns, width = sums.shape[1:]
    place = np.arange(width)[None, :]
    reached = np.cumsum(np.where(place < n_codes[:, None], sums, 0.0), axis=2)
    parts = reached, reached[:, :, -1:] - reached
    low, high = (_worth(part[0], part[1], part[2:]) for part in parts)
    is_cut = place < (n_codes - 1)[:, None]
    value = np.where(is_cut, np.maximum(low, high) - prices, -np.inf)
    every, cut = np.arange(n_columns), value.argmax(axis=1)
    is_low = is_cut[every, cut] & (low[every, cut] >= high[every, cut])
    return value[every, cut], cut, is_low


def _worth(constant, quadratic, linear):
    """What rows gain by the best mean, from sums of the three terms."""
    return constant + (linear**2).sum(axis=0) / np.maximum(quadratic, 1e-300)
