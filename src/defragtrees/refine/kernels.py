"""The loops that the search spends its time in, in numpy; compiled where it can be.

`first_true` says who answers, `row_gains` what rows gain if a rule takes them,
`rejections` which conditions stand in their way; `gain_sums` adds up what rows gain, by
code of every column, `rule_gains` does these three in one pass, and `condition_values`
finds what the best condition on every column is worth. `compiled_kernels` holds the
same in numba. Both add in the order of rows and outputs, so they agree to the last bit.
"""

from functools import cache
from importlib import import_module

import numpy as np

__all__ = [
    "condition_values",
    "first_true",
    "gain_sums",
    "rejections",
    "row_gains",
    "rule_gains",
]


def plain_first_true(held, start):
    """Index of the first box, from `start` on, that accepts each row.

    Parameters
    ----------
    held : bool array of shape (n_boxes, n_rows)
    start : int

    Returns
    -------
    int array of shape (n_rows,)
        The number of boxes where none does.
    """
    n_boxes, n_rows = held.shape
    answering = np.full(n_rows, n_boxes)
    for k in range(n_boxes - 1, start - 1, -1):
        np.copyto(answering, k, where=held[k])
    return answering


def plain_row_gains(held, k, weight, target, means, spread, classes, answers, mistake):
    """What a list gains for each row if rule k takes it from the rules after it.

    Parameters
    ----------
    held : bool array of shape (n_boxes, n_rows)
    k : int
    weight : float64 array of shape (n_rows,)
    target : float64 array of shape (n_rows, n_outputs)
    means : float64 array of shape (n_rules, n_outputs)
        What each rule tells.
    spread : float
        Variance of the target around what is told.
    classes : int array of shape (n_rows,)
    answers : int array of shape (n_rules,)
        The class that each rule answers; none if classes do not matter.
    mistake : float
        Nats for a wrong class.

    Returns
    -------
    float64 array of shape (n_rows,)
        0 where a rule before k takes the row.
    """
    after = plain_first_true(held, k + 1)
    scale = weight / (2 * spread)

    def losses(rule):
        total = np.zeros(len(weight))
        for one, mean in zip(target.T, means.T, strict=True):
            residual = one - mean[rule]
            total += residual * residual
        total *= scale
        if len(answers):
            total += (answers[rule] != classes) * (mistake * weight)
        return total

    return np.where(held[:k].any(axis=0), 0.0, losses(after) - losses(k))


def plain_rejections(codes, columns, accepted):
    """Which conditions of a box stand in the way of each row.

    Parameters
    ----------
    codes : unsigned int array of shape (n_rows, n_columns)
    columns : int array of shape (n_conditions,)
    accepted : bool array of shape (n_conditions, width)
        By code.

    Returns
    -------
    n_rejecting : uint8 array of shape (n_rows,)
        How many conditions do not accept the row.
    rejecting : int array of shape (n_rows,)
        The column of the last of them, 0 if there is none.
    """
    n_rejecting = np.zeros(len(codes), dtype=np.uint8)
    rejecting = np.zeros(len(codes), dtype=np.intp)
    for j, mask in zip(columns, accepted, strict=True):
        rejects = ~mask[codes[:, j]]
        n_rejecting += rejects
        rejecting[rejects] = j
    return n_rejecting, rejecting


def plain_gain_sums(codes, gain, n_rejecting, rejecting, width):
    """Sums of a number per row by column and code.

    Parameters
    ----------
    codes : unsigned int array of shape (n_rows, n_columns)
    gain : float64 array of shape (n_rows,)
    n_rejecting : uint8 array of shape (n_rows,)
        How many conditions of a box do not accept the row.
    rejecting : int array of shape (n_rows,)
        The column of one of them.
    width : int
        Largest number of codes of a column, missing included.

    Returns
    -------
    float64 array of shape (n_columns, width)
        For each column the sums over the rows that all conditions of the box on other
        columns accept.
    """
    n_columns = codes.shape[1]
    has_gain = gain != 0
    inside = np.flatnonzero(has_gain & (n_rejecting == 0))
    sums = _all_columns(codes[inside], gain[inside], width)
    nearly = np.flatnonzero(has_gain & (n_rejecting == 1))
    if not len(nearly):
        return sums
    for j in np.unique(rejecting[nearly]):
        rows = has_gain & ((n_rejecting == 0) | ((n_rejecting == 1) & (rejecting == j)))
        sums[j] = np.bincount(codes[rows, j], gain[rows], width)
    return sums.reshape(n_columns, width)


def _all_columns(codes, gain, width):
    n_columns = codes.shape[1]
    place = codes + width * np.arange(n_columns)
    weights = np.repeat(gain, n_columns)
    sums = np.bincount(place.ravel(), weights, n_columns * width)
    # Without rows numpy counts in whole numbers.
    return sums.astype(np.float64).reshape(n_columns, width)


def plain_rule_gains(
    held,
    k,
    weight,
    target,
    means,
    spread,
    classes,
    answers,
    mistake,
    codes,
    columns,
    accepted,
    width,
):
    """The sums of `gain_sums` for rule k, and what each row in its box gains.

    The arguments are those of `row_gains`, `rejections` and `gain_sums`.
    """
    terms = weight, target, means, spread, classes, answers, mistake
    gain = plain_row_gains(held, k, *terms)
    n_rejecting, rejecting = plain_rejections(codes, columns, accepted)
    sums = plain_gain_sums(codes, gain, n_rejecting, rejecting, width)
    return sums, gain[n_rejecting == 0]


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
    place = np.arange(width)[None, :]
    missing = sums[np.arange(n_columns), n_codes]
    present = np.where(place < n_codes[:, None], sums, 0.0)
    reached = np.cumsum(present, axis=1)
    total = reached[:, -1]
    bonus = np.maximum(missing, 0.0)
    # reached[:, i] is the gain up to code i; a cut after it if it is not the last.
    is_cut = place < (n_codes - 1)[:, None]
    low = np.where(is_cut, reached, np.inf)
    high = np.where(is_cut, reached, -np.inf)
    before = np.minimum.accumulate(low, axis=1)[:, :-1]
    between = (high[:, 1:] - before).max(axis=1, initial=-np.inf)
    options = (
        total + missing,
        total - low.min(axis=1) + bonus - prices,  # x > t
        high.max(axis=1) + bonus - prices,  # x <= t
        between + bonus - 2 * prices,
        total - prices,  # not missing
        np.where(missing != 0, missing - prices, -np.inf),  # missing
    )
    value = np.maximum.reduce(options)
    if is_set.any():
        chosen = _set_values(present[is_set], name_prices[is_set], n_codes[is_set])
        chosen = chosen + bonus[is_set] - prices[is_set]
        options = chosen, options[0][is_set], options[-1][is_set]
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


@cache
def _kernel(name):
    """A loop, compiled if numba can be imported; that waits until now."""
    try:
        return getattr(import_module("defragtrees.refine.compiled_kernels"), name)
    except ImportError:
        return globals()[f"plain_{name}"]


def first_true(held, start=0):
    """See `plain_first_true`."""
    return _kernel("first_true")(held, start)


def row_gains(*arguments):
    """See `plain_row_gains`."""
    return _kernel("row_gains")(*arguments)


def rejections(*arguments):
    """See `plain_rejections`."""
    return _kernel("rejections")(*arguments)


def gain_sums(*arguments):
    """See `plain_gain_sums`."""
    return _kernel("gain_sums")(*arguments)


def rule_gains(*arguments):
    """See `plain_rule_gains`."""
    return _kernel("rule_gains")(*arguments)


def condition_values(*arguments):
    """See `plain_condition_values`."""
    return _kernel("condition_values")(*arguments)
