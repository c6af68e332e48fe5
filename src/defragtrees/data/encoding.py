"""Encode parts of a source as shards: codes, predictions and a digest.

A code is the bin of a value, which is all that the model and rules on its thresholds
need. `Digest.values` has a value of some row for each bin, to test conditions on codes.
"""

import dataclasses
import operator
from dataclasses import dataclass, field

import numpy as np

from defragtrees._utils.values import SPAN, Added
from defragtrees.data.grid import ThresholdGrid, integer_range
from defragtrees.data.shards import Shard
from defragtrees.ensembles.forest import Forest
from defragtrees.tables import check_finite, check_weight

TILE_ROWS = 4096


def code_rows(grid, matrix):
    """The codes of rows, in C order, and what a Digest has for each bin."""
    codes = np.empty(matrix.shape, dtype=grid.dtype)
    # In blocks of rows that fit in the cache.
    for start in range(0, len(matrix), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        codes[rows] = grid.bin(matrix[rows]).codes
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


def recode(shard, tables, dtype):
    """Map the codes of a shard to new ones."""
    codes = np.empty(shard.codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        codes[:, j] = table[shard.codes[:, j]]
    return dataclasses.replace(shard, codes=codes)


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
