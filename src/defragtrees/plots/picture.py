"""Picture: the data of a picture, independent of what draws it, and its drawing.

A picture has two axes and some marks. `draw_picture` draws it with matplotlib, for the
library and for pages without scripts; `marks.js` of the report draws it with Plotly.
A new kind of mark is a class here and a function in each of the two.

Colours are names, and who draws has a palette: g0 to g7 for classes and methods, s0 to
s4 for numbers from low to high, each also soft (`g0-soft`), ink, quiet, accent, paper.
Where a reader may choose the scale, places are a dict from `SCALES` to numbers.
"""

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length

from defragtrees.data.tables import check_finite
from defragtrees.plots import style

SCALES = ("order", "value")
MISSING_AT = -0.14  # where missing values lie on the axis of a feature

MOST_ROWS = 400  # a still picture of more is large and no clearer
LONGEST_NAME, LONGEST_TITLE, LONGEST_TICK = 30, 40, 14
LETTER = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
RIGHT_TO_LEFT = re.compile(f"{LETTER}+(?:[ _.-]{LETTER}+)*")

Ticks = dict[str, list[tuple[float, str]]]  # by scale


@dataclass(frozen=True)
class Axis:
    """One side of a picture."""

    title: str = ""
    limits: tuple[float, float] | None = None  # by default what the marks need
    ticks: Ticks | None = None  # by default numbers
    is_count: bool = False  # whether only whole numbers make sense
    is_share: bool = False  # whether numbers are to be shown in per cent
    starts_at_zero: bool = False
    is_bare: bool = False  # whether there is no line


@dataclass(frozen=True)
class Curve:
    """Points that are joined, or with the marker "ring" circles around points."""

    kind: ClassVar[str] = "curve"
    label: str
    x: list[float]
    y: list[float]
    colour: str
    marker: str = "o"  # in the words of matplotlib, as is `line`; "" is none
    line: str = "-"
    spread: list[float] | None = None  # half the length of error bars
    reach: list[tuple[float, float]] | None = None  # their two ends, where they differ
    title: str = ""  # shown with the text of every point
    texts: list[str] | None = None  # of each point; they contain no names
    numbers: list[int] | None = None  # that stand beside the points


@dataclass(frozen=True)
class Level:
    """A dashed line over the whole width."""

    kind: ClassVar[str] = "level"
    label: str
    y: float
    text: str = ""


@dataclass(frozen=True)
class FeatureAxis:
    """One feature from 0 to 1, and where the rows lie on it."""

    name: str
    places: dict[str, list[float]]  # of each row, by scale
    texts: list[str]  # the value in each row
    labels: Ticks
    stretches: list[tuple[float, float]]  # by order, where many rows share a value
    has_missing: bool


@dataclass(frozen=True)
class RowLines:
    """One line for each row, over axes that lie below each other.

    Of many rows the middle half of each prediction is a band, which can still be read.
    """

    kind: ClassVar[str] = "row_lines"
    axes: list[FeatureAxis]
    most_lines: int = 60
    most_chosen: int = 200  # of the rows of one rule


@dataclass(frozen=True)
class RowDots:
    """One dot for each row at two features."""

    kind: ClassVar[str] = "row_dots"
    x: FeatureAxis
    y: FeatureAxis


@dataclass(frozen=True)
class RuleBox:
    """Rectangles that a rule matches."""

    rule: int  # from 0
    sides: dict[str, list[tuple[float, ...]]]  # left, right, bottom, top; by scale
    is_filled: bool = False  # whether the rule predicts every row inside
    is_dashed: bool = False  # whether the rule has conditions that are not seen


@dataclass(frozen=True)
class RuleBoxes:
    """Rectangles of rules: all, with their numbers, or that of a chosen rule only."""

    kind: ClassVar[str] = "rule_boxes"
    boxes: list[RuleBox]
    is_for_chosen: bool = False


@dataclass(frozen=True)
class Picture:
    """Two axes and marks, the lowest first."""

    x: Axis
    y: Axis
    marks: tuple[Any, ...]
    height: int = 320  # in pixels, on a page that is some 740 wide
    legend: str = ""  # what stands before the legend
    scale: str | None = None  # the name of the choice of a scale, if there is one

    def to_dict(self):
        """The picture as plain data, each mark with its kind."""
        marks = [{"kind": mark.kind, **asdict(mark)} for mark in self.marks]
        return {**asdict(replace(self, marks=())), "marks": marks}


@dataclass(frozen=True)
class RowTable:
    """The rows and rules that marks draw; a group of predictions has one colour."""

    labels: list[str]  # of the groups
    is_ordered: bool  # whether groups are stretches of numbers, from low to high
    number: list[int]  # of each row, from 1
    rule: list[int]  # that predicts it, from 1
    says: list[str]  # the predictions of the rules
    ensemble: list[str]  # and of the ensemble
    says_group: list[int]
    ensemble_group: list[int]
    y: list[str] | None
    agrees: list[bool] | None  # None for numbers, which are never quite the same
    rule_groups: list[int]  # of each rule, the group of its prediction
    members: list[list[int]]  # of each rule, the places of its rows in these lists

    def colour(self, group):
        """The name of a group's colour."""
        return f"{'s' if self.is_ordered else 'g'}{group}"


def draw_picture(picture, ax, palette, rows=None):
    """Draw a Picture into an Axes; returns handles and labels for a legend.

    Where there is a choice of scale, the first one is drawn. Marks of rows and rules
    need a RowTable.
    """
    entries = []
    for mark in picture.marks:
        entries += DRAWERS[mark.kind](ax, mark, palette, rows)
    for side, axis in ((ax.xaxis, picture.x), (ax.yaxis, picture.y)):
        _decorate(ax, side, axis)
    return [handle for handle, _ in entries], [label for _, label in entries]


def which_rows(rows):
    """Places of the rows that are drawn as dots, and how to say which they are."""
    step = -(-len(rows.number) // MOST_ROWS)
    ending = {2: "nd", 3: "rd"}.get(step, "th")
    words = "" if step == 1 else f" (every {step}{ending} row)"
    return range(0, len(rows.number), step), words


def _decorate(ax, side, axis):
    set_limits = getattr(ax, f"set_{side.axis_name}lim")
    if axis.title:
        side.set_label_text(_short(axis.title, LONGEST_TITLE))
    if axis.limits is not None:
        set_limits(*axis.limits)
    if axis.starts_at_zero:
        set_limits(0)
    if axis.is_count:
        side.get_major_locator().set_params(integer=True)
    if axis.is_share:
        side.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    if axis.ticks is not None:
        letter = 0.015 if side.axis_name == "x" else 0.008
        marks = _thinned(axis.ticks[SCALES[0]], letter)
        side.set_ticks([at for at, _ in marks], labels=[text for _, text in marks])
    if axis.is_bare:
        ax.spines["left" if side.axis_name == "y" else "bottom"].set_visible(False)


def _curve(ax, mark, palette, rows):
    colour = palette[mark.colour]
    if mark.marker == "ring":
        look = {"ms": 13, "mfc": "none", "mec": colour, "mew": 2, "label": mark.label}
        return [(ax.plot(mark.x, mark.y, "o", **look)[0], mark.label)]
    look = {"fmt": f"{mark.marker}{mark.line}", "color": colour, "label": mark.label}
    spread = mark.spread
    if mark.reach is not None:
        ends = list(zip(mark.y, mark.reach, strict=True))
        spread = [
            [y - low for y, (low, _) in ends],
            [high - y for y, (_, high) in ends],
        ]
        look |= {"elinewidth": 1.2, "capsize": 2.5}
    beside = {"textcoords": "offset points", "va": "center", "fontsize": 8}
    for x, y, number in zip(mark.x, mark.y, mark.numbers or (), strict=False):
        ax.annotate(str(number), (x, y), (5, 5), color=palette["quiet"], **beside)
    return [(ax.errorbar(mark.x, mark.y, spread, **look), mark.label)]


def _level(ax, mark, palette, rows):
    line = ax.axhline(mark.y, color=palette["quiet"], ls="--", lw=1, label=mark.label)
    return [(line, mark.label)]


def _row_lines(ax, mark, palette, rows):
    """Axes lie, so that names of any length stand beside them."""
    draw = _row_bands if len(rows.number) > mark.most_lines else _each_row
    entries = []
    for group, label in enumerate(rows.labels):
        members = [i for i, g in enumerate(rows.says_group) if g == group]
        if members:
            colour = palette[rows.colour(group)]
            draw(ax, mark.axes, members, colour)
            entries.append((style.line(color=colour, lw=2), label))
    for at, axis in enumerate(mark.axes):
        _lying_axis(ax, axis, at, palette)
    names = [_short(axis.name, LONGEST_NAME) for axis in mark.axes]
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelcolor=palette["ink"])
    ax.set_xticks([])
    return entries


def _each_row(ax, axes, members, colour):
    """One path for each row: where many lie on one another it is stronger."""
    make = style.part("collections").LineCollection
    lines = [
        [(axis.places[SCALES[0]][i], at) for at, axis in enumerate(axes)]
        for i in members
    ]
    ax.add_collection(make(lines, colors=colour, lw=0.6, alpha=0.45))


def _row_bands(ax, axes, members, colour):
    """The middle half of the rows on each axis, and their median as a line."""
    places = [[axis.places[SCALES[0]][i] for i in members] for axis in axes]
    there = [[p for p in some if p > MISSING_AT] for some in places]
    at = [k for k, some in enumerate(there) if some]
    low, middle, high = (
        [np.quantile(there[k], level) for k in at] for level in (0.25, 0.5, 0.75)
    )
    if len(at) == 1:
        # A band needs two lines to lie between.
        at = [at[0] - 0.12, at[0] + 0.12]
        low, middle, high = (ends * 2 for ends in (low, middle, high))
    ax.fill_betweenx(at, low, high, color=colour, alpha=0.3, lw=0)
    ax.plot(middle, at, color=colour, lw=1.6)


def _lying_axis(ax, axis, at, palette):
    """A lying axis; equal values are a thick stretch, values stand below it."""
    look = {"color": palette["quiet"], "zorder": 3}
    ax.plot([0, 1], [at, at], lw=0.8, **look)
    for low, high in axis.stretches:
        ends = [low + 0.003, high - 0.003]
        ax.plot(ends, [at, at], lw=3, solid_capstyle="butt", **look)
    for place, label in _thinned(axis.labels[SCALES[0]], 0.013):
        align = "left" if place < 0.03 else "right" if place > 0.97 else "center"
        _note(ax, label, (place, at), -9, align, palette)
    if axis.has_missing:
        _note(ax, "missing", (MISSING_AT, at), -9, "center", palette)


def _rule_boxes(ax, mark, palette, rows):
    if mark.is_for_chosen:
        return []
    corners = {}
    for box in mark.boxes:
        soft = palette[f"{rows.colour(rows.rule_groups[box.rule])}-soft"]
        for left, right, bottom, top in box.sides[SCALES[0]]:
            ax.fill(
                [left, right, right, left],
                [bottom, bottom, top, top],
                facecolor=soft if box.is_filled else "none",
                edgecolor=palette["quiet"],
                ls=(0, (4, 3)) if box.is_dashed else "-",
                lw=0.9,
                zorder=1,
            )
            corners.setdefault((left, top), []).insert(0, str(box.rule + 1))
    for corner, numbers in corners.items():
        words = ", ".join(numbers[:6]) + ", …" * (len(numbers) > 6)
        _note(ax, words, corner, -7, "left", palette)
    return []


def _row_dots(ax, mark, palette, rows):
    """Rows as dots, and as crosses where the rules differ."""
    drawn, _ = which_rows(rows)
    entries = []
    for group, label in enumerate(rows.labels):
        for does_agree, marker, size in ((True, "o", 4), (False, "X", 6)):
            some = [
                i
                for i in drawn
                if rows.ensemble_group[i] == group
                and (rows.agrees is None or rows.agrees[i]) == does_agree
            ]
            if some:
                dots = ax.plot(
                    [mark.x.places[SCALES[0]][i] for i in some],
                    [mark.y.places[SCALES[0]][i] for i in some],
                    marker,
                    ms=size,
                    mfc=palette[rows.colour(group)],
                    mec=palette["paper"],
                    mew=0.4,
                    zorder=2 if does_agree else 3,
                )[0]
                differs = f"{_isolated(label)}, the rules differ"
                entries.append((dots, label if does_agree else differs))
    return entries


DRAWERS = {
    "curve": _curve,
    "level": _level,
    "row_lines": _row_lines,
    "rule_boxes": _rule_boxes,
    "row_dots": _row_dots,
}


def _note(ax, words, place, shift, align, palette):
    ax.annotate(
        words,
        place,
        (0, shift),
        textcoords="offset points",
        ha=align,
        va="center",
        fontsize=7.5,
        color=palette["quiet"],
        zorder=4,
        bbox={"fc": palette["paper"], "ec": "none", "alpha": 0.75, "pad": 0.8},
    )


def _thinned(labels, letter):
    """Labels that do not touch each other; `letter` is the width of one."""
    kept = []
    for place, label in labels:
        label = _short(label, LONGEST_TICK)
        room = letter * (len(label) + len(kept[-1][1]) + 3) / 2 if kept else 0.0
        if not kept or place - kept[-1][0] >= room:
            kept.append((place, label))
    return kept


def _isolated(label):
    """A label that keeps its direction to itself, inside a longer text."""
    return f"\u2068{label}\u2069" if RIGHT_TO_LEFT.search(label) else label


def _short(name, longest):
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def encoded(model, X, y=None):
    """X encoded as numbers for a RuleSet or Forest, or None; checked against y."""
    if X is None:
        if y is not None:
            raise ValueError("y needs the rows that it belongs to; pass X too.")
        return None
    check_consistent_length(X, y)
    matrix = model.encode(X)
    check_finite(matrix, model.feature_names)
    if not len(matrix):
        raise ValueError("At least one row is needed; X has none.")
    return matrix


def some_rows(n_rows, most):
    """Numbers of at most so many rows, evenly spread.

    Examples
    --------
    >>> some_rows(9, 3).tolist()
    [0, 4, 8]
    """
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(int)


def spread(rows, share):
    """Places in (-0.5, 0.5) for row numbers, well spread whatever their order.

    Multiples of an irrational share of one; the same rows lie at the same places.
    """
    return (np.asarray(rows) + 1) * share % 1.0 - 0.5
