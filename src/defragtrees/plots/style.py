"""Shared style of plots: colours, markers, ticks, text that fits its place."""

from functools import lru_cache

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import COLOURS
from defragtrees._utils.optional import require
from defragtrees._utils.values import round_significant

# Markers differ where colours do, for colour-blind readers.
MARKERS = "osD^vP*X"
DARK, GREY, PALE = "0.15", "0.45", "0.88"
TICKS = 10.0  # size of the letters of ticks and titles of axes
LEGEND = 150.0  # width of a text in a legend, in points
# Where a number may stand beside its point, as far from it as it is wide and high.
AROUND = np.array(
    [(-1, 1), (1, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (-1, 3), (1, -3), (3, -1)]
)
HINTED = 1.06  # hinted letters on a screen are wider than their outlines
PALETTE = {
    **{f"g{i}": colour for i, colour in enumerate(COLOURS)},
    "accent": COLOURS[1],
    "quiet": GREY,
}


def part(name):
    """Import a module of matplotlib, or raise the error that it is not installed."""
    return require(f"matplotlib.{name}", "A plot")


def axes_or_new(ax, size=(6.4, 4.4)):
    """Return the given Axes, or one in a new figure of this size; without a box."""
    if ax is None:
        ax = part("pyplot").subplots(figsize=size, layout="constrained")[1]
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def size_in_points(ax):
    """Width and height of an Axes in points."""
    box, scale = ax.get_window_extent(), 72 / ax.figure.dpi
    return box.width * scale, box.height * scale


def lay_out(ax):
    """Lay out the figure of an Axes; only then it is known how wide the Axes are."""
    # The figure of a SubFigure is the whole one.
    ax.figure.figure.draw_without_rendering()


def ticks_at_integers(axis):
    """Put the ticks of an axis at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)


def number_ticks(axis):
    """Write the ticks of an axis as numbers for people: 125,000, never 1.25e5.

    Along x there are as many as fit beside one another; set the limits first.
    """
    axis.set_major_formatter(lambda value, _: tick_text(value))
    low, high = axis.get_view_interval()
    # A legend or the labels of the other axis may still take room.
    room = 0.6 * size_in_points(axis.axes)[0]
    for n_intervals in (8, 6, 5, 4, 3, 2):
        locator = part("ticker").MaxNLocator(n_intervals, steps=(1, 2, 5, 10))
        ticks = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
        taken = sum(width(tick_text(tick), TICKS) + TICKS / 2 for tick in ticks)
        if axis.axis_name == "y" or taken <= room:
            break
    axis.set_major_locator(locator)


def tick_text(value):
    """Write the number of a tick, with separators from 10,000 on.

    Examples
    --------
    >>> tick_text(125_000.0), tick_text(0.1 + 0.2), tick_text(1975.0)
    ('125,000', '0.3', '1975')
    """
    return render.grouped(round_significant(value, 10))


def percent_ticks(axis):
    """Write the ticks of an axis in per cent."""
    axis.set_major_formatter(lambda value, _: f"{round_significant(100 * value, 4):g}%")


def class_numbers(rules):
    """Number of each class's colour, from 0 to 7, by label.

    Of two classes, the class of interest is 1. More have the order of their labels;
    of more than eight, those that rules predict come first and the rest share 7.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                  ("no", "yes"))
    >>> class_numbers(rules)
    {'no': 0, 'yes': 1}
    """
    labels = [*(rules.outcome.labels or ())]
    if rules.outcome.is_binary:
        labels.sort(key=lambda label: label == rules.outcome.positive_class)
    if len(labels) > len(COLOURS):
        predicted = {rule.prediction for rule in rules}
        labels.sort(key=lambda label: label not in predicted)
    return {label: min(i, len(COLOURS) - 1) for i, label in enumerate(labels)}


def marker(i):
    """Marker of class i; it differs where colours repeat."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def plain(text):
    r"""Make text that matplotlib shows literally: one line, dollar signs escaped.

    Examples
    --------
    >>> plain("price_$ in\n$")
    'price_\\$ in \\$'
    """
    return " ".join(str(text).split()).replace("$", r"\$")


def width(text, size):
    """Width of a text in points, in the default font at this size."""
    family = tuple(part("pyplot").rcParams["font.family"])
    return sum(_letter_width(letter, family) for letter in text) * HINTED * size / 100


@lru_cache(maxsize=4096)
def _letter_width(letter, family):
    # Letter by letter and cached: wrapping measures the same texts many times.
    prop = part("font_manager").FontProperties(family=list(family), size=100)
    path = part("textpath").text_to_path
    return path.get_text_width_height_descent(letter, prop, ismath=False)[0]


def wrap(text, points, size, most=None):
    """Wrap text into lines of at most `points` in a font of this size.

    With more than `most` lines, the last one ends with an ellipsis.
    """
    lines = [""]
    for chunk in _chunks(str(text).split()):
        joined_chunk = " ".join(chunk)
        # A comparison stays on one line if it can.
        for piece in [joined_chunk] if width(joined_chunk, size) <= points else chunk:
            joined = f"{lines[-1]} {piece}".strip()
            if width(joined, size) <= points:
                lines[-1] = joined
            elif width(piece, size) <= points:
                lines.append(piece)
            else:
                # A word that is broken in any case begins on this line.
                lines[-1:] = _broken(joined, points, size)
    if most is not None and len(lines) > most:
        lines, last = lines[:most], lines[most - 1]
        while last and width(f"{last}…", size) > points:
            last = last[:-1]
        lines[-1] = f"{last.rstrip(' …')}…"
    return [plain(line) for line in lines]


def _chunks(words):
    """Group words: a comparison and its two sides belong together."""
    groups = []
    for i, word in enumerate(words):
        if groups and {word, words[i - 1]} & {"<", "<=", ">"}:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _broken(word, points, size):
    """Break a word into pieces that fit; names without spaces are often long."""
    pieces = []
    while width(word, size) > points and len(word) > 1:
        at = len(word) - 1
        while at > 1 and width(word[:at], size) > points:
            at -= 1
        # Prefer a break after an underscore or a similar mark.
        at = max(word.rfind(mark, at // 3, at) + 1 for mark in " _-./,;") or at
        pieces.append(word[:at].rstrip())
        word = word[at:]
    return [*pieces, word]


def distinct(texts, points, size):
    """Labels shortened to so many points that keep the parts in which they differ."""
    texts = [" ".join(str(text).split()) for text in texts]
    return list(map(plain, render.distinct(texts, points, lambda t: width(t, size))))


def label(text, points, size):
    """Plain text without its middle if it is wider than so many points.

    Labels often share their start and differ at the end, so both ends stay.
    """
    text = " ".join(str(text).split())
    return plain(render.middle_cut(text, points, lambda t: width(t, size)))


def legend(owner, handles, labels, **settings):
    """Add a legend beside an Axes or, with `loc`, elsewhere; return it."""
    if "loc" not in settings:
        settings |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    settings.setdefault("ncols", 1 + (len(labels) - 1) // 20)
    settings = {"borderaxespad": 0.2, "fontsize": 9, "title_fontsize": 9, **settings}
    # matplotlib leaves out labels that begin with an underscore.
    names = [f"entry {i}" for i in range(len(labels))]
    made = owner.legend(handles, names, frameon=False, **settings)
    for text, words in zip(made.get_texts(), labels, strict=True):
        text.set_text("\n".join(wrap(words, LEGEND, 8, most=2)))
    return made


def legend_above(ax, handles=None, labels=None):
    """Add a legend above an Axes, by default of its labelled artists."""
    if handles is None:
        handles, labels = ax.get_legend_handles_labels()
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0)}
    # 40 points for the handle and the gaps.
    entry_width = max([min(width(text, 8), LEGEND) for text in labels], default=0) + 40
    n_columns = int(max(1, min(4, size_in_points(ax)[0] // entry_width)))
    return legend(ax, handles, labels, ncols=n_columns, **place)


def axis_title(axis, text):
    """Set the title of an axis, in up to three lines."""
    points = 0.9 * size_in_points(axis.axes)[axis.axis_name == "y"]
    axis.set_label_text("\n".join(wrap(text, points, TICKS, most=3)))


def number_points(ax, dots, bars=(), around=AROUND, **look):
    """Write a number beside each dot (x, y, number), where nothing is in the way.

    `bars` are vertical lines (x, low, high) to keep clear of. A number for which there
    is no room is left out.
    """
    lay_out(ax)
    scale = 72 / ax.figure.dpi
    ends = [scale * ax.transData.transform([(x, a), (x, b)]) for x, a, b in bars]
    taken = [(*(low - 3), *(high + 3)) for low, high in ends]
    look = {"fontsize": 9, "color": GREY, "ha": "center", "va": "center"} | look
    for x, y, number in dots:
        place = scale * ax.transData.transform((x, y))
        half = np.array([width(str(number), look["fontsize"]) / 2 + 1, 5.0])
        for shift in half * around + 4 * np.sign(around):
            left, bottom = place + shift - half
            right, top = place + shift + half
            if all(
                right < a or c < left or top < b or d < bottom for a, b, c, d in taken
            ):
                taken.append((left, bottom, right, top))
                at = {"xytext": tuple(shift), "textcoords": "offset points"}
                ax.annotate(str(number), (x, y), **at, **look)
                break
