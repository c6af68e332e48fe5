"""From a raw table and a saved pipeline to rules on its columns, and their answers."""

import csv
import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
skops = pytest.importorskip("skops.io")

from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

import defragtrees  # noqa: E402
from defragtrees import read_forest  # noqa: E402

TRUSTED = [
    "numpy.dtype",
    "sklearn.compose._column_transformer._RemainderColsList",  # before 1.7
    "sklearn.tree._tree.Tree",
]
TRUST = [word for name in TRUSTED for word in ("--trust", name)]


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    """A folder with `data.csv` and `model.skops`, and the pipeline itself."""
    folder = tmp_path_factory.mktemp("raw")
    rng = np.random.default_rng(0)
    n_rows = 300
    frame = pd.DataFrame(
        {
            "id": np.arange(n_rows),
            "Year": rng.integers(1950, 2011, n_rows).astype(float),
            "Neighborhood": rng.choice(
                ["Crawfor", "Timber", "Edwards", "Sawyer"], n_rows
            ),
            "Area": np.exp(rng.normal(5, 0.5, n_rows)),
        }
    )
    dear = frame["Neighborhood"].isin(["Crawfor", "Timber"]) & (frame["Year"] > 1980)
    y = np.where(dear | (frame["Area"] > 300), "dear", "cheap")
    frame.loc[rng.random(n_rows) < 0.1, "Year"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "Neighborhood"] = np.nan
    words = make_pipeline(
        SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
    )
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    steps = ColumnTransformer(
        [("num", numbers, ["Year", "Area"]), ("cat", words, ["Neighborhood"])]
    )
    forest = RandomForestClassifier(10, min_samples_leaf=3, random_state=0)
    pipeline = make_pipeline(steps, forest).fit(frame, y)
    skops.dump(pipeline, folder / "model.skops")
    frame.assign(price=y).to_csv(folder / "data.csv", index=False)
    return folder, frame, pipeline


def answers_of(text):
    return [row["prediction"] for row in csv.DictReader(text.splitlines())]


def test_rules_of_a_saved_pipeline_speak_of_the_raw_columns(raw, call, tmp_path):
    folder, frame, pipeline = raw
    rules_file, report = tmp_path / "rules.json", tmp_path / "out.html"
    model, data = folder / "model.skops", folder / "data.csv"
    outputs = ["--out", rules_file, "--report", report, "--test-size", "0"]
    done = call("simplify", model, data, "--target", "price", *outputs, *TRUST)
    assert done.code == 0, done.err
    assert "Neighborhood" in done.out
    assert "num__" not in done.out
    assert "cat__" not in done.out
    saved = json.loads(rules_file.read_text("utf-8"))
    assert saved["feature_names"] == ["Year", "Neighborhood", "Area"]
    page = report.read_text("utf-8")
    assert "Neighborhood" in page
    assert "Crawfor" in page
    assert "cat__" not in page
    rules = defragtrees.load(rules_file)
    expected = rules.predict(frame).tolist()
    agree = np.mean(expected == pipeline.predict(frame))
    assert agree > 0.9
    assert f"{agree:.4f}" in done.out
    done = call("predict", rules_file, data)
    assert answers_of(done.out) == expected
    done = call("explain", rules_file, data)
    assert "Neighborhood" in done.out
    sql = call("export", rules_file, "--format", "sql").out
    duckdb = pytest.importorskip("duckdb")
    table = f"read_csv('{data}')"
    found = (
        duckdb.connect().execute(f"SELECT {sql} FROM {table} ORDER BY id").fetchall()
    )
    assert [row[0] for row in found] == expected


def test_forest_of_the_file_answers_as_the_pipeline(raw):
    folder, frame, pipeline = raw
    forest = read_forest(folder / "model.skops", trusted_types=TRUSTED)
    assert (forest.predict_proba(frame) == pipeline.predict_proba(frame)).all()


def test_all_methods_are_compared_on_raw_columns(raw, call):
    folder, _, _ = raw
    model, data = folder / "model.skops", folder / "data.csv"
    done = call("compare", model, data, "--target", "price", *TRUST)
    assert done.code == 0, done.err
    for method in ("defrag", "born_again", "intrees", "node_harvest", "distilled"):
        assert method in done.out
    assert "failed" not in done.out


def test_a_saved_model_that_cannot_be_read_is_asked(raw, call, tmp_path):
    folder, frame, _ = raw
    y = pd.read_csv(folder / "data.csv")["price"]
    filled = frame.assign(Year=frame["Year"].fillna(1980.0))
    steps = ColumnTransformer(
        [
            ("num", StandardScaler(), ["Year", "Area"]),
            ("cat", OneHotEncoder(handle_unknown="ignore"), ["Neighborhood"]),
        ],
        sparse_threshold=0,
    )
    model = make_pipeline(steps, LogisticRegression()).fit(filled, y)
    path, data = tmp_path / "model.skops", tmp_path / "data.csv"
    skops.dump(model, path)
    filled.assign(price=y).to_csv(data, index=False)
    rules_file, report = tmp_path / "rules.json", tmp_path / "report.html"
    outputs = ["--out", rules_file, "--report", report]
    done = call("simplify", path, data, "--target", "price", *outputs, *TRUST)
    assert done.code == 0, done.err
    assert "Pipeline" not in done.out.splitlines()[0]
    assert "was queried as a black box. Cannot read LogisticRegression" in done.out
    assert "was queried as a black box" in report.read_text("utf-8")
    rules = defragtrees.load(rules_file)
    assert answers_of(call("predict", rules_file, data).out) == (
        rules.predict(filled).tolist()
    )
    assert np.mean(rules.predict(filled) == model.predict(filled)) > 0.8


def test_a_saved_object_that_does_not_predict_is_refused(raw, call, tmp_path):
    folder, _, _ = raw
    path = tmp_path / "scaler.skops"
    skops.dump(StandardScaler().fit([[0.0], [1.0]]), path)
    done = call("simplify", path, folder / "data.csv", "--target", "price", *TRUST)
    assert done.code != 0
    assert "Cannot read StandardScaler" in done.err
