"""Monitoring: drift of new rows from the training rows of the rules."""

from defragtrees.monitoring.check import Check, Finding
from defragtrees.monitoring.history import History, Record, read_history

__all__ = ["Check", "Finding", "History", "Record", "read_history"]
