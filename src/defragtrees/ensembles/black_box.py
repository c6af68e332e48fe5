"""Black boxes: models that cannot be read, and are queried for predictions.

To the rest of the package a black box is a Forest, with splits and predictions. Its
splits come from the data and from trees grown on the predictions of the model; its
predictions are those of the model.
"""

import dataclasses
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees._utils import formatting as render
from defragtrees.data.sampling import draw_rows, hash_rows, name_order, ranks
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.predictions import Query, Recorded, model_task, seen_columns
from defragtrees.ensembles.readers import read_forest
from defragtrees.tables import TableForm, check_finite, column_names, take_rows

GROWN_ROWS = 20_000  # maximum number of rows, given and synthetic, to grow trees
NEW_SHARE = 2.0  # synthetic rows per row given
LEAST_NEW = 2_000
MOST_CATEGORIES = 100  # rules on more would be unreadable
MOST_OUTPUTS = 10  # maximum number of classes, by frequency, to grow trees for
N_QUANTILES = 32


def ask_model(
    model,
    X,
    y=None,
    *,
    rng,
    task=None,
    why="",
    max_calls=None,
    n_reserved=0,
    verbose=0,
):
    """Make a forest of a black box; `why` is the reason why it cannot be read.

    Its trees are grown on the rows of X and synthetic rows near them, at most
    `max_calls`, of which `n_reserved` are kept for other rows. If the model has no
    list of classes, they are taken from y.
    """
    given = column_names(X) or ()
    X = seen_columns(model, X)
    others = tuple(name for name in given if name not in (column_names(X) or ()))
    task = model_task(model, X) if task is None else task
    query = Query(model, task, max_calls, verbose)
    form = TableForm(X)
    matrix = form.matrix(X)
    columns = form.names or tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    order = name_order(columns)
    check_finite(matrix, columns)
    categories = form.categories or (None,) * len(columns)
    most = GROWN_ROWS
    if max_calls is not None:
        most = min(most, max_calls - n_reserved)
    old = np.arange(len(matrix))
    if len(old) > most:
        old = np.sort(rng.choice(len(old), size=most, replace=False))
    table, matrix = take_rows(X, old), matrix[old]
    outputs = query.prepare(table, y)
    asked = Model(query, form)
    rest = take_rows(table, np.arange(len(outputs), len(matrix)))
    asked.learn(matrix, np.vstack([outputs, query.outputs(*query.ask(rest))]))
    is_recorded = isinstance(model, Recorded)
    n_new = max(LEAST_NEW, int(NEW_SHARE * len(matrix)))
    n_new = 0 if is_recorded else min(n_new, GROWN_ROWS - len(matrix))
    if max_calls is not None:
        n_new = min(n_new, max_calls - n_reserved - query.n_rows)
    n_new = max(n_new, 0)
    if n_new:
        is_set = np.array([labels is not None for labels in categories])
        new = draw_rows(matrix, n_new, is_set, rng, order)
        asked.learn(new, asked.ask(new))
        matrix = np.vstack([matrix, new])
    seed = int(rng.integers(2**31))
    near = f" and {render.plural(n_new, 'synthetic row')}" if n_new else ""
    opened = f"{query.name} was queried as a black box.{f' {why}' if why else ''}"
    if is_recorded:
        opened = "The model was not passed, only its predictions for these rows."
    origin = (
        f"{opened} Thresholds come from the data and from trees grown on its "
        f"predictions for {render.plural(len(old), 'row')}{near}, not from the model "
        "itself."
    )
    return AskedForest(
        _grown(matrix, asked.outputs, query, categories, order, seed),
        columns,
        task,
        query.classes,
        base=np.zeros(asked.outputs.shape[1]),
        link="identity" if query.classes is None else ClassLink(),
        categories=categories,
        other_names=others,
        model=asked,
        data_splits=_data_splits(matrix[: len(old)], categories),
        origin=origin,
        new_rows=matrix[len(old) :],
    )


def rows_by_content(model, X, y=None, sample_weight=None):
    """Indices of the rows of X, sorted by their contents."""
    X = seen_columns(model, X)
    form = TableForm(X)
    matrix = form.matrix(X)
    names = form.names or tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    others = [ranks(values) for values in (y, sample_weight) if values is not None]
    key = hash_rows([*(matrix[:, j] for j in name_order(names)), *others])
    return np.argsort(key, kind="stable")


class Model:
    """A model of encoded rows, with a cache of its outputs."""

    def __init__(self, query, form):
        self.query = query
        self.form = form
        self.places = {}
        self.outputs = np.empty((0, query.n_outputs))

    def learn(self, matrix, outputs):
        """Store the outputs for these rows."""
        start = len(self.outputs)
        self.outputs = np.vstack([self.outputs, outputs])
        for i, row in enumerate(matrix):
            self.places.setdefault(row.tobytes(), start + i)

    def ask(self, matrix):
        """The outputs for each row of an encoded matrix."""
        matrix = np.ascontiguousarray(matrix)
        places = np.array([self.places.get(row.tobytes(), -1) for row in matrix], int)
        outputs = np.empty((len(matrix), self.outputs.shape[1]))
        is_old = places >= 0
        outputs[is_old] = self.outputs[places[is_old]]
        if not is_old.all():
            table = self.form.table(matrix[~is_old])
            outputs[~is_old] = self.query.outputs(*self.query.ask(table))
        return outputs


@dataclass(frozen=True, eq=False)
class AskedForest(Forest):
    """A Forest with the splits of its trees and the predictions of a model."""

    model: Any = None
    data_splits: tuple[np.ndarray, ...] = ()  # per feature; may be empty
    origin: str = ""  # how the splits were found, as text
    new_rows: Any = None  # synthetic rows near the data

    predicts_by_trees = False

    def splits(self):
        """Splits of the trees, and thresholds between values of the data."""
        return [
            np.union1d(grown, more) if labels is None else grown
            for grown, more, labels in zip(
                super().splits(), self.data_splits, self.categories, strict=True
            )
        ]

    def predict_raw_encoded(self, matrix):
        """The outputs of the model."""
        return self.model.ask(matrix)


class ClassLink:
    """Link from the outputs of a class query to probabilities and class indices."""

    def __call__(self, raw):
        return raw[:, :-1]

    def class_index(self, raw):
        """Class indices."""
        return raw[:, -1].astype(np.intp)

    def __eq__(self, other):
        return type(other) is ClassLink

    __hash__ = None  # type: ignore[assignment]


def _grown(matrix, outputs, query, categories, order, seed):
    """Grow trees on the outputs of the model: one boosted model per output."""
    sizes = [0 if labels is None else len(labels) for labels in categories]
    usable = [j for j in order if sizes[j] <= MOST_CATEGORIES]
    is_set = np.array([sizes[j] > 0 for j in usable], dtype=bool)
    trees = []
    places = [0]
    if query.classes is not None:  # one output is enough for two classes
        frequent = np.argsort(-outputs[:, :-1].sum(axis=0), kind="stable")
        places = [1] if len(frequent) == 2 else frequent[:MOST_OUTPUTS].tolist()
    for output in places:
        if not usable or not np.ptp(outputs[:, output]):
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
            # No tree splits on a column without values, so no warning is needed.
            warnings.simplefilter("ignore", UserWarning)
            grown.fit(matrix[:, usable], outputs[:, output])
        forest = read_forest(grown)
        trees += [
            _placed(tree, usable, forest.categories, sizes, output, outputs.shape[1])
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
        # Trees know only the categories of their rows; others are as unknown ones.
        inside = tree.categories[node]
        sets[node, : sizes[feature[node]] + 1] = inside[len(known)]
        sets[node, np.array(known, dtype=int)] = inside[: len(known)]
    value = np.zeros((tree.n_nodes, n_outputs))
    value[:, output] = tree.value[:, 0]
    return dataclasses.replace(tree, feature=feature, value=value, categories=sets)


def _data_splits(matrix, categories):
    """Thresholds between the quantiles of each feature."""
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
