"""Small pieces of HTML: escaped text, names, tables, bars, JSON in a script."""

import json
import re
from html import escape

from defragtrees.plots.picture import RIGHT_TO_LEFT
from defragtrees.report.wording import visible

__all__ = [
    "Cell",
    "answer_badge",
    "bar",
    "breakable",
    "choices",
    "clamped",
    "isolated",
    "name",
    "range_bar",
    "script_json",
    "table",
    "text",
    "value_cells",
]

LONGEST_HEADER = 45


def text(value):
    """Any value as text that is safe inside an element or an attribute.

    Examples
    --------
    >>> text('<b title="a">')
    '&lt;b title=&quot;a&quot;&gt;'
    """
    return escape(visible(str(value)), quote=True)


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


def range_bar(low, middle, high, mark=None):
    """A bar from 0 to 1 with a stretch, its middle and, dashed, a mark beside it."""
    beside = "" if mark is None else f'<s style="left:{100 * mark:.1f}%"></s>'
    width = max(0.005, high - low)
    return Cell(
        '<span class="range" aria-hidden="true">'
        f'<span style="left:{100 * low:.1f}%;width:{100 * width:.1f}%"></span>'
        f'{beside}<i style="left:{100 * middle:.1f}%"></i></span>'
    )


def value_cells(values, is_asked):
    """Values of a row; those that its rule asks about are in bold."""
    return [
        Cell(f"<b>{name(value)}</b>") if is_bold else name(value)
        for value, is_bold in zip(values, is_asked, strict=True)
    ]


def answer_badge(then, colour):
    """An answer with the colour that it has in the pictures."""
    return f'<span class="answer {colour}">{name(then)}</span>'


def choices(group, picture, n_rules):
    """The choice of a rule, which the cards have too, and of a scale."""
    numbers = map(str, range(1, n_rules + 1))
    rules = [(number, number, f"Rule {number}") for number in numbers]
    scales = [("order", "by order", ""), ("value", "by value", "")]
    highlighted = [("0", "all rules", "All rules"), *rules]
    return _radio_buttons(group, "Highlight the rows of", highlighted) + _radio_buttons(
        f"scale-{picture}", "Axes", scales, f' data-scale="{picture}"'
    )


def _radio_buttons(group, legend, items, extra=""):
    """Small radio buttons; what is shown may need other words to be heard."""
    buttons = []
    for i, (value, shown, spoken) in enumerate(items):
        heard = f' aria-label="{spoken}"' if spoken else ""
        silent = ' aria-hidden="true"' if spoken else ""
        buttons.append(
            f'<span class="chip"><input type="radio" name="{group}" '
            f'id="{group}-{value}" value="{value}"{heard}{extra}'
            f"{'' if i else ' checked'}>"
            f'<label for="{group}-{value}"{silent}>{shown}</label></span>'
        )
    return (
        f'<fieldset class="chips live-only"><legend>{legend}</legend>'
        f"{''.join(buttons)}</fieldset>"
    )
