"""Rules as an SQL expression, or as a whole SELECT.

What SQL says of NULL is what the rules say of a missing value that they do not accept:
a comparison with it does not hold. Where missing values are accepted, `IS NULL` is
asked as well.
"""

from collections.abc import Sequence
from typing import Any

from defragtrees.export import _sql_points, portable
from defragtrees.export._sql import DIALECTS
from defragtrees.export._sql_shares import chosen_class, listed_columns, unused_names
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import rule_lines

__all__ = ["export"]

SUFFIX = ".sql"


def export(
    rules: RuleModel,
    *,
    dialect: str = "ansi",
    table: str | Sequence[str] | None = None,
    column: str = "prediction",
    probabilities: bool = False,
    probability_of: Any = None,
    comments: bool | None = None,
    assume_no_nan: bool = False,
) -> str:
    """An SQL expression with the answer for a row, or a SELECT over a table.

    Parameters
    ----------
    rules : RuleModel
    dialect : str, default="ansi"
        How names and values are written: "ansi", "bigquery", "duckdb", "mysql",
        "postgres", "snowflake", "sqlite" or "sqlserver". Where columns can hold NaN, it
        counts as missing, and so may infinity.
    table : str or sequence of str, optional
        Name of a table, or its parts, such as ("shop", "sales"). With it comes
        `SELECT *, … AS "prediction" FROM "shop"."sales"`.
    column : str, default="prediction"
        With `table`, the name of the column that holds the answers.
    probabilities : bool, default=False
        With `table`, one more column for each class, such as "probability yes".
    probability_of : class label, optional
        The expression, or the column, is the probability of this class instead of the
        answer.
    comments : bool, optional
        Whether the rules in words come first, as comments; by default if features or
        classes have labels.

    assume_no_nan : bool, default=False
        Leave out the tests for NaN, where a missing value always is NULL.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> cold = Rule((Condition(0, upper=20.0, missing=True),), "no")
    >>> rules = RuleList((cold,), Rule((), "yes"), ("degrees",), "classification",
    ...                  ("no", "yes"))
    >>> print(export(rules, dialect="mysql"), end="")
    CASE
      WHEN (`degrees` <= 20e0 OR `degrees` IS NULL) THEN 'no'
      ELSE 'yes'
    END
    """
    if dialect not in DIALECTS:
        raise ValueError(
            f"dialect must be one of {', '.join(sorted(DIALECTS))}; got {dialect!r}."
        )
    chosen = DIALECTS[dialect]
    chosen = chosen.without_nan() if assume_no_nan else chosen
    if probability_of is None:
        text = _expression(rules, chosen)
    else:
        text = _probability(rules, chosen, _class_place(rules, probability_of))
    if table is None and probabilities:
        raise ValueError(
            "probabilities=True needs a table, as each class gets a column of its own; "
            "got none. Pass table, or probability_of for one expression."
        )
    has_words = rules.feature_labels or rules.class_labels or rules.feature_kinds
    words = _comments(rules) if comments or (comments is None and has_words) else ""
    if table is None:
        return f"{words}{text}\n"
    columns = [f"{text} AS {chosen.name(column)}"]
    for k, label in enumerate(_told_classes(rules) if probabilities else ()):
        name = chosen.name(f"probability {label}")
        columns.append(f"{_probability(rules, chosen, k)} AS {name}")
    parts = [table] if isinstance(table, str) else list(table)
    source = ".".join(chosen.name(part) for part in parts)
    return f"{words}SELECT *, {', '.join(columns)}\nFROM {source}\n"


def _comments(rules):
    # A line of `rule_lines` has no break, so that it cannot end the comment.
    return "".join(f"-- {line}\n" for line in rule_lines(rules))


def _told_classes(rules):
    """The classes, all of which have a probability in each rule."""
    if not rules.outcome.n_classes or not portable.has_shares(rules):
        raise ValueError(
            "Probabilities need rules for classes, each with its distribution; these "
            "have none. Leave probabilities and probability_of out."
        )
    return portable.class_labels(rules)


def _class_place(rules, label):
    labels = _told_classes(rules)
    if label not in labels:
        raise ValueError(
            f"probability_of must be one of the classes {labels[:5]!r}; got {label!r}."
        )
    return labels.index(label)


def _probability(rules, dialect, k):
    """The probability of the k-th class."""
    held = _held(rules, dialect)
    if rules.decision == "points":
        return _sql_points.probability(rules, held, dialect, k)
    if not rules.is_list:
        return _mean(rules, held, dialect, k)
    shares = [dialect.literal(shares[k]) for shares in portable.outputs(rules)]
    return _chain(held, shares)


def _expression(rules, dialect):
    held = _held(rules, dialect)
    if rules.decision == "points":
        return _sql_points.answer(rules, held, dialect)
    if rules.is_list:
        answers = [dialect.literal(value) for value in portable.answers(rules)]
        return _chain(held, answers)
    if not rules.outcome.n_classes:
        return _mean(rules, held, dialect)
    return _mean_class(rules, held, dialect)


def _held(rules, dialect):
    """For each rule but the default a test that is true where it holds."""
    kinds = {j: portable.column_kind(rules, j) for j in portable.used_features(rules)}
    return [
        " AND ".join(dialect.condition(test, kinds[test.feature]) for test in tests)
        or "1 = 1"
        for tests in portable.column_tests(rules)[:-1]
    ]


def _chain(held, answers):
    if not held:
        return answers[-1]
    lines = [
        f"  WHEN {test} THEN {answer}"
        for test, answer in zip(held, answers[:-1], strict=True)
    ]
    return "\n".join(["CASE", *lines, f"  ELSE {answers[-1]}", "END"])


def _mean(rules, held, dialect, k=0):
    """Total of an output over weight, each added up in the order of `predict`."""
    products, weights = _summands(rules)
    total = _sum(held, products[k], dialect)
    weight = _sum(held, weights, dialect)
    if not portable.needs_default(rules):
        return f"({total} / {weight})"
    return (
        f"CASE WHEN {weight} > {dialect.literal(0.0)} THEN {total} / {weight} "
        f"ELSE {dialect.literal(portable.outputs(rules)[-1][k])} END"
    )


def _summands(rules):
    """For each output weight times value, rule by rule; and the weights."""
    weights = [float(rule.weight) for rule in rules]
    products = [
        [weight * value for weight, value in zip(weights, values, strict=True)]
        for values in zip(*portable.outputs(rules), strict=True)
    ]
    return products, weights


def _sum(held, values, dialect):
    zero = dialect.literal(0.0)
    *firsts, last = [dialect.literal(value) for value in values]
    terms = [
        f"CASE WHEN {test} THEN {value} ELSE {zero} END"
        for test, value in zip(held, firsts, strict=True)
    ]
    return "(\n  " + "\n  + ".join([*terms, last]) + "\n)"


def _mean_class(rules, held, dialect):
    """The class that follows from shares; without costs the first with the largest.

    Subqueries without a table of their own, so that each condition and each share is
    written down once; they see the columns of the row.
    """
    labels = [dialect.literal(label) for label in portable.class_labels(rules)]
    products, weights = _summands(rules)
    name = unused_names(rules, dialect)
    tests = [name("rule", k) for k in range(len(weights))]
    totals = [name("total", k) for k in range(len(labels))]
    shares = [name("share", k) for k in range(len(labels))]
    weight = name("weight")
    zero, one = dialect.literal(0.0), dialect.literal(1.0)
    flags = [
        f"CASE WHEN {test} THEN {one} ELSE {zero} END AS {column}"
        for test, column in zip([*held, "1 = 1"], tests, strict=True)
    ]
    sums = [
        f"{_scalar_product(tests, values, dialect)} AS {column}"
        for values, column in zip([*products, weights], [*totals, weight], strict=True)
    ]
    means = [
        f"CASE WHEN {weight} > {zero} THEN {total} / {weight} "
        f"ELSE {dialect.literal(default)} END AS {share}"
        for total, default, share in zip(
            totals, portable.outputs(rules)[-1], shares, strict=True
        )
    ]
    return (
        f"(\nSELECT {chosen_class(rules, shares, labels, dialect)}\n"
        f"FROM (SELECT\n  {listed_columns(means)}\n"
        f"FROM (SELECT\n  {listed_columns(sums)}\n"
        f"FROM (SELECT\n  {listed_columns(flags)}\n"
        f") AS {name('held')}) AS {name('sums')}) AS {name('shares')}\n)"
    )


def _scalar_product(columns, values, dialect):
    return " + ".join(
        f"{column} * {dialect.literal(value)}"
        for column, value in zip(columns, values, strict=True)
    )
