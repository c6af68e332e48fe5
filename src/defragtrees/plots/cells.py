"""feature_heat_map: what every rule asks of every feature."""

import math
from typing import TYPE_CHECKING

import numpy as np

from defragtrees._utils.types import Rows
from defragtrees.plots import style
from defragtrees.plots.plane import thresholds_of
from defragtrees.plots.rows import encoded
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["feature_heat_map"]

WIDTH, HEIGHT = 1.35, 0.46  # of a cell, in inches
STRENGTH = 0.28  # of the colours of the cells
SIDES = ("left", "right")
KINDS = {
    "high values": style.COLOURS[1],
    "low values": style.COLOURS[0],
    "an interval": style.COLOURS[2],
    "categories": style.COLOURS[3],
    "missing or not": style.COLOURS[6],
}


def feature_heat_map(
    rules: RuleModel, X: Rows | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Rules against features: what is asked, in words, in colour and as a bar.

    The colour of a cell says which side of the feature is asked for. The bar at its
    foot shows which part of the feature is accepted, from the lowest value to the
    highest.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        With it the length of a bar is the share of rows that are accepted; without it
        all thresholds of a feature are equally far apart.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(1, lower=20.0),), 1.0)
    >>> rules = RuleList((warm,), Rule((), 0.0), ("humidity", "degrees"), "regression")
    >>> ax = feature_heat_map(rules)
    >>> [text.get_text() for text in ax.texts]
    ['x > 20']
    """
    matrix = encoded(rules, X)
    names = rules.feature_names
    used = [names.index(name) for name in rules.features]
    shape = rules.n_rules, max(1, len(used))
    size = (1.6 + WIDTH * shape[1], 1.3 + HEIGHT * shape[0])
    ax = style.axes_or_new(ax, size)
    points, letters = _room(ax, shape)
    seen = set()
    for k, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            place = used.index(condition.feature)
            seen.add(kind := _kind(condition))
            column = _column(rules, condition.feature, matrix)
            _draw_cell(ax, (place, k), kind, _parts(condition, column))
            text = condition.text(["x"] * len(names), *rules.vocabulary[1:])
            lines = style.wrap(text, points, letters, most=2)
            ax.text(
                place + 0.5,
                k + 0.42,
                "\n".join(lines),
                ha="center",
                va="center",
                fontsize=letters,
                linespacing=1.0,
            )
    _label(ax, rules, used, points)
    patches = style.part("patches")
    kinds = [kind for kind in KINDS if kind in seen]
    areas = [patches.Patch(color=style.tint(KINDS[k], STRENGTH)) for k in kinds]
    if kinds:
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.02)}
        style.legend(ax, areas, kinds, ncols=min(len(kinds), shape[1]), **place)
    return ax


def _room(ax, shape):
    """Width of a cell in points, and the size of letters that go into its height."""
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    letters = min(8.0, 0.28 * box.height * scale / shape[0])
    return 0.92 * box.width * scale / shape[1], max(letters, 3.0)


def _kind(condition):
    if condition.categories is not None:
        return "categories"
    low, high = math.isfinite(condition.lower), math.isfinite(condition.upper)
    if condition.lower >= condition.upper or not (low or high):
        return "missing or not"
    if low and high:
        return "an interval"
    return "high values" if low else "low values"


def _column(rules, feature, matrix):
    """The sorted values of a feature; without rows one of each bin or category."""
    if matrix is not None:
        column = matrix[:, feature]
        column = np.sort(column[~np.isnan(column)])
        if len(column):
            return column
    if rules.categories[feature] is not None:
        return np.arange(len(rules.categories[feature]))
    return np.append(thresholds_of(rules, feature), np.inf)


def _parts(condition, column):
    """Pairs of shares from 0 to 1, between which the feature is accepted."""
    if condition.categories is not None:
        codes = list(condition.categories)
        lows, highs = (np.searchsorted(column, codes, side) for side in SIDES)
    else:
        ends = [[end] for end in condition.edges]
        lows, highs = np.searchsorted(column, ends, side="right")
    shares = zip(lows / len(column), highs / len(column), strict=True)
    return [(low, high) for low, high in shares if high > low]


def _draw_cell(ax, corner, kind, parts):
    rectangle = style.part("patches").Rectangle
    x, y = corner
    colour = KINDS[kind]
    fill = style.tint(colour, STRENGTH)
    ax.add_patch(rectangle((x, y), 1, 1, facecolor=fill, edgecolor="white", lw=2))
    ax.add_patch(rectangle((x + 0.06, y + 0.8), 0.88, 0.09, facecolor="white"))
    for low, high in parts:
        bar = rectangle(
            (x + 0.06 + 0.88 * low, y + 0.8),
            0.88 * (high - low),
            0.09,
            facecolor=colour,
        )
        ax.add_patch(bar)


def _label(ax, rules, used, points):
    n_columns = max(1, len(used))
    ax.set(xlim=(0, n_columns), ylim=(rules.n_rules, 0))
    last = rules.default_text
    labels = []
    for k, rule in enumerate(rules, start=1):
        answer = rules._short_then_text(rule)
        text = f"{k}. {last}: {answer}" if k == rules.n_rules else f"{k}. {answer}"
        labels.append(style.plain(style.cut(text, 160, 8)))
    ax.set_yticks(np.arange(rules.n_rules) + 0.5, labels=labels, fontsize=8)
    heads = [
        "\n".join(style.wrap(rules.axis_names[j], points, 8, most=4)) for j in used
    ]
    ax.set_xticks(np.arange(len(used)) + 0.5, labels=heads, fontsize=8)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for i in range(rules.n_rules + 1):
        ax.axhline(i, color=style.PALE, lw=0.8, zorder=0)
    ax.spines[:].set_visible(False)
