"""Numbers as the outcome."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from defragtrees import render

__all__ = ["Numbers", "explained_share"]


@dataclass(frozen=True)
class Numbers:
    """A number."""

    task: ClassVar[str] = "regression"
    error_name: ClassVar[str] = "squared error"
    estimator_suffix: ClassVar[str] = "Regressor"
    labels: ClassVar[None] = None
    n_classes: ClassVar[int] = 0
    dtype: ClassVar[np.dtype] = np.dtype(np.float64)

    @classmethod
    def of(cls, classes=None):
        """The outcome; it has no labels."""
        return cls()

    def losses(self, expected, predicted):
        """For each row the squared error."""
        return (np.ravel(expected) - np.ravel(predicted)) ** 2

    def error(self, expected, predicted, sample_weight=None):
        """Mean squared error."""
        return float(
            np.average(self.losses(expected, predicted), weights=sample_weight)
        )

    def fidelity(self, answers, predicted, sample_weight=None):
        """Share of the variance of the ensemble's answers that is explained (R²)."""
        loss = self.error(answers, predicted, sample_weight)
        answers = np.asarray(answers, dtype=np.float64)
        mean = np.average(answers, weights=sample_weight)
        variance = np.average((answers - mean) ** 2, weights=sample_weight)
        return explained_share(loss, variance, np.abs(answers).max(initial=0.0))

    def answer_text(self, answer):
        """An answer as text."""
        return render.number(answer)

    def error_text(self, error):
        """An error as text."""
        return render.rounded(error, 3)


def explained_share(loss, variance, largest):
    """R² from a mean squared loss and the variance of answers up to `largest`."""
    # What rounding leaves of a constant is none of the ensemble's doing.
    noise = (1e-12 * largest) ** 2
    if variance <= noise:
        return 1.0 if loss <= noise else 0.0
    return float(1.0 - loss / variance)
