"""New rows near the data, for which the ensemble can be queried."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

REACH = 0.1  # standard deviation of a step, as a share of the sorted column


def draw_rows(X, n_rows, is_set, rng, order=None):
    """Rows of X with every cell moved a little way along its sorted column.

    A cell takes a value that its column has, at a normal distance in rank. Steps of one
    row go together as the columns do: they have the correlation of the columns' normal
    scores (a Gaussian copula). A category is now and then that of another row.

    X has shape (n_samples, n_features), and `is_set` says which columns are categories.
    Columns are drawn in the order of `order`, by default as in X.
    """
    n_samples, n_features = X.shape
    order = range(n_features) if order is None else order
    base = rng.integers(n_samples, size=n_rows)
    moved = X[base]
    numeric = [j for j in order if not is_set[j]]
    steps = rng.normal(size=(n_rows, len(numeric))) @ _correlation_root(X[:, numeric]).T
    for column, j in enumerate(numeric):
        by_size = np.argsort(X[:, j], kind="stable")
        rank = np.empty(n_samples, dtype=np.intp)
        rank[by_size] = np.arange(n_samples)
        step = np.rint(REACH * n_samples * steps[:, column]).astype(np.intp)
        place = np.clip(rank[base] + step, 0, n_samples - 1)
        moved[:, j] = X[by_size[place], j]
    for j in order:
        if is_set[j]:
            swapped = np.flatnonzero(rng.random(n_rows) < REACH)
            moved[swapped, j] = X[rng.integers(n_samples, size=len(swapped)), j]
    return moved


def _correlation_root(X):
    """A square root of the correlation of the columns' normal scores."""
    n_columns = X.shape[1]
    if n_columns == 0:
        return np.empty((0, 0))
    scores = np.empty(X.shape)
    for j in range(n_columns):
        column = X[:, j]
        present = ~np.isnan(column)
        scores[:, j] = 0.0  # a missing value stands in the middle
        ranks = rankdata(column[present])
        scores[present, j] = ndtri((ranks - 0.5) / max(len(ranks), 1))
    scores -= scores.mean(axis=0)
    size = np.sqrt((scores**2).sum(axis=0))
    scores /= np.where(size > 0, size, 1.0)
    correlation = scores.T @ scores
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    return vectors * np.sqrt(np.maximum(values, 0.0))
