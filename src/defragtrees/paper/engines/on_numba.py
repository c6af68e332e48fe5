"""The engine for many rows on the processor: numba.

Scores and responsibilities are float32 and exist for a tile of rows only; sums over
more than a few thousand rows are float64. One restart is visited after the other. The
loops are in `_numba_kernels`. Few rows stay in memory, as with the numpy engine, whose
numbers `TableEngine` gives to the last bit; its loops are in `_table_kernels`.
"""

from itertools import pairwise

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.paper.engines import _numba_kernels as kernels
from defragtrees.paper.engines import _table_kernels as table_kernels
from defragtrees.paper.engines.on_numpy import NumpyEngine
from defragtrees.paper.engines.on_shards import Expected, ShardEngine
from defragtrees.paper.levels import Workspace

__all__ = ["TableEngine", "check", "expect", "make"]

require("numba", 'engine="numba"')
# Its decorators need numba as soon as it is imported.


LOWEST_SCORE = -float(np.finfo(np.float32).max) / 4  # of lanes without a component
LINE = 64  # bytes that the processor loads together
PAGE = 2**21  # bytes; with pages of this size the tables are found faster
MANY_ROWS = 100_000  # worth asking for such pages
# The same bin of all features must not compete for the same place in the cache, which
# would happen if their distance were a power of two; so some rows are left free.
GAP = 3


def check(ask_workers=None):
    """Nothing is needed but numba, here and on workers if there are some.

    Here it was imported above.
    """
    if ask_workers is not None:
        ask_workers(check)


def make(layout, store):
    """The engine that holds a table in memory, or visits shards."""
    table = store.table
    if table is None:
        return ShardEngine(layout, store, expect)
    return TableEngine(layout, table.codes, store.outputs, table.sample_weight)


class TableEngine(NumpyEngine):
    """Rows in memory, as NumpyEngine has them; products and M-steps are compiled."""

    def __init__(self, layout, codes, target, sample_weight):
        super().__init__(layout, codes, target, sample_weight)
        self.keep_places()

    def keep_places(self):
        """Make room for products, and note what each row and each bin has to add."""
        self.rooms = _rooms(self.onehot.shape)
        self.places = _small(self.onehot.indices), _small(self.onehot_t.indices)

    def share(self):
        """Another engine on the same rows, for a thread of its own."""
        twin = super().share()
        twin.rooms = _rooms(self.onehot.shape)
        return twin

    def workspace(self, levels, n_columns):
        """What the M-step works in."""
        return CompiledWorkspace(levels, n_columns)

    def _product(self, hot, dense, out):
        total, part = self.rooms
        indices = self.places[0]
        if hot is self.onehot_t:
            part, total, indices = total, part, self.places[1]
        for start in range(0, dense.shape[1], kernels.STEP):
            _take(dense, start, part)
            flat = part.reshape(-1), total.reshape(-1)
            table_kernels.add_rows(hot.indptr, indices, *flat)
            own = out[:, start : start + kernels.STEP]
            own[:] = total[:, : own.shape[1]]
        return out


def _take(dense, start, part):
    """Put some columns of a table side by side, from `start` on."""
    if dense.flags.c_contiguous:
        flat = dense.reshape(-1), dense.shape[1], start, part.reshape(-1)
        table_kernels.take_columns(*flat)
    else:
        own = dense[:, start : start + kernels.STEP]
        part[:, : own.shape[1]] = own


def _small(places):
    """The same numbers in few bytes; they pass through the cache with each product."""
    return places.astype(np.uint16 if places.max(initial=0) < 2**16 else np.uint32)


def _rooms(shape):
    """For products: a vector for each row, and for each bin, at lines of the cache."""
    return _zeros([(np.float64, n, kernels.STEP) for n in shape], LINE)


class CompiledWorkspace(Workspace):
    """Sums along the levels by compiled loops, in the same order."""

    def __init__(self, levels, n_columns):
        self.levels = levels
        n_statements = levels.n_rows - levels.n_features
        self.spans = levels.starts * n_columns
        self.masses = np.empty((2, n_statements * n_columns))
        self.reached = np.empty(levels.n_features * n_columns)
        self.weight = np.repeat(levels.weight[:, 0], n_columns)

    def fill_tables(self, bins, total, smallest, table, extra=None):
        """See Workspace."""
        if not self.levels.n_rows:
            return  # all features have categories
        spans, reached, weight = self.spans, self.reached, self.weight
        shape = self.levels.n_features, bins.shape[1]
        floor = np.broadcast_to(smallest * total, shape).ravel()
        bins = np.ascontiguousarray(bins).reshape(-1)
        table_kernels.fill_masses(bins, spans, floor, reached, *self.masses)
        logs = np.log(self.masses, out=self.masses)
        base = -(self.levels.total_weight * np.log(total)).ravel()
        extra = np.zeros(base.shape) if extra is None else extra.ravel()
        table_kernels.fill_tables(
            *logs, weight, spans, base, extra, reached, table.reshape(-1)
        )


def expect(shard, plan, by_bin):
    """The expectation step for the rows of one shard; see `on_numpy.expect`.

    Parameters
    ----------
    shard : Shard
    plan : Plan
    by_bin : bool
        Whether to add up by bin too, not only over all rows.
    """
    n_restarts, n_components = plan.penalty.shape
    lanes = (0,) * _n_steps(n_components)
    place, starts = _places(plan)
    rows = _rows(shard, plan, starts)
    n_places = len(place) + GAP * len(starts)
    room = _Room(n_places, len(lanes), len(shard.codes), by_bin)
    evidence = np.zeros(n_restarts)
    sums = np.zeros((4, plan.n_columns))
    bins = np.zeros((len(place), plan.n_columns))
    for i in range(n_restarts):
        own = slice(i * n_components, (i + 1) * n_components)
        parameters = room.take(plan, own, place)
        evidence[i] = kernels.visit(*rows, parameters, lanes, room.work, room.flat_sums)
        sums[:, own] = room.sums[:, :n_components]
        if by_bin:
            bins[:, own] = room.total[place, :n_components]
    weight, first, second = sums[[0 if plan.n_classes else 1, 2, 3]]
    weights = weight.reshape(plan.penalty.shape)
    if not by_bin:
        return Expected(weights, evidence)
    _settle(bins, plan, weight)
    n_bins = plan.starts[-1]
    return Expected(weights, evidence, bins[:n_bins], bins[n_bins:], first, second)


def _n_steps(n_components):
    """How many times `STEP` lanes: a power of two."""
    n_steps = 1
    while kernels.STEP * n_steps < n_components:
        n_steps *= 2
    return n_steps


def _places(plan):
    """Which row of our tables has each bin and class, and where features begin."""
    starts = plan.starts + GAP * np.arange(len(plan.starts))
    widths = np.append(np.diff(plan.starts), plan.n_classes)
    gaps = np.repeat(GAP * np.arange(len(widths)), widths)
    return np.arange(len(gaps)) + gaps, starts.astype(np.intp)


def _rows(shard, plan, starts):
    """The rows as `visit` takes them."""
    target = plan.target.of(shard, plan.n_classes)
    classes = target if plan.n_classes else np.zeros(0, np.intp)
    numbers = np.zeros(0) if plan.n_classes else np.asarray(target, np.float64)
    weight = np.zeros(0) if shard.weight is None else shard.weight
    codes = _fixed(shard.codes)
    features = _fixed(plan.features.astype(np.intp))
    cells = (codes.reshape(-1), codes.shape[1], features, _fixed(starts))
    return cells, (_fixed(classes), _fixed(numbers)), _fixed(weight)


def _fixed(array):
    """The array in C order and read-only; numba compiles for either kind anew."""
    array = np.ascontiguousarray(array).view()
    array.flags.writeable = False
    return array


class _Room:
    """Padded arrays for one restart, used again for the next.

    Parameters
    ----------
    n_places : int
        Rows of the table.
    n_steps : int
        How many times `STEP` lanes.
    n_rows : int
        Rows of the shard.
    by_bin : bool
    """

    def __init__(self, n_places, n_steps, n_rows, by_bin):
        width = kernels.STEP * n_steps
        n_bins = n_places if by_bin else 0
        table, offset, mean, half_precision, scores, bins, sums, total = _zeros(
            [
                (np.float32, n_places, width),
                (np.float32, 1, width),
                (np.float64, 1, width),
                (np.float32, 1, width),
                (np.float32, kernels.TILE_ROWS + 1, width),
                (np.float32, n_bins, width),
                (np.float64, 4, width),
                (np.float64, n_bins, width),
            ],
            PAGE if n_rows > MANY_ROWS else LINE,
        )
        self.parameters = (table, offset, mean, half_precision)
        self.sums, self.total = sums, total
        self.work = (scores.reshape(-1), bins.reshape(-1))
        self.flat_sums = (sums.reshape(-1), total.reshape(-1))

    def take(self, plan, columns, place):
        """The parameters of these columns as `visit` takes them; sums become 0."""
        table, offset, mean, half_precision = self.parameters
        n_columns = columns.stop - columns.start
        both = np.vstack([plan.table[:, columns], plan.classes[:, columns]])
        table[place, :n_columns] = np.maximum(both, LOWEST_SCORE)
        offset[:] = LOWEST_SCORE
        offset[0, :n_columns] = np.maximum(plan.offset()[columns], LOWEST_SCORE)
        mean[0, :n_columns] = plan.mean[columns]
        half_precision[0, :n_columns] = 0.5 * plan.precision[columns]
        self.sums[:] = 0
        self.total[:] = 0
        return tuple(array.reshape(-1) for array in self.parameters)


def _zeros(kinds, edge):
    """Arrays of zeros side by side, the first one beginning at a multiple of `edge`."""
    sizes = [np.dtype(kind).itemsize * n * m for kind, n, m in kinds]
    ends = np.cumsum([-(-size // LINE) * LINE for size in sizes])
    # numpy asks the system for large pages for as much as this.
    memory = np.zeros(int(ends[-1]) + 2 * edge, np.uint8)
    memory = memory[-memory.ctypes.data % edge :]
    return [
        memory[end - -(-size // LINE) * LINE :][:size].view(kind).reshape(n, m)
        for (kind, n, m), size, end in zip(kinds, sizes, ends, strict=True)
    ]


def _settle(bins, plan, weight):
    """Let the bins of each feature add up to the weight, as they do in float64.

    The M-step takes bins from the weight, and what is left may be far smaller than
    what float32 has rounded away. The largest bin bears the difference.
    """
    columns = np.arange(plan.n_columns)
    edges = np.append(plan.starts, len(bins)) if plan.n_classes else plan.starts
    for start, end in pairwise(edges):
        own = bins[start:end]
        own[own.argmax(axis=0), columns] += weight - own.sum(axis=0)
