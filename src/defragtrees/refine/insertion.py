"""A new rule for a list: where it stands, what it answers, and its conditions."""

from dataclasses import dataclass

import numpy as np

from defragtrees.refine.kernels import best_cuts, gain_sums
from defragtrees.refine.moves import box_changes
from defragtrees.refine.rulelist import rows_in, settled

__all__ = ["find_seeds", "insert_rule"]

MOST_GROWN = 6  # conditions that a new rule is grown by; descent may add more
N_SEEDS = 6  # first conditions that are grown into rules


@dataclass(frozen=True, eq=False)
class Seed:
    """The first condition of a new rule.

    Parameters
    ----------
    value : float
        What it gains, in nats, less its price.
    place : int
        Where the rule would stand.
    column : int
    accepted : bool array
        Codes of the column, missing last.
    """

    value: float
    place: int
    column: int
    accepted: np.ndarray


def insert_rule(rules, limits, places=None, n_seeds=N_SEEDS):
    """The cheapest list found with one more rule; None if there is none.

    At every place, and for every cut of every column, the rows on either side could
    have a rule of their own, with their own mean. The few best of these are grown by
    further conditions.

    Parameters
    ----------
    rules : RuleBoxes
        With a SquaredLoss or BothLoss.
    limits : Limits
    places : sequence of int, optional
        Where the rule may stand; anywhere by default.
    """
    best = None
    seeds, terms = [], {}
    for k in range(len(rules.boxes) + 1) if places is None else places:
        reaching = rules.reaching(k)
        if not reaching.any():
            continue
        constant, linear, quadratic = rules.loss.new_rule_terms(
            rules.counts, rules.answering_after(k - 1)
        )
        terms[k] = (
            np.where(reaching, constant, 0.0),
            np.where(reaching[:, None], linear, 0.0),
            np.where(reaching, quadratic, 0.0),
        )
        seeds += find_seeds(rules.table, k, terms[k])
    seeds.sort(key=lambda seed: -seed.value)
    for seed in seeds[:n_seeds]:
        box = _grow(rules.table, seed, terms[seed.place], limits)
        longer = rules.with_new_box(seed.place, box)
        if limits.allows(longer) and (best is None or longer.cost < best.cost):
            best = longer
    return best


def find_seeds(table, place, terms):
    """For each column the best cut for a rule at this place.

    Parameters
    ----------
    table : RowTable
    place : int
    terms : tuple of array
        What rows gain by the rule; see `SquaredLoss.new_rule_terms`.

    Returns
    -------
    list of Seed
    """
    constant, linear, quadratic = terms
    n_rejecting = np.zeros(table.n_rows, dtype=np.uint8)
    rejecting = np.zeros(table.n_rows, dtype=np.intp)

    def by_code(values):
        values = np.ascontiguousarray(values)
        return gain_sums(table.codes, values, n_rejecting, rejecting, table.width)

    sums = np.stack([by_code(constant), by_code(quadratic), *map(by_code, linear.T)])
    order = _code_order(table, sums)
    if table.is_set.any():
        sums = np.take_along_axis(sums, order[None], axis=2)
    values, cuts, are_low = best_cuts(sums, table.n_codes, table.cut_prices)
    seeds = []
    for j in np.flatnonzero(np.isfinite(values)).tolist():
        accepted = np.zeros(table.columns[j].n_codes + 1, dtype=bool)
        below = slice(cuts[j] + 1)
        above = slice(cuts[j] + 1, len(accepted) - 1)
        accepted[order[j, below if are_low[j] else above]] = True
        seeds.append(Seed(settled(values[j]), place, j, accepted))
    return seeds


def _code_order(table, sums):
    """Codes of each column in order; categories by the mean of the widest output."""
    order = np.tile(np.arange(table.width), (len(table.columns), 1))
    if table.is_set.any():
        widest = 2 + int((sums[2:] ** 2).sum(axis=(1, 2)).argmax())
        for j in np.flatnonzero(table.is_set):
            n = table.n_codes[j]
            weight = np.maximum(sums[1, j, :n], 1e-300)
            order[j, :n] = np.argsort(sums[widest, j, :n] / weight, kind="stable")
    return order


def _grow(table, seed, terms, limits):
    """A box cut down from the seed by the best conditions, one after the other."""
    constant, linear, quadratic = terms
    box = {seed.column: seed.accepted}
    for _ in range((limits.max_conditions or MOST_GROWN) - 1):
        inside = rows_in(table, box)
        weight = max(quadratic[inside].sum(), 1e-300)
        mean = linear[inside].sum(axis=0) / weight
        gain = constant + 2 * (linear @ mean) - (mean @ mean) * quadratic
        grown = next(box_changes(table, box, gain, limits), None)
        if not grown:
            break
        box = grown
    return box
