"""The best condition on one feature, given what each code would gain if accepted.

For a numeric feature the best interval is the segment of its codes with the largest
sum (Kadane's scan, by running minima of the cumulative sums), less what its finite
sides cost. For a categorical one it is the set of categories with a positive sum.
"""

import numpy as np

__all__ = ["best_condition"]


def best_condition(sums, missing, price, is_set):
    """Value and accepted codes of the best condition on one feature, missing last.

    Examples
    --------
    >>> value, accepted = best_condition(np.array([-2.0, 5.0, -2.0]), 0.0, 1.0, False)
    >>> float(value), accepted.tolist()
    (3.0, [False, True, False, False])
    """
    n_codes = len(sums)
    accepted = np.ones(n_codes + 1, dtype=bool)
    if is_set:
        chosen = np.maximum(sums, 0.0).sum() + max(missing, 0.0) - price
        if chosen > sums.sum() + missing:
            accepted[:-1] = sums > 0
            accepted[-1] = missing > 0
            return chosen, accepted
        return sums.sum() + missing, accepted
    value, low, high, takes_missing = _best_interval(sums, missing, price)
    accepted[:low] = False
    accepted[high + 1 : n_codes] = False
    accepted[-1] = takes_missing
    return value, accepted


def _best_interval(sums, missing, price):
    """Value, first and last code, and whether missing values are accepted."""
    n_codes = len(sums)
    last = n_codes - 1
    if not n_codes:
        return missing, 0, last, True
    reached = np.cumsum(sums)
    total = reached[-1]
    best = (total + missing, 0, last, True)
    bonus, takes = max(missing, 0.0), missing > 0
    for option in ((total - price, 0, last, False), (missing - price, 0, -1, True)):
        best = option if option[0] > best[0] else best
    if n_codes == 1:
        return best
    cuts = reached[:-1]
    at = int(cuts.argmin())
    if total - cuts[at] + bonus - price > best[0]:
        best = (total - cuts[at] + bonus - price, at + 1, last, takes)
    at = int(cuts.argmax())
    if cuts[at] + bonus - price > best[0]:
        best = (cuts[at] + bonus - price, 0, at, takes)
    if n_codes > 2:
        between = cuts[1:] - np.minimum.accumulate(cuts)[:-1]
        end = int(between.argmax())
        value = between[end] + bonus - 2 * price
        if value > best[0]:
            begin = int(cuts[: end + 1].argmin())
            best = (value, begin + 1, end + 1, takes)
    return best
