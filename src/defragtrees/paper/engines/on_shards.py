"""The engine for rows kept as shards: in memory, or on the workers of a cluster.

Nothing with a row per sample is kept but the codes: one visit to a shard scores its
rows tile by tile, makes their responsibilities and adds up what the M-step needs.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.paper.engines.plan import Planner

__all__ = ["Expected", "ShardEngine"]


@dataclass(frozen=True, eq=False)
class Expected:
    """What the expectation step gives for some rows; it adds up over shards.

    Parameters
    ----------
    weight : float64 array of shape (n_restarts, n_components)
        Responsibilities added up.
    evidence : float64 array of shape (n_restarts,)
        log sum_k exp(score - penalty), added up.
    bins : float64 array of shape (n_bins, n_columns), optional
        Responsibilities by bin; None if they were not asked for.
    classes : float64 array of shape (n_classes, n_columns), optional
    first, second : float64 arrays of shape (n_columns,), optional
        Responsibilities times the target, and times its square.
    """

    weight: np.ndarray
    evidence: np.ndarray
    bins: np.ndarray | None = None
    classes: np.ndarray | None = None
    first: np.ndarray | None = None
    second: np.ndarray | None = None

    def __add__(self, other):
        pairs = [
            (getattr(self, name), getattr(other, name))
            for name in self.__dataclass_fields__
        ]
        return Expected(*(None if a is None else a + b for a, b in pairs))


class ShardEngine:
    """The three verbs of `Engine` by visits to all shards.

    Parameters
    ----------
    layout : Layout
    store : RowStore
    expect : callable
        `expect(shard, plan, by_bin)` gives the Expected of a shard; without `by_bin`
        weight and evidence only.
    """

    def __init__(self, layout, store, expect):
        self.store = store
        self.expect = expect
        self.total = store.total_weight
        # Few rows leave it to threads of their own to go over them.
        self.takes_all_restarts = store.table is None
        self.planner = Planner(layout, store.grid.n_bins, store.target)
        self.params = self.plan = self.expected = None
        self.n_visits = 0
        # Usually the first penalties are also the last; then one visit does it all.
        self.is_eager = True

    def share(self):
        """Another engine on the same rows."""
        return ShardEngine(self.planner.layout, self.store, self.expect)

    def score(self, params):
        """Take the parameters; rows are scored when they are assigned."""
        self.params = params
        self.n_visits = 0

    def assign(self, penalty):
        """Component weights and evidence under these penalties; see NumpyEngine."""
        self.n_visits += 1
        self.plan = self.planner.plan(self.params, penalty)
        self._visit(self.is_eager and self.n_visits == 1)
        return self.expected.weight, self.expected.evidence

    def gather(self):
        """Statistics of the responsibilities that `assign` made last."""
        if self.expected.bins is None:
            self._visit(True)
        self.is_eager = self.n_visits == 1
        return self.planner.statistics(self.expected, self.total)

    def _visit(self, by_bin):
        self.expected = self.store.shards.total(self.expect, self.plan, by_bin)
