"""Each type of column predicts the same in each engine, in each form."""

import dataclasses
import datetime as dt
import functools
import math
import sqlite3
from decimal import Decimal

import numpy as np
import pytest

from defragtrees import DefragClassifier, Rule
from defragtrees.export import export
from defragtrees.export.sql import DIALECTS
from defragtrees.rules.models import MODELS
from defragtrees.tables import object_as_days
from tests.export import test_onnx
from tests.export.test_pmml import jpmml as jpmml
from tests.export.test_pmml import pmml4s as pmml4s

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
sqlglot = pytest.importorskip("sqlglot", reason="dialects are parsed by sqlglot")

UTC = dt.UTC
TOKYO = dt.timezone(dt.timedelta(hours=9))
MOMENT = dt.datetime(2020, 1, 30, 12, 30, 15, 250_000)

# Plain values of Python by the step of a row, which increase with it.
VALUES = {
    "real": lambda step: step * 0.3,
    "whole": lambda step: step,
    "decimal": lambda step: Decimal(step) / 10,
    "truth": lambda step: step >= 4,
    "text": lambda step: f"it's {'ABCDEFGHIJ'[step]}",
    "date": lambda step: dt.date(2020, 1, 29) + dt.timedelta(step),
    "moment": lambda step: MOMENT + step * dt.timedelta(hours=7),
    "zoned": lambda step: (MOMENT + step * dt.timedelta(hours=7)).astimezone(UTC),
    "clock": lambda step: dt.time(step * 2, 15),
    "wait": lambda step: step * dt.timedelta(hours=7, seconds=1),
}


def arrow(dtype):
    return pd.ArrowDtype(dtype)


def categories(kind, is_ordered=False):
    """From steps to a dtype of their categories, in the order of the steps."""

    def made(steps):
        known = [VALUES[kind](step) for step in steps]
        return pd.CategoricalDtype(list(dict.fromkeys(known)), ordered=is_ordered)

    return made


PANDAS = {
    "float64": ("real", "float64"),
    "Float64": ("real", "Float64"),
    "double[pyarrow]": ("real", arrow(pa.float64())),
    "int64": ("whole", "int64"),
    "Int64": ("whole", "Int64"),
    "int64[pyarrow]": ("whole", arrow(pa.int64())),
    "decimal": ("decimal", object),
    "decimal[pyarrow]": ("decimal", arrow(pa.decimal128(6, 2))),
    "bool": ("truth", "bool"),
    "bool objects": ("truth", object),
    "boolean": ("truth", "boolean"),
    "bool[pyarrow]": ("truth", arrow(pa.bool_())),
    "text objects": ("text", object),
    "string": ("text", "string"),
    "string[pyarrow]": ("text", arrow(pa.string())),
    "dictionary[pyarrow]": ("text", arrow(pa.dictionary(pa.int32(), pa.string()))),
    "category": ("text", categories("text")),
    "ordered category": ("text", categories("text", is_ordered=True)),
    "category of numbers": ("whole", categories("whole")),
    "category of booleans": ("truth", categories("truth")),
    "date objects": ("date", object),
    "date32[pyarrow]": ("date", arrow(pa.date32())),
    "datetime objects": ("moment", object),
    "datetime64[us]": ("moment", "datetime64[us]"),
    "datetime64[ns]": ("moment", "datetime64[ns]"),
    "timestamp[us][pyarrow]": ("moment", arrow(pa.timestamp("us"))),
    "datetime64[us, Asia/Tokyo]": ("zoned", "datetime64[us, Asia/Tokyo]"),
    "timestamp[us, UTC][pyarrow]": ("zoned", arrow(pa.timestamp("us", "UTC"))),
    "time objects": ("clock", object),
    "time64[us][pyarrow]": ("clock", arrow(pa.time64("us"))),
    "timedelta64[ns]": ("wait", "timedelta64[ns]"),
    "duration[us][pyarrow]": ("wait", arrow(pa.duration("us"))),
}
POLARS = {
    "polars Float64": ("real", pl.Float64),
    "polars Int64": ("whole", pl.Int64),
    "polars Boolean": ("truth", pl.Boolean),
    "polars String": ("text", pl.String),
    "polars Categorical": ("text", pl.Categorical),
    "polars Enum": ("text", pl.Enum([VALUES["text"](step) for step in range(10)])),
    "polars Date": ("date", pl.Date),
    "polars Datetime": ("moment", pl.Datetime("us")),
    "polars Datetime UTC": ("zoned", pl.Datetime("us", "UTC")),
    "polars Time": ("clock", pl.Time),
    "polars Duration": ("wait", pl.Duration("us")),
}
TYPES = PANDAS | POLARS
NEVER_MISSING = ("int64", "bool")


def make_frame(name, steps, b):
    """A frame with a column `a` of this type, and its values as those of Python."""
    kind, dtype = TYPES[name]
    if name in NEVER_MISSING:
        steps = [0 if step is None else step for step in steps]
    values = [None if step is None else VALUES[kind](step) for step in steps]
    if name in POLARS:
        return pl.DataFrame({"a": pl.Series(values, dtype=dtype), "b": b}), values
    if callable(dtype) and not isinstance(dtype, type):
        dtype = dtype([step for step in steps if step is not None])
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype), "b": b}), values


class Case:
    """Rules on a column of some type, and new rows for them."""

    def __init__(self, name):
        rng = np.random.default_rng(0)
        steps, b = np.sort(rng.integers(0, 8, 200)), rng.normal(size=200)
        is_late = (steps >= 4) ^ (b > 0.8)
        gone = rng.random(200) < 0.1
        holes = [None if k else int(s) for s, k in zip(steps, gone, strict=True)]
        frame, _ = make_frame(name, holes, b)
        model = DefragClassifier(max_rules=4, random_state=0)
        fitted = model.fit(frame, np.where(is_late, "late", "early")).rules_
        assert "a" in fitted.features
        self.forms = make_forms(fitted)
        # In another order, with steps that the fit has not seen.
        steps = [9, 3, 4, 8, None, *range(8)]
        bounds = [v for rule in fitted.rules for c in rule.conditions if c.feature == 1
                  for v in c.bounds if math.isfinite(v)]  # fmt: skip
        b = [-3.0, 0.0, 3.0, *bounds, None]
        pairs = [(step, value) for step in steps for value in b]
        self.kind = TYPES[name][0]
        self.frame, values = make_frame(name, *map(list, zip(*pairs, strict=True)))
        self.rows = [{"a": v, "b": b} for v, (_, b) in zip(values, pairs, strict=True)]


def make_forms(fitted):
    """Rules of each form with the conditions of a fitted list.

    Where the list accepts missing values, some of the others do not, and the reverse.
    """
    plain = [rule.conditions for rule in fitted.rules]
    flipped = [
        [dataclasses.replace(one, missing=not one.missing) for one in conditions]
        for conditions in plain
    ]
    columns = {
        "feature_names": fitted.feature_names,
        "categories": fitted.categories,
        "feature_kinds": fitted.feature_kinds,
    }

    def label(k, conditions, **more):
        late = (0.9, 0.35, 0.55, 0.2, 0.6)[k]
        prediction = "late" if late > 0.5 else "early"
        return Rule(tuple(conditions), prediction, (1 - late, late), **more)

    def number(k, conditions, **more):
        return Rule(tuple(conditions), 1.25 * k, **more)

    def make(form, write, conditions, more):
        classes = ("early", "late") if write is label else None
        task = "classification" if classes else "regression"
        rules = [write(k, one, **more(k)) for k, one in enumerate(conditions)]
        default = write(3, (), **more(3))
        return MODELS[form](
            tuple(rules), default, task=task, classes=classes, **columns
        )

    def weight(k):
        return {"weight": (0.3, 0.5, 0.4, 0.0)[k]}

    def points(k):
        return {"points": ((-3.0, 2.0, 5.0, -1.0)[k],)}

    return {
        "list": fitted,
        "list of numbers": make("list", number, flipped, lambda k: {}),
        "standalone": make("standalone", label, plain, weight),
        "standalone numbers": make("standalone", number, flipped, weight),
        "points": make("points", label, flipped, points),
        "points of numbers": make("points", number, plain, points),
    }


case_of = functools.cache(Case)


def in_sqlite(rules, case):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (number INTEGER, a, b REAL)")
    stored = [(k, as_stored(row["a"]), row["b"]) for k, row in enumerate(case.rows)]
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", stored)
    query = export(rules, "sql", dialect="sqlite", table="t")
    return predictions(connection, query)


def as_stored(value):
    """A value in SQLite, which has neither dates nor decimals."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.timedelta):
        return object_as_days(value)
    if isinstance(value, dt.datetime) and value.tzinfo:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    is_moment = isinstance(value, (dt.date, dt.time))
    return value.isoformat() if is_moment else value


def predictions(connection, query):
    cursor = connection.execute(f"{query} ORDER BY number")
    place = [column[0] for column in cursor.description].index("prediction")
    found = [row[place] for row in cursor.fetchall()]
    connection.close()
    return found


def in_duckdb(rules, case, dialect="duckdb"):
    frame = case.frame
    if hasattr(frame, "with_row_index"):
        frame = frame.with_row_index("number")
    else:
        frame = frame.assign(number=range(len(frame)))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.register("t", frame)
    query = export(rules, "sql", dialect=dialect, table="t")
    if dialect == "postgres":
        [query] = sqlglot.transpile(query, read="postgres", write="duckdb")
    # Times with a zone need another package when they are fetched.
    return predictions(connection, f"SELECT prediction FROM ({query})")


def in_python(rules, case):
    made = {}
    exec(export(rules, "python"), made)
    frame = case.frame
    cells = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    found = [made["predict"](row) for row in cells]
    assert [made["predict"](row) for row in case.rows] == found
    return found


def in_onnx(rules, case):
    model = export(rules, "onnx")
    feeds = {}
    for column in model.graph.input:
        values = [row[column.name] for row in case.rows]
        if column.type.tensor_type.elem_type == 8:  # text
            values = np.array(["" if v is None else v for v in values], dtype=object)
        else:
            values = [math.nan if v is None else object_as_days(v) for v in values]
            values = np.array(values, dtype=np.float64)
        feeds[column.name] = values[:, None]
    return test_onnx.session(model).run(None, feeds)[0].tolist()


SQL = {
    "sqlite": in_sqlite,
    "duckdb": in_duckdb,
    "ansi in duckdb": functools.partial(in_duckdb, dialect="ansi"),
    "postgres by sqlglot": functools.partial(in_duckdb, dialect="postgres"),
}
ENGINES = SQL | {"python": in_python, "onnx": in_onnx}
types = pytest.mark.parametrize("name", TYPES)


def check(run, case, forms):
    for form in forms:
        rules = case.forms[form]
        expected = rules.predict(case.frame).tolist()
        assert len(set(expected)) > 1, form
        assert run(rules, case) == expected, form


@types
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_predicts_the_same(engine, name):
    if name == "polars Time" and engine in ("ansi in duckdb", "postgres by sqlglot"):
        pytest.skip("DuckDB does not compare its TIME_NS with a TIME")
    case = case_of(name)
    check(ENGINES[engine], case, case.forms)


@types
@pytest.mark.parametrize("scorer", ["pmml4s", "jpmml"])
def test_pmml_predicts_the_same(request, scorer, name):
    case, score = case_of(name), request.getfixturevalue(scorer)
    if scorer == "pmml4s" and case.kind in ("date", "moment", "zoned", "clock"):
        pytest.skip("PMML4S does not compare dates and times")

    def run(rules, case):
        rows = [{"a": pmml_value(row["a"]), "b": row["b"]} for row in case.rows]
        return [one["prediction"] for one in score(export(rules, "pmml"), rows)]

    check(run, case, ["list", "points", "points of numbers"])
    for form in ("list of numbers", "standalone", "standalone numbers"):
        with pytest.raises(ValueError, match="PMML needs"):
            export(case.forms[form], "pmml")


def pmml_value(value):
    """A number, a boolean or a text; a duration as a number of days."""
    if isinstance(value, dt.timedelta):
        return object_as_days(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.datetime) and value.tzinfo:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value


@types
def test_each_dialect_is_parsed(name):
    for dialect in DIALECTS:
        read = {"ansi": None, "sqlserver": "tsql"}.get(dialect, dialect)
        for form, reasons in {"list": 0, "points": 2}.items():
            rules = case_of(name).forms[form]
            query = export(rules, "sql", dialect=dialect, table="t", reasons=reasons)
            [parsed] = sqlglot.parse(query, read, error_level=sqlglot.ErrorLevel.RAISE)
            assert parsed.named_selects[:2] == ["*", "prediction"]
