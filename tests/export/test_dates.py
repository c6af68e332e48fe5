"""Rules on dates and times predict elsewhere what they predict here."""

import datetime as dt
import math
import sqlite3
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees import Condition, DefragClassifier, Rule, RuleList
from defragtrees.export import export
from defragtrees.export.sql import DIALECTS
from defragtrees.tables import as_days
from tests.export import test_onnx

pd = pytest.importorskip("pandas")
MICROSECONDS = 86_400_000_000
NAMES = ("opened", "seen", "clock", "waited")
KINDS = ("date", "datetime", "time", "duration")
DAY = 18_774.0  # 2021-05-27
MOMENT = DAY + (12 * 3600 + 30 * 60 + 15.25) / 86_400
FEW = DAY + 1 / 3  # 08:00, which no double is exactly
MISSING = {"missing": True}


def make_rules(*conditions):
    """A rule for each condition; how many other conditions are true does not matter."""
    rules = [Rule((condition,), float(k)) for k, condition in enumerate(conditions)]
    return RuleList(
        tuple(rules),
        Rule((), -1.0),
        NAMES,
        "regression",
        feature_kinds=KINDS,
    )


RULES = [
    make_rules(Condition(0, upper=DAY)),
    make_rules(Condition(0, upper=math.nextafter(DAY, 0))),
    make_rules(Condition(0, lower=DAY - 1, is_integer=True)),
    make_rules(Condition(0, DAY - 1, DAY, is_integer=True), Condition(0, upper=DAY)),
    make_rules(Condition(0, upper=DAY + 0.5, **MISSING), Condition(1, lower=MOMENT)),
    make_rules(Condition(1, MOMENT - 1, MOMENT), Condition(1, upper=FEW, **MISSING)),
    make_rules(Condition(1, math.nextafter(MOMENT, 0), MOMENT)),
    make_rules(Condition(1, lower=math.nextafter(FEW, 0)), Condition(1, upper=-1e7)),
    make_rules(Condition(1, lower=DAY), Condition(1, upper=1e7)),
    make_rules(Condition(2, upper=0.25), Condition(2, lower=0.7)),
    make_rules(Condition(2, lower=1.5), Condition(2, -0.5, 0.5, **MISSING)),
    make_rules(Condition(3, upper=0.5), Condition(3, lower=1.125, **MISSING)),
    make_rules(Condition(3, -0.7, 1 / 3), Condition(3, lower=1e4)),
    make_rules(Condition(3, lower=1e300), Condition(3, -1e300, 0.5)),
    make_rules(Condition(0, lower=math.inf, **MISSING), Condition(1, **MISSING)),
]


def make_frame(rules=None):
    """Moments on and beside each bound and of other times of day; some are missing."""
    rng = np.random.default_rng(0)
    bounds = {
        j: [
            bound
            for rule in (rules or ())
            for c in rule.conditions
            for bound in (c.lower, c.upper)
            if c.feature == j and abs(bound) < 1e8
        ]
        for j in range(4)
    }
    usual = {0: DAY, 1: MOMENT, 2: 0.25, 3: 0.5}
    columns = {}
    for j, name in enumerate(NAMES):
        low, high = (0, MICROSECONDS - 1) if j == 2 else (-(10**17), 10**17)
        near = [
            round(days * MICROSECONDS) + step
            for days in [usual[j], *bounds[j]]
            for step in (
                -MICROSECONDS,
                -1,
                0,
                1,
                10**6,
                MICROSECONDS // 3,
                MICROSECONDS,
            )
        ]
        near = [moment for moment in near if low <= moment <= high]
        moments = rng.choice(near, 120)
        moments[::7] -= moments[::7] % MICROSECONDS
        missing = rng.random(120) < 0.15
        unit = "m8[us]" if j > 1 else "M8[us]"
        columns[name] = pd.Series(moments.astype(unit)).mask(missing)
    frame = pd.DataFrame(columns)
    midnight = dt.datetime(1970, 1, 1)
    frame["clock"] = pd.Series(
        [None if pd.isna(t) else (midnight + t).time() for t in frame["clock"]],
        dtype=object,
    )
    return frame


def expected_of(rules, frame):
    expected = rules.predict(frame).tolist()
    assert len(set(expected)) > 1
    return expected


def run_in_duckdb(rules, frame, dialect="duckdb", opened="TIMESTAMP"):
    duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
    connection = duckdb.connect()
    types = f"number INT, opened {opened}, seen TIMESTAMP, clock TIME, waited INTERVAL"
    connection.execute(f"CREATE TABLE visits ({types})")
    rows = list(plain_rows(frame))
    marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
    values = [value for row in rows for value in row]
    connection.execute(f"INSERT INTO visits VALUES {marks}", values)
    query = export(rules, "sql", dialect=dialect, table="visits")
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    connection.close()
    return [row[-1] for row in found]


def plain_rows(frame):
    """Rows of Python's own dates, with a number first; None is missing."""
    for k, row in enumerate(frame.itertuples(index=False)):
        yield (k, *(None if pd.isna(value) else plain(value) for value in row))


def plain(value):
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return value.to_pytimedelta() if isinstance(value, pd.Timedelta) else value


def iso(value, write):
    """As text; a duration as a number of days, which is what SQLite has."""
    if value is None:
        return None
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(days=1)
    return write(value)


def shortest(value):
    """The shortest text in ISO format: without seconds, or without a clock."""
    text = value.isoformat()
    text = text.rstrip("0") if "." in text else text
    if isinstance(value, dt.datetime):
        text = text.removesuffix("T00:00:00")
    return text.removesuffix(":00") if text.count(":") == 2 else text


TEXTS = {
    "T": lambda value: value.isoformat(),
    "space": lambda value: str(value),
    "six digits": lambda value: value.isoformat(timespec="microseconds"),
    "nine digits": lambda value: value.isoformat(timespec="microseconds") + "000",
    "Z": lambda value: value.isoformat(timespec="microseconds") + "Z",
    "short Z": lambda value: value.isoformat() + "Z",
    "zone": lambda value: value.isoformat() + "+02:00",
    "shortest": shortest,
}


def run_in_sqlite(rules, frame, write=str):
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE visits (number INT, opened DATE, seen TIMESTAMP, clock, waited)"
    )
    rows = [(k, *(iso(value, write) for value in row)) for k, *row in plain_rows(frame)]
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", rows)
    query = export(rules, "sql", dialect="sqlite", table="visits")
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    connection.close()
    return [row[-1] for row in found]


def run_in_python(rules, rows):
    made = {}
    exec(export(rules, "python"), made)
    return [made["predict"](dict(zip(NAMES, row, strict=True))) for row in rows]


@pytest.mark.parametrize("k", range(len(RULES)))
def test_every_engine_predicts_the_same(k):
    rules = RULES[k]
    frame = make_frame(rules)
    expected = expected_of(rules, frame)
    for dialect in ("ansi", "duckdb", "postgres"):
        assert run_in_duckdb(rules, frame, dialect) == expected
    for write in TEXTS.values():
        assert run_in_sqlite(rules, frame, write) == expected
    rows = [row for _, *row in plain_rows(frame)]
    assert run_in_python(rules, rows) == expected
    assert run_in_python(rules, frame.to_numpy(object).tolist()) == expected
    texts = [
        [v if isinstance(v, dt.timedelta) else v and v.isoformat() for v in row]
        for row in rows
    ]
    assert run_in_python(rules, texts) == expected


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_bound_means_the_same_microseconds(data):
    feature = data.draw(st.sampled_from([0, 1]))
    days = st.one_of(st.floats(-60_000, 60_000), st.integers(-20_000, 30_000))
    lower, upper = sorted(float(data.draw(days)) for _ in range(2))
    condition = Condition(
        feature,
        data.draw(st.sampled_from([lower, -math.inf])),
        data.draw(st.sampled_from([upper, math.inf])),
        missing=data.draw(st.booleans()),
        is_integer=lower == int(lower) and data.draw(st.booleans()),
    )
    rules = make_rules(condition)
    frame = make_frame(rules)
    expected = rules.predict(frame).tolist()
    assert run_in_duckdb(rules, frame) == expected
    assert run_in_sqlite(rules, frame) == expected
    assert run_in_python(rules, frame.to_numpy(object).tolist()) == expected


def test_columns_of_dates_are_compared_too():
    for rules in RULES[:4]:  # on the first column only
        frame = make_frame(rules)
        frame["opened"] = frame["opened"].dt.floor("D")
        expected = expected_of(rules, frame)
        assert run_in_duckdb(rules, frame, opened="DATE") == expected
        assert run_in_duckdb(rules, frame, opened="TIMESTAMP_NS") == expected
        assert run_in_sqlite(rules, frame, lambda v: str(v).split(" ")[0]) == expected
        rows = [row for _, *row in plain_rows(frame)]
        dates = [[row[0] and row[0].date(), *row[1:]] for row in rows]
        assert run_in_python(rules, dates) == expected


def test_python_takes_dates_of_any_library():
    rules = make_rules(Condition(0, upper=DAY), Condition(3, lower=0.5))
    made = {}
    exec(export(rules, "python"), made)

    def predict(opened, waited=None):
        return made["predict"](dict(zip(NAMES, (opened, None, None, waited))))  # noqa: B905

    early = [
        dt.date(2021, 5, 27),
        np.datetime64("2021-05-27"),
        np.datetime64("2021-05-27T00:00:00.000000000"),
        "2021-05-27",
        DAY,
        18_000,
    ]
    assert [predict(value) for value in early] == [0.0] * len(early)
    late = [pd.Timestamp("2021-05-27 00:00:01"), "2021-05-27 00:00:01", DAY + 0.1]
    late += [None, math.nan, pd.NaT, pd.NA, np.datetime64("NaT")]
    assert [predict(value) for value in late] == [-1.0] * len(late)
    long = [pd.Timedelta("13h"), np.timedelta64(13, "h"), dt.timedelta(1), 0.6, "0.6"]
    assert [predict(None, value) for value in long] == [1.0] * len(long)
    with pytest.raises(ValueError, match="27 May"):
        predict("27 May")
    for value in (pd.Timestamp("2021-05-27", tz="Asia/Tokyo"), "2021-05-27T00:00:00Z"):
        with pytest.raises(ValueError, match="A time without a time zone is needed"):
            predict(value)


def test_times_with_a_zone_are_compared_in_utc():
    duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
    early, kinds = Rule((Condition(0, upper=DAY + 0.5),), 1), ("datetime UTC",)
    rules = RuleList(
        (early,), Rule((), 0), ("a",), "classification", (0, 1), feature_kinds=kinds
    )
    border = pd.Timestamp("2021-05-27 12:00", tz="UTC")
    moments = [border + pd.Timedelta(k, "us") for k in (-1, 0, 1)]
    frame = pd.DataFrame({"a": moments})
    expected = [1, 1, 0]
    assert rules.predict(frame).tolist() == expected
    made = {}
    exec(export(rules, "python"), made)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.execute("CREATE TABLE t (k INT, a TIMESTAMP WITH TIME ZONE)")
    for zone in ("UTC", "Asia/Tokyo", "-03:30"):
        there = frame["a"].dt.tz_convert(zone)
        assert rules.predict(there.to_frame()).tolist() == expected
        assert [made["predict"]({"a": t}) for t in there] == expected
        assert [made["predict"]({"a": t.isoformat()}) for t in there] == expected
        connection.execute("DELETE FROM t")
        rows = [(k, t.isoformat()) for k, t in enumerate(there)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        for dialect in ("ansi", "duckdb", "postgres"):
            query = export(rules, "sql", dialect=dialect, table="t")
            query = f"SELECT * EXCLUDE (a) FROM ({query}) ORDER BY k"
            found = connection.execute(query).fetchall()
            assert [row[-1] for row in found] == expected
    connection.close()
    for value in (dt.datetime(2021, 5, 27), dt.date(2021, 5, 27), "2021-05-27"):
        with pytest.raises(ValueError, match="A time with a time zone is needed"):
            made["predict"]({"a": value})
    texts = {
        "bigquery": "'2021-05-27 12:00:00+00:00'",
        "mysql": "TIMESTAMP '2021-05-27 12:00:00+00:00'",
        "snowflake": "TO_TIMESTAMP_TZ('2021-05-27 12:00:00+00:00')",
        "sqlite": "'2021-05-27 12:00:00.000000000'",
        "sqlserver": "CAST('2021-05-27 12:00:00+00:00' AS datetimeoffset)",
    }
    for dialect, text in texts.items():
        assert f"<= {text}" in export(rules, "sql", dialect=dialect)
    assert 'dataType="dateTime"' in export(rules, "pmml")
    assert 'value="2021-05-27T12:00:00"' in export(rules, "pmml")


@pytest.fixture(scope="module")
def accounts():
    """Rules that are fitted to dates."""
    rng = np.random.default_rng(0)
    start = np.datetime64("2020-01-01")
    frame = pd.DataFrame(
        {
            "opened": start + rng.integers(0, 1000, 400).astype("m8[D]"),
            "seen": start + rng.integers(0, 80_000_000, 400).astype("m8[s]"),
        }
    )
    is_late = (frame["opened"] >= "2021-05-27") ^ (frame["seen"] >= "2021-09-01 13:20")
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    model = DefragClassifier(max_rules=6, random_state=0)
    return model.fit(frame, np.where(is_late, "late", "early")).rules_, frame


def test_fitted_rules_predict_the_same_in_databases(accounts):
    duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
    rules, frame = accounts
    assert rules.features == ("opened", "seen")
    expected = rules.predict(frame).tolist()
    connection = duckdb.connect()
    connection.register("accounts", frame.assign(number=range(len(frame))))
    settings = {"dialect": "duckdb", "probabilities": False}
    query = export(rules, "sql", table="accounts", **settings)
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    assert [row[-1] for row in found] == expected
    connection.close()
    connection = sqlite3.connect(":memory:")
    frame.assign(number=range(len(frame))).to_sql("accounts", connection)
    settings = {"dialect": "sqlite", "probabilities": False}
    query = export(rules, "sql", table="accounts", **settings)
    found = connection.execute(f"{query} ORDER BY number").fetchall()
    assert [row[-1] for row in found] == expected
    connection.close()


def test_onnx_takes_days_and_says_so(accounts):
    rules, frame = accounts
    model = export(rules, "onnx")
    notes = {column.name: column.doc_string for column in model.graph.input}
    assert notes == dict.fromkeys(frame, "days since 1970-01-01")
    days = {name: as_days(frame[name])[:, None] for name in frame}
    [labels, *_] = test_onnx.session(model).run(None, days)
    assert labels.tolist() == rules.predict(frame).tolist()
    single = export(rules, "onnx", single_input=True).graph.input[0].doc_string
    assert single == "opened: days since 1970-01-01; seen: days since 1970-01-01"


SIDE = {
    "ansi": "\"{}\" <= DATE '2021-05-27'",
    "bigquery": "`{}` <= '2021-05-27'",
    "duckdb": "\"{}\" <= DATE '2021-05-27'",
    "mysql": "`{}` <= DATE '2021-05-27'",
    "postgres": "\"{}\" <= DATE '2021-05-27'",
    "snowflake": "\"{}\" <= DATE '2021-05-27'",
    "sqlite": "rtrim(replace(`{}`, 'T', ' '), 'Z') <= '2021-05-27 00:00:00.000000000'",
    "sqlserver": "[{}] <= CAST('2021-05-27' AS date)",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_writes_dates_in_its_own_way(dialect):
    for feature in (0, 1):
        rules = make_rules(Condition(feature, upper=DAY))
        text = export(rules, "sql", dialect=dialect, comments=False)
        side = SIDE[dialect].format(NAMES[feature])
        assert text == export(rules, "sql", dialect=dialect).split("\n", 2)[2]
        assert f"WHEN {side} THEN" in text


def test_times_and_durations_have_literals_where_the_engine_has_types():
    rules = make_rules(
        Condition(1, lower=MOMENT), Condition(2, upper=0.25), Condition(3, upper=0.5)
    )
    text = export(rules, "sql")
    assert "\"seen\" > TIMESTAMP '2021-05-27 12:30:15.250000'" in text
    assert "\"clock\" <= TIME '06:00:00'" in text
    assert "\"waited\" <= INTERVAL '43200' SECOND" in text
    text = export(rules, "sql", dialect="mysql")
    assert "`seen` > TIMESTAMP '2021-05-27 12:30:15.250000'" in text
    assert "`waited` <= 0.5e0" in text
    text = export(rules, "sql", dialect="sqlserver")
    assert "[seen] > CAST('2021-05-27 12:30:15.250000' AS datetime2)" in text
    assert "[clock] <= CAST('06:00:00' AS time)" in text


def pmml_of(*conditions):
    made = [Rule((condition,), "yes") for condition in conditions]
    rules = RuleList(tuple(made), Rule((), "no"), NAMES, "classification",
                    ("no", "yes"), feature_kinds=KINDS)  # fmt: skip
    root = ElementTree.fromstring(export(rules, "pmml"))
    fields = {e.get("name"): e.get("dataType") for e in root.iter() if e.get("optype")}
    sides = [
        (e.get("field"), e.get("operator"), e.get("value"))
        for e in root.iter()
        if e.tag.endswith("SimplePredicate")
    ]
    return fields, sides


def test_pmml_has_fields_of_dates_and_times():
    fields, sides = pmml_of(
        Condition(0, upper=DAY),
        Condition(1, lower=DAY, **MISSING),
        Condition(1, upper=MOMENT),
        Condition(2, upper=0.25),
        Condition(3, upper=0.5),
    )
    types = [fields[name] for name in NAMES]
    assert types == ["date", "dateTime", "time", "double"]
    assert sides == [
        ("opened", "lessOrEqual", "2021-05-27"),
        ("seen", "greaterThan", "2021-05-27T00:00:00"),
        ("seen", "isMissing", None),
        ("seen", "lessOrEqual", "2021-05-27T00:00:00"),
        ("clock", "lessOrEqual", "06:00:00"),
        ("waited", "lessOrEqual", "0.5"),
    ]
    fields, sides = pmml_of(Condition(0, upper=DAY + 0.5), Condition(0, lower=DAY + 1))
    assert fields["opened"] == "dateTime"
    assert [value for *_, value in sides] == [
        "2021-05-27T12:00:00",
        "2021-05-28T00:00:00",
    ]


def test_a_label_says_that_the_column_itself_has_days():
    rules = make_rules(Condition(0, upper=DAY)).relabel({"opened": "Opened [date]"})
    assert "`opened` <= 18774.0" in export(rules, "sql", dialect="sqlite")
    assert "datetime" in export(rules, "python")
