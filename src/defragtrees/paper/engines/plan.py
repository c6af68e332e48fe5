"""Plan: what a block of rows needs to know for one expectation step.

A plan holds small arrays only. Its tables have a row for every bin of every feature
that the mixture uses, feature by feature, so that the code of a cell is a row number
less the start of its feature.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.paper.params import Statistics

__all__ = ["Plan", "Planner"]


@dataclass(frozen=True, eq=False)
class Plan:
    """Parameters of all components, by bin, and the penalties.

    Parameters
    ----------
    features : int array of shape (n_used,)
        Columns of the codes, in the order in which they are added up.
    starts : int array of shape (n_used + 1,)
        Where the bins of each feature begin in `table`; the last is their number.
    table : float64 array of shape (n_bins, n_columns)
        Log-likelihood of each bin.
    classes : float64 array of shape (n_classes, n_columns)
        Log-likelihood of each class; no rows for numbers.
    log_weight, mean, precision : float64 arrays of shape (n_columns,)
    penalty : float64 array of shape (n_restarts, n_components)
        Infinite for a component that is gone.
    target : Target
        Reads the target of a shard.
    """

    features: np.ndarray
    starts: np.ndarray
    table: np.ndarray
    classes: np.ndarray
    log_weight: np.ndarray
    mean: np.ndarray
    precision: np.ndarray
    penalty: np.ndarray
    target: Any

    @property
    def n_classes(self):
        """Number of classes; 0 for numbers."""
        return len(self.classes)

    @property
    def n_columns(self):
        """Number of components of all restarts."""
        return self.table.shape[1]

    def offset(self):
        """What every row's score has besides its cells: (n_columns,)."""
        penalty = np.minimum(self.penalty.ravel(), np.finfo(np.float32).max / 4)
        offset = self.log_weight - penalty
        if not self.n_classes:
            offset = offset + 0.5 * np.log(self.precision / (2 * np.pi))
        return offset


class Planner:
    """Makes plans for a layout, and statistics from what the shards give back.

    Parameters
    ----------
    layout : Layout
    n_bins : int array of shape (n_features,)
        Number of bins of every feature of the grid.
    target : Target
    """

    def __init__(self, layout, n_bins, target):
        self.layout = layout
        self.target = target
        self.features = np.array([b.feature for b in layout.blocks], dtype=np.intp)
        widths = np.asarray(n_bins, dtype=np.intp)[self.features]
        self.starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        # The layout's row of each bin; bins that never occur read a row of zeros.
        self.place = np.full(self.starts[-1], layout.n_rows, dtype=np.intp)
        for block, start, width in zip(
            layout.blocks, self.starts, widths, strict=False
        ):
            n_codes = len(block.codes)
            self.place[start + block.codes] = block.rows[:n_codes]
            if block.has_missing:
                self.place[start + width - 1] = block.rows[-1]
        self.occurring = np.flatnonzero(self.place < layout.n_rows)

    def plan(self, params, penalty):
        """The plan for these parameters and penalties."""
        zeros = np.zeros((1, params.table.shape[1]))
        return Plan(
            features=self.features,
            starts=self.starts,
            table=np.vstack([params.table, zeros])[self.place],
            classes=params.table[self.layout.class_start :],
            log_weight=params.log_weight,
            mean=params.mean,
            precision=params.precision,
            penalty=penalty,
            target=self.target,
        )

    def statistics(self, expected, total):
        """Statistics from the sums over all shards.

        Parameters
        ----------
        expected : Expected
        total : float
            Weight of all rows.
        """
        n_columns = expected.weight.size
        bins = np.zeros((self.layout.n_rows, n_columns))
        bins[self.place[self.occurring]] = expected.bins[self.occurring]
        bins[self.layout.class_start :] = expected.classes
        return Statistics(
            bins, expected.weight.ravel(), expected.first, expected.second, total
        )
