"""Models that cannot be read: asked for answers, which the rules imitate.

A black box is a Forest like any other to those who use it: it has splits, and it
answers rows. Its splits are those of the data and of trees grown on the answers; its
answers are the model's own.
"""

import threading
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees._utils.progress import Progress
from defragtrees.data.new_rows import draw_rows
from defragtrees.data.tables import (
    category_lists,
    check_finite,
    column_kinds,
    column_names,
    dates_as_days,
    read_matrix,
    select_columns,
    take_rows,
)
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import read_forest

__all__ = [
    "AskedForest",
    "AskedLink",
    "Model",
    "Questions",
    "TableForm",
    "ask_model",
    "can_be_asked",
    "find_voice",
    "model_task",
]

BATCH_ROWS = 10_000
PROBE_ROWS = 20  # shown to a model of which nobody knows what it answers
COMPARED_ROWS = 1_000  # on which the likeliest class is compared with the answer
MOST_NUMBERED_CLASSES = 20


def can_be_asked(model):
    """Whether a model predicts, or is a function."""
    return not isinstance(model, type) and (
        callable(getattr(model, "predict", None)) or callable(model)
    )


def model_task(model, X):
    """What a model predicts: "classification" or "regression".

    Parameters
    ----------
    model : object with `predict`, or function
    X : array or data frame
        A few rows of it may be shown to the model.
    """
    if isinstance(model, BaseEstimator):
        if is_classifier(model) or is_outlier_detector(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    if hasattr(model, "predict_proba") or hasattr(model, "classes_"):
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


class Questions:
    """Counts the rows that a model is asked about, and checks what it answers.

    Parameters
    ----------
    model : object with `predict`, or function
    limit : int, optional
        Most rows to ask about.
    verbose : int, default=0
        1 shows a progress bar.
    """

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
        """What the model is called in sentences."""
        name = getattr(self.model, "__name__", None)
        return name or type(self.model).__name__

    def ask(self, voice, table):
        """What a voice says of each row of a table, batch by batch."""
        n_rows = len(table)
        table = self._as_seen(table)
        with self.lock, Progress(f"asking {self.name}", n_rows) as progress:
            if self.limit is not None and self.n_rows + n_rows > self.limit:
                raise ValueError(
                    f"max_calls must be at least {self.n_rows + n_rows} to ask "
                    f"{self.name} about so many rows; got {self.limit}. Allow more, or "
                    "pass fewer rows."
                )
            parts = []
            for start in range(0, n_rows, BATCH_ROWS):
                rows = np.arange(start, min(start + BATCH_ROWS, n_rows))
                parts.append(voice(self, take_rows(table, rows)))
                self.n_rows += len(rows)
                if self.verbose:
                    progress.advance(len(rows))
        return np.concatenate(parts) if parts else np.empty((0, voice.n_outputs))

    def _as_seen(self, table):
        """The table as the model saw it: its columns, or a table without names."""
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
        """What a function of the model says; a failure is told in one sentence."""
        try:
            return function(table)
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name} must answer rows such as those of X; the call failed "
                f"with {type(error).__name__}: {error}. Pass X as the model takes it."
            ) from error

    def column(self, function, table):
        """One answer a row, as an array."""
        answers = np.asarray(self.call(function, table))
        if answers.ndim == 2 and answers.shape[1] == 1:
            answers = answers[:, 0]
        if answers.ndim != 1 or len(answers) != len(table):
            raise ValueError(
                f"{self.name} must give one answer for each of the {len(table)} rows; "
                f"it gives the shape {answers.shape}. A model of several targets has "
                "to be simplified one target at a time."
            )
        return answers


class Numbers:
    """A model that answers numbers."""

    classes = None
    n_outputs = 1

    def __init__(self, model):
        self.function = _function(model)

    def __call__(self, questions, table):
        answers = questions.column(self.function, table)
        try:
            numbers = answers.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{questions.name} must answer numbers; it answers {answers[0]!r}. Use "
                "DefragClassifier for classes."
            ) from None
        _check_finite(numbers, questions.name)
        return numbers[:, None]


class Labels:
    """A model that answers classes and says nothing of how likely they are."""

    def __init__(self, function, classes):
        self.function = function
        self.classes = tuple(classes)
        self.n_outputs = len(self.classes) + 1

    def __call__(self, questions, table):
        places = _places(questions.column(self.function, table), self, questions.name)
        return np.column_stack([np.eye(len(self.classes))[places], places])


class Probabilities:
    """A model that says how likely classes are.

    Parameters
    ----------
    function : callable
        From a table to probabilities, (n_samples, n_classes).
    classes : tuple
    answer : callable, optional
        From a table to classes; by default the likeliest is the answer.
    """

    def __init__(self, function, classes, answer=None):
        self.function = function
        self.classes = tuple(classes)
        self.answer = answer
        self.n_outputs = len(self.classes) + 1

    def __call__(self, questions, table):
        given = questions.call(self.function, table)
        if isinstance(given, list):
            raise ValueError(
                f"{questions.name} must answer one target; it gives probabilities of "
                f"{len(given)}. Simplify the model of one target at a time."
            )
        shares = np.asarray(given, dtype=np.float64)
        if shares.shape != (len(table), len(self.classes)):
            raise ValueError(
                f"{questions.name} must give a probability for each of "
                f"{len(self.classes)} classes and {len(table)} rows; it gives the "
                f"shape {shares.shape}. Give y the classes in the model's order."
            )
        _check_finite(shares, questions.name)
        places = shares.argmax(axis=1)
        if self.answer is not None:
            labels = questions.column(self.answer, table)
            places = _places(labels, self, questions.name)
        return np.column_stack([shares, places])


def _check_finite(numbers, name):
    wrong = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"{name} must answer finite numbers; it answers NaN or infinity for "
            f"{wrong.sum()} of {len(numbers)} rows, first for number "
            f"{wrong.argmax() + 1} of them. Fill the gaps of such rows, or leave them "
            "out."
        )


def _places(labels, voice, name):
    place = {label: j for j, label in enumerate(voice.classes)}
    labels = labels.tolist()
    unknown = next((label for label in labels if label not in place), None)
    if unknown is not None:
        raise ValueError(
            f"{name} must answer one of {list(voice.classes)[:5]!r}, as it did for the "
            f"training rows; it answers {unknown!r}. Fit on rows with all its answers."
        )
    return np.array([place[label] for label in labels], dtype=np.intp)


def find_voice(questions, task, X, y=None):
    """How a model is asked, and what it says of the first rows.

    Parameters
    ----------
    questions : Questions
    task : {"classification", "regression"}
    X : array or data frame
        Rows to compare the ways by which a model may answer.
    y : array, optional
        Its labels are classes too.

    Returns
    -------
    voice : callable
    said : float64 array of shape (n_asked, n_outputs)
    """
    model = questions.model
    if task == "regression":
        return Numbers(model), np.empty((0, 1))
    if hasattr(model, "predict_proba"):
        classes = getattr(model, "classes_", None)
        classes = np.unique(y) if classes is None and y is not None else classes
        if classes is None:
            raise ValueError(
                f"{questions.name} must name its classes; it has no classes_. Pass y, "
                "whose labels in sorted order are its classes."
            )
        voice = Probabilities(model.predict_proba, np.asarray(classes).tolist())
        return _with_answers(questions, voice, X)
    return _voice_of_answers(questions, X, y)


def _with_answers(questions, voice, X):
    """The voice, which asks for answers too if they are not the likeliest classes."""
    model = questions.model
    if not hasattr(model, "predict"):
        return voice, np.empty((0, voice.n_outputs))
    head = take_rows(X, np.arange(min(len(X), COMPARED_ROWS)))
    both = Probabilities(voice.function, voice.classes, model.predict)
    said = questions.ask(both, head)
    is_likeliest = said[:, :-1].argmax(axis=1) == said[:, -1]
    has_threshold = hasattr(model, "best_threshold_") or hasattr(model, "threshold")
    return (both if has_threshold or not is_likeliest.all() else voice), said


def _voice_of_answers(questions, X, y):
    """The voice of a model, or a function, without `predict_proba`."""
    model, function = questions.model, _function(questions.model)
    known = list(np.asarray(getattr(model, "classes_", ())).tolist())
    if isinstance(model, BaseEstimator) and is_outlier_detector(model):
        known = [-1, 1]
    if known:
        return Labels(function, known), np.empty((0, len(known) + 1))
    answers = questions.ask(_AsTheyAre(function), X)
    if answers.ndim == 2 and answers.shape[1] > 1:
        labels = range(answers.shape[1]) if y is None else np.unique(y).tolist()
        voice = Probabilities(function, labels)
        return voice, voice(_Answered(questions.name, answers), X)
    voice = Labels(function, sorted(set(np.ravel(answers).tolist())))
    return voice, voice(_Answered(questions.name, answers), X)


class _AsTheyAre:
    """Asks for answers of which nobody knows the form."""

    n_outputs = 1

    def __init__(self, function):
        self.function = function

    def __call__(self, questions, table):
        return np.asarray(questions.call(self.function, table))


class _Answered(Questions):
    """Questions that were answered already."""

    def __init__(self, name, answers):
        super().__init__(None)
        self.answers = answers
        self.said_by = name

    @property
    def name(self):
        return self.said_by

    def call(self, function, table):
        return self.answers


OTHER = "other"  # what stands for a category that is not in the list
MICROSECONDS = 86_400_000_000  # of a day


class TableForm:
    """How a user's table is made: its library, names, types and categories.

    Parameters
    ----------
    X : array or data frame

    Examples
    --------
    >>> form = TableForm(np.array([[1, 2], [3, 4]]))
    >>> form.table(form.matrix(np.array([[5, 6]]))).tolist()
    [[5, 6]]
    """

    def __init__(self, X):
        self.names = column_names(X)
        self.kinds = column_kinds(X)
        if self.names is None:
            X = np.asarray(X)
            self.library, self.dtypes = "numpy", X.dtype
            self.categories = _array_categories(X)
        else:
            self.library = "pandas" if hasattr(X, "iloc") else "polars"
            self.dtypes = list(X.dtypes)
            self.columns = list(X.columns)
            self.categories = category_lists(dates_as_days(X, self.kinds))

    def matrix(self, X):
        """A table of this form as numbers."""
        return read_matrix(X, self.names, self.categories, "the model", self.kinds)

    def table(self, matrix):
        """A matrix of numbers as a table of this form."""
        columns = [self._values(j, matrix[:, j]) for j in range(matrix.shape[1])]
        if self.library == "numpy":
            if self.dtypes.kind != "O":
                return np.column_stack(columns).astype(self.dtypes, copy=False)
            table = np.empty(matrix.shape, dtype=object)
            for j, column in enumerate(columns):
                table[:, j] = column
            return table
        if self.library == "polars":
            return self._polars(columns)
        pandas = require("pandas", "A data frame")
        frame = pandas.DataFrame(dict(enumerate(columns)))
        for j, dtype in enumerate(self.dtypes):
            frame.isetitem(j, _as_type(frame.iloc[:, j], dtype, pandas))
        frame.columns = self.columns
        return frame

    def _values(self, j, numbers):
        """A column as numbers, labels or moments."""
        labels = self.categories[j] if self.categories else None
        if labels is not None:
            known = np.array([*labels, OTHER, None], dtype=object)
            return known[np.nan_to_num(numbers, nan=len(labels) + 1).astype(int)]
        kind = self.kinds[j] if self.kinds else None
        if kind in ("date", "datetime", "duration"):
            code = "m8[us]" if kind == "duration" else "M8[us]"
            parts = np.rint(np.nan_to_num(numbers) * MICROSECONDS).astype(np.int64)
            return np.where(np.isnan(numbers), np.array("NaT", code), parts.view(code))
        return numbers

    def _polars(self, columns):
        polars = require("polars", "A polars frame")
        series = []
        for name, column, dtype in zip(self.columns, columns, self.dtypes, strict=True):
            one = polars.Series(name, column)
            one = one.fill_nan(None) if one.dtype.is_float() else one
            series.append(one.cast(dtype, strict=False))
        return polars.DataFrame(series)


def _array_categories(X):
    """Categories of the columns of text of an array; None where there are none."""
    if X.dtype.kind not in "OUS":
        return None
    pandas_like = [X[:, j].tolist() for j in range(X.shape[1])]
    lists = []
    for values in pandas_like:
        texts = {value for value in values if isinstance(value, (str, bytes))}
        lists.append(tuple(sorted(texts)) if texts else None)
    return tuple(lists)


def _as_type(column, dtype, pandas):
    """A column of pandas with the type that it had, where its values allow it."""
    if isinstance(dtype, np.dtype) and dtype.kind in "biu":
        if column.isna().any():
            return column
        return column.astype(dtype)
    if str(dtype) == "category":
        return pandas.Categorical(column, dtype=dtype)
    if str(dtype) == "object":
        return column.where(column.notna(), np.nan)
    if getattr(dtype, "tz", None) is not None:
        return column.dt.tz_localize(dtype.tz).astype(dtype)
    return column.astype(dtype)


class AskedLink:
    """From what a voice says to probabilities, or numbers."""

    def __init__(self, has_classes):
        self.has_classes = has_classes

    def __call__(self, raw):
        return raw[:, :-1] if self.has_classes else raw

    def class_index(self, raw):
        """Class numbers."""
        return raw[:, -1].astype(np.intp)

    def __eq__(self, other):
        return type(other) is AskedLink and other.has_classes == self.has_classes

    __hash__ = None  # type: ignore[assignment]


class Model:
    """Answers encoded rows; those of rows that it was asked about before it remembers.

    Parameters
    ----------
    questions : Questions
    voice : callable
    form : TableForm
    """

    def __init__(self, questions, voice, form):
        self.questions = questions
        self.voice = voice
        self.form = form
        self.places = {}
        self.said = np.empty((0, voice.n_outputs))

    def learn(self, matrix, said):
        """Remember what was said of these rows."""
        start = len(self.said)
        self.said = np.vstack([self.said, said])
        for i, row in enumerate(matrix):
            self.places.setdefault(row.tobytes(), start + i)

    def ask(self, matrix):
        """What the model says of each row of an encoded matrix."""
        matrix = np.ascontiguousarray(matrix)
        places = np.array([self.places.get(row.tobytes(), -1) for row in matrix], int)
        said = np.empty((len(matrix), self.voice.n_outputs))
        is_old = places >= 0
        said[is_old] = self.said[places[is_old]]
        if not is_old.all():
            table = self.form.table(matrix[~is_old])
            said[~is_old] = self.questions.ask(self.voice, table)
        return said


@dataclass(frozen=True, eq=False)
class AskedForest(Forest):
    """A Forest whose trees tell where to split, and whose answers are a model's.

    Parameters
    ----------
    model : Model
    data_splits : tuple of array
        For each feature thresholds of the data, or an empty array.
    said_origin : str
        How the splits were found, in sentences.
    """

    model: Any = None
    data_splits: tuple[np.ndarray, ...] = ()
    said_origin: str = ""

    @property
    def origin(self):
        """How the splits were found."""
        return self.said_origin

    @property
    def answers_by_trees(self):
        """The model answers."""
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
        """What the model says."""
        return self.model.ask(matrix)


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
