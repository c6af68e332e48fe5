"""Intervals: of numbers by conformal prediction, of rates by Wilson's and Garwood's.

A residual is y less the prediction. Among n rows that the predictions do not rest on,
and one more, the residual of this one is as likely to have any rank; so it lies between
the i-th and the j-th smallest of the n with a probability of `(j - i) / (n + 1)`. This
is done in each band: rows with one rule, or with about the same prediction.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
import scipy  # whose modules are imported on first use

from defragtrees._utils import schema
from defragtrees._utils.types import Floats, Places
from defragtrees._utils.values import all_rounded

MOST_POOLED = 1000
MOST_IN_BAND = 200
BAND_ROWS = 50  # of a band at least; at 90% one or two are left out at each end
MOST_BANDS = 20
MOST_RATE_BANDS = 10  # a rate needs more rows than a range
QUANTILE = 1.959963984540054  # of the normal distribution, for 95%
TAILS = (0.025, 0.975)  # shares up to the ends of these
PRIOR_ROWS = 3.84  # rows with the spread of all bands that each band is given
LARGEST_LEVERAGE = 0.5
# What a row that the model was trained on is worth for a mean or a quantile of numbers,
# which miss by less than rates do (`benchmarks/honesty/means.py`).
MEAN_WORTH = 0.6
TOTAL_WORTH = 0.9  # the same for rates of rows with about the same points
_AMOUNT = schema.number(-1e101, 1e101)
_RATES = schema.list_of(schema.number(0, 1e100))


@dataclass(frozen=True)
class Residuals(schema.Stored):
    """How far y was from predictions, in bands of rows with about the same prediction.

    Parameters
    ----------
    bands : tuple of tuple of float
        Of each band the residuals, in ascending order; of many as many as show their
        distribution.
    spreads : tuple of float
        Of each band.
    pooled : tuple of float
        The residuals of all rows in spreads of their bands, in ascending order. They
        serve where a band has too few of its own.
    edges : tuple of float, optional
        The predictions between bands, in ascending order; None where each rule is a
        band.
    low, high : float, optional
        What y can be.

    Examples
    --------
    >>> found = Residuals.of(np.arange(-9.0, 10.0), np.zeros(19, int), 1)
    >>> found.interval(np.array([5.0]), np.array([0]), 0.9).tolist()
    [[-4.0, 14.0]]
    """

    bands: Annotated[
        tuple[tuple[float, ...], ...],
        schema.list_of(schema.list_of(_AMOUNT, 0, MOST_IN_BAND), 1),
    ]
    spreads: Annotated[tuple[float, ...], schema.list_of(schema.number(0, 1e101))]
    pooled: Annotated[tuple[float, ...], schema.list_of(_AMOUNT, 1, MOST_POOLED)]
    edges: Annotated[
        tuple[float, ...] | None, schema.list_of(_AMOUNT) | schema.NULL
    ] = None
    low: Annotated[float | None, _AMOUNT | schema.NULL] = None
    high: Annotated[float | None, _AMOUNT | schema.NULL] = None

    def __post_init__(self) -> None:
        if len(self.bands) != len(self.spreads):
            raise ValueError(
                "residuals must have one spread for each band; got "
                f"{len(self.spreads)} and {len(self.bands)}."
            )
        if self.edges is not None and len(self.edges) + 1 != len(self.bands):
            raise ValueError(
                "residuals must have one edge less than bands; got "
                f"{len(self.edges)} and {len(self.bands)}."
            )
        for values in (*self.bands, self.pooled, self.edges or ()):
            if list(values) != sorted(values):
                raise ValueError("residuals must be in ascending order.")

    @classmethod
    def of(
        cls,
        residuals: Floats,
        band: Places,
        n_bands: int,
        weight: Floats | None = None,
        edges: Floats | None = None,
        extremes: tuple[float, float] = (-math.inf, math.inf),
    ) -> Self:
        """The residuals of rows; `extremes` are the smallest and the largest y.

        Where y is never negative its intervals are not either, and the same above 0.
        """
        weight = np.ones(len(residuals)) if weight is None else weight
        squares = np.bincount(band, weight * residuals**2, n_bands)
        n_rows = np.bincount(band, weight, n_bands)
        every = squares.sum() / max(n_rows.sum(), 1e-300)
        spreads = np.sqrt((squares + PRIOR_ROWS * every) / (n_rows + PRIOR_ROWS))
        units = np.where(spreads > 0, spreads, 1.0)[band]
        order = np.argsort(band, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(band, minlength=n_bands))[:-1])
        return cls(
            tuple(kept_values(residuals[p], weight[p], MOST_IN_BAND) for p in parts),
            all_rounded(spreads),
            all_rounded(kept_values(residuals / units, weight, MOST_POOLED), 6),
            None if edges is None else all_rounded(edges),
            0.0 if extremes[0] >= 0 else None,
            0.0 if extremes[1] <= 0 else None,
        )

    def check_coverage(self, coverage: float) -> None:
        """Raise ValueError if there are too few rows for it."""
        n_needed = math.ceil(2 / (1 - coverage) - 1e-6) - 1
        if n_needed > MOST_POOLED:
            raise ValueError(
                f"coverage must be {(MOST_POOLED - 1) / (MOST_POOLED + 1):.3f} at "
                f"most, as {MOST_POOLED:,} residuals are kept; got {coverage:g}."
            )
        if n_needed > len(self.pooled):
            raise ValueError(
                f"coverage={coverage:g} needs {n_needed} rows to calibrate on; there "
                f"are {len(self.pooled)}. Calibrate with more rows, or ask for less "
                "coverage."
            )

    def interval(self, predictions: Floats, rules: Places, coverage: float) -> Floats:
        """Lower and upper ends for predictions, and the rules that give them."""
        band = rules
        if self.edges is not None:
            band = np.searchsorted(self.edges, predictions)
        pooled = _ends(self.pooled, coverage)
        ends = np.array(
            [
                self._band_ends(k, coverage, pooled[0] * spread, pooled[1] * spread)
                for k, spread in enumerate(self.spreads)
            ]
        )
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        reached = predictions[:, None] + ends[band]
        # Where y is a whole number, say, the last digit decides whether it is inside.
        size = np.maximum(np.abs(reached), np.abs(predictions)[:, None])
        units = 10.0 ** (11 - np.floor(np.log10(np.maximum(size, 1e-100))))
        return np.clip(np.round(reached * units) / units, low, high)

    def _band_ends(
        self, k: int, coverage: float, low: float, high: float
    ) -> tuple[float, float]:
        """Ends of a band; with few rows it reaches to all and to the pooled ends."""
        values = self.bands[k]
        if (len(values) + 1) * (1 - coverage) / 2 >= 1 - 1e-9:
            return _ends(values, coverage)
        return min((low, *values[:1])), max((high, *values[-1:]))


@dataclass(frozen=True)
class RateBands(schema.Stored):
    """Rates in bands of rows with about the same probability, or predicted rate.

    Parameters
    ----------
    edges : tuple of float
        The probabilities, or rates, between bands, in ascending order.
    rates : tuple of float
        Of each band.
    n_effective : tuple of float
        How many rows each rate is worth as evidence; of events, how much exposure.
    means : tuple of float, optional
        Mean prediction of each band, by default its rate.

    Examples
    --------
    >>> bands = RateBands((0.5,), (0.2, 0.8), (50.0, 50.0), (0.2, 0.8))
    >>> bands.interval(np.array([0.1, 0.2, 0.7])).round(2).tolist()
    [[0.05, 0.33], [0.11, 0.33], [0.55, 0.82]]
    """

    edges: Annotated[tuple[float, ...], _RATES]
    rates: Annotated[tuple[float, ...], _RATES]
    n_effective: Annotated[
        tuple[float, ...], schema.list_of(schema.number(0, 1e100, is_open=True), 1)
    ]
    means: Annotated[tuple[float, ...] | None, _RATES, "optional"] = None

    def __post_init__(self) -> None:
        means = self.rates if self.means is None else self.means
        lengths = {len(some) for some in (self.rates, self.n_effective, means)}
        if lengths != {len(self.edges) + 1}:
            raise ValueError(
                "rate_bands must have one edge less than rates, and as many "
                f"n_effective and means; got {len(self.edges)}, {len(self.rates)}, "
                f"{len(self.n_effective)} and {len(means)}."
            )
        if list(self.edges) != sorted(self.edges):
            raise ValueError("The edges of rate_bands must be in ascending order.")
        if min(self.n_effective) <= 0:
            raise ValueError("Each of rate_bands must have rows.")

    @classmethod
    def of(
        cls,
        probabilities: Floats,
        events: Floats,
        weight: Floats,
        squares: Floats,
        worth: float,
        sizes: Floats | None = None,
    ) -> Self:
        """The bands of groups of rows: their weight, that of the events, its squares.

        Squares are sums over rows, so that the effective numbers of rows follow. Bands
        have about equal sums of `sizes`, by default the weight.
        """
        # Those that differ by rounding alone have nothing between them.
        probabilities = np.array(all_rounded(probabilities))
        sizes = weight if sizes is None else sizes
        edges = band_edges(probabilities, sizes, MOST_RATE_BANDS)
        band = np.searchsorted(edges, probabilities)
        total = np.bincount(band, weight, len(edges) + 1)
        rates = np.bincount(band, events, len(edges) + 1) / total
        means = np.bincount(band, weight * probabilities, len(edges) + 1) / total
        squared = np.bincount(band, squares, len(edges) + 1)
        n_effective = all_rounded(worth * total**2 / squared)
        return cls(
            all_rounded(edges), all_rounded(rates), n_effective, all_rounded(means)
        )

    def interval(self, predictions: Floats, is_share: bool = True) -> Floats:
        """The 95% intervals of the rates of rows; their ends rise with predictions.

        A band has the interval of its rate, of which a few rows have the predicted one.
        Between means of bands log-odds, or logarithms of rates of events, are
        interpolated; beyond the outer ones the outer end moves as the prediction does,
        and the inner one stays.
        """
        means, n_rows = np.array(self.means or self.rates), np.array(self.n_effective)
        # A few events, of which rows of a rate have the fewer the higher it is.
        prior = PRIOR_ROWS if is_share else PRIOR_ROWS / np.maximum(means, 1e-300)
        total = n_rows + prior
        rates = (n_rows * np.array(self.rates) + prior * means) / total
        pairs = zip(rates.tolist(), total.tolist(), strict=True)
        place, value, ends_of = (
            (_log_odds, scipy.special.expit, wilson_interval)
            if is_share
            else (_log_rates, np.exp, garwood_interval)
        )
        ends = place(np.array([ends_of(*pair) for pair in pairs]))
        # Where a higher band has a lower rate it is levelled.
        highest = np.maximum.accumulate(ends)
        ends = (highest + np.minimum.accumulate(ends[::-1])[::-1]) / 2
        places, odds = place(means), place(predictions)
        low = np.interp(odds, places, ends[:, 0]) + np.minimum(odds - places[0], 0)
        high = np.interp(odds, places, ends[:, 1]) + np.maximum(odds - places[-1], 0)
        return value(np.column_stack([low, high]))

    def check_shares(self) -> None:
        """Raise ValueError for what is no probability."""
        for name in ("edges", "rates", "means"):
            for k, value in enumerate(getattr(self, name) or ()):
                if value > 1:
                    raise ValueError(
                        f"rate_bands.{name}[{k}] must be from 0 to 1; got {value:g}."
                    )


def _log_odds(probabilities):
    return scipy.special.logit(np.clip(probabilities, 1e-6, 1 - 1e-6))


def _log_rates(rates):
    return np.log(np.maximum(rates, 1e-300))


def band_edges(values: Floats, weight: Floats, most: int = MOST_BANDS) -> Floats:
    """Numbers between bands of about equally many rows; equal values stay together.

    Examples
    --------
    >>> band_edges(np.array([1.0, 2.0, 4.0]), np.array([60.0, 60.0, 60.0]), 2)
    array([3.])
    """
    distinct, place = np.unique(values, return_inverse=True)
    total = np.cumsum(np.bincount(place, weight))
    n_bands = int(min(most, max(total[-1] // BAND_ROWS, 1)))
    wanted = np.arange(1, n_bands) / n_bands * total[-1]
    last = np.unique(np.searchsorted(total, wanted * (1 - 1e-12)))
    last = last[last < len(distinct) - 1]
    return (distinct[last] + distinct[last + 1]) / 2


def kept_values(values, weight, most):
    """Values in ascending order; of many as many as show their distribution.

    `weight` is how often each stands for a row.

    Examples
    --------
    >>> kept_values(np.array([3.0, 1.0]), np.array([1.0, 2.0]), 10)
    (1.0, 1.0, 3.0)
    >>> kept_values(np.arange(10.0), np.ones(10), 5)
    (1.0, 3.0, 5.0, 7.0, 9.0)
    """
    if not len(values):
        return ()
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    n_kept = min(most, math.floor(total[-1] + 1e-9))
    wanted = (np.arange(n_kept) + 0.5) / max(n_kept, 1) * total[-1]
    places = np.minimum(np.searchsorted(total, wanted, "right"), len(values) - 1)
    return all_rounded(values[order][places])


def _ends(values, coverage):
    """Between which of the ascending residuals that of a new row lies.

    The share that is left out is halved between the ends; what the lower end does not
    need of it, where many residuals are equal, is left to the upper one.
    """
    n = len(values)
    lowest = values[max(math.floor((n + 1) * (1 - coverage) / 2 + 1e-9), 1) - 1]
    below = int(np.searchsorted(values, lowest))
    place = below + 1 + math.ceil((n + 1) * coverage - 1e-9)
    return lowest, values[min(place, n) - 1]


def effective_rows(weight: Floats) -> float:
    """How many rows of equal weight know as much about a mean as these.

    Examples
    --------
    >>> effective_rows(np.array([5.0, 5.0])), effective_rows(np.array([1.0, 0.0]))
    (2.0, 1.0)
    """
    return float(weight.sum() ** 2 / max((weight**2).sum(), 1e-300))


def wilson_interval(rate: float, n_rows: float) -> tuple[float, float]:
    """Wilson's 95% interval of a rate that was seen in so many rows.

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


def garwood_interval(rate: float, exposure: float) -> tuple[float, float]:
    """Garwood's exact 95% interval of a rate of events in so much exposure.

    Examples
    --------
    >>> low, high = garwood_interval(0.058, 1000.0)
    >>> round(low, 4), round(high, 4)
    (0.044, 0.075)
    """
    events, (low, high) = rate * exposure, TAILS
    inverse = scipy.special.gammaincinv
    return (
        float(inverse(events, low) / exposure) if events else 0.0,
        float(inverse(events + 1, high) / exposure),
    )


def mean_interval(
    mean: float, spread: float, n_rows: float, is_positive: bool = False
) -> tuple[float, float] | None:
    """Student's 95% interval of a mean of so many rows; None of fewer than two.

    Of numbers that are not negative it is one of the logarithm, as in skewed numbers
    the mean is rather too low than too high.

    Examples
    --------
    >>> low, high = mean_interval(10.0, 5.0, 25.0)
    >>> round(low, 3), round(high, 3)
    (7.936, 12.064)
    >>> low, high = mean_interval(10.0, 5.0, 25.0, is_positive=True)
    >>> round(low, 3), round(high, 3)
    (8.135, 12.292)
    """
    if not n_rows >= 2:
        return None
    special = scipy.special
    half = special.stdtrit(n_rows - 1, special.ndtr(QUANTILE)) * spread
    half /= math.sqrt(n_rows)
    if is_positive and mean > 0:
        ratio = math.exp(min(half / mean, 700.0))
        ends = mean / ratio, mean * ratio
    else:
        ends = mean - half, mean + half
    low, high = all_rounded(ends)
    return low, high
