"""Measures of rule models that scikit-learn does not have.

For AUC, log loss and other measures of predictions, use `sklearn.metrics` or
`evaluate`.
"""

from defragtrees.metrics.ranking import Gains, best_threshold, gains, survival
from defragtrees.metrics.resampling import rule_stability
from defragtrees.metrics.rulesets import calibration, expected_cost, score_table

__all__ = [
    "Gains",
    "best_threshold",
    "calibration",
    "expected_cost",
    "gains",
    "rule_stability",
    "score_table",
    "survival",
]
