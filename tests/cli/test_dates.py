"""Dates in data files are read as the library reads them in a table of pandas."""

import csv
import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import defragtrees
from defragtrees import Condition, Rule, RuleList, simplify
from defragtrees.cli.output import json_text
from defragtrees.tables import as_days

FEATURES = ["opened", "size"]
FORMATS = ["csv", "parquet", "feather"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 900, 400), "D")
    frame = pd.DataFrame({"opened": days, "size": rng.random(400).round(3)})
    late = frame["opened"] > "2022-04-30"
    frame["status"] = np.where(late & (frame["size"] > 0.3), "bad", "good")
    frame.loc[::17, "opened"] = pd.NaT
    return frame


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("dates") / "model.joblib"
    X = table[FEATURES].assign(opened=as_days(table["opened"]))
    forest = RandomForestClassifier(10, min_samples_leaf=10, random_state=0)
    joblib.dump(forest.fit(X, table["status"]), path)
    return path


@pytest.fixture(scope="module")
def fitted(table, model):
    return simplify(
        joblib.load(model),
        table[FEATURES],
        table["status"],
        max_rules=4,
        random_state=0,
    )


@pytest.fixture
def rules(fitted, tmp_path):
    path = tmp_path / "rules.json"
    fitted.rules_.save(path)
    return path


@pytest.fixture(params=FORMATS)
def data(request, table, tmp_path):
    return write(table, tmp_path / f"data.{request.param}")


def write(table, path):
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{path.suffix[1:]}")(path)
    return path


def answers_of(done):
    assert done.code == 0, done.err
    return [row["prediction"] for row in csv.DictReader(done.out.splitlines())]


def test_predict_is_that_of_the_library(call, fitted, rules, table, data):
    assert "opened" in fitted.rules_.features
    done = call("predict", rules, data, "--id", "opened,size")
    assert answers_of(done) == fitted.rules_.predict(table[FEATURES]).tolist()
    first = next(csv.DictReader(done.out.splitlines()[:1] + done.out.splitlines()[2:]))
    assert first["opened"] == str(table["opened"][1].date())


def test_simplify_is_that_of_the_library(call, fitted, model, data, tmp_path):
    out = tmp_path / "found.json"
    options = ["--target", "status", "--test-size", 0, "--max-rules", 4, "--out", out]
    done = call("simplify", model, data, "--trust", "pickle", *options)
    assert done.code == 0, done.err
    assert defragtrees.load(out) == fitted.rules_
    assert "opened < 2022-" in done.out or "opened >= 2022-" in done.out


def test_explain_says_the_date(call, rules, table, data):
    done = call("explain", rules, data, "--rows", "3")
    assert done.code == 0, done.err
    date = str(table["opened"][2].date())
    assert re.search(rf"^ .*opened .* {date} ", done.out, re.MULTILINE)
    (reason,) = json.loads(
        call("explain", rules, data, "--rows", "3", "--format", "json").out
    )
    values = [reason["values"].get("opened")]
    values += [r["value"] for r in reason["failed"] if r["feature"] == "opened"]
    assert date in values


def test_refit_diff_and_watch(call, fitted, rules, model, table, data, tmp_path):
    out = tmp_path / "new.json"
    done = call("refit", rules, data, "--target", "status", "--out", out)
    assert done.code == 0, done.err
    expected = fitted.rules_.refit(table[FEATURES], table["status"])
    assert defragtrees.load(out) == expected
    done = call("diff", rules, out, data, "--target", "status", "--json")
    assert done.code == 0, done.err
    done = call("watch", rules, data, "--target", "status", "--json")
    found = fitted.rules_.check(table[FEATURES], table["status"])
    assert done.code == found.has_moved, done.err
    assert json.loads(done.out) == json.loads(json_text(found.to_dict()))
    done = call("watch", rules, data, "--model", model, "--trust", "pickle")
    assert done.code == found.has_moved, done.err


def test_report_and_groups_of_dates(call, model, data, tmp_path):
    out = tmp_path / "report.html"
    options = ["--target", "status", "--trust", "pickle", "--max-rules", 3]
    done = call("report", model, data, *options, "--out", out)
    assert done.code == 0, done.err
    assert "2022-" in out.read_text(encoding="utf-8")


KINDS = {
    "datetime": pd.Series(
        pd.to_datetime(["2022-04-30 10:00:00.00", None, "2022-04-30 11:30:00.25"])
    ),
    "zoned": pd.Series(
        pd.to_datetime(["2022-04-30 10:00", None, "2022-04-30 12:30"])
    ).dt.tz_localize("Europe/Berlin"),
    "duration": pd.Series(pd.to_timedelta(["1 days", None, "2 days 06:00:00"])),
    "date": pd.Series([pd.Timestamp("2022-04-30").date(), None, pd.NaT]),
    "time": pd.Series([pd.Timestamp("2022-04-30 10:00").time(), None, None]),
}
LIMITS = {
    "datetime": 19112.45,
    "zoned": 19112.45,
    "duration": 1.5,
    "date": 19000.0,
    "time": 0.5,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("suffix", FORMATS)
def test_every_kind_of_dates_and_times(call, tmp_path, kind, suffix):
    early = Rule((Condition(0, upper=LIMITS[kind]),), 0)
    gap = Rule((Condition(0, lower=-np.inf, upper=-1e9, missing=True),), 2)
    named = "datetime UTC" if kind == "zoned" else kind
    rules = RuleList(
        (early, gap),
        Rule((), 1),
        ("when",),
        "classification",
        (0, 1, 2),
        feature_kinds=(named,),
    )
    rules.save(tmp_path / "rules.json")
    frame = pd.DataFrame({"when": KINDS[kind], "note": "x"})
    data = write(frame, tmp_path / f"data.{suffix}")
    done = call("predict", tmp_path / "rules.json", data)
    assert [int(a) for a in answers_of(done)] == rules.predict(frame[["when"]]).tolist()


@pytest.mark.parametrize("suffix", FORMATS)
def test_times_with_a_zone(call, refused, model, table, tmp_path, suffix):
    zoned = table.assign(opened=table["opened"].dt.tz_localize("UTC"))
    there = zoned.assign(opened=zoned["opened"].dt.tz_convert("Asia/Tokyo"))
    plain = write(table, tmp_path / f"plain.{suffix}")
    files = [
        write(frame, tmp_path / f"{name}.{suffix}")
        for name, frame in (("utc", zoned), ("tokyo", there))
    ]
    out = tmp_path / "found.json"
    options = ["--trust", "pickle", "--test-size", 0, "--max-rules", 4, "--out", out]
    done = call("simplify", model, files[1], "--target", "status", *options)
    assert done.code == 0, done.err
    rules = defragtrees.load(out)
    assert rules.feature_kinds == ("datetime UTC", None)
    for file in files:
        found = answers_of(call("predict", out, file))
        assert found == rules.predict(zoned[FEATURES]).tolist()
    line = refused("predict", out, plain, "--out", tmp_path / "answers.csv")
    assert "Column 'opened' must hold times with a time zone" in line


def test_numbers_of_days_are_days(call, fitted, rules, table, tmp_path):
    frame = table.assign(opened=as_days(table["opened"]))
    data = write(frame, tmp_path / "data.csv")
    done = call("predict", rules, data)
    assert answers_of(done) == fitted.rules_.predict(table[FEATURES]).tolist()


def test_what_is_no_date(refused, rules, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("opened,size\n2022-04-30,0.5\nsoon,0.5\n")
    line = refused("predict", rules, path, "--out", tmp_path / "answers.csv")
    assert "Column 'opened' must hold dates or times" in line
    assert line.endswith("row 2 has 'soon'.")


def test_dates_beside_numbers_are_no_column_of_a_model(refused, model, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("opened,size\n19000,0.5\n2022-04-30,0.5\n")
    line = refused("simplify", model, path, "--trust", "pickle")
    assert "Column 'opened' must hold numbers, as the model has it; row 2" in line


def test_rules_that_have_numbers_take_no_dates(refused, tmp_path):
    small = Rule((Condition(0, upper=0.5),), 0)
    rules = RuleList((small,), Rule((), 1), ("size",), "classification", (0, 1))
    rules.save(tmp_path / "rules.json")
    frame = pd.DataFrame({"size": pd.date_range("2022-04-30", periods=2)})
    out = ["--out", tmp_path / "answers.csv"]
    data = write(frame, tmp_path / "data.csv")
    line = refused("predict", tmp_path / "rules.json", data, *out)
    assert "must hold numbers, as the model has it; row 1 has '2022-04-30'" in line
    data = write(frame, tmp_path / "data.parquet")
    line = refused("predict", tmp_path / "rules.json", data, *out)
    assert "must hold numbers or categories; it holds dates or times" in line
