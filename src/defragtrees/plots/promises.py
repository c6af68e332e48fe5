"""calibration: what each rule tells beside what is observed."""

import math
from typing import TYPE_CHECKING

from defragtrees import metrics
from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.plots import style
from defragtrees.plots.drawing import draw_picture
from defragtrees.plots.picture import Axis, Curve, Picture
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration", "calibration_picture"]

MARGIN = 0.06  # room around the points, as a share of the axis
MOST_COLOURS = len(style.COLOURS)


def calibration(
    rules: RuleModel,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """What each rule tells against what is observed, with 95 % intervals.

    Rules whose interval reaches the dashed line keep their word. For two classes it is
    the probability of `pos_label` or the second, for more that of the class that the
    rule answers; for numbers it is the mean.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
        Best rows that the rules have not seen.
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "go", distribution=(0.75, 0.25))
    >>> rules = RuleList((warm,), Rule((), "stay", distribution=(0.5, 0.5)),
    ...                  ("degrees",), "classification", ("go", "stay"))
    >>> X, y = [[21.0], [25.0], [15.0]], ["go", "stay", "stay"]
    >>> calibration(rules, X, y).get_xlabel()
    'told probability of stay'
    """
    rows = metrics.calibration(rules, X, y, sample_weight)
    ax = style.axes_or_new(ax, (4.8, 4.6))
    picture = calibration_picture(rows, rules.outcome)
    drawn = draw_picture(picture, ax, style.PALETTE)
    style.legend(ax, *drawn, loc="upper left")
    ax.set(xlabel=style.plain(picture.x.title), ylabel=style.plain(picture.y.title))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def calibration_picture(rows, outcome, tell=render.rounded):
    """Observed against told, a point for each rule that has rows.

    Parameters
    ----------
    rows : list of dict
        As `metrics.calibration` gives them.
    outcome : Classes or Numbers
    tell : callable, optional
        From a rate or a number to its text.
    """
    rows = [row for row in rows if not math.isnan(row["observed"])]
    ends = _ends(rows, outcome)
    diagonal = Curve("observed as told", ends, ends, "quiet", marker="", line="--")
    groups = {}
    for row in rows:
        groups.setdefault(_group(row, outcome), []).append(row)
    curves = [
        _points(name, groups[name], i, tell) for i, name in enumerate(sorted(groups))
    ]
    look = {"limits": tuple(ends), "is_share": bool(outcome.n_classes)}
    sides = [Axis(title, **look) for title in _titles(outcome)]
    return Picture(*sides, (diagonal, *curves), height=420)


def _titles(outcome):
    if not outcome.n_classes:
        return "told mean", "observed mean"
    whose = ""
    if outcome.n_classes == 2:
        whose = f" of {outcome.answer_text(outcome.told_class)}"
    return f"told probability{whose}", f"observed rate{whose}"


def _group(row, outcome):
    """Rules of one colour: those of a class, where there are more than two."""
    if outcome.n_classes > 2:
        return outcome.answer_text(row["class"])
    return "rules"


def _ends(rows, outcome):
    """The same stretch for both axes, with room around the points."""
    values = [row[name] for row in rows for name in ("told", "low", "high")]
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = MARGIN * (high - low or 1.0)
    low, high = low - room, high + room
    if outcome.n_classes:
        low, high = max(low, -MARGIN / 2), min(high, 1 + MARGIN / 2)
    return [low, high]


def _points(name, rows, i, tell):
    return Curve(
        label=name,
        x=[row["told"] for row in rows],
        y=[row["observed"] for row in rows],
        colour=f"g{i % MOST_COLOURS}",
        marker=style.marker(i),
        line="",
        reach=[(row["low"], row["high"]) for row in rows],
        texts=[
            f"rule {row['rule']}<br>told {tell(row['told'])}<br>observed "
            f"{tell(row['observed'])} ({tell(row['low'])} to {tell(row['high'])})"
            for row in rows
        ],
        numbers=[row["rule"] for row in rows],
    )
