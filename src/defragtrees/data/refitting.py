"""Refit: count the predictions and the evidence of rules again on other rows."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees._utils.types import Floats
from defragtrees._utils.values import all_rounded, round_significant
from defragtrees.data.shards import Shard
from defragtrees.data.sources import with_exposure
from defragtrees.data.statistics import RuleSums, recounted
from defragtrees.rules.model import Edit, RuleModel
from defragtrees.rules.profile import Evidence, TrainingRows, count_rows
from defragtrees.tables import check_weight

Model = TypeVar("Model", bound=RuleModel)


def refit(
    rules: Model,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    predictions: str = "recount",
    exposure: Any = None,
) -> Model:
    """Count rules again on these rows; see `RuleModel.refit`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> rules = RuleList((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
    ...                  ("degrees",), "regression")
    >>> rules = refit(rules, [[21], [22], [23], [1], [2], [3]], [5, 6, 7, 1, 2, 3])
    >>> [rule.prediction for rule in rules], rules.edits[0].text
    ([5.895, 2.105], 'counted again on 6 rows')
    """
    if exposure is not None:
        rules.outcome.check_exposure()
        X, y = with_exposure(X, y, exposure)
    return refit_encoded(
        rules, rules._encode(X), y, sample_weight, predictions=predictions
    )


def refit_encoded(
    rules: Model,
    matrix: Floats,
    y: Any,
    sample_weight: Any = None,
    *,
    predictions: str = "recount",
) -> Model:
    """Refit on a matrix made by `encode`."""
    if predictions not in ("recount", "keep"):
        raise ValueError(
            f"predictions must be 'recount' or 'keep'; got {predictions!r}."
        )
    encoded, target, weight = checked_rows(rules, matrix, y, sample_weight)
    made: Model = recount_rows(rules, encoded, target, weight, predictions)
    if (
        rules.training
        and made.training
        and rules._form.is_exclusive
        and ([rule.prediction for rule in rules] == [rule.prediction for rule in made])
    ):
        # No prediction has changed: both agree with the model as often.
        kept = dataclasses.replace(made.training, agreement=rules.training.agreement)
        made = dataclasses.replace(made, training=kept)
    text = f"counted again on {plural(len(encoded), 'row')}"
    return dataclasses.replace(made, edits=(*rules.edits, Edit("refit", text)))


def checked_rows(rules, matrix, y, sample_weight=None):
    """Check encoded rows, y and weights; rows of weight 0 are dropped."""
    outcome = rules.outcome
    if y is None:
        raise ValueError(
            "y is needed to count rules again; got None. Pass the true values."
        )
    y = outcome.read(y, len(matrix))
    weight = check_weight(sample_weight, len(matrix))
    kept = weight > 0
    if not kept.any():
        raise ValueError(
            "sample_weight must have a positive sum; all weights are 0. Leave it out "
            "to count every row once."
        )
    return matrix[kept], outcome.encode(y[kept]), weight[kept]


def recount_rows(rules, matrix, target, weight, predictions="recount", source="refit"):
    """Count rules again on checked rows, which come from this source."""
    outcome = rules.outcome
    codes = np.empty((len(matrix), 0), np.uint8)
    shard = Shard(codes, {"answers": target, "labels": target}, weight, matrix)
    sums = RuleSums.of(rules._form, shard, None, "labels", None)
    decision = outcome.decision(rules.threshold, rules.costs)
    rules = dataclasses.replace(rules, residuals=None, rate_bands=None)
    how = predictions
    if predictions == "recount" and rules._form.has_weights:
        how = "target"  # a mean by weight has no counts to shrink predictions by
    made = recounted(
        rules,
        sums,
        how,
        decision,
        evidence=Evidence(source, float(len(weight))),
    )
    if predictions == "recount":
        made = made._with_form(made._form.on_scale_of(rules._form))
    # There are no predictions of a model for these rows.
    alone = [dataclasses.replace(rule, model_mean=None) for rule in made]
    made = dataclasses.replace(made, rules=tuple(alone[:-1]), default=alone[-1])
    training = _profile(made, rules.training, matrix, target, weight)
    return dataclasses.replace(made, training=training)


def _profile(rules, before, matrix, target, weight):
    """The profile of the rows that is kept with the rules."""
    outcome = rules.outcome
    edges, y = rules._form.edges, None
    is_sum = rules._form.is_sum
    if is_sum and outcome.has_sums:
        y = outcome.indicators(target)[:, -1]
    known = before.columns if before else ()
    special = {one.feature: one.special for one in known}
    given = rules.categories, matrix, weight, edges if is_sum else {}, y, special
    columns = count_rows(edges, *given)
    answers = outcome.encode(rules._form.predict(rules._covers(matrix)))
    error = outcome.error(target, answers, weight)
    moments = all_rounded(outcome.moments(target, weight))
    total = round_significant(weight.sum())
    score = None
    if is_sum and outcome.n_points == 1:
        values = rules.values_of(rules._form.totals(rules._covers(matrix)))
        [score] = count_rows([0], [None], values, weight, {})
    error = round_significant(error)
    return TrainingRows(total, columns, moments, error, score=score)
