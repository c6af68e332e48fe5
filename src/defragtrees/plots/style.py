"""Shared style of plots: colours, markers, hatches, ticks, text that fits its place."""

from functools import lru_cache

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import COLOURS
from defragtrees._utils.optional import require
from defragtrees._utils.values import round_significant

# Markers and hatches differ where colours do, for colour-blind readers.
MARKERS = "osD^vP*X"
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "|||", "ooo", "---")
# Colour map of regression: monotonic in lightness, safe for the colour-blind.
NUMBERS = "cividis"
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
    """Return the given Axes, or one in a new figure of this size in inches."""
    if ax is not None:
        return ax
    return part("pyplot").subplots(figsize=size, layout="constrained")[1]


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
    axis.set_major_locator(fitting_locator(axis, *axis.get_view_interval()))


def fitting_locator(axis, low, high, write=None, *, integer=False):
    """Locator of ticks whose texts fit beside one another along x."""
    make = part("ticker").MaxNLocator
    # A legend or the labels of the other axis may still take room.
    room = 0.6 * size_in_points(axis.axes)[0]
    for n_intervals in (8, 6, 5, 4, 3, 2):
        locator = make(n_intervals, steps=(1, 2, 5, 10), integer=integer)
        ticks = [tick for tick in locator.tick_values(low, high) if low <= tick <= high]
        texts = [(write or tick_text)(tick) for tick in ticks]
        taken = sum(width(text, TICKS) + TICKS / 2 for text in texts)
        if axis.axis_name == "y" or taken <= room:
            break
    return locator


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
    axis.set_major_formatter(
        lambda value, _: f"{round_significant(100 * value, 4):g} %"
    )


def class_numbers(rules):
    """Number of each class's colour, from 0 to 7, by label.

    Classes have the order of their labels. With more than eight, those that rules
    predict come first and the rest share the last colour.

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
    if len(labels) > len(COLOURS):
        predicted = {rule.prediction for rule in rules}
        labels.sort(key=lambda label: label not in predicted)
    return {label: min(i, len(COLOURS) - 1) for i, label in enumerate(labels)}


def marker(i):
    """Marker of class i; it differs where colours repeat."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def hatch(i):
    """Hatch of class i; it differs where colours repeat."""
    return HATCHES[(i + i // len(COLOURS)) % len(HATCHES)]


def tint(name, strength):
    """Mix a colour with white; strength 1 is the colour itself.

    Examples
    --------
    >>> tint("#000000", 0.0)
    (1.0, 1.0, 1.0)
    """
    red_green_blue = np.array(part("colors").to_rgb(name))
    return tuple((1 - strength * (1 - red_green_blue)).tolist())


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
    """Group words: a comparison and its two sides belong together, 5 and % too."""
    groups = []
    for i, word in enumerate(words):
        if groups and (word == "%" or {word, words[i - 1]} & {"<", "<=", ">"}):
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
    """Shorten labels to so many points, and keep the parts in which they differ.

    Examples
    --------
    >>> names = ["occupation of the applicant: skilled", "missing",
    ...          "occupation of the applicant: unskilled"]
    >>> distinct(names, 90, 8)
    ['…skilled', 'missing', '…unskilled']
    """
    texts = [" ".join(str(text).split()) for text in texts]
    long = [text for text in texts if width(text, size) > points]
    if len(long) > 1:
        start = _shared_start(long)
        end = _shared_start([text[start:][::-1] for text in long])
        texts = [
            f"{'…' if start else ''}{text[start : len(text) - end]}{'…' if end else ''}"
            if text in long
            else text
            for text in texts
        ]
    return [label(text, points, size) for text in texts]


def _shared_start(texts):
    """Number of letters of the whole words with which all texts begin."""
    n_same = 0
    while len({text[: n_same + 1] for text in texts}) == 1:
        n_same += 1
    return max(texts[0].rfind(mark, 0, n_same) for mark in " _-.:/") + 1


def label(text, points, size):
    """Plain text without its middle if it is wider than so many points.

    Labels often share their start and differ at the end, so both ends stay.
    """
    text = " ".join(str(text).split())
    if width(text, size) <= points:
        return plain(text)
    n_letters = len(text)
    while n_letters > 2 and width(_ends(text, n_letters), size) > points:
        n_letters -= 1
    return plain(_ends(text, n_letters))


def _ends(text, n_letters):
    n_last = n_letters // 2
    return f"{text[: n_letters - n_last]}…{text[len(text) - n_last :]}"


def legend(owner, handles, labels, **settings):
    """Add a legend beside an Axes or, with `loc`, elsewhere; return it."""
    if "loc" not in settings:
        settings |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    settings.setdefault("ncols", 1 + (len(labels) - 1) // 20)
    settings = {"borderaxespad": 0.2, "fontsize": 8, "title_fontsize": 9, **settings}
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
    look = {"fontsize": 8, "color": GREY, "ha": "center", "va": "center"} | look
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
