"""How SQL dialects write names, values and conditions."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

__all__ = ["DIALECTS", "Dialect"]


def decimal(value):
    """A number as an approximate literal: it is read as a double, not as a decimal.

    Examples
    --------
    >>> decimal(20.0), decimal(0.1), decimal(1e-7)
    ('20e0', '0.1e0', '1e-07')
    """
    text = repr(value)
    if "e" in text:
        return text
    return f"{text.removesuffix('.0')}e0"


def fraction(value):
    """A number that SQLite reads right, which rounds some decimals to a neighbour.

    SQLite 3.40 reads 0.002877 as 0.0028770000000000002. It is exact on integers below
    2 ** 53 and on products and quotients with powers of two.

    Examples
    --------
    >>> fraction(2.5), fraction(0.1)
    ('2.5', '(7205759403792794 * 1.0 / 72057594037927936 /* 0.1 */)')
    """
    text = repr(value)
    is_short = len(text) <= 16 and "e" not in text
    if is_short and Fraction(text) == Fraction(value):
        return text
    mantissa, exponent = math.frexp(value)
    mantissa, exponent = int(mantissa * 2**53), exponent - 53
    parts = [f"{mantissa} * 1.0"]
    sign = "*" if exponent > 0 else "/"
    for power in [62] * (abs(exponent) // 62) + [abs(exponent) % 62]:
        parts.append(f"{sign} {2**power}")
    return f"({' '.join(parts)} /* {text} */)"


@dataclass(frozen=True)
class Dialect:
    """How one family of engines writes things.

    Parameters
    ----------
    opening, closing : str
        Around a name; the closing one is doubled inside.
    is_number : str
        The test that a column, {0} here, holds no NaN, which is no number; empty where
        no column can hold one. Engines that have NaN place it above all numbers, or let
        no comparison with it hold.
    is_nan_false : bool
        Whether no comparison with NaN holds.
    number : callable
    text_prefix : str
        Before a text.
    has_backslash : bool
        Whether a backslash in a text has to be doubled.
    escapes_quotes : bool
        Whether a quote is escaped by a backslash, and not doubled.
    truth : tuple of str
        False and true.
    """

    opening: str
    closing: str
    is_number: str = ""
    number: Callable[[float], str] = decimal
    text_prefix: str = ""
    has_backslash: bool = False
    truth: tuple[str, str] = ("FALSE", "TRUE")
    is_nan_false: bool = False
    escapes_quotes: bool = False

    def without_nan(self):
        """The same where no column holds NaN."""
        return replace(self, is_number="")

    def name(self, name):
        """A quoted name."""
        if not name or "\0" in name:
            raise ValueError(f"A name in SQL must not be empty; got {name!r}.")
        inside = name.replace(self.closing, 2 * self.closing)
        if self.escapes_quotes:
            inside = _escaped(name, self.closing)
        return f"{self.opening}{inside}{self.closing}"

    def literal(self, value):
        """A text, a truth value or a number."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, bool):
            return self.truth[value]
        if isinstance(value, int):
            return str(value)
        if not math.isfinite(value):
            raise ValueError(f"A number in SQL must be finite; got {value!r}.")
        return self.number(value)

    def _text(self, value):
        if "\0" in value:
            raise ValueError(
                f"A text in SQL must not hold the character NUL; got {value!r}."
            )
        if self.escapes_quotes:
            return f"'{_escaped(value, chr(39))}'"
        inside = value.replace("'", "''")
        if self.has_backslash:
            inside = inside.replace("\\", "\\\\")
        return f"{self.text_prefix}'{inside}'"

    def condition(self, test, kind):
        """The test of a column that holds such values, to be put beside others."""
        name = self.name(test.name)
        may_be_nan = bool(self.is_number) and kind == "number"
        is_number = self.is_number.replace("{0}", name)
        is_missing = f"{name} IS NULL"
        if may_be_nan:
            is_missing += f" OR NOT ({is_number})"
        is_present = is_number if may_be_nan else f"{name} IS NOT NULL"
        if test.holds_always:
            return "1 = 1" if test.missing else is_present
        if test.holds_never:
            return f"({is_missing})" if test.missing else "1 = 0"
        if test.labels is not None:
            text = self._membership(test, name)
            is_open = not test.is_listed
        else:
            text = self._interval(test, name)
            is_open = test.upper == math.inf
        if test.missing:
            return f"({text} OR {is_missing})"
        # NaN is above every lower bound and equal to no category.
        is_open = is_open and not (self.is_nan_false and test.labels is None)
        return f"{text} AND {is_number}" if may_be_nan and is_open else text

    def _membership(self, test, name):
        labels = ", ".join(self.literal(label) for label in test.labels)
        return f"{name} {'IN' if test.is_listed else 'NOT IN'} ({labels})"

    def _interval(self, test, name):
        return " AND ".join(
            f"{name} {sign} {self.literal(value)}" for sign, value in test.sides
        )


def _escaped(text, mark):
    """A text in which a backslash escapes the mark, itself and line breaks."""
    text = text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n").replace("\r", "\\r")


# NaN, and infinity, less itself is NaN, which is not 0: in engines that put NaN above
# all numbers, in those that let no comparison hold, and for columns of any type.
ANSI = Dialect('"', '"', "{0} - {0} = 0")
# SQLite takes a name in double quotes that it does not know for a text, and answers;
# in backticks it is an error.
DIALECTS = {
    "ansi": ANSI,
    "bigquery": Dialect(
        "`", "`", "NOT IS_NAN({0})", is_nan_false=True, escapes_quotes=True
    ),
    "duckdb": replace(ANSI, is_number="NOT isnan({0})"),
    "mysql": Dialect("`", "`", has_backslash=True),
    "postgres": ANSI,
    "snowflake": replace(ANSI, has_backslash=True),
    "sqlite": Dialect("`", "`", number=fraction),
    "sqlserver": Dialect("[", "]", text_prefix="N", truth=("0", "1")),
}
