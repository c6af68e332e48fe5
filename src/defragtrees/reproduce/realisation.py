"""One random draw of a data set: its rows, and the forest that the paper would take."""

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import datasets
from defragtrees.reproduce import paper

__all__ = ["Realisation", "draw", "fit_forest", "search_forest"]


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
        found = datasets.load(name, n_samples=2 * n_rows, random_state=seed)
    else:
        found = datasets.load(name, data_home=data_home)
    order = np.random.default_rng([seed, 7]).permutation(len(found.X))
    n_train = min(n_rows, len(order) // 2)
    train, test = order[:n_train], order[n_train : 2 * n_train]
    return Realisation(
        found.X[train],
        found.y[train],
        found.X[test],
        found.y[test],
        found.feature_names,
        found.task,
        None if is_made else len(found.X),
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
    is_number = data.task == "regression"
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    # R tries a third of the features for numbers, and the square root for classes.
    max_features = max(1, data.X.shape[1] // 3) if is_number else "sqrt"
    return kind(
        n_trees,
        min_samples_split=node_size + 1,
        max_leaf_nodes=n_leaves,
        max_features=max_features,
        oob_score=n_trees == paper.N_TREES,
        random_state=seed,
        n_jobs=1,
    ).fit(data.X, data.y)


def search_forest(data, seed):
    """The forest of the paper's grid with the smallest out-of-bag error; first wins.

    Returns
    -------
    forest : fitted ensemble
    found : dict
        Its node size, number of leaves and out-of-bag error.
    """
    best, found = None, {}
    for node_size in paper.NODE_SIZES:
        for n_leaves in paper.LEAF_NUMBERS:
            forest = fit_forest(data, node_size, n_leaves, seed)
            error = _out_of_bag_error(forest, data)
            if best is None or error < found["oob_error"]:
                best = forest
                found = {
                    "node_size": node_size,
                    "n_leaves": n_leaves,
                    "oob_error": error,
                }
    return best, found


def _out_of_bag_error(forest, data):
    if data.task == "regression":
        return float(np.mean((forest.oob_prediction_ - data.y) ** 2))
    return float(1 - forest.oob_score_)
