"""Measures of rules: error, fidelity, cost, coverage, overlap, calibration, totals."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.measures import calibrate
from defragtrees.outcomes.points import reachable_totals
from defragtrees.rules.forms import Scorecard
from defragtrees.rules.model import RuleModel

__all__ = [
    "calibration",
    "coverage",
    "covered_share",
    "covering_count",
    "error",
    "expected_cost",
    "fidelity",
    "members",
    "overlap",
    "score_table",
    "similarity",
    "table_of_totals",
    "trade_off_scores",
]

MOST_LINES = 30  # totals that a score table lists one by one
N_GROUPS = 10  # of about equally many rows, where there are more


def error(
    expected: Column, predicted: Column, task: str, sample_weight: Column | None = None
) -> float:
    """Share of wrong classes, or mean squared error.

    Parameters
    ----------
    expected : array of shape (n_samples,)
        What is true.
    predicted : array of shape (n_samples,)
        What is predicted.
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
    """Agreement with the ensemble: share of equal classes, or R² of its predictions.

    Parameters
    ----------
    answers : array of shape (n_samples,)
        What the ensemble predicts.
    predicted : array of shape (n_samples,)
        What the rules predict.
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


def expected_cost(
    expected: Column,
    predicted: Column,
    costs: Any = None,
    classes: Sequence[Any] | None = None,
    sample_weight: Column | None = None,
) -> float:
    """Mean cost of the predictions.

    Parameters
    ----------
    expected, predicted : array-like of shape (n_samples,)
        True labels and predicted ones.
    costs : dict from (true class, predicted class) to float, or array, optional
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
    expected, predicted = column_or_1d(expected), column_or_1d(predicted)
    if classes is None:
        classes = np.unique(np.concatenate([expected, predicted])).tolist()
    counts = confusion_matrix(
        expected, predicted, labels=classes, sample_weight=sample_weight
    )
    if costs is None:
        costs = 1 - np.eye(len(classes))
    else:
        costs = make_decision(tuple(classes), np.ones(len(classes)), costs=costs).costs
    return float((counts * costs).sum() / counts.sum())


def coverage(rules: RuleModel, X: Rows, sample_weight: Column | None = None) -> float:
    """Share of rows that match a rule other than the "otherwise".

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
    ...                 "classification", ("no", "yes"))
    >>> float(coverage(rules, [[21.0], [19.0]]))
    0.5
    """
    return covered_share(rules, rules.covers(X), sample_weight)


def overlap(rules: RuleModel, X: Rows, sample_weight: Column | None = None) -> float:
    """Mean number of rules that match a row, the "otherwise" left out.

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
    ...                 "classification", ("no", "yes"))
    >>> float(overlap(rules, [[21.0], [19.0]]))
    0.5
    """
    return covering_count(rules, rules.covers(X), sample_weight)


def calibration(
    rules: RuleModel, X: Rows, y: Column, sample_weight: Column | None = None
) -> list[dict[str, Any]]:
    """The probability that each rule gives, and the rate in the rows that it predicts.

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
        One for each rule: `rule`, its number from 1; `class`, `pos_label` or the second
        of two classes, or the prediction of the rule if there are more; `told`, its
        probability; `observed`, its share in y; `low` and `high`, the 95 % interval of
        that by Wilson; and `n_rows`, or their weight. For numbers they are means, and
        the interval is that of a mean.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.25, 0.75))
    >>> rest = Rule((), "no", (0.9, 0.1))
    >>> rules = RuleList((warm,), rest, ("degrees",), "classification", ("no", "yes"))
    >>> X, y = [[21.0], [25.0], [19.0]], ["yes", "no", "no"]
    >>> names = "rule", "class", "estimated", "observed", "n_rows"
    >>> for row in calibration(rules, X, y):
    ...     print(*(row[name] for name in names))
    1 yes 0.75 0.5 2.0
    2 yes 0.1 0.0 1.0
    """
    outcome, matrix = rules.outcome, rules.encode(X)
    if outcome.has_probabilities and not rules.has_probabilities:
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
    return float(np.average(rules._n_matching(held) > 0, weights=sample_weight))


def covering_count(rules, held, sample_weight=None):
    """`overlap` from what `RuleModel.covers` gave."""
    return float(np.average(rules._n_matching(held), weights=sample_weight))


def trade_off_scores(rules, matrix, expected, answers, sample_weight=None):
    """Error, its standard error, fidelity, coverage and overlap, on encoded rows.

    Errors are measured against `expected`, fidelity against the ensemble's `answers`.
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
    the other set with the same kind of prediction is found; the mean, by the number of
    rows of the rules, is taken both ways. A rule has the rows that it predicts, or,
    where rules are averaged, the rows that it matches. Two sets with the same rules in
    other words have similarity 1.

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


def score_table(
    rules: RuleModel, X: Rows | None = None, y: Column | None = None
) -> list[dict[str, Any]]:
    """What each total of points stands for and, with rows, how many have it.

    Parameters
    ----------
    rules : RuleModel
        With points that add up, for numbers or two classes.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Without it, all totals that whole points can have; at most 30, evenly chosen.
        With it, those of the rows; where there are more than 30, ten groups of about
        equally many rows.
    y : array-like of shape (n_samples,), optional

    Returns
    -------
    list of dict
        From the lowest total on: "low" and "high", the totals; "estimated", the mean
        probability of the second class or the mean number; with X "n_rows", and with y
        "observed", the rate of that class or the mean of y.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> rules = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                 "regression")
    >>> for row in score_table(rules):
    ...     print(row)
    {'low': 2.0, 'high': 2.0, 'estimated': 2.0}
    {'low': 5.0, 'high': 5.0, 'estimated': 5.0}
    """
    if not isinstance(rules, Scorecard) or rules.outcome.n_points != 1:
        raise ValueError(
            "score_table needs points that add up to one total, of numbers or two "
            f"classes; got rules with decision={rules.decision!r} and "
            f"{rules.outcome.n_classes} classes."
        )
    if X is None:
        return _possible(rules)
    return table_of_totals(rules, rules.totals(X)[:, 0], y)


def table_of_totals(rules, totals, y=None):
    """`score_table` of rows with these totals."""
    totals = np.round(totals, 9)
    values = _told(rules, totals)
    truth = None
    if y is not None:
        outcome = rules.outcome
        truth = outcome.indicators(outcome.encode_any(outcome.check(np.ravel(y))))
        truth = truth[:, -1]
    lines = []
    for rows in _groups(totals):
        line = {
            "low": float(totals[rows].min()),
            "high": float(totals[rows].max()),
            "estimated": float(values[rows].mean()),
            "n_rows": len(rows),
        }
        if truth is not None:
            line["observed"] = float(truth[rows].mean())
        lines.append(line)
    return lines


def _possible(rules):
    totals = reachable_totals([rule.points[0] for rule in rules])
    if len(totals) > MOST_LINES:
        places = np.linspace(0, len(totals) - 1, MOST_LINES).round().astype(int)
        totals = totals[places]
    return [
        {"low": float(total), "high": float(total), "estimated": float(value)}
        for total, value in zip(totals, _told(rules, totals), strict=True)
    ]


def _told(rules, totals):
    """Of each total the probability of the second class, or the number."""
    values = rules.values_of(np.asarray(totals, dtype=np.float64)[:, None])
    return rules.outcome.linked(values)[:, -1]


def _groups(totals):
    """Rows with the same total, or about as many rows with neighbouring ones."""
    order = np.argsort(totals, kind="stable")
    cuts = np.flatnonzero(np.diff(totals[order])) + 1
    if len(cuts) >= MOST_LINES:
        wanted = np.arange(1, N_GROUPS) * math.ceil(len(totals) / N_GROUPS)
        cuts = np.unique(cuts[np.searchsorted(cuts, wanted[wanted < len(totals)]) - 1])
    return np.split(order, cuts)
