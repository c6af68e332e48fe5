"""From training rows to short rules that are the model: what the search is fed."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from defragtrees.methods.all_rows import AllRowsSearch
from defragtrees.methods.box_rules import rules_of_boxes
from defragtrees.outcome.decision import Decision
from defragtrees.refine.choice import HeldOut, choose, held_out_rows
from defragtrees.refine.cutting import cut_conditions
from defragtrees.refine.new_rows import draw_rows
from defragtrees.refine.objective import (
    LEAST_ERRORS,
    BothLoss,
    ErrorLoss,
    SquaredLoss,
)
from defragtrees.refine.rulelist import Limits, RuleBoxes
from defragtrees.refine.search import polish, search
from defragtrees.refine.starts import boxes_from_tree, tree_sizes
from defragtrees.refine.table import make_table

__all__ = [
    "CRITERIA",
    "SEARCH_CODES",
    "SEARCH_ROWS",
    "Refined",
    "Refinement",
    "refine",
    "search_losses",
    "search_rows",
]

MOST_ROWS = 100_000  # with more rows, refine looks at a sample of them
SAMPLE_ROWS = 25_000  # or at fewer, if all rows have the last word
SEARCH_ROWS = 3_000  # so many rows are enough to search; the result is polished on all
SEARCH_CODES = 64  # and so many codes of a feature
SEARCH_RULES = 10  # a list of few rules is better cut from a longer one
SLACK = 0.5  # on the way a rule may have so much less than the rows it must have
EMPHASIS = 1.0  # nats for classes count so many times those for probabilities
CRITERIA = ("both", "probability", "error")


@dataclass(frozen=True)
class Refinement:
    """How to refine.

    Parameters
    ----------
    max_rules : int
    max_conditions : int or None
        Of one rule.
    min_coverage : float
        Share of the rows that a rule must answer.
    brevity : float
        Nats a row that a condition must be worth.
    asked : RuleLimits or None
        What else a user asks for.
    features : frozenset of int or None
        Features that rules may use.
    n_new_rows : int
        Rows to draw near the data.
    criterion : str
        One of `CRITERIA`.
    decision : Decision or None
        From probabilities to a class.
    is_labels : bool
        Whether rules imitate y.
    engine : str
        Of the estimator; "cuda" keeps many rows on a GPU.
    """

    max_rules: int
    max_conditions: int | None = None
    min_coverage: float = 0.0
    brevity: float = 0.0
    features: frozenset[int] | None = None
    n_new_rows: int = 0
    criterion: str = "both"
    decision: Decision | None = None
    is_labels: bool = False
    asked: Any = None
    engine: str = "auto"

    def with_conditions(self, most):
        """The same with at most so many conditions in a rule."""
        asked = self.asked
        if asked is not None:
            asked = replace(asked, max_conditions=most)
        return replace(self, max_conditions=most, asked=asked)

    def limits(self, total_weight, slack=1.0):
        """The limits for rows with so much weight.

        Parameters
        ----------
        total_weight : float
        slack : float, default=1
            Share of the rows of a rule that are enough.
        """
        least = self.min_coverage * total_weight * slack
        # Past the budget, so that a smaller one is a place on the same path.
        most = max(self.max_rules, SEARCH_RULES)
        if self.asked is not None:
            return self.asked.for_search(most, least)
        return Limits(most, self.max_conditions, least)


@dataclass(frozen=True, eq=False)
class Refined:
    """What refine gives. Its lists answer what they imitate.

    Parameters
    ----------
    lists : dict from int to RuleSet
        The best list of every number of rules.
    costs : dict from int to float
        Description length of each, in nats.
    n_rounds : int
        Of the search.
    by_conditions : dict from int to RuleSet
        The best list of every total number of conditions, where more are better.
    chosen : int, optional
        Conditions that are enough to be nearly as good as the best on rows that the
        search did not see.
    """

    lists: dict[int, Any]
    costs: dict[int, float]
    n_rounds: int
    by_conditions: dict[int, Any] = field(default_factory=dict)
    chosen: int | None = None


def refine(problem, settings, rng):
    """The best lists found, by number of rules and of conditions.

    Parameters
    ----------
    problem : Problem
    settings : Refinement
    rng : numpy.random.Generator

    Returns
    -------
    Refined
    """
    most = SAMPLE_ROWS if problem.is_sample else MOST_ROWS
    rows = search_rows(problem, settings, rng, most)
    loss, last_loss = search_losses(rows, problem.n_classes, settings.criterion)
    table = make_table(
        problem.grid,
        rows.codes,
        settings.features,
        problem.feature_order,
        settings.brevity * loss.total_weight,
        problem.ordered_features,
    )
    if not table.columns or not np.ptp(rows.target, axis=0).any():
        alone = RuleBoxes(table, last_loss, ())
        rules = rules_of_boxes(problem, alone)
        return Refined({1: rules}, {1: alone.cost}, 1, {0: rules}, 0)
    if problem.is_sample:
        everywhere = AllRowsSearch(problem, settings, rows, table, last_loss)
        judge = everywhere.judge(problem, settings, rows)
    else:
        everywhere = None
        judge = _held_out(table, rows, settings.criterion == "error")
    seen = np.flatnonzero(judge.is_seen)
    lists, n_rounds = _searched(settings, rng, table, loss, seen)
    n_best, most = _judged(judge, table, loss, lists, settings)
    # Other rows, other lists: of each length the cheapest on all rows is kept.
    more, n_more = _searched(settings, rng, table, loss, np.arange(table.n_rows))
    limits = settings.limits(loss.total_weight)
    best = polish(lists + more, table, last_loss, limits)
    if everywhere is not None:
        limits = settings.limits(everywhere.total_weight)
        best = everywhere.polished(best, limits)
    best = {n: rules for n, rules in best.items() if n <= settings.max_rules}
    if not best:  # nothing keeps to the limits
        return Refined({}, {}, n_rounds + n_more)
    longest = best[max((n for n in best if n <= n_best), default=min(best))]
    return _refined(problem, best, longest, limits, most, n_rounds + n_more)


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows that the search looks at.

    Parameters
    ----------
    codes : unsigned int array of shape (n_samples, n_features)
        Bin numbers.
    target : array of shape (n_samples, n_outputs)
        Numbers, or probabilities on the scale of the search.
    classes : int array of shape (n_samples,), optional
        The class that each row should get.
    weight : array of shape (n_samples,)
    outputs : array of shape (n_samples, n_classes), optional
        Probabilities as they are.
    expected : array of shape (n_samples, n_outputs)
        What should come out: y where it is there, else what is imitated.
    is_drawn : bool array of shape (n_samples,)
        Whether a row is new.
    """

    codes: np.ndarray
    target: np.ndarray
    classes: np.ndarray | None
    weight: np.ndarray
    outputs: np.ndarray | None
    expected: np.ndarray
    is_drawn: np.ndarray


def search_rows(problem, settings, rng, most=MOST_ROWS):
    """The rows that a search looks at, new ones included.

    Parameters
    ----------
    problem : Problem
    settings : Refinement
    rng : numpy.random.Generator
    most : int
        Rows of the problem, new ones left out.
    """
    n_rows = len(problem.target)
    rows = np.arange(n_rows)
    if n_rows > most:
        rows = np.sort(rng.choice(n_rows, most, replace=False))
    codes, weight = problem.binned.codes[rows], problem.sample_weight[rows]
    outputs = _outputs(problem, settings)[rows]
    n_new = settings.n_new_rows
    if n_new:
        is_set = np.array([c is not None for c in problem.categories], dtype=bool)
        features = range(len(problem.feature_names))
        X = np.column_stack([problem.column(j)[rows] for j in features])
        new = draw_rows(X, n_new, is_set, rng, problem.feature_order)
        share = weight.mean() * min(1.0, len(X) / n_new)
        codes = np.vstack([codes, problem.grid.bin(new).codes])
        outputs = np.vstack([outputs, _forest_outputs(problem, new)])
        weight = np.concatenate([weight, np.full(n_new, share)])
    is_drawn = np.arange(len(codes)) >= len(rows)
    outcome, classes, target = problem.outcome, None, outputs
    shown = outputs
    if problem.labels is not None:
        shown = outcome.indicators(problem.labels[rows])
        shown = np.vstack([shown, outputs[is_drawn]])
    if problem.n_classes:
        shown, _ = settings.decision.emphasise(shown, weight)
        outputs, weight = settings.decision.emphasise(outputs, weight)
        classes, target = outputs.argmax(axis=1), outcome.search_target(outputs)
    probabilities = outputs if problem.n_classes else None
    return SearchRows(codes, target, classes, weight, probabilities, shown, is_drawn)


def _outputs(problem, settings):
    """What rules imitate: probabilities of classes, or numbers, in columns."""
    if problem.n_classes and not settings.is_labels:
        return problem.probabilities.astype(np.float64)
    return problem.outcome.indicators(problem.target)


def _forest_outputs(problem, matrix):
    if problem.n_classes:
        return problem.forest.predict_proba_encoded(matrix)
    return problem.forest.predict_encoded(matrix)[:, None]


def search_losses(rows, n_classes, criterion):
    """What the search minimises, and what its lists are polished by."""
    if not n_classes:
        squared = SquaredLoss(rows.target, rows.weight)
        return squared, squared
    squared = SquaredLoss(rows.target, rows.weight, LEAST_ERRORS)
    if criterion == "probability":
        return squared, squared
    wrong = ErrorLoss(rows.classes, rows.weight, n_classes)
    both = BothLoss(squared, wrong, EMPHASIS)
    return both, both if criterion == "both" else wrong


def _held_out(table, rows, counts_errors):
    """Which rows judge the lists; new ones do not."""
    is_seen, is_judged = held_out_rows(table, rows.target, rows.weight)
    is_seen, is_judged = is_seen | rows.is_drawn, is_judged & ~rows.is_drawn
    return HeldOut(rows.expected, rows.weight, is_seen, is_judged, counts_errors)


def _searched(settings, rng, table, loss, rows):
    """Boxes of the cheapest lists, by a search over few of the rows; and its rounds."""
    if len(rows) > SEARCH_ROWS:
        rows = np.sort(rng.choice(rows, SEARCH_ROWS, replace=False))
    few, groups = table.coarse(rows, SEARCH_CODES)
    few_loss = loss.take(rows)
    limits = settings.limits(few_loss.total_weight, SLACK)
    sizes = tree_sizes(limits.max_rules)
    starts = boxes_from_tree(few, few_loss.target, few_loss.weight, sizes)
    best, n_rounds = search(few, few_loss, starts, limits)
    lists = [
        [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
        for rules in best.values()
    ]
    return lists, n_rounds


def _judged(judge, table, loss, lists, settings):
    """Rules of the list that does best on rows not seen; conditions that are enough.

    Enough are as few as a list has that is within one standard error of the best: one
    of the lists, or the best without some of its conditions.
    """
    found = [RuleBoxes(table, loss, boxes) for boxes in lists]
    found = [rules for rules in found if rules.n_rules <= settings.max_rules]
    if not found:
        return settings.max_rules, None
    scores = judge.scores(found)
    best = found[min(range(len(found)), key=lambda i: scores[i].loss)]
    limits = settings.limits(loss.total_weight, SLACK)
    scores += judge.scores(list(cut_conditions(best, limits)))
    return best.n_rules, scores[choose(scores)].n_conditions


def _refined(problem, best, longest, limits, most, n_rounds):
    """The lists as rules, those of every length and those cut from one of them.

    Parameters
    ----------
    problem : Problem
    best : dict from int to RuleBoxes
    longest : RuleBoxes
        The list to cut.
    limits : Limits
    most : int
        Conditions that are enough.
    n_rounds : int
    """
    lists, costs, by_conditions, coverages = {}, {}, {}, {}
    for n in sorted(best):
        rules = rules_of_boxes(problem, best[n], coverages)
        if rules.n_rules not in lists:
            lists[rules.n_rules], costs[rules.n_rules] = rules, best[n].cost
    cuts = [cut for cut in cut_conditions(longest, limits) if limits.allows(cut)]
    cuts += best.values()
    least = np.inf
    for boxes in sorted(cuts, key=lambda boxes: (boxes.n_conditions, boxes.fit_cost)):
        if boxes.fit_cost < least:
            least = boxes.fit_cost
            rules = rules_of_boxes(problem, boxes, coverages)
            by_conditions.setdefault(rules.total_conditions, rules)
    return Refined(lists, costs, n_rounds, by_conditions, most)
