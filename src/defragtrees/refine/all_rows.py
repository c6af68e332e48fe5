"""Lists of boxes over rows that are elsewhere: in shards, on a cluster, on a GPU.

A list knows the counts of its rules and, if asked, what every condition of each would
gain; both are sums over all rows, made in one visit for many lists.
"""

import math
from functools import cached_property, partial

import numpy as np

from defragtrees.boxes import pack_boxes
from defragtrees.refine.judging import ShardVisits
from defragtrees.refine.list_kernels import list_counts, list_gains
from defragtrees.refine.row_numbers import TARGET_BITS, squares
from defragtrees.refine.rulelist import BoxList, box_price, settled

__all__ = ["AllRows", "CountedBoxes", "ShardKeeper"]

GAIN_BITS = 60  # of the sum of what all rows gain
ROW_BITS = 44  # of what a row with an ordinary target gains


class ShardKeeper:
    """Answers for the rows of shards of whole numbers; see RowNumbers.

    Parameters
    ----------
    shards : LocalShards or DaskShards
    new : Shard, optional
        Of rows that were drawn beside those of the data.
    """

    def __init__(self, shards, new=None):
        self.shards = shards
        self.new = new

    def _total(self, function, *arguments):
        total = self.shards.total(function, *arguments)
        if self.new is None:
            return total
        return total + function(self.new, *arguments)

    def counts(self, lists, n_classes, bits):
        """The counts of each PackedList, one after the other in one array."""
        return self._total(shard_counts, lists, n_classes, bits)

    def gains(self, lists, columns, places):
        """The gains of each PackedList, likewise."""
        return self._total(shard_gains, lists, columns, places)

    def square(self):
        """The sum of squared targets, by weight."""
        return self._total(squares)

    def judging(self, shards, imitated, folds):
        """Who answers to a judge; see ShardVisits."""
        return ShardVisits(shards, imitated, folds)


def shard_counts(shard, lists, n_classes, bits):
    """`list_counts` of all lists over the rows of a shard, in one array."""
    rows = shard.codes, shard.targets["target"], shard.targets["classes"]
    units = np.array([1 << bits], dtype=np.int64)
    if shard.weight is not None:
        units = np.rint(shard.weight * (1 << bits)).astype(np.int64)
    counts = [list_counts(*rows, units, n_classes, *own.boxes) for own in lists]
    return np.concatenate([own.ravel() for own in counts])


def shard_gains(shard, lists, columns, places):
    """`list_gains` of all lists over the rows of a shard, in one array."""
    weight = np.empty(0) if shard.weight is None else shard.weight
    rows = shard.codes, shard.targets["target"], shard.targets["classes"], weight
    gains = [
        list_gains(*rows, *own.boxes, own.slope, own.level, columns, places)
        for own in lists
    ]
    return np.concatenate([own.ravel() for own in gains])


class AllRows:
    """What the search asks of all rows.

    Parameters
    ----------
    keeper : ShardKeeper or another that keeps the rows
    table : RowTable
        Without rows; its codes are those of all.
    loss : SquaredLoss, ErrorLoss or BothLoss
        Of other rows, such as a sample.
    numbers : RowNumbers
    n_bins : int array
        Number of bins of every feature of the grid.
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
        """Have the counts of some lists ready, by one visit."""
        lists = [own for own in lists if not own.is_counted]
        if not lists:
            return
        packed = [self.packed(own.boxes) for own in lists]
        sums = self.keeper.counts(packed, self.n_classes, self.numbers.bits)
        width = 1 + self.n_outputs + self.n_classes
        scale = np.full(width, self.numbers.unit / 2**self.numbers.bits)
        scale[1 : 1 + self.n_outputs] /= 2**TARGET_BITS
        # Who counts classes only has no use for the weight of all.
        first = 0 if self.n_outputs or not self.n_classes else 1
        for own, part in zip(lists, _cut(sums, packed, width), strict=True):
            own.counts = (part * scale)[:, first:]

    def sweep(self, lists):
        """Have what conditions of some lists would gain ready, by one visit."""
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
        """What the rules of a list would gain by bins of the features in use.

        Returns
        -------
        dict from feature to array of shape (n_boxes, n_bins)
        """
        packed, scale = self._with_gains(own)
        places = self._places(packed.used)
        sums = self.keeper.gains([packed], packed.used, places)
        sums = sums.reshape(packed.n_boxes, -1) * (self.numbers.unit * scale)
        parts = np.split(sums, places[1:-1], axis=1)
        return dict(zip(packed.used.tolist(), parts, strict=True))

    def _places(self, features):
        """Where the bins of each feature begin in sums, and their number."""
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
        """The codes that a condition accepts as bins of the grid."""
        column = self.table.columns[j]
        accepted = np.zeros(self.n_bins[column.feature], dtype=bool)
        accepted[column.bins] = mask[:-1]
        accepted[-1] = mask[-1]
        return accepted

    def _with_gains(self, own):
        """The packed list with what rows gain, as whole numbers; and their unit."""
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
    """What a row gains if a box takes it from a rule, by its target and its class.

    Parameters
    ----------
    means, spread, answers, mistake : what `SquaredLoss.rule_terms` gives
    n_classes : int
        0 if classes do not count.
    """
    n_boxes = len(means) - 1
    slope = (means[:-1, None] - means[None]) / spread
    square = (means**2).sum(axis=1) / (2 * spread)
    level = (square[None] - square[:n_boxes, None])[:, :, None]
    if n_classes:
        wrong = mistake * (answers[:, None] != np.arange(n_classes))
        level = level + wrong[None] - wrong[:n_boxes, None]
    return slope, level


def _cut(sums, packed, width, n_more=1):
    """The part of each list in sums that stand one after the other."""
    heights = [own.n_boxes + n_more for own in packed]
    ends = np.cumsum([height * width for height in heights])
    parts = np.split(sums, ends[:-1])
    return [part.reshape(-1, width) for part in parts]


class CountedBoxes(BoxList):
    """An ordered list of boxes over all rows, wherever these are.

    Parameters
    ----------
    rows : AllRows
    boxes : tuple of dict
    """

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
        """What its loss asks of the rows that each rule answers."""
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
        """What rule k would gain by column and code, and what it gains as it is."""
        self.rows.sweep([self])
        table, places = self.table, self.rows.places
        sums = np.zeros((len(table.columns), table.width))
        for j, column in enumerate(table.columns):
            bins = self.gains[k, places[j] : places[j + 1]]
            sums[j, : column.n_codes + 1] = _by_code(column, bins)
        j, accepted = next(iter(self.boxes[k].items()))
        return sums, float(sums[j, : len(accepted)][accepted].sum())

    def widenings(self, k):
        """Conditions of rule k, and what wider ones would gain; see RuleBoxes."""
        for j, accepted in self.boxes[k].items():
            column = self.table.columns[j]
            sums = _by_code(column, self._used_gains[column.feature][k])
            yield j, accepted, partial(_gain_outside, sums, accepted)

    @cached_property
    def _used_gains(self):
        return self.rows.used_gains(self)


def _by_code(column, bins):
    """Sums by bin as sums by code, that of missing values last."""
    return np.append(bins[column.bins], bins[-1])


def _gain_outside(sums, accepted, wider):
    return sums[wider & ~accepted].sum()
