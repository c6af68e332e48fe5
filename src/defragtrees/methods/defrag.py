"""The paper's method: fit the mixture to the ensemble's statements, read off rules."""

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from defragtrees.methods.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.methods.components import (
    listed_components,
    ranking,
    standardisation,
)
from defragtrees.methods.docstrings import with_shared
from defragtrees.methods.listing import component_rules
from defragtrees.methods.refining import Refinement, refine
from defragtrees.methods.settings import (
    FLAG,
    Conflict,
    Integer,
    Key,
    Real,
    feature_numbers,
    setting,
)
from defragtrees.mixture.engines import ENGINES, check_engine
from defragtrees.mixture.fit import MixtureSettings, fit_mixture, n_fits
from defragtrees.mixture.loop import Settings
from defragtrees.mixture.posterior import Posterior
from defragtrees.mixture.starts import STARTS
from defragtrees.progress import Progress
from defragtrees.refine.search import Limits
from defragtrees.rows.store import RowStore

__all__ = ["DefragClassifier", "DefragRegressor"]

# A side may leave this share of its component's weight outside; tried in this order,
# and the one whose rules err least on the training rows is taken.
TOLERANCES = (1e-6, 1e-3, 0.01, 0.03, 0.1)

MIXTURE_ROWS = 50_000  # with refine and more rows, the mixture sees a sample of them

PARAMETERS = with_shared("""
    Parameters
    ----------
    {ensemble}
    max_rules : int, default=10
        Most rules, the last "otherwise" included. The number of rules found rises with
        this limit on data with many features, so it is worth trying a smaller one.
    n_restarts : int, default=20
        How often to start anew; the restart with the smallest training error is kept.
    inference : {"fab", "em"}, default="fab"
        "fab" drops components that do not pay for themselves; "em" keeps `max_rules`.
    refine : bool, default=True
        Turn the components into a short list of short rules that is the model: the
        one with the smallest description length that the search finds. Without it the
        components' own boxes are listed, as in the paper.
    max_conditions : int or None, default=None
        Most conditions of one rule; each finite side of an interval is one.
    features : sequence of str or int, optional
        Features that rules may use, by name or by number; all by default. The mixture
        still sees all of them.
    augment : "auto" or int, default="auto"
        How many rows to draw near the data and to label with the ensemble, beside the
        training rows, for refine. "auto" draws some for classes where rows are few.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules imitate: the ensemble's answers, or y.
    statement_weight : "paper" or float, default=3.0
        How much the thresholds of one feature count together, at most. "paper" counts
        each one once; then thousands of near copies leave the target without a say.
    init : {"seeded", "random"}, default="seeded"
        Start from rows of the data, or from random probabilities as in the paper.
    {shorten_thresholds}
    max_iter : int, default=200
        Most iterations of one restart.
    tol : float, default=1e-5
        A restart has converged when its bound rises by less, in nats per row.
    screening : "auto" or bool, default="auto"
        With many rows, fit all restarts to a sample of them first and give up those
        with the largest errors; False fits every restart to all rows. "auto" stops at
        the sample where refine follows, which looks at other rows anyway.
    engine : {"auto", "numpy", "numba", "cuda"}, default="auto"
        What computes on rows. "auto" takes numba for more than 100,000 rows if it is
        installed; "cuda" is a GPU, by PyTorch.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same rules, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads for restarts, and for an ensemble that is fitted here.
    callback : callable, optional
        Called with a record of every iteration; returning True stops the fit.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleSet
    path_ : dict from int to RuleSet
        With refine, the best list found of every number of rules.
    path_costs_ : dict from int to float
        Their description lengths, in nats; with many rows on a sample of them.
    component_rules_ : tuple of Rule
        Without refine, the components' boxes in no order, as the paper prints them;
        each has its component's answer. Several may hold in a row, or none.
    history_ : tuple of Step
        Bound and number of components at every iteration of every restart.
    kept_restart_ : int
        Which restart has the smallest training error.
    n_iter_ : int
        Its iterations.
    {fitted}
""")


@dataclass(repr=False, eq=False)
class _Defrag(Simplifier):
    _: KW_ONLY
    max_rules: int = setting(10, Integer(1))
    n_restarts: int = setting(20, Integer(1))
    inference: str = setting("fab", "fab", "em")
    refine: bool = setting(True, *FLAG)
    max_conditions: int | None = setting(None, None, Integer(1))
    features: Any = None
    augment: str | int = setting("auto", "auto", Integer(0))
    statement_weight: str | float = setting(3.0, "paper", Real(above=0))
    init: str = setting("seeded", Key(STARTS))
    max_iter: int = setting(200, Integer(1))
    tol: float = setting(1e-5, Real(0))
    screening: str | bool = setting("auto", "auto", *FLAG)
    engine: str = setting("auto", Key(ENGINES, "auto"))
    callback: Callable | None = None
    verbose: int = 0

    conflicts = (
        Conflict(
            "max_conditions needs refine=True; got refine=False.",
            max_conditions=Integer(1),
            refine=False,
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
    )
    _needs_numbers = False

    def _simplify(self, problem, rng):
        settings = self._refinement(problem)
        for name in ("path_", "path_costs_", "component_rules_"):
            self.__dict__.pop(name, None)
        posteriors = self._fit_posteriors(problem, rng)
        self.posterior_ = posteriors[0]
        if not self.refine:
            # The paper's rule is the zero-one pattern itself.
            is_paper = self.statement_weight == "paper"
            tolerances = TOLERANCES[:1] if is_paper else TOLERANCES
            rules, boxes = listed_components(
                problem, self.posterior_, settings, tolerances
            )
            self.component_rules_ = component_rules(problem, self.posterior_, boxes)
            return rules
        lists, costs = refine(problem, posteriors, settings, rng)
        self.path_ = {n: lists[n] for n in sorted(lists)}
        self.path_costs_ = {n: costs[n] for n in sorted(costs)}
        return lists[min(costs, key=lambda n: (costs[n], n))]

    def _check_forest(self, forest):
        super()._check_forest(forest)
        feature_numbers(self.features, forest.feature_names)
        check_engine(self.engine)

    def _refinement(self, problem):
        limits = Limits(
            int(self.max_rules),
            None if self.max_conditions is None else int(self.max_conditions),
        )
        return Refinement(
            limits,
            feature_numbers(self.features, problem.feature_names),
            self.augment,
            self.target == "labels",
        )

    def _fit_posteriors(self, problem, rng):
        """The restarts of the mixture, best first."""
        self._warn_of_little_data(problem)
        center, scale = standardisation(problem)
        rows = self._mixture_rows(problem, center, scale, rng)
        # Where the search follows, restarts are its starts only: a sample is enough.
        is_enough = self.refine and self.screening == "auto"
        store = problem.store if problem.is_sample and not is_enough else None
        settings = self._mixture_settings()
        n_all = n_fits((store or rows).n_rows, settings)
        with Progress("restarts", n_all) as progress:
            mixture = fit_mixture(
                rows,
                settings,
                rng,
                problem.feature_order,
                self._watcher(progress),
                store,
            )
        posteriors = [
            Posterior(mixture.layout, fitted.statistics, problem.grid, center, scale)
            for fitted in mixture.fitted
        ]
        order = ranking(posteriors, mixture.fitted, problem, mixture.losses)
        best = mixture.fitted[order[0]]
        kept = [step for step in mixture.history if step.restart == best.restart]
        # A fit that the callback stopped is as the user wants it.
        if not best.converged and kept[-1].finished:
            warnings.warn(
                f"The kept restart did not converge in {self.max_iter} iterations; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.history_ = mixture.history
        self.n_iter_ = len(kept)
        self.kept_restart_ = best.restart
        return [posteriors[i] for i in order]

    def _mixture_rows(self, problem, center, scale, rng):
        rows = RowStore.of_table(
            problem.binned,
            problem.target,
            problem.n_classes,
            problem.sample_weight,
            center,
            scale,
        )
        if self.refine and self.screening == "auto" and rows.n_rows > MIXTURE_ROWS:
            rows = rows.take(rng.choice(rows.n_rows, MIXTURE_ROWS, replace=False))
        return rows

    def _mixture_settings(self):
        return MixtureSettings(
            max_components=int(self.max_rules),
            n_restarts=int(self.n_restarts),
            statement_weight=self.statement_weight,
            init=self.init,
            engine=self.engine,
            screening=bool(self.screening),
            n_jobs=self.n_jobs,
            loop=Settings(
                inference=self.inference, max_iter=int(self.max_iter), tol=self.tol
            ),
        )

    def _watcher(self, progress):
        """The user's callback, with a progress bar before it if asked for."""
        if not self.verbose:
            return self.callback

        def watch(step):
            if step.finished:
                progress.advance()
            return self.callback is not None and self.callback(step)

        return watch

    def _warn_of_little_data(self, problem):
        n_rows = problem.store.n_rows
        if n_rows < self.max_rules:
            warnings.warn(
                f"max_rules={self.max_rules} is more than the {n_rows} rows of X; at "
                f"most {n_rows} rules can be found.",
                UserWarning,
                stacklevel=6,
            )
        if problem.store.has_one_value():
            warnings.warn(
                "The target has one value only, so the answer is one rule.",
                UserWarning,
                stacklevel=6,
            )

    def predict_posterior(self, X):
        """Answers of the paper's two-step MAP: likeliest component, then its answer.

        It uses all thresholds of the ensemble, not only those that the rules print.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        predict = partial(self.posterior_.predict_encoded, classes=rules.classes)
        return self._answers(X, predict, rules.outcome.dtype)

    def _recount(self, store):
        if self.refine:
            n_rules = self.rules_.n_rules
            lists = store.recount(list(self.path_.values()))
            self.path_ = dict(zip(self.path_, lists, strict=True))
            self.rules_ = self.path_[n_rules]
            return
        super()._recount(store)
        # Components are asked one by one, and answer for themselves.
        lists = [replace(self.rules_, rules=(rule,)) for rule in self.component_rules_]
        counted = store.recount(lists, keeps_answers=True)
        self.component_rules_ = tuple(rules.rules[0] for rules in counted)


class DefragClassifier(RuleClassifier, _Defrag):
    __doc__ = f"""A few rules that say nearly what a classification ensemble says.
{PARAMETERS}
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


class DefragRegressor(RuleRegressor, _Defrag):
    __doc__ = f"""A few rules that say nearly what a regression ensemble says.
{PARAMETERS}
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
