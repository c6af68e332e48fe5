"""The rows of a picture: checked, few enough to see, and beside each other."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from defragtrees.data.tables import check_finite

__all__ = ["encoded", "some_rows", "spread"]


def encoded(model, X, y=None):
    """X as numbers for a RuleModel or Forest, or None; y must belong to its rows."""
    if X is None:
        if y is not None:
            raise ValueError("y needs the rows that it belongs to; pass X too.")
        return None
    check_consistent_length(X, y)
    matrix = model.encode(X)
    check_finite(matrix, model.feature_names)
    if not len(matrix):
        raise ValueError("At least one row is needed; X has none.")
    return matrix


def some_rows(n_rows, most):
    """Numbers of at most so many rows, evenly spread.

    Examples
    --------
    >>> some_rows(9, 3).tolist()
    [0, 4, 8]
    """
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(int)


def spread(rows, share):
    """Places in (-0.5, 0.5) for row numbers, well spread whatever their order.

    Multiples of an irrational share of one; the same rows lie at the same places.
    """
    return (np.asarray(rows) + 1) * share % 1.0 - 0.5
