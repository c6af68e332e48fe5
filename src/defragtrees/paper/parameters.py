"""Layout, parameters, statistics and posterior of the mixture.

Letters of the paper: alpha (weight of a component), beta (responsibility), eta
(probability of a statement), gamma (of a class), mu and lambda (mean and precision of
the output), omega (penalty), K components, L statements, N rows. All columns of all
restarts are concatenated: an array here has one column per (restart, component).

The statements of one feature depend only on the bin of a row. `Block.table` has
log p(s | k) per bin (for thresholds a cumulative sum, since bin c satisfies the first c
of them), and the statistics are sums of responsibilities per bin. This is the
arithmetic of the paper in another order.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.data.grid import ThresholdGrid

SMALLEST = 1e-12  # eta, 1 - eta and gamma stay above this
LEAST_VARIANCE = 1e-6  # of the standardised output
TILE_ROWS = 4096  # rows per block, to fit in the cache


@dataclass(frozen=True, eq=False)
class Params:
    """Parameters of all components, ready to score rows."""

    table: np.ndarray  # (n_rows, n_columns), log-likelihood of each bin and each class
    log_weight: np.ndarray  # (n_columns,), log alpha
    mean: np.ndarray  # (n_columns,), of the output; not used in classification
    precision: np.ndarray


@dataclass(frozen=True, eq=False)
class Statistics:
    """Sums of responsibilities over the rows."""

    bins: np.ndarray  # (n_rows, n_columns), by bin and by class
    weight: np.ndarray  # (n_columns,), over all rows
    first: np.ndarray  # (n_columns,), times the output; zero in classification
    second: np.ndarray  # (n_columns,), times its square
    total: float  # weight of all rows

    def columns(self, index):
        """The statistics of some columns."""
        sums = (values[index] for values in (self.weight, self.first, self.second))
        return Statistics(self.bins[:, index], *sums, self.total)


class Block:
    """The statements of one feature that distinguish training rows.

    `present` is a mask of the bins that occur in these rows, missing last.
    """

    rows: slice  # of the codes in the tables, missing last; given by the Layout

    def __init__(self, grid, feature, present):
        splits, counts = grid.splits[feature], grid.counts[feature]
        self.feature = int(feature)
        self.codes = codes = np.flatnonzero(present[:-1])
        self.has_missing = bool(present[-1] and codes.size)
        self.sets = None  # which codes satisfy which statement of a category
        if splits.ndim == 1:
            counts = np.diff(np.concatenate([[0], np.cumsum(counts)])[codes])
        else:
            # A set and its complement are one statement; use the side without code 0.
            sets = splits[:, codes]
            sets = np.where(sets[:, :1], ~sets, sets)
            useful = sets.any(axis=1)
            self.sets, counts = np.zeros((len(codes), 0), bool), counts[useful]
            if useful.any():
                sets, group = np.unique(sets[useful], axis=0, return_inverse=True)
                self.sets, counts = sets.T, np.bincount(group.ravel(), weights=counts)
        self.n_equal = counts  # thresholds, or sets, that are the same statement here
        self.n_statements = float(counts.sum()) + self.has_missing
        # Of a numeric feature, the number of thresholds from its lowest code to each.
        self.reach = np.concatenate([[0.0], np.cumsum(counts)])

    def masses(self, bins):
        """Responsibility of the rows that satisfy each statement, and of the others."""
        present = bins[: len(self.codes)]
        if self.sets is None:
            above = np.cumsum(present[:0:-1], axis=0)[::-1]
            below = np.cumsum(present[:-1], axis=0)
        else:
            above = self.sets.T.astype(float) @ present
            below = (~self.sets.T).astype(float) @ present
        return above, below

    def table(self, bins, weight):
        """Log p(statements of this feature | component), a row per code."""
        missing, present = None, weight
        if self.has_missing:
            missing = bins[-1] / weight
            present = np.maximum(weight - bins[-1], SMALLEST * weight)
        log_above, log_below = (
            self.n_equal[:, None] * np.log(np.maximum(mass / present, SMALLEST))
            for mass in self.masses(bins)
        )
        return self.assemble(log_above, log_below, missing)

    def assemble(self, log_above, log_below, missing=None):
        """The table from log-probabilities of the statements, times `n_equal`.

        `log_above` is for rows that satisfy a statement, `log_below` for the others,
        `missing` the probability of a missing value.
        """
        table = np.zeros((len(self.codes) + self.has_missing, log_above.shape[1]))
        present = table[: len(self.codes)]
        if self.sets is None:
            present[0] = log_below.sum(axis=0)
            np.subtract(log_above, log_below, out=present[1:])
            np.cumsum(present, axis=0, out=present)
        else:
            sets = self.sets.astype(float)
            present += sets @ log_above + (1 - sets) @ log_below
        if self.has_missing:
            missing = np.clip(missing, SMALLEST, 1 - SMALLEST)
            present += np.log1p(-missing)
            table[-1] += np.log(missing)
        return table


class Layout:
    """The rows of the tables of a problem: those of each block, then the classes.

    `bin_counts` has the number of training rows in each bin. `order` is the order in
    which features are summed, by default that of the grid.
    """

    def __init__(self, grid, bin_counts, n_classes, order=None):
        order = range(len(grid.splits)) if order is None else order
        blocks = [Block(grid, j, bin_counts[j] > 0) for j in order]
        self.blocks = [block for block in blocks if block.n_statements]
        self.n_classes = n_classes  # 0 for regression
        self.n_rows = 0  # of a table
        # The paper's L, which includes statements that are the same for all rows.
        self.n_statements = float(sum(counts.sum() for counts in grid.counts))
        for block in self.blocks:
            end = self.n_rows + len(block.codes) + block.has_missing
            block.rows, self.n_rows = slice(self.n_rows, end), end
            self.n_statements += block.has_missing
        self.n_rows += n_classes

    @property
    def class_start(self):
        """First row of the classes in the tables."""
        return self.n_rows - self.n_classes

    @property
    def penalty(self):
        """The paper's omega: half the number of parameters of a component."""
        n_output = self.n_classes - 1 if self.n_classes else 2
        return (n_output + self.n_statements + 1) / 2

    def maximize(self, statistics):
        """The M-step (eq:mstep): maximum-likelihood parameters for the statistics."""
        bins = statistics.bins
        weight = np.maximum(statistics.weight, np.finfo(float).tiny)
        table = np.empty(bins.shape)
        for block in self.blocks:
            table[block.rows] = block.table(bins[block.rows], weight)
        if self.n_classes:
            share = bins[self.class_start :] / weight
            table[self.class_start :] = np.log(np.clip(share, SMALLEST, 1.0))
        mean = statistics.first / weight
        variance = statistics.second / weight - mean**2
        return Params(
            table=table,
            log_weight=np.log(weight / statistics.total),
            mean=mean,
            precision=1.0 / np.maximum(variance, LEAST_VARIANCE),
        )


@dataclass(frozen=True, eq=False)
class Posterior:
    """The components of one restart, which predict binned rows by two-step MAP."""

    layout: Layout
    statistics: Statistics
    grid: ThresholdGrid
    center: float = 0.0  # of the standardised output
    scale: float = 1.0

    @property
    def n_components(self):
        """Number of components."""
        return len(self.statistics.weight)

    def predict_codes(self, codes):
        """Class indices, or numbers, for each row of bins."""
        predictions = self.predictions_by_component()
        if self.layout.n_classes:
            predictions = predictions.argmax(axis=1)
        return predictions[self.component(codes)]

    def predict_encoded(self, matrix, classes=None):
        """Class labels, or numbers, for each row of a matrix."""
        predicted = self.predict_codes(self.grid.bin(matrix))
        return predicted if classes is None else np.asarray(classes)[predicted]

    def predictions_by_component(self):
        """Class weights, (n_components, n_classes), or a number for each component."""
        if self.layout.n_classes:
            return self.statistics.bins[self.layout.class_start :].T
        # EM may leave a component without rows; it predicts the mean of all.
        weight = np.maximum(self.statistics.weight, np.finfo(float).tiny)
        return self.center + self.scale * (self.statistics.first / weight)

    def component(self, codes):
        """The component with the largest p(s | k) alpha_k, for each row of bins."""
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
        """The table for all bins, also those without training rows."""
        full = np.zeros((self.grid.n_bins[block.feature], table.shape[1]))
        present = table[: len(block.codes)]
        if block.sets is None:
            # Between two bins that occur, the table is linear in the number of
            # thresholds; outside their range it is constant.
            passed = np.concatenate([[0], np.cumsum(self.grid.counts[block.feature])])
            passed = passed - passed[block.codes[0]]
            for k in range(table.shape[1]):
                full[:-1, k] = np.interp(passed, block.reach, present[:, k])
        else:
            # A category without training rows contributes nothing.
            full[block.codes] = present
        if block.has_missing:
            full[-1] = table[-1]
        return full
