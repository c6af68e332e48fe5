"""Pictures, one function each; they take an Axes or make one, and return it."""

from defragtrees.plots.boxes import regions
from defragtrees.plots.cells import feature_heat_map
from defragtrees.plots.curves import comparison, convergence, trade_off
from defragtrees.plots.ensembles import count_regions, forest_regions
from defragtrees.plots.lines import parallel_coordinates
from defragtrees.plots.panels import rule_panels
from defragtrees.plots.shares import coverage, overlap
from defragtrees.plots.style import COLOURS as COLOURS
from defragtrees.plots.style import MARKERS as MARKERS
from defragtrees.plots.table import rule_table

__all__ = [
    "comparison",
    "convergence",
    "count_regions",
    "coverage",
    "feature_heat_map",
    "forest_regions",
    "overlap",
    "parallel_coordinates",
    "regions",
    "rule_panels",
    "rule_table",
    "trade_off",
]
