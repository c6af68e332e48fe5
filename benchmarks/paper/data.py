"""The paper's data sets, random draws of them, and the forests that are simplified.

Synthetic1 and Synthetic2 are drawn, Energy comes with the package. The others are read
from a folder of files `name.csv.gz` (a header, the features, last the column `target`),
or fetched from OpenML by scikit-learn, which checks and caches what it fetched.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import fetch_openml
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.paper import published
from defragtrees.datasets import Dataset, load_sample

# Number on OpenML, the name of its target there, the share of class 1.
OPENML = {
    "spambase": (44, "class", 1813 / 4601),
    "miniboone": (41150, "signal", 36_499 / 130_064),
    "higgs": (23512, "class", 0.53),
}
# R tries the square root of the features for classes, and a third of them for numbers.
FORESTS = {
    "classification": (RandomForestClassifier, lambda n_features: "sqrt"),
    "regression": (RandomForestRegressor, lambda n_features: max(1, n_features // 3)),
}


def load(name, folder=None):
    """One of the paper's four real data sets, from the folder if it has the file."""
    file = None if folder is None else Path(folder) / f"{name}.csv.gz"
    if file is not None and file.exists():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            *names, _ = next(lines).rstrip().split(",")
            table = np.loadtxt(lines, delimiter=",")
        X, y = table[:, :-1], table[:, -1]
    elif name == "energy":
        return load_sample(name)
    else:
        X, y, names = _fetch(name)
    n_features = published.DATASETS[name][0]
    if X.shape[1] != n_features:
        raise ValueError(f"{name} must have {n_features} features; got {X.shape[1]}.")
    if name == "energy":
        return Dataset(X, y, names, "regression", name)
    share = OPENML[name][2]
    if abs(y.mean() - share) > 0.05:
        raise ValueError(
            f"About {share:.0%} of the rows of {name} are of class 1; got "
            f"{y.mean():.0%}. The classes may have been swapped."
        )
    if name == "miniboone":
        reconstructed = ~(X < -900).all(axis=1)  # the paper leaves out the others
        X, y = X[reconstructed], y[reconstructed]
    return Dataset(X, y.astype(int), names, "classification", name)


def _fetch(name):
    """X, y and the names of the features from OpenML."""
    number, target, _ = OPENML[name]
    fetched = fetch_openml(
        data_id=number,
        target_column=target,
        as_frame=False,
        parser="liac-arff",  # pandas' parser rounds the last digit
    )
    X = np.asarray(fetched.data, dtype=float)
    y = np.isin(np.char.lower(fetched.target.astype(str)), ("1", "1.0", "true"))
    if np.isnan(X[-1]).any():  # OpenML's copy of HIGGS ends in the middle of a line
        X, y = X[:-1], y[:-1]
    return X, y, tuple(fetched.feature_names)


def make_synthetic(name, n_rows, seed):
    """Points in the unit square; a tenth of their labels is flipped.

    Synthetic1 is a chessboard, Synthetic2 has a curved border.
    """
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 2))
    first, second = X.T
    if name == "synthetic1":
        is_one = (first > 0.5) ^ (second > 0.5)
    else:
        border = 0.25 + 0.5 / (1 + np.exp(-20 * (first - 0.5)))
        is_one = second > border + 0.05 * np.cos(2 * np.pi * first)
    y = (is_one ^ (rng.random(n_rows) < 0.1)).astype(int)
    return Dataset(X, y, ("x1", "x2"), "classification", name)


@dataclass(frozen=True, eq=False)
class Realisation:
    """Rows to train and to test on, drawn from `n_all`; None if they were made."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    feature_names: tuple[str, ...]
    task: str
    n_all: int | None


def draw(name, seed, folder=None):
    """The rows of one realisation; half of each sort where there are too few."""
    n_rows = published.DATASETS[name][2]
    is_made = name.startswith("synthetic")
    if is_made:
        data = make_synthetic(name, 2 * n_rows, seed)
    else:
        data = load(name, folder)
    order = np.random.default_rng([seed, 7]).permutation(len(data.X))
    n_train = min(n_rows, len(order) // 2)
    train, test = order[:n_train], order[n_train : 2 * n_train]
    return Realisation(
        data.X[train],
        data.y[train],
        data.X[test],
        data.y[test],
        data.feature_names,
        data.task,
        None if is_made else len(data.X),
    )


def fit_forest(data, node_size, n_leaves, seed, n_trees=published.N_TREES):
    """A random forest by R's recipe: nodes of `node_size` rows or fewer stay whole."""
    kind, features_tried = FORESTS[data.task]
    return kind(
        n_trees,
        min_samples_split=node_size + 1,
        max_leaf_nodes=n_leaves,
        max_features=features_tried(data.X.shape[1]),
        oob_score=n_trees == published.N_TREES,
        random_state=seed,
        n_jobs=1,
    ).fit(data.X, data.y)


def search_forest(data, seed):
    """The forest of the paper's grid with the smallest out-of-bag error, and its size.

    Of forests with the same error the first is taken.
    """
    best, chosen = None, {}
    for node_size in published.NODE_SIZES:
        for n_leaves in published.LEAF_NUMBERS:
            forest = fit_forest(data, node_size, n_leaves, seed)
            if is_classifier(forest):
                error = float(1 - forest.oob_score_)
            else:
                error = float(np.mean((forest.oob_prediction_ - data.y) ** 2))
            if best is None or error < chosen["oob_error"]:
                best = forest
                chosen = {
                    "node_size": node_size,
                    "n_leaves": n_leaves,
                    "oob_error": error,
                }
    return best, chosen
