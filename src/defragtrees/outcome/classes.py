"""Classes as the outcome."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from defragtrees import render

__all__ = ["Classes"]


@dataclass(frozen=True)
class Classes:
    """One of several labels.

    Parameters
    ----------
    labels : tuple
        The classes, in the order of class numbers.
    """

    labels: tuple[Any, ...]

    task: ClassVar[str] = "classification"
    error_name: ClassVar[str] = "error"
    estimator_suffix: ClassVar[str] = "Classifier"

    @classmethod
    def of(cls, classes):
        """The outcome with these labels."""
        return cls(tuple(classes or ()))

    @property
    def n_classes(self):
        """Number of classes; 0 for numbers."""
        return len(self.labels)

    @property
    def dtype(self):
        """Of an array of answers."""
        return np.asarray(self.labels).dtype

    def losses(self, expected, predicted):
        """For each row 1 if the class is wrong, else 0."""
        return (np.ravel(expected) != np.ravel(predicted)).astype(np.float64)

    def error(self, expected, predicted, sample_weight=None):
        """Share of wrong classes."""
        return float(
            np.average(self.losses(expected, predicted), weights=sample_weight)
        )

    def fidelity(self, answers, predicted, sample_weight=None):
        """Share of rows with the ensemble's class."""
        return 1.0 - self.error(answers, predicted, sample_weight)

    def answer_text(self, answer):
        """An answer as text."""
        return str(answer)

    def error_text(self, error):
        """An error as text."""
        return render.share(error)
