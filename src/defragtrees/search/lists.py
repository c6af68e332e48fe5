"""RuleBoxes: an ordered list of boxes over the rows of a table, with its cost."""

from functools import cached_property

import numpy as np

from defragtrees.search import kernels

MOST_PATTERNS = 20_000
SLACK = 1e-12


def ordered_pairs(boxes, feature, n_codes):
    """Pairs of rules of which the second can follow the first as a feature rises.

    A few pairs may be among them that cannot, but none is left out. None if there are
    too many patterns to look at.

    Examples
    --------
    >>> low = {0: np.array([True, False, False])}
    >>> sorted(ordered_pairs([low], 0, 2))
    [(0, 1)]
    """
    others = [{j: m for j, m in box.items() if j != feature} for box in boxes]
    along = [box.get(feature) for box in boxes]
    last = max((k for k, mask in enumerate(along) if mask is not None), default=-1)
    pairs, n_patterns = set(), 0
    waiting = [(0, {}, (), ())]
    while waiting:
        k, common, inside, left_out = waiting.pop()
        is_done = k > last or (inside and along[inside[-1]] is None)
        if not is_done:
            narrower = _intersection(common, others[k])
            if narrower is not None:
                waiting.append((k + 1, narrower, (*inside, k), left_out))
            if not _is_within(common, others[k]):
                waiting.append((k + 1, common, inside, (*left_out, k)))
            continue
        n_patterns += 1
        if n_patterns > MOST_PATTERNS:
            return None
        if any(_is_within(common, others[r]) for r in left_out):
            continue
        pairs |= _turns(inside, along, others, common, len(boxes), n_codes)
    return pairs


def _turns(inside, along, others, common, n_boxes, n_codes):
    """Who follows whom along the feature, if just these rules can hold."""
    if all(along[k] is None for k in inside):
        return set()
    # Behind the last rule that asks about the feature, whoever can answers the rest.
    rest = {n_boxes}
    if not inside or along[inside[-1]] is not None:
        begin = max((k for k, mask in enumerate(along) if mask is not None)) + 1
        for k in range(begin, n_boxes):
            if _intersection(common, others[k]) is not None:
                rest.add(k)
    turns = set()
    for final in rest:
        answering = np.full(n_codes, final)
        for k in reversed(inside):
            mask = True if along[k] is None else along[k][:n_codes]
            answering[mask] = k
        steps = np.flatnonzero(np.diff(answering))
        turns |= {(int(answering[i]), int(answering[i + 1])) for i in steps}
    return turns


def _intersection(common, box):
    """What two boxes accept together; None if it is nothing."""
    merged = dict(common)
    for j, mask in box.items():
        both = mask & merged[j] if j in merged else mask
        if not both.any():
            return None
        merged[j] = both
    return merged


def _is_within(common, box):
    """Whether a box accepts all that the common one does."""
    return all(
        mask.all() if j not in common else not (common[j] & ~mask).any()
        for j, mask in box.items()
    )


def breaks_order(pairs, answers, sign):
    """Pairs of rules whose answers go the wrong way.

    Examples
    --------
    >>> breaks_order({(0, 1), (1, 2)}, np.array([0.1, 0.3, 0.2]), 1)
    [(1, 2)]
    """
    return [
        (a, b) for a, b in sorted(pairs) if sign * (answers[b] - answers[a]) < -SLACK
    ]


DIGITS = 6  # of nats, after the point
RULE_PRICE = 1.0  # nats for one more rule, beside its conditions and its answer


class Boxes:
    """Boxes over the rows of a `table`, whatever they answer together.

    A box is a dict from column number to the codes that it accepts (a bool array,
    missing last). They are not changed: `with_box` and the like give new ones.
    """

    @property
    def n_rules(self):
        """Number of rules, the last "otherwise" included."""
        return len(self.boxes) + 1

    @property
    def n_conditions(self):
        """Number of conditions of all rules."""
        return sum(n_conditions(self.table, box) for box in self.boxes)

    @property
    def least_answered(self):
        """Weight of the rows of the rule, the last left out, that has fewest."""
        return self.weights[:-1].min(initial=np.inf)

    def code_gains(self, k):
        """What rule k would gain by column and code, and what it gains as it is."""
        return code_gains(self.table, self.boxes[k], self.row_gains(k))


class BoxList(Boxes):
    """An ordered list of boxes with counts of the rows that each answers.

    Where rows are, and what they say of a change, is for the classes below to know:
    each has `table`, `loss`, `boxes`, `prices`, `counts` and `cost`.
    """

    @property
    def weights(self):
        """Weight of the rows that each rule answers, the last one included."""
        return self.loss.weights(self.counts)

    @property
    def price(self):
        """Nats for all rules and their conditions."""
        return sum(self.prices) + RULE_PRICE * len(self.prices)

    def without_box(self, k):
        """The list without box k."""
        return self._ordered([i for i in range(len(self.boxes)) if i != k])

    def swapped(self, k):
        """The list with boxes k and k + 1 in the other order."""
        order = list(range(len(self.boxes)))
        order[k], order[k + 1] = order[k + 1], order[k]
        return self._ordered(order)

    def keeps_order(self, j, sign):
        """Whether answers only fall, or only rise, with a column."""
        pairs = ordered_pairs(self.boxes, j, self.table.columns[j].n_codes)
        answers = self.loss.answers(self.counts)
        return pairs is not None and not breaks_order(pairs, answers, sign)


class RuleBoxes(BoxList):
    """An ordered list of boxes, and which rule predicts which row.

    `held`, (n_boxes, n_samples), is which rows each box accepts; `prices` are nats for
    the conditions of each box; `answering` is the place of the first box that accepts a
    row.
    """

    def __init__(self, table, loss, boxes, held=None, prices=None, answering=None):
        self.table = table
        self.loss = loss
        self.boxes = tuple(boxes)
        if held is None:
            held = np.array([rows_in(table, box) for box in self.boxes], dtype=bool)
            held = held.reshape(len(self.boxes), table.n_rows)
            prices = tuple(box_price(table, box) for box in self.boxes)
        self.held = held
        self.prices = prices
        self.answering = kernels.first_true(held) if answering is None else answering
        self.counts = loss.counts(self.answering, len(self.boxes) + 1)
        self.fit_cost = settled(loss.cost(self.counts))
        self.cost = settled(self.fit_cost + self.price)

    def with_box(self, k, box):
        """The list with another box at place k."""
        held = self.held.copy()
        held[k] = rows_in(self.table, box)
        return RuleBoxes(
            self.table,
            self.loss,
            (*self.boxes[:k], box, *self.boxes[k + 1 :]),
            held,
            (*self.prices[:k], box_price(self.table, box), *self.prices[k + 1 :]),
            kernels.first_true_again(held, self.answering, k),
        )

    def with_new_box(self, k, box):
        """The list with one more box, at place k."""
        return RuleBoxes(
            self.table,
            self.loss,
            (*self.boxes[:k], box, *self.boxes[k:]),
            np.insert(self.held, k, rows_in(self.table, box), axis=0),
            (*self.prices[:k], box_price(self.table, box), *self.prices[k:]),
        )

    def _ordered(self, order):
        return RuleBoxes(
            self.table,
            self.loss,
            tuple(self.boxes[i] for i in order),
            self.held[np.array(order, dtype=np.intp)],
            tuple(self.prices[i] for i in order),
        )

    def reaching(self, k):
        """Rows that no box before k accepts."""
        return ~self.held[:k].any(axis=0)

    def answering_after(self, k):
        """Who would answer each row if the boxes up to k did not."""
        return kernels.first_true(self.held, k + 1)

    def row_gains(self, k):
        """What the list gains for each row if rule k accepts it; 0 where it cannot."""
        return kernels.row_gains(self.held, self.answering, k, *self._gain_terms)

    def code_gains(self, k):
        """What rule k would gain by column and code, and what it gains as it is."""
        table = self.table
        box = table.packed(self.boxes[k])
        rows = self.held, self.answering, k, *self._gain_terms
        sums, inside = kernels.rule_gains(*rows, table.codes, *box, table.width)
        return sums, inside.sum()

    @cached_property
    def _gain_terms(self):
        return self.loss.gain_terms(self.counts)

    def widenings(self, k):
        """Conditions of rule k: column, accepted codes, and gains of other codes."""
        columns, accepted = self.table.packed(self.boxes[k])
        rows = self.held, self.answering, k, *self._gain_terms
        gains = kernels.near_gains(*rows, self.table.codes, columns, accepted)
        for own, (j, mask) in zip(gains, self.boxes[k].items(), strict=True):
            yield j, mask, own[: len(mask)]

    def swap_gain(self, k):
        """What it gains, but for rounding, to swap boxes k and k + 1."""
        moved = self.held[k + 1] & (self.answering == k)
        if not moved.any():
            return 0.0  # their order is felt only where both hold
        answering = np.where(moved, k + 1, self.answering)
        counts = self.loss.counts(answering, self.n_rules)
        return self.fit_cost - settled(self.loss.cost(counts))


def settled(nats):
    """Nats without their last digits, which depend on how a processor adds up.

    Lists that differ in nothing that counts, such as two rules in either order that no
    row passes both, then cost the same on every machine, and the first one is kept.

    Examples
    --------
    >>> settled(0.1 + 0.2) == settled(0.3)
    True
    """
    return round(float(nats), DIGITS)


def rows_in(table, box):
    """Which rows of a table a box accepts."""
    held = np.ones(table.n_rows, dtype=bool)
    for j, accepted in box.items():
        held &= accepted[table.column_codes(j)]
    return held


def code_gains(table, box, gain):
    """Sums of what rows gain by column and code, and over the rows in a box.

    Those of a column are over the rows that all conditions on other columns accept.
    """
    n_rejecting, rejecting = kernels.rejections(table.codes, *table.packed(box))
    sums = kernels.gain_sums(table.codes, gain, n_rejecting, rejecting, table.width)
    return sums, gain[n_rejecting == 0].sum()


def box_price(table, box):
    """Nats for the conditions of a box."""
    return sum(condition_price(table, j, accepted) for j, accepted in box.items())


def condition_price(table, j, accepted):
    """Nats for one condition: its finite sides, or the categories that it names."""
    column = table.columns[j]
    if not column.is_set:
        return table.prices[j] * n_sides(column, accepted)
    n_inside = int(np.count_nonzero(accepted[:-1]))
    n_further = max(min(n_inside, column.n_codes - n_inside) - 1, 0)
    return table.prices[j] + table.name_prices[j] * n_further


def n_conditions(table, box):
    """How many conditions a box has."""
    return sum(n_sides(table.columns[j], accepted) for j, accepted in box.items())


def n_sides(column, accepted):
    """How many things a condition asks, as `Condition.n_sides` counts them."""
    if column.is_set or accepted[0] or accepted[column.n_codes - 1]:
        return 1
    return 2 if accepted[:-1].any() else 1
