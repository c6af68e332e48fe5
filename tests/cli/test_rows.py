"""explain and predict: saved rules on the rows of a file."""

import json

import click
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from defragtrees import Condition, Rule, RuleEnsemble, RuleList
from defragtrees.cli.inputs import hold_out
from defragtrees.cli.output import rules_text

# Three rules over a number and a category, written by hand.
RULES = RuleList(
    rules=(
        Rule(
            (Condition(1, lower=20.0), Condition(0, categories=(1,))), "go", (0.9, 0.1)
        ),
        Rule((Condition(1, upper=5.0, missing=True),), "stay", (0.2, 0.8)),
    ),
    default=Rule((), "go", (0.6, 0.4)),
    feature_names=("city", "degrees", "unused"),
    task="classification",
    classes=("go", "stay"),
    categories=(("Bonn", "Kiel"), None, None),
)
DATA = 'city,degrees,note\nKiel,21,"a, b"\nUlm,21,\nBonn,,c\nKiel,5,d\n,7.5,e\n'


RULE_1 = "degrees > 20 and city is Kiel"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.json"
    RULES.save(path)
    return path


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    return path


def test_predict_by_hand(call, rules, data):
    done = call("predict", rules, data)
    assert done.out == ("prediction,rule\ngo,1\ngo,3\nstay,2\nstay,2\ngo,3\n")
    assert (done.code, done.err) == (0, "")


def test_columns_that_are_copied_keep_their_values_whatever_their_names(
    call, rules, tmp_path
):
    data = tmp_path / "data.csv"
    data.write_text("rule,prediction,probability go,city,degrees\na,b,c,Kiel,21\n")
    done = call("predict", rules, data, "--id", "rule")
    assert done.out == "rule,prediction,rule_\na,go,1\n"
    options = ["--id", "prediction,rule,probability go", "--probabilities"]
    done = call("predict", rules, data, *options)
    assert done.out == (
        "prediction,rule,probability go,prediction_,rule_,probability go_,"
        "probability stay\n"
        "b,a,c,go,1,0.9,0.1\n"
    )
    done = call("predict", rules, data, "--id", "rule", "--json")
    assert json.loads(done.out) == [{"rule": "a", "prediction": "go", "rule_": 1}]


def test_predict_with_other_columns_and_probabilities(call, rules, data, tmp_path):
    out = tmp_path / "answers.csv"
    options = ["--id", "note,degrees", "--probabilities", "--out", out]
    done = call("predict", rules, data, *options)
    assert done.out == f"The predictions are in {out}.\n"
    assert out.read_text() == (
        "note,degrees,prediction,rule,probability go,probability stay\n"
        '"a, b",21.0,go,1,0.9,0.1\n'
        ",21.0,go,3,0.6,0.4\n"
        "c,,stay,2,0.2,0.8\n"
        "d,5.0,stay,2,0.2,0.8\n"
        "e,7.5,go,3,0.6,0.4\n"
    )


def test_a_column_that_rules_know_but_do_not_use_is_copied(call, rules, tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("city,degrees,unused\nKiel,21,x1\n")
    done = call("predict", rules, data, "--id", "unused")
    assert done.out == "unused,prediction,rule\nx1,go,1\n"


def test_predict_json(call, rules, data):
    found = json.loads(call("predict", rules, data, "--json").out)
    assert found[2] == {"prediction": "stay", "rule": 2}
    assert len(found) == 5


def test_explain_by_hand(call, rules, data):
    assert call("explain", rules, data, "--rows", "1-3").out == (
        "Row 1\n"
        "Prediction: go; P(stay) = 10%\n"
        "\n"
        "rule  condition     value  match\n"
        "   1  degrees > 20  21     yes\n"
        "      city is Kiel  Kiel   yes\n"
        "\n"
        "Row 2\n"
        "Prediction: go; P(stay) = 40%\n"
        "\n"
        "rule  condition                value             match\n"
        "   3  otherwise                                  yes\n"
        "   1  city is Kiel             another category  no\n"
        "   2  degrees <= 5 or missing  21                no\n"
        "\n"
        "Row 3\n"
        "Prediction: stay; P(stay) = 80%\n"
        "\n"
        "rule  condition                value    match\n"
        "   2  degrees <= 5 or missing  missing  yes\n"
        "   1  degrees > 20             missing  no\n"
    )


def test_explain_as_json(call, rules, data):
    found = json.loads(
        call("explain", rules, data, "--rows", "4", "--format", "json").out
    )
    assert found == [
        {
            "row": 4,
            "prediction": "stay",
            "rule": 2,
            "if": "degrees <= 5 or missing",
            "values": {"degrees": 5.0},
            "failed": [
                {
                    "rule": 1,
                    "condition": "degrees > 20",
                    "feature": "degrees",
                    "value": 5.0,
                }
            ],
            "probabilities": {"go": 0.2, "stay": 0.8},
            "basis": "P(stay) = 80%",
        }
    ]


@pytest.mark.parametrize("form", ["text", "jsonl", "json"])
def test_rows_that_the_file_does_not_have(call, rules, data, tmp_path, form):
    out = tmp_path / "reasons"
    for rows in ("9", "2-9", "1,9,3"):
        options = ["--rows", rows, "--format", form, "--out", out]
        done = call("explain", rules, data, *options)
        assert done.code == 2
        assert done.lines == ["defragtrees: 'data.csv' has 5 rows; --rows asks for 9."]
        assert not out.exists()
    assert call("explain", rules, data, "--rows", "5", "--out", out).code == 0


def test_names_do_not_break_lines_nor_reach_the_terminal_raw(call, tmp_path):
    odd = "de\ngrees\x1b[31m"
    warm = Condition(0, lower=20.0), Condition(1, categories=(0,))
    rules = RuleList(
        (Rule(warm, "g\no"),), Rule((), "st\u2028ay"), (odd, "city"),
        "classification", ("g\no", "st\u2028ay"), (None, ("Ki\nel",)),
    )  # fmt: skip
    rules.save(tmp_path / "rules.json")
    table = pd.DataFrame({odd: [21.0, 21.0], "city": ["Ki\nel", "U\x1b[0m\nlm"]})
    table.to_csv(tmp_path / "data.csv", index=False)
    assert call("explain", tmp_path / "rules.json", tmp_path / "data.csv").out == (
        "Row 1\n"
        "Prediction: g o\n"
        "\n"
        "rule  condition           value  match\n"
        "   1  de grees [31m > 20  21     yes\n"
        "      city is 'Ki\\nel'    Ki el  yes\n"
        "\n"
        "Row 2\n"
        "Prediction: st ay\n"
        "\n"
        "rule  condition         value             match\n"
        "   2  otherwise                           yes\n"
        "   1  city is 'Ki\\nel'  another category  no\n"
    )
    styled = rules_text(rules).replace("\x1b[35m\x1b[1mst ay\x1b[0m", "<st ay>")
    assert click.unstyle(styled) == (
        "#  if                    then\n"
        "1  de grees [31m > 20    g o\n"
        "   and city is 'Ki\\nel'\n"
        "2  otherwise             <st ay>"
    )


def test_rules_that_are_averaged(call, data, tmp_path):
    warm = Rule((Condition(0, lower=20.0),), 4.0, weight=0.25)
    rules = RuleEnsemble(
        (warm,), Rule((), 2.0, weight=0.75), ("degrees",), "regression",
    )  # fmt: skip
    rules.save(tmp_path / "mean.json")
    path = tmp_path / "mean.json"
    assert call("predict", path, data).out.splitlines()[1:3] == ["2.5,2", "2.5,2"]
    assert call("explain", path, data, "--rows", "1,5").out == (
        "Row 1\n"
        "Prediction: 2.5\n"
        "\n"
        "rule  condition     value  prediction  weight\n"
        "   1  degrees > 20  21              4    0.25\n"
        "   2  always                        2    0.75\n"
        "\n"
        "Row 5\n"
        "Prediction: 2\n"
        "\n"
        "rule  condition  value  prediction  weight\n"
        "   2  always                     2    0.75\n"
    )


def test_rules_that_ask_nothing(call, data, tmp_path):
    RuleList((), Rule((), 2.0), ("degrees",), "regression").save(tmp_path / "one.json")
    done = call("predict", tmp_path / "one.json", data)
    assert done.out == "prediction,rule\n" + "2.0,1\n" * 5


@pytest.mark.parametrize("suffix", ["parquet", "feather", "csv"])
def test_large_files_are_answered_as_by_the_library(call, tmp_path, suffix):
    rng = np.random.default_rng(0)
    n = 70_000  # more than one batch
    table = pd.DataFrame(
        {
            "degrees": np.where(rng.random(n) < 0.1, np.nan, rng.normal(12, 10, n)),
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "note": "x",
        }
    )
    path = tmp_path / f"data.{suffix}"
    if suffix == "csv":
        table.to_csv(path, index=False)
    else:
        getattr(table, f"to_{suffix}")(path)
    RULES.save(tmp_path / "rules.json")
    out = tmp_path / "answers.csv"
    assert call("predict", tmp_path / "rules.json", path, "--out", out).code == 0
    expected = RULES.predict(table.assign(unused=0.0)[list(RULES.feature_names)])
    assert pd.read_csv(out)["prediction"].tolist() == expected.tolist()
    done = call(
        "explain", tmp_path / "rules.json", path, "--rows", "69999", "--format", "json"
    )
    (reason,) = json.loads(done.out)
    assert (reason["row"], reason["prediction"]) == (69999, expected[69998])


def test_a_column_that_the_rules_need(refused, rules, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("city,degree\nBonn,1\n")
    line = refused("predict", rules, path)
    assert line == (
        "defragtrees: A rule names 'degrees', but the data has no such column; did you "
        "mean 'degree'?"
    )


def test_what_are_no_rules(refused, files, data, rules, tmp_path):
    line = refused("predict", files / "xgboost.json", data)
    assert "is an XGBoost model; a file of rules is needed" in line
    half = tmp_path / "half.json"
    half.write_text(rules.read_text()[:300])
    assert "is not a JSON file" in refused("explain", half, data)


@pytest.mark.parametrize("rows", ["0", "3-1", "a", "1-", "1,,2"])
def test_rows_that_cannot_be(refused, rules, data, rows):
    assert "no row or range of rows" in refused("explain", rules, data, "--rows", rows)


def test_probabilities_are_for_classes(refused, data, tmp_path):
    RuleList((), Rule((), 2.0), ("degrees",), "regression").save(tmp_path / "one.json")
    line = refused("predict", tmp_path / "one.json", data, "--probabilities")
    assert "--probabilities is for rules that predict a class" in line


def test_a_parquet_file_may_have_other_columns_of_one_name(call, refused, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    RULES.save(tmp_path / "rules.json")
    columns = [pa.array([21.0]), pa.array(["Kiel"]), pa.array([1]), pa.array([2])]
    names = ["degrees", "city", "note", "note"]
    parquet.write_table(pa.table(columns, names=names), tmp_path / "data.parquet")
    done = call("predict", tmp_path / "rules.json", tmp_path / "data.parquet")
    assert (done.code, done.out) == (0, "prediction,rule\ngo,1\n")
    options = ["--id", "note"]
    line = refused(
        "predict", tmp_path / "rules.json", tmp_path / "data.parquet", *options
    )
    assert "--id names 'note', but the data has 2 columns of this name" in line


def test_held_out_rows_are_those_of_train_test_split():
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40)
    train, counted, test = hold_out((X, y), None, 0.25, 3)
    train_X, test_X, train_y, test_y = train_test_split(
        X, y, test_size=0.25, random_state=3
    )
    assert counted is None
    assert (train[0] == train_X).all()
    assert (train[1] == train_y).all()
    assert (test[0] == test_X).all()
    assert (test[1] == test_y).all()
