"""What is measured against y: one table, from sums over rows that add up.

`MEASURES` has all that probabilities, decisions and numbers are judged by. A further
measure is one entry there, if `defragtrees.outcomes.measures` has its sums; rules and
ensembles, rows in memory and in shards, tables and the command line then have it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from defragtrees.outcomes.intervals import QUANTILE, wilson_interval

__all__ = [
    "CalibrationSums",
    "ClassScores",
    "MEASURES",
    "Measure",
    "Moments",
    "NumberScores",
    "RankedWeights",
    "calibrate",
    "cost_matrix",
    "explained_share",
    "grouped",
]

MOST_SCORES = 100_000  # with more distinct scores, near ones are counted as one
LARGEST_LOG_ODDS = 37.0  # those of the probability next to 1
N_BINS = 2**18


@dataclass(frozen=True, eq=False)
class RankedWeights:
    """The weight of the rows with each score; that of other rows can be added.

    Parameters
    ----------
    scores : array of shape (n_scores,), increasing
        Probabilities of a class, or numbers of bins of their log-odds.
    weights : array of shape (n_scores, 2)
        Of the rows of another class, and of this one.
    is_binned : bool
        Whether scores are bins. All rows together decide it, however they are cut.
    """

    scores: np.ndarray
    weights: np.ndarray
    is_binned: bool = False

    @classmethod
    def of(cls, scores, is_class, weight):
        """The weights of some rows.

        Parameters
        ----------
        scores : array of shape (n_samples,)
        is_class : bool array of shape (n_samples,)
        weight : array of shape (n_samples,)
        """
        counts = np.column_stack([weight * ~is_class, weight * is_class])
        return _merged(scores[weight > 0], counts[weight > 0])

    def __add__(self, other):
        is_binned = self.is_binned or other.is_binned
        sides = [side._binned() if is_binned else side for side in (self, other)]
        scores = np.concatenate([side.scores for side in sides])
        weights = np.concatenate([side.weights for side in sides])
        return _merged(scores, weights, is_binned)

    def _binned(self):
        if self.is_binned:
            return self
        log_odds = special.logit(np.clip(self.scores, 0.0, 1.0))
        log_odds = np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        places = np.floor((log_odds / LARGEST_LOG_ODDS + 1.0) * (N_BINS / 2))
        return _merged(places, self.weights, is_binned=True)

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

    def average_precision(self):
        """Mean share of the class from the top down, by what each step finds of it.

        NaN without rows of the class.
        """
        others, members = self.weights[::-1].T
        if not members.sum():
            return np.nan
        found = np.cumsum(members)
        return float(members @ (found / (found + np.cumsum(others))) / members.sum())


def _merged(scores, weights, is_binned=False):
    """One entry for each distinct score; in bins if there are too many."""
    distinct, place = np.unique(scores, return_inverse=True)
    columns = [np.bincount(place, column, len(distinct)) for column in weights.T]
    merged = RankedWeights(distinct, np.column_stack(columns), is_binned)
    is_too_much = len(distinct) > MOST_SCORES and not is_binned
    return merged._binned() if is_too_much else merged


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and spread of a number; those of other rows can be added.

    Parameters
    ----------
    weight : float
    mean : float
    squares : float
        Sum of weight times the squared distance to the mean.
    largest : float
        The largest number without its sign.
    """

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

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

    @property
    def variance(self):
        """Mean squared distance to the mean."""
        return self.squares / self.weight if self.weight else 0.0


@dataclass(frozen=True, eq=False)
class ClassScores:
    """What answers and probabilities of classes are worth on some rows.

    Rows of a class that is not among the labels are left out.

    Parameters
    ----------
    confusion : array of shape (n_classes, n_classes)
        Weight of the rows of each class, by the class that they are given.
    costs : array of shape (n_classes, n_classes)
        What each mistake costs, in the same order.
    log_loss, brier : float, optional
        Sums over the rows; None without probabilities.
    rankings : tuple of RankedWeights, optional
        One for each class; for two classes that of the one that is told.
    told_number : int
        Which of two classes that is.
    """

    confusion: np.ndarray
    costs: np.ndarray
    log_loss: float | None = None
    brier: float | None = None
    rankings: tuple[RankedWeights, ...] = ()
    told_number: int = 1

    @classmethod
    def of(cls, outcome, expected, weight, answers, probabilities=None, costs=None):
        """The scores of some rows.

        Parameters
        ----------
        outcome : Classes
        expected, answers : int arrays of shape (n_samples,)
            Class numbers of y and of what is answered; -1 for a class of no number.
        weight : array of shape (n_samples,)
        probabilities : array of shape (n_samples, n_classes), optional
        costs : array of shape (n_classes, n_classes), optional
        """
        n_classes, told_number = outcome.n_classes, outcome.told_number
        costs = 1.0 - np.eye(n_classes) if costs is None else costs
        kept = (np.asarray(expected) >= 0) & (np.asarray(answers) >= 0)
        expected, weight = expected[kept].astype(np.intp), weight[kept]
        cells = expected * n_classes + answers[kept]
        confusion = np.bincount(cells, weight, n_classes**2)
        confusion = confusion.reshape(n_classes, n_classes)
        if probabilities is None:
            return cls(confusion, costs, told_number=told_number)
        # Of float32 the rest to one has more digits than what is near one.
        is_short = n_classes == 2 and probabilities.dtype == np.float32
        told = np.asarray(probabilities, dtype=np.float64)[kept]
        if is_short:
            told[:, 1] = np.where(told[:, 1] < 0.5, told[:, 1], 1.0 - told[:, 0])
        log_loss, brier = _probability_sums(told, expected, weight)
        ranked = [told_number] if n_classes == 2 else range(n_classes)
        rankings = [RankedWeights.of(told[:, c], expected == c, weight) for c in ranked]
        sums = log_loss, brier, tuple(rankings)
        return cls(confusion, costs, *sums, told_number)

    def __add__(self, other):
        if self.log_loss is None or other.log_loss is None:
            return ClassScores(
                self.confusion + other.confusion,
                self.costs,
                told_number=self.told_number,
            )
        pairs = zip(self.rankings, other.rankings, strict=True)
        return ClassScores(
            self.confusion + other.confusion,
            self.costs,
            self.log_loss + other.log_loss,
            self.brier + other.brier,
            tuple(one + two for one, two in pairs),
            self.told_number,
        )

    @property
    def weight(self):
        """Of the rows."""
        return float(self.confusion.sum())

    @property
    def has_probabilities(self):
        """Whether more than answers was given."""
        return self.log_loss is not None

    def precisions(self):
        """For each class, how many of its answers are right; 0 without answers.

        NaN for a class that is neither in y nor among the answers.
        """
        right, given = np.diagonal(self.confusion), self.confusion.sum(axis=0)
        shares = _ratio(right, given)
        return np.where((given == 0) & (self.confusion.sum(axis=1) > 0), 0.0, shares)

    def recalls(self):
        """For each class, how many of its rows are answered; NaN without rows."""
        return _ratio(np.diagonal(self.confusion), self.confusion.sum(axis=1))


@dataclass(frozen=True, eq=False)
class NumberScores:
    """What numbers are worth on some rows.

    Parameters
    ----------
    expected : Moments
        Of y.
    squares, distances : float
        Sums of squared and of absolute errors.
    """

    expected: Moments
    squares: float
    distances: float

    has_probabilities = False

    @classmethod
    def of(cls, outcome, expected, weight, answers, probabilities=None, costs=None):
        """The scores of some rows; numbers have neither probabilities nor costs."""
        apart = np.abs(np.asarray(expected, np.float64) - answers)
        return cls(
            Moments.of(expected, weight),
            float(weight @ apart**2),
            float(weight @ apart),
        )

    def __add__(self, other):
        return NumberScores(
            self.expected + other.expected,
            self.squares + other.squares,
            self.distances + other.distances,
        )

    @property
    def weight(self):
        """Of the rows."""
        return self.expected.weight


def cost_matrix(rules):
    """What each mistake costs by a rule set's costs or threshold; else 1.

    A threshold t is right where answering the second class wrongly costs 2 t, and the
    first wrongly 2 (1 - t): one on average, as without a threshold.
    """
    threshold = rules.threshold
    if rules.costs is not None:
        return np.asarray(rules.costs, dtype=np.float64)
    if threshold is not None:
        return np.array([[0.0, 2 * threshold], [2 * (1 - threshold), 0.0]])
    return 1.0 - np.eye(len(rules.classes or ()))


def grouped(expected, weight, group, answers, probabilities):
    """Rows that have no more than a group in common, as few rows that weigh as much.

    Parameters
    ----------
    expected, group : int arrays of shape (n_samples,)
        Class numbers, and which of the answers each row gets.
    weight : array of shape (n_samples,)
    answers : int array of shape (n_groups,)
    probabilities : array of shape (n_groups, n_classes)

    Returns
    -------
    tuple
        `expected`, `weight`, `answers` and `probabilities` for `ClassScores.of`.
    """
    n_groups, n_classes = probabilities.shape
    kept = expected >= 0
    cells = group[kept] * n_classes + expected[kept]
    weights = np.bincount(cells, weight[kept], n_groups * n_classes)
    place, number = np.divmod(np.arange(n_groups * n_classes), n_classes)
    return number, weights, answers[place], probabilities[place]


def _probability_sums(told, expected, weight):
    """Log loss and Brier score of some rows, as sums."""
    rows = np.arange(len(told))
    # As in scikit-learn: what is told to be impossible costs much, not infinitely.
    least = np.finfo(np.float64).eps
    logs = np.log(np.clip(told[rows, expected], least, 1.0 - least))
    squares = (told**2).sum(axis=1) - 2 * told[rows, expected] + 1.0
    # Of two classes one says it all.
    scale = 0.5 if told.shape[1] == 2 else 1.0
    return float(-weight @ logs), float(weight @ squares) * scale


def _ratio(parts, totals):
    shares = np.full(len(totals), np.nan)
    return np.divide(parts, totals, out=shares, where=totals > 0)


def explained_share(loss, variance, largest):
    """R² from a mean squared error, and the variance of numbers up to `largest`."""
    # What rounding leaves of a constant is no variance.
    noise = (1e-12 * largest) ** 2
    if variance <= noise:
        return 1.0 if loss <= noise else 0.0
    return float(1.0 - loss / variance)


@dataclass(frozen=True)
class Measure:
    """One thing to judge answers by.

    Parameters
    ----------
    name : str
        As in `evaluate` and `metrics`.
    label : str
        As in tables.
    meaning : str
        In a few words.
    task : str
        Of the outcome that it is for.
    is_larger_better : bool
    formula : callable
        From ClassScores or NumberScores to a float; NaN where it has no meaning.
    needs_probabilities : bool
    is_of_class : bool
        Whether it is of the told one of two classes, and a mean over more.
    head : str
        Above a column of a table that compares many; without it there is none.
    """

    name: str
    label: str
    meaning: str
    task: str
    is_larger_better: bool
    formula: Callable[[Any], float]
    needs_probabilities: bool = False
    is_of_class: bool = False
    head: str = ""

    def of(self, scores):
        """The measure of some rows; NaN without rows."""
        return float(self.formula(scores)) if scores.weight else math.nan

    def best(self, values):
        """The best of some values."""
        return max(values) if self.is_larger_better else min(values)


def _of_class(scores, name):
    """That of the told one of two classes, or the mean of those that there are."""
    values = np.asarray(getattr(scores, name)(), dtype=np.float64)
    if len(values) == 2:
        return values[scores.told_number]
    there = values[~np.isnan(values)]
    return there.mean() if len(there) else np.nan


def _ranking_mean(scores, name):
    values = np.array([getattr(ranking, name)() for ranking in scores.rankings])
    there = values[~np.isnan(values)]
    return there.mean() if len(there) else np.nan


def _r2(scores):
    moments = scores.expected
    mean = scores.squares / scores.weight
    return explained_share(mean, moments.variance, moments.largest)


CLASSES, NUMBERS = "classification", "regression"
MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "auc",
            "AUC",
            "chance that a row of the class is ranked before one of another",
            CLASSES,
            True,
            lambda scores: _ranking_mean(scores, "auc"),
            needs_probabilities=True,
            head="AUC",
        ),
        Measure(
            "average_precision",
            "average precision",
            "mean share of the class from the likeliest row down",
            CLASSES,
            True,
            lambda scores: _ranking_mean(scores, "average_precision"),
            needs_probabilities=True,
            is_of_class=True,
        ),
        Measure(
            "log_loss",
            "log loss",
            "mean negative logarithm of the probability told for the true class",
            CLASSES,
            False,
            lambda scores: scores.log_loss / scores.weight,
            needs_probabilities=True,
            head="log loss",
        ),
        Measure(
            "brier",
            "Brier score",
            "mean squared distance of the probabilities to what is true",
            CLASSES,
            False,
            lambda scores: scores.brier / scores.weight,
            needs_probabilities=True,
        ),
        Measure(
            "precision",
            "precision",
            "share of the answers for the class that are right",
            CLASSES,
            True,
            lambda scores: _of_class(scores, "precisions"),
            is_of_class=True,
        ),
        Measure(
            "recall",
            "recall",
            "share of the rows of the class that are answered so",
            CLASSES,
            True,
            lambda scores: _of_class(scores, "recalls"),
            is_of_class=True,
        ),
        Measure(
            "expected_cost",
            "expected cost",
            "mean cost of the answers; the error where all mistakes cost 1",
            CLASSES,
            False,
            lambda scores: (scores.confusion * scores.costs).sum() / scores.weight,
        ),
        Measure(
            "rmse",
            "root mean squared error",
            "root of the mean squared distance to y, in the units of y",
            NUMBERS,
            False,
            lambda scores: math.sqrt(scores.squares / scores.weight),
            head="RMSE",
        ),
        Measure(
            "mae",
            "mean absolute error",
            "mean distance to y, in the units of y",
            NUMBERS,
            False,
            lambda scores: scores.distances / scores.weight,
            head="MAE",
        ),
        Measure(
            "r2",
            "R²",
            "share of the variance of y that is explained",
            NUMBERS,
            True,
            _r2,
        ),
    )
}


@dataclass(frozen=True, eq=False)
class CalibrationSums:
    """What was told and what came true, by rule; that of other rows can be added.

    Parameters
    ----------
    weight : array of shape (n_rules,)
    told : array of shape (n_rules, n_outputs)
        Sums of probabilities, or of numbers.
    apart : array of shape (n_rules, n_outputs)
        Sums of what is true less what was told.
    squares : array of shape (n_rules, n_outputs)
        Sums of the squares of that.
    """

    weight: np.ndarray
    told: np.ndarray
    apart: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, told, true, weight, group, n_rules):
        """The sums of some rows.

        Parameters
        ----------
        told, true : arrays of shape (n_samples, n_outputs)
        weight : array of shape (n_samples,)
        group : int array of shape (n_samples,)
            Which rule answers.
        n_rules : int
        """

        def sums(columns):
            parts = [np.bincount(group, weight * one, n_rules) for one in columns.T]
            return np.column_stack(parts)

        apart = true - told
        return cls(
            np.bincount(group, weight, n_rules),
            sums(told),
            sums(apart),
            sums(apart**2),
        )

    def __add__(self, other):
        return CalibrationSums(
            self.weight + other.weight,
            self.told + other.told,
            self.apart + other.apart,
            self.squares + other.squares,
        )

    def rows(self, rules):
        """One dict for each rule; see `metrics.calibration`."""
        return [self._row(rules, k, rule) for k, rule in enumerate(rules)]

    def _row(self, rules, k, rule):
        labels, weight = rules.outcome.labels, float(self.weight[k])
        place = 0
        row = {"rule": k + 1}
        if labels:
            place = rules.outcome.told_place(rule)
            row["class"] = labels[place]
        nothing = dict.fromkeys(("told", "observed", "low", "high"), math.nan)
        if not weight:
            return {**row, **nothing, "n_rows": 0.0}
        told = float(self.told[k, place]) / weight
        apart = float(self.apart[k, place]) / weight
        observed = told + apart
        if labels:
            observed = min(max(observed, 0.0), 1.0)
            low, high = wilson_interval(observed, weight)
        else:
            variance = max(float(self.squares[k, place]) / weight - apart**2, 0.0)
            half = QUANTILE * math.sqrt(variance / weight)
            low, high = observed - half, observed + half
        measured = {"told": told, "observed": observed, "low": low, "high": high}
        return {**row, **measured, "n_rows": weight}


def calibrate(rules, matrix, y, weight=None):
    """The CalibrationSums of encoded rows; those of a class that is none are left out.

    Parameters
    ----------
    rules : RuleModel
    matrix : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Checked labels or numbers.
    weight : array of shape (n_samples,), optional
    """
    outcome = rules.outcome
    weight = np.ones(len(matrix)) if weight is None else weight
    true, held = outcome.encode_any(y), rules._covers(matrix)
    if not outcome.n_classes:
        told, kept = rules._predict(held)[:, None], slice(None)
    else:
        told, kept = rules._predict_proba(held), true >= 0
    return CalibrationSums.of(
        told[kept],
        outcome.indicators(true[kept]),
        weight[kept],
        rules._apply(held)[kept],
        rules.n_rules,
    )
