"""edit, refit, diff and watch on files; what is wrong is one line and exit code 2."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import defragtrees
from defragtrees import Condition, Rule, RuleList, Scorecard

CITIES = ("Bonn", "Oslo", "Rome")


def table(n=600, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    income = rng.uniform(0, 100, n).round() + shift
    city = rng.choice(CITIES, n)
    y = np.where((income > 50) ^ (rng.random(n) < 0.1), "good", "bad")
    return pd.DataFrame({"income": income, "city": city, "y": y})


@pytest.fixture
def folder(tmp_path):
    rich = Rule((Condition(0, lower=50.0, is_integer=True),), "good", (0.5, 0.5))
    south = Rule((Condition(1, categories=(2,)),), "bad", (0.5, 0.5))
    rules = RuleList((rich, south), Rule((), "bad", (0.5, 0.5)), ("income", "city"),
                    "classification", ("bad", "good"), (None, CITIES))  # fmt: skip
    frame = table()
    rules.refit(frame, frame.y).save(tmp_path / "rules.json")
    frame.to_csv(tmp_path / "data.csv", index=False)
    table(seed=1).to_csv(tmp_path / "same.csv", index=False)
    table(seed=1, shift=20.0).to_csv(tmp_path / "moved.csv", index=False)
    return tmp_path


def test_edits_are_saved_with_the_rules(call, folder):
    done = call(
        "edit", folder / "rules.json", "--condition", 1, "income > 60", "--condition",
        2, "income <= 20 or missing", "--prediction", 3, "good", "--move", 2, 1,
        "--out", folder / "new.json",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    rules = defragtrees.load(folder / "new.json")
    assert [rule.text() for rule in rules] == [
        "city is Rome and (income <= 20 or missing)",
        "income > 60",
        "otherwise",
    ]
    assert rules.default.prediction == "good"
    assert [edit.action for edit in rules.edits] == [
        "refit", "replace", "replace", "prediction", "move",
    ]  # fmt: skip
    assert "Edited after the fit:" in done.out
    assert "The rules are in" in done.out


def test_numbers_are_those_of_the_file(call, folder):
    done = call(
        "edit", folder / "rules.json", "--drop", 1, "--replace", 2, "income <= 9",
        "--out", folder / "new.json",
    )  # fmt: skip
    assert done.code == 0
    rules = defragtrees.load(folder / "new.json")
    assert [rule.text() for rule in rules] == ["income <= 9", "otherwise"]
    assert call("edit", folder / "rules.json", "--remove", 1, "income").code == 2


def test_rules_are_counted_anew(call, folder):
    out = folder / "new.json"
    done = call("refit", folder / "rules.json", folder / "same.csv", "--target", "y",
                "--out", out)  # fmt: skip
    assert done.code == 0
    frame = table(seed=1)
    expected = defragtrees.load(folder / "rules.json").refit(frame, frame.y)
    assert defragtrees.load(out) == expected
    done = call("refit", folder / "rules.json", folder / "same.csv", "--target", "y",
                "--keep-predictions", "--out", out)  # fmt: skip
    assert defragtrees.load(out).training.n_rows == 600


def test_what_changed_is_said(call, folder):
    out = folder / "new.json"
    call("edit", folder / "rules.json", "--drop", 2, "--out", out)
    done = call("diff", folder / "rules.json", out, folder / "data.csv", "--target",
                "y")  # fmt: skip
    assert done.code == 0
    assert done.out.startswith("rule 2 is gone: if city is Rome then bad\n")
    assert "0 rows of 600 (0.0%) predicted differently" in done.out
    done = call("diff", folder / "rules.json", out, "--json")
    assert [c["kind"] for c in json.loads(done.out)["changes"]] == ["gone"]
    assert call("diff", out, out).out == "The rules are the same.\n"


def test_exit_codes_of_watch(call, folder):
    rules = folder / "rules.json"
    done = call("watch", rules, folder / "same.csv", "--target", "y")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("No drift in 12 tests (600 new rows against ")
    assert done.out.endswith("\n\nAll 12 tests: --details.\n")
    assert "income" not in done.out
    every = ("watch", rules, folder / "same.csv", "--target", "y", "--details")
    done = call(*every)
    assert re.search(r"^income +values +", done.out, re.MULTILINE)
    assert re.search(r"^prediction +training +new rows$", done.out, re.MULTILINE)
    page = folder / "check.html"
    done = call("watch", rules, folder / "moved.csv", "--html", page)
    assert done.code == 1
    assert done.out.startswith("Drift in ")
    assert re.search(r"^income +values ", done.out, re.MULTILINE)
    assert not re.search(r"^prediction ", done.out, re.MULTILINE)
    assert "What changed" in page.read_text(encoding="utf-8")
    done = call("watch", rules, folder / "moved.csv", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    assert found["moved"] is True
    moved = {one["kind"] for one in found["findings"] if one["moved"]}
    assert {"coverage", "column", "range"} <= moved


def test_watch_tests_agreement_with_a_model(call, files, tmp_path):
    out = tmp_path / "rules.json"
    model, iris = files / "xgboost.json", files / "iris.csv"
    call("simplify", model, iris, "--target", "class", "--out", out)
    done = call("watch", out, iris, "--target", "class", "--model", model, "--details")
    assert done.code == 0, done
    assert re.search(r"^all rules +agreement", done.out, re.MULTILINE)


def test_what_is_wrong_is_one_line_and_nothing_is_written(refused, folder):
    rules, data = folder / "rules.json", folder / "data.csv"
    out = folder / "out.json"

    def refuse(*arguments):
        line = refused(*arguments)
        assert not out.exists()
        return line

    more = ("--out", out)
    assert "incme" in refuse("edit", rules, "--replace", 1, "incme > 3", *more)
    assert "number from 1 to 2; got 3" in refuse("edit", rules, "--drop", 3, *more)
    assert "Say what to change" in refuse("edit", rules, *more)
    assert "'--drop'" in refuse("edit", rules, "--drop", "two", *more)
    assert "predict one of" in refuse("edit", rules, "--prediction", 1, "fine", *more)
    assert "got 5" in refuse("edit", rules, "--move", 1, 5, *more)
    assert "write to another file" in refuse("edit", rules, "--drop", 1, "--out", rules)
    assert "no such column" in refuse("refit", rules, data, "--target", "z", *more)
    assert "which a rule asks about" in refuse(
        "refit", rules, data, "--target", "income", *more
    )
    assert "a file of rules is needed" in refuse("diff", rules, data)
    assert "--target needs DATA" in refuse("diff", rules, rules, "--target", "y")
    other = folder / "other.csv"
    other.write_text("a,b\n1,2\n", encoding="utf-8")
    assert "A rule names 'income'" in refuse("watch", rules, other)
    empty = folder / "empty.csv"
    empty.write_text("income,city,y\n", encoding="utf-8")
    assert "has no rows" in refuse("watch", rules, empty)
    page = folder / "no" / "check.html"
    assert "There is no folder" in refuse("watch", rules, data, "--html", page)


def test_edited_files_with_unknown_features_are_refused(refused, folder):
    data = json.loads((folder / "rules.json").read_text(encoding="utf-8"))
    data["rules"][0]["conditions"][0]["feature"] = 7
    path = folder / "edited.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    line = refused("watch", path, folder / "same.csv")
    assert "has a condition on feature 7" in line
    path.write_text(json.dumps(data)[:200], encoding="utf-8")
    assert "is not a JSON file" in refused("edit", path, "--drop", 1)


def test_a_rule_is_inserted_and_costs_decide(call, folder):
    done = call(
        "edit", folder / "rules.json", "--drop", 2, "--insert", 1,
        "if city is Oslo then good", "--costs", "good:bad=5",
        "--out", folder / "n.json",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    rules = defragtrees.load(folder / "n.json")
    assert [rule.text() for rule in rules] == [
        "city is Oslo",
        "income > 50",
        "otherwise",
    ]
    assert rules.costs == ((0.0, 1.0), (5.0, 0.0))
    assert [edit.action for edit in rules.edits] == ["refit", "drop", "insert", "costs"]
    done = call("edit", folder / "rules.json", "--threshold", 0.3)
    assert "Predicts good if P(good) >= 0.3." in done.out
    done = call("edit", folder / "rules.json", "--costs", "good:bad=5")
    assert "Predicts the class with the lowest expected cost." in done.out


def test_a_card_gets_the_scale_of_a_bank(call, folder):
    frame = table()
    rich = Rule((Condition(0, lower=50.0),), "good", (0.2, 0.8), points=(1.5,))
    base = Rule((), "bad", (0.5, 0.5), points=(-0.7,))
    card = Scorecard((rich,), base, ("income", "city"), "classification",
                     ("bad", "good"), (None, CITIES), pos_label="good")  # fmt: skip
    card.save(folder / "card.json")
    path = folder / "scaled.json"
    done = call("edit", folder / "card.json", "--scale", "20,600,50", "--out", path)
    assert (done.code, done.err) == (0, "")
    assert defragtrees.load(path) == card.scaled(20, 600, 50)
    done = call("edit", folder / "card.json", "--scale", "20", "--odds-of", "bad")
    assert "20 more points double the odds" in " ".join(done.out.split())
    assert "bad has a probability of 50%" in " ".join(done.out.split())
    assert card.scaled(of="bad").predict(frame).tolist() == card.predict(frame).tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--threshold", "1.5"], "1.5 is not in the range 0<x<1"),
        (["--threshold", "0.3", "--costs", "bad:good=2"], "--threshold or --costs"),
        (["--costs", "bed:good=2"], "costs names the class 'bed'"),
        (["--scale", "20"], "--scale needs a scorecard"),
        (["--scale", "20,600"], "'20,600' must be points that double the odds"),
        (["--scale", "wide"], "'wide' must be points that double the odds"),
        (["--odds-of", "bad"], "--odds-of needs --scale"),
        (["--insert", "1", "income > 3"], "A rule is written as conditions, then"),
        (["--insert", "9", "income > 3 then bad"], "its number from 1 to 3; got 9"),
    ],
)
def test_decisions_that_cannot_be_are_one_line(call, folder, options, words):
    out = folder / "new.json"
    done = call("edit", folder / "rules.json", *options, "--out", out)
    assert done.code == 2
    assert words in done.err
    assert not out.exists()
