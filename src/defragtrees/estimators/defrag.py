"""DefragClassifier and DefragRegressor: a search for a few rules that imitate."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from defragtrees._utils.progress import part
from defragtrees.data.devices import ENGINES
from defragtrees.estimators.advice import advise
from defragtrees.estimators.base import (
    RuleClassifier,
    RuleFinder,
    RuleRegressor,
    with_shared,
)
from defragtrees.estimators.problem import Problem
from defragtrees.estimators.settings import (
    Conflict,
    Given,
    Integer,
    Key,
    Real,
    Several,
    setting,
)
from defragtrees.metrics.resampling import RuleStability
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.points import Scoring
from defragtrees.rules.model import RuleModel
from defragtrees.rules.profile import WORTH
from defragtrees.search.choice import (
    CountingRows,
    best_model,
    halves,
    shortest_model,
)
from defragtrees.search.driver import (
    CRITERIA,
    FORMS,
    MOST_ROWS,
    NEW_ROWS,
    SearchSettings,
    count_found,
)
from defragtrees.search.limits import (
    read_limits,
    refuse_without_lists,
    rules_for_rows,
    share_of_rows,
)

__all__ = ["DefragClassifier", "DefragRegressor"]


class DefragResults:
    """What a fit sets."""

    path_: dict[int, RuleModel]
    path_by_conditions_: dict[int, RuleModel]
    path_costs_: dict[int, float]
    stability_: RuleStability
    n_iter_: int


PARAMETERS = """
    Parameters
    ----------
    {ensemble}
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, the default rule or the base included. A number takes
        as many rules up to it as are best on the rows that count. "auto" takes the
        fewest conditions, in at most ten rules, that are as good as the best there, but
        for one standard error of the difference on the same rows.
    form : {"list", "standalone", "points"}, default="list"
        How the rules say it: in order, the first that holds answers; each on its own,
        true of all rows in which it holds; or with points that add up, from a base on,
        to a number or to log-odds.
    points : {"exact", "integer"}, default="exact"
        "integer" makes a scorecard of whole points, which cost as little as they can.
        `unit` and `origin` of `rules_` say what a total of them stands for.
    max_conditions : int or None, default=None
        Most conditions of one rule; each finite side of an interval is one. None is 4
        where points add up.
    min_coverage : float or None, default=None
        Share of the rows that count that each rule must match, the default rule too.
        None is 0.01, unless `min_rows` says how many rows.
    {limits}
    {for_classes}
    brevity : float, default=0.01
        What a reader pays for a condition, in nats a row: one that explains less is
        left out. 0 leaves only what it takes to write it down.
    augment : "auto" or int, default="auto"
        Number of new rows that the search looks at, in place of those given: they are
        drawn near these and labelled by the ensemble, and the rows given only count.
        "auto" is 10,000 up to 100,000 rows, and 0 with more or with `target="labels"`;
        of a black box it is the new rows that it was queried about. With 0 the search
        looks at the rows given.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules imitate: the ensemble's probabilities or numbers, or y.
    {shorten_thresholds}
    engine : {"auto", "numpy", "numba", "cuda"}, default="auto"
        What computes on rows. "auto" takes numba for more than 100,000 rows if it is
        installed; "cuda" is a GPU, by PyTorch, or that of each worker of a Dask
        cluster.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same rules, whatever `n_jobs`. Up to 100,000 rows of an
        ensemble that is fitted already every seed does: the search draws the same
        numbers in every fit.
    n_jobs : int or None, default=None
        Threads for many rows, and for an ensemble that is fitted here. None is one;
        with engine="cuda" many rows are read and counted by all processors.
    verbose : int, default=0
        1 shows a progress bar.
    stability : int, default=0
        If above 1, fit again to half of the rows so many times, and count in how many
        of these fits each rule comes back. The counts are in `stability_`.

    Attributes
    ----------
    rules_ : RuleModel
    path_ : dict from int to RuleModel
        The best list found of every number of rules.
    path_by_conditions_ : dict from int to RuleModel
        The best list found of every total number of conditions, where more of them
        bring more.
    path_costs_ : dict from int to float
        Their description lengths, in nats; with many rows on a sample of them.
    stability_ : RuleStability
        With `stability`: what came back on other rows.
    advice_ : tuple of str
        What the scores do not show, for `summary`: that points would do better, how
        much of the ensemble's lead is left on new rows, or that it has none.
    n_iter_ : int
        Rounds of the search.
    {fitted}
"""

LIMITS = """\
    min_rows : int, optional
        Number of rows that count, by weight, that each rule must match, the default
        rule too; in place of `min_coverage`.
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
        What each mistake costs, 1 if it is not named. An array has a row for each true
        class. The answer is the class that is expected to cost least.
    threshold : float, optional
        Of two classes, the second, or `pos_label`, is answered from this probability
        on; without `class_weight` and `costs`. By default that of the ensemble, if it
        is one with a threshold, else the likeliest class is answered.
    points_to_double : float, optional
        Of two classes and whole points, how many points double the odds of the second;
        20 is usual for credit. By default as few points as say it well.
"""


SEED = 0  # of the search
DECISIONS = {"list": "first", "standalone": "standalone", "points": "points"}


@dataclass(repr=False, eq=False)
class _Defrag(DefragResults, RuleFinder):
    _: KW_ONLY
    max_conditions: int | None = setting(None, None, Integer(1))
    min_coverage: float | None = setting(None, None, Real(0, 1))
    min_rows: int | None = setting(None, None, Real(above=0))
    max_total_conditions: int | None = setting(None, None, Integer(1))
    exclude: Any = None
    must_use: Any = None
    monotone: Any = None
    groups: Any = setting(None, None, Several())
    form: str = setting("list", Key(FORMS))
    points: str = setting("exact", "exact", "integer")
    brevity: float = setting(0.01, Real(0))
    augment: str | int = setting("auto", "auto", Integer(0, 10**7))
    engine: str = setting("auto", Key(ENGINES, "auto"))

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

    def _simplify(self, problem, rng):
        store, limits = problem.store, self._limits
        # A row of weight two is as good as two rows; weights may also add up to one.
        n_rows = max(store.n_rows, round(store.total_weight))
        n_rules = rules_for_rows(limits.max_rules, n_rows)
        self._warn_of_little_data(n_rows, n_rules)
        n_new_rows = self._n_new_rows(problem)
        problem, counting = self._split(problem, n_new_rows)
        if self.min_rows is not None:
            share = share_of_rows(self.min_rows, counting.total_weight)
            limits = replace(limits, min_coverage=share)
        limits = replace(limits, max_rules=n_rules)
        # What falls with a feature must not jump between two whole numbers.
        problem = problem.without_integers(limits.monotone)
        decision = self._decision(problem.classes, store)
        settings = SearchSettings(
            limits,
            brevity=float(self.brevity),
            n_new_rows=n_new_rows,
            criterion=getattr(self, "criterion", "both"),
            decision=decision,
            is_labels=self.target == "labels",
            engine=self.engine,
        )
        free = limits.relaxed()
        rows = self._counting_rows(problem, counting, settings, rng)
        with part(0.0, 0.9 if free is limits else 0.5):
            path = self._path(problem, replace(settings, limits=free), counting, rows)
        rules = self._chosen(path, rows)
        if free is not limits and not path.keeps_to(limits):
            settings = replace(settings, unlimited=path.boxes)
            with part(0.5, 0.9):
                limited = self._path(problem, settings, counting, rows)
            path = path.within(limits, limited)
        if not path.by_rules:
            refuse_without_lists(limits, problem.feature_names, self.most_rules())
        if rules is None or not limits.allows_model(rules):
            rules = self._chosen(path, rows)
        self.n_iter_ = path.n_rounds
        self.path_, self.path_costs_ = path.by_rules, path.costs
        self.path_by_conditions_ = path.by_conditions
        self._warn_of_one_value(problem, rules)
        self.advice_ = advise(problem, settings, path.rows, counting, rules, rows)
        return rules

    def _path(self, problem, settings, counting, rows):
        """Rule models of every size by one search, counted."""
        # The same numbers in every fit: what a search draws should not be what
        # distinguishes two fits to the same rows.
        found = FORMS[self.form](problem, settings, np.random.default_rng(SEED))
        blank, scoring = problem.blank(DECISIONS[self.form]), self._scoring()
        limits, decision = settings.limits, settings.decision
        return count_found(found, blank, counting, limits, decision, scoring, rows)

    def _chosen(self, path, rows):
        """The rule model of a path that is best on the rows, or as good and short.

        None if the search found nothing that keeps to the limits.
        """
        if not path.by_rules:
            return None
        if self.max_rules == "auto":
            models = path.by_conditions or path.by_rules
            return shortest_model([*models.values()], rows)
        return best_model([*path.by_rules.values()], rows)

    def _n_new_rows(self, problem):
        """How many rows to draw for the search; 0 if it looks at the data."""
        if self.augment != "auto":
            return int(self.augment)
        if problem.is_sample or self.target == "labels":
            return 0
        asked = problem.forest.new_rows
        return NEW_ROWS if asked is None else len(asked)

    def _split(self, problem, n_new_rows):
        """The problem, with rows that the search may look at, and rows that count."""
        store = problem.store
        if problem.counting is not None:
            return problem, problem.counting
        if n_new_rows:
            return problem, replace(store, source="training")
        if self.target != "labels" or problem.is_sample:
            return problem, store
        searched, counts = halves(
            problem.binned.codes,
            problem.feature_order,
            problem.target,
            problem.sample_weight,
        )
        if not counts.any() or not searched.any():
            return problem, store
        counting = replace(store.take(problem.places[counts]), source="held out")
        return replace(problem, searched=searched), counting

    def _counting_rows(self, problem, counting, settings, rng):
        """The rows that count, to choose a length by."""
        if counting.shards is not problem.store.shards:
            problem = Problem.of_store(
                counting, problem.forest, MOST_ROWS, rng, problem.shorten, problem.words
            )
        outcome, probabilities = problem.outcome, problem.probabilities
        if problem.labels is not None:
            outputs = outcome.indicators(problem.labels)
        elif probabilities is not None:
            outputs = probabilities.astype(np.float64)
        else:
            outputs = outcome.indicators(problem.target)
        decision = settings.decision if settings.criterion == "error" else None
        return CountingRows(problem, outputs, WORTH[counting.source], decision)

    def _check_forest(self, forest):
        super()._check_forest(forest)
        self._limits = read_limits(self, forest)

    def _count_rows(self, store, is_sample):
        """Rules of a search are counted as they are made."""

    def _decision(self, labels, store=None):
        """From probabilities to a class; numbers need none."""
        return None

    def _scoring(self):
        """How points are to be written."""
        return Scoring(self.points == "integer")


@dataclass(repr=False, eq=False)
class DefragClassifier(RuleClassifier, _Defrag):
    __doc__ = f"""A few rules that say nearly what a classification ensemble says.

    `predict_proba` tells the class rates of y among the training rows that a rule
    answers, shrunk towards those of all; without y, the ensemble's mean
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
    )

    def _check_forest(self, forest):
        super()._check_forest(forest)
        self._decision(forest.classes)
        if self.points_to_double is not None and not forest.outcome.is_binary:
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
