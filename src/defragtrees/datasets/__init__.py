"""The data of the paper, drawn or read from files, and small samples to play with."""

import os
from numbers import Integral

import numpy as np

from defragtrees.datasets._dataset import Dataset
from defragtrees.datasets._frames import load_table
from defragtrees.datasets._known import KNOWN
from defragtrees.datasets._places import DatasetNotFoundError, find, read_bundled
from defragtrees.datasets._tables import DatasetFileError, unpack

__all__ = [
    "Dataset",
    "DatasetFileError",
    "DatasetNotFoundError",
    "load",
    "load_sample",
    "load_table",
]

SAMPLES = {"energy": "energy.csv.gz", "spambase": "spambase_sample.csv.gz"}
SYNTHETIC = ("synthetic1", "synthetic2")


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    n_samples: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> Dataset:
    """One of the paper's six data sets.

    `"synthetic1"` and `"synthetic2"` are drawn; a tenth of their labels is flipped.
    The others are read from the first place that has them: `data_home`, the folder
    named by the environment variable DEFRAGTREES_DATA, our cache, the package (only
    `"energy"`), OpenML. A file is `name.csv.gz`: a header, the features, last the
    column `target`; an empty cell is a missing value. Files are checked, and a wrong
    one is an error; nothing else is tried in its place.

    Parameters
    ----------
    name : {"synthetic1", "synthetic2", "spambase", "miniboone", "higgs", "energy"}
    data_home : path, optional
        A folder with files of your own.
    download : bool, default=True
        Whether a real set that is nowhere else may be fetched from OpenML. It is kept
        in the folder named by DEFRAGTREES_CACHE, or `~/.cache/defragtrees`, with its
        SHA-256, which later loads compare.
    n_samples : int, default=2000
        Rows to draw; synthetic sets only, real ones come with all their rows.
    random_state : int, Generator or None, default=None
        For drawing; synthetic sets only.

    Returns
    -------
    Dataset

    Notes
    -----
    =========== ======================================= ======================== =======
    name        y                                       rows                     OpenML
    =========== ======================================= ======================== =======
    spambase    1 is spam                               4,601                    44
    miniboone   1 is signal (OpenML: `signal` is True)  130,064, or a part       41150
    higgs       1 is signal (OpenML: `class` is 1)      a part of 11,000,000     23512
    energy      heating load                            768                      -
    =========== ======================================= ======================== =======

    Of Spambase and Energy the contents are known and compared; a file of MiniBooNE or
    Higgs may be a part, so that its columns, labels and share of signal are checked.
    As in the paper, rows of MiniBooNE with a value below -900 in every feature, which
    are failed reconstructions, are left out. OpenML's Higgs has the first 98,050
    rows, of which the last is incomplete and left out.

    Examples
    --------
    >>> load("synthetic1", n_samples=1000, random_state=0)
    <Dataset synthetic1: 1,000 rows, 2 features, classification>
    >>> load("energy").X[0].tolist()
    [0.98, 514.5, 294.0, 110.25, 7.0, 2.0, 0.0, 0.0]
    """
    if name in SYNTHETIC:
        return _draw(name, n_samples, random_state)
    if name not in KNOWN:
        raise ValueError(f"name must be one of {(*SYNTHETIC, *KNOWN)}; got {name!r}.")
    known = KNOWN[name]
    names, table = find(known, data_home, download)
    if name == "miniboone":
        table = table[~(table[:, :-1] < -900).all(axis=1)]
    return _dataset(known, names, table)


def load_sample(name: str) -> Dataset:
    """A bundled data set: "energy" (768 buildings) or "spambase" (2,000 e-mails).

    Parameters
    ----------
    name : {"energy", "spambase"}

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
    file = SAMPLES[name]
    return _dataset(KNOWN[name], *unpack(read_bundled(file), file))


def _dataset(known, names, table):
    y = table[:, -1]
    return Dataset(
        X=table[:, :-1],
        y=y if known.share is None else y.astype(int),
        feature_names=names[:-1],
        task=known.task,
        name=known.name,
        n_original=known.n_original,
        source=known.source,
    )


def _draw(name, n_samples, random_state):
    if not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be an integer above 0; got {n_samples!r}.")
    rng = np.random.default_rng(random_state)
    X = rng.random((n_samples, 2))
    first, second = X.T
    if name == "synthetic1":
        is_one = (first > 0.5) ^ (second > 0.5)
    else:
        border = 0.25 + 0.5 / (1 + np.exp(-20 * (first - 0.5)))
        is_one = second > border + 0.05 * np.cos(2 * np.pi * first)
    is_flipped = rng.random(n_samples) < 0.1
    return Dataset(
        X=X,
        y=(is_one ^ is_flipped).astype(int),
        feature_names=("x1", "x2"),
        task="classification",
        name=name,
        source=f"drawn like {name.capitalize()} of S. Hara and K. Hayashi, "
        "Making Tree Ensembles Interpretable (2018)",
    )
