"""Small real data sets that come with the package."""

import csv
import gzip
import io
from dataclasses import dataclass
from importlib import resources

import numpy as np

from defragtrees._values import freeze

__all__ = ["Dataset", "load_sample"]

SAMPLES = {
    "energy": ("energy.csv.gz", "regression"),
    "spambase": ("spambase_sample.csv.gz", "classification"),
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with names.

    Parameters
    ----------
    X : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    feature_names : tuple of str
    task : {"classification", "regression"}
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    task: str


def load_sample(name):
    """A bundled data set: "energy" (768 buildings) or "spambase" (2,000 e-mails).

    Examples
    --------
    >>> energy = load_sample("energy")
    >>> energy.X.shape, energy.feature_names[4]
    ((768, 8), 'overall_height')
    """
    if name not in SAMPLES:
        raise ValueError(f"name must be one of {tuple(SAMPLES)}; got {name!r}.")
    file, task = SAMPLES[name]
    packed = resources.files("defragtrees").joinpath("data", file).read_bytes()
    lines = csv.reader(io.StringIO(gzip.decompress(packed).decode("utf-8")))
    names = next(lines)
    table = np.array([[float(cell) for cell in line] for line in lines])
    y = table[:, -1] if task == "regression" else table[:, -1].astype(int)
    return Dataset(freeze(table[:, :-1]), freeze(y), tuple(names[:-1]), task)
