"""Pictures: each is one function and one line in `PICTURES`, loaded when first used.

A picture takes an Axes or makes one, and returns it.
"""

from importlib import import_module

from defragtrees.plots.style import COLOURS as COLOURS
from defragtrees.plots.style import MARKERS as MARKERS

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
