"""From the mixture's components to short rules that are the model."""

from dataclasses import dataclass

import numpy as np

from defragtrees.methods.listing import answering_rule
from defragtrees.mixture.boxes import component_sides, needed_sides
from defragtrees.refine.augment import draw_rows
from defragtrees.refine.objective import ClassLoss, ErrorLoss, NumberLoss
from defragtrees.refine.rulelist import RuleBoxes
from defragtrees.refine.search import Limits, polish, search
from defragtrees.refine.starts import boxes_from_sides, boxes_from_tree
from defragtrees.refine.table import make_table

__all__ = ["Refinement", "refine"]

FEW_ROWS = 8_000  # with fewer rows, the ensemble is asked about new ones
MOST_ROWS = 100_000  # with more rows, refine looks at a sample of them
SEARCH_ROWS = 3_000  # so many rows are enough to search; the result is polished on all
NEW_PER_ROW = 4
SEARCH_CODES = 64  # and so many codes of a feature
N_RESTARTS = 3  # of the mixture, best first, that the search starts from
START_TOLERANCE = 0.01
START_SIDES = 6  # of a component, those that keep out most rows


@dataclass(frozen=True)
class Refinement:
    """How to refine.

    Parameters
    ----------
    limits : Limits
    features : frozenset of int or None
        Features that rules may use.
    augment : "auto" or int
        Number of rows to draw near the data.
    is_labels : bool
        Whether the target is y, which nobody knows for new rows.
    """

    limits: Limits
    features: frozenset[int] | None = None
    augment: str | int = "auto"
    is_labels: bool = False


def refine(problem, posteriors, settings, rng):
    """The best rule set found of every length, by number of rules.

    Parameters
    ----------
    problem : Problem
    posteriors : list of Posterior
        Restarts of the mixture, best first.
    settings : Refinement
    rng : numpy.random.Generator

    Returns
    -------
    lists : dict from int to RuleSet
    costs : dict from int to float
        Description length of each, in nats.
    """
    codes, target, weight = _search_rows(problem, settings, rng)
    table = make_table(problem.grid, codes, settings.features, problem.feature_order)
    is_number = not problem.n_classes
    if is_number:
        loss = last_loss = NumberLoss(target, weight)
    else:
        loss = ClassLoss(target, problem.n_classes, weight)
        last_loss = ErrorLoss(target, problem.n_classes, weight)
    if not table.columns or (target == target[0]).all():
        best = {1: RuleBoxes(table, last_loss, ())}
    else:
        lists = _searched(problem, posteriors, settings, rng, table, loss)
        best = polish(lists, table, last_loss, settings.limits)
    lists = {n: _rule_set(problem, rules) for n, rules in best.items()}
    return lists, {n: rules.cost for n, rules in best.items()}


def _searched(problem, posteriors, settings, rng, table, loss):
    """Boxes of the cheapest lists, by a search over few rows and coarse codes."""
    rows = np.arange(table.n_rows)
    if len(rows) > SEARCH_ROWS:
        rows = np.sort(rng.choice(len(rows), SEARCH_ROWS, replace=False))
    few, groups = table.coarse(rows, SEARCH_CODES)
    few_loss = loss.some(rows)
    most = settings.limits.max_rules
    starts = [
        boxes_from_tree(few, few_loss.target, few_loss.weight, n, not problem.n_classes)
        for n in range(most, 1, -2)
    ]
    for posterior in posteriors[:N_RESTARTS]:
        boxes = boxes_from_sides(table, _sides(problem, posterior))
        starts.append([_coarse_box(box, groups) for box in boxes])
    best = search(few, few_loss, starts, settings.limits)
    return [
        [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
        for rules in best.values()
    ]


def _coarse_box(box, groups):
    """A box over coarse codes: those of which it accepts any part."""
    return {
        j: np.bincount(groups[j], mask, groups[j][-1] + 1) > 0
        for j, mask in box.items()
    }


def _search_rows(problem, settings, rng):
    """Bins, target and weight of the rows that the search looks at."""
    codes, target, weight = problem.binned.codes, problem.target, problem.sample_weight
    rows, n_rows = slice(None), len(target)
    if n_rows > MOST_ROWS:
        rows = np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
        codes, target, weight = codes[rows], target[rows], weight[rows]
    n_new = settings.augment
    if n_new == "auto":
        fits = problem.n_classes and not settings.is_labels
        n_new = min(NEW_PER_ROW * n_rows, max(0, FEW_ROWS - n_rows)) if fits else 0
    if not n_new:
        return codes, target, weight
    is_set = np.array([known is not None for known in problem.categories], dtype=bool)
    features = range(len(problem.feature_names))
    X = np.column_stack([problem.column(j)[rows] for j in features])
    new = draw_rows(X, n_new, is_set, rng, problem.feature_order)
    share = weight.mean() * min(1.0, len(X) / n_new)
    return (
        np.vstack([codes, problem.grid.bin(new).codes]),
        np.concatenate([target, problem.forest.predict_target(new)]),
        np.concatenate([weight, np.full(n_new, share)]),
    )


def _sides(problem, posterior):
    """The needed sides of every component, the heaviest component first."""
    order = np.argsort(-posterior.statistics.weight, kind="stable")
    lists = []
    for k in order:
        sides = component_sides(posterior, k, START_TOLERANCE)
        kept = needed_sides(sides, problem.binned.codes)[-START_SIDES:]
        lists.append([(side.feature, side.accepts) for side in kept])
    return lists


def _rule_set(problem, rules):
    """The boxes as rules, with what they say of the training rows."""
    conditions = [_conditions(problem, rules.table, box) for box in rules.boxes]
    left = np.ones(len(problem.target), dtype=bool)
    listed = []
    for k, tests in enumerate([*conditions, ()]):
        held = left & problem.covered(tests)
        basis = rules.loss.basis(rules.counts[k])
        listed.append(answering_rule(problem, tests, held, basis))
        left &= ~held
    return problem.rule_set(listed)


def _conditions(problem, table, box):
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
