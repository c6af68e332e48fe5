"""path, compare, alternatives, report, export and demo."""

import json
import re
import stat

import numpy as np
import pandas as pd
import pytest

import defragtrees
from defragtrees import read_forest, simplify_path
from defragtrees.cli import report
from defragtrees.cli.output import plain

FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture
def inputs(files):
    return [files / "xgboost.json", files / "iris.csv", "--target", "class"]


@pytest.fixture
def rules(call, inputs, tmp_path):
    path = tmp_path / "rules.json"
    assert call("simplify", *inputs, "--max-rules", 3, "--out", path).code == 0
    return path


def test_path_is_that_of_the_library(call, files, inputs, tmp_path):
    out, plot = tmp_path / "rules.json", tmp_path / "path.svg"
    done = call(
        *("path", *inputs, "--max-rules", 4, "--json"), "--out", out, "--plot", plot
    )
    iris = pd.read_csv(files / "iris.csv")
    expected = simplify_path(
        read_forest(files / "xgboost.json"),
        iris[FEATURES],
        iris["class"],
        max_rules=4,
        random_state=0,
    )
    assert json.loads(done.out)["path"] == plain(expected.rows())
    assert defragtrees.load(out) == expected.rules
    assert "<svg" in plot.read_text()


def test_path_as_text(call, inputs):
    done = call("path", *inputs, "--max-rules", 3)
    header = next(line for line in done.out.splitlines() if line.strip()[:3] != "log")
    assert header.startswith("rules  conditions ")
    assert "\n* returned by simplify\n" in done.out
    assert re.search(r"\n\n#  if +then ", done.out)
    by_error = call("path", *inputs, "--max-rules", 3, "--choose-by", "error")
    words = " ".join(by_error.out.split())
    assert "* chosen by error: the shortest within one standard error" in words


@pytest.fixture
def swapped(files, tmp_path):
    """Noisy rows of two classes, on which several lists are as good."""
    iris = pd.read_csv(files / "iris.csv")
    rng = np.random.default_rng(0)
    many = iris.sample(600, replace=True, random_state=0, ignore_index=True)
    many[FEATURES] += rng.normal(scale=0.5, size=(600, 4)).round(1)
    many["owner"] = np.where(many.index % 3 == 0, "yes", "no")
    many.to_csv(tmp_path / "many.csv", index=False)
    return files / "xgboost.json", tmp_path / "many.csv", "--target", "class"


def test_alternatives_are_listed_and_one_is_used(call, swapped, tmp_path):
    plain, out = call("alternatives", *swapped), tmp_path / "rules.json"
    assert plain.code == 0, plain.err
    lines = plain.out.splitlines()
    assert lines[1].startswith("0 * ")
    assert lines[2].startswith("1 ")
    assert max(map(len, lines)) <= 76
    done = call("alternatives", *swapped, "--use", "1", "--out", out)
    assert done.out.startswith(plain.out)
    rules = defragtrees.load(out)
    assert [edit.action for edit in rules.edits] == ["use"]
    assert str(rules) in done.out


def test_alternatives_do_without_a_column_or_have_it(call, swapped):
    done = call("alternatives", *swapped, "--without", "petal width", "--by", "owner")
    assert done.code == 0, done.err
    assert done.out.splitlines()[0].endswith("columns  gap")
    assert "+ petal width" not in done.out
    done = call("alternatives", *swapped, "--with", "sepal width", "--by", "conditions")
    assert done.code == 0, done.err


def test_alternatives_that_cannot_be_are_one_line(refused, swapped):
    for given, words in (
        (["--without", "petal"], "--without has 'petal', which is no column of the mo"),
        (["--with", "owner"], "--with has 'owner', which is no column of the model"),
        (["--by", "home"], "--by names 'home', but the data has no such column"),
        (["--use", "99"], "its number from 0 to"),
        (["--out", "rules.json"], "--out needs --use"),
    ):
        assert words in refused("alternatives", *swapped, *given)


def test_path_is_chosen_by_what_is_named(call, files, inputs):
    options = ["--max-rules", 4, "--choose-by", "log_loss", "--json"]
    facts = json.loads(call("path", *inputs, *options).out)
    iris = pd.read_csv(files / "iris.csv")
    expected = simplify_path(
        read_forest(files / "xgboost.json"),
        iris[FEATURES],
        iris["class"],
        choose_by="log_loss",
        max_rules=4,
        random_state=0,
    )
    assert facts["chosen_by"] == "log_loss"
    assert facts["path"] == plain(expected.rows())
    assert facts["model_measures"] == plain(expected.model_measures)
    assert facts["path"][0]["log_loss_standard_error"] > 0


def test_compare(call, inputs, tmp_path):
    plot = tmp_path / "methods.png"
    options = ["--methods", "defrag", "--max-rules", "2,3", "--plot", plot]
    done = call("compare", *inputs, *options, "--json")
    found = json.loads(done.out)
    assert [row["budget"] for row in found["methods"]] == [2, 3]
    assert [row["n_rules"] for row in found["methods"]] == [2, 3]
    assert found["n_splits"] == 1
    assert 0 < found["model_scores"]["log_loss"] < found["methods"][0]["log_loss"]
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_compare_as_text(call, inputs):
    done = call("compare", *inputs, "--methods", "defrag", "--folds", "2")
    lines = done.out.splitlines()
    assert lines[0] == "Measured on 150 rows in 2 folds."
    assert lines[2].startswith("method ")
    assert "coverage" not in done.out
    assert "model: error " in lines[-2] + lines[-1]
    assert max(map(len, lines)) <= 76


def test_every_method_has_the_same_budget(call, inputs):
    options = ["--methods", "defrag,distilled,intrees", "--json"]
    rows = json.loads(call("compare", *inputs, *options).out)["methods"]
    assert {row["budget"] for row in rows} == {10}
    assert all(row["n_rules"] <= 10 for row in rows)


def test_what_compare_and_path_refuse(refused, files, inputs):
    assert "compare needs --target" in refused("compare", *inputs[:2])
    for budgets in ("0", "a", "3,-1"):
        assert "whole numbers from 1" in refused(
            "compare", *inputs, "--max-rules", budgets
        )
    assert "choose_by must be one of" in refused("path", *inputs, "--choose-by", "mae")
    line = refused("path", *inputs[:2], "--choose-by", "auc")
    assert "choose_by='auc' needs y" in line
    assert "methods must be among" in refused("compare", *inputs, "--methods", "magic")
    for name in ("compare", "path"):
        assert "must be above 0" in refused(name, *inputs, "--test-size", "0")
        assert "--plot must end in" in refused(name, *inputs, "--plot", "a.docx")


def test_report(call, inputs, tmp_path):
    out = tmp_path / "report.html"
    done = call("report", *inputs, "--max-rules", 3, "--title", "A < B", "--out", out)
    assert (done.code, done.err) == (0, "")
    page = out.read_text(encoding="utf-8")
    assert "A &lt; B" in page
    assert "defragtrees report" in page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_report_on_edited_rules(call, refused, inputs, rules, tmp_path):
    data, edited = inputs[1], tmp_path / "edited.json"
    assert call("edit", rules, "--drop", 1, "--out", edited).code == 0
    out = tmp_path / "edited.html"
    done = call("report", edited, data, "--target", "class", "--out", out)
    assert (done.code, done.err) == (0, "")
    page = " ".join(out.read_text(encoding="utf-8").split())
    assert "These rules were edited after the fit" in page
    assert data.name in page
    given = "report", edited, data, "--out", tmp_path / "other.html"
    assert "needs --target" in refused(*given)
    line = refused(*given, "--target", "class", "--max-rules", 3)
    assert "--max-rules is for a model; 'edited.json' is a file of rules" in line
    assert not (tmp_path / "other.html").exists()


def test_a_report_names_model_target_and_groups(call, inputs, tmp_path):
    out = tmp_path / "report.html"
    data = inputs[1]
    header = data.read_text().splitlines()[0].split(",")
    target = inputs[inputs.index("--target") + 1]
    options = ["--by-group", header[0], "--max-rules", 3]
    done = call("report", *inputs, *options, "--out", out)
    assert done.code == 0, done.err
    page = out.read_text(encoding="utf-8")
    assert f"the XGBoost model in {inputs[0].name}" in page
    assert data.name in page
    assert target == "class"  # as the page calls what has no name
    assert "Measures for class" in page
    assert 'id="groups-heading"' in page
    done = call(
        "report", *inputs, "--by-group", "nothing", "--out", tmp_path / "b.html"
    )
    assert done.code == 2
    assert "--by-group names 'nothing'" in done.err


def test_simplify_writes_a_report_too(call, inputs, tmp_path):
    out = tmp_path / "report.html"
    done = call("simplify", *inputs, "--max-rules", 3, "--report", out)
    assert done.out.endswith(f"The report is in {out}.\n")
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>Predictions for iris.csv in 3 rules</title>" in page


def test_how_the_command_watches_is_no_setting_to_report(
    call, inputs, tmp_path, monkeypatch
):
    given = []
    monkeypatch.setattr(
        report, "write_report", lambda path, simple, *_, **__: given.append(simple)
    )
    call("report", *inputs, "--max-rules", 2, "--out", tmp_path / "report.html")
    (simple,) = given
    assert simple.get_params()["verbose"] == 0


def test_a_report_without_a_target(call, inputs, tmp_path):
    out = tmp_path / "report.html"
    assert call("report", *inputs[:2], "--max-rules", 1, "--out", out).code == 0
    page = out.read_text(encoding="utf-8")
    assert "<title>Predictions for iris.csv in 1 rule</title>" in page


@pytest.mark.parametrize(
    ("form", "text"), [("sql", "CASE\n"), ("python", "def predict("), ("json", "{\n")]
)
def test_export(call, rules, tmp_path, form, text):
    shown = call("export", rules, "--format", form)
    assert text in shown.out
    out = tmp_path / "out"
    assert call("export", rules, "--format", form, "--out", out).code == 0
    assert out.read_text() == shown.out


def test_options_of_an_export(call, refused, rules):
    done = call("export", rules, "--format", "sql", "--dialect", "mysql")
    assert "`petal" in done.out
    options = ["--format", "sql", "--dialect"]
    standard = call("export", rules, *options, "ansi")
    for name in ("postgres", "duckdb"):
        assert call("export", rules, *options, name) == standard
    assert "dialect must be one of" in refused("export", rules, *options, "klingon")
    options = ["--format", "python", "--table", "t"]
    assert "--table is for --format sql only" in refused("export", rules, *options)
    assert "is no text" in refused("export", rules, "--format", "onnx")


def test_sql_with_probabilities(call, refused, rules):
    options = ["--format", "sql", "--probabilities"]
    done = call("export", rules, *options, "--table", "t")
    labels = defragtrees.load(rules).classes
    assert [f'AS "probability {label}"' in done.out for label in labels] == [True] * 3
    assert done.out.startswith(f"SELECT *, {call('export', rules, *options).out[:-1]}")
    options = ["--format", "python", "--probabilities"]
    line = refused("export", rules, *options)
    assert "--probabilities is for --format sql only" in line


def test_a_file_keeps_its_mode_and_is_replaced_at_once(call, rules, tmp_path):
    out = tmp_path / "rules.sql"
    out.write_text("old")
    out.chmod(0o640)
    with open(out) as old:
        assert call("export", rules, "--format", "sql", "--out", out).code == 0
        # Who was reading it reads on in the old one.
        assert old.read() == "old"
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert "CASE" in out.read_text()


def test_a_link_stays_a_link(call, rules, tmp_path):
    place, link = tmp_path / "place.sql", tmp_path / "link.sql"
    place.write_text("old")
    link.symlink_to(place)
    assert call("export", rules, "--format", "sql", "--out", link).code == 0
    assert link.is_symlink()
    assert "CASE" in place.read_text()


def test_a_format_has_a_name_or_is_that_of_the_suffix(call, refused, rules, tmp_path):
    expected = call("export", rules, "--format", "sql").out
    assert call("export", rules, "sql").out == expected
    line = refused("export", rules, "sql", "--format", "pmml")
    assert "FORMAT is sql, but --format is pmml." in line
    assert call("export", rules, "--out", tmp_path / "rules.sql").code == 0
    assert (tmp_path / "rules.sql").read_text() == expected
    assert "Name the format: csv" in refused("export", rules)
    assert "Name the format" in refused("export", rules, "--out", tmp_path / "a.b")


def test_demo(call, tmp_path):
    out = tmp_path / "demo.html"
    done = call("demo", "--report", out)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("A random forest of 100 trees with ")
    assert re.search(r"^#  if +then +P\(ill\) +95% interval +rows$", done.out, re.M)
    assert "76 patients that neither forest nor rules have seen" in " ".join(
        done.out.split()
    )
    assert max(map(len, done.out.splitlines()[:-1])) <= 76
    assert out.exists()


def test_path_and_report_of_rows_that_the_model_has_not_seen(
    call, files, inputs, tmp_path
):
    iris = pd.read_csv(files / "iris.csv")
    seen, unseen, out = (tmp_path / n for n in ("a.csv", "b.csv", "report.html"))
    iris[1::2].to_csv(seen, index=False)
    iris[::2].to_csv(unseen, index=False)
    inputs = [seen if value == files / "iris.csv" else value for value in inputs]
    given = *inputs, "--validation", unseen, "--max-rules", 3
    done = call("path", *given, "--json")
    expected = simplify_path(
        read_forest(files / "xgboost.json"),
        iris[FEATURES][1::2],
        iris["class"][1::2],
        validation=(iris[FEATURES][::2], iris["class"][::2]),
        max_rules=3,
        random_state=0,
    )
    assert json.loads(done.out)["path"] == plain(expected.rows())
    assert "may be trained on" not in call("path", *given).out
    groups = "--by-group", "species"
    done = call("report", *given, *groups, "--test-size", 15, "--out", out)
    assert (done.code, done.err) == (0, "")
    page = out.read_text(encoding="utf-8")
    assert 'id="groups-heading"' in page
    assert "15 rows" in page
    assert "(it may be trained on" not in page
