"""Dataset: a table with names; and its parts to train and to test on."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from defragtrees._values import ByValue, freeze

__all__ = ["Dataset", "split"]


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
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    task: str
    name: str = ""
    n_original: int | None = None
    source: str = ""

    def __post_init__(self):
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

    def __repr__(self):
        n_samples, n_features = self.X.shape
        title = f"Dataset {self.name}".rstrip()
        return f"<{title}: {n_samples:,} rows, {n_features} features, {self.task}>"


def split(
    dataset: Dataset, n_train: int, n_test: int, rng: np.random.Generator | int
) -> tuple[Dataset, Dataset, str]:
    """Random rows to train on, other rows to test on, and a note if they are too few.

    Where the rows do not suffice for both, each part gets half of them; what one part
    does not want of its half goes to the other.

    Parameters
    ----------
    dataset : Dataset
    n_train, n_test : int
        At least 1.
    rng : numpy.random.Generator or int

    Returns
    -------
    train, test : Dataset
    note : str
        Empty where both parts are as large as asked.

    Examples
    --------
    >>> from defragtrees.datasets import load
    >>> train, test, note = split(load("energy"), 5000, 5000, rng=0)
    >>> len(train.X), len(test.X)
    (384, 384)
    >>> note
    'energy: 384 + 384 rows instead of 5,000 + 5,000; there are 768.'
    """
    n_rows = len(dataset.X)
    for key, wanted in (("n_train", n_train), ("n_test", n_test)):
        if wanted < 1:
            raise ValueError(f"{key} must be at least 1; got {wanted!r}.")
    if n_rows < 2:
        raise ValueError(f"A split needs at least 2 rows; got {n_rows}.")
    first = min(n_train, max(n_rows // 2, n_rows - n_test))
    second = min(n_test, n_rows - first)
    order = np.random.default_rng(rng).permutation(n_rows)
    train, test = (
        dataclasses.replace(dataset, X=dataset.X[rows], y=dataset.y[rows])
        for rows in (order[:first], order[first : first + second])
    )
    note = ""
    if (first, second) != (n_train, n_test):
        note = (
            f"{dataset.name}: {first:,} + {second:,} rows instead of "
            f"{n_train:,} + {n_test:,}; there are {n_rows:,}."
        )
    return train, test, note
