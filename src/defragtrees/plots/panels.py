"""rule_panels: one small picture for each rule."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows, Values
from defragtrees.plots import style
from defragtrees.plots.answers import draw_rows, make_colours
from defragtrees.plots.boxes import decorate, n_uses, outline, sides
from defragtrees.plots.plane import Plane, merged, two_features
from defragtrees.plots.rows import encoded, some_rows
from defragtrees.rules.model import RuleModel

__all__ = ["rule_panels"]

COLUMNS = 4  # panels side by side


def rule_panels(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    features: Sequence[str | int] | None = None,
    axes: Any = None,
    *,
    limits: Any = None,
    max_panels: int = 24,
    max_rows: int = 500,
) -> Values:
    """One panel for each rule: its box over two features, the stronger the more weight.

    Rules that are averaged overlap too much for one picture. A panel shows what a rule
    asks of the two features; the title counts the conditions on other features. Rows
    in which the rule does not hold are pale.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to draw as points; they give the range to show.
    y : array-like of shape (n_samples,), optional
        Labels or numbers for the points.
    features : pair of str or int, optional
        Names or numbers; by default the two that most rules ask about.
    axes : sequence of matplotlib Axes, optional
        At least as many as panels; by default a new figure with four to a line.
    limits : pair of pairs of float, optional
        What to show of the two features, in place of the range of X.
    max_panels : int or None, default=24
        Most panels: the rules with the most weight, or the first ones.
    max_rows : int or None, default=500
        Most points in a panel.

    Returns
    -------
    array of matplotlib Axes, one for each rule shown

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleEnsemble
    >>> warm = Rule((Condition(0, lower=20.0),), 1.0, weight=3.0)
    >>> rules = RuleEnsemble((warm,), Rule((), 0.0), ("degrees", "humidity"), "regression")
    >>> [ax.get_title().splitlines()[0] for ax in rule_panels(rules)]
    ['1: 1, weight 3', '2: 0, weight 1']
    """
    matrix = encoded(rules, X, y)
    features = two_features(features, rules.feature_names, n_uses(rules))
    plane = Plane(
        *sides(rules, features, matrix, limits), np.zeros(len(rules.feature_names))
    )
    shown = _strongest(rules, max_panels)
    panels = _panels(axes, len(shown))
    colours = make_colours(rules, [rule.prediction for rule in rules], y)
    most = max(rule.weight for rule in rules)
    for ax, k in zip(panels, shown, strict=True):
        rule = (*rules.rules, rules.default)[k]
        strength = 0.25 + 0.75 * rule.weight / most if most > 0 else 1.0
        _draw_panel(ax, plane, rule, colours, strength)
        if matrix is not None:
            rows = some_rows(len(matrix), max_rows)
            labels = None if y is None else np.asarray(y)[rows]
            _draw_panel_rows(ax, plane, rule, colours, matrix[rows], labels)
        decorate(ax, plane, rules.axis_names)
        ax.set_title(_panel_title(rules, k, features), fontsize=8)
    if axes is None:
        _label_outer(panels)
        if len(shown) < rules.n_rules:
            text = f"{len(shown)} of {render.plural(rules.n_rules, 'rule')}"
            panels[0].figure.suptitle(text, fontsize=9)
        colours.explain(panels)
    else:
        colours.explain(panels[-1])
    return panels


def _strongest(rules, max_panels):
    order = range(rules.n_rules)
    if max_panels is None or rules.n_rules <= max_panels:
        return list(order)
    weights = [rule.weight for rule in rules]
    return sorted(sorted(order, key=lambda k: -weights[k])[:max_panels])


def _panels(axes, n_panels):
    if axes is not None:
        axes = np.ravel(axes)
        if len(axes) < n_panels:
            raise ValueError(
                f"axes must hold at least {n_panels} Axes, one for each rule; got "
                f"{len(axes)}. Pass more, or a smaller max_panels."
            )
        return axes[:n_panels]
    n_columns = min(COLUMNS, n_panels)
    n_lines = math.ceil(n_panels / n_columns)
    _, grid = style.part("pyplot").subplots(
        n_lines,
        n_columns,
        figsize=(1.0 + 2.1 * n_columns, 0.4 + 2.1 * n_lines),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for ax in grid.ravel()[n_panels:]:
        ax.set_visible(False)
    return grid.ravel()[:n_panels]


def _label_outer(panels):
    """Numbers at the left and the lowest panels only, names once for all."""
    figure = panels[0].figure
    figure.supxlabel(panels[0].get_xlabel(), fontsize=10)
    figure.supylabel(panels[0].get_ylabel(), fontsize=10)
    for i, ax in enumerate(panels):
        ax.xaxis.set_tick_params(labelbottom=i + COLUMNS >= len(panels))
        ax.set(xlabel="", ylabel="")


def _draw_panel(ax, plane, rule, colours, strength):
    asked = {c.feature: c for c in rule.conditions}
    mask = plane.shown.copy()
    for side, shape in ((plane.x, (1, -1)), (plane.y, (-1, 1))):
        if side.feature in asked:
            mask &= asked[side.feature].covers(side.values).reshape(shape)
    fill = colours.area(rule.prediction)
    hatch, lines = colours.lines(rule.prediction)
    patches = style.part("patches")
    for block in merged(mask):
        area = patches.Rectangle(
            *plane.rectangle(block),
            facecolor=style.tint(fill, strength),
            edgecolor=style.tint(lines, strength),
            hatch=hatch,
            lw=0,
            zorder=1,
        )
        ax.add_patch(area)
        outline(ax, plane, block)


def _draw_panel_rows(ax, plane, rule, colours, matrix, y):
    held = rule.covers(matrix)
    for here, alpha in ((~held, 0.2), (held, 1.0)):
        if here.any():
            labels = None if y is None else y[here]
            draw_rows(ax, plane, colours, matrix[here], labels, alpha=alpha, size=9)


def _panel_title(rules, k, features):
    rule = (*rules.rules, rules.default)[k]
    text = f"{k + 1}: {rules._short_then_text(rule)}"
    if rules.decision == "average":
        text += f", weight {render.rounded(rule.weight, 3)}"
    lines = [style.plain(style.cut(text, 140, 8))]
    others = sum(c.n_sides for c in rule.conditions if c.feature not in features)
    if others:
        lines.append(f"and {render.plural(others, 'other condition')}")
    return "\n".join(lines)
