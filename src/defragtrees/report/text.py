"""Numbers, names, values and tables as the page shows them; how texts are escaped.

What templates print is escaped by `escaped`; the functions below it that give `Html`
are filters of the templates.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from html import escape
from typing import Any

from defragtrees.plots.picture import RIGHT_TO_LEFT
from defragtrees.rules.labels import PLAIN

LONGEST_SETTING = 160
LONGEST_HEADER = 45
# Characters that turn the direction of the text after them, and are not seen.
TURNING = {
    number: f"\\u{number:04x}"
    for number in (
        0x061C,
        0x200E,
        0x200F,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    )
}


def percent(share):
    """A share of one in whole per cent, for reading and not for arithmetic.

    Examples
    --------
    >>> [percent(s).split() for s in (0.001, 0.184, 0.9975)]
    [['<1', '%'], ['18', '%'], ['>99', '%']]
    """
    if 0 < share < 0.005:
        return "<1\N{NO-BREAK SPACE}%"
    if 0.995 <= share < 1 - 1e-12:
        return ">99\N{NO-BREAK SPACE}%"
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def rate_text(rate):
    """A rate in per cent, as precisely as rare classes need it.

    Examples
    --------
    >>> [rate_text(r).split()[0] for r in (0.0004, 0.0803, 0.6, 0.9996, 1.0)]
    ['0.04', '8.0', '60.0', '99.96', '100']
    """
    apart = min(rate, 1 - rate)
    digits = 0 if apart <= 0 else 1 if apart >= 0.001 else 2
    return f"{100 * rate:.{digits}f}\N{NO-BREAK SPACE}%"


def count(number):
    """A whole number with separators.

    Examples
    --------
    >>> count(12345)
    '12,345'
    """
    return f"{int(number):,}"


def numbered(numbers):
    """Rules by their numbers.

    Examples
    --------
    >>> numbered([2]), numbered([1, 3]), numbered([1, 2, 5])
    ('rule 2', 'rules 1 and 3', 'rules 1, 2 and 5')
    """
    *most, last = map(str, numbers)
    return f"rules {', '.join(most)} and {last}" if most else f"rule {last}"


def grouped(text):
    """Whole parts of numbers from 10,000 on with separators, as measured ones have.

    Examples
    --------
    >>> grouped("966700 (480000.5 to 1680)"), grouped("1e-05, v20210, 0.12345")
    ('966,700 (480,000.5 to 1680)', '1e-05, v20210, 0.12345')
    """
    return re.sub(r"(?<![\w.,])\d{5,}(?![\w])", lambda m: f"{int(m[0]):,}", text)


def sentence(words):
    """The words with a large first letter.

    Examples
    --------
    >>> sentence("the model")
    'The model'
    """
    return words[:1].upper() + words[1:]


def amount(value, digits=4):
    """A measured number to a few digits, with a true minus; a dash for none.

    Examples
    --------
    >>> amount(12.34567), amount(-0.5), amount(None), amount(123456.7)
    ('12.35', '−0.5', '–', '123,457')
    """
    if value is None or math.isnan(value):
        return "–"
    large = abs(value) >= 10**digits and abs(value) < 1e15
    return true_minus(f"{value:,.0f}" if large else f"{value:.{digits}g}")


def answer_text(answer, outcome):
    """A prediction in short: a label as it is given, a number to a few digits."""
    return outcome.answer_text(answer) if outcome.labels else amount(answer)


def reported_text(value, outcome):
    """A rate, or a mean in the units of y."""
    return {"rates": rate_text, "mean": amount}[outcome.statistic](value)


def error_text(error, outcome, deviation=None):
    """An error as a share of rows, or in the units of y; and how far it may be off."""
    text = shown_error_text(outcome.shown_error(error), outcome)
    if deviation is None:
        return text
    apart = outcome.shown_deviation(error, deviation)
    return f"{text} ± {shown_error_text(apart, outcome)}"


def shown_error_text(error, outcome):
    """An error that is a share of rows, or in the units of y already."""
    if outcome.error_is_share:
        return f"{100 * error:.1f}\N{NO-BREAK SPACE}%"
    return amount(error)


def fidelity_text(fidelity):
    """A fidelity to three digits; as an R² it may be below zero.

    Examples
    --------
    >>> fidelity_text(0.9604), fidelity_text(-0.5)
    ('0.960', '−0.500')
    """
    return true_minus(f"{fidelity:.3f}")


def true_minus(text):
    """Numbers in a text with a minus sign, not a hyphen; also in exponents.

    Examples
    --------
    >>> true_minus("-0.5 < x-1 <= 1e-07")
    '−0.5 < x-1 <= 1e−07'
    """
    return re.sub(r"(?<![\w.-])-(?=\d|inf)|(?<=\de)-(?=\d)", "\N{MINUS SIGN}", text)


def visible(data):
    r"""Data in which characters that would turn a text around are spelled out.

    Examples
    --------
    >>> print(visible({"name": ["evil\u202e"]})["name"][0])
    evil\u202e
    """
    if isinstance(data, str):
        return data.translate(TURNING)
    if isinstance(data, dict):
        return {name: visible(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [visible(value) for value in data]
    if is_dataclass(data):
        return replace(
            data, **{f.name: visible(getattr(data, f.name)) for f in fields(data)}
        )
    return data


def value_text(value, categories=None, digits=6, scale=PLAIN):
    """What an encoded value of a feature stands for, to a few digits.

    Examples
    --------
    >>> value_text(0.25), value_text(1.0, ("red", "blue")), value_text(float("nan"))
    ('0.25', 'blue', 'missing')
    """
    if math.isnan(value):
        return "missing"
    if categories is None and scale.kind is not None:
        return scale.number(value)
    if categories is None:
        return true_minus(f"{value:.{digits}g}")
    return str(categories[int(value)]) if value < len(categories) else "another value"


def setting_text(value):
    """A setting as code would say it, without addresses in memory, cut if long.

    Examples
    --------
    >>> setting_text(0.1), setting_text(None), setting_text("fab"), setting_text(len)
    ('0.1', 'None', "'fab'", 'len')
    """
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", " ".join(repr(value).split()))
    return text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]}…"


class Html(str):
    """Text that is HTML already, and is not escaped again."""

    def __html__(self):
        """What Jinja2 asks of such a text."""
        return self


def escaped(value):
    """Any value as text that is safe inside an element or an attribute.

    Examples
    --------
    >>> escaped('<b title="a">')
    '&lt;b title=&quot;a&quot;&gt;'
    """
    if isinstance(value, Html):
        return value
    return Html(escape(visible(str(value)), quote=True))


def name(given):
    """A given name or label as HTML, whose direction leaves the text around it alone.

    Examples
    --------
    >>> name("a<b")
    '<bdi>a&lt;b</bdi>'
    """
    return Html(f"<bdi>{escaped(given)}</bdi>")


def isolated(words):
    r"""A text as HTML in which each stretch of right-to-left letters stands alone.

    For texts that have names in them; digits and signs beside these stay in place.

    Examples
    --------
    >>> isolated("\u05d0\u05d1 > -1") == "<bdi>\u05d0\u05d1</bdi> &gt; -1"
    True
    """
    return Html(RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", escaped(words)))


def breakable(given, attributes=""):
    """A long name as HTML that may break after each of its parts.

    Examples
    --------
    >>> breakable("word_freq")
    '<bdi>word_<wbr>freq</bdi>'
    """
    # Humps first; an entity such as &lt; has none.
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escaped(given))
    parts = re.sub(r"([_./:-])(?=\w)", r"\1<wbr>", parts)
    return Html(f"<bdi{attributes}>{parts}</bdi>")


def clamped(given):
    """A name that may break; of a very long one the beginning, the rest on hovering.

    Examples
    --------
    >>> clamped("a" * 50)[:33]
    '<bdi class="clamped" title="aaaaa'
    """
    if len(str(given)) <= LONGEST_HEADER:
        return breakable(given)
    return breakable(given, f' class="clamped" title="{escaped(given)}"')


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
    return Html(plain)


@dataclass(frozen=True)
class Table:
    """A table, which `templates/parts.html.j2` draws.

    The first cell of a row is its heading. A cell is a text, or a dict that one of the
    functions below makes.
    """

    header: Sequence[Any]
    rows: Iterable[Sequence[Any]]
    caption: str
    numeric: Sequence[int] = ()  # columns that stand on the right
    kind: str = ""  # a class for the style sheet
    is_quiet: bool = False  # whether a heading above says what the caption says


def bar(share, label, look=""):
    """A bar from 0 to 1 and its label."""
    width = min(100.0, max(0.0, 100 * share))
    return {"kind": "bar", "width": width, "label": label, "look": look}


def range_bar(low, middle, high, mark=None):
    """A bar from 0 to 1 with an interval, its middle and, dashed, a mark beside it."""
    return {
        "kind": "range",
        "low": 100 * low,
        "width": 100 * max(0.005, high - low),
        "middle": 100 * middle,
        "mark": None if mark is None else 100 * mark,
    }


def badge(card):
    """What a rule predicts, with its colour."""
    return {"kind": "badge", "then": card.then, "colour": card.colour}


def with_interval(value, low, high):
    """A number and, below it, its interval."""
    return {"kind": "interval", "value": value, "low": low, "high": high}


def values_of_row(values, is_asked):
    """Values of a row; those that its rule uses are in bold."""
    return [
        {"kind": "bold", "text": name(value)} if is_bold else name(value)
        for value, is_bold in zip(values, is_asked, strict=True)
    ]
