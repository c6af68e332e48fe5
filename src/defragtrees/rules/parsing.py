"""Parse conditions; what `Condition.text` prints is read back exactly.

A text is read in every way that the names, categories and scales allow. The way that
prints the same text again is what was meant; of a text that nothing prints (`age<=3.0`)
the only way to read it.
"""

import ast
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from defragtrees._utils.formatting import near_name, plain
from defragtrees.errors import ConditionTextError
from defragtrees.rules.conditions import Condition
from defragtrees.rules.labels import KINDS, MICROSECONDS, PLAIN, START, Scale

NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
)
CLOCK = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?")
DATE = re.compile(rf"\d{{4}}-\d\d-\d\d([ T]{CLOCK.pattern})?")
DURATION = re.compile(r"(-?)(?:([\d,]+) days?)?\s?(?:(\d\d:\d\d\S*))?")
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
SEPARATOR = re.compile(r", |(?<!\s)\s+n?or\s+")
NEGATION = re.compile(r"(?:not|neither|none of)\s+")
NUMBERED = re.compile(r"category (\d+)")
SIGN = re.compile(r"(<=|>=|≤|≥|<|>|==|=|is\b)\s*")
SIGN_BEFORE = re.compile(r"(?<!\s)\s*(<=|>=|≤|≥|<|>)\s*$")
SYMBOLS = {"≤": "<=", "≥": ">=", "==": "=", "is": "="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# From where the spaces begin: else a run of them is read once from each of them.
OR_MISSING = re.compile(r"(?<!\s),?\s+or\s+(?:is\s+)?missing$")
AND = re.compile(r"\sand\s")
STATES = ("is missing", "is not missing", "is anything", "is impossible")
MOST_SHOWN = 5  # names or categories in a message
MOST_CONDITIONS = 1000  # of one text
MOST_AROUND = 200  # characters of a text before and after the place of an error
NEEDED = {
    "date": "a date such as 2024-03-01",
    "datetime": "a time such as 2024-03-01 12:00",
    "datetime UTC": "a time such as 2024-03-01 12:00 UTC",
    "time": "a time of day such as 06:00",
    "duration": "a duration such as 2 days 03:00",
}
# What other languages write, and how it is written here.
ELSEWHERE = (
    (re.compile(r"&|\||\bAND\b"), "Conditions are joined by 'and'."),
    (re.compile(r"\bbetween\b"), "A range is written '20 < age <= 30'."),
    (re.compile(r"\bin\s*[(\[{]"), "Categories are written 'is red or blue'."),
    (re.compile(r"!=|<>"), "Other categories are written 'is not red'."),
)


@dataclass(frozen=True)
class ColumnWords:
    """The words of features in texts, and which have whole numbers only."""

    names: Sequence[str]  # as they are shown
    categories: Sequence[Any] | None = None
    scales: Sequence[Scale] | None = None
    integers: Collection[int] = ()  # features that have whole numbers only
    columns: Sequence[str] | None = None  # names of columns, where they differ

    def spellings(self, feature: int) -> list[str]:
        """The ways in which a feature may be named."""
        names = {self.names[feature]}
        if self.columns is not None:
            names.add(self.columns[feature])
        quoted = {f"{mark}{name}{mark}" for name in names for mark in "'\"`"}
        return sorted(names | quoted)

    def labels(self, feature: int) -> Any:
        """The categories of a feature; None where it has none."""
        return self.categories[feature] if self.categories else None

    def scale(self, feature: int) -> Scale:
        """How the numbers of a feature are written."""
        return self.scales[feature] if self.scales else PLAIN

    @cached_property
    def most_and(self) -> int:
        """How often "and" can stand in the names, categories and units of one part."""
        counts = [0]
        for j in range(len(self.names)):
            texts = [*self.spellings(j), *map(str, self.labels(j) or ())]
            texts += [self.scale(j).unit or ""] * 2
            counts.append(sum(len(AND.findall(f" {text} ")) for text in texts))
        return max(counts)

    def text(self, condition: Condition) -> str:
        """A condition as it is printed in these words."""
        return condition.text(self.names, self.categories, self.scales)


def parse_conditions(text: str, words: ColumnWords) -> tuple[Condition, ...]:
    """The conditions of a text, joined by "and", one for each feature.

    Parts with "or" may stand in brackets, as `Rule.text` prints them.

    Examples
    --------
    >>> words = ColumnWords(["age", "sex"], [None, ("f", "m")])
    >>> parts = parse_conditions("(age <= 3 or missing) and sex is f", words)
    >>> [words.text(part) for part in parts]
    ['age <= 3 or missing', 'sex is f']
    """
    _check_text(text)
    between = [match.span() for match in AND.finditer(text)]
    if len(between) >= MOST_CONDITIONS:
        raise ConditionTextError(
            f"A text must have at most {MOST_CONDITIONS} conditions; got "
            f"{len(between) + 1:,} joined by 'and'. Write one per column."
        )
    starts = [0, *(end for _, end in between)]
    ends = [*(start for start, _ in between), len(text)]
    parts = _joined_parts(text, starts, ends, words)
    if parts is None:
        # With what is wrong in the first part that cannot be read.
        spans = zip(starts, ends, strict=True)
        parts = [_read_part(text, start, end, words) for start, end in spans]
    merged: dict[int, Condition] = {}
    for part in parts:
        before = merged.get(part.feature)
        merged[part.feature] = part if before is None else _both(before, part)
    return tuple(merged.values())


def _joined_parts(
    text: str, starts: list[int], ends: list[int], words: ColumnWords
) -> list[Condition] | None:
    """The conditions of a text in which names may contain "and"."""
    longest = words.most_and + 1
    # From the end, so that no part is read twice: of each place where all that follows
    # can be read, the condition that begins there and the place after it.
    rests: list[tuple[Condition, int] | None] = [None] * len(starts)
    for first in reversed(range(len(starts))):
        for after in range(first + 1, min(first + longest, len(starts)) + 1):
            if after < len(starts) and rests[after] is None:
                continue
            try:
                part = _read_part(text, starts[first], ends[after - 1], words)
            except ConditionTextError:
                continue
            rests[first] = part, after
            break
    parts, place = list[Condition](), 0
    while place < len(starts):
        step = rests[place]
        if step is None:
            return None
        parts.append(step[0])
        place = step[1]
    return parts


def _read_part(text: str, start: int, end: int, words: ColumnWords) -> Condition:
    inner, last = _stripped(text, start, end)
    try:
        return read_condition(text, words, start, end)
    except ConditionTextError:
        if text[inner:last].startswith("(") and text[inner:last].endswith(")"):
            return read_condition(text, words, inner + 1, last - 1)
        raise


def _both(one: Condition, other: Condition) -> Condition:
    """The condition that is the same as two on one feature."""
    missing = one.missing and other.missing
    if one.categories is not None:
        kept = tuple(c for c in one.categories if c in (other.categories or ()))
        return Condition(one.feature, categories=kept, missing=missing)
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    if lower >= upper:
        return Condition(one.feature, lower=math.inf, missing=missing)
    return Condition(
        one.feature, lower, upper, missing=missing, is_integer=one.is_integer
    )


def read_condition(
    text: str, words: ColumnWords, start: int = 0, end: int | None = None
) -> Condition:
    """The condition of a text, or of a part of it, as `Condition.text` prints it.

    Examples
    --------
    >>> words = ColumnWords(["day", "hue"], [None, ("red", "green", "blue")])
    >>> condition = read_condition("18.5 < day <= 19.5 or missing", words)
    >>> condition.lower, condition.upper, condition.missing
    (18.5, 19.5, True)
    >>> read_condition("hue is neither red nor blue", words).categories
    (1, 3)
    >>> read_condition("day <= 4o", words)
    Traceback (most recent call last):
    ...
    defragtrees.errors.ConditionTextError: A number is needed at [here]: day <= [here]4o
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
            f"A condition must be unambiguous; {text[start:end]!r} may mean {texts}. "
            "Put its name or category in quotes."
        )
    nothing = UnreadableError(start, f"the name of a column ({_guess(text, words)})")
    # The reading that got furthest is the one that was meant.
    trouble = max(troubles, key=lambda one: one.place, default=nothing)
    needed, place = trouble.needed, trouble.place
    hints = [f". {how}" for what, how in ELSEWHERE if what.search(text, start, end)]
    text = plain(text)
    first, last = max(place - MOST_AROUND, 0), place + MOST_AROUND
    around = f"{'…' * (first > 0)}{text[first:place]}[here]{text[place:last]}"
    raise ConditionTextError(
        f"{needed[:1].upper()}{needed[1:]} is needed at [here]: {around}"
        f"{'…' * (last < len(text))}{hints[0] if hints else ''}"
    )


class UnreadableError(ValueError):
    """Something else is needed at a place of a text."""

    def __init__(self, place: int, needed: str) -> None:
        super().__init__(f"{needed} is needed")
        self.place, self.needed = place, needed


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise ConditionTextError(
            f"A condition must be a text such as 'age <= 40'; got {text!r}. Write it "
            "as rules print it."
        )


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _guess(text: str, words: ColumnWords) -> str:
    """The column that was meant, or the first ones."""
    sign = SIGN.search(text)
    near = near_name(text[: sign.start()].strip(), words.names) if sign else None
    return _some(words.names) if near is None else f"did you mean {near!r}?"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MOST_SHOWN]))
    return f"{shown}, …" if len(names) > MOST_SHOWN else shown


def _readings(
    text: str,
    start: int,
    end: int,
    feature: int,
    words: ColumnWords,
    troubles: list[UnreadableError],
) -> Iterator[Condition]:
    """All conditions on one feature that a text may mean."""
    ends = [(end, False)]
    ending = OR_MISSING.search(text[start:end])
    if ending:
        ends.append((start + ending.start(), True))
    for spelling in words.spellings(feature):
        place = text.find(spelling, start, end) if spelling else -1
        while place >= 0:
            after = place + len(spelling)
            # A name begins the text, or follows a sign; long texts are read once so.
            can_be = text[start:place].strip()[-1:] in ("", *"<>=≤≥")
            is_part = _is_inside_word(text, place) or _is_inside_word(text, after)
            for stop, missing in ends if can_be and not is_part else ():
                if after <= stop:
                    span = (start, place, after, stop)
                    try:
                        yield _Reading(text, span, feature, missing, words).condition()
                    except UnreadableError as trouble:
                        troubles.append(trouble)
            place = text.find(spelling, place + 1, end)


def _is_inside_word(text: str, place: int) -> bool:
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

    def condition(self) -> Condition:
        """The meanings of the text if this is the name."""
        start, name, after, end = self.span
        state = " ".join(self.text[after:end].split())
        if name == start and state in STATES:
            return self._state(state)
        sides: list[tuple[str, int, int]] = []
        if name > start:
            before = SIGN_BEFORE.search(self.text[start:name])
            if before is None:
                raise UnreadableError(start, "the name of a column")
            symbol = FLIPPED[SYMBOLS.get(before[1], before[1])]
            sides.append((symbol, start, start + before.start()))
        sign = SIGN.match(self.text, _stripped(self.text, after, end)[0], end)
        if sign is None:
            raise UnreadableError(after, "a sign such as <= or >")
        symbol = SYMBOLS.get(sign[1], sign[1])
        if sides and (symbol == "=" or symbol[0] == sides[0][0][0]):
            raise UnreadableError(sign.start(1), "a sign that ends the range")
        sides.append((symbol, sign.end(), end))
        is_unnamed = self.words.categories is None and symbol == "="
        is_numbered = is_unnamed and self.text.startswith("category ", sign.end(), end)
        if self.words.labels(self.feature) is not None or is_numbered:
            return self._set(sides)
        return self._interval(sides)

    def _state(self, state: str) -> Condition:
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

    def _interval(self, sides: list[tuple[str, int, int]]) -> Condition:
        is_integer = self.feature in self.words.integers
        lower, upper = -math.inf, math.inf
        for symbol, start, end in sides:
            value = self._number(start, end)
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

    def _number(self, start: int, end: int) -> float:
        """The number in a part of the text; its unit may follow."""
        scale = self.words.scale(self.feature)
        body = self.text[start:end].strip().replace("−", "-")
        value = read_value(body, scale.kind)
        if value is None and scale.unit:
            unit = scale.unit.strip().replace("−", "-")
            value = read_value(body.removesuffix(unit).rstrip(), scale.kind)
        if value is None:
            raise UnreadableError(start, NEEDED.get(scale.kind or "", "a number"))
        return value

    def _set(self, sides: list[tuple[str, int, int]]) -> Condition:
        """Categories by name or, where they have an order, from one to another."""
        labels = self.words.labels(self.feature)
        symbol, start, end = sides[-1]
        if symbol == "=":
            places = self._categories(start, end, labels)
            return Condition(self.feature, categories=places, missing=self.missing)
        if not self.words.scale(self.feature).is_ordered:
            needed = "the word is, as its categories have no order,"
            raise UnreadableError(self.span[2], needed)
        first, last = 0, len(labels) - 1
        for symbol, start, end in sides:
            place, after = self._category(start, end, labels)
            if after < end:
                raise UnreadableError(after, "one category only")
            if symbol[0] == "<":
                last = place - (symbol == "<")
            else:
                first = place + (symbol == ">")
        if first > last:
            raise UnreadableError(self.span[0], "a range that some category is in")
        places = tuple(range(first, last + 1))
        return Condition(self.feature, categories=places, missing=self.missing)

    def _categories(self, start: int, end: int, labels: Any) -> tuple[int, ...]:
        """The positions of the categories in a part of the text that follows "is"."""
        negation = NEGATION.match(self.text, start, end)
        at = negation.end() if negation else start
        places = set()
        while True:
            position, at = self._category(at, end, labels)
            places.add(position)
            if at >= end:
                break
            separator = SEPARATOR.match(self.text, at, end)
            if separator is None:
                raise UnreadableError(at, "or, or a comma, between categories")
            at = separator.end()
        if negation:
            if labels is None:
                raise UnreadableError(start, "the list of all categories")
            places = set(range(len(labels) + 1)) - places
        return tuple(sorted(places))

    def _category(self, start: int, end: int, labels: Any) -> tuple[int, int]:
        """The position of the category that stands here, and where it ends."""
        quoted = QUOTED.match(self.text, start, end)
        if quoted:
            stop, label = quoted.end(), ast.literal_eval(quoted[0])
        else:
            separator = SEPARATOR.search(self.text, start, end)
            stop = separator.start() if separator else end
            label = self.text[start:stop].rstrip()
        scale = self.words.scale(self.feature)
        if labels is None:
            numbered = NUMBERED.fullmatch(label)
            if numbered is None:
                raise UnreadableError(start, "a category such as category 3")
            return int(numbered[1]), stop
        texts = [str(scale.label(one)) for one in labels]
        if label not in texts:
            raise UnreadableError(start, f"one of the categories {_some(texts)}")
        return texts.index(label), stop


def read_value(body: str, kind: str | None) -> float | None:
    """A number, or a date, time or duration as days; None where it is none."""
    if kind not in KINDS:
        value = float(body.replace(",", "")) if NUMBER.fullmatch(body) else math.inf
        return value if math.isfinite(value) else None
    if kind == "datetime UTC":
        body, kind = body.removesuffix("UTC").rstrip(), "datetime"
    if body.startswith("day ") and NUMBER.fullmatch(body[4:]):
        return float(body[4:])
    sign, days, pattern = 1, 0, DATE
    if kind in ("time", "duration"):
        pattern = CLOCK
    if kind == "duration":
        match = DURATION.fullmatch(body)
        if match is None or not (match[2] or match[3]):
            return None
        days = int((match[2] or "0").replace(",", "") or 0)
        sign, body = -1 if match[1] else 1, match[3] or "00:00"
    if not pattern.fullmatch(body):
        return None
    try:
        moment = f"1970-01-01 {body}" if pattern is CLOCK else body
        after = datetime.fromisoformat(moment).replace(tzinfo=UTC) - START
    except ValueError:
        return None
    part = after // timedelta(microseconds=1)
    return sign * (days * MICROSECONDS + part) / MICROSECONDS
