"""The engine that defines the others: numpy and scipy.sparse.

A row is a line of a sparse matrix S with a one in the column of each of its bins (and
of its class), so scoring is `S @ table` and gathering `S.T @ responsibilities`. Few
rows are kept as that matrix; of many only the codes are kept, and it is made anew for
a tile of them at a time.
"""

from functools import lru_cache

import numpy as np
from scipy import sparse

from defragtrees._utils.values import freeze
from defragtrees.paper.engines.on_shards import Expected, ShardEngine
from defragtrees.paper.params import Statistics

__all__ = ["NumpyEngine", "check", "expect", "make"]

LOWEST_LOG = -690.0
TILE_ROWS = 8192  # so many rows at a time stay in the cache


def check(ask_workers=None):
    """Nothing is needed but what is there."""


def make(layout, store):
    """The engine that holds a table in memory, or visits shards."""
    table = store.table
    if table is None:
        return ShardEngine(layout, store, expect)
    return NumpyEngine(layout, table.codes, store.outputs, table.sample_weight)


def expect(shard, plan, by_bin):
    """The expectation step for the rows of one shard.

    Parameters
    ----------
    shard : Shard
    plan : Plan
    by_bin : bool
        Whether to add up by bin too, not only over all rows.
    """
    total = None
    target = plan.target.of(shard, plan.n_classes)
    for start in range(0, max(len(shard), 1), TILE_ROWS):
        rows = slice(start, start + TILE_ROWS)
        weight = None if shard.weight is None else shard.weight[rows]
        own = _expect_tile(shard.codes[rows], target[rows], weight, plan, by_bin)
        total = own if total is None else total + own
    return total


def _expect_tile(codes, target, weight, plan, by_bin):
    hot = _one_hot_tile(codes, plan)
    scores = (hot @ plan.table).T + plan.offset()[:, None]
    if plan.n_classes:
        scores += plan.classes.T[:, target]
    else:
        residual = target - plan.mean[:, None]
        scores -= 0.5 * plan.precision[:, None] * residual**2
    work = scores.reshape(*plan.penalty.shape, -1)
    largest = work.max(axis=1, keepdims=True)
    work -= largest
    np.maximum(work, LOWEST_LOG, out=work)
    np.exp(work, out=work)
    norm = work.sum(axis=1, keepdims=True)
    work /= norm
    evidence = np.log(norm, out=norm)[:, 0] + largest[:, 0]
    if weight is not None:
        work *= weight
        evidence *= weight
    sums = work.sum(axis=2), evidence.sum(axis=1)
    if not by_bin:
        return Expected(*sums)
    mass = np.ascontiguousarray(work.reshape(plan.n_columns, -1).T)
    return Expected(*sums, *_added_up(hot, mass, target, plan))


def _added_up(hot, mass, target, plan):
    bins = hot.T @ mass
    if not plan.n_classes:
        return bins, np.zeros((0, plan.n_columns)), target @ mass, target**2 @ mass
    classes = np.zeros((plan.n_classes, plan.n_columns))
    for c in range(plan.n_classes):
        classes[c] = (target == c) @ mass
    nothing = np.zeros(plan.n_columns)
    return bins, classes, nothing, nothing


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
    """What the one-hot matrices of all tiles of a size have in common."""
    ends = np.arange(n_rows + 1, dtype=np.int32) * np.int32(n_used)
    return freeze(np.ones(n_rows * n_used)), freeze(ends)


class NumpyEngine:
    """Rows in memory.

    Parameters
    ----------
    layout : Layout
    codes : unsigned int array of shape (n_samples, n_features)
        Bin numbers.
    target : array of shape (n_samples,)
        Class numbers, or standardised outputs.
    sample_weight : float array of shape (n_samples,)
    """

    takes_all_restarts = False

    def __init__(self, layout, codes, target, sample_weight):
        self.layout = layout
        self.sample_weight = sample_weight
        self.total = float(sample_weight.sum())
        self.target = None if layout.n_classes else np.asarray(target, dtype=float)
        self.onehot = one_hot(layout, codes, target if layout.n_classes else None)
        self.onehot_t = self.onehot.T.tocsr()
        self.scores = None
        self.responsibilities = None

    def share(self):
        """Another engine on the same rows, for a thread of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, scores=None, responsibilities=None)
        return twin

    def score(self, params):
        """Compute log p(row, component): (n_columns, n_samples), kept."""
        shape = (params.table.shape[1], self.onehot.shape[0])
        if self.scores is None or self.scores.shape != shape:
            self.scores = np.empty(shape)
            self.responsibilities = np.empty(shape)
        scores = self._product(self.onehot, params.table, self.scores.T).T
        scores += params.log_weight[:, None]
        if self.target is not None:
            residual = self.target - params.mean[:, None]
            scores -= 0.5 * params.precision[:, None] * residual**2
            scores += 0.5 * np.log(params.precision / (2 * np.pi))[:, None]

    def assign(self, penalty):
        """Responsibilities ∝ exp(score - penalty) within each restart.

        Parameters
        ----------
        penalty : array of shape (n_restarts, n_components)
            Infinite for a component that is gone.

        Returns
        -------
        weight : array of shape (n_restarts, n_components)
            Responsibilities added up over the rows.
        evidence : array of shape (n_restarts,)
            log sum_k exp(score - penalty), added up over the rows.
        """
        shape = (*penalty.shape, -1)
        work = self.responsibilities.reshape(shape)
        np.subtract(self.scores.reshape(shape), penalty[:, :, None], out=work)
        largest = work.max(axis=1, keepdims=True)
        np.subtract(work, largest, out=work)
        # exp of less than this underflows, which the processor does slowly.
        np.maximum(work, LOWEST_LOG, out=work)
        np.exp(work, out=work)
        total = work.sum(axis=1, keepdims=True)
        np.divide(work, total, out=work)
        np.log(total, out=total)
        total += largest
        return work @ self.sample_weight, total[:, 0] @ self.sample_weight

    def gather(self):
        """Statistics of the current responsibilities."""
        weighted = np.multiply(self.responsibilities, self.sample_weight).T
        shape = (self.onehot_t.shape[0], weighted.shape[1])
        bins = self._product(self.onehot_t, weighted, np.empty(shape))
        if self.target is None:
            first = second = np.zeros(weighted.shape[1])
        else:
            first = self.target @ weighted
            second = self.target**2 @ weighted
        return Statistics(bins, weighted.sum(axis=0), first, second, self.total)

    def _product(self, hot, dense, out):
        """A sparse matrix of ones times a dense one."""
        out[:] = hot @ np.ascontiguousarray(dense)
        return out


def one_hot(layout, codes, classes=None):
    """The rows as a sparse matrix with a one per block, and one for the class."""
    n_rows, n_blocks = len(codes), len(layout.blocks)
    width = n_blocks + (classes is not None)
    kind = np.int32 if n_rows * width < 2**31 else np.int64
    columns = np.empty((n_rows, width), dtype=kind)
    for i, block in enumerate(layout.blocks):
        # Ascending codes, so their places are found by search; missing comes last.
        place = np.searchsorted(block.codes, codes[:, block.feature])
        columns[:, i] = block.rows[place]
    if classes is not None:
        columns[:, -1] = np.asarray(classes) + layout.class_start
    starts = np.arange(0, n_rows * width + 1, max(width, 1), dtype=kind)
    if width == 0:
        starts = np.zeros(n_rows + 1, dtype=kind)
    return sparse.csr_matrix(
        (np.ones(n_rows * width), columns.ravel(), starts),
        shape=(n_rows, layout.n_rows),
    )
