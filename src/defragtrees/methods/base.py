"""Simplifier: what all methods share, from validation at the door to prediction."""

import dataclasses
import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from defragtrees import metrics, render
from defragtrees.forest import Forest
from defragtrees.methods._by_parts import ByParts
from defragtrees.methods.settings import (
    FLAG,
    Conflict,
    check_settings,
    setting,
)
from defragtrees.methods.validation import (
    is_renamed,
    text_as_categories,
)
from defragtrees.outcome import make_outcome
from defragtrees.problem import Problem
from defragtrees.readers import read_forest
from defragtrees.rows.sources import open_source
from defragtrees.scores import scores_text
from defragtrees.tables import (
    category_lists,
    check_finite,
    column_names,
)

__all__ = ["RuleClassifier", "RuleRegressor", "Simplifier"]


@dataclass(repr=False, eq=False)
class Simplifier(ByParts, BaseEstimator):
    """Base of all methods: `fit` makes `rules_`, everything else reads it.

    A method sets `_task`, declares its settings beside those that all have (see
    `defragtrees.methods.settings`), and writes `_simplify(problem, rng)`, which returns
    a RuleSet.
    """

    ensemble: Any = None
    _: KW_ONLY
    target: str = setting("ensemble", "ensemble", "labels")
    shorten_thresholds: bool = setting(True, *FLAG)
    random_state: Any = None
    n_jobs: int | None = None

    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    _task: ClassVar[str]

    def fit(self, X, y=None, sample_weight=None):
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
        """
        check_settings(self)
        rng = self._generator()
        source = open_source(X, y, sample_weight)
        if source is not None:
            table = self._table_or_none(source, rng)
            if table is None:
                return self
            X, y, sample_weight = table
        checked = self._check_table(X)
        y = self._check_y(y, len(checked))
        forest = self._named(self._ready_forest(X, y, sample_weight, rng), X)
        matrix = self._encode(checked, forest)
        weight = _check_sample_weight(
            sample_weight, matrix, dtype=np.float64, ensure_non_negative=True
        )
        answers = forest.predict_encoded(matrix)
        problem = self._make_problem(matrix, y, weight, forest, answers)
        self.forest_ = forest
        if problem.classes is not None:
            self.classes_ = np.asarray(problem.classes)
        self.rules_ = self._simplify(problem, rng)
        self.training_ = self._evaluate(matrix, y, weight, answers)
        return self

    def _generator(self):
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return np.random.default_rng(seed)

    def _check_table(self, X):
        """Check X as far as it can be without the ensemble; also sets the names."""
        if column_names(X) is None:
            return validate_data(
                self, X, dtype=None, ensure_all_finite=False, ensure_min_samples=1
            )
        validate_data(self, X, skip_check_array=True)
        if len(X) == 0:
            raise ValueError(
                f"Found array with 0 sample(s) (shape=(0, {len(X.columns)})) while a "
                "minimum of 1 is required."
            )
        return X

    def _check_y(self, y, n_samples):
        if y is None:
            if self.target == "labels":
                raise ValueError(
                    "target='labels' requires y to be passed, but the target y is "
                    "None. Pass y, or set target='ensemble'."
                )
            return None
        y = column_or_1d(y, warn=True)
        if len(y) != n_samples:
            raise ValueError(
                f"X and y must have equally many rows; got {n_samples} and {len(y)}."
            )
        return make_outcome(self._task).check(y)

    def _ready_forest(self, X, y, sample_weight, rng):
        """The forest of the given ensemble, which is fitted first if it is not."""
        forest = self._fitted_forest()
        if forest is not None:
            self.ensemble_ = self.ensemble
            return self._check_forest(forest)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None: there is no fitted ensemble to imitate."
            )
        self.ensemble_ = self._fit_ensemble(X, y, sample_weight, rng)
        return self._check_forest(read_forest(self.ensemble_))

    def _fit_ensemble(self, X, y, sample_weight, rng):
        if self.ensemble is None:
            ensemble = self._default_ensemble(X, int(rng.integers(2**31)))
            X = text_as_categories(X)
        else:
            ensemble = clone(self.ensemble)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return ensemble.fit(X, y, **weights)

    def _default_ensemble(self, X, seed):
        """A random forest; where X has categories, boosting that can split on them."""
        is_classifier = self._task == "classification"
        if any(known is not None for known in category_lists(X) or ()):
            kind = (
                HistGradientBoostingClassifier
                if is_classifier
                else HistGradientBoostingRegressor
            )
            return kind(categorical_features="from_dtype", random_state=seed)
        kind = RandomForestClassifier if is_classifier else RandomForestRegressor
        return kind(min_samples_leaf=5, random_state=seed, n_jobs=self.n_jobs)

    def _check_forest(self, forest):
        if forest.task != self._task:
            other = "Regressor" if self._task == "classification" else "Classifier"
            name = (
                type(self).__name__.replace("Classifier", "").replace("Regressor", "")
            )
            raise ValueError(
                f"{type(self).__name__} needs an ensemble for {self._task}; this one "
                f"is for {forest.task}. Use {name}{other}."
            )
        return forest

    def _named(self, forest, X):
        """The forest under the user's names, if its own are a library's invention."""
        names = column_names(X)
        if names is None or len(names) != forest.n_features:
            return forest
        if is_renamed(forest, names):
            return dataclasses.replace(forest, feature_names=names)
        return forest

    def _encode(self, checked, forest):
        matrix = forest.encode(checked)
        check_finite(matrix, forest.feature_names)
        for j in np.flatnonzero(np.isnan(matrix).all(axis=0))[:5]:
            warnings.warn(
                f"Column {forest.feature_names[j]!r} holds missing values only; no "
                "rule can use it.",
                UserWarning,
                stacklevel=4,
            )
        return matrix

    def _make_problem(self, matrix, y, weight, forest: Forest, answers):
        if not weight.sum() > 0:
            raise ValueError("sample_weight must have a positive sum; it is zero.")
        if (weight == 0).any():
            # A row without weight has no say, not even in where thresholds may move.
            kept = weight > 0
            matrix, weight, answers = matrix[kept], weight[kept], answers[kept]
            y = None if y is None else y[kept]
        classes, outcome = forest.classes, forest.outcome
        # Also where y is not imitated: labels that nobody knows are a mistake.
        y = None if y is None else outcome.encode(y)
        answers = outcome.encode(answers)
        target = y if self.target == "labels" else answers
        if classes is None and np.ptp(target) <= 1e-12 * np.abs(target).max():
            # What rounding leaves of a constant must not become rules.
            target = np.full_like(target, target[0])
        return Problem(
            X=matrix,
            target=target,
            sample_weight=weight,
            task=self._task,
            classes=classes,
            feature_names=forest.feature_names,
            categories=forest.categories or (),
            forest=forest,
            shorten=self.shorten_thresholds,
        ).in_canonical_order()

    def _simplify(self, problem, rng):
        raise NotImplementedError

    def _matrix(self, X):
        """X of a later call as numbers, checked against what `fit` saw."""
        check_is_fitted(self, "rules_")
        if column_names(X) is None:
            X = validate_data(
                self,
                X,
                reset=False,
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=0,
            )
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
        matrix = self.rules_.encode(X)
        check_finite(matrix, self.rules_.feature_names)
        return matrix

    def predict(self, X):
        """Answers of the rules as they are printed.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self._answers(X, "predict_encoded", self.rules_.outcome.dtype)

    def apply(self, X):
        """Index of the rule that answers each row; the last is the "otherwise"."""
        check_is_fitted(self, "rules_")
        return self._answers(X, "apply_encoded", np.intp)

    def evaluate(self, X, y=None, sample_weight=None):
        """Error, fidelity, coverage, overlap and size on these rows, as a dict.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Without it there are no errors, only fidelity.
        sample_weight : array-like of shape (n_samples,), optional
        """
        check_is_fitted(self, "rules_")
        source = open_source(X, y, sample_weight)
        if source is not None:
            return self._measure(source)
        matrix = self._matrix(X)
        if len(matrix) == 0:
            raise ValueError("At least one row is needed to evaluate; X has none.")
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, matrix, ensure_non_negative=True
            )
        if y is not None:
            y = self._check_y(y, len(matrix))
            self.rules_.outcome.check_known(y)
        answers = self.forest_.predict_encoded(matrix)
        return self._evaluate(matrix, y, sample_weight, answers)

    def _evaluate(self, matrix, y, weight, answers):
        rules, task = self.rules_, self._task
        predicted = rules.predict_encoded(matrix)
        held = rules.covers_encoded(matrix)
        found = {
            "n_rules": rules.n_rules,
            "n_conditions": rules.n_conditions,
            "coverage": metrics.covered_share(rules, held, weight),
            "overlap": metrics.covering_count(rules, held, weight),
            "fidelity": metrics.fidelity(answers, predicted, task, weight),
        }
        if y is not None:
            found["error"] = metrics.error(y, predicted, task, weight)
            found["ensemble_error"] = metrics.error(y, answers, task, weight)
        return found

    def summary(self, X=None, y=None):
        """The rules and how good they are, as text.

        Parameters
        ----------
        X, y : rows to measure on, optional
            The training rows by default.
        """
        check_is_fitted(self, "rules_")
        scores = self.training_ if X is None else self.evaluate(X, y)
        where = "training rows" if X is None else "these rows"
        text = f"{self.rules_}\n\n{scores_text(self.rules_, scores, where)}"
        return render.Lines(text)

    def explain(self, X):
        """Why the rules answer what they answer, in a sentence; see RuleSet.explain."""
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
        return tags


class RuleClassifier(ClassifierMixin):
    """What a method's classifier has besides; stands before the method's class."""

    _task = "classification"

    def predict_proba(self, X):
        """Class shares: those of the answering rule, or their mean by weight.

        They are shares of the rows that a rule's answer rests on: training rows and,
        with refine, rows drawn near them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        return self._answers(
            X, "predict_proba_encoded", np.float64, len(self.rules_.classes)
        )


class RuleRegressor(RegressorMixin):
    """What a method's regressor has besides; stands before the method's class."""

    _task = "regression"
