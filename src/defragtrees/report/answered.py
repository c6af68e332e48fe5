"""AnsweredRows: the rows of a report, and what rules and ensemble say on them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees.ensembles.forest import Forest
from defragtrees.rules.model import RuleModel

__all__ = ["AnsweredRows"]


@dataclass(frozen=True, eq=False)
class AnsweredRows:
    """Rows with all answers; rules and ensemble are asked only once.

    Parameters
    ----------
    rules : RuleModel
    forest : Forest
    matrix : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,) or None
    weight : float64 array of shape (n_samples,)
    """

    rules: RuleModel
    forest: Forest
    matrix: np.ndarray
    y: Any
    weight: np.ndarray

    def __len__(self):
        return len(self.matrix)

    @cached_property
    def predicted(self):
        """What the rules say."""
        return self.rules._predict(self.rules._covers(self.matrix))

    @cached_property
    def held(self):
        """Which rules hold in which rows."""
        return self.rules._covers(self.matrix)

    @cached_property
    def answering(self):
        """Number of the rule that answers each row."""
        return self.rules._apply(self.rules._covers(self.matrix))

    @cached_property
    def members(self):
        """Rows of each rule, (n_samples, n_rules): those it answers, or holds in."""
        return self.rules._members(self.held)

    @cached_property
    def _raw(self):
        return self.forest.predict_raw_encoded(self.matrix)

    @cached_property
    def answers(self):
        """What the ensemble says."""
        return self.forest.predict_from_raw(self._raw)

    @cached_property
    def probabilities(self):
        """How likely the ensemble finds each class; None for numbers."""
        if not self.forest.outcome.n_classes:
            return None
        return self.forest.proba_from_raw(self._raw)

    @property
    def sureness(self):
        """The ensemble's probability of the class that it says; None for numbers."""
        if self.probabilities is None:
            return None
        return self.probabilities.max(axis=1)

    @property
    def expected(self):
        """What errors are measured against: y or, without it, the ensemble."""
        return self.answers if self.y is None else self.y

    def share(self, mask):
        """Share of some rows, by weight."""
        return float(self.weight[mask].sum() / self.weight.sum())

    def mean(self, values, mask=True):
        """Mean by weight over some rows; None if they have no weight."""
        weight = np.where(mask, self.weight, 0.0)
        if not weight.sum() > 0:
            return None
        return float(np.average(np.asarray(values, dtype=np.float64), weights=weight))
