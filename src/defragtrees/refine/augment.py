"""New rows near the data: cheap, since the ensemble says what it answers for them."""

import numpy as np

__all__ = ["draw_rows"]

REACH = 0.1  # standard deviation of a step, as a share of the sorted column


def draw_rows(X, n_rows, is_set, rng, order=None):
    """Rows of X with every cell moved a little way along its sorted column.

    A cell takes a value that its column has, at a normal distance in rank; a category
    is now and then replaced by that of another row. So new rows stay on the values of
    the data, and what goes together in X mostly still does.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    n_rows : int
    is_set : bool array of shape (n_features,)
        Which columns hold categories.
    rng : numpy.random.Generator
    order : sequence of int, optional
        Columns in the order in which they are drawn; as in X by default.

    Returns
    -------
    array of shape (n_rows, n_features)
    """
    n_known, n_features = X.shape
    base = rng.integers(n_known, size=n_rows)
    drawn = X[base]
    for j in range(n_features) if order is None else order:
        if is_set[j]:
            swapped = np.flatnonzero(rng.random(n_rows) < REACH)
            drawn[swapped, j] = X[rng.integers(n_known, size=len(swapped)), j]
            continue
        by_size = np.argsort(X[:, j], kind="stable")
        rank = np.empty(n_known, dtype=np.intp)
        rank[by_size] = np.arange(n_known)
        step = np.rint(REACH * n_known * rng.normal(size=n_rows)).astype(np.intp)
        place = np.clip(rank[base] + step, 0, n_known - 1)
        drawn[:, j] = X[by_size[place], j]
    return drawn
