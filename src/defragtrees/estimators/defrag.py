"""DefragClassifier and DefragRegressor: a search for a few rules that imitate."""

import os
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils.types import Column, Rows, Values
from defragtrees._utils.warnings import warn
from defragtrees.ensembles.forest import Forest
from defragtrees.estimators.base import (
    RuleClassifier,
    RuleRegressor,
    Simplifier,
    with_shared,
)
from defragtrees.estimators.inputs import one_seed
from defragtrees.estimators.settings import (
    FLAG,
    Conflict,
    Function,
    Given,
    Integer,
    Key,
    Real,
    Several,
    setting,
)
from defragtrees.metrics.resampling import RuleStability, rule_stability
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.points import Scoring
from defragtrees.paper.components import listed_components
from defragtrees.paper.engines import ENGINES
from defragtrees.paper.listing import component_rules
from defragtrees.paper.loop import Step
from defragtrees.paper.paper import fit_paper
from defragtrees.paper.posterior import Posterior
from defragtrees.paper.schedules import SCHEDULES
from defragtrees.paper.starts import STARTS
from defragtrees.rules.conditions import Rule
from defragtrees.rules.model import RuleSet
from defragtrees.search.driver import (
    CRITERIA,
    FORMS,
    SearchSettings,
    count_found,
    nearest,
)
from defragtrees.search.limits import (
    MOST_RULES,
    read_limits,
    refuse_without_lists,
    rules_for_rows,
    share_of_rows,
)

__all__ = ["DefragClassifier", "DefragRegressor"]


class DefragResults:
    """What a fit sets; which of it, its settings say."""

    path_: dict[int, RuleSet]
    path_by_conditions_: dict[int, RuleSet]
    path_costs_: dict[int, float]
    component_rules_: tuple[Rule, ...]
    stability_: RuleStability
    n_iter_: int
    posterior_: Posterior
    history_: tuple[Step, ...]
    kept_restart_: int


PARAMETERS = """
    Parameters
    ----------
    {ensemble}
    max_rules : "auto" or int, default="auto"
        Most rules, the last "otherwise" or the base included. "auto" takes the list
        with the fewest conditions, of at most ten rules, that is within one standard
        error of the best on rows that the search did not see; a number, and "auto" in
        another form than a list, takes as many rules as pay for themselves.
    form : {"list", "standalone", "points"}, default="list"
        How the rules say it: in order, the first that holds answers; each on its own,
        true of all rows in which it holds; or with points that add up, from a base on,
        to a number or to log-odds.
    points : {"exact", "integer"}, default="exact"
        "integer" makes a scorecard of whole points, which cost as little as they can;
        `unit` and `origin` of `rules_` say what a total of them stands for.
    max_conditions : int or None, default=None
        Most conditions of one rule; each finite side of an interval is one. None is 4
        where points add up.
    min_coverage : float or None, default=None
        Share of the training rows that each rule must answer, the "otherwise" too. None
        is 0.01, unless `min_rows` says how many rows.
    {limits}
    {for_classes}
    brevity : float, default=0.01
        What a reader pays for a condition, in nats a row: one that explains less is
        left out. 0 leaves only what it takes to write it down.
    augment : "auto" or int, default="auto"
        How many rows to draw near the data and to label with the ensemble, beside the
        training rows. "auto" draws none. Around a boosted ensemble that fits its
        training rows very closely, three times as many as there are rows can help.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules imitate: the ensemble's probabilities or numbers, or y.
    refine : bool, default=True
        Search for the short list that says most of this. Without it the paper's
        mixture is fitted and its components' own boxes are listed; the settings from
        `n_restarts` to `screening` are for that.
    n_restarts : int, default=20
        How often to start anew; the restart with the smallest training error is kept.
    inference : {"fab", "em"}, default="fab"
        "fab" drops components that do not pay for themselves; "em" keeps `max_rules`,
        ten by default.
    statement_weight : "paper" or float, default=3.0
        How much the thresholds of one feature count together, at most. "paper" counts
        each one once; then thousands of near copies leave the target without a say.
    init : {"seeded", "random"}, default="seeded"
        Start from rows of the data, or from random probabilities as in the paper.
    e_step : {"gentle", "original", "converged"}, default="gentle"
        How many inner steps the E-step takes, which decides how many components are
        left: one in the first three iterations and up to ten later ("gentle", which
        leaves most); two in the first five and up to ten later, as the code of the
        paper's authors ("original"); or until convergence, as the paper says
        ("converged", which leaves fewest). With `init="random"` the last two draw
        proportions, precisions and responsibilities too, and of numbers they start as
        that code does: means near 0 and standard deviations of 1 or a few, in the units
        of y. So the units decide how many components are left, and of a y that is far
        from 0 or spreads widely perhaps one; standardise y, or use any other setting of
        these two, where units have no say.
    max_iter : int, default=200
        Most iterations of one restart.
    tol : float, default=1e-5
        A restart has converged when its bound rises by less, in nats per row.
    screening : "auto" or bool, default="auto"
        With many rows, fit all restarts to a sample of them first and give up those
        with the largest errors; False fits every restart to all rows.
    {shorten_thresholds}
    engine : {"auto", "numpy", "numba", "cuda"}, default="auto"
        What computes on rows. "auto" takes numba for more than 100,000 rows if it is
        installed; "cuda" is a GPU, by PyTorch, or that of each worker of a Dask
        cluster.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same rules, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads for many rows, for restarts, and for an ensemble that is fitted here.
        None is one; with engine="cuda" many rows are read and counted by all
        processors.
    callback : callable, optional
        Without refine, called with a record of every iteration; returning True stops
        the fit.
    verbose : int, default=0
        1 shows a progress bar.
    stability : int, default=0
        If above 1, fit again to half of the rows so many times, and tell in
        `stability_` in how many of these fits each rule came back.

    Attributes
    ----------
    rules_ : RuleSet
    path_ : dict from int to RuleSet
        With refine, the best list found of every number of rules.
    path_by_conditions_ : dict from int to RuleSet
        With refine, the best list found of every total number of conditions, where
        more of them bring more.
    path_costs_ : dict from int to float
        Their description lengths, in nats; with many rows on a sample of them.
    component_rules_ : tuple of Rule
        Without refine, the components' boxes in no order, as the paper prints them;
        each has its component's answer. Several may hold in a row, or none.
    stability_ : RuleStability
        With `stability`: what came back on other rows.
    n_iter_ : int
        Rounds of the search; without refine, iterations of the kept restart.
    posterior_, history_, kept_restart_
        Without refine: the mixture; bound and number of components at every iteration
        of every restart; and which restart has the smallest training error.
    {fitted}
"""

LIMITS = """\
    min_rows : int, optional
        Number of training rows, by weight, that each rule must answer, the "otherwise"
        too; in place of `min_coverage`.
    max_total_conditions : int, optional
        Most conditions of all rules together.
    features : sequence of str or int, optional
        Features that rules may use, by name or by number; all by default.
    exclude : sequence of str or int, optional
        Features that rules may not use.
    must_use : sequence of str or int, optional
        Features that some rule must ask about.
    monotone : dict from str or int to {-1, 1}, optional
        Features with which answers, numbers or the probability of the second of two
        classes, may only fall (-1) or only rise (1) while all others stay.
    groups : dict from str to features, or sequence of features, optional
        A rule asks about features of one group only; features in no group may stand in
        any rule. The name of a group can be used for its features in `features` and
        `exclude`, and for any of them in `must_use`.
"""

FOR_CLASSES = """\
    criterion : {"both", "probability", "error"}, default="both"
        What rules for classes are for: to tell how likely each class is
        ("probability"), to decide for one ("error"), or both. Points are always
        fitted to probabilities, from which the class follows.
    class_weight : None, "balanced" or dict from class to float, default=None
        What a mistake in each class costs; "balanced" makes rare classes as important
        as frequent ones. The search and the answers follow it, probabilities do not.
        With `costs`, both are multiplied.
    costs : dict from (true class, answered class) to float, or array, optional
        What each mistake costs, 1 if a dict does not name it; an array has a row for
        each true class. The answer is the class that is expected to cost least.
    threshold : float, optional
        Of two classes, the second, or `pos_label`, is answered from this probability
        on; without `class_weight` and `costs`. By default that of the ensemble, if it
        is one with a threshold, else the likeliest class is answered.
    points_to_double : float, optional
        Of two classes and whole points, how many points double the odds of the second;
        20 is usual for credit. By default as few points as say it well.
"""


def check_in_memory(X):
    """Refuse rows of which no half can be taken."""
    if isinstance(X, (str, os.PathLike)) or not hasattr(X, "__len__"):
        raise TypeError(
            "stability needs all rows in memory, to fit to half of them; got "
            f"{type(X).__name__}. Pass a table, or leave stability out."
        )


def stability_of(estimator, X, y=None, sample_weight=None):
    """The RuleStability of a fitted estimator, on the rows that it was fitted to.

    Parameters
    ----------
    estimator : Simplifier
        Its `stability` is the number of fits.
    X, y, sample_weight : as for `fit`
    """
    settings = estimator.get_params(deep=False) | {"ensemble": estimator.forest_}
    again = type(estimator)(**settings)
    again.rules_ = estimator.rules_
    return rule_stability(
        again,
        X,
        y,
        sample_weight,
        n_resamples=int(estimator.stability),
        random_state=one_seed(estimator.random_state),
    )


# A side may leave this share of its component's weight outside; tried in this order,
# and the one whose rules err least on the training rows is taken.
TOLERANCES = (1e-6, 1e-3, 0.01, 0.03, 0.1)

MADE_BY_FIT = (
    "path_",
    "path_by_conditions_",
    "path_costs_",
    "component_rules_",
    "posterior_",
    "history_",
    "kept_restart_",
    "n_iter_",
    "stability_",
)


DECISIONS = {"list": "first", "standalone": "standalone", "points": "points"}


@dataclass(repr=False, eq=False)
class _Defrag(DefragResults, Simplifier):
    _: KW_ONLY
    max_rules: str | int = setting("auto", "auto", Integer(1))
    max_conditions: int | None = setting(None, None, Integer(1))
    min_coverage: float | None = setting(None, None, Real(0, 1))
    min_rows: int | None = setting(None, None, Real(above=0))
    max_total_conditions: int | None = setting(None, None, Integer(1))
    features: Any = None
    exclude: Any = None
    must_use: Any = None
    monotone: Any = None
    groups: Any = setting(None, None, Several())
    form: str = setting("list", Key(FORMS))
    points: str = setting("exact", "exact", "integer")
    brevity: float = setting(0.01, Real(0))
    augment: str | int = setting("auto", "auto", Integer(0, 10**7))
    refine: bool = setting(True, *FLAG)
    n_restarts: int = setting(20, Integer(1))
    inference: str = setting("fab", "fab", "em")
    statement_weight: str | float = setting(3.0, "paper", Real(above=0))
    init: str = setting("seeded", Key(STARTS))
    e_step: str = setting("gentle", Key(SCHEDULES))
    max_iter: int = setting(200, Integer(1))
    tol: float = setting(1e-5, Real(0))
    screening: str | bool = setting("auto", "auto", *FLAG)
    engine: str = setting("auto", Key(ENGINES, "auto"))
    callback: Callable | None = setting(None, None, Function())
    verbose: int = setting(0, *FLAG, Integer(0))
    stability: int = setting(0, 0, Integer(2))

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            "min_rows says what min_coverage says, in rows; got both. Leave one out.",
            min_rows=Given(),
            min_coverage=Real(above=0),
        ),
        *(
            Conflict(
                f"{name} needs two rules at least; got max_rules=1. Allow more rules.",
                max_rules=Integer(1, 1),
                **{name: Given()},
            )
            for name in (
                "min_rows",
                "max_total_conditions",
                "must_use",
                "monotone",
                "groups",
            )
        ),
        *(
            Conflict(
                f"{name} needs refine=True; got refine=False.",
                refine=False,
                **{name: Given()},
            )
            for name in (
                "max_conditions",
                "min_rows",
                "exclude",
                "groups",
                "max_total_conditions",
                "must_use",
                "monotone",
            )
        ),
        Conflict(
            "monotone needs form='list' or 'points'; got form='standalone'.",
            form="standalone",
            monotone=Given(),
        ),
        Conflict(
            "augment needs target='ensemble': nobody knows y for new rows.",
            augment=Integer(1),
            target="labels",
        ),
        Conflict(
            "augment needs refine=True; got refine=False.",
            augment=Integer(1),
            refine=False,
        ),
        *(
            Conflict(
                "form needs refine=True, as the paper's rules are listed in order; got "
                "refine=False.",
                form=form,
                refine=False,
            )
            for form in FORMS
            if form != "list"
        ),
        *(
            Conflict(
                f"points='integer' needs form='points'; got form={form!r}.",
                points="integer",
                form=form,
            )
            for form in FORMS
            if form != "points"
        ),
    )
    _needs_numbers = False

    def fit_forest(
        self,
        forest: Forest | None,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
    ) -> Self:
        """`fit` for a caller who has read the ensemble already; see Simplifier."""
        if self.stability:
            check_in_memory(X)
        super().fit_forest(forest, X, y, sample_weight)
        if self.stability:
            self.stability_ = stability_of(self, X, y, sample_weight)
        return self

    def most_rules(self) -> int:
        """Maximum number of rules, or of components of the mixture."""
        return MOST_RULES if self.max_rules == "auto" else int(self.max_rules)

    def _simplify(self, problem, rng):
        for name in MADE_BY_FIT:
            self.__dict__.pop(name, None)
        self._warn_of_little_data(problem)
        if self.refine:
            return self._searched(problem, rng)
        fitted = fit_paper(self, problem, rng)
        self.posterior_, self.history_ = fitted.posterior, fitted.history
        self.kept_restart_, self.n_iter_ = fitted.restart, fitted.n_iter
        # The paper's rule is the zero-one pattern itself.
        is_paper = self.statement_weight == "paper"
        tolerances = TOLERANCES[:1] if is_paper else TOLERANCES
        rules, boxes = listed_components(
            problem,
            self.posterior_,
            self._limits.features,
            self.most_rules(),
            tolerances,
        )
        self.component_rules_ = component_rules(problem, self.posterior_, boxes)
        self._warn_of_one_value(problem, rules)
        return rules

    def _searched(self, problem, rng):
        """The rules of a search, counted over all rows."""
        store, limits = problem.store, self._limits
        if self.min_rows is not None:
            share = share_of_rows(self.min_rows, store.total_weight)
            limits = replace(limits, min_coverage=share)
        n_rules = rules_for_rows(limits.max_rules, store.n_rows)
        limits = replace(limits, max_rules=n_rules)
        # What falls with a feature must not jump between two whole numbers.
        problem = problem.without_integers(limits.monotone)
        decision = self._decision(problem.classes, store)
        settings = SearchSettings(
            limits,
            brevity=float(self.brevity),
            n_new_rows=0 if self.augment == "auto" else int(self.augment),
            criterion=getattr(self, "criterion", "both"),
            decision=decision,
            is_labels=self.target == "labels",
            engine=self.engine,
        )
        found = FORMS[self.form](problem, settings, rng)
        blank = problem.blank(DECISIONS[self.form])
        path, costs, by_conditions = count_found(
            found, blank, store, limits, decision, self._scoring()
        )
        if not path:
            refuse_without_lists(limits, problem.feature_names, self.most_rules())
        self.n_iter_ = found.n_rounds
        self.path_, self.path_costs_ = path, costs
        self.path_by_conditions_ = by_conditions
        self._enough_conditions = found.enough
        if self.max_rules == "auto" and found.enough is not None and by_conditions:
            rules = by_conditions[nearest(by_conditions, found.enough)]
        else:
            rules = path[min(costs, key=lambda n: (costs[n], n))]
        self._warn_of_one_value(problem, rules)
        return rules

    def _check_forest(self, forest):
        super()._check_forest(forest)
        self._limits = read_limits(self, forest)

    def _decision(self, labels, store=None):
        """From probabilities to a class; numbers need none."""
        return None

    def _scoring(self):
        """How points are to be written."""
        return Scoring(self.points == "integer")

    def _warn_of_little_data(self, problem):
        n_rows = problem.store.n_rows
        if self.max_rules != "auto" and n_rows < self.max_rules:
            most = (
                rules_for_rows(int(self.max_rules), n_rows) if self.refine else n_rows
            )
            warn(
                f"max_rules={self.max_rules} is more than the {n_rows} rows of X; at "
                f"most {most} rules can be found.",
            )

    def _warn_of_one_value(self, problem, rules):
        # Probabilities may differ where the likeliest class is the same everywhere.
        if rules.n_rules == 1 and problem.store.has_one_value():
            warn(
                "The target has one value only, so the answer is one rule.",
            )

    def predict_posterior(self, X: Rows) -> Values:
        """Answers of the paper's two-step MAP: likeliest component, then its answer.

        It uses all thresholds of the ensemble, not only those that the rules print.

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
        >>> from defragtrees import simplify
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
        >>> mixture = simplify(forest, X, y, refine=False, n_restarts=2, random_state=0)
        >>> mixture.predict_posterior(X[:3]).tolist()
        [0, 0, 0]
        """
        check_is_fitted(self, "rules_")
        if not hasattr(self, "posterior_"):
            raise AttributeError(
                "predict_posterior needs the paper's mixture, which a default fit does "
                "without. Ask for it at fit: refine=False, or simplify(..., "
                'method="paper").'
            )
        rules = self.rules_
        predict = partial(self.posterior_.predict_encoded, classes=rules.classes)
        return self._answers(X, predict, rules.outcome.dtype)

    def _count_rows(self, store, is_sample):
        if self.refine:
            return  # done as they were found
        super()._count_rows(store, is_sample)
        # Components are asked one by one, and answer for themselves.
        lists = [replace(self.rules_, rules=(rule,)) for rule in self.component_rules_]
        counted = store.recount(lists)
        self.component_rules_ = tuple(rules.rules[0] for rules in counted)


@dataclass(repr=False, eq=False)
class DefragClassifier(RuleClassifier, _Defrag):
    __doc__ = f"""A few rules that say nearly what a classification ensemble says.

    `predict_proba` tells the class rates of y among the training rows that a rule
    answers, as if 3.84 more rows had the rates of all; without y, the ensemble's mean
    probabilities. The class follows from them: it is the likeliest one, or decided by
    `class_weight`, `costs` or `threshold`, which `rules_` keeps.
{with_shared(PARAMETERS, for_classes=FOR_CLASSES, limits=LIMITS)}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import DefragClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = DefragClassifier(forest, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules < 10
    True
    """

    _: KW_ONLY
    criterion: str = setting("both", *CRITERIA)
    class_weight: Any = None
    costs: Any = None
    threshold: float | None = setting(None, None, Real(above=0, below=1))
    points_to_double: float | None = setting(None, None, Real(above=0))

    conflicts = (
        *_Defrag.conflicts,
        Conflict(
            "points_to_double needs points='integer'; got points='exact'.",
            points_to_double=Real(above=0),
            points="exact",
        ),
        Conflict(
            "criterion='error' needs form='list' or 'standalone', as points are fitted "
            "to probabilities; got form='points'.",
            criterion="error",
            form="points",
        ),
        *(
            Conflict(
                f"{name} needs refine=True, as the paper's mixture knows none; got "
                "refine=False.",
                refine=False,
                **{name: given},
            )
            for name, given in (
                *(("criterion", value) for value in CRITERIA[1:]),
                ("class_weight", Given()),
                ("costs", Given()),
                ("threshold", Given()),
            )
        ),
    )

    def _check_forest(self, forest):
        super()._check_forest(forest)
        self._decision(forest.classes)
        if self.points_to_double is not None and len(forest.classes) != 2:
            raise ValueError(
                "points_to_double needs two classes, of which the second has odds; "
                f"there are {len(forest.classes)}. Leave it out."
            )

    def _decision(self, labels, store=None):
        """From probabilities to a class; without rows only to check the settings."""
        rates = np.ones(len(labels)) if store is None else store.class_rates()
        threshold = self.threshold
        if threshold is None and self.class_weight is None and self.costs is None:
            threshold = self.forest_.threshold
        elif threshold is not None and self.pos_label == labels[0]:
            # Of the second, which is answered where the first is too unlikely.
            threshold = float(np.nextafter(1.0 - threshold, 1.0))
        return make_decision(
            labels,
            rates,
            class_weight=self.class_weight,
            costs=self.costs,
            threshold=threshold,
        )

    def _scoring(self):
        doubling = self.points_to_double
        return Scoring(
            self.points == "integer", None if doubling is None else float(doubling)
        )


class DefragRegressor(RuleRegressor, _Defrag):
    __doc__ = f"""A few rules that say nearly what a regression ensemble says.
{with_shared(PARAMETERS, for_classes="", limits=LIMITS)}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees import DefragRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = DefragRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules <= 5
    True
    """
