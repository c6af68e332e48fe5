"""New rows near the data, for which the ensemble can be queried."""

import numpy as np
from scipy.special import ndtri

REACH = 0.1  # standard deviation of a step, as a share of the sorted column


def draw_rows(X, n_rows, is_set, rng, order=None, weight=None):
    """Rows of X with every cell moved a little way along its sorted column.

    A cell takes a value that its column has, at a normal distance in rank. Steps of one
    row go together as the columns do: they have the correlation of the columns' normal
    scores (a Gaussian copula). A category is now and then that of another row. So each
    column keeps its distribution.

    X has shape (n_samples, n_features), and `is_set` says which columns are categories.
    Columns are drawn in the order of `order`, by default as in X. A row of weight two
    is as good as two rows.
    """
    n_features = X.shape[1]
    order = range(n_features) if order is None else order
    weight = np.ones(len(X)) if weight is None else weight
    reached = np.cumsum(weight) / weight.sum()
    base = _places(reached, rng.random(n_rows))
    moved = X[base]
    columns = {j: _Ranks(X[:, j], weight) for j in order if not is_set[j]}
    root = _correlation_root([own.scores for own in columns.values()], weight)
    steps = rng.normal(size=(n_rows, len(columns))) @ root
    for (j, own), step in zip(columns.items(), steps.T, strict=True):
        moved[:, j] = own.moved(base, REACH * step, rng)
    for j in order:
        if is_set[j]:
            swapped = np.flatnonzero(rng.random(n_rows) < REACH)
            moved[swapped, j] = X[_places(reached, rng.random(len(swapped))), j]
    return moved


def _places(reached, shares):
    """The rows at these shares of the weight."""
    places = np.searchsorted(reached, shares, side="right")
    return np.minimum(places, len(reached) - 1)


class _Ranks:
    """A column by rank, from 0 to 1; equal values share a range of ranks."""

    def __init__(self, column, weight):
        self.values, place = np.unique(column, return_inverse=True)
        share = np.bincount(place, weight) / weight.sum()
        self.ends = np.cumsum(share)
        self.low, self.width = (self.ends - share)[place], share[place]
        is_missing = np.isnan(column)
        present = np.where(is_missing, 0.0, self.width).max(initial=0.0) > 0
        total = self.ends[~np.isnan(self.values)][-1] if present else 1.0
        # A missing value stands in the middle.
        middle = np.clip((self.low + self.width / 2) / total, 1e-12, 1 - 1e-12)
        self.scores = np.where(is_missing, 0.0, ndtri(middle))

    def moved(self, rows, step, rng):
        """The values of some rows after a step; a step past an end turns back."""
        rank = self.low[rows] + self.width[rows] * rng.random(len(rows)) + step
        rank = 1.0 - np.abs(1.0 - np.abs(rank) % 2.0)
        return self.values[_places(self.ends, rank)]


def _correlation_root(scores, weight):
    """The square root of the correlation of some columns: symmetric, so it is one."""
    if not scores:
        return np.empty((0, 0))
    scores = np.column_stack(scores)
    scores = scores - weight @ scores / weight.sum()
    size = np.sqrt(weight @ scores**2)
    scores = scores / np.where(size > 0, size, 1.0)
    correlation = scores.T @ (weight[:, None] * scores)
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
