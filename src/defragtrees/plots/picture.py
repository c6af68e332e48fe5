"""Picture: a plot as plain data, and its drawing with matplotlib.

A picture has two axes and some marks. `draw_picture` draws it with matplotlib, the
report (`report/charts.py`) as SVG.

Colours are names in a palette: g0 to g7 for classes and methods, s0 to s4 for numbers
from low to high, each also soft (`g0-soft`), ink, quiet, accent, paper.
"""

import re
from dataclasses import dataclass
from typing import Any

from defragtrees.plots import style

LETTER = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
RIGHT_TO_LEFT = re.compile(f"{LETTER}+(?:[ _.-]{LETTER}+)*")


@dataclass(frozen=True)
class Axis:
    """One axis of a picture."""

    title: str = ""
    limits: tuple[float, float] | None = None  # by default those of the marks
    is_count: bool = False  # whether ticks are whole numbers
    is_share: bool = False  # whether numbers are shown in per cent
    starts_at_zero: bool = False


@dataclass(frozen=True)
class Curve:
    """Points joined by a line, or circles around points (marker "ring")."""

    label: str
    x: list[float]
    y: list[float]
    colour: str
    marker: str = "o"  # a marker of matplotlib; "" is none
    line: str = "-"  # a line style of matplotlib
    spread: list[float] | None = None  # half lengths of error bars
    # ends of asymmetric error bars; without a marker, of a band around the line
    reach: list[tuple[float, float]] | None = None
    title: str = ""  # shown above the text of every point
    texts: list[str] | None = None  # hover text of each point
    numbers: list[int] | None = None  # labels beside the points


@dataclass(frozen=True)
class Level:
    """A dashed horizontal line."""

    label: str
    y: float
    text: str = ""


@dataclass(frozen=True)
class Picture:
    """Two axes and marks, in drawing order."""

    x: Axis
    y: Axis
    marks: tuple[Any, ...]
    height: int = 320  # in pixels, on a page about 740 pixels wide


def draw_picture(picture, ax, palette):
    """Draw a Picture into an Axes; return handles and labels for a legend."""
    handles = [_draw_mark(ax, mark, palette) for mark in picture.marks]
    for side, axis in ((ax.xaxis, picture.x), (ax.yaxis, picture.y)):
        set_limits = getattr(ax, f"set_{side.axis_name}lim")
        style.axis_title(side, axis.title)
        if axis.limits is not None:
            set_limits(*axis.limits)
        if axis.starts_at_zero:
            set_limits(0)
        if axis.is_count:
            style.ticks_at_integers(side)
        if axis.is_share:
            style.percent_ticks(side)
        elif not axis.is_count:
            style.number_ticks(side)
    return handles, [mark.label for mark in picture.marks]


def _draw_mark(ax, mark, palette):
    look = {"label": mark.label}
    if isinstance(mark, Level):
        return ax.axhline(mark.y, color=palette["quiet"], ls="--", lw=1, **look)
    look["color"] = palette[mark.colour]
    if mark.marker == "ring":
        return ax.plot(mark.x, mark.y, "o", ms=13, mfc="none", mew=2, **look)[0]
    spread = mark.spread
    if mark.reach is not None and not mark.marker:
        ax.fill_between(
            mark.x, *zip(*mark.reach, strict=True), alpha=0.15, lw=0, **look
        )
    elif mark.reach is not None:
        ends = list(zip(mark.y, mark.reach, strict=True))
        spread = [
            [y - low for y, (low, _) in ends],
            [high - y for y, (_, high) in ends],
        ]
        look |= {"elinewidth": 1.2, "capsize": 2.5}
    return ax.errorbar(mark.x, mark.y, spread, fmt=f"{mark.marker}{mark.line}", **look)
