"""What rows say, as whole numbers: their sums are exact, so that no order has a say.

With many rows sums come from shards, from the workers of a cluster or from a GPU, in
any order and by any cut. Sums of whole numbers are the same from all of them, to the
last bit, and so are the rules. A target is rounded to 2**-16 of its spread, which no
rule can feel.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["TARGET_BITS", "Imitated", "RowNumbers", "squares", "weight_bits"]

TARGET_BITS = 16  # after the point, of a target in units of its spread
MOST_SPREADS = 256  # a target farther from the mean counts as so far
WEIGHT_BITS = 20  # after the point, of a weight in units of their mean
SUM_BITS = 60  # of a sum that is sure to fit


@dataclass(frozen=True, eq=False)
class Imitated:
    """What the search imitates, row by row.

    Parameters
    ----------
    outcome : Classes or Numbers
    column : Target
        Which column of a shard that is; it standardises numbers.
    is_labels : bool
        Whether classes come from it, not from the ensemble's probabilities.
    decision : Decision or None
        From probabilities to a class; None for numbers.
    """

    outcome: Any
    column: Any
    is_labels: bool
    decision: Any = None

    def outputs(self, shard):
        """Probabilities of classes as they count, or numbers; and the weight of rows.

        The weight is None where each counts as one.
        """
        n_classes = self.outcome.n_classes
        if not n_classes:
            return self.column.of(shard, 0)[:, None], shard.weight
        if self.is_labels:
            shares = self.outcome.indicators(shard.targets[self.column.name])
        else:
            shares = shard.targets["probabilities"].astype(np.float64)
        if self.decision.is_even:
            return shares, shard.weight
        shares, total = self.decision.emphasised(shares)
        return shares, shard.sample_weight * total

    def target(self, outputs):
        """The outputs on the scale of the search."""
        return self.outcome.search_target(outputs) if self.decision else outputs

    def expected(self, shard):
        """What should come out: y where it is there, else what is imitated."""
        labels = shard.targets.get("labels")
        if labels is None:
            return self.outputs(shard)[0]
        if not self.outcome.n_classes:
            return replace(self.column, name="labels").of(shard, 0)[:, None]
        shares = self.outcome.indicators(labels)
        if self.decision.is_even:
            return shares
        return self.decision.emphasised(shares)[0]

    def totals(self, shard):
        """Weight of the rows, and sums of the target and of its square, by weight."""
        outputs, weight = self.outputs(shard)
        target = self.target(outputs)
        weight = np.ones(len(shard)) if weight is None else weight
        square = weight @ (target**2).sum(axis=1)
        return np.array([weight.sum(), square, *(weight @ target)])


def weight_bits(n_rows):
    """Digits of a weight, after the point, with which all sums are sure to fit."""
    room = SUM_BITS - TARGET_BITS - math.ceil(math.log2(max(n_rows, 2)))
    return max(0, min(WEIGHT_BITS, room))


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """From a shard to one with whole numbers as its targets.

    Parameters
    ----------
    imitated : Imitated
    center : tuple of float
        Of the target, for each output.
    spread : float
        Of the target; one is 2**16.
    mean_weight : float
        Of a row, dear classes counted as often as they cost; one is 2**bits.
    unit : float
        What such a weight stands for.
    bits : int
        Of a weight, after the point.
    has_target : bool
        Whether the target counts, not only the class.
    """

    imitated: Imitated
    center: tuple[float, ...]
    spread: float
    mean_weight: float
    unit: float
    bits: int
    has_target: bool

    @classmethod
    def of_totals(cls, imitated, totals, n_rows, total_weight, has_target):
        """The numbers for rows with these `Imitated.totals` and this weight."""
        # Rounded, since the last digits of a sum hang on its order.
        weight, square, *sums = totals
        center = tuple(round(value / weight, 6) + 0.0 for value in sums)
        variance = square / weight - sum(value**2 for value in center)
        spread = float(f"{math.sqrt(max(variance, 0.0)):.6g}") or 1.0
        weights = (float(f"{own / n_rows:.9g}") for own in (weight, total_weight))
        bits = weight_bits(n_rows)
        return cls(imitated, center, spread, *weights, bits, has_target)

    def of(self, shard):
        """The shard with "target" and "classes" as whole numbers.

        A weight is a multiple of 2**-bits in units of the mean, as a float64.
        """
        return self.with_outputs(shard, *self.imitated.outputs(shard))

    def with_outputs(self, shard, outputs, weight):
        """`of` where what the rows say, as `Imitated.outputs` gives it, is known."""
        outcome = self.imitated.outcome
        target = np.empty((len(shard), 0), dtype=np.int32)
        if self.has_target:
            target = self.imitated.target(outputs) - self.center
            target = np.clip(target / self.spread, -MOST_SPREADS, MOST_SPREADS)
            target = np.rint(target * 2**TARGET_BITS).astype(np.int32)
        classes = np.empty(0, dtype=np.uint8)
        if outcome.n_classes:
            dtype = np.min_scalar_type(outcome.n_classes - 1)
            classes = outputs.argmax(axis=1).astype(dtype)
        if weight is not None:
            weight = np.rint(weight / self.mean_weight * 2**self.bits) / 2**self.bits
        targets = {"target": np.ascontiguousarray(target), "classes": classes}
        return replace(shard, targets=targets, weight=weight, X=None)


def squares(shard):
    """Sum of the squared targets of a shard of whole numbers, by weight."""
    target = shard.targets["target"].astype(np.float64) / 2**TARGET_BITS
    return float(shard.sample_weight @ (target**2).sum(axis=1))
