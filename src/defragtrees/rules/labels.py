"""Names of features and classes in texts: labels, units, dates.

A label may end with a unit in brackets: "Duration [months]". Numbers of a feature of
some kind are days: since 1970-01-01 ("date", "datetime", and "datetime UTC" for times
with a time zone), since midnight ("time"), or between two times ("duration"). A kind
may be given as a unit too: "Opened [date]". Categories of the kind "ordered" have an
order and are printed as `grade <= good`. Numbers of the kind "boolean" are 0 and 1 for
false and true; only exports need to know.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from defragtrees._utils import formatting as render
from defragtrees._utils.values import shown as in_message

ORDERED = "ordered"  # of categories that have an order
BOOLEAN = "boolean"  # of 0 and 1 for false and true

START = datetime(1970, 1, 1, tzinfo=UTC)
WITH_UNIT = re.compile(r"(.*\S)\s*\[(.+)\]", re.DOTALL)
MICROSECONDS = 86_400_000_000  # of a day
TYPESET = {"<=": "≤", ">=": "≥"}


@dataclass(frozen=True)
class Scale:
    """How the numbers of a feature are written.

    Examples
    --------
    >>> Scale("months").text(24.0), Scale(kind="date").text(19783.0)
    ('24 months', '2024-03-01')
    >>> Scale(kind="datetime").text(19783.5), Scale(kind="time").text(0.25)
    ('2024-03-01 12:00', '06:00')
    >>> Scale(kind="duration").text(1.0), Scale(kind="duration").text(2.125)
    ('1 day', '2 days 03:00')
    """

    unit: str = ""
    kind: str | None = None  # a key of `KINDS`; "ordered" for categories in an order
    is_grouped: bool = False  # write numbers from 10,000 on with separators
    is_typeset: bool = False  # with the signs of print: − ≤ ≥

    def number(self, value: float) -> str:
        """A number without its unit, exactly as it is stored."""
        if self.kind in KINDS and math.isfinite(value):
            text = KINDS[self.kind](float(value))
        else:
            text = render.grouped(value) if self.is_grouped else render.number(value)
        return render.true_minus(text) if self.is_typeset else text

    def sign(self, sign: str) -> str:
        """A comparison, such as "<="."""
        return TYPESET.get(sign, sign) if self.is_typeset else sign

    @property
    def is_ordered(self) -> bool:
        """Whether the feature has categories in an order."""
        return self.kind == ORDERED

    @property
    def ending(self) -> str:
        """The unit, to stand behind a number."""
        return f" {self.unit}" if self.unit else ""

    def label(self, label: Any) -> Any:
        """A category; dates and times, which are kept as days, as text.

        Examples
        --------
        >>> Scale(kind="date").label(19783.0), Scale(kind="date").label("other")
        ('2024-03-01', 'other')
        """
        is_days = self.kind in KINDS and isinstance(label, float)
        return self.number(label) if is_days else label

    def text(self, value: float) -> str:
        """A number with its unit."""
        return f"{self.number(value)}{self.ending}"


PLAIN = Scale()


class Vocabulary(NamedTuple):
    """The words of conditions, with an entry for each feature."""

    names: Any
    categories: Any = None
    scales: Any = None

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names with their units, for axes of plots and heads of tables."""
        pairs = zip(self.names, self.scales, strict=True)
        return tuple(f"{n} [{s.unit}]" if s.unit else n for n, s in pairs)

    def styled(self, **style: bool) -> "Vocabulary":
        """The same with other settings of the scales, such as `is_grouped=True`."""
        scales = tuple(replace(scale, **style) for scale in self.scales)
        return self._replace(scales=scales)


def make_vocabulary(
    names: Sequence[str],
    categories: Sequence[Any] | None,
    labels: Sequence[str | None] | None = None,
    kinds: Sequence[str | None] | None = None,
) -> Vocabulary:
    """The vocabulary of features with these labels and kinds.

    Examples
    --------
    >>> words = make_vocabulary(("dur", "age"), None, ("Duration [months]", None))
    >>> words.names, words.scales[0].unit
    (('Duration', 'age'), 'months')
    """
    shown, scales = [], []
    for j, name in enumerate(names):
        label = (labels[j] if labels else None) or name
        # A name may have brackets of its own; only a label is known to mean a unit.
        match = None if label == name else WITH_UNIT.fullmatch(label)
        shown.append(match[1] if match else label)
        kind, unit = kinds[j] if kinds else None, match[2] if match else ""
        kind = None if kind == BOOLEAN else kind
        is_kind = kind is None and unit in KINDS
        scales.append(Scale(kind=unit) if is_kind else Scale(unit, kind))
    return Vocabulary(tuple(shown), categories, tuple(scales))


def checked_kinds(
    kinds: Sequence[str | None] | None, names: Sequence[str]
) -> tuple[str | None, ...] | None:
    """Kinds of features as a tuple, or None if all are plain numbers."""
    if kinds is None or not any(kinds):
        return None
    if len(kinds) != len(names) or not {*kinds} <= {None, ORDERED, BOOLEAN, *KINDS}:
        raise ValueError(
            f"feature_kinds must have one of {_cut(list(KINDS))} or None for each "
            f"feature; got {kinds!r}."
        )
    return tuple(kinds)


def checked_labels(
    labels: Any, keys: Sequence[Any], what: str
) -> tuple[str | None, ...] | None:
    """Labels given by key or in order, as a tuple with one for each key, or None.

    A dict need not name all; `what` is the setting that they come from.

    Examples
    --------
    >>> checked_labels({"dur": "Duration [months]"}, ("dur", "age"), "feature_labels")
    ('Duration [months]', None)
    """
    if labels is None:
        return None
    keys = list(keys)
    if hasattr(labels, "keys"):
        unknown = [key for key in labels if key not in keys]
        if unknown:
            raise ValueError(
                f"{what} must name some of {_cut(keys)}; got {unknown[0]!r}. Correct "
                "the name or leave it out."
            )
        entries = [labels.get(key) for key in keys]
    else:
        entries = [labels] if isinstance(labels, str) else list(labels)
    if not keys:
        raise ValueError(f"{what} is for rules that predict classes; leave it out.")
    if len(entries) != len(keys):
        raise ValueError(
            f"{what} must have one entry for each of {_cut(keys)}; got "
            f"{len(entries)} for {len(keys)}. A dict may leave some out."
        )
    for entry in entries:
        if entry is not None and not (isinstance(entry, str) and entry.strip()):
            raise ValueError(
                f"{what} must be texts; got {in_message(entry)}. Write it as text."
            )
    shown = [str(k) if e is None else e for k, e in zip(keys, entries, strict=True)]
    repeated = [label for label in shown if shown.count(label) > 1]
    if repeated:
        raise ValueError(
            f"{what} must be unique; got {repeated[0]!r} twice. Choose another one."
        )
    return tuple(entries)


def checked_pos_label(label: Any, classes: Sequence[Any]) -> Any:
    """Which of two classes has its probability shown; None or one of the two.

    Examples
    --------
    >>> checked_pos_label("bad", ("bad", "good"))
    'bad'
    """
    if label is None:
        return None
    if len(classes) != 2:
        came = f"there are {len(classes)}" if classes else "these rules predict numbers"
        raise ValueError(
            f"pos_label needs two classes; {came}. Leave it out: of more classes each "
            "rule reports the rate of the class that it predicts."
        )
    # An array equals none of the classes, or some of them.
    if getattr(label, "ndim", 0) or label not in classes:
        raise ValueError(
            f"pos_label must be one of the classes {_cut(list(classes))}; got "
            f"{in_message(label)}. Give it as it is in y."
        )
    return classes[list(classes).index(label)]


def _cut(keys: list[Any]) -> str:
    return ", ".join(map(repr, keys[:5])) + (", …" if len(keys) > 5 else "")


def _date_text(days: float) -> str:
    if days != math.floor(days) or not _is_date(days):
        return _datetime_text(days)
    return f"{_as_time(days):%Y-%m-%d}"


def _datetime_text(days: float) -> str:
    if not _is_date(days):
        return _days_text(days)
    time = _as_time(days)
    return f"{time:%Y-%m-%d} {_clock(time)}"


def _time_text(days: float) -> str:
    return _clock(_as_time(days)) if 0 <= days < 1 else _days_text(days)


def _duration_text(days: float) -> str:
    sign, days = "-" if days < 0 else "", abs(days)
    whole = math.floor(days)
    parts = [render.plural(whole, "day")] if whole else []
    if days > whole or not whole:
        parts.append(_clock(_as_time(days - whole)))
    return sign + " ".join(parts)


def _as_time(days: float) -> datetime:
    return START + timedelta(microseconds=round(days * MICROSECONDS))


def _is_date(days: float) -> bool:
    """Whether the calendar has it: the years 1 to 9999."""
    return -719_162 <= days < 2_932_896


def _days_text(days: float) -> str:
    return f"day {render.number(days)}"


def _clock(time: datetime) -> str:
    seconds = f":{time:%S}" if time.second or time.microsecond else ""
    fraction = f".{time.microsecond:06d}".rstrip("0") if time.microsecond else ""
    return f"{time:%H:%M}{seconds}{fraction}"


KINDS = {
    "date": _date_text,
    "datetime": _datetime_text,
    "datetime UTC": lambda days: f"{_datetime_text(days)} UTC",
    "time": _time_text,
    "duration": _duration_text,
}
