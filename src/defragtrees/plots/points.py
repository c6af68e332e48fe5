"""Plots of a scorecard: the points of its rules, and the risk by total."""

from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.metrics.rulesets import score_table
from defragtrees.plots import style
from defragtrees.rules.forms import Scorecard
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["score_risk", "scorecard"]

LABEL = 250.0  # width of the text of a rule, in points


def scorecard(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Plot the points of each rule as a bar, with the base at the bottom.

    With two classes, bars have the colour of the class that they favour; with more,
    there is one bar per class.

    Parameters
    ----------
    rules : RuleModel
        A scorecard.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> rules = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                 "regression")
    >>> ax = scorecard(rules)
    >>> [text.get_text() for text in ax.texts]
    ['+3', '+2']
    """
    _check(rules)
    labels = []
    for row in rules.rows():
        conditions = rules.default_text if row["if"] == "otherwise" else row["if"]
        lines = style.wrap(f"{row['rule']}. {conditions}", LABEL, 8, most=3)
        labels.append("\n".join(lines))
    n_lines = sum(1 + label.count("\n") for label in labels)
    ax = style.axes_or_new(ax, (8.0, 1.1 + 0.2 * rules.n_rules + 0.15 * n_lines))
    points = np.array([rule.points for rule in rules])
    places, n_columns = np.arange(rules.n_rules), points.shape[1]
    height = 0.75 / n_columns
    ends = np.abs(points).max() or 1.0
    for c in range(n_columns):
        at = places + (c - (n_columns - 1) / 2) * height
        if n_columns > 1:
            colours = style.colour(c)
            label = style.plain(rules.outcome.answer_text(rules.outcome.labels[c]))
        else:
            colours = [style.colour(int(p >= 0)) for p in points[:-1, 0]]
            colours, label = [*colours, style.GREY], None
        ax.barh(at, points[:, c], 0.9 * height, color=colours, label=label)
        for k, value in enumerate(points[:, c]):
            side = 1 if value >= 0 else -1
            looks: dict[str, Any] = {"ha": "left" if side > 0 else "right"}
            looks |= {"va": "center", "fontsize": 8}
            text = render.signed(render.round_to(value))
            ax.annotate(
                text, (value, at[k]), (3 * side, 0), textcoords="offset points", **looks
            )
    ax.axvline(0.0, color=style.DARK, lw=0.8)
    ax.set_yticks(places, labels=labels, fontsize=8)
    ax.set(
        xlim=(min(points.min(), 0) - 0.25 * ends, max(points.max(), 0) + 0.25 * ends),
        ylim=(rules.n_rules - 0.4, -0.6),
        xlabel="points",
    )
    ax.spines[["top", "right", "left"]].set_visible(False)
    style.number_ticks(ax.xaxis)
    if n_columns > 1:
        style.legend_above(ax)
    return ax


def score_risk(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the probability of the second class, or the number, against total points.

    Parameters
    ----------
    rules : RuleModel
        A scorecard for regression or two classes.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows whose totals are shown.
    y : array-like of shape (n_samples,), optional
        If given, circles show the observed rates or means; the more rows, the larger
        the circle.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> base = Rule((), 2.0, points=(2.0,))
    >>> rules = Scorecard((warm,), base, ("degrees",), "regression")
    >>> score_risk(rules, [[21.0], [19.0]]).get_xlabel()
    'total of points'
    """
    _check(rules)
    lines = score_table(rules, X, y)
    ax = style.axes_or_new(ax, (5.4, 3.6))
    middles = [(line["low"] + line["high"]) / 2 for line in lines]
    blue, orange = style.COLOURS[:2]
    estimated = [line["estimated"] for line in lines]
    ax.plot(middles, estimated, color=blue, marker="o", ms=4, lw=1.4, label="estimated")
    if y is not None:
        sizes = np.array([line["n_rows"] for line in lines])
        observed = [line["observed"] for line in lines]
        area = 15 + 120 * sizes / sizes.max()
        ax.scatter(
            middles,
            observed,
            area,
            label="observed",
            zorder=3,
            facecolor="none",
            edgecolor=orange,
            lw=1.4,
        )
        style.legend_above(ax)
    title = "prediction"
    if rules.outcome.is_binary:
        label = rules.outcome.answer_text(rules.outcome.labels[1])
        title = style.plain(f"probability of {style.cut(label, 130, 10)}")
        style.percent_ticks(ax.yaxis)
    else:
        style.number_ticks(ax.yaxis)
    ax.set(xlabel="total of points", ylabel=title)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _check(rules):
    if not isinstance(rules, Scorecard):
        raise ValueError(
            "This plot needs a scorecard; got rules with "
            f"decision={rules.decision!r}. Fit with form='points'."
        )
