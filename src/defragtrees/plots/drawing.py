"""Pictures by matplotlib: one function for each kind of mark."""

import re

import numpy as np

from defragtrees.plots import style
from defragtrees.plots.picture import MISSING_AT, SCALES

__all__ = ["RIGHT_TO_LEFT", "draw_picture", "which_rows"]

MOST_ROWS = 400  # a still picture of more is large and no clearer
LONGEST_NAME, LONGEST_TITLE, LONGEST_TICK = 30, 40, 14
LETTER = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
RIGHT_TO_LEFT = re.compile(f"{LETTER}+(?:[ _.-]{LETTER}+)*")


def draw_picture(picture, ax, palette, rows=None):
    """Draw into an Axes; returns handles and labels for a legend.

    Where there is a choice of scale, the first one is drawn.

    Parameters
    ----------
    picture : Picture
    ax : matplotlib Axes
    palette : mapping from name to colour
    rows : RowTable, optional
        For the marks that need it.
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
