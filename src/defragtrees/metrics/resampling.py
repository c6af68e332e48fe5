"""Stability of rules: fits to random halves of the rows, the model trained again."""

import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import is_interrupt, parts
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import shown
from defragtrees.ensembles.forest import Forest
from defragtrees.rules.model import RuleModel
from defragtrees.tables import take_rows

SAME_ROWS = 0.5  # Jaccard index of rows from which on two rules count as the same
CENTRAL = (0.05, 0.95)  # quantiles of the rates of a rule that are shown
MOST_COLUMNS = 10  # that are listed in print


@dataclass(frozen=True)
class RuleStability(render.Tabular):
    """Stability of rules: what fits to random halves of the rows have in common.

    Parameters
    ----------
    rules : RuleModel
        The rules that fits are compared with.
    n_resamples : int
        Number of fits that were done.
    model : str
        What was done with the model in these fits, in one sentence.
    predictions : float
        On rows that a fit did not use, the mean share with the same prediction; in
        regression, one minus the mean squared difference divided by the variance of the
        predictions.
    correlation : float
        On the same rows, the mean correlation of probabilities, or of predictions.
    rates : tuple of tuple of float
        For each rule, the default rule last, its probability, mean or points (on the
        scale of the rules) in those fits in which it is found again: a rule with the
        same prediction has mostly the same rows (a Jaccard index of at least one half).
    columns : dict from str to int
        Number of fits whose rules use a column, the most used first.
    stopped : str, default=""
        Why fewer fits were done than asked for.
    """

    rules: RuleModel
    n_resamples: int
    model: str
    predictions: float
    correlation: float
    rates: tuple[tuple[float, ...], ...]
    columns: dict[str, int]
    stopped: str = ""

    @property
    def returns(self) -> tuple[int, ...]:
        """For each rule, the number of fits in which it is found again."""
        return tuple(len(rates) for rates in self.rates)

    @property
    def found_again(self) -> float:
        """Mean share of the rules that a fit finds again."""
        return float(np.mean(self.returns) / self.n_resamples)

    @property
    def sentence(self) -> str:
        """Summary of the measures in one sentence."""
        same = "of predictions are the same"
        probabilities = "probabilities"
        if not self.rules.outcome.has_probabilities:
            same, probabilities = "of the variance of predictions is common", "they"
        again = sum(2 * n >= self.n_resamples for n in self.returns)
        return (
            f"{render.plural(again, 'rule')} of {len(self.returns)} "
            f"{'comes' if again == 1 else 'come'} back in at least half of the fits; "
            f"on rows that a fit did not use, {render.percent(self.predictions)} "
            f"{same}, and {probabilities} have a correlation of {self.correlation:.2f}."
        )

    def _head(self):
        return " ".join(filter(None, [self.model, self.stopped]))

    def _cells(self):
        write, write_range = render.rounded, render.number_range
        is_sum = self.rules._form.is_sum
        if is_sum:
            write = _signed
        elif self.rules.outcome.has_probabilities:
            write, write_range = render.percent, render.percent_range
        lines = []
        own = _reported(self.rules, self.rules)
        n_shown = 4 if self.rules.outcome.n_points == 1 or not is_sum else 2
        for k, (rate, rates) in enumerate(zip(own, self.rates, strict=True)):
            line = [str(k + 1), f"{len(rates)} of {self.n_resamples}", write(rate)]
            many = len(rates) > 1 and write_range(*np.quantile(rates, CENTRAL))
            lines.append([*line, many or "".join(map(write, rates))][:n_shown])
        header = ["rule", "found again", self._rate_title, "in the fits"]
        return header[:n_shown], lines

    @property
    def _rate_title(self):
        is_sum, view = self.rules._form.is_sum, self.rules.outcome.view
        return "points" if is_sum else view.estimate_title()

    def _notes(self):
        names = dict(
            zip(self.rules.feature_names, self.rules._vocabulary.names, strict=True)
        )
        used = [f"{names.get(name, name)} {n}" for name, n in self.columns.items()]
        more = len(used) - MOST_COLUMNS
        others = f" and {more} more" if more > 0 else ""
        columns = f"{', '.join(used[:MOST_COLUMNS])}{others}"
        return [self.sentence, f"Columns used, by number of fits: {columns or 'none'}."]

    def to_dict(self) -> dict[str, Any]:
        """The measures as a dict of plain numbers."""
        return {
            "n_resamples": self.n_resamples,
            "model": self._head(),
            "predictions": self.predictions,
            "correlation": self.correlation,
            "returns": list(self.returns),
            "rates": [list(rates) for rates in self.rates],
            "columns": self.columns,
        }


def rule_stability(
    estimator: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    n_resamples: int = 20,
    refit: bool = True,
    model: Any = None,
    validation: tuple[Any, ...] | None = None,
    random_state: Any = None,
) -> RuleStability:
    """Measure the stability of rules by fits to random halves of the rows.

    In each fit the model is trained again on the same half: a copy with its settings,
    boosting that stopped early with as many rounds as it had then. An interrupt
    (Ctrl-C), or a model that cannot be trained on a half, ends the work; the result
    then has the fits that were done.

    Parameters
    ----------
    estimator : Simplifier
        Fitted; it is not changed. Fits run in `n_jobs` processes; None means all cores,
        or one process for a black box that is not trained again.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    sample_weight : array-like of shape (n_samples,), optional
    n_resamples : int, default=20
    refit : bool, default=True
        Train the model again. False keeps it, as does a model that is no estimator (a
        file, a function, a Forest), or no y.
    model : estimator, optional
        The model to train again; by default the one in `estimator`.
    validation : tuple (X, y) or (X, y, sample_weight), optional
        That of the fit; each fit has one half of it.
    random_state : int, RandomState, Generator or None, default=None
        Seed for drawing the halves; the estimator uses its own `random_state`.

    Returns
    -------
    RuleStability

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from defragtrees.baselines import DistilledTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> simple = DistilledTreeClassifier(tree, max_rules=3, random_state=0).fit(X, y)
    >>> rule_stability(simple, X, y, n_resamples=4, random_state=0).returns
    (4, 4, 4)
    """
    check_is_fitted(estimator, "rules_")
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    if isinstance(X, (str, os.PathLike)) or not hasattr(X, "__len__"):
        raise TypeError(
            "Stability needs all rows in memory, to fit on half of them; got "
            f"{type(X).__name__}. Pass a table."
        )
    if isinstance(n_resamples, bool) or not n_resamples >= 2:
        raise ValueError(
            f"Stability needs at least 2 fits; got {shown(n_resamples)}. Ask for 20."
        )
    rules, settings = estimator.rules_, estimator.get_params(deep=False)
    given = settings["model"] if model is None else model
    settings["model"], sentence = _trained_again(given, y, refit, n_resamples)
    if settings["model"] is FIXED:
        settings["model"] = getattr(estimator, "forest_", given)
    # A function may not be copied to other processes.
    is_asked = not getattr(settings["model"], "predicts_by_trees", True)
    n_jobs = estimator.n_jobs or (1 if is_asked else -1)
    if effective_n_jobs(n_jobs) > 1:
        settings |= {"n_jobs": None, "verbose": 0}
    estimator._reopen(X, y, sample_weight)  # raises for rows unlike those of the fit
    rng = check_random_state(random_state)
    halves = _halves(rules, X, y, n_resamples, rng)
    rows = X, y, sample_weight
    new = validation or (None,) * 3
    new_halves = [None] * n_resamples
    if validation is not None:
        new_halves = _halves(rules, new[0], new[1], n_resamples, rng)
    done: list[RuleModel] = []
    stopped = ""
    try:
        fits = Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="n_jobs")(
            delayed(_fit_again)(
                type(estimator), settings, rules, _taken(rows, half), _taken(new, other)
            )
            for half, other in zip(halves, new_halves, strict=True)
        )
        for _ in parts(range(n_resamples)):
            done.append(next(fits))
    except (KeyboardInterrupt, Exception) as error:
        if len(done) < 2 and is_interrupt(error):
            raise
        words = str(error).strip().partition("\n\n")[0]  # without a trace of calls
        reason = f"{type(error).__name__}: {' '.join(words.split()).rstrip('.')}"
        if not done:
            raise ValueError(
                f"The fit to half of the rows failed ({reason}). Pass refit=False, or "
                "more rows."
            ) from error
        if is_interrupt(error):
            reason = "interrupted"
        stopped = f"Stopped after {len(done)} of {n_resamples} fits ({reason})."
    predictions, correlation, rates, columns = _measured(rules, done, halves, X)
    return RuleStability(
        rules, len(done), sentence, predictions, correlation, rates, columns, stopped
    )


FIXED = object()  # in place of a model that is not trained again


def _trained_again(model, y, refit, n):
    """An unfitted copy of a model, or `FIXED`; and a sentence on what is done."""
    halves = f"{n} random halves of the rows"
    reason = ""
    if isinstance(model, Forest) and model.estimator is not None:
        model = model.estimator
    if not refit:
        reason = "refit=False"
    elif y is None:
        reason = "no y was passed"
    elif model is not None and not (
        hasattr(model, "fit") and hasattr(model, "get_params")
    ):
        is_saved = isinstance(model, (str, os.PathLike, Forest))
        kind = "saved model" if is_saved else type(model).__name__
        reason = f"a {kind} cannot be trained again"
    if reason:
        return FIXED, (
            f"Rules were fitted again to {halves}; the model stayed the same "
            f"({reason}), so they vary less than with new data."
        )
    if model is not None:
        model = _with_its_rounds(clone(model), model)
    return model, f"Model and rules were fitted again to {halves}."


def _with_its_rounds(copy, model):
    """A copy of boosting with the rounds at which it stopped early.

    To stop again it would need rows that were passed to its `fit`.
    """
    last, fitted = (
        one.steps[-1][1] if hasattr(one, "steps") else one for one in (copy, model)
    )
    best = getattr(fitted, "best_iteration_", None)
    try:
        best = fitted.best_iteration + 1 if best is None else best
    except AttributeError:  # as XGBoost has it
        return copy
    if best and best > 0:
        settings = last.get_params()
        name = "iterations" if "iterations" in settings else "n_estimators"
        last.set_params(**{name: int(best)})
        # CatBoost, which has `tree_count_`, ignores it without such rows.
        if "early_stopping_rounds" in settings and not hasattr(
            type(last), "tree_count_"
        ):
            last.set_params(early_stopping_rounds=None)
    return copy


def _halves(rules, X, y, n, rng):
    """Positions of the rows of n random halves; of each class half."""
    has_labels = y is not None and rules.classes is not None
    labels = rules.outcome.read(y, len(X)) if has_labels else None
    halves = []
    for _ in range(n):
        order = rng.permutation(len(X))
        if labels is not None:
            order = order[np.argsort(labels[order], kind="stable")]
        halves.append(np.sort(order[rng.randint(2) :: 2]))
    return halves


def _signed(points):
    return render.signed(render.round_significant(points, 3))


def _taken(rows, places):
    """Some rows of X, y and weights; None without places."""
    return (
        None if places is None else tuple(take_rows(column, places) for column in rows)
    )


def _fit_again(kind, settings, rules, rows, validation):
    """The rules of a fit to half of the rows."""
    again = kind(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        again.fit(*rows, validation=validation)
    if again.rules_.classes != rules.classes:
        raise ValueError("half of the rows lacks a class; pass more rows")
    return again.rules_


def _measured(rules, done, halves, X):
    """What fits to halves of the rows have in common; see `RuleStability`."""
    matches, compared = rules.covers(X), []
    own = rules._form.members(matches).astype(np.float64)
    is_same = rules.outcome.is_same_prediction
    rates: list[list[float]] = [[] for _ in rules]
    for again, half in zip(done, halves, strict=False):
        others = again._form.members(again.covers(X)).astype(np.float64)
        common = own.T @ others
        either = own.sum(axis=0)[:, None] + others.sum(axis=0) - common
        same = [[is_same(a.prediction, b.prediction) for b in again] for a in rules]
        alike = np.where(same, common / np.maximum(either, 1), 0.0)  # Jaccard's index
        for k, best in enumerate(alike.argmax(axis=1)):
            if alike[k, best] >= SAME_ROWS:
                rates[k].append(_reported(again, rules)[best])
        others = np.setdiff1d(np.arange(len(X)), half)
        compared.append(_compared(rules, again, matches[others], take_rows(X, others)))
    used = [set(one.features) for one in done]
    counts = {name: sum(name in one for one in used) for name in set().union(*used)}
    counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return *np.mean(compared, axis=0).tolist(), tuple(map(tuple, rates)), counts


def _reported(rules, scale):
    """The probability or mean of each rule, or its points on the scale of others."""
    if rules._form.is_sum:
        form = rules._form
        if rules.outcome.n_points == 1:
            form = form.rescaled(scale._form.unit, scale._form.origin, is_whole=False)
        return [rule.points[-1] for rule in form]
    return [rules.outcome.estimate(r).get("estimate", r.prediction) for r in rules]


def _compared(one, two, matches, X):
    """Agreement of the predictions of two rule models, and their correlation."""
    others = two.covers(X)
    pairs = zip(
        one.outcome.reported(one._form, matches).T,
        two.outcome.reported(two._form, others).T,
        strict=True,
    )
    # Two constants are as alike as can be, a constant and others are not.
    correlations = [
        np.corrcoef(a, b)[0, 1]
        if np.ptp(a) and np.ptp(b)
        else float(np.ptp(a) == np.ptp(b))
        for a, b in pairs
    ]
    same = one.outcome.agreement(one._form.predict(matches), two._form.predict(others))
    return same, float(np.mean(correlations))
