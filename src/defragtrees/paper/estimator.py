"""FABRulesClassifier and FABRulesRegressor: the paper's method as published."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils.progress import Progress
from defragtrees._utils.types import Rows, Values
from defragtrees._utils.warnings import warn
from defragtrees.data.store import RowStore
from defragtrees.estimators.base import (
    RuleClassifier,
    RuleRegressor,
    Simplifier,
    warn_of_little_data,
    warn_of_one_value,
)
from defragtrees.estimators.settings import Function, Integer, Real, setting
from defragtrees.paper.fit import SCHEDULES, Settings, Step, fit_mixture
from defragtrees.paper.parameters import Posterior
from defragtrees.paper.rules import component_rules, component_sides, list_components
from defragtrees.rules.conditions import Rule
from defragtrees.search.limits import MOST_RULES, feature_numbers

__all__ = ["FABRulesClassifier", "FABRulesRegressor"]


@dataclass(repr=False, eq=False)
class _FABRules(Simplifier):
    _: KW_ONLY
    max_rules: str | int = setting("auto", "auto", Integer(1))
    features: Any = setting(None)
    target: str = setting("labels", "model", "labels")
    n_restarts: int = setting(20, Integer(1))
    inference: str = setting("fab", "fab", "em")
    e_step: str = setting("original", *SCHEDULES)
    max_iter: int = setting(200, Integer(1))
    tol: float = setting(1e-5, Real(0))
    callback: Callable | None = setting(None, None, Function())

    _needs_numbers = False

    def _check_forest(self, forest):
        super()._check_forest(forest)
        if self.features is None:
            return (None,)
        return (feature_numbers(self.features, forest.feature_names),)

    def _simplify(self, problem, rng, allowed):
        n_rows = problem.store.n_rows
        most = MOST_RULES if self.max_rules == "auto" else int(self.max_rules)
        warn_of_little_data(self.max_rules, n_rows, n_rows)
        self._fit_mixture(problem, rng, most)
        components = range(self.posterior_.n_components)
        boxes = [component_sides(self.posterior_, k, allowed) for k in components]
        rules = list_components(problem, boxes, most)
        self.component_rules_: tuple[Rule, ...] = component_rules(
            problem, self.posterior_, boxes
        )
        if rules.n_rules == 1:
            warn_of_one_value(problem)
        return rules

    def _fit_mixture(self, problem, rng, most):
        """Fit all restarts and keep the one with the smallest training error."""
        center, scale = problem.center, problem.spread or 1.0
        if problem.n_classes:
            center, scale = 0.0, 1.0
        rows = RowStore.of_problem(problem, center, scale)
        settings = Settings(
            inference=self.inference,
            max_iter=int(self.max_iter),
            tol=self.tol,
            schedule=SCHEDULES[self.e_step],
            max_components=most,
            n_restarts=int(self.n_restarts),
            n_jobs=self.n_jobs,
        )
        with Progress("restarts", settings.n_restarts) as progress:

            def watch(step):
                if step.finished and self.verbose:
                    progress.advance()
                return self.callback is not None and self.callback(step)

            order = problem.feature_order
            mixture = fit_mixture(rows, settings, rng, order, watch)
        best = mixture.best
        kept = [step for step in mixture.history if step.restart == best.restart]
        self.posterior_: Posterior = Posterior(
            mixture.layout, best.statistics, problem.grid, center, scale
        )
        self.history_: tuple[Step, ...] = mixture.history
        self.kept_restart_: int = best.restart
        self.n_iter_: int = len(kept)
        # No warning if the callback stopped the fit.
        if not best.converged and kept[-1].finished:
            warn(
                f"The kept restart did not converge in {self.max_iter} iterations. "
                "Increase max_iter or tol.",
                ConvergenceWarning,
            )
        _warn_of_units(self.posterior_, settings, problem)

    def _count_rows(self, store, is_sample):
        super()._count_rows(store, is_sample)
        # Each component is counted separately, and keeps its prediction.
        lists = [replace(self.rules_, rules=(rule,)) for rule in self.component_rules_]
        self.component_rules_ = tuple(rules.rules[0] for rules in store.recount(lists))

    def predict_posterior(self, X: Rows) -> Values:
        """Predict by the paper's two-step MAP: most likely component, then its output.

        It uses all thresholds of the model, not only those of the rules.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from defragtrees.paper import FABRulesClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
        >>> paper = FABRulesClassifier(forest, n_restarts=2, random_state=0).fit(X, y)
        >>> paper.predict_posterior(X[:3]).tolist()
        [0, 0, 0]
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        predict = partial(self.posterior_.predict_encoded, classes=rules.classes)
        return self._answers(X, predict, rules.outcome.dtype)


def _warn_of_units(posterior, settings, problem):
    """Warn if all rows are in one component because of the units of y."""
    weight = posterior.statistics.weight
    is_single = weight.max() > (1 - settings.min_share) * weight.sum()
    could_differ = settings.max_components > 1 and np.ptp(problem.target) > 0
    if not (is_single and could_differ and settings.schedule.draws_all):
        return
    warn(
        "All rows are in one component. Random starts of this e_step need a y with "
        "mean near 0 and standard deviation near 1; its mean is "
        f"{problem.center:.4g} and its standard deviation {problem.spread:.4g}. "
        'Standardise y, or use e_step="gentle".'
    )


@dataclass(repr=False, eq=False)
class FABRulesClassifier(RuleClassifier, _FABRules):
    """Rules from a classification model by the paper's method.

    A mixture is fitted to the splits of the model by factorised asymptotic Bayesian
    (FAB) inference, and its components are read as rules (Hara and Hayashi, 2018).
    `predict_proba` returns the class rates of the target in the rows of a rule.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : "auto" or int, default="auto"
        Maximum number of components and of rules, including the default rule; the
        paper's K_max. "auto" is ten.
    features : sequence of str or int, optional
        Features that rules may use, by name or index; all by default.
    target : {"model", "labels"}, default="labels"
        Fit y ("labels"), as in the paper, or the predictions of the model.
    n_restarts : int, default=20
        Number of restarts. The one with the smallest training error is kept.
    inference : {"fab", "em"}, default="fab"
        "fab" drops components that do not improve the bound; "em" keeps `max_rules`.
    e_step : {"original", "converged", "gentle"}, default="original"
        Number of inner steps of the E-step, on which the number of components depends.
        "original": two in the first five iterations and up to ten later, as in the code
        of the paper's authors. "converged": until convergence, as in the paper, which
        leaves the fewest components. "gentle": one in the first three iterations and up
        to ten later, which leaves the most. "original" and "converged" also draw
        proportions, precisions and responsibilities, and for regression they draw means
        near 0 and standard deviations near 1 in the units of y. If y is far from 0 or
        has a large spread, a single component may remain: standardise y, or use
        "gentle".
    max_iter : int, default=200
        Maximum number of iterations per restart.
    tol : float, default=1e-5
        A restart has converged when its bound rises by less than this, in nats per row.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads for restarts, and for a model that is fitted here. None is
        one.
    callback : callable, optional
        Called with a record of every iteration; returning True stops the fit.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
        The boxes of the components as an ordered list.
    component_rules_ : tuple of Rule
        The boxes of the components, unordered, as in the paper; each has the prediction
        of its component. Several may match a row, or none.
    posterior_ : Posterior
        The components.
    history_ : tuple of Step
        Bound and number of components at every iteration of every restart.
    kept_restart_ : int
        The restart with the smallest training error.
    n_iter_ : int
        Number of iterations of the kept restart.
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.paper import FABRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    >>> paper = FABRulesClassifier(forest, n_restarts=3, random_state=0).fit(X, y)
    >>> paper.rules_.n_rules <= 10
    True
    """


class FABRulesRegressor(RuleRegressor, _FABRules):
    """Rules from a regression model by the paper's method.

    Like FABRulesClassifier, for numbers. Its starts depend on the units of y: see
    `e_step`.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : "auto" or int, default="auto"
        Maximum number of components and of rules, including the default rule; the
        paper's K_max. "auto" is ten.
    features : sequence of str or int, optional
        Features that rules may use, by name or index; all by default.
    target : {"model", "labels"}, default="labels"
        Fit y ("labels"), as in the paper, or the predictions of the model.
    n_restarts : int, default=20
        Number of restarts. The one with the smallest training error is kept.
    inference : {"fab", "em"}, default="fab"
        "fab" drops components that do not improve the bound; "em" keeps `max_rules`.
    e_step : {"original", "converged", "gentle"}, default="original"
        Number of inner steps of the E-step, on which the number of components depends.
        "original": two in the first five iterations and up to ten later, as in the code
        of the paper's authors. "converged": until convergence, as in the paper, which
        leaves the fewest components. "gentle": one in the first three iterations and up
        to ten later, which leaves the most. "original" and "converged" also draw
        proportions, precisions and responsibilities, and for regression they draw means
        near 0 and standard deviations near 1 in the units of y. If y is far from 0 or
        has a large spread, a single component may remain: standardise y, or use
        "gentle".
    max_iter : int, default=200
        Maximum number of iterations per restart.
    tol : float, default=1e-5
        A restart has converged when its bound rises by less than this, in nats per row.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads for restarts, and for a model that is fitted here. None is
        one.
    callback : callable, optional
        Called with a record of every iteration; returning True stops the fit.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
        The boxes of the components as an ordered list.
    component_rules_ : tuple of Rule
        The boxes of the components, unordered, as in the paper; each has the prediction
        of its component. Several may match a row, or none.
    posterior_ : Posterior
        The components.
    history_ : tuple of Step
        Bound and number of components at every iteration of every restart.
    kept_restart_ : int
        The restart with the smallest training error.
    n_iter_ : int
        Number of iterations of the kept restart.
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.paper import FABRulesRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(10, min_samples_leaf=10, random_state=0)
    >>> paper = FABRulesRegressor(forest, n_restarts=3, random_state=0)
    >>> paper.fit(X, (y - y.mean()) / y.std()).rules_.n_rules <= 10
    True
    """
