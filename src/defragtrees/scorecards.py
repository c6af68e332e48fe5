"""Whole points: rounded so that they cost least, and what their total stands for."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from defragtrees.additive import fit_log_odds

__all__ = [
    "Scorecard",
    "Scoring",
    "reachable_totals",
    "round_unit",
    "short_unit",
    "whole_log_odds",
    "whole_points",
]

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
class Scorecard:
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
        return Scorecard(whole, unit, origin, cost)

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
