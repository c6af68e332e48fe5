"""All rows of a source, kept as codes, and a sample of them as a Problem."""

import dataclasses
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from defragtrees.bins import ThresholdGrid
from defragtrees.methods._encoding import (
    Encoder,
    bin_values,
    known_values,
    recode,
    recoding,
    take_codes,
)
from defragtrees.methods._tally import (
    Measure,
    decode,
    exact,
    holding_codes,
    recounted,
    rule_sums,
)
from defragtrees.mixture.engines.plan import Target
from defragtrees.mixture.fit import ShardRows
from defragtrees.problem import Problem
from defragtrees.rows import sources
from defragtrees.rows.local import joined

__all__ = ["Whole", "read_whole", "sample_problem"]


@dataclass(frozen=True, eq=False)
class Whole:
    """All rows.

    Parameters
    ----------
    shards : LocalShards or DaskShards
    grid : ThresholdGrid
        That the codes are of.
    counts, values : list of array
        For each feature the number of rows in each bin, and a value of it.
    n_rows : int
    weight : float
        Of all rows.
    target : Target
        Which column the rules are to say, with its mean and its spread.
    n_classes : int
        0 for numbers.
    """

    shards: Any
    grid: ThresholdGrid
    counts: list[np.ndarray]
    values: list[np.ndarray]
    n_rows: int
    weight: float
    target: Target
    n_classes: int

    def rows(self):
        """The rows as the mixture sees them."""
        return ShardRows(
            self.shards,
            self.grid,
            self.target,
            self.n_classes,
            self.counts,
            self.weight,
            self.n_rows,
        )

    def recounted(self, rule_sets, keeps_answers=False):
        """Rule sets with the answers and the evidence of all rows."""
        sums = self.shards.total(
            rule_sums, rule_sets, self.values, self.target, self.n_classes
        )
        return [
            recounted(rules, covered, counted, self.target, keeps_answers)
            for rules, covered, counted in zip(
                rule_sets, sums.covered, sums.target, strict=True
            )
        ]

    def recounted_each(self, rules, like):
        """Rules that are asked one by one, with the evidence of all rows.

        Their answers stay: they are not those of the rows in which they hold.

        Parameters
        ----------
        rules : tuple of Rule
        like : RuleSet
            With the names, classes and categories.
        """
        lists = [dataclasses.replace(like, rules=(rule,)) for rule in rules]
        return tuple(
            found.rules[0] for found in self.recounted(lists, keeps_answers=True)
        )

    def has_one_value(self):
        """Whether the target is the same in all rows."""
        name, low = self.target.name, None
        for own in self.shards.collect(
            _target_range, [name] * len(self.shards.lengths)
        ):
            if own is not None:
                low = own[0] if low is None else low
                if own != (low, low):
                    return False
        return True

    def evaluate(self, rules, posterior):
        """What `evaluate` gives for the training rows."""
        found = self.shards.total(_measure_shard, rules, posterior, self.values)
        return found.result(rules)


def _target_range(shard, name):
    values = getattr(shard, name)
    return (values.min(), values.max()) if len(values) else None


def _measure_shard(shard, rules, posterior, values):
    held = holding_codes(rules, shard.codes, values)
    answers, labels = shard.answers, shard.labels
    said = None if posterior is None else posterior.answer(shard.codes)
    predictions = np.array([rule.prediction for rule in rules])
    if rules.classes is not None:
        # By number, as the ensemble's answers are.
        predictions = np.array([rules.classes.index(r.prediction) for r in rules])
    predicted = predictions[held.argmax(axis=1)]
    return Measure.of(rules.task, held, predicted, answers, labels, shard.weight, said)


def read_whole(source, forest, *, name, shorten, n_jobs, watch=None):
    """All rows of a source.

    Parameters
    ----------
    source : LocalSource or DaskSource
    forest : Forest
    name : {"answers", "labels"}
        Of the target.
    shorten : bool
        Whether thresholds may be shortened.
    n_jobs : int or None
    watch : callable, optional
        Called with the number of rows of every part that is done.

    Returns
    -------
    whole : Whole
    digest : Digest
    """
    grid = ThresholdGrid(tuple(forest.splits()))
    shards, digest = source.encode(Encoder(forest, grid), n_jobs, watch)
    if digest is None or digest.n_rows == 0:
        raise ValueError("At least one row with a positive weight is needed.")
    counts, values = digest.counts, bin_values(digest)
    if shorten:
        shorter = grid.shorten_between(known_values(digest))
        tables = recoding(grid, shorter, digest)
        if tables is not None:
            shards = shards.map(recode, tables, shorter.dtype)
            counts, values = _moved(counts, values, tables, shorter.n_bins)
        grid = shorter
    n_classes = len(forest.classes or ())
    target = Target(name)
    if not n_classes:
        shards, target = _standardised(shards, digest, name)
    whole = Whole(
        shards, grid, counts, values, digest.n_rows, digest.weight, target, n_classes
    )
    return whole, digest


def _moved(counts, values, tables, n_bins):
    """Counts and values of bins under their new numbers."""
    new_counts, new_values = [], []
    for count, value, table, n in zip(counts, values, tables, n_bins, strict=True):
        present = np.flatnonzero(count)
        new_counts.append(np.zeros(n, dtype=np.int64))
        new_counts[-1][table[present]] = count[present]
        new_values.append(np.full(n, np.nan))
        new_values[-1][table[present]] = value[present]
    return new_counts, new_values


def _standardised(shards, digest, name):
    """The target of numbers with its mean and spread; rounding's rest is flattened."""
    low, high = digest.ranges[name]
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return shards.map(_flattened, name, low), Target(name, low, 1.0)
    center = exact(shards.total(_target_sum, name, 0.0, 1) / digest.weight)
    variance = shards.total(_target_sum, name, center, 2) / digest.weight
    return shards, Target(name, center, exact(math.sqrt(variance)) or 1.0)


def _flattened(shard, name, value):
    same = np.full(len(shard), value)
    return dataclasses.replace(shard, **{name: same})


def _target_sum(shard, name, center, power):
    values = (getattr(shard, name) - center) ** power
    return values.sum() if shard.weight is None else shard.weight @ values


def sample_problem(whole, forest, rng, shorten):
    """A Problem of at most MANY_ROWS rows, drawn by their places in the source."""
    if whole.n_rows > sources.MANY_ROWS:
        drawn = np.sort(rng.choice(whole.n_rows, sources.MANY_ROWS, replace=False))
    else:
        drawn = np.arange(whole.n_rows)
    ends = np.cumsum([0, *whole.shards.lengths])
    places = [drawn[(drawn >= a) & (drawn < b)] - a for a, b in pairwise(ends)]
    [shard] = joined(whole.shards.collect(take_codes, places), math.inf)
    target = getattr(shard, whole.target.name)
    if whole.n_classes:
        target = target.astype(np.intp)
    weight = np.ones(len(shard)) if shard.weight is None else shard.weight
    return Problem(
        X=decode(shard.codes, whole.values),
        target=target,
        sample_weight=weight,
        task=forest.task,
        classes=forest.classes,
        feature_names=forest.feature_names,
        categories=forest.categories or (),
        forest=forest,
        shorten=shorten,
        given_grid=whole.grid,
        whole=whole,
    ).in_canonical_order()
