"""The paper's two-step MAP: the likeliest component of a row, then its answer."""

from dataclasses import dataclass

import numpy as np

from defragtrees.data.grid import ThresholdGrid
from defragtrees.paper.params import Layout, Statistics

__all__ = ["Posterior"]

TILE_ROWS = 4096  # so many rows at a time stay in the cache


@dataclass(frozen=True, eq=False)
class Posterior:
    """The components of one restart, able to answer for any binned row.

    Parameters
    ----------
    layout : Layout
    statistics : Statistics
        Of the components.
    grid : ThresholdGrid
        That makes the bins.
    center, scale : float
        From the standardised output back to the user's units.
    """

    layout: Layout
    statistics: Statistics
    grid: ThresholdGrid
    center: float = 0.0
    scale: float = 1.0

    @property
    def n_components(self):
        """Number of components."""
        return len(self.statistics.weight)

    def predict_codes(self, codes):
        """Class numbers, or numbers, for each row of bins."""
        answers = self.answers_by_component()
        if self.layout.n_classes:
            answers = answers.argmax(axis=1)
        return answers[self.component(codes)]

    def predict_encoded(self, matrix, classes=None):
        """Class labels, or numbers, for each row of a matrix."""
        answers = self.predict_codes(self.grid.bin(matrix).codes)
        return answers if classes is None else np.asarray(classes)[answers]

    def answers_by_component(self):
        """Class weights, (n_components, n_classes), or a number for each component."""
        if self.layout.n_classes:
            return self.statistics.bins[self.layout.class_start :].T
        # EM may leave a component without rows; it answers the mean of all.
        weight = np.maximum(self.statistics.weight, np.finfo(float).tiny)
        return self.center + self.scale * (self.statistics.first / weight)

    def component(self, codes):
        """The component with the largest p(s | k) alpha_k, for each row of bins."""
        if self.n_components == 1:
            return np.zeros(len(codes), dtype=np.intp)
        params = self.layout.maximize(self.statistics)
        tables = [
            (block.feature, self._full_table(block, params.table[block.rows]))
            for block in self.layout.blocks
        ]
        likeliest = np.empty(len(codes), dtype=np.intp)
        for start in range(0, len(codes), TILE_ROWS):
            rows = slice(start, start + TILE_ROWS)
            scores = np.tile(params.log_weight, (len(codes[rows]), 1))
            for feature, table in tables:
                scores += table[codes[rows, feature]]
            likeliest[rows] = scores.argmax(axis=1)
        return likeliest

    def _full_table(self, block, table):
        """The table for every bin, also those that no training row has."""
        full = np.zeros((self.grid.n_bins[block.feature], table.shape[1]))
        seen = table[: len(block.codes)]
        if block.sets is None:
            # Between two bins that occur, the table is linear in the number of
            # thresholds passed; outside their range it stays as it is at the end.
            counts = self.grid.counts[block.feature]
            passed = np.concatenate([[0], np.cumsum(counts)])
            passed = passed - passed[block.codes[0]]
            for k in range(table.shape[1]):
                full[:-1, k] = np.interp(passed, block.reach, seen[:, k])
        else:
            # A category that no training row has is unobserved: it adds nothing.
            full[block.codes] = seen
        if block.has_missing:
            full[-1] = table[-1]
        return full
