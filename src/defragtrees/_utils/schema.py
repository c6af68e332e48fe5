"""Fields of our files: each is checked as it is read, and errors name its place."""

import dataclasses
import functools
import math
import numbers
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast, get_type_hints

from defragtrees._utils.values import shown

LARGEST = 1.7976931348623157e308
SLACK = 1e-9  # a share may be above 1 by rounding


@dataclass(frozen=True)
class Check:
    """What a value of a rule file must be: of a kind, and within limits.

    Examples
    --------
    >>> (number(0) | NULL)("x", "rules[0].spread")
    Traceback (most recent call last):
    ...
    ValueError: rules[0].spread must be a number or null; got 'x'
    """

    kind: str  # for the message, such as "a number"
    is_kind: Callable[[Any], bool]
    # From a value and its place to what a constructor takes; ValueError outside limits.
    read: Callable[[Any, str], Any] = lambda value, place: value
    null: Any = None  # what is written as null

    def __call__(self, value: Any, place: str) -> Any:
        if not self.is_kind(value):
            raise ValueError(f"{place} must be {self.kind}; got {shown(value)}")
        return self.read(value, place)

    def __or__(self, other: "Check") -> "Check":
        return Check(
            f"{self.kind} or {other.kind}",
            lambda value: self.is_kind(value) or other.is_kind(value),
            lambda value, place: (self if self.is_kind(value) else other)(value, place),
            other.null if self.null is None else self.null,
        )


NULL = Check("null", lambda value: value is None)
TEXT = Check("a text", lambda value: isinstance(value, str))
FLAG = Check("true or false", lambda value: isinstance(value, bool))
ANYTHING = Check("anything", lambda value: True)  # what another `from_dict` reads


def number(
    low: float = -LARGEST, high: float = LARGEST, *, is_open: bool = False
) -> Check:
    """A finite number within limits, which an open range leaves out."""

    def read(value: Any, place: str) -> float:
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{place} must be a finite number; got {value!r}")
        if value < low or (is_open and value == low):
            word = "above" if is_open else "from"
            raise ValueError(f"{place} must be {word} {low:g}; got {shown(value)}")
        if value > high + SLACK or (is_open and value == high):
            word = "below" if is_open else "up to"
            raise ValueError(f"{place} must be {word} {high:g}; got {shown(value)}")
        return float(value)

    return Check("a number", _is_number, read)


def whole(low: int = 0) -> Check:
    """A whole number."""

    def read(value: Any, place: str) -> int:
        if value < low:
            raise ValueError(f"{place} must be from {low}; got {shown(value)}")
        return int(value)

    return Check(
        "a whole number",
        lambda value: _is_number(value) and value == value // 1,
        read,
    )


def one_of(*values: Any) -> Check:
    """One of a few texts, or null."""
    names = ", ".join("null" if value is None else repr(value) for value in values)
    kind = names if len(values) == 1 else f"one of {names}"
    return Check(kind, lambda value: any(value is v or value == v for v in values))


def maybe(kind: Any) -> Check:
    """An object of a class, or null."""
    return NULL | object_of(kind)


def list_of(
    check: Check, least: int = 0, most: float = math.inf, *, is_set: bool = False
) -> Check:
    """A list, as a tuple; of a set no entry comes twice."""

    def read(value: Any, place: str) -> tuple[Any, ...]:
        n = len(value)
        if not least <= n <= most:
            limit = f"at least {least}" if n < least else f"at most {most}"
            raise ValueError(f"{place} must have {limit} entries; got {n}")
        entries = tuple(check(v, f"{place}[{i}]") for i, v in enumerate(value))
        # True is no second 1.
        if is_set and len({(isinstance(v, bool), v) for v in entries}) < n:
            raise ValueError(f"{place} must have no entry twice; got {shown(value)}")
        return entries

    return Check("a list", lambda value: isinstance(value, (list, tuple)), read)


def null_as(meaning: Any) -> Check:
    """Null, which stands for another value."""
    return Check("null", lambda value: value is None, lambda *_: meaning, meaning)


def text_as(text: str, meaning: float) -> Check:
    """A text that stands for a number which JSON does not have."""
    return Check(repr(text), lambda value: value == text, lambda *_: meaning)


def object_of(stored: "type[Stored]") -> Check:
    """An object that a class reads."""
    return Check("an object", lambda value: value is not None, stored.from_dict)


def named(made: Any) -> Check:
    """An object from which a NamedTuple is made; its fields have their checks."""
    hints = get_type_hints(made, include_extras=True)
    checks = {name: hint.__metadata__[0] for name, hint in hints.items()}

    def read(value: Any, place: str) -> Any:
        return made(**read_fields(value, checks, checks, place))

    return Check("an object", lambda value: value is not None, read)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _read_label(value: Any, place: str) -> Any:
    if _is_number(value):
        number(-1e300, 1e300)(value, place)
    return value


LABEL = Check(
    "a text or a number or true or false",
    lambda value: isinstance(value, (str, bool)) or _is_number(value),
    _read_label,
)
SHARES = list_of(number(0, 1))


def _read_classes(value: Any, place: str) -> tuple[Any, ...]:
    labels: tuple[Any, ...] = list_of(LABEL, 1, is_set=True)(value, place)
    if len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError(f"{place} must be texts or numbers, not both")
    return labels


CLASSES = Check("a list", lambda value: isinstance(value, (list, tuple)), _read_classes)
MEASURED = number(0, 1e250) | NULL
N_ROWS = number(0, 1e18)  # or their weight


def read_fields(
    data: Any, checks: Mapping[str, Check], required: Collection[str], place: str = ""
) -> dict[str, Any]:
    """The fields of an object in a rule file, checked; absent ones are left out.

    Examples
    --------
    >>> read_fields({"a": 1}, {"a": whole()}, ("a",), "rules[0]")
    {'a': 1}
    >>> read_fields({"b": 1}, {"a": whole()}, (), "rules[0]")
    Traceback (most recent call last):
    ...
    ValueError: rules[0] has 'b', which this version of defragtrees does not know
    """
    where = place or "the file"
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object; got {shown(data)}")
    for name in required:
        if name not in data:
            raise ValueError(f"{where} has no {name!r}")
    for name in data:
        if name not in checks:
            raise ValueError(
                f"{where} has {shown(name)}, which this version of defragtrees does "
                "not know"
            )
    inside = f"{place}." if place else ""
    return {
        name: check(data[name], f"{inside}{name}")
        for name, check in checks.items()
        if name in data
    }


class Written:
    """A dataclass whose fields are written to files, and read from them.

    A field is written and read if it is annotated with its `Check`, as in
    `n_rows: Annotated[float, N_ROWS]`; after it may follow its name in files. One with
    a default may be absent unless it is "required"; "optional" ones are written only
    if they differ from it.
    """

    _order: ClassVar[tuple[str, ...]] = ()  # of fields in files, if it is another one

    @classmethod
    @functools.cache
    def _entries(cls) -> dict[str, "_Entry"]:
        hints = get_type_hints(cls, include_extras=True)
        made = {
            field.name: _Entry.of(field, hints[field.name].__metadata__)
            for field in dataclasses.fields(cast(Any, cls))
            if hasattr(hints[field.name], "__metadata__")
        }
        return {name: made[name] for name in cls._order or made}

    def _written(self, **others: Any) -> dict[str, Any]:
        """The fields in plain numbers, texts and lists; `others` replace values."""
        values = {name: getattr(self, name) for name in self._entries()} | others
        return {
            entry.name: _plain(values[name], entry.check)
            for name, entry in self._entries().items()
            if not (entry.is_optional and values[name] == entry.default)
        }

    @classmethod
    def _read(cls, data: Any, place: str = "", **checks: Check) -> dict[str, Any]:
        """What the constructor takes of an object in a file.

        `checks` replace those of some fields.
        """
        entries = cls._entries()
        read = read_fields(
            data,
            {e.name: checks.get(name, e.check) for name, e in entries.items()},
            [entry.name for entry in entries.values() if entry.is_required],
            place,
        )
        names = {entry.name: name for name, entry in entries.items()}
        return {names[name]: value for name, value in read.items()}


class Stored(Written):
    """A dataclass that is an object in our files."""

    def to_dict(self) -> dict[str, Any]:
        """Its contents in plain numbers, texts and lists."""
        return self._written()

    @classmethod
    def from_dict(cls, data: Any, place: str = "", **checks: Check) -> Self:
        """Read what `to_dict` returned; errors name its place."""
        return cls(**cls._read(data, place, **checks))


@dataclass(frozen=True)
class _Entry:
    """A field of a `Written` class."""

    name: str  # in files
    check: Check
    default: Any
    is_required: bool
    is_optional: bool

    @classmethod
    def of(cls, field: "dataclasses.Field[Any]", extras: tuple[Any, ...]) -> Self:
        check, *marks = extras
        names = [mark for mark in marks if mark not in ("required", "optional")]
        is_required = "required" in marks or field.default is dataclasses.MISSING
        name = names[0] if names else field.name
        return cls(name, check, field.default, is_required, "optional" in marks)


def _plain(value: Any, check: Check) -> Any:
    if isinstance(value, tuple):
        entries = [_plain(entry, check) for entry in value]
        names = getattr(value, "_fields", None)
        return entries if names is None else dict(zip(names, entries, strict=True))
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value) and check.null is None:  # a label: writers reject it
            return value
        is_null = value == check.null or math.isnan(value)
        return None if is_null else str(value)
    return value
