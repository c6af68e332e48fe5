"""Wilson's interval of a rate, and intervals of numbers by split conformal prediction.

A score is how far y was from a prediction, in spreads of the rule that made it. Among n
rows that the rules were not fitted to, and one more, the score of this one is as likely
to have any rank; so it is at most the `ceil((n + 1) * coverage)`-th smallest of the n
with a probability of at least `coverage`.
"""

import dataclasses
import math
from typing import Self

import numpy as np

from defragtrees._utils.types import Column, Floats, Rows

MOST_SCORES = 1000
QUANTILE = 1.959963984540054  # of the normal distribution, for 95 %
PRIOR_ROWS = 3.84  # rows with the spread of all rules that each rule is given


class Intervals:
    """The part of a RuleSet that tells intervals."""

    def calibrated(self, X: Rows, y: Column) -> Self:
        """The rules with intervals that hold as often as they say.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows that neither the ensemble nor the rules were fitted to.
        y : array-like of shape (n_samples,)

        Returns
        -------
        RuleSet
        """
        scores = self.scores_encoded(self.encode(X), y)
        return self.with_scores(scores)

    def scores_encoded(self, matrix: Floats, y: Column) -> Floats:
        """How far y is from each answer, in spreads of the rule that gives it.

        Parameters
        ----------
        matrix : what `encode` gave
        y : array-like of shape (n_samples,)

        Returns
        -------
        array of shape (n_samples,)
        """
        y = self._checked_numbers(y, len(matrix))
        scales = rule_scales(self)[self.apply_encoded(matrix)]
        return np.abs(y - self.predict_encoded(matrix)) / scales

    def with_scores(self, scores: Floats) -> Self:
        """The rules with intervals from scores of rows that they do not rest on.

        Parameters
        ----------
        scores : array of shape (n_samples,)
        """
        if not len(scores):
            raise ValueError(
                "At least one row is needed to calibrate intervals; got none. Pass "
                "rows that were not fitted on."
            )
        return dataclasses.replace(self, interval_scores=kept_scores(scores))

    def predict_interval(self, X: Rows, coverage: float = 0.9) -> Floats:
        """For each row an interval in which y is with a probability of `coverage`.

        It reaches equally far to both sides of the answer, as many spreads of the rule
        as `calibrated` rows need, or those that the rules were fitted to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), 9.0)
        >>> rules = RuleSet((warm,), Rule((), 1.0), ("degrees",), "regression")
        >>> rows = [[21.0], [22.0], [19.0], [18.0]]
        >>> rules = rules.calibrated(rows, [9.5, 8.9, 0.0, 1.2])
        >>> rules.predict_interval([[25.0]], coverage=0.5).tolist()
        [[8.5, 9.5]]
        """
        score_for(self, coverage)
        return self.predict_interval_encoded(self.encode(X), coverage)

    def predict_interval_encoded(self, matrix: Floats, coverage: float = 0.9) -> Floats:
        """`predict_interval` for a matrix that `encode` made."""
        score = score_for(self, coverage)
        reach = score * rule_scales(self)[self.apply_encoded(matrix)]
        answers = self.predict_encoded(matrix)
        return np.column_stack([answers - reach, answers + reach])

    def rate_interval(self, X: Rows) -> Floats:
        """For each row the 95 % interval of the rate that the answering rule tells.

        Of two classes it is the rate of `pos_label`, or of the second; of more that of
        the class that is answered. NaN where a rule has counted no rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "go", (0.2, 0.8), n_rows=50,
        ...             rates=(0.2, 0.8))
        >>> cold = Rule((), "stay", (0.9, 0.1), n_rows=50, rates=(0.9, 0.1))
        >>> task, classes = "classification", ("stay", "go")
        >>> rules = RuleSet((warm,), cold, ("degrees",), task, classes)
        >>> rules.rate_interval([[21.0], [3.0]]).round(3).tolist()
        [[0.67, 0.888], [0.043, 0.214]]
        """
        return self.rate_interval_encoded(self.encode(X))

    def rate_interval_encoded(self, matrix: Floats) -> Floats:
        """`rate_interval` for a matrix that `encode` made."""
        if not self.outcome.n_classes or not self.is_list:
            is_number = not self.outcome.n_classes
            came = "the answer is a number" if is_number else "several answer together"
            raise ValueError(
                f"rate_interval needs rules of which one answers a class; here {came}. "
                "Use predict_interval for numbers, form='list' for classes."
            )
        unknown = (math.nan, math.nan)
        ends = [self.outcome.told(rule)["interval"] or unknown for rule in self]
        return np.array(ends, dtype=np.float64)[self.apply_encoded(matrix)]

    def _checked_numbers(self, y, n_rows):
        _refuse_classes(self)
        if y is None:
            raise ValueError(
                "y is needed to calibrate intervals; got None. Pass the numbers that "
                "are true for these rows."
            )
        y = self.outcome.check(np.ravel(y))
        if len(y) != n_rows:
            raise ValueError(
                f"X and y must have equally many rows; got {n_rows} and {len(y)}."
            )
        return y


def rule_scales(rules):
    """The units of the scores of each rule: its spread, shrunk to that of all rules.

    All 1 if spreads were not measured, and if several rules predict together.
    """
    n_rows = np.array([rule.n_rows for rule in rules])
    spreads = [math.nan if rule.spread is None else rule.spread for rule in rules]
    squares = np.where(n_rows > 0, np.square(spreads), 0.0)
    if not rules.is_list or not np.isfinite(n_rows + squares).all():
        return np.ones(len(n_rows))
    every = n_rows @ squares / n_rows.sum() if n_rows.any() else 0.0
    scales = np.sqrt((n_rows * squares + PRIOR_ROWS * every) / (n_rows + PRIOR_ROWS))
    return scales if every > 0 else np.ones(len(n_rows))


def kept_scores(scores, weight=None):
    """Scores in ascending order; of many as many as tell the same of intervals.

    Of n scores every (n / `MOST_SCORES`)-th is kept, rounded up: then the
    `ceil((m + 1) * coverage)`-th of the m that are kept is never smaller than the
    `ceil((n + 1) * coverage)`-th of all. `weight` is how often each stands for a row.

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


def score_for(rules, coverage):
    """The score up to which intervals of rules with this coverage have to reach."""
    if not isinstance(coverage, (float, np.floating)) or not 0 < coverage < 1:
        raise ValueError(
            f"coverage must be a number between 0 and 1; got {coverage!r}. 0.9 is for "
            "intervals that hold in nine rows of ten."
        )
    _refuse_classes(rules)
    scores = rules.interval_scores
    if scores is None:
        raise ValueError(
            "predict_interval needs rows with y; none were given. Call calibrate(X, y) "
            "with rows that were not fitted on, or fit with y."
        )
    place = math.ceil((len(scores) + 1) * coverage - 1e-9)
    if place > len(scores):
        _refuse_coverage(coverage, len(scores))
    return scores[place - 1]


def _refuse_classes(rules):
    if rules.outcome.has_probabilities:
        raise AttributeError(
            "Rules for classes have no intervals; predict_proba tells how likely each "
            "class is."
        )


def _refuse_coverage(coverage, n_scores):
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
