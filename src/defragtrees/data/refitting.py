"""Refit: the same conditions with the predictions and the counts of other rows."""

import dataclasses
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import column_or_1d

from defragtrees._utils.formatting import plural
from defragtrees._utils.values import all_rounded, round_significant
from defragtrees.data.shards import Shard
from defragtrees.data.statistics import RuleSums, recounted
from defragtrees.data.tables import check_length, check_weight
from defragtrees.rules.edits import Edit
from defragtrees.rules.model import RuleModel
from defragtrees.rules.profile import Evidence, TrainingRows, count_rows

Model = TypeVar("Model", bound=RuleModel)


def refit(
    rules: Model,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    predictions: str = "recount",
) -> Model:
    """The same conditions with what these rows say of them; see `RuleModel.refit`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> rules = RuleList((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
    ...                  ("degrees",), "regression")
    >>> rules = refit(rules, [[21], [22], [23], [1], [2], [3]], [5, 6, 7, 1, 2, 3])
    >>> [rule.prediction for rule in rules], rules.edits[0].text
    ([5.895, 2.105], 'counted anew on 6 rows')
    """
    return refit_encoded(
        rules, rules.encode(X), y, sample_weight, predictions=predictions
    )


def refit_encoded(rules, matrix, y, sample_weight=None, *, predictions="recount"):
    """`refit` for a matrix that `encode` made."""
    if predictions not in ("recount", "keep"):
        raise ValueError(
            f"predictions must be 'recount' or 'keep'; got {predictions!r}."
        )
    rows = checked_rows(rules, matrix, y, sample_weight)
    made = recount_rows(rules, *rows, predictions)
    text = f"counted anew on {plural(len(rows[0]), 'row')}"
    return dataclasses.replace(made, edits=(*rules.edits, Edit("refit", text)))


def checked_rows(rules, matrix, y, sample_weight=None):
    """Rows that `encode` made, encoded labels and weights, without rows of weight 0."""
    outcome = rules.outcome
    if y is None:
        raise ValueError(
            "y is needed to count rules anew; got None. Pass what is true of the rows."
        )
    y = outcome.check(column_or_1d(y, warn=True))
    check_length(len(matrix), len(y), "y")
    weight = check_weight(sample_weight, len(matrix))
    kept = weight > 0
    if not kept.any():
        raise ValueError(
            "sample_weight must hold at least one non-zero number; all are 0. Leave it "
            "out to count every row once."
        )
    return matrix[kept], outcome.encode(y[kept]), weight[kept]


def recount_rows(rules, matrix, target, weight, predictions="recount", source="refit"):
    """The rules with the predictions and counts of checked rows, from this source."""
    outcome = rules.outcome
    codes = np.empty((len(matrix), 0), np.uint8)
    shard = Shard(codes, outcome.observed(target), weight, matrix)
    sums = RuleSums.of(rules, shard, None, "labels", None)
    decision = outcome.decision(rules.threshold, rules.costs)
    rules = dataclasses.replace(rules, residuals=None, rate_bands=None)
    how = rules._recounted_by(predictions)
    made = recounted(
        rules,
        sums,
        how,
        decision,
        evidence=Evidence(source, round_significant(weight.sum())),
    )
    if predictions == "recount":
        made = made._on_scale_of(rules)
    # No ensemble predicted these rows.
    alone = [dataclasses.replace(rule, ensemble_mean=None) for rule in made]
    made = dataclasses.replace(made, rules=tuple(alone[:-1]), default=alone[-1])
    return dataclasses.replace(made, training=_profile(made, matrix, target, weight))


def _profile(rules, matrix, target, weight):
    """The profile of the rows that is kept with the rules."""
    outcome = rules.outcome
    features = {c.feature for rule in rules.rules for c in rule.conditions}
    columns = count_rows(features, rules.categories, matrix, weight)
    answers = outcome.encode(rules._predict(rules._covers(matrix)))
    error = outcome.error(target, answers, weight)
    moments = all_rounded(outcome.moments(target, weight))
    total = round_significant(weight.sum())
    return TrainingRows(total, columns, moments, round_significant(error))
