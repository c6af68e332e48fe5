"""Numbers and tuples as plain data, such as JSON holds, and back."""

import math

__all__ = [
    "as_bound",
    "as_list",
    "as_measured",
    "as_tuple",
    "finite_or_none",
    "json_number",
    "listed",
]


def listed(data, name):
    """A list in plain data; anything else is refused."""
    if not isinstance(data[name], (list, tuple)):
        raise ValueError(f"{name} must be a list; got {data[name]!r}.")
    return data[name]


def as_bound(value):
    """A number of plain data; infinities are the only texts."""
    if value in ("inf", "-inf"):
        return float(value)
    if isinstance(value, (bool, str)) or not value == value:
        raise ValueError(f"A number is needed; got {value!r}.")
    return float(value)


def as_measured(value):
    """A number of plain data; None is NaN, which nobody measured."""
    return math.nan if value is None else as_bound(value)


def json_number(value):
    """A number as JSON has it: infinities are texts."""
    return value if math.isfinite(value) else str(value)


def finite_or_none(value):
    """A number, or None where it is NaN."""
    return None if math.isnan(value) else float(value)


def as_list(values):
    """A tuple as a list; anything else as it is."""
    return list(values) if isinstance(values, tuple) else values


def as_tuple(values):
    """A list as a tuple; anything else as it is."""
    return tuple(values) if isinstance(values, list) else values
