"""What all pictures share: colours, markers, hatches, and text that fits its place."""

from functools import lru_cache

import numpy as np

from defragtrees._utils.optional import require

# Okabe and Ito's colours, which people with colour-blindness can tell apart, and
# markers and hatches for those who see none.
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
# Of regression: from dark to light in grey too, and safe for the colour-blind.
NUMBERS = "cividis"
DARK, GREY, PALE = "0.15", "0.45", "0.88"
PALETTE = {
    **{f"g{i}": colour for i, colour in enumerate(COLOURS)},
    "accent": COLOURS[1],
    "quiet": GREY,
}


def part(name):
    """The module `name` of matplotlib, or the message that it is not installed."""
    return require(f"matplotlib.{name}", "A plot")


def axes_or_new(ax, size=(6.4, 4.4)):
    """The Axes given, or one in a new figure of this size in inches."""
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


def colour(i):
    """Colour of the class or rule with number i."""
    return COLOURS[i % len(COLOURS)]


def marker(i):
    """Marker of the class with number i; it differs where colours come again."""
    return MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]


def hatch(i):
    """Hatch of the class with number i; it differs where colours come again."""
    return HATCHES[(i + i // len(COLOURS)) % len(HATCHES)]


def line_style(i):
    """Line style of the rule with number i; it differs where colours come again."""
    return LINE_STYLES[i // len(COLOURS) % len(LINE_STYLES)]


def tint(name, strength):
    """A colour mixed with white; strength 1 is the colour itself.

    Examples
    --------
    >>> tint("#000000", 0.0)
    (1.0, 1.0, 1.0)
    """
    red_green_blue = np.array(part("colors").to_rgb(name))
    return tuple((1 - strength * (1 - red_green_blue)).tolist())


def plain(text):
    r"""Text that matplotlib shows as it is: one line, and no dollar opens a formula.

    Examples
    --------
    >>> plain("price_$ in\n$")
    'price_\\$ in \\$'
    """
    return " ".join(str(text).split()).replace("$", r"\$")


def width(text, size):
    """Width of a text in points, set in the usual font at this size."""
    family = tuple(part("pyplot").rcParams["font.family"])
    return sum(_letter_width(letter, family) for letter in text) * size / 100


@lru_cache(maxsize=4096)
def _letter_width(letter, family):
    # Letter by letter, as texts are measured over and over while they are wrapped.
    prop = part("font_manager").FontProperties(family=list(family), size=100)
    path = part("textpath").text_to_path
    return path.get_text_width_height_descent(letter, prop, ismath=False)[0]


def wrap(text, points, size, most=None):
    """Lines of plain text at most so many points wide, in a font of this size.

    What lies beyond `most` lines is left out and marked by an ellipsis.
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
        lines[-1] = cut(f"{lines[-1]}……", points, size)
    return [plain(line) for line in lines]


def _chunks(words):
    """Words in groups: what stands around a comparison belongs together."""
    groups = []
    for i, word in enumerate(words):
        if groups and ({word, words[i - 1]} & {"<", "<=", ">"}):
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _broken(word, points, size):
    """A word in pieces that fit; names without spaces are often long."""
    pieces = []
    while width(word, size) > points and len(word) > 1:
        at = len(word) - 1
        while at > 1 and width(word[:at], size) > points:
            at -= 1
        # After an underscore or the like a break disturbs less.
        soft = max(word.rfind(mark, at // 2, at) + 1 for mark in "_-./,;")
        at = soft or at
        pieces.append(word[:at])
        word = word[at:]
    return [*pieces, word]


def cut(text, points, size):
    """The text, ended by an ellipsis if it is wider than so many points."""
    text = " ".join(str(text).split())
    if width(text, size) <= points:
        return text
    while text and width(f"{text}…", size) > points:
        text = text[:-1]
    return f"{text.rstrip(' …')}…"


def label(text, points, size):
    """Plain text with its middle left out if it is wider than so many points.

    Labels often begin alike and differ at the end, so both ends stay.
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


def shares_text(rules, rule):
    """The class shares of a rule to two digits, the largest first, none below 0.005."""
    pairs = zip(rules.outcome.labels, rule.distribution, strict=True)
    largest = sorted(pairs, key=lambda pair: -pair[1])
    name = rules.outcome.answer_text
    texts = [f"{name(label)} {share:.2f}" for label, share in largest if share >= 0.005]
    return ", ".join(texts)


def line(**look):
    """A line for a legend."""
    return part("lines").Line2D([], [], **look)


def legend(owner, handles, labels, **settings):
    """A legend beside an Axes or, if placed by `loc`, elsewhere; returns it."""
    if "loc" not in settings:
        settings |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    settings.setdefault("ncols", 1 + (len(labels) - 1) // 20)
    labels = [label(words, 130, 8) for words in labels]
    settings = {"borderaxespad": 0.2, "fontsize": 8, "title_fontsize": 9, **settings}
    return plain_legend(owner, handles, labels, **settings)


def plain_legend(owner, handles, labels, **settings):
    """A legend without a frame, with these words; returns it."""
    # Under their own names labels that begin with an underscore would be left out.
    names = [f"entry {i}" for i in range(len(labels))]
    made = owner.legend(handles, names, frameon=False, **settings)
    for text, words in zip(made.get_texts(), labels, strict=True):
        text.set_text(words)
    return made


def legend_above(ax):
    """A legend of the labelled artists, in one line above an Axes."""
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0)}
    ax.legend(frameon=False, fontsize=8, ncols=3, borderaxespad=0.2, **place)
