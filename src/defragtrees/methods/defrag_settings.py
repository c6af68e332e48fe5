"""What the settings of DefragClassifier and DefragRegressor mean."""

from defragtrees.conditions import Rule
from defragtrees.metrics.resampling import RuleStability
from defragtrees.mixture.loop import Step
from defragtrees.mixture.posterior import Posterior
from defragtrees.rules import RuleSet

__all__ = ["FOR_CLASSES", "PARAMETERS", "DefragResults"]


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
