"""The loops of `kernels`, compiled by numba; the same sums in the same order."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def first_true(held, start=0):
    """See `kernels.plain_first_true`."""
    n_boxes, n_rows = held.shape
    answering = np.empty(n_rows, dtype=np.intp)
    for i in range(n_rows):
        k = start
        while k < n_boxes and not held[k, i]:
            k += 1
        answering[i] = k
    return answering


@njit(inline="always")
def _after(held, taker, k, i):
    """The rule of row i without the boxes up to k; `taker` is its rule with them."""
    if taker == k and k < len(held):
        taker += 1
        while taker < len(held) and not held[taker, i]:
            taker += 1
    return taker


@njit(cache=True, nogil=True)
def rule_gains(
    held,
    answering,
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
    n_rows, n_columns = len(codes), np.uint64(codes.shape[1])
    n_outputs, has_classes = target.shape[1], len(answers) > 0
    sums = np.zeros((codes.shape[1], width))
    inside, n_inside = np.zeros(n_rows), 0
    for i in range(n_rows):
        taker, c = answering[i], 0
        if taker < k:
            n_inside += held[k, i]  # and gains nothing
            continue
        if taker > k:
            c = _only_rejecting(codes, i, columns, accepted)
            if c < 0:
                continue
        after = _after(held, taker, k, i)
        # Written here, as a function of so many arrays takes twice as long in all.
        then, now = 0.0, 0.0
        for o in range(n_outputs):
            residual = target[i, o] - means[after, o]
            then += residual * residual
            residual = target[i, o] - means[k, o]
            now += residual * residual
        scale = weight[i] / (2 * spread)
        then *= scale
        now *= scale
        if has_classes:
            lost = mistake * weight[i]
            then += (answers[after] != classes[i]) * lost
            now += (answers[k] != classes[i]) * lost
        gain = then - now
        if taker > k:
            sums[columns[c], codes[i, columns[c]]] += gain
            continue
        inside[n_inside] = gain
        n_inside += 1
        if gain != 0.0:
            for j in range(n_columns):
                sums[j, codes[i, j]] += gain
    return sums, inside[:n_inside]


@njit(inline="always")
def _only_rejecting(codes, i, columns, accepted):
    """The condition that rejects row i if no other one does; else -1."""
    n_rejecting, place = 0, 0
    # Branch-free, as branches would be unpredictable.
    for c in range(len(columns)):
        rejects = not accepted[c, codes[i, np.uint64(columns[c])]]
        n_rejecting += rejects
        place += rejects * c
    return place if n_rejecting == 1 else -1


@njit(cache=True, nogil=True)
def gain_sums(codes, gain, n_rejecting, rejecting, width):
    """See `kernels.plain_gain_sums`."""
    n_rows, n_columns = codes.shape[0], np.uint64(codes.shape[1])
    sums = np.zeros((codes.shape[1], width))
    for i in range(n_rows):
        if gain[i] != 0.0 and n_rejecting[i] == 0:
            for j in range(n_columns):
                sums[j, codes[i, j]] += gain[i]
    for i in range(n_rows):
        if n_rejecting[i] == 1:
            j = rejecting[i]
            sums[j, codes[i, j]] += gain[i]
    return sums


@njit(cache=True, nogil=True)
def _largest_sum(sums, sign, n):
    """Sum of the n largest numbers; with a negative sign, of all but the n smallest."""
    taken = np.zeros(len(sums), dtype=np.bool_)
    for _ in range(n):
        best = -1
        for c in range(len(sums)):
            if not taken[c] and (best < 0 or sign * sums[c] > sign * sums[best]):
                best = c
        taken[best] = True
    total = 0.0
    for c in range(len(sums)):
        if taken[c] == (sign > 0):
            total += sums[c]
    return total


@njit(cache=True, nogil=True)
def _set_value(sums, name_price, most_named):
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
    n_inside, n_kept = min(n_inside, n - n_inside), min(n_kept, n - n_kept)
    if n_inside > most_named:
        inside, n_inside = _largest_sum(sums, 1.0, most_named), most_named
    if n_kept > most_named:
        kept, n_kept = _largest_sum(sums, -1.0, most_named), most_named
    inside -= name_price * max(n_inside - 1, 0)
    kept -= name_price * max(n_kept - 1, 0)
    return max(inside, kept)


@njit(cache=True, nogil=True)
def condition_values(sums, n_codes, prices, name_prices, is_set, most_named):
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
            chosen = _set_value(sums[j, :n], name_prices[j], most_named)
            value[j] = max(chosen + bonus - price, best)
            continue
        best = max(best, total - lowest + bonus - price)
        best = max(best, highest + bonus - price)
        best = max(best, between + bonus - 2 * price)
        value[j] = max(best, total - price)
    return value


@njit(cache=True, nogil=True)
def answered_sums(answering, n_rules, columns, weight, classes, n_classes):
    """See `kernels.plain_answered_sums`."""
    n_columns = len(columns)
    sums = np.zeros((n_rules, n_columns + n_classes))
    for i in range(len(answering)):
        k = answering[i]
        for c in range(n_columns):
            sums[k, c] += columns[c, i]
        if n_classes:
            sums[k, n_columns + classes[i]] += weight[i]
    return sums
