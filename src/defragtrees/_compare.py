"""compare and simplify_path: several fits to one model, measured on the same rows."""

import itertools
import math
import numbers
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from defragtrees import plots
from defragtrees._api import KINDS, check_names
from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees._utils.progress import Progress, part, parts, watch
from defragtrees._utils.types import Column, Floats, Rows
from defragtrees.data.sources import with_exposure
from defragtrees.data.statistics import decided_alike, rule_scores
from defragtrees.estimators import METHODS, compared_methods, estimator_for
from defragtrees.estimators.base import Simplifier, open_validation
from defragtrees.estimators.inputs import one_seed, open_model
from defragtrees.metrics.resampling import rule_stability
from defragtrees.outcomes import MEASURES, make_outcome
from defragtrees.outcomes.base import n_columns
from defragtrees.outcomes.decision import Decision, cost_matrix, make_decision
from defragtrees.outcomes.intervals import effective_rows
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import MAYBE_TRAINED
from defragtrees.tables import check_weight, one_column, take_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


# Measures on resamples, from name to heading.
STABILITY = {
    "stability": "found again",
    "same_predictions": "same predictions",
}
SIZES = ("n_rules", "n_conditions", "mean_conditions")
RATES = ("error", "fidelity", "coverage", "overlap")
N_GROUPS = 50  # groups of rows of the jackknife


def compare(
    model: Any,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    *,
    exposure: Column | None = None,
    methods: Sequence[Any] | Mapping[str, Any] | None = None,
    others: Mapping[str, Any] | None = None,
    budgets: int | Sequence[int | None] | None = None,
    test_size: float = 0.25,
    cv: int | None = None,
    n_resamples: int = 0,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> "Comparison":
    """Fit several methods to one model, and measure them on the same held-out rows.

    If methods have costs, class weights or a threshold, those of the first such method
    define the expected cost of all, the model included.

    Parameters
    ----------
    model : fitted model, path or Forest
        The model to simplify. It is not fitted again: on rows that it was trained on,
        its own error is too low, and so may be that of rules that imitate it. Pass
        rows that it was not trained on for a fair comparison.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        True values.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; 1 by default.
    exposure : array-like of shape (n_samples,) or str, optional
        If y counts events, their exposure; see `simplify`.
    methods : sequence of str or estimator, or mapping from name to them, optional
        Names are keys of `defragtrees.estimators.METHODS`. The default is all installed
        methods but "paper". An estimator is copied and fitted to `model` with its
        settings.
    others : mapping from name to scikit-learn estimator, optional
        Other estimators, such as a small tree, measured on the same held-out rows. A
        copy of each is fitted to y on the remaining rows. One that is fitted already is
        used as it is, and marked, as it may be trained on the held-out rows. `budgets`
        does not apply to them.
    budgets : int or sequence of (int or None), optional
        Maximum number of rules. Every method is fitted once per budget; None leaves the
        number to the method, which is the default.
    test_size : float or int, default=0.25
        Share or number of rows to hold out.
    cv : int, optional
        Number of folds of a cross-validation, in place of one split.
    n_resamples : int, default=0
        If at least 2, also train the model, if it can be, and fit each method again to
        this number of random halves of the rows, and measure the share of rules that
        are found again and of predictions that are the same; see
        `metrics.rule_stability`.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits and of all methods.
    n_jobs : int or None, default=None
        Number of threads of each method.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> comparison = compare(model, X, y, methods=["distilled"], budgets=[3, 4],
    ...                 random_state=0)
    >>> [(row["method"], row["budget"], row["n_rules"]) for row in comparison.rows()]
    [('distilled', 3, 3.0), ('distilled', 4, 4.0)]
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> mine = {"my tree": DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)}
    >>> comparison = compare(model, X, y, methods=["distilled"], budgets=4,
    ...                      others=mine, random_state=0)
    >>> [(row["method"], row["n_rules"]) for row in comparison.rows()]
    [('distilled', 4.0), ('my tree', 4.0)]
    """
    if exposure is not None:
        X, y = with_exposure(X, y, exposure)
    forest = open_model(model, X, y, random_state, verbose=verbose)
    if exposure is not None:
        forest.outcome.check_exposure()
    chosen = _methods(methods, forest.outcome)
    others = _others(others, chosen)
    sizes = _budgets(budgets)
    if n_resamples and n_resamples < 2:
        raise ValueError(f"n_resamples must be 0 or at least 2; got {n_resamples!r}.")
    if y is None:
        raise ValueError("compare needs y, to measure errors; got None. Pass y.")
    matrix = forest.encode(X)
    labels = forest.outcome.read(y, len(matrix))
    check_consistent_length(matrix, sample_weight)
    if sample_weight is not None:
        sample_weight = check_weight(sample_weight, len(matrix))
    decision = _decision(chosen, forest.outcome, forest.outcome.encode(labels))
    rows = _Rows(X, labels, sample_weight, model, forest, n_resamples, decision)
    # One seed for all, so that no method depends on the others.
    seed = one_seed(random_state)
    splits = _splits(rows.y, forest.outcome, test_size, cv, seed)
    model_scores = _means([rows.model_scores(*split) for split in splits])
    shared = {"random_state": seed, "n_jobs": n_jobs}
    entries, estimators = [], {}
    runs = [*itertools.product(chosen, sizes), *((name, None) for name in others)]
    with Progress("methods", 1) as bar, watch(bar) if verbose else nullcontext():
        for name, budget in parts(runs):
            more = {}
            try:
                if name in chosen:
                    estimator, is_given = chosen[name]
                    settings = _settings(estimator, is_given, shared, budget)
                    settings["model"], scores = forest, []
                    for split in parts(splits):
                        fitted = type(estimator)(**settings)
                        scores.append(_scores(fitted, rows, *split))
                    estimators[name, budget] = fitted
                else:
                    more = {"is_fitted": _is_fitted(others[name])}
                    scores = [_other_scores(others[name], rows, *s) for s in splits]
                entry = _means(scores) | {
                    f"{name}_std": float(np.std([each[name] for each in scores]))
                    for name in ("error", "rmse")
                    if name in scores[0]
                }
                entry["failure"] = None
            # A failure of one method, its package or its solver does not stop others.
            except Exception as error:
                names = [*SIZES, *RATES, "seconds", "error_std"]
                names += [measure.name for measure in forest.outcome.measures()]
                entry = dict.fromkeys(names, math.nan)
                entry["failure"] = f"{type(error).__name__}: {error}"
            entries.append({"method": name, "budget": budget, **entry, **more})
    model_error = model_scores.pop("error")
    return Comparison(
        tuple(entries),
        estimators,
        model_error,
        len(splits),
        forest.task,
        model_scores,
        rows.decision is not None,
    )


@dataclass(frozen=True, eq=False)
class Comparison(render.Tabular):
    """Methods and their scores, the result of `compare`.

    Parameters
    ----------
    entries : tuple of dict
        One per method and budget, with `method`, `budget`, the means over the splits of
        the measures of `evaluate` (`n_conditions` in all rules together,
        `mean_conditions` per rule), `error_std`, the standard deviation of the error,
        `failure`, the error message of a method that failed, else None, and for
        `others` `is_fitted`, whether the estimator was fitted before and may be trained
        on the held-out rows. For other estimators `n_rules` is the number of leaves,
        NaN if unknown.
    estimators : dict
        From (method, budget) to the estimator fitted on the last split.
    model_error : float
        Error of the model on the same rows, on which it may be trained.
    n_splits : int
        Number of splits into training and test rows.
    task : {"classification", "regression"}
    model_scores : dict from str to float
        The other measures of the model.
    has_costs : bool, default=False
        Whether expected costs use given costs; else every error costs 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> table = compare(forest, X, y, methods=["distilled"], budgets=[3])
    >>> [row["method"] for row in table.rows()]
    ['distilled']
    >>> table.to_frame().shape[0]
    1
    >>> table.plot().get_xlabel()
    'number of rules'
    """

    entries: tuple[dict[str, Any], ...]
    estimators: dict[tuple[str, int | None], Simplifier]
    model_error: float
    n_splits: int
    task: str
    model_scores: dict[str, float] = field(default_factory=dict)
    has_costs: bool = False

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per method and budget."""
        return [dict(entry) for entry in self.entries]

    def to_frame(self) -> "DataFrame":
        """Return the table as a pandas data frame."""
        return require("pandas", "A data frame").DataFrame(self.rows())

    def _cells(self):
        shown = self._shown()
        # All measures are in `rows`; these fit in 80 columns.
        header = ["method", "rules", "conditions", *shown.values()]
        header += ["fidelity", "seconds"]
        has_stability = any("stability" in row for row in self.entries)
        header += STABILITY.values() if has_stability else []
        lines = []
        for row in self.entries:
            label = _label(row)
            if row["failure"] is not None:
                lines.append([label, *[""] * (len(header) - 2), "failed"])
                continue
            line = [label, _cell(row, "n_rules", "{:.4g}".format)]
            line.append(_cell(row, "n_conditions", "{:.4g}".format))
            line += [self._measured(row, name) for name in shown]
            line.append(_cell(row, "fidelity", "{:.3f}".format))
            line.append(_cell(row, "seconds", "{:.2f}".format))
            if has_stability:
                line += [_cell(row, name, "{:.2f}".format) for name in STABILITY]
            lines.append(line)
        return header, lines

    def _shown(self):
        there = set().union(*self.entries) | set(self.model_scores)
        also = "expected_cost" if self.has_costs else None
        return make_outcome(self.task).view.measure_titles(
            there, narrow=True, also=also
        )

    def _measured(self, row, name):
        value, apart = row.get(name, math.nan), row.get(f"{name}_std")
        if math.isnan(value):
            return ""
        apart = apart if self.n_splits > 1 else None
        return _with_spread(make_outcome(self.task), name, value, apart)

    def _notes(self):
        scores = {"error": self.model_error, **self.model_scores}
        model = _model_note(make_outcome(self.task), self._shown(), scores)
        failed = [row for row in self.entries if row["failure"] is not None]
        fitted = [row["method"] for row in self.entries if row.get("is_fitted")]
        return [
            f"{model} ({MAYBE_TRAINED})",
            *(f"{name}: already fitted ({MAYBE_TRAINED})" for name in fitted),
            *(f"{_label(row)} failed: {row['failure']}" for row in failed),
        ]

    def __repr__(self) -> str:
        n_failed = sum(row["failure"] is not None for row in self.entries)
        return f"<Comparison: {len(self.entries)} fits, {n_failed} failed>"

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot error against number of rules, with a line for the model."""
        return plots.comparison(self, ax=ax)


def _with_spread(outcome, name, value, spread):
    """A measure for people, with its standard error or deviation unless it is None."""
    if name == "error":
        spread = None if spread is None else outcome.shown_deviation(value, spread)
        value = outcome.shown_error(value)
    text = render.rounded(value)
    return text if spread is None else f"{text} ± {render.rounded(spread, 2)}"


def _model_note(outcome, titles, scores):
    """The measures of the model under the titles of a table."""
    texts = [
        f"{title} {_with_spread(outcome, name, scores[name], None)}"
        for name, title in titles.items()
        if name in scores
    ]
    return f"model: {', '.join(texts)}"


def _label(row):
    budget = row["budget"]
    return row["method"] if budget is None else f"{row['method']} (max {budget})"


def _cell(row, name, write):
    """A number as text; empty if unknown."""
    value = row.get(name, math.nan)
    return "" if math.isnan(value) else write(value)


def _budgets(budgets):
    """Check the budgets, and remove repeats."""
    if budgets is None or isinstance(budgets, numbers.Integral | str):
        budgets = (budgets,)
    for budget in budgets or [budgets]:
        is_whole = isinstance(budget, numbers.Integral) and budget >= 1
        if budget is not None and not is_whole:
            raise ValueError(
                f"budgets must be None or whole numbers from 1; got {budget!r}."
            )
    return tuple(dict.fromkeys(budgets))


@dataclass(frozen=True, eq=False)
class _Rows:
    """The data of a comparison."""

    X: Any
    y: np.ndarray
    sample_weight: Any
    model: Any  # as it was given
    forest: Any
    n_resamples: int
    decision: Decision | None  # that defines the expected cost

    def take(self, rows):
        return tuple(take_rows(v, rows) for v in (self.X, self.y, self.sample_weight))

    def model_scores(self, train, test):
        """Error and all measures of the model for the test rows."""
        X, _, weight = self.take(test)
        if self.sample_weight is not None and not (
            weight.sum() > 0 and self.sample_weight[train].sum() > 0
        ):
            raise ValueError(
                "Training and test rows of every split need a positive total weight; "
                "some have none. Use fewer folds, or drop rows of weight 0."
            )
        forest, outcome = self.forest, self.forest.outcome
        raw = forest.predict_raw(X)
        answers = self.rates(forest, train, forest.predict_from_raw(raw))
        likely = outcome.probabilities_of(forest, raw)
        return self.scores(train, test, answers, likely)

    def rates(self, model, train, answers):
        """Predictions of a model on the scale of rules, as training rows give it."""
        X, y, weight = self.take(train)
        outcome = self.forest.outcome
        if len(outcome.columns) == 1:
            return answers
        return outcome.scale_of(model.predict(X), y, weight)(answers)

    def scores(self, train, test, answers, probabilities):
        """Error and all measures of predictions for the test rows."""
        _, *known = self.take(train)
        _, y, weight = self.take(test)
        outcome = self.forest.outcome.trained(*known)
        return {
            "error": outcome.error(y, answers, weight),
            **outcome.measure(y, answers, weight, probabilities),
            **self.cost(test, probabilities),
        }

    def cost(self, test, probabilities):
        """The expected cost, if there are costs and probabilities."""
        decision, outcome = self.decision, self.forest.outcome
        if decision is None or probabilities is None:
            return {}
        _, y, weight = self.take(test)
        decided = outcome.decode(decision.choose(probabilities))
        measured = outcome.measure(y, decided, weight, costs=decision.costs)
        return {"expected_cost": measured["expected_cost"]}


def _methods(methods, outcome):
    """From name to the estimator of a method, and whether the user made it."""
    if methods is None:
        methods = compared_methods(outcome)
    if not isinstance(methods, Mapping):
        if isinstance(methods, (str, Simplifier)):
            methods = [methods]
        named = [(m if isinstance(m, str) else type(m).__name__, m) for m in methods]
        if len({name for name, _ in named}) < len(named):
            raise ValueError(
                "methods must have different names; got one twice. Pass a mapping from "
                "names to estimators."
            )
        methods = dict(named)
    chosen = {}
    for name, method in methods.items():
        is_given = not isinstance(method, str)
        if not is_given:
            if method not in METHODS:
                raise ValueError(
                    f"methods must be among {tuple(METHODS)} or estimators; got "
                    f"{method!r}."
                )
            method = estimator_for(method, outcome)()
        elif not isinstance(method, Simplifier):
            raise TypeError(
                "methods must be names or instances of estimators of defragtrees; got "
                f"{method!r}."
            )
        if method._task != outcome.task:
            raise ValueError(
                f"{type(method).__name__} does not support a model for "
                f"{outcome.task}. Use the {outcome.estimator_suffix.lower()}."
            )
        chosen[name] = (method, is_given)
    return chosen


def _others(others, chosen):
    """Check the user's other estimators."""
    others = {} if others is None else dict(others)
    for name, other in others.items():
        has_all = all(hasattr(other, method) for method in ("fit", "predict"))
        if isinstance(other, type) or not has_all:
            raise TypeError(
                "others must be instances of scikit-learn estimators; got "
                f"{other!r} for {name!r}."
            )
        if name in chosen:
            raise ValueError(
                f"methods and others must have different names; both have {name!r}. "
                "Rename one."
            )
    if not chosen and not others:
        raise ValueError("methods must have at least one method; got none.")
    return others


def _decision(chosen, outcome, labels):
    """The decision of the first method with costs, or None."""
    names = "class_weight", "costs"
    for estimator, _ in chosen.values():
        settings = {name: getattr(estimator, name, None) for name in names}
        if any(value is not None for value in settings.values()):
            rates = np.bincount(labels, minlength=outcome.n_classes) / len(labels)
            return make_decision(outcome.labels, rates, **settings)
    return None


def _splits(y, outcome, test_size, cv, seed):
    rows, strata = np.arange(len(y)), y if outcome.has_probabilities else None
    if cv is not None:
        kind = KFold if strata is None else StratifiedKFold
        return list(kind(cv, shuffle=True, random_state=seed).split(rows[:, None], y))
    if strata is not None and np.unique(strata, return_counts=True)[1].min() < 2:
        strata = None  # a class with a single row cannot be split
    settings = {"test_size": test_size, "random_state": seed}
    try:
        return [train_test_split(rows, stratify=strata, **settings)]
    except ValueError:
        # More classes than held-out rows.
        return [train_test_split(rows, **settings)]


def _settings(estimator, is_given, shared, budget):
    """The settings of an estimator; the user's own seed and threads are kept."""
    settings = estimator.get_params(deep=False)
    for name, value in shared.items():
        if not is_given or settings.get(name) is None:
            settings[name] = value
    if budget is not None:
        if "max_rules" not in settings:
            raise ValueError(f"{type(estimator).__name__} has no max_rules.")
        settings["max_rules"] = budget
    return settings


def _is_fitted(other):
    try:
        check_is_fitted(other)
    except NotFittedError:
        return False
    return True


def _other_scores(other, rows, train, test):
    """The scores of an estimator of the user; one that is not fitted is fitted to y."""
    seconds = math.nan
    if not _is_fitted(other):
        X, y, weight = rows.take(train)
        y, weight = rows.forest.outcome.training_data(y, weight, other)
        other, begin, settings = clone(other), time.perf_counter(), {}
        if weight is not None and has_fit_parameter(other, "sample_weight"):
            settings["sample_weight"] = weight
        other.fit(X, y, **settings)
        seconds = time.perf_counter() - begin
    X, _, weight = rows.take(test)
    outcome, answers = rows.forest.outcome, rows.rates(other, train, other.predict(X))
    model = rows.rates(rows.forest, train, rows.forest.predict(X))
    probabilities = None
    if outcome.n_classes and hasattr(other, "predict_proba"):
        places = outcome.encode(np.asarray(other.classes_))
        probabilities = np.zeros((len(answers), outcome.n_classes))
        probabilities[:, places] = other.predict_proba(X)
    # Of a tree the leaves are the rules, also as the last step of a pipeline.
    last = other.steps[-1][1] if hasattr(other, "steps") else other
    has_leaves = hasattr(last, "get_n_leaves")
    return {
        **dict.fromkeys([*SIZES, "coverage", "overlap"], math.nan),
        "n_rules": float(last.get_n_leaves()) if has_leaves else math.nan,
        "fidelity": outcome.fidelity(model, answers, weight),
        **rows.scores(train, test, answers, probabilities),
        "seconds": seconds,
    }


def _means(scores):
    return {n: float(np.mean([each[n] for each in scores])) for n in scores[0]}


def _scores(estimator, rows, train, test):
    begin = time.perf_counter()
    with warnings.catch_warnings():
        # Warnings of small folds, such as a single class, would repeat the numbers.
        warnings.simplefilter("ignore", UserWarning)
        with part(0.0, 1 / (1 + rows.n_resamples)):
            estimator.fit(*rows.take(train))
    seconds = time.perf_counter() - begin
    X, y, weight = rows.take(test)
    measured = estimator.evaluate(X, y, weight)
    names = [*SIZES, *RATES, *(m.name for m in rows.forest.outcome.measures())]
    scores = {name: measured[name] for name in names if name in measured}
    scores["seconds"] = seconds
    if rows.decision is not None:
        scores |= rows.cost(test, estimator.predict_proba(X))
    if rows.n_resamples:
        with part(1 / (1 + rows.n_resamples)):
            measured = rule_stability(
                estimator,
                *rows.take(train),
                n_resamples=rows.n_resamples,
                model=rows.model,
                random_state=estimator.random_state,
            )
        scores["stability"] = measured.found_again
        scores["same_predictions"] = measured.predictions
    return scores


# Rule lists of every length


def simplify_path(
    model: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    exposure: Column | None = None,
    validation: tuple[Any, ...] | None = None,
    test_size: float = 0.25,
    choose_by: str | None = None,
    random_state: Any = None,
    **settings: Any,
) -> "RulePath":
    """Find the best rule list of every length, and measure each on held-out rows.

    The lists are those of `simplify`, found on all rows. To score them, the search is
    repeated without the held-out rows, which are taken from `validation` if given, else
    from X.

    Parameters
    ----------
    model : fitted model, path or Forest
        The model to simplify.
    X : array-like or data frame of shape (n_samples, n_features)
        If the model was trained on these rows, its own error is too low; pass
        `validation` for a fair comparison.
    y : array-like of shape (n_samples,), optional
        True values. Without y, errors are disagreement with the model.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; 1 by default.
    exposure : array-like of shape (n_samples,) or str, optional
        If y counts events, their exposure; see `simplify`.
    validation : tuple (X, y) or (X, y, sample_weight), optional
        Rows that the model was not trained on, in memory; see `simplify`.
    test_size : float or int, default=0.25
        Share or number of rows to hold out.
    choose_by : str, optional
        Measure by which a list is chosen: the shortest within one standard error of the
        best. "error" or, with y, "auc", "average_precision", "log_loss", "brier",
        "precision", "recall" or "expected_cost" for classes, "rmse", "mae" or "r2" for
        numbers. By default the list that `simplify` returns is chosen.
    random_state : int, Generator or None, default=None
        Seed of the search and of the split.
    **settings
        Settings of `DefragClassifier` or `DefragRegressor`, such as `max_rules`.

    Returns
    -------
    RulePath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> path = simplify_path(model, X, y, max_rules=4, random_state=0)
    >>> [point.n_rules for point in path.points]
    [1, 2, 3, 4]
    >>> by_log_loss = simplify_path(model, X, y, max_rules=4, random_state=0,
    ...                             choose_by="log_loss")
    >>> by_log_loss.chosen_by, by_log_loss.rules.n_rules
    ('log_loss', 4)
    """
    names = dict.fromkeys(one.name for kind in KINDS for one in fields(kind))
    check_names(settings, names, "simplify_path")
    seed = one_seed(random_state)
    if exposure is not None:
        X, y = with_exposure(X, y, exposure)
    y = y if y is None or n_columns(y) > 1 else one_column(y)
    rows = X, y, sample_weight
    check_consistent_length(*rows)
    divided: Any = rows if validation is None else _validation_rows(validation)
    places = np.arange(len(divided[0]))
    train, test = train_test_split(places, test_size=test_size, random_state=seed)
    kept, held_out = (
        tuple(take_rows(column, places) for column in divided)
        for places in (train, test)
    )
    limit, verbose = settings.get("max_calls"), settings.get("verbose", 0)
    n_reserved = 0 if validation is None else len(places)
    forest = open_model(model, X, y, seed, limit, verbose, n_reserved)
    if exposure is not None:
        forest.outcome.check_exposure()
    measures = ["error", *(measure.name for measure in forest.outcome.measures())]
    if choose_by not in (None, *measures):
        raise ValueError(
            f"choose_by must be one of {measures!r} for this model; got {choose_by!r}."
        )
    if choose_by not in (None, "error") and divided[1] is None:
        raise ValueError(
            f"choose_by={choose_by!r} needs y; got None. Pass y, or use "
            "choose_by='error', the disagreement with the model."
        )
    kind = estimator_for("defrag", forest.outcome)
    check_names(settings, [one.name for one in fields(kind)], "simplify_path")

    def fitted(rows, validation):
        simple = kind(forest, random_state=seed, **settings)
        return simple._fit(forest, *rows, validation=validation)

    with part(0.0, 0.5):
        every = fitted(rows, validation)
    with warnings.catch_warnings(), part(0.5, 1.0):
        # These rules are only measured; the fit above gave the same warnings.
        warnings.simplefilter("ignore")
        partial = fitted(kept, None) if validation is None else fitted(rows, kept)
    X, y, weight = held_out
    y = None if y is None else partial.rules_.outcome.read(y)
    path = _path(every, partial, X, y, weight, choose_by)
    path = replace(path, is_new=hasattr(every, "validation_"))
    if choose_by is not None:
        return path
    same = (i for i, p in enumerate(path.points) if p.rules == every.rules_)
    return replace(path, chosen=next(same), chosen_by=None)


@dataclass(frozen=True, eq=False)
class RulePath(render.Tabular):
    """Rule lists of every length with their scores, the result of `simplify_path`.

    Parameters
    ----------
    points : tuple of PathPoint
        Sorted by number of rules, then by number of conditions.
    chosen : int
        Index of the chosen list.
    model_error : float
        Error of the model on the same rows; 0 if errors are against the model.
    is_against_y : bool, default=True
        Whether errors are against y, not against the model.
    chosen_by : str or None, default="error"
        The measure by which the list was chosen; None if `simplify` chose it.
    model_measures : dict from str to float
        The other measures of the model on the same rows.
    is_new : bool, default=False
        Whether the rows are those of `validation`, unknown to the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify_path
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> path = simplify_path(forest, X, y, max_rules=3, random_state=0)
    >>> [row["n_rules"] for row in path.rows()], path.rules.n_rules
    ([1, 2, 3], 3)
    >>> path.plot().get_xlabel()
    'number of rules'
    """

    points: "tuple[PathPoint, ...]"
    chosen: int
    model_error: float
    is_against_y: bool = True
    chosen_by: str | None = "error"
    model_measures: dict[str, float] = field(default_factory=dict)
    is_new: bool = False

    @property
    def rules(self) -> RuleModel:
        """The chosen list."""
        return self.points[self.chosen].rules

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per list; `n_conditions` is the total of all rules."""
        return [
            {
                "n_rules": point.n_rules,
                "n_conditions": point.rules.n_conditions,
                "error": point.error,
                "standard_error": point.standard_error,
                "fidelity": point.fidelity,
                "coverage": point.coverage,
                "overlap": point.overlap,
                **point.measures,
                **{f"{k}_standard_error": v for k, v in point.measure_errors.items()},
                "chosen": i == self.chosen,
            }
            for i, point in enumerate(self.points)
        ]

    def _shown(self):
        """The measures in the table, from name to heading."""
        there = self.points[0].measures if self.points else ()
        outcome = self.rules.outcome
        shown = outcome.view.measure_titles(there, narrow=True, also=self.chosen_by)
        if "error" in shown or self.chosen_by in (None, "error"):
            # In the first place; that of numbers is shown in their unit.
            [heading] = [
                shown.pop(measure.name, measure.head)
                for measure in outcome.measures()
                if measure.label == outcome.error_name
            ] or ["error"]
            shown = {"error": heading, **shown} | {"error": heading}
        return shown

    def _cells(self):
        shown = self._shown()
        spreads, outcome = {"error": "standard_error"}, self.rules.outcome
        lines = []
        for row in self.rows():
            line = [f"{row['n_rules']}{' *' if row['chosen'] else ''}"]
            line.append(f"{row['n_conditions']}")
            for name in shown:
                value = row[name]
                spread = row.get(spreads.get(name, f"{name}_standard_error"))
                line.append(_with_spread(outcome, name, value, spread))
            line += [f"{row['fidelity']:.3f}", render.share(row["coverage"])]
            lines.append(line)
        header = ["rules", "conditions", *shown.values(), "fidelity", "coverage"]
        return header, lines

    def _notes(self):
        scores = {"error": self.model_error, **self.model_measures}
        model = _model_note(self.rules.outcome, self._shown(), scores)
        is_fair = self.is_new or not self.is_against_y
        note = "" if is_fair else f" ({MAYBE_TRAINED})"
        chosen = "returned by simplify"
        if self.chosen_by is not None:
            chosen = f"chosen by {self.chosen_by}: "
            chosen += "the shortest within one standard error of the best"
        return [f"* {chosen}", f"{model}{note}"]

    def __repr__(self) -> str:
        return (
            f"<RulePath: {len(self.points)} lists, {self.rules.n_rules} rules chosen>"
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot error against number of rules; returns the Axes."""
        return plots.trade_off(self, ax=ax)


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A rule list of a path and its scores on the held-out rows.

    Parameters
    ----------
    rules : RuleModel
    error : float
        Error against y, or against the model without y.
    standard_error : float
        Standard error of `error`.
    fidelity, coverage, overlap : float
        As in `evaluate`.
    measures : dict from str to float
        The other measures of `evaluate`; empty without y.
    measure_errors : dict from str to float
        Standard error of the measure by which the list is chosen.
    """

    rules: RuleModel
    error: float
    standard_error: float
    fidelity: float
    coverage: float
    overlap: float
    measures: dict[str, float] = field(default_factory=dict)
    measure_errors: dict[str, float] = field(default_factory=dict)

    @property
    def n_rules(self) -> int:
        """Number of rules, including the default rule."""
        return self.rules.n_rules


def measure_path(
    lists: Iterable[RuleModel],
    matrix: Floats,
    expected: Column,
    answers: Column,
    sample_weight: Column | None = None,
    is_against_y: bool = False,
) -> "tuple[PathPoint, ...]":
    """Measure each rule model on encoded rows, as a PathPoint.

    Errors are measured against `expected`, fidelity against `answers`, the predictions
    of the model. All measures are added if `expected` is y (`is_against_y`).
    """
    n_rows = effective_rows(check_weight(sample_weight, len(matrix)))
    points = []

    def mean(values):
        return float(np.average(values, weights=sample_weight))

    for rules in lists:
        matches, outcome = rules._covers(matrix), rules.outcome
        predicted = rules._form.predict(matches)
        n_matching = rules._form.n_matching(matches)
        losses, measures = outcome.losses(expected, predicted), {}
        error = mean(losses)
        if is_against_y:
            measures = outcome.measured(_scorer(rules, matrix, expected)(sample_weight))
        points.append(
            PathPoint(
                rules,
                error,
                math.sqrt(mean((losses - error) ** 2) / n_rows),
                outcome.fidelity(answers, predicted, sample_weight),
                mean(n_matching > 0),
                mean(n_matching),
                measures,
            )
        )
    return tuple(points)


def _validation_rows(validation):
    """X, y and weights of `validation`, which must be in memory."""
    source = open_validation(validation)
    if not source.is_in_memory:
        raise TypeError(
            "simplify_path needs the rows of validation in memory, to split them; got "
            f"{type(validation[0]).__name__}. Pass a table."
        )
    y = source.y if n_columns(source.y) > 1 else one_column(source.y)
    return source.X, y, source.sample_weight


def _path(every, partial, X, y, weight, choose_by):
    """Make the RulePath of an estimator; `partial` was fitted without these rows."""
    rules, forest = partial.rules_, partial.forest_
    outcome, matrix = rules.outcome, rules._encode(X)
    raw = forest.predict_raw_encoded(matrix)
    answers = forest.predict_from_raw(raw)
    expected = answers if y is None else y
    shown = path_lists(every, every.rules_)
    scored = [_alike(rules, every, partial) for rules in shown]
    points = measure_path(scored, matrix, expected, answers, weight, y is not None)
    choose_by = choose_by or "error"
    if choose_by != "error":
        points = [*_with_errors(points, matrix, y, weight, choose_by)]
    points = tuple(
        replace(point, rules=one) for point, one in zip(points, shown, strict=True)
    )
    chosen = _chosen(points, choose_by)
    probabilities = outcome.probabilities_of(forest, raw)
    decided = outcome.encode_any(answers)
    decided = outcome.decode(decided_alike(rules, decided, probabilities))
    error, measures = 0.0, {}
    if y is not None:
        error = outcome.error(y, decided, weight)
        costs = cost_matrix(rules)
        measures = outcome.measure(y, decided, weight, probabilities, costs)
    return RulePath(points, chosen, error, y is not None, choose_by, measures)


def path_lists(simple, rules):
    """The lists that an estimator kept, and its rules, by length; empty without any."""
    lists = list(getattr(simple, "path_", {}).values())
    if lists and rules not in lists:
        lists.append(rules)
    return sorted(lists, key=lambda rules: (rules.n_rules, rules.n_conditions))


def _alike(rules, every, partial):
    """The list of `partial` with as many rules, or conditions, as one of `every`."""
    if every.path_.get(rules.n_rules) == rules:
        return partial.path_[max(n for n in partial.path_ if n <= rules.n_rules)]
    shorter = partial.path_by_conditions_
    return shorter[max(n for n in shorter if n <= rules.n_conditions)]


def _chosen(points, choose_by):
    """Index of the shortest list within one standard error of the best."""
    if choose_by == "error":
        losses = [point.error for point in points]
        spreads = [point.standard_error for point in points]
    else:
        sign = -1.0 if MEASURES[choose_by].is_larger_better else 1.0
        losses = [sign * point.measures[choose_by] for point in points]
        spreads = [point.measure_errors[choose_by] for point in points]
    if any(math.isnan(loss) for loss in losses):
        raise ValueError(
            f"choose_by={choose_by!r} needs held-out rows of at least two classes; got "
            "one. Pass more rows, or a larger test_size."
        )
    best = int(np.argmin(losses))
    limit = losses[best] + spreads[best]
    return next(i for i, loss in enumerate(losses) if loss <= limit)


def _scorer(rules, matrix, y):
    """A function from weights to the scores of the rules on these rows."""
    outcome, matches = rules.outcome, rules._covers(matrix)
    predicted, labels = map(outcome.encode_any, (rules._form.predict(matches), y))

    def scores(weight):
        weight = np.ones(len(matrix)) if weight is None else np.asarray(weight, float)
        return rule_scores(rules, matches, predicted, labels, weight)

    return scores


def _with_errors(points, matrix, y, weight, name):
    """Add the standard error of a measure, by a jackknife over groups of rows.

    Rows were split at random, so groups can be made by row number.
    """
    weight = np.ones(len(matrix)) if weight is None else weight
    n_groups = min(N_GROUPS, len(matrix))
    group = np.arange(len(matrix)) % n_groups
    for point in points:
        scores = _scorer(point.rules, matrix, y)
        parts = (scores(weight * (group != g)) for g in range(n_groups))
        values = [MEASURES[name].of(part) for part in parts]
        # A class may be missing without some rows.
        values = [value for value in values if not math.isnan(value)]
        variance = np.var(values) * (n_groups - 1) if values else 0.0
        yield replace(point, measure_errors={name: math.sqrt(variance)})
