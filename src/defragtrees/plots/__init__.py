"""Plots: each is one function, which takes an Axes or creates one, and returns it."""

from defragtrees.plots.curves import survival
from defragtrees.plots.findings import history, segments, stability
from defragtrees.plots.flow_chart import flow
from defragtrees.plots.measures import calibration, comparison, gains, risks, trade_off
from defragtrees.plots.rules import score_risk, scorecard
from defragtrees.plots.style import COLOURS as COLOURS
from defragtrees.plots.style import MARKERS as MARKERS

__all__ = [
    "calibration",
    "comparison",
    "flow",
    "gains",
    "history",
    "risks",
    "score_risk",
    "scorecard",
    "segments",
    "stability",
    "survival",
    "trade_off",
]
