"""Plots: each is one function and one entry of `PICTURES`, imported on first use.

A plot takes an Axes or creates one, and returns it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from defragtrees.plots.style import COLOURS as COLOURS
from defragtrees.plots.style import MARKERS as MARKERS

if TYPE_CHECKING:
    from defragtrees.plots.curves import survival as survival
    from defragtrees.plots.findings import history as history
    from defragtrees.plots.findings import segments as segments
    from defragtrees.plots.findings import stability as stability
    from defragtrees.plots.flow_chart import flow as flow
    from defragtrees.plots.measures import calibration as calibration
    from defragtrees.plots.measures import comparison as comparison
    from defragtrees.plots.measures import gains as gains
    from defragtrees.plots.measures import risks as risks
    from defragtrees.plots.measures import trade_off as trade_off
    from defragtrees.plots.rules import score_risk as score_risk
    from defragtrees.plots.rules import scorecard as scorecard

PICTURES = {
    "calibration": "defragtrees.plots.measures",
    "comparison": "defragtrees.plots.measures",
    "flow": "defragtrees.plots.flow_chart",
    "gains": "defragtrees.plots.measures",
    "history": "defragtrees.plots.findings",
    "risks": "defragtrees.plots.measures",
    "score_risk": "defragtrees.plots.rules",
    "scorecard": "defragtrees.plots.rules",
    "segments": "defragtrees.plots.findings",
    "stability": "defragtrees.plots.findings",
    "survival": "defragtrees.plots.curves",
    "trade_off": "defragtrees.plots.measures",
}

__all__ = list(PICTURES)


def __getattr__(name):
    if name not in PICTURES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(PICTURES[name]), name)


def __dir__():
    return [*globals(), *PICTURES]
