"""Refit: the same conditions with the predictions and the counts of other rows."""

import dataclasses

import numpy as np
from sklearn.utils.validation import column_or_1d

from defragtrees._utils.formatting import plural
from defragtrees.data.shards import Shard
from defragtrees.data.statistics import RuleSums, recounted, round_significant
from defragtrees.data.tables import check_length, check_weight
from defragtrees.rules.model import Edit, RuleSet
from defragtrees.rules.profile import TrainingRows, count_rows


def refit(
    rules: RuleSet, X, y, sample_weight=None, *, answers: str = "told"
) -> RuleSet:
    """The same conditions, counted on these rows; see `RuleSet.refit`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> rules = RuleSet((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
    ...                 ("degrees",), "regression")
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


def recount_rows(rules, matrix, target, weight, answers="told"):
    """The rules with the predictions and counts of checked rows."""
    outcome = rules.outcome
    codes = np.empty((len(matrix), 0), np.uint8)
    shard = Shard(codes, outcome.observed(target), weight, matrix)
    sums = RuleSums.of(rules, shard, None, "labels", None)
    # Averaged rules keep their weights; a weighted mean has no evidence to shrink by.
    how = "target" if rules.decision == "average" and answers == "told" else answers
    decision = outcome.decision(rules.threshold, rules.costs)
    made = dataclasses.replace(rules, interval_scores=None)
    made = recounted(made, sums, how, decision)
    if rules.decision == "points" and answers == "told":
        made = _on_scale(made, rules)
    # No ensemble predicted these rows.
    alone = [dataclasses.replace(rule, ensemble_mean=None) for rule in made]
    made = dataclasses.replace(made, rules=tuple(alone[:-1]), default=alone[-1])
    return dataclasses.replace(made, training=_profile(made, matrix, target, weight))


def _profile(rules, matrix, target, weight):
    """The profile of the rows that is kept with the rules."""
    outcome = rules.outcome
    features = {c.feature for rule in rules.rules for c in rule.conditions}
    columns = count_rows(features, rules.categories, matrix, weight)
    answers = outcome.encode(rules.predict_encoded(matrix))
    error = outcome.error(target, answers, weight)
    moments = tuple(map(round_significant, outcome.moments(target, weight)))
    total = round_significant(weight.sum())
    return TrainingRows(total, columns, moments, round_significant(error))


def _on_scale(made, before):
    """Points on the scale that they had, whole if they were."""
    if (before.unit, before.origin) == (1.0, 0.0):
        return made
    is_whole = all(float(p).is_integer() for rule in before for p in rule.points)

    def scaled(rule, origin):
        points = [value * made.unit / before.unit + origin for value in rule.points]
        return dataclasses.replace(
            rule, points=tuple(float(round(p)) if is_whole else p for p in points)
        )

    base = dataclasses.replace(
        made.default, points=tuple(p - made.origin for p in made.default.points)
    )
    return dataclasses.replace(
        made,
        rules=tuple(scaled(rule, 0.0) for rule in made.rules),
        default=scaled(base, before.origin),
        unit=before.unit,
        origin=before.origin,
    )
