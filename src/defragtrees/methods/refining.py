"""From training rows to short rules that are the model: what the search is fed."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.methods.listing import answering_rule
from defragtrees.outcome.decision import Decision
from defragtrees.refine.new_rows import draw_rows
from defragtrees.refine.objective import (
    LEAST_ERRORS,
    BothLoss,
    ErrorLoss,
    SquaredLoss,
)
from defragtrees.refine.rulelist import Limits, RuleBoxes
from defragtrees.refine.search import polish, search
from defragtrees.refine.starts import boxes_from_tree
from defragtrees.refine.table import make_table

__all__ = [
    "CRITERIA",
    "SEARCH_CODES",
    "SEARCH_ROWS",
    "Refinement",
    "box_conditions",
    "refine",
    "search_losses",
    "search_rows",
]

MOST_ROWS = 100_000  # with more rows, refine looks at a sample of them
SEARCH_ROWS = 3_000  # so many rows are enough to search; the result is polished on all
SEARCH_CODES = 64  # and so many codes of a feature
SEARCH_RULES = 10  # a list of few rules is better cut from a longer one
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

    def limits(self, total_weight):
        """The limits for rows with so much weight."""
        least = self.min_coverage * total_weight
        # Past the budget, so that a smaller one is a place on the same path.
        most = max(self.max_rules, SEARCH_RULES)
        if self.asked is not None:
            return self.asked.for_search(most, least)
        return Limits(most, self.max_conditions, least)


def refine(problem, settings, rng):
    """The best list found of every length, by number of rules.

    Parameters
    ----------
    problem : Problem
    settings : Refinement
    rng : numpy.random.Generator

    Returns
    -------
    lists : dict from int to RuleSet
        They answer what they imitate.
    costs : dict from int to float
        Description length of each, in nats.
    n_rounds : int
        Of the search.
    """
    rows = search_rows(problem, settings, rng)
    loss, last_loss = search_losses(rows, problem.n_classes, settings.criterion)
    table = make_table(
        problem.grid,
        rows.codes,
        settings.features,
        problem.feature_order,
        settings.brevity * loss.total_weight,
    )
    if not table.columns or not np.ptp(rows.target, axis=0).any():
        best, n_rounds = {1: RuleBoxes(table, last_loss, ())}, 1
    else:
        lists, n_rounds = _searched(settings, rng, table, loss)
        limits = settings.limits(loss.total_weight)
        best = polish(lists, table, last_loss, limits)
    lists, costs = {}, {}
    for n in sorted(best):
        rules = _rule_set(problem, best[n])
        if rules.n_rules not in lists and rules.n_rules <= settings.max_rules:
            lists[rules.n_rules], costs[rules.n_rules] = rules, best[n].cost
    return lists, costs, n_rounds


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
    """

    codes: np.ndarray
    target: np.ndarray
    classes: np.ndarray | None
    weight: np.ndarray
    outputs: np.ndarray | None = None


def search_rows(problem, settings, rng):
    """The rows that a search looks at, new ones included."""
    n_rows = len(problem.target)
    rows = np.arange(n_rows)
    if n_rows > MOST_ROWS:
        rows = np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
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
    outcome, classes = problem.outcome, None
    if problem.n_classes:
        outputs, weight = settings.decision.emphasise(outputs, weight)
        classes = outputs.argmax(axis=1)
        target = outcome.search_target(outputs)
        return SearchRows(codes, target, classes, weight, outputs)
    return SearchRows(codes, outputs, classes, weight)


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


def _searched(settings, rng, table, loss):
    """Boxes of the cheapest lists, by a search over few rows; and its rounds."""
    rows = np.arange(table.n_rows)
    if len(rows) > SEARCH_ROWS:
        rows = np.sort(rng.choice(len(rows), SEARCH_ROWS, replace=False))
    few, groups = table.coarse(rows, SEARCH_CODES)
    few_loss = loss.take(rows)
    limits = settings.limits(few_loss.total_weight)
    starts = [
        boxes_from_tree(few, few_loss.target, few_loss.weight, n)
        for n in range(limits.max_rules, 1, -2)
    ]
    best, n_rounds = search(few, few_loss, starts, limits)
    lists = [
        [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
        for rules in best.values()
    ]
    return lists, n_rounds


def _rule_set(problem, rules):
    """The boxes as rules, with what they say of the training rows."""
    conditions = [box_conditions(problem, rules.table, box) for box in rules.boxes]
    left = np.ones(len(problem.target), dtype=bool)
    answering = []
    for conjunction in [*conditions, ()]:
        held = left & problem.covered(conjunction)
        # A rule for new rows alone would have nothing to tell.
        if held.any() or not conjunction:
            answering.append(answering_rule(problem, conjunction, held))
        left &= ~held
    return problem.rule_set(answering)


def box_conditions(problem, table, box):
    """The conditions that a box over the codes of a table stands for."""
    columns = ((table.columns[j], mask) for j, mask in box.items())
    return problem.grid.conditions(
        (column.feature, _accepted_bins(problem.grid, column, mask))
        for column, mask in columns
    )


def _accepted_bins(grid, column, mask):
    """The bins of a feature that a box over the codes of its column accepts."""
    accepts = np.zeros(grid.n_bins[column.feature], dtype=bool)
    accepts[-1] = mask[-1] and column.has_missing
    inside = np.flatnonzero(mask[:-1])
    if column.is_set:
        # Categories that no training row has go with the larger part.
        accepts[:-1] = len(inside) > column.n_codes / 2
        accepts[column.bins] = mask[:-1]
    elif inside.size:
        is_open = inside[-1] == column.n_codes - 1
        first = _between(column.bins, inside[0] - 1) + 1 if inside[0] > 0 else 0
        end = -1 if is_open else _between(column.bins, inside[-1]) + 1
        accepts[first:end] = True
    return accepts


def _between(bins, code):
    """The middle one of the thresholds between a code and the next."""
    return (bins[code] + bins[code + 1] - 1) // 2
