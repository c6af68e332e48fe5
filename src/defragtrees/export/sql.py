"""Rules as an SQL expression, or as a complete SELECT.

SQL treats NULL as the rules treat a missing value that they do not accept: a comparison
with it is not true. Where missing values are accepted, `IS NULL` is tested as well.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from defragtrees.export import portable
from defragtrees.rules.model import RuleModel


def to_sql(
    rules: RuleModel,
    *,
    dialect: str = "ansi",
    table: str | Sequence[str] | None = None,
    column: str = "prediction",
    probabilities: bool | None = None,
    probability_of: Any = None,
    score: bool = False,
    reasons: int = 0,
    best: str = "high",
    exclude: Sequence[Any] = (),
    comments: bool | None = None,
    assume_no_nan: bool = False,
) -> str:
    """SQL that predicts a row, or a SELECT over a table.

    Without a table it is an expression; of a list of classes the columns of a SELECT,
    `… AS "prediction", … AS "probability yes"`.

    A SELECT has all columns of the table and those of `RuleModel.predict_frame`, except
    the number of the rule, which only rules of survival add. For a scorecard these are
    the total, `score`, with two classes a probability, such as `probability yes`, and
    with `reasons` the reason codes `reason 1`, `reason 2`, ...: the columns that could
    add most points, NULL where no further column could. A name that a feature has gets
    an underscore.

    Parameters
    ----------
    rules : RuleModel
    dialect : str, default="ansi"
        Syntax of names and values: "ansi", "bigquery", "duckdb", "mysql",
        "postgres", "snowflake", "sqlite" or "sqlserver". If columns can be NaN, it
        counts as missing, and so may infinity.
    table : str or sequence of str, optional
        Name of a table, or its parts, such as ("shop", "sales"). With it the
        result is `SELECT *, … AS "prediction" FROM "shop"."sales"`.
    column : str, default="prediction"
        The name of the column of predictions.
    probabilities : bool, optional
        Whether to add a column per class, such as "probability yes". By default a list
        has them, of two classes that of `pos_label` or the second.
    probability_of : class label, optional
        Write the probability of this class instead of the prediction.
    score : bool, default=False
        Write the total of a scorecard instead of the prediction.
    reasons : int, default=0
        With `table`, so many columns of reason codes of a scorecard; see
        `Scorecard.reasons`.
    best : {"high", "low"}, default="high"
        Which totals are desired, for reason codes.
    exclude : sequence of str or int, default=()
        Columns that are no reason.
    comments : bool, optional
        Whether to put the text of the rules first, as comments; by default if features
        or classes have labels.
    assume_no_nan : bool, default=False
        Leave out the tests for NaN, if missing values are always NULL.
    """
    if dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be one of {', '.join(sorted(DIALECTS))}; got {dialect!r}."
        )
    chosen = DIALECTS[dialect]
    if assume_no_nan:
        chosen = replace(chosen, is_number="")
    if reasons and table is None:
        raise ValueError(
            f"reasons={reasons!r} needs a table, as it adds columns; got none. Pass "
            "table."
        )
    if probability_of is not None and score:
        raise ValueError("Give probability_of or score, not both.")
    write = _Writer(rules, chosen)
    if probability_of is not None:
        text = write.probability(probability_of)
    elif score:
        text = write.score()
    else:
        text = write.prediction()
    has_more = write.is_list if probabilities is None else probabilities
    is_alone = score or probability_of is not None or not (table or has_more)
    beside = {} if is_alone else write.beside(probabilities)
    for k, reason in enumerate(write.reasons(reasons, best, exclude), start=1):
        beside[f"reason {k}"] = reason
    has_words = rules.feature_labels or rules.class_labels or rules.feature_kinds
    words = ""
    if comments or (comments is None and has_words):
        # The lines have no line breaks, which would end the comment.
        words = "".join(f"-- {line}\n" for line in rules._view.lines())
    if is_alone and table is None:
        return f"{words}{text}\n"
    if column.lower() in map(str.lower, beside):
        raise ValueError(
            f"column must differ from the other columns {list(beside)!r}; got "
            f"{column!r}."
        )
    named = [
        f"{text} AS {chosen.name(portable.free_name(name, rules))}"
        for name, text in {column: text, **beside}.items()
    ]
    if table is None:
        return f"{words}{', '.join(named)}\n"
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(chosen.name(part) for part in parts)
    return f"{words}SELECT *, {', '.join(named)}\nFROM {source}\n"


NAMES = ("rule", "total", "weight", "share", "held", "sums", "shares")  # in subqueries


class _Writer:
    """Writes expressions over the conditions of rules."""

    def __init__(self, rules, dialect):
        self.rules, self.literal = rules, dialect.literal
        form = rules._form
        has_classes = rules.outcome.has_probabilities and form.has_probabilities
        self.is_list = form.is_exclusive and has_classes  # of classes
        self.zero, self.one = dialect.literal(0.0), dialect.literal(1.0)
        kinds = {
            j: portable.column_kind(rules, j) for j in portable.used_features(rules)
        }
        self.conjunction = lambda tests: (
            " AND ".join(dialect.condition(test, kinds[test.feature]) for test in tests)
            or "1 = 1"
        )
        every = portable.column_tests(rules, has_booleans=True)[:-1]
        self.matches = [*map(self.conjunction, every)]
        # Names of the columns of subqueries, which no feature has in any letter case.
        taken, prefix = [name.lower() for name in rules.feature_names], ""
        while any(name.startswith(f"{prefix}{n}_") for name in taken for n in NAMES):
            prefix += "_"
        self.name = lambda what, k=0: dialect.name(f"{prefix}{what}_{k + 1}")

    def classes(self):
        """The classes; rules without probabilities are rejected."""
        if not self.rules._form.has_probabilities:
            raise ValueError(
                "Probabilities need rules for classes, each with its distribution; "
                "these have none. Leave probabilities and probability_of out."
            )
        return portable.class_labels(self.rules)

    def probability(self, label):
        """The probability of a class."""
        labels = self.classes()
        if label not in labels:
            raise ValueError(
                f"probability_of must be one of the classes {labels[:5]!r}; got "
                f"{label!r}."
            )
        return self.prediction(labels.index(label))

    def score(self, column=None):
        """The total of points; of several, one per class, a column of them."""
        n_totals = self.rules._scorecard("score=True").outcome.n_points
        if column is None and n_totals > 1:
            raise ValueError(
                f"score=True needs one total; this scorecard has {n_totals}, one per "
                "class. Pass table instead."
            )
        return self.total(column or 0)

    def beside(self, probabilities):
        """Totals and probabilities, by the names of their columns."""
        rules, form = self.rules, self.rules._form
        names, labels = form.score_names, form.reported_classes(None)
        if probabilities is None and self.is_list:
            positive = rules.outcome.positive_class
            labels = self.classes() if positive is None else [positive]
        columns = {name: self.score(k) for k, name in enumerate(names)}
        for name, given in rules.outcome.further_outputs(form).items():
            if form.is_sum:
                columns[name] = f"EXP({self.literal(-given)} * {self.prediction()})"
            else:
                combined = self.first_match if form.is_exclusive else self.mean
                columns[name] = combined(given)
        for label in self.classes() if probabilities else labels:
            columns[f"probability {label}"] = self.probability(label)
        return columns

    def reasons(self, n, best, exclude):
        """Reason codes, each from nested subqueries over the columns of the card.

        The innermost has what reasons depend on. Around it, each column has the rank of
        its reason among all reasons that there are. The first reason is that of the
        column with no lower rank than its own, the second with one, and so on.
        """
        table, reasons = portable.reasons(self.rules, n, best, exclude)
        if not reasons:
            yield from ["NULL"] * n
            return
        name, last = self.name, len(reasons)
        atoms = [portable.conditions_tests(self.rules, a, True) for a in table.atoms]
        tests = [
            f"CASE WHEN {self.conjunction(own)} THEN 1 ELSE 0 END" for own in atoms
        ]
        flags = [f"{test} AS {name('rule', k)}" for k, test in enumerate(tests)]
        ranks, columns = [], sorted({place for place, _ in reasons})
        for column in columns:
            cases = [
                f"WHEN {' AND '.join(self._flag(test) for test in one.tests)} "
                f"THEN {rank}"
                for rank, (place, one) in enumerate(reasons)
                if place == column
            ]
            ranks.append(
                f"CASE {' '.join(cases)} ELSE {last} END AS {name('total', column)}"
            )
        totals = [name("total", column) for column in columns]
        lower = {
            one: " + ".join(
                f"CASE WHEN {other} < {one} THEN 1 ELSE 0 END"
                for other in totals
                if other != one
            )
            for one in totals
        }
        texts = " ".join(
            f"WHEN {rank} THEN {self.literal(one.text)}"
            for rank, (_, one) in enumerate(reasons)
        )
        for place in range(n):
            chosen = " ".join(
                f"WHEN {one} < {last} AND {lower[one] or 0} = {place} THEN {one}"
                for one in totals
            )
            yield (
                f"(\nSELECT CASE {name('share')} {texts} END\n"
                f"FROM (SELECT CASE {chosen} END AS {name('share')}\n"
                f"FROM (SELECT\n  {_lines(ranks)}\n"
                f"FROM (SELECT\n  {_lines(flags)}\n) AS {name('held')}"
                f") AS {name('sums')}) AS {name('shares')}\n)"
            )

    def _flag(self, test):
        place, is_match = test
        return f"{self.name('rule', place)} = {int(is_match)}"

    def prediction(self, k=None):
        """The prediction; or the probability of the k-th class."""
        if self.rules._form.is_exclusive:
            if k is None:
                return self.first_match(portable.predictions(self.rules))
            return self.first_match([one[k] for one in portable.outputs(self.rules)])
        if self.rules._form.is_sum:
            return self.points(k)
        if k is None and self.rules.outcome.has_probabilities:
            return self.class_of_mean()
        return self.mean([one[k or 0] for one in portable.outputs(self.rules)])

    def first_match(self, values):
        """The value of the first rule that matches."""
        *thens, otherwise = map(self.literal, values)
        if not self.matches:
            return otherwise
        lines = [
            f"  WHEN {test} THEN {then}"
            for test, then in zip(self.matches, thens, strict=True)
        ]
        return "\n".join(["CASE", *lines, f"  ELSE {otherwise}", "END"])

    def terms(self, values):
        """The value of each matching rule; that of the default rule last."""
        *firsts, last = map(self.literal, values)
        terms = [
            f"CASE WHEN {test} THEN {value} ELSE {self.zero} END"
            for test, value in zip(self.matches, firsts, strict=True)
        ]
        return [*terms, last]

    def mean(self, values):
        """Total of values divided by weight, added in the order of `predict`."""
        weights = [float(rule.weight) for rule in self.rules]
        products = [w * value for w, value in zip(weights, values, strict=True)]
        total, weight = (_sum(self.terms(one)) for one in (products, weights))
        # Whether the weights of the matching rules may add up to zero or less.
        if weights[-1] > 0 and min(weights) >= 0:
            return f"({total} / {weight})"
        return (
            f"CASE WHEN {weight} > {self.zero} THEN {total} / {weight} "
            f"ELSE {self.literal(values[-1])} END"
        )

    def class_of_mean(self):
        """The class chosen from shares; without costs the first with the largest.

        Nested subqueries, so that each condition and each share is written only once;
        they refer to the columns of the row.
        """
        name, weights = self.name, [float(rule.weight) for rule in self.rules]
        products = [
            [weight * value for weight, value in zip(weights, values, strict=True)]
            for values in zip(*portable.outputs(self.rules), strict=True)
        ]
        tests = [name("rule", k) for k in range(len(weights))]
        totals = [name("total", k) for k in range(len(products))]
        shares = [name("share", k) for k in range(len(products))]
        weight = name("weight")
        flags = [
            f"CASE WHEN {test} THEN {self.one} ELSE {self.zero} END AS {column}"
            for test, column in zip([*self.matches, "1 = 1"], tests, strict=True)
        ]
        sums = []
        for values, column in zip([*products, weights], [*totals, weight], strict=True):
            values = map(self.literal, values)
            terms = [f"{t} * {value}" for t, value in zip(tests, values, strict=True)]
            sums.append(f"{' + '.join(terms)} AS {column}")
        defaults = map(self.literal, portable.outputs(self.rules)[-1])
        means = [
            f"CASE WHEN {weight} > {self.zero} THEN {total} / {weight} "
            f"ELSE {default} END AS {share}"
            for total, default, share in zip(totals, defaults, shares, strict=True)
        ]
        return (
            f"(\nSELECT {self.chosen_class(shares)}\n"
            f"FROM (SELECT\n  {_lines(means)}\n"
            f"FROM (SELECT\n  {_lines(sums)}\n"
            f"FROM (SELECT\n  {_lines(flags)}\n"
            f") AS {name('held')}) AS {name('sums')}) AS {name('shares')}\n)"
        )

    def points(self, k):
        """Prediction from a sum of CASE expressions, in the order of `predict`."""
        rules, link = self.rules, self.rules.outcome.link
        if link == "softmax":
            return self.points_of_classes(k)
        value = self.value()
        if link == "identity":
            return value
        if link == "log":
            return f"EXP({value})"
        if k is not None:
            second = f"{self.one} / ({self.one} + EXP(-{value}))"
            return f"({second})" if k else f"({self.one} - {second})"
        labels = [*map(self.literal, portable.class_labels(rules))]
        decision = rules.outcome.decision(rules.threshold, rules.costs)
        sign = ">" if rules.threshold is None else ">="
        cut = self.literal(decision.log_odds_cut)
        return f"CASE WHEN {value} {sign} {cut} THEN {labels[1]} ELSE {labels[0]} END"

    def total(self, column=0):
        """The sum of a column of points."""
        points = [values[column] for values in portable.points(self.rules)]
        *terms, base = self.terms(points)
        return _sum([base, *terms])

    def value(self, column=0):
        """What the sum of a column of points stands for: a number or log-odds."""
        total, rules = self.total(column), self.rules
        if rules.unit == 1.0 and rules.origin == 0.0:
            value = total
        else:
            origin, unit = (self.literal(float(v)) for v in (rules.origin, rules.unit))
            value = f"(({total} - {origin}) * {unit})"
        return self.bent(value) if rules.tails else value

    def bent(self, value):
        """A subquery with the log-odds, so that the sum is written only once."""
        name, cases = self.name("total"), []
        for tail, sign in zip(self.rules.tails, "<>", strict=True):
            end, slope = map(self.literal, tail)
            then = f"{end} + ({name} - {end}) * {slope}"
            cases.append(f"WHEN {name} {sign} {end} THEN {then}")
        return (
            f"(\nSELECT CASE {' '.join(cases)} ELSE {name} END\n"
            f"FROM (SELECT {value} AS {name}) AS {self.name('sums')}\n)"
        )

    def points_of_classes(self, k):
        """A subquery with the total of each class, so that it is written only once."""
        columns = [self.name("total", j) for j in range(self.rules.outcome.n_points)]
        shares = []
        for column in columns:
            ratios = " + ".join(f"EXP({other} - {column})" for other in columns)
            shares.append(f"{self.one} / ({ratios})")
        if k is not None:
            value = shares[k]
        elif self.rules.costs is None:
            value = self.chosen_class(columns)
        else:
            value = self.chosen_class([f"({share})" for share in shares])
        totals = [f"{self.value(j)} AS {column}" for j, column in enumerate(columns)]
        return (
            f"(\nSELECT {value}\nFROM (SELECT\n  {_lines(totals)}\n) "
            f"AS {self.name('sums')}\n)"
        )

    def chosen_class(self, shares):
        """The class chosen from columns of shares, by threshold, costs or neither."""
        rules = self.rules
        labels = [*map(self.literal, portable.class_labels(rules))]
        if rules.threshold is not None:
            is_second = f"{shares[1]} >= {self.literal(float(rules.threshold))}"
            return f"CASE WHEN {is_second} THEN {labels[1]} ELSE {labels[0]} END"
        values = shares
        if rules.costs is not None:
            values = []
            for costs in zip(*rules.costs, strict=True):
                costs = [self.literal(float(cost)) for cost in costs]
                terms = [f"{s} * {cost}" for s, cost in zip(shares, costs, strict=True)]
                values.append(f"-({' + '.join(terms)})")
        # If a value is not the largest, the largest is among those after it; the first
        # of ties is chosen.
        choices = [
            f"WHEN {' AND '.join(f'{value} >= {other}' for other in values[k + 1 :])} "
            f"THEN {labels[k]}"
            for k, value in enumerate(values[:-1])
        ]
        if not choices:
            return labels[-1]
        return f"CASE {' '.join(choices)} ELSE {labels[-1]} END"


def _sum(terms):
    return "(\n  " + "\n  + ".join(terms) + "\n)"


def _lines(columns):
    """Columns of a SELECT, each on its own line."""
    return ",\n  ".join(columns)


def decimal(value):
    """Write a number as an approximate literal, which is a double, not a decimal.

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
    """Write a number for SQLite, which rounds some decimals incorrectly.

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


MOMENTS = {
    "date": "DATE '{}'",
    "datetime": "TIMESTAMP '{}'",
    "datetime UTC": "TIMESTAMP WITH TIME ZONE '{}'",
    "time": "TIME '{}'",
}
INTERVALS = {**MOMENTS, "duration": "INTERVAL '{}' SECOND"}


@dataclass(frozen=True)
class Dialect:
    """Syntax of names, values and conditions in a family of engines."""

    opening: str  # before a name
    closing: str  # after a name; doubled inside
    # The test that a column, {0} here, is not NaN; empty if columns cannot be NaN.
    # Engines sort NaN above all numbers, or treat comparisons with it as false.
    is_number: str = ""
    is_nan_false: bool = False  # whether no comparison with NaN is true
    number: Callable[[float], str] = decimal
    text_prefix: str = ""
    has_backslash: bool = False  # whether a backslash in a text has to be doubled
    escapes_quotes: bool = False  # whether a backslash escapes a quote: not doubled
    truth: tuple[str, str] = ("FALSE", "TRUE")
    # Templates from the text of a date or time to a value, by kind; columns of other
    # kinds have numbers of days.
    moments: Mapping[str, str] = field(default_factory=lambda: MOMENTS)
    has_text_dates: bool = False  # whether dates and times are columns of text

    def name(self, name):
        """A quoted name."""
        if not name or "\0" in name:
            raise ValueError(
                f"A name in SQL must have letters and no NUL; got {name!r}."
            )
        inside = name.replace(self.closing, 2 * self.closing)
        if self.escapes_quotes:
            inside = _escaped(name, self.closing)
        return f"{self.opening}{inside}{self.closing}"

    def literal(self, value):
        """Write a text, a boolean or a number."""
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
                f"A text in SQL must not contain the character NUL; got {value!r}."
            )
        if self.escapes_quotes:
            return f"'{_escaped(value, chr(39))}'"
        inside = value.replace("'", "''")
        if self.has_backslash:
            inside = inside.replace("\\", "\\\\")
        return f"{self.text_prefix}'{inside}'"

    def condition(self, test, kind):
        """Write the test of a column, to be combined with others by AND."""
        if kind in portable.DAYS and kind not in self.moments:
            kind = "number"
        name = self.name(test.name)
        may_be_nan = bool(self.is_number) and kind == "number"
        is_number = self.is_number.replace("{0}", name)
        is_missing = f"{name} IS NULL"
        if may_be_nan:
            is_missing += f" OR NOT ({is_number})"
        is_present = is_number if may_be_nan else f"{name} IS NOT NULL"
        if test.matches_all:
            return "1 = 1" if test.missing else is_present
        if test.matches_none:
            return f"({is_missing})" if test.missing else "1 = 0"
        if test.labels is not None:
            labels = ", ".join(self.literal(label) for label in test.labels)
            text = f"{name} {'IN' if test.is_listed else 'NOT IN'} ({labels})"
            is_open = not test.is_listed
        elif kind in self.moments:
            text = " AND ".join(self._moment_sides(test, kind, name))
            is_open = False
        else:
            sides = [f"{name} {sign} {self.literal(x)}" for sign, x in test.sides]
            text = " AND ".join(sides)
            is_open = test.upper == math.inf
        if test.missing:
            return f"({text} OR {is_missing})"
        # NaN is above every lower bound and equal to no category.
        is_open = is_open and not (self.is_nan_false and test.labels is None)
        return f"{text} AND {is_number}" if may_be_nan and is_open else text

    def _moment_sides(self, test, kind, name):
        """Write the bounds of a test on dates or times."""
        for sign, moment in portable.moments(test, kind):
            text = portable.moment_text(moment, kind)
            if self.has_text_dates:
                yield from _text_sides(name, sign, text.removesuffix("+00:00"))
                continue
            shown = kind
            if kind in ("date", "datetime"):
                shown = "datetime" if ":" in text else "date"
            yield f"{name} {sign} {self.moments[shown].format(text)}"


def _text_sides(name, sign, text):
    """Comparisons with ISO texts, which sort chronologically.

    One moment has several texts: '2024-03-01', '2024-03-01T00:00', '2024-03-01
    00:00:00.000'. The shortest sorts before all others, the longest after them.
    """
    seconds, _, part = (text if ":" in text else f"{text} 00:00:00").partition(".")
    shortest = text.rstrip("0") if part else text.removesuffix(":00")
    longest = f"{seconds}.{part:0<9}"
    clock = f"rtrim(replace({name}, 'T', ' '), 'Z')"
    if sign in (">=", "<", "="):
        column = clock if ":" in shortest else name
        yield f"{column} {'>=' if sign == '=' else sign} '{shortest}'"
    if sign in (">", "<=", "="):
        yield f"{clock} {'<=' if sign == '=' else sign} '{longest}'"


def _escaped(text, mark):
    """Escape the mark, backslashes and line breaks with a backslash."""
    text = text.replace("\\", "\\\\").replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n").replace("\r", "\\r")


# NaN or infinity minus itself is NaN, which is not 0, whether an engine sorts NaN above
# all numbers or treats comparisons with it as false, and for columns of any type.
ANSI = Dialect('"', '"', "{0} - {0} = 0", moments=INTERVALS)
# SQLite reads an unknown name in double quotes as a text; in backticks it is an error.
DIALECTS = {
    "ansi": ANSI,
    # BigQuery cannot compare DATETIME with TIMESTAMP, but reads a text as either.
    "bigquery": Dialect(
        "`",
        "`",
        "NOT IS_NAN({0})",
        is_nan_false=True,
        escapes_quotes=True,
        moments=dict.fromkeys(MOMENTS, "'{}'"),
    ),
    # DuckDB compares TIME with no TIME_NS, but reads a text as either.
    "duckdb": replace(
        ANSI, is_number="NOT isnan({0})", moments=INTERVALS | {"time": "'{}'"}
    ),
    "mysql": Dialect(
        "`",
        "`",
        has_backslash=True,
        moments=MOMENTS | {"datetime UTC": "TIMESTAMP '{}'"},
    ),
    "postgres": ANSI,
    "snowflake": replace(
        ANSI,
        has_backslash=True,
        moments=MOMENTS | {"datetime UTC": "TO_TIMESTAMP_TZ('{}')"},
    ),
    "sqlite": Dialect("`", "`", number=fraction, has_text_dates=True),
    "sqlserver": Dialect(
        "[",
        "]",
        text_prefix="N",
        truth=("0", "1"),
        moments={
            "date": "CAST('{}' AS date)",
            "datetime": "CAST('{}' AS datetime2)",
            "datetime UTC": "CAST('{}' AS datetimeoffset)",
            "time": "CAST('{}' AS time)",
        },
    ),
}
