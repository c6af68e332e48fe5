"""What answers are worth against y: sums over rows that add up, for `MEASURES`."""

from dataclasses import dataclass

import numpy as np

from defragtrees.outcome.ranking import RankedWeights

__all__ = [
    "ClassScores",
    "Moments",
    "NumberScores",
    "cost_matrix",
    "explained_share",
    "grouped",
]


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
