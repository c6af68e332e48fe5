"""Measures of rule models: error, fidelity, cost, coverage, calibration, totals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.measures import bands_of, calibrate
from defragtrees.rules.bins import totals_of
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import Scorecard
from defragtrees.tables import check_weight, one_column

MOST_LINES = 30  # maximum number of totals that a score table lists one by one


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
        True and predicted labels.
    costs : dict from (true class, predicted class) to float, or array, optional
        Cost of each kind of mistake, as for `DefragClassifier`; 1 by default.
    classes : sequence, optional
        All labels, in order; by default the sorted labels of both arrays.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> costs = {("bad", "good"): 5, ("good", "bad"): 1}
    >>> expected_cost(["bad", "good"], ["good", "good"], costs)
    2.5
    """
    expected, predicted = one_column(expected), one_column(predicted)
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


def calibration(
    rules: RuleModel, X: Rows, y: Column, sample_weight: Column | None = None
) -> list[dict[str, Any]]:
    """Estimated probability and observed rate of each rule, or of totals of points.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Rows of unknown classes are left out.
    sample_weight : array-like of shape (n_samples,), optional
        Only ratios of weights matter.

    Returns
    -------
    list of dict
        One per rule: `rule`, its number from 1; `class`, the class whose rate is shown
        (`pos_label` or the second of two classes, the predicted class if there are
        more); `estimated`, its probability according to the rule; `observed`, its rate
        in the rows that the rule predicts; `low` and `high`, the 95% Wilson interval
        of that rate; and `n_rows`, the number of these rows or their weight. For
        numbers they are means, with the interval of a mean. The rules of a scorecard
        predict together: it has at most ten groups of rows with similar totals and
        `total`, the lowest and the highest, instead of `rule`; of more than two classes
        the groups are by class and probability.

    Examples
    --------
    >>> X, y = [[21.0, 3.0], [25.0, 3.0], [19.0, 3.0]], ["yes", "no", "no"]
    >>> names = "rule", "class", "estimated", "observed", "n_rows"
    >>> for row in calibration(rules, X, y):
    ...     print(*(row[name] for name in names))
    1 yes nan nan 0.0
    2 yes 0.8 0.5 2.0
    3 yes 0.1 0.0 1.0
    """
    outcome, matrix = rules.outcome, rules._encode(X)
    if outcome.has_probabilities and not rules._form.has_probabilities:
        raise ValueError(
            "calibration needs rules with probabilities; one has none. Fit them, or "
            "give each Rule its distribution."
        )
    y = outcome.read(y, len(matrix))
    outcome.check_known(y)
    weight = check_weight(sample_weight, len(matrix))
    return calibrate(rules, matrix, y, weight).rows(rules)


def score_table(
    rules: RuleModel, X: Rows | None = None, y: Column | None = None
) -> list[dict[str, Any]]:
    """Estimated probability or number for each total of points.

    With X also the number of rows with each total, with y the observed rates.

    Parameters
    ----------
    rules : RuleModel
        A scorecard, for regression or two classes.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Without it, all totals that the points allow, evenly thinned to at most 30.
        With it, the totals of these rows; if there are more than 30, ten groups of
        about equal size.
    y : array-like of shape (n_samples,), optional

    Returns
    -------
    list of dict
        In ascending order: "low" and "high", the range of totals; "estimated", the mean
        probability of `pos_label`, or of the second class, or the mean number; with X
        "n_rows", and with y "observed", the rate of that class or the mean of y. Rates
        of events are means by exposure.

    Examples
    --------
    >>> for row in score_table(card):
    ...     print(row)
    {'low': 2.0, 'high': 2.0, 'estimated': 2.0}
    {'low': 5.0, 'high': 5.0, 'estimated': 5.0}
    """
    if not isinstance(rules, RuleModel):
        raise TypeError(
            f"score_table needs a scorecard; got {type(rules).__name__}. Pass the "
            "rules_ of an estimator."
        )
    if not isinstance(rules, Scorecard) or rules.outcome.n_points != 1:
        raise ValueError(
            "score_table needs a scorecard for regression or two classes; got a "
            f"{type(rules).__name__} for {rules.outcome.n_classes} classes."
        )
    if X is None:
        return _possible(rules)
    return table_of_totals(rules, rules.totals(X)[:, 0], y)


def table_of_totals(rules, totals, y=None):
    """`score_table` for rows with these totals."""
    totals = np.round(totals, 9)
    values, outcome = _estimates(rules, totals), rules.outcome
    truth, weight = None, np.ones(len(totals))
    if y is not None:
        y = outcome.encode_any(outcome.read(y))
        truth = outcome.indicators(y)[:, _reported_output(rules)]
        weight = outcome.mean_weight(y, weight)
    lines = []
    _, place, counts = np.unique(totals, return_inverse=True, return_counts=True)
    bands = bands_of(counts, MOST_LINES)[place]
    for band in range(bands.max(initial=-1) + 1):
        rows = np.flatnonzero(bands == band)
        line = {
            "low": float(totals[rows].min()),
            "high": float(totals[rows].max()),
            "estimated": float(np.average(values[rows], weights=weight[rows])),
            "n_rows": len(rows),
        }
        if truth is not None:
            line["observed"] = float(np.average(truth[rows], weights=weight[rows]))
        lines.append(line)
    return lines


def _possible(rules):
    totals = totals_of(rules)
    if len(totals) > MOST_LINES:
        places = np.linspace(0, len(totals) - 1, MOST_LINES).round().astype(int)
        totals = totals[places]
    return [
        {"low": float(total), "high": float(total), "estimated": float(value)}
        for total, value in zip(totals, _estimates(rules, totals), strict=True)
    ]


def _estimates(rules, totals):
    """Estimated probability of the positive class, or number, for each total."""
    values = rules.values_of(np.asarray(totals, dtype=np.float64)[:, None])
    return rules.outcome.linked(values)[:, _reported_output(rules)]


def _reported_output(rules):
    return rules.outcome.positive_index if rules.outcome.is_binary else 0
