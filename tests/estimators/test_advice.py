"""What a summary adds to the scores: points, and what is left of a model's lead."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import DefragClassifier, DefragRegressor


def make_sum(n_rows=800):
    """Six columns whose effects add up, which no short list can follow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    likely = 1 / (1 + np.exp(-3 * np.sign(X).sum(axis=1)))
    return X, rng.uniform(size=n_rows) < likely


def make_steps(n_rows=800):
    """One column with three steps, all that there is to know."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n_rows, 3))
    likely = np.select([X[:, 0] < 0.3, X[:, 0] < 0.6], [0.1, 0.8], 0.3)
    return X, rng.uniform(size=n_rows) < likely


def fitted(X, y, **settings):
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y)
    return DefragClassifier(forest, max_rules=6, random_state=0, **settings).fit(X, y)


def test_points_are_recommended_where_effects_add_up_and_are_better():
    X, y = make_sum()
    simple = fitted(X[::2], y[::2])
    [text] = [text for text in simple.advice_ if text.startswith("Points")]
    assert text in " ".join(simple.summary().split())
    assert text not in " ".join(simple.summary(X[1::2], y[1::2]).split())
    assert f"these rules {simple.training_['auc']:.3f}." in text
    card = fitted(X[::2], y[::2], form="points")
    new = X[1::2], y[1::2]
    assert card.evaluate(*new)["auc"] > simple.evaluate(*new)["auc"] + 0.02
    assert not any(text.startswith("Points") for text in card.advice_)


def test_points_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    y = np.sign(X).sum(axis=1) + 0.1 * rng.normal(size=600)
    forest = RandomForestRegressor(30, random_state=0).fit(X, y)
    simple = DefragRegressor(forest, max_rules=6, random_state=0).fit(X, y)
    points, learned = simple.advice_
    assert points.startswith("Points would do better")
    assert learned.startswith("What the rules learn from y removes")
    assert "R² 0." in simple.advice_[0]


def test_a_lead_that_is_overfitting_is_called_so():
    X, y = make_steps()
    simple = fitted(X, y)
    [text] = simple.advice_
    lead = simple.training_["model_auc"] - simple.training_["auc"]
    assert f"lead in AUC is {lead:.2f} on these rows" in text
    left = float(text.partition("but about ")[2].split()[0])
    rng = np.random.default_rng(1)
    new = rng.uniform(size=(5000, 3))
    likely = np.select([new[:, 0] < 0.3, new[:, 0] < 0.6], [0.1, 0.8], 0.3)
    scores = simple.evaluate(new, rng.uniform(size=5000) < likely)
    assert scores["model_auc"] - scores["auc"] <= left < lead


@pytest.mark.parametrize("settings", [{"target": "labels"}, {"form": "standalone"}])
def test_every_fit_has_its_own_advice(settings):
    X, y = make_sum(400)
    simple = fitted(X, y, **settings)
    assert isinstance(simple.advice_, tuple)
    forest = simple.model
    assert simple.set_params(target="model").fit(X).advice_ == ()
    assert simple.model is forest


@pytest.mark.parametrize("is_sum", [False, True])
@pytest.mark.parametrize("settings", [{}, {"criterion": "error"}])
def test_rows_that_the_model_did_not_use_show_whether_it_is_ahead(is_sum, settings):
    """Where it was trained it always is, which these rows do not hide."""
    X, y = (make_sum if is_sum else make_steps)(3000)
    trained, new = (X[::2], y[::2]), (X[1::2], y[1::2])
    forest = RandomForestClassifier(50, random_state=0).fit(*trained)
    simple = DefragClassifier(forest, max_rules=6, random_state=0, **settings)
    simple.fit(*trained, validation=new)
    assert simple.training_["model_auc"] > simple.training_["auc"] + 0.05
    is_equal = any("predict as well as the model" in text for text in simple.advice_)
    assert is_equal == (not is_sum)
    assert not any("lead" in text for text in simple.advice_)
