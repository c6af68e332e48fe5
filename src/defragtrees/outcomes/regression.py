"""Regression: numbers, their means and quantiles, and how they are measured."""

import dataclasses
import math
import numbers
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from defragtrees._utils.values import KEPT, Added, is_finite, shown
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.intervals import LARGEST_LEVERAGE, QUANTILE
from defragtrees.outcomes.measures import Measure, Moments, per_row
from defragtrees.outcomes.points import (
    PRIOR_ROWS_OF_NUMBERS,
    fit_numbers,
    round_unit,
    whole_points,
)
from defragtrees.outcomes.tests import Change, mean_p

LARGEST = 1e100
INTERVAL = (0.1, 0.9)  # shares of rows up to the quantiles of a rule

# Cells grow with their distance from the rule's prediction, so that one far-off number
# does not blur the others: a number is known to 0.24% of this distance, or to a
# 40,000th of the scale where it is nearer than a hundredth of that.
HALF = 4095
NEAR = 0.01
STEP = np.arcsinh(1e6 / NEAR) / HALF


@dataclass(frozen=True, eq=False)
class KeptValues:
    """The numbers of rows that are in one place: arrays of shape (n_samples,)."""

    target: np.ndarray
    weight: np.ndarray
    group: np.ndarray

    def of_group(self, k):
        """Numbers of a group in ascending order, and their weights."""
        rows = np.flatnonzero(self.group == k)
        rows = rows[np.argsort(self.target[rows], kind="stable")]
        return self.target[rows], self.weight[rows]

    def merged(self):
        """The same with one entry for rows of a group with equal numbers."""
        order = np.lexsort((self.target, self.group))
        target, group = self.target[order], self.group[order]
        is_new = (np.diff(target) != 0) | (np.diff(group) != 0)
        first = np.flatnonzero(np.concatenate([[True], is_new]))
        weight = np.add.reduceat(self.weight[order], first)
        return KeptValues(target[first], weight, group[first])


@dataclass(frozen=True, eq=False)
class CountedValues(Added):
    """Weights of numbers in cells around the prediction of each group; they add up."""

    cells: np.ndarray  # (n_groups, 2 * HALF + 1)
    around: np.ndarray = field(metadata=KEPT)  # (n_groups,)
    scale: float = field(metadata=KEPT)  # of all numbers, roughly

    @classmethod
    def of(cls, target, weight, group, around, scale):
        """The cells of some rows."""
        n_cells = 2 * HALF + 1
        cell = _cells(target - around[group], scale)
        shape = (len(around), n_cells)
        counts = np.bincount(group * n_cells + cell, weight, shape[0] * shape[1])
        return cls(counts.reshape(shape), around, scale)

    def of_group(self, k):
        """Middles of the cells of a group in ascending order, and their weights."""
        cell = np.flatnonzero(self.cells[k])
        return self.around[k] + _middles(cell, self.scale), self.cells[k, cell]


def _cells(apart, scale):
    """The cells of numbers by their distance from a prediction."""
    steps = np.arcsinh(apart / (NEAR * scale)) / STEP
    return np.clip(np.rint(steps).astype(np.intp), -HALF, HALF) + HALF


def _middles(cells, scale):
    """The distances in the middle of cells."""
    return np.sinh((cells - HALF) * STEP) * NEAR * scale


def in_cells(values, around, scale):
    """Numbers as precise as cells around one prediction are.

    Examples
    --------
    >>> in_cells(np.array([1.0, 1.000001, 7.0]), 1.0, 5.0).round(1).tolist()
    [1.0, 1.0, 7.0]
    """
    return around + _middles(_cells(values - around, scale), scale)


def quantiles(values, weight, shares):
    """The smallest of ascending values that reach these shares of the weight.

    Examples
    --------
    >>> quantiles(np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0]), [0.25, 0.9])
    array([1., 9.])
    """
    total = np.cumsum(weight)
    # A share of equal weights may miss its row by rounding alone.
    wanted = np.asarray(shares) * total[-1] * (1 - 1e-12)
    return values[np.minimum(np.searchsorted(total, wanted), len(values) - 1)]


@dataclass(frozen=True, eq=False)
class NumberSums(Added):
    """Weights, and moments around a prediction of each group of rows.

    Around one number for all groups nothing would be left of a small spread. Sums
    around the same predictions can be added.
    """

    moments: np.ndarray  # (n_groups, 3): sums of weight, times distance, times square
    # (n_groups,): from where distances are measured
    around: np.ndarray = field(metadata=KEPT)

    @classmethod
    def of(cls, outcome, target, sample_weight, group, predictions):
        """The sums of some rows around the predictions of the groups so far."""
        around = np.asarray(predictions, dtype=np.float64)
        apart = target - around[group]
        parts = (sample_weight, sample_weight * apart, sample_weight * apart**2)
        sums = [np.bincount(group, part, len(around)) for part in parts]
        return cls(np.column_stack(sums), around)

    @classmethod
    def of_group(cls, outcome, target, sample_weight):
        """The sums of the rows of one group around their mean."""
        weight = sample_weight.sum()
        if not weight:
            return cls(np.zeros((1, 3)), np.zeros(1))
        mean = np.average(target, weights=sample_weight)
        square = sample_weight @ (target - mean) ** 2
        return cls(np.array([[weight, 0.0, square]]), np.array([mean]))

    @property
    def weight(self):
        """The weight of each group."""
        return self.moments[:, 0]

    def _pooled(self):
        """Mean and variance of the target in all rows."""
        weight, first, second = self.moments.T
        center = np.average(self.around, weights=weight)
        by = self.around - center
        apart = (first + weight * by).sum() / weight.sum()
        square = (second + 2 * first * by + weight * by**2).sum() / weight.sum()
        return center + apart, max(square - apart**2, 0.0)

    @property
    def spread(self):
        """Standard deviation of the target in all rows."""
        return math.sqrt(self._pooled()[1])

    def basis(self, k=None):
        """The mean of a group, or of all rows, from which `predicted` follows."""
        if k is None:
            return self._pooled()[0]
        return self.around[k] + self.moments[k, 1] / self.moments[k, 0]

    @staticmethod
    def predicted(outcome, basis, spread):
        """The prediction that follows from a mean, as entries of a Rule."""
        return {"prediction": round(float(basis), _prediction_digits(basis, spread))}

    @staticmethod
    def values(target, sample_weight, group, predictions, scale):
        """Numbers in each group: kept, or counted in cells if they have a scale."""
        if scale is None:
            return KeptValues(target, sample_weight, group)
        around = np.asarray(predictions, dtype=np.float64)
        return CountedValues.of(target, sample_weight, group, around, scale)

    @staticmethod
    def measured(target, labels):
        """The sums from which errors are computed: those of y if it is known."""
        return target if labels is None else labels

    @property
    def prior_rows(self):
        """How many rows with the mean of all rows each group is given.

        As many as make the means err least if those of groups differ as they do: the
        variance within groups, in units of that between them.
        """
        weight, first, second = self.moments.T
        filled = weight > 0
        squares = second[filled] - first[filled] ** 2 / weight[filled]
        within = max(squares.sum() / weight.sum(), 0.0)
        between = self._pooled()[1] - within
        return within / between if between > 1e-12 * within else math.inf

    def shrunk_mean(self, k, worth=1.0):
        """Mean of a group, as if `prior_rows` more rows had that of all.

        A row counts as `worth` rows.
        """
        every, prior = self._pooled()[0], self.prior_rows
        if not self.moments[k, 0] or prior == math.inf:
            return every
        share = worth * self.moments[k, 0] / (worth * self.moments[k, 0] + prior)
        return every + share * (self.basis(k) - every)

    def leverage(self, k, worth=1.0):
        """The share of a row of a group in its own `shrunk_mean`."""
        rows = worth * self.weight[k] + self.prior_rows
        return min(1 / rows, LARGEST_LEVERAGE) if rows > 0 else 0.0

    def evidence(self, k):
        """Statistics of y in a group, as entries of a Rule: none but the quantiles."""
        return {}

    def error(self, k, outcome, prediction):
        """How far a prediction is from a group, as entries of a Rule."""
        weight, first, second = self.moments[k]
        if not weight:
            return {"spread": None, "error": math.nan}
        by = prediction - self.around[k]
        variance = max(second / weight - 2 * by * first / weight + by**2, 0.0)
        return {"spread": math.sqrt(variance), "error": float(variance)}

    def smoothed_error(self, k, spread):
        """Error of the best prediction for a group, shrunk towards that of all rows."""
        weight, first, second = self.moments[k]
        if not weight:
            return math.inf
        return (second - first**2 / weight + spread**2) / (weight + 1)


def _prediction_digits(value, spread):
    """Digits after the point: to a thousandth of the target's spread, four at least.

    So a number reads well, and what is printed is exactly what is predicted.
    Predictions that do not differ are written to fifteen digits.
    """
    if 0 < abs(value) and spread <= 1e-12 * abs(value):
        return 14 - math.floor(math.log10(abs(value)))
    sizes = [size for size in (spread, abs(value)) if size > 0]
    return max([3 - math.floor(math.log10(size)) for size in sizes], default=0)


@dataclass(frozen=True, eq=False)
class NumberScores(Added):
    """Predicted numbers against y; scores can be added."""

    expected: Moments  # of y
    squares: float  # sum of squared errors
    distances: float  # sum of absolute errors

    has_probabilities = False

    @classmethod
    def of(cls, outcome, expected, weight, predictions, probabilities=None, costs=None):
        """The scores of some rows; numbers have neither probabilities nor costs."""
        apart = np.abs(np.asarray(expected, np.float64) - predictions)
        sums = float(weight @ apart**2), float(weight @ apart)
        return cls(Moments.of(expected, weight), *sums)

    @property
    def weight(self):
        """The weight of the rows."""
        return self.expected.weight

    def rmse(self):
        """Root of the mean squared error."""
        return math.sqrt(self.squares / self.weight)

    def r2(self):
        """Share of the variance of y that is explained."""
        y, loss = self.expected, self.squares / self.weight
        return _explained_share(loss, y.variance, y.largest)


def _explained_share(loss, variance, largest):
    """R² from a mean squared error, and the variance of numbers up to `largest`."""
    # What rounding leaves of a constant is no variance.
    noise = (1e-12 * largest) ** 2
    if variance <= noise:
        return 1.0 if loss <= noise else 0.0
    return float(1.0 - loss / variance)


MEASURES = (
    Measure("rmse", "root mean squared error", False, NumberScores.rmse, head="RMSE"),
    Measure("mae", "mean absolute error", False, per_row("distances"), head="MAE"),
    Measure("r2", "R²", True, NumberScores.r2),
)


@dataclass(frozen=True)
class Numbers(Outcome):
    """A number; its errors and quantiles are in the units of y."""

    task: ClassVar[str] = "regression"
    estimator_suffix: ClassVar[str] = "Regressor"
    sums: ClassVar[Any] = NumberSums
    scores: ClassVar[Any] = NumberScores
    all_measures: ClassVar[tuple[Measure, ...]] = MEASURES
    error_name: ClassVar[str] = "root mean squared error"
    keeps_residuals: ClassVar[bool] = True

    # y and predictions as arrays

    def as_numbers(self, y):
        """Any y as float64."""
        try:
            return np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            names = self.columns[1:] and self.columns
            what = " and ".join(names) or "y"
            raise ValueError(f"{what} must be numeric for {self.task}.") from None

    def check(self, y):
        """The numbers as float64; rejected if some are not finite, or too large."""
        y = self.as_numbers(y)
        if not np.isfinite(y).all():
            raise ValueError(
                "Input y contains NaN or infinity; finite numbers are needed."
            )
        if (np.abs(y) > LARGEST).any():
            raise ValueError(
                f"y must be from {-LARGEST:g} to {LARGEST:g}, so that its squares are "
                f"numbers too; got {np.abs(y).max():g}. Use another unit."
            )
        return y

    def indicators(self, y):
        return np.asarray(y, dtype=np.float64)[:, None]

    def moments(self, y, weight):
        return Moments.of(y, weight)

    def check_predictions(self, predictions):
        is_usable = np.abs(predictions) <= LARGEST
        if not is_usable.all():
            raise ValueError(
                f"The model must predict numbers from {-LARGEST:g} to {LARGEST:g}; "
                f"got {predictions[~is_usable].flat[0]:g} for row "
                f"{int(np.argwhere(~is_usable)[0][0]) + 1} of X. Check that it is not "
                "altered, and that X has the units that it was trained on."
            )

    def target_of(self, forest, raw):
        linked = forest.linked(raw)
        return linked[:, 0] if linked.shape[1] == 1 else linked

    # Losses

    def losses(self, y, predicted):
        """For each row the squared error."""
        return (np.ravel(y) - np.ravel(predicted)) ** 2

    def fidelity_of_loss(self, loss, moments):
        """R² of the predictions of the model."""
        return _explained_share(loss, moments.variance, moments.largest)

    def prediction_moments(self, predictions, weight):
        return Moments.of(np.asarray(predictions, dtype=np.float64), weight)

    def constant_loss(self, y, weight):
        """A function of rows: the sum of squares if all get one prediction."""
        # Centred, so that little is lost in the difference of two large sums.
        centred = y - np.average(y, weights=weight)

        def loss(rows):
            apart, share = centred[rows], weight[rows]
            return float(share @ apart**2 - (share @ apart) ** 2 / share.sum())

        return loss

    def nats(self, y, weight, reported):
        mean = max(self.error(y, reported[:, 0], weight), 1e-300)
        return 0.5 * weight.sum() * math.log(mean)

    def shown_error(self, error):
        return math.sqrt(error)

    def shown_deviation(self, error, deviation):
        return deviation / (2 * math.sqrt(error)) if error else 0.0

    def agreement(self, one, two):
        """How much of the variance of two predictions is common, from 0 to 1."""
        variance = (one.var() + two.var()) / 2
        distance = ((one - two) ** 2).mean()
        return float(max(0.0, 1 - distance / variance)) if variance else 1.0

    def change_measures(self, before, after, y=None):
        if not len(before):
            return {}
        return {"mean_change": float(np.abs(before - after).mean())}

    def rate_change(self, rule, y, n_then):
        if rule.spread is None or rule.points is not None:
            return None
        p = mean_p(rule.prediction, rule.spread, n_then, y)
        return Change(rule.prediction, y.mean(), p)

    def target_change(self, then, n_then, y):
        return Change(then[0], y.mean(), mean_p(*then, n_then, y))

    # What a rule predicts and reports

    def check_rule(self, rule, is_averaged=False):
        """Reject a rule that predicts no finite number, or has class shares."""
        if not (_is_number(rule.prediction) and math.isfinite(rule.prediction)):
            raise ValueError(
                f"A rule must predict a finite number; got {shown(rule.prediction)}."
            )
        if rule.rates is not None or rule.distribution is not None:
            raise ValueError("rates and distribution are for classes, not for numbers.")
        for name in ("model_mean", "alone"):
            value = getattr(rule, name)
            if value is not None and not _is_number(value):
                raise ValueError(f"{name} of a number must be a number; got {value!r}.")

    def with_prediction(self, rule, prediction):
        if not is_finite(prediction):
            raise ValueError(
                f"These rules predict finite numbers; got {prediction!r}. Give a "
                "number."
            )
        return dataclasses.replace(
            rule, prediction=float(prediction), error=math.nan, spread=None
        )

    def estimated_prediction(self, sums, k, decision, worth=1.0):
        if sums.labels is not None and sums.patterns is None:
            mean = sums.labels.shrunk_mean(k, worth)
            return sums.labels.predicted(self, mean, sums.labels.spread)
        target = sums.target if sums.labels is None else sums.labels
        basis = target.basis(k if target.weight[k] else None)
        return target.predicted(self, basis, target.spread)

    def estimate(self, rule):
        """Quantiles of y in the rows of a rule, and the mean of the model."""
        mean = math.nan if rule.model_mean is None else rule.model_mean
        quantiles = None if rule.quantiles is None else list(rule.quantiles)
        alone = math.nan if rule.alone is None else rule.alone
        return {"interval": quantiles, "model_mean": mean, "alone": alone}

    def observed_interval(self, observed, variance, n_effective, weight):
        half = QUANTILE * math.sqrt(variance / n_effective)
        return observed, observed - half, observed + half

    # Points

    def fit_points(self, matches, weight, sums):
        prior = np.append(np.full(matches.shape[1] - 1, PRIOR_ROWS_OF_NUMBERS), 0.0)
        # Around the mean and in units of their spread, whatever the units of y.
        center = sums.sum() / weight.sum()
        apart = sums - center * weight[:, None]
        filled = weight > 0
        squares = apart[filled, 0] ** 2 / weight[filled]
        scale = math.sqrt(squares.sum() / weight.sum()) or 1.0
        points = scale * fit_numbers(matches, weight, apart / scale, prior)[0]
        points[-1] += center
        return points

    def scorecard(self, matches, weight, sums, points, bound=None):
        center = sums.sum() / weight.sum()
        filled = weight > 0
        apart = sums[filled, 0] / weight[filled] - center

        def squares(values):
            return float(weight[filled] @ (values[filled, 0] - center - apart) ** 2)

        slack = 5e-3 * float(weight[filled] @ apart**2)
        # Twice, as a nat is half a square.
        prior = 2 * PRIOR_ROWS_OF_NUMBERS
        how = squares, prior, slack, round_unit, bound
        return whole_points(matches, points, *how)

    def rounded_points(self, points, spread):
        """To a thousandth of the target's spread."""
        digits = 3 - math.floor(math.log10(spread)) if spread > 0 else 12
        return np.round(points, digits)


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
