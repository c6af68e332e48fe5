"""Simplifier: what all methods share, from validation at the door to prediction."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from defragtrees._types import Column, Floats, Places, Rows, Values
from defragtrees.forest import Forest
from defragtrees.methods.black_box import AskedForest, ask_model
from defragtrees.methods.ensemble import (
    Unreadable,
    check_task,
    fit_ensemble,
    fitted_forest,
    named_forest,
)
from defragtrees.methods.measuring import Measuring, warn_of_unanswered
from defragtrees.methods.recording import record_training
from defragtrees.methods.row_reading import read_rows
from defragtrees.methods.scikit import BaseEstimator
from defragtrees.methods.settings import (
    FLAG,
    Conflict,
    Integer,
    Jobs,
    Several,
    check_settings,
    setting,
)
from defragtrees.methods.validation import (
    check_columns,
    make_generator,
    warn_of_other_columns,
)
from defragtrees.methods.words import with_kinds, words_of
from defragtrees.outcome import make_outcome
from defragtrees.problem import Problem
from defragtrees.rows import sources
from defragtrees.rows.sources import TableSource, open_source
from defragtrees.tables import as_dense, check_finite, select_columns, take_rows

__all__ = ["Simplifier"]


@dataclass(repr=False, eq=False)
class Simplifier(Measuring, BaseEstimator, ABC):
    """Base of all methods: `fit` makes `rules_`, everything else reads it.

    A method sets `_task`, declares its settings beside those that all have (see
    `defragtrees.methods.settings`), and writes `_simplify(problem, rng)`, which returns
    a RuleSet.
    """

    ensemble: Any = None
    _: KW_ONLY
    target: str = setting("ensemble", "ensemble", "labels")
    shorten_thresholds: bool = setting(True, *FLAG)
    feature_labels: Any = setting(None, None, Several())
    class_labels: Any = setting(None, None, Several())
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = setting(None, None, Jobs())
    max_calls: int | None = setting(None, None, Integer(1))

    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    _task: ClassVar[str]
    _needs_numbers: ClassVar[bool] = True  # whether codes of all rows are not enough

    def fit(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> Self:
        """Find the rules.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Also the path of a Parquet file, an iterator of tables, or a Dask array or
            data frame; see the guide on large data.
        y : array-like of shape (n_samples,), optional
            Not needed if the ensemble is fitted and is what the rules imitate. With a
            Parquet file it is the name of a column.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of two is a row given twice. So the scale counts: what rules cost
            is weighed against the weight of all rows. With a Parquet file it is the
            name of a column.

        Returns
        -------
        self

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.rules_.n_rules
        2
        """
        return self.fit_forest(None, X, y, sample_weight)

    def fit_forest(
        self,
        forest: Forest | None,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """`fit` for a caller who has read the ensemble already.

        Parameters
        ----------
        forest : Forest or None
            What `read_forest(self.ensemble)` gives; None to read it here.
        X, y, sample_weight : as for `fit`
        """
        check_settings(self)
        rng = make_generator(self.random_state)
        forest = fitted_forest(self.ensemble, X) if forest is None else forest
        source = self._open(X, y, sample_weight, forest)
        self.ensemble_ = self.ensemble
        if forest is None:
            self.ensemble_ = fit_ensemble(self, source, rng)
            forest = fitted_forest(self.ensemble_, source.X)
        if isinstance(forest, Unreadable):
            source, forest = self._ask(source, forest.reason, rng)
        source.select(forest.feature_names)
        check_columns(self, source.first().X)
        X = source.first().X
        self.forest_ = with_kinds(named_forest(forest, X), X, self.feature_labels)
        self._check_forest(self.forest_)
        words = words_of(self, self.forest_)
        store = read_rows(self, source, self.forest_)
        problem = Problem.of_store(
            store, self.forest_, sources.MANY_ROWS, rng, self.shorten_thresholds, words
        )
        if problem.classes is not None:
            self.classes_ = np.asarray(problem.classes)
        self.rules_ = self._simplify(problem, rng)
        self._count_rows(store, problem.is_sample)
        self.training_ = store.evaluate(self.rules_, self._posterior)
        record_training(self, store)
        warn_of_unanswered(self.rules_, store)
        self._end_asking()
        return self

    def _ask(self, source, why, rng):
        """The rows that a model may be asked about, and its answers as a forest."""
        if not source.is_in_memory:
            raise TypeError(
                f"A model that cannot be read needs its rows in memory; {why} Pass a "
                "table, or a sample of the rows."
            )
        if self.max_calls is not None and source.n_rows() > self.max_calls:
            rows = rng.choice(source.n_rows(), size=self.max_calls, replace=False)
            parts = (source.X, source.y, source.sample_weight)
            source = TableSource(*(take_rows(part, np.sort(rows)) for part in parts))
        forest = ask_model(
            self.ensemble_,
            source.X,
            source.y,
            rng=rng,
            task=self._task,
            why=why,
            max_calls=self.max_calls,
            verbose=getattr(self, "verbose", 0),
        )
        return source, forest

    def _end_asking(self):
        """After the fit, a model that was asked may be asked without limit."""
        self.__dict__.pop("n_calls_", None)
        if isinstance(self.forest_, AskedForest):
            questions = self.forest_.model.questions
            self.n_calls_, questions.limit = questions.n_rows, None

    @abstractmethod
    def _simplify(self, problem, rng):
        """The RuleSet for a Problem; every method writes this."""

    def _check_forest(self, forest):
        """Refuse an ensemble, or settings that do not go with it."""
        check_task(self, forest)

    def _count_rows(self, store, is_sample):
        """Give the rules the evidence of all rows and, not of a sample, the answers."""
        if self.rules_.is_list:
            answers = "target" if is_sample else "kept"
            [self.rules_] = store.recount([self.rules_], answers)

    def _open(self, X, y, sample_weight, forest):
        """The source of the rows to fit on; few are loaded, whatever they are from."""
        source = open_source(X, y, sample_weight)
        if isinstance(forest, Forest):
            if source.is_in_memory:  # a file has columns for others too
                warn_of_other_columns(source.first().X, forest)
            source.select(forest.feature_names)
        if source.n_rows() <= sources.MANY_ROWS:
            source = source.load()
        elif self._needs_numbers and not source.is_in_memory:
            raise TypeError(
                f"{type(self).__name__} needs all rows in memory; with more than "
                f"{sources.MANY_ROWS:,} pass a table in memory or a sample of them, or "
                "use DefragClassifier or DefragRegressor."
            )
        check_columns(self, source.first().X, ensure_min_samples=1)
        if source.is_in_memory:
            source.y = self.validate_target(source.y, source.n_rows())
        elif not source.has_labels:
            self.validate_target(None, 0)
        return source

    def validate_target(self, y: Column | None, n_samples: int) -> Values | None:
        """y as one checked column; None stays None, if it is not what rules imitate.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or None
        n_samples : int
        """
        if y is None:
            if self.target == "labels":
                raise ValueError(
                    "target='labels' requires y to be passed, but the target y is "
                    "None. Pass y, or set target='ensemble'."
                )
            return None
        labels: Values = column_or_1d(y, warn=True)
        if len(labels) != n_samples:
            raise ValueError(
                f"X and y must have equally many rows; got {n_samples} and "
                f"{len(labels)}."
            )
        return make_outcome(self._task).check(labels)

    def validate_rows(self, X: Rows) -> Floats:
        """X of a later call as encoded numbers, checked against what `fit` saw.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        float64 array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "rules_")
        X = select_columns(as_dense(X), self.rules_.feature_names)
        check_columns(self, X, reset=False)
        return _encoded(self.rules_, X)

    def reopen(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> Any:
        """The source of rows of a later call, with the columns that `fit` saw."""
        check_is_fitted(self, "rules_")
        source = open_source(X, y, sample_weight)
        source.select(self.rules_.feature_names)
        check_columns(self, source.first().X, reset=False)
        return source

    def _answers(self, X, predict, dtype, n_outputs=None):
        """What `predict` says of encoded rows, wherever they are."""
        answer = partial(_answered, self.rules_, predict)
        return self.reopen(X).each(answer, dtype=dtype, n_outputs=n_outputs)

    def predict(self, X: Rows) -> Values:
        """Answers of the rules as they are printed.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.predict([[0.5], [2.5]]).tolist()
        ['no', 'yes']
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        return self._answers(X, rules.predict_encoded, rules.outcome.dtype)

    def apply(self, X: Rows) -> Places:
        """Index of the rule that answers each row; the last is the "otherwise".

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.apply([[0.5], [2.5]]).tolist()
        [0, 1]
        """
        check_is_fitted(self, "rules_")
        return self._answers(X, self.rules_.apply_encoded, np.intp)

    def explain(self, X: Rows | Mapping[str, Any]) -> str | list[str]:
        """Why the rules answer what they answer, in a sentence; see RuleSet.explain.

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> print(simple.explain([0.5]))
        1, by rule 1: x1 <= 1 (it is 0.5). 80 % of its 20 training rows have 1 to 1.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.explain(X)

    def _repr_mimebundle_(self, **kwargs):
        """What a notebook shows: scikit-learn's diagram, or the rules once fitted."""
        shown = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "rules_"):
            shown["text/html"] = self.rules_._repr_html_()
        return shown

    def _repr_html_(self):
        return self._repr_mimebundle_().get("text/html")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = False
        tags.input_tags.sparse = True
        return tags


def _encoded(rules, X):
    matrix = rules.encode(X)
    check_finite(matrix, rules.feature_names)
    return matrix


def _answered(rules, predict, X):
    return predict(_encoded(rules, X))
