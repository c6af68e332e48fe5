"""How an interval is said: `>= 3`, `< 40` or `is 19`, whichever reads best.

What is said is what is asked. An interval `lower < x <= upper` of any numbers is said
in the shortest way that means the same of every double. Of whole numbers `x > 2` and
`x >= 3` are one statement; the one with the rounder number is taken, and is also asked
of a value between 2 and 3, which such a feature never had.
"""

import math

from defragtrees import render

__all__ = ["exact_bounds", "is_single", "sides_of", "sides_text"]

FLIPPED = {">": "<", ">=": "<="}


def sides_of(lower, upper, is_integer=False):
    """What an interval that is not empty asks: pairs of a sign and a number.

    Parameters
    ----------
    lower, upper : float
    is_integer : bool
        Whether the feature has whole numbers only.

    Returns
    -------
    tuple of (str, float)
        None for all numbers, one with "=" for a single one, else one for each finite
        side, the lower first.

    Examples
    --------
    >>> sides_of(2, math.inf, True), sides_of(18, 19, True)
    ((('>=', 3.0),), (('=', 19.0),))
    >>> sides_of(40, 49, True), sides_of(2.5, 7.25)
    ((('>', 40.0), ('<', 50.0)), (('>', 2.5), ('<=', 7.25)))
    >>> sides_of(math.nextafter(10, 0), math.inf)
    (('>=', 10.0),)
    """
    if is_single(lower, upper, is_integer):
        return (("=", float(upper)),)
    sides = []
    if math.isfinite(lower):
        sides.append(_lower_side(float(lower), is_integer))
    if math.isfinite(upper):
        sides.append(_upper_side(float(upper), is_integer))
    return tuple(sides)


def is_single(lower, upper, is_integer=False):
    """Whether an interval holds one number only.

    Examples
    --------
    >>> is_single(18, 19, True), is_single(18, 19), is_single(math.nextafter(2, 0), 2)
    (True, False, True)
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return False
    after = math.floor(lower) + 1 if is_integer else math.nextafter(lower, math.inf)
    return after == upper


def exact_bounds(lower, upper, is_integer=False):
    """The doubles for which `lower < x <= upper` is what the interval asks.

    Examples
    --------
    >>> exact_bounds(2, 40, True)
    (2.9999999999999996, 40.0)
    """
    if not is_integer or lower >= upper:
        return lower, upper
    for sign, value in sides_of(lower, upper, True):
        if sign in (">=", "="):
            lower = math.nextafter(value, -math.inf)
        if sign in ("<=", "="):
            upper = value
        if sign == "<":
            upper = math.nextafter(value, -math.inf)
    return lower, upper


def sides_text(name, sides, write, unit=""):
    """An interval in words.

    Parameters
    ----------
    name : str
    sides : tuple of (str, float)
        As `sides_of` gives them; at least one.
    write : callable
        From a number to its text.
    unit : str
        What follows the last number.

    Examples
    --------
    >>> sides_text("age", sides_of(2.5, 7.25), render.number, " years")
    '2.5 < age <= 7.25 years'
    >>> sides_text("day", sides_of(18, 19, True), render.number)
    'day is 19'
    """
    (sign, value), *others = sides
    if others:
        [(upper_sign, upper)] = others
        low, high = write(value), f"{write(upper)}{unit}"
        return f"{low} {FLIPPED[sign]} {name} {upper_sign} {high}"
    return f"{name} {'is' if sign == '=' else sign} {write(value)}{unit}"


def _lower_side(lower, is_integer):
    if is_integer:
        after = math.floor(lower) + 1.0
        is_rounder = _n_digits(after) <= _n_digits(math.floor(lower))
        return (">=", after) if is_rounder else (">", lower)
    after = math.nextafter(lower, math.inf)
    return (">=", after) if _is_shorter(after, lower) else (">", lower)


def _upper_side(upper, is_integer):
    if is_integer:
        after = math.floor(upper) + 1.0
        is_rounder = _n_digits(after) < _n_digits(math.floor(upper))
        return ("<", after) if is_rounder else ("<=", upper)
    after = math.nextafter(upper, math.inf)
    return ("<", after) if _is_shorter(after, upper) else ("<=", upper)


def _is_shorter(one, other):
    # One digit less may be chance; beside a number that was meant many are needed.
    return len(render.number(one)) < len(render.number(other)) - 3


def _n_digits(value):
    """Digits of a whole number up to its last one that is not zero."""
    return len(str(abs(int(value))).rstrip("0")) or 1
