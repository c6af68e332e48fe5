"""Small pieces of HTML: escaped text, tables, figures, sections, JSON in a script."""

import json
import re
from dataclasses import dataclass
from html import escape

__all__ = [
    "RIGHT_TO_LEFT",
    "Cell",
    "Pictures",
    "bar",
    "breakable",
    "clamped",
    "figure",
    "isolated",
    "name",
    "script_json",
    "section",
    "table",
    "text",
]

LONGEST_HEADER = 45
LETTER = (
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
RIGHT_TO_LEFT = re.compile(f"{LETTER}+(?:[ _.-]{LETTER}+)*")


def text(value):
    """Any value as text that is safe inside an element or an attribute.

    Examples
    --------
    >>> text('<b title="a">')
    '&lt;b title=&quot;a&quot;&gt;'
    """
    return escape(str(value), quote=True)


class Cell(str):
    """HTML for a table cell that is made here and needs no escaping."""


def name(given):
    """A given name or label as HTML, whose direction leaves the text around it alone.

    Examples
    --------
    >>> name("a<b")
    '<bdi>a&lt;b</bdi>'
    """
    return Cell(f"<bdi>{text(given)}</bdi>")


def isolated(words):
    r"""A text as HTML in which each stretch of right-to-left letters stands alone.

    For texts that have names in them; digits and signs beside these stay in place.

    Examples
    --------
    >>> isolated("\u05d0\u05d1 > -1") == "<bdi>\u05d0\u05d1</bdi> &gt; -1"
    True
    """
    return Cell(RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", text(words)))


def breakable(given):
    """A long name as HTML that may break after each of its parts.

    Examples
    --------
    >>> breakable("word_freq")
    '<bdi>word_<wbr>freq</bdi>'
    """
    return Cell(f"<bdi>{_parted(given)}</bdi>")


def clamped(given):
    """A name that may break; of a very long one the beginning, the rest on hovering.

    Examples
    --------
    >>> clamped("a" * 50)[:33]
    '<bdi class="clamped" title="aaaaa'
    """
    if len(str(given)) <= LONGEST_HEADER:
        return breakable(given)
    return Cell(f'<bdi class="clamped" title="{text(given)}">{_parted(given)}</bdi>')


def _parted(given):
    # Humps first; an entity such as &lt; has none.
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", text(given))
    return re.sub(r"([_./:-])(?=\w)", r"\1<wbr>", parts)


def script_json(data):
    r"""Data as JSON that nothing inside a script element can break out of.

    Examples
    --------
    >>> print(script_json({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    plain = json.dumps(data, allow_nan=False, separators=(",", ":"))
    # ASCII only, so U+2028 and U+2029 are escaped already.
    for character in "<>&":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain


def table(header, rows, caption, *, numeric=(), kind="", is_quiet=False):
    """A table in a box of its own, which scrolls where the screen is narrow.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences
        The first cell of a row is its heading. A `Cell` is HTML already.
    caption : str
    numeric : sequence of int
        Columns that stand on the right.
    kind : str
        A class for the style sheet.
    is_quiet : bool
        Whether a heading above says already what the caption says.
    """
    numeric = set(numeric)
    hidden = ' class="hidden"' if is_quiet else ""

    def attributes(j):
        return ' class="number"' if j in numeric else ""

    head = "".join(
        f'<th scope="col"{attributes(j)}>{_inside(cell)}</th>'
        for j, cell in enumerate(header)
    )
    lines = []
    for row in rows:
        first, *rest = row
        cells = "".join(
            f"<td{attributes(j)}>{_inside(cell)}</td>"
            for j, cell in enumerate(rest, start=1)
        )
        lines.append(f'<tr><th scope="row"{attributes(0)}>{_inside(first)}</th>{cells}')
    body = "</tr>".join(lines)
    return (
        f'<div class="scroll {text(kind)}" role="region" tabindex="0" '
        f'aria-label="{text(caption)}">'
        f"<table><caption{hidden}><span>{text(caption)}</span></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tr></tbody></table></div>"
    )


def _inside(cell):
    return str(cell) if isinstance(cell, Cell) else text(cell)


def bar(share, label, kind=""):
    """A cell with a bar from 0 to 1 and its label."""
    width = min(100.0, max(0.0, 100 * share))
    return Cell(
        f'<span class="bar {text(kind)}"><span style="width:{width:.1f}%"></span>'
        "</span>"
        f'<span class="bar-label">{text(label)}</span>'
    )


@dataclass(frozen=True)
class Pictures:
    """What there is to look at.

    Parameters
    ----------
    still : dict
        From name to SVG.
    is_live : bool
        Whether scripts draw them as well.
    """

    still: dict
    is_live: bool

    def __bool__(self):
        return self.is_live or bool(self.still)


def figure(name, label, caption, pictures, height):
    """A picture that reads without scripts, and the place for the live one.

    Parameters
    ----------
    name : str
        The script finds the place as `plot-{name}`.
    label : str
        What the picture shows, for those who do not see it.
    caption : str
        HTML.
    pictures : Pictures
    height : int
        Of the live picture, in pixels, so that the page does not jump.
    """
    if not pictures:
        return ""
    still = pictures.still.get(name)
    kind = "picture has-static" if still else "picture"
    static = f'<div class="static">{still}</div>' if still else ""
    live = (
        f'<div class="live" id="plot-{name}" role="img" aria-label="{text(label)}" '
        f'style="min-height:{height}px"></div>'
        if pictures.is_live
        else ""
    )
    return (
        f'<figure class="{kind}">{static}{live}<figcaption>{caption}</figcaption>'
        "</figure>"
    )


def section(name, heading, *parts):
    """A section of the page with its heading."""
    inside = "\n".join(part for part in parts if part)
    return (
        f'<section id="{name}" aria-labelledby="{name}-heading">\n'
        f'<h2 id="{name}-heading">{text(heading)}</h2>\n{inside}\n</section>'
    )
