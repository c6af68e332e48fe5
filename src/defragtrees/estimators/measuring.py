"""Measures of rule models on rows, alone or beside the predictions of a model."""

from collections.abc import Sequence
from typing import Any

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.data.sources import Part, open_source, with_exposure
from defragtrees.data.statistics import Evaluation, PartEvaluator
from defragtrees.ensembles.predictions import Predictor, read_model
from defragtrees.rules.model import RuleModel


def evaluate(
    rules: RuleModel,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    model: Any = None,
    exposure: Column | None = None,
) -> dict[str, float]:
    """The measures of rules on rows; see `RuleModel.evaluate`."""
    if exposure is not None:
        rules.outcome.check_exposure()
        X, y = with_exposure(X, y, exposure)
    source = open_source(X, y, sample_weight)
    scores: dict[str, float] = _evaluation(rules, source, model).scores(rules)
    return scores


def summarize_rules(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    *,
    model: Any = None,
) -> render.Lines:
    """The rules with their measures as text; see `RuleModel.summary`."""
    if X is None:
        return render.Lines(str(rules))
    evaluation = _evaluation(rules, open_source(X, y), model, is_by_rule=True)
    return summary_of(rules, evaluation)


def summary_of(
    rules: RuleModel, evaluation: Evaluation, notes: Sequence[str] = ()
) -> render.Lines:
    """The rules with their measures on rows given by the user, and notes, as text."""
    where, calibration = "these rows", evaluation.calibration
    # Such rows are taken to be new.
    scores = rules._view.scores_text(evaluation.scores(rules), where, is_new=True)
    parts = [str(rules), scores, *notes]
    if calibration is not None:
        parts.append(rules._view.calibration_text(calibration.rows(rules), where))
    return render.Lines("\n\n".join(parts))


def _evaluation(rules, source, model, is_by_rule=False):
    # Columns that only the model needs stay, so none are selected here.
    source.expect(rules, others=True)
    predict = None
    if model is not None:
        predict = read_model(model, rules, source.first().X)
    return total_evaluation(source, PartEvaluator(rules, predict, is_by_rule))


def total_evaluation(source, evaluator, n_jobs=None):
    """The Evaluation of all rows of a source; raises if there is nothing to measure."""
    if isinstance(evaluator.predict, Predictor) and evaluator.predict.is_given:
        rows = source.load()
        evaluation = evaluator(Part(rows.X, rows.y, rows.sample_weight))
    else:
        evaluation = source.total(evaluator, n_jobs)
    if evaluation is None or not evaluation.weight:
        raise ValueError("At least one row with a positive weight is needed; got none.")
    if not evaluation.has_known:
        raise ValueError(
            f"y must have labels such as {list(evaluator.rules.classes)[:5]!r}; no row "
            "has one of these. Check the type of the labels."
        )
    return evaluation
