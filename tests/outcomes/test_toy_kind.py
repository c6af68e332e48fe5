"""A kind of y with two columns is one module, one entry: nothing else knows of it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import defragtrees
from defragtrees import DefragRegressor
from defragtrees.outcomes import OUTCOMES
from defragtrees.outcomes.regression import Numbers, NumberScores, NumberSums


def ratios(y):
    """Ratios and their denominators; a prediction stands for a denominator of one."""
    y = np.asarray(y, dtype=np.float64)
    return (y[:, 0] / y[:, 1], y[:, 1]) if y.ndim == 2 else (y, np.ones(len(y)))


class RatioSums(NumberSums):
    @classmethod
    def of(cls, outcome, y, sample_weight, group, predictions):
        ratio, size = ratios(y)
        return super().of(outcome, ratio, sample_weight * size, group, predictions)

    @classmethod
    def of_group(cls, outcome, y, sample_weight):
        ratio, size = ratios(y)
        return super().of_group(outcome, ratio, sample_weight * size)


class RatioScores(NumberScores):
    @classmethod
    def of(cls, outcome, y, weight, predictions, probabilities=None, costs=None):
        ratio, size = ratios(y)
        return super().of(outcome, ratio, weight * size, predictions)


@dataclass(frozen=True)
class Ratios(Numbers):
    """A total and the size that it is divided by, as yields in fields."""

    task: ClassVar[str] = "ratios"
    models: ClassVar[tuple[str, ...]] = ("regression",)
    columns: ClassVar[tuple[str, ...]] = ("total", "size")
    sums: ClassVar[type] = RatioSums
    scores: ClassVar[type] = RatioScores
    keeps_residuals: ClassVar[bool] = False

    def check(self, y):
        y = super().check(y)
        if (y[:, 1] <= 0).any():
            raise ValueError("size must be above 0.")
        return y

    def indicators(self, y):
        return ratios(y)[0][:, None]

    def mean_weight(self, y, weight):
        return weight if y is None else weight * ratios(y)[1]

    def moments(self, y, weight):
        ratio, size = ratios(y)
        return super().moments(ratio, weight * size)

    def training_data(self, y, weight, is_default=True):
        ratio, size = ratios(y)
        return ratio, size if weight is None else weight * size

    def losses(self, y, predicted):
        ratio, size = ratios(y)
        return size * (ratio - np.ravel(predicted)) ** 2

    def distances(self, y, predicted):
        return super().distances(ratios(y)[0], predicted)

    def rate_change(self, rule, y, n_then):
        return super().rate_change(rule, ratios(y)[0], n_then)

    def target_change(self, then, n_then, y):
        return super().target_change(then, n_then, ratios(y)[0])


class DefragRatios(DefragRegressor):
    _task = "ratios"


@pytest.fixture
def fields(monkeypatch):
    monkeypatch.setitem(OUTCOMES, "ratios", Ratios)
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    size = rng.integers(1, 5, 600)
    ratio = 2.0 + 3.0 * (X[:, 0] > 0.5) + rng.normal(0, 0.2, 600)
    return X, np.column_stack([ratio * size, size])


@pytest.fixture
def model(fields):
    X, y = fields
    grown = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    grown.fit(X, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    return DefragRatios(model=grown, max_rules=2, random_state=0).fit(X, y)


def test_rules_predict_the_mean_weighted_by_the_second_column(fields, model):
    (X, y), rules = fields, model.rules_
    assert isinstance(rules.outcome, Ratios)
    is_first = rules.apply(X) == 0
    means = [y[rows, 0].sum() / y[rows, 1].sum() for rows in (is_first, ~is_first)]
    assert [rule.prediction for rule in rules] == pytest.approx(means, abs=0.05)
    assert "prediction" in str(rules)


def test_they_are_saved_measured_checked_and_exported(fields, model, tmp_path):
    (X, y), rules = fields, model.rules_
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules
    apart = np.average((y[:, 0] / y[:, 1] - rules.predict(X)) ** 2, weights=y[:, 1])
    assert rules.evaluate(X, y)["rmse"] == pytest.approx(np.sqrt(apart))
    assert not rules.check(X, y)
    assert rules.check(X, y * [2.0, 1.0])
    assert "CASE" in rules.export("sql")
    assert isinstance(rules.refit(X[:300], y[:300]).outcome, Ratios)
    with pytest.raises(ValueError, match="size must be above 0"):
        rules.evaluate(X, y * [1.0, 0.0])
