"""Numbers, shares, names and tables as text, and tables as HTML."""

import difflib
from html import escape


class Lines(str):
    """A text that a notebook shows line by line, not in quotes."""

    __slots__ = ()

    def _repr_html_(self):
        return f"<pre>{escape(self)}</pre>"

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))


class Tabular:
    """Base of what prints as a table with notes below it: `_cells` and `_notes`."""

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        raise NotImplementedError

    def _notes(self) -> list[str]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join([text_table(*self._cells()), *self._notes()])

    def _repr_html_(self):
        return html_table(*self._cells(), "; ".join(self._notes()))


# Texts between categories, which must not be taken for one.
SEPARATORS = (", ", " and ", " or ", " nor ", ": ")
# Words of conditions themselves.
WORDS = ("missing", "not missing", "anything", "impossible")
STARTS = ("not ", "neither ", "none of ", "'", '"')
SIGNS = (" <= ", " >= ", " < ", " > ", " is ")


def number(value):
    """A number exactly as stored, in as few characters as say so.

    Examples
    --------
    >>> number(0.1), number(3.0), number(1e-7), number(-0.0)
    ('0.1', '3', '1e-07', '0')
    """
    text = repr(float(value))
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text


def grouped(value):
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


def signed(value):
    """Write a number as `grouped` does, with its sign.

    Examples
    --------
    >>> signed(1.5), signed(-2.0), signed(0.0), signed(61500.0)
    ('+1.5', '-2', '0', '+61,500')
    """
    text = grouped(value)
    return f"+{text}" if value > 0 else text


def round_to(value, digits=3):
    """Round a number to a few significant digits.

    Examples
    --------
    >>> round_to(12.34567), round_to(86543.0)
    (12.3, 86500.0)
    """
    return float(f"{value:.{digits}g}")


def rounded(value, digits=3):
    """Write a measured number for people: few digits, separators, no exponent.

    Examples
    --------
    >>> rounded(85712.0), rounded(12.34567), rounded(0.000123456), rounded(1234.5)
    ('85,700', '12.3', '0.000123', '1,230')
    >>> rounded(1.5e-6), rounded(2.5e20), rounded(float("nan"))
    ('1.5e-06', '2.5e+20', 'nan')
    """
    value = round_to(value, digits)
    if not 1e-4 <= abs(value) < 1e15:
        return number(value)
    whole, point, rest = number(value).partition(".")
    return f"{int(whole):,}{point}{rest}" if abs(value) >= 1 else number(value)


def label(value):
    """A category or class as text; quoted where it could be taken for more than one.

    Examples
    --------
    >>> label("red"), label("red, blue")
    ('red', "'red, blue'")
    """
    text = str(value)
    return repr(text) if any(sign in text for sign in SEPARATORS) else text


def category(value):
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


def plain(text):
    r"""A text on one line, without characters that a terminal would obey.

    Examples
    --------
    >>> plain("two\nlines"), plain("\x1b[31mred")
    ('two lines', ' [31mred')
    """
    return "".join(c if c.isprintable() else " " for c in str(text))


def plural(number, noun):
    """A number and its noun.

    Examples
    --------
    >>> plural(1, "rule"), plural(1200, "row"), plural(2, "leaf")
    ('1 rule', '1,200 rows', '2 leaves')
    """
    many = {"leaf": "leaves"}.get(noun, f"{noun}s")
    return f"{number:,} {noun if number == 1 else many}"


def share(value):
    """A share of one in per cent.

    Examples
    --------
    >>> share(0.123), share(0.0004), share(1.0)
    ('12.3 %', '<0.1 %', '100.0 %')
    """
    if 0 < value < 0.0005:
        return "<0.1 %"
    return f"{100 * value:.1f} %"


def share_range(low, high):
    """From one share to another, in per cent.

    Examples
    --------
    >>> share_range(0.071, 0.0916), share_range(0.0, 1.0)
    ('7.1 to 9.2 %', '0.0 to 100.0 %')
    """
    return f"{share(low).removesuffix(' %')} to {share(high)}"


def count(value):
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


def listed(items):
    """The items for a message, cut after five.

    Examples
    --------
    >>> listed("abcdefg")
    "'a', 'b', 'c', 'd', 'e', …"
    """
    items = list(items)
    return ", ".join(repr(item) for item in items[:5]) + (", …" if items[5:] else "")


def nearest(name, names):
    """A guess at the name that was meant, or all names; the end of a sentence."""
    near = near_name(name, names)
    return f"it has {listed(names)}." if near is None else f"did you mean {near!r}?"


def near_name(name, names):
    """The name that was meant, such as "Records" by "Record"; None if there is none."""
    if not isinstance(name, str):
        return None
    lower = {other.lower(): other for other in names if isinstance(other, str)}
    if name.lower() in lower:
        return lower[name.lower()]
    near = difflib.get_close_matches(name, list(lower.values()), n=1, cutoff=0.6)
    return near[0] if near else None


def text_table(header, rows):
    """Columns of text, as wide as they need to be; the first column stays left.

    Examples
    --------
    >>> print(text_table(["name", "n"], [["a", "1"], ["bcdef", "22"]]))
    name    n
    a       1
    bcdef  22
    """
    lines = [list(map(str, header)), *(list(map(str, row)) for row in rows)]
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
    texts = []
    for line in lines:
        cells = [
            cell.ljust(width) if j == 0 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)


def html_table(header, rows, caption="", wide=None):
    """A small HTML table in which every cell is escaped.

    The column number `wide` has sentences: it is set from the left, and others are not
    broken into lines; a notebook would do otherwise.

    Examples
    --------
    >>> html_table(["a"], [["<b>"]])
    '<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    looks = [""] * len(header)
    if wide is not None:
        looks = [' style="white-space:nowrap"'] * len(header)
        looks[wide] = ' style="text-align:left"'
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{look}>{escape(str(cell))}</td>"
            for look, cell in zip(looks, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
