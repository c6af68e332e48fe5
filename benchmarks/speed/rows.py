"""Rows that look like HIGGS, of any number, and a model trained on some of them."""

from functools import cache

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

BLOCK_ROWS = 250_000
N_TRAINING = 50_000


def make_block(block, n_rows, n_features):
    """One block of rows, by its number; a quarter of its columns hang on the others."""
    rng = np.random.default_rng([7, block])
    X = np.empty((n_rows, n_features), dtype=np.float32)
    n_raw = max(1, 3 * n_features // 4)
    for j in range(n_raw):
        kind = j % 3
        if kind == 0:
            X[:, j] = rng.gamma(2.0, 0.5, n_rows)
        elif kind == 1:
            X[:, j] = rng.normal(size=n_rows)
        else:
            X[:, j] = rng.uniform(-1.7, 1.7, n_rows)
    for j in range(n_raw, n_features):
        a, b = X[:, (2 * j) % n_raw], X[:, (3 * j + 1) % n_raw]
        noise = rng.normal(0, 0.1, n_rows).astype(np.float32)
        X[:, j] = np.sqrt(np.abs(a * b) + 0.05) + noise
    return X


def labels(X):
    """Classes that hang on products and thresholds of the columns."""
    d = X.shape[1]
    score = X[:, -1] - X[:, 0] * (X[:, 1 % d] > 0) + 0.7 * np.sin(2 * X[:, 2 % d])
    return (score + 0.3 * X[:, d // 2] > 0.4).astype(int)


def write_rows(path, n_rows, n_features):
    """A file of float32 numbers to map into memory."""
    with open(path, "wb") as file:
        for start in range(0, n_rows, BLOCK_ROWS):
            size = min(BLOCK_ROWS, n_rows - start)
            make_block(1 + start // BLOCK_ROWS, size, n_features).tofile(file)


@cache
def make_model(n_features, n_trees):
    """A boosted model with at most 254 thresholds a feature."""
    X = make_block(0, N_TRAINING, n_features)
    model = HistGradientBoostingClassifier(
        max_iter=n_trees, max_bins=255, early_stopping=False, random_state=0
    )
    return model.fit(X, labels(X))
