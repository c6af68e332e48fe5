"""Statistical tests of two samples, and Holm's correction for several tests."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

LEAST_EXPECTED = 5.0  # expected rows of a cell below which it is merged
EXACT_ROWS = 2_000  # maximum number of rows for Fisher's exact test


@dataclass(frozen=True)
class Change:
    """A mean or a rate of y in two samples, and the p-value of the difference."""

    then: float
    now: float
    p: float
    is_share: bool = False
    label: str = ""  # the class whose rate it is


def same_shares_p(then, now):
    """p-value of the counts of the same cells in two samples (Fisher or chi-squared).

    Examples
    --------
    >>> round(same_shares_p([50, 50], [20, 80]), 5), same_shares_p([5, 5], [0, 0])
    (1e-05, 1.0)
    """
    table = np.array([then, now], dtype=np.float64)
    if not (table.sum(axis=1) > 0).all():
        return 1.0
    table = _merged(table[:, table.sum(axis=0) > 0])
    if table.shape[1] < 2:
        return 1.0
    from scipy import stats

    if table.shape[1] == 2 and table.sum() <= EXACT_ROWS:
        return float(stats.fisher_exact(np.round(table).astype(int)).pvalue)
    return float(stats.chi2_contingency(table, correction=False).pvalue)


def _merged(table):
    """Merge neighbouring cells until each has enough expected rows."""
    if table.shape[1] <= 2:
        return table
    smaller = table.sum(axis=1).min() / table.sum()
    cells, waiting = [], np.zeros(2)
    for cell in table.T:
        waiting = waiting + cell
        if waiting.sum() * smaller >= LEAST_EXPECTED:
            cells.append(waiting)
            waiting = np.zeros(2)
    if waiting.any() and cells:
        cells[-1] = cells[-1] + waiting
    elif waiting.any():
        cells.append(waiting)
    return np.array(cells).T


def mean_p(mean_then, spread_then, n_then, values):
    """p-value of a difference of means (Welch's t-test).

    Examples
    --------
    >>> values = np.array([4.0, 5.0, 6.0, 5.0])
    >>> round(mean_p(5.0, 1.0, 100, values), 3), mean_p(9.0, 1.0, 100, values) < 0.01
    (1.0, True)
    """
    if len(values) < 2 or not n_then > 0:
        return 1.0
    variances = values.var(ddof=1) / len(values), spread_then**2 / n_then
    apart = abs(float(values.mean()) - mean_then)
    if not any(variances) or apart <= 1e-12 * abs(mean_then):
        return 1.0 if apart <= 1e-9 * max(abs(mean_then), 1.0) else 0.0
    return 2 * welch_p(apart, variances, (len(values), n_then))


def welch_p(apart, variances, sizes):
    """One-sided p-value of a difference of means with these variances."""
    # As shares, whose squares are never too large.
    shares = [variance / sum(variances) for variance in variances]
    rest = (max(n - 1, 1) for n in sizes)
    freedom = 1 / sum(share**2 / n for share, n in zip(shares, rest, strict=True))
    return float(special.stdtr(freedom, -apart / math.sqrt(sum(variances))))


def same_share_p(here, there, is_high):
    """One-sided exact p-value of a higher, or lower, share in the first of two samples.

    Both are counts: of the rows that have something, and of all.

    Examples
    --------
    >>> round(same_share_p((8, 10), (20, 100), True), 5)
    0.00023
    """
    from scipy import stats

    n_found, n_rows = (a + b for a, b in zip(here, there, strict=True))
    law = stats.hypergeom(n_rows, n_found, here[1])
    return float(law.sf(here[0] - 1) if is_high else law.cdf(here[0]))


def larger_share_p(share_then, n_then, n_found, n_now):
    """One-sided p-value of a larger share (Fisher, or normal with many rows).

    Examples
    --------
    >>> larger_share_p(0.1, 1000, 20, 100) < 0.05, larger_share_p(0.3, 1000, 20, 100)
    (True, 1.0)
    """
    if n_found <= share_then * n_now or not n_then > 0:
        return 1.0
    then = share_then * n_then
    table = np.array([[n_found, n_now - n_found], [then, n_then - then]])
    if table.sum() <= EXACT_ROWS:
        here, there = np.round(table).astype(int)
        return same_share_p((here[0], here.sum()), (there[0], there.sum()), True)
    pooled = table[:, 0].sum() / table.sum()
    error = math.sqrt(pooled * (1 - pooled) * (1 / n_now + 1 / n_then))
    return float(special.ndtr((share_then - n_found / n_now) / error))


def larger_mean_p(mean_then, n_then, values):
    """One-sided p-value of a larger mean, with the same standard deviation (t-test).

    Examples
    --------
    >>> values = np.array([4.0, 5.0, 6.0, 5.0])
    >>> larger_mean_p(3.0, 1000, values) < 0.05, larger_mean_p(5.0, 1000, values)
    (True, 1.0)
    """
    apart = float(values.mean()) - mean_then
    if apart <= 0 or len(values) < 2 or not n_then > 0:
        return 1.0
    error = math.sqrt(values.var(ddof=1) * (1 / len(values) + 1 / n_then))
    return float(special.stdtr(len(values) - 1, -apart / error)) if error else 0.0


def beyond_p(n_then, n_now, n_beyond):
    """p-value of the number of new values above the largest old one.

    Without drift, any of all the values is equally likely to be among the largest.

    Examples
    --------
    >>> beyond_p(100, 100, 0), beyond_p(100, 100, 1)
    (1.0, 0.5)
    """
    places = np.arange(n_beyond)
    if not n_beyond:
        return 1.0
    logs = np.log((n_now - places) / (n_then + n_now - places))
    return float(math.exp(logs.sum()))


def new_category_p(counts, n_now, n_new):
    """p-value of the number of rows with a category that no old row has.

    Their expected share is that of categories seen exactly once (Good, 1953).

    Examples
    --------
    >>> new_category_p([50, 50], 100, 0), new_category_p([50, 50], 100, 30) < 1e-9
    (1.0, True)
    """
    if not n_new:
        return 1.0
    counts = np.asarray(counts)
    n_single = int(((counts > 0) & (counts <= 1)).sum())
    share = min((n_single + 1) / (counts.sum() + 1), 1.0)
    return float(special.bdtrc(n_new - 1, n_now, share))


def holm(p_values):
    """p-values adjusted by Holm's method for the number of tests.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(p_values))
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted.tolist()
