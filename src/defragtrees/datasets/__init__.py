"""Small real data sets bundled with the package."""

import gzip
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees._utils.optional import require
from defragtrees._utils.values import freeze

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "load_sample", "load_table"]

FOLDER = resources.files("defragtrees.datasets")
TABLES = {
    "churn": ("churn.csv.gz", "decision"),
    "credit": ("credit.csv.gz", "status"),
    "energy": ("energy.csv.gz", "heating load"),
    "heart": ("heart.csv.gz", "state"),
    "homes": ("homes.csv.gz", "price"),
    "spambase": ("spambase_sample.csv.gz", "kind"),
}
NAMED = {"spambase": {0: "mail", 1: "spam"}}
SAMPLES = {"energy": "regression", "spambase": "classification"}


def load_table(name: str) -> "tuple[pd.DataFrame, pd.Series]":
    """Load a bundled table and its outcome as a data frame and a series.

    Parameters
    ----------
    name : {"churn", "credit", "energy", "heart", "homes", "spambase"}
        "churn": 5,000 telephone customers, "leaves" or "stays". "credit": 4,454 loan
        applicants, "paid" or "unpaid". "energy": heating load of 768 buildings.
        "heart": 303 patients, "healthy" or "ill". "homes": prices of 932 homes.
        "spambase": 2,000 e-mails, "mail" or "spam".

    Returns
    -------
    X : DataFrame
    y : Series

    Examples
    --------
    >>> X, y = load_table("heart")
    >>> X.shape, y.value_counts().to_dict()
    ((303, 13), {'healthy': 164, 'ill': 139})
    """
    if name not in TABLES:
        raise ValueError(f"name must be one of {tuple(TABLES)}; got {name!r}.")
    pd = require("pandas", "A table")
    file, outcome = TABLES[name]
    with FOLDER.joinpath(file).open("rb") as packed:
        table = pd.read_csv(
            packed, compression="gzip", dtype={"zip": str, "area code": str}
        )
    y = table.pop("target").rename(outcome)
    return table, y.map(NAMED[name]) if name in NAMED else y


def load_sample(name: str) -> "Dataset":
    """Load a bundled numeric data set as arrays, without pandas.

    Parameters
    ----------
    name : {"energy", "spambase"}
        768 buildings, or 2,000 e-mails.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> energy = load_sample("energy")
    >>> energy.X.shape, energy.feature_names[4]
    ((768, 8), 'overall_height')
    """
    if name not in SAMPLES:
        raise ValueError(f"name must be one of {tuple(SAMPLES)}; got {name!r}.")
    packed = FOLDER.joinpath(TABLES[name][0]).read_bytes()
    header, *lines = gzip.decompress(packed).decode().splitlines()
    table = np.loadtxt(lines, delimiter=",")
    y = table[:, -1]
    return Dataset(
        X=table[:, :-1],
        y=y.astype(int) if SAMPLES[name] == "classification" else y,
        feature_names=tuple(header.split(",")[:-1]),
        task=SAMPLES[name],
        name=name,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A numeric table with the names of its columns.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
        Missing values are NaN.
    y : array of shape (n_samples,)
        Classes are the integers 0 and 1.
    feature_names : tuple of str
    task : {"classification", "regression"}
    name : str

    Examples
    --------
    >>> data = Dataset([[0.0], [1.0]], [0, 1], ("size",), "classification", name="two")
    >>> data
    <Dataset two: 2 rows, 1 feature, classification>
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    task: str
    name: str = ""

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
        size = f"{plural(n_samples, 'row')}, {plural(n_features, 'feature')}"
        return f"<{title}: {size}, {self.task}>"
