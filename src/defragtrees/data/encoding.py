"""Encode parts of a source as shards: codes, predictions and a digest.

A code is the bin of a value, which is all that the model and rules on its thresholds
need. `Digest.values` has a value of some row for each bin, to test conditions on codes.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np

from defragtrees._utils.optional import has_numba
from defragtrees.data.grid import ThresholdGrid, integer_range
from defragtrees.data.shards import Shard
from defragtrees.ensembles.forest import Forest
from defragtrees.tables import check_finite, check_weight

TILE_ROWS = 4096


@dataclass(frozen=True, eq=False)
class BinRanges:
    """Counts and ranges of values in the bins of each feature."""

    counts: list[np.ndarray]  # number of rows in each bin, per feature
    low: list[np.ndarray]  # the smallest value in each bin
    high: list[np.ndarray]  # the largest value in each bin
    is_integer: np.ndarray  # features with integer values only


def plain_bins(grid, matrix):
    """The codes of rows, in C order, and the BinRanges of these rows."""
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
    return codes, BinRanges(counts, low, high, np.array(is_integer, dtype=bool))


def compiled_bins(grid, matrix):
    """Compute `plain_bins` by compiled loops, in one pass; needs numba."""
    from defragtrees.data import kernels

    codes = np.empty(matrix.shape, dtype=grid.dtype)
    n_bins = grid.n_bins
    is_set = np.array([own.ndim == 2 for own in grid.splits], dtype=bool)
    splits = [own if own.ndim == 1 else np.empty(0) for own in grid.splits]
    starts, firsts = (_starts(sizes) for sizes in (map(len, splits), n_bins))
    n_places = int(n_bins.sum())
    counts = np.zeros(n_places, dtype=np.int64)
    low, high = np.full(n_places, np.inf), np.full(n_places, -np.inf)
    is_integer = np.ones(grid.n_features, dtype=bool)
    kernels.code_rows(
        np.ascontiguousarray(matrix),
        np.concatenate([np.empty(0), *splits]),
        *(starts, firsts, n_bins.astype(np.uint64), is_set),
        *(codes, counts, low, high, is_integer),
    )
    parts = (np.split(own, np.cumsum(n_bins)[:-1]) for own in (counts, low, high))
    return codes, BinRanges(*parts, is_integer)


def _starts(sizes):
    """Offsets of arrays of these sizes when concatenated."""
    sizes = np.array([*sizes], dtype=np.intp)
    return (np.cumsum(sizes) - sizes).astype(np.uint64)


def recode(shard, tables, dtype):
    """Map the codes of a shard to new ones."""
    codes = np.empty(shard.codes.shape, dtype=dtype)
    for j, table in enumerate(tables):
        codes[:, j] = table[shard.codes[:, j]]
    return dataclasses.replace(shard, codes=codes)


MOST_LEAVES = 64  # per tree: one bit of a word each


@dataclass(frozen=True, eq=False)
class LeafWords:
    """The trees of a forest as tables of bit masks over leaves (words); needs numba."""

    used: np.ndarray  # the features that each tree uses, tree after tree
    starts: np.ndarray  # where the bins of each feature begin in `rejects`
    rejects: np.ndarray  # the leaves that a row in a bin cannot reach, as bits
    ends: np.ndarray  # where the features of each tree end in `used`
    leaves: np.ndarray  # where the leaves of each tree begin in `values`
    # of each leaf, times the weight of its tree: (n_leaves, n_outputs)
    values: np.ndarray

    @classmethod
    def of(cls, forest, grid):
        """Make the words of a forest; None if a tree has too many leaves."""
        adds_up = forest.predicts_by_trees and forest.combine != "median"
        if not (adds_up and forest.trees):
            return None
        used, sizes, words, values = [], [], [], []
        for tree, weight in zip(forest.trees, forest.weights, strict=True):
            leaves = _leaf_order(tree)
            if leaves is None:
                return None
            tables = _tables(tree, grid)
            used.append(list(tables))
            words += tables.values()
            sizes.append(len(leaves))
            values.append(weight * tree.value[leaves])
        widths = [len(own) for own in words]
        return cls(
            np.array([j for own in used for j in own], dtype=np.uint64),
            (np.cumsum(widths) - widths).astype(np.uint64),
            np.concatenate([np.empty(0, np.uint64), *words]),
            np.cumsum([len(own) for own in used]).astype(np.uint64),
            (np.cumsum(sizes) - sizes).astype(np.uint64),
            np.concatenate(values),
        )

    def add_to(self, total, codes):
        """Add the outputs of the trees to `total`, tree by tree."""
        from defragtrees.data.kernels import leaf_sums

        codes = np.ascontiguousarray(codes)
        trees = self.used, self.starts, self.rejects, self.ends, self.leaves
        leaf_sums(codes, *trees, self.values, total)


def _leaf_order(tree):
    """The leaves of a tree from left to right; None if there are too many.

    A leaf with two paths occurs twice.
    """
    leaves, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        if tree.feature[node] < 0:
            leaves.append(node)
            if len(leaves) > MOST_LEAVES:
                return None
        else:
            waiting += [int(tree.right[node]), int(tree.left[node])]
    return leaves


def _tables(tree, grid):
    """The words of the bins of each feature of a tree."""
    tables, sizes = {}, _n_leaves(tree)
    n_before, waiting = 0, [0]
    # Leaves are ordered: those of a left subtree come before those of the right.
    while waiting:
        node = waiting.pop()
        j = int(tree.feature[node])
        if j < 0:
            n_before += 1
            continue
        left, right = int(tree.left[node]), int(tree.right[node])
        n_left, n_right = sizes[left], sizes[right]
        goes_left = _goes_left(tree, node, grid)
        if j not in tables:
            tables[j] = np.zeros(len(goes_left), dtype=np.uint64)
        on_left = ((1 << n_left) - 1) << n_before
        on_right = ((1 << n_right) - 1) << (n_before + n_left)
        tables[j] |= np.where(goes_left, np.uint64(on_right), np.uint64(on_left))
        waiting += [right, left]
    return tables


def _n_leaves(tree):
    """The number of paths from each node to a leaf."""
    counted = {}

    def count(node):
        if node not in counted:
            if tree.feature[node] < 0:
                counted[node] = 1
            else:
                sides = int(tree.left[node]), int(tree.right[node])
                counted[node] = sum(map(count, sides))
        return counted[node]

    count(0)
    return counted


def _goes_left(tree, node, grid):
    """Mask of the bins that a node sends to the left."""
    j = int(tree.feature[node])
    goes_left = np.zeros(int(grid.n_bins[j]), dtype=bool)
    if grid.is_categorical(j):
        goes_left[:-1] = tree.categories[node, : len(goes_left) - 1]
    else:
        place = np.searchsorted(grid.splits[j], tree.threshold[node])
        goes_left[: place + 1] = True
    goes_left[-1] = tree.missing_left[node]
    return goes_left


@dataclass(frozen=True, eq=False)
class Digest:
    """Statistics of all rows of a source; digests of parts can be added."""

    n_rows: int
    weight: float  # of all rows
    least_weight: float  # of a row
    largest_weight: float
    has_weights: bool  # whether they differ from 1
    counts: list[np.ndarray]  # for each feature the number of rows in each bin
    low: list[np.ndarray]  # the smallest value in each bin
    high: list[np.ndarray]  # the largest value in each bin
    ranges: dict[str, tuple[float, float]]  # of "answers" and "labels", if numbers
    is_integer: np.ndarray  # features with integer values only

    def __add__(self, other):
        def pairs(name):
            return zip(getattr(self, name), getattr(other, name), strict=True)

        return Digest(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            min(self.least_weight, other.least_weight),
            max(self.largest_weight, other.largest_weight),
            self.has_weights or other.has_weights,
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

    def values(self):
        """A value of each bin of each feature, the largest; NaN for missing values."""
        # No minus zero, whose sign depends on the order of parts.
        return [np.append(high[:-1] + 0.0, np.nan) for high in self.high]

    def edges(self):
        """The sorted values of each feature that are next to a threshold, and ranges.

        A range is the smallest and the largest value of an integer feature; it is None
        for others, and for a feature without values.
        """
        edges, ranges = [], []
        for low, high, is_integer in zip(
            self.low, self.high, self.is_integer, strict=True
        ):
            both = np.concatenate([low[:-1], high[:-1]])
            edges.append(np.unique(both[np.isfinite(both)]))
            ranges.append(integer_range(edges[-1]) if is_integer else None)
        return edges, ranges


@dataclass(frozen=True, eq=False)
class Encoder:
    """Turn a Part into a Shard and a Digest."""

    forest: Forest
    grid: ThresholdGrid  # all thresholds of the forest
    # whether shards keep the numbers too, not only codes
    keeps_numbers: bool = False
    # trees as tables over codes; None to evaluate the trees node by node
    words: LeafWords | None = None

    def __call__(self, part):
        """Return the shard of a part, without rows of weight 0, and its digest."""
        matrix = part.X if self._is_ready(part.X) else self.forest.encode(part.X)
        check_finite(matrix, self.forest.feature_names)
        outcome = self.forest.outcome
        y, weight = checked_columns(part, outcome, len(matrix))
        if weight is not None and not weight.all():
            # A row of weight 0 must not affect how thresholds are rounded either.
            kept = weight > 0
            matrix, weight = matrix[kept], weight[kept]
            y = None if y is None else y[kept]
        code = compiled_bins if self._is_compiled else plain_bins
        codes, bins = code(self.grid, matrix)
        raw = self._raw(matrix, codes)
        answers = outcome.target_of(self.forest, raw)
        outcome.check_predictions(answers)
        targets = {"answers": outcome.compact(answers)}
        probabilities = outcome.probabilities_of(self.forest, raw)
        if probabilities is not None:
            targets["probabilities"] = np.asarray(probabilities, dtype=np.float32)
        if y is not None:
            targets["labels"] = outcome.compact(outcome.encode(y))
        shard = Shard(codes, targets, weight, matrix if self.keeps_numbers else None)
        return shard, self._digest(shard, bins)

    @property
    def _is_compiled(self):
        """Whether numba compiles the loops over rows."""
        return not self.keeps_numbers and has_numba()

    def _is_ready(self, X):
        """Whether compiled loops can read a table without a copy."""
        forest = self.forest
        has_numbers_only = not any(forest.categories) and not any(
            forest.feature_kinds or ()
        )
        if not (self._is_compiled and self.words is not None and has_numbers_only):
            return False
        is_table = isinstance(X, np.ndarray) and X.shape[1:] == (forest.n_features,)
        return is_table and X.dtype in (np.float32, np.float64)

    def _raw(self, matrix, codes):
        """The raw output of the forest, bit for bit the same from codes and numbers."""
        if self.words is None:
            return self.forest.predict_raw_encoded(matrix)
        total = np.tile(self.forest.sum_start(), (len(codes), 1))
        self.words.add_to(total, codes)
        return self.forest.finish_sums(total)

    def _digest(self, shard, bins):
        ranges = {
            name: (np.min(values, initial=np.inf), np.max(values, initial=-np.inf))
            for name, values in shard.targets.items()
            if self.forest.classes is None
        }
        return Digest(
            len(shard),
            float(shard.sample_weight.sum()),
            float(np.min(shard.sample_weight, initial=np.inf)),
            float(np.max(shard.sample_weight, initial=0.0)),
            shard.weight is not None and bool((shard.weight != 1).any()),
            bins.counts,
            bins.low,
            bins.high,
            ranges,
            bins.is_integer,
        )


def checked_columns(part, outcome, n_rows):
    """Check y and weights of a part; all its weights may be 0."""
    y, weight = part.y, part.sample_weight
    if y is not None:
        y = outcome.read(y, n_rows)
    if weight is not None:
        weight = check_weight(weight, n_rows, is_relative=False)
    return y, weight
