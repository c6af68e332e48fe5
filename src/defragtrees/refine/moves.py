"""Moves that lower the cost of a rule list; each is kept only if it does.

One rule and one feature at a time, all else fixed: a row that reaches rule k gains its
loss with the rules after k, less its loss with rule k. The best condition on a feature
is then found exactly (`segments`) among all intervals, or sets, of its codes.
"""

import numpy as np

from defragtrees.refine.rulelist import box_price, n_sides
from defragtrees.refine.segments import best_condition, best_conditions

__all__ = ["descend", "insert_rule", "remove_rules"]

LEAST_GAIN = 1e-7  # nats; less is rounding
MOST_TRIED = 4  # features, best first, before a new condition is given up
MOST_GROWN = 6  # conditions that a new rule is grown by; descent may add more


def descend(rules, limits, max_rounds=20, max_steps=12):
    """Improve every rule in turn, and their order, until nothing moves.

    Parameters
    ----------
    rules : RuleBoxes
    limits : Limits
    max_rounds : int
        How often to go through the rules.
    max_steps : int
        How many conditions of a rule to change before the next rule.

    Returns
    -------
    RuleBoxes
    """
    for _ in range(max_rounds):
        before = rules.cost
        for k in range(len(rules.boxes)):
            rules = improve_rule(rules, k, limits, max_steps)
        rules = improve_order(rules)
        if rules.cost > before - max(LEAST_GAIN, 1e-6 * abs(before)):
            break
    return rules


def improve_rule(rules, k, limits, max_steps):
    """Change the conditions of rule k one at a time, best change first."""
    for _ in range(max_steps):
        gain = row_gains(rules, k)
        box = best_change(rules.table, rules.boxes[k], gain, limits)
        if box is None:
            return rules
        changed = rules.with_box(k, box)
        if changed.cost >= rules.cost - LEAST_GAIN:
            return rules
        rules = changed
    return rules


def row_gains(rules, k):
    """What the list gains for each row if rule k accepts it; 0 where it cannot."""
    loss, counts = rules.loss, rules.counts
    passed = loss.row_losses(counts, rules.answering_after(k))
    return np.where(rules.reaching(k), passed - loss.row_losses(counts, k), 0.0)


def best_change(table, box, gain, limits):
    """The box after the best change of one condition, or None if none pays."""
    rejected = {j: ~mask[table.codes[j]] for j, mask in box.items()}
    n_rejecting = np.zeros(table.n_rows, dtype=np.int16)
    for rejects in rejected.values():
        n_rejecting += rejects
    inside = n_rejecting == 0
    price = box_price(table, box)
    best_value, best = gain @ inside - price + LEAST_GAIN, None
    for j, mask in box.items():
        column = table.columns[j]
        others = np.where(n_rejecting == rejected[j], gain, 0.0)
        sums, missing = table.sums_of(j, others)
        value, changed_mask = best_condition(sums, missing, column.price, column.is_set)
        value -= price - column.price * n_sides(column, mask)
        if value > best_value:
            changed = {**box, j: changed_mask}
            if changed_mask.all() or _says_nothing(column, changed_mask):
                del changed[j]
            if limits.allows(table, changed):
                best_value, best = value, changed
    if limits.allows_more(table, box):
        grown = _best_new(table, box, np.where(inside, gain, 0.0), limits)
        if grown is not None and grown[0] - price > best_value:
            best = grown[1]
    return best


def _best_new(table, box, gain, limits):
    """The best condition on a column that the box does not use yet."""
    sums, missing = table.sums(gain)
    value = best_conditions(sums, missing, table.n_codes, table.prices, table.is_set)
    value[list(box)] = -np.inf
    for j in np.argsort(-value, kind="stable")[:MOST_TRIED]:
        column = table.columns[j]
        _, mask = best_condition(
            sums[j, : column.n_codes], missing[j], column.price, column.is_set
        )
        if mask.all() or _says_nothing(column, mask):
            continue
        changed = {**box, int(j): mask}
        if limits.allows(table, changed):
            return value[j], changed
    return None


def _says_nothing(column, mask):
    return not column.has_missing and mask[:-1].all()


def improve_order(rules):
    """Swap neighbours while that lowers the cost."""
    for k in range(len(rules.boxes) - 1):
        swapped = rules.swapped(k)
        if swapped.cost < rules.cost - LEAST_GAIN:
            rules = swapped
    return rules


def insert_rule(rules, limits, places=None):
    """The best list with one more rule, grown greedily from nothing; or None.

    For every place in the list, and every answer that a new rule could give there, a
    box that accepts all rows is cut down by the best conditions.
    """
    best = None
    loss = rules.loss
    for k in range(len(rules.boxes) + 1) if places is None else places:
        reaching = rules.reaching(k)
        if not reaching.any():
            continue
        passed = loss.row_losses(rules.counts, rules.answering_after(k - 1))
        for counts in loss.proposals(reaching):
            taken = loss.row_losses(np.vstack([rules.counts, counts]), rules.n_rules)
            gain = np.where(reaching, passed - taken, 0.0)
            box = _grow(rules.table, gain, limits)
            if not box:
                continue
            candidate = rules.with_new_box(k, box)
            if best is None or candidate.cost < best.cost:
                best = candidate
    return best


def _grow(table, gain, limits):
    """A box cut down from all rows by the best conditions, one after the other."""
    box = {}
    for _ in range(limits.max_conditions or MOST_GROWN):
        grown = best_change(table, box, gain, limits)
        if grown is None:
            break
        box = grown
    return box


def remove_rules(rules):
    """All lists with one rule less, cheapest first."""
    lists = [rules.without_box(k) for k in range(len(rules.boxes))]
    return sorted(lists, key=lambda one: one.cost)
