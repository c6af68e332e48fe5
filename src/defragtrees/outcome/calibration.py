"""What rules tell beside what is observed, rule by rule, from sums that add up."""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees.intervals import QUANTILE, wilson_interval

__all__ = ["CalibrationSums", "calibrate"]


@dataclass(frozen=True, eq=False)
class CalibrationSums:
    """What was told and what came true, by rule; that of other rows can be added.

    Parameters
    ----------
    weight : array of shape (n_rules,)
    told : array of shape (n_rules, n_outputs)
        Sums of probabilities, or of numbers.
    apart : array of shape (n_rules, n_outputs)
        Sums of what is true less what was told.
    squares : array of shape (n_rules, n_outputs)
        Sums of the squares of that.
    """

    weight: np.ndarray
    told: np.ndarray
    apart: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, told, true, weight, group, n_rules):
        """The sums of some rows.

        Parameters
        ----------
        told, true : arrays of shape (n_samples, n_outputs)
        weight : array of shape (n_samples,)
        group : int array of shape (n_samples,)
            Which rule answers.
        n_rules : int
        """

        def sums(columns):
            parts = [np.bincount(group, weight * one, n_rules) for one in columns.T]
            return np.column_stack(parts)

        apart = true - told
        return cls(
            np.bincount(group, weight, n_rules),
            sums(told),
            sums(apart),
            sums(apart**2),
        )

    def __add__(self, other):
        return CalibrationSums(
            self.weight + other.weight,
            self.told + other.told,
            self.apart + other.apart,
            self.squares + other.squares,
        )

    def rows(self, rules):
        """One dict for each rule; see `metrics.calibration`."""
        return [self._row(rules, k, rule) for k, rule in enumerate(rules)]

    def _row(self, rules, k, rule):
        labels, weight = rules.outcome.labels, float(self.weight[k])
        place = 0
        row = {"rule": k + 1}
        if labels:
            place = rules.outcome.told_place(rule)
            row["class"] = labels[place]
        nothing = dict.fromkeys(("told", "observed", "low", "high"), math.nan)
        if not weight:
            return {**row, **nothing, "n_rows": 0.0}
        told = float(self.told[k, place]) / weight
        apart = float(self.apart[k, place]) / weight
        observed = told + apart
        if labels:
            observed = min(max(observed, 0.0), 1.0)
            low, high = wilson_interval(observed, weight)
        else:
            variance = max(float(self.squares[k, place]) / weight - apart**2, 0.0)
            half = QUANTILE * math.sqrt(variance / weight)
            low, high = observed - half, observed + half
        measured = {"told": told, "observed": observed, "low": low, "high": high}
        return {**row, **measured, "n_rows": weight}


def calibrate(rules, matrix, y, weight=None):
    """The CalibrationSums of encoded rows; those of a class that is none are left out.

    Parameters
    ----------
    rules : RuleSet
    matrix : float64 array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Checked labels or numbers.
    weight : array of shape (n_samples,), optional
    """
    outcome = rules.outcome
    weight = np.ones(len(matrix)) if weight is None else weight
    true = outcome.encode_any(y)
    if not outcome.n_classes:
        told, kept = rules.predict_encoded(matrix)[:, None], slice(None)
    else:
        told, kept = rules.predict_proba_encoded(matrix), true >= 0
    return CalibrationSums.of(
        told[kept],
        outcome.indicators(true[kept]),
        weight[kept],
        rules.apply_encoded(matrix)[kept],
        rules.n_rules,
    )
