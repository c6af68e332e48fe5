"""Numbers, names, values and tables of the page, and escaping.

Templates escape their output with `escaped`; functions that return `Html` are filters.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from html import escape
from typing import Any

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import percent, true_minus
from defragtrees._utils.values import round_significant
from defragtrees.plots.picture import RIGHT_TO_LEFT
from defragtrees.rules.labels import PLAIN

LONGEST_SETTING = 160
LONGEST_HEADER = 45
# Names of y, and labels of its positive class, that say nothing about it.
EMPTY_NAMES = {"", "0", "class", "classes", "dependent", "label", "labels", "none"}
EMPTY_NAMES |= {"outcome", "output", "response", "result", "target", "targets", "value"}
EMPTY_NAMES |= {"y", "y test", "y true", "y train", "y val", "y valid", "ytrue"}
# Names that say something in a sentence, but nothing in a title.
GENERAL_NAMES = {"category", "group", "state", "status", "type"}
LONGEST = 200  # maximum number of characters of a name on the page
LONGEST_CONDITION = 2_000
EMPTY_LABELS = {"0", "1", "1.0", "true", "yes", "y", "t", "positive", "pos"}

# Invisible characters that change the direction of the text after them.
TURNING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
ESCAPES = {number: f"\\u{number:04x}" for number in TURNING}


def rate_text(rate, sign="%"):
    """Write a rate in per cent, with more decimals for rare classes.

    Examples
    --------
    >>> [rate_text(r) for r in (0.0004, 0.0803, 0.6, 0.9996, 1.0)]
    ['0.04%', '8.0%', '60.0%', '99.96%', '100%']
    """
    apart = min(rate, 1 - rate)
    digits = 0 if apart <= 0 else 1 if apart >= 0.001 else 2
    return f"{100 * rate:.{digits}f}{sign}"


def numbered(numbers):
    """List rules by number.

    Examples
    --------
    >>> numbered([2]), numbered([1, 3]), numbered([1, 2, 5])
    ('rule 2', 'rules 1 and 3', 'rules 1, 2 and 5')
    """
    *most, last = map(str, numbers)
    return f"rules {', '.join(most)} and {last}" if most else f"rule {last}"


def sentence(text):
    """Capitalise the first letter.

    Examples
    --------
    >>> sentence("the model")
    'The model'
    """
    return text[:1].upper() + text[1:]


def typeset(text):
    """A text of one line with the signs of print.

    Examples
    --------
    >>> typeset("x <= -1")
    'x ≤ −1'
    """
    text = render.plain(text).replace("<=", "≤").replace(">=", "≥")
    return true_minus(text)


def amount(value):
    """Write a measured number for people, with a minus sign; a dash for None.

    Examples
    --------
    >>> amount(12.34567), amount(-0.5), amount(None), amount(123456.7)
    ('12.3', '−0.5', '–', '123,000')
    """
    if value is None or math.isnan(value):
        return "–"
    return true_minus(render.rounded(value))


def span(low, high):
    """A range of written numbers.

    Examples
    --------
    >>> span("1", "2"), span("−3", "2")
    ('1–2', '−3 to 2')
    """
    return f"{low} to {high}" if low.startswith("\N{MINUS SIGN}") else f"{low}–{high}"


def amount_range(low, high):
    """Write a range of numbers.

    Examples
    --------
    >>> amount_range(61000, 173000)
    '61,000–173,000'
    """
    return span(amount(low), amount(high))


def prediction_text(prediction, outcome):
    """Write a prediction: a label as given, a number with few digits."""
    return outcome.view.prediction(prediction) if outcome.labels else amount(prediction)


def error_text(error, outcome, deviation=None):
    """Write an error in per cent or in the units of y, with its deviation if given."""
    text = shown_error_text(outcome.shown_error(error), outcome)
    if deviation is None:
        return text
    apart = outcome.shown_deviation(error, deviation)
    return f"{text} ± {shown_error_text(apart, outcome)}"


def shown_error_text(error, outcome):
    """Write an error that is a share of rows, or already in the units of y."""
    if outcome.error_is_share:
        return f"{100 * error:.1f}%"
    return amount(error)


def fidelity_text(fidelity):
    """Write a fidelity to three decimals; as R² it may be negative.

    Examples
    --------
    >>> fidelity_text(0.9604), fidelity_text(-0.5)
    ('0.960', '−0.500')
    """
    return true_minus(f"{fidelity:.3f}")


def agreement_text(fidelity, outcome):
    """Write a fidelity: in per cent of the rows or, of numbers, as R²."""
    return percent(fidelity) if outcome.error_is_share else fidelity_text(fidelity)


def visible(data):
    r"""Spell out characters that would change the direction of a text.

    Examples
    --------
    >>> print(visible({"name": ["evil\u202e"]})["name"][0])
    evil\u202e
    """
    if isinstance(data, str):
        return data.translate(ESCAPES)
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
    """Write an encoded value of a feature.

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
        return true_minus(render.grouped(round_significant(value, digits)))
    return str(categories[int(value)]) if value < len(categories) else "another value"


def setting_text(value):
    """Write a setting as code, without memory addresses, cut if long.

    Examples
    --------
    >>> setting_text(0.1), setting_text(None), setting_text("fab"), setting_text(len)
    ('0.1', 'None', "'fab'", 'len')
    """
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", " ".join(repr(value).split()))
    return text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]}…"


# Names


def target_text(name):
    """The name of y in words; empty if it says nothing.

    Examples
    --------
    >>> target_text("heart_disease"), target_text("y_test")
    ('heart disease', '')
    """
    words = " ".join(str(name).replace("_", " ").split())
    return "" if words.lower() in EMPTY_NAMES else words


def size_text(rules):
    """The number of rules or, with points, of questions.

    Examples
    --------
    >>> size_text(rules)
    '3 rules'
    """
    if rules._form.is_sum:
        return render.plural(len(rules.rules), "question")
    return render.plural(rules.n_rules, "rule")


def make_title(rules, target_name=None, data_name=None):
    """The title of a page: what is predicted, and the number of rules.

    Examples
    --------
    >>> make_title(rules, "go_outside"), make_title(rules.relabel(None, {"yes": "go"}))
    ('Go outside in 3 rules', 'Predicting “go” in 3 rules')
    """
    outcome, words = rules.outcome, target_text(target_name)
    labels = [outcome.view.prediction(label) for label in outcome.labels or ()]
    several = f"one of {len(labels)} classes" if labels else outcome.view.target
    what = f"Predicting {several}"
    if outcome.is_binary:
        what = f"Predicting {' or '.join(labels)}"
    if data_name:
        what = f"Predictions for {data_name}"
    what = sentence(words) or what
    if outcome.is_binary and words.lower() in {"", *GENERAL_NAMES}:
        label = labels[outcome.positive_index]
        what = what if label.lower() in EMPTY_LABELS else f"Predicting “{label}”"
    if rules._form.is_sum:
        return f"{what}: {size_text(rules)} with {rules._view.points_name}"
    return f"{what} in {size_text(rules)}"


def cut(text, most=LONGEST):
    """A text without its middle if it has more characters than this.

    Examples
    --------
    >>> cut("abcdefgh", 5), cut("abc", 5)
    ('ab…gh', 'abc')
    """
    return render.middle_cut(str(text), most)


def condition_parts(rules, condition):
    """The parts of a condition with the signs of print, the last one cut if long."""
    vocabulary = rules._vocabulary.styled(is_grouped=True, is_typeset=True)
    before, name, after = condition.parts(*vocabulary)
    return before, name, cut(after, LONGEST_CONDITION)


def shown_rules(rules):
    """Rules that predict the same, with long names of features and categories cut."""
    changes = {}
    if any(len(name) > LONGEST for name in rules._vocabulary.names):
        given = rules.feature_labels or (None,) * len(rules.feature_names)
        changes["feature_labels"] = tuple(
            cut(name) if len(name) > LONGEST else label
            for name, label in zip(rules._vocabulary.names, given, strict=True)
        )
    labels = [
        rules.outcome.view.prediction(label) for label in rules.outcome.labels or ()
    ]
    if any(len(label) > LONGEST for label in labels):
        changes["class_labels"] = _distinct(labels)
    categories = [
        known if known is None else _distinct(known) for known in rules.categories or ()
    ]
    if tuple(categories) != (rules.categories or ()):
        changes["categories"] = tuple(categories)
    return replace(rules, **changes) if changes else rules


def _distinct(labels):
    """Labels with the long texts among them cut; their number keeps them apart."""
    return tuple(
        label
        if not isinstance(label, str) or len(label) <= LONGEST
        else f"{cut(label, LONGEST - 10)} ({k + 1:,})"
        for k, label in enumerate(labels)
    )


# HTML


class Html(str):
    """Text that is HTML and is not escaped again."""

    def __html__(self):
        """The protocol of Jinja2 for safe text."""
        return self


def escaped(value):
    """Escape a value for use inside an element or an attribute.

    Examples
    --------
    >>> escaped('<b title="a">')
    '&lt;b title=&quot;a&quot;&gt;'
    """
    if isinstance(value, Html):
        return value
    return Html(escape(visible(str(value)), quote=True))


def name(given):
    """A name as HTML whose direction does not affect the surrounding text.

    Examples
    --------
    >>> name("a<b")
    '<bdi>a&lt;b</bdi>'
    """
    return Html(f"<bdi>{escaped(given)}</bdi>")


def isolated(text):
    r"""A text as HTML in which right-to-left passages are isolated.

    Digits and signs beside names in such scripts stay in place; long names may break.

    Examples
    --------
    >>> isolated("\u05d0\u05d1 > -1") == "<bdi>\u05d0\u05d1</bdi> &gt; -1"
    True
    """
    parts = RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", escaped(text))
    return Html(re.sub(r"_(?=\w)", "_<wbr>", parts))


def breakable(given, attributes=""):
    """A long name as HTML with line breaks allowed between its parts.

    Examples
    --------
    >>> breakable("word_freq")
    '<bdi>word_<wbr>freq</bdi>'
    """
    # Camel case first; an entity such as &lt; has none.
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escaped(given))
    parts = re.sub(r"([_./:-])(?=\w)", r"\1<wbr>", parts)
    return Html(f"<bdi{attributes}>{parts}</bdi>")


def clamped(given):
    """A name with line breaks; a very long one is cut and shown on hover.

    Examples
    --------
    >>> clamped("a" * 50)[:33]
    '<bdi class="clamped" title="aaaaa'
    """
    if len(str(given)) <= LONGEST_HEADER:
        return breakable(given)
    return breakable(given, f' class="clamped" title="{escaped(given)}"')


def script_json(data):
    r"""Data as JSON that is safe inside a script element.

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
    """A table for the macro of `templates/parts.html.j2`.

    The first cell of a row is its heading. A cell is a text, or a dict made by one of
    the functions below.
    """

    header: Sequence[Any]
    rows: Iterable[Sequence[Any]]
    caption: str
    numeric: Sequence[int] = ()  # right-aligned columns
    kind: str = "bars"  # a CSS class


def bar(share, label, look="", ends=None):
    """A bar from 0 to 1 with a label and optionally the ends of an interval."""
    width = min(100.0, max(0.0, 100 * share))
    made = {"kind": "bar", "width": width, "label": label, "look": look}
    low, high = ends or (0.0, 0.0)
    return made | {"low": 100 * low, "reach": 100 * (high - low)}


def range_bar(low, middle, high, mark=None, colour="", scale=(0.0, 1.0)):
    """An interval on a scale, its middle and optionally a dashed mark, in per cent."""

    def place(value):
        start, end = scale
        return 100 * (value - start) / ((end - start) or 1.0)

    return {
        "kind": "range",
        "colour": colour,
        "low": place(low),
        "width": max(0.5, place(high) - place(low)),
        "middle": place(middle),
        "mark": None if mark is None else place(mark),
    }


def badge(then, colour):
    """The prediction of a rule, with its colour."""
    return {"kind": "badge", "then": then, "colour": colour}


def with_interval(value, low, high):
    """A number with its interval below."""
    return {"kind": "interval", "value": value, "range": span(low, high)}
