"""SQL answers as the rules do, in DuckDB and in SQLite."""

import math
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings

from defragtrees import Condition, Rule, RuleEnsemble, RuleList
from defragtrees.export import export
from tests.export import cases

duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
pyarrow = pytest.importorskip("pyarrow", reason="DuckDB reads a table of pyarrow")

TYPES = {float: "DOUBLE", str: "VARCHAR", int: "INTEGER", bool: "BOOLEAN"}


def column_types(rules):
    return [float if known is None else type(known[0]) for known in rules.categories]


def run_in_sqlite(rules, rows, dialect="sqlite", **options):
    connection = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in rules.feature_names]
    kinds = [TYPES[kind] for kind in column_types(rules)]
    columns = ", ".join(
        f"{name} {kind}" for name, kind in zip(quoted, kinds, strict=True)
    )
    connection.execute(f"CREATE TABLE customers (number INTEGER, {columns})")
    marks = ", ".join("?" * (len(quoted) + 1))
    connection.executemany(
        f"INSERT INTO customers VALUES ({marks})",
        [(number, *row) for number, row in enumerate(rows)],
    )
    options = {"probabilities": False, **options}
    query = export(rules, "sql", dialect=dialect, table="customers", **options)
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    connection.close()
    return added_columns(rules, found)


def added_columns(rules, found):
    """What the query adds to the number and the features: one column, or a table."""
    rows = [row[1 + len(rules.feature_names) :] for row in found]
    return rows if len(rows[0]) > 1 else [value for (value,) in rows]


def run_in_duckdb(rules, rows, missing=None, **options):
    """Answers where a missing number is NULL, or NaN."""
    types = {
        float: pyarrow.float64(),
        str: pyarrow.string(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
    }
    columns = {"number": pyarrow.array(range(len(rows)))}
    for j, kind in enumerate(column_types(rules)):
        values = [row[j] for row in rows]
        if kind is float:
            values = [missing if value is None else value for value in values]
        columns[rules.feature_names[j]] = pyarrow.array(values, types[kind])
    connection = duckdb.connect()
    connection.register("customers", pyarrow.table(columns))
    options = {"probabilities": False, **options}
    query = export(rules, "sql", table="customers", **options)
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    connection.close()
    return added_columns(rules, found)


@pytest.mark.parametrize("form", ["list", "tree", "average", "standalone"])
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_both_engines_agree_on_a_thousand_rows(form, task, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS.get(kind))
    rows = cases.make_rows(rng)
    expected = rules.predict(cases.array(rows)).tolist()
    assert len(set(expected)) > 1
    assert run_in_sqlite(rules, rows) == expected
    assert run_in_duckdb(rules, rows) == expected
    assert run_in_duckdb(rules, rows, missing=math.nan) == expected


@pytest.mark.parametrize("form", ["list", "tree", "average", "standalone"])
@pytest.mark.parametrize("kind", cases.LABELS)
def test_both_engines_tell_the_same_probabilities(form, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS[kind])
    rows = cases.make_rows(rng)
    X = cases.array(rows)
    answers, told = rules.predict(X).tolist(), rules.predict_proba(X).tolist()
    expected = [(answer, *row) for answer, row in zip(answers, told, strict=True)]
    assert run_in_sqlite(rules, rows, probabilities=True) == expected
    assert run_in_duckdb(rules, rows, probabilities=True) == expected
    only = {"probability_of": cases.LABELS[kind][1]}
    assert run_in_sqlite(rules, rows, **only) == [row[1] for row in told]


@given(cases.rules_and_rows())
@settings(max_examples=40)
def test_both_engines_agree_on_any_rules(made):
    rules, rows = made
    expected = rules.predict(cases.array(rows)).tolist()
    assert run_in_sqlite(rules, rows) == expected
    assert run_in_duckdb(rules, rows) == expected
    assert run_in_duckdb(rules, rows, missing=math.nan) == expected


@pytest.mark.parametrize("labels", [None, ("a", "b")])
def test_a_default_without_weight_answers_alone(labels):
    rules, rows = cases.waiting_default(labels), cases.WAITING_ROWS
    expected = ["a", "b", "b"] if labels else [1.5, 7.0, 7.0]
    assert run_in_sqlite(rules, rows) == run_in_duckdb(rules, rows) == expected
    if labels:
        found = run_in_duckdb(rules, rows, probability_of="b")
        assert found == run_in_sqlite(rules, rows, probability_of="b")
        assert found == [0.25, 0.625, 0.625]


def small_rules(**options):
    cold = Rule((Condition(0, upper=20.0, **options),), "it's")
    return RuleList(
        (cold,), Rule((), "a\\b"), ("degrees",), "classification", ("a\\b", "it's")
    )


@pytest.mark.parametrize(
    ("dialect", "first", "last"),
    [
        ("ansi", "\"degrees\" <= 20e0 THEN 'it''s'", "ELSE 'a\\b'"),
        ("sqlite", "`degrees` <= 20.0 THEN 'it''s'", "ELSE 'a\\b'"),
        ("mysql", "`degrees` <= 20e0 THEN 'it''s'", "ELSE 'a\\\\b'"),
        ("sqlserver", "[degrees] <= 20e0 THEN N'it''s'", "ELSE N'a\\b'"),
    ],
)
def test_each_dialect_writes_names_and_texts_in_its_own_way(dialect, first, last):
    text = export(small_rules(), "sql", dialect=dialect)
    assert text == f"CASE\n  WHEN {first}\n  {last}\nEND\n"


@pytest.mark.parametrize(
    ("dialect", "quoted"),
    [
        ("ansi", '"a""b`c]d"'),
        ("sqlite", '`a"b``c]d`'),
        ("mysql", '`a"b``c]d`'),
        ("sqlserver", '[a"b`c]]d]'),
    ],
)
def test_a_quote_inside_a_name_is_doubled(dialect, quoted):
    rules = RuleList(
        (Rule((Condition(0, upper=1.0),), 1.0),),
        Rule((), 0.0),
        ('a"b`c]d',),
        "regression",
    )
    assert f"WHEN {quoted} <=" in export(rules, "sql", dialect=dialect)


def test_a_missing_value_is_asked_for_only_where_it_is_accepted():
    text = export(small_rules(missing=True), "sql", dialect="mysql")
    assert "WHEN (`degrees` <= 20e0 OR `degrees` IS NULL) THEN" in text
    text = export(small_rules(missing=True), "sql")
    assert '"degrees" IS NULL OR NOT ("degrees" - "degrees" = 0)' in text


def test_the_other_dialects_run_where_sqlite_knows_their_quotes():
    rng = np.random.default_rng(1)
    rules = cases.make_rules(rng, "list", cases.LABELS["integer"], n_features=2)
    rows = [
        [None if value is None else round(value, 1) for value in row]
        for row in cases.make_rows(rng, 300, n_features=2)
    ]
    expected = rules.predict(cases.array(rows)).tolist()
    for dialect in ("ansi", "mysql", "sqlserver"):
        assert run_in_sqlite(rules, rows, dialect) == expected


def test_a_column_that_sqlite_does_not_know_is_an_error_and_no_text():
    query = export(small_rules(), "sql", dialect="sqlite", table="customers")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE customers (kelvin REAL)")
    with pytest.raises(sqlite3.OperationalError, match="degrees"):
        connection.execute(query)
    connection.close()


@pytest.mark.parametrize(
    "value",
    [0.002877, 0.011227, 0.1, 5e-324, 1.7976931348623157e308, 1e22, -2.5, 2**60],
)
def test_sqlite_reads_the_very_same_double(value):
    rules = RuleList((), Rule((), value), ("a",), "regression")
    connection = sqlite3.connect(":memory:")
    query = export(rules, "sql", dialect="sqlite")
    assert connection.execute(f"SELECT {query}").fetchone() == (float(value),)
    connection.close()


def test_a_select_names_its_table_and_its_column():
    rules = RuleList((), Rule((), 2.0), ("a",), "regression")
    text = export(rules, "sql", table=("shop", 'my "sales"'), column="answer")
    assert text == 'SELECT *, 2e0 AS "answer"\nFROM "shop"."my ""sales"""\n'


def test_features_called_like_inner_columns_are_told_apart():
    rng = np.random.default_rng(2)
    rules = cases.make_rules(rng, "average", ("a", "b", "c"), n_features=2)
    odd = RuleEnsemble(
        rules.rules,
        rules.default,
        ("Rule_1", "share_2"),
        rules.task,
        rules.classes,
    )
    rows = cases.make_rows(rng, 200, n_features=2)
    expected = odd.predict(cases.array(rows)).tolist()
    assert run_in_duckdb(odd, rows) == run_in_sqlite(odd, rows) == expected


def test_probabilities_are_columns_of_a_table_or_one_expression():
    rule = Rule((), "b", (0.25, 0.75))
    rules = RuleList((), rule, ("t",), "classification", ("a", "b"))
    assert export(rules, "sql", table="T", probabilities=True) == (
        'SELECT *, \'b\' AS "prediction", 0.25e0 AS "probability a", '
        '0.75e0 AS "probability b"\nFROM "T"\n'
    )
    assert export(rules, "sql", probability_of="b") == "0.75e0\n"
    # By default a list has the one that people ask for.
    assert export(rules, "sql", table="T") == (
        'SELECT *, \'b\' AS "prediction", 0.75e0 AS "probability b"\nFROM "T"\n'
    )
    none = export(rules, "sql", table="T", probabilities=False)
    assert none == 'SELECT *, \'b\' AS "prediction"\nFROM "T"\n'
    # Without a table these are columns to select, unless there is only one.
    columns = '\'b\' AS "prediction", 0.75e0 AS "probability b"\n'
    assert export(rules, "sql") == columns
    assert export(rules, "sql", probabilities=False) == "'b'\n"
    mean = RuleEnsemble((), rule, ("t",), "classification", ("a", "b"))
    assert "AS" not in export(mean, "sql").splitlines()[0]
    assert export(rules, "sql", probabilities=True) == columns.replace(
        ", ", ', 0.25e0 AS "probability a", '
    )
    with pytest.raises(ValueError, match=r"one of the classes \['a', 'b'\]; got 'c'"):
        export(rules, "sql", probability_of="c")
    number = RuleList((), Rule((), 2.0), ("t",), "regression")
    with pytest.raises(ValueError, match="Probabilities need rules for classes"):
        export(number, "sql", table="T", probabilities=True)


def test_what_sql_cannot_say_is_refused():
    mixed = RuleList(
        (Rule((Condition(0, categories=(0,)),), 1.0),),
        Rule((), 0.0),
        ("a",),
        "regression",
        categories=((1, "one"),),
    )
    with pytest.raises(ValueError, match="values of one kind"):
        export(mixed, "sql")
    with pytest.raises(ValueError, match="dialect must be one of ansi, bigquery"):
        export(small_rules(), "sql", dialect="oracle")
    nul = RuleList((), Rule((), "a\0b"), ("a",), "classification", ("a\0b",))
    with pytest.raises(ValueError, match="NUL"):
        export(nul, "sql")


@pytest.mark.parametrize("form", ["list", "standalone"])
def test_named_dialects_agree_in_duckdb(form):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS["text"])
    rows = cases.make_rows(rng)
    expected = rules.predict(cases.array(rows)).tolist()
    for dialect in ("duckdb", "postgres"):
        found = run_in_duckdb(rules, rows, math.nan, dialect=dialect)
        assert found == expected
    found = run_in_duckdb(rules, rows, dialect="duckdb", assume_no_nan=True)
    assert found == expected


def test_without_nan_there_is_no_noise():
    above = Rule((Condition(0, lower=20.0),), "it's", (0.5, 0.5))
    odd = Rule((Condition(1, upper=2.0, missing=True),), "b", (0.5, 0.5))
    rules = RuleList((above, odd), Rule((), "b", (0.5, 0.5)), ("age", "a`b"),
                    "classification", ("it's", "b"))  # fmt: skip
    for dialect in ("ansi", "bigquery", "duckdb", "postgres", "snowflake"):
        text = export(rules, "sql", dialect=dialect, assume_no_nan=True)
        assert " - " not in text
        assert "nan" not in text.lower()
        assert "e+308" not in export(rules, "sql", dialect=dialect)
    name = "`a\\`b`"
    is_missing = f"{name} IS NULL OR NOT (NOT IS_NAN({name}))"
    assert export(rules, "sql", dialect="bigquery", probabilities=False) == (
        "CASE\n"
        "  WHEN `age` > 20e0 THEN 'it\\'s'\n"
        f"  WHEN ({name} <= 2e0 OR {is_missing}) THEN 'b'\n"
        "  ELSE 'b'\n"
        "END\n"
    )
    text = export(rules, "sql", dialect="snowflake")
    assert """WHEN "age" > 20e0 AND "age" - "age" = 0 THEN 'it''s'""" in text
