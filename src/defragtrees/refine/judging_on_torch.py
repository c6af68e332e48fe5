"""Lists judged by rows on a device: the visits of `judging`, by PyTorch.

Sums are of float64, which a GPU adds in any order; a score is rounded to digits that
this does not touch.
"""

import numpy as np

from defragtrees.refine.choice import HOLD_OUT_EVERY
from defragtrees.refine.judging import LOW_BITS, MIXING, with_expected

__all__ = ["TorchVisits"]


class TorchVisits:
    """What judging asks of rows, where their codes are on a device.

    Parameters
    ----------
    keeper : TorchKeeper
        Of the same rows, others may follow them.
    shards : LocalShards
        As they are read.
    imitated : Imitated
    folds : Folds
    """

    def __init__(self, keeper, shards, imitated, folds):
        self.keeper, self.torch = keeper, keeper.torch
        parts = shards.map(with_expected, imitated).shards
        self.n_rows = sum(map(len, parts))
        self.expected = self._joined([part.targets["expected"] for part in parts]).T
        self.is_seen, self.is_judged = self._sides(folds)
        self.weight = None
        if any(part.weight is not None for part in parts):
            self.weight = self._joined([part.sample_weight for part in parts])

    def _joined(self, arrays):
        return self.torch.cat([self.keeper.there(array) for array in arrays])

    def _sides(self, folds):
        """As `Folds.of`; products of eight bytes lose the same digits with a sign."""
        keeper = self.keeper
        mark = self.torch.zeros_like(keeper.copy[: self.n_rows])
        for j, factor in enumerate(folds.factors.view(np.int64).tolist()):
            mark += keeper.code(j, slice(0, self.n_rows)) * factor
        mark *= int(np.uint64(MIXING).view(np.int64))
        high = (mark >> LOW_BITS) & (2 ** (64 - LOW_BITS) - 1)
        is_judged = high % HOLD_OUT_EVERY == HOLD_OUT_EVERY // 2
        frequent = keeper.there(folds.frequent.view(np.int64))
        is_frequent = self.torch.isin(mark, frequent)
        return ~is_judged | is_frequent, is_judged | is_frequent

    def told_sums(self, packed):
        """See ShardVisits."""
        weight, parts = self._weight_where(self.is_seen), []
        columns = [weight, *(weight * one for one in self.expected)]
        for own in packed:
            rule = self._answering(own)
            sums = [self._added(rule, one, own.n_rules) for one in columns]
            parts.append(self.torch.stack(sums, dim=1).ravel())
        return self.torch.cat(parts).cpu().numpy()

    def loss_moments(self, packed, told, counts_errors):
        """See ShardVisits."""
        weight = self._weight_where(self.is_judged)
        square = weight**2
        parts = []
        for own, means in zip(packed, told, strict=True):
            rule = self._answering(own)
            loss = self._losses(rule, means, counts_errors)
            sums = [weight, weight * loss, square, square * loss, square * loss**2]
            parts.append(self.torch.stack([one.sum() for one in sums]))
        return self.torch.stack(parts).cpu().numpy()

    def _answering(self, own):
        return self.keeper.answering(own)[: self.n_rows]

    def _added(self, rule, values, n_rules):
        return self.keeper.added(rule, values, n_rules, slice(0, self.n_rows))

    def _weight_where(self, is_there):
        """The weight of rows on a side; that of others is nothing."""
        is_there = is_there.double()
        return is_there if self.weight is None else is_there * self.weight

    def _losses(self, rule, means, counts_errors):
        if counts_errors:
            answers = self.keeper.there(np.argmax(means, axis=1))
            return (answers[rule] != self.expected.argmax(dim=0)).double()
        told = self.keeper.there(means)
        parts = [(told[:, c][rule] - one) ** 2 for c, one in enumerate(self.expected)]
        return self.torch.stack(parts).sum(dim=0)
