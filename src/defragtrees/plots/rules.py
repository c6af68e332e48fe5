"""Plots of points: of each rule of a scorecard, and of totals."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import round_significant
from defragtrees.metrics.rulesets import score_table
from defragtrees.plots import style
from defragtrees.rules.conditions import Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import Scorecard

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEFT, RIGHT = 250.0, 165.0  # widths of the texts beside a rule's row, in points
SIZE = 10.0  # of their letters
HEIGHT, ROOM = 0.19, 0.15  # of a line of text and between two rules, in inches
APART = 10.0  # between text and scale, in points
LEAST = 0.15  # height of the bar of one of several classes, in inches


def then_text(rules: RuleModel, rule: Rule) -> str:
    """What a rule predicts, or its points; empty if it has points for many classes."""
    if not rules._form.is_sum:
        return rules._view.then_text(rule, is_short=True)
    is_one = rules.outcome.n_points == 1
    return f"{rules._view.then_text(rule, is_short=True)} points" if is_one else ""


def rule_look(rules: RuleModel, rule: Rule) -> dict[str, Any]:
    """Colour and marker of a rule: of its class, or of the class its points favour."""
    labels = rules.outcome.labels
    if not labels:
        return {"color": style.COLOURS[0], "marker": "o"}
    label = rule.prediction
    if isinstance(rules, Scorecard) and rules.outcome.is_binary and rule.points:
        if not rule.conditions:
            return {"color": style.GREY, "marker": "o"}
        label = labels[int(rule.points[0] * rules.unit >= 0)]
    number = style.class_numbers(rules)[label]
    return {"color": style.COLOURS[number], "marker": style.marker(labels.index(label))}


def rule_rows(
    rules: RuleModel, ax: "Axes | None", beside: Sequence[str] = (), least: float = 0.2
) -> "tuple[Axes, np.ndarray]":
    """Axes with the text of each rule on the left and, if given, a text on the right.

    A row is as high as its texts, and at least `least` inches. Also returned are the
    middles of the rows, from 0 downwards, in inches.
    """
    lefts = []
    for number, conditions, *_ in rules._view.cells()[1]:
        first, *others = render.lines_of(conditions)
        texts = [f"{number}. {first}", *others]
        lefts.append([line for text in texts for line in style.wrap(text, LEFT, SIZE)])
    rights = [style.wrap(text, RIGHT, SIZE) for text in beside]
    lines = zip_longest(lefts, rights, fillvalue=())
    heights = [max(least, HEIGHT * max(map(len, pair))) + ROOM for pair in lines]
    total, size = sum(heights), SIZE
    if ax is None:
        ax = style.axes_or_new(None, (9.0, 1.0 + total))
    else:
        size *= min(1.0, style.size_in_points(ax)[1] / (72 * total))
    places = np.cumsum(heights) - np.array(heights) / 2
    texts = ["\n".join(lines) for lines in lefts]
    ax.set_yticks(places, labels=texts, fontsize=size, ha="left")
    width = max(style.width(line, size) for lines in lefts for line in lines)
    ax.tick_params(axis="y", length=0, pad=width + APART)
    ax.set_ylim(total, 0.0)
    looks: dict[str, Any] = {"va": "center", "fontsize": size}
    looks |= {"transform": ax.get_yaxis_transform()}
    for place, lines in zip(places, rights, strict=False):
        ax.text(1.03, place, "\n".join(lines), **looks)
    style.lay_out(ax)
    return ax, places


def scorecard(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Plot the points of each rule as a bar, with the base at the bottom.

    With two classes, points have the colour of the class that they count for; with
    more, there is one bar per class.

    Parameters
    ----------
    rules : RuleModel
        A scorecard.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> [text.get_text() for text in scorecard(card).texts]
    ['+3', '+2']
    """
    _check(rules)
    points = np.array([rule.points for rule in rules])
    n_columns = points.shape[1]
    ax, places = rule_rows(rules, ax, least=LEAST * n_columns)
    height = LEAST if n_columns > 1 else 0.2
    numbers = [*style.class_numbers(rules).values()]
    colours: Any
    for c in range(n_columns):
        at = places + (c - (n_columns - 1) / 2) * height
        if n_columns > 1:
            colours = style.COLOURS[numbers[c]]
            label = rules.outcome.view.prediction(rules.outcome.labels[c])
        else:
            colours, label = [rule_look(rules, rule)["color"] for rule in rules], None
        ax.barh(at, points[:, c], 0.9 * height, color=colours, label=label)
        for place, value in zip(at, points[:, c], strict=True):
            side = 1 if value >= 0 else -1
            looks: dict[str, Any] = {"ha": "left" if side > 0 else "right"}
            looks |= {"va": "center", "fontsize": 9.5, "textcoords": "offset points"}
            text = render.signed(round_significant(value, 3))
            ax.annotate(text, (value, place), (3 * side, 0), **looks)
    ax.axvline(0.0, color=style.DARK, lw=0.8)
    low, high = min(points.min(), 0), max(points.max(), 0)
    free = 0.2 * (high - low or 1.0)
    ax.set_xlim(low - free * (low < 0), high + free)
    ax.set_xlabel("points")
    ax.spines["left"].set_visible(False)
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
    """Plot the probability of a class, or the number, against total points.

    With two classes it is the probability of `pos_label`, or of the second.

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

    Examples
    --------
    >>> score_risk(card, [[21.0], [19.0]]).get_xlabel()
    'total points'
    """
    _check(rules)
    lines = score_table(rules, X, y)
    ax = style.axes_or_new(ax, (5.4, 3.6))
    middles = [(line["low"] + line["high"]) / 2 for line in lines]
    estimated = [line["estimated"] for line in lines]
    look: dict[str, Any] = {"color": style.DARK, "marker": "o", "ms": 4, "lw": 1.4}
    ax.plot(middles, estimated, label="estimated", **look)
    if y is not None:
        sizes = np.array([line["n_rows"] for line in lines])
        observed = [line["observed"] for line in lines]
        look = {"facecolor": "none", "edgecolor": style.COLOURS[1], "lw": 1.4}
        area = 15 + 120 * sizes / sizes.max()
        ax.scatter(middles, observed, area, label="observed", zorder=3, **look)
        style.legend_above(ax)
    title = "prediction"
    if rules.outcome.is_binary:
        label = rules.outcome.view.prediction(rules.outcome.positive_class)
        title = f"probability of {label}"
        style.percent_ticks(ax.yaxis)
    else:
        style.number_ticks(ax.yaxis)
    style.number_ticks(ax.xaxis)
    style.axis_title(ax.yaxis, title)
    ax.set_xlabel("total points")
    return ax


def _check(rules):
    if not isinstance(rules, Scorecard):
        raise ValueError(
            f"This plot needs a scorecard; got a {type(rules).__name__}. Fit with "
            "form='points'."
        )
