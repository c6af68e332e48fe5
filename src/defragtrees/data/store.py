"""RowStore: all rows of a fit, kept as codes."""

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees._utils.values import all_rounded, round_significant
from defragtrees._utils.warnings import warn
from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.sampling import copied_rows, draw_shard, hash_rows
from defragtrees.data.shards import Encoder, LocalShards, Shard, joined
from defragtrees.data.statistics import EXACT, RuleSums, counted, evaluate_shard
from defragtrees.rules.profile import (
    WORTH,
    Evidence,
    TrainingRows,
    training_column,
)
from defragtrees.tables import count_odd_weights, in_weight_unit

MOST_COMPARED = 10_000_000  # training rows, of which rows of validation may be copies


@dataclass(frozen=True)
class Target:
    """The target column of shards, and how it is standardised."""

    name: str = "answers"  # a key of `Shard.targets`
    center: float = 0.0  # with `scale`, of numbers only
    scale: float = 1.0

    def of(self, shard, n_classes):
        """Class indices, or standardised numbers, of the rows of a shard."""
        values = shard.targets[self.name]
        if n_classes:
            return values
        # Rounded, so that results do not depend on units.
        return np.round((values - self.center) / self.scale, 9)


@dataclass(frozen=True, eq=False)
class RowStore:
    """Rows as codes, in shards."""

    shards: Any
    grid: ThresholdGrid  # of the codes
    target: Target
    n_classes: int  # 0 for numbers
    counts: list[np.ndarray]  # number of rows in each bin, per feature
    total_weight: float
    n_rows: int
    # one value of each bin, per feature, to test conditions
    values: list[np.ndarray] | None = None
    # smallest and largest value of each feature
    ends: list[tuple[float, float]] | None = None
    # origin of the rows as evidence; see `rules.profile.WORTH`
    source: str = "searched"
    n_trained: int = 0  # number of training rows among them
    correction: Any = None  # of the model by y; see `rules.profile.Correction`

    @classmethod
    def of_problem(cls, problem, center=0.0, scale=1.0):
        """The store of the rows of a Problem, as one shard."""
        weight, target = problem.sample_weight, problem.target
        codes = np.ascontiguousarray(problem.codes)
        weight = None if (weight == 1).all() else weight
        return cls(
            LocalShards([Shard(codes, {"answers": target}, weight)], is_table=True),
            problem.grid,
            Target("answers", center, scale),
            problem.n_classes,
            problem.grid.bin_counts(codes),
            float(problem.sample_weight.sum()),
            len(codes),
        )

    @property
    def table(self):
        """The shard of a table in memory; None if there may be several."""
        return self.shards.table

    @cached_property
    def outputs(self):
        """Class indices, or standardised numbers, of a table in memory."""
        return self.target.of(self.table, self.n_classes)

    @property
    def evidence(self):
        """The origin of the rows, for rules counted on them."""
        n_new, n_trained = float(self.n_rows - self.n_trained), float(self.n_trained)
        return Evidence(self.source, n_new, n_trained, self.correction)

    def take(self, rows):
        """Some of the rows of a table in memory, in their order."""
        shard = self.table.take(np.sort(rows))
        return dataclasses.replace(
            self,
            shards=LocalShards([shard], is_table=True),
            counts=self.grid.bin_counts(shard.codes),
            total_weight=float(shard.sample_weight.sum()),
            n_rows=len(shard),
        )

    def without_rows_of(self, training, has_labels):
        """These rows without copies of rows of a training store, with a warning.

        None if no row is left.
        """
        if training.n_rows > MOST_COMPARED:
            return self
        is_table = self.table is not None and training.table is not None
        rows = []
        for shards in (self.shards, training.shards):
            keys = shards.collect(
                lambda shard: row_keys(
                    shard.X if is_table else shard.codes,
                    shard.targets["labels"] if has_labels else None,
                )
            )
            rows.append(np.concatenate(keys))
        is_copy = copied_rows(*rows, has_parts=is_table)
        if not is_copy.any():
            return self
        warn(
            f"{is_copy.sum():,} of the {len(is_copy):,} rows of validation are rows of "
            "X, and count as such. Pass rows that the model was not trained on."
        )
        return None if is_copy.all() else self.take(np.flatnonzero(~is_copy))

    def pooled_with(self, training):
        """Add the training rows, which count less (see `WORTH`), to these rows.

        Only if both are in memory and have y; else these rows alone.
        """
        own, other = self.table, training.table
        if own is None or other is None or "labels" not in other.targets:
            return self
        worth = WORTH["training"]
        shards = [
            dataclasses.replace(
                one, weight=each * one.sample_weight, worth=np.full(len(one), each)
            )
            for one, each in ((own, 1.0), (other, worth))
        ]
        return dataclasses.replace(
            self,
            shards=LocalShards(joined(shards, math.inf), is_table=True),
            counts=[a + b for a, b in zip(self.counts, training.counts, strict=True)],
            total_weight=self.total_weight + worth * training.total_weight,
            n_rows=self.n_rows + training.n_rows,
            ends=[
                (np.fmin(a[0], b[0]), np.fmax(a[1], b[1]))
                for a, b in zip(self.ends, training.ends, strict=True)
            ],
            n_trained=training.n_rows,
        )

    def draw(self, n_rows, order, rng):
        """Sample at most `n_rows` rows by a hash of their contents.

        `order` has the features in an order independent of that of the columns.
        """
        if self.n_rows > n_rows:
            return draw_shard(self, n_rows, order, rng)
        [shard] = joined(self.shards.collect(lambda shard: shard), math.inf)
        return shard

    def has_one_value(self):
        """Whether the target is the same in all rows."""
        ranges = self.shards.collect(_target_range, self.target.name)
        return len(set().union(*ranges)) == 1

    def count(
        self, forms, predictions="keep", decision=None, scoring=EXACT, order=None
    ):
        """Count the rules of some Forms on all rows; see `counted`."""
        scale = None if self.table is not None else self.target.scale
        given = self.values, self.target.name, scale
        sums = self.shards.total(
            lambda shard: np.array(  # which can be added
                [RuleSums.of(own, shard, *given) for own in forms], dtype=object
            )
        )
        evidence = self.evidence
        return [
            counted(rules, own, predictions, decision, scoring, order, evidence)
            for rules, own in zip(forms, sums, strict=True)
        ]

    def recount(self, models, predictions="keep", decision=None):
        """Count rule models on all rows."""
        forms = self.count([own._form for own in models], predictions, decision)
        pairs = zip(models, forms, strict=True)
        return [own._with_form(form) for own, form in pairs]

    def class_shares(self, otherwise="answers"):
        """Share of each class in y, or without y in another column of shards."""
        sums = self.shards.total(_class_sums, self.n_classes, otherwise)
        return sums / sums.sum()

    def training_rows(self, forms, outcome):
        """The profile of the rows for each form: y, and the bins of its features."""
        edges, grid = [form.edges for form in forms], self.grid
        features = sorted(set().union(*edges))
        sizes = [int(grid.n_bins[j]) for j in features]
        has_sums = any(form.is_sum for form in forms) and outcome.has_sums
        given = features, sizes, outcome, has_sums
        weights, sums, rows, *moments = self.shards.total(_profile, *given)
        ends = np.cumsum([0, *sizes])
        total = round_significant(self.total_weight)
        target, profiles = all_rounded(moments[0]) if moments else None, []
        for form, own in zip(forms, edges, strict=True):
            columns = []
            for j in sorted(own):
                i = features.index(j)
                part = slice(ends[i], ends[i + 1])
                column = training_column(
                    j,
                    weights[part],
                    None if grid.is_categorical(j) else grid.splits[j],
                    self.ends[j],
                    grid.ranges is not None and grid.ranges[j] is not None,
                    self.values and self.values[j],
                    own[j] if form.is_sum else (),
                    sums[part] if form.is_sum and len(sums) else None,
                    grid.special.get(j, ()),
                    rows[part] if form.is_sum and len(sums) else None,
                )
                columns.append(column)
            profiles.append(TrainingRows(total, tuple(columns), target))
        return profiles

    def scores(self, form):
        """The profile of what the totals of a scorecard stand for."""
        found = self.shards.total(_weights_by_score, form, self.values)
        values = np.array(sorted(found))
        weights = np.array([*(found[v] for v in values.tolist()), 0.0])
        middle, ends = (values[:-1] + values[1:]) / 2, (values[0], values[-1])
        return training_column(0, weights, middle, ends, False)

    def evaluation(self, rules):
        """The Evaluation of rules on these rows."""
        return self.shards.total(evaluate_shard, rules, self.values)


def row_keys(matrix, labels=None):
    """A hash of each row of a matrix, and of its y."""
    labels = () if labels is None else np.atleast_2d(labels.T)
    return hash_rows([*matrix.T, *labels])


def _profile(shard, features, sizes, outcome, has_sums):
    """Weights of the bins of some features; sums of y, rows and moments if y is known.

    As an array, which can be added.
    """
    weight, labels = shard.sample_weight, shard.targets.get("labels")
    profile = np.empty(3 if labels is None else 4, dtype=object)
    summed, profile[1], profile[2] = [weight], np.zeros(0), np.zeros(0)
    if labels is not None:
        if has_sums:
            summed += [weight * outcome.indicators(labels)[:, -1], weight > 0]
        profile[3] = outcome.moments(labels, weight)
    for k, each in enumerate(summed):
        pairs = zip(features, sizes, strict=True)
        bins = [np.bincount(shard.codes[:, j], each, size) for j, size in pairs]
        profile[k] = np.concatenate([np.zeros(0), *bins])
    return profile


def _weights_by_score(shard, form, values):
    """The weight of the rows with each score, which can be added."""
    totals = form.totals(shard.covered(form, values))
    scores = np.round(form.values_of(totals)[:, 0], 9) + 0.0
    distinct, place = np.unique(scores, return_inverse=True)
    weights = np.bincount(place, shard.sample_weight, len(distinct))
    return Counter(dict(zip(distinct.tolist(), weights.tolist(), strict=True)))


def _target_range(shard, name):
    values = shard.targets[name]
    return (values.min(), values.max()) if len(values) else ()


def _class_sums(shard, n_classes, otherwise):
    """Weight of each class in y, or in another target without y."""
    values = shard.targets.get("labels", shard.targets.get(otherwise))
    if values.ndim == 2:
        return shard.sample_weight @ values.astype(np.float64)
    return np.bincount(values, shard.sample_weight, n_classes)


def read_store(
    source,
    forest,
    *,
    target,
    shorten,
    keeps_numbers,
    kinds=None,
    n_jobs=None,
    watch=None,
    special=None,
):
    """Read all rows of a source into a store."""
    grid = ThresholdGrid(tuple(forest.splits()))
    if special:
        grid = grid.with_special(special)
    encoder = Encoder(forest, grid, keeps_numbers)
    shards, digest = _encoded(source, encoder, n_jobs, watch)
    counts, (values, edges, ranges, ends) = digest.counts, digest.values()
    if shorten or special:
        shorter = ThresholdGrid(tuple(forest.splits()))
        if shorten:
            shorter = grid.shorten_between(edges, ranges, kinds)
        if special:
            bins = {j: grid.bin_column(j, np.array(v)) for j, v in special.items()}
            found = {
                j: [v for v, k in zip(special[j], own, strict=True) if counts[j][k]]
                for j, own in bins.items()
            }
            shorter = shorter.with_special({j: v for j, v in found.items() if v})
        if special or [*map(len, grid.splits)] != [*map(len, shorter.splits)]:
            shards, counts, values = _recoded(shards, counts, values, shorter)
        grid = shorter
    n_classes = forest.outcome.n_classes
    column = Target(target)
    if not n_classes:
        shards, column = _standardised(shards, digest, target, forest.outcome)
    return RowStore(
        shards,
        grid,
        column,
        n_classes,
        counts,
        digest.weight,
        digest.n_rows,
        values,
        ends,
    )


def read_store_like(store, source, forest, *, keeps_numbers, n_jobs=None):
    """Read the rows of a source into a store with the grid of another store."""
    # These rows may lie between a threshold and its rounded form, so codes of the
    # forest's own thresholds would be wrong.
    encoder = Encoder(forest, store.grid, keeps_numbers)
    shards, digest = _encoded(source, encoder, n_jobs)
    values, *_, ends = digest.values()
    # Conditions on integers may name values that occur in the first store only.
    values = [
        np.where(np.isfinite(own), own, other)
        for own, other in zip(store.values, values, strict=True)
    ]
    return dataclasses.replace(
        store,
        shards=shards,
        counts=digest.counts,
        total_weight=digest.weight,
        n_rows=digest.n_rows,
        values=values,
        ends=ends,
        source="validation",
    )


def _encoded(source, encoder, n_jobs=None, watch=None):
    """Encode all rows; returns shards, one if numbers are kept, and their digest."""
    shards, digest = source.encode(encoder, n_jobs, watch)
    if digest is None or digest.n_rows == 0:
        raise ValueError(
            "At least one row with a positive weight is needed; got none. "
            "sample_weight must have a positive sum."
        )
    if encoder.keeps_numbers:
        shards = LocalShards(joined(shards.shards, math.inf), is_table=True)
    if digest.has_weights:
        if not math.isfinite(digest.weight):
            raise ValueError(
                "sample_weight must have a finite sum; these weights are too large. "
                "Divide them by their mean: only ratios of weights matter."
            )
        largest, least = digest.largest_weight, digest.least_weight
        mean = None
        if shards.total(lambda one: count_odd_weights(one.sample_weight, least)):
            total = shards.total(lambda one: (one.sample_weight / largest).sum())
            mean = float(total) / digest.n_rows
        shards = shards.map(
            lambda shard: dataclasses.replace(
                shard, weight=in_weight_unit(shard.sample_weight, largest, least, mean)
            )
        )
        total = shards.total(lambda shard: shard.sample_weight.sum())
        digest = dataclasses.replace(digest, weight=float(total))
    return shards, digest


def _recoded(shards, counts, values, grid):
    """Shards, counts and values of bins on a grid of fewer thresholds."""
    tables, new_counts, new_values = [], [], []
    for j, (count, value, n_bins) in enumerate(
        zip(counts, values, grid.n_bins, strict=True)
    ):
        # The new code of each old one.
        table = grid.bin_column(j, np.where(np.isinf(value), np.nan, value))
        table = table.astype(grid.dtype)
        present = np.flatnonzero(count)
        new_counts.append(np.zeros(n_bins, dtype=np.int64))
        new_counts[-1][table[present]] = count[present]
        new_values.append(np.full(n_bins, np.nan))
        new_values[-1][table[present]] = value[present]
        tables.append(table)
    recoded = shards.map(
        lambda shard: dataclasses.replace(
            shard,
            codes=np.column_stack([t[shard.codes[:, j]] for j, t in enumerate(tables)]),
        )
    )
    return recoded, new_counts, new_values


def _standardised(shards, digest, name, outcome):
    """Mean and spread of a numeric target; rounding noise of a constant is removed."""
    low, high = digest.ranges[name]
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        # Rounding noise of a constant must not become rules.
        flat = shards.map(
            lambda one: dataclasses.replace(
                one, targets={**one.targets, name: np.full(len(one), low)}
            )
        )
        return flat, Target(name, low, 1.0)
    mean = shards.total(_target_sum, name, outcome, 0.0, 1) / digest.weight
    center = round_significant(mean)
    variance = shards.total(_target_sum, name, outcome, center, 2) / digest.weight
    return shards, Target(name, center, round_significant(math.sqrt(variance)) or 1.0)


def _target_sum(shard, name, outcome, center, power):
    values = (outcome.indicators(shard.targets[name])[:, 0] - center) ** power
    return values.sum() if shard.weight is None else shard.weight @ values
