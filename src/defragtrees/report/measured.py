"""Measured: what the rules and the ensemble say on the rows of a report."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from defragtrees.forest import Forest
from defragtrees.rules import RuleSet

__all__ = ["Measured", "measure"]


@dataclass(frozen=True, eq=False)
class Measured:
    """Rules, ensemble and rows, with all answers; everything is asked only once.

    Parameters
    ----------
    rules : RuleSet
    forest : Forest
    matrix : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,) or None
    weight : float64 array of shape (n_samples,)
    """

    rules: RuleSet
    forest: Forest
    matrix: np.ndarray
    y: Any
    weight: np.ndarray

    @property
    def is_classification(self):
        """Whether answers are classes."""
        return self.rules.task == "classification"

    @property
    def is_average(self):
        """Whether all rules that hold have a say."""
        return self.rules.decision == "average"

    @property
    def n_rows(self):
        """Number of rows."""
        return len(self.matrix)

    @cached_property
    def predicted(self):
        """What the rules say."""
        return self.rules.predict_encoded(self.matrix)

    @cached_property
    def answers(self):
        """What the ensemble says."""
        return self.forest.predict_encoded(self.matrix)

    @cached_property
    def held(self):
        """Which rules hold in which rows."""
        return self.rules.covers_encoded(self.matrix)

    @cached_property
    def members(self):
        """Rows of each rule, (n_samples, n_rules): those it answers, or holds in."""
        if self.is_average:
            return self.held
        return np.eye(self.rules.n_rules, dtype=bool)[self.answering]

    @cached_property
    def answering(self):
        """Number of the rule that answers each row."""
        return self.rules.apply_encoded(self.matrix)

    def share(self, mask):
        """Share of some rows, by weight."""
        return float(self.weight[mask].sum() / self.weight.sum())

    def mean(self, values, mask):
        """Mean by weight over some rows; None if they have no weight."""
        total = self.weight[mask].sum()
        if not total > 0:
            return None
        found = np.asarray(values, dtype=np.float64)[mask]
        return float((self.weight[mask] * found).sum() / total)


def measure(simplifier, X, y=None, sample_weight=None):
    """The rows checked, encoded and answered.

    Parameters
    ----------
    simplifier : Simplifier
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    sample_weight : array-like of shape (n_samples,), optional
    """
    matrix = simplifier._matrix(X)
    if len(matrix) == 0:
        raise ValueError("A report needs at least one row; X has none.")
    y = simplifier._check_y(y, len(matrix)) if y is not None else None
    weight = _check_sample_weight(
        sample_weight, matrix, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.sum() > 0:
        raise ValueError("sample_weight must have a positive sum; it is zero.")
    return Measured(simplifier.rules_, simplifier.forest_, matrix, y, weight)
