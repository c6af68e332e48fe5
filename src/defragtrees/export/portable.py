"""Conditions and predictions of rules in the values of the user's table.

Inside the library a condition on categories has positions, and one on dates has numbers
of days. Here they become categories and dates again, and values that cannot be written
in another language are rejected.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from defragtrees._utils.formatting import listed
from defragtrees.rules.labels import BOOLEAN, KINDS
from defragtrees.rules.reasons import Reasons, checked_number
from defragtrees.tables import MICROSECONDS

# Meaning of the numbers of a column in formats without dates.
DAYS = {
    "date": "days since 1970-01-01",
    "datetime": "days since 1970-01-01",
    "datetime UTC": "days since 1970-01-01 00:00 UTC",
    "time": "days since midnight",
    "duration": "days",
}
MOST_DAYS = 1e8  # in microseconds close to the limit of 64 bits
CALENDAR = (-719_162 * MICROSECONDS, 2_932_897 * MICROSECONDS - 1)  # years 1 to 9999
# The first and last moment that can be written, in microseconds.
LIMITS = {
    "date": CALENDAR,
    "datetime": CALENDAR,
    "datetime UTC": CALENDAR,
    "time": (0, MICROSECONDS - 1),
    "duration": (-math.inf, math.inf),
}


@dataclass(frozen=True)
class ColumnTest:
    """The test of a condition on one column."""

    feature: int
    name: str
    lower: float = -math.inf  # a number x matches if `lower < x <= upper`
    upper: float = math.inf
    labels: tuple[Any, ...] | None = None  # categories that match, or that do not match
    is_listed: bool = True  # whether `labels` are those that match
    missing: bool = False  # whether a missing value matches
    # The bounds as printed: at most two pairs such as `(">=", 3.0)`.
    sides: tuple[tuple[str, float], ...] = ()

    @property
    def matches_none(self):
        """Whether no present value matches."""
        if self.labels is not None:
            return self.is_listed and not self.labels
        return self.lower >= self.upper

    @property
    def matches_all(self):
        """Whether every present value matches."""
        if self.labels is not None:
            return not self.is_listed and not self.labels
        return self.lower == -math.inf and self.upper == math.inf


def column_tests(rules, has_booleans=False):
    """The tests of each rule, the default rule last.

    With `has_booleans`, columns of booleans are not compared with 0 and 1.
    """
    return [conditions_tests(rules, rule.shown, has_booleans) for rule in rules]


def conditions_tests(rules, conditions, has_booleans=False):
    """The tests of some conditions; see `column_tests`."""
    tests = [_column_test(rules, condition) for condition in conditions]
    for k, one in enumerate(tests if has_booleans else ()):
        if one.labels is None and column_kind(rules, one.feature) == "truth":
            labels = (v for v in (False, True) if one.lower < v <= one.upper)
            tests[k] = replace(one, labels=tuple(labels))
    return tests


def reasons(rules, n, best, exclude):
    """The Reasons of a scorecard, and the list of all, empty for n = 0."""
    if not n:
        return None, []
    found = Reasons(rules._scorecard("reasons="), best, exclude)
    checked_number(n)
    return found, found.every()


def used_features(rules):
    """Indices of the features that the rules use; their names must differ."""
    used = sorted({c.feature for rule in rules for c in rule.conditions})
    names = [rules.feature_names[j] for j in used]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(
            "Columns are found by name, so names must be unique; "
            f"{listed(repeated)} occurs more than once. Rename the features first."
        )
    return used


def column_kind(rules, feature):
    """Kind of a column: "number", "text", "truth" (booleans) or a key of `DAYS`.

    A label such as "Opened [date]" marks a column of numbers of days.
    """
    categories = rules.categories[feature]
    if categories is None:
        kind = rules.feature_kinds[feature] if rules.feature_kinds else None
        label = rules.feature_labels[feature] if rules.feature_labels else None
        has_days = label is not None and label.endswith(f"[{kind}]")
        if kind == BOOLEAN:
            return "truth"
        return kind if kind in KINDS and not has_days else "number"
    kinds = {
        "text" if isinstance(v, str) else "truth" if isinstance(v, bool) else "number"
        for v in labels_of(rules, feature)
    }
    if kinds == {"number", "truth"}:
        return "number"
    if len(kinds) > 1:
        raise ValueError(
            "A column must have values of one kind; the categories of "
            f"{rules.feature_names[feature]!r} are {listed(categories)}. "
            "Turn all of them into text."
        )
    return kinds.pop() if kinds else "text"


def moments(test, kind):
    """Bounds of a test on dates or times: pairs of a sign and whole microseconds.

    `predict` compares days, which are doubles. These bounds accept the same
    microseconds, which can be written exactly.
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
    """The first microsecond with at least this number of days."""
    days = min(max(days, -MOST_DAYS), MOST_DAYS)
    moment = math.ceil(Fraction(days) * MICROSECONDS)
    while float(moment - 1) / MICROSECONDS >= days:
        moment -= 1
    while float(moment) / MICROSECONDS < days:
        moment += 1
    return moment


def moment_text(moment, kind, separator=" "):
    """Write a date (with a time unless it is midnight), a time, or seconds.

    A time in UTC always has its offset.

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
    if kind == "datetime UTC":
        return f"{time.isoformat(separator)}+00:00"
    is_midnight = moment % MICROSECONDS == 0
    return time.date().isoformat() if is_midnight else time.isoformat(separator)


def labels_of(rules, feature):
    """The categories of a feature with their positions, without missing values."""
    what = f"category of {rules.feature_names[feature]!r}"
    return {
        _plain(label, what): position
        for position, label in enumerate(rules.categories[feature])
        if not (label is None or label != label)  # NaN
    }


def class_labels(rules):
    """The class labels that `predict` returns, as plain values."""
    labels = np.asarray(rules.outcome.labels).tolist()
    return [_plain(label, "class") for label in labels]


def predictions(rules):
    """The prediction of each rule as `predict` returns it, the default rule last."""
    values = np.asarray([rule.prediction for rule in rules], rules.outcome.dtype)
    return [_plain(value, "class") for value in values.tolist()]


def outputs(rules):
    """Class shares or number of each rule, the default rule last."""
    return [tuple(map(float, rules.outcome.outputs(rule))) for rule in rules]


def points(rules):
    """The points of each rule, the default rule last."""
    return [tuple(map(float, rule.points)) for rule in rules]


def free_name(name, rules):
    """The name, with underscores as long as a feature has it, in any letter case.

    Examples
    --------
    >>> free_name("rule", rules), free_name("wind", rules)
    ('rule', 'wind_')
    """
    taken = {feature.lower() for feature in rules.feature_names}
    while name.lower() in taken:
        name += "_"
    return name


def _column_test(rules, condition):
    feature = condition.feature
    name = rules.feature_names[feature]
    categories = rules.categories[feature]
    if categories is None and condition.categories is None:
        lower, upper = map(float, condition.bounds)
        missing, sides = condition.missing, condition.sides
        return ColumnTest(feature, name, lower, upper, missing=missing, sides=sides)
    if categories is None:
        # A column without a list of categories contains the positions themselves.
        labels = tuple(float(position) for position in condition.categories)
        return ColumnTest(feature, name, labels=labels, missing=condition.missing)
    accepted = condition.categories
    if accepted is None:
        lower, upper = condition.lower, condition.upper
        accepted = [j for j in range(len(categories) + 1) if lower < j <= upper]
    is_listed = len(categories) not in accepted
    labels = tuple(
        label
        for label, position in labels_of(rules, feature).items()
        if (position in accepted) == is_listed
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
            f"Only text, finite numbers and booleans can be exported; got the {what} "
            f"{label!r}. Convert it to text first."
        )
    return label
