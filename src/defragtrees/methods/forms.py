"""Rules in another form than a list: each on its own, or with points that add up."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from defragtrees.methods.box_rules import box_conditions
from defragtrees.methods.listing import answering_rule
from defragtrees.methods.refining import (
    SEARCH_CODES,
    SEARCH_ROWS,
    Refined,
    refine,
    search_losses,
    search_rows,
)
from defragtrees.refine.growing import MOST_GROWN, grow_rule
from defragtrees.refine.objective import LEAST_ERRORS, LEAST_SPREAD
from defragtrees.refine.points import LogOddsLoss, NumberLoss, PointBoxes
from defragtrees.refine.standalone import StandaloneBoxes, add_rule
from defragtrees.refine.starts import boxes_from_tree, tree_sizes
from defragtrees.refine.table import make_table
from defragtrees.refine.unordered import polish_sets, search_sets

__all__ = ["FORMS", "refine_points", "refine_standalone"]

FEW_CONDITIONS = 2  # of a rule, in the sets that the search starts from


def refine_points(problem, settings, rng):
    """The best set of rules with points found of every size; see `refine`.

    The points are those of the training rows only once rows are counted.
    """
    rows = search_rows(problem, settings, rng)
    if settings.max_conditions is None:
        settings = settings.with_conditions(MOST_GROWN)
    loss = _point_loss(rows, problem.n_classes)
    search = _Search(PointBoxes, grow_rule, loss, loss)
    best, n_rounds = search.run(problem, settings, rng, rows)
    best = {n: rules.in_reading_order() for n, rules in best.items()}
    return Refined(*_rule_sets(problem, settings, best, "points"), n_rounds)


def refine_standalone(problem, settings, rng):
    """The best set of rules that hold on their own found of every size; see `refine`.

    Answers are those of the training rows only once rows are counted.
    """
    rows = search_rows(problem, settings, rng)
    loss, last_loss = search_losses(rows, problem.n_classes, settings.criterion)
    search = _Search(StandaloneBoxes, add_rule, loss, last_loss)
    best, n_rounds = search.run(problem, settings, rng, rows)
    return Refined(*_rule_sets(problem, settings, best, "standalone"), n_rounds)


FORMS = {"list": refine, "standalone": refine_standalone, "points": refine_points}


def _point_loss(rows, n_classes):
    if not n_classes:
        return NumberLoss(rows.target, rows.weight, LEAST_SPREAD)
    if n_classes == 2:
        return LogOddsLoss(rows.outputs[:, 1:], rows.weight, LEAST_ERRORS)
    return NumberLoss(rows.target, rows.weight, LEAST_ERRORS)


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for sets of one kind.

    Parameters
    ----------
    make : callable
        From table, loss and boxes to a set.
    insert : callable
        From a set and limits to one with one more rule, or None.
    loss, last_loss
        What the search minimises, and what its sets are polished by.
    """

    make: Any
    insert: Any
    loss: Any
    last_loss: Any

    def run(self, problem, settings, rng, rows):
        """The cheapest set of each size, and how many rounds that took."""
        table = make_table(
            problem.grid,
            rows.codes,
            settings.features,
            problem.feature_order,
            settings.brevity * self.loss.total_weight,
            problem.ordered_features,
        )
        if not table.columns or not np.ptp(rows.target, axis=0).any():
            return {1: self.make(table, self.last_loss, ())}, 1
        lists, n_rounds = self._searched(settings, rng, table)
        sets = [self.make(table, self.last_loss, boxes) for boxes in lists]
        limits = settings.limits(self.last_loss.total_weight)
        return polish_sets(sets, limits), n_rounds

    def _searched(self, settings, rng, table):
        """Boxes of the cheapest sets by a search over few rows and codes."""
        rows = np.arange(table.n_rows)
        if len(rows) > SEARCH_ROWS:
            rows = np.sort(rng.choice(len(rows), SEARCH_ROWS, replace=False))
        few, groups = table.coarse(rows, SEARCH_CODES)
        loss = self.loss.take(rows)
        limits = settings.limits(loss.total_weight)
        starts = []
        sizes = tree_sizes(limits.max_rules)
        for boxes in boxes_from_tree(few, loss.target, loss.weight, sizes):
            boxes = [box for box in boxes if limits.allows_box(few, box)]
            starts.append(self.make(few, loss, boxes))
        empty = self.make(few, loss, ())
        starts += self._short_sets(empty, settings)
        best, n_rounds = search_sets(empty, starts, limits, self.insert)
        lists = [
            [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
            for rules in best.values()
        ]
        return lists, n_rounds

    def _short_sets(self, empty, settings):
        """Sets of rules with few conditions, from which longer ones come out better."""
        most = settings.max_conditions
        if most is not None and most <= FEW_CONDITIONS:
            return []
        short = settings.with_conditions(FEW_CONDITIONS)
        limits = short.limits(empty.loss.total_weight)
        best, _ = search_sets(empty, [], limits, self.insert)
        return [rules for n, rules in best.items() if n > 1]


def _rule_sets(problem, settings, best, decision):
    """Rule sets by number of rules, and what each costs."""
    sets, costs = {}, {}
    for n in sorted(best):
        rules = _rule_set(problem, best[n], decision)
        if rules.n_rules not in sets and rules.n_rules <= settings.max_rules:
            sets[rules.n_rules], costs[rules.n_rules] = rules, best[n].cost
    return sets, costs


def _rule_set(problem, rules, decision):
    """The boxes as rules, with what they say of the training rows."""
    conditions = [box_conditions(problem, rules.table, box) for box in rules.boxes]
    free = np.ones(len(problem.target), dtype=bool)
    zero = (0.0,) * problem.outcome.n_points
    made = []
    for conjunction in [*conditions, ()]:
        held = problem.covered(conjunction)
        # A rule for new rows alone would have nothing to tell.
        if not held.any() and conjunction:
            continue
        if decision == "points":
            rule = replace(answering_rule(problem, conjunction, held), points=zero)
        elif conjunction:
            rule = answering_rule(problem, conjunction, held)
        else:
            rule = replace(answering_rule(problem, (), free), weight=0.0)
        free &= ~held
        made.append(rule)
    return problem.rule_set(made, decision=decision)
