"""`evaluate` and `summary` of rules alone, and beside a model of any kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import load, simplify
from defragtrees.datasets import load_table
from defragtrees.outcomes.intervals import mean_interval, wilson_interval


@pytest.fixture(scope="module")
def heart():
    X, y = load_table("heart")
    words = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer((encoder, words), remainder="passthrough")
    model = make_pipeline(columns, RandomForestClassifier(10, random_state=0))
    return model.fit(X, y), X, y


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_rules_have_the_measures_of_their_estimator(heart, form):
    model, X, y = heart
    simple = simplify(model, X, y, form=form, max_rules=3, random_state=0)
    weight = np.linspace(0.5, 2.0, len(X))
    expected = simple.evaluate(X, y, weight)
    # The pipeline gets X as it is.
    assert simple.rules_.evaluate(X, y, weight, model=model) == expected
    alone = simple.rules_.evaluate(X, y, weight)
    of_model = [
        name
        for name in expected
        if name.startswith(("model_", "fidelity", "correlation"))
    ]
    assert alone == {k: v for k, v in expected.items() if k not in of_model}
    assert set(simple.rules_.evaluate(X)) == set(list(alone)[:5])


def test_edited_and_loaded_rules_are_measured(heart, tmp_path):
    model, X, y = heart
    rules = simplify(model, X, y, max_rules=4, random_state=0).rules_.drop(1)
    rules.save(tmp_path / "rules.json")
    found = load(tmp_path / "rules.json").evaluate(X, y, model=model)
    assert found["error"] == np.mean(rules.predict(X) != y)
    assert found["fidelity"] == np.mean(rules.predict(X) == model.predict(X))
    assert found["model_error"] == np.mean(model.predict(X) != y)


def test_a_black_box_or_a_function_is_queried(heart):
    model, X, y = heart
    rules = simplify(model, X, y, max_rules=3, random_state=0).rules_
    numbers = X.select_dtypes("number").columns
    box = KNeighborsClassifier().fit(X[numbers].fillna(0), y)

    class Boxed:
        classes_ = box.classes_[::-1]

        def predict(self, X):
            return box.predict(X[numbers].fillna(0))

        def predict_proba(self, X):
            return box.predict_proba(X[numbers].fillna(0))[:, ::-1]

    found = rules.evaluate(X, y, model=Boxed())
    predicted = Boxed().predict(X)
    assert found["fidelity"] == np.mean(rules.predict(X) == predicted)
    assert found["model_error"] == np.mean(predicted != y)
    # The columns of probabilities are matched by class.
    assert found["model_auc"] > 0.5
    by_class = rules.evaluate(X, y, model=Boxed().predict)
    assert by_class["fidelity"] == found["fidelity"]
    assert "model_auc" not in by_class


def test_models_that_do_not_fit_the_rules_are_rejected(heart):
    model, X, y = heart
    rules = simplify(model, X, y, max_rules=3, random_state=0).rules_
    with pytest.raises(NotFittedError, match="model must be fitted"):
        rules.evaluate(X, y, model=RandomForestClassifier())
    numbers = X.select_dtypes("number")
    other = RandomForestRegressor(2).fit(numbers, np.arange(len(X)))
    with pytest.raises(ValueError, match="model must be for classification"):
        rules.evaluate(X, y, model=other)
    with pytest.raises(ValueError, match="predict the classes"):
        rules.evaluate(X, y, model=lambda X: np.full(len(X), "neither"))
    with pytest.raises(ValueError, match="one of these"):
        rules.evaluate(X, np.zeros(len(X)))


def test_numbers_are_measured_beside_a_function():
    X = pd.DataFrame({"a": np.arange(40.0)})
    y = np.where(X["a"] > 20, 5.0, 1.0)
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    rules = simplify(forest, X, y, max_rules=2, random_state=0).rules_
    found = rules.evaluate(X, y, model=lambda X: np.where(X["a"] > 20, 5.0, 1.0))
    assert found["model_mae"] == 0.0
    assert found["fidelity"] == pytest.approx(found["r2"])


def test_rows_need_not_be_in_memory(heart, tmp_path):
    model, X, y = heart
    rules = simplify(model, X, y, form="points", max_rules=4, random_state=0).rules_
    X.assign(state=y).to_parquet(tmp_path / "rows.parquet")
    found = rules.evaluate(tmp_path / "rows.parquet", "state", model=model)
    assert found == pytest.approx(rules.evaluate(X, y, model=model), nan_ok=True)
    parts = [(X[:100], y[:100]), (X[100:], y[100:])]
    text = rules.summary(iter(parts))
    assert text == rules.summary(X, y)


def test_the_summary_of_rules_alone_has_no_model(heart):
    model, X, y = heart
    simple = simplify(model, X, y, max_rules=3, random_state=0)
    rules = simple.rules_
    assert rules.summary() == str(rules)
    assert rules.summary(X, y, model=model) == simple.summary(X, y)
    alone = rules.summary(X, y)
    assert "the model " not in alone.partition("conditions each")[2]
    assert "agreement" not in alone
    assert "Estimated and observed on these rows, for ill:" in alone
    assert "on these rows" not in rules.summary(X)


def test_the_summary_of_a_scorecard_compares_totals(heart):
    model, X, y = heart
    simple = simplify(
        model, X, y, form="points", points="integer", max_rules=4, random_state=0
    )
    table = simple.summary(X, y).split("for ill:\n")[1]
    assert table.split()[0] == "total"
    n_rows = [int(line.split()[-1]) for line in table.splitlines()[1:-1]]
    assert sum(n_rows) == len(X)


@pytest.mark.parametrize("is_number", [False, True])
def test_an_error_has_the_interval_of_the_rows_that_weights_are_worth(heart, is_number):
    model, X, y = heart
    if is_number:
        X, y = X.select_dtypes("number").fillna(0.0), X["age"] + 0.0
        model = RandomForestRegressor(5, random_state=0).fit(X, y)
    rules = simplify(model, X, y, max_rules=3, random_state=0).rules_
    weight = np.arange(len(X)) % 3 + 1.0
    found = rules.evaluate(X, y, 500 * weight)
    losses = rules.outcome.losses(y.to_numpy(), rules.predict(X))
    n_rows = weight.sum() ** 2 / (weight**2).sum()
    if is_number:
        spread = np.sqrt(np.average((losses - found["error"]) ** 2, weights=weight))
        ends = mean_interval(found["error"], spread, n_rows, is_positive=True)
    else:
        ends = wilson_interval(found["error"], n_rows)
    assert (found["error_low"], found["error_high"]) == pytest.approx(ends)
    shown = rules._view.y_view.error_range(rules.evaluate(X, y))
    assert f"of the rules: {shown}." in " ".join(rules.summary(X, y).split())
