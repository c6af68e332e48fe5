"""From parts of a source to shards: codes, what the ensemble answers, and a digest.

A code says all that the ensemble, and so any rule on its thresholds, can know of a
cell. `bin_values` gives each bin a value that some row has, to ask conditions by.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import column_or_1d

from defragtrees.bins import ThresholdGrid, integer_range
from defragtrees.forest import Forest
from defragtrees.rows.coding import compiled_bins, plain_bins
from defragtrees.rows.leaf_words import LeafWords
from defragtrees.rows.shards import Shard
from defragtrees.tables import check_finite

__all__ = [
    "Digest",
    "Encoder",
    "bin_values",
    "checked_columns",
    "edge_values",
    "integer_ranges",
    "recoding",
]


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
    is_integer : bool array of shape (n_features,)
        Features in which no row has a fraction.
    """

    n_rows: int
    weight: float
    counts: list[np.ndarray]
    low: list[np.ndarray]
    high: list[np.ndarray]
    ranges: dict[str, tuple[float, float]]
    is_integer: np.ndarray

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
            self.is_integer & other.is_integer,
        )


@dataclass(frozen=True, eq=False)
class Encoder:
    """Makes a Shard and a Digest of a Part.

    Parameters
    ----------
    forest : Forest
    grid : ThresholdGrid
        All thresholds of the forest.
    keeps_numbers : bool, default=False
        Whether shards have the numbers too, not only their codes.
    compiled : bool, default=False
        Whether numba compiles the loops over rows.
    words : LeafWords, optional
        What the trees say by codes; without them rows walk through the trees.
    """

    forest: Forest
    grid: ThresholdGrid
    keeps_numbers: bool = False
    compiled: bool = False
    words: LeafWords | None = None

    @classmethod
    def for_rows(cls, forest, grid, keeps_numbers, compiled):
        """The encoder for few rows, or for so many that words are worth making."""
        words = None if keeps_numbers else LeafWords.of(forest, grid)
        return cls(forest, grid, keeps_numbers, compiled, words)

    def __call__(self, part):
        """The shard of a part, rows without weight left out, and its digest."""
        matrix = part.X if self._is_ready(part.X) else self.forest.encode(part.X)
        check_finite(matrix, self.forest.feature_names)
        y, weight = checked_columns(part, len(matrix))
        if weight is not None and not weight.all():
            # A row without weight has no say, not even in where thresholds may move.
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            y = None if y is None else y[kept]
        code = compiled_bins if self.compiled else plain_bins
        codes, bins = code(self.grid, matrix)
        targets = self._answers(matrix, codes)
        if y is not None:
            outcome = self.forest.outcome
            targets["labels"] = self._compact(outcome.encode(outcome.check(y)))
        X = matrix if self.keeps_numbers else None
        shard = Shard(codes, targets, weight, X)
        return shard, self._digest(shard, bins)

    def _is_ready(self, X):
        """Whether compiled loops can look at a table as it is; a copy takes time."""
        forest = self.forest
        has_numbers_only = not any(forest.categories) and not any(
            forest.feature_kinds or ()
        )
        if not (self.compiled and self.words is not None and has_numbers_only):
            return False
        is_table = isinstance(X, np.ndarray) and X.shape[1:] == (forest.n_features,)
        return is_table and X.dtype in (np.float32, np.float64)

    def _raw(self, matrix, codes):
        """What the trees say together, to the same bits from codes as from numbers."""
        if self.words is None:
            return self.forest.predict_raw_encoded(matrix)
        total = np.tile(self.forest.sum_start(), (len(codes), 1))
        self.words.add_to(total, codes, self.compiled)
        return self.forest.finish_sums(total)

    def _answers(self, matrix, codes):
        """What the ensemble answers and, of classes, how likely it finds each."""
        raw = self._raw(matrix, codes)
        if self.forest.classes is None:
            answers = self.forest.predict_from_raw(raw)
            self.forest.outcome.check_answers(answers)
            return {"answers": answers}
        probabilities = self.forest.proba_from_raw(raw)
        return {
            "answers": self._compact(self.forest.class_index_from_raw(raw)),
            "probabilities": np.asarray(probabilities, dtype=np.float32),
        }

    def _compact(self, encoded):
        """Class numbers in as few bytes as will do; numbers as they are."""
        n_classes = self.forest.outcome.n_classes
        if not n_classes:
            return encoded
        return encoded.astype(np.min_scalar_type(n_classes - 1))

    def _digest(self, shard, bins):
        ranges = {
            name: (np.min(values, initial=np.inf), np.max(values, initial=-np.inf))
            for name, values in shard.targets.items()
            if self.forest.classes is None
        }
        weight = float(shard.sample_weight.sum())
        return Digest(
            len(shard),
            weight,
            bins.counts,
            bins.low,
            bins.high,
            ranges,
            bins.is_integer,
        )


def checked_columns(part, n_rows):
    """Labels of a part as one column, and its weights, all of which may be zero."""
    y, weight = part.y, part.sample_weight
    if y is not None:
        y = column_or_1d(y, warn=True)
        if len(y) != n_rows:
            raise ValueError(
                f"X and y must have equally many rows; got {n_rows} and {len(y)}."
            )
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        if weight.shape != (n_rows,):
            raise ValueError(
                "sample_weight must have one number for each row; got the shape "
                f"{weight.shape} for {n_rows} rows."
            )
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("sample_weight must hold finite numbers from 0.")
    return y, weight


def bin_values(digest):
    """For each feature a value of each bin: the largest that a row has; NaN last."""
    values = []
    for high in digest.high:
        own = high + 0.0  # no minus zero, whose sign hangs on the order of parts
        own[-1] = np.nan
        values.append(own)
    return values


def edge_values(digest):
    """For each feature the sorted values of rows that stand next to a threshold."""
    both = (
        np.concatenate([low[:-1], high[:-1]])
        for low, high in zip(digest.low, digest.high, strict=True)
    )
    return [np.unique(own[np.isfinite(own)]) for own in both]


def integer_ranges(digest):
    """For each feature the smallest and largest of its whole numbers; None if others.

    A feature without any value has no range.
    """
    values = edge_values(digest)
    return [
        integer_range(own) if is_integer else None
        for own, is_integer in zip(values, digest.is_integer, strict=True)
    ]


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
