"""Rules of pipelines: on the raw columns, by every method, however rows are given."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import defragtrees
from defragtrees import DefragClassifier, compare, simplify, simplify_path
from defragtrees.export import export
from tests.ensembles.test_pipelines import (
    CITIES,
    STEPS,
    TEXT,
    classifier,
    columns_by,
    labels_of,
    make_frame,
    one_hot,
    with_gaps,
)


def rows_of(frame):
    return (frame.iloc[i] for i in range(len(frame)))


@pytest.fixture(scope="module")
def raw():
    frame = with_gaps(make_frame(300), [*TEXT, "age"])
    y = labels_of(frame)[0]
    steps = columns_by(
        city_colour=one_hot(),
        age=clone(STEPS["mean for gaps"][0].transformers[0][1]),
        income="passthrough",
    )
    pipeline = Pipeline([("before", steps), ("forest", classifier())]).fit(frame, y)
    return pipeline, frame, y


def test_rules_answer_raw_rows_and_say_so_in_every_form(raw, tmp_path):
    pipeline, frame, y = raw
    simple = simplify(pipeline, frame, y, max_rules=8, random_state=0)
    rules = simple.rules_
    assert set(rules.feature_names) == {"age", "income", "city", "colour"}
    assert "city" in str(rules)
    assert any(city in rules.export("text") for city in CITIES)
    assert simple.evaluate(frame)["fidelity"] > 0.7
    assert (rules.predict(frame[list(rules.features)]) == simple.predict(frame)).all()
    rules.save(tmp_path / "rules.json")
    loaded = defragtrees.load(tmp_path / "rules.json")
    assert (loaded.predict(frame) == rules.predict(frame)).all()
    assert any("city" in text for text in map(rules.explain, rows_of(frame[:20])))
    assert any(f"'{city}'" in export(rules, "sql") for city in CITIES)


def test_unfitted_pipeline_is_fitted_on_the_raw_rows(raw):
    pipeline, frame, y = raw
    expected = DefragClassifier(pipeline, random_state=0).fit(frame, y)
    found = DefragClassifier(clone(pipeline), random_state=0).fit(frame, y)
    assert found.rules_ == expected.rules_
    assert found.n_features_in_ == 4
    assert (found.predict(frame) == expected.predict(frame)).all()
    weights = np.where(y == "yes", 2.0, 1.0)
    weighted = DefragClassifier(clone(pipeline), random_state=0)
    weighted.fit(frame, y, sample_weight=weights)
    assert weighted.model_.named_steps["forest"].n_estimators == 5


def test_every_method_takes_a_pipeline(raw):
    pipeline, frame, y = raw
    table = compare(pipeline, frame, y, random_state=0)
    assert len(table.rows()) >= 5
    assert all(row["fidelity"] > 0.6 for row in table.rows()), str(table)
    path = simplify_path(pipeline, frame, y, random_state=0)
    assert "city" in path.rules.feature_names


def test_polars_and_iterators_of_raw_rows(raw):
    polars = pytest.importorskip("polars")
    pipeline, frame, y = raw
    expected = simplify(pipeline, frame, y, random_state=0)
    given = polars.from_pandas(frame.drop(columns="note"))
    found = simplify(pipeline, given, y, random_state=0)
    assert found.rules_ == expected.rules_
    parts = ((frame[i : i + 100], y[i : i + 100]) for i in range(0, 300, 100))
    assert simplify(pipeline, parts, random_state=0).rules_ == expected.rules_
