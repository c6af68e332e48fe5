"""Calls of a model, in batches, counted and checked.

What a model says of a row is one line of numbers: of classes their probabilities and
the number of the class that it answers, else one number.
"""

import threading

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_outlier_detector, is_regressor

from defragtrees.progress import Progress
from defragtrees.tables import column_names, select_columns, take_rows

__all__ = ["Questions", "can_be_asked", "find_voice", "model_task"]

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
