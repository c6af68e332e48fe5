"""A third kind of y, counts with a Poisson loss, is one class and one entry.

All that depends on it stands in this file; everything else works as it does for classes
and numbers: rules are fitted, predict, are printed, saved, measured, checked on new
rows, drawn and exported.
"""

import dataclasses
import json
import math
import sqlite3
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy.special import xlogy
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_poisson_deviance

import defragtrees
from defragtrees import (
    Condition,
    DefragRegressor,
    Rule,
    RuleList,
    metrics,
    read_forest,
    write_report,
)
from defragtrees.export import to_frame
from defragtrees.outcomes import OUTCOMES, make_outcome
from defragtrees.outcomes.measures import Measure
from defragtrees.outcomes.regression import Numbers, NumberSums
from defragtrees.outcomes.text import NumberView

LEAST = 1e-9  # a predicted count is not less


def deviances(expected, predicted):
    predicted = np.maximum(predicted, LEAST)
    return 2 * (xlogy(expected, expected / predicted) - expected + predicted)


@dataclass(frozen=True, eq=False)
class CountSums(NumberSums):
    """Means, and the sum of y log y, from which the deviance of a rule follows."""

    logs: np.ndarray | None = None

    @classmethod
    def of(cls, outcome, target, sample_weight, group, answers):
        sums = NumberSums.of(outcome, target, sample_weight, group, answers)
        logs = np.bincount(group, sample_weight * xlogy(target, target), len(answers))
        return cls(sums.moments, sums.around, logs)

    @classmethod
    def of_group(cls, outcome, target, sample_weight):
        sums = NumberSums.of_group(outcome, target, sample_weight)
        logs = sample_weight @ xlogy(target, target)
        return cls(sums.moments, sums.around, np.array([logs]))

    def __add__(self, other):
        logs = self.logs + other.logs
        return CountSums(self.moments + other.moments, self.around, logs)

    def error(self, k, outcome, answer):
        weight = self.weight[k]
        if not weight:
            return {"error": math.nan}
        mean, answer = self.basis(k), max(answer, LEAST)
        own = self.logs[k] / weight - mean * math.log(answer) - mean + answer
        return {"error": float(max(2 * own, 0.0))}


@dataclass(frozen=True)
class CountScores:
    """Sums of deviances."""

    weight: float
    deviance: float
    has_probabilities = False

    @classmethod
    def of(cls, outcome, expected, weight, answers, probabilities=None, costs=None):
        losses = outcome.losses(expected, answers)
        return cls(float(weight.sum()), float(weight @ losses))

    def __add__(self, other):
        weight = self.weight + other.weight
        return CountScores(weight, self.deviance + other.deviance)


class CountView(NumberView):
    """Texts about counts."""

    agreement_title = "Poisson deviance"

    def prediction(self, value):
        return f"{super().prediction(value)} times"

    def estimate(self, rule):
        return "" if math.isnan(rule.n_rows) else f"{rule.n_rows:.0f} rows"


@dataclass(frozen=True)
class Counts(Numbers):
    """How often something happened."""

    task: ClassVar[str] = "counts"
    estimator_suffix: ClassVar[str] = "Counter"
    sums: ClassVar[type] = CountSums
    scores: ClassVar[type] = CountScores
    all_measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "deviance",
            "Poisson deviance",
            "mean Poisson deviance of the counts",
            False,
            lambda scores: scores.deviance / scores.weight,
        ),
    )
    error_name: ClassVar[str] = "Poisson deviance"
    view_class: ClassVar[type[NumberView]] = CountView

    def check(self, y):
        y = super().check(y)
        if (y < 0).any():
            raise ValueError("Counts must not be negative.")
        return y

    def shown_error(self, error):
        return error

    def losses(self, expected, predicted):
        return deviances(np.ravel(expected), np.ravel(predicted))

    def fidelity_of_loss(self, loss, moments):
        return 1 / (1 + loss)

    def search_target(self, target):
        return np.sqrt(super().search_target(target))  # the variance is even here


class DefragCounter(DefragRegressor):
    """The default method for counts."""

    _task = "counts"


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(OUTCOMES, "counts", Counts)


@pytest.fixture(scope="module")
def visits():
    """Visits per month, by distance and age; the distance decides."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 10, 900), rng.uniform(20, 80, 900)])
    return X, rng.poisson(np.where(X[:, 0] < 3, 6.0, 1.0)).astype(float)


@pytest.fixture
def rules():
    near = Rule((Condition(0, upper=3.0),), 6.0, n_rows=300.0, coverage=0.3)
    far = Rule((), 1.0, n_rows=600.0, coverage=1.0)
    return RuleList((near,), far, ("distance", "age"), "counts")


@pytest.fixture
def fitted(visits):
    X, y = visits
    model = RandomForestRegressor(20, min_samples_leaf=10, random_state=0).fit(X, y)
    forest = dataclasses.replace(read_forest(model), task="counts")
    return DefragCounter(forest, max_rules=3, random_state=0).fit(X, y)


def test_rules_predict_and_are_printed(rules):
    assert rules.predict([[1.0, 30.0], [5.0, 30.0]]).tolist() == [6.0, 1.0]
    assert "6 times" in str(rules)
    assert "300 rows" in rules.export("text")
    assert "6 times" in rules.export("markdown")
    assert rules.explain([[1.0, 30.0]])


def test_y_is_checked_by_its_own_rules():
    with pytest.raises(ValueError, match="must not be negative"):
        make_outcome("counts").check(np.array([-1.0]))
    with pytest.raises(ValueError, match="for a counts"):
        make_outcome("counts").check(np.array(["many"]))


def test_rules_are_saved_and_loaded(rules, tmp_path):
    rules.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == rules
    assert isinstance(again.outcome, Counts)
    assert json.loads((tmp_path / "rules.json").read_text())["task"] == "counts"


def test_rules_are_measured_by_their_own_loss(rules, visits):
    X, y = visits
    expected = mean_poisson_deviance(y, rules.predict(X))
    assert metrics.error(y, rules.predict(X), "counts") == pytest.approx(expected)
    rows = metrics.calibration(rules, X, y)
    assert [row["estimated"] for row in rows] == [6.0, 1.0]
    assert rows[0]["low"] < y[X[:, 0] <= 3].mean() < rows[0]["high"]


def test_rules_are_exported(rules, visits):
    X, _ = visits
    sql = rules.export("sql", table="visits")
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE visits (distance REAL, age REAL)")
    base.executemany("INSERT INTO visits VALUES (?, ?)", X.tolist())
    answers = [row[-1] for row in base.execute(sql)]
    assert answers == rules.predict(X).tolist()
    space: dict = {}
    exec(rules.export("python"), space)
    row = {"distance": 1.0, "age": 30.0}
    assert space["predict"](row) == 6.0
    assert "These rules predict a number." in rules.export("prompt")
    assert json.loads(rules.export("json"))["task"] == "counts"
    assert to_frame(rules)["then"].tolist() == [6.0, 1.0]
    table = pd.DataFrame(X, columns=["distance", "age"])
    tree = rules.export("sklearn")
    assert tree.predict(table).tolist() == rules.predict(X).tolist()


def test_the_search_fits_and_measures_them(fitted, visits):
    X, y = visits
    rules = fitted.rules_
    assert isinstance(rules.outcome, Counts)
    first = rules.rules[0].conditions[0]
    assert first.feature == 0
    scores = fitted.evaluate(X, y)
    deviance = mean_poisson_deviance(y, np.maximum(rules.predict(X), LEAST))
    assert scores["deviance"] == pytest.approx(deviance)
    assert scores["error"] == pytest.approx(deviance)
    by_rule = sum(rule.share * rule.error for rule in rules)
    assert by_rule == pytest.approx(deviance)


def test_new_rows_are_checked_and_pictures_drawn(fitted, visits):
    X, y = visits
    assert not fitted.rules_.check(X, y).has_moved
    assert fitted.rules_.check(X, y + 4).has_moved
    plots = pytest.importorskip("defragtrees.plots")
    assert plots.risks(fitted.rules_).get_xlabel()
    assert plots.calibration(fitted.rules_, X, y).get_xlabel() == "estimated mean"


def test_a_report_is_written(fitted, visits, tmp_path):
    pytest.importorskip("jinja2")
    path = write_report(tmp_path / "report.html", fitted, *visits)
    page = path.read_text(encoding="utf-8")
    assert "Poisson deviance" in page
    assert "times" in page
