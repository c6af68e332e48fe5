"""segments: the library's own segments, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from defragtrees import Segments, compare_models, explain_errors, read_forest

xgboost = pytest.importorskip("xgboost")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, of which the second was trained on other labels, and new rows."""
    path = tmp_path_factory.mktemp("segments")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((3000, 3)).round(4), columns=["a", "b", "c"])
    p = np.where((rows.b > 0.8) & (rows.c > 0.5), 0.5, 0.1 + 0.8 * (rows.a > 0.5))
    rows["y"] = (rng.random(3000) < p).astype(int)
    changed = rows.assign(y=rows.y.where(rows.b > 0.2, 1))
    for name, table in (("one.json", rows), ("two.json", changed)):
        model = xgboost.XGBClassifier(n_estimators=20, max_depth=3)
        model.fit(table[["a", "b"]][:1000], table.y[:1000])
        model.save_model(path / name)
    rows[1000:].to_csv(path / "new.csv", index=False)
    return path


def test_errors_are_those_of_the_library(call, folder, tmp_path):
    out = tmp_path / "segments.json"
    files = folder / "one.json", folder / "new.csv"
    done = call("segments", *files, "--target", "y", "--out", out, "--json")
    assert done.code == 0
    new = pd.read_csv(folder / "new.csv")
    expected = explain_errors(read_forest(files[0]), new[["a", "b"]], new["y"])
    assert json.loads(done.out) == json.loads(out.read_text())
    assert json.loads(done.out) == json.loads(json.dumps(expected.to_dict()))
    segments = Segments.from_dict(json.loads(done.out)["error"])
    assert segments.rules.feature_names == ("a", "b")
    assert len(segments) >= 1
    shown = call("segments", *files, "--target", "y")
    assert shown.out.startswith("Overall bias: ")
    assert "Where the error is higher than the model expects:\n\n#  if" in shown.out


def test_two_models(call, folder):
    files = folder / "one.json", folder / "new.csv"
    done = call("segments", *files, "--against", folder / "two.json", "--json")
    new = pd.read_csv(folder / "new.csv")
    one, two = (read_forest(folder / name) for name in ("one.json", "two.json"))
    expected = compare_models(one, two, new[["a", "b"]])
    assert json.loads(done.out) == json.loads(json.dumps(expected.to_dict()))
    higher = Segments.from_dict(json.loads(done.out)["b higher"])
    assert [c.upper < 0.3 for c in higher[0].conditions if c.feature == 1] == [True]


def test_bad_input_is_one_line(call, folder):
    files = folder / "one.json", folder / "new.csv"
    done = call("segments", *files)
    assert done.code == 2
    assert "needs --target or --against" in done.err
    done = call("segments", *files, "--target", "y", "--features", "q")
    assert done.code == 2
    assert "'q'" in done.err
