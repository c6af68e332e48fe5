"""The best condition on one feature, given what each code would gain if accepted.

For a numeric feature the best interval is the segment of its codes with the largest
sum (Kadane's scan, by running minima of the cumulative sums), less what its finite
sides cost. For a categorical one it is the set of categories whose sum is larger than
what it takes to name them, or all but those whose loss is; the first name is free.
"""

import numpy as np

__all__ = ["best_condition"]


def best_condition(sums, missing, price, name_price=None):
    """Value and accepted codes of the best condition on one feature, missing last.

    Parameters
    ----------
    sums : float64 array of shape (n_codes,)
    missing : float
    price : float
        Of each finite side, or of a set with its first category.
    name_price : float, optional
        Of every further category that a set names; for numbers there is none.

    Examples
    --------
    >>> value, accepted = best_condition(np.array([-2.0, 5.0, -2.0]), 0.0, 1.0)
    >>> float(value), accepted.tolist()
    (3.0, [False, True, False, False])
    """
    n_codes = len(sums)
    accepted = np.ones(n_codes + 1, dtype=bool)
    if name_price is not None:
        return _best_set(sums, missing, price, name_price)
    value, low, high, takes_missing = _best_interval(sums, missing, price)
    accepted[:low] = False
    accepted[high + 1 : n_codes] = False
    accepted[-1] = takes_missing
    return value, accepted


def _best_set(sums, missing, price, name_price):
    """Value and accepted codes of the best set: the shorter side is named."""
    best = (sums.sum() + missing, np.ones(len(sums) + 1, dtype=bool))
    # A condition that no row passes is none.
    if missing != 0 and missing - price > best[0]:
        best = (missing - price, np.arange(len(sums) + 1) == len(sums))
    inside, outside = sums > name_price, sums < -name_price
    if len(sums):
        highest, lowest = sums.argmax(), sums.argmin()
        outside[lowest] |= sums[lowest] < 0
        inside[highest], outside[highest] = True, False
    for named, gained in (
        (inside, np.where(inside, sums, 0.0).sum()),
        (~outside, np.where(outside, 0.0, sums).sum()),
    ):
        n_named = int(min(np.count_nonzero(named), np.count_nonzero(~named)))
        value = gained + max(missing, 0.0) - price - name_price * max(n_named - 1, 0)
        if value > best[0]:
            best = (value, np.append(named, missing > 0))
    return best


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
    only_missing = missing - price if missing != 0 else -np.inf
    for option in ((total - price, 0, last, False), (only_missing, 0, -1, True)):
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
