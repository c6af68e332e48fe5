"""Black boxes: models that cannot be read, and are queried for predictions.

To the rest of the package a black box is a Forest, with splits and predictions. Its
splits come from the data and from trees grown on the predictions of the model; its
predictions are those of the model.
"""

import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import Progress
from defragtrees.data.sampling import draw_rows, hash_rows, name_order, ranks
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import read_forest
from defragtrees.outcomes import make_outcome
from defragtrees.tables import (
    TableForm,
    check_finite,
    column_names,
    select_columns,
    take_rows,
)

BATCH_ROWS = 10_000
PROBE_ROWS = 20  # queried to find out what a model predicts
COMPARED_ROWS = 1_000  # to compare the most likely class with the prediction
MOST_NUMBERED_CLASSES = 20
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
    X = _seen_columns(model, X)
    others = tuple(name for name in given if name not in (column_names(X) or ()))
    task = model_task(model, X) if task is None else task
    questions = Questions(model, max_calls, verbose)
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
    query, outputs = find_query(questions, task, table, y)
    asked = Model(questions, query, form)
    rest = take_rows(table, np.arange(len(outputs), len(matrix)))
    asked.learn(matrix, np.vstack([outputs, questions.ask(query, rest)]))
    n_new = _n_new_rows(len(matrix), questions, n_reserved)
    if n_new:
        is_set = np.array([labels is not None for labels in categories])
        new = draw_rows(matrix, n_new, is_set, rng, order)
        asked.learn(new, asked.ask(new))
        matrix = np.vstack([matrix, new])
    seed = int(rng.integers(2**31))
    near = f" and {render.plural(n_new, 'synthetic row')}" if n_new else ""
    origin = (
        f"{questions.name} was queried as a black box.{f' {why}' if why else ''} "
        "Thresholds come from the data and from trees grown on its predictions for "
        f"{render.plural(len(old), 'row')}{near}, not from the model itself."
    )
    return AskedForest(
        _grown(matrix, asked.outputs, query, categories, order, seed),
        columns,
        task,
        query.classes,
        base=np.zeros(query.n_outputs),
        link=query.link,
        categories=categories,
        other_names=others,
        model=asked,
        data_splits=_data_splits(matrix[: len(old)], categories),
        origin_text=origin,
        asked_rows=matrix[len(old) :],
    )


def rows_by_content(model, X, y=None, sample_weight=None):
    """Indices of the rows of X, sorted by their contents."""
    X = _seen_columns(model, X)
    form = TableForm(X)
    matrix = form.matrix(X)
    names = form.names or tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    others = [ranks(values) for values in (y, sample_weight) if values is not None]
    key = hash_rows([*(matrix[:, j] for j in name_order(names)), *others])
    return np.argsort(key, kind="stable")


def _seen_columns(model, X):
    """X with the columns that the model was trained on, if it has names."""
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else select_columns(X, [str(name) for name in names])


def _n_new_rows(n_rows, questions, n_reserved):
    wanted = max(LEAST_NEW, int(NEW_SHARE * n_rows))
    wanted = min(wanted, max(GROWN_ROWS - n_rows, 0))
    if questions.limit is not None:
        wanted = min(wanted, questions.limit - n_reserved - questions.n_rows)
    return max(wanted, 0)


def can_be_queried(model):
    """Whether a model has `predict` or is a function."""
    return not isinstance(model, type) and (
        callable(getattr(model, "predict", None)) or callable(model)
    )


def model_task(model, X):
    """What a model predicts, "classification" or "regression"; may query a few rows."""
    if isinstance(model, BaseEstimator):
        if is_classifier(model) or is_outlier_detector(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    # The list of classes of CatBoost's regressors is empty.
    if hasattr(model, "predict_proba") or len(getattr(model, "classes_", ())):
        return "classification"
    head = take_rows(X, np.arange(min(len(X), PROBE_ROWS)))
    answers = np.asarray(Questions(model).call(_function(model), head))
    is_class = answers.ndim == 2 and answers.shape[1] > 1
    is_class |= answers.dtype.kind in "OUSb"
    if answers.dtype.kind in "iu":
        is_class |= len(np.unique(answers)) <= MOST_NUMBERED_CLASSES
    return "classification" if is_class else "regression"


def _function(model):
    return model.predict if hasattr(model, "predict") else model


class Model:
    """A model of encoded rows, with a cache of its outputs."""

    def __init__(self, questions, query, form):
        self.questions = questions
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
        outputs = np.empty((len(matrix), self.query.n_outputs))
        is_old = places >= 0
        outputs[is_old] = self.outputs[places[is_old]]
        if not is_old.all():
            table = self.form.table(matrix[~is_old])
            outputs[~is_old] = self.questions.ask(self.query, table)
        return outputs


@dataclass(frozen=True, eq=False)
class AskedForest(Forest):
    """A Forest with the splits of its trees and the predictions of a model."""

    model: Any = None
    data_splits: tuple[np.ndarray, ...] = ()  # per feature; may be empty
    origin_text: str = ""  # how the splits were found, as text
    asked_rows: np.ndarray | None = None  # synthetic rows near the data

    @property
    def origin(self):
        """How the splits were found."""
        return self.origin_text

    @property
    def new_rows(self):
        """Synthetic rows for which the model was queried."""
        return self.asked_rows

    @property
    def predicts_by_trees(self):
        """False: the model predicts."""
        return False

    def splits(self):
        """Those of the trees, and those of the data."""
        return [
            np.union1d(grown, more) if labels is None else grown
            for grown, more, labels in zip(
                super().splits(), self.data_splits, self.categories, strict=True
            )
        ]

    def predict_raw_encoded(self, matrix):
        """The outputs of the model."""
        return self.model.ask(matrix)


class Questions:
    """Query a model, count the rows up to a limit, and check the predictions."""

    def __init__(self, model, limit=None, verbose=0):
        self.model = model
        self.limit = limit
        self.verbose = verbose
        self.n_rows = 0
        self.lock = threading.Lock()

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "lock"}

    def __setstate__(self, state):
        self.__dict__.update(state, lock=threading.Lock())

    @property
    def name(self):
        """The name of the model in messages."""
        name = getattr(self.model, "__name__", None)
        return name or type(self.model).__name__

    def ask(self, query, table):
        """The outputs of a query for each row of a table, batch by batch."""
        n_rows = len(table)
        table = self._as_seen(table)
        with self.lock, Progress(f"querying {self.name}", n_rows) as progress:
            if self.limit is not None and self.n_rows + n_rows > self.limit:
                raise ValueError(
                    f"max_calls must be at least {self.n_rows + n_rows} to query "
                    f"{self.name} for these rows; got {self.limit}. Allow more calls, "
                    "or pass fewer rows."
                )
            parts = []
            for start in range(0, n_rows, BATCH_ROWS):
                rows = np.arange(start, min(start + BATCH_ROWS, n_rows))
                parts.append(query(self, take_rows(table, rows)))
                self.n_rows += len(rows)
                if self.verbose:
                    progress.advance(len(rows))
        return np.concatenate(parts) if parts else np.empty((0, query.n_outputs))

    def _as_seen(self, table):
        """The table in the form of the model's training data."""
        names = getattr(self.model, "feature_names_in_", None)
        if names is not None:
            return select_columns(table, [str(name) for name in names])
        is_unnamed = isinstance(self.model, BaseEstimator) and hasattr(
            self.model, "n_features_in_"
        )
        if is_unnamed and column_names(table) is not None:
            return table.to_numpy()
        return table

    def call(self, function, table):
        """Call a function of the model; errors are raised as one message."""
        try:
            return function(table)
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name} must predict rows such as those of X; the call failed "
                f"with {type(error).__name__}: {error}. Pass X as the model needs it."
            ) from error

    def column(self, function, table):
        """One prediction per row, as an array."""
        answers = np.asarray(self.call(function, table))
        if answers.ndim == 2 and answers.shape[1] == 1:
            answers = answers[:, 0]
        if answers.ndim != 1 or len(answers) != len(table):
            raise ValueError(
                f"{self.name} must return one prediction for each of the {len(table)} "
                f"rows; it returns the shape {answers.shape}. Simplify a model with "
                "several targets one target at a time."
            )
        return answers


class NumberQuery:
    """Query of a model that predicts numbers."""

    classes = None
    link = "identity"
    n_outputs = 1

    def __init__(self, model):
        self.function = _function(model)

    def __call__(self, questions, table):
        answers = questions.column(self.function, table)
        try:
            numbers = answers.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{questions.name} must predict numbers; it predicts {answers[0]!r}. "
                "Use DefragClassifier for classes."
            ) from None
        _check_finite(numbers, questions.name)
        return numbers[:, None]

    def grown_outputs(self, outputs):
        """The columns that trees are grown for."""
        return [0]


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


class ClassQuery:
    """Query of a model that predicts classes.

    Outputs are the probability of each class and, last, the index of the predicted one.
    Without `predict` this is the most likely class; without `predict_proba` it has
    probability 1.
    """

    link = ClassLink()

    def __init__(self, classes, predict=None, predict_proba=None):
        self.classes = tuple(classes)
        self.predict = predict
        self.predict_proba = predict_proba
        self.n_outputs = len(self.classes) + 1

    def __call__(self, questions, table):
        if self.predict_proba is None:
            places = self._places(questions, table)
            return np.column_stack([np.eye(len(self.classes))[places], places])
        shares = self._shares(questions, table)
        if self.predict is None:
            return np.column_stack([shares, shares.argmax(axis=1)])
        return np.column_stack([shares, self._places(questions, table)])

    def _shares(self, questions, table):
        given = questions.call(self.predict_proba, table)
        if isinstance(given, list):
            raise ValueError(
                f"{questions.name} must predict one target; it returns probabilities "
                f"of {len(given)}. Simplify the model of one target at a time."
            )
        shares = np.asarray(given, dtype=np.float64)
        if shares.shape != (len(table), len(self.classes)):
            raise ValueError(
                f"{questions.name} must return a probability for each of "
                f"{len(self.classes)} classes and {len(table)} rows; it returns the "
                f"shape {shares.shape}. Pass y with the model's classes."
            )
        _check_finite(shares, questions.name)
        return shares

    def _places(self, questions, table):
        place = {label: j for j, label in enumerate(self.classes)}
        labels = questions.column(self.predict, table).tolist()
        unknown = next((label for label in labels if label not in place), None)
        if unknown is not None:
            raise ValueError(
                f"{questions.name} must predict one of {list(self.classes)[:5]!r}, as "
                f"for the training rows; it predicts {unknown!r}. Fit on rows with all "
                "its classes."
            )
        return np.array([place[label] for label in labels], dtype=np.intp)

    def grown_outputs(self, outputs):
        """The columns that trees are grown for; one is enough for two classes."""
        if len(self.classes) == 2:
            return [1]
        frequent = np.argsort(-outputs[:, :-1].sum(axis=0), kind="stable")
        return frequent[:MOST_OUTPUTS].tolist()


def _check_finite(numbers, name):
    wrong = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"{name} must predict finite numbers; it predicts NaN or infinity for "
            f"{wrong.sum()} of {len(numbers)} rows, the first of them row "
            f"{wrong.argmax() + 1}. Impute missing values, or drop these rows."
        )


def find_query(questions, task, X, y=None):
    """Find out how to query a model; returns the query and its first outputs.

    `X` has rows on which `predict` and `predict_proba` are compared; the labels of `y`
    are the classes of a model without a list of classes.
    """
    model = questions.model
    if make_outcome(task).labels is None:
        return NumberQuery(model), np.empty((0, 1))
    if hasattr(model, "predict_proba"):
        classes = getattr(model, "classes_", None)
        classes = np.unique(y) if classes is None and y is not None else classes
        if classes is None:
            raise ValueError(
                f"{questions.name} must have classes_; it has none. Pass y, whose "
                "sorted labels are then its classes."
            )
        classes = np.asarray(classes).tolist()
        return _query_of_probabilities(questions, classes, X)
    return _query_of_predictions(questions, X, y)


def _query_of_probabilities(questions, classes, X):
    """A query of probabilities, and of predictions if these are not the most likely."""
    model = questions.model
    query = ClassQuery(classes, None, model.predict_proba)
    if not hasattr(model, "predict"):
        return query, np.empty((0, query.n_outputs))
    head = take_rows(X, np.arange(min(len(X), COMPARED_ROWS)))
    both = ClassQuery(classes, model.predict, model.predict_proba)
    outputs = questions.ask(both, head)
    is_likeliest = outputs[:, :-1].argmax(axis=1) == outputs[:, -1]
    has_threshold = hasattr(model, "best_threshold_") or hasattr(model, "threshold")
    return (both if has_threshold or not is_likeliest.all() else query), outputs


def _query_of_predictions(questions, X, y):
    """The query of a model, or a function, without `predict_proba`."""
    model, function = questions.model, _function(questions.model)
    known = list(np.asarray(getattr(model, "classes_", ())).tolist())
    if isinstance(model, BaseEstimator) and is_outlier_detector(model):
        known = [-1, 1]
    if known:
        return ClassQuery(known, function), np.empty((0, len(known) + 1))
    answers = questions.ask(_AsTheyAre(function), X)
    if answers.ndim == 2 and answers.shape[1] > 1:
        labels = range(answers.shape[1]) if y is None else np.unique(y).tolist()
        query = ClassQuery(labels, None, function)
    else:
        query = ClassQuery(sorted(set(np.ravel(answers).tolist())), function)
    return query, query(_KnownPredictions(questions.name, answers), X)


class _AsTheyAre:
    """A query for predictions of any form."""

    n_outputs = 1

    def __init__(self, function):
        self.function = function

    def __call__(self, questions, table):
        return np.asarray(questions.call(self.function, table))


class _KnownPredictions(Questions):
    """Questions with known predictions."""

    def __init__(self, name, answers):
        super().__init__(None)
        self.answers = answers
        self.said_by = name

    @property
    def name(self):
        return self.said_by

    def call(self, function, table):
        return self.answers


def _grown(matrix, outputs, query, categories, order, seed):
    """Grow trees on the outputs of the model: one boosted ensemble per output."""
    sizes = [0 if labels is None else len(labels) for labels in categories]
    usable = [j for j in order if sizes[j] <= MOST_CATEGORIES]
    is_set = np.array([sizes[j] > 0 for j in usable], dtype=bool)
    trees = []
    for output in query.grown_outputs(outputs):
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
            _placed(tree, usable, forest.categories, sizes, output, query.n_outputs)
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
