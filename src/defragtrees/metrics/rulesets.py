"""What rule sets are like: error, fidelity, coverage, overlap, likeness."""

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.measures import calibrate
from defragtrees.rules.model import RuleModel

__all__ = [
    "calibration",
    "coverage",
    "covered_share",
    "covering_count",
    "error",
    "fidelity",
    "members",
    "overlap",
    "similarity",
    "trade_off_scores",
]


def error(
    expected: Column, predicted: Column, task: str, sample_weight: Column | None = None
) -> float:
    """Share of wrong classes, or mean squared error.

    Parameters
    ----------
    expected : array of shape (n_samples,)
        What is true.
    predicted : array of shape (n_samples,)
        What is answered.
    task : {"classification", "regression"}
    sample_weight : array of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> error(["a", "b"], ["a", "a"], "classification")
    0.5
    """
    return make_outcome(task).error(expected, predicted, sample_weight)


def fidelity(
    answers: Column, predicted: Column, task: str, sample_weight: Column | None = None
) -> float:
    """Agreement with the ensemble: share of equal classes, or R² of its answers.

    Parameters
    ----------
    answers : array of shape (n_samples,)
        What the ensemble says.
    predicted : array of shape (n_samples,)
        What the rules say.
    task : {"classification", "regression"}
    sample_weight : array of shape (n_samples,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> fidelity([1.0, 3.0], [1.0, 3.0], "regression")
    1.0
    """
    return make_outcome(task).fidelity(answers, predicted, sample_weight)


def coverage(rules: RuleModel, X: Rows, sample_weight: Column | None = None) -> float:
    """Share of rows in which a rule other than the "otherwise" holds.

    In a partition, such as a tree, each row has a rule: the coverage is 1.

    Parameters
    ----------
    rules : RuleModel
    X : array-like of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",),
    ...                  "classification", ("no", "yes"))
    >>> float(coverage(rules, [[21.0], [19.0]]))
    0.5
    """
    return covered_share(rules, rules.covers(X), sample_weight)


def overlap(rules: RuleModel, X: Rows, sample_weight: Column | None = None) -> float:
    """Mean number of rules that hold in a row, the "otherwise" left out.

    In a partition, such as a tree, it is just one.

    Parameters
    ----------
    rules : RuleModel
    X : array-like of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",),
    ...                  "classification", ("no", "yes"))
    >>> float(overlap(rules, [[21.0], [19.0]]))
    0.5
    """
    return covering_count(rules, rules.covers(X), sample_weight)


def calibration(
    rules: RuleModel, X: Rows, y: Column, sample_weight: Column | None = None
) -> list[dict[str, Any]]:
    """What each rule tells, and what is observed in the rows that it answers.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Rows of a class that the rules do not know are left out.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    list of dict
        One for each rule: `rule`, its number from 1; `class`, the told one of two
        classes, or the answer of the rule if there are more; `told`, its probability;
        `observed`, its share in y; `low` and `high`, the 95 % interval of that by
        Wilson; and `n_rows`, or their weight. For numbers they are means, and the
        interval is that of a mean.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.25, 0.75))
    >>> rest = Rule((), "no", (0.9, 0.1))
    >>> rules = RuleList((warm,), rest, ("degrees",), "classification", ("no", "yes"))
    >>> X, y = [[21.0], [25.0], [19.0]], ["yes", "no", "no"]
    >>> names = "rule", "class", "told", "observed", "n_rows"
    >>> for row in calibration(rules, X, y):
    ...     print(*(row[name] for name in names))
    1 yes 0.75 0.5 2.0
    2 yes 0.1 0.0 1.0
    """
    outcome, matrix = rules.outcome, rules.encode(X)
    if outcome.n_classes and any(rule.distribution is None for rule in rules):
        raise ValueError(
            "calibration needs rules that tell probabilities; one has none. Fit them, "
            "or give each Rule its distribution."
        )
    y = column_or_1d(y)
    check_consistent_length(matrix, y, sample_weight)
    y = outcome.check(y)
    outcome.check_known(y)
    weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
    return calibrate(rules, matrix, y, weight).rows(rules)


def covered_share(rules, held, sample_weight=None):
    """`coverage` from what `RuleModel.covers` gave."""
    if rules.decision == "partition":
        return 1.0
    return float(np.average(held[:, :-1].any(axis=1), weights=sample_weight))


def covering_count(rules, held, sample_weight=None):
    """`overlap` from what `RuleModel.covers` gave."""
    if rules.decision == "partition":
        return 1.0
    return float(np.average(held[:, :-1].sum(axis=1), weights=sample_weight))


def trade_off_scores(rules, matrix, expected, answers, sample_weight=None):
    """What one list of a trade-off costs and brings, on encoded rows.

    Parameters
    ----------
    rules : RuleModel
    matrix : float64 array of shape (n_samples, n_features)
    expected : array of shape (n_samples,)
        What errors are measured against: y, or the ensemble's answers.
    answers : array of shape (n_samples,)
        What the ensemble says.
    sample_weight : array of shape (n_samples,), optional

    Returns
    -------
    dict
        `error` and its `standard_error`, `fidelity`, `coverage` and `overlap`.
    """
    predicted = rules._predict(rules._covers(matrix))
    losses = rules.outcome.losses(expected, predicted)
    mean = float(np.average(losses, weights=sample_weight))
    variance = float(np.average((losses - mean) ** 2, weights=sample_weight))
    held = rules._covers(matrix)
    return {
        "error": mean,
        "standard_error": math.sqrt(variance / len(losses)),
        "fidelity": rules.outcome.fidelity(answers, predicted, sample_weight),
        "coverage": covered_share(rules, held, sample_weight),
        "overlap": covering_count(rules, held, sample_weight),
    }


def similarity(first: RuleModel, second: RuleModel, X: Rows) -> float:
    """How alike two rule sets cut these rows, from 0 to 1.

    For every rule, the largest share of rows in common (Jaccard index) with a rule of
    the other set that gives the same kind of answer is found; the mean, by the number
    of rows of the rules, is taken both ways. A rule has the rows that it answers, or,
    where rules are averaged, the rows in which it holds. Two sets with the same rules
    in other words have similarity 1.

    Parameters
    ----------
    first, second : RuleModel
    X : array-like of shape (n_samples, n_features)

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> def split(at):
    ...     low = Rule((Condition(0, upper=at),), 0.0)
    ...     return RuleList((low,), Rule((), 1.0), ("size",), "regression")
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> similarity(split(2.5), split(2.1), X)
    1.0
    >>> round(similarity(split(2.5), split(3.5), X), 4)
    0.6042
    """
    one, two = members(first, X), members(second, X)
    common = one.T @ two
    sizes = one.sum(axis=0)[:, None] + two.sum(axis=0) - common
    alike = common / np.maximum(sizes, 1)
    is_same = first.outcome.is_same_answer
    same = [[is_same(a.prediction, b.prediction) for b in second] for a in first]
    alike = np.where(same, alike, 0.0)
    there = np.average(alike.max(axis=1), weights=one.sum(axis=0))
    back = np.average(alike.max(axis=0), weights=two.sum(axis=0))
    return float((there + back) / 2)


def members(rules, X):
    """Which rows belong to which rule, as 0 and 1; see `similarity`."""
    return rules._members(rules.covers(X)).astype(np.float64)
