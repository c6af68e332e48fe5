"""The search: from several starts to the cheapest list of every length."""

from dataclasses import dataclass

import numpy as np

from defragtrees.refine.moves import descend, insert_rule, remove_rules
from defragtrees.refine.rulelist import RuleBoxes, n_sides

__all__ = ["Limits", "polish", "search"]

N_PROMISING = 2
POLISH_ROUNDS = 4


@dataclass(frozen=True)
class Limits:
    """What rules may look like.

    Parameters
    ----------
    max_rules : int
        The last "otherwise" counts as one.
    max_conditions : int or None
        Of one rule.
    """

    max_rules: int = 10
    max_conditions: int | None = None

    def allows(self, table, box):
        """Whether a box has few enough conditions."""
        if self.max_conditions is None:
            return True
        used = sum(n_sides(table.columns[j], mask) for j, mask in box.items())
        return used <= self.max_conditions

    def allows_more(self, table, box):
        """Whether a box could take one more condition."""
        if self.max_conditions is None:
            return True
        used = sum(n_sides(table.columns[j], mask) for j, mask in box.items())
        return used < self.max_conditions


def search(table, loss, starts, limits, n_rounds=2):
    """The cheapest list found of every length, from one rule up.

    Parameters
    ----------
    table : RowTable
    loss : ClassLoss or NumberLoss
    starts : list of list of dict
        Boxes to start from.
    limits : Limits

    Returns
    -------
    dict from number of rules to RuleBoxes
    """
    best = {1: RuleBoxes(table, loss, ())}
    for rules in _promising(table, loss, starts, limits):
        keep(best, descend(rules, limits), limits)
    grown, cut = {}, {}
    for _ in range(n_rounds):
        before = {n: rules.cost for n, rules in best.items()}
        for n in range(1, limits.max_rules):
            # A list that has been tried before has nothing new to give.
            if n in best and grown.get(n) is not best[n]:
                grown[n] = best[n]
                longer = insert_rule(best[n], limits)
                if longer is not None:
                    keep(best, descend(tidy(longer), limits), limits)
        for n in range(limits.max_rules, 2, -1):
            if n in best and cut.get(n) is not best[n]:
                cut[n] = best[n]
                shorter = remove_rules(best[n])[0]
                keep(best, descend(tidy(shorter), limits), limits)
        if before == {n: rules.cost for n, rules in best.items()}:
            break
    return best


def _promising(table, loss, starts, limits):
    """Of each length the few starts that are cheapest after one round."""
    by_length = {}
    for boxes in starts:
        boxes = [box for box in boxes if limits.allows(table, box)]
        rules = tidy(RuleBoxes(table, loss, boxes[: limits.max_rules - 1]))
        rules = tidy(descend(rules, limits, max_rounds=1, max_steps=2))
        by_length.setdefault(rules.n_rules, []).append(rules)
    for lists in by_length.values():
        yield from sorted(lists, key=lambda rules: rules.cost)[:N_PROMISING]


def polish(lists, table, loss, limits):
    """The lists after a descent on all rows, or by another loss.

    Parameters
    ----------
    lists : list of list of dict
        Boxes to start from.
    table : RowTable
    loss : ClassLoss, ErrorLoss or NumberLoss
    limits : Limits

    Returns
    -------
    dict from number of rules to RuleBoxes
    """
    polished = {1: RuleBoxes(table, loss, ())}
    for boxes in lists:
        start = tidy(RuleBoxes(table, loss, boxes))
        keep(polished, descend(start, limits, max_rounds=POLISH_ROUNDS), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished:
            shorter = tidy(remove_rules(polished[n + 1])[0])
            keep(polished, shorter, limits)
            keep(polished, descend(shorter, limits, POLISH_ROUNDS), limits)
    return polished


def keep(best, rules, limits):
    """Note a list if it is the cheapest of its length."""
    rules = tidy(rules)
    n = rules.n_rules
    if n <= limits.max_rules and (n not in best or rules.cost < best[n].cost):
        best[n] = rules


def tidy(rules):
    """The list without boxes that answer no row or have no condition."""
    used = np.bincount(rules.answering, minlength=rules.n_rules)
    for k in range(len(rules.boxes) - 1, -1, -1):
        if used[k] == 0 or not rules.boxes[k]:
            return tidy(rules.without_box(k))
    return rules
