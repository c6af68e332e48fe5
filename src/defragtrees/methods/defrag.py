"""The paper's method: fit the mixture to the ensemble's statements, read off rules."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from defragtrees._types import Column, Rows, Values
from defragtrees.forest import Forest
from defragtrees.methods.components import listed_components
from defragtrees.methods.counting import PathCounter, nearest
from defragtrees.methods.defrag_settings import (
    FOR_CLASSES,
    PARAMETERS,
    DefragResults,
)
from defragtrees.methods.docstrings import with_shared
from defragtrees.methods.forms import FORMS
from defragtrees.methods.limits import (
    LIMITS,
    Limiting,
    limit_conflicts,
    refuse_without_lists,
)
from defragtrees.methods.listing import component_rules
from defragtrees.methods.mixins import RuleClassifier, RuleRegressor
from defragtrees.methods.paper import fit_paper
from defragtrees.methods.refining import CRITERIA, Refinement
from defragtrees.methods.refitting import check_in_memory, stability_of
from defragtrees.methods.settings import (
    FLAG,
    Conflict,
    Function,
    Given,
    Integer,
    Key,
    Real,
    setting,
)
from defragtrees.mixture.engines import ENGINES
from defragtrees.mixture.schedules import SCHEDULES
from defragtrees.mixture.starts import STARTS
from defragtrees.outcome.decision import make_decision
from defragtrees.refine.rulelist import rules_for_rows
from defragtrees.scorecards import Scoring

__all__ = ["DefragClassifier", "DefragRegressor"]

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


@dataclass(repr=False, eq=False)
class _Defrag(DefragResults, Limiting):
    _: KW_ONLY
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
        *Limiting.conflicts,
        *limit_conflicts(),
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

    def _simplify(self, problem, rng):
        limits = self.rule_limits(self.forest_, problem.store.total_weight)
        features = limits.features
        for name in MADE_BY_FIT:
            self.__dict__.pop(name, None)
        self._warn_of_little_data(problem)
        if self.refine:
            # What falls with a feature must not jump between two whole numbers.
            problem = problem.without_integers(limits.monotone)
            settings = self._refinement(problem, limits)
            refined = FORMS[self.form](problem, settings, rng)
            if not refined.lists:
                refuse_without_lists(limits, problem.feature_names, self.most_rules())
            self.n_iter_ = refined.n_rounds
            self.path_, self.path_costs_ = refined.lists, refined.costs
            self.path_by_conditions_ = refined.by_conditions
            self._enough_conditions = refined.chosen
            rules = self._chosen()
            self._warn_of_one_value(problem, rules)
            return rules
        fitted = fit_paper(self, problem, rng)
        self.posterior_, self.history_ = fitted.posterior, fitted.history
        self.kept_restart_, self.n_iter_ = fitted.restart, fitted.n_iter
        # The paper's rule is the zero-one pattern itself.
        is_paper = self.statement_weight == "paper"
        tolerances = TOLERANCES[:1] if is_paper else TOLERANCES
        rules, boxes = listed_components(
            problem, self.posterior_, features, self.most_rules(), tolerances
        )
        self.component_rules_ = component_rules(problem, self.posterior_, boxes)
        self._warn_of_one_value(problem, rules)
        return rules

    def _check_forest(self, forest):
        super()._check_forest(forest)
        self.rule_limits(forest)

    def _decision(self, labels, store=None):
        """From probabilities to a class; numbers need none."""
        return None

    def _scoring(self):
        """How points are to be written."""
        return Scoring(self.points == "integer")

    def _chosen(self):
        """Of the lists the one to use."""
        enough, lists = self._enough_conditions, self.path_by_conditions_
        if self.max_rules == "auto" and enough is not None and lists:
            return lists[nearest(lists, enough)]
        costs = self.path_costs_
        return self.path_[min(costs, key=lambda n: (costs[n], n))]

    def _refinement(self, problem, limits):
        n_new = self.augment
        return Refinement(
            max_rules=rules_for_rows(self.most_rules(), problem.store.n_rows),
            max_conditions=limits.max_conditions,
            min_coverage=limits.min_coverage,
            brevity=float(self.brevity),
            features=limits.features,
            asked=limits,
            n_new_rows=0 if n_new == "auto" else int(n_new),
            decision=self._decision(problem.classes, problem.store),
            is_labels=self.target == "labels",
            engine=self.engine,
        )

    def _warn_of_little_data(self, problem):
        n_rows = problem.store.n_rows
        if self.max_rules != "auto" and n_rows < self.max_rules:
            warnings.warn(
                f"max_rules={self.max_rules} is more than the {n_rows} rows of X; at "
                f"most {n_rows} rules can be found.",
                UserWarning,
                stacklevel=6,
            )

    def _warn_of_one_value(self, problem, rules):
        # Probabilities may differ where the likeliest class is the same everywhere.
        if rules.n_rules == 1 and problem.store.has_one_value():
            warnings.warn(
                "The target has one value only, so the answer is one rule.",
                UserWarning,
                stacklevel=6,
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
            limits = self.rule_limits(self.forest_, store.total_weight)
            decision = self._decision(self.rules_.classes, store)
            keep = PathCounter(store, decision, limits, self._scoring())
            self.path_, self.path_costs_ = keep.by_rules(
                self.path_, self.path_costs_, self.most_rules()
            )
            self.path_by_conditions_ = keep.by_conditions(self.path_by_conditions_)
            self.rules_ = self._chosen()
            return
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

    def _refinement(self, problem, limits):
        settings = super()._refinement(problem, limits)
        return replace(settings, criterion=self.criterion)


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
