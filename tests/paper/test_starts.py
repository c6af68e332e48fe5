"""Restarts of the paper's method begin in the units of y; all others do not."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

from defragtrees import datasets
from defragtrees.data import sources
from defragtrees.data.store import Target
from defragtrees.paper import FABRulesRegressor
from defragtrees.paper.fit import draw_rest, random_params
from tests.paper.problems import Case

LAYOUT = Case(0, 30, 2, 0, False, False).layout


@pytest.fixture(scope="module")
def energy():
    """Half of Energy, whose y has mean 22 and standard deviation 10."""
    data = datasets.load_sample("energy")
    X, y = data.X[::2], data.y[::2]
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0).fit(X, y)
    return forest, X, y


def paper(forest, *rows, **settings):
    given = {"n_restarts": 4, "random_state": 0, **settings}
    return FABRulesRegressor(forest, **given).fit(*rows)


def test_means_and_precisions_are_drawn_in_the_units_of_y():
    seeds = np.random.default_rng(0).spawn(400)
    params = random_params(LAYOUT, 4000, np.random.default_rng(1))
    found = draw_rest(params, 100, seeds, Target("y", 22.0, 10.0)).params
    mean, precision = 22 + 10 * found.mean, found.precision / 10**2
    # Standard normal numbers, and uniform ones from 0 to 1.
    assert [mean.mean(), mean.std()] == pytest.approx([0, 1], abs=0.05)
    assert [precision.mean(), precision.std()] == pytest.approx([0.5, 0.289], abs=0.02)
    assert 0 < precision.min() < 0.01
    assert 0.99 < precision.max() <= 1


@pytest.mark.parametrize(
    ("center", "scale", "means"),
    [
        (22.0, 10.0, [-2.2, -2.1]),
        (0.0, 1e-3, [0.0, 1000.0]),
        (2e7, 1e7, [-2.0, -2.0]),
        (1e90, 1.0, [-1e12, -1e12]),
        (0.0, 1e-90, [0.0, 1e12]),
    ],
)
def test_a_start_is_the_same_point_in_all_units(center, scale, means):
    params = random_params(LAYOUT, 2, np.random.default_rng(0))
    params = replace(params, mean=np.array([0.0, 1.0]))
    seeds = np.random.default_rng(0).spawn(1)
    found = draw_rest(params, 100, seeds, Target("y", center, scale)).params
    assert found.mean.tolist() == pytest.approx(means, rel=1e-6)
    # What a row may cost at most is a number of float32 too.
    assert (found.precision > np.finfo(np.float32).tiny).all()
    most = found.precision * (np.abs(found.mean) + 100) ** 2
    assert (most < np.finfo(np.float32).max / 1000).all()


def mean_components(model):
    """How many components the restarts have at their ends, on average."""
    ends = {step.restart: step.n_components for step in model.history_}
    return np.mean(list(ends.values()))


@pytest.mark.parametrize("e_step", ["original", "converged"])
def test_y_near_zero_keeps_more_components_than_y_far_from_it(energy, e_step):
    forest, X, y = energy
    numbers = {"as it is": y, "standardised": (y - y.mean()) / y.std()}
    found = {
        name: paper(forest, X, own, e_step=e_step, n_restarts=20)
        for name, own in numbers.items()
    }
    sizes = {name: mean_components(model) for name, model in found.items()}
    assert 1 < sizes["as it is"] < 3
    assert sizes["standardised"] > 4


def test_units_have_no_say_in_other_starts(energy):
    forest, X, y = energy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = (paper(forest, X, own, e_step="gentle") for own in (y, 1024 * y))
    assert one.posterior_.n_components > 1
    objectives = [[step.objective for step in m.history_] for m in (one, other)]
    np.testing.assert_allclose(objectives[0], objectives[1], rtol=1e-9)


EXTREMES = {
    "large": lambda y: 1e6 * y,
    "largest": lambda y: -1e97 * y,
    "small": lambda y: y / 1e6,
    "smallest": lambda y: y / 1e97,
    "far": lambda y: y + 1e12,
    "constant": lambda y: np.full(len(y), 7.0),
    "far constant": lambda y: np.full(len(y), 1e99),
    "zero": np.zeros_like,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("inference", ["fab", "em"])
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("most_at_once", [10**6, 100])
def test_extreme_units_give_numbers(energy, name, inference, most_at_once, monkeypatch):
    forest, X, y = energy
    y = EXTREMES[name](y)
    monkeypatch.setattr(sources, "MANY_ROWS", most_at_once)
    monkeypatch.setattr(sources, "PART_ROWS", 90)
    one = paper(forest, X, y, inference=inference)
    assert np.isfinite([step.objective for step in one.history_]).all()
    answers = one.predict_posterior(X)
    # Rounding leaves a constant of 1e99 as it is to sixteen digits.
    span = max(np.ptp(y), 1e-12 * np.abs(y).max())
    assert (answers >= y.min() - span).all()
    assert (answers <= y.max() + span).all()


@pytest.mark.parametrize("inference", ["fab", "em"])
def test_a_single_component_for_want_of_other_units_is_told(energy, inference):
    forest, X, y = energy
    told = (
        r"^All rows are in one component\. .* deviation near 1; its mean is "
        r"2\.2\d+e\+07 and its standard deviation 1\.0\d+e\+07\. Standardise y, or use "
        r'e_step="gentle"\.$'
    )
    with pytest.warns(UserWarning, match=told):
        simple = paper(forest, X, 1e6 * y, inference=inference)
    answers = simple.predict_posterior(X)
    np.testing.assert_allclose(answers, 1e6 * y.mean(), rtol=1e-9)


@pytest.mark.parametrize("settings", [{"max_rules": 1}, {"e_step": "gentle"}])
def test_nothing_is_told_of_units_that_have_no_say(energy, settings):
    forest, X, y = energy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paper(forest, X, 1e6 * y, **settings)


def steps_with_noise(n_rows):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    y = 4.0 + 3 * (X["a"] > 0.2) - 2 * (X["b"] > 0.5) + 0.3 * rng.normal(size=n_rows)
    return X, y.to_numpy()


@pytest.mark.parametrize("e_step", ["original", "converged"])
def test_rows_in_memory_in_parts_and_in_samples_start_there(e_step, monkeypatch):
    X, y = steps_with_noise(3000)
    forest = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    monkeypatch.setattr(sources, "MANY_ROWS", 800)
    monkeypatch.setattr(sources, "PART_ROWS", 700)
    assert paper(forest, X, y, e_step=e_step).posterior_.n_components > 1
    pieces = ((X[i : i + 411], y[i : i + 411]) for i in range(0, 3000, 411))
    sampled = [
        paper(forest, rows, own, e_step=e_step, n_restarts=4)
        for rows, own in ((X, y), (pieces, None))
    ]
    assert sampled[0].rules_ == sampled[1].rules_
    assert sampled[0].posterior_.n_components > 1
