"""RuleBoxes: an ordered list of boxes over the rows of a table, with its cost."""

from functools import cached_property

import numpy as np

from defragtrees.search import kernels

MOST_PATTERNS = 20_000
SLACK = 1e-12


def ordered_pairs(boxes, feature, n_codes):
    """Pairs of rules in which the second can follow the first as a feature increases.

    The result may have a few pairs too many, but none is missing. None if there are too
    many patterns to check.

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
    """Pairs of successive rules along the feature, if only these rules can match."""
    if all(along[k] is None for k in inside):
        return set()
    # After the last rule on the feature, any other rule may predict the rest.
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
    """The intersection of two boxes; None if it is empty."""
    merged = dict(common)
    for j, mask in box.items():
        both = mask & merged[j] if j in merged else mask
        if not both.any():
            return None
        merged[j] = both
    return merged


def _is_within(common, box):
    """Whether a box contains the common one."""
    return all(
        mask.all() if j not in common else not (common[j] & ~mask).any()
        for j, mask in box.items()
    )


def breaks_order(pairs, answers, sign):
    """Pairs of rules whose predictions violate a monotone constraint.

    Examples
    --------
    >>> breaks_order({(0, 1), (1, 2)}, np.array([0.1, 0.3, 0.2]), 1)
    [(1, 2)]
    """
    return [
        (a, b) for a, b in sorted(pairs) if sign * (answers[b] - answers[a]) < -SLACK
    ]


DIGITS = 6  # of nats, after the point
RULE_PRICE = 1.0  # nats per rule, besides its conditions and its prediction


class Boxes:
    """Boxes over the rows of a `table`, combined in any form.

    A box is a dict from column number to the codes that it accepts (a bool array,
    missing last). Boxes are immutable: `with_box` and the like return new ones.
    `held`, (n_boxes, n_samples), is which rows each box accepts; `prices` are nats for
    the conditions of each box.
    """

    def __init__(self, table, loss, boxes, held=None, prices=None):
        self.table = table
        self.loss = loss
        self.boxes = tuple(boxes)
        if held is None:
            held = np.array([rows_in(table, box) for box in self.boxes], dtype=bool)
            held = held.reshape(len(self.boxes), table.n_rows)
            prices = tuple(box_price(table, box) for box in self.boxes)
        self.held, self.prices = held, prices

    def with_box(self, k, box):
        """The rules with another box at place k."""
        return self._replaced(k, 1, box)

    def with_new_box(self, k, box):
        """The rules with one more box, at place k."""
        return self._replaced(k, 0, box)

    def without_box(self, k):
        """The rules without box k."""
        return self._replaced(k, 1)

    def _replaced(self, k, n_old, *new, **known):
        """The rules with new boxes in place of some from k on."""
        end = k + n_old
        accepted = [rows_in(self.table, box)[None] for box in new]
        held = np.concatenate([self.held[:k], *accepted, self.held[end:]])
        prices = [box_price(self.table, box) for box in new]
        return type(self)(
            self.table,
            self.loss,
            (*self.boxes[:k], *new, *self.boxes[end:]),
            held,
            (*self.prices[:k], *prices, *self.prices[end:]),
            **(known or self._kept(held, k, n_old, len(new))),
        )

    def _kept(self, held, k, n_old, n_new):
        """What the rules with new boxes need not find again, by argument."""
        return {}

    def swap_gain(self, k):
        """Gain of swapping boxes k and k + 1; 0 of rules without an order."""
        return 0.0

    @property
    def n_rules(self):
        """Number of rules, including the default rule."""
        return len(self.boxes) + 1

    @property
    def n_conditions(self):
        """Number of conditions of all rules."""
        return sum(n_conditions(self.table, box) for box in self.boxes)

    @property
    def least_answered(self):
        """Smallest weight of the rows of a rule, except the default rule."""
        return self.weights[:-1].min(initial=np.inf)

    def code_gains(self, k):
        """Gains of rule k by column and code, and its present gain."""
        return code_gains(self.table, self.boxes[k], self.row_gains(k))


class RuleBoxes(Boxes):
    """An ordered list of boxes, and the rule that predicts each row.

    `answering` is the place of the first box that accepts a row.
    """

    def __init__(self, table, loss, boxes, held=None, prices=None, answering=None):
        super().__init__(table, loss, boxes, held, prices)
        self.answering = (
            kernels.first_true(self.held) if answering is None else answering
        )
        self.counts = loss.counts(self.answering, len(self.boxes) + 1)
        self.fit_cost = settled(loss.cost(self.counts))
        self.cost = settled(self.fit_cost + self.price)

    @property
    def weights(self):
        """Weight of the rows that each rule predicts, including the default rule."""
        return self.loss.weights(self.counts)

    @property
    def price(self):
        """Nats for all rules and their conditions."""
        return sum(self.prices) + RULE_PRICE * len(self.prices)

    def _kept(self, held, k, n_old, n_new):
        if n_old == n_new == 1:
            return {"answering": kernels.first_true_again(held, self.answering, k)}
        return {}

    def swapped(self, k):
        """The list with boxes k and k + 1 swapped."""
        return self._replaced(k, 2, self.boxes[k + 1], self.boxes[k])

    def keeps_order(self, j, sign):
        """Whether predictions only fall, or only rise, with a column."""
        pairs = ordered_pairs(self.boxes, j, self.table.columns[j].n_codes)
        answers = self.loss.answers(self.counts)
        return pairs is not None and not breaks_order(pairs, answers, sign)

    def reaching(self, k):
        """Rows that no box before k accepts."""
        return ~self.held[:k].any(axis=0)

    def answering_after(self, k):
        """The rule that would predict each row without the boxes up to k."""
        return kernels.first_true(self.held, k + 1)

    def row_gains(self, k):
        """Gain of the list for each row if rule k accepts it; 0 if it cannot."""
        return kernels.row_gains(self.held, self.answering, k, *self._gain_terms)

    def code_gains(self, k):
        """Gains of rule k by column and code, and its present gain."""
        table = self.table
        box = table.packed(self.boxes[k])
        rows = self.held, self.answering, k, *self._gain_terms
        sums, inside = kernels.rule_gains(*rows, table.codes, *box, table.width)
        return sums, inside.sum()

    @cached_property
    def _gain_terms(self):
        return self.loss.gain_terms(self.counts)

    def widenings(self, k):
        """Conditions of rule k: column, accepted codes, and gains by code."""
        columns, accepted = self.table.packed(self.boxes[k])
        rows = self.held, self.answering, k, *self._gain_terms
        gains = kernels.near_gains(*rows, self.table.codes, columns, accepted)
        for own, (j, mask) in zip(gains, self.boxes[k].items(), strict=True):
            yield j, mask, own[: len(mask)]

    def swap_gain(self, k):
        """Gain of swapping boxes k and k + 1, up to rounding."""
        moved = self.held[k + 1] & (self.answering == k)
        if not moved.any():
            return 0.0  # their order matters only for rows in both
        answering = np.where(moved, k + 1, self.answering)
        counts = self.loss.counts(answering, self.n_rules)
        return self.fit_cost - settled(self.loss.cost(counts))


def settled(nats):
    """Round nats, as their last digits depend on the order of summation.

    Equivalent lists, such as two disjoint rules in either order, then cost the same on
    every machine, and the first one is kept.

    Examples
    --------
    >>> settled(0.1 + 0.2) == settled(0.3)
    True
    """
    return round(float(nats), DIGITS)


def rows_in(table, box):
    """Mask of the rows of a table that a box accepts."""
    held = np.ones(table.n_rows, dtype=bool)
    for j, accepted in box.items():
        held &= accepted[table.column_codes(j)]
    return held


def code_gains(table, box, gain):
    """Sums of gains of rows by column and code, and over the rows in a box.

    Those of a column are over the rows that all conditions on other columns accept.
    """
    n_rejecting, rejecting = kernels.rejections(table.codes, *table.packed(box))
    sums = kernels.gain_sums(table.codes, gain, n_rejecting, rejecting, table.width)
    return sums, gain[n_rejecting == 0].sum()


def box_price(table, box):
    """Nats for the conditions of a box."""
    return sum(condition_price(table, j, accepted) for j, accepted in box.items())


def condition_price(table, j, accepted):
    """Nats for one condition: for its finite sides, or for its categories."""
    column = table.columns[j]
    if not column.is_set:
        return table.prices[j] * n_sides(column, accepted)
    n_further = max(table.n_named(j, accepted) - 1, 0)
    return table.prices[j] + table.name_prices[j] * n_further


def n_conditions(table, box):
    """Number of conditions of a box."""
    return sum(n_sides(table.columns[j], accepted) for j, accepted in box.items())


def n_sides(column, accepted):
    """Number of sides of a condition, as `Condition.n_sides` counts them."""
    if column.is_set or accepted[0] or accepted[column.n_codes - 1]:
        return 1
    return 2 if accepted[:-1].any() else 1
