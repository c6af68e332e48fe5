"""Fits of points that add up: exact ones by Newton's method, then whole ones."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import scipy  # whose modules are imported on first use

# Prior rows that shrink the points of a rule towards zero. For classes z² of a 95%
# interval, as for the rates of a list; for numbers one, as the residuals vary at most
# as much as the points.
from defragtrees._utils.formatting import round_significant
from defragtrees._utils.types import Floats

PRIOR_ROWS = 3.84
PRIOR_ROWS_OF_NUMBERS = 1.0
MOST_COUNTED = 12  # with so many rules all patterns are counted, else those that occur

MOST_STEPS = 50  # of Newton's method; a handful is the rule
HALVES = 0.5 ** np.arange(30)  # of such a step
LEAST_CHANGE = 1e-12  # relative; less is rounding
# The last step of Newton's method, whose square is about what it still misses.
LEAST_STEP = 1e-6
FLOOR = 1e-10  # of a curvature, so that equations can be solved
LARGEST_LOG = 100.0  # of a mean
LEAST_RATE = 1e-9  # a predicted rate is not less
DIGITS = 10  # of points; those beyond depend on the machine

MOST_POINTS = (3, 5, 10, 20, 50)  # the largest whole points; the first that fits well
MOST_SWEEPS = 10
BOUND_SCALES = (0.5, 1.0, 1.5, 2.0)  # of a bound: largest points before clipping

FREE = 2  # numbers per rule that are fitted: its points, and which rule it is
LEAST_SHARE = 0.1  # of points that were fitted to chance; some of them is kept
TAILS = (0.1, 0.9)  # shares of what rows know of a line, where its tails begin
TAIL_PRIORS = 4.0 ** np.arange(-2, 5)  # that shrink tails to the line; the best counts
STRAIGHT = 1e9  # a prior that leaves no tails
LINE_PRIOR = 1.0  # of a slope; it matters where a line separates the classes
LEAST_GAIN = 1.0  # nats of evidence for tails
LEAST_SLOPE = 0.05  # of a tail; higher totals are never less probable


def find_patterns(matches):
    """Patterns of rules that match together, and the pattern of each row.

    `matches` is whether each rule, but for the base, matches each row: (n_rules - 1,
    n_samples). Patterns, (n_patterns, n_rules), have 1 where a rule matches; the last
    column is that of the base.

    Examples
    --------
    >>> patterns, place = find_patterns(np.array([[True, False, True]]))
    >>> patterns.tolist(), place.tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [1, 0, 1])
    """
    n_rules, n_rows = matches.shape
    if n_rules <= MOST_COUNTED:
        code = np.zeros(n_rows, dtype=np.intp)
        for k in range(n_rules):
            code |= matches[k].astype(np.intp) << k
        present = np.flatnonzero(np.bincount(code, minlength=1 << n_rules))
        new = np.zeros(1 << n_rules, dtype=np.intp)
        new[present] = np.arange(len(present))
        patterns, place = (present[:, None] >> np.arange(n_rules)) & 1, new[code]
    else:
        # Rows of flags as few whole numbers, which are much faster to sort.
        bits = np.zeros((-(-n_rules // 64) * 64, n_rows), dtype=bool)
        bits[:n_rules] = matches
        packed = np.ascontiguousarray(np.packbits(bits, axis=0).T)
        words = packed.view(">u8").astype(np.uint64)
        order = np.lexsort(words.T[::-1])
        words = words[order]
        is_first = np.append(True, (words[1:] != words[:-1]).any(axis=1))
        place = np.empty(n_rows, dtype=np.intp)
        place[order] = np.cumsum(is_first) - 1
        patterns = matches[:, order[is_first]].T
    ones = np.ones((len(patterns), 1))
    return np.hstack([patterns.astype(np.float64), ones]), place.ravel()


def fit_numbers(matches, weight, sums, prior):
    """Points whose sums are nearest to numbers, shrunk towards zero.

    `matches`, (n_patterns, n_rules), is 1 where a rule matches; the last one, the base,
    always does. `sums`, (n_patterns, n_outputs), are of weight times target; `prior`
    is, for each rule, how many rows count as evidence for zero points. Gives the points
    and by how much they, with their prior, lower the sum of weighted squares.

    Examples
    --------
    >>> matches = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> sums = np.array([[4.0], [10.0]])
    >>> points, _ = fit_numbers(matches, np.array([2.0, 2.0]), sums, np.zeros(2))
    >>> points.ravel().round(6).tolist()
    [3.0, 2.0]
    """
    sides = matches.T @ sums
    matrix = _with_prior((matches * weight[:, None]).T @ matches, prior)
    points = np.round(np.linalg.solve(matrix, sides), DIGITS)
    twice = 2 * (points * sides).sum()
    return points, float(twice - (points * (matrix @ points)).sum())


@dataclass(frozen=True)
class Link:
    """From a sum of points to a mean, as in a generalised linear model.

    The cost in nats of a mean `m` where y is `y` is `potential(total) - y * total`, and
    at best `least(y)`.
    """

    mean: Callable[[Floats], Floats]
    potential: Callable[[Floats], Floats]
    curve: Callable[[Any], Any]  # of the cost, from the mean
    least: Callable[[Any], Any]
    least_curve: float = 0.0
    is_scaled: bool = False  # whether means have a unit


def _entropy(share):
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return -share * np.log(share) - (1 - share) * np.log1p(-share)


def _bounded_exp(total):
    return np.exp(np.minimum(total, LARGEST_LOG))


# From the `link` of an outcome whose points are fitted by Newton's method.
LINKS = {
    "logit": Link(
        lambda total: scipy.special.expit(total),
        lambda total: np.logaddexp(0.0, total),
        lambda mean: mean * (1 - mean),
        _entropy,
        least_curve=1e-3,
    ),
    "log": Link(
        _bounded_exp,
        _bounded_exp,
        lambda mean: mean,
        lambda y: y - scipy.special.xlogy(y, y),
        is_scaled=True,
    ),
}


def fit_linked(link, matches, weight, sums, prior, start=None, least_step=LEAST_STEP):
    """Points whose sums are the linked mean of y, and their cost in nats.

    As `fit_numbers`; `link` is one of `LINKS`, and `sums`, (n_patterns, 1), are of
    weight times y: probabilities, or the weight of rows with the event, or counts. The
    fit begins at the points `start`, and ends after a step of at most `least_step`.

    Examples
    --------
    >>> matches = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> weight, sums = np.array([4.0, 4.0]), np.array([[2.0], [3.0]])
    >>> points, _ = fit_linked(LINKS["logit"], matches, weight, sums, np.zeros(2))
    >>> points.ravel().round(4).tolist()
    [1.0986, 0.0]
    >>> points, _ = fit_linked(LINKS["log"], matches, weight, sums, np.zeros(2))
    >>> np.exp(points).ravel().round(4).tolist()
    [1.5, 0.5]
    """
    events = sums[:, 0]
    points = np.zeros(matches.shape[1]) if start is None else start[:, 0].copy()
    if start is None and link.is_scaled:
        points[-1] = math.log(max(events.sum() / weight.sum(), LEAST_RATE))

    def cost_of(points):
        total = matches @ points
        nats = weight @ link.potential(total) - events @ total
        return float(nats + 0.5 * prior @ points**2)

    def step_of(points):
        likely = link.mean(matches @ points)
        slope = matches.T @ (events - weight * likely) - prior * points
        curve = weight * link.curve(likely)
        matrix = _with_prior((matches * curve[:, None]).T @ matches, prior)
        return np.linalg.solve(matrix, slope)

    points = np.round(_newton(cost_of, step_of, points, least_step), DIGITS)
    return points[:, None], cost_of(points)


def fit_shares(matches, weight, sums, prior):
    """Points of each class whose sums are log-shares, and their cost in nats.

    As `fit_numbers`; `sums`, (n_patterns, n_classes), are of weight times the
    probability of each class. The points of a rule add up to zero.
    """
    n_rules, n_classes = matches.shape[1], sums.shape[1]
    penalty = np.repeat(prior, n_classes)

    def cost_of(points):
        total = matches @ points.reshape(n_rules, n_classes)
        top = total.max(axis=1)
        scale = top + np.log(np.exp(total - top[:, None]).sum(axis=1))
        nats = weight @ scale - (sums * total).sum()
        return float(nats + 0.5 * penalty @ points**2)

    def step_of(points):
        totals = matches @ points.reshape(n_rules, n_classes)
        likely = scipy.special.softmax(totals, axis=1)
        apart = sums - weight[:, None] * likely
        slope = (matches.T @ apart).ravel() - penalty * points
        matrix = _with_prior(_share_curvature(matches, weight, likely), penalty)
        return np.linalg.solve(matrix, slope)

    points = _newton(cost_of, step_of, np.zeros(n_rules * n_classes))
    points = points.reshape(n_rules, n_classes)
    points = np.round(points - points.mean(axis=1, keepdims=True), DIGITS)
    return points, cost_of(points.ravel())


def _share_curvature(matches, weight, likely):
    """Second derivatives of the cost, (n_rules * n_classes) square."""
    n_rules, n_classes = matches.shape[1], likely.shape[1]
    matrix = np.zeros((n_rules, n_classes, n_rules, n_classes))
    for a in range(n_classes):
        for b in range(n_classes):
            curve = weight * likely[:, a] * ((a == b) - likely[:, b])
            matrix[:, a, :, b] = (matches * curve[:, None]).T @ matches
    return matrix.reshape(n_rules * n_classes, -1)


def _newton(cost_of, step_of, points, least_step=0.0):
    """Points of the least cost: of each step the longest of some halves that gains."""
    cost = cost_of(points)
    for _ in range(MOST_STEPS):
        step = step_of(points)
        tried = (points + part * step for part in HALVES)
        lower = ((new, c) for new in tried if (c := cost_of(new)) <= cost)
        (points, cost), before = next(lower, (points, cost)), cost
        is_done = np.abs(step).max() <= least_step
        if is_done or cost > before - LEAST_CHANGE * max(abs(before), 1.0):
            break
    return points


def _with_prior(matrix, prior):
    # A tiny ridge keeps rules that always match together apart from the base.
    floor = FLOOR * max(matrix.diagonal().max(initial=0.0), 1.0)
    return matrix + np.diag(prior + floor)


@dataclass(frozen=True)
class Scoring:
    """How points are to be written."""

    is_whole: bool = False
    # whether points must have the sign of what the rows of a rule say by themselves
    follows_rates: bool = False
    most: int | None = None  # the largest whole points of a rule


@dataclass(frozen=True, eq=False)
class FittedPoints:
    """Points with what their total stands for: `(total - origin) * unit`."""

    points: np.ndarray  # (n_rules, n_points); the last are those of the base
    unit: float = 1.0
    origin: float = 0.0
    cost: float = math.inf  # of the totals, as `cost_of` counts it
    tails: tuple = ()  # see `Scorecard`


def whole_linked(link, matches, weight, events, points, prior, fix_unit, bound=None):
    """The FittedPoints of whole points near the exact `points` of `fit_linked`.

    `events` are sums of y, `prior` is that of the exact points, and `fix_unit` a
    function from the best unit to the one that is used. Unit and origin are fitted,
    and the base has no points. No points are beyond `bound`, if it is given.
    """

    def cost_of(values):
        value = values[:, 0]
        return float(weight @ link.potential(value) - events @ value)

    def scale_of(whole):
        totals = matches @ whole
        line = np.hstack([totals, np.ones_like(totals)])
        drawn = np.array([prior * (whole[:-1] ** 2).sum(), 0.0])
        slope, level = fit_linked(link, line, weight, events[:, None], drawn)[0][:, 0]
        if not slope > 0:
            return unit, -float(points[-1, 0]) / unit
        unit_now = fix_unit(slope)
        return unit_now, round(-level / unit_now, 1)

    exact = cost_of(matches @ points) + _drawn(points, prior)
    largest = np.abs(points[:-1]).max(initial=0.0)
    cards = []
    for most in MOST_POINTS if bound is None else [bound * s for s in BOUND_SCALES]:
        unit = largest / most or 1.0
        start = np.rint(points / unit)
        start[-1] = 0.0
        cards.append(_descended(matches, start, scale_of, cost_of, prior, bound, False))
        if bound is None and cards[-1].cost <= exact + 1e-3 * weight.sum():
            break
    return cards[-1] if bound is None else min(cards, key=attrgetter("cost"))


def whole_points(matches, points, cost_of, prior, slack, fix_unit=float, bound=None):
    """The FittedPoints of whole points for numbers, or the shares of many classes.

    As `whole_linked`; `slack` is how much more than exact points they may cost,
    `fix_unit` a function from the best unit to the one that is used. The base is
    without `bound`.
    """
    exact = cost_of(matches @ points) + _drawn(points, prior)
    largest = np.abs(points[:-1]).max(initial=0.0)
    cards = []
    for most in MOST_POINTS[1:] if bound is None else [bound * s for s in BOUND_SCALES]:
        unit = fix_unit(largest / most or 1.0)
        scale = unit, 0.0
        start = np.rint(points / unit)
        how = (lambda whole, s=scale: s), cost_of, prior, bound
        cards.append(_descended(matches, start, *how))
        if bound is None and cards[-1].cost <= exact + slack:
            break
    return cards[-1] if bound is None else min(cards, key=attrgetter("cost"))


def bent(values: Floats, tails: Sequence[tuple[float, float]]) -> Floats:
    """Values that below the first tail and above the second change by its slope.

    Examples
    --------
    >>> bent(np.array([-3.0, 0.0, 4.0]), ((-1.0, 0.5), (2.0, 2.0))).tolist()
    [-2.0, 0.0, 6.0]
    """
    if not tails:
        return values
    (low, low_slope), (high, high_slope) = tails
    below, above = low + (values - low) * low_slope, high + (values - high) * high_slope
    return np.select([values < low, values > high], [below, above], values)


def calibrated(card, matches, weight, events, link, fix_unit=float):
    """FittedPoints with unit, origin and, of classes, tails that new rows confirm.

    Points are too large by what fitting them, and choosing each rule, gains by chance.
    So the unit shrinks by the share of the likelihood ratio that is left without it
    (van Houwelingen and le Cessie, 1990), and is then fixed by `fix_unit`. Tails are
    where totals and log-odds are not on a line.
    """
    rate, n_free = events.sum() / weight.sum(), FREE * (len(card.points) - 1)
    if not n_free or not link.curve(rate) > 0:
        return card

    def nats(values):
        return weight @ link.potential(values) - events @ values

    values, level, slope = card.unit * (matches @ card.points[:, 0] - card.origin), 0, 1
    tails = ()
    if link is LINKS["logit"]:
        level, slope, tails = _tails(values, weight, events)
    values = bent(level + slope * values, tails)
    ratio = max(2 * (weight.sum() * link.least(rate) - nats(values)), n_free)
    unit = fix_unit(card.unit * slope * max(1 - n_free / ratio, LEAST_SHARE))
    share, shift = unit / (card.unit * slope), 0.0  # the mean stays
    for _ in range(MOST_STEPS):
        likely = link.mean(shift + share * values)
        curve = max(weight @ link.curve(likely), FLOOR * weight.sum())
        step = (events.sum() - weight @ likely) / curve
        shift += step
        if abs(step) < LEAST_STEP:
            break
    return replace(
        card,
        unit=unit,
        origin=card.origin - (shift + share * level) / unit,
        tails=tuple(
            (round_significant(shift + share * end, 3), round_significant(bend, 3))
            for end, bend in tails
        ),
    )


def _tails(values, weight, events):
    """Level and slope of the line from values to log-odds, and its tails, if any.

    Tails are shrunk to the line by the prior with the highest evidence (Laplace).
    """
    link = LINKS["logit"]
    known = weight * link.curve(link.mean(values))
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(known[order]) - known[order] / 2
    low, high = np.interp(TAILS, reached / known.sum(), values[order]).tolist()
    below, above = np.minimum(values - low, 0), np.maximum(values - high, 0)
    design = np.column_stack([below, above, values, np.ones_like(values)])

    def fitted(prior):
        priors = np.array([prior, prior, LINE_PRIOR, 0.0])
        found, cost = fit_linked(link, design, weight, events[:, None], priors)
        curve = weight * link.curve(link.mean(design @ found[:, 0]))
        matrix = _with_prior((design * curve[:, None]).T @ design, priors)
        return math.log(prior) - cost - np.linalg.slogdet(matrix)[1] / 2, found[:, 0]

    evidence, found = max(map(fitted, TAIL_PRIORS), key=itemgetter(0))
    slope, level = found[2:].tolist()
    if evidence < fitted(STRAIGHT)[0] + LEAST_GAIN or slope <= 0:
        return 0.0, 1.0, ()
    slopes = np.maximum(1 + found[:2] / slope, LEAST_SLOPE).tolist()
    ends = (level + slope * low, level + slope * high)
    return level, slope, tuple(zip(ends, slopes, strict=True))


def _drawn(points, prior):
    """What points cost for not being zero; the base costs nothing."""
    return 0.5 * prior * float((points[:-1] ** 2).sum())


def _descended(matches, whole, scale_of, cost_of, prior, bound, is_base_free=True):
    """The scorecard after points were moved by one as long as that lowers its cost."""
    if bound is not None:
        whole[:-1] = np.clip(whole[:-1], -bound, bound)

    def made(whole):
        unit, origin = scale_of(whole)
        cost = cost_of((matches @ whole - origin) * unit) + _drawn(whole * unit, prior)
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
                if bound is not None and place[0] < len(whole) - 1:
                    moved[place] = min(max(moved[place], -bound), bound)
                other = made(moved)
                if other.cost < card.cost - 1e-9 * abs(card.cost):
                    card = other
        if not card.cost < before:
            break
    return card


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
    return round_significant(value, 3)
