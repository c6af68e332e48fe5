"""Plots of the rules themselves: table, coverage, points."""

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import round_significant
from defragtrees.metrics.rulesets import score_table
from defragtrees.plots import style
from defragtrees.plots.picture import encoded
from defragtrees.rules.conditions import Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import Scorecard

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 1.35  # height of a line of text in the table, in font sizes
PADDING = 0.7  # free height of a row of the table, in lines
GAP = 10.0  # between columns, in points
TABLE_WIDTH, MARGIN = 550.0, 6.0  # of a new figure, in points
LEAST_IF = 0.3  # share of the width that the conditions get at least
BOLD = 1.15  # width of bold letters relative to normal ones
SIZES = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0, 3.5, 3.0)
WRONG: dict[str, Any] = {"hatch": "////", "edgecolor": "white", "lw": 0}
LEFT, RIGHT = 250.0, 165.0  # widths of the texts beside a rule's row, in points
SIZE = 9.0  # of their letters
HEIGHT, ROOM = 0.17, 0.15  # of a line of text and between two rules, in inches
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
    rules: RuleModel,
    ax: "Axes | None",
    beside: Sequence[str] = (),
    least: float = 0.2,
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


def rule_table(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Draw the rules as a table, as they print: if, then, estimates and rows.

    Without `ax` the figure is as large as the rules need; in given Axes the font
    shrinks until all rules fit.

    Parameters
    ----------
    rules : RuleModel
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 1.0)
    >>> rules = RuleList((warm,), Rule((), 0.0), ("degrees",), "regression")
    >>> ax = rule_table(rules)
    >>> [text.get_text() for text in ax.texts][2:5]
    ['prediction', '1', 'degrees > 20']
    """
    header, rows = rules._view.cells()
    cells = [[(c,) if isinstance(c, str) else c for c in row] for row in rows]
    if ax is None:
        points = _table_layout(header, cells, TABLE_WIDTH, SIZES[0])[-1]
        *_, heights, points = _table_layout(header, cells, points, SIZES[0])
        # One point more than the height of the text, in case of rounding.
        width, height = points + 2 * MARGIN, sum(heights) + 2 * MARGIN + 1
        ax = style.axes_or_new(None, (width / 72, height / 72))
        figure: Any = ax.figure
        figure.set_layout_engine("none")
        left, bottom = MARGIN / width, MARGIN / height
        ax.set_position((left, bottom, 1 - 2 * left, 1 - 2 * bottom))
    width, height = style.size_in_points(ax)
    for size in SIZES:
        lefts, lines, heights, needed = _table_layout(header, cells, width, size)
        if sum(heights) <= height and needed <= width + 0.5:
            break
    ax.set(xlim=(0, max(width, needed)), ylim=(max(height, sum(heights)), 0))
    ax.axis("off")
    top = 0.0
    for i, (row, height) in enumerate(zip(lines, heights, strict=True)):
        looks: dict[str, Any] = {"size": size, "va": "baseline"}
        looks["weight"] = "normal" if i else "bold"
        for left, cell in zip(lefts, row, strict=True):
            # Line by line, so that all cells share their baselines.
            for n, line in enumerate(cell):
                if line:
                    foot = top + (PADDING / 2 + 1 + n * LINE) * size
                    ax.text(left + GAP / 2, foot, line, **looks)
        top += height
        ax.axhline(top, color=style.PALE if i else style.GREY, lw=0.8)
    return ax


def _table_layout(header, cells, points, size):
    """Left ends of columns, lines of cells, heights of rows, and width of the table."""
    widths = []
    for j, head in enumerate(header):
        # A header breaks between its words.
        words = [BOLD * style.width(word, size) for word in head.split()]
        lines = [style.width(line, size) for row in cells for line in row[j]]
        widths.append(max([*words, *lines]) + GAP)
    # "then" may be a long list of class shares; "if" gets the rest.
    widths[2] = min(widths[2], 0.25 * points)
    widths[1] = max(points - sum(widths) + widths[1], LEAST_IF * points)
    heads = [
        style.wrap(head, (width - GAP) / BOLD + 0.1, size)
        for head, width in zip(header, widths, strict=True)
    ]
    lines = [heads]
    for row in cells:
        lines.append([])
        for cell, width in zip(row, widths, strict=True):
            parts = [style.wrap(line, width - GAP, size) for line in cell]
            lines[-1].append([line for part in parts for line in part])
    lefts = [sum(widths[:j]) for j in range(len(widths))]
    heights = [(max(map(len, row)) * LINE + PADDING) * size for row in lines]
    return lefts, lines, heights, sum(widths)


def coverage(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the share of rows that each rule matches, and that it predicts.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        By default the shares on the training rows, which the rules store.
    y : array-like of shape (n_samples,), optional
        If given, errors are shown too: the share of wrong predictions, or the root mean
        squared error. It needs X; without X the stored errors are shown.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 1.0)
    >>> rules = RuleList((warm,), Rule((), 0.0), ("degrees",), "regression")
    >>> ax = coverage(rules, [[21.0], [25.0], [15.0], [27.0]])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['1. degrees > 20', '2. otherwise']
    >>> [text.get_text() for text in ax.texts]
    ['1: 75.0 %', '0: 25.0 %']
    """
    matched, predicted, errors = _measured(rules, X, y)
    texts = []
    for k, rule in enumerate(rules):
        text = render.share((matched if predicted is None else predicted)[k])
        if errors is not None and not math.isnan(errors[k]):
            text += f", {rules.outcome.view.error(errors[k])}"
        elif rules._form.has_weights:
            text += f", weight {render.rounded(rule.weight)}"
        texts.append(": ".join(filter(None, (then_text(rules, rule), text))))
    ax, places = rule_rows(rules, ax, texts)
    edge: dict[str, Any] = {"edgecolor": style.GREY, "linewidth": 0.6}
    ax.barh(places, matched, 0.2, color=style.PALE, **edge)
    patch = style.part("patches").Patch
    entries = {"matched": patch(facecolor=style.PALE, **edge)}
    if predicted is not None:
        colours = [rule_look(rules, rule)["color"] for rule in rules]
        ax.barh(places, predicted, 0.12, color=colours)
        entries["predicted"] = patch(color=style.GREY)
        if rules.outcome.error_is_share and errors is not None:
            wrong = np.nan_to_num(predicted * errors)
            ax.barh(places, wrong, 0.12, left=predicted - wrong, color=colours, **WRONG)
            entries["predicted wrongly"] = patch(facecolor=style.GREY, **WRONG)
    ax.set(xlim=(0, min(1.0, 1.05 * np.nanmax(matched))), xlabel="share of rows")
    style.percent_ticks(ax.xaxis)
    ax.spines[["top", "right"]].set_visible(False)
    style.legend_above(ax, entries.values(), entries)
    return ax


def _measured(rules, X, y):
    """Shares of rows that each rule matches and predicts, and its errors.

    The last two are None if several rules decide a row; errors need y or stored ones.
    """
    matrix = encoded(rules, X, y)
    predicted = errors = None
    if matrix is None:
        matched = np.array([rule.coverage for rule in rules])
        if np.isnan(matched).all():
            raise ValueError(
                "These rules have no counts of rows. Pass X to measure coverage."
            )
    else:
        matched = rules._covers(matrix).mean(axis=0)
    if not rules._form.is_exclusive:
        return matched, None, None
    if matrix is None:
        predicted = np.array([rule.share for rule in rules])
        errors = np.array([rule.error for rule in rules])
        errors = None if np.isnan(errors).all() else errors
    else:
        deciding = rules._form.apply(rules._covers(matrix))
        predicted = np.bincount(deciding, minlength=rules.n_rules) / len(matrix)
        if y is not None:
            y, classes = np.asarray(y), rules._form.predict(rules._covers(matrix))
            error = rules.outcome.error
            masks = [deciding == k for k in range(rules.n_rules)]
            errors = np.array(
                [error(y[m], classes[m]) if m.any() else math.nan for m in masks]
            )
    # The default rule matches every row; show only those that it predicts.
    matched[-1] = predicted[-1]
    return matched, predicted, errors


# Points of a scorecard


def scorecard(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Plot the points of each rule as a bar, with the base at the bottom.

    With two classes, points have the colour of the class that they count for; with
    more, there is one bar per class.

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
            looks |= {"va": "center", "fontsize": 8, "textcoords": "offset points"}
            text = render.signed(round_significant(value, 3))
            ax.annotate(text, (value, place), (3 * side, 0), **looks)
    ax.axvline(0.0, color=style.DARK, lw=0.8)
    low, high = min(points.min(), 0), max(points.max(), 0)
    free = 0.2 * (high - low or 1.0)
    ax.set_xlim(low - free * (low < 0), high + free)
    ax.set_xlabel("points")
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
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _check(rules):
    if not isinstance(rules, Scorecard):
        raise ValueError(
            f"This plot needs a scorecard; got a {type(rules).__name__}. Fit with "
            "form='points'."
        )
