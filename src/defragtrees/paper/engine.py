"""The E-step, by numpy and scipy.sparse.

The engine holds all arrays with one row per sample; the loop sees small arrays only. It
has `total`, the weight of all rows, and three methods: `score(params)` computes log
p(row, component) for every row, `assign(penalty)` computes responsibilities with a
penalty per component, `gather()` sums them.

A row is a line of a sparse matrix S with a one in the column of each of its bins (and
of its class), so scoring is `S @ table` and gathering `S.T @ responsibilities`.
"""

import numpy as np
from scipy import sparse

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
        columns[:, i] = block.rows.start + place
    if classes is not None:
        columns[:, -1] = np.asarray(classes) + layout.class_start
    ends = np.arange(n_rows + 1, dtype=kind) * kind(width)
    return sparse.csr_matrix(
        (np.ones(n_rows * width), columns.ravel(), ends),
        shape=(n_rows, layout.n_rows),
    )
