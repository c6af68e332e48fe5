"""Conditions from text: what `Condition.text` prints is read back exactly.

A text is read in every way that the names, categories and scales allow. The way that
prints the same text again is what was meant; of a text that nothing prints (`age<=3.0`)
the only way to read it.
"""

import ast
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from defragtrees._utils.formatting import near_name
from defragtrees.errors import ConditionTextError
from defragtrees.rules.conditions import Condition
from defragtrees.rules.labels import KINDS, MICROSECONDS, PLAIN, START

__all__ = [
    "ColumnWords",
    "UnreadableError",
    "parse_condition",
    "parse_conditions",
    "read_categories",
    "read_category",
    "read_condition",
    "read_number",
]

NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
)
DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?"
)
CLOCK = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?")
DURATION = re.compile(r"(-?)(?:([\d,]+) days?)?\s?(?:(\d\d:\d\d\S*))?")
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
SEPARATOR = re.compile(r", |\s+or\s+|\s+nor\s+")
NEGATION = re.compile(r"(?:not|neither|none of)\s+")
NUMBERED = re.compile(r"category (\d+)")
MOST_LABELS = 5
NEEDED = {
    "date": "a date such as 2024-03-01",
    "datetime": "a time such as 2024-03-01 12:00",
    "time": "a time of day such as 06:00",
    "duration": "a duration such as 2 days 03:00",
}


class UnreadableError(ValueError):
    """Something else is needed at a place of a text."""

    def __init__(self, place, needed):
        super().__init__(f"{needed} is needed")
        self.place, self.needed = place, needed


def read_number(text, start, end, scale):
    """The number in a part of a text; its unit may follow.

    Parameters
    ----------
    text : str
    start, end : int
    scale : Scale

    Examples
    --------
    >>> from defragtrees.rules.labels import Scale
    >>> read_number("24 months", 0, 9, Scale("months"))
    24.0
    >>> read_number("2024-03-01", 0, 10, Scale(kind="date"))
    19783.0
    """
    body = text[start:end].strip().replace("−", "-")
    value = _value(body, scale.kind)
    if value is None and scale.unit:
        unit = scale.unit.strip().replace("−", "-")
        value = _value(body.removesuffix(unit).rstrip(), scale.kind)
    if value is None:
        raise UnreadableError(start, NEEDED.get(scale.kind, "a number"))
    return value


def _value(body, kind):
    """A number, or a date or time as days; None where it is none."""
    if kind in KINDS:
        return _days(body, kind)
    value = float(body.replace(",", "")) if NUMBER.fullmatch(body) else math.inf
    return value if math.isfinite(value) else None


def _days(body, kind):
    """A date, time or duration as days; None where it is none."""
    if body.startswith("day ") and NUMBER.fullmatch(body[4:]):
        return float(body[4:])
    if kind in ("date", "datetime"):
        match = DATE.fullmatch(body)
        return None if match is None else _calendar_days(match)
    if kind == "time":
        part = _clock_part(body)
        return None if part is None else part / MICROSECONDS
    match = DURATION.fullmatch(body)
    if match is None or not (match[2] or match[3]):
        return None
    part = _clock_part(match[3]) if match[3] else 0
    if part is None:
        return None
    days = int((match[2] or "0").replace(",", "") or 0)
    value = (days * MICROSECONDS + part) / MICROSECONDS
    return -value if match[1] else value


def _calendar_days(match):
    year, month, day, hour, minute, second = (
        int(part or 0) for part in match.groups()[:6]
    )
    try:
        time = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    apart = time - START
    part = apart.days * MICROSECONDS + apart.seconds * 10**6
    return (part + int((match[7] or "0").ljust(6, "0"))) / MICROSECONDS


def _clock_part(body):
    """Microseconds since midnight; None where it is no time of day."""
    match = CLOCK.fullmatch(body)
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        return None
    seconds = (int(match[1]) * 60 + int(match[2])) * 60 + int(match[3] or 0)
    return seconds * 10**6 + int((match[4] or "0").ljust(6, "0"))


def read_categories(text, start, end, labels):
    """The positions of the categories in a part of a text that follows "is".

    Parameters
    ----------
    text : str
    start, end : int
    labels : tuple, optional
        The categories; without them "category 3" is the one at position 3.

    Examples
    --------
    >>> read_categories("'red, blue' or green", 0, 20, ("red, blue", "green", "grey"))
    (0, 1)
    >>> read_categories("not green", 0, 9, ("red", "green"))
    (0, 2)
    """
    negation = NEGATION.match(text, start, end)
    place = negation.end() if negation else start
    places = set()
    while True:
        position, place = _next_category(text, place, end, labels)
        places.add(position)
        if place >= end:
            break
        separator = SEPARATOR.match(text, place, end)
        if separator is None:
            raise UnreadableError(place, "or, or a comma, between categories")
        place = separator.end()
    if negation:
        if labels is None:
            raise UnreadableError(start, "the list of all categories")
        places = set(range(len(labels) + 1)) - places
    return tuple(sorted(places))


def read_category(text, start, end, labels):
    """The position of the only category in a part of a text."""
    position, place = _next_category(text, start, end, labels)
    if place < end:
        raise UnreadableError(place, "one category only")
    return position


def _next_category(text, start, end, labels):
    """The position of the category that stands here, and where it ends."""
    quoted = QUOTED.match(text, start, end)
    if quoted:
        stop, label = quoted.end(), ast.literal_eval(quoted[0])
    else:
        separator = SEPARATOR.search(text, start, end)
        stop = separator.start() if separator else end
        label = text[start:stop].rstrip()
    if labels is None:
        numbered = NUMBERED.fullmatch(label)
        if numbered is None:
            raise UnreadableError(start, "a category such as category 3")
        return int(numbered[1]), stop
    texts = [str(one) for one in labels]
    if label not in texts:
        names = ", ".join(map(repr, texts[:MOST_LABELS]))
        more = ", …" if len(texts) > MOST_LABELS else ""
        raise UnreadableError(start, f"one of the categories {names}{more}")
    return texts.index(label), stop


SIGN = re.compile(r"\s*(<=|>=|≤|≥|<|>|==|=|is\b)\s*")
SIGN_BEFORE = re.compile(r"\s*(<=|>=|≤|≥|<|>)\s*$")
SYMBOLS = {"≤": "<=", "≥": ">=", "==": "=", "is": "="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
OR_MISSING = re.compile(r"\s+or\s+missing$")
AND = re.compile(r"\sand\s")
STATES = ("is missing", "is not missing", "is anything", "is impossible")
MOST_NAMES = 5
# What other languages say, and how it is said here.
ELSEWHERE = (
    (re.compile(r"&|\||\bAND\b"), "Conditions are joined by 'and'."),
    (re.compile(r"\bbetween\b"), "A range is written '20 < age <= 30'."),
    (re.compile(r"\bin\s*[(\[{]"), "Categories are written 'is red or blue'."),
    (re.compile(r"!=|<>"), "Other categories are written 'is not red'."),
)


@dataclass(frozen=True)
class ColumnWords:
    """What a text may say: the words of features, and which have whole numbers only.

    Parameters
    ----------
    names : sequence of str
        As they are shown.
    categories : sequence of (tuple or None), optional
    scales : sequence of Scale, optional
    integers : collection of int
        Features that have whole numbers only.
    columns : sequence of str, optional
        What the columns are called, where that is something else.
    """

    names: Any
    categories: Any = None
    scales: Any = None
    integers: Any = ()
    columns: Any = None

    def spellings(self, feature):
        """The ways in which a feature may be named."""
        names = {self.names[feature]}
        if self.columns is not None:
            names.add(self.columns[feature])
        quoted = {f"{mark}{name}{mark}" for name in names for mark in "'\"`"}
        return sorted(names | quoted)

    def labels(self, feature):
        """The categories of a feature; None where it has none."""
        return self.categories[feature] if self.categories else None

    def scale(self, feature):
        """How the numbers of a feature are written."""
        return self.scales[feature] if self.scales else PLAIN

    def text(self, condition):
        """A condition as it is printed in these words."""
        return condition.text(self.names, self.categories, self.scales)


def parse_condition(text, names, categories=None, scales=None, integers=()):
    """The condition that a text says, as `Condition.text` prints it.

    Parameters
    ----------
    text : str
    names : sequence of str
    categories : sequence of (tuple or None), optional
        For each feature its categories.
    scales : sequence of Scale, optional
        For each feature how its numbers are written.
    integers : collection of int
        Features that have whole numbers only.

    Returns
    -------
    Condition

    Examples
    --------
    >>> condition = parse_condition("18.5 < day <= 19.5 or missing", ["day"])
    >>> condition.lower, condition.upper, condition.missing
    (18.5, 19.5, True)
    >>> parse_condition("day is 19", ["day"], integers=[0]).lower
    18.0
    >>> colours = [("red", "green", "blue")]
    >>> parse_condition("hue is neither red nor blue", ["hue"], colours).categories
    (1, 3)
    >>> parse_condition("day <= 4o", ["day"])
    Traceback (most recent call last):
    ...
    defragtrees.errors.ConditionTextError: A number is needed at [here]: day <= [here]4o
    """
    return read_condition(text, ColumnWords(names, categories, scales, integers))


def parse_conditions(text, words):
    """The conditions that a text says, joined by "and", one for each feature.

    Parameters
    ----------
    text : str
        As `Rule.text` prints it; parts with "or" may stand in brackets.
    words : ColumnWords

    Returns
    -------
    tuple of Condition

    Examples
    --------
    >>> words = ColumnWords(["age", "sex"], [None, ("f", "m")])
    >>> parts = parse_conditions("(age <= 3 or missing) and sex is f", words)
    >>> [words.text(part) for part in parts]
    ['age <= 3 or missing', 'sex is f']
    """
    _check_text(text)
    between = [match.span() for match in AND.finditer(text)]
    starts = [0, *(end for _, end in between)]
    ends = [*(start for start, _ in between), len(text)]
    parts = _joined_parts(text, starts, ends, words)
    if parts is None:
        # With what is wrong in the first part that cannot be read.
        parts = [
            _read_part(text, start, end, words)
            for start, end in zip(starts, ends, strict=True)
        ]
    merged: dict[int, Condition] = {}
    for part in parts:
        before = merged.get(part.feature)
        merged[part.feature] = part if before is None else _both(before, part)
    return tuple(merged.values())


def _joined_parts(text, starts, ends, words):
    """The text as a row of conditions, some of which have an "and" in a name."""
    if not starts:
        return []
    for n in range(1, len(starts) + 1):
        try:
            first = _read_part(text, starts[0], ends[n - 1], words)
        except ConditionTextError:
            continue
        rest = _joined_parts(text, starts[n:], ends[n:], words)
        if rest is not None:
            return [first, *rest]
    return None


def _read_part(text, start, end, words):
    inner, last = _stripped(text, start, end)
    if text[inner:last].startswith("(") and text[inner:last].endswith(")"):
        try:
            return read_condition(text, words, start, end)
        except ConditionTextError:
            return read_condition(text, words, inner + 1, last - 1)
    return read_condition(text, words, start, end)


def _both(one, other):
    """The condition that asks for two on the same feature."""
    missing = one.missing and other.missing
    if one.categories is not None:
        kept = tuple(c for c in one.categories if c in other.categories)
        return Condition(one.feature, categories=kept, missing=missing)
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    if lower >= upper:
        return Condition(one.feature, lower=math.inf, missing=missing)
    return Condition(
        one.feature, lower, upper, missing=missing, is_integer=one.is_integer
    )


def read_condition(text, words, start=0, end=None):
    """The condition that a part of a text says; see `parse_condition`.

    Parameters
    ----------
    text : str
    words : ColumnWords
    start, end : int, optional
    """
    _check_text(text)
    end = len(text) if end is None else end
    readings: list[Condition] = []
    troubles: list[UnreadableError] = []
    # A name may begin with a space, and a category never does.
    for span in dict.fromkeys([(start, end), _stripped(text, start, end)]):
        for feature in range(len(words.names)):
            for condition in _readings(text, *span, feature, words, troubles):
                if condition not in readings:
                    readings.append(condition)
    exact = [one for one in readings if words.text(one) == text[start:end]]
    meant = exact or readings
    if len(meant) == 1:
        return meant[0]
    if meant:
        texts = " or ".join(repr(words.text(one)) for one in meant[:2])
        raise ConditionTextError(
            f"A condition must say one thing; {text[start:end]!r} may mean {texts}. "
            "Put its name or category in quotes."
        )
    raise _refusal(text, start, end, words, troubles)


def _check_text(text):
    if not isinstance(text, str):
        raise ConditionTextError(
            f"A condition must be a text such as 'age <= 40'; got {text!r}. Write it "
            "as rules print it."
        )


def _stripped(text, start, end):
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _refusal(text, start, end, words, troubles):
    """What is needed, and where, in one sentence."""
    nothing = UnreadableError(start, f"the name of a column ({_guess(text, words)})")
    # The reading that got furthest is the one that was meant.
    trouble = max(troubles, key=lambda one: one.place, default=nothing)
    needed, place = trouble.needed, trouble.place
    marked = f"{text[:place]}[here]{text[place:]}"
    hints = [f". {how}" for what, how in ELSEWHERE if what.search(text, start, end)]
    return ConditionTextError(
        f"{needed[:1].upper()}{needed[1:]} is needed at [here]: {marked}"
        f"{hints[0] if hints else ''}"
    )


def _guess(text, words):
    """The column that was meant, or the first ones."""
    sign = SIGN.search(text)
    near = near_name(text[: sign.start()].strip(), words.names) if sign else None
    if near is not None:
        return f"did you mean {near!r}?"
    shown = ", ".join(map(repr, words.names[:MOST_NAMES]))
    return f"{shown}, …" if len(words.names) > MOST_NAMES else shown


def _readings(text, start, end, feature, words, troubles):
    """All conditions on one feature that a text may say."""
    ends = [(end, False)]
    ending = OR_MISSING.search(text[start:end])
    if ending:
        ends.append((start + ending.start(), True))
    for spelling in words.spellings(feature):
        place = text.find(spelling, start, end) if spelling else -1
        while place >= 0:
            after = place + len(spelling)
            is_part = _is_inside_word(text, place) or _is_inside_word(text, after)
            for stop, missing in ends if not is_part else ():
                if after <= stop:
                    span = (start, place, after, stop)
                    reading = _Reading(text, span, feature, missing, words)
                    try:
                        yield reading.condition()
                    except UnreadableError as trouble:
                        troubles.append(trouble)
            place = text.find(spelling, place + 1, end)


def _is_inside_word(text, place):
    """Whether letters or digits go on across a place."""
    around = text[max(place - 1, 0) : place + 1]
    return 0 < place < len(text) and all(c.isalnum() or c == "_" for c in around)


@dataclass(frozen=True)
class _Reading:
    """A text in which the name of a feature stands at a place."""

    text: str
    span: tuple[int, int, int, int]  # start, start and end of the name, end
    feature: int
    missing: bool
    words: ColumnWords

    def condition(self):
        """What the text says if this is the name."""
        start, name, after, end = self.span
        state = " ".join(self.text[after:end].split())
        if name == start and state in STATES:
            return self._state(state)
        sides = [] if name == start else [self._side_before(start, name)]
        sign = SIGN.match(self.text, after, end)
        if sign is None:
            raise UnreadableError(after, "a sign such as <= or >")
        symbol = SYMBOLS.get(sign[1], sign[1])
        if sides and (symbol == "=" or symbol[0] == sides[0][0][0]):
            raise UnreadableError(sign.start(1), "a sign that ends the range")
        sides.append((symbol, sign.end(), end))
        if self.words.labels(self.feature) is not None or self._is_numbered(sides):
            return self._set(sides)
        return self._interval(sides)

    def _side_before(self, start, name):
        sign = SIGN_BEFORE.search(self.text[start:name])
        if sign is None:
            raise UnreadableError(start, "the name of a column")
        symbol = SYMBOLS.get(sign[1], sign[1])
        return FLIPPED[symbol], start, start + sign.start()

    def _is_numbered(self, sides):
        [*_, (symbol, start, end)] = sides
        is_unnamed = self.words.categories is None and symbol == "="
        return is_unnamed and self.text[start:end].startswith("category ")

    def _state(self, state):
        """No side, or none that anything is on."""
        labels = self.words.labels(self.feature)
        has_values = state in ("is not missing", "is anything")
        missing = self.missing or state in ("is missing", "is anything")
        if labels is not None:
            places = tuple(range(len(labels) + 1)) if has_values else ()
            return Condition(self.feature, categories=places, missing=missing)
        if not has_values:
            return Condition(self.feature, lower=math.inf, missing=missing)
        is_integer = self.feature in self.words.integers
        return Condition(self.feature, missing=missing, is_integer=is_integer)

    def _interval(self, sides):
        is_integer = self.feature in self.words.integers
        scale = self.words.scale(self.feature)
        lower, upper = -math.inf, math.inf
        for symbol, start, end in sides:
            value = read_number(self.text, start, end, scale)
            before = math.nextafter(value, -math.inf)
            if is_integer:
                before = math.ceil(value) - 1.0
            if symbol in (">", ">=", "="):
                lower = value if symbol == ">" else before
            if symbol in ("<", "<=", "="):
                upper = before if symbol == "<" else value
        if lower >= upper:
            raise UnreadableError(self.span[0], "a range that some number is in")
        return Condition(
            self.feature, lower, upper, missing=self.missing, is_integer=is_integer
        )

    def _set(self, sides):
        """Categories by name or, where they have an order, from one to another."""
        labels = self.words.labels(self.feature)
        symbol, start, end = sides[-1]
        if symbol == "=":
            places = read_categories(self.text, start, end, labels)
            return Condition(self.feature, categories=places, missing=self.missing)
        if not self.words.scale(self.feature).is_ordered:
            needed = "the word is, as its categories have no order,"
            raise UnreadableError(self.span[2], needed)
        first, last = 0, len(labels) - 1
        for symbol, start, end in sides:
            place = read_category(self.text, start, end, labels)
            if symbol[0] == "<":
                last = place - (symbol == "<")
            else:
                first = place + (symbol == ">")
        if first > last:
            raise UnreadableError(self.span[0], "a range that some category is in")
        places = tuple(range(first, last + 1))
        return Condition(self.feature, categories=places, missing=self.missing)
