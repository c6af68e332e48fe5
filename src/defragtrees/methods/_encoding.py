"""From parts of a source to shards: codes, what the ensemble answers, and a digest.

A code says all that the ensemble, and so any rule on its thresholds, can know of a
cell. `Encoded.values` gives each bin a value that some row has, so a table made of
them stands for the rows wherever X is needed.
"""

import dataclasses
import warnings
from dataclasses import dataclass

import numpy as np

from defragtrees.bins import ThresholdGrid
from defragtrees.forest import Forest
from defragtrees.methods.validation import (
    part_column,
    part_weight,
)
from defragtrees.rows.local import Shard
from defragtrees.tables import check_finite

__all__ = [
    "Digest",
    "Encoder",
    "bin_values",
    "known_values",
    "recode",
    "recoding",
    "take_codes",
    "warn_of_empty_columns",
]

TILE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Digest:
    """What is known of all rows of a source; digests of parts add up.

    Parameters
    ----------
    n_rows : int
    weight : float
        Of all rows.
    counts : list of int array
        For each feature the number of rows in each bin.
    low, high : list of float64 array
        The smallest and the largest value in each bin.
    ranges : dict from {"answers", "labels"} to (float, float)
        The smallest and the largest of numbers; empty for classes.
    """

    n_rows: int
    weight: float
    counts: list[np.ndarray]
    low: list[np.ndarray]
    high: list[np.ndarray]
    ranges: dict[str, tuple[float, float]]

    def __add__(self, other):
        def pairs(name):
            return zip(getattr(self, name), getattr(other, name), strict=True)

        return Digest(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            [a + b for a, b in pairs("counts")],
            [np.minimum(a, b) for a, b in pairs("low")],
            [np.maximum(a, b) for a, b in pairs("high")],
            {
                name: (
                    min(low, other.ranges[name][0]),
                    max(high, other.ranges[name][1]),
                )
                for name, (low, high) in self.ranges.items()
            },
        )


@dataclass(frozen=True, eq=False)
class Encoder:
    """Makes a Shard and a Digest of a Part.

    Parameters
    ----------
    forest : Forest
    grid : ThresholdGrid
        All thresholds of the forest.
    """

    forest: Forest
    grid: ThresholdGrid

    def __call__(self, part):
        """The shard of a part, rows without weight left out, and its digest."""
        matrix = self.forest.encode(part.X)
        check_finite(matrix, self.forest.feature_names)
        y, weight = part.y, part.sample_weight
        if y is not None:
            y = part_column(y, len(matrix))
        if weight is not None:
            weight = part_weight(weight, len(matrix))
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            y = None if y is None else y[kept]
        labels = None if y is None else self._labels(y)
        shard = Shard(self._codes(matrix), self._answers(matrix), labels, weight)
        return shard, self._digest(shard, matrix)

    def _codes(self, matrix):
        """Codes row by row, made for so few rows at a time that they stay in cache."""
        codes = np.empty(matrix.shape, dtype=self.grid.dtype)
        for start in range(0, len(matrix), TILE_ROWS):
            rows = slice(start, start + TILE_ROWS)
            codes[rows] = self.grid.bin(matrix[rows]).codes
        return codes

    def _answers(self, matrix):
        if self.forest.classes is None:
            return self.forest.predict_encoded(matrix)
        return self.forest.class_index(matrix).astype(self._class_dtype)

    @property
    def _class_dtype(self):
        return np.min_scalar_type(max(len(self.forest.classes) - 1, 0))

    def _labels(self, y):
        outcome = self.forest.outcome
        y = outcome.encode(outcome.check(y))
        return y if self.forest.classes is None else y.astype(self._class_dtype)

    def _digest(self, shard, matrix):
        counts, low, high = [], [], []
        for j, n_bins in enumerate(self.grid.n_bins):
            codes = shard.codes[:, j]
            counts.append(np.bincount(codes, minlength=n_bins))
            low.append(np.full(n_bins, np.inf))
            high.append(np.full(n_bins, -np.inf))
            # Sorted, which lets other threads work; NaN has a bin of its own, the last.
            present = np.flatnonzero(counts[-1][:-1])
            values = matrix[np.argsort(codes, kind="stable"), j]
            if len(present):
                starts = (np.cumsum(counts[-1]) - counts[-1])[present]
                values = values[: counts[-1][:-1].sum()]
                low[-1][present] = np.minimum.reduceat(values, starts)
                high[-1][present] = np.maximum.reduceat(values, starts)
        weight = float(len(shard) if shard.weight is None else shard.weight.sum())
        columns = (("answers", shard.answers), ("labels", shard.labels))
        ranges = {
            name: (np.min(own, initial=np.inf), np.max(own, initial=-np.inf))
            for name, own in columns
            if own is not None and self.forest.classes is None
        }
        return Digest(len(shard), weight, counts, low, high, ranges)


def warn_of_empty_columns(digest, names):
    """Say which columns hold missing values only, as `fit` does for a table."""
    empty = [j for j, count in enumerate(digest.counts) if not count[:-1].any()]
    for j in empty[:5]:
        warnings.warn(
            f"Column {names[j]!r} holds missing values only; no rule can use it.",
            UserWarning,
            stacklevel=4,
        )


def bin_values(digest):
    """For each feature a value of each bin: the largest that a row has; NaN last."""
    values = []
    for high in digest.high:
        own = high + 0.0  # no minus zero, whose sign hangs on the order of parts
        own[-1] = np.nan
        values.append(own)
    return values


def known_values(digest):
    """For each feature the sorted values that stand next to a threshold."""
    both = (
        np.concatenate([low[:-1], high[:-1]])
        for low, high in zip(digest.low, digest.high, strict=True)
    )
    return [np.unique(own[np.isfinite(own)]) for own in both]


def recoding(grid, shorter, digest):
    """For each feature the new code of each old one; None if nothing changes."""
    if all(
        len(old) == len(new)
        for old, new in zip(grid.splits, shorter.splits, strict=True)
    ):
        return None
    tables = []
    for j, values in enumerate(bin_values(digest)):
        filled = np.where(np.isinf(values), np.nan, values)
        tables.append(shorter.bin_column(j, filled))
    return tables


def recode(shard, tables, dtype):
    """The shard with other codes.

    Parameters
    ----------
    shard : Shard
    tables : list of int array
        For each feature the new code of each old one.
    dtype : numpy dtype
        Of the new codes.
    """
    codes = np.empty(shard.codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        codes[:, j] = table[shard.codes[:, j]]
    return dataclasses.replace(shard, codes=codes)


def take_codes(shard, rows):
    """Some rows of a shard, as a shard."""
    columns = (getattr(shard, field.name) for field in dataclasses.fields(shard))
    return Shard(*(None if own is None else own[rows] for own in columns))
