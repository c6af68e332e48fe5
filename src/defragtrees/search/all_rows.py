"""Lists of boxes over rows in shards, on a cluster or on a GPU.

A list has the counts of its rules and, on request, the gain of every condition; both
are sums over all rows, computed in one pass for many lists.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from defragtrees.data.shards import pack_boxes
from defragtrees.search import kernels
from defragtrees.search.lists import BoxList, box_price, settled
from defragtrees.search.moves import LEAST_GAIN, changes_by_sums, keep, tidy

TARGET_BITS = 16  # after the point, of a target in units of its spread
MOST_SPREADS = 256  # targets are clipped at this distance from the mean
WEIGHT_BITS = 20  # after the point, of a weight in units of their mean
SUM_BITS = 60  # of a sum that fits


@dataclass(frozen=True, eq=False)
class Imitated:
    """The target of the search, row by row."""

    outcome: Any
    column: Any  # the Target: which column of a shard; it standardises numbers
    is_labels: bool  # classes come from y, not from the ensemble's probabilities
    decision: Any = None  # how a class is decided; None for numbers

    def outputs(self, shard):
        """Class probabilities or numbers, and the weight of rows.

        The weight is None if each row counts as one.
        """
        if self.decision is None:
            return self.column.of(shard, 0)[:, None], shard.weight
        if self.is_labels:
            shares = self.outcome.indicators(shard.targets[self.column.name])
        else:
            shares = shard.targets["probabilities"].astype(np.float64)
        if self.decision.is_even:
            return shares, shard.weight
        shares, total = self.decision.emphasised(shares)
        return shares, shard.sample_weight * total

    def target(self, outputs):
        """The outputs on the scale of the search."""
        return self.outcome.search_target(outputs) if self.decision else outputs

    def totals(self, shard):
        """Weight of the rows, and weighted sums of the target and of its square."""
        outputs, weight = self.outputs(shard)
        target = self.target(outputs)
        weight = np.ones(len(shard)) if weight is None else weight
        square = weight @ (target**2).sum(axis=1)
        return np.array([weight.sum(), square, *(weight @ target)])


def weight_bits(n_rows):
    """Fractional bits of a weight with which all sums fit."""
    room = SUM_BITS - TARGET_BITS - math.ceil(math.log2(max(n_rows, 2)))
    return max(0, min(WEIGHT_BITS, room))


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """Convert the targets of a shard to integers."""

    imitated: Imitated
    center: tuple[float, ...]  # of the target, per output
    spread: float  # of the target; one is 2**16
    # of a row, times the cost of its class; one is 2**bits
    mean_weight: float
    unit: float  # of such a weight
    bits: int  # fractional bits of a weight
    has_target: bool  # whether the target counts, not only the class

    @classmethod
    def of_totals(cls, imitated, totals, n_rows, total_weight, has_target):
        """The numbers for rows with these `Imitated.totals` and this weight."""
        # Rounded, as the last digits of a sum depend on its order.
        weight, square, *sums = totals
        center = tuple(round(value / weight, 6) + 0.0 for value in sums)
        variance = square / weight - sum(value**2 for value in center)
        spread = float(f"{math.sqrt(max(variance, 0.0)):.6g}") or 1.0
        weights = (float(f"{own / n_rows:.9g}") for own in (weight, total_weight))
        bits = weight_bits(n_rows)
        return cls(imitated, center, spread, *weights, bits, has_target)

    def of(self, shard):
        """The shard with "target" and "classes" as integers.

        A weight is a multiple of 2**-bits in units of the mean, as a float64.
        """
        return self.with_outputs(shard, *self.imitated.outputs(shard))

    def with_outputs(self, shard, outputs, weight):
        """Like `of`, given the result of `Imitated.outputs`."""
        target = np.empty((len(shard), 0), dtype=np.int32)
        if self.has_target:
            target = self.imitated.target(outputs) - self.center
            target = np.clip(target / self.spread, -MOST_SPREADS, MOST_SPREADS)
            target = np.rint(target * 2**TARGET_BITS).astype(np.int32)
        classes = np.empty(0, dtype=np.uint8)
        if self.imitated.decision is not None:
            classes = self.imitated.outcome.compact(outputs.argmax(axis=1))
        if weight is not None:
            weight = np.rint(weight / self.mean_weight * 2**self.bits) / 2**self.bits
        targets = {"target": np.ascontiguousarray(target), "classes": classes}
        return replace(shard, targets=targets, weight=weight, X=None)


def squares(shard):
    """Weighted sum of the squared targets of a shard of integers."""
    target = shard.targets["target"].astype(np.float64) / 2**TARGET_BITS
    return float(shard.sample_weight @ (target**2).sum(axis=1))


GAIN_BITS = 60  # of the sum of the gains of all rows
ROW_BITS = 44  # of the gain of a row with an ordinary target


class ShardKeeper:
    """Sums over the rows of shards of integers; see RowNumbers."""

    def __init__(self, shards):
        self.shards = shards

    def counts(self, lists, n_classes, bits):
        """The counts of all PackedLists, concatenated in one array."""
        return self.shards.total(shard_counts, lists, n_classes, bits)

    def gains(self, lists, columns, places):
        """The gains of all PackedLists, concatenated in one array."""
        return self.shards.total(shard_gains, lists, columns, places)

    def square(self):
        """The weighted sum of squared targets."""
        return self.shards.total(squares)


def shard_counts(shard, lists, n_classes, bits):
    """`list_counts` of all lists over the rows of a shard, in one array."""
    rows = shard.codes, shard.targets["target"], shard.targets["classes"]
    units = np.array([1 << bits], dtype=np.int64)
    if shard.weight is not None:
        units = np.rint(shard.weight * (1 << bits)).astype(np.int64)
    counts = [kernels.list_counts(*rows, units, n_classes, *own.boxes) for own in lists]
    return np.concatenate([own.ravel() for own in counts])


def shard_gains(shard, lists, columns, places):
    """`list_gains` of all lists over the rows of a shard, in one array."""
    weight = np.empty(0) if shard.weight is None else shard.weight
    rows = shard.codes, shard.targets["target"], shard.targets["classes"], weight
    gains = [
        kernels.list_gains(*rows, *own.boxes, own.slope, own.level, columns, places)
        for own in lists
    ]
    return np.concatenate([own.ravel() for own in gains])


class AllRows:
    """Access of the search to all rows.

    `table` has the codes that occur, but no rows; `loss` is that of other rows, such as
    a sample; `n_bins` has the number of bins of every feature of the grid.
    """

    def __init__(self, keeper, table, loss, numbers, n_bins):
        self.keeper = keeper
        self.table = table
        self.n_outputs, self.n_classes = loss.counted
        self.numbers = numbers
        self.n_bins = n_bins
        self.features = np.array([c.feature for c in table.columns], dtype=np.intp)
        self.places = self._places(self.features)
        self.units = keeper.counts([self.packed(())], self.n_classes, numbers.bits)[0]
        total = float(self.units) * numbers.unit / 2**numbers.bits
        square = float(f"{keeper.square() * numbers.unit:.10g}")
        self.loss = loss.elsewhere(total, square)

    def list_of(self, boxes):
        """The boxes, over the codes of the table, as a list."""
        return CountedBoxes(self, tuple(boxes))

    def count(self, lists):
        """Compute the counts of some lists in one pass."""
        lists = [own for own in lists if not own.is_counted]
        if not lists:
            return
        packed = [self.packed(own.boxes) for own in lists]
        sums = self.keeper.counts(packed, self.n_classes, self.numbers.bits)
        width = 1 + self.n_outputs + self.n_classes
        scale = np.full(width, self.numbers.unit / 2**self.numbers.bits)
        scale[1 : 1 + self.n_outputs] /= 2**TARGET_BITS
        # Counts of classes do not need the total weight.
        first = 0 if self.n_outputs or not self.n_classes else 1
        for own, part in zip(lists, _cut(sums, packed, width), strict=True):
            own.counts = (part * scale)[:, first:]

    def sweep(self, lists):
        """Compute the gains of conditions of some lists in one pass."""
        lists = [own for own in lists if own.gains is None and own.boxes]
        if not lists:
            return
        self.count(lists)
        priced = [self._with_gains(own) for own in lists]
        packed = [own for own, _ in priced]
        sums = self.keeper.gains(packed, self.features, self.places)
        cuts = _cut(sums, packed, self.places[-1], n_more=0)
        for own, part, (_, scale) in zip(lists, cuts, priced, strict=True):
            own.gains = part * (self.numbers.unit * scale)

    def used_gains(self, own):
        """Gains of the rules of a list by bins of the features in use.

        A dict from feature to an array of shape (n_boxes, n_bins).
        """
        packed, scale = self._with_gains(own)
        places = self._places(packed.used)
        sums = self.keeper.gains([packed], packed.used, places)
        sums = sums.reshape(packed.n_boxes, -1) * (self.numbers.unit * scale)
        parts = np.split(sums, places[1:-1], axis=1)
        return dict(zip(packed.used.tolist(), parts, strict=True))

    def _places(self, features):
        """Offsets of the bins of each feature in sums, and their number."""
        widths = [self.n_bins[j] for j in features]
        return np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)

    def packed(self, boxes, **gains):
        """The PackedList of boxes over the codes of the table."""
        by_bin = [
            {
                self.table.columns[j].feature: self._accepted_bins(j, mask)
                for j, mask in box.items()
            }
            for box in boxes
        ]
        return pack_boxes(by_bin, self.n_bins, **gains)

    def _accepted_bins(self, j, mask):
        """Convert the codes that a condition accepts to bins of the grid."""
        column = self.table.columns[j]
        accepted = np.zeros(self.n_bins[column.feature], dtype=bool)
        accepted[column.bins] = mask[:-1]
        accepted[-1] = mask[-1]
        return accepted

    def _with_gains(self, own):
        """The packed list with gains of rows as integers, and their unit."""
        slope, level = _gain_tables(*self.loss.rule_terms(own.counts), self.n_classes)
        largest = float(np.abs(slope).sum(axis=2).max() + np.abs(level).max())
        largest = math.log2(max(largest, 1e-30))
        n_rows = float(self.units) / 2**self.numbers.bits
        bits = min(GAIN_BITS - math.log2(max(n_rows, 1.0)), ROW_BITS) - largest
        bits = math.floor(bits) - TARGET_BITS
        slope = np.rint(slope * 2.0**bits).astype(np.int64)
        level = np.rint(level * 2.0 ** (bits + TARGET_BITS)).astype(np.int64)
        packed = self.packed(own.boxes, slope=slope, level=level)
        return packed, 2.0 ** -(bits + TARGET_BITS)


def _gain_tables(means, spread, answers, mistake, n_classes):
    """Gain of a row if a box takes it from a rule, by its target and its class."""
    n_boxes = len(means) - 1
    slope = (means[:-1, None] - means[None]) / spread
    square = (means**2).sum(axis=1) / (2 * spread)
    level = (square[None] - square[:n_boxes, None])[:, :, None]
    if n_classes:
        wrong = mistake * (answers[:, None] != np.arange(n_classes))
        level = level + wrong[None] - wrong[:n_boxes, None]
    return slope, level


def _cut(sums, packed, width, n_more=1):
    """Split concatenated sums by list."""
    heights = [own.n_boxes + n_more for own in packed]
    ends = np.cumsum([height * width for height in heights])
    parts = np.split(sums, ends[:-1])
    return [part.reshape(-1, width) for part in parts]


class CountedBoxes(BoxList):
    """An ordered list of boxes over all rows."""

    def __init__(self, rows, boxes):
        self.rows, self.table, self.loss = rows, rows.table, rows.loss
        self.boxes = boxes
        self.prices = tuple(box_price(self.table, box) for box in boxes)
        self.gains = None

    @property
    def is_counted(self):
        """Whether its rows have been counted."""
        return "counts" in self.__dict__

    @cached_property
    def counts(self):
        """The counts of the loss over the rows that each rule predicts."""
        self.rows.count([self])
        return self.__dict__["counts"]

    @cached_property
    def fit_cost(self):
        """Nats for the target of all rows."""
        return settled(self.loss.cost(self.counts))

    @property
    def cost(self):
        """Nats for the target of all rows, the rules and their conditions."""
        return settled(self.fit_cost + self.price)

    def with_box(self, k, box):
        """The list with another box at place k."""
        return self.rows.list_of((*self.boxes[:k], box, *self.boxes[k + 1 :]))

    def with_new_box(self, k, box):
        """The list with one more box, at place k."""
        return self.rows.list_of((*self.boxes[:k], box, *self.boxes[k:]))

    def _ordered(self, order):
        return self.rows.list_of(tuple(self.boxes[i] for i in order))

    def code_gains(self, k):
        """Gains of rule k by column and code, and its present gain."""
        self.rows.sweep([self])
        table, places = self.table, self.rows.places
        sums = np.zeros((len(table.columns), table.width))
        for j, column in enumerate(table.columns):
            bins = self.gains[k, places[j] : places[j + 1]]
            sums[j, : column.n_codes + 1] = _by_code(column, bins)
        j, accepted = next(iter(self.boxes[k].items()))
        return sums, float(sums[j, : len(accepted)][accepted].sum())

    def widenings(self, k):
        """Conditions of rule k, and gains of wider ones; see RuleBoxes."""
        for j, accepted in self.boxes[k].items():
            column = self.table.columns[j]
            sums = _by_code(column, self._used_gains[column.feature][k])
            yield j, accepted, sums

    @cached_property
    def _used_gains(self):
        return self.rows.used_gains(self)


def _by_code(column, bins):
    """Convert sums by bin to sums by code, with missing values last."""
    return np.append(bins[column.bins], bins[-1])


MOST_SWEEPS = 12  # passes that improve conditions before the order of rules
MOST_ROUNDS = 2  # of conditions and order
N_FIRST = 4  # lists that are tried first: all changes at once, and the best alone
LEAST_SHARE = 1e-7  # nats per row; a list that gains less in a pass is done


def polish_all_rows(rows, lists, limits):
    """Polish lists on all rows; returns a dict by number of rules."""
    limits = replace(limits, keeps_used=True)
    starts = [rows.list_of(boxes) for boxes in lists]
    rows.count(starts)
    polished = {}
    for own in _descended(rows, [tidy(start, limits) for start in starts], limits):
        if limits.allows(own):
            keep(polished, own, limits)
    for n in range(max(polished, default=1) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            shorter = [polished[n + 1].without_box(k) for k in range(n)]
            rows.count(shorter)
            best = tidy(min(shorter, key=attrgetter("cost")), limits)
            for own in _descended(rows, [best], limits):
                if limits.allows(own):
                    keep(polished, own, limits)
    return polished


def _descended(rows, lists, limits):
    """Improve the conditions and the order of lists."""
    active = list(range(len(lists)))
    _improve_conditions(rows, lists, active, limits)
    for _ in range(MOST_ROUNDS):
        active = _improve_order(rows, lists, active, limits)
        if not active:
            break
        _improve_conditions(rows, lists, active, limits)
    return lists


def _improve_conditions(rows, lists, active, limits):
    """Improve conditions of the active lists, in place, until nothing changes."""
    least = LEAST_SHARE * rows.loss.total_weight
    for _ in range(MOST_SWEEPS):
        rows.sweep([lists[i] for i in active])
        options = {i: _changed(lists[i], limits) for i in active}
        first = {i: own[:N_FIRST] for i, own in options.items()}
        better = _better(rows, lists, first, limits)
        others = {i: own[N_FIRST:] for i, own in options.items() if i not in better}
        better |= _better(rows, lists, others, limits)
        active = [i for i in better if lists[i].cost - better[i].cost > least]
        for i, own in better.items():
            lists[i] = tidy(own, limits)
        if not active:
            return


def _improve_order(rows, lists, active, limits):
    """Swap neighbours in the active lists, in place; returns which have changed."""
    options = {
        i: [
            lists[i].swapped(k)
            for k in range(len(lists[i].boxes) - 1)
            if _overlap(*lists[i].boxes[k : k + 2])
        ]
        for i in active
    }
    better = _better(rows, lists, options, limits)
    for i, own in better.items():
        lists[i] = tidy(own, limits)
    return list(better)


def _overlap(box, other):
    """Whether a row can be in both boxes."""
    shared = box.keys() & other.keys()
    return all((box[j] & other[j]).any() for j in shared)


def _changed(rules, limits):
    """Lists in which all rules are improved, or one is, best first."""
    changes = []
    for k, box in enumerate(rules.boxes):
        sums, inside = rules.code_gains(k)
        better = changes_by_sums(rules.table, box, sums, inside, limits)
        changes += [(-more, k, place, own) for place, (more, own) in enumerate(better)]
    changes.sort(key=lambda change: change[:3])
    alone = [rules.with_box(k, own) for _, k, _, own in changes]
    best = {k: own for _, k, place, own in changes if place == 0}
    if len(best) < 2:
        return alone
    boxes = [best.get(k, box) for k, box in enumerate(rules.boxes)]
    return [rules.rows.list_of(boxes), *alone]


def _better(rows, lists, options, limits):
    """The cheapest allowed option for each list, if it costs less."""
    rows.count([option for own in options.values() for option in own])
    better = {}
    for i, own in options.items():
        for option in sorted(own, key=attrgetter("cost")):
            if option.cost >= lists[i].cost - LEAST_GAIN:
                break
            if limits.allows(option):
                better[i] = option
                break
    return better
