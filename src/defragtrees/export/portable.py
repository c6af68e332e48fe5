"""What rules test and predict, in the values of the user's own table.

A condition on categories has positions, one on dates numbers of days; outside the
library there are only the categories and dates themselves. Here they are put back, and
what cannot be written in another language is rejected.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from defragtrees.data.tables import MICROSECONDS, listed
from defragtrees.rules.labels import KINDS

__all__ = [
    "DAYS",
    "ColumnTest",
    "answers",
    "class_labels",
    "column_kind",
    "column_tests",
    "has_shares",
    "labels_of",
    "moment_text",
    "moments",
    "needs_default",
    "outputs",
    "points",
    "used_features",
]


# What the numbers of a column mean where a format has no dates.
DAYS = {
    "date": "days since 1970-01-01",
    "datetime": "days since 1970-01-01",
    "time": "days since midnight",
    "duration": "days",
}
MOST_DAYS = 1e8  # in microseconds, nearly all that 64 bits hold
CALENDAR = (-719_162 * MICROSECONDS, 2_932_897 * MICROSECONDS - 1)  # years 1 to 9999
# The first and the last moment that can be written, in microseconds.
LIMITS = {
    "date": CALENDAR,
    "datetime": CALENDAR,
    "time": (0, MICROSECONDS - 1),
    "duration": (-math.inf, math.inf),
}


@dataclass(frozen=True)
class ColumnTest:
    """What a condition tests of one column."""

    feature: int
    name: str
    lower: float = -math.inf  # a number x matches if `lower < x <= upper`
    upper: float = math.inf
    labels: tuple[Any, ...] | None = None  # categories that match, or that do not
    is_listed: bool = True  # whether `labels` are those that match
    missing: bool = False  # whether a missing value matches
    # The bounds as they are printed: pairs such as `(">=", 3.0)`, at most two.
    sides: tuple[tuple[str, float], ...] = ()

    @property
    def holds_never(self):
        """No value that is present matches."""
        if self.labels is not None:
            return self.is_listed and not self.labels
        return self.lower >= self.upper

    @property
    def holds_always(self):
        """Every value that is present matches."""
        if self.labels is not None:
            return not self.is_listed and not self.labels
        return self.lower == -math.inf and self.upper == math.inf


def column_tests(rules):
    """For each rule, the default last, its tests."""
    return [tuple(_column_test(rules, c) for c in rule.conditions) for rule in rules]


def used_features(rules):
    """Numbers of the features that the rules ask about; their names must differ."""
    used = sorted({c.feature for rule in rules for c in rule.conditions})
    names = [rules.feature_names[j] for j in used]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            "Columns are found by their names, which must differ; "
            f"{listed(repeated)} comes more than once. Rename the features first."
        )
    return used


def column_kind(rules, feature):
    """What a column has: "number", "text", "truth" (true and false) or a key of `DAYS`.

    A label such as "Opened [date]" says that the column itself has numbers of days.
    """
    categories = rules.categories[feature]
    if categories is None:
        kind = rules.feature_kinds[feature] if rules.feature_kinds else None
        label = rules.feature_labels[feature] if rules.feature_labels else None
        has_days = label is not None and label.endswith(f"[{kind}]")
        return kind if kind in KINDS and not has_days else "number"
    kinds = {_kind(label) for label in labels_of(rules, feature)}
    if kinds == {"number", "truth"}:
        return "number"
    if len(kinds) > 1:
        raise ValueError(
            "A column must hold values of one kind; the categories of "
            f"{rules.feature_names[feature]!r} are {listed(categories)}. "
            "Turn all of them into text."
        )
    return kinds.pop() if kinds else "text"


def moments(test, kind):
    """What a test asks of dates or times: pairs of a sign and whole microseconds.

    `predict` compares days, which are doubles. These sides are true of the same
    microseconds, of which dates and times have exact texts.
    """
    sides = []
    for sign, days in test.sides:
        first = _first_moment(days)
        after = _first_moment(math.nextafter(days, math.inf))
        if sign in (">=", "<") or after == first + 1:
            sides.append((sign, first))
        else:
            pairs = {">": [(">=", after)], "<=": [("<", after)]}
            sides += pairs.get(sign, [(">=", first), ("<", after)])
    low, high = LIMITS[kind]
    for k, (sign, moment) in enumerate(sides):
        if moment < low:
            sides[k] = (">=" if sign in (">", ">=") else "<", low)
        elif moment > high:
            sides[k] = ("<=" if sign in ("<", "<=") else ">", high)
    return sides


def _first_moment(days):
    """The first microsecond that has at least this number of days."""
    days = min(max(days, -MOST_DAYS), MOST_DAYS)
    moment = math.ceil(Fraction(days) * MICROSECONDS)
    while float(moment - 1) / MICROSECONDS >= days:
        moment -= 1
    while float(moment) / MICROSECONDS < days:
        moment += 1
    return moment


def moment_text(moment, kind, separator=" "):
    """A date, with a clock unless it is midnight; a clock alone; or seconds.

    Examples
    --------
    >>> moment_text(19783 * MICROSECONDS, "date"), moment_text(6, "time")
    ('2024-03-01', '00:00:00.000006')
    >>> moment_text(MICROSECONDS // 2, "datetime"), moment_text(-2_500_000, "duration")
    ('1970-01-01 12:00:00', '-2.5')
    """
    if kind == "duration":
        seconds, part = divmod(abs(moment), 10**6)
        text = f"{seconds}.{part:06d}".rstrip("0").rstrip(".")
        return f"-{text}" if moment < 0 else text
    time = datetime(1970, 1, 1) + timedelta(microseconds=moment)
    if kind == "time":
        return time.time().isoformat()
    is_midnight = moment % MICROSECONDS == 0
    return time.date().isoformat() if is_midnight else time.isoformat(separator)


def labels_of(rules, feature):
    """The categories of a feature, with their positions; "missing" is none of them."""
    what = f"category of {rules.feature_names[feature]!r}"
    return {
        _plain(label, what): position
        for position, label in enumerate(rules.categories[feature])
        if not (label is None or label != label)  # NaN
    }


def class_labels(rules):
    """The class labels that `predict` gives, as plain values."""
    labels = np.asarray(rules.outcome.labels).tolist()
    return [_plain(label, "class") for label in labels]


def answers(rules):
    """For each rule, the default last, its answer as `predict` gives it."""
    values = np.asarray([rule.prediction for rule in rules], rules.outcome.dtype)
    return [_plain(value, "class") for value in values.tolist()]


def has_shares(rules):
    """Whether the rules know class shares, so that `predict_proba` has an answer."""
    return all(rule.distribution for rule in rules)


def outputs(rules):
    """For each rule, the default last, what is averaged: class shares, or a number."""
    return [tuple(map(float, rules.outcome.outputs(rule))) for rule in rules]


def points(rules):
    """For each rule, the default last, the points that it adds."""
    return [tuple(map(float, rule.points)) for rule in rules]


def needs_default(rules):
    """Whether the weights of the rules that hold may add up to zero or less."""
    weights = [rule.weight for rule in rules]
    return weights[-1] <= 0 or min(weights) < 0


def _column_test(rules, condition):
    feature = condition.feature
    name = rules.feature_names[feature]
    categories = rules.categories[feature]
    if categories is None and condition.categories is None:
        lower, upper = map(float, condition.bounds)
        missing, sides = condition.missing, condition.sides
        return ColumnTest(feature, name, lower, upper, missing=missing, sides=sides)
    if categories is None:
        # A column without a list of categories holds the positions themselves.
        labels = tuple(float(position) for position in condition.categories)
        return ColumnTest(feature, name, labels=labels, missing=condition.missing)
    held = condition.categories
    if held is None:
        lower, upper = condition.lower, condition.upper
        held = [j for j in range(len(categories) + 1) if lower < j <= upper]
    is_listed = len(categories) not in held
    labels = tuple(
        label
        for label, position in labels_of(rules, feature).items()
        if (position in held) == is_listed
    )
    return ColumnTest(
        feature, name, labels=labels, is_listed=is_listed, missing=condition.missing
    )


def _plain(label, what):
    if isinstance(label, np.generic):
        label = label.item()
    is_finite = not isinstance(label, float) or math.isfinite(label)
    if not isinstance(label, (str, bool, int, float)) or not is_finite:
        raise ValueError(
            f"Only text, finite numbers and truth values can be exported; got the "
            f"{what} {label!r}. Turn it into text first."
        )
    return label


def _kind(label):
    if isinstance(label, str):
        return "text"
    return "truth" if isinstance(label, bool) else "number"
