"""AskedForest: splits that were grown, and the answers of a model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.forest import Forest

__all__ = ["AskedForest", "AskedLink", "Model"]


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
