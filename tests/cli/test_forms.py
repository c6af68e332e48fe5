"""Forms on the command line: points are shown as a sum, wherever rules are shown."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import defragtrees

pytestmark = pytest.mark.filterwarnings("ignore:No rule predicts")


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    """A forest with named classes, and its rows."""
    folder = tmp_path_factory.mktemp("credit")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((500, 3)).round(2), columns=["a", "b", "c"])
    risk = 0.1 + 0.4 * (X.a > 0.6) + 0.3 * (X.b > 0.3) * (X.c > 0.5)
    y = np.where(rng.random(500) < risk, "bad", "good")
    forest = RandomForestClassifier(20, min_samples_leaf=10, random_state=0)
    joblib.dump(forest.fit(X, y), folder / "model.joblib")
    X.assign(status=y).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture
def inputs(credit):
    files = [credit / "model.joblib", credit / "data.csv"]
    return [*files, "--target", "status", "--trust", "pickle"]


def simplified(call, inputs, out, *options):
    done = call("simplify", *inputs, "--max-rules", 4, *options, "--out", out)
    assert done.code == 0, done.err
    return done.out


def test_points_are_printed_and_explained_as_a_sum(call, credit, inputs, tmp_path):
    out = tmp_path / "points.json"
    options = ["--form", "points", "--points", "integer"]
    text = simplified(call, inputs, out, *options)
    rules = defragtrees.load(out)
    assert rules.form == "points"
    assert "Add up the points of the base" in text
    assert re.search(r"^total +P\(good\) +95% interval +then$", text, re.MULTILINE)
    done = call("explain", out, credit / "data.csv", "--rows", "1-5")
    assert done.code == 0, done.err
    table = pd.read_csv(credit / "data.csv")
    totals = rules.totals(table[["a", "b", "c"]])[:, 0]
    found = re.findall(r"^ +total +([+-]?\d+)$", done.out, re.MULTILINE)
    assert [float(total) for total in found] == totals[:5].tolist()
    base = rf"^ +{rules.n_rules}  base +[+-]?\d+$"
    assert len(re.findall(base, done.out, re.MULTILINE)) == 5
    done = call("explain", out, credit / "data.csv", "--rows", "1", "--format", "json")
    [reason] = json.loads(done.out)
    added = sum(one["points"][0] for one in reason["added"])
    assert reason["total"] == [added] == [totals[0]]


def test_standalone_rules_are_explained_one_by_one(call, credit, inputs, tmp_path):
    out = tmp_path / "standalone.json"
    text = simplified(call, inputs, out, "--form", "standalone")
    assert "Each rule stands alone. Where several match" in text
    rules = defragtrees.load(out)
    assert rules.form == "standalone"
    done = call("explain", out, credit / "data.csv", "--rows", "1-20")
    assert done.code == 0, done.err
    numbers = re.findall(r"^Row (\d+)$", done.out, re.MULTILINE)
    assert numbers == [str(k) for k in range(1, 21)]
    assert done.out.count("\nrule  condition") == 20


@pytest.mark.parametrize("form", ["standalone", "points"])
def test_every_command_takes_the_form(call, credit, inputs, tmp_path, form):
    report = tmp_path / "report.html"
    done = call("report", *inputs, "--form", form, "--max-rules", 4, "--out", report)
    assert done.code == 0, done.err
    page = report.read_text()
    words = {
        "standalone": "Each rule stands alone: its rate is that of all rows",
        "points": "The points of the base and of every rule that matches add up.",
    }
    assert words[form] in page
    assert ("From total to risk" in page) == (form == "points")
    options = ["--methods", "defrag", "--max-rules", 3, "--json"]
    settings = tmp_path / "settings.toml"
    settings.write_text(f"form = '{form}'\n")
    done = call("path", *inputs, "--settings", settings, "--max-rules", 3)
    assert done.code == 0, done.err
    done = call("compare", *inputs, *options, "--settings", settings)
    plain = call("compare", *inputs, *options)
    assert done.code == 0, done.err
    scores = [json.loads(one.out)["methods"][0]["log_loss"] for one in (done, plain)]
    assert scores[0] != scores[1]


def test_a_scorecard_is_exported_to_pmml(call, inputs, tmp_path):
    out, card = tmp_path / "points.json", tmp_path / "card.pmml"
    simplified(call, inputs, out, "--form", "points", "--points", "integer")
    done = call("export", out, "--format", "pmml", "--out", card)
    assert done.code == 0, done.err
    assert "<Scorecard " in card.read_text()
