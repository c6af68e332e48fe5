"""Random problems for the mixture, as hypothesis strategies."""

import numpy as np
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid
from defragtrees.paper.fit import TableEngine
from defragtrees.paper.parameters import Layout
from tests.reference import dense_mixture


class Case:
    """One random problem, both as bins and as dense statements."""

    def __init__(self, seed, n_rows, n_features, n_classes, missing, weighted):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(n_rows, n_features)), 1)
        signal = X[:, 0] + 0.5 * rng.normal(size=n_rows)
        if missing:
            X[rng.random(X.shape) < 0.15] = np.nan
        thresholds = [
            np.unique(np.round(rng.normal(size=rng.integers(1, 12)), 2))
            for _ in range(n_features)
        ]
        if n_classes:
            edges = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
            y = np.searchsorted(edges, signal)
        else:
            y = (signal - signal.mean()) / signal.std()
        row_weight = rng.uniform(0.2, 3.0, n_rows) if weighted else np.ones(n_rows)
        self.grid = ThresholdGrid(tuple(thresholds))
        self.codes = self.grid.bin(X)
        self.layout = Layout(self.grid, self.grid.bin_counts(self.codes), n_classes)
        self.engine = TableEngine(self.layout, self.codes, y, row_weight)
        self.dense = self._dense(X, thresholds, y, n_classes, row_weight)
        self.rng = rng

    def _dense(self, X, thresholds, y, n_classes, row_weight):
        holds, fails, feature = dense_mixture.statements(X, thresholds)
        n_statements = len(feature)
        return dense_mixture.Problem(
            holds,
            fails,
            np.ones(n_statements),
            y,
            n_classes,
            row_weight,
            float(n_statements),
        )

    def responsibilities(self, n_components):
        """Random starting responsibilities, (n_rows, n_components)."""
        shape = np.full(n_components, 0.3)
        return self.rng.dirichlet(shape, len(self.codes))

    def starts(self, betas):
        """Parameters for the loop after an M-step from each of the given betas."""
        self.engine.responsibilities = np.hstack(betas).T
        return self.layout.maximize(self.engine.gather())


cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    n_rows=st.integers(20, 120),
    n_features=st.integers(1, 5),
    n_classes=st.sampled_from([0, 2, 3]),
    missing=st.booleans(),
    weighted=st.booleans(),
)
