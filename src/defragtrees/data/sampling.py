"""Rows that are drawn: samples by their contents, and new rows near the data.

A row is known by a hash of its cells, with columns in the order of their names. Rows
are drawn from shards by their hashes, wherever the shards lie and however rows are cut
into them, so that no order of rows can change a sample.
"""

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from defragtrees.data.shards import joined, weighted_sums

BUCKET_BITS = 16  # of a hash; rows that share them are in one bucket
NUMBER_BITS = 16  # after the point, of a number in units of its spread
FARTHEST = 2.0**62  # whole number
REACH = 0.1  # standard deviation of a step, as a share of the sorted column


def name_order(names):
    """Features sorted by name, so that the order of columns does not matter.

    Numbers in names count as numbers: columns without names, which are called x1, x2,
    ..., x10, stand in the order of X.

    Examples
    --------
    >>> name_order(["x10", "x9", "age"])
    (2, 1, 0)
    """
    return tuple(sorted(range(len(names)), key=lambda j: _parts(names[j])))


def _parts(name):
    """A name as texts and numbers by turns; the name itself settles "1" and "01"."""
    parts = re.split(r"([0-9]+)", name)
    return [int(part) if k % 2 else part for k, part in enumerate(parts)], name


def hash_rows(columns, seed=0):
    """A 64-bit hash of each row of some columns, one after the other."""
    key = np.uint64(seed)
    for column in columns:
        key = _mix(key ^ (_bits(column) + np.uint64(0x9E3779B97F4A7C15)))
    return key


def _bits(column):
    """A column as unsigned whole numbers; equal numbers have equal bits."""
    column = np.asarray(column)
    if column.dtype.kind == "f":
        # Plus zero, since minus zero is the same number with other bits.
        column = np.ascontiguousarray(column + 0).view(f"u{column.itemsize}")
    return column.astype(np.uint64)


def _mix(key):
    """A bijection of 64-bit numbers that spreads every bit (xor-shift, multiply)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def code_sums(codes, order):
    """A number for each row of codes; rows with other codes have another one.

    It is the sum of the codes, each times an odd number of its column's own. `order`
    has the columns in an order that does not depend on that of X.
    """
    rng = np.random.default_rng(0)
    factors = np.empty(codes.shape[1], dtype=np.uint64)
    drawn = rng.integers(2**63, size=len(factors), dtype=np.uint64)
    factors[np.asarray(order)] = 2 * drawn + 1
    return weighted_sums(codes, factors)


def ranks(values):
    """The place of each value among the distinct ones, whatever its units."""
    return np.unique(values, return_inverse=True)[1]


def draw_shard(store, n_rows, order, rng):
    """A shard of `n_rows` of the rows of a store, sorted by their hashes.

    Rows are sorted into buckets by their hashes, and it is drawn how many come from
    each bucket: those with the lowest hashes. Equal rows share a bucket, so as many of
    them are drawn as of any others, and it does not matter which.
    """
    seed = int(rng.integers(2**63))
    hashes = ShardHashes(seed, tuple(order), store.target, store.n_classes)
    shards, n_shards = store.shards, len(store.shards.lengths)
    counts = shards.total(_bucket_counts, hashes)
    places = np.sort(rng.choice(store.n_rows, n_rows, replace=False))
    buckets = np.searchsorted(np.cumsum(counts), places, side="right")
    wanted = np.bincount(buckets, minlength=len(counts)).astype(np.int32)
    lowest = shards.total(_lowest_hashes, hashes, wanted).keys
    keys, copies = np.unique(lowest, return_counts=True)
    highest = np.zeros(len(counts), dtype=np.uint64)
    highest[_buckets(keys)] = keys  # sorted, so that the last of a bucket stays
    found = shards.collect(_first_rows, [hashes] * n_shards, [highest] * n_shards)
    [shard] = joined([rows for _, rows in found], np.inf)
    first = _first_places(np.concatenate([own for own, _ in found]), shard)
    return shard.take(np.repeat(first, copies))


@dataclass(frozen=True, eq=False)
class ShardHashes:
    """The hashes of the rows of shards of codes."""

    seed: int
    order: tuple[int, ...]  # of features
    target: Any  # the Target: it standardises numbers
    n_classes: int

    def of(self, shard):
        """The hash of each row: of its codes, weight and targets."""
        # Codes are many, so that mixing the bits of each column would take long.
        weight = np.ones(1) if shard.weight is None else shard.weight
        columns = [weight, code_sums(shard.codes, self.order)]
        for name, values in sorted(shard.targets.items()):
            if self.n_classes:
                columns.extend(np.atleast_2d(values.T))
            else:
                # So coarse that other units of y give the same whole numbers.
                column = dataclasses.replace(self.target, name=name)
                number = column.of(shard, 0) * 2**NUMBER_BITS
                # What the ensemble predicts may be far off the scale of y.
                number = np.clip(np.rint(number), -FARTHEST, FARTHEST)
                columns.append(number.astype(np.int64))
        return hash_rows(columns, self.seed)


def _buckets(keys):
    return (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)


def _bucket_counts(shard, hashes):
    return np.bincount(_buckets(hashes.of(shard)), minlength=2**BUCKET_BITS)


@dataclass(frozen=True, eq=False)
class LowestHashes:
    """The lowest hashes of each bucket, as many as are wanted; they add up."""

    keys: np.ndarray
    wanted: np.ndarray  # for each bucket

    def __add__(self, other):
        return _lowest(np.concatenate([self.keys, other.keys]), self.wanted)


def _lowest(keys, wanted):
    keys = np.sort(keys)
    bucket = _buckets(keys)
    counts = np.bincount(bucket, minlength=len(wanted))
    place = np.arange(len(keys)) - (np.cumsum(counts) - counts)[bucket]
    return LowestHashes(keys[place < wanted[bucket]], wanted)


def _lowest_hashes(shard, hashes, wanted):
    keys = hashes.of(shard)
    return _lowest(keys[wanted[_buckets(keys)] > 0], wanted)


def _first_rows(shard, hashes, highest):
    """One row for each hash up to the highest of its bucket, and these hashes."""
    own = hashes.of(shard)
    rows = np.flatnonzero(own <= highest[_buckets(own)])
    rows = rows[_first_places(own[rows], shard.take(rows))]
    return own[rows], shard.take(rows)


def _first_places(keys, shard):
    """Where a row with each hash is; of numbers that are nearly equal the smallest."""
    numbers = [own for own in shard.targets.values() if own.ndim == 1]
    order = np.lexsort((*numbers, keys))
    return order[np.unique(keys[order], return_index=True)[1]]


def draw_rows(X, n_rows, is_set, rng, order=None, weight=None):
    """Rows of X with every cell moved a little way along its sorted column.

    A cell takes a value that its column has, at a normal distance in rank. Steps of one
    row go together as the columns do: they have the correlation of the columns' normal
    scores (a Gaussian copula). A category is now and then that of another row. So each
    column keeps its distribution.

    X has shape (n_samples, n_features), and `is_set` says which columns are categories.
    Columns are drawn in the order of `order`, by default as in X. A row of weight two
    is as good as two rows.
    """
    n_features = X.shape[1]
    order = range(n_features) if order is None else order
    weight = np.ones(len(X)) if weight is None else weight
    reached = np.cumsum(weight) / weight.sum()
    base = _places(reached, rng.random(n_rows))
    moved = X[base]
    columns = {j: _Ranks(X[:, j], weight) for j in order if not is_set[j]}
    root = _correlation_root([own.scores for own in columns.values()], weight)
    steps = rng.normal(size=(n_rows, len(columns))) @ root
    for (j, own), step in zip(columns.items(), steps.T, strict=True):
        moved[:, j] = own.moved(base, REACH * step, rng)
    for j in order:
        if is_set[j]:
            swapped = np.flatnonzero(rng.random(n_rows) < REACH)
            moved[swapped, j] = X[_places(reached, rng.random(len(swapped))), j]
    return moved


def _places(reached, shares):
    """The rows at these shares of the weight."""
    places = np.searchsorted(reached, shares, side="right")
    return np.minimum(places, len(reached) - 1)


class _Ranks:
    """A column by rank, from 0 to 1; equal values share a range of ranks."""

    def __init__(self, column, weight):
        self.values, place = np.unique(column, return_inverse=True)
        share = np.bincount(place, weight) / weight.sum()
        self.ends = np.cumsum(share)
        self.low, self.width = (self.ends - share)[place], share[place]
        is_missing = np.isnan(column)
        present = np.where(is_missing, 0.0, self.width).max(initial=0.0) > 0
        total = self.ends[~np.isnan(self.values)][-1] if present else 1.0
        # A missing value stands in the middle.
        middle = np.clip((self.low + self.width / 2) / total, 1e-12, 1 - 1e-12)
        self.scores = np.where(is_missing, 0.0, ndtri(middle))

    def moved(self, rows, step, rng):
        """The values of some rows after a step; a step past an end turns back."""
        rank = self.low[rows] + self.width[rows] * rng.random(len(rows)) + step
        rank = 1.0 - np.abs(1.0 - np.abs(rank) % 2.0)
        return self.values[_places(self.ends, rank)]


def _correlation_root(scores, weight):
    """The square root of the correlation of some columns: symmetric, so it is one."""
    if not scores:
        return np.empty((0, 0))
    scores = np.column_stack(scores)
    scores = scores - weight @ scores / weight.sum()
    size = np.sqrt(weight @ scores**2)
    scores = scores / np.where(size > 0, size, 1.0)
    correlation = scores.T @ (weight[:, None] * scores)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    # What rounding leaves of zero would grow to its square root.
    values[values < 1e-9] = 0.0
    return (vectors * np.sqrt(values)) @ vectors.T
