"""Plot of survival: the curve of each rule, and the rows at risk below it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import COLOURS
from defragtrees.plots import style
from defragtrees.plots.picture import Axis, Curve, Picture, draw_picture
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES = "-", "--", "-.", ":"  # curves of one colour have different lines


def survival(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Plot the survival of the rows of each rule, and how many are at risk.

    The curves are those of Kaplan and Meier on the rows that counted, the bands their
    95% intervals.

    Parameters
    ----------
    rules : RuleModel
        Rules of survival; those of a scorecard have no curves of their own.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import DefragSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(30, 80, (300, 1))
    >>> time = rng.exponential(np.where(X[:, 0] > 60, 2.0, 8.0))
    >>> y = np.column_stack([np.ones(300), time])
    >>> simple = DefragSurvival(max_rules=2, random_state=0).fit(X, y)
    >>> ax = survival(simple.rules_)
    >>> ax.get_ylabel()
    'survival'
    """
    picture, at_risk = survival_picture(rules), numbers_at_risk(rules)
    ax = style.axes_or_new(ax, (6.4, 4.4))
    style.legend_above(ax, *draw_picture(picture, ax, style.PALETTE))
    times, counts = at_risk
    ax.set_xticks(times)
    ax.set_xlabel("\n" * len(counts) + "time; above, rows at risk")
    step = -1.25 * style.TICKS / style.size_in_points(ax)[1]
    look: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "va": "top"}
    look |= {"fontsize": 9, "clip_on": False}
    for line, (mark, row) in enumerate(
        zip(picture.marks, counts.values(), strict=True)
    ):
        look["color"] = style.PALETTE[mark.colour]
        for time, count in zip(times, row, strict=True):
            ax.text(time, step * (line + 2), render.count(count), ha="center", **look)
    return ax


def survival_picture(rules: RuleModel) -> Picture:
    """The Picture of the curves of rules of survival, up to one for each."""
    marks: list[Curve] = []
    for name, curve in _curves(rules).items():
        times = np.repeat(curve.times, 2)[1:]
        ends = np.array([curve.interval(time) for time in curve.times])
        values = np.repeat(ends, 2, axis=0)[:-1]
        number = len(marks)
        marks.append(
            Curve(
                name,
                times.tolist(),
                values[:, 0].tolist(),
                f"g{number % len(COLOURS)}",
                marker="",
                line=DASHES[number // len(COLOURS) % len(DASHES)],
                reach=[(low, high) for low, high in values[:, 1:].tolist()],
            )
        )
    last = max(mark.x[-1] for mark in marks)
    across = Axis("time", (0.0, last))
    return Picture(across, Axis("survival", (0.0, 1.0), is_share=True), tuple(marks))


def numbers_at_risk(rules: RuleModel) -> tuple[list[float], dict[str, list[float]]]:
    """Round times, and how many rows of each rule are at risk then."""
    curves = _curves(rules)
    times = sorted({0.0}.union(*(curve.marks.tolist() for curve in curves.values())))
    return times, {
        name: curve.n_at_risk(times).tolist() for name, curve in curves.items()
    }


def _curves(rules):
    if rules.task != "survival" or rules._form.is_sum:
        raise ValueError(
            "plots.survival needs rules of survival with a curve each; got a "
            f"{type(rules).__name__} of {rules.task}. Fit DefragSurvival with "
            "form='list'."
        )
    every = [(f"rule {k}", rules.outcome.curve(r)) for k, r in enumerate(rules, 1)]
    curves = {name: curve for name, curve in every if curve is not None}
    if not curves:
        raise ValueError("These rules have no curves. Refit them on rows with y.")
    return curves
