"""Rows of a search as codes, the loss of rules, and lists of boxes with their cost.

A RowTable has the codes of the bins that occur, so that between two neighbouring codes
there is a threshold that separates rows. RuleBoxes are an ordered list of boxes; the
other forms, StandaloneBoxes and PointBoxes, have modules of their own.

The loss is the description length of the target given rules, in nats. Numbers, and
variance-stabilised probabilities, have a Gaussian around the mean of each rule, with
one spread for all rules. If classes count, rules also pay for the rows whose class they
predict wrongly.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from defragtrees.search import kernels

DIGITS = 6  # of nats, after the point
RULE_PRICE = 1.0  # nats per rule, besides its conditions and its prediction
PRIOR = 0.5  # Jeffreys' prior of a share of errors
LEAST_ERRORS = 0.02  # share of errors below which there is no further gain
LEAST_SPREAD = 1e-4  # share of the variance of numbers that may remain unexplained
MOST_PATTERNS = 20_000
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Column:
    """One feature in the search."""

    feature: int  # its index in X
    bins: np.ndarray  # the bin of the grid of each code
    is_set: bool  # whether codes are categories
    has_missing: bool  # whether the code after the last stands for missing values
    # nats for a condition: per finite side of an interval, or for one name of a set
    price: float
    # the bins that its codes stand for, from the first to before the last; all others
    # have the code after the last, which no condition accepts
    span: tuple[int, int] | None = None

    def accepts_all(self, accepted):
        """Whether a condition accepts every row that the table can have."""
        return bool(accepted.all() or (not self.has_missing and accepted[:-1].all()))


class RowTable:
    """Training rows by code; missing values have the code `n_codes` of their column.

    `least_price` is the penalty in nats for any condition, and for every further
    category that a set names. A set may name `most_named` categories, inside or
    outside.
    """

    def __init__(self, columns, codes, least_price=0.0, most_named=None):
        self.columns = columns
        self.least_price = least_price
        self.n_codes = np.array([len(c.bins) for c in columns], dtype=np.intp)
        self.width = int(self.n_codes.max(initial=0)) + 1
        self.most_named = self.width if most_named is None else most_named
        dtype = np.uint8 if self.width <= 256 else np.uint16
        self.codes = np.ascontiguousarray(codes, dtype=dtype)
        self.n_rows = len(codes)
        prices = np.array([column.price for column in columns])
        self.prices = np.maximum(prices, least_price)
        self.is_set = np.array([column.is_set for column in columns], dtype=bool)
        self.name_prices = np.where(self.is_set, float(least_price), 0.0)
        self.part = np.flatnonzero([column.span is not None for column in columns])
        self.column_codes = {}  # of all rows in one column, as indices; see `rows_in`
        # Nats for a condition that accepts the first codes in order, by their number:
        # a line per column, whose first entry is for one code. The price is infinite
        # if the condition names too many categories.
        n_inside = np.arange(1, self.width + 1)[None, :]
        n_named = np.minimum(n_inside, self.n_codes[:, None] - n_inside)
        n_further = np.maximum(n_named - 1, 0)
        prices = self.prices[:, None] + self.name_prices[:, None] * n_further
        is_short = ~self.is_set[:, None] | (n_named <= self.most_named)
        self.cut_prices = np.where(is_short, prices, np.inf)

    def n_named(self, j, accepted):
        """Number of categories that the text of a condition names; 0 of an interval."""
        n_inside = int(np.count_nonzero(accepted[:-1]))
        n_outside = len(accepted) - 1 - n_inside
        return min(n_inside, n_outside) if self.columns[j].is_set else 0

    def packed(self, box):
        """The columns of a box, and the codes that it accepts of each, as arrays."""
        accepted = np.zeros((len(box), self.width), dtype=bool)
        for row, mask in zip(accepted, box.values(), strict=True):
            row[: len(mask)] = mask
        return np.fromiter(box, dtype=np.intp, count=len(box)), accepted

    def coarse(self, rows, most_codes):
        """A table of some of the rows, with neighbouring codes merged.

        Also returns the coarse code of each code of each column, missing last.
        """
        columns, codes, groups = [], [], []
        for j, column in enumerate(self.columns):
            values = self.codes[rows, j]
            n_codes = len(column.bins)
            group = np.arange(n_codes + 1)
            if not column.is_set and n_codes > most_codes:
                count = np.bincount(values, minlength=n_codes + 1)[:-1]
                reached = np.cumsum(count) - count
                group = reached * most_codes // max(int(count.sum()), 1)
                group = np.unique(group, return_inverse=True)[1]
                group = np.append(group, group[-1] + 1)
            columns.append(replace(column, bins=np.arange(int(group[-1]))))
            codes.append(group[values])
            groups.append(group)
        matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(rows))
        columns = tuple(columns)
        return RowTable(columns, matrix.T, self.least_price, self.most_named), groups


def make_table(
    grid, bins, allowed=None, order=None, least_price=0.0, ordered=(), most_named=None
):
    """The table of binned training rows, with the price of a condition on each feature.

    Features that distinguish no rows are left out.

    The price is the description length in nats: log(n_features) for the feature, and
    log(n_codes) / 2 for the threshold, the usual precision of an estimated number; for
    a set log(2) per category, inside or outside. Further names of a set, inside or
    outside, whichever are fewer, have a penalty besides.

    A feature with special values is several columns: the numbers between them, each of
    them, and missing values.
    """
    usable = []
    for j in range(len(grid.splits)) if order is None else order:
        if allowed is None or j in allowed:
            present = np.bincount(bins[:, j], minlength=grid.n_bins[j]) > 0
            occurring = np.flatnonzero(present[:-1])
            if len(occurring) + present[-1] > 1 and len(grid.splits[j]):
                if j not in grid.special:
                    usable.append((j, occurring, bool(present[-1]), None))
                    continue
                for first, end in grid.segments(j):
                    own = first + np.flatnonzero(present[first:end])
                    if len(own):
                        usable.append((j, own, True, (first, end)))
    columns, codes = [], []
    for j, occurring, has_missing, span in usable:
        is_set = grid.is_categorical(j) and j not in ordered
        n_codes = len(occurring)
        precision = n_codes * np.log(2) if is_set else np.log(n_codes + 1) / 2
        price = np.log(len(usable)) + precision
        columns.append(Column(j, occurring, is_set, has_missing, float(price), span))
        places = np.searchsorted(occurring, bins[:, j])
        if span is not None:
            outside = (bins[:, j] < span[0]) | (bins[:, j] >= span[1])
            places = np.where(outside, n_codes, places)
        codes.append(places)
    matrix = np.array(codes, dtype=np.intp).reshape(len(columns), len(bins))
    return RowTable(tuple(columns), matrix.T, least_price, most_named)


class RuleLoss:
    """Code length of numbers, one or several per row, of classes, or of both.

    `target`, (n_samples, n_outputs), has numbers, with no columns if only the classes
    count; `classes` are class numbers, None if only the numbers count. `least_spread`
    is the share of the target's variance that rules need not explain.
    """

    def __init__(
        self, target, weight, least_spread=LEAST_SPREAD, classes=None, n_classes=0
    ):
        self.weight = weight
        self.total_weight = float(weight.sum())
        self.least_spread = least_spread
        self.target = standardised(target, weight)
        self.n_outputs = self.target.shape[1]
        self.classes = np.empty(0, dtype=np.intp) if classes is None else classes
        self.n_classes = n_classes
        self._square = float(weight @ (self.target**2).sum(axis=1))
        # Columns of `counts`: the weight and the sums of outputs, then of classes.
        self.n_sums = 1 + self.n_outputs if self.n_outputs else 0
        self._weighted = np.empty((0, len(weight)))
        if self.n_outputs:
            self._weighted = np.vstack([weight, (weight[:, None] * self.target).T])

    def take(self, rows):
        """The same loss for a sample of the rows."""
        classes = self.classes[rows] if self.n_classes else None
        target, weight = self.target[rows], weight_of_sample(self.weight, rows)
        return RuleLoss(target, weight, self.least_spread, classes, self.n_classes)

    def without_numbers(self):
        """The same loss, of the classes only."""
        nothing = np.empty((len(self.weight), 0))
        return RuleLoss(nothing, self.weight, 0.0, self.classes, self.n_classes)

    def counts(self, answering, n_rules):
        """Weight, weighted sums of the target and weight of each class, by rule."""
        rows = self._weighted, self.weight, self.classes, self.n_classes
        return kernels.answered_sums(answering, n_rules, *rows)

    def weights(self, counts):
        """Weight of the rows that each rule predicts."""
        return counts[..., 0] if self.n_outputs else counts.sum(axis=-1)

    def _means(self, counts):
        return counts[:, 1 : self.n_sums] / np.maximum(counts[:, :1], 1e-300)

    def answers(self, counts):
        """The prediction of each rule, or without numbers its share of class 1."""
        if self.n_outputs:
            return self._means(counts)[:, 0]
        return counts[:, 1] / np.maximum(counts.sum(axis=1), 1e-300)

    def _errors(self, counts):
        """Weighted sum of squared distances to the means of rules, and of wrong rows.

        Those whose class is not the most frequent one of their rule.
        """
        square = wrong = 0.0
        if self.n_outputs:
            sums = counts[..., 1 : self.n_sums]
            explained = (sums**2).sum(axis=-1) / np.maximum(counts[..., 0], 1e-300)
            square = np.maximum(self._square - explained.sum(axis=-1), 0.0)
        if self.n_classes:
            right = counts[..., self.n_sums :].max(axis=-1).sum(axis=-1)
            wrong = np.maximum(self.total_weight - right, 0.0)
        return square, wrong

    def cost(self, counts):
        """Nats for the target of all rows, given the counts, of one list or several."""
        return self.nats(*self._errors(counts), counts.shape[-2])

    def nats(self, square, wrong, n_rules):
        """Nats for the target of all rows.

        `square` is the weighted sum of squared distances, `wrong` the weight of rows of
        another class.
        """
        nats, number = 0.0, 0.5 * np.log(max(self.total_weight, 2.0))
        if self.n_outputs:
            # One parameter per rule, as its outputs move together.
            nats += 0.5 * self.total_weight * np.log(self._spread(square))
            nats += number * n_rules
        if self.n_classes:
            share = self._share(wrong)
            among = np.log(max(self.n_classes - 1, 1))
            right = self.total_weight - wrong
            code = right * -np.log1p(-share) + wrong * (among - np.log(share))
            # A rule pays for its class and for its accuracy.
            nats += code + n_rules * (np.log(self.n_classes) + number)
        return nats

    def _spread(self, square):
        return square / self.total_weight + self.least_spread

    def _share(self, wrong):
        share = (wrong + PRIOR) / (self.total_weight + 1)
        return np.clip(share, LEAST_ERRORS, 0.5)

    def nats_per_square(self, square):
        """Nats per unit of squares, given their weighted sum."""
        return 1 / (2 * self._spread(square))

    def nats_per_error(self, wrong):
        """Nats per wrong row, given the weight of wrong rows."""
        share = self._share(wrong)
        return float(np.log((1 - share) / share * max(self.n_classes - 1, 1)))

    def gain_terms(self, counts):
        """Arguments of `kernels.row_gains`, besides the rules of rows."""
        means, spread = np.empty((len(counts), 0)), 1.0
        answers, mistake = np.empty(0, dtype=np.intp), 0.0
        square, wrong = self._errors(counts)
        if self.n_outputs:
            means = np.ascontiguousarray(self._means(counts))
            spread = self._spread(square)
        if self.n_classes:
            answers = counts[:, self.n_sums :].argmax(axis=1)
            mistake = self.nats_per_error(wrong)
        rows = self.weight, self.target
        return *rows, means, spread, self.classes, answers, mistake

    def new_rule_terms(self, counts, answering):
        """Gains of rows in the numbers if a new rule takes them from `answering`.

        Three terms, constant, linear and quadratic: the gain by a rule with mean v is
        `constant + 2 v . linear - (v . v) quadratic`.
        """
        quadratic = self.weight / (2 * self._spread(self._errors(counts)[0]))
        passed = self._means(counts)[answering]
        constant = ((passed - 2 * self.target) * passed).sum(axis=1) * quadratic
        return constant, self.target * quadratic[:, None], quadratic


def weight_of_sample(weight, rows):
    """Weights of a sample of rows, which keeps the total weight of all.

    So prices and limits mean the same in a search on a sample.
    """
    return weight[rows] * (weight.sum() / weight[rows].sum())


def standardised(target, weight):
    """Numbers as distances from their mean, in units of their spread.

    Rounded, so that results do not depend on units.
    """
    center = np.average(target, axis=0, weights=weight)
    square = np.average(((target - center) ** 2).sum(axis=1), weights=weight)
    scaled = np.round((target - center) / (np.sqrt(square) or 1.0), 9)
    return np.ascontiguousarray(scaled)


class Boxes:
    """Boxes over the rows of a `table`, combined in any form.

    A box is a dict from column number to the codes that it accepts (a bool array,
    missing last). Boxes are immutable: `with_boxes` returns new ones.
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
        self.n_rules = len(self.boxes) + 1  # the default rule included

    def with_boxes(self, k, *new, n_old=1, **known):
        """The rules with these boxes in place of box k, of several from k on or none.

        `known` has what need not be found again, by argument.
        """
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

    def removable(self):
        """The boxes of which the one is removed without which the cost is lowest."""
        return range(len(self.boxes))

    def swap_gain(self, k):
        """Gain of swapping boxes k and k + 1; 0 of rules without an order."""
        return 0.0

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
        # Weight of the rows that each rule predicts, including the default rule.
        self.weights = loss.weights(self.counts)
        self.fit_cost = settled(loss.cost(self.counts))
        price = sum(self.prices) + RULE_PRICE * len(self.prices)
        self.cost = settled(self.fit_cost + price)

    def _kept(self, held, k, n_old, n_new):
        if n_old == n_new == 1:
            return {"answering": kernels.first_true_again(held, self.answering, k)}
        return {}

    def keeps_order(self, j, sign):
        """Whether predictions only fall, or only rise, with a column."""
        pairs = ordered_pairs(self.boxes, j, self.table.n_codes[j])
        answers = self.loss.answers(self.counts)
        return pairs is not None and not breaks_order(pairs, answers, sign)

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

    _gain_terms = cached_property(lambda self: self.loss.gain_terms(self.counts))

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
        if j not in table.column_codes:
            table.column_codes[j] = table.codes[:, j].astype(np.intp)
        held &= accepted[table.column_codes[j]]
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
    if column.is_set or accepted[0] or accepted[len(column.bins) - 1]:
        return 1
    return 2 if accepted[:-1].any() else 1


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
