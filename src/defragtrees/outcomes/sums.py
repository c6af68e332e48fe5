"""What rows say of the rules that answer them: sums over groups of rows.

A group is the rows that one rule answers. Sums of other rows can be added, so rows may
be counted shard by shard.
"""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees.outcomes.intervals import kept_scores

__all__ = [
    "ClassSums",
    "CountedValues",
    "INTERVAL",
    "KeptValues",
    "NumberSums",
    "quantiles",
]

INTERVAL = (0.1, 0.9)  # shares of rows up to the quantiles of a rule

# Cells grow with their distance from the rule's answer, so that one far-off number
# does not blur the others: a number is known to 0.24 % of this distance, or to a
# 40,000th of the scale where it is nearer than a hundredth of that.
HALF = 4095
NEAR = 0.01
STEP = np.arcsinh(1e6 / NEAR) / HALF


@dataclass(frozen=True, eq=False)
class KeptValues:
    """The numbers of rows that are in one place.

    Parameters
    ----------
    target, weight, group : arrays of shape (n_samples,)
    """

    target: np.ndarray
    weight: np.ndarray
    group: np.ndarray

    def of_group(self, k):
        """Numbers of a group in ascending order, and their weights."""
        rows = np.flatnonzero(self.group == k)
        rows = rows[np.argsort(self.target[rows], kind="stable")]
        return self.target[rows], self.weight[rows]


@dataclass(frozen=True, eq=False)
class CountedValues:
    """Weights of numbers in cells around the answer of each group; they add up.

    Parameters
    ----------
    cells : array of shape (n_groups, 2 * HALF + 1)
    around : array of shape (n_groups,)
    scale : float
    """

    cells: np.ndarray
    around: np.ndarray
    scale: float

    @classmethod
    def of(cls, target, weight, group, around, scale):
        """The cells of some rows.

        Parameters
        ----------
        target, weight, group : arrays of shape (n_samples,)
        around : array of shape (n_groups,)
        scale : float
            Of all numbers, roughly.
        """
        n_cells = 2 * HALF + 1
        apart = np.arcsinh((target - around[group]) / (NEAR * scale)) / STEP
        cell = np.clip(np.rint(apart).astype(np.intp), -HALF, HALF) + HALF
        shape = (len(around), n_cells)
        counts = np.bincount(group * n_cells + cell, weight, shape[0] * shape[1])
        return cls(counts.reshape(shape), around, scale)

    def __add__(self, other):
        return CountedValues(self.cells + other.cells, self.around, self.scale)

    def of_group(self, k):
        """Middles of the cells of a group in ascending order, and their weights."""
        cell = np.flatnonzero(self.cells[k])
        apart = np.sinh((cell - HALF) * STEP) * NEAR * self.scale
        return self.around[k] + apart, self.cells[k, cell]


def quantiles(values, weight, shares):
    """The smallest numbers that have at least these shares of the weight up to them.

    Parameters
    ----------
    values, weight : arrays of shape (n,)
        In ascending order of values.
    shares : array-like

    Examples
    --------
    >>> quantiles(np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0]), [0.25, 0.9])
    array([1., 9.])
    """
    total = np.cumsum(weight)
    # A share of equal weights may miss its row by rounding alone.
    wanted = np.asarray(shares) * total[-1] * (1 - 1e-12)
    return values[np.minimum(np.searchsorted(total, wanted), len(values) - 1)]


# Rows that each rule is given at the rate of all rows: z² of a 95 % interval, by which
# the middle of Wilson's interval is drawn in too.
SHRINKAGE = 3.84
# How many rows a threshold that was searched for uses up; Friedman's price of a knot
# (Multivariate adaptive regression splines, 1991, section 3.6).
CONDITION_ROWS = 3


@dataclass(frozen=True, eq=False)
class ClassSums:
    """The weight of each class.

    Parameters
    ----------
    classes : array of shape (n_groups, n_classes)
    """

    classes: np.ndarray

    @classmethod
    def of(cls, outcome, target, sample_weight, group, answers):
        """The sums of some rows.

        Parameters
        ----------
        outcome : Classes
        target : int array of shape (n_samples,)
        sample_weight : array of shape (n_samples,)
        group : int array of shape (n_samples,)
        answers : sequence
            One for each group: what its rule answers so far.
        """
        shape = (len(answers), outcome.n_classes)
        index = group * outcome.n_classes + target
        counts = np.bincount(index, sample_weight, shape[0] * shape[1])
        return cls(counts.reshape(shape))

    @classmethod
    def of_group(cls, outcome, target, sample_weight):
        """The sums of the rows of one group, whose rule has no answer yet."""
        return cls(np.bincount(target, sample_weight, outcome.n_classes)[None])

    def __add__(self, other):
        return ClassSums(self.classes + other.classes)

    @property
    def weight(self):
        """Of each group."""
        return self.classes.sum(axis=1)

    @property
    def spread(self):
        """Of the target in all rows; classes have none."""
        return 0.0

    def basis(self, k=None):
        """What an answer to a group, or to all rows, rests on: class weights."""
        return self.classes.sum(axis=0) if k is None else self.classes[k]

    @staticmethod
    def answer(outcome, basis, spread):
        """What a rule answers whose answer rests on class weights, as entries of it."""
        shares = (basis / basis.sum()).tolist()
        best = int(np.argmax(shares))
        return {"prediction": outcome.labels[best], "distribution": tuple(shares)}

    def shrunk_rates(self, k, every=None):
        """Class rates of a group, as if `SHRINKAGE` more rows had those of all.

        Parameters
        ----------
        k : int
        every : array of shape (n_classes,), optional
            Class weights of all rows, where groups overlap.
        """
        every = self.classes.sum(axis=0) if every is None else every
        told = self.classes[k] + SHRINKAGE * every / every.sum()
        return told / told.sum()

    @staticmethod
    def values(target, sample_weight, group, answers, scale):
        """Numbers in each group; classes have none."""
        return None

    @staticmethod
    def measured(target, labels):
        """The sums that the error of rules is told of: those they imitate."""
        return target

    def evidence(self, k):
        """What y says of a group, as entries of a Rule."""
        weight = self.classes[k].sum()
        return {"rates": self.classes[k] / weight if weight else None}

    def error(self, k, outcome, answer):
        """How often an answer is wrong in a group, as entries of a Rule."""
        weight = self.classes[k].sum()
        if not weight:
            return {"error": math.nan}
        right = self.classes[k, outcome.labels.index(answer)]
        return {"error": float((weight - right) / weight)}

    def smoothed_error(self, k, spread):
        """Error of the best answer to a group, drawn to that of all rows."""
        weight = self.classes[k].sum()
        return (weight - self.classes[k].max() + 1) / (weight + 2)


@dataclass(frozen=True, eq=False)
class NumberSums:
    """Weights, and moments around an answer of each group.

    Around one number for all groups nothing would be left of a small spread.

    Parameters
    ----------
    moments : array of shape (n_groups, 3)
        Weight, and its sum with how far the target is from `around`, and with the
        square of that.
    around : array of shape (n_groups,)
    """

    moments: np.ndarray
    around: np.ndarray

    @classmethod
    def of(cls, outcome, target, sample_weight, group, answers):
        """The sums of some rows; see ClassSums."""
        around = np.asarray(answers, dtype=np.float64)
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

    def __add__(self, other):
        return NumberSums(self.moments + other.moments, self.around)

    @property
    def weight(self):
        """Of each group."""
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
        """What an answer to a group, or to all rows, rests on: a mean."""
        if k is None:
            return self._pooled()[0]
        return self.around[k] + self.moments[k, 1] / self.moments[k, 0]

    @staticmethod
    def answer(outcome, basis, spread):
        """What a rule answers whose answer rests on a mean, as entries of it."""
        return {"prediction": round(float(basis), _answer_digits(basis, spread))}

    @staticmethod
    def values(target, sample_weight, group, answers, scale):
        """Numbers in each group.

        Parameters
        ----------
        target, sample_weight, group, answers : see `of`
        scale : float or None
            Of all numbers, where they are to be counted in cells; None keeps them.
        """
        if scale is None:
            return KeptValues(target, sample_weight, group)
        around = np.asarray(answers, dtype=np.float64)
        return CountedValues.of(target, sample_weight, group, around, scale)

    @staticmethod
    def measured(target, labels):
        """The sums that the error of rules is told of: of y where there is y."""
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

    def shrunk_mean(self, k):
        """Mean of a group, as if `prior_rows` more rows had that of all."""
        every, prior = self._pooled()[0], self.prior_rows
        if not self.moments[k, 0] or prior == math.inf:
            return every
        share = self.moments[k, 0] / (self.moments[k, 0] + prior)
        return every + share * (self.basis(k) - every)

    def left_out_scores(self, values, answers, scales, n_conditions):
        """Scores of intervals from the rows that the answers rest on.

        What an answer would have been without a row is known exactly. That rules too
        were chosen by these rows is not: for this all scores grow a little.

        Parameters
        ----------
        values : KeptValues or CountedValues
        answers, scales : arrays of shape (n_groups,)
            What rules answer, and in what their scores count.
        n_conditions : int
            Of all rules.
        """
        weight, prior = self.weight, self.prior_rows
        growth = 1 + CONDITION_ROWS * n_conditions / weight.sum()
        scores, counts = [], []
        for k in np.flatnonzero(weight):
            numbers, count = values.of_group(k)
            left = weight[k] - 1 + prior
            without = (weight[k] + prior) / left if 0 < left < math.inf else 1.0
            scores.append(np.abs(numbers - answers[k]) * without * growth / scales[k])
            counts.append(count)
        return kept_scores(np.concatenate(scores), np.concatenate(counts))

    def evidence(self, k):
        """What y says of a group, as entries of a Rule."""
        return {}

    def error(self, k, outcome, answer):
        """How far an answer is from a group, as entries of a Rule."""
        weight, first, second = self.moments[k]
        if not weight:
            return {"spread": None, "error": math.nan}
        by = answer - self.around[k]
        variance = max(second / weight - 2 * by * first / weight + by**2, 0.0)
        return {"spread": math.sqrt(variance), "error": float(variance)}

    def smoothed_error(self, k, spread):
        """Error of the best answer to a group, drawn to that of all rows."""
        weight, first, second = self.moments[k]
        if not weight:
            return math.inf
        return (second - first**2 / weight + spread**2) / (weight + 1)


def _answer_digits(answer, spread):
    """Digits after the point: to a thousandth of the target's spread, four at least.

    So a number reads well, and what is printed is exactly what is predicted. Answers
    that do not differ are said to fifteen digits.
    """
    if 0 < abs(answer) and spread <= 1e-12 * abs(answer):
        return 14 - math.floor(math.log10(abs(answer)))
    sizes = [size for size in (spread, abs(answer)) if size > 0]
    return max([3 - math.floor(math.log10(size)) for size in sizes], default=0)
