"""What every method does with rows that come in parts: fit, predict and evaluate."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees.forest import Forest
from defragtrees.methods._compiled import for_many_rows
from defragtrees.methods._encoding import warn_of_empty_columns
from defragtrees.methods._tally import Measure
from defragtrees.methods._whole import read_whole, sample_problem
from defragtrees.methods.validation import (
    part_column,
    part_weight,
)
from defragtrees.progress import Progress
from defragtrees.readers import read_forest
from defragtrees.rows import sources
from defragtrees.rules import RuleSet
from defragtrees.tables import check_finite

__all__ = ["ByParts"]


@dataclass(frozen=True, eq=False)
class _Answerer:
    """From a table to an array with a row for each of its rows; safe to send."""

    rules: RuleSet
    verb: str
    posterior: Any = None

    def __call__(self, X):
        matrix = self.rules.encode(X)
        check_finite(matrix, self.rules.feature_names)
        return self.predict_encoded(matrix)

    def predict_encoded(self, matrix):
        """The same for a matrix."""
        if self.posterior is None:
            return getattr(self.rules, self.verb)(matrix)
        return self.posterior.answer_in(matrix, self.rules.classes)


@dataclass(frozen=True, eq=False)
class _Measurer:
    """From a part to its Measure; safe to send."""

    rules: RuleSet
    forest: Forest
    posterior: Any = None

    def __call__(self, part):
        rules = self.rules
        matrix = rules.encode(part.X)
        check_finite(matrix, rules.feature_names)
        y, weight = part.y, part.sample_weight
        is_known = True
        if y is not None:
            y, is_known = self._checked(part_column(y, len(matrix)))
        if weight is not None:
            weight = part_weight(weight, len(matrix))
        answers = self.forest.predict_encoded(matrix)
        said = None
        if self.posterior is not None:
            said = self.posterior.answer_in(matrix, rules.classes)
        held, predicted = rules.covers_encoded(matrix), rules.predict_encoded(matrix)
        found = Measure.of(rules.task, held, predicted, answers, y, weight, said)
        return replace(found, is_known=is_known)

    def _checked(self, y):
        """The labels, and whether any is known; those of one part may all be new."""
        y = self.rules.outcome.check(y)
        return y, self.rules.outcome.has_known(y)


class ByParts:
    """Stands before a method's other base class."""

    _keeps_codes = False  # whether `fit` can do with the codes of all rows

    def _table_or_none(self, source, rng):
        """X, y and sample_weight in memory; None if they were fitted as codes."""
        if source.n_rows() <= sources.MANY_ROWS:
            forest = self._fitted_forest()
            source.select(() if forest is None else forest.feature_names)
            return source.whole()
        if self._keeps_codes:
            self._fit_codes(source, rng)
            return None
        if not source.is_in_memory:
            raise TypeError(
                f"{type(self).__name__} needs all rows in memory; with more than "
                f"{sources.MANY_ROWS:,} pass a table in memory or a sample of them, or "
                "use DefragClassifier or DefragRegressor."
            )
        return source.whole()

    def _fitted_forest(self):
        """The forest of the given ensemble; None if it is not fitted yet."""
        try:
            return None if self.ensemble is None else read_forest(self.ensemble)
        except NotFittedError:
            return None

    def _fit_codes(self, source, rng):
        """Fit on rows of which only the codes are kept."""
        forest = self._forest_of(source, rng)
        source.select(forest.feature_names)
        first = source.first().X
        self._check_table(first)
        forest = self._named(forest, first)
        self._check_before_reading(forest)
        if self.target == "labels" and not source.has_labels:
            self._check_y(None, 0)
        whole, digest = self._read(source, forest)
        warn_of_empty_columns(digest, forest.feature_names)
        self.forest_ = forest
        if forest.classes is not None:
            self.classes_ = np.asarray(forest.classes)
        problem = sample_problem(whole, forest, rng, self.shorten_thresholds)
        self.rules_ = self._simplify(problem, rng)
        self._count_all(whole)
        self.training_ = whole.evaluate(self.rules_, self._measured_posterior())

    def _forest_of(self, source, rng):
        if source.is_in_memory:
            X, y, weight = source.whole()
            y = self._check_y(y, source.n_rows())
            return self._ready_forest(X, y, weight, rng)
        forest = self._fitted_forest()
        if forest is None:
            raise NotFittedError(
                "The ensemble must be fitted before rows that are not in memory can be "
                "used; fit it first."
            )
        self.ensemble_ = self.ensemble
        return self._check_forest(forest)

    def _check_before_reading(self, forest):
        """Refuse settings that do not go with the forest, or with this machine."""

    def _read(self, source, forest):
        with Progress("rows", source.n_rows()) as progress:
            return read_whole(
                source,
                for_many_rows(forest, self.engine),
                name="labels" if self.target == "labels" else "answers",
                shorten=self.shorten_thresholds,
                n_jobs=self.n_jobs,
                watch=progress.advance if getattr(self, "verbose", 0) else None,
            )

    def _count_all(self, whole):
        """Give the rules the answers and the evidence of all rows, not of a sample."""
        [self.rules_] = whole.recounted([self.rules_])

    def _measured_posterior(self):
        return None

    def _answers(self, X, verb, dtype, n_outputs=None, posterior=None):
        """What the rules or the posterior say of a table, or of a source in parts."""
        source = sources.open_source(X)
        answerer = _Answerer(self.rules_, verb, posterior)
        if source is None:
            return answerer.predict_encoded(self._matrix(X))
        source.select(self.rules_.feature_names)
        self._check_again(source.first().X)
        return source.each(answerer, dtype=dtype, n_outputs=n_outputs)

    def _check_again(self, X):
        """Refuse names or a number of columns that `fit` did not see."""
        self._matrix(X[:1] if not hasattr(X, "iloc") else X.iloc[:1])

    def _measure(self, source):
        source.select(self.rules_.feature_names)
        self._check_again(source.first().X)
        forest = for_many_rows(self.forest_, getattr(self, "engine", "auto"))
        measurer = _Measurer(self.rules_, forest, self._measured_posterior())
        found = source.total(measurer, self.n_jobs)
        if found is None or not found.weight:
            raise ValueError("At least one row with a positive weight is needed.")
        if not found.is_known:
            raise ValueError(
                f"y must have labels such as {list(self.rules_.classes)[:5]!r}; no row "
                "has one of them. Are they of another type?"
            )
        return found.result(self.rules_)
