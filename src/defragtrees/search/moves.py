"""Moves that lower the cost of rules, and the search.

A move changes one condition of one rule, all else fixed: the gain of a row that reaches
rule k is its loss with the rules after k, less its loss with rule k. The best condition
on a feature is then found exactly among all intervals, or sets, of its codes
(`best_condition`). A move is kept only if it lowers the cost.

`search` goes from several starts to the cheapest rules of every number. Rules are
RuleBoxes, StandaloneBoxes or PointBoxes; the moves are the same for all.
"""

import math
from dataclasses import dataclass
from operator import attrgetter, itemgetter

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from defragtrees._utils.progress import parts
from defragtrees.outcomes.points import find_patterns
from defragtrees.search import kernels
from defragtrees.search.boxes import (
    DIGITS,
    box_price,
    code_gains,
    condition_price,
    n_conditions,
    n_sides,
    rows_in,
    settled,
)

BEAM_WIDTH = 8  # lists of each number of rules that get one more box
N_PROMISING = 2  # starts of each length with a full descent
# Up to so many rules each number is searched for in full, then every sixth part more.
MOST_SEARCHED = 12


def search(empty, starts, limits, insert, n_rounds=1):
    """Search for the cheapest rules of every number; also returns the rounds."""
    best, sizes = {1: empty}, [*range(1, MOST_SEARCHED + 1)]
    while sizes[-1] < limits.max_rules:
        sizes.append(math.ceil(sizes[-1] * 7 / 6))
    sizes = {min(n, limits.max_rules) for n in sizes}

    def keep_improved(rules):
        # Rules of other numbers only lead to those that are searched for in full.
        rules = tidy(rules, limits)
        keep(best, descend(rules, limits) if rules.n_rules in sizes else rules, limits)

    for rules in starts:
        keep_improved(rules)
    grown, cut, n_done = {}, {}, 0
    for _ in parts(range(n_rounds)):
        n_done += 1
        before = {n: rules.cost for n, rules in best.items()}
        for n in parts(range(1, limits.max_rules), 0.0, 0.5):
            # Rules that were tried before are skipped.
            if n in best and grown.get(n) is not best[n]:
                grown[n] = best[n]
                longer = insert(best[n], limits)
                if longer is not None:
                    keep_improved(longer)
        for n in parts(range(limits.max_rules, 2, -1), 0.5, 1.0):
            if n in best and cut.get(n) is not best[n]:
                cut[n] = best[n]
                keep_improved(remove_rule(best[n]))
        if before == {n: rules.cost for n, rules in best.items()}:
            break
    sizes.add(max(best))
    return {n: rules for n, rules in best.items() if n in sizes}, n_done


def promising(starts, limits):
    """The few starts of each length that are cheapest after one round."""
    by_length = {}
    for rules in starts:
        rules = descend(tidy(rules, limits), limits, max_rounds=1, max_steps=2)
        by_length.setdefault(rules.n_rules, []).append(rules)
    for rules in by_length.values():
        yield from sorted(rules, key=attrgetter("cost"))[:N_PROMISING]


def polish(starts, limits, max_rounds, gap_rounds=0):
    """Polish rules on all rows, or by another loss; returns rules by their number.

    If a number is missing, rules are cut from those with one more.
    """
    polished = {}
    for rules in starts:
        keep(polished, descend(tidy(rules, limits), limits, max_rounds), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            shorter = tidy(remove_rule(polished[n + 1]), limits)
            keep(polished, shorter, limits)
            keep(polished, descend(shorter, limits, gap_rounds), limits)
    return limits.completed(polished) if limits.must_use else polished


def pooled(lists, limits):
    """The cheapest lists of every number of rules from the boxes of some lists.

    A beam search: the few cheapest lists of each number get one more box, anywhere.
    """
    pool = {}  # of boxes that accept the same rows, the cheapest
    for rules in lists:
        for box, rows, price in zip(rules.boxes, rules.held, rules.prices, strict=True):
            known = pool.setdefault(rows.tobytes(), (price, box))
            if price < known[0]:
                pool[rows.tobytes()] = price, box
    keys, boxes = list(pool), [box for _, box in pool.values()]
    prices = np.array([price for price, _ in pool.values()])
    loss = lists[0].loss
    # Rows that the same boxes accept are one, with the sums of their counts.
    held = np.array([np.frombuffer(key, dtype=bool) for key in pool])
    held, place = find_patterns(held.reshape(len(keys), len(loss.weight)))
    held = np.ascontiguousarray(held[:, :-1])
    first = np.unique(place, return_index=True)[1]
    sums = held, loss.counts(place, len(held)), prices
    least = max(limits.least_answered, 1e-9 * loss.total_weight)
    best, longer = {}, []
    for n in range(1, limits.max_rules + 1):
        every = [*(rules for rules in lists if rules.n_rules == n), *longer]
        kept = {}  # of the orders of some boxes, the cheapest
        for rules in sorted(every, key=attrgetter("cost")):
            kept.setdefault(frozenset(map(bytes, rules.held)), rules)
        kept, longer = list(kept.items())[:BEAM_WIDTH], []
        if kept:
            best[n] = kept[0][1]
        if not kept or not boxes or n == limits.max_rules:
            continue
        costs = np.array(
            [
                insertion_costs(own, own.answering[first], *sums, least)
                for _, own in kept
            ]
        )
        seen = set()
        for i in np.argsort(costs, axis=None, kind="stable"):
            which, place, box = np.unravel_index(i, costs.shape)
            used, rules = kept[which]
            used |= {keys[box]}
            if np.isinf(costs[which, place, box]) or len(seen) == BEAM_WIDTH:
                break
            if used not in seen:
                made = rules.with_boxes(int(place), boxes[box], n_old=0)
                if limits.allows(made):
                    longer.append(made)
                    seen.add(used)
    return best


def insertion_costs(rules, answering, held, values, prices, least):
    """Nats for a list with one more box, by its place and by box.

    Of rows that the same boxes accept, `answering` is the rule that predicts them,
    `held`, (n_patterns, n_boxes), which boxes accept them, as numbers, and `values`
    their counts. The cost is infinite if a rule would have less than the least weight.
    """
    loss, n = rules.loss, rules.n_rules
    # Sums over the rows that each box would take from each rule.
    taken = np.empty((len(prices), *rules.counts.shape))
    for k in range(n):
        own = np.flatnonzero(answering == k)
        taken[:, k] = held[own].T @ values[own]
    costs = np.empty((n, len(prices)))
    for k in range(n):
        left = taken[:, k:]
        before = np.broadcast_to(rules.counts[:k], taken[:, :k].shape)
        parts = before, left.sum(axis=1, keepdims=True), rules.counts[k:] - left
        counts = np.concatenate(parts, axis=1)
        cost = loss.cost(counts) + prices + sum(rules.prices)
        lowest = loss.weights(counts)[:, :-1].min(axis=1)
        costs[k] = np.where(lowest >= least, cost, np.inf)
    return np.round(costs, DIGITS)


def keep(best, rules, limits):
    """Store rules if they are the cheapest of their number."""
    n = rules.n_rules
    if n <= limits.max_rules and (n not in best or rules.cost < best[n].cost):
        best[n] = rules


def boxes_from_tree(table, target, weight, sizes):
    """Leaves of trees grown on codes, shortest first, without the last.

    One list of boxes per size. Trees are grown best first, so a smaller one is the
    beginning of a larger one.
    """
    grown = DecisionTreeRegressor(max_leaf_nodes=max(sizes), random_state=0)
    tree = grown.fit(table.codes, target, sample_weight=weight).tree_
    lists = []
    for n in sizes:
        boxes, waiting = [], [(0, {})]
        while waiting:
            node, box = waiting.pop()
            left, right = tree.children_left[node], tree.children_right[node]
            if left < 0 or max(left, right) >= 2 * n - 1:
                boxes.append(box)
                continue
            j = int(tree.feature[node])
            below = np.arange(table.n_codes[j] + 1) <= tree.threshold[node]
            accepted = box.get(j, np.ones(len(below), dtype=bool))
            waiting.append((right, {**box, j: accepted & ~below}))
            waiting.append((left, {**box, j: accepted & below}))
        lists.append(sorted(boxes, key=len)[:-1])
    return lists


def best_condition(sums, missing, price, name_price=None, most_named=None):
    """Value and accepted codes of the best condition on one feature, missing last.

    With a name price it is a set that names at most `most_named` codes.

    Examples
    --------
    >>> value, accepted = best_condition(np.array([-2.0, 5.0, -2.0]), 0.0, 1.0)
    >>> float(value), accepted.tolist()
    (3.0, [False, True, False, False])
    """
    n_codes = len(sums)
    if name_price is not None:
        return _best_set(sums, missing, price, name_price, most_named or n_codes)
    # Value, first and last code, and whether missing values are accepted.
    last, reached = n_codes - 1, np.cumsum(sums)
    total = reached[-1] if n_codes else 0.0
    options = [(total + missing, 0, last, True)]
    bonus, takes = max(missing, 0.0), missing > 0
    if n_codes:
        options.append((total - price, 0, last, False))
        options.append((missing - price if missing != 0 else -np.inf, 0, -1, True))
    cuts = reached[:-1]
    if n_codes > 1:
        at = int(cuts.argmin())
        options.append((total - cuts[at] + bonus - price, at + 1, last, takes))
        at = int(cuts.argmax())
        options.append((cuts[at] + bonus - price, 0, at, takes))
    if n_codes > 2:
        between = cuts[1:] - np.minimum.accumulate(cuts)[:-1]
        end = int(between.argmax())
        begin, value = int(cuts[: end + 1].argmin()), between[end] + bonus - 2 * price
        options.append((value, begin + 1, end + 1, takes))
    value, first, last, takes = max(options, key=itemgetter(0))  # the first of equals
    accepted = np.append(np.zeros(n_codes, dtype=bool), takes)
    accepted[first : last + 1] = True
    accepted[-1] = takes
    return value, accepted


def _best_set(sums, missing, price, name_price, most_named):
    """Value and accepted codes of the best set; the smaller side is named."""
    best = (sums.sum() + missing, np.ones(len(sums) + 1, dtype=bool))
    # A condition must accept some codes.
    if missing != 0 and missing - price > best[0]:
        best = (missing - price, np.arange(len(sums) + 1) == len(sums))
    inside, outside = sums > name_price, sums < -name_price
    if len(sums):
        highest, lowest = sums.argmax(), sums.argmin()
        outside[lowest] |= sums[lowest] < 0
        inside[highest], outside[highest] = True, False
    if _n_named(inside) > most_named:
        inside = kernels.largest(sums, inside, most_named)
    if _n_named(outside) > most_named:
        outside = kernels.largest(-sums, outside, most_named)
    for named, gained in (
        (inside, np.where(inside, sums, 0.0).sum()),
        (~outside, np.where(outside, 0.0, sums).sum()),
    ):
        n_further = max(_n_named(named) - 1, 0)
        value = gained + max(missing, 0.0) - price - name_price * n_further
        if value > best[0]:
            best = (value, np.append(named, missing > 0))
    return best


def _n_named(named):
    """Number of codes on the smaller side, which the text names."""
    return int(min(np.count_nonzero(named), np.count_nonzero(~named)))


LEAST_GAIN = 1e-7  # nats; less is rounding
MOST_TRIED = 4  # changes of a rule, best first, before it is given up


def descend(rules, limits, max_rounds=20, max_steps=12):
    """Improve every rule in turn, and their order, until nothing changes."""
    at_rest = {}  # for each rule, the list in which it could not be improved
    for _ in range(max_rounds):
        before = rules.cost
        for k in range(len(rules.boxes)):
            if at_rest.get(k) is not rules:
                rules, is_done = improve_rule(rules, k, limits, max_steps)
                at_rest[k] = rules if is_done else None
        for k in range(len(rules.boxes) - 1):  # swap neighbours
            if rules.swap_gain(k) > 0:
                swapped = rules.with_boxes(k, *rules.boxes[k : k + 2][::-1], n_old=2)
                if swapped.cost < rules.cost - LEAST_GAIN and limits.allows(swapped):
                    rules = swapped
        rules = tidy(rules, limits)
        if rules.cost > before - max(LEAST_GAIN, 1e-6 * abs(before)):
            break
    return rules


def improve_rule(rules, k, limits, max_steps):
    """Change the conditions of rule k one at a time, best change first.

    Returns the rules, and whether this one cannot be improved further.
    """
    for _ in range(max_steps):
        sums, inside = rules.code_gains(k)
        for box in box_changes(
            rules.table, rules.boxes[k], sums, inside, limits, rules.prices[k]
        ):
            changed = rules.with_boxes(k, box)
            if changed.cost < rules.cost - LEAST_GAIN and limits.allows(changed):
                rules = changed
                break
        else:
            return rules, True
    return rules, False


def box_changes(table, box, sums, inside, limits, price=None):
    """Boxes that differ in one condition and gain more, best first.

    `sums` and `inside` are gains in nats, as of `code_gains`, of which the price of the
    conditions is deducted.
    """
    if len(table.part):  # no condition leaves the span of its column
        sums = sums.copy()
        sums[table.part, table.n_codes[table.part]] = -np.inf
    value = kernels.condition_values(
        sums,
        table.n_codes,
        table.prices,
        table.name_prices,
        table.is_set,
        table.most_named,
    )
    price = box_price(table, box) if price is None else price
    value -= price
    most = limits.max_conditions
    if most is not None and n_conditions(table, box) >= most:
        allowed = np.zeros(len(value), dtype=bool)
        allowed[list(box)] = True
        value[~allowed] = -np.inf
    for j, accepted in box.items():
        value[j] += condition_price(table, j, accepted)
    now = inside - price
    if value.max(initial=-np.inf) <= now + LEAST_GAIN:
        return
    # Rounded like costs, so that conditions that accept the same rows tie.
    value = np.round(value, DIGITS)
    for j in np.argsort(-value, kind="stable")[:MOST_TRIED]:
        if value[j] <= now + LEAST_GAIN:
            return
        changed = _with_condition(table, box, int(j), sums[j])
        if changed is not None and limits.allows_box(table, changed):
            yield changed


def _with_condition(table, box, j, sums):
    """The box with the best condition on column j; None if it does not change."""
    column, n_codes = table.columns[j], table.n_codes[j]
    name_price = table.name_prices[j] if column.is_set else None
    missing = sums[n_codes] if column.span is None else -np.inf
    _, accepted = best_condition(
        sums[:n_codes], missing, table.prices[j], name_price, table.most_named
    )
    changed = {i: mask for i, mask in box.items() if i != j}
    if not column.accepts_all(accepted):
        changed[j] = accepted
    elif j not in box:
        return None
    return changed


def use_preferred(rules, limits, order, price):
    """Replace conditions by ones on preferred columns, if that costs little.

    `order` has the preferred columns, the best first. A condition on another column, or
    on one behind, is replaced by one on the first of them for which the cost rises by
    at most `price` nats.
    """
    for k, box in enumerate(rules.boxes):
        for j in box:
            for better in order[: order.index(j) if j in order else None]:
                others = rules.boxes[k].items()
                rest = {i: mask for i, mask in others if i not in (j, better)}
                sums, _ = code_gains(rules.table, rest, rules.row_gains(k))
                found = _with_condition(rules.table, rest, better, sums[better])
                if found is None or not limits.allows_box(rules.table, found):
                    continue
                changed = rules.with_boxes(k, found)
                if limits.allows(changed) and changed.cost <= rules.cost + price:
                    rules = changed
                    break
    return rules


def remove_rule(rules):
    """The cheapest list with one rule removed."""
    return min(map(rules.with_boxes, rules.removable()), key=attrgetter("cost"))


def tidy(rules, limits):
    """Remove boxes that predict too few rows, have no condition or violate a limit."""
    for k in range(len(rules.boxes) - 1, -1, -1):
        weight = rules.weights[k]
        is_idle = weight <= 0 or weight < limits.least_answered
        if is_idle or not rules.boxes[k]:
            return tidy(rules.with_boxes(k), limits)
    while rules.boxes and not limits.allows(rules):
        rules = remove_rule(rules)
    return rules


MOST_GROWN = 6  # conditions of a new rule; descent may add more
N_SEEDS = 6  # first conditions that are grown into rules


@dataclass(frozen=True, eq=False)
class Seed:
    """The first condition of a new rule."""

    value: float  # gain in nats, less its price
    place: int  # of the rule in the list
    column: int
    accepted: np.ndarray  # codes of the column, missing last


def insert_rule(rules, limits):
    """Find the cheapest list with one more rule; None if there is none.

    Candidates are the two sides of every cut of every column at every place, each with
    its own mean. The few best ones are narrowed by further conditions.
    """
    seeds, terms = [], {}
    for k in range(len(rules.boxes) + 1):
        reaching = ~rules.held[:k].any(axis=0)  # rows that no box before k accepts
        if not reaching.any():
            continue
        constant, linear, quadratic = rules.loss.new_rule_terms(
            rules.counts, kernels.first_true(rules.held, k)
        )
        terms[k] = (
            np.where(reaching, constant, 0.0),
            np.where(reaching[:, None], linear, 0.0),
            np.where(reaching, quadratic, 0.0),
        )
        seeds += find_seeds(rules.table, k, terms[k])

    def gain(seed, inside):
        constant, linear, quadratic = terms[seed.place]
        mean = linear[inside].sum(axis=0) / max(quadratic[inside].sum(), 1e-300)
        return constant + 2 * (linear @ mean) - (mean @ mean) * quadratic

    return grow_seeds(rules, seeds, gain, limits)


def grow_seeds(rules, seeds, gain, limits):
    """Find the cheapest rules with one more, grown from the best seeds; or None.

    A seed is narrowed by the best conditions, one at a time. `gain(seed, inside)` is
    what each row brings to the new rule if it now matches the rows inside.
    """
    seeds = sorted(seeds, key=attrgetter("value"), reverse=True)
    longer = []
    for seed in seeds[:N_SEEDS]:
        box = {seed.column: seed.accepted}
        for _ in range((limits.max_conditions or MOST_GROWN) - 1):
            gains = gain(seed, rows_in(rules.table, box))
            sums, inside = code_gains(rules.table, box, gains)
            changed = next(box_changes(rules.table, box, sums, inside, limits), None)
            if not changed:
                break
            box = changed
        longer.append(rules.with_boxes(seed.place, box, n_old=0))
    allowed = filter(limits.allows, longer)
    return min(allowed, key=attrgetter("cost"), default=None)


def find_seeds(table, place, terms):
    """The Seeds of the best cuts for a rule at this place, one of a column."""
    constant, linear, quadratic = terms
    rows = [constant, quadratic, *linear.T]
    sums, order = _ordered_sums(table, rows, slice(2, None), 1)
    values, cuts, are_low = kernels.best_cuts(sums, table.n_codes, table.cut_prices)
    seeds, values = [], np.round(values, DIGITS)
    for j in np.argsort(-values, kind="stable")[:N_SEEDS].tolist():
        if np.isinf(values[j]):
            break
        accepted = np.zeros(table.n_codes[j] + 1, dtype=bool)
        below = slice(cuts[j] + 1)
        above = slice(cuts[j] + 1, len(accepted) - 1)
        accepted[order[j, below if are_low[j] else above]] = True
        seeds.append(Seed(values[j], place, j, accepted))
    return seeds


def _ordered_sums(table, rows, outputs, weight):
    """Sums of numbers per row by column and code, and the codes of each in order.

    The sums have the shape (len(rows), n_columns, width). Categories are in the order
    of their mean output; `outputs` and `weight` are the places of these in the rows.
    """
    nobody = np.zeros(table.n_rows, dtype=np.uint8), np.zeros(table.n_rows, np.intp)
    parts = (np.ascontiguousarray(row) for row in rows)
    sums = np.stack(
        [kernels.gain_sums(table.codes, own, *nobody, table.width) for own in parts]
    )
    order = np.tile(np.arange(table.width), (len(table.columns), 1))
    if table.is_set.any():
        widest = sums[outputs][int((sums[outputs] ** 2).sum(axis=(1, 2)).argmax())]
        for j in np.flatnonzero(table.is_set):
            n = table.n_codes[j]
            means = widest[j, :n] / np.maximum(sums[weight, j, :n], 1e-300)
            order[j, :n] = np.argsort(means, kind="stable")
        sums = np.take_along_axis(sums, order[None], axis=2)
    return sums, order


N_GROWN_SEEDS = 4  # columns whose best cut is grown into rules, from either side
MOST_FITTED = 4  # rules that were grown, the most promising first
MOST_GROWN_BOXES = 4  # conditions of a new rule, if there is no limit


@dataclass(frozen=True, eq=False)
class Cut:
    """A condition on one column."""

    fall: float  # decrease of the loss, with all points fitted again
    column: int
    accepted: np.ndarray  # codes of the column, missing last
    side: int  # -1 if it accepts values below, 1 if above


def best_cuts(rules, inside, signs, sign=0):
    """The best Cut of each column for one more box of the rows inside, on either side.

    `signs` are those that the points of a box above a cut must have, by column, and
    `sign` that of the box; 0 is any.
    """
    table, (slopes, inverse) = rules.table, rules.curvature
    n_outputs = len(slopes) - len(inverse)
    sums, order = _ordered_sums(
        table, np.where(inside, slopes, 0.0), slice(n_outputs), -1
    )
    places = np.arange(table.width)[None, :]
    is_code = places < table.n_codes[:, None]
    reached = np.cumsum(np.where(is_code, sums, 0.0), axis=2)
    is_cut = np.isfinite(table.cut_prices)
    last = (table.n_codes - 1)[:, None]
    missing = sums[:, np.arange(len(table.columns)), table.n_codes][:, :, None]
    best = []
    for side in (-1, 1):
        sums = reached if side < 0 else reached[:, :, -1:] - reached
        is_inside = places < last
        if side < 0:  # all numbers of a span
            is_inside[table.part] |= places == last[table.part]
        for takes_missing in (False, True):
            if takes_missing and not missing.any():
                continue
            total = sums + missing if takes_missing else sums
            is_allowed = is_cut & is_inside & (total[0] * sign >= 0)
            is_allowed &= total[0] * (side * signs)[:, None] >= 0
            # The decrease of the loss. A linear combination of other boxes gains
            # nothing.
            slope, overlap = total[:n_outputs], total[n_outputs:]
            shared = np.tensordot(inverse, overlap, axes=1)
            rest = overlap[-1] - (overlap * shared).sum(axis=0) + rules.loss.prior
            rest = np.where(rest > 1e-6 * overlap[-1] + 1e-12, rest, np.inf)
            fall = np.where(is_allowed, (slope**2).sum(axis=0) / rest, -np.inf)
            for j, column in enumerate(table.columns):
                at = fall[j].argmax()
                is_missing = column.has_missing and column.span is None
                is_known = is_missing or not takes_missing
                if is_known and np.isfinite(fall[j, at]):
                    codes = order[j, : table.n_codes[j]]
                    accepted = np.zeros(len(codes) + 1, dtype=bool)
                    accepted[codes[: at + 1] if side < 0 else codes[at + 1 :]] = True
                    accepted[-1] = takes_missing
                    best.append(Cut(float(fall[j, at]), j, accepted, side))
    return best


def grow_rule(rules, limits, n_seeds=N_GROWN_SEEDS):
    """Find the cheapest set with one more rule; None if there is none."""
    table, (slopes, inverse) = rules.table, rules.curvature
    # With a feature, sums may only fall, -1, or only rise, 1.
    signs = np.array([limits.monotone.get(c.feature, 0) for c in table.columns], int)
    cuts = best_cuts(rules, np.ones(table.n_rows, dtype=bool), signs)
    cuts = sorted(cuts, key=lambda cut: -_value(rules, cut, {})[0])
    columns = list(dict.fromkeys(cut.column for cut in cuts))[:n_seeds]
    grown = [_grown(rules, signs, c, limits) for c in cuts if c.column in columns]
    longer, k = [], len(rules.boxes)
    for _, box in sorted(grown, key=itemgetter(0), reverse=True)[:MOST_FITTED]:
        # Points near those of the box, with all others fixed.
        sums = slopes[:, rows_in(table, box)].sum(axis=1)
        slope, overlap = np.split(sums, [-len(inverse)])
        rest = overlap[-1] - overlap @ inverse @ overlap + rules.loss.prior
        start = np.insert(rules.points, k, slope / max(rest, 1e-12), axis=0)
        longer.append(rules.with_boxes(k, box, n_old=0, start=start))
    allowed = filter(limits.allows, longer)
    return min(allowed, key=attrgetter("cost"), default=None)


def _grown(rules, signs, seed, limits):
    """The value of a seed narrowed by the best conditions, one at a time; its box."""
    value, box = _value(rules, seed, {})
    # The required sign of the points of the box.
    sign = int(seed.side * signs[seed.column])
    for _ in range((limits.max_conditions or MOST_GROWN_BOXES) - 1):
        cuts = best_cuts(rules, rows_in(rules.table, box), signs, sign)
        narrowed = [(*_value(rules, cut, box), cut) for cut in cuts]
        best, *found = max(narrowed, key=itemgetter(0), default=(value,))
        if best <= value or not limits.allows_box(rules.table, found[0]):
            break
        value, (box, cut) = best, found
        sign = int(cut.side * signs[cut.column]) or sign
    return value, box


def _value(rules, cut, box):
    """Gain of a box with a cut in nats, less the price of its conditions; the box."""
    share = cut.fall / (rules.spread * rules.loss.base_deviance)
    # The quadratic approximation fails near zero loss.
    brought = -0.5 * rules.loss.total_weight * np.log1p(-min(share, 0.99))
    box = {**box, cut.column: cut.accepted & box.get(cut.column, True)}
    return settled(brought - box_price(rules.table, box)), box


def cut_conditions(rules, limits):
    """Lists with one condition removed after the other, until none is left."""
    while rules.boxes:
        _, k, box = max(_shorter_boxes(rules), key=itemgetter(0))
        rules = tidy(rules.with_boxes(k, box), limits)
        yield rules


def cut_to_limits(rules, limits):
    """Remove conditions beyond the limits, the least useful first."""
    while rules.boxes:
        boxes = enumerate(rules.boxes)
        wrong = [k for k, box in boxes if not limits.allows_box(rules.table, box)]
        most = limits.max_total
        if not wrong and (most is None or rules.n_conditions <= most):
            break
        _, k, box = max(_shorter_boxes(rules, wrong or None), key=itemgetter(0))
        rules = rules.with_boxes(k, *([box] if box else []))
    return rules


def _shorter_boxes(rules, places=None):
    """Gain in nats, rule and box without one of its sides, for each side."""
    table = rules.table
    for k in range(len(rules.boxes)) if places is None else places:
        box = rules.boxes[k]
        sums, _ = rules.code_gains(k)
        for j, accepted in box.items():
            column, inside = table.columns[j], np.flatnonzero(accepted[:-1])
            # Without the condition, or of an interval without one of two sides.
            wider_ones = [np.ones_like(accepted)]
            if not column.is_set and n_sides(column, accepted) == 2:
                for side in (slice(None, inside[0]), slice(inside[-1] + 1, -1)):
                    wider_ones.append(accepted.copy())
                    wider_ones[-1][side] = True
            for wider in wider_ones:
                rest = {i: mask for i, mask in box.items() if i != j}
                saved = condition_price(table, j, accepted)
                if not column.accepts_all(wider):
                    rest[j] = wider
                    saved -= condition_price(table, j, wider)
                gained = sums[j, : len(accepted)][wider & ~accepted].sum()
                yield settled(gained + saved), k, rest
