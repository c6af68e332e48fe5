"""Numbers, dates and categories from text, as conditions print them."""

import ast
import math
import re
from datetime import UTC, datetime

from defragtrees.labels import KINDS, MICROSECONDS, START

__all__ = ["UnreadableError", "read_categories", "read_category", "read_number"]

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
    >>> from defragtrees.labels import Scale
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
