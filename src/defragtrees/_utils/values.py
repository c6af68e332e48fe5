"""Frozen dataclasses of arrays: read-only contents, equality by value."""

import dataclasses
import math
import operator
from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np

from defragtrees._utils.formatting import round_significant
from defragtrees._utils.types import Values

LONGEST = 60  # letters of a value in a message


def freeze(values: Any, dtype: Any = None) -> Values:
    """A read-only array with these values; a view where no copy is needed."""
    array = np.asarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def equal(a: Any, b: Any) -> bool:
    """Whether two values are the same, looking into arrays and tuples.

    Examples
    --------
    >>> equal((1, np.array([1.0, np.nan])), (1, np.array([1.0, np.nan])))
    True
    """
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.shape == b.shape and np.array_equal(
            a, b, equal_nan=a.dtype.kind == "f"
        )
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b or (a != a and b != b))


def is_finite(value: Any) -> bool:
    """Whether a value of any type is a finite number."""
    try:
        return math.isfinite(value)
    except (TypeError, OverflowError):
        return False


class ByValue:
    """Equality over the fields of a dataclass that may hold arrays."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        one, two = self._compared(), cast(Self, other)._compared()
        return all(equal(one[name], two[name]) for name in one)

    def _compared(self) -> dict[str, Any]:
        """The fields that make two of them equal."""
        fields = dataclasses.fields(cast(Any, self))
        return {f.name: getattr(self, f.name) for f in fields if f.compare}


KEPT = {"add": lambda one, other: one}  # of a field that is the same in both
SPAN = {"add": lambda one, other: (min(one[0], other[0]), max(one[1], other[1]))}


class Added:
    """Addition of dataclasses of sums: of each field, or as its metadata say."""

    def __add__(self, other: Self) -> Self:
        fields = dataclasses.fields(cast(Any, self))
        return type(self)(
            *(
                _added(
                    getattr(self, field.name),
                    getattr(other, field.name),
                    field.metadata.get("add", operator.add),
                )
                for field in fields
            )
        )


def _added(one: Any, other: Any, add: Callable[[Any, Any], Any]) -> Any:
    """The sum of two values, or of the entries of two lists or dicts; None of none."""
    if one is None or other is None:
        return None
    if isinstance(one, dict):
        return {name: _added(value, other[name], add) for name, value in one.items()}
    if isinstance(one, list):
        return [_added(a, b, add) for a, b in zip(one, other, strict=True)]
    return add(one, other)


def shown(value: Any) -> str:
    """A value in a message, cut where it is long; of an array only its size."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        shape = " x ".join(map(str, value.shape))
        return (
            f"{type(value).__name__} with {shape} entries"
            if value.shape
            else repr(value.item())
        )
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no whole numbers of thousands of digits
        text = "a number too long to write"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def all_rounded(values: Any, n_digits: int = 12) -> tuple[float, ...]:
    """`round_significant` of each value, as a tuple."""
    return tuple(round_significant(value, n_digits) for value in values)
