"""Parallel coordinates: rows as lines over the features of the rules."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from defragtrees._utils.types import Rows
from defragtrees.plots import style
from defragtrees.plots.picture import encoded, some_rows, spread
from defragtrees.plots.two_features import GOLDEN
from defragtrees.rules.labels import PLAIN, Scale
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["parallel_coordinates"]

MISSING = -0.16  # height of missing values; others are between 0 and 1
BEYOND = 0.04  # length of an open interval beyond the end of the axis
MOST_FEATURES = 8  # maximum number of features if no rule has conditions


def parallel_coordinates(
    rules: RuleModel,
    X: Rows,
    rule: int | None = None,
    ax: "Axes | None" = None,
    *,
    max_rows: int = 300,
    scale: str = "range",
) -> "Axes":
    """Plot rows as lines over the features of the rules, coloured by predicting rule.

    With a highlighted rule, its accepted intervals, categories and missing values are
    drawn, and rows of other rules are grey. If several rules decide a row, it belongs
    to the matching rule with the largest weight.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
    rule : int, optional
        Number of the rule to highlight, from 0; the last is the default rule.
    ax : matplotlib Axes, optional
    max_rows : int or None, default=300
        Maximum number of lines; up to half of them for the highlighted rule.
    scale : {"range", "rank"}, default="range"
        "range" scales each feature from its lowest to its highest value; "rank" places
        a value at its quantile, which spreads skewed features.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0), Condition(1, upper=3.0)), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees", "wind"), "regression")
    >>> ax = parallel_coordinates(rules, [[21.0, 2.0], [19.0, 4.0]])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['degrees', 'wind']
    """
    if scale not in ("range", "rank"):
        raise ValueError(f"scale must be 'range' or 'rank'; got {scale!r}.")
    if rule is not None and not -rules.n_rules <= rule < rules.n_rules:
        raise ValueError(f"rule must be below {rules.n_rules}; got {rule!r}.")
    matrix = encoded(rules, X)
    kept = None if rule is None else rule % rules.n_rules
    used = [rules.feature_names.index(name) for name in rules.features]
    used = used or list(range(min(MOST_FEATURES, len(rules.feature_names))))
    sides = [_side(rules, j, matrix[:, j], scale) for j in used]
    deciding = rules._apply(rules._covers(matrix))
    rows = _chosen_rows(deciding, kept, max_rows)
    ax = style.axes_or_new(ax, (2.4 + 1.15 * max(len(used), 2), 4.2))
    heights = np.column_stack(
        [side.place(matrix[rows, j], rows) for side, j in zip(sides, used, strict=True)]
    )
    _draw_rows(ax, rules, heights, deciding[rows], kept)
    if kept is not None:
        for condition in [*rules][kept].conditions:
            at = used.index(condition.feature)
            _draw_condition(ax, at, sides[at], condition)
    _decorate(ax, sides, [rules.axis_names[j] for j in used])
    if len(rows) < len(matrix):
        text = f"{len(rows):,} of {len(matrix):,} rows"
        ax.set_title(text, fontsize=8, loc="right")
    return ax


@dataclass(frozen=True, eq=False)
class _FeatureLine:
    """The vertical line of one feature."""

    ends: np.ndarray  # the two ends, or all sorted values if ranked
    names: tuple[str, ...] | None  # categories
    has_missing: bool
    is_ranked: bool = False
    scale: Scale = PLAIN  # how numbers are written

    def text(self, value):
        """Write a value of the feature."""
        is_plain = self.scale.kind is None
        return style.tick_text(value) if is_plain else self.scale.number(value)

    def height(self, values):
        """Heights from 0 to 1; outside for values beyond the ends, unless ranked."""
        values = np.asarray(values, dtype=np.float64)
        if self.is_ranked:
            return np.searchsorted(self.ends, values, side="right") / len(self.ends)
        low, high = self.ends[0], self.ends[-1]
        if high == low:
            return 0.5 + 0.5 * np.sign(values - low)
        return (values - low) / (high - low)

    def place(self, column, rows):
        """Heights of the values of rows; equal categories are jittered."""
        missing = np.isnan(column)
        heights = self.height(np.where(missing, self.ends[0], column))
        nudge = 0.03 * spread(rows, GOLDEN)
        if self.names is not None:
            heights = heights + nudge
        return np.where(missing, MISSING + nudge, heights)


def _side(rules, feature, column, scale):
    known = rules.categories[feature]
    missing = np.isnan(column)
    numbers = np.sort(column[~missing])
    if known is not None:
        names = [str(label) for label in known]
        if (numbers == len(known)).any():
            names.append("any other")
        ends = np.array([0.0, max(len(names) - 1.0, 0.0)])
        return _FeatureLine(ends, tuple(names), bool(missing.any()))
    if not len(numbers):
        numbers = np.zeros(1)
    ends = numbers if scale == "rank" else numbers[[0, -1]]
    words = rules.vocabulary.scales[feature]
    return _FeatureLine(ends, None, bool(missing.any()), scale == "rank", words)


def _chosen_rows(deciding, kept, max_rows):
    if kept is None or max_rows is None:
        return some_rows(len(deciding), max_rows)
    kept_rows, other_rows = (
        np.flatnonzero(m) for m in (deciding == kept, deciding != kept)
    )
    room = max(max_rows // 2, max_rows - len(other_rows))
    kept_rows = kept_rows[some_rows(len(kept_rows), room)]
    other_rows = other_rows[some_rows(len(other_rows), max_rows - len(kept_rows))]
    return np.concatenate([other_rows, kept_rows])


def _draw_rows(ax, rules, heights, deciding, kept):
    places = np.arange(heights.shape[1], dtype=np.float64)
    if len(places) == 1:
        # A line needs two ends.
        places, heights = np.array([-0.25, 0.25]), np.repeat(heights, 2, axis=1)
    alpha = float(np.clip(40 / max(len(heights), 1), 0.25, 0.8))
    handles, labels = [], []
    make = style.part("collections").LineCollection
    every = np.unique(deciding).tolist()
    for k in sorted(every, key=lambda k: (k == kept, k)):
        theirs = heights[deciding == k]
        lines = np.stack([np.broadcast_to(places, theirs.shape), theirs], axis=2)
        is_grey = kept is not None and k != kept
        collection = make(
            lines,
            colors="0.75" if is_grey else style.colour(k),
            linestyles=style.line_style(k),
            linewidths=0.6 if is_grey else 1.0,
            alpha=alpha,
            zorder=1 if is_grey else 2,
        )
        ax.add_collection(collection, autolim=False)
        if not is_grey:
            handles.append(
                style.line(color=style.colour(k), ls=style.line_style(k), lw=2)
            )
            labels.append(f"{k + 1}. {rules._short_then_text([*rules][k])}")
    if kept is not None and set(every) - {kept}:
        handles.append(style.line(color="0.75", lw=2))
        labels.append("other rules")
    title = "rule" if rules.is_exclusive else "strongest rule"
    style.legend(ax, handles, labels, title=title)


def _draw_condition(ax, at, side, condition):
    """Draw a broad bar over the accepted values, and write its ends."""
    look = {"color": "black", "alpha": 0.35, "lw": 9, "solid_capstyle": "butt"}
    if condition.categories is not None:
        inside = [c for c in condition.categories if c < len(side.names)]
        for height in side.height(inside):
            ax.plot([at, at], [height - 0.035, height + 0.035], zorder=3, **look)
    elif condition.lower < condition.upper:
        ends = side.height(condition.edges)
        low, high = np.clip(ends, -BEYOND, 1 + BEYOND)
        low = -BEYOND if condition.lower == -np.inf else low
        high = 1 + BEYOND if condition.upper == np.inf else high
        ax.plot([at, at], [low, high], zorder=3, **look)
        for sign, value in condition.sides:
            height = low if sign in (">", ">=") else high
            text = f"is {side.text(value)}" if sign == "=" else side.text(value)
            _name(ax, at, height, text, is_bold=True)
    if condition.missing and side.has_missing:
        ax.plot([at, at], [MISSING - 0.035, MISSING + 0.035], zorder=3, **look)


def _name(ax, at, height, text, is_bold=False):
    ax.annotate(
        style.plain(text),
        (at, height),
        (7, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
        weight="bold" if is_bold else "normal",
        color="black" if is_bold else "0.3",
        zorder=5,
        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.85},
    )


def _decorate(ax, sides, names):
    has_missing = any(side.has_missing for side in sides)
    for at, side in enumerate(sides):
        ax.plot([at, at], [0, 1], color=style.DARK, lw=0.8, zorder=2.5)
        if side.names is not None:
            for code, name in enumerate(style.distinct(side.names, 80, 8)):
                _name(ax, at, float(side.height(code)), name)
        else:
            _name(ax, at, -0.05, side.text(side.ends[0]))
            _name(ax, at, 1.05, side.text(side.ends[-1]))
        if side.has_missing:
            ax.plot(at, MISSING, "x", color=style.DARK, ms=6, zorder=4)
    n_sides = len(sides)
    ax.set(
        xlim=(-0.4, max(n_sides - 0.4, 0.6)),
        ylim=(MISSING - 0.08 if has_missing else -0.1, 1.1),
    )
    points = 0.9 * style.size_in_points(ax)[0] / max(n_sides, 2)
    heads = ["\n".join(style.wrap(name, points, 8, most=4)) for name in names]
    ax.set_xticks(range(n_sides), labels=heads, fontsize=8)
    words = ["missing"] if has_missing else []
    ax.set_yticks([MISSING] * has_missing, labels=words, fontsize=8)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
