"""Numbers, rates, names and tables as text, and tables as HTML."""

import difflib
import itertools
import re
import shutil
import sys
import textwrap
from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from html import escape
from typing import Any, ClassVar, Self


def round_significant(value: Any, n_digits: int = 12) -> float:
    """A number rounded to so many significant digits.

    The last digits of a sum depend on where shards were cut; 12 do not.

    Examples
    --------
    >>> round_significant(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.{n_digits}g}")


class Lines(str):
    """Text that a notebook shows line by line, or as the HTML that comes with it.

    Examples
    --------
    >>> Lines("a < b")._repr_html_()
    '<pre>a &lt; b</pre>'
    >>> Lines("a", "<b>a</b>")._repr_html_()
    '<b>a</b>'
    """

    _html: str

    def __new__(cls, text: str, html: str = "") -> Self:
        self = super().__new__(cls, text)
        self._html = html
        return self

    def _repr_html_(self) -> str:
        lines = "\n".join(map(_html, self.split("\n")))
        return self._html or f"<pre>{lines}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class Tabular:
    """Base class of results that print as a table (`_cells`) and notes (`_notes`).

    What must be read first stands before the table (`_head`).
    """

    _left: ClassVar[tuple[int, ...]] = (0,)  # columns with text

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        raise NotImplementedError

    def _notes(self) -> list[str]:
        raise NotImplementedError

    def _head(self) -> str:
        return ""

    def __str__(self) -> str:
        width = page_width()
        head = [wrap_notes([self._head()], width)] if self._head() else []
        cells = text_table(*self._cells(), left=self._left, width=width)
        return "\n".join([*head, cells, wrap_notes(self._notes(), width)])

    def _repr_html_(self) -> str:
        notes = [self._head(), *self._notes()]
        return html_table(*self._cells(), "; ".join(filter(None, notes)))


# Texts between categories, which must not be taken for one.
SEPARATORS = (", ", " and ", " or ", " nor ", ": ")
# Words of conditions themselves.
WORDS = ("missing", "not missing", "anything", "impossible")
STARTS = ("not ", "neither ", "none of ", "'", '"')
SIGNS = (" <= ", " >= ", " < ", " > ", " is ")


def number(value: float) -> str:
    """Write a number exactly as it is stored, in as few characters as possible.

    Examples
    --------
    >>> number(0.1), number(3.0), number(1e-7), number(-0.0)
    ('0.1', '3', '1e-07', '0')
    """
    text = repr(float(value)).removesuffix(".0")
    return "0" if text == "-0" else text


def grouped(value: float) -> str:
    """Write a number exactly as it is stored, with separators from 10,000 on.

    Numbers below are left alone, as many of them are years.

    Examples
    --------
    >>> grouped(85700.25), grouped(-120000.0), grouped(1995.0), grouped(1e-7)
    ('85,700.25', '-120,000', '1995', '1e-07')
    """
    text = number(value)
    whole, point, rest = text.partition(".")
    digits = whole.removeprefix("-")
    if len(digits) < 5 or not digits.isdigit():
        return text
    return f"{int(whole):,}{point}{rest}"


def true_minus(text: str) -> str:
    """Replace hyphens before numbers by minus signs, also in exponents.

    Examples
    --------
    >>> true_minus("-0.5 < x-1 <= 1e-07")
    '−0.5 < x-1 <= 1e−07'
    """
    return re.sub(r"(?<![\w.-])-(?=\d|inf)|(?<=\de)-(?=\d)", "\N{MINUS SIGN}", text)


def signed(value: float) -> str:
    """Write a number as `grouped` does, with its sign.

    Examples
    --------
    >>> signed(1.5), signed(-2.0), signed(0.0), signed(61500.0)
    ('+1.5', '-2', '0', '+61,500')
    """
    text = grouped(value)
    return f"+{text}" if value > 0 else text


def rounded(value: float, digits: int = 3) -> str:
    """Write a measured number for people: few digits, separators, no exponent.

    Examples
    --------
    >>> rounded(85712.0), rounded(12.34567), rounded(0.000123456), rounded(1234.5)
    ('85,700', '12.3', '0.000123', '1,230')
    >>> rounded(1.5e-6), rounded(2.5e20), rounded(float("nan"))
    ('1.5e-06', '2.5e+20', 'nan')
    """
    value = round_significant(value, digits)
    if not 1e-4 <= abs(value) < 1e15:
        return number(value)
    whole, point, rest = number(value).partition(".")
    return f"{int(whole):,}{point}{rest}" if abs(value) >= 1 else number(value)


def label(value: Any) -> str:
    """A category or class as text; quoted where it could be taken for more than one.

    Examples
    --------
    >>> label("red"), label("red, blue")
    ('red', "'red, blue'")
    """
    text = str(value)
    return repr(text) if any(sign in text for sign in SEPARATORS) else text


def category(value: Any) -> str:
    """A category in a condition; quoted where it could be taken for anything else.

    Examples
    --------
    >>> category("red"), category("missing"), category("not red")
    ('red', "'missing'", "'not red'")
    """
    text = str(value)
    is_plain = text.isprintable() and text == text.strip() != ""
    # With its neighbours in a sentence, as a word at its end may join the next one.
    among = f" {text} "
    is_more = any(sign in among for sign in (*SEPARATORS, *SIGNS))
    if is_more or not is_plain or text in WORDS or among[1:].startswith(STARTS):
        return repr(text)
    return text


def categories(values: Sequence[Any]) -> list[str]:
    """The categories that a condition names; all are quoted if one must be.

    Examples
    --------
    >>> categories(["red", "blue"]), categories(["red", "not red"])
    (['red', 'blue'], ["'red'", "'not red'"])
    """
    texts = [category(value) for value in values]
    plain_texts = [str(value) for value in values]
    return texts if texts == plain_texts else [repr(text) for text in plain_texts]


def plain(text: Any) -> str:
    r"""A text on one line, without characters that a terminal would obey.

    Examples
    --------
    >>> plain("two\nlines"), plain("\x1b[31mred")
    ('two lines', ' [31mred')
    """
    return "".join(c if c.isprintable() else " " for c in str(text))


def plural(number: Any, noun: str) -> str:
    """A number and its noun.

    Examples
    --------
    >>> plural(1, "rule"), plural(1200, "row"), plural(2, "leaf")
    ('1 rule', '1,200 rows', '2 leaves')
    """
    many = {"leaf": "leaves"}.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else many}"


def share(value: float, sign: str = "%") -> str:
    """A share of one in per cent.

    Examples
    --------
    >>> share(0.123), share(0.0004), share(1.0)
    ('12.3%', '<0.1%', '100.0%')
    """
    if 0 < value < 0.0005:
        return f"<0.1{sign}"
    return f"{100 * value:.1f}{sign}"


def share_range(low: float, high: float) -> str:
    """Write a range of shares in per cent.

    Examples
    --------
    >>> share_range(0.071, 0.0916), share_range(0.0, 1.0)
    ('7.1–9.2%', '0.0–100.0%')
    """
    return f"{share(low, sign='')}–{share(high)}"


def percent(value: float, digits: int = 0, sign: str = "%") -> str:
    """Write a rate in per cent, without decimals unless asked for.

    Examples
    --------
    >>> percent(0.123), percent(0.123, 1), percent(0.004), percent(0.997), percent(1.0)
    ('12%', '12.3%', '<1%', '>99%', '100%')
    """
    unit = 10.0**-digits
    if 0 < 100 * value < unit / 2:
        return f"<{number(unit)}{sign}"
    # The tolerance is for shares that are sums of weights.
    if 100 - unit / 2 <= 100 * value < 100 - 1e-10:
        return f">{100 - unit:.{digits}f}{sign}"
    return f"{100 * value:.{digits}f}{sign}"


def percent_digits(low: float, high: float) -> int:
    """Number of decimals of a percentage that its interval supports.

    Examples
    --------
    >>> percent_digits(0.05, 0.1), percent_digits(0.071, 0.085)
    (0, 1)
    """
    return 0 if high - low >= 0.02 else 1 if high - low >= 0.002 else 2


def percent_range(low: float, high: float) -> str:
    """Write an interval of a rate in per cent, with the decimals it supports.

    Examples
    --------
    >>> percent_range(0.051, 0.18), percent_range(0.002, 0.0049)
    ('5–18%', '0.2–0.5%')
    """
    digits = percent_digits(low, high)
    return f"{100 * low:.{digits}f}–{100 * high:.{digits}f}%"


def number_range(low: float, high: float) -> str:
    """Write an interval of a measured number.

    Examples
    --------
    >>> number_range(68012.0, 210900.0), number_range(-3.0, -1.0)
    ('68,000–211,000', '-3 to -1')
    """
    between = "–" if low >= 0 else " to "
    return f"{rounded(low)}{between}{rounded(high)}"


def count(value: float) -> str:
    """A number of rows, or the sum of their weights.

    Examples
    --------
    >>> count(2640.0000000001), count(212.25), count(2.25)
    ('2,640', '212', '2.2')
    >>> count(float("nan"))
    'an unknown number of'
    """
    if value != value:
        return "an unknown number of"
    is_whole = value >= 10 or abs(value - round(value)) < 1e-6 * max(value, 1)
    return f"{round(value):,}" if is_whole else f"{value:,.1f}"


def middle_cut(text: str, room: float, measure: Callable[[str], float] = len) -> str:
    """A text without its middle if it measures more than there is room for.

    Examples
    --------
    >>> middle_cut("abcdefgh", 5), middle_cut("abc", 5)
    ('ab…gh', 'abc')
    """
    if measure(text) <= room:
        return text

    def ends(n_letters: int) -> str:
        n_last = n_letters // 2
        return f"{text[: n_letters - n_last]}…{text[len(text) - n_last :]}"

    numbers = range(2, len(text))
    n_fitting = bisect_right(numbers, room, key=lambda n: measure(ends(n)))
    return ends(max(2, n_fitting + 1))


def distinct(
    texts: Sequence[str], room: float, measure: Callable[[str], float] = len
) -> list[str]:
    """Shorten labels to the room that there is, and keep the parts that differ.

    Examples
    --------
    >>> distinct(["savings: under 100", "savings: 100 and more", "none"], 14)
    ['…under 100', '…100 and more', 'none']
    """
    for way in (slice(None), slice(None, None, -1)):  # what all begin, and end, with
        long = [text[way] for text in texts if measure(text) > room]
        n_same = _shared_start(long) if len(long) > 1 else 0
        texts = [
            f"…{text[way][n_same:]}"[way] if n_same and text[way] in long else text
            for text in texts
        ]
    return [middle_cut(text, room, measure) for text in texts]


def _shared_start(texts: Sequence[str]) -> int:
    """Number of letters of the whole words with which all texts begin."""
    same = itertools.takewhile(
        lambda letters: len({*letters}) == 1, zip(*texts, strict=False)
    )
    n_same = len([*same])
    return max(texts[0].rfind(mark, 0, n_same) for mark in " _-.:/=") + 1


def listed(items: Collection[Any]) -> str:
    """The items for a message, cut after five.

    Examples
    --------
    >>> listed("abcdefg")
    "'a', 'b', 'c', 'd', 'e', …"
    """
    items = list(items)
    return ", ".join(repr(item) for item in items[:5]) + (", …" if items[5:] else "")


def nearest(name: Any, names: Collection[Any]) -> str:
    """A guess at the name that was meant, or all names; the end of a sentence."""
    near = near_name(name, names)
    return f"it has {listed(names)}." if near is None else f"did you mean {near!r}?"


def near_name(name: Any, names: Collection[Any]) -> str | None:
    """The name that was meant, such as "Records" by "Record"; None if there is none."""
    if not isinstance(name, str):
        return None
    lower = {other.lower(): other for other in names if isinstance(other, str)}
    if name.lower() in lower:
        return lower[name.lower()]
    near = difflib.get_close_matches(name, list(lower.values()), n=1, cutoff=0.6)
    return near[0] if near else None


WIDTH = 76  # columns of a text table that is not printed to a terminal
LEAST_WIDTH = 12  # columns that a column of text keeps where there is little room
LEAST_CONDITION = 34  # columns that long conditions need; with less, rules are blocks
MOST_HEAD = 16  # columns of a head that is not broken where there is little room
INDENT = "    "  # of a line that continues the one above


def page_width() -> int:
    """Number of columns of the terminal that is printed to, or `WIDTH` elsewhere."""
    if not getattr(sys.stdout, "isatty", bool)():
        return WIDTH
    return max(60, shutil.get_terminal_size((80, 24)).columns)


class _Wrapper(textwrap.TextWrapper):
    """Breaks a word that is too long for a line after an underscore."""

    def _split(self, text: str) -> list[str]:
        most = self.width - len(self.subsequent_indent)
        return [
            part
            for word in super()._split(text)
            for part in (re.split("(?<=_)(?=.)", word) if len(word) > most else [word])
        ]


def wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines; all but the first are indented.

    Examples
    --------
    >>> wrapped("and thallium scan is not normal", 20)
    ['and thallium scan is', '    not normal']
    >>> wrapped("number_of_late_payments > 2", 20)
    ['number_of_late_', '    payments > 2']
    """
    if len(text) <= width:
        return [text]
    indent = INDENT if width >= 4 * len(INDENT) else ""
    wrapper = _Wrapper(width, subsequent_indent=indent, break_on_hyphens=False)
    return wrapper.wrap(text)


def wrap_notes(notes: Sequence[str], width: int) -> str:
    """Notes as lines that are at most so many columns wide."""
    return "\n".join(
        textwrap.fill(
            note,
            width,
            subsequent_indent="  " if note.startswith("- ") else "",
            break_on_hyphens=False,
        )
        for note in notes
    )


def lines_of(cell: Any) -> list[str]:
    """The lines of a cell: one text, or one per entry of a tuple."""
    return list(cell) if isinstance(cell, tuple) else [str(cell)]


def one_line(cell: Any) -> str:
    """A cell as one text: below its first line are intervals, which get brackets."""
    first, *others = lines_of(cell)
    return first + "".join(f" ({line})" for line in others if line)


def text_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    left: Collection[int] = (0,),
    width: int | None = None,
    paint: Callable[[str, str], str] | None = None,
) -> str:
    """Lay out a table as text, each column as wide as it needs to be.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence
        A cell is a text, or a tuple of lines.
    left : collection of int
        Columns with text, aligned to the left; numbers are aligned to the right.
    width : int, optional
        Long heads and columns of text are wrapped at words until the table is no wider.
        If little room is left for long conditions, in the column "if", each row becomes
        a block; of other tables the columns that do not fit stand in a second table
        below, after the first column.
    paint : callable, optional
        From the title of a column and a line of a cell to the line in colour.

    Examples
    --------
    >>> print(text_table(["name", "n"], [["a", "1"], ["bcdef", "22"]]))
    name    n
    a       1
    bcdef  22
    >>> print(text_table(["if", "n"], [[("a long condition", "and b"), "1"]], width=16))
    if             n
    a long         1
    condition
    and b
    """
    cells = [
        [[plain(line) for line in lines_of(cell)] for cell in row]
        for row in (header, *rows)
    ]
    widths = [
        max(len(line) for row in cells for line in row[j]) for j in range(len(header))
    ]
    if width is not None:
        words = [max(map(len, title.split()), default=0) for title in header]
        has_conditions = "if" in header
        for j, title in enumerate(header):
            is_long = len(title) > (MOST_HEAD if has_conditions else words[j])
            if is_long and sum(widths) + 2 * (len(widths) - 1) > width:
                body = max((len(t) for row in cells[1:] for t in row[j]), default=0)
                widths[j] = max(LEAST_WIDTH if has_conditions else words[j], body)
        least = [max(LEAST_WIDTH, min(length, MOST_HEAD)) for length in words]
        _shrink(widths, left, width, least)
        ends = itertools.accumulate(column + 2 for column in widths)
        n_fit = max(2, sum(end - 2 <= width for end in ends))
        if has_conditions:
            if _is_narrow(cells, header.index("if"), widths):
                return _blocks(header, cells[1:], width)
        elif n_fit < len(header):
            parts = [range(n_fit), [0, *range(n_fit, len(header))]]
            return "\n\n".join(
                text_table(
                    [header[j] for j in part],
                    [[row[j] for j in part] for row in rows],
                    left=[k for k, j in enumerate(part) if j in left],
                    width=width,
                    paint=paint,
                )
                for part in parts
            )
    texts = []
    for row in cells:
        parts = [
            [part for line in cell for part in wrapped(line, widths[j])]
            for j, cell in enumerate(row)
        ]
        for line in itertools.zip_longest(*parts, fillvalue=""):
            aligned = []
            for j, cell in enumerate(line):
                space = " " * (widths[j] - len(cell))
                shown = paint(header[j], cell) if paint else cell
                aligned.append(shown + space if j in left else space + shown)
            texts.append("  ".join(aligned).rstrip())
    return "\n".join(texts)


def _shrink(
    widths: list[int], left: Collection[int], width: int, least: Sequence[int]
) -> None:
    """Make the widest columns of text narrower until a table fits."""
    while sum(widths) + 2 * (len(widths) - 1) > width:
        wide = [j for j in left if widths[j] > least[j]]
        if not wide:
            return
        widest = max(wide, key=lambda j: widths[j])
        widths[widest] -= 1


def _is_narrow(cells: list[list[list[str]]], place: int, widths: list[int]) -> bool:
    """Whether conditions would be cut inside names, or take more than two lines."""
    room = widths[place] - len(INDENT)
    lines = [line for row in cells for line in row[place]]
    word, line = (max(map(len, texts)) for texts in (" ".join(lines).split(), lines))
    is_cut = line > widths[place] and (word > room or line > widths[place] + room)
    return widths[place] < LEAST_CONDITION and is_cut


def _blocks(header: Sequence[str], rows: list[list[list[str]]], width: int) -> str:
    """Each row as a block: its conditions, and below them what else is known."""
    place, number = header.index("if"), max(len(row[0][0]) for row in rows) + 2
    texts = []
    for row in rows:
        known = zip(header[place + 1 :], row[place + 1 :], strict=True)
        facts = [f"{title} {one_line(tuple(cell))}" for title, cell in known if cell[0]]
        whole = [fact.replace(" ", "\N{NO-BREAK SPACE}") for fact in facts]
        lines = [*row[place], "; ".join(whole)]
        parts = [part for line in lines for part in wrapped(line, width - number)]
        text = "\n".join(parts).replace("\N{NO-BREAK SPACE}", " ")
        texts.append(textwrap.indent(text, " " * number))
        texts[-1] = row[0][0] + texts[-1][len(row[0][0]) :]
    return "\n".join(texts)


# Okabe and Ito's colours, which colour-blind readers can tell apart.
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
UNBROKEN = "white-space:nowrap"
QUIET = "border:none;border-top:1px solid #8884;padding:0.2em 0.8em;vertical-align:top;"


def html_table(
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    caption: str = "",
    left: Collection[int] | None = None,
) -> str:
    """Write a small HTML table in which every cell is escaped.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence
        A cell is a text, or a tuple of lines. `Lines` bring their own HTML.
    caption : str
    left : collection of int, optional
        Columns with text, aligned to the left; those with numbers are aligned to the
        right and not wrapped. By default the page decides.

    Examples
    --------
    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    looks = [""] * len(header)
    title = f"<caption>{_html(caption)}</caption>" if caption else ""
    if left is not None:
        looks = [
            f' style="{QUIET}text-align:left"'
            if j in left
            else f' style="{QUIET}text-align:right;{UNBROKEN}"'
            for j in range(len(header))
        ]
        under = "caption-side:bottom;text-align:left;padding-top:0.5em"
        title = title.replace("<caption>", f'<caption style="{under}">')
    lines = [
        "<tr>"
        + "".join(
            f"<{tag}{look}>{'<br>'.join(map(_html, lines_of(cell)))}</{tag}>"
            for look, cell in zip(looks, row, strict=True)
        )
        + "</tr>"
        for tag, row in (("th", header), *(("td", row) for row in rows))
    ]
    lines[0] = lines[0].replace(UNBROKEN, "")  # long heads wrap
    body = f"<thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody>"
    return f"<table>{title}{body}</table>"


def _html(text: Any) -> str:
    """A text in HTML, without characters that would turn the order of others."""
    own = text._html if isinstance(text, Lines) else ""
    return own or escape(plain(text))
