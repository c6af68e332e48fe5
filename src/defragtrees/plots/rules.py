"""Pictures of the rules themselves: table, heat map of features, coverage, overlap."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.metrics.rulesets import covering_count
from defragtrees.plots import style
from defragtrees.plots.picture import encoded
from defragtrees.plots.two_features import thresholds_of
from defragtrees.rules import text as sentences
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage", "feature_heat_map", "overlap", "rule_table"]

LINE = 1.35  # height of a line of text in the table, in font sizes
PADDING = 0.7  # free height of a row of the table, in lines
GAP = 10.0  # between columns, in points
TABLE_WIDTH, MARGIN = 550.0, 6.0  # of a new figure, in points
BOLD = 1.15  # how much wider bold letters are
SIZES = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0, 3.5, 3.0)
CELL_WIDTH, CELL_HEIGHT = 1.35, 0.46  # of the heat map, in inches
STRENGTH = 0.28  # of the colours of its cells
KINDS = {
    "high values": style.COLOURS[1],
    "low values": style.COLOURS[0],
    "an interval": style.COLOURS[2],
    "categories": style.COLOURS[3],
    "missing or not": style.COLOURS[6],
}
LABEL = 250.0  # width of the text of a rule beside its bar, in points


def rule_table(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """The rules as a table: if, then, share of rows and error.

    Without `ax` the figure is as tall as the rules need; in a given one the letters
    shrink until all rules fit.

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
    ['1', 'degrees > 20', '1']
    """
    shares = None
    is_weighted = rules._shown_weight(rules.default) is not None
    if is_weighted and rules.outcome.has_probabilities:
        shares = [style.shares_text(rules, rule) for rule in rules]
    header, cells = sentences.rule_table(
        rules,
        answer_texts=shares,
        weight_text=lambda weight: render.rounded(weight, 3),
        with_intervals=False,
    )
    if ax is None:
        *_, heights = _table_layout(header, cells, TABLE_WIDTH, SIZES[0])
        # One point more than the text is high: rounding must not make it smaller.
        wide, high = TABLE_WIDTH + 2 * MARGIN, sum(heights) + 2 * MARGIN + 1
        ax = style.axes_or_new(None, (wide / 72, high / 72))
        figure: Any = ax.figure
        figure.set_layout_engine("none")
        left, bottom = MARGIN / wide, MARGIN / high
        ax.set_position((left, bottom, 1 - 2 * left, 1 - 2 * bottom))
    wide, high = style.size_in_points(ax)
    for size in SIZES:
        lefts, lines, heights = _table_layout(header, cells, wide, size)
        if sum(heights) <= high:
            break
    ax.set(xlim=(0, wide), ylim=(max(high, sum(heights)), 0))
    ax.axis("off")
    top = 0.0
    for i, (row, height) in enumerate(zip(lines, heights, strict=True)):
        looks: dict[str, Any] = {"size": size, "va": "baseline"}
        looks["weight"] = "normal" if i else "bold"
        for left, cell in zip(lefts, row, strict=True):
            # Line by line, so that letters of all cells stand on one line.
            for n, line in enumerate(cell):
                if line:
                    foot = top + (PADDING / 2 + 1 + n * LINE) * size
                    ax.text(left + GAP / 2, foot, line, **looks)
        top += height
        ax.axhline(top, color=style.PALE if i else style.GREY, lw=0.8)
    return ax


def _table_layout(header, cells, points, size):
    """Left ends of the columns, the lines of each cell, and heights of the rows."""
    widths = [
        max(
            BOLD * style.width(header[j], size),
            *[style.width(row[j], size) for row in cells],
        )
        + GAP
        for j in range(len(header))
    ]
    # "then" may be a long list of class shares; "if" gets all that is left.
    widths[2] = min(widths[2], 0.25 * points)
    widths[1] = max(points - sum(widths) + widths[1], 0.2 * points)
    lines = [
        [
            style.wrap(cell, widths[j] - GAP, size) if j in (1, 2) else [cell]
            for j, cell in enumerate(row)
        ]
        for row in (header, *cells)
    ]
    lefts = [sum(widths[:j]) for j in range(len(widths))]
    heights = [(max(map(len, row)) * LINE + PADDING) * size for row in lines]
    return lefts, lines, heights


def feature_heat_map(
    rules: RuleModel, X: Rows | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Rules against features: each condition in words, in colour and as a bar.

    The colour of a cell shows which side of the feature is required. The bar at its
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
    n_rules, n_columns = rules.n_rules, max(1, len(used))
    size = (1.6 + CELL_WIDTH * n_columns, 1.3 + CELL_HEIGHT * n_rules)
    ax = style.axes_or_new(ax, size)
    wide, high = style.size_in_points(ax)
    points, letters = 0.92 * wide / n_columns, max(min(8.0, 0.28 * high / n_rules), 3.0)
    rectangle = style.part("patches").Rectangle
    seen = set()
    for k, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            place = used.index(condition.feature)
            seen.add(kind := _kind(condition))
            colour, fill = KINDS[kind], style.tint(KINDS[kind], STRENGTH)
            ax.add_patch(rectangle((place, k), 1, 1, fc=fill, ec="white", lw=2))
            ax.add_patch(rectangle((place + 0.06, k + 0.8), 0.88, 0.09, fc="white"))
            for low, high in _accepted(condition, _column(rules, condition, matrix)):
                corner = place + 0.06 + 0.88 * low, k + 0.8
                ax.add_patch(rectangle(corner, 0.88 * (high - low), 0.09, fc=colour))
            text = condition.text(["x"] * len(names), *rules.vocabulary[1:])
            text = "\n".join(style.wrap(text, points, letters, most=2))
            looks: dict[str, Any] = {"ha": "center", "va": "center"}
            looks |= {"linespacing": 1.0, "fontsize": letters}
            ax.text(place + 0.5, k + 0.42, text, **looks)
    ax.set(xlim=(0, n_columns), ylim=(n_rules, 0))
    last = rules.default_text
    labels = []
    for k, rule in enumerate(rules, start=1):
        text = rules._short_then_text(rule)
        text = f"{k}. {last}: {text}" if k == n_rules else f"{k}. {text}"
        labels.append(style.plain(style.cut(text, 160, 8)))
    ax.set_yticks(np.arange(n_rules) + 0.5, labels=labels, fontsize=8)
    heads = [
        "\n".join(style.wrap(rules.axis_names[j], points, 8, most=4)) for j in used
    ]
    ax.set_xticks(np.arange(len(used)) + 0.5, labels=heads, fontsize=8)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    for i in range(n_rules + 1):
        ax.axhline(i, color=style.PALE, lw=0.8, zorder=0)
    ax.spines[:].set_visible(False)
    kinds = [kind for kind in KINDS if kind in seen]
    if kinds:
        patch = style.part("patches").Patch
        areas = [patch(color=style.tint(KINDS[kind], STRENGTH)) for kind in kinds]
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.02)}
        style.legend(ax, areas, kinds, ncols=min(len(kinds), n_columns), **below)
    return ax


def _kind(condition):
    if condition.categories is not None:
        return "categories"
    low, high = math.isfinite(condition.lower), math.isfinite(condition.upper)
    if condition.lower >= condition.upper or not (low or high):
        return "missing or not"
    if low and high:
        return "an interval"
    return "high values" if low else "low values"


def _column(rules, condition, matrix):
    """The sorted values of a feature; without rows one of each bin or category."""
    feature = condition.feature
    if matrix is not None:
        column = matrix[:, feature]
        column = np.sort(column[~np.isnan(column)])
        if len(column):
            return column
    if rules.categories[feature] is not None:
        return np.arange(len(rules.categories[feature]))
    return np.append(thresholds_of(rules, feature), np.inf)


def _accepted(condition, column):
    """Pairs of shares from 0 to 1, between which the feature is accepted."""
    if condition.categories is not None:
        codes = list(condition.categories)
        lows, highs = (np.searchsorted(column, codes, s) for s in ("left", "right"))
    else:
        ends = [[end] for end in condition.edges]
        lows, highs = np.searchsorted(column, ends, side="right")
    shares = zip(lows / len(column), highs / len(column), strict=True)
    return [(low, high) for low, high in shares if high > low]


def coverage(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """For each rule the share of rows that it matches, and of those that it predicts.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        By default the shares of the training rows, which the rules carry.
    y : array-like of shape (n_samples,), optional
        With it errors are shown too: the share of wrong predictions, or the mean
        squared error. Without X it must not be given: the rules carry their errors.
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
    ['1. degrees > 20: 1', '2. otherwise: 0']
    >>> [text.get_text() for text in ax.texts]
    ['75.0 %', '25.0 %']
    """
    held, answered, errors = _measured(rules, X, y)
    ax = style.axes_or_new(ax, (8.0, 1.1 + 0.3 * rules.n_rules))
    places = np.arange(rules.n_rules)
    blue, orange = style.COLOURS[:2]
    edge: dict[str, Any] = {"edgecolor": style.GREY, "linewidth": 0.6}
    ax.barh(places, held, 0.75, color=style.PALE, label="holds", **edge)
    if answered is not None:
        ax.barh(places, answered, 0.45, color=blue, label="answers")
        if rules.outcome.error_is_share and errors is not None:
            wrong = np.nan_to_num(answered * errors)
            looks: dict[str, Any] = {"color": orange, "hatch": "////"}
            looks |= {"edgecolor": "white", "lw": 0}
            ax.barh(places, wrong, 0.45, left=answered - wrong, label="wrong", **looks)
    beside: dict[str, Any] = {"va": "center", "fontsize": 8}
    beside["transform"] = ax.get_yaxis_transform()
    labels = []
    for k, (row, rule) in enumerate(zip(rules.rows(), rules, strict=True)):
        text = render.share((held if answered is None else answered)[k])
        if errors is not None and not math.isnan(errors[k]):
            text += f", {rules.outcome.error_phrase(errors[k])}"
        elif (weight := rules._shown_weight(rule)) is not None:
            text += f", weight {render.rounded(weight, 3)}"
        ax.text(1.02, k, text, **beside)
        # The conditions are cut where they are long.
        then = style.cut(rules._short_then_text(rule), LABEL / 2, 8)
        asked = row["if"]
        if asked == "otherwise":
            asked = rules.default_text
        room = LABEL - style.width(f"{row['rule']}. : {then}", 8)
        asked = style.cut(asked, room, 8)
        labels.append(style.plain(f"{row['rule']}. {asked}: {then}"))
    ax.set_yticks(places, labels=labels, fontsize=8)
    ax.set(
        xlim=(0, min(1.0, 1.05 * np.nanmax(held))),
        ylim=(rules.n_rules - 0.4, -0.6),
        xlabel="share of rows",
    )
    ax.spines[["top", "right"]].set_visible(False)
    style.legend_above(ax)
    return ax


def _measured(rules, X, y):
    """Shares of rows that each rule matches and that it predicts, and its errors.

    There are no predicted rows where several rules decide, and no errors without
    labels.
    """
    matrix = encoded(rules, X, y)
    answered = errors = None
    if matrix is None:
        held = np.array([rule.coverage for rule in rules])
        if np.isnan(held).all():
            raise ValueError(
                "These rules do not know their share of rows. Pass X to measure it."
            )
    else:
        held = rules._covers(matrix).mean(axis=0)
    if not rules.is_exclusive:
        return held, None, None
    if matrix is None:
        answered = np.array([rule.share for rule in rules])
        errors = np.array([rule.error for rule in rules])
        errors = None if np.isnan(errors).all() else errors
    else:
        answering = rules._apply(rules._covers(matrix))
        answered = np.bincount(answering, minlength=rules.n_rules) / len(matrix)
        if y is not None:
            y, predicted = np.asarray(y), rules._predict(rules._covers(matrix))
            error = rules.outcome.error
            masks = [answering == k for k in range(rules.n_rules)]
            errors = np.array(
                [error(y[m], predicted[m]) if m.any() else math.nan for m in masks]
            )
    # The otherwise matches every row, which is of no interest.
    held[-1] = answered[-1]
    return held, answered, errors


def overlap(rules: RuleModel, X: Rows, ax: "Axes | None" = None) -> "Axes":
    """How many rules match a row: the share of rows for each number.

    The "otherwise" is left out. Of a classification, rows that match rules with
    different predictions are hatched: there the order of the rules, or their weight,
    decides.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                 ("no", "yes"))
    >>> overlap(rules, [[21.0], [19.0]]).get_xlabel()
    'rules that hold in a row'
    """
    matrix = encoded(rules, X)
    held = rules._covers(matrix)
    counts, mean = rules._n_matching(held), covering_count(rules, held)
    labels, differs = rules.outcome.labels, np.zeros(len(held), bool)
    if labels and len(rules.rules):
        given = np.array([rule.prediction for rule in rules.rules])
        kinds = [held[:, :-1][:, given == c].any(axis=1) for c in labels]
        differs = np.sum(kinds, axis=0) > 1
    ax = style.axes_or_new(ax, (5.4, 3.4))
    places = np.arange(counts.max() + 1)
    alike = np.bincount(counts[~differs], minlength=len(places)) / len(matrix)
    apart = np.bincount(counts[differs], minlength=len(places)) / len(matrix)
    blue, orange = style.COLOURS[:2]
    ax.bar(places, alike, 0.7, color=blue, label="one answer" if labels else "rows")
    if labels:
        hatched: dict[str, Any] = {"color": orange, "hatch": "////"}
        hatched |= {"edgecolor": "white", "lw": 0}
        ax.bar(places, apart, 0.7, bottom=alike, label="different answers", **hatched)
    ax.axvline(mean, color=style.DARK, ls="--", lw=1, label=f"mean {mean:.2f}")
    ends = alike + apart
    looks: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
    looks |= {"textcoords": "offset points"}
    looks["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    for place in np.flatnonzero(ends) if len(places) <= 12 else ():
        ax.annotate(render.share(ends[place]), (place, ends[place]), (0, 8), **looks)
    ax.set(xlabel="rules that hold in a row", ylabel="share of rows")
    ax.set_ylim(0, 1.12 * ends.max())
    ax.set_xlim(-0.6, max(counts.max(), 1) + 0.6)
    style.ticks_at_integers(ax.xaxis)
    ax.spines[["top", "right"]].set_visible(False)
    style.legend_above(ax)
    return ax
