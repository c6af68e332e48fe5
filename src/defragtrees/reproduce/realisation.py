"""One random draw of a data set: its rows, and the forest that the paper would take."""

from dataclasses import dataclass

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import datasets
from defragtrees.reproduce import paper

__all__ = ["Realisation", "draw", "fit_forest", "search_forest"]

# R tries the square root of the features for classes, and a third of them for numbers.
FORESTS = {
    "classification": (RandomForestClassifier, lambda n_features: "sqrt"),
    "regression": (RandomForestRegressor, lambda n_features: max(1, n_features // 3)),
}


@dataclass(frozen=True, eq=False)
class Realisation:
    """Rows to train and to test on.

    Parameters
    ----------
    X, y, X_test, y_test : arrays
    feature_names : tuple of str
    task : {"classification", "regression"}
    n_all : int or None
        Rows that there were to draw from; None if they were made.
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    feature_names: tuple[str, ...]
    task: str
    n_all: int | None


def draw(name, seed, data_home=None):
    """The rows of one realisation; half of each sort where there are too few.

    Parameters
    ----------
    name : str
        A key of `paper.DATASETS`.
    seed : int
    data_home : path, optional
    """
    n_rows = paper.DATASETS[name][2]
    is_made = name.startswith("synthetic")
    if is_made:
        data = datasets.load(name, n_samples=2 * n_rows, random_state=seed)
    else:
        data = datasets.load(name, data_home=data_home)
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


def fit_forest(data, node_size, n_leaves, seed, n_trees=paper.N_TREES):
    """A random forest by R's recipe: nodes of `node_size` rows or fewer stay whole.

    Parameters
    ----------
    data : Realisation
    node_size, n_leaves : int
    seed : int
    n_trees : int
    """
    kind, features_tried = FORESTS[data.task]
    return kind(
        n_trees,
        min_samples_split=node_size + 1,
        max_leaf_nodes=n_leaves,
        max_features=features_tried(data.X.shape[1]),
        oob_score=n_trees == paper.N_TREES,
        random_state=seed,
        n_jobs=1,
    ).fit(data.X, data.y)


def search_forest(data, seed):
    """The forest of the paper's grid with the smallest out-of-bag error; first wins.

    Returns
    -------
    forest : fitted ensemble
    chosen : dict
        Its node size, number of leaves and out-of-bag error.
    """
    best, chosen = None, {}
    for node_size in paper.NODE_SIZES:
        for n_leaves in paper.LEAF_NUMBERS:
            forest = fit_forest(data, node_size, n_leaves, seed)
            error = _out_of_bag_error(forest, data)
            if best is None or error < chosen["oob_error"]:
                best = forest
                chosen = {
                    "node_size": node_size,
                    "n_leaves": n_leaves,
                    "oob_error": error,
                }
    return best, chosen


def _out_of_bag_error(forest, data):
    if is_classifier(forest):
        return float(1 - forest.oob_score_)
    return float(np.mean((forest.oob_prediction_ - data.y) ** 2))
