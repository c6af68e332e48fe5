"""Lists judged by all rows that the search did not see, wherever these are."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees.outcome.sums import SHRINKAGE
from defragtrees.refine.choice import FREQUENT, HOLD_OUT_EVERY, ListScore
from defragtrees.refine.list_kernels import list_losses, list_told

__all__ = [
    "LOW_BITS",
    "MIXING",
    "Folds",
    "JudgedRows",
    "ShardVisits",
    "with_expected",
]

SEEN, JUDGED = 1, 2  # bits of a fold
# The high bits of a product hang on all bits of what was multiplied.
MIXING, LOW_BITS = 0x9E3779B97F4A7C15, 40


@dataclass(frozen=True, eq=False)
class Folds:
    """Which rows are seen by the search, and which judge: by what stands in them.

    Rows that are alike stay together, but for those that are frequent: what many rows
    have in common is on both sides, as it is in new data.

    Parameters
    ----------
    factors : uint64 array of shape (n_features,)
    frequent : uint64 array
        Sorted fingerprints of rows that come often.
    """

    factors: np.ndarray
    frequent: np.ndarray

    @classmethod
    def of_sample(cls, codes, weight, order):
        """The folds for rows of which some are here.

        Parameters
        ----------
        codes : unsigned int array of shape (n_samples, n_features)
        weight : array of shape (n_samples,)
        order : sequence of int
            Features in an order that hangs on their names only.
        """
        factors = np.empty(codes.shape[1], dtype=np.uint64)
        rng = np.random.default_rng(0)
        drawn = rng.integers(2**63, size=len(factors), dtype=np.uint64)
        factors[list(order)] = 2 * drawn + 1
        marks, place = np.unique(_fingerprints(codes, factors), return_inverse=True)
        return cls(factors, marks[np.bincount(place, weight) >= FREQUENT])

    def of(self, codes):
        """Two bool arrays: rows to find lists on, and rows to judge them by."""
        mark = _fingerprints(codes, self.factors)
        place = np.searchsorted(self.frequent, mark)
        is_frequent = np.zeros(len(mark), dtype=bool)
        if len(self.frequent):
            last = len(self.frequent) - 1
            is_frequent = self.frequent[np.minimum(place, last)] == mark
        is_judged = mark >> np.uint64(LOW_BITS)
        is_judged = is_judged % HOLD_OUT_EVERY == HOLD_OUT_EVERY // 2
        return ~is_judged | is_frequent, is_judged | is_frequent


def _fingerprints(codes, factors):
    total = np.zeros(len(codes), dtype=np.uint64)
    for column, factor in zip(codes.T, factors, strict=True):
        total += column.astype(np.uint64) * factor
    return total * np.uint64(MIXING)


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Scores lists by all rows.

    Parameters
    ----------
    visits : ShardVisits or another that has the rows
    rows : AllRows
        For lists over their codes.
    counts_errors : bool
        Whether only the likeliest class matters.
    """

    visits: Any
    rows: Any
    counts_errors: bool = False

    def scores(self, lists):
        """A ListScore for each of some CountedBoxes, by two visits."""
        packed = [self.rows.packed(own.boxes) for own in lists]
        told = []
        for part in _cut(self.visits.told_sums(packed), packed):
            every = part.sum(axis=0)[1:] / max(part[:, 0].sum(), 1e-300)
            each = part[:, 1:] + SHRINKAGE * every
            told.append(each / (part[:, :1] + SHRINKAGE))
        moments = self.visits.loss_moments(packed, told, self.counts_errors)
        return [_score(own, part) for own, part in zip(lists, moments, strict=True)]


@dataclass(frozen=True, eq=False)
class ShardVisits:
    """What judging asks of rows, where these are in shards.

    Parameters
    ----------
    shards : LocalShards or DaskShards
        As they are read.
    imitated : Imitated
    folds : Folds
    """

    shards: Any
    imitated: Any
    folds: Folds

    def told_sums(self, packed):
        """For all rules of all lists: weight and sums of what comes out, of rows seen.

        Those of each PackedList follow one another in one array.
        """
        return self._folded.total(_told_sums, packed, self.imitated, self.folds)

    def loss_moments(self, packed, told, counts_errors):
        """For every list the sums that a score needs, of rows that judge.

        Parameters
        ----------
        packed : list of PackedList
        told : list of array of shape (n_rules, n_outputs)
            What the rules of each tell.
        counts_errors : bool
            Whether a wrong class is the loss, not the squared distance.
        """
        context = self.imitated, self.folds, counts_errors
        return self._folded.total(_loss_moments, packed, told, *context)

    @cached_property
    def _folded(self):
        """The shards, with a column that says who sees a row, where they are here.

        On a cluster they would count as one more copy of all rows.
        """
        if not self.shards.is_here:
            return self.shards
        return self.shards.map(_with_folds, self.folds)


def with_expected(shard, imitated):
    """The rows with what should come out of them, "expected", and their weight."""
    expected, weight = _expected(shard, imitated)
    return replace(shard, targets={"expected": expected}, weight=weight, X=None)


def _with_folds(shard, folds):
    return replace(shard, targets={**shard.targets, "fold": _sides(shard, folds)})


def _sides(shard, folds):
    """Who sees each row, as bits."""
    is_seen, is_judged = folds.of(shard.codes)
    return (is_seen * SEEN + is_judged * JUDGED).astype(np.uint8)


def _score(rules, moments):
    """The score from sums over all rows, without the digits that hang on their order.

    These are of the weight, weight times loss, and of squared weights times the powers
    of the loss.
    """
    total, first, *squared = moments
    mean = first / max(total, 1e-300)
    variance = squared[2] - 2 * mean * squared[1] + mean**2 * squared[0]
    error = np.sqrt(max(variance, 0.0)) / max(total, 1e-300)
    mean, error = (float(f"{value:.9g}") for value in (mean, error))
    return ListScore(rules.n_rules, rules.n_conditions, mean, error)


def _told_sums(shard, packed, imitated, folds):
    rows = _rows(shard, SEEN, imitated, folds)
    sums = [list_told(shard.codes, *rows, *own.boxes) for own in packed]
    return np.concatenate([own.ravel() for own in sums])


def _cut(sums, packed):
    """The sums of each list, (n_rules, 1 + n_outputs)."""
    n_columns = len(sums) // sum(own.n_rules for own in packed)
    ends = np.cumsum([own.n_rules * n_columns for own in packed])
    return [part.reshape(-1, n_columns) for part in np.split(sums, ends[:-1])]


def _loss_moments(shard, packed, told, imitated, folds, counts_errors):
    rows = _rows(shard, JUDGED, imitated, folds)
    return np.array(
        [
            list_losses(shard.codes, *rows, means, counts_errors, *own.boxes)
            for own, means in zip(packed, told, strict=True)
        ]
    )


def _rows(shard, side, imitated, folds):
    """What should come out, the weights, and which rows are on a side."""
    expected, weight = _expected(shard, imitated)
    weight = np.empty(0) if weight is None else weight
    fold = shard.targets.get("fold")
    fold = _sides(shard, folds) if fold is None else fold
    return expected, weight, fold & side > 0


def _expected(shard, imitated):
    """What should come out, and the weight of rows; None where each is one."""
    outputs, weight = imitated.outputs(shard)
    if "labels" in shard.targets:
        outputs = imitated.expected(shard)
    return np.ascontiguousarray(outputs), weight
