"""Moves that lower the cost of a rule list; each is kept only if it does.

One rule and one feature at a time, all else fixed: a row that reaches rule k gains its
loss with the rules after k, less its loss with rule k. The best condition on a feature
is then found exactly (`segments`) among all intervals, or sets, of its codes.
"""

import numpy as np

from defragtrees.refine.kernels import condition_values
from defragtrees.refine.rulelist import (
    DIGITS,
    box_price,
    code_gains,
    condition_price,
)
from defragtrees.refine.segments import best_condition

__all__ = [
    "LEAST_GAIN",
    "box_changes",
    "changes_by_sums",
    "descend",
    "remove_rule",
    "tidy",
]

LEAST_GAIN = 1e-7  # nats; less is rounding
MOST_TRIED = 4  # changes of a rule, best first, before it is left as it is


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
    at_rest = {}  # for each rule the list in which nothing more moved it
    for _ in range(max_rounds):
        before = rules.cost
        for k in range(len(rules.boxes)):
            if at_rest.get(k) is not rules:
                rules, is_done = _improved(rules, k, limits, max_steps)
                at_rest[k] = rules if is_done else None
        rules = tidy(improve_order(rules, limits), limits)
        if rules.cost > before - max(LEAST_GAIN, 1e-6 * abs(before)):
            break
    return rules


def improve_rule(rules, k, limits, max_steps):
    """Change the conditions of rule k one at a time, best change first."""
    return _improved(rules, k, limits, max_steps)[0]


def _improved(rules, k, limits, max_steps):
    """What `improve_rule` gives, and whether nothing more moves the rule."""
    for _ in range(max_steps):
        sums, inside = rules.code_gains(k)
        options = changes_by_sums(
            rules.table, rules.boxes[k], sums, inside, limits, rules.prices[k]
        )
        for _, box in options:
            changed = rules.with_box(k, box)
            if changed.cost < rules.cost - LEAST_GAIN and limits.allows(changed):
                rules = changed
                break
        else:
            return rules, True
    return rules, False


def box_changes(table, box, gain, limits):
    """Boxes that differ in one condition and gain more, best first.

    Parameters
    ----------
    table : RowTable
    box : dict
    gain : array of shape (n_samples,)
        What is gained for each row that the box accepts.
    limits : Limits
    """
    sums, inside = code_gains(table, box, gain)
    for _, changed in changes_by_sums(table, box, sums, inside, limits):
        yield changed


def changes_by_sums(table, box, sums, inside, limits, price=None):
    """Boxes that differ in one condition, best first, and what each gains more.

    Parameters
    ----------
    table : RowTable
    box : dict
    sums : array of shape (n_columns, width)
        What is gained by column and code, over the rows that all conditions on other
        columns accept.
    inside : float
        What is gained over the rows in the box.
    limits : Limits
    price : float, optional
        Nats for the conditions of the box, where they are at hand.

    Yields
    ------
    more : float
        In nats, less the price of the conditions.
    changed : dict
    """
    value = condition_values(
        sums, table.n_codes, table.prices, table.name_prices, table.is_set
    )
    price = box_price(table, box) if price is None else price
    value -= price
    if not limits.allows_longer(table, box):
        allowed = np.zeros(len(value), dtype=bool)
        allowed[list(box)] = True
        value[~allowed] = -np.inf
    for j, accepted in box.items():
        value[j] += condition_price(table, j, accepted)
    now = inside - price
    if value.max(initial=-np.inf) <= now + LEAST_GAIN:
        return
    # Rounded as costs are, so that conditions that accept the same rows tie.
    value = np.round(value, DIGITS)
    for j in np.argsort(-value, kind="stable")[:MOST_TRIED]:
        if value[j] <= now + LEAST_GAIN:
            return
        changed = _with_condition(table, box, int(j), sums[j])
        if changed is not None and limits.allows_box(table, changed):
            yield float(value[j] - now), changed


def _with_condition(table, box, j, sums):
    """The box with the best condition on column j; None if it stays as it is."""
    column = table.columns[j]
    n_codes = column.n_codes
    name_price = table.name_prices[j] if column.is_set else None
    _, accepted = best_condition(
        sums[:n_codes], sums[n_codes], table.prices[j], name_price
    )
    changed = {i: mask for i, mask in box.items() if i != j}
    if not column.accepts_all(accepted):
        changed[j] = accepted
    elif j not in box:
        return None
    return changed


def improve_order(rules, limits):
    """Swap neighbours while that lowers the cost."""
    for k in range(len(rules.boxes) - 1):
        if rules.swap_gain(k) <= 0:
            continue
        swapped = rules.swapped(k)
        if swapped.cost < rules.cost - LEAST_GAIN and limits.allows(swapped):
            rules = swapped
    return rules


def remove_rule(rules):
    """The cheapest list with one rule less."""
    lists = [rules.without_box(k) for k in range(len(rules.boxes))]
    return min(lists, key=lambda shorter: shorter.cost)


def tidy(rules, limits):
    """The list without boxes that answer too few rows or have no condition."""
    for k in range(len(rules.boxes) - 1, -1, -1):
        weight = rules.weights[k]
        is_idle = weight <= 0 or weight < limits.least_answered
        if is_idle or not rules.boxes[k]:
            return tidy(rules.without_box(k), limits)
    return limits.repaired(rules)
