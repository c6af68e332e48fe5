"""`watch`: the model's classes, the history and its plot, and every exit code."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from defragtrees.monitoring import read_history

SPECIES = "setosa,versicolor,virginica"
WORDS = ("--target", "species", "--classes", SPECIES)


@pytest.fixture(scope="module")
def iris(files):
    return files / "iris.csv"


@pytest.fixture(scope="module")
def rules(files, iris, tmp_path_factory):
    """A function from a model to its rules, whose classes are words."""
    from defragtrees.cli.group import run

    folder, made = tmp_path_factory.mktemp("rules"), {}

    def rules(model, *options):
        if model not in made:
            made[model] = folder / f"{model}.rules.json"
            options = options or WORDS
            line = ["simplify", files / model, iris, "--max-rules", 3, *options,
                    "--test-size", 0, "--out", made[model]]  # fmt: skip
            assert run([str(word) for word in line]) == 0
        return made[model]

    return rules


def agreement(done):
    """The finding on agreement in the JSON of a check."""
    data = json.loads(done.out)
    return next(one for one in data["findings"] if one["kind"] == "agreement")


@pytest.mark.parametrize("model", ["xgboost.json", "lightgbm.txt", "unnamed.ubj"])
def test_numbered_classes_of_a_model_are_those_of_the_rules(
    call, files, iris, rules, model
):
    more = ()
    if model == "unnamed.ubj":
        columns = "sepal length,sepal width,petal length,petal width"
        more = (*WORDS, "--columns", columns)
    line = (
        "watch",
        rules(model, *more),
        iris,
        "--target",
        "species",
        "--model",
        files / model,
    )
    done = call(*line, "--json")
    assert (done.code, done.err) == (0, "")
    assert agreement(done)["now"] > 0.9
    [note] = json.loads(done.out)["notes"][-1:]
    assert note == (
        "the model's classes 0, 1, 2 are taken to be setosa, versicolor, virginica"
    )
    named = call(*line, "--classes", SPECIES, "--json")
    assert agreement(named) == agreement(done)
    assert note not in json.loads(named.out)["notes"]
    wrong = call(*line, "--classes", "virginica,versicolor,setosa", "--json")
    assert wrong.code == 1
    assert agreement(wrong)["now"] < 0.5
    assert json.loads(wrong.out)["notes"][-1].startswith(
        "with the model's classes 0, 1, 2 as setosa, versicolor, virginica, they would "
    )


def test_a_pickled_model_with_the_words_of_the_rules(call, files, iris, rules):
    done = call("watch", rules("xgboost.json"), iris, "--json", "--model",
                files / "forest.pkl", "--trust", "pickle")  # fmt: skip
    assert done.code == 0
    assert agreement(done)["now"] > 0.9
    assert not any("are taken to be" in note for note in json.loads(done.out)["notes"])


class Rounded:
    """A model that cannot be read, and predicts texts."""

    def __init__(self, labels):
        self.labels = np.array(list(labels))

    def predict(self, X):
        return self.labels[np.searchsorted([2.5, 4.8], X["petal length"])]


def test_a_black_box_is_queried(call, refused, iris, rules, tmp_path):
    path, few = tmp_path / "model.pkl", tmp_path / "few.csv"
    pd.read_csv(iris)[:100].to_csv(few, index=False)
    line = ("watch", rules("xgboost.json"), "--model", path, "--trust", "pickle")
    path.write_bytes(pickle.dumps(Rounded("abc")))
    assert "such as ['setosa', 'versicolor', 'virginica']; it predicts ['a'" in (
        refused(*line, iris)
    )
    done = call(*line, iris, "--classes", SPECIES, "--json")
    assert done.code == 0
    assert agreement(done)["now"] > 0.9
    # Texts of numbers are numbers, also if a batch lacks one of them.
    path.write_bytes(pickle.dumps(Rounded("012")))
    for data, *more in ((iris,), (few,), (few, "--classes", SPECIES)):
        assert agreement(call(*line, data, *more, "--json"))["now"] > 0.9
    # A batch of one class, of which the model predicts none.
    pd.read_csv(iris)[:50].assign(species="virginica").to_csv(few, index=False)
    done = call(*line, few, "--target", "species", "--json")
    assert (done.code, done.err) == (1, "")


def test_the_history_has_a_line_for_each_check(call, iris, rules, tmp_path):
    saved = rules("xgboost.json")
    table = pd.read_csv(iris)
    moved = tmp_path / "moved.parquet"
    table.assign(**{"petal length": table["petal length"] + 2}).to_parquet(moved)
    history, plot = tmp_path / "checks.jsonl", tmp_path / "trend.png"
    line = ("watch", saved, "--target", "species", "--history", history)
    done = call(*line, iris)
    assert done.code == 0
    assert done.out.endswith(f"The history, of 1 check, is in {history}.\n")
    assert call(*line, iris, "--label", "week 2").code == 0
    done = call(*line, moved, "--label", "week 3", "--plot", plot)
    assert done.code == 1
    assert done.out.endswith(
        f"The history, of 3 checks, is in {history}.\nIts plot is in {plot}.\n"
    )
    assert "There has been drift" not in done.out
    done = call(*line, moved, "--json", "--level", 0.01)
    assert done.code == 1
    found = read_history(history)
    assert [record.name for record in found] == [
        "iris.csv", "week 2", "week 3", "moved.parquet",
    ]  # fmt: skip
    assert {record.rules for record in found} == {saved.name}
    assert [record.check.has_moved for record in found] == [False, False, True, True]
    assert found[3].check.to_dict() == json.loads(done.out)
    assert found[3].check.level == 0.01
    assert plot.read_bytes().startswith(b"\x89PNG")
    done = call(*line, moved, "--label", "week 5")
    assert "There has been drift since week 3.\n" in done.out


CONTENTS = {
    "csv": b"week,drift\n1,no\n",
    "json": b'{"format": "something else"}\n',
    "binary": bytes(range(256)),
    "cut off": b'{"format": "defragtrees-check-1", "time": "2026',
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_is_no_history_is_left_as_it_is(refused, iris, rules, tmp_path, name):
    history = tmp_path / "checks.jsonl"
    history.write_bytes(CONTENTS[name])
    page, plot = tmp_path / "check.html", tmp_path / "trend.png"
    message = refused("watch", rules("xgboost.json"), iris, "--history", history,
                      "--html", page, "--plot", plot)  # fmt: skip
    assert "is not a history of checks (line 1 " in message
    assert history.read_bytes() == CONTENTS[name]
    assert list(tmp_path.iterdir()) == [history]


def test_every_error_exits_with_2_and_writes_nothing(
    refused, files, iris, rules, tmp_path
):
    saved, history = rules("xgboost.json"), tmp_path / "checks.jsonl"
    model = files / "xgboost.json"
    (tmp_path / "broken.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    (tmp_path / "broken.json").write_text('{"learner": 3}')
    pd.read_csv(iris).drop(columns="petal width").to_csv(
        tmp_path / "short.csv", index=False
    )
    before = sorted(tmp_path.iterdir())

    def refuse(*more, data=iris, rules=saved):
        line = refused("watch", rules, data, "--history", history, *more)
        assert sorted(tmp_path.iterdir()) == before
        return line

    assert "does not exist" in refuse("--model", tmp_path / "none.json")
    assert "does not exist" in refuse(data=tmp_path / "none.parquet")
    assert "does not exist" in refuse(rules=tmp_path / "none.json")
    assert "broken.parquet" in refuse(data=tmp_path / "broken.parquet")
    assert refuse("--model", tmp_path / "broken.json")
    assert "--trust pickle" in refuse("--model", files / "forest.pkl")
    assert "is a file of rules" in refuse("--model", saved)
    assert "a file of rules is needed" in refuse(rules=model)
    assert "'petal width'" in refuse("--model", model, data=tmp_path / "short.csv")
    assert "no such column" in refuse("--target", "kind")
    assert "holds 'flower 0'" in refuse("--target", "id")
    assert "classes must name classes of the rules" in refuse(
        "--model", model, "--classes", "a,b,c"
    )
    assert "for each of the model's" in refuse("--model", model, "--classes", "setosa")
    assert "--classes needs --model" in refuse("--classes", "a,b")
    assert "model must be for classification" in refuse(
        "--model", files / "shop.json", data=shop_and_iris(files, iris, tmp_path.parent)
    )
    assert "'--level'" in refuse("--level", "5")
    assert "must end in .png" in refuse("--plot", tmp_path / "trend.doc")
    assert "There is no folder" in refuse("--plot", tmp_path / "no" / "trend.png")
    assert "name the same file" in refuse("--html", history)
    line = refused("watch", saved, iris, "--plot", tmp_path / "trend.png")
    assert "--plot needs --history" in line
    line = refused("watch", saved, iris, "--label", "week 1")
    assert "--label needs --history" in line
    assert "is read by this command" in refused(
        "watch", saved, iris, "--history", saved
    )
    missing = tmp_path / "no" / "checks.jsonl"
    assert "There is no folder" in refused("watch", saved, iris, "--history", missing)
    assert "is a directory" in refused("watch", saved, iris, "--history", tmp_path)


def shop_and_iris(files, iris, folder):
    """A file with the columns of both, for a model of numbers."""
    tables = pd.read_csv(iris), pd.read_csv(files / "shop.csv")[:150]
    path = folder / "both.csv"
    pd.concat(tables, axis=1).to_csv(path, index=False)
    return path


def test_a_plot_that_fails_leaves_the_history(call, iris, rules, tmp_path, monkeypatch):
    from defragtrees.cli import output

    def fail(*given):
        raise OSError(28, "No space left on device", "trend.png")

    history = tmp_path / "checks.jsonl"
    line = ("watch", rules("xgboost.json"), iris, "--history", history)
    assert call(*line).code == 0
    before = history.read_bytes()
    monkeypatch.setattr(output, "save_plot", fail)
    done = call(*line, "--plot", tmp_path / "trend.png")
    assert done.code == 2
    assert history.read_bytes() == before


def test_a_history_that_cannot_be_written_to_stops_before_the_work(
    call, refused, iris, rules, tmp_path, monkeypatch
):
    history, page = tmp_path / "checks.jsonl", tmp_path / "check.html"
    line = ("watch", rules("xgboost.json"), iris, "--history", history)
    assert call(*line).code == 0
    before = history.read_bytes()
    access = os.access

    def read_only(path, mode):  # also for the administrator
        is_written = mode == os.W_OK and Path(path) == history
        return access(path, mode) and not is_written

    monkeypatch.setattr(os, "access", read_only)
    assert "checks.jsonl' is not writable" in refused(*line, "--html", page)
    assert history.read_bytes() == before
    assert not page.exists()


def test_drift_is_the_exit_code_of_a_process(call, command, iris, rules, tmp_path):
    saved, history = rules("xgboost.json"), tmp_path / "checks.jsonl"
    moved = tmp_path / "moved.csv"
    table = pd.read_csv(iris)
    table.assign(**{"petal length": table["petal length"] + 2}).to_csv(moved)
    assert call("watch", saved, iris, "--history", history).code == 0
    assert command("watch", saved, moved, "--history", history).returncode == 1
    assert call("watch", saved, iris, "--history", iris).code == 2
    assert len(read_history(history)) == 2
