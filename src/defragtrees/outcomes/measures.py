"""What is measured against y, from sums over rows that add up.

Each outcome lists its measures; rules and models, rows in memory and in shards,
tables and the command line then have them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy  # whose modules are imported on first use

from defragtrees.outcomes.intervals import QUANTILE

MOST_SCORES = 100_000  # with more distinct scores, near ones are counted as one
LARGEST_LOG_ODDS = 37.0  # those of the probability next to 1
N_BINS = 2**18
N_BANDS = 10  # number of bands of totals, of about equal weight


@dataclass(frozen=True)
class Measure:
    """One measure of predictions against y."""

    name: str  # as in `evaluate` and `metrics`
    label: str  # as in tables
    is_larger_better: bool
    formula: Callable[[Any], float]  # of an outcome's `scores`; NaN if it has no value
    needs_probabilities: bool = False
    is_of_class: bool = False  # of the positive one of two classes, a mean over more
    head: str = ""  # of a column in narrow tables, which else leave it out
    is_of_card: bool = False  # printed of scorecards only
    is_optional: bool = False  # left out where it is not known

    def of(self, scores: Any) -> float:
        """The measure of some rows; NaN without rows."""
        return float(self.formula(scores)) if scores.weight else math.nan

    def best(self, values):
        """The best of some values."""
        return max(values) if self.is_larger_better else min(values)


def per_row(name):
    """The formula of a mean over rows, whose sum the scores have by this name."""
    return lambda scores: getattr(scores, name) / scores.weight


@dataclass(frozen=True, eq=False)
class RankedWeights:
    """The weight of the rows with each score; that of other rows can be added.

    Scores are increasing: probabilities of a class, or numbers of bins of their
    log-odds. All rows together decide which, however shards are cut.
    """

    scores: np.ndarray
    weights: np.ndarray  # (n_scores, 2): of the rows of another class, and of this one
    squares: np.ndarray  # (2,): sums of squared weights, of the same rows
    is_binned: bool = False

    @classmethod
    def of(cls, scores, others, members):
        """The weights of some rows."""
        counts = np.column_stack([others, members])
        some = counts.any(axis=1)
        return _merged(scores[some], counts[some], (counts**2).sum(axis=0))

    def __add__(self, other):
        is_binned = self.is_binned or other.is_binned
        sides = [side._binned() if is_binned else side for side in (self, other)]
        scores = np.concatenate([side.scores for side in sides])
        weights = np.concatenate([side.weights for side in sides])
        return _merged(scores, weights, self.squares + other.squares, is_binned)

    def _binned(self):
        if self.is_binned:
            return self
        log_odds = scipy.special.logit(np.clip(self.scores, 0.0, 1.0))
        log_odds = np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        places = np.floor((log_odds / LARGEST_LOG_ODDS + 1.0) * (N_BINS / 2))
        return _merged(places, self.weights, self.squares, is_binned=True)

    def auc(self):
        """Chance that a row of the class is before one of another; ties count half.

        NaN without rows of both kinds.
        """
        others, members = self.weights.T
        pairs = others.sum() * members.sum()
        if not pairs:
            return np.nan
        before = np.cumsum(others) - others / 2
        return float(members @ before / pairs)

    def auc_interval(self):
        """95% interval of the AUC: DeLong's variance, on the scale of log-odds.

        Rows of unequal weight count as the number of rows of equal weight that have
        the same variance. NaN where all rows are separated or there is one row of a
        kind.
        """
        auc, sizes = self.auc(), self.weights.sum(axis=0)
        n_rows = sizes**2 / np.maximum(self.squares, 1e-300)
        if not (n_rows.min() > 1 and 0 < auc < 1):
            return np.nan, np.nan
        # The share of the other kind below, or above, each row; ties count half.
        shares = (np.cumsum(self.weights, axis=0) - self.weights / 2) / sizes
        apart = np.column_stack([1 - shares[:, 1], shares[:, 0]]) - auc
        variance = ((self.weights * apart**2).sum(axis=0) / sizes / (n_rows - 1)).sum()
        reach = QUANTILE * np.sqrt(variance) / (auc * (1 - auc))
        ends = scipy.special.logit(auc) + reach * np.array([-1.0, 1.0])
        return tuple(scipy.special.expit(ends).tolist())

    def ks(self):
        """Largest difference between the shares of both kinds of rows above a score.

        It is the statistic of Kolmogorov and Smirnov; NaN without rows of both kinds.
        """
        sizes = self.weights.sum(axis=0)
        if not sizes.min() > 0:
            return np.nan
        below = np.cumsum(self.weights, axis=0) / sizes
        return float(np.abs(below[:, 0] - below[:, 1]).max())

    def average_precision(self):
        """Mean share of the class from the top down, by what each step finds of it.

        NaN without rows of the class.
        """
        others, members = self.weights[::-1].T
        if not members.sum():
            return np.nan
        found = np.cumsum(members)
        return float(members @ (found / (found + np.cumsum(others))) / members.sum())


def _merged(scores, weights, squares, is_binned=False):
    """One entry for each distinct score; in bins if there are too many."""
    distinct, place = np.unique(scores, return_inverse=True)
    columns = [np.bincount(place, column, len(distinct)) for column in weights.T]
    merged = RankedWeights(distinct, np.column_stack(columns), squares, is_binned)
    is_too_much = len(distinct) > MOST_SCORES and not is_binned
    return merged._binned() if is_too_much else merged


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and spread of a number; those of other rows can be added."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0  # sum of weight times the squared distance to the mean
    largest: float = 0.0  # without its sign

    @classmethod
    def of(cls, values, weight):
        """The moments of some rows."""
        total = float(weight.sum())
        if not total:
            return cls()
        mean = float(weight @ values) / total
        squares = float(weight @ (values - mean) ** 2)
        return cls(total, mean, squares, float(np.abs(values).max()))

    def __add__(self, other):
        if not self.weight or not other.weight:
            return self if self.weight else other
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        between = apart**2 * self.weight * other.weight / weight
        return Moments(
            weight,
            self.mean + apart * other.weight / weight,
            self.squares + other.squares + between,
            max(self.largest, other.largest),
        )

    def __iter__(self):
        """Mean and standard deviation."""
        return iter((self.mean, math.sqrt(self.variance)))

    @property
    def variance(self):
        """Mean squared distance to the mean."""
        return self.squares / self.weight if self.weight else 0.0


@dataclass(frozen=True, eq=False)
class CalibrationSums:
    """Reported and observed rates or means, by rule or total; sums can be added."""

    keys: np.ndarray  # sorted; see `Form.calibration_keys`
    n_rows: np.ndarray  # (n_keys,): their weight
    weight: np.ndarray  # (n_keys,): that in means of y
    squared_weight: np.ndarray  # (n_keys,)
    reported: np.ndarray  # (n_keys, n_outputs): sums of what rules report
    apart: np.ndarray  # sums of what is true less that
    squares: np.ndarray  # sums of the squares of the difference

    @classmethod
    def of(cls, key, n_rows, weight, squared_weight, *columns):
        """The sums of rows, or of sums, with the same key."""
        keys, group = np.unique(key, return_inverse=True)

        def sums(values):
            return np.column_stack(
                [np.bincount(group, one, len(keys)) for one in values.T]
            )

        parts = n_rows, weight, squared_weight
        counts = [np.bincount(group, part, len(keys)) for part in parts]
        return cls(keys, *counts, *map(sums, columns))

    def __add__(self, other):
        names = [one.name for one in fields(self)]
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        return self.of(*(np.concatenate(pair) for pair in pairs))

    def rows(self, rules):
        """One dict per rule, or per total of a scorecard; see `metrics.calibration`."""
        outcome = rules.outcome
        lines = []
        if not rules._form.is_sum:
            for k, rule in enumerate(rules):
                place = outcome.rate_index(rule)
                label = {"class": outcome.labels[place]} if outcome.labels else {}
                values = self._values(outcome, self.keys == k, place)
                lines.append({"rule": k + 1, **label, **values})
            return lines
        for place in np.unique(np.floor(self.keys)) if outcome.n_points > 1 else [None]:
            ours = np.arange(len(self.keys))
            if place is None:
                place = outcome.rate_index(rules.default)
            else:
                ours = np.flatnonzero(np.floor(self.keys) == place)
            bands = bands_of(self.weight[ours], N_BANDS)
            for band in range(bands.max(initial=-1) + 1):
                some = ours[bands == band]
                line = {"class": outcome.labels[int(place)]} if outcome.labels else {}
                if outcome.n_points == 1:
                    line["total"] = tuple(self.keys[some[[0, -1]]].tolist())
                lines.append(line | self._values(outcome, some, int(place)))
        return lines

    def _values(self, outcome, mask, place):
        weight = float(self.weight[mask].sum())
        if not weight:
            nothing = dict.fromkeys(("estimated", "observed", "low", "high"), math.nan)
            return {**nothing, "n_rows": 0.0}
        reported, apart, squares = (
            float(sums[mask, place].sum()) / weight
            for sums in (self.reported, self.apart, self.squares)
        )
        variance = max(squares - apart**2, 0.0)
        n_effective = weight**2 / float(self.squared_weight[mask].sum())
        given = reported + apart, variance, n_effective, weight
        observed = outcome.observed_interval(*given)
        measured = dict(zip(("observed", "low", "high"), observed, strict=True))
        return {
            "estimated": reported,
            **measured,
            "n_rows": float(self.n_rows[mask].sum()),
        }


def bands_of(weight, most):
    """The band of each of some sorted values: its own, or one of ten about as heavy.

    Examples
    --------
    >>> bands_of(np.ones(3), 10).tolist(), bands_of(np.ones(40), 10).tolist()[::6]
    ([0, 1, 2], [0, 1, 3, 4, 6, 7, 9])
    """
    if len(weight) <= most:
        return np.arange(len(weight))
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    return np.unique(np.floor(N_BANDS * middle), return_inverse=True)[1]


def calibrate(rules, matrix, y, weight=None):
    """The CalibrationSums of encoded rows; unknown labels in y are left out."""
    outcome = rules.outcome
    weight = np.ones(len(matrix)) if weight is None else weight
    true, matches = outcome.encode_any(y), rules._covers(matrix)
    kept = outcome.is_known(true) & (weight > 0)
    weight = weight[kept]
    reported = outcome.reported(rules._form, matches)[kept]
    reported, apart = outcome.compared(true[kept], reported)
    in_means = outcome.mean_weight(true[kept], weight)
    columns = (in_means[:, None] * values for values in (reported, apart, apart**2))
    keys = rules._form.calibration_keys(matches)[kept]
    return CalibrationSums.of(keys, weight, in_means, in_means**2, *columns)
