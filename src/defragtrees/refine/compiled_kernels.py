"""The loops of `kernels`, compiled by numba; the same sums in the same order."""

import numpy as np
from numba import njit

__all__ = ["condition_values", "first_true", "gain_sums", "rejections", "row_gains"]


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
    n_rows, n_outputs = target.shape
    after = first_true(held, k + 1)
    gain = np.zeros(n_rows)
    twice = 2 * spread
    for i in range(n_rows):
        taken = False
        for j in range(k):
            if held[j, i]:
                taken = True
                break
        if taken:
            continue
        then, now = 0.0, 0.0
        for c in range(n_outputs):
            residual = target[i, c] - means[after[i], c]
            then += residual * residual
            residual = target[i, c] - means[k, c]
            now += residual * residual
        scale = weight[i] / twice
        then *= scale
        now *= scale
        if len(answers):
            lost = mistake * weight[i]
            if answers[after[i]] != classes[i]:
                then += lost
            if answers[k] != classes[i]:
                now += lost
        gain[i] = then - now
    return gain


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
