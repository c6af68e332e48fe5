"""The loops of `kernels`, compiled by numba; the same sums in the same order."""

import numpy as np
from numba import njit

__all__ = [
    "condition_values",
    "first_true",
    "gain_sums",
    "rejections",
    "row_gains",
    "rule_gains",
]


@njit(cache=True, nogil=True)
def first_true(held, start):
    """See `kernels.plain_first_true`."""
    n_boxes, n_rows = held.shape
    answering = np.full(n_rows, n_boxes)
    for k in range(n_boxes - 1, start - 1, -1):
        for i in range(n_rows):
            if held[k, i]:
                answering[i] = k
    return answering


@njit(cache=True, nogil=True)
def row_gains(held, k, weight, target, means, spread, classes, answers, mistake):
    """See `kernels.plain_row_gains`."""
    n_rows = len(target)
    after = first_true(held, k + 1)
    gain = np.zeros(n_rows)
    terms = weight, target, means, spread, classes, answers, mistake
    for i in range(n_rows):
        if not _is_taken(held, k, i):
            gain[i] = _row_gain(i, k, after[i], *terms)
    return gain


@njit(cache=True, nogil=True)
def _is_taken(held, k, i):
    """Whether a box before k accepts row i."""
    for j in range(k):
        if held[j, i]:
            return True
    return False


@njit(cache=True, nogil=True)
def _row_gain(i, k, after, weight, target, means, spread, classes, answers, mistake):
    """What it gains if rule k takes row i from the rule `after`."""
    then, now = 0.0, 0.0
    for c in range(target.shape[1]):
        residual = target[i, c] - means[after, c]
        then += residual * residual
        residual = target[i, c] - means[k, c]
        now += residual * residual
    scale = weight[i] / (2 * spread)
    then *= scale
    now *= scale
    if len(answers):
        lost = mistake * weight[i]
        if answers[after] != classes[i]:
            then += lost
        if answers[k] != classes[i]:
            now += lost
    return then - now


@njit(cache=True, nogil=True)
def rule_gains(
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
    """See `kernels.plain_rule_gains`."""
    n_boxes, n_rows = held.shape
    n_columns = np.uint64(codes.shape[1])
    terms = weight, target, means, spread, classes, answers, mistake
    sums = np.zeros((codes.shape[1], width))
    inside, n_inside = np.empty(n_rows), 0
    for i in range(n_rows):
        n_rejecting, rejecting = 0, 0
        for c in range(len(columns)):
            if not accepted[c, codes[i, columns[c]]]:
                n_rejecting += 1
                rejecting = columns[c]
        if n_rejecting > 1:
            continue
        gain = 0.0
        if not _is_taken(held, k, i):
            after = min(k + 1, n_boxes)
            while after < n_boxes and not held[after, i]:
                after += 1
            gain = _row_gain(i, k, after, *terms)
        if n_rejecting == 0:
            inside[n_inside] = gain
            n_inside += 1
        if gain == 0.0:
            continue
        if n_rejecting == 0:
            for j in range(n_columns):
                sums[j, codes[i, j]] += gain
        else:
            sums[rejecting, codes[i, rejecting]] += gain
    return sums, inside[:n_inside]


@njit(cache=True, nogil=True)
def rejections(codes, columns, accepted):
    """See `kernels.plain_rejections`."""
    n_rows = len(codes)
    n_rejecting = np.zeros(n_rows, dtype=np.uint8)
    rejecting = np.zeros(n_rows, dtype=np.intp)
    for c in range(len(columns)):
        j = columns[c]
        for i in range(n_rows):
            if not accepted[c, codes[i, j]]:
                n_rejecting[i] += np.uint8(1)
                rejecting[i] = j
    return n_rejecting, rejecting


@njit(cache=True, nogil=True)
def gain_sums(codes, gain, n_rejecting, rejecting, width):
    """See `kernels.plain_gain_sums`."""
    n_rows, n_columns = codes.shape
    sums = np.zeros((n_columns, width))
    for i in range(n_rows):
        value = gain[i]
        if value == 0.0 or n_rejecting[i] > 1:
            continue
        if n_rejecting[i] == 0:
            for j in range(n_columns):
                sums[j, codes[i, j]] += value
        else:
            j = rejecting[i]
            sums[j, codes[i, j]] += value
    return sums


@njit(cache=True, nogil=True)
def _set_value(sums, name_price):
    """See `kernels._set_values`."""
    n, highest, lowest = len(sums), 0, 0
    for c in range(n):
        if sums[c] > sums[highest]:
            highest = c
        if sums[c] < sums[lowest]:
            lowest = c
    inside, n_inside, kept, n_kept = 0.0, 0, 0.0, 0
    for c in range(n):
        gained = sums[c]
        if gained > name_price or c == highest:
            inside += gained
            n_inside += 1
        is_left_out = gained < -name_price or (c == lowest and gained < 0)
        if not is_left_out or c == highest:
            kept += gained
            n_kept += 1
    inside -= name_price * max(min(n_inside, n - n_inside) - 1, 0)
    kept -= name_price * max(min(n_kept, n - n_kept) - 1, 0)
    return max(inside, kept)


@njit(cache=True, nogil=True)
def condition_values(sums, n_codes, prices, name_prices, is_set):
    """See `kernels.plain_condition_values`."""
    n_columns = sums.shape[0]
    value = np.empty(n_columns)
    for j in range(n_columns):
        n, price = n_codes[j], prices[j]
        missing = sums[j, n]
        bonus = max(missing, 0.0)
        total, lowest, highest = 0.0, np.inf, -np.inf
        between = -np.inf
        for c in range(n):
            total += sums[j, c]
            if c < n - 1:
                between = max(between, total - lowest)
                lowest = min(lowest, total)
                highest = max(highest, total)
        best = total + missing
        if missing != 0:
            best = max(best, missing - price)
        if is_set[j]:
            chosen = _set_value(sums[j, :n], name_prices[j])
            value[j] = max(chosen + bonus - price, best)
            continue
        best = max(best, total - lowest + bonus - price)
        best = max(best, highest + bonus - price)
        best = max(best, between + bonus - 2 * price)
        value[j] = max(best, total - price)
    return value
