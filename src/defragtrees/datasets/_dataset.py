"""Dataset: a table with names."""

from dataclasses import dataclass

import numpy as np

from defragtrees._utils.values import ByValue, freeze

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset(ByValue):
    """A table with names.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
        Missing values are NaN.
    y : array of shape (n_samples,)
        Classes are the integers 0 and 1.
    feature_names : tuple of str
    task : {"classification", "regression"}
    name : str
    n_original : int, optional
        Rows of the set as it was published, of which X may be a part; None where the
        rows are drawn.
    source : str
        One line: who made the data, where they were published, the licence.

    Examples
    --------
    >>> data = Dataset([[0.0], [1.0]], [0, 1], ("size",), "classification", name="two")
    >>> data
    <Dataset two: 2 rows, 1 features, classification>
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    task: str
    name: str = ""
    n_original: int | None = None
    source: str = ""

    def __post_init__(self) -> None:
        X, y = freeze(self.X, dtype=np.float64), freeze(self.y)
        names = tuple(self.feature_names)
        if X.ndim != 2 or y.shape != X.shape[:1] or len(names) != X.shape[1]:
            raise ValueError(
                "X, y and feature_names must have shapes (n, m), (n,) and (m,); got "
                f"{X.shape}, {y.shape} and {(len(names),)}."
            )
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)
        object.__setattr__(self, "feature_names", names)

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        title = f"Dataset {self.name}".rstrip()
        return f"<{title}: {n_samples:,} rows, {n_features} features, {self.task}>"
