"""Intervals of numbers that hold as often as they say: split conformal prediction.

A score says how far y was from an answer, in spreads of the rule that gave it. Among n
rows that the rules do not rest on, and one more, the score of this one is as likely to
stand in any place; so it is at most the `ceil((n + 1) * coverage)`-th smallest of the n
with a probability of at least `coverage`.
"""

import math

import numpy as np

from defragtrees._utils.types import Floats

MOST_SCORES = 1000
QUANTILE = 1.959963984540054  # of the normal distribution, for 95 %
PRIOR_ROWS = 3.84  # rows with the spread of all rules that each rule is given


def rule_scales(n_rows: Floats, spreads: Floats) -> Floats:
    """The unit of scores of each rule: its spread, shrunk towards that of all rules.

    All 1 where not all was measured.
    """
    squares = np.where(n_rows > 0, np.square(spreads), 0.0)
    if not np.isfinite(n_rows + squares).all():
        return np.ones(len(n_rows))
    every = n_rows @ squares / n_rows.sum() if n_rows.any() else 0.0
    scales = np.sqrt((n_rows * squares + PRIOR_ROWS * every) / (n_rows + PRIOR_ROWS))
    return scales if every > 0 else np.ones(len(n_rows))


def kept_scores(scores, weight=None):
    """Scores in ascending order; of many as many as give the same intervals.

    Of n scores every (n / `MOST_SCORES`)-th is kept, rounded up: then the `ceil((m + 1)
    * coverage)`-th of the m that are kept is never smaller than the `ceil((n + 1) *
    coverage)`-th of all. `weight` is how often each stands for a row.

    Examples
    --------
    >>> kept_scores(np.array([3.0, 1.0, 2.0]))
    (1.0, 2.0, 3.0)
    >>> len(kept_scores(np.arange(5000.0)))
    1000
    """
    order = np.argsort(scores, kind="stable")
    weight = np.ones(len(scores)) if weight is None else np.asarray(weight)
    total = np.cumsum(weight[order])
    n_kept = min(MOST_SCORES, math.floor(total[-1] + 1e-9))
    wanted = np.arange(1, n_kept + 1) / max(n_kept, 1) * total[-1] * (1 - 1e-12)
    places = np.minimum(np.searchsorted(total, wanted), len(scores) - 1)
    return tuple(float(f"{score:.12g}") for score in scores[order][places])


def score_place(coverage: float, n_scores: int) -> int:
    """Which of the ascending scores intervals with this coverage reach to."""
    place = math.ceil((n_scores + 1) * coverage - 1e-9)
    if place <= n_scores:
        return place - 1
    n_needed = math.ceil(coverage / (1 - coverage) - 1e-9)
    if n_needed > MOST_SCORES:
        raise ValueError(
            f"coverage must be {MOST_SCORES / (MOST_SCORES + 1):.3f} at most, as "
            f"{MOST_SCORES:,} scores are kept; got {coverage:g}."
        )
    raise ValueError(
        f"coverage={coverage:g} needs {n_needed} rows to calibrate on; there are "
        f"{n_scores}. Calibrate with more rows, or ask for less coverage."
    )


def wilson_interval(rate, n_rows):
    """Wilson's 95 % interval of a rate that was seen in so many rows.

    Examples
    --------
    >>> low, high = wilson_interval(212 / 2640, 2640)
    >>> round(low, 3), round(high, 3)
    (0.071, 0.091)
    """
    z = QUANTILE**2 / n_rows
    middle = rate + z / 2
    reach = math.sqrt(z * (rate * (1 - rate) + z / 4))
    # Rounding must not leave the rate, or what is possible, outside.
    low = min(max((middle - reach) / (1 + z), 0.0), rate)
    return low, max(min((middle + reach) / (1 + z), 1.0), rate)
