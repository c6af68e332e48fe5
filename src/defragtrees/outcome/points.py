"""What sums of points stand for, and how points are fitted."""

import math
from typing import ClassVar

import numpy as np

from defragtrees.additive import (
    PRIOR_ROWS,
    PRIOR_ROWS_OF_NUMBERS,
    fit_log_odds,
    fit_numbers,
    fit_shares,
    softmax,
    to_probability,
)
from defragtrees.scorecards import (
    round_unit,
    short_unit,
    whole_log_odds,
    whole_points,
)

__all__ = ["ClassPoints", "NumberPoints"]


class ClassPoints:
    """Of two classes, log-odds of the second; of more, logs of their shares."""

    @property
    def n_points(self):
        """Columns of points: of two classes the second's, else one for each."""
        return 1 if self.n_classes == 2 else self.n_classes

    @staticmethod
    def points_digits(spread):
        """Digits after the point of points: log-odds to a thousandth."""
        return 3

    def linked(self, values):
        """Probabilities from sums of points, (n_samples, n_points)."""
        if self.n_classes != 2:
            return softmax(values)
        second = to_probability(values)
        return np.hstack([1.0 - second, second])

    def decide_points(self, values, threshold=None, costs=None):
        """Answers from sums of points, (n_samples, n_points)."""
        if self.n_classes != 2:
            # Of shares that rounding has made equal the larger sum is still known.
            outputs = values if costs is None else self.linked(values)
            return self.decide(outputs, threshold, costs)
        decision = self.decision(threshold, costs)
        return self.decode(decision.choose_log_odds(values[:, 0]))

    def fit_points(self, held, weight, sums):
        """Points by patterns of rules, from sums of class shares; see `additive`."""
        drawn = self._prior(weight, sums)
        prior = np.append(np.full(held.shape[1] - 1, drawn), 0.0)
        if self.n_classes == 2:
            return fit_log_odds(held, weight, sums[:, 1:], prior)[0]
        return fit_shares(held, weight, sums, prior)[0]

    def scorecard(self, held, weight, sums, points, points_to_double=None):
        """Whole points instead of exact ones; see `fit_points`.

        Parameters
        ----------
        held, weight, sums
            As for `fit_points`.
        points : array of shape (n_rules, n_points)
        points_to_double : float, optional
            Of two classes, how many points double the odds.
        """
        if self.n_classes == 2:
            events = sums[:, 1]

            def nats(values):
                value = values[:, 0]
                return float(weight @ np.logaddexp(0.0, value) - events @ value)

            rows = held, weight, events, points, nats
            return whole_log_odds(*rows, self._prior(weight, sums), points_to_double)

        def nats_of_many(values):
            top = values.max(axis=1)
            scale = top + np.log(np.exp(values - top[:, None]).sum(axis=1))
            return float(weight @ scale - (sums * values).sum())

        prior, slack = self._prior(weight, sums), 2e-3 * weight.sum()
        return whole_points(held, points, nats_of_many, prior, slack, short_unit)

    @staticmethod
    def _prior(weight, sums):
        """What draws points to zero: rows at the rate of all, by what they tell."""
        rates = sums.sum(axis=0) / weight.sum()
        return PRIOR_ROWS * max(float(np.max(rates * (1 - rates))), 1e-3)


class NumberPoints:
    """The number itself."""

    n_points: ClassVar[int] = 1  # columns of points

    @staticmethod
    def points_digits(spread):
        """Digits after the point of points: to a thousandth of the target's spread."""
        return 3 - math.floor(math.log10(spread)) if spread > 0 else 12

    def linked(self, values):
        """Numbers from sums of points, (n_samples, n_points)."""
        return values

    def decide_points(self, values, threshold=None, costs=None):
        """Answers from sums of points, (n_samples, n_points)."""
        return values[:, 0]

    def fit_points(self, held, weight, sums):
        """Points by patterns of rules, from sums of numbers; see `additive`."""
        prior = np.append(np.full(held.shape[1] - 1, PRIOR_ROWS_OF_NUMBERS), 0.0)
        # Around the mean and in units of their spread, whatever the units of y.
        center = sums.sum() / weight.sum()
        apart = sums - center * weight[:, None]
        filled = weight > 0
        squares = apart[filled, 0] ** 2 / weight[filled]
        scale = math.sqrt(squares.sum() / weight.sum()) or 1.0
        points = scale * fit_numbers(held, weight, apart / scale, prior)[0]
        points[-1] += center
        return points

    def scorecard(self, held, weight, sums, points, points_to_double=None):
        """Whole points instead of exact ones; see `ClassPoints.scorecard`."""
        center = sums.sum() / weight.sum()
        filled = weight > 0
        apart = sums[filled, 0] / weight[filled] - center

        def squares(values):
            return float(weight[filled] @ (values[filled, 0] - center - apart) ** 2)

        slack = 5e-3 * float(weight[filled] @ apart**2)
        # Twice, as a nat is half a square.
        prior = 2 * PRIOR_ROWS_OF_NUMBERS
        return whole_points(held, points, squares, prior, slack, round_unit)
