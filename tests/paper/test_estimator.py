"""FABRulesClassifier and FABRulesRegressor, from a model to rules."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning

from defragtrees import simplify
from defragtrees.datasets import load_sample
from defragtrees.paper import FABRulesClassifier, FABRulesRegressor
from tests.paper.settings import GENTLE


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


def fitted(forest, X, y=None, **settings):
    return FABRulesClassifier(forest, **settings).fit(X, y)


def test_chessboard_is_four_components_as_good_as_the_forest(xor):
    forest, X, y = xor
    simple = fitted(forest, X[:1000], y[:1000], random_state=0)
    scores = simple.evaluate(X[1000:], y[1000:])
    assert 4 <= scores["n_rules"] <= 6
    error = np.mean(simple.predict_posterior(X[1000:]) != y[1000:])
    assert error <= scores["model_error"] + 0.02
    assert scores["error"] <= scores["model_error"] + 0.03


def test_paper_settings_run_too(xor):
    forest, X, y = xor
    simple = fitted(
        forest,
        X[:1000],
        y[:1000],
        e_step="gentle",
        shorten_thresholds=False,
        random_state=0,
    )
    assert simple.posterior_.n_components <= 10
    assert np.mean(simple.predict_posterior(X[1000:]) != y[1000:]) < 0.25


def test_em_keeps_as_many_components_as_asked_for(xor):
    forest, X, _ = xor
    simple = fitted(
        forest,
        X[:300],
        **GENTLE,
        inference="em",
        max_rules=6,
        n_restarts=3,
        random_state=0,
    )
    assert simple.posterior_.n_components == 6


def test_history_has_every_iteration_and_callback_stops_early(xor):
    forest, X, _ = xor
    simple = fitted(forest, X[:300], random_state=0, n_restarts=3, **GENTLE)
    assert {step.restart for step in simple.history_} == {0, 1, 2}
    kept = [s for s in simple.history_ if s.restart == simple.history_[0].restart]
    assert [s.iteration for s in kept] == list(range(1, len(kept) + 1))
    short = fitted(
        forest,
        X[:300],
        **GENTLE,
        random_state=0,
        n_restarts=3,
        callback=lambda step: step.iteration >= 2,
    )
    assert max(step.iteration for step in short.history_) == 2


def test_component_rules_are_the_boxes_before_they_are_put_in_order():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    model = FABRulesClassifier(forest, random_state=0).fit(X, y)
    boxes = model.component_rules_
    assert len(boxes) == model.posterior_.n_components
    held = np.array([rule.covers(X) for rule in boxes])
    # Nearly every row is in one box, whose answer is that of the model.
    assert held.sum(axis=0).mean() == pytest.approx(1, abs=0.15)
    for rule, own in zip(boxes, held, strict=True):
        assert np.mean(forest.predict(X[own]) == rule.prediction) > 0.9


def test_features_limit_the_boxes_of_components_too():
    energy = load_sample("energy")
    forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)
    forest.fit(energy.X, energy.y)
    settings = {"max_rules": 4, "random_state": 0, "n_restarts": 5, **GENTLE}
    free = FABRulesRegressor(forest, **settings).fit(energy.X)
    bound = FABRulesRegressor(forest, features=[2, 4], **settings).fit(energy.X)
    used = {c.feature for rule in bound.component_rules_ for c in rule.conditions}
    assert used <= {2, 4}
    assert {c.feature for r in bound.rules_.rules for c in r.conditions} <= {2, 4}
    # The mixture itself is the same, only what is said of it differs.
    assert [rule.prediction for rule in bound.component_rules_] == [
        rule.prediction for rule in free.component_rules_
    ]


def test_fit_that_did_not_converge_says_so(xor):
    forest, X, _ = xor
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        fitted(forest, X[:80], max_iter=1, **GENTLE)


def test_fit_that_is_only_watched_says_so_too(xor):
    forest, X, _ = xor
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        fitted(forest, X[:80], max_iter=1, callback=lambda step: None, **GENTLE)


def test_searched_rules_are_shorter_and_better_than_the_components():
    data = load_sample("spambase")
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    forest.fit(data.X[:800], data.y[:800])
    X, y = data.X[:800], data.y[:800]
    searched = simplify(forest, X, y, random_state=0)
    plain = fitted(forest, X, y, random_state=0, n_restarts=5, **GENTLE)
    after, before = (
        one.evaluate(data.X[800:], data.y[800:]) for one in (searched, plain)
    )
    assert after["error"] < before["error"]
    assert after["mean_conditions"] <= 4 < before["mean_conditions"]


def test_defaults_are_those_of_the_paper():
    found = FABRulesClassifier().get_params()
    expected = {
        "e_step": "original",
        "target": "labels",
        "inference": "fab",
        "n_restarts": 20,
    }
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_restarts": -1}, "n_restarts must be a whole number from 1; got -1"),
        ({"inference": "vb"}, "inference must be 'fab' or 'em'; got 'vb'"),
        ({"tol": "small"}, "tol must be a number from 0; got 'small'"),
        ({"callback": 3}, "callback must be None or a function; got 3."),
    ],
)
def test_settings_that_cannot_be_are_refused(xor, settings, message):
    forest, X, y = xor
    with pytest.raises(ValueError, match=message):
        FABRulesClassifier(forest, **settings).fit(X[:80], y[:80])


@pytest.mark.parametrize(
    "settings",
    [
        {"max_conditions": 2},
        {"min_rows": 0.1},
        {"form": "points"},
        {"brevity": 0.02},
        {"class_weight": "balanced"},
        {"costs": {(0, 1): 2}},
        {"threshold": 0.3},
        {"exclude": [0]},
    ],
    ids=str,
)
def test_settings_of_the_search_are_refused(xor, settings):
    forest, X, y = xor
    [name] = settings
    with pytest.raises(TypeError, match=f"{name} is not a setting of FABRulesClass"):
        simplify(forest, X[:80], y[:80], method="paper", **settings)
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        FABRulesRegressor(**settings)
