"""Monitoring: drift of new rows from the training rows of the rules."""

from defragtrees.monitoring.check import (
    Check,
    Finding,
    check,
    check_encoded,
    missing_columns,
)

__all__ = ["Check", "Finding", "check", "check_encoded", "missing_columns"]
