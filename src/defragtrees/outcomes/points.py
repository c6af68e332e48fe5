"""What sums of points stand for, and how points are fitted."""

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from scipy.special import expit, softmax

__all__ = [
    "ClassPoints",
    "NumberPoints",
    "PRIOR_ROWS",
    "PRIOR_ROWS_OF_NUMBERS",
    "FittedPoints",
    "Scoring",
    "find_patterns",
    "fit_log_odds",
    "fit_numbers",
    "fit_shares",
    "reachable_totals",
    "round_unit",
    "short_unit",
    "whole_log_odds",
    "whole_points",
]

# Rows that say that the points of a rule are zero. Of classes z² of a 95 % interval, by
# which the rates of a list are drawn in too; of numbers one, as what points leave over
# varies at most as much as what they say.
PRIOR_ROWS = 3.84
PRIOR_ROWS_OF_NUMBERS = 1.0
MOST_COUNTED = 12  # with so many rules all patterns are counted, else those that occur

MOST_STEPS = 50  # of Newton's method; a handful is the rule
LEAST_CHANGE = 1e-12  # relative; less is rounding
FLOOR = 1e-10  # of a curvature, so that equations can be solved
DIGITS = 10  # of points; beyond it hangs on the machine


def find_patterns(held):
    """Which rules hold together, and in which rows.

    Parameters
    ----------
    held : bool array of shape (n_rules - 1, n_samples)
        Whether each rule, but for the base, holds in each row.

    Returns
    -------
    patterns : float array of shape (n_patterns, n_rules)
        1 where a rule holds; the last column is that of the base.
    place : int array of shape (n_samples,)
        The pattern of each row.

    Examples
    --------
    >>> patterns, place = find_patterns(np.array([[True, False, True]]))
    >>> patterns.tolist(), place.tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [1, 0, 1])
    """
    n_rules, n_rows = held.shape
    if n_rules <= MOST_COUNTED:
        code = np.zeros(n_rows, dtype=np.intp)
        for k in range(n_rules):
            code |= held[k].astype(np.intp) << k
        present = np.flatnonzero(np.bincount(code, minlength=1 << n_rules))
        new = np.zeros(1 << n_rules, dtype=np.intp)
        new[present] = np.arange(len(present))
        patterns, place = (present[:, None] >> np.arange(n_rules)) & 1, new[code]
    else:
        patterns, place = np.unique(held.T, axis=0, return_inverse=True)
    ones = np.ones((len(patterns), 1))
    return np.hstack([patterns.astype(np.float64), ones]), place.ravel()


def fit_numbers(held, weight, sums, prior):
    """Points whose sums are nearest to numbers, drawn to zero.

    Parameters
    ----------
    held : float array of shape (n_patterns, n_rules)
        1 where a rule holds; the last one, the base, always does.
    weight : array of shape (n_patterns,)
    sums : array of shape (n_patterns, n_outputs)
        Of weight times target.
    prior : array of shape (n_rules,)
        How many rows say that the points of each rule are zero.

    Returns
    -------
    points : array of shape (n_rules, n_outputs)
    explained : float
        By how much the points, what draws them to zero included, lower the sum of
        weighted squares.

    Examples
    --------
    >>> held = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> sums = np.array([[4.0], [10.0]])
    >>> points, _ = fit_numbers(held, np.array([2.0, 2.0]), sums, np.zeros(2))
    >>> points.ravel().round(6).tolist()
    [3.0, 2.0]
    """
    sides = held.T @ sums
    matrix = _with_prior((held * weight[:, None]).T @ held, prior)
    points = np.round(_solved(matrix, sides), DIGITS)
    twice = 2 * (points * sides).sum()
    return points, float(twice - (points * (matrix @ points)).sum())


def fit_log_odds(held, weight, sums, prior, start=None):
    """Points whose sums are the log-odds of a probability, drawn to zero.

    Parameters
    ----------
    held, weight, prior
        See `fit_numbers`.
    sums : array of shape (n_patterns, 1)
        Of weight times probability, or of the weight of rows with the event.
    start : array of shape (n_rules, 1), optional
        Points to start from.

    Returns
    -------
    points : array of shape (n_rules, 1)
    cost : float
        Nats for the events, by weight, and for what draws points to zero.

    Examples
    --------
    >>> held = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> points, _ = fit_log_odds(held, np.array([4.0, 4.0]), np.array([[2.0], [3.0]]),
    ...                          np.zeros(2))
    >>> points.ravel().round(4).tolist()
    [1.0986, 0.0]
    """
    events = sums[:, 0]
    points = np.zeros(held.shape[1]) if start is None else start[:, 0].copy()

    def cost_of(points):
        total = held @ points
        nats = weight @ np.logaddexp(0.0, total) - events @ total
        return float(nats + 0.5 * prior @ points**2)

    cost = cost_of(points)
    for _ in range(MOST_STEPS):
        likely = expit(held @ points)
        slope = held.T @ (events - weight * likely) - prior * points
        curve = weight * likely * (1 - likely)
        step = _solved(_with_prior((held * curve[:, None]).T @ held, prior), slope)
        points, lower = _downhill(cost_of, points, step, cost)
        if lower > cost - LEAST_CHANGE * max(abs(cost), 1.0):
            break
        cost = lower
    points = np.round(points, DIGITS)
    return points[:, None], cost_of(points)


def fit_shares(held, weight, sums, prior):
    """Points of each class whose sums are log-shares, up to a constant a row.

    Parameters
    ----------
    held, weight, prior
        See `fit_numbers`.
    sums : array of shape (n_patterns, n_classes)
        Of weight times the probability of each class.

    Returns
    -------
    points : array of shape (n_rules, n_classes)
        Those of a rule add up to zero.
    cost : float
        Nats for the classes, by weight, and for what draws points to zero.
    """
    n_rules, n_classes = held.shape[1], sums.shape[1]
    penalty = np.repeat(prior, n_classes)

    def cost_of(points):
        total = held @ points.reshape(n_rules, n_classes)
        top = total.max(axis=1)
        scale = top + np.log(np.exp(total - top[:, None]).sum(axis=1))
        nats = weight @ scale - (sums * total).sum()
        return float(nats + 0.5 * penalty @ points**2)

    points = np.zeros(n_rules * n_classes)
    cost = cost_of(points)
    for _ in range(MOST_STEPS):
        likely = softmax(held @ points.reshape(n_rules, n_classes), axis=1)
        apart = sums - weight[:, None] * likely
        slope = (held.T @ apart).ravel() - penalty * points
        matrix = _with_prior(_share_curvature(held, weight, likely), penalty)
        points, lower = _downhill(cost_of, points, _solved(matrix, slope), cost)
        if lower > cost - LEAST_CHANGE * max(abs(cost), 1.0):
            break
        cost = lower
    points = points.reshape(n_rules, n_classes)
    points = np.round(points - points.mean(axis=1, keepdims=True), DIGITS)
    return points, cost_of(points.ravel())


def _share_curvature(held, weight, likely):
    """Second derivatives of the cost, (n_rules * n_classes) square."""
    n_rules, n_classes = held.shape[1], likely.shape[1]
    matrix = np.zeros((n_rules, n_classes, n_rules, n_classes))
    for a in range(n_classes):
        for b in range(n_classes):
            curve = weight * likely[:, a] * ((a == b) - likely[:, b])
            matrix[:, a, :, b] = (held * curve[:, None]).T @ held
    return matrix.reshape(n_rules * n_classes, -1)


def _downhill(cost_of, points, step, cost):
    """The points after the longest of some halved steps that does not cost more."""
    for _ in range(30):
        lower = cost_of(points + step)
        if lower <= cost:
            return points + step, lower
        step = step / 2
    return points, cost


def _with_prior(matrix, prior):
    # A tiny ridge keeps rules that always hold together apart from the base.
    floor = FLOOR * max(matrix.diagonal().max(initial=0.0), 1.0)
    return matrix + np.diag(prior + floor)


def _solved(matrix, sides):
    return np.linalg.solve(matrix, sides)


MOST_POINTS = (3, 5, 10, 20, 50)  # the largest of whole points, as few as say it well
MOST_SWEEPS = 10
MOST_TOTALS = 10_000  # beyond it some are left out


@dataclass(frozen=True)
class Scoring:
    """How points are to be written.

    Parameters
    ----------
    is_whole : bool
    points_to_double : float, optional
        Of two classes, how many points double the odds; None leaves it open.
    """

    is_whole: bool = False
    points_to_double: float | None = None


@dataclass(frozen=True, eq=False)
class FittedPoints:
    """Points with what their total stands for: `(total - origin) * unit`.

    Parameters
    ----------
    points : array of shape (n_rules, n_points)
        The last are those of the base.
    unit, origin : float
    cost : float
        Of the totals, as `cost_of` counts it.
    """

    points: np.ndarray
    unit: float = 1.0
    origin: float = 0.0
    cost: float = math.inf


def whole_log_odds(held, weight, events, points, cost_of, prior, points_to_double=None):
    """Whole points for log-odds.

    Parameters
    ----------
    held : float array of shape (n_patterns, n_rules)
        See `additive`.
    weight, events : arrays of shape (n_patterns,)
        Of rows, and of those with the second class.
    points : array of shape (n_rules, 1)
        Exact ones.
    cost_of : callable
        From log-odds of patterns, (n_patterns, 1), to nats.
    prior : float
        What draws points to zero, as it did exact ones.
    points_to_double : float, optional
        Points that double the odds. By default unit and origin are fitted, and the base
        has no points.
    """
    if points_to_double is not None:
        unit = math.log(2) / points_to_double
        scale_of = partial(_given_scale, unit)
        return _descended(held, np.rint(points / unit), scale_of, cost_of, prior)

    def scale_of(whole):
        totals = held @ whole
        line = np.hstack([totals, np.ones_like(totals)])
        drawn = np.array([prior * (whole[:-1] ** 2).sum(), 0.0])
        slope, level = fit_log_odds(line, weight, events[:, None], drawn)[0][:, 0]
        if not slope > 0:
            return unit, -float(points[-1, 0]) / unit
        unit_now = short_unit(slope)
        return unit_now, round(-level / unit_now, 1)

    exact = cost_of(held @ points) + _drawn(points, prior)
    largest = np.abs(points[:-1]).max(initial=0.0)
    for most in MOST_POINTS:
        unit = largest / most or 1.0
        start = np.rint(points / unit)
        start[-1] = 0.0
        card = _descended(held, start, scale_of, cost_of, prior, is_base_free=False)
        if card.cost <= exact + 1e-3 * weight.sum():
            break
    return card


def whole_points(held, points, cost_of, prior, slack, fix_unit=float):
    """Whole points for numbers, or for the shares of many classes.

    Parameters
    ----------
    held, points, cost_of, prior
        See `whole_log_odds`.
    slack : float
        How much more than exact points they may cost.
    fix_unit : callable
        From what a point should stand for to what it does.
    """
    exact = cost_of(held @ points) + _drawn(points, prior)
    largest = np.abs(points[:-1]).max(initial=0.0)
    for most in MOST_POINTS[1:]:
        unit = fix_unit(largest / most or 1.0)
        scale_of = partial(_given_scale, unit)
        card = _descended(held, np.rint(points / unit), scale_of, cost_of, prior)
        if card.cost <= exact + slack:
            break
    return card


def _given_scale(unit, whole):
    return unit, 0.0


def _drawn(points, prior):
    """What points cost for not being zero; the base costs nothing."""
    return 0.5 * prior * float((points[:-1] ** 2).sum())


def _descended(held, whole, scale_of, cost_of, prior, is_base_free=True):
    """The scorecard after points were moved by one as long as that lowers its cost."""

    def made(whole):
        unit, origin = scale_of(whole)
        cost = cost_of((held @ whole - origin) * unit) + _drawn(whole * unit, prior)
        return FittedPoints(whole, unit, origin, cost)

    card = made(whole)
    places = [*np.ndindex(whole.shape)]
    if not is_base_free:
        places = places[: -whole.shape[1]]
    for _ in range(MOST_SWEEPS):
        before = card.cost
        for place in places:
            for step in (-1.0, 1.0):
                moved = card.points.copy()
                moved[place] += step
                other = made(moved)
                if other.cost < card.cost - 1e-9 * abs(card.cost):
                    card = other
        if not card.cost < before:
            break
    return card


def reachable_totals(points):
    """The totals that points can add up to, in ascending order.

    Parameters
    ----------
    points : sequence of float
        The last are those of the base, which always count.

    Examples
    --------
    >>> reachable_totals([1.0, -2.0, 5.0]).tolist()
    [3.0, 4.0, 5.0, 6.0]
    """
    totals = np.array([points[-1]], dtype=np.float64)
    for value in points[:-1]:
        totals = np.unique(np.round(np.concatenate([totals, totals + value]), 9))
        if len(totals) > MOST_TOTALS:
            places = np.linspace(0, len(totals) - 1, MOST_TOTALS).round().astype(int)
            totals = totals[places]
    return totals


def round_unit(value):
    """The nearest of 1, 2 and 5 times a power of ten from below.

    Examples
    --------
    >>> round_unit(0.37), round_unit(6.0), round_unit(1000.0)
    (0.2, 5.0, 1000.0)
    """
    power = math.floor(math.log10(value) + 1e-9)
    factor = max(f for f in (1, 2, 5) if f * 10.0**power <= value * (1 + 1e-9))
    return float(f"{factor}e{power}")


def short_unit(value):
    """A number of three digits.

    Examples
    --------
    >>> short_unit(0.123456)
    0.123
    """
    return float(f"{value:.3g}")


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
            return softmax(values, axis=1)
        # The log-odds of the second class, against 0 of the first.
        second = softmax(np.hstack([np.zeros_like(values), values]), axis=1)[:, 1:]
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
