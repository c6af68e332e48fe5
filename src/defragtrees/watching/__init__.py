"""Keeping an eye on rules: whether new rows are still like those of the fit."""

from defragtrees.watching.comparing import check, check_encoded, missing_columns
from defragtrees.watching.findings import Check, Finding

__all__ = ["Check", "Finding", "check", "check_encoded", "missing_columns"]
