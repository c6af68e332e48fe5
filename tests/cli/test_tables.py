"""Tables in and out: standard input, how CSV is written, JSON lines, Parquet."""

import datetime as dt
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import defragtrees
from defragtrees import Condition, Rule, RuleList, Scorecard
from defragtrees.cli._interrupts import Terminated
from defragtrees.cli.data import _parts
from defragtrees.datasets import load_table
from defragtrees.export import FORMATS
from tests.cli.conftest import PATIENCE

CARD = Scorecard(
    (
        Rule((Condition(0, upper=50.5),), "yes", (0.5, 0.5), points=(3.0,)),
        Rule((Condition(1, lower=2.25),), "yes", (0.5, 0.5), points=(-2.0,)),
        Rule((Condition(2, categories=(1,)),), "yes", (0.5, 0.5), points=(1.0,)),
    ),
    Rule((), "no", (0.5, 0.5), points=(-1.0,)),
    ("income", "tenure", "region"),
    "classification",
    ("no", "yes"),
    (None, None, ("north", "south")),
    unit=0.5,
)
LIST = RuleList(
    (Rule((Condition(0, upper=19_800.0),), 2),),
    Rule((), 1),
    ("opened",),
    "classification",
    (1, 2),
    feature_kinds=("date",),
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "income": rng.normal(50, 10, n).round(2),
            "tenure": rng.exponential(3, n).round(3),
            "region": rng.choice(["north", "south", "west"], n),
            "opened": pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(n), "D"),
            "seen": pd.Timestamp("2024-03-01 12:30") + pd.to_timedelta(range(n), "h"),
        }
    )
    frame.loc[::17, "tenure"] = np.nan
    return frame


@pytest.fixture
def card(tmp_path):
    path = tmp_path / "card.json"
    CARD.save(path)
    return path


@pytest.fixture
def data(table, tmp_path):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False)
    return path


def expected(table, **options):
    return CARD.predict_frame(table[list(CARD.feature_names)], **options)


def same(found, wanted):
    """Compare text, whose missing values read as such, with a frame."""
    pd.testing.assert_frame_equal(
        found.astype(object).where(found.notna(), None),
        wanted.astype(object).where(wanted.notna(), None),
        check_dtype=False,
    )


# Scorecards


@pytest.mark.parametrize("best", ["high", "low"])
def test_a_scorecard_has_the_columns_of_python_and_sql(call, card, table, data, best):
    options = ["--reasons", 2, "--best", best]
    done = call("predict", card, data, *options)
    assert done.code == 0, done.err
    found = pd.read_csv(io.StringIO(done.out))
    wanted = expected(table, reasons=2, best=best)
    assert list(wanted) == [
        *("prediction", "score", "probability yes", "reason 1", "reason 2")
    ]
    same(found, wanted)
    sql = ["--format", "sql", "--dialect", "duckdb", "--table", "people"]
    done = call("export", card, *sql, *options)
    assert done.code == 0, done.err
    with duckdb.connect() as engine:
        engine.register("people", table)
        rows = engine.sql(done.out).df()[list(found)]
    rows["probability yes"] = rows["probability yes"].round(12)
    same(rows, wanted.assign(**{"probability yes": wanted.iloc[:, 2].round(12)}))


def test_probabilities_of_all_classes(call, card, table, data):
    done = call("predict", card, data, "--probabilities")
    same(pd.read_csv(io.StringIO(done.out)), expected(table, probabilities=True))


def test_reasons_need_a_scorecard(refused, data, tmp_path):
    LIST.save(tmp_path / "list.json")
    out = tmp_path / "answers.csv"
    line = refused(
        "predict", tmp_path / "list.json", data, "--reasons", 2, "--out", out
    )
    assert "needs a scorecard; got a RuleList" in line
    assert not out.exists()
    line = refused("predict", tmp_path / "list.json", data, "--best", "low")
    assert "--best needs --reasons" in line


def test_explain_shows_what_adds_up(call, card, data):
    [first] = json.loads(
        call("explain", card, data, "--rows", "1", "--format", "json").out
    )
    assert "rule" not in first
    assert [sum(one["points"][0] for one in first["added"])] == first["total"]


def test_options_of_exports(call, refused, card):
    assert call("export", card, "--format", "sql", "--score").out.startswith("(")
    pmml = ["export", card, "--format", "pmml"]
    assert "reason 3" in call(*pmml).out
    assert "reason 3" not in call(*pmml, "--reasons", 2).out
    python = ["export", card, "--format", "python"]
    assert call(*python).out != call(*python, "--best", "low").out
    line = refused(*python, "--reasons", 2)
    assert "--reasons is for --format onnx, pmml or sql." in line
    assert "--score is for --format sql only." in refused(*pmml, "--score")
    line = refused("export", card, "--format", "sql", "--reasons", 2)
    assert "--reasons needs --table" in line


def test_formats_have_the_options_that_the_command_line_says():
    import inspect
    from importlib import import_module

    from defragtrees.cli.export import FOR_FORMATS

    for option, formats in FOR_FORMATS.items():
        has_it = [
            name
            for name, kind in FORMATS.items()
            if option
            in inspect.signature(
                getattr(import_module(kind.module), kind.function)
            ).parameters
        ]
        assert tuple(has_it) == formats


# Standard input


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "feather", "jsonl"])
def test_standard_input(card, table, tmp_path, suffix):
    path = tmp_path / f"data.{suffix}"
    written(table, path)
    line = [sys.executable, "-m", "defragtrees", "predict", card, "-", "--reasons", "1"]
    with open(path, "rb") as file:
        done = subprocess.run(
            list(map(str, line)),
            stdin=file,
            capture_output=True,
            env=os.environ | {"TMPDIR": str(tmp_path)},
            timeout=PATIENCE,
            check=True,
        )
    same(pd.read_csv(io.BytesIO(done.stdout)), expected(table, reasons=1))
    # What was stored is gone.
    assert {p.name for p in tmp_path.iterdir()} == {"card.json", path.name}


def written(table, path):
    """Write a table in the format of the suffix."""
    if path.name.endswith((".csv", ".csv.gz")):
        table.to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        getattr(table, f"to_{path.suffix[1:]}")(path)


@pytest.fixture
def typed(monkeypatch):
    """Give bytes to standard input."""

    def typed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return typed


def test_every_command_reads_standard_input(call, files, typed, tmp_path):
    content = (files / "iris.csv").read_bytes()
    rules, out = tmp_path / "rules.json", tmp_path / "report.html"
    inputs = [files / "xgboost.json", "-", "--target", "class"]
    for line in (
        ["simplify", *inputs, "--max-rules", 3, "--out", rules],
        ["path", *inputs, "--max-rules", 2],
        ["compare", *inputs, "--methods", "distilled"],
        ["report", *inputs, "--max-rules", 2, "--out", out],
        ["segments", *inputs],
        ["explain", rules, "-", "--rows", "1"],
        ["refit", rules, "-", "--target", "class"],
        ["diff", rules, rules, "-", "--target", "class"],
        ["watch", rules, "-", "--target", "class", "--model", files / "xgboost.json"],
    ):
        typed(content)
        done = call(*line)
        assert done.code == 0, done.err
    assert "standard input" in out.read_text()


def test_what_is_wrong_with_standard_input(refused, card, typed, monkeypatch):
    for content, words in (
        (b"", "'standard input' is empty"),
        (b"income,region\n1,north\n", "names 'tenure', but the data has no such"),
        (b"PAR1 and no more", "'standard input' is no whole Parquet file"),
    ):
        typed(content)
        assert words in refused("predict", card, "-")
    monkeypatch.setattr(sys, "stdin", None)
    assert "Standard input is closed" in refused("predict", card, "-")


@pytest.mark.parametrize(("sign", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_signals_leave_nothing_of_standard_input(start, card, tmp_path, sign, code):
    process = start(
        *("predict", card, "-"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONFAULTHANDLER": "1"},
    )
    process.stdin.write(b"income,tenure,region\n" * 100_000)
    process.stdin.flush()
    end = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("*/standard input")) and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.Signals[sign])
    try:
        assert process.wait(PATIENCE) == code
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # faulthandler shows where it hangs
        pytest.fail(process.communicate(timeout=PATIENCE)[1].decode())
    process.stdin.close()
    assert [path.name for path in tmp_path.iterdir()] == ["card.json"]


def test_a_signal_just_before_a_read_is_not_missed(monkeypatch):
    waits = []

    def wait(streams, *others):
        waits.append(streams)
        if len(waits) == 2:  # the handler of the signal that the first wait missed
            raise Terminated
        return [], [], []

    monkeypatch.setattr("select.select", wait)
    reader, writer = os.pipe()
    os.close(writer)
    with open(reader, "rb") as stream, pytest.raises(Terminated):
        list(_parts(stream))


# Separators and decimal commas


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ({"sep": ";", "decimal": ","}, ["--sep", ";,"]),
        ({"sep": ",", "decimal": ","}, ["--sep", ",,"]),
        ({"sep": "|"}, ["--sep", "|"]),
        ({"sep": "\t", "decimal": ","}, ["--sep", "\\t,"]),
        ({"sep": ";"}, []),
    ],
)
def test_how_csv_is_written(call, card, table, tmp_path, written, options):
    path = tmp_path / "data.csv"
    table.to_csv(path, index=False, **written)
    wanted = expected(table)
    done = call("predict", card, path, *options, "--id", "opened")
    assert done.code == 0, done.err
    found = pd.read_csv(io.StringIO(done.out))
    assert found.pop("opened").tolist() == table["opened"].astype(str).tolist()
    same(found, wanted)


def test_categories_that_are_numbers_have_decimal_commas_too(call, tmp_path):
    large = Rule((Condition(0, categories=(1,)),), 0)
    rules = RuleList(
        (large,), Rule((), 1), ("size",), "classification", (0, 1), ((0.5, 1.5),)
    )
    rules.save(tmp_path / "rules.json")
    frame = pd.DataFrame({"size": [1.5, 0.5], "note": ["1,5", "x"]})
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",")
    options = ["--sep", ";,", "--id", "note"]
    done = call("predict", tmp_path / "rules.json", path, *options)
    assert done.out == 'note,prediction,rule\n"1,5",0,1\nx,1,2\n'


def test_a_bundled_table_of_a_country_with_decimal_commas(call, tmp_path):
    X, _ = load_table("energy")
    columns = [name for name in X if X[name].dtype.kind == "f"]
    assert len(columns) > 3
    rules = RuleList(
        tuple(
            Rule((Condition(j, upper=float(X[name].quantile(0.3))),), float(j))
            for j, name in enumerate(columns)
        ),
        Rule((), -1.0),
        tuple(columns),
        "regression",
    )
    rules.save(tmp_path / "rules.json")
    X.to_csv(tmp_path / "plain.csv", index=False)
    X.to_csv(tmp_path / "comma.csv", index=False, sep=";", decimal=",")
    plain = call("predict", tmp_path / "rules.json", tmp_path / "plain.csv").out
    options = ["--sep", ";,"]
    comma = call("predict", tmp_path / "rules.json", tmp_path / "comma.csv", *options)
    assert comma.out == plain
    answers = pd.read_csv(io.StringIO(plain))["prediction"]
    assert answers.tolist() == rules.predict(X[columns]).tolist()
    assert answers.nunique() > 3


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "income|tenure|region\n1|2|north\n",
            [],
            "'data.csv' has one column only, 'income|tenure|region'. 'data.csv' is "
            "read with ',' between columns; name another separator, such as --sep '|', "
            "if that is wrong.",
        ),
        ("income;tenure;region\n1;2;north\n", ["--sep", ","], "such as --sep ';', if"),
        (
            "income, EUR;tenure;region\n1;2;north\n",
            [],
            "A rule names 'tenure', but the data has no such column; it has 'income', "
            "' EUR;tenure;region'. 'data.csv' is read with ',' between columns; name",
        ),
        (
            "income;tenure;region\n1,5;2;north\n",
            [],
            "row 1 has '1,5'. Add --sep ';,' if that is a decimal comma.",
        ),
        (
            "income;tenure;region\n1.500;2;north\n",
            ["--sep", ";,"],
            "row 1 has '1.500'. With a decimal comma a number is written as 1,5.",
        ),
        ("income\n1\n", ["--sep", ";;"], "';;' must be one character"),
        ("income\n1\n", ["--sep", '"'], "must be one character"),
        ("income\n1\n", ["--sep", ";'"], "may be followed by a decimal comma"),
    ],
)
def test_what_is_written_otherwise(refused, card, tmp_path, text, options, words):
    path = tmp_path / "data.csv"
    path.write_text(text)
    assert words in refused("predict", card, path, *options)


# JSON lines


def test_json_lines(call, card, tmp_path):
    path = tmp_path / "data.jsonl.gz"
    rows = [
        {"income": 40, "tenure": None, "region": "south", "note": [1]},
        {"region": "west", "income": 60.5, "tenure": "1.5"},
        {"income": True},
    ]
    path.write_bytes(gzip.compress("\n\n".join(map(json.dumps, rows)).encode()))
    frame = pd.DataFrame(
        {
            "income": [40, 60.5, 1],
            "tenure": [np.nan, 1.5, np.nan],
            "region": ["south", "west", None],
        }
    )
    done = call("predict", card, path)
    assert done.code == 0, done.err
    same(pd.read_csv(io.StringIO(done.out)), expected(frame))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"income": 1, "tenure": 2, "region": "n"}\n[1]\n', "line 2 is no object"),
        ('{"income": 1\n', "line 1 is not JSON"),
        ("\n\n", "has no line with columns"),
        ('{"income": 1, "tenure": [2], "region": "north"}\n', "it holds a list or an"),
        ('{"income": "x", "tenure": 2, "region": "n"}\n', "row 1 has 'x'"),
        ("[" * 100_000 + "\n", "line 1 is not JSON"),
    ],
)
def test_what_are_no_json_lines(refused, card, tmp_path, text, words):
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    assert words in refused("predict", card, path)


# Outputs


@pytest.mark.parametrize("source", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "jsonl", "json"])
def test_outputs_by_suffix(call, card, table, tmp_path, source, suffix):
    path, out = tmp_path / f"data.{source}", tmp_path / f"out.{suffix}"
    written(table, path)
    options = ["--reasons", 2, "--id", "id,opened,tenure", "--out", out]
    done = call("predict", card, path, *options)
    assert done.code == 0, done.err
    if suffix == "parquet":
        found = pq.read_table(out).to_pandas()
    elif suffix.startswith("csv"):
        found = pd.read_csv(out)
    elif suffix == "jsonl":
        found = pd.DataFrame(map(json.loads, out.read_text().splitlines()))
    else:
        found = pd.DataFrame(json.loads(out.read_text()))
    assert found.pop("id").astype(int).tolist() == table["id"].tolist()
    days = pd.to_datetime(found.pop("opened"), format="ISO8601")
    assert days.tolist() == table["opened"].tolist()
    pd.testing.assert_series_equal(found.pop("tenure"), table["tenure"])
    same(found, expected(table, reasons=2))


def test_types_of_parquet(call, table, tmp_path):
    LIST.save(tmp_path / "list.json")
    out = tmp_path / "out.parquet"
    schemas = {}
    for suffix in ("parquet", "csv"):
        written(table, tmp_path / f"data.{suffix}")
        options = ["--id", "id,opened,seen,region", "--out", out]
        data = tmp_path / f"data.{suffix}"
        done = call("predict", tmp_path / "list.json", data, *options)
        assert done.code == 0, done.err
        found = pq.read_table(out)
        schemas[suffix] = [str(field.type) for field in found.schema]
        first = found.slice(0, 1).to_pylist()[0]
        assert (first["prediction"], first["rule"]) == (2, 1)
        assert str(first["opened"])[:10] == "2024-03-01"
        assert str(first["seen"]) == "2024-03-01 12:30:00"
    ours = ["int64", "int64"]
    _, _, time, text, *_ = schemas["parquet"]
    assert schemas["parquet"] == ["int64", time, time, text, *ours]
    assert time.startswith("timestamp")
    assert text in ("string", "large_string")
    # Text has no types; a date that the rules ask about is one.
    assert schemas["csv"] == ["string", "date32[day]", "string", "string", *ours]
    assert first["opened"] == dt.date(2024, 3, 1)


def test_parquet_is_written_in_batches_with_its_types(call, card, table, tmp_path):
    whole = pd.concat([table] * 400, ignore_index=True)
    whole.loc[:70_000, "region"] = None
    # The first batch has no value at all.
    whole["late"] = np.where(whole.index > 70_000, "x", None)
    whole.to_parquet(tmp_path / "data.parquet")
    out = tmp_path / "out.parquet"
    options = ["--id", "late", "--out", out]
    done = call("predict", card, tmp_path / "data.parquet", *options)
    assert done.code == 0, done.err
    assert pq.ParquetFile(out).num_row_groups > 1
    found = pq.read_table(out).to_pandas()
    assert (found.pop("late").isna() == whole["late"].isna()).all()
    same(found, expected(whole))


def test_parquet_of_no_rows_has_its_types(call, card, table, tmp_path):
    written(table[:0], tmp_path / "data.parquet")
    out = tmp_path / "out.parquet"
    done = call("predict", card, tmp_path / "data.parquet", "--id", "id", "--out", out)
    assert done.code == 0, done.err
    types = [str(field.type) for field in pq.read_schema(out)]
    assert types == ["int64", "string", "double", "double"]


def test_the_same_rows_give_the_same_bytes(call, card, data, tmp_path, monkeypatch):
    outs = [tmp_path / name for name in ("a.csv.gz", "b.csv.gz")]
    for k, out in enumerate(outs):
        monkeypatch.setattr("time.time", lambda k=k: 1e9 + k)
        assert call("predict", card, data, "--out", out).code == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_parquet_names_the_extra(refused, card, data, tmp_path, monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="pyarrow")

    monkeypatch.setattr("defragtrees._utils.optional.import_module", absent)
    out = tmp_path / "out.parquet"
    line = refused("predict", card, data, "--out", out)
    assert "pip install 'defragtrees[parquet]'" in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("command", "name", "options", "words"),
    [
        ("predict", "out.xlsx", [], "must end in .csv, .csv.gz, .parquet, .jsonl, "),
        ("predict", "out.gz", [], "--out must end in .csv"),
        ("predict", "out.csv", ["--json"], "'out.csv', which is not json."),
        ("explain", "out.csv", [], "--out must end in .txt, .jsonl"),
        ("explain", "out.txt", ["--format", "json"], "which is not json."),
        ("refit", "out.parquet", ["--target", "y"], "--out must end in .json; got"),
        ("watch", "out.pdf", [], "--html must end in .html; got 'out.pdf'"),
    ],
)
def test_suffixes_that_are_not_known(
    refused, card, tmp_path, command, name, options, words
):
    # Before any work, so that also data that is none does not matter.
    data = tmp_path / "data.csv"
    data.write_bytes(b"")
    option = "--html" if command == "watch" else "--out"
    line = refused(command, card, data, *options, option, tmp_path / name)
    assert words in line
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet", "jsonl", "json"])
def test_nothing_is_written_on_errors(refused, card, tmp_path, suffix):
    data = tmp_path / "data.csv"
    rows = "1,2,north\n" * 70_000  # the second batch is wrong
    data.write_text(f"income,tenure,region\n{rows}x,2,north\n")
    out = tmp_path / f"out.{suffix}"
    line = refused("predict", card, data, "--out", out)
    assert "row 70001 has 'x'" in line
    assert {path.name for path in tmp_path.iterdir()} == {"card.json", "data.csv"}


def test_explain_by_suffix(call, card, data, tmp_path):
    for suffix in ("txt", "jsonl", "json"):
        out = tmp_path / f"out.{suffix}"
        done = call("explain", card, data, "--rows", "1-2", "--out", out)
        assert done.code == 0, done.err
    assert (tmp_path / "out.txt").read_text().startswith("Row 1\n")
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == json.loads(
        (tmp_path / "out.json").read_text()
    )


def test_booleans_of_parquet_are_booleans_in_a_database(call, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"member": rng.random(600) < 0.5, "age": rng.normal(size=600)})
    table["pays"] = np.where(table["member"] ^ (rng.random(600) < 0.1), "yes", "no")
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1}
    rows = lightgbm.Dataset(
        table[["member", "age"]].astype(float), table["pays"] == "yes"
    )
    lightgbm.train(settings, rows, 20).save_model(tmp_path / "model.txt")
    table.to_parquet(tmp_path / "table.parquet")
    model, data, rules = (
        tmp_path / name for name in ("model.txt", "table.parquet", "rules.json")
    )
    call("simplify", model, data, "--target", "pays", "--classes", "no,yes",
         "--max-rules", 3, "--out", rules)  # fmt: skip
    done = call("export", rules, "--format", "sql", "--dialect", "duckdb", "--table",
                "table")  # fmt: skip
    found = duckdb.sql(done.out).df()
    assert "IN (FALSE)" in done.out or "IN (TRUE)" in done.out
    assert (
        found["prediction"].tolist() == defragtrees.load(rules).predict(table).tolist()
    )


def test_json_lines_with_a_mark_on_standard_input(call, card, monkeypatch):
    row = b'\xef\xbb\xbf{"income": 1, "tenure": 2, "region": "north"}\n'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(row)))
    done = call("predict", card, "-")
    assert (done.code, len(done.out.splitlines())) == (0, 2)
