"""Declaration and validation of the settings of estimators.

An estimator is a dataclass whose fields are declared by `setting(default, *allowed)`,
where `allowed` has values and constraints such as `Integer(1)`. `conflicts` lists
settings that exclude each other. `fit` checks both.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from defragtrees._utils.values import shown
from defragtrees.errors import SettingError

FLAG = (True, False)
MOST_JOBS = 1_000_000  # threads


@dataclass(frozen=True)
class Real:
    """A finite number within limits; `above` and `below` are exclusive."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    types: ClassVar[tuple[type, ...]] = (int, np.integer, float, np.floating)
    noun: ClassVar[str] = "a number"

    def accepts(self, value):
        return (
            isinstance(value, self.types)
            and not isinstance(value, bool)
            and self.least <= value <= self.most
            and self.above < value < self.below
        )

    def __str__(self):
        if self.above > -math.inf:
            end = "" if self.below == math.inf else f" and below {self.below}"
            return f"{self.noun} above {self.above}{end}"
        end = "" if self.most == math.inf else f" to {self.most}"
        return f"{self.noun} from {self.least}{end}"


class Integer(Real):
    """An integer within limits."""

    types = (int, np.integer)
    noun = "a whole number"


@dataclass(frozen=True)
class Each:
    """One value that meets a constraint, or a sequence of such values."""

    constraint: Real

    def accepts(self, value):
        values = as_list(value)
        return bool(values) and all(self.constraint.accepts(one) for one in values)

    def __str__(self):
        return f"{self.constraint} or a sequence of these"


class Given:
    """Anything but None."""

    def accepts(self, value):
        return value is not None


class Several:
    """A dict or a sequence."""

    def accepts(self, value):
        return isinstance(value, Iterable) and getattr(value, "shape", None) != ()

    def __str__(self):
        return "a dict or a sequence"


class Function:
    """A callable."""

    def accepts(self, value):
        return callable(value)

    def __str__(self):
        return "a function"


class Jobs:
    """A number of threads; -1 for all, -2 for all but one, and so on."""

    def accepts(self, value):
        return Integer(-MOST_JOBS, MOST_JOBS).accepts(value) and value != 0

    def __str__(self):
        return f"a whole number other than 0 up to {MOST_JOBS:,}"


class Conflict:
    """Settings that exclude each other, and the error message.

    Each keyword names a setting and the value, or constraint, that conflicts.
    """

    def __init__(self, message, **settings):
        self.message = message
        self.settings = settings


def setting(default, *allowed, help=""):
    """A field of an estimator; `help` describes its option on the command line."""
    return field(default=default, metadata={"allowed": allowed, "help": help})


def check_settings(estimator):
    """Raise for invalid settings and for settings that exclude each other.

    Examples
    --------
    >>> from defragtrees.baselines import DistilledTreeClassifier
    >>> check_settings(DistilledTreeClassifier(max_depth=0))
    Traceback (most recent call last):
    ...
    defragtrees.errors.SettingError: max_depth must be None or a whole number from 1 \
to 1000000; got 0.
    """
    for one in fields(estimator):
        allowed = one.metadata.get("allowed", ())
        check_value(one.name, getattr(estimator, one.name), allowed)
    for conflict in estimator.conflicts:
        if all(
            _is_allowed(getattr(estimator, name), choice)
            for name, choice in conflict.settings.items()
        ):
            raise SettingError(conflict.message)


def check_value(name, value, allowed):
    """Raise for a value that is none of those allowed; an empty tuple allows all."""
    if allowed and not any(_is_allowed(value, choice) for choice in allowed):
        texts = [str(one) if hasattr(one, "accepts") else repr(one) for one in allowed]
        between = ", " if any(" or " in text for text in texts) else " or "
        raise SettingError(f"{name} must be {between.join(texts)}; got {shown(value)}.")


def _is_allowed(value, choice):
    if hasattr(choice, "accepts"):
        return choice.accepts(value)
    if isinstance(choice, bool):
        return isinstance(value, (bool, np.bool_)) and value == choice
    return isinstance(value, type(choice)) and value == choice


def as_list(value):
    """A setting that may be one value or several, as a list."""
    return [value] if np.ndim(value) == 0 else list(value)
