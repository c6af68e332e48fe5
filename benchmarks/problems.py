"""The paper's six shapes, with forests grown by its recipe, on real data where it is.

Real sets come from the folder in DEFRAGTREES_DATA (`name.csv.gz`, the last column is
`target`); where a file is not there, numbers of the same shape are drawn.
"""

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees.data.grid import ThresholdGrid
from defragtrees.ensembles.readers import read_forest

# Settings of the paper's method that do not depend on the units of y, for simplify.
SEEDED = {
    "method": "paper",
    "statement_weight": 3.0,
    "init": "seeded",
    "e_step": "gentle",
    "target": "ensemble",
}

SHAPES = {
    "synthetic1": (1000, 2),
    "synthetic2": (1000, 2),
    "spambase": (1000, 57),
    "miniboone": (5000, 50),
    "higgs": (5000, 28),
    "energy": (384, 8),
}


@dataclass
class Case:
    """Rows, what the forest says of them, and its thresholds."""

    name: str
    X: np.ndarray
    y: np.ndarray
    target: np.ndarray
    n_classes: int
    grid: ThresholdGrid
    X_test: np.ndarray
    y_test: np.ndarray
    forest: object

    @property
    def n_statements(self):
        return int(sum(len(values) for values in self.grid.splits))


def synthetic(kind, n_rows, rng):
    """Synthetic1 (a chessboard) or Synthetic2 (a curved border), labels 10 % wrong."""
    X = rng.random((n_rows, 2))
    if kind == 1:
        y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    else:
        border = 0.25 + 0.5 / (1 + np.exp(-20 * (X[:, 0] - 0.5)))
        y = X[:, 1] > border + 0.05 * np.cos(2 * np.pi * X[:, 0])
    return X, (y ^ (rng.random(n_rows) < 0.1)).astype(int)


def read_table(name):
    """X, y of a numeric set in the data folder, or None where it is not there."""
    path = Path(os.environ.get("DEFRAGTREES_DATA", "../shared/data")) / f"{name}.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = csv.reader(file)
        next(lines)
        table = np.array([[float(cell or "nan") for cell in line] for line in lines])
    return table[:, :-1], table[:, -1]


def make_case(name, seed=0, n_rows=None, **forest_settings):
    """One of SHAPES, with a forest of 100 trees by the paper's recipe."""
    rng = np.random.default_rng(seed)
    n_wanted, n_features = SHAPES[name]
    n_rows = n_rows or n_wanted
    if name.startswith("synthetic"):
        X, y = synthetic(int(name[-1]), 2 * n_rows, rng)
    else:
        X, y = _real_or_drawn(name, n_rows, n_features, rng)
    n_rows = min(n_rows, len(X))
    settings = {"min_samples_leaf": 10, "max_leaf_nodes": 128, "n_estimators": 100}
    settings |= forest_settings
    is_number = name == "energy"
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    if not is_number:
        y = y.astype(int)
    ensemble = kind(random_state=seed, n_jobs=-1, **settings).fit(
        X[:n_rows], y[:n_rows]
    )
    forest = read_forest(ensemble)
    grid = ThresholdGrid(tuple(forest.splits()))
    target = ensemble.predict(X[:n_rows])
    if is_number:
        target = (target - target.mean()) / target.std()
    return Case(
        name,
        X[:n_rows],
        y[:n_rows],
        target,
        0 if is_number else 2,
        grid,
        X[n_rows : 2 * n_rows],
        y[n_rows : 2 * n_rows],
        ensemble,
    )


def _real_or_drawn(name, n_rows, n_features, rng):
    found = read_table(name)
    if found is None:
        X = rng.normal(size=(2 * n_rows, n_features))
        signal = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=2 * n_rows)
        return X, signal if name == "energy" else (signal > 0)
    X, y = found
    if name == "miniboone":
        kept = (X > -900).all(axis=1)
        X, y = X[kept], y[kept]
    order = rng.permutation(len(X))
    return X[order], y[order]
