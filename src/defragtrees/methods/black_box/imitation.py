"""From a model that answers to a forest with splits to imitate it by."""

import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees import render
from defragtrees.methods.black_box.asking import Questions, find_voice, model_task
from defragtrees.methods.black_box.forest import AskedForest, AskedLink, Model
from defragtrees.methods.black_box.tables import TableForm
from defragtrees.readers import read_forest
from defragtrees.refine.new_rows import draw_rows
from defragtrees.tables import check_finite, column_names, select_columns, take_rows
from defragtrees.trees import Tree

__all__ = ["ask_model"]

GROWN_ROWS = 20_000  # trees are grown on no more rows, old and new ones together
NEW_SHARE = 2.0  # new rows for each old one
LEAST_NEW = 2_000
MOST_CATEGORIES = 100  # no readable rule chooses among more
MOST_OUTPUTS = 10  # classes that trees are grown for, the most frequent ones
N_QUANTILES = 32


def ask_model(model, X, y=None, *, rng, task=None, why="", max_calls=None, verbose=0):
    """A forest that answers as the model does.

    Parameters
    ----------
    model : object with `predict`, or function
    X : array or data frame
        Rows to ask about; trees are grown on them, and on new ones near them.
    y : array, optional
        Labels, in which the classes of a model that names none are looked up.
    rng : numpy.random.Generator
    task : {"classification", "regression"}, optional
        By default as the model says.
    why : str
        Why it cannot be read.
    max_calls : int, optional
        Most rows to ask about.
    verbose : int, default=0

    Returns
    -------
    AskedForest
    """
    names = getattr(model, "feature_names_in_", None)
    given = column_names(X) or ()
    X = X if names is None else select_columns(X, [str(name) for name in names])
    others = tuple(name for name in given if name not in (column_names(X) or ()))
    task = model_task(model, X) if task is None else task
    questions = Questions(model, max_calls, verbose)
    form = TableForm(X)
    matrix = form.matrix(X)
    columns = form.names or tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    check_finite(matrix, columns)
    categories = form.categories or (None,) * len(columns)
    old = _old_rows(len(matrix), max_calls, rng)
    table, matrix = take_rows(X, old), matrix[old]
    voice, said = find_voice(questions, task, table, y)
    asked = Model(questions, voice, form)
    rest = take_rows(table, np.arange(len(said), len(matrix)))
    asked.learn(matrix, np.vstack([said, questions.ask(voice, rest)]))
    n_new = _n_new_rows(len(matrix), questions)
    if n_new:
        is_set = np.array([labels is not None for labels in categories])
        new = draw_rows(matrix, n_new, is_set, rng)
        asked.learn(new, asked.ask(new))
        matrix = np.vstack([matrix, new])
    trees = _grown(matrix, asked.said, categories, int(rng.integers(2**31)))
    return AskedForest(
        trees,
        columns,
        task,
        voice.classes,
        base=np.zeros(voice.n_outputs),
        link=AskedLink(voice.classes is not None),
        categories=categories,
        other_names=others,
        model=asked,
        data_splits=_data_splits(matrix[: len(old)], categories),
        said_origin=_origin(questions.name, why, len(old), n_new),
    )


def _old_rows(n_rows, max_calls, rng):
    """The rows to ask about first: all, or as many as trees are grown on."""
    most = GROWN_ROWS if max_calls is None else min(GROWN_ROWS, max_calls)
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=most, replace=False))


def _n_new_rows(n_rows, questions):
    wanted = max(LEAST_NEW, int(NEW_SHARE * n_rows))
    wanted = min(wanted, max(GROWN_ROWS - n_rows, 0))
    if questions.limit is not None:
        wanted = min(wanted, questions.limit - questions.n_rows)
    return max(wanted, 0)


def _grown(matrix, said, categories, seed):
    """Trees on what the model says: one boosted ensemble for each output."""
    n_outputs = said.shape[1]
    if n_outputs == 1:
        outputs = [0]
    else:
        # Of two classes one says it all.
        frequent = np.argsort(-said[:, :-1].sum(axis=0), kind="stable")
        outputs = [1] if n_outputs == 3 else frequent[:MOST_OUTPUTS].tolist()
    sizes = [0 if labels is None else len(labels) for labels in categories]
    usable = [j for j, size in enumerate(sizes) if size <= MOST_CATEGORIES]
    is_set = np.array([sizes[j] > 0 for j in usable], dtype=bool)
    trees = []
    for output in outputs:
        if not usable or not np.ptp(said[:, output]):
            continue
        grown = HistGradientBoostingRegressor(
            max_iter=50,
            learning_rate=0.2,
            max_leaf_nodes=16,
            min_samples_leaf=max(5, len(matrix) // 200),
            categorical_features=is_set if is_set.any() else None,
            early_stopping=False,
            random_state=seed,
        )
        with warnings.catch_warnings():
            # A column without any value is no reason to warn of; nobody splits on it.
            warnings.simplefilter("ignore", UserWarning)
            grown.fit(matrix[:, usable], said[:, output])
        forest = read_forest(grown)
        trees += [
            _placed(tree, usable, forest.categories, sizes, output, n_outputs)
            for tree in forest.trees
        ]
    return tuple(trees)


def _placed(tree, usable, positions, sizes, output, n_outputs):
    """A grown tree on all features, with all outputs and all categories."""
    feature = np.where(tree.feature < 0, -1, np.array(usable)[tree.feature])
    width = max(sizes, default=0) + 1
    sets = np.zeros((tree.n_nodes, width if any(sizes) else 0), dtype=bool)
    for node in np.flatnonzero(tree.feature >= 0):
        known = positions[tree.feature[node]]
        if known is None:
            continue
        # The trees know categories by the positions that rows had; others go with
        # those that nobody saw.
        inside = tree.categories[node]
        size = sizes[feature[node]]
        sets[node, : size + 1] = inside[len(known)]
        sets[node, np.array(known, dtype=int)] = inside[: len(known)]
    value = np.zeros((tree.n_nodes, n_outputs))
    value[:, output] = tree.value[:, 0]
    return Tree(
        feature=feature,
        threshold=tree.threshold,
        left=tree.left,
        right=tree.right,
        missing_left=tree.missing_left,
        value=value,
        cover=tree.cover,
        categories=sets,
    )


def _data_splits(matrix, categories):
    """For each feature thresholds between its quantiles."""
    splits = []
    shares = np.linspace(0, 1, N_QUANTILES + 1)[1:-1]
    for column, labels in zip(matrix.T, categories, strict=True):
        present = np.unique(column[~np.isnan(column)])
        if labels is not None or len(present) < 2:
            splits.append(np.empty(0))
            continue
        levels = np.quantile(column[~np.isnan(column)], shares, method="lower")
        places = np.searchsorted(present, np.unique(levels))
        places = places[places < len(present) - 1]
        splits.append((present[places] + present[places + 1]) / 2)
    return tuple(splits)


def _origin(name, why, n_old, n_new):
    """How the splits were found."""
    near = f" and {render.plural(n_new, 'new row')} near them" if n_new else ""
    reason = f" {why}" if why else ""
    return (
        f"{name} was asked, not read.{reason} The splits are those of the data and of "
        f"trees grown on its answers to {render.plural(n_old, 'row')}{near}. The rules "
        "imitate its answers; where it splits itself is not known."
    )
