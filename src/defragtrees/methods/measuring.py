"""How good fitted rules are: what all estimators can say of it."""

import os
import warnings
from collections.abc import Iterable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from defragtrees import render
from defragtrees._types import Column, Floats, Rows, Values
from defragtrees.forest import Forest
from defragtrees.methods.compiled import for_many_rows
from defragtrees.rows import sources
from defragtrees.rows.evaluation import PartEvaluator, evaluate_encoded
from defragtrees.rules import RuleSet
from defragtrees.scores import calibration_text, scores_text

__all__ = ["Measuring", "warn_of_unanswered"]


class Measuring:
    """The part of a Simplifier that measures its rules."""

    # What `fit` sets.
    ensemble_: Any
    forest_: Forest
    rules_: RuleSet
    training_: dict[str, float]
    n_features_in_: int
    feature_names_in_: Values

    def evaluate(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> dict[str, float]:
        """How good the rules are on these rows, as a dict of numbers.

        Size, coverage, overlap, and fidelity to the ensemble; with y also `error` and,
        for classes, `auc`, `average_precision`, `log_loss`, `brier`, `precision`,
        `recall` and `expected_cost`, for numbers `rmse`, `mae` and `r2`; and the same
        of the ensemble, with `ensemble_` before the name. `average_precision`,
        `precision` and `recall` are those of `pos_label`, or the second of two
        classes, and with `auc` means over more. Rows of a class that the ensemble
        does not know count for `error` only. NaN is what has no meaning on these rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> scores = simple.evaluate([[0.5], [2.5]], [1.0, 6.0])
        >>> scores["n_rules"], round(scores["mae"], 1)
        (2, 0.5)
        """
        return self._evaluation(X, y, sample_weight).scores(self.rules_)

    def _evaluation(self, X, y=None, sample_weight=None, is_by_rule=False):
        source = self.reopen(X, y, sample_weight)
        rules, forest = self.rules_, self.forest_
        if not source.is_in_memory or source.n_rows() > sources.MANY_ROWS:
            forest = for_many_rows(forest, getattr(self, "engine", "auto"))
        evaluator = PartEvaluator(rules, forest, self._posterior, is_by_rule)
        evaluation = source.total(evaluator, self.n_jobs)
        if evaluation is None or not evaluation.weight:
            raise ValueError("At least one row with a positive weight is needed.")
        if not evaluation.has_known:
            raise ValueError(
                f"y must have labels such as {list(rules.classes)[:5]!r}; no row has "
                "one of them. Are they of another type?"
            )
        return evaluation

    def evaluate_encoded(
        self,
        matrix: Floats,
        answers: Column,
        y: Column | None = None,
        sample_weight: Column | None = None,
        probabilities: Iterable[Any] | None = None,
    ) -> dict[str, float]:
        """`evaluate` for a caller who has encoded the rows and asked the ensemble.

        Parameters
        ----------
        matrix : what `validate_rows` gave
        answers : array of shape (n_samples,)
            What `forest_` says of these rows.
        y, sample_weight : arrays of shape (n_samples,), optional
        probabilities : array of shape (n_samples, n_classes), optional
            How likely `forest_` finds each class; by default it is asked again.
        """
        if probabilities is None and y is not None and self.rules_.outcome.n_classes:
            probabilities = self.forest_.predict_proba_encoded(matrix)
        rows = matrix, answers, y, sample_weight
        evaluation = evaluate_encoded(
            self.rules_, *rows, self._posterior, probabilities
        )
        return evaluation.scores(self.rules_)

    @property
    def _posterior(self):
        """What stands behind the rules, if anything does."""
        return getattr(self, "posterior_", None)

    def export(
        self,
        format: str,
        path: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """The rules in another format; with a path, written to a file as well.

        Parameters
        ----------
        format : str
            See `defragtrees.export.export`.
        path : path, optional
        **options
            Of the format.

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> simple.export("text")[:20]
        '1. if x1 <= 1 then 1'
        """
        check_is_fitted(self, "rules_")
        return self.rules_.export(format, path, **options)

    def summary(self, X: Rows | None = None, y: Column | None = None) -> render.Lines:
        """The rules and how good they are, as text.

        With rows and y also, rule by rule, what is told and what is observed in them.

        Parameters
        ----------
        X, y : rows to measure on, optional
            The training rows by default.

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> simple.summary().splitlines()[0].split(": ")[0]
        '1. if x1 <= 1 then 1'
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        if X is None:
            scores, calibration = self.training_, None
        else:
            evaluation = self._evaluation(X, y, is_by_rule=True)
            scores, calibration = evaluation.scores(rules), evaluation.calibration
        where = "training rows" if X is None else "these rows"
        parts = [str(rules), scores_text(rules, scores, where)]
        if self.forest_.origin:
            parts.append(self.forest_.origin)
        if calibration is not None:
            parts.append(calibration_text(rules, calibration.rows(rules), where))
        if getattr(self, "stability_", None) is not None:
            parts.append(str(self.stability_))
        return render.Lines("\n\n".join(parts))


def warn_of_unanswered(rules, store):
    """Say which classes of the rows no rule answers, if there are rules at all.

    Parameters
    ----------
    rules : RuleSet
    store : RowStore
    """
    if rules.n_rules == 1 or not rules.unanswered_classes:
        return
    rates = dict(zip(rules.classes, store.class_shares(), strict=True))
    missing = [label for label in rules.unanswered_classes if rates[label] > 0]
    if missing:
        shown = [
            rules.outcome.answer_text(c) if rules.class_labels else c for c in missing
        ]
        names = ", ".join(map(repr, shown[:5])) + (", ..." if shown[5:] else "")
        share = render.share(sum(rates[label] for label in missing))
        warnings.warn(
            f"No rule answers {names}, which {share} of the rows have; more rules, or "
            "more weight for such a class, may change it.",
            UserWarning,
            stacklevel=4,
        )
