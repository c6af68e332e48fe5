"""Shards of rows: their codes and targets, and those of one machine.

A code is the bin of a value, which is all that the model and rules on its thresholds
need. An Encoder makes a shard of a part of a source, and a Digest, whose `values` has
a value of some row for each bin, to test conditions on codes.
"""

import operator
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from defragtrees._utils.values import SPAN, Added
from defragtrees.data.grid import ThresholdGrid, integer_range, rows_covered
from defragtrees.ensembles.forest import Forest
from defragtrees.tables import check_finite, check_weight

TILE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows."""

    codes: np.ndarray  # bin numbers, C order
    # class indices or numbers: "answers", the predictions of the model, and
    # "labels", y if given; "probabilities" of the model, (n_samples, n_classes)
    targets: dict[str, np.ndarray]
    weight: np.ndarray | None = None  # all 1 by default
    # the numbers behind the codes, if a method needs them
    X: np.ndarray | None = None
    # how many rows each counts as, if not 1; its weight includes it
    worth: np.ndarray | None = None

    def __len__(self):
        return len(self.codes)

    @property
    def sample_weight(self):
        """The weights, as an array even if all are 1."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def nbytes(self):
        """Bytes of all arrays."""
        arrays = [self.codes, *self.targets.values(), self.weight, self.X, self.worth]
        return sum(array.nbytes for array in arrays if array is not None)

    def take(self, rows):
        """Some of the rows."""
        return _each_array(lambda array: array[rows], self)

    def covered(self, rules, values):
        """Mask (n_samples, n_rules) of the rules that match; the last always does."""
        held = np.ones((len(self), rules.n_rules), dtype=bool, order="F")
        for k, rule in enumerate(rules.rules):
            held[:, k] = rows_covered(rule.conditions, self.X, self.codes, values)
        return held


class LocalShards:
    """Shards in memory, processed by threads.

    `table` is the only shard of a table in memory, which needs no threads, else None.
    """

    def __init__(self, shards, n_jobs=None, is_table=False):
        self.shards = list(shards)
        self.n_jobs = n_jobs
        self.table = self.shards[0] if is_table else None

    def _results(self, function, arguments):
        if self.table is not None:
            return [function(self.table, *arguments)]
        return in_order(
            lambda shard: function(shard, *arguments), self.shards, self.n_jobs
        )

    def total(self, function, *arguments):
        """Sum `function(shard, *arguments)` in the order of the shards."""
        return reduce(operator.add, self._results(function, arguments))

    def map(self, function, *arguments):
        """Make new shards by `function(shard, *arguments)`."""
        made = self._results(function, arguments)
        return LocalShards(made, self.n_jobs, self.table is not None)

    def collect(self, function, *arguments):
        """List the results of `function(shard, *arguments)`."""
        return [*self._results(function, arguments)]


def in_order(function, items, n_jobs=None):
    """Apply `function` to items in threads; yield the results in order.

    At most one item per thread is in memory.
    """
    from joblib import effective_n_jobs  # not needed to predict

    n_threads = effective_n_jobs(n_jobs)
    waiting = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def joined(shards, n_rows):
    """Join small shards, so that few have less than `n_rows` rows."""
    large, small, n_small = [], [], 0
    for shard in shards:
        small.append(shard)
        n_small += len(shard)
        if n_small >= n_rows / 2:
            large.append(small)
            small, n_small = [], 0
    return [
        group[0]
        if len(group) == 1
        else _each_array(lambda *arrays: np.concatenate(arrays), *group)
        for group in (*large, small)
        if group
    ]


def _each_array(function, *shards):
    """Apply `function` to the arrays of some shards, array by array."""

    def made(arrays):
        return None if arrays[0] is None else function(*arrays)

    return Shard(
        made([shard.codes for shard in shards]),
        {
            name: made([shard.targets[name] for shard in shards])
            for name in shards[0].targets
        },
        made([shard.weight for shard in shards]),
        made([shard.X for shard in shards]),
        made([shard.worth for shard in shards]),
    )


def code_rows(grid, matrix):
    """The codes of rows, in C order, and what a Digest has for each bin."""
    codes = np.empty(matrix.shape, dtype=grid.dtype)
    # In blocks of rows that fit in the cache.
    for start in range(0, len(matrix), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        codes[rows] = grid.bin(matrix[rows])
    counts, low, high, is_integer = [], [], [], []
    for j, n_bins in enumerate(grid.n_bins):
        column, numbers = codes[:, j], matrix[:, j]
        is_integer.append(((numbers == np.floor(numbers)) | np.isnan(numbers)).all())
        counts.append(np.bincount(column, minlength=n_bins))
        low.append(np.full(n_bins, np.inf))
        high.append(np.full(n_bins, -np.inf))
        # numpy releases the GIL to sort; NaN has its own bin, the last.
        present = np.flatnonzero(counts[-1][:-1])
        values = matrix[np.argsort(column, kind="stable"), j]
        if len(present):
            starts = (np.cumsum(counts[-1]) - counts[-1])[present]
            values = values[: counts[-1][:-1].sum()]
            low[-1][present] = np.minimum.reduceat(values, starts)
            high[-1][present] = np.maximum.reduceat(values, starts)
    return codes, (counts, low, high, np.array(is_integer, dtype=bool))


@dataclass(frozen=True, eq=False)
class Digest(Added):
    """Statistics of all rows of a source; digests of parts can be added."""

    n_rows: int
    weight: float  # of all rows
    least_weight: float = field(metadata={"add": min})  # of a row
    largest_weight: float = field(metadata={"add": max})
    # whether they differ from 1
    has_weights: bool = field(metadata={"add": operator.or_})
    # of "answers" and "labels", if numbers
    ranges: dict[str, tuple[float, float]] = field(metadata=SPAN)
    counts: list[np.ndarray]  # for each feature the number of rows in each bin
    # the smallest and the largest value in each bin
    low: list[np.ndarray] = field(metadata={"add": np.minimum})
    high: list[np.ndarray] = field(metadata={"add": np.maximum})
    # features with integer values only
    is_integer: np.ndarray = field(metadata={"add": operator.and_})

    def values(self):
        """What rows have of each feature, as four lists.

        A value of each bin, the largest, NaN for missing values; the sorted values next
        to a threshold; smallest and largest of integers; and of all, NaN without any.
        """
        # No minus zero, whose sign depends on the order of parts.
        values = [np.append(high[:-1] + 0.0, np.nan) for high in self.high]
        edges, ranges, ends = [], [], []
        for low, high, is_integer in zip(
            self.low, self.high, self.is_integer, strict=True
        ):
            both = np.concatenate([low[:-1], high[:-1]])
            own = np.unique(both[np.isfinite(both)])
            edges.append(own)
            ranges.append(integer_range(own) if is_integer else None)
            ends.append((own[0] + 0.0, own[-1] + 0.0) if len(own) else (np.nan, np.nan))
        return values, edges, ranges, ends


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turn a Part into a Shard and a Digest."""

    forest: Forest
    grid: ThresholdGrid  # all thresholds of the forest
    # whether shards keep the numbers too, not only codes
    keeps_numbers: bool = False

    def __call__(self, part):
        """Return the shard of a part, without rows of weight 0, and its digest."""
        matrix = self.forest.encode(part.X)
        check_finite(matrix, self.forest.feature_names)
        outcome = self.forest.outcome
        y, weight = checked_columns(part, outcome, len(matrix))
        if weight is not None and not weight.all():
            # A row of weight 0 must not affect how thresholds are rounded either.
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            y = None if y is None else y[kept]
        codes, bins = code_rows(self.grid, matrix)
        raw = self.forest.predict_raw_encoded(matrix)
        answers = outcome.target_of(self.forest, raw)
        outcome.check_predictions(answers)
        targets = {"answers": outcome.compact(answers)}
        probabilities = outcome.probabilities_of(self.forest, raw)
        if probabilities is not None:
            targets["probabilities"] = np.asarray(probabilities, dtype=np.float32)
        if y is not None:
            targets["labels"] = outcome.compact(outcome.encode(y))
        shard = Shard(codes, targets, weight, matrix if self.keeps_numbers else None)
        ranges = {
            name: (np.min(values, initial=np.inf), np.max(values, initial=-np.inf))
            for name, values in targets.items()
            if self.forest.classes is None
        }
        digest = Digest(
            len(shard),
            float(shard.sample_weight.sum()),
            float(np.min(shard.sample_weight, initial=np.inf)),
            float(np.max(shard.sample_weight, initial=0.0)),
            weight is not None and bool((weight != 1).any()),
            ranges,
            *bins,
        )
        return shard, digest


def checked_columns(part, outcome, n_rows):
    """Check y and weights of a part; all its weights may be 0."""
    y, weight = part.y, part.sample_weight
    if y is not None:
        y = outcome.read(y, n_rows)
    if weight is not None:
        weight = check_weight(weight, n_rows, is_relative=False)
    return y, weight
