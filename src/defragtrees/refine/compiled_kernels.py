"""The loops of `kernels`, compiled by numba; the same sums in the same order."""

import numpy as np
from numba import njit

__all__ = ["condition_values", "gain_sums"]


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
def condition_values(sums, n_codes, prices, is_set):
    """See `kernels.plain_condition_values`."""
    n_columns = sums.shape[0]
    value = np.empty(n_columns)
    for j in range(n_columns):
        n, price = n_codes[j], prices[j]
        missing = sums[j, n]
        bonus = max(missing, 0.0)
        total, lowest, highest = 0.0, np.inf, -np.inf
        between, positive = -np.inf, 0.0
        for c in range(n):
            total += sums[j, c]
            positive += max(sums[j, c], 0.0)
            if c < n - 1:
                between = max(between, total - lowest)
                lowest = min(lowest, total)
                highest = max(highest, total)
        best = total + missing
        if is_set[j]:
            value[j] = max(positive + bonus - price, best)
            continue
        best = max(best, total - lowest + bonus - price)
        best = max(best, highest + bonus - price)
        best = max(best, between + bonus - 2 * price)
        best = max(best, total - price)
        value[j] = max(best, missing - price)
    return value
