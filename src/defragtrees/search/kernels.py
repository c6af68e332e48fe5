"""The inner loops of the search in numpy, with compiled versions if numba is installed.

`first_true` says which rule matches, `first_true_again` does so after one box changed,
`row_gains` says what rows gain if a rule takes them, `rejections` which conditions
stand in their way; `gain_sums` adds up what rows gain, by code of every column, and
`rule_gains` does these three in one pass. `condition_values` finds what the best
condition on every column is worth, `best_cuts` the cut that is worth most to a new
rule, and `answered_sums` adds up what matched rows say.

Some of the definitions have the prefix `plain_`. Without it, the name is the loop
compiled by numba (`kernels_numba`), or the definition without numba. Both add in the
order of rows and outputs, and rows in a box before those near it, so they agree to the
last bit.
"""

from importlib import import_module

import numpy as np


def plain_condition_values(sums, n_codes, prices, name_prices, is_set, most_named):
    """Gain of the best condition on every column, less its price.

    `sums` are those of `gain_sums`, with missing values at `n_codes`. A price is
    that of each finite side of an interval, and of a set with its first category; a
    name price is that of every further category, up to `most_named`.
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
    # Upper bound of the gain of an interval: highest minus lowest.
    inner = np.flatnonzero((highest - lowest + bonus - 2 * prices > value) & ~is_set)
    if len(inner):
        before = np.minimum.accumulate(low[inner], axis=1)[:, :-1]
        between = (high[inner, 1:] - before).max(axis=1, initial=-np.inf)
        between = between + bonus[inner] - 2 * prices[inner]
        value[inner] = np.maximum(value[inner], between)
    if is_set.any():
        present = np.where(place < n_codes[:, None], sums, 0.0)[is_set]
        named = name_prices[is_set], n_codes[is_set], most_named
        chosen = _set_values(present, *named)
        chosen = chosen + bonus[is_set] - prices[is_set]
        options = chosen, whole[is_set], only_missing[is_set]
        value[is_set] = np.maximum.reduce(options)
    return value


def _set_values(sums, name_price, n_codes, most_named):
    """Gain of the best set of every column, less the price of names after the first.

    The first name is free; a set must not be empty, and not have too many names.
    """
    is_code = np.arange(sums.shape[1])[None, :] < n_codes[:, None]
    rows = np.arange(len(sums))
    inside = sums > name_price[:, None]
    outside = sums < -name_price[:, None]
    highest = np.where(is_code, sums, -np.inf).argmax(axis=1)
    lowest = np.where(is_code, sums, np.inf).argmin(axis=1)
    outside[rows, lowest] |= sums[rows, lowest] < 0
    inside[rows, highest], outside[rows, highest] = True, False
    for named, gain in ((inside, sums), (outside, -sums)):
        n_named = np.count_nonzero(named, axis=1)
        for j in np.flatnonzero(np.minimum(n_named, n_codes - n_named) > most_named):
            named[j] = largest(gain[j], named[j], most_named)
    values = []
    for named in (inside, is_code & ~outside):
        gained = np.cumsum(np.where(named, sums, 0.0), axis=1)[:, -1]
        n_inside = np.count_nonzero(named, axis=1)
        n_named = np.minimum(n_inside, n_codes - n_inside)
        values.append(gained - name_price * np.maximum(n_named - 1, 0))
    return np.maximum(*values)


def largest(values, among, n):
    """Mask of the n largest of some values, the first ones of equals.

    Examples
    --------
    >>> largest(np.array([1, 3, 2, 3]), np.array([True, True, True, False]), 2).tolist()
    [False, True, True, False]
    """
    order = np.argsort(np.where(among, -values, np.inf), kind="stable")
    return np.isin(np.arange(len(values)), order[:n])


def best_cuts(sums, n_codes, prices):
    """The cut of each column that is best for a new rule.

    `sums`, (2 + n_outputs, n_columns, width), are of the terms of
    `RuleLoss.new_rule_terms` by column and code: the constant, the quadratic and the
    linear ones. `prices` are nats for a condition that ends at each code. Returns for
    each column the nats less the price (-inf if there is no cut), the last code below,
    and whether the new rule takes the rows below.
    """
    n_columns, width = sums.shape[1:]
    place = np.arange(width)[None, :]
    reached = np.cumsum(np.where(place < n_codes[:, None], sums, 0.0), axis=2)
    parts = reached, reached[:, :, -1:] - reached
    # Gain of the rows on a side with the best mean.
    low, high = (
        part[0] + (part[2:] ** 2).sum(axis=0) / np.maximum(part[1], 1e-300)
        for part in parts
    )
    is_cut = place < (n_codes - 1)[:, None]
    value = np.where(is_cut, np.maximum(low, high) - prices, -np.inf)
    every, cut = np.arange(n_columns), value.argmax(axis=1)
    is_low = is_cut[every, cut] & (low[every, cut] >= high[every, cut])
    return value[every, cut], cut, is_low


def plain_first_true(held, start=0):
    """Index of the first box, from `start` on, that accepts each row.

    `held` has shape (n_boxes, n_rows); the result is n_boxes if none does.
    """
    n_boxes, n_rows = held.shape
    answering = np.full(n_rows, n_boxes)
    for k in range(n_boxes - 1, start - 1, -1):
        np.copyto(answering, k, where=held[k])
    return answering


def first_true_again(held, answering, k):
    """`first_true` of `held`; `answering` is that before box k became another."""
    again = np.where(held[k] & (answering > k), k, answering)
    lost = np.flatnonzero(~held[k] & (answering == k))
    again[lost] = plain_first_true(held[:, lost], k + 1)
    return again


def row_gains(
    held, answering, k, weight, target, means, spread, classes, answers, mistake
):
    """Gain of a list for each row if rule k takes it from the rules after it.

    `answering` is `first_true` of `held`; `means` and `answers` are the predictions of
    each rule, `answers` empty if classes do not matter; `spread` is the variance of the
    target around the means, `mistake` nats for a wrong class. The gain is 0 if a rule
    before k takes the row.
    """
    gain = np.zeros(len(weight))
    rows = np.flatnonzero(answering >= k)
    after = answering[rows]
    inside = np.flatnonzero(after == k)
    after[inside] = plain_first_true(held[:, rows[inside]], k + 1)
    weight, target = weight[rows], target[rows]
    scale = weight / (2 * spread)
    then, now = np.zeros(len(rows)), np.zeros(len(rows))
    for one, mean in zip(target.T, means.T, strict=True):
        for total, told in ((then, mean[after]), (now, mean[k])):
            residual = one - told
            total += residual * residual
    then *= scale
    now *= scale
    if len(answers):
        lost = mistake * weight
        then += (answers[after] != classes[rows]) * lost
        now += (answers[k] != classes[rows]) * lost
    gain[rows] = then - now
    return gain


def rejections(codes, columns, accepted):
    """Number of conditions of a box that reject each row, and the last one's column.

    `accepted`, (n_conditions, width), is by code; the column is 0 if none rejects the
    row.
    """
    n_rejecting = np.zeros(len(codes), dtype=np.uint8)
    rejecting = np.zeros(len(codes), dtype=np.intp)
    for j, mask in zip(columns, accepted, strict=True):
        rejects = ~mask[codes[:, j]]
        n_rejecting += rejects
        rejecting[rejects] = j
    return n_rejecting, rejecting


def plain_gain_sums(codes, gain, n_rejecting, rejecting, width):
    """Sums of a number per row by column and code: (n_columns, width).

    The sum of a column is over the rows that all conditions of the box on other columns
    accept. `n_rejecting` and `rejecting` are those of `rejections`; `width` is the
    largest number of codes of a column, missing included.
    """
    has_gain = gain != 0
    inside = np.flatnonzero(has_gain & (n_rejecting == 0))
    near = np.flatnonzero(has_gain & (n_rejecting == 1))
    rejected = codes[near, rejecting[near]] + width * rejecting[near]
    near_gain, codes, gain = gain[near], codes[inside], gain[inside]
    n_columns = codes.shape[1]
    places = np.empty(codes.size + len(rejected), dtype=np.intp)
    gains = np.empty(len(places))
    np.add(
        codes,
        width * np.arange(n_columns),
        out=places[: codes.size].reshape(codes.shape),
    )
    gains[: codes.size].reshape(codes.shape)[:] = gain[:, None]
    places[codes.size :], gains[codes.size :] = rejected, near_gain
    sums = np.bincount(places, gains, n_columns * width)
    # Without rows the result of numpy is integer.
    return sums.astype(np.float64, copy=False).reshape(n_columns, width)


def plain_rule_gains(held, answering, k, *terms_and_box):
    """The sums of `gain_sums` for rule k, and the gain of each row in its box.

    The arguments are those of `row_gains`, `rejections` and `gain_sums`: after `k` the
    terms of the loss, then codes, columns, accepted codes and the width.
    """
    *terms, codes, columns, accepted, width = terms_and_box
    gain = row_gains(held, answering, k, *terms)
    rejected = rejections(codes, columns, accepted)
    return plain_gain_sums(codes, gain, *rejected, width), gain[held[k]]


def plain_answered_sums(answering, n_rules, columns, weight, classes, n_classes):
    """Sums of each column, and of the weight of each class, over the rows of each rule.

    `columns` has shape (n_columns, n_rows); `n_classes` is 0 if classes do not count.
    """
    n_columns = len(columns)
    sums = np.empty((n_rules, n_columns + n_classes))
    for c, column in enumerate(columns):
        sums[:, c] = np.bincount(answering, column, n_rules)
    if n_classes:
        place = answering * n_classes + classes
        counts = np.bincount(place, weight, n_rules * n_classes)
        sums[:, n_columns:] = counts.reshape(n_rules, n_classes)
    return sums


def __getattr__(name):
    """Load the loop of this name on first use, as numba takes long to import."""
    plain = globals().get(f"plain_{name}")
    if plain is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        kernel = getattr(import_module("defragtrees.search.kernels_numba"), name)
    except ImportError:
        kernel = plain
    globals()[name] = kernel
    return kernel
