"""Rules with the answers and the evidence of other rows; their conditions stay."""

import dataclasses
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from defragtrees._utils.formatting import plural
from defragtrees.data.shards import Shard
from defragtrees.data.statistics import RuleSums, recounted, round_significant
from defragtrees.rules.edits import Edit
from defragtrees.rules.model import RuleModel
from defragtrees.rules.profile import TrainingRows, count_rows

__all__ = ["checked_rows", "recount_rows", "refit", "refit_encoded"]


Model = TypeVar("Model", bound=RuleModel)


def refit(
    rules: Model, X: Any, y: Any, sample_weight: Any = None, *, answers: str = "told"
) -> Model:
    """The same conditions with what these rows say of them; see `RuleModel.refit`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> rules = RuleList((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
    ...                  ("degrees",), "regression")
    >>> rules = refit(rules, [[21], [22], [23], [1], [2], [3]], [5, 6, 7, 1, 2, 3])
    >>> [rule.prediction for rule in rules], rules.edits[0].text
    ([5.895, 2.105], 'counted anew on 6 rows')
    """
    return refit_encoded(rules, rules.encode(X), y, sample_weight, answers=answers)


def refit_encoded(rules, matrix, y, sample_weight=None, *, answers="told"):
    """`refit` for a matrix that `encode` made."""
    if answers not in ("told", "kept"):
        raise ValueError(f"answers must be 'told' or 'kept'; got {answers!r}.")
    rows = checked_rows(rules, matrix, y, sample_weight)
    made = recount_rows(rules, *rows, answers)
    text = f"counted anew on {plural(len(rows[0]), 'row')}"
    return dataclasses.replace(made, edits=(*rules.edits, Edit("refit", text)))


def checked_rows(rules, matrix, y, sample_weight=None):
    """Rows as encoded numbers, class numbers or numbers, and weights; all checked.

    Parameters
    ----------
    rules : RuleModel
    matrix : float64 array of shape (n_samples, n_features)
        What `encode` made.
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    """
    outcome = rules.outcome
    if y is None:
        raise ValueError(
            "y is needed to count rules anew; got None. Pass what is true of the rows."
        )
    y = outcome.check(column_or_1d(y, warn=True))
    if len(y) != len(matrix):
        raise ValueError(
            f"X and y must have equally many rows; got {len(matrix)} and {len(y)}."
        )
    weight = _check_sample_weight(
        sample_weight, matrix, dtype=np.float64, ensure_non_negative=True
    )
    kept = weight > 0
    if not kept.any():
        raise ValueError(
            "sample_weight must hold at least one non-zero number; all are 0. Leave it "
            "out to count every row once."
        )
    return matrix[kept], outcome.encode(y[kept]), weight[kept]


def recount_rows(rules, matrix, target, weight, answers="told"):
    """Rules with the answers, and what else is told, of checked rows."""
    targets = {"answers": target, "labels": target}
    if rules.classes:
        targets["probabilities"] = rules.outcome.indicators(target)
    shard = Shard(np.empty((len(matrix), 0), np.uint8), targets, weight, matrix)
    sums = RuleSums.of(rules, shard, None, "labels", None)
    decision = rules.outcome.decision(rules.threshold, rules.costs)
    rules = dataclasses.replace(rules, interval_scores=None)
    made = recounted(rules, sums, rules._recounted_by(answers), decision)
    if answers == "told":
        made = made._on_scale_of(rules)
    # No ensemble was asked.
    told = [dataclasses.replace(rule, ensemble_mean=None) for rule in made]
    made = dataclasses.replace(made, rules=tuple(told[:-1]), default=told[-1])
    return dataclasses.replace(made, training=_counted(made, matrix, target, weight))


def _counted(rules, matrix, target, weight):
    """What is kept of the rows."""
    features = {c.feature for rule in rules.rules for c in rule.conditions}
    columns = count_rows(features, rules.categories, matrix, weight)
    answers = rules.outcome.encode(rules._predict(rules._covers(matrix)))
    error = rules.outcome.error(target, answers, weight)
    if rules.classes:
        moments = np.bincount(target, weight, len(rules.classes))
    else:
        mean = np.average(target, weights=weight)
        square = np.average((target - mean) ** 2, weights=weight)
        moments = np.array([mean, np.sqrt(square)])
    told = tuple(map(round_significant, moments))
    total = round_significant(weight.sum())
    return TrainingRows(total, columns, told, round_significant(error))
