"""Measures of rule models on rows, alone or beside the predictions of a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees._utils import formatting as render
from defragtrees.data import sources
from defragtrees.data.evaluation import PartEvaluator
from defragtrees.data.sources import open_source
from defragtrees.data.tables import take_rows
from defragtrees.ensembles.black_box import (
    PROBE_ROWS,
    ClassQuery,
    NumberQuery,
    Questions,
    find_query,
)
from defragtrees.ensembles.forest import Forest, for_many_rows
from defragtrees.estimators.inputs import Unreadable, described_forest, fitted_forest
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import calibration_text, scores_text


def evaluate(rules, X, y=None, sample_weight=None, *, model=None):
    """The measures of rules on rows; see `RuleModel.evaluate`."""
    source = open_source(X, y, sample_weight)
    return _evaluation(rules, source, model).scores(rules)


def summarize_rules(rules, X=None, y=None, *, model=None):
    """The rules with their measures as text; see `RuleModel.summary`."""
    if X is None:
        return render.Lines(str(rules))
    where = "these rows"
    evaluation = _evaluation(rules, open_source(X, y), model, is_by_rule=True)
    # Rows given by the user are taken to be new.
    scores = scores_text(rules, evaluation.scores(rules), where, is_new=True)
    parts = [str(rules), scores]
    if evaluation.calibration is not None:
        rows = evaluation.calibration.rows(rules)
        parts.append(calibration_text(rules, rows, where))
    return render.Lines("\n\n".join(parts))


def _evaluation(rules, source, model, is_by_rule=False):
    # Columns that only the model needs stay, so none are selected here.
    predict = None
    if model is not None:
        predict = read_model(model, rules, source.first().X, source.n_rows())
    return total_evaluation(source, PartEvaluator(rules, predict, None, is_by_rule))


def total_evaluation(source, evaluator, n_jobs=None):
    """The Evaluation of all rows of a source; raises if there is nothing to measure."""
    evaluation = source.total(evaluator, n_jobs)
    if evaluation is None or not evaluation.weight:
        raise ValueError("At least one row with a positive weight is needed; got none.")
    if not evaluation.has_known:
        raise ValueError(
            f"y must have labels such as {list(evaluator.rules.classes)[:5]!r}; no row "
            "has one of these. Check the type of the labels."
        )
    return evaluation


@dataclass(frozen=True, eq=False)
class ModelPredictions:
    """Predictions of a model for rows of tables; can be pickled.

    `forest` is the model as arrays; None if it is queried.
    """

    rules: RuleModel
    given: Any
    forest: Forest | None
    query: Any = None

    def __call__(self, X, matrix=None):
        """Predictions, and probabilities in the order of the rules' classes.

        There are no probabilities of numbers, nor of a model that returns none.
        """
        if self.forest is None:
            return self._asked(X)
        raw = self.forest.predict_raw(X)
        shares = self.forest.outcome.probabilities_of(self.forest, raw)
        predicted = self.forest.predict_from_raw(raw)
        return self._checked(predicted, shares, self.forest.classes)

    def _asked(self, X):
        raw, query = Questions(self.given).ask(self.query, X), self.query
        if query.classes is None:
            return raw[:, 0], None
        predicted = np.array(query.classes)[raw[:, -1].astype(np.intp)]
        shares = None if query.predict_proba is None else raw[:, :-1]
        return self._checked(predicted, shares, query.classes)

    def _checked(self, predicted, shares, classes):
        labels = self.rules.outcome.labels
        if labels is not None and not self.rules.outcome.has_known(predicted):
            raise ValueError(
                f"model must predict the classes of the rules, such as "
                f"{list(labels)[:5]!r}; it predicts "
                f"{np.unique(predicted).tolist()[:5]!r}. Pass the model that the rules "
                "imitate."
            )
        if shares is not None:
            column = {label: shares[:, j] for j, label in enumerate(classes)}
            none = np.zeros(len(shares))
            shares = np.column_stack([column.get(label, none) for label in labels])
        return predicted, shares


def read_model(model, rules, X, n_rows=0):
    """Read a model, or find out how to query it, to compare rules with it.

    `X` has the first rows of `n_rows`.
    """
    forest = fitted_forest(model, X)
    if forest is None:
        raise NotFittedError(
            f"model must be fitted; this {type(model).__name__} is not. Call fit first."
        )
    if isinstance(forest, Unreadable):
        return ModelPredictions(rules, model, None, _query(model, rules, X))
    if forest.outcome.task != rules.task:
        raise ValueError(
            f"model must be for {rules.task}, as the rules are; it is for "
            f"{forest.outcome.task}. Pass the model that the rules imitate."
        )
    forest = described_forest(forest, X)
    if n_rows > sources.MANY_ROWS:
        forest = for_many_rows(forest, "auto")
    return ModelPredictions(rules, model, forest)


def _query(model, rules, X):
    labels = rules.outcome.labels
    if labels is None:
        return NumberQuery(model)
    if hasattr(model, "predict_proba"):
        classes = np.asarray(getattr(model, "classes_", labels)).tolist()
        return ClassQuery(classes, getattr(model, "predict", None), model.predict_proba)
    head = take_rows(X, np.arange(min(len(X), PROBE_ROWS)))
    query, _ = find_query(Questions(model), rules.task, head, np.array(labels))
    if query.predict is None:
        return query
    # A few rows need not have all classes.
    return ClassQuery(dict.fromkeys([*labels, *query.classes]), query.predict)
