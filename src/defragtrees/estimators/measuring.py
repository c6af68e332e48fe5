"""Measures of rule models on rows, alone or beside the predictions of a model."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees._utils import formatting as render
from defragtrees.data import sources
from defragtrees.data.evaluation import PartEvaluator
from defragtrees.data.sources import open_source
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
from defragtrees.tables import find_positions, take_rows


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
    """Predictions of a model in the classes of rules; can be pickled.

    `forest` is the model as arrays; None if it is queried. `classes` are those of the
    rules in the order of the model's, where the user says which is which.
    """

    rules: RuleModel
    given: Any
    forest: Forest | None
    query: Any = None
    classes: tuple[Any, ...] | None = None

    def __call__(self, X, matrix=None):
        """Predictions, and probabilities in the order of the rules' classes.

        There are no probabilities of numbers, nor of a model that returns none.
        """
        return self.matched(X)[:2]

    def matched(self, X):
        """What a call returns, and the ClassMatch; None for numbers."""
        if self.forest is None:
            codes, shares, theirs = self._asked(X)
        else:
            raw = self.forest.predict_raw(X)
            codes, theirs = self.forest.target_from_raw(raw), self.forest.classes
            shares = self.forest.outcome.probabilities_of(self.forest, raw)
        labels = self.rules.outcome.labels
        if labels is None:
            return codes, None, None
        is_complete = not isinstance(self.query, LabelQuery)
        match = match_classes(theirs, labels, self.classes, is_complete)
        if shares is not None:
            column = {label: shares[:, j] for j, label in enumerate(match.labels)}
            none = np.zeros(len(shares))
            shares = np.column_stack([column.get(label, none) for label in labels])
        return np.asarray(match.labels)[codes], shares, match

    def _asked(self, X):
        raw, query = Questions(self.given).ask(self.query, X), self.query
        if isinstance(query, NumberQuery):
            return raw[:, 0], None, None
        if isinstance(query, LabelQuery):
            theirs, codes = np.unique(raw, return_inverse=True)
            return codes, None, theirs.tolist()
        shares = None if query.predict_proba is None else raw[:, :-1]
        return raw[:, -1].astype(np.intp), shares, query.classes


class LabelQuery:
    """Query of a model without a list of its classes, or of a function."""

    n_outputs = 1

    def __init__(self, function):
        self.function = function

    def __call__(self, questions, table):
        return questions.column(self.function, table)


class ClassMatch(NamedTuple):
    """Which class of a model is which class of rules."""

    model_labels: tuple[Any, ...]
    labels: tuple[Any, ...]  # of the rules, one for each of the model's
    is_by_position: bool = False  # the model numbers its classes, and nobody named them


def match_classes(theirs, known, given=None, is_complete=True):
    """Match the classes of a model, `theirs`, with the known ones of rules.

    Labels that read the same are the same. A model that numbers its classes from 0 or
    1 numbers those of the rules in their order, unless `given` has them in another.
    Where `theirs` is not complete, it has the labels that were predicted.

    Examples
    --------
    >>> match_classes(("0", "1"), (0, 1)).labels
    (0, 1)
    >>> match_classes((0, 1), ("paid", "unpaid")).labels
    ('paid', 'unpaid')
    >>> match_classes((0, 1), ("paid", "unpaid"), given=("unpaid", "paid")).labels
    ('unpaid', 'paid')
    """
    theirs, same = tuple(theirs), find_positions(theirs, known)
    if given is None and None not in same:
        return ClassMatch(theirs, tuple(known[j] for j in same))
    order = known if given is None else _checked_order(given, known)
    n_classes = len(order)
    for first in (0, 1):
        places = find_positions(theirs, range(first, first + n_classes))
        if None not in places and (len(theirs) == n_classes or not is_complete):
            return ClassMatch(theirs, tuple(order[j] for j in places), given is None)
    if given is not None and len(theirs) == n_classes:
        return ClassMatch(theirs, order)
    if given is not None:
        raise ValueError(
            f"classes must name a class of the rules for each of the model's, "
            f"{list(theirs)[:5]!r}; got {list(given)[:5]!r}."
        )
    if not set(known) <= set(theirs):
        raise ValueError(
            f"model must predict the classes of the rules, such as "
            f"{list(known)[:5]!r}; it predicts {list(theirs)[:5]!r}. Pass the model "
            "that the rules imitate, or say which class is which: check takes classes "
            "(watch --classes), in the order of the model's."
        )
    # The model has more classes, which the rules never predict.
    return ClassMatch(theirs, theirs)


def _checked_order(given, known):
    places = find_positions(given, known)
    if None in places or len(set(places)) < len(places):
        raise ValueError(
            f"classes must name classes of the rules, {list(known)[:5]!r}, each once; "
            f"got {list(given)[:5]!r}."
        )
    return tuple(known[j] for j in places)


def read_model(model, rules, X, n_rows=0, classes=None):
    """Read a model, or find out how to query it, to compare rules with it.

    `X` has the first rows of `n_rows`; `classes` are those of the rules in the order of
    the model's, if they must be named.
    """
    if classes is not None:
        if not rules.outcome.n_classes:
            raise ValueError("classes is for rules that predict a class; these do not.")
        if isinstance(classes, str) or not isinstance(classes, Iterable):
            raise ValueError(
                f"classes must be a list of classes of the rules; got {classes!r}."
            )
        classes = tuple(classes)
    forest = fitted_forest(model, X)
    if forest is None:
        raise NotFittedError(
            f"model must be fitted; this {type(model).__name__} is not. Call fit first."
        )
    if isinstance(forest, Unreadable):
        query = _query(model, rules, X)
        return ModelPredictions(rules, model, None, query, classes)
    if forest.outcome.task != rules.task:
        raise ValueError(
            f"model must be for {rules.task}, as the rules are; it is for "
            f"{forest.outcome.task}. Pass the model that the rules imitate."
        )
    forest = described_forest(forest, X)
    if n_rows > sources.MANY_ROWS:
        forest = for_many_rows(forest)
    return ModelPredictions(rules, model, forest, None, classes)


def _query(model, rules, X):
    labels = rules.outcome.labels
    if labels is None:
        return NumberQuery(model)
    if hasattr(model, "predict_proba"):
        classes = np.asarray(getattr(model, "classes_", labels)).tolist()
        return ClassQuery(classes, getattr(model, "predict", None), model.predict_proba)
    head = take_rows(X, np.arange(min(len(X), PROBE_ROWS)))
    query, _ = find_query(Questions(model), rules.task, head, np.array(labels))
    if query.predict is None or hasattr(model, "classes_"):
        return query
    # A few rows need not have all classes.
    return LabelQuery(query.predict)
