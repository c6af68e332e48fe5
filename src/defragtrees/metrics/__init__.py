"""How good answers, probabilities and rule sets are."""

from defragtrees.metrics.answers import (
    auc,
    average_precision,
    brier,
    confusion,
    expected_cost,
    log_loss,
    mae,
    precision,
    r2,
    recall,
    rmse,
)
from defragtrees.metrics.resampling import rule_stability, stability
from defragtrees.metrics.rulesets import (
    calibration,
    coverage,
    error,
    fidelity,
    overlap,
    similarity,
)
from defragtrees.metrics.totals import score_table

__all__ = [
    "auc",
    "average_precision",
    "brier",
    "calibration",
    "confusion",
    "coverage",
    "error",
    "expected_cost",
    "fidelity",
    "log_loss",
    "mae",
    "overlap",
    "precision",
    "r2",
    "recall",
    "rmse",
    "rule_stability",
    "score_table",
    "similarity",
    "stability",
]
