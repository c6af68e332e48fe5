"""Measures of probabilities, decisions and numbers against what is true.

The same formulas give what `evaluate` says; see `defragtrees.outcomes.measures`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from defragtrees._utils.types import Column, Floats
from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.measures import MEASURES
from defragtrees.outcomes.regression import Numbers

__all__ = [
    "auc",
    "average_precision",
    "brier",
    "confusion",
    "expected_cost",
    "log_loss",
    "mae",
    "precision",
    "r2",
    "recall",
    "rmse",
]


def auc(
    expected: Column,
    probabilities: Iterable[Any],
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Chance that a row of the class is ranked before one of another.

    Ties count half. For two classes it is that of the second; for more each class is
    ranked against all others, and the mean is taken. NaN if y has one class only.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        The labels; rows of a label that is not among the classes are left out.
    probabilities : array-like of shape (n_samples, n_classes) or (n_samples,)
        One column is for the second of two classes.
    classes : sequence, optional
        The label of each column; by default the distinct ones of `expected`, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> auc(["no", "yes", "no", "yes"], [0.1, 0.4, 0.4, 0.9])
    0.875
    """
    rows = expected, probabilities, classes, sample_weight
    return _told_measure("auc", *rows)


def average_precision(
    expected: Column,
    probabilities: Iterable[Any],
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Mean share of the class among the rows from the likeliest down.

    For two classes it is that of the second, for more the mean. NaN without rows of it.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        The labels; rows of a label that is not among the classes are left out.
    probabilities : array-like of shape (n_samples, n_classes) or (n_samples,)
        One column is for the second of two classes.
    classes : sequence, optional
        The label of each column; by default the distinct ones of `expected`, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> average_precision(["no", "yes", "no", "yes"], [0.1, 0.4, 0.6, 0.9])
    0.8333333333333333
    """
    return _told_measure(
        "average_precision", expected, probabilities, classes, sample_weight
    )


def log_loss(
    expected: Column,
    probabilities: Iterable[Any],
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Mean negative logarithm of the probability of what is true, in nats.

    A probability of 0 counts as 2.2e-16, as in scikit-learn.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        The labels; rows of a label that is not among the classes are left out.
    probabilities : array-like of shape (n_samples, n_classes) or (n_samples,)
        One column is for the second of two classes.
    classes : sequence, optional
        The label of each column; by default the distinct ones of `expected`, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> round(log_loss(["no", "yes"], [0.5, 0.5]), 4)
    0.6931
    """
    rows = expected, probabilities, classes, sample_weight
    return _told_measure("log_loss", *rows)


def brier(
    expected: Column,
    probabilities: Iterable[Any],
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Mean squared distance of the probabilities to what is true.

    For two classes it is that of the second, from 0 to 1; for more the sum over the
    classes, from 0 to 2.

    Parameters
    ----------
    expected : array-like of shape (n_samples,)
        The labels; rows of a label that is not among the classes are left out.
    probabilities : array-like of shape (n_samples, n_classes) or (n_samples,)
        One column is for the second of two classes.
    classes : sequence, optional
        The label of each column; by default the distinct ones of `expected`, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> round(brier(["no", "yes"], [0.1, 0.7]), 4)
    0.05
    """
    rows = expected, probabilities, classes, sample_weight
    return _told_measure("brier", *rows)


def precision(
    expected: Column,
    predicted: Column,
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Share of the answers for a class that are right.

    For two classes it is that of the second; for more the mean over those in y or
    among the answers. 0 for a class in y that is never answered.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
        Labels that are and labels that were answered.
    classes : sequence, optional
        All labels, in order; by default the distinct ones of both, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> precision(["no", "yes", "no"], ["no", "yes", "yes"])
    0.5
    """
    scores = _answer_scores(expected, predicted, classes, sample_weight)
    return MEASURES["precision"].of(scores)


def recall(
    expected: Column,
    predicted: Column,
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Share of the rows of a class that are answered so.

    For two classes it is that of the second, for more the mean over those in y. NaN
    without rows of the class.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
        Labels that are and labels that were answered.
    classes : sequence, optional
        All labels, in order; by default the distinct ones of both, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> recall(["yes", "yes", "no"], ["no", "yes", "no"])
    0.5
    """
    scores = _answer_scores(expected, predicted, classes, sample_weight)
    return MEASURES["recall"].of(scores)


def confusion(
    expected: Column,
    predicted: Column,
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> Floats:
    """Number of rows of each class, by the class that they were given.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
        Labels that are and labels that were answered.
    classes : sequence, optional
        All labels, in order; by default the distinct ones of both, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    array of shape (n_classes, n_classes)
        A row for each true class and a column for each answer; sums of weights.

    Examples
    --------
    >>> confusion(["yes", "yes", "no"], ["no", "yes", "no"]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    return _answer_scores(expected, predicted, classes, sample_weight).confusion


def expected_cost(
    expected: Column,
    predicted: Column,
    costs: Any = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Mean cost of the answers.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
        Labels that are and labels that were answered.
    costs : dict from (true class, answered class) to float, or array, optional
        What each mistake costs, as for `DefragClassifier`; 1 by default.
    classes : sequence, optional
        All labels, in order; by default the distinct ones of both, sorted.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> costs = {("bad", "good"): 5, ("good", "bad"): 1}
    >>> expected_cost(["bad", "good"], ["good", "good"], costs)
    2.5
    """
    rows = expected, predicted, classes, sample_weight
    return MEASURES["expected_cost"].of(_answer_scores(*rows, costs))


def rmse(
    expected: Column, predicted: Column, sample_weight: Column | None = None
) -> float:
    """Root of the mean squared error, in the units of y.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> rmse([1.0, 3.0], [4.0, 6.0])
    3.0
    """
    return _number_measure("rmse", expected, predicted, sample_weight)


def mae(
    expected: Column, predicted: Column, sample_weight: Column | None = None
) -> float:
    """Mean absolute error, in the units of y.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> mae([1.0, 3.0], [1.0, 5.0])
    1.0
    """
    return _number_measure("mae", expected, predicted, sample_weight)


def r2(
    expected: Column, predicted: Column, sample_weight: Column | None = None
) -> float:
    """Share of the variance of y that is explained; 1 is best.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> r2([1.0, 3.0], [1.0, 3.0])
    1.0
    """
    return _number_measure("r2", expected, predicted, sample_weight)


def _told_measure(name, expected, probabilities, classes, sample_weight):
    expected, weight = _checked(expected, probabilities, sample_weight)
    told = np.asarray(probabilities, dtype=np.float64)
    if told.ndim == 1:
        told = np.column_stack([1.0 - told, told])
    outcome = _outcome(classes, expected)
    if told.shape[1:] != (outcome.n_classes,):
        raise ValueError(
            f"probabilities must have a column for each of the {outcome.n_classes} "
            f"classes {list(outcome.labels)[:5]!r}; got the shape {told.shape}. Name "
            "all classes with classes=."
        )
    if not ((told >= 0) & (told <= 1)).all():
        raise ValueError(
            "probabilities must be from 0 to 1; some are not. Give what predict_proba "
            "gives."
        )
    numbers = outcome.encode_any(expected)
    scores = outcome.scores.of(outcome, numbers, weight, told.argmax(axis=1), told)
    return MEASURES[name].of(scores)


def _answer_scores(expected, predicted, classes, sample_weight, costs=None):
    expected, weight = _checked(expected, predicted, sample_weight)
    predicted = column_or_1d(predicted)
    outcome = _outcome(classes, expected, predicted)
    if costs is not None:
        rates = np.ones(outcome.n_classes)
        costs = make_decision(outcome.labels, rates, costs=costs).costs
    numbers = outcome.encode_any(expected), outcome.encode_any(predicted)
    return outcome.scores.of(outcome, numbers[0], weight, numbers[1], costs=costs)


def _number_measure(name, expected, predicted, sample_weight):
    expected, weight = _checked(expected, predicted, sample_weight)
    outcome = Numbers()
    expected, predicted = outcome.check(expected), outcome.check(predicted)
    return MEASURES[name].of(outcome.scores.of(outcome, expected, weight, predicted))


def _checked(expected, given, sample_weight):
    """What is true as a column, and the weights."""
    expected = column_or_1d(expected)
    check_consistent_length(expected, given, sample_weight)
    if sample_weight is None:
        return expected, np.ones(len(expected))
    weight = column_or_1d(sample_weight).astype(np.float64)
    if not ((weight >= 0) & (weight < np.inf)).all():
        raise ValueError(
            "sample_weight must hold finite numbers from 0; some are not. Leave out "
            "such rows."
        )
    return expected, weight


def _outcome(classes, *columns):
    if classes is None:
        classes = np.unique(np.concatenate(columns)).tolist()
    return Classes(tuple(classes))
