"""compare: many methods on one ensemble and the same rows, in one table."""

from defragtrees.comparison.comparing import compare
from defragtrees.comparison.table import Comparison

__all__ = ["Comparison", "compare"]
