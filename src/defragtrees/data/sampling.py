"""Samples of rows by a hash of their contents, and synthetic rows near the data.

The hash covers the cells of a row, with columns sorted by name. So a sample depends
neither on the order of rows nor on how they are divided into shards.
"""

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from defragtrees.data.shards import joined

BUCKET_BITS = 16  # of a hash; they define its bucket
NUMBER_BITS = 16  # after the point, of a number in units of its spread
FARTHEST = 2.0**62  # largest integer of a scaled number
MOST_TWINS = 0.05  # share of rows that are equal to another one of their table
LEAST_COPIES = 10  # more than chance would explain
SCOTT = 1.06 * 12**-0.5  # times the standard deviation of ranks from 0 to 1


def name_order(names):
    """Features sorted by name, so that the order of columns does not matter.

    Numbers in names are compared as numbers, so that x2 comes before x10.

    Examples
    --------
    >>> name_order(["x10", "x9", "age"])
    (2, 1, 0)
    """
    keys = []
    for name in names:
        parts = re.split(r"([0-9]+)", name)
        parts = [int(part) if k % 2 else part for k, part in enumerate(parts)]
        keys.append((parts, name))  # the name itself breaks ties ("1", "01")
    return tuple(sorted(range(len(names)), key=keys.__getitem__))


def hash_rows(columns, seed=0):
    """A 64-bit hash of each row of some columns."""
    key = np.uint64(seed)
    for column in columns:
        bits = np.asarray(column)
        if bits.dtype.kind == "f":
            # Adding 0 turns -0.0 into 0.0: equal numbers must have equal bits.
            bits = np.ascontiguousarray(bits + 0).view(f"u{bits.itemsize}")
        key = key ^ (bits.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        # A bijection of 64-bit numbers that mixes all bits (xor-shift, multiply).
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        key = key ^ (key >> np.uint64(31))
    return key


def copied_rows(rows, others, has_parts=True):
    """Mask of the rows that are copies of others, by their hashes.

    In a table with few values rows are equal by chance, about as often as one of the
    others has a twin among them. If that is often, only a copy of all rows can be told
    from new rows; `has_parts` is False if less than all should be no copy anyway.

    Examples
    --------
    >>> int(copied_rows(np.arange(80, 130), np.arange(100)).sum())
    20
    >>> int(copied_rows(np.arange(99, 130), np.arange(100)).sum())
    0
    """
    _, place, counts = np.unique(others, return_inverse=True, return_counts=True)
    # At most, as up to three more could have been seen by chance.
    chance = ((counts[place] > 1).sum() + 3) / len(others)
    is_same, n_expected = np.isin(rows, others), chance * len(rows)
    n_same = is_same.sum()
    if n_same == len(rows) and n_same - n_expected > LEAST_COPIES:
        return is_same
    is_clear = has_parts and chance < MOST_TWINS
    is_clear &= n_same > n_expected + 3 * np.sqrt(n_expected)
    return is_same & is_clear


def code_sums(codes, order):
    """A number for each row of codes; rows with other codes have another one.

    It is the sum, modulo 2**64, of the codes, each times an odd number of its column's
    own. `order` has the columns in an order that does not depend on that of X.
    """
    rng = np.random.default_rng(0)
    factors = np.empty(codes.shape[1], dtype=np.uint64)
    drawn = rng.integers(2**63, size=len(factors), dtype=np.uint64)
    factors[np.asarray(order)] = 2 * drawn + 1
    return np.einsum("ij,j->i", codes, factors, dtype=np.uint64, casting="unsafe")


def ranks(values):
    """The rank of each value, or line of values, among the distinct ones."""
    axis = 0 if values.ndim > 1 else None
    return np.unique(values, return_inverse=True, axis=axis)[1].ravel()


def draw_shard(store, n_rows, order, rng):
    """Draw a shard of `n_rows` rows of a store, sorted by their hashes.

    The number of rows per bucket of hashes is drawn at random; of each bucket the rows
    with the lowest hashes are taken. Equal rows have equal hashes, so it does not
    matter which of them are taken.
    """
    seed = int(rng.integers(2**63))
    hashes = ShardHashes(seed, tuple(order), store.target, store.n_classes)
    shards = store.shards
    counts = shards.total(
        lambda shard: np.bincount(_buckets(hashes.of(shard)), minlength=2**BUCKET_BITS)
    )
    places = np.sort(rng.choice(store.n_rows, n_rows, replace=False))
    buckets = np.searchsorted(np.cumsum(counts), places, side="right")
    wanted = np.bincount(buckets, minlength=len(counts)).astype(np.int32)
    lowest = shards.total(_lowest_hashes, hashes, wanted).keys
    keys, copies = np.unique(lowest, return_counts=True)
    highest = np.zeros(len(counts), dtype=np.uint64)
    highest[_buckets(keys)] = keys  # sorted, so that the last of a bucket stays
    found = shards.collect(_first_rows, hashes, highest)
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
                # So coarse that other units of y give the same integers.
                column = dataclasses.replace(self.target, name=name)
                number = column.of(shard, 0) * 2**NUMBER_BITS
                # Predictions of the model may be far outside the range of y.
                number = np.clip(np.rint(number), -FARTHEST, FARTHEST)
                columns.extend(np.atleast_2d(number.T.astype(np.int64)))
        return hash_rows(columns, self.seed)


def _buckets(keys):
    return (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)


@dataclass(frozen=True, eq=False)
class LowestHashes:
    """The lowest hashes of each bucket, up to the wanted number; they can be added."""

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
    """Index of a row with each hash; of nearly equal numbers, of the smallest."""
    numbers = [own for own in shard.targets.values() if own.ndim == 1]
    order = np.lexsort((*numbers, keys))
    return order[np.unique(keys[order], return_index=True)[1]]


def draw_rows(X, n_rows, is_set, rng, order=None, weight=None, special=None):
    """Draw rows of X and move every cell by a random step in rank.

    A cell takes another value of its column, at a normally distributed distance in
    rank. The steps of one row have the correlation of the columns' normal scores (a
    Gaussian copula). Categories are sometimes replaced by that of another row. So each
    column keeps its distribution. Rows of X are drawn equally often, as their weights
    say, up to rounding.

    X has shape (n_samples, n_features), and `is_set` marks categorical columns. Columns
    are drawn in the order of `order`, by default that of X. A row of weight two counts
    as two rows. Special values of a column stay, as missing values do.
    """
    order = range(X.shape[1]) if order is None else order
    weight = np.ones(len(X)) if weight is None else weight
    reached = np.cumsum(weight) / weight.sum()
    base = rng.permutation(_places(reached, (np.arange(n_rows) + 0.5) / n_rows))
    moved = X[base]
    # Scott's rule for the bandwidth of a kernel density estimate, for ranks: the more
    # different rows there are, the nearer to them new ones are drawn.
    _, place = np.unique(hash_rows([X[:, j] for j in order]), return_inverse=True)
    share = np.bincount(place, weight) / weight.sum()
    reach = SCOTT * round(1 / (share @ share)) ** -0.2
    fixed = {j: np.isin(X[:, j], values) for j, values in (special or {}).items()}
    columns = {
        j: _Ranks(np.where(fixed.get(j, False), np.nan, X[:, j]), weight)
        for j in order
        if not is_set[j]
    }
    # The symmetric square root of the correlation matrix of the columns.
    root = np.empty((0, 0))
    if columns:
        scores = np.column_stack([own.scores for own in columns.values()])
        scores = scores - weight @ scores / weight.sum()
        size = np.sqrt(weight @ scores**2)
        scores = scores / np.where(size > 0, size, 1.0)
        correlation = scores.T @ (weight[:, None] * scores)
        np.fill_diagonal(correlation, 1.0)
        values, vectors = np.linalg.eigh(correlation)
        # The square root would magnify rounding errors of zero.
        values[values < 1e-9] = 0.0
        root = (vectors * np.sqrt(values)) @ vectors.T
    steps = rng.normal(size=(n_rows, len(columns))) @ root
    for (j, own), step in zip(columns.items(), steps.T, strict=True):
        # The ranks after a step, which is reflected at the ends.
        rank = own.low[base] + own.width[base] * rng.random(n_rows) + reach * step
        rank = 1.0 - np.abs(1.0 - np.abs(rank) % 2.0)
        new = own.values[_places(own.ends, rank)]
        moved[:, j] = np.where(own.is_missing[base], X[base, j], new)
    for j in order:
        if is_set[j]:
            swapped = np.flatnonzero(rng.random(n_rows) < reach)
            moved[swapped, j] = X[_places(reached, rng.random(len(swapped))), j]
    return moved


def _places(reached, shares):
    """The rows at these fractions of the total weight."""
    return np.minimum(np.searchsorted(reached, shares, side="right"), len(reached) - 1)


class _Ranks:
    """Ranks of a column, from 0 to 1; equal values share a range of ranks."""

    def __init__(self, column, weight):
        self.is_missing = np.isnan(column)
        values, place = np.unique(column, return_inverse=True)
        share = np.bincount(place, np.where(self.is_missing, 0.0, weight))
        share /= share.sum() or 1.0
        ends = np.cumsum(share)
        self.low, self.width = (ends - share)[place], share[place]
        n_known = max(np.count_nonzero(~np.isnan(values)), 1)
        self.values, self.ends = values[:n_known], ends[:n_known]
        middle = np.clip(self.low + self.width / 2, 1e-12, 1 - 1e-12)
        # A missing value has the middle rank.
        self.scores = np.where(self.is_missing, 0.0, ndtri(middle))
