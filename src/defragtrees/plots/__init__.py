"""Pictures: each is one function and one line in `PICTURES`, loaded when first used.

A picture takes an Axes or makes one, and returns it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from defragtrees.plots.style import COLOURS as COLOURS
from defragtrees.plots.style import MARKERS as MARKERS

if TYPE_CHECKING:
    from defragtrees.plots.boxes import regions as regions
    from defragtrees.plots.cells import feature_heat_map as feature_heat_map
    from defragtrees.plots.curves import comparison as comparison
    from defragtrees.plots.curves import convergence as convergence
    from defragtrees.plots.curves import trade_off as trade_off
    from defragtrees.plots.ensembles import count_regions as count_regions
    from defragtrees.plots.ensembles import forest_regions as forest_regions
    from defragtrees.plots.lines import parallel_coordinates as parallel_coordinates
    from defragtrees.plots.panels import rule_panels as rule_panels
    from defragtrees.plots.points import score_risk as score_risk
    from defragtrees.plots.points import scorecard as scorecard
    from defragtrees.plots.promises import calibration as calibration
    from defragtrees.plots.shares import coverage as coverage
    from defragtrees.plots.shares import overlap as overlap
    from defragtrees.plots.table import rule_table as rule_table
    from defragtrees.plots.whiskers import risks as risks

PICTURES = {
    "calibration": "defragtrees.plots.promises",
    "comparison": "defragtrees.plots.curves",
    "convergence": "defragtrees.plots.curves",
    "count_regions": "defragtrees.plots.ensembles",
    "coverage": "defragtrees.plots.shares",
    "feature_heat_map": "defragtrees.plots.cells",
    "forest_regions": "defragtrees.plots.ensembles",
    "overlap": "defragtrees.plots.shares",
    "parallel_coordinates": "defragtrees.plots.lines",
    "regions": "defragtrees.plots.boxes",
    "risks": "defragtrees.plots.whiskers",
    "rule_panels": "defragtrees.plots.panels",
    "rule_table": "defragtrees.plots.table",
    "score_risk": "defragtrees.plots.points",
    "scorecard": "defragtrees.plots.points",
    "trade_off": "defragtrees.plots.curves",
}

__all__ = list(PICTURES)


def __getattr__(name):
    if name not in PICTURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(PICTURES[name]), name)


def __dir__():
    return [*globals(), *PICTURES]
