"""regions: the rules as boxes over two features."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils.types import Column, Rows
from defragtrees.plots import style
from defragtrees.plots.answers import draw_rows, make_colours
from defragtrees.plots.plane import (
    Plane,
    fixed_text,
    fixed_values,
    make_sides,
    merged,
    thresholds_of,
    two_features,
)
from defragtrees.plots.rows import encoded
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["regions"]


def regions(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    features: Sequence[str | int] | None = None,
    ax: "Axes | None" = None,
    *,
    at: Any = None,
    limits: Any = None,
    max_rows: int = 2000,
) -> "Axes":
    """What the rules say over two features: filled by answer, each rule a numbered box.

    The areas are exact: they end at the rules' own thresholds. The other features are
    held fixed, and the title says where; rules that do not hold there have no box. A
    number stands where its rule answers; where several have a say, in a corner of its
    box. Missing values have a strip of their own if X has any.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to draw as points. They give the range to show and the medians, or most
        frequent categories, of the other features.
    y : array-like of shape (n_samples,), optional
        Labels or numbers for the points.
    features : pair of str or int, optional
        Names or numbers; by default the two that most rules ask about.
    ax : matplotlib Axes, optional
    at : mapping from name or number to value, optional
        Where to hold other features.
    limits : pair of pairs of float, optional
        What to show of the two features, in place of the range of X.
    max_rows : int or None, default=2000
        Most points to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0), Condition(1, upper=60.0)), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees", "humidity"),
    ...                  "classification", ("no", "yes"))
    >>> ax = regions(rules, limits=((0, 40), (0, 100)))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('degrees', ['1', '2'])
    """
    used = _used(rules)
    matrix = encoded(rules, X, y)
    features = two_features(features, rules.feature_names, n_uses(rules))
    fixed = fixed_values(rules, at, matrix, features, used)
    plane = Plane(*sides(rules, features, matrix, limits), fixed)
    cells = plane.matrix()
    answers = rules._predict(rules._covers(cells)).reshape(plane.shape)
    ax = style.axes_or_new(ax)
    colours = make_colours(rules, answers[plane.shown], y)
    colours.mesh(ax, plane, answers)
    if matrix is not None:
        draw_rows(ax, plane, colours, matrix, y, max_rows)
    _draw_boxes(ax, plane, rules, cells)
    decorate(ax, plane, rules.axis_names)
    colours.explain(ax)
    others = [j for j in used if j not in features]
    add_title(ax, fixed_text(rules, fixed, others))
    return ax


def _used(rules):
    return sorted({c.feature for rule in rules.rules for c in rule.conditions})


def n_uses(rules):
    """How many rules ask about each feature."""
    used = [c.feature for rule in rules.rules for c in rule.conditions]
    return np.bincount(used, minlength=len(rules.feature_names))


def sides(rules, features, matrix, limits):
    """The two sides of the plane, cut where the rules have thresholds."""
    thresholds = functools.partial(thresholds_of, rules)
    return make_sides(rules, thresholds, features, matrix, limits)


def decorate(ax, plane, names):
    """Limits and words on both sides."""
    ax.set(
        xlim=(plane.x.edges[0], plane.x.edges[-1]),
        ylim=(plane.y.edges[0], plane.y.edges[-1]),
    )
    plane.x.decorate(ax.xaxis, names[plane.x.feature])
    plane.y.decorate(ax.yaxis, names[plane.y.feature])


def add_title(ax, text):
    """A small title, in as many lines as it needs."""
    if text:
        points = ax.get_window_extent().width * 72 / ax.figure.dpi
        ax.set_title("\n".join(style.wrap(text, points, 8, most=4)), fontsize=8)


def _draw_boxes(ax, plane, rules, cells):
    held = rules._covers(cells)
    answering = rules._apply(rules._covers(cells))
    for k in range(rules.n_rules):
        box = held[:, k].reshape(plane.shape) & plane.shown
        answered = (answering == k).reshape(plane.shape) & plane.shown
        blocks = merged(box)
        if k < len(rules.rules):
            for block in blocks:
                outline(ax, plane, block)
        if not rules.is_list and blocks:
            _number(ax, plane, k, blocks[-1], is_corner=True)
        elif answered.any():
            _number(ax, plane, k, _largest(plane, merged(answered)))


def outline(ax, plane, block):
    """The border of a rule's box."""
    patches = style.part("patches")
    settings = {"fill": False, "ec": style.DARK, "lw": 1.4, "zorder": 3}
    ax.add_patch(patches.Rectangle(*plane.rectangle(block), **settings))


def _largest(plane, blocks):
    def size(block):
        _, across, up = plane.rectangle(block)
        return across * up

    return max(blocks, key=size)


def _number(ax, plane, k, block, is_corner=False):
    (x, y), across, up = plane.rectangle(block)
    # Numbers in one corner would lie on each other; they move on with the rule.
    shift = 7 + 15 * (k % 8) if is_corner else 0
    ax.annotate(
        str(k + 1),
        (x, y + up) if is_corner else (x + across / 2, y + up / 2),
        (shift, -7) if is_corner else (0, 0),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
        weight="bold",
        color="black",
        zorder=4,
        bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.8},
    )
