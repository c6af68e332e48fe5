"""Quantiles: numbers of which rules report, say, the 90% quantile and not the mean.

Rules of a model for a quantile, or the median, estimate that of y in their rows. Its
interval has two of these y as ends (order statistics), whatever their distribution.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import bdtr, ndtr

from defragtrees._utils import formatting as render
from defragtrees._utils.values import Added, all_rounded
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.intervals import MEAN_WORTH, effective_rows, wilson_interval
from defragtrees.outcomes.measures import Measure, per_row
from defragtrees.outcomes.regression import Numbers, NumberSums, quantiles
from defragtrees.outcomes.tests import Change
from defragtrees.outcomes.text import NumberView

TAIL = 0.025  # on either side of an interval


def interval_shares(level, n_rows):
    """Shares of the rows up to the ends of the 95% interval of a quantile.

    None if so few rows have no such interval.

    Examples
    --------
    >>> interval_shares(0.5, 100), interval_shares(0.9, 20)
    ((0.4, 0.61), None)
    """
    n = math.floor(n_rows + 0.5)
    counts = np.arange(n + 1)
    law = bdtr(counts, n, level)  # of the number of rows below the quantile
    low, high = np.searchsorted(law, [TAIL, 1 - TAIL], side="right")
    return None if low < 1 or high >= n else (float(low / n), float((high + 1) / n))


class QuantileSums(NumberSums):
    """Sums of numbers, which do not say what a quantile misses."""

    def error(self, k, outcome, prediction):
        return {"spread": None, "error": math.nan}


@dataclass(frozen=True)
class QuantileScores(Added):
    """Predicted quantiles against y; scores can be added."""

    weight: float
    losses: float  # a sum, as the next
    below: float

    has_probabilities: ClassVar[bool] = False

    @classmethod
    def of(cls, outcome, expected, weight, predictions, probabilities=None, costs=None):
        """The scores of some rows."""
        losses = outcome.losses(expected, predictions)
        below = outcome.is_below(expected, predictions)
        return cls(float(weight.sum()), float(weight @ losses), float(weight @ below))


MEASURES = (
    Measure("pinball", "pinball loss", False, per_row("losses"), head="pinball"),
    Measure(
        "share_below", "share of y up to it", False, per_row("below"), head="y up to it"
    ),
)


class QuantileView(NumberView):
    """Texts about quantiles."""

    interval_title = "95% interval"
    legend = "Behind a quantile: its 95% interval, from the y in the rows of the rule."
    distance = "pinball loss"

    @property
    def prediction_title(self):
        return self.outcome.name

    @property
    def mean_word(self):
        return self.outcome.name

    @property
    def target(self):
        return f"the {self.outcome.name} of a number"

    def rate(self, value):
        return render.share(value)

    def estimate(self, rule):
        if rule.quantiles is None:
            return ""
        return f"95% interval {self.interval(rule)}, {render.count(rule.n_rows)} rows"

    def estimate_columns(self, rules):
        return {self.interval_title: [self.interval(rule) for rule in rules]}

    def cells(self, rule):
        low, high = rule.quantiles or (None, None)
        return {"from": low, "to": high, "model": rule.model_mean}

    def shows_errors(self, rules):
        return False

    def alone(self, rule):
        return ""


@dataclass(frozen=True)
class Quantiles(Numbers):
    """A number, of which rules report the quantile at a level."""

    quantile: float = 0.5

    sums: ClassVar[Any] = QuantileSums
    scores: ClassVar[Any] = QuantileScores
    all_measures: ClassVar[tuple[Measure, ...]] = MEASURES
    error_name: ClassVar[str] = "pinball loss"
    view_class: ClassVar[type[NumberView]] = QuantileView

    def __post_init__(self):
        if not 0 < self.quantile < 1:
            raise ValueError(f"A quantile is between 0 and 1; got {self.quantile!r}.")

    @property
    def name(self):
        """Such as "90% quantile"."""
        return quantile_name(self.quantile)

    def is_below(self, y, predicted):
        """Which y are at most what is predicted."""
        return np.ravel(y) <= np.ravel(predicted)

    def losses(self, y, predicted):
        """For each row the pinball loss."""
        apart = np.ravel(y) - np.ravel(predicted)
        return np.maximum(self.quantile * apart, (self.quantile - 1) * apart)

    def model_losses(self, predictions, predicted):
        return super().losses(predictions, predicted)

    def estimate_losses(self, observed, predicted):
        return self.losses(observed, predicted)

    def distances(self, y, predicted):
        return self.losses(y, predicted)

    shown_error, shown_deviation = Outcome.shown_error, Outcome.shown_deviation

    def observed(self, y, weight):
        order = np.argsort(y, kind="stable")
        shares = interval_shares(self.quantile, effective_rows(weight)) or (0.0, 1.0)
        levels = self.quantile, *shares
        return tuple(quantiles(y[order], weight[order], levels).tolist())

    def compared(self, y, reported):
        level = np.full_like(reported, self.quantile)
        return level, self.is_below(y, reported)[:, None] - level

    def observed_interval(self, observed, variance, n_effective, weight):
        return observed, *wilson_interval(observed, n_effective)

    def rate_change(self, rule, y, n_then):
        if rule.quantiles is None:
            return None
        below = float(np.mean(y <= rule.prediction))
        variance = self.quantile * (1 - self.quantile) * (1 / len(y) + 1 / n_then)
        p = 2 * float(ndtr(-abs(below - self.quantile) / math.sqrt(variance)))
        return Change(self.quantile, below, p, True, f"of y up to the {self.name}")

    def with_prediction(self, rule, prediction):
        made = super().with_prediction(rule, prediction)
        return dataclasses.replace(made, quantiles=None)

    def estimated_prediction(self, sums, k, decision, worth=1.0):
        """The quantile of y in the rows of a rule, and its interval."""
        target = sums.target if sums.labels is None else sums.labels
        values, weight = sums.values.of_group(k)
        if not len(values):
            return super().estimated_prediction(sums, k, decision, worth)
        [found] = quantiles(values, weight, [self.quantile])
        entry = target.predicted(self, found, target.spread) | {"quantiles": None}
        n_effective = target.weight[k] ** 2 / sums.squares[k] * max(worth, MEAN_WORTH)
        shares = interval_shares(self.quantile, n_effective)
        if sums.labels is not None and shares is not None:
            low, high = quantiles(values, weight, shares)
            ends = min(low, entry["prediction"]), max(high, entry["prediction"])
            entry["quantiles"] = all_rounded(ends)
        return entry


def quantile_name(level):
    """What a quantile is called.

    Examples
    --------
    >>> quantile_name(0.975), quantile_name(0.5)
    ('97.5% quantile', 'median')
    """
    return "median" if level == 0.5 else f"{100 * level:.6g}% quantile"
