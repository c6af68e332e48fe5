"""Measures of rules that scikit-learn does not have.

For those that it has, such as AUC and log loss, call `sklearn.metrics`, or `evaluate`.
"""

from defragtrees.metrics.resampling import rule_stability, stability
from defragtrees.metrics.rulesets import (
    calibration,
    coverage,
    error,
    expected_cost,
    fidelity,
    overlap,
    score_table,
    similarity,
)

__all__ = [
    "calibration",
    "coverage",
    "error",
    "expected_cost",
    "fidelity",
    "overlap",
    "rule_stability",
    "score_table",
    "similarity",
    "stability",
]
