"""feature_heat_map: what every rule asks of every feature."""

import math

import numpy as np

from defragtrees.plots import _style
from defragtrees.plots.rows import encoded

__all__ = ["feature_heat_map"]

WIDTH, HEIGHT = 1.35, 0.46  # of a cell, in inches
STRENGTH = 0.28  # of the colours of the cells
KINDS = {
    "high values": (_style.COLOURS[1], ""),
    "low values": (_style.COLOURS[0], ""),
    "an interval": (_style.COLOURS[2], ""),
    "categories": (_style.COLOURS[3], ""),
    "missing or not": (_style.COLOURS[6], ""),
}


def feature_heat_map(rules, X=None, ax=None):
    """Rules against features: what is asked, in words, in colour and as a bar.

    The colour of a cell says which side of the feature is asked for. The bar at its
    foot shows which part of the feature is accepted, from the lowest value to the
    highest.

    Parameters
    ----------
    rules : RuleSet
    X : array-like or data frame of shape (n_samples, n_features), optional
        With it the length of a bar is the share of rows that are accepted; without it
        all thresholds of a feature are equally far apart.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleSet
    >>> warm = Rule((Condition(1, lower=20.0),), 1.0)
    >>> rules = RuleSet((warm,), Rule((), 0.0), ("humidity", "degrees"), "regression")
    >>> ax = feature_heat_map(rules)
    >>> [text.get_text() for text in ax.texts]
    ['x > 20']
    """
    matrix = encoded(rules, X)
    names = rules.feature_names
    used = [names.index(name) for name in rules.features]
    shape = rules.n_rules, max(1, len(used))
    size = (1.6 + WIDTH * shape[1], 1.3 + HEIGHT * shape[0])
    ax = _style.axes_or_new(ax, size)
    points, letters = _room(ax, shape)
    found = set()
    for k, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            place = used.index(condition.feature)
            found.add(kind := _kind(condition))
            _draw_cell(ax, (place, k), kind, _parts(rules, condition, matrix))
            text = condition.text(["x"] * len(names), rules.categories)
            lines = _style.wrap(text, points, letters, most=2)
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
    patches = _style.part("patches")
    kinds = [kind for kind in KINDS if kind in found]
    areas = [patches.Patch(color=_style.tint(KINDS[k][0], STRENGTH)) for k in kinds]
    if kinds:
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.02)}
        _style.legend(ax, areas, kinds, ncols=min(len(kinds), shape[1]), **place)
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


def _parts(rules, condition, matrix):
    """Pairs of shares from 0 to 1, between which the feature is accepted."""
    column = None
    if matrix is not None:
        column = matrix[:, condition.feature]
        column = np.sort(column[~np.isnan(column)])
    if condition.categories is not None:
        return _set_parts(rules, condition, column)
    if condition.lower >= condition.upper:
        return []
    if column is None or not len(column):
        asked = [c for rule in rules.rules for c in rule.conditions]
        own = [c for c in asked if c.feature == condition.feature]
        ends = np.unique([end for c in own for end in (c.lower, c.upper)])
        ends = ends[np.isfinite(ends)]
        inner = np.searchsorted(ends, [condition.lower, condition.upper], side="right")
        low, high = inner / (len(ends) + 1)
    else:
        ends = [condition.lower, condition.upper]
        low, high = np.searchsorted(column, ends, side="right") / len(column)
    if condition.upper == math.inf:
        high = 1.0
    return [(low, high)] if high > low else []


def _set_parts(rules, condition, column):
    n_codes = len(rules.categories[condition.feature] or ()) + 1
    if column is None or not len(column):
        counts = np.append(np.ones(n_codes - 1), 0.0)
    else:
        counts = np.bincount(column.astype(int), minlength=n_codes)
    ends = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    inside = [c for c in condition.categories if c < n_codes]
    return [(ends[c], ends[c + 1]) for c in inside if ends[c + 1] > ends[c]]


def _draw_cell(ax, corner, kind, parts):
    rectangle = _style.part("patches").Rectangle
    x, y = corner
    colour = KINDS[kind][0]
    fill = _style.tint(colour, STRENGTH)
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
    last = "always" if rules.decision == "average" else "otherwise"
    labels = []
    for k, rule in enumerate(rules, start=1):
        answer = _style.answer_text(rules, rule)
        text = f"{k}. {last}: {answer}" if k == rules.n_rules else f"{k}. {answer}"
        labels.append(_style.plain(_style.cut(text, 160, 8)))
    ax.set_yticks(np.arange(rules.n_rules) + 0.5, labels=labels, fontsize=8)
    heads = [
        "\n".join(_style.wrap(rules.feature_names[j], points, 8, most=4)) for j in used
    ]
    ax.set_xticks(np.arange(len(used)) + 0.5, labels=heads, fontsize=8)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for i in range(rules.n_rules + 1):
        ax.axhline(i, color=_style.PALE, lw=0.8, zorder=0)
    ax.spines[:].set_visible(False)
