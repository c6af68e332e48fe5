"""Keeping an eye on rules: whether new rows are still like those of the fit."""

from defragtrees.monitoring.check import (
    Check,
    Finding,
    check,
    check_encoded,
    missing_columns,
)

__all__ = ["Check", "Finding", "check", "check_encoded", "missing_columns"]
