"""The search from a model to rules."""

import dataclasses
import io
import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

from defragtrees import DefragClassifier, DefragRegressor, read_forest, simplify
from defragtrees._utils.progress import Progress
from defragtrees.datasets import load_sample
from defragtrees.ensembles.forest import Forest
from defragtrees.metrics.rulesets import calibration


def make_xor(n_rows, seed):
    """Synthetic1 of the paper: a chessboard of four fields, a tenth of labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 2))
    y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5) ^ (rng.random(n_rows) < 0.1)
    return X, y.astype(int)


@pytest.fixture(scope="module")
def xor():
    X, y = make_xor(2000, 0)
    forest = RandomForestClassifier(100, min_samples_leaf=10, random_state=0)
    return forest.fit(X[:1000], y[:1000]), X, y


def test_chessboard_is_a_few_rules_as_good_as_the_forest(xor):
    forest, X, y = xor
    # Four fields; an ordered list can say them in three rules.
    simple = simplify(forest, X[:1000], y[:1000], max_rules=4, random_state=0)
    scores = simple.evaluate(X[1000:], y[1000:])
    assert 3 <= scores["n_rules"] <= 6
    assert scores["error"] <= scores["model_error"] + 0.03


@pytest.mark.parametrize(
    "settings",
    [{}, {"form": "standalone"}, {"form": "points"}, {"target": "labels"}],
    ids=str,
)
def test_every_seed_gives_the_same_rules(xor, settings):
    """Up to 100,000 rows nothing is drawn but what every fit draws alike."""
    forest, X, y = xor
    one, two, three = (
        simplify(forest, X[:300], y[:300], random_state=seed, **settings)
        for seed in (0, 1, None)
    )
    assert one.rules_.n_rules > 1
    assert one.rules_ == two.rules_ == three.rules_
    assert one.path_ == two.path_ == three.path_


def test_units_of_y_have_no_say():
    energy = load_sample("energy")
    X, y = energy.X[::2], energy.y[::2]
    forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)
    rules = []
    for factor, shift in ((1.0, 0.0), (1000.0, 0.0), (1.0, 1000.0)):
        read = read_forest(forest.fit(X, y))
        trees = tuple(
            dataclasses.replace(tree, value=tree.value * factor + shift)
            for tree in read.trees
        )
        scaled = dataclasses.replace(read, trees=trees)
        rules.append(simplify(scaled, X, random_state=0).rules_)
    texts = [[*one.to_frame()["if"]] for one in rules]
    assert texts[0] == texts[1] == texts[2]
    answers = [[rule.prediction for rule in one] for one in rules]
    # An answer is rounded to a thousandth of the spread, which is about 10 here.
    np.testing.assert_allclose(answers[1], np.multiply(answers[0], 1000), atol=10.0)
    np.testing.assert_allclose(answers[2], np.add(answers[0], 1000), atol=0.01)


@pytest.mark.parametrize("target", ["model", "labels"])
def test_order_of_columns_has_no_say(target):
    pd = pytest.importorskip("pandas")
    energy = load_sample("energy")
    frame = pd.DataFrame(energy.X, columns=list(energy.feature_names))
    forest = read_forest(
        RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(
            frame, energy.y
        )
    )
    order = [3, 0, 7, 5, 1, 2, 6, 4]
    place = np.argsort(order)
    trees = tuple(
        dataclasses.replace(
            tree, feature=np.where(tree.feature >= 0, place[tree.feature], -1)
        )
        for tree in forest.trees
    )
    names = tuple(forest.feature_names[j] for j in order)
    shuffled = dataclasses.replace(
        forest, trees=trees, feature_names=names, categories=None
    )
    settings = {"target": target, "random_state": 0}
    one = simplify(forest, frame, energy.y, **settings)
    other = simplify(shuffled, frame[list(names)], energy.y, **settings)
    conditions = [
        [sorted(c.text(rules.feature_names) for c in rule.conditions) for rule in rules]
        for rules in (one.rules_, other.rules_)
    ]
    assert conditions[0] == conditions[1]


def test_labels_may_be_text_and_answers_are_too():
    X, y = make_xor(400, 1)
    names = np.where(y, "spam", "ham")
    simple = DefragClassifier(random_state=0).fit(X, names)
    assert set(simple.predict(X)) == {"ham", "spam"}
    assert simple.classes_.tolist() == ["ham", "spam"]
    assert simple.predict_proba(X).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_their_names(library):
    frames = pytest.importorskip(library)
    X, y = make_xor(300, 2)
    frame = frames.DataFrame({"height": X[:, 0], "width": X[:, 1]})
    simple = DefragClassifier(random_state=0).fit(frame, y)
    assert set(simple.rules_.features) <= {"width", "height"}
    assert simple.feature_names_in_.tolist() == ["height", "width"]
    same = DefragClassifier(random_state=0).fit(X, y)
    assert (simple.predict(frame) == same.predict(X)).all()


def test_categories_and_missing_values_from_a_frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome", "Turku"], 600)
    age = rng.normal(40, 10, 600)
    y = np.isin(city, ["Oslo", "Turku"]) ^ (age > 50)
    age[::7] = np.nan
    frame = pd.DataFrame({"city": pd.Categorical(city), "age": age})
    frame.loc[::11, "city"] = None
    model = HistGradientBoostingClassifier(random_state=0, max_iter=30)
    simple = DefragClassifier(model, random_state=0).fit(frame, y)
    scores = simple.evaluate(frame, y)
    assert scores["fidelity"] > 0.8
    assert "city" in simple.rules_.features
    unseen = frame.astype({"city": object}).assign(city="Lima").head(3)
    unseen["city"] = pd.Categorical(unseen["city"])
    assert simple.predict(unseen).shape == (3,)


def test_text_columns_work_without_an_model():
    pd = pytest.importorskip("pandas")
    color = pd.Series(["red", "blue"] * 100, dtype="category")
    frame = pd.DataFrame({"color": color, "size": np.arange(200.0)})
    simple = DefragClassifier(random_state=0).fit(frame, color == "red")
    assert (simple.predict(frame) == (color == "red")).all()


def test_fit_needs_no_y_when_the_model_is_fitted(xor):
    forest, X, _ = xor
    simple = DefragClassifier(forest, random_state=0).fit(X)
    assert "error" not in simple.training_
    assert simple.training_["fidelity"] > 0.9
    assert "posterior behind them" not in simple.summary()


def test_fitted_model_is_used_and_left_as_it_is(xor):
    forest, X, y = xor
    before = forest.predict_proba(X)
    simple = DefragClassifier(forest, random_state=0).fit(X, y)
    assert simple.model_ is forest
    assert (forest.predict_proba(X) == before).all()


def test_unfitted_model_is_cloned():
    X, y = make_xor(200, 3)
    model = RandomForestClassifier(5, random_state=0)
    simple = DefragClassifier(model, random_state=0).fit(X, y)
    assert not hasattr(model, "estimators_")
    assert len(simple.model_.estimators_) == 5


def test_frozen_model_survives_a_grid_search(xor):
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import GridSearchCV

    forest, X, y = xor
    simple = DefragClassifier(FrozenEstimator(forest), random_state=0)
    search = GridSearchCV(simple, {"max_rules": [2, 4]}, cv=2).fit(X[:300], y[:300])
    assert search.best_estimator_.model_.estimator is forest
    assert search.best_params_ == {"max_rules": 4}


def test_summary_shows_measures_and_calibration_by_rule(xor):
    forest, X, y = xor
    simple = simplify(forest, X[:1000], y[:1000], max_rules=4, random_state=0)
    rows = X[1000:], y[1000:]
    text, scores = simple.summary(*rows), simple.evaluate(*rows)
    for label, name in (("AUC", "auc"), ("log loss", "log_loss")):
        values = f"{scores[name]:.4f}", f"{scores[f'model_{name}']:.4f}"
        [line] = [line for line in text.splitlines() if line.startswith(label)]
        assert line.split()[-2:] == list(values)
    # Without costs it is the error once more.
    assert "expected cost" not in text
    assert "Estimated and observed on these rows, for 1:" in text
    table = text.split("for 1:\n")[1].splitlines()
    for line, row in zip(table[1:], calibration(simple.rules_, *rows), strict=False):
        told, observed = (f"{100 * row[k]:.1f}%" for k in ("estimated", "observed"))
        assert line.startswith(str(row["rule"]))
        assert told in line
        assert observed in line
        assert line.endswith(f" {row['n_rows']:.0f}")
    assert "Estimated and observed" not in simple.summary()


def test_a_class_that_no_rule_answers_is_said():
    data = load_iris()
    forest = RandomForestClassifier(20, random_state=0).fit(data.data, data.target)
    rows = data.data, data.target
    message = "No rule predicts [012], the class of 33.3% of the rows. Allow more"
    with pytest.warns(UserWarning, match=message):
        simple = simplify(forest, *rows, max_rules=2, random_state=0)
    assert re.search(r"No rule predicts [012]\.", simple.summary(*rows))
    # Without y it is what the model answers that counts.
    with pytest.warns(UserWarning, match="rule predicts"):
        simplify(forest, data.data, max_rules=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        every = simplify(forest, *rows, max_rules=4, random_state=0)
        one = simplify(forest, *rows, max_rules=1, random_state=0)
    assert "No rule predicts" not in every.summary(*rows)
    assert "No rule predicts" in one.summary(*rows)


def test_summary_of_one_rule_says_that_it_has_no_conditions(xor):
    forest, X, _ = xor
    text = simplify(forest, X[:300], max_rules=1, random_state=0).summary()
    assert "1 rule without conditions." in text


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_no_rows_get_no_answers_from_arrays_and_frames_alike(xor, make):
    forest, X, _ = xor
    simple = simplify(forest, make(X[:300]), random_state=0)
    for verb, shape in (
        ("predict", (0,)),
        ("apply", (0,)),
        ("predict_proba", (0, 2)),
    ):
        assert getattr(simple, verb)(make(X[:0])).shape == shape
    with pytest.raises(ValueError, match="X has 3 features"):
        simple.predict(np.empty((0, 3)))


def test_weight_of_a_row_moves_the_answer():
    X, y = make_xor(300, 4)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    values = read_forest(forest).predict(X)
    weight = np.where(values > values.mean(), 10.0, 1.0)
    heavy = DefragRegressor(forest, max_rules=1, random_state=0).fit(
        X, sample_weight=weight
    )
    expected = np.average(values, weights=weight)
    assert heavy.rules_.default.prediction == pytest.approx(expected, abs=1e-3)
    assert abs(expected - values.mean()) > 0.1


def test_progress_is_quiet_for_short_work_and_shows_long_work():
    stream = io.StringIO()
    with Progress("restarts", 4, stream) as progress:
        progress.advance()
    assert stream.getvalue() == ""
    with Progress("restarts", 4, stream) as progress:
        progress.begin -= 2
        progress.advance(2)
    assert stream.getvalue().startswith(
        "\rrestarts [##########          ]  50% 2 s, 2 s left"
    )


def test_an_model_is_read_once_and_walked_once_over_the_rows(xor, monkeypatch):
    model, X, _ = xor
    read, walked = [], []

    module = import_module("defragtrees.ensembles.predictions")
    reader = module.read_forest
    monkeypatch.setattr(
        module, "read_forest", lambda given: read.append(given) or reader(given)
    )
    real = Forest.predict_raw_encoded
    monkeypatch.setattr(
        Forest,
        "predict_raw_encoded",
        lambda forest, matrix: walked.append(len(matrix)) or real(forest, matrix),
    )
    simple = DefragClassifier(model, augment=0, random_state=0).fit(X)
    assert read == [model]
    assert walked == [len(X)]
    assert simple.model_ is simple.model is model
    DefragClassifier(model, augment=0, random_state=0).fit(X)
    assert read == [model] * 2


def test_one_class_everywhere_may_still_be_more_or_less_likely(recwarn):
    rng = np.random.default_rng(0)
    X = rng.random((500, 2))
    y = rng.random(500) < 0.02 + 0.2 * (X[:, 0] > 0.5)
    forest = RandomForestClassifier(20, min_samples_leaf=25, random_state=0).fit(X, y)
    assert not forest.predict(X).any()
    simple = DefragClassifier(forest, max_rules=2, random_state=0).fit(X, y)
    assert simple.rules_.n_rules == 2
    assert not [w for w in recwarn if "a single value" in str(w.message)]
