"""Rules that learn from y what their model misses."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import DefragClassifier, DefragCounter, load, simplify
from defragtrees.data import sources
from defragtrees.estimators import problem as teacher

FEW = {"max_rules": 4, "random_state": 0}


def rows(n_rows=600, seed=0):
    """A table, what a model was trained on, and y, which also depends on `pay`."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n_rows, 3)), columns=["age", "pay", "debt"])
    X["job"] = pd.Categorical(np.array(["a", "b", "c"])[rng.integers(3, size=n_rows)])
    X.loc[rng.random(n_rows) < 0.1, "debt"] = np.nan
    noise = rng.normal(0, 0.1, n_rows)
    before = X["age"] + 0.3 * (X["pay"] > 0.5) + 0.1 * (X["job"] == "a") + noise
    return X, before, before - 1.2 * (X["pay"] > 0.5)


def as_numbers(X):
    return X.assign(job=X["job"].cat.codes.astype(float))


def as_y(kind, before, y):
    """Numbers, or two or three classes of them."""
    if kind == "numbers":
        return before.to_numpy(), y.to_numpy()
    cuts = [0.3] if kind == "two" else [0.0, 0.6]
    return np.digitize(before, cuts), np.digitize(y, cuts)


pytestmark = pytest.mark.filterwarnings("ignore:No rule predicts")


@pytest.mark.parametrize("form", ["list", "points"])
@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_rules_learn_what_the_model_misses(kind, form, tmp_path):
    X, before, y = rows(1200)
    X, (before, y) = as_numbers(X), as_y(kind, before, y)
    make = RandomForestRegressor if kind == "numbers" else RandomForestClassifier
    forest = make(10, max_depth=4, random_state=0).fit(X[:600], before[:600])
    errors = {}
    for target in ("auto", "model"):
        simple = simplify(forest, X[:600], y[:600], form=form, target=target, **FEW)
        errors[target] = simple.evaluate(X[600:], y[600:])["error"]
        correction = simple.rules_.evidence.correction
        if target == "model":
            assert correction is None
            continue
        assert correction.weight > 0.8
        assert correction.gain > 0.2
        assert f"weight {correction.weight:g}" in " ".join(str(simple.rules_).split())
        simple.save(tmp_path / "rules.json")
        assert load(tmp_path / "rules.json").evidence == simple.rules_.evidence
    assert errors["auto"] < 0.7 * errors["model"]


@pytest.fixture(scope="module")
def weak():
    """A table with categories and missing values, y, and a forest of other labels."""
    X, before, y = rows()
    before, y = as_y("two", before, y)
    forest = RandomForestClassifier(10, max_depth=3, random_state=0)
    return forest.fit(as_numbers(X), before), X, y


def test_a_median_is_no_mean_that_misses_something():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = np.exp(3 * rng.normal(size=300)) + (X[:, 0] > 0.5)
    model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=5).fit(X, y)
    simple = simplify(model, X, y, max_rules=2)
    assert simple.rules_.evidence.correction is None


def test_rates_of_events_are_corrected_and_stay_above_zero():
    rng = np.random.default_rng(0)
    X, exposure = rng.random((800, 2)), rng.uniform(0.1, 2.0, 800)
    model = DecisionTreeRegressor(max_depth=3).fit(X, np.where(X[:, 0] < 0.3, 0.1, 2.0))
    rate = np.where(X[:, 0] < 0.3, 3.0, 0.02)
    y = np.column_stack([rng.poisson(rate * exposure), exposure])
    simple = DefragCounter(model, max_rules=2).fit(X, y)
    assert simple.rules_.evidence.correction.weight > 0.8
    assert simple.predict(X) == pytest.approx(rate, abs=0.3)
    change = np.array([[-3.0], [1.0]])
    assert (simple.rules_.outcome.corrected(np.ones((2, 1)), change) > 0).all()


def saved(simple, path):
    simple.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "case", ["nothing missed", "few rows", "few by weight", "no y"]
)
def test_without_a_correction_rules_are_those_of_the_model(weak, case, tmp_path):
    forest, X, y = weak
    X, weight = as_numbers(X), None
    if case == "nothing missed":
        forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    elif case == "few rows":
        X, y = X[:99], y[:99]
    elif case == "few by weight":
        weight = np.where(np.arange(len(y)) < 20, 100.0, 1.0)
    else:
        y = None
    auto, model = (
        simplify(forest, X, y, weight, target=target, **FEW)
        for target in (None, "model")
    )
    assert saved(auto, tmp_path / "a") == saved(model, tmp_path / "b")


def test_the_order_of_rows_and_columns_does_not_matter(weak):
    _, X, y = weak
    pipeline = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough"
        ),
        RandomForestClassifier(10, max_depth=2, random_state=0),
    ).fit(X, 1 - y)
    one = simplify(pipeline, X, y, **FEW)
    order = np.random.default_rng(1).permutation(len(y))
    with pytest.warns(UserWarning, match="order"):
        other = simplify(pipeline, X.iloc[order, [3, 1, 0, 2]], y[order], **FEW)
    assert one.rules_.evidence.correction.weight > 0.5
    assert str(other.rules_) == str(one.rules_)


def test_a_black_box_is_corrected_whatever_the_order_of_its_columns(weak):
    _, X, y = weak
    found = []
    for names in (["age", "pay"], ["pay", "age"]):
        box = KNeighborsClassifier(50).fit(X[names], 1 - y)
        found.append(simplify(box, X[names], y, **FEW))
    one, other = found
    assert one.rules_.evidence.correction.weight > 0.5
    assert one.training_["error"] < one.training_["model_error"]
    assert other.training_ == one.training_


def test_a_sample_of_codes_finds_the_correction(weak, monkeypatch):
    forest, X, y = weak
    own = simplify(forest, as_numbers(X), y, **FEW).training_["error"]
    monkeypatch.setattr(sources, "MANY_ROWS", 400)
    simple = simplify(forest, as_numbers(X), y, **FEW)
    assert simple.rules_.evidence.correction.weight > 0.5
    assert simple.training_["error"] < own + 0.1


def test_validation_rows_find_no_correction(weak):
    """They count, and would not be new rows if they had been learned from."""
    X, y = as_numbers(weak[1]), weak[2].astype(float)
    tree = DecisionTreeRegressor(max_depth=3).fit(X, 1 - y)
    y_new, right = y[:300], tree.predict(X)  # by the rows of X
    simple = simplify(tree, X, right, validation=(X[:300] + 0.01, y_new), **FEW)
    assert simple.rules_.evidence.correction is None


def found_by(monkeypatch, *fits):
    """What `find_teacher` found in each fit."""
    found, find = [], teacher.find_teacher

    def noted(problem):
        found.append(find(problem))
        return found[-1]

    monkeypatch.setattr("defragtrees.estimators.defrag.find_teacher", noted)
    for fit in fits:
        fit()
    return [one and one.correction for one in found]


def test_a_weight_of_two_is_a_row_given_twice(weak, monkeypatch):
    forest, X, y = weak
    X, twice = as_numbers(X), np.arange(len(y)) % 4 == 0
    X_more, y_more = pd.concat([X, X[twice]]), np.append(y, y[twice])
    make = DefragClassifier(forest, max_rules=2)
    one, two = found_by(
        monkeypatch,
        lambda: make.fit(X, y, 1.0 + twice),
        lambda: make.fit(X_more, y_more),
    )
    assert one == two
    assert one.weight > 0.5


def test_copies_of_rows_do_not_predict_each_other(monkeypatch):
    rng = np.random.default_rng(1)
    X, y = rng.random((150, 4)), rng.integers(2, size=150)
    tree = DecisionTreeClassifier(max_depth=1).fit(X, y)
    X, y = np.repeat(X, 5, axis=0), np.repeat(y, 5)
    make = DefragClassifier(tree, max_rules=2)
    assert found_by(monkeypatch, lambda: make.fit(X, y)) == [None]
