"""Simplifier: the base class of all estimators, with validation and prediction."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import Progress, part
from defragtrees._utils.types import Column, Floats, Places, Rows, Values
from defragtrees._utils.values import shown
from defragtrees._utils.warnings import warn
from defragtrees.data import sources
from defragtrees.data.sources import TableSource, open_source, with_exposure
from defragtrees.data.statistics import PartEvaluator, predict_encoded
from defragtrees.data.store import read_store, read_store_like, row_keys
from defragtrees.ensembles.black_box import AskedForest, ask_model, rows_by_content
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.predictions import (
    Unreadable,
    described_forest,
    fitted_forest,
)
from defragtrees.errors import SettingError, UnsupportedModelError
from defragtrees.estimators.inputs import fit_model, one_seed
from defragtrees.estimators.measuring import summary_of, total_evaluation
from defragtrees.estimators.problem import Problem
from defragtrees.estimators.settings import (
    FLAG,
    Conflict,
    Integer,
    Jobs,
    Several,
    check_settings,
    setting,
)
from defragtrees.metrics.resampling import RuleStability, rule_stability
from defragtrees.outcomes.base import Outcome, make_outcome, n_columns
from defragtrees.outcomes.quantiles import quantile_name
from defragtrees.rules.labels import KINDS, checked_labels, checked_pos_label
from defragtrees.rules.model import RuleModel
from defragtrees.rules.profile import WORTH, Agreement, check_seen
from defragtrees.search.limits import read_special
from defragtrees.tables import as_dense, column_names, select_columns, take_rows

if TYPE_CHECKING:

    class BaseEstimator:
        """Settings by name."""

        n_features_in_: int
        feature_names_in_: Values

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]: ...

        def __sklearn_tags__(self) -> Any: ...

    class _Scored:
        def score(
            self, X: Rows, y: Column, sample_weight: Column | None = None
        ) -> float: ...

    class ClassifierMixin(_Scored):
        """Accuracy."""

    class RegressorMixin(_Scored):
        """R²."""
else:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


@dataclass(repr=False, eq=False)
class Simplifier(BaseEstimator, ABC):
    """Base class of all estimators: `fit` makes `rules_`, all else reads it.

    A subclass sets `_task`, declares its settings (see
    `defragtrees.estimators.settings`) and implements `_simplify(problem, rng)`, which
    returns a rule model.
    """

    model: Any = None
    _: KW_ONLY
    target: str = setting(
        "model",
        "model",
        "labels",
        help="What to learn: the model's predictions, or y.",
    )
    shorten_thresholds: bool = setting(
        True, *FLAG, help="Round thresholds where this moves no row."
    )
    feature_labels: Any = setting(
        None, None, Several(), help="Names of features in printed output."
    )
    random_state: Any = setting(None, help="Seed; the same seed gives the same rules.")
    n_jobs: int | None = setting(
        None, None, Jobs(), help="Number of threads; -1 for all processors."
    )
    max_calls: int | None = setting(
        None,
        None,
        Integer(1),
        help="Maximum number of rows for which a black box is queried.",
    )
    verbose: int = setting(0, *FLAG, Integer(0), help="1 shows a progress bar.")

    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    _task: ClassVar[str]
    _needs_numbers: ClassVar[bool] = True  # False if codes of the rows are enough
    _estimates_quantiles = False  # whether rules can estimate those of y
    _counts_rules: ClassVar[bool] = False  # whether `_simplify` counts all rows itself
    special_values = None  # a setting of the default method
    # attributes with further rule models by their size, one of which may be `rules_`
    _path_names: ClassVar[tuple[str, ...]] = ()
    _kept: ClassVar[Any] = (
        None  # if set to a namespace, a fit keeps its rows and its search in it
    )

    def fit(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Fit the rules to the model on these rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Also the path of a file, an iterator of tables, or a Dask array or
            data frame; see the guide on large data.
        y : array-like of shape (n_samples,), optional
            Not needed if the model is fitted and the rules imitate it. With a
            file, the name of a column.
        sample_weight : array-like of shape (n_samples,), optional
            Only ratios of weights matter: multiplying all by a number changes nothing.
            If all are multiples of the smallest, a row of twice that weight counts as
            two rows; else they are divided by their mean. Intervals use the effective
            number of rows: the squared sum of weights over the sum of their squares.
            With a file, the name of a column.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Rows that the model was not trained on. They count in full for rates,
            intervals and, in `Defrag...`, the number of rules; the rows of X with y
            count as 0.4 each. X may be anything that `fit` reads; y is None with an
            iterator, which yields it.

        Returns
        -------
        self

        Examples
        --------
        >>> from defragtrees.baselines import DistilledTreeClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
        >>> simple.rules_.n_rules
        2
        """
        return self._fit(None, X, y, sample_weight, validation=validation)

    def _fit(
        self,
        forest: Forest | None,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Fit the rules to a model that has been read already.

        Parameters
        ----------
        forest : Forest or None
            The result of `read_forest(self.model)`; None to read it here.
        X, y, sample_weight, validation : as for `fit`
        """
        check_settings(self)
        unseen = None if validation is None else open_validation(validation, self._rows)
        rng = make_generator(self.random_state)
        given = fitted_forest(self.model, X) if forest is None else forest
        if isinstance(given, Forest) and given.predicts and self._task == "regression":
            given, is_imitated = self._of_mean(given, y)
            if is_imitated:
                y, unseen = None, None
        source, first = self._open(X, y, sample_weight, given)
        self.model_, forest = self.model, given
        if forest is None:
            self.model_ = fit_model(self, source, rng)
            forest = fitted_forest(self.model_, source.X)
        if isinstance(forest, Unreadable):
            n_unseen = 0 if unseen is None else unseen.n_rows()
            source, forest = self._ask(source, forest.reason, rng, n_unseen)
        if forest is not given:  # the columns that it needs are known only now
            source.expect(forest)
            first = source.first().X
            check_columns(self, first)
        described = described_forest(forest, first, self.feature_labels)
        self.forest_: Forest = make_outcome(self._task).model_of(described)
        checked = self._check_forest(self.forest_)
        words = self._words(self.forest_)
        if unseen is not None:
            unseen = self._checked_validation(unseen)
        with part(0.0, 0.1):
            store = read_rows(self, source, self.forest_)
        counting = unseen
        if unseen is not None:
            is_small = unseen.n_rows() <= sources.MANY_ROWS
            unseen = read_store_like(
                store,
                unseen,
                self.forest_,
                keeps_numbers=self._needs_numbers or is_small,
                n_jobs=self.n_jobs,
            )
            unseen = unseen.without_rows_of(store, source.has_labels)
            counting = unseen and unseen.pooled_with(store)
        problem = Problem.of_store(
            store,
            self.forest_,
            sources.MANY_ROWS,
            rng,
            words,
            counting,
        )
        if problem.classes is not None:
            self.classes_: Values = np.asarray(problem.classes)
        given = problem.target, problem.labels, problem.sample_weight
        self._model_note = self._outcome().note_of_model(*given)
        with part(0.1, 0.95):
            self.rules_: RuleModel = self._simplify(problem, rng, *checked)
        counting = counting or store
        if not self._counts_rules:
            self._count_rows(counting, problem.is_sample)
        self._measure(store, unseen, counting)
        if self._kept is not None:
            self._kept.measured = store, unseen, counting
        warn_of_unpredicted(self.rules_, counting)
        self.stability_: RuleStability | None = None
        self.alternatives_: Any = None
        self.__dict__.pop("n_calls_", None)
        if isinstance(self.forest_, AskedForest):
            # `max_calls` limits the fit only.
            query = self.forest_.model.query
            self.n_calls_, query.limit = query.n_rows, None
        return self

    def _measure(self, store, unseen, counting):
        """Measure the rules on the rows of a fit, and record what was measured."""
        evaluation = store.evaluation(self.rules_)
        self.training_: dict[str, float] = evaluation.scores(self.rules_)
        self.__dict__.pop("validation_", None)
        self._validation_keys: Any = None
        if unseen is not None:
            if unseen.table is not None:  # a report says if it has the same rows
                table = unseen.table
                self._validation_keys = row_keys(table.X, table.targets["labels"])
            evaluation = unseen.evaluation(self.rules_)
            self.validation_: dict[str, float] = evaluation.scores(self.rules_)
            self._validation_rows = (
                f"{render.plural(unseen.n_rows, 'validation row')} that the model was "
                "not trained on"
            )
        # A profile of the counted rows, with error and agreement. Rules of a search
        # have it already, and the agreement on synthetic rows.
        rules, sums, is_new = self.rules_, evaluation.sums, unseen is not None
        training = rules.training
        if training is None:
            [training] = counting.training_rows([rules._form], rules.outcome)
        if rules._form.is_sum and rules.outcome.n_points == 1:
            training = replace(training, score=counting.scores(rules._form))
        if "error" in sums:
            error = render.round_significant(sums["error"] / evaluation.weight)
            training = replace(training, error=error)
        if is_new or training.agreement is None:
            worth = WORTH["validation" if is_new else "searched"]
            agreement = Agreement(
                "validation" if is_new else "training",
                render.round_significant(sums["loss"] / evaluation.weight),
                render.round_significant(worth * evaluation.weight),
            )
            training = replace(training, agreement=agreement)
        self.rules_ = replace(rules, training=training)
        for path in [getattr(self, name) for name in self._path_names]:
            for size, model in path.items():
                if model is rules:
                    path[size] = self.rules_

    def _validate_target(self, y: Column | None, n_samples: int) -> Values | None:
        """Check y and return it as one column; None is allowed unless rules fit y.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or None
        n_samples : int
        """
        if y is None:
            if self.target == "labels":
                raise ValueError(
                    "target='labels' requires y to be passed, but the target y is "
                    "None. Pass y, or set target='model'."
                )
            return None
        outcome = self._outcome()
        y = outcome.read(y, n_samples)
        outcome.check_training(y)
        return y

    def _outcome(self) -> Outcome:
        """The kind of y of the fit."""
        return make_outcome(self._task)

    def _rows(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> Any:
        """Open rows as a source."""
        return open_source(X, y, sample_weight)

    def predict(
        self, X: Rows, *, on_missing: str = "accept", on_unknown: str = "accept"
    ) -> Values:
        """Predict class labels, or numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        on_missing, on_unknown : {"accept", "error"}, default="accept"
            Whether to reject rows with a missing value, or a category, that the
            training rows did not have; see `RuleModel.predict`.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_

        def predict(matrix):
            check_seen(rules, matrix, on_missing, on_unknown)
            return rules._form.predict(rules._covers(matrix))

        return self._answers(X, predict, rules.outcome.dtype)

    def apply(self, X: Rows) -> Places:
        """Index of the rule that predicts each row; the last is the default.

        See `RuleModel.apply`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self._predictions(X, self.rules_._form.apply, np.intp)

    def explain(self, X: Rows | Mapping[str, Any]) -> str | list[str]:
        """Explain predictions: the rules that match, and the values of the row.

        See `RuleModel.explain`.

        Parameters
        ----------
        X : one row, or array-like or data frame of shape (n_samples, n_features)
            A row may be a mapping or a pandas Series by name, or a flat sequence.

        Returns
        -------
        str, or list of str for more than one row
        """
        check_is_fitted(self, "rules_")
        return self.rules_.explain(X)

    def export(
        self, format: str, path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Return the rules in another format; with a path, also write them to a file.

        Parameters
        ----------
        format : str
            See `defragtrees.export.export`.
        path : path, optional
        **options
            Options of the format.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.export(format, path, **options)

    def save(self, path: str | os.PathLike[str], *, profile: bool = True) -> None:
        """Write the rules to a JSON file, which `load` reads.

        See `RuleModel.save`.

        Parameters
        ----------
        path : path
        profile : bool, default=True
            Include the profile of the training rows that `check` needs.
        """
        check_is_fitted(self, "rules_")
        self.rules_.save(path, profile=profile)

    def evaluate(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> dict[str, float]:
        """Measure the rules and the model on these rows.

        The dict is that of `RuleModel.evaluate` beside the model: size, `coverage`,
        `overlap`, `fidelity` and, with y, the `error` and other measures. Those of the
        model have the prefix `model_`; they are too good on rows that it was trained
        on.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May be anything that `fit` reads, such as the path of a file.
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
            Only ratios of weights matter.

        Returns
        -------
        dict from str to float
        """
        return self._evaluation(X, y, sample_weight).scores(self.rules_)

    def summary(self, X: Rows | None = None, y: Column | None = None) -> render.Lines:
        """Return the rules and their scores as text.

        With X and y, also the estimated and the observed rate of each rule.

        Parameters
        ----------
        X, y : rows to measure on, optional
            Without them, the scores are those on the rows of `validation`, if `fit` had
            some, else on the training rows.
        """
        check_is_fitted(self, "rules_")
        rules, width = self.rules_, render.page_width()
        is_fit, is_new = X is None, hasattr(self, "validation_")
        scores, where = self.training_, "training rows"
        if not is_fit:
            evaluation = self._evaluation(X, y, is_by_rule=True)
            scores = evaluation.scores(rules)
        elif is_new:
            scores, where = self.validation_, self._validation_rows
        texts = self._notes(scores, is_fit), self._about_model
        notes = [render.wrap_notes(own, width) for own in texts if own]
        if is_fit:
            measured = rules._view.scores_text(scores, where, is_new=is_new)
            text = "\n\n".join([str(rules), measured, *notes])
        else:
            text = summary_of(rules, evaluation, notes)
        parts = [text] if self.stability_ is None else [text, str(self.stability_)]
        return render.Lines("\n\n".join(parts))

    @property
    def _about_model(self):
        """What its predictions are taken to be, and how it was read."""
        return [text for text in (self._model_note, self.forest_.origin) if text]

    def stability(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        n: int = 20,
        *,
        refit: bool = True,
        validation: tuple[Any, ...] | None = None,
    ) -> RuleStability:
        """Fit again to random halves of the rows, and count which rules come back.

        The model is trained again too: a copy with the same settings, if it is an
        estimator. All cores are used unless `n_jobs` is set. The result is kept as
        `stability_`, which `summary` and reports show. An interrupt (Ctrl-C) ends it
        early.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows of `fit`, in memory.
        y, sample_weight : array-like of shape (n_samples,), optional
        n : int, default=20
            Number of halves.
        refit : bool, default=True
            Train the model again, which needs y; False keeps it.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            That of `fit`; each fit has one half of it.

        Returns
        -------
        RuleStability

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from defragtrees import simplify
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
        >>> simplify(tree, X, random_state=0).stability(X, y, n=4).returns
        (4, 4, 4)
        """
        check_is_fitted(self, "rules_")
        self.stability_ = rule_stability(
            self,
            X,
            y,
            sample_weight,
            n_resamples=n,
            refit=refit,
            validation=validation,
            random_state=one_seed(self.random_state),
        )
        return self.stability_

    def _validate_rows(self, X: Rows) -> Floats:
        """Check X against the columns of `fit`, and encode it as numbers.

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
        return self.rules_._encode(X)

    def _reopen(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> Any:
        """Open rows of a later call, with the columns of `fit`."""
        check_is_fitted(self, "rules_")
        source = self._rows(X, y, sample_weight)
        source.expect(self.rules_)
        check_columns(self, source.first().X, reset=False)
        return source

    def _answers(self, X, predict, dtype, n_outputs=None):
        """Apply `predict` to encoded rows, part by part."""
        rules = self.rules_
        return self._reopen(X).each(
            lambda part: predict(rules._encode(part)), dtype=dtype, n_outputs=n_outputs
        )

    def _predictions(self, X, predict, dtype, n_outputs=None):
        """Apply `predict` to the matrix of rules that match each row, part by part."""
        covers = self.rules_._covers
        return self._answers(X, lambda rows: predict(covers(rows)), dtype, n_outputs)

    def _evaluation(self, X, y=None, sample_weight=None, is_by_rule=False):
        source = self._reopen(X, y, sample_weight)
        predict = partial(predict_encoded, self.forest_)
        evaluator = PartEvaluator(self.rules_, predict, is_by_rule)
        return total_evaluation(source, evaluator, self.n_jobs)

    def _notes(self, scores, is_fit):
        """Notes of `summary`; `is_fit` if the scores are from rows of the fit."""
        return ()

    def _repr_mimebundle_(self, **kwargs):
        """Show the rules in a notebook; scikit-learn's diagram before the fit."""
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

    @abstractmethod
    def _simplify(self, problem, rng, *checked):
        """Return the rule model for a Problem; each method implements this.

        `checked` is what `_check_forest` returned.
        """

    def _check_forest(self, forest):
        """Raise if the model or the settings do not suit the method."""
        own, other = make_outcome(self._task), forest.outcome
        if other.task != own.task:
            name = type(self).__name__
            raise ValueError(
                f"{name} needs a model for {own.task}; this one is for {other.task}. "
                f"Use {name.replace(own.estimator_suffix, other.estimator_suffix)}."
            )
        n_outputs = len(forest.base)
        if not other.n_classes and n_outputs > 1 and isinstance(forest.link, str):
            raise UnsupportedModelError(
                "A model with one output is needed; this one has "
                f"{n_outputs}. Fit one model per output, and simplify one at a time."
            )
        return ()

    def _count_rows(self, store, is_sample):
        """Count the rules on all rows; predictions too if the fit saw a sample."""
        [self.rules_] = store.recount([self.rules_], "target" if is_sample else "keep")

    def _open(self, X, y, sample_weight, forest):
        """Open the rows to fit on, load them if few, and check the columns."""
        source = self._rows(X, y, sample_weight)
        if isinstance(forest, Forest):
            if source.is_in_memory:  # other columns are usual in a file
                warn_of_other_columns(source.X, forest)
            source.expect(forest)
        source = self._loaded(source)
        first = source.first().X
        check_columns(self, first, ensure_min_samples=1)
        if source.is_in_memory:
            source.y = self._validate_target(source.y, source.n_rows())
        elif not source.has_labels:
            self._validate_target(None, 0)
        return source, first

    def _loaded(self, source):
        """The source, in memory if it has few rows."""
        if source.n_rows() <= sources.MANY_ROWS:
            return source.load()
        if self._needs_numbers and not source.is_in_memory:
            raise TypeError(
                f"{type(self).__name__} needs all rows in memory; got more than "
                f"{sources.MANY_ROWS:,} rows that are not. Pass a table in memory "
                "or a sample, or use DefragClassifier or DefragRegressor."
            )
        return source

    def _checked_validation(self, source):
        """Check the rows of `validation`, and select the columns that are needed."""
        source.expect(self.forest_)
        source = self._loaded(source)
        try:
            check_columns(self, source.first().X, reset=False, ensure_min_samples=1)
        except ValueError as error:
            why = " ".join(str(error).split())
            raise ValueError(f"validation must have the columns of X. {why}") from None
        if source.is_in_memory:
            source.y = self._validate_target(source.y, source.n_rows())
        return source

    def _ask(self, source, why, rng, n_unseen=0):
        """Query a black box; returns the rows used and its predictions as a forest.

        Of `max_calls`, `n_unseen` are kept for validation rows.
        """
        if not source.is_in_memory:
            raise TypeError(
                f"A black box needs rows in memory; {why} Pass a table, or a sample of "
                "the rows."
            )
        parts = source.X, source.y, source.sample_weight
        # In an order that does not depend on the user's.
        rows = rows_by_content(self.model_, *parts)
        most = len(rows)
        if self.max_calls is not None:
            # Half of the other calls are for the synthetic rows of the search.
            most = -(-(self.max_calls - n_unseen) // 2)
        if most < 1:
            raise ValueError(
                f"max_calls must exceed the {n_unseen} rows of validation, for which "
                f"the model is queried too; got {self.max_calls}. Allow more calls, or "
                "pass fewer rows."
            )
        if len(rows) > most:
            rows = rows[np.sort(rng.choice(len(rows), most, replace=False))]
            source = TableSource(*(take_rows(part, rows) for part in parts))
        forest = ask_model(
            self.model_,
            take_rows(parts[0], rows),
            take_rows(parts[1], rows),
            rng=rng,
            task=self._task,
            why=why,
            max_calls=self.max_calls,
            n_reserved=n_unseen,
            verbose=self.verbose,
        )
        return source, forest

    def _of_mean(self, forest, y):
        """A model that predicts no mean, as one of a mean; not of a quantile with y.

        Also whether rules imitate it although y is known; a warning says so.
        """
        predicts = forest.predicts
        is_quantile = isinstance(predicts, float)
        is_imitated = y is not None and self.target != "labels"
        if is_imitated and is_quantile and self._estimates_quantiles:
            return forest, False
        if is_imitated:
            what = quantile_name(predicts) if is_quantile else predicts
            of = f"the {what} of y" if is_quantile else f"a {what}"
            warn(
                f"The model predicts {of}, not its mean, so the rules imitate the "
                "model and do not use y. Pass target='labels' for rules that predict "
                "the mean of y."
            )
        return replace(forest, predicts=""), is_imitated

    def _words(self, forest):
        """Check labels and kinds, and return them as fields of a rule model."""
        labels = checked_labels(
            self.feature_labels, forest.feature_names, "feature_labels"
        )
        words = {"feature_labels": labels, "feature_kinds": forest.feature_kinds}
        if isinstance(forest.predicts, float):
            words["_quantile"] = forest.predicts
        return words


# A mixin that had the fields of Simplifier would undo the defaults of a method.
if TYPE_CHECKING:
    _Fitted = Simplifier
else:
    _Fitted = object


class _WithRates(_Fitted):
    """Mixin of estimators whose rules report rates."""

    def rate_interval(self, X: Rows) -> Floats:
        """95% interval, for each row, of the rate in rows like it.

        Of a class, of events or, of survival, the hazard ratio; see
        `RuleModel.rate_interval`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.
        """
        check_is_fitted(self, "rules_")
        return self._predictions(X, self.rules_._form.rate_interval, np.float64, 2)


@dataclass(repr=False, eq=False)
class RuleClassifier(ClassifierMixin, _WithRates):
    """Mixin of classifiers; comes before the class of the method."""

    _: KW_ONLY
    class_labels: Any = setting(
        None, None, Several(), help="Names of classes in printed output."
    )
    pos_label: Any = setting(
        None, help="The class, of two, whose rate is shown; by default the second."
    )

    _task = "classification"

    def _words(self, forest):
        return super()._words(forest) | {
            "class_labels": checked_labels(
                self.class_labels, forest.classes, "class_labels"
            ),
            "pos_label": checked_pos_label(self.pos_label, forest.classes),
        }

    def predict_proba(self, X: Rows) -> Floats:
        """Predict class probabilities.

        See `RuleModel.predict_proba`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        n_classes = rules.outcome.n_classes
        return self._predictions(X, rules._form.predict_proba, np.float64, n_classes)

    def decision_function(self, X: Rows) -> Floats:
        """Scores of classes, by which rows can be ranked.

        Two classes: the log-odds of the second minus those from which on it is
        predicted, so that it is predicted above 0; shape (n_samples,). More: the
        expected cost of predicting each class, negated, so that the largest is
        predicted; shape (n_samples, n_classes). Without costs that is its probability
        minus one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from defragtrees import simplify
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
        >>> simple = simplify(tree, X, max_rules=2, random_state=0)
        >>> simple.decision_function(X[18:21]).round(1).tolist()
        [-2.0, 4.2, 4.2]
        """
        check_is_fitted(self, "rules_")
        rules, n_classes = self.rules_, self.rules_.outcome.n_classes
        n_outputs = n_classes if n_classes != 2 else None
        return self._predictions(X, rules._form.decision_scores, np.float64, n_outputs)


class RuleRegressor(RegressorMixin, _Fitted):
    """Mixin of regressors; comes before the class of the method."""

    _task = "regression"

    if TYPE_CHECKING:

        def predict(
            self, X: Rows, *, on_missing: str = "accept", on_unknown: str = "accept"
        ) -> Floats: ...

    def calibrate(self, X: Rows, y: Column | None = None) -> Self:
        """Calibrate prediction intervals on rows that were not used for fitting.

        This is split conformal prediction per rule or, where several rules predict
        together, per band of predictions. If these rows and later ones come from the
        same distribution, the interval of `predict_interval` contains y with at least
        the nominal coverage wherever a rule, or a band, has at least
        `2 / (1 - coverage) - 1` of these rows. A rule with fewer rows uses the
        residuals of all rows, scaled to its own spread. The residuals are stored in
        `rules_` and in all rule models of `path_`.

        Without calibration, `DefragRegressor` uses leave-one-out residuals of the rows
        that `fit` counted. A row that the model was trained on then counts as less than
        one row (see `RuleModel.evidence`). With 500 such rows, 90% intervals cover
        about 88 to 94% of new rows in each third of the predictions, and 82 to 99% in
        a single rule.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows on which neither the model nor the rules were fitted. May be
            anything that `fit` reads.
        y : array-like of shape (n_samples,)
            With a file, the name of a column; None with an iterator, which
            yields it.

        Returns
        -------
        self

        Examples
        --------
        >>> from defragtrees.baselines import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> simple = simple.calibrate([[0.5], [2.5]] * 10, [1.0, 5.5] * 10)
        >>> simple.predict_interval([[0.5]]).shape
        (1, 2)
        """
        source = self._reopen(X, y)
        if not source.has_labels:
            raise ValueError(
                "y is needed to calibrate intervals; got None. Pass the true values "
                "of these rows."
            )
        paths = [getattr(self, name) for name in self._path_names]
        lists = [self.rules_, *(rules for path in paths for rules in path.values())]
        parts = source.total(partial(_known_rows, lists))
        calibrated = iter(
            replace(rules, residuals=rules._form.calibrated(np.concatenate(rows)))
            for rules, rows in zip(lists, zip(*parts, strict=True), strict=True)
        )
        self.rules_ = next(calibrated)
        for path in paths:
            path.update(zip(path, calibrated, strict=False))
        return self

    def predict_interval(self, X: Rows, coverage: float = 0.9) -> Floats:
        """Prediction interval of each row: contains y with a probability of `coverage`.

        See `RuleModel.predict_interval` and `calibrate`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        rules._form.check_coverage(coverage, "calibrate")
        predict = partial(rules._form.predict_interval, coverage=coverage)
        return self._predictions(X, predict, np.float64, 2)


@dataclass(repr=False, eq=False)
class RuleCounter(RegressorMixin, _WithRates):
    """Mixin of estimators of rates; comes before the class of the method."""

    _: KW_ONLY
    exposure: str | None = setting(
        None, help="The column of X with the exposure of each row."
    )

    _task = "counts"
    _n_columns = 1  # of y in fit

    if TYPE_CHECKING:

        def predict(
            self, X: Rows, *, on_missing: str = "accept", on_unknown: str = "accept"
        ) -> Floats: ...

    def fit(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        exposure: Column | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Fit the rules to the model on these rows.

        Parameters
        ----------
        X, y, sample_weight, validation : as for `DefragRegressor.fit`
            y has two columns, events and exposure, or one.
        exposure : array-like of shape (n_samples,), optional
            The exposure of each row, if y has the events only.

        Returns
        -------
        self
        """
        if exposure is not None:
            X, y = with_exposure(X, y, exposure)
        return super().fit(X, y, sample_weight, validation=validation)

    def evaluate(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        exposure: Column | None = None,
    ) -> dict[str, float]:
        """Measure the rules and the model on these rows.

        Parameters
        ----------
        X, y, sample_weight : as for `DefragRegressor.evaluate`
            y has two columns, events and exposure, or one.
        exposure : array-like of shape (n_samples,), optional
            The exposure of each row, if y has the events only.

        Returns
        -------
        dict from str to float
        """
        if exposure is not None:
            X, y = with_exposure(X, y, exposure)
        return super().evaluate(X, y, sample_weight)

    def score(self, X: Rows, y: Column, sample_weight: Column | None = None) -> float:
        """Share of the Poisson deviance around one rate that is explained, D².

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples, 2) or (n_samples,)
            As for `fit`.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return self.evaluate(X, y, sample_weight)["d2"]

    def _open(self, X, y, sample_weight, forest):
        self._n_columns = n_columns(y)
        return super()._open(X, y, sample_weight, forest)

    def _rows(
        self, X: Rows, y: Column | None = None, sample_weight: Column | None = None
    ) -> Any:
        if y is not None:
            if n_columns(y) < self._n_columns:
                raise ValueError(
                    "y must have the columns events and exposure, as in fit; got one. "
                    "Pass both, such as np.column_stack([events, exposure])."
                )
            X, y = with_exposure(X, y, self.exposure)
        return super()._rows(X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _check_forest(self, forest):
        if self.exposure in forest.feature_names:
            raise ValueError(
                f"exposure names {self.exposure!r}, which the model uses, so it "
                "predicts counts. Pass a model of the rate: fit it to events / "
                "exposure with sample_weight=exposure, or with the logarithm of the "
                "exposure as its offset, and without this column."
            )
        return super()._check_forest(forest)


def warn_of_other_columns(X, forest):
    """Warn if X has other columns, or another order, than the training data."""
    names = column_names(X)
    if names is None or not set(forest.feature_names) <= set(names):
        return
    used = tuple(name for name in names if name in set(forest.feature_names))
    expected = {*forest.feature_names, *forest.other_names}
    others = [name for name in names if name not in expected]
    if others:
        what = f"columns that the model was not trained on: {render.listed(others)}"
    elif used != forest.feature_names and not forest.other_names:
        what = f"its columns in another order than in training: {render.listed(names)}"
    else:
        return
    warn(f"X has {what}. Columns are selected by name.")


def check_columns(estimator, X, reset=True, ensure_min_samples=0):
    """Validate X, and store (`reset`) or compare its columns."""
    names = column_names(X)
    if getattr(X, "ndim", 2) < 2 or names == ():
        shape = getattr(X, "shape", ())
        raise ValueError(
            f"X must have rows and columns; got the shape {shape}. Reshape your data "
            "either using array.reshape(-1, 1) if it has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )
    if names is None:
        validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples,
        )
        return
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) < ensure_min_samples:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(X.columns)})) while a "
            "minimum of 1 is required."
        )


def make_generator(random_state):
    """Make the random generator of a fit."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        seed = check_random_state(random_state).randint(2**31 - 1)
    except ValueError:
        raise SettingError(
            "random_state must be None, a whole number from 0 to 4294967295, or a "
            f"numpy generator; got {shown(random_state)}."
        ) from None
    return np.random.default_rng(seed)


def read_rows(simplifier, source, forest):
    """Read all rows as codes, and as numbers too if they are few or needed."""
    n_rows, special = source.n_rows(), simplifier.special_values
    keeps_numbers = simplifier._needs_numbers or n_rows <= sources.MANY_ROWS
    is_shown = simplifier.verbose and not keeps_numbers
    with Progress("rows", n_rows) if is_shown else nullcontext() as progress:
        store = read_store(
            source,
            forest,
            target="labels" if simplifier.target == "labels" else "answers",
            shorten=simplifier.shorten_thresholds,
            keeps_numbers=keeps_numbers,
            kinds=forest.feature_kinds,
            n_jobs=simplifier.n_jobs,
            watch=progress and progress.advance,
            special={} if special is None else read_special(special, forest),
        )
    names = forest.feature_names
    for j, kind in enumerate(forest.feature_kinds or ()):
        thresholds = store.grid.splits[j]
        n_sides = np.count_nonzero(store.counts[j][:-1])
        if kind in KINDS and len(thresholds) and n_sides < 2:
            raise ValueError(
                f"{names[j]!r} is read as a number of days (dates as days since "
                "1970-01-01), and must have values on both sides of a threshold of the "
                f"model, such as {thresholds[0]:g}; all are on one side. Train the "
                "model on days, or pass the numbers that it was trained on."
            )
    empty = [j for j, count in enumerate(store.counts) if not count[:-1].any()]
    for j in empty[:5]:
        warn(f"Column {names[j]!r} has only missing values, so no rule can use it.")
    return store


def open_validation(validation, open_rows=open_source):
    """Open the rows of `validation`, and check that they have y."""
    if not isinstance(validation, tuple) or len(validation) not in (2, 3):
        given = type(validation).__name__
        if isinstance(validation, tuple):
            given += f" of length {len(validation)}"
        raise TypeError(
            f"validation must be (X, y) or (X, y, sample_weight); got a {given}."
        )
    source = open_rows(*validation)
    if not source.has_labels:
        raise ValueError(
            "validation needs y, to count rates and errors; got None. Pass (X, y)."
        )
    return source


def warn_of_little_data(max_rules, n_rows, most):
    """Warn if `max_rules` exceeds the number of rows."""
    if max_rules != "auto" and n_rows < max_rules:
        warn(
            f"max_rules={max_rules} is more than the {n_rows} rows of X; at most "
            f"{most} rules can be found."
        )


def warn_of_one_value(problem):
    """Warn if y has one value; rates may differ though the class is always the same."""
    if problem.store.has_one_value():
        warn("The target has a single value, so the result is a single rule.")


def warn_of_unpredicted(rules, store):
    """Warn of classes that occur in the rows and that no rule predicts."""
    if rules.n_rules == 1 or not rules._form.unpredicted_classes:
        return
    rates = dict(zip(rules.classes, store.class_shares(), strict=True))
    missing = [label for label in rules._form.unpredicted_classes if rates[label] > 0]
    if missing:
        shown = [
            rules.outcome.view.prediction(c) if rules.class_labels else c
            for c in missing
        ]
        names = ", ".join(map(repr, shown[:5])) + (", ..." if shown[5:] else "")
        share = render.share(sum(rates[label] for label in missing))
        warn(
            f"No rule predicts {names}, the class of {share} of the rows. Allow more "
            "rules, or set class_weight or threshold."
        )


def _known_rows(lists, part):
    """Prediction, rule and y of the rows of one part, for each rule model."""
    matrix = lists[0]._encode(part.X)
    return [
        [
            rules._form.rows_to_calibrate(rules._covers(matrix), part.y)
            for rules in lists
        ]
    ]


# From the name of a method to its module; `estimators/__init__.py` has the entries.
METHODS: dict[str, str] = {}


def compared_methods(outcome: Outcome) -> tuple[str, ...]:
    """The default methods of `compare`: all for this kind of y but the paper's."""
    suffix = outcome.estimator_suffix
    return tuple(
        method
        for method, module in METHODS.items()
        if any(name.endswith(suffix) for name in import_module(module).__all__)
        and method != "paper"
    )


def estimator_for(method: str, outcome: Outcome) -> type[Simplifier]:
    """Return the estimator class of a method for an outcome.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    outcome : Classes or Numbers

    Examples
    --------
    >>> from defragtrees.estimators import estimator_for
    >>> from defragtrees.outcomes import make_outcome
    >>> estimator_for("paper", make_outcome("regression")).__name__
    'FABRulesRegressor'
    """
    module = import_module(METHODS[method])
    for name in module.__all__:
        if name.endswith(outcome.estimator_suffix):
            kind: type[Simplifier] = getattr(module, name)
            return kind
    raise ValueError(
        f"method {method!r} does not support {outcome.task}; 'defrag' does."
    )
