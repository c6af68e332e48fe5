"""Shared style of plots: colours, markers, hatches, ticks, text that fits its place."""

from functools import lru_cache

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees.rules.model import RuleModel

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers and
# hatches differ too.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#000000",
    "#F0E442",
)
MARKERS = "osD^vP*X"
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "|||", "ooo", "---")
LINE_STYLES = ("-", "--", ":", "-.")
# Colour map of regression: monotonic in lightness, safe for the colour-blind.
NUMBERS = "cividis"
DARK, GREY, PALE = "0.15", "0.45", "0.88"
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


def ticks_at_integers(axis):
    """Put the ticks of an axis at whole numbers only."""
    axis.get_major_locator().set_params(integer=True)


def number_ticks(axis, n_intervals=None):
    """Write the ticks of an axis as numbers for people: 125,000, never 1.25e5."""
    if n_intervals is not None:
        axis.get_major_locator().set_params(nbins=n_intervals)
    axis.set_major_formatter(lambda value, _: tick_text(value))


def tick_text(value):
    """Write the number of a tick, with separators from 10,000 on.

    Examples
    --------
    >>> tick_text(125_000.0), tick_text(0.1 + 0.2), tick_text(1975.0)
    ('125,000', '0.3', '1975')
    """
    return render.grouped(render.round_to(value, 10))


def percent_ticks(axis):
    """Write the ticks of an axis in per cent."""
    axis.set_major_formatter(lambda value, _: f"{render.round_to(100 * value, 4):g} %")


def colour(i):
    """Colour of class or rule i."""
    return COLOURS[i % len(COLOURS)]


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
    if len(labels) > len(COLOURS) and isinstance(rules, RuleModel):
        predicted = {rule.prediction for rule in rules}
        labels.sort(key=lambda label: label not in predicted)
    return {label: min(i, len(COLOURS) - 1) for i, label in enumerate(labels)}


def marker(i):
    """Marker of class i; it differs where colours repeat."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def hatch(i):
    """Hatch of class i; it differs where colours repeat."""
    return HATCHES[(i + i // len(COLOURS)) % len(HATCHES)]


def line_style(i):
    """Line style of rule i; it differs where colours repeat."""
    return LINE_STYLES[i // len(COLOURS) % len(LINE_STYLES)]


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
            else:
                pieces = _broken(piece, points, size)
                lines = [*lines, *pieces] if lines[-1] else pieces
    if most is not None and len(lines) > most:
        lines = lines[:most]
        lines[-1] = _with_ellipsis(lines[-1], points, size)
    return [plain(line) for line in lines]


def _chunks(words):
    """Group words: a comparison and its two sides belong together."""
    groups = []
    for i, word in enumerate(words):
        if groups and ({word, words[i - 1]} & {"<", "<=", ">"}):
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
        soft = max(word.rfind(mark, at // 2, at) + 1 for mark in "_-./,;")
        at = soft or at
        pieces.append(word[:at])
        word = word[at:]
    return [*pieces, word]


def cut(text, points, size):
    """Cut a text that is wider than so many points, and end it with an ellipsis."""
    text = " ".join(str(text).split())
    return text if width(text, size) <= points else _with_ellipsis(text, points, size)


def _with_ellipsis(text, points, size):
    while text and width(f"{text}…", size) > points:
        text = text[:-1]
    return f"{text.rstrip(' …')}…"


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


def line(**look):
    """Make a line for a legend."""
    return part("lines").Line2D([], [], **look)


def legend(owner, handles, labels, **settings):
    """Add a legend beside an Axes or, with `loc`, elsewhere; return it."""
    if "loc" not in settings:
        settings |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    settings.setdefault("ncols", 1 + (len(labels) - 1) // 20)
    labels = [label(words, 130, 8) for words in labels]
    settings = {"borderaxespad": 0.2, "fontsize": 8, "title_fontsize": 9, **settings}
    return plain_legend(owner, handles, labels, **settings)


def plain_legend(owner, handles, labels, **settings):
    """Add a legend without a frame; return it."""
    # matplotlib leaves out labels that begin with an underscore.
    names = [f"entry {i}" for i in range(len(labels))]
    made = owner.legend(handles, names, frameon=False, **settings)
    for text, words in zip(made.get_texts(), labels, strict=True):
        text.set_text(words)
    return made


ABOVE = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": 3}


def legend_above(ax):
    """Add a legend of the labelled artists in one line above an Axes."""
    ax.legend(frameon=False, fontsize=8, borderaxespad=0.2, **ABOVE)
