"""The E-step over a table in memory, or over shards, by numpy and scipy.sparse.

An engine holds all arrays with one row per sample; the loop sees small arrays only. It
has `total`, the weight of all rows, and three methods: `score(params)` computes log
p(row, component) for every row, `assign(penalty)` computes responsibilities with a
penalty per component, `gather()` sums them.

A row is a line of a sparse matrix S with a one in the column of each of its bins (and
of its class), so scoring is `S @ table` and gathering `S.T @ responsibilities`.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from defragtrees._utils.values import freeze
from defragtrees.paper.parameters import Statistics

# exp of less than this underflows, which is slow.
LOWEST_LOG = -690.0


class TableEngine:
    """Rows in memory: codes, class indices or standardised outputs, and weights."""

    def __init__(self, layout, codes, target, sample_weight):
        self.sample_weight = sample_weight
        self.total = float(sample_weight.sum())
        self.target = None if layout.n_classes else np.asarray(target, dtype=float)
        self.onehot = one_hot(layout, codes, target if layout.n_classes else None)
        self.onehot_t = self.onehot.T.tocsr()
        self.scores = None
        self.responsibilities = None

    def share(self):
        """Another engine on the same rows, for another thread."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, scores=None, responsibilities=None)
        return twin

    def score(self, params):
        """Compute log p(row, component): (n_columns, n_samples), kept."""
        shape = (params.table.shape[1], self.onehot.shape[0])
        if self.scores is None or self.scores.shape != shape:
            self.scores = np.empty(shape)
            self.responsibilities = np.empty(shape)
        scores = self.scores
        scores.T[:] = self.onehot @ np.ascontiguousarray(params.table)
        scores += params.log_weight[:, None]
        if self.target is not None:
            residual = self.target - params.mean[:, None]
            scores -= 0.5 * params.precision[:, None] * residual**2
            scores += 0.5 * np.log(params.precision / (2 * np.pi))[:, None]

    def assign(self, penalty):
        """Compute responsibilities ∝ exp(score - penalty) within each restart.

        `penalty` has the shape (n_restarts, n_components), and is infinite for dropped
        components. Returns sums over the rows: the weight of each component, and log
        sum_k exp(score - penalty) of each restart.
        """
        shape = (*penalty.shape, -1)
        work = self.responsibilities.reshape(shape)
        np.subtract(self.scores.reshape(shape), penalty[:, :, None], out=work)
        evidence = normalise(work)
        return work @ self.sample_weight, evidence @ self.sample_weight

    def gather(self):
        """Statistics of the responsibilities of the last call of `assign`."""
        weighted = np.multiply(self.responsibilities, self.sample_weight).T
        bins = self.onehot_t @ np.ascontiguousarray(weighted)
        if self.target is None:
            first = second = np.zeros(weighted.shape[1])
        else:
            first = self.target @ weighted
            second = self.target**2 @ weighted
        return Statistics(bins, weighted.sum(axis=0), first, second, self.total)


def normalise(scores):
    """Turn scores, (n_restarts, n_components, n_samples), into responsibilities.

    Returns log sum_k exp(score) of each restart and row.
    """
    largest = scores.max(axis=1, keepdims=True)
    scores -= largest
    np.maximum(scores, LOWEST_LOG, out=scores)
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    return np.log(total, out=total)[:, 0] + largest[:, 0]


def one_hot(layout, codes, classes=None):
    """The rows as a sparse one-hot matrix: one entry per block and for the class."""
    n_rows, n_blocks = len(codes), len(layout.blocks)
    width = n_blocks + (classes is not None)
    kind = np.int32 if n_rows * width < 2**31 else np.int64
    columns = np.empty((n_rows, width), dtype=kind)
    for i, block in enumerate(layout.blocks):
        # Codes are sorted, with the missing one last.
        place = np.searchsorted(block.codes, codes[:, block.feature])
        columns[:, i] = block.rows[place]
    if classes is not None:
        columns[:, -1] = np.asarray(classes) + layout.class_start
    ends = np.arange(n_rows + 1, dtype=kind) * kind(width)
    return sparse.csr_matrix(
        (np.ones(n_rows * width), columns.ravel(), ends),
        shape=(n_rows, layout.n_rows),
    )


# Rows in shards, in memory or on the workers of a cluster.
#
# Only codes are kept per row: one pass over a shard scores its rows tile by tile,
# computes responsibilities and sums what the M-step needs.

TILE_ROWS = 8192  # rows per block, to fit in the cache
MOST_PENALTY = float(np.finfo(np.float32).max) / 4  # in place of infinity


class ShardEngine:
    """An engine (see `engine`) for the shards of a RowStore."""

    def __init__(self, layout, store):
        self.layout, self.store = layout, store
        self.total = store.total_weight
        self.features = np.array([b.feature for b in layout.blocks], dtype=np.intp)
        widths = np.asarray(store.grid.n_bins, dtype=np.intp)[self.features]
        self.starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        # The layout's row of each bin; empty bins use a row of zeros.
        self.place = np.full(self.starts[-1], layout.n_rows, dtype=np.intp)
        for i, block in enumerate(layout.blocks):
            start, end = self.starts[i : i + 2]
            self.place[start + block.codes] = block.rows[: len(block.codes)]
            if block.has_missing:
                self.place[end - 1] = block.rows[-1]
        self.occurring = np.flatnonzero(self.place < layout.n_rows)
        self.params = self.plan = self.expected = None
        self.n_visits = 0
        # Usually the first penalties are also the last; then one pass is enough.
        self.is_eager = True

    def score(self, params):
        """Store the parameters; rows are scored by `assign`."""
        self.params = params
        self.n_visits = 0

    def assign(self, penalty):
        """Component weights and evidence for these penalties; see TableEngine."""
        self.n_visits += 1
        self.plan = self._make_plan(penalty)
        self._visit(self.is_eager and self.n_visits == 1)
        return self.expected.weight, self.expected.evidence

    def gather(self):
        """Statistics of the responsibilities of the last call of `assign`."""
        if self.expected.bins is None:
            self._visit(True)
        self.is_eager = self.n_visits == 1
        expected, layout = self.expected, self.layout
        bins = np.zeros((layout.n_rows, expected.weight.size))
        bins[self.place[self.occurring]] = expected.bins[self.occurring]
        bins[layout.class_start :] = expected.classes
        weight = expected.weight.ravel()
        return Statistics(bins, weight, expected.first, expected.second, self.total)

    def _make_plan(self, penalty):
        params = self.params
        zeros = np.zeros((1, params.table.shape[1]))
        offset = params.log_weight - np.minimum(penalty.ravel(), MOST_PENALTY)
        if not self.layout.n_classes:
            offset = offset + 0.5 * np.log(params.precision / (2 * np.pi))
        return Plan(
            features=self.features,
            starts=self.starts,
            table=np.vstack([params.table, zeros])[self.place],
            classes=params.table[self.layout.class_start :],
            offset=offset,
            mean=params.mean,
            precision=params.precision,
            shape=penalty.shape,
            target=self.store.target,
        )

    def _visit(self, by_bin):
        self.expected = self.store.shards.total(expect, self.plan, by_bin)


@dataclass(frozen=True, eq=False)
class Plan:
    """The small arrays that a shard needs for one E-step.

    The tables have one row per bin of each feature of the mixture, feature by feature,
    so that a code plus the start of its feature is a row number.
    """

    features: np.ndarray  # columns of the codes, in the order of summation
    starts: np.ndarray  # where their bins begin in `table`, and the number of bins
    table: np.ndarray  # (n_bins, n_columns), log-likelihood of each bin
    classes: np.ndarray  # (n_classes, n_columns), of each class; no rows for numbers
    offset: np.ndarray  # part of the score that does not depend on the row
    mean: np.ndarray
    precision: np.ndarray
    shape: tuple[int, int]  # n_restarts, n_components
    target: Any  # reads the target of a shard


@dataclass(frozen=True, eq=False)
class Expected:
    """The result of the E-step for some rows; it can be added over shards.

    `weight` and `evidence` are those of `TableEngine.assign`; `bins`, `classes`,
    `first` and `second` those of Statistics, or None if not requested.
    """

    weight: np.ndarray
    evidence: np.ndarray
    bins: np.ndarray | None = None
    classes: np.ndarray | None = None
    first: np.ndarray | None = None
    second: np.ndarray | None = None

    def __add__(self, other):
        pairs = [
            (getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        ]
        return Expected(*(None if a is None else a + b for a, b in pairs))


def expect(shard, plan, by_bin):
    """The Expected of one shard, with or without sums by bin."""
    total = None
    target = plan.target.of(shard, len(plan.classes))
    for start in range(0, max(len(shard), 1), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        weight = None if shard.weight is None else shard.weight[rows]
        own = _expect_tile(shard.codes[rows], target[rows], weight, plan, by_bin)
        total = own if total is None else total + own
    return total


def _expect_tile(codes, target, weight, plan, by_bin):
    hot = _one_hot_tile(codes, plan)
    scores = (hot @ plan.table).T + plan.offset[:, None]
    if len(plan.classes):
        scores += plan.classes.T[:, target]
    else:
        residual = target - plan.mean[:, None]
        scores -= 0.5 * plan.precision[:, None] * residual**2
    work = scores.reshape(*plan.shape, -1)
    evidence = normalise(work)
    if weight is not None:
        work *= weight
        evidence *= weight
    sums = work.sum(axis=2), evidence.sum(axis=1)
    if not by_bin:
        return Expected(*sums)
    mass = np.ascontiguousarray(work.reshape(len(plan.offset), -1).T)
    classes = np.zeros(plan.classes.shape)
    first = second = np.zeros(len(plan.offset))
    if len(classes):
        for c in range(len(classes)):
            classes[c] = (target == c) @ mass
    else:
        first, second = target @ mass, target**2 @ mass
    return Expected(*sums, hot.T @ mass, classes, first, second)


def _one_hot_tile(codes, plan):
    n_rows, n_used = len(codes), len(plan.features)
    columns = np.empty((n_rows, n_used), dtype=np.int32)
    np.add(
        np.take(codes, plan.features, axis=1),
        plan.starts[:-1],
        out=columns,
        casting="same_kind",
    )
    ones, ends = _ones_and_ends(n_rows, n_used)
    return sparse.csr_matrix(
        (ones, columns.ravel(), ends), shape=(n_rows, plan.starts[-1])
    )


@lru_cache(maxsize=8)
def _ones_and_ends(n_rows, n_used):
    """The parts of one-hot matrices that all tiles of a size share."""
    ends = np.arange(n_rows + 1, dtype=np.int32) * np.int32(n_used)
    return freeze(np.ones(n_rows * n_used)), freeze(ends)
