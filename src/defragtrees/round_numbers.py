"""The roundest number between two neighbouring values, which a person would write.

A threshold may stand anywhere from the smaller value on and below the larger one: no
row changes its side. Steps of ten and of five are tried from large to small, dates by
years, months, days, hours and so on.
"""

import math
from functools import cache

import numpy as np

__all__ = ["round_between"]

# How far a threshold may move, as a share of its gap, to a multiple of ten or of five.
MOST_SHIFT = {1: 0.4, 5: 0.15}
CALENDAR = ("Y", "M", "D", "h", "m", "s")
STEPS_OF_DAYS = (1, 1 / 2, 1 / 4, 1 / 24, 1 / 48, 1 / 96, 1 / 288, 1 / 1440, 1 / 86400)
_STEPS_OF_DAYS = [(step, None, None, 0.4) for step in STEPS_OF_DAYS]
MICROSECONDS = 86_400_000_000  # of a day


def round_between(low, high, target, is_integer=False, kind=None):
    """The threshold in [low, high) that reads best, near `target` among equals.

    Parameters
    ----------
    low, high : float
        Neighbouring values of a feature.
    target : float
        Where the ensemble has its threshold.
    is_integer : bool
        Whether the feature has whole numbers only.
    kind : str, optional
        Of numbers of days; a key of `defragtrees.labels.KINDS`.

    Examples
    --------
    >>> round_between(0.1234, 0.1301, 0.1267), round_between(1.9, 3.0, 2.45)
    (0.127, 2.5)
    >>> round_between(2, 3, 2.5, True), round_between(37, 44, 40.2, True)
    (2.0, 40.0)
    >>> round_between(3.7, 3.8, 3.75)  # not a digit more than the values have
    3.7
    >>> round_between(9.99, 10, 9.995)  # below 10
    9.999999999999998
    """
    low, high, target = float(low), float(high), float(target)
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return target
    if kind in ("date", "datetime"):
        return _before(_round_date(low, high, target), low, target)
    farthest = max(abs(low), abs(high))
    for step in _steps(width, target, is_integer, kind):
        size = step[0]
        first = math.floor(target / size)
        slack = 4 * math.ulp(max(farthest, size))
        if first * size < low - slack and (first + 1) * size > high + slack:
            continue  # no multiple is near
        best = _nearest_multiple(low, high, target, first, step)
        if best is not None:
            if best < high:
                return best
            return high - 1.0 if is_integer else _before(high, low, target)
    return math.floor(target) * 1.0 if is_integer else target


def _steps(width, target, is_integer, kind):
    """Steps from large to small.

    Each is a number, its only digit and the exponent after it if it is decimal, and how
    far a threshold may move to a multiple of it.
    """
    if kind:
        return _STEPS_OF_DAYS
    smallest = max(math.floor(math.log10(math.ulp(abs(target) or width))), -300)
    largest = math.ceil(math.log10(width)) + 1
    return _decimal_steps(largest, -1 if is_integer else smallest, bool(is_integer))


@cache
def _decimal_steps(largest, smallest, is_integer):
    steps = []
    for exponent in range(largest, smallest, -1):
        steps.append((1, f"e{exponent}"))
        if exponent > 0 or not is_integer:
            steps.append((5, f"e{exponent - 1}"))
    return [
        (float(f"{digit}{exponent}"), digit, exponent, MOST_SHIFT[digit])
        for digit, exponent in steps
    ]


def _nearest_multiple(low, high, target, first, step):
    """The multiple of a step nearest to the target; None if it is too far."""
    width = high - low
    size, digit, exponent, shift = step
    allowed = width * shift
    if size == 1.0 and low.is_integer() and high.is_integer():
        allowed = width  # between whole numbers it is a whole number
    if digit is None:
        below, above = first * size, (first + 1) * size
    else:
        # By their texts, so that a multiple is the number that a reader would type.
        below = float(f"{first * digit}{exponent}")
        above = float(f"{(first + 1) * digit}{exponent}")
    if width <= size / 10 or (below == low and above == high):
        # One end is a very round number, or both are neighbours on a scale of steps.
        allowed = width
    is_below = low <= below <= high and abs(below - target) <= allowed
    is_above = low <= above <= high and abs(above - target) <= allowed
    if is_below and is_above:
        # An end is what a row has; a number between is better, if there is one.
        keys = (above == high, abs(above - target)), (False, abs(below - target))
        return above if keys[0] < keys[1] else below
    if is_below:
        return below
    return above if is_above else None


def _before(value, low, target):
    """The threshold of `x < value`."""
    before = math.nextafter(value, -math.inf)
    return before if before >= low else target


def _round_date(low, high, target):
    """The first moment of a year, month, day, … in (low, high], in days."""
    if max(abs(low), abs(high)) > 3e6:  # beyond the years of a calendar
        return high
    time = np.datetime64(round(target * MICROSECONDS), "us")
    for unit in CALENDAR:
        begin = time.astype(f"datetime64[{unit}]")
        near = [begin + np.timedelta64(k, unit) for k in (-1, 0, 1, 2)]
        starts = [
            moment.astype("datetime64[us]").astype(np.int64) / MICROSECONDS
            for moment in near
        ]
        starts = [float(s) for s in starts if low < s <= high]
        if starts:
            return min(starts, key=lambda s: abs(s - target))
    return high
