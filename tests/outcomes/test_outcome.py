"""Classes and numbers check y, measure and word it, each in its own way."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from defragtrees import DefragRegressor, Rule, compare, read_forest
from defragtrees.outcomes import OUTCOMES, make_outcome
from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.regression import Numbers

CLASSES = Classes(("no", "yes"))
NUMBERS = Numbers()


@pytest.mark.parametrize(
    ("outcome", "y", "message"),
    [
        (CLASSES, np.array(["no", None], dtype=object), "missing values"),
        (CLASSES, np.array([0.0, np.nan]), "NaN or infinity; class labels"),
        (CLASSES, np.array([0.5]), "Unknown label type: continuous"),
        (NUMBERS, np.array(["no"]), "must be numeric"),
        (NUMBERS, np.array([np.inf]), "finite numbers are needed"),
        (NUMBERS, np.array([1e200]), "Use another unit"),
    ],
)
def test_y_that_cannot_be_is_refused(outcome, y, message):
    with pytest.raises(ValueError, match=message):
        outcome.check(y)


def test_labels_become_class_numbers_and_come_back():
    codes = CLASSES.encode(np.array(["yes", "no", "yes"]))
    assert codes.tolist() == [1, 0, 1]
    assert CLASSES.decode(codes).tolist() == ["yes", "no", "yes"]
    assert NUMBERS.decode(NUMBERS.encode(np.array([2.5]))).tolist() == [2.5]
    with pytest.raises(ValueError, match="does not know: \\['maybe'\\]"):
        CLASSES.encode(np.array(["maybe", "no"]))


def test_labels_of_another_type_are_a_mistake_and_new_ones_are_not():
    CLASSES.check_known(np.array(["yes", "maybe"]))
    NUMBERS.check_known(np.array([1.0]))
    with pytest.raises(ValueError, match="of another type"):
        CLASSES.check_known(np.array([0, 1]))


def test_losses_and_measures_by_hand():
    expected, predicted = ["no", "yes", "yes", "no"], ["no", "no", "yes", "no"]
    assert CLASSES.losses(expected, predicted).tolist() == [0.0, 1.0, 0.0, 0.0]
    assert CLASSES.error(expected, predicted) == 0.25
    assert CLASSES.error(expected, predicted, [1, 5, 3, 1]) == 0.5
    assert CLASSES.fidelity(expected, predicted) == 0.75
    assert NUMBERS.losses([1.0, 4.0], [2.0, 2.0]).tolist() == [1.0, 4.0]
    assert NUMBERS.error([1.0, 4.0], [2.0, 2.0]) == 2.5
    assert NUMBERS.fidelity([1.0, 3.0], [1.0, 2.0]) == 0.5
    assert NUMBERS.fidelity([2.0, 2.0], [2.0, 2.0]) == 1.0
    assert NUMBERS.fidelity([2.0, 2.0], [2.0, 3.0]) == 0.0


def test_answers_and_evidence_in_words():
    rule = Rule((), "yes", distribution=(0.25, 0.75))
    assert CLASSES.view.prediction("yes") == "yes"
    assert CLASSES.view.outputs(rule) == "no: 0.25, yes: 0.75"
    assert CLASSES.view.error(0.125) == "12.5% wrong"
    assert CLASSES.view.agreement_phrase(0.125) == "88% agreement with the model"
    assert CLASSES.view.agreement(0.125) == "88%"
    assert NUMBERS.view.prediction(2.0) == NUMBERS.view.outputs(Rule((), 2.0)) == "2"
    assert NUMBERS.view.agreement_phrase(0.0144) == "root mean squared error 0.12"
    assert NUMBERS.view.agreement(4e10) == "200,000"
    counted = Rule((), 24.5, quantiles=(20.125, 123456.0), n_rows=1212.0)
    assert NUMBERS.view.estimate(counted) == "80% of 1,212 rows in 20.1–123,000"
    assert NUMBERS.view.estimate_columns([counted]) == {"80% of rows": ["20.1–123,000"]}
    assert NUMBERS.estimate(counted)["interval"] == [20.125, 123456.0]
    assert NUMBERS.view.basis(counted, None) == NUMBERS.view.estimate(counted)
    assert NUMBERS.view.estimate(Rule((), 24.5)) == ""
    assert NUMBERS.shown_deviation(4.0, 1.0) == 0.25
    assert CLASSES.shown_deviation(4.0, 1.0) == 1.0


def test_means_of_outputs_decide():
    assert CLASSES.decide(np.array([[0.6, 0.4], [0.5, 0.5]])).tolist() == ["no", "no"]
    assert NUMBERS.decide(np.array([[0.5], [2.0]])).tolist() == [0.5, 2.0]


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="Unknown task 'ranking'"):
        make_outcome("ranking")


@dataclass(frozen=True)
class Waits(Numbers):
    """A third kind of y: times, of which the absolute error counts."""

    task: ClassVar[str] = "waits"

    def losses(self, expected, predicted):
        return np.abs(np.ravel(expected) - np.ravel(predicted))


class DefragWaits(DefragRegressor):
    _task = "waits"


def test_a_third_kind_of_y_is_one_class(monkeypatch):
    monkeypatch.setitem(OUTCOMES, "waits", Waits)
    rng = np.random.default_rng(0)
    X = rng.random((400, 3))
    y = np.exp(2 * (X[:, 0] > 0.5) + X[:, 1])
    grown = RandomForestRegressor(20, random_state=0).fit(X, y)
    forest = dataclasses.replace(read_forest(grown), task="waits")
    assert forest.predict(X).tolist() == grown.predict(X).tolist()
    model = DefragWaits(model=forest, max_rules=4, random_state=0).fit(X, y)
    assert isinstance(model.rules_.outcome, Waits)
    apart = np.abs(model.predict(X) - y).mean()
    assert model.evaluate(X, y)["error"] == pytest.approx(apart)
    assert isinstance(model.rules_.refit(X[:200], y[:200]).outcome, Waits)
    methods = {"waits": DefragWaits(max_rules=3)}
    table = compare(forest, X, y, methods=methods, random_state=0)
    assert table.rows()[0]["failure"] is None
    assert table.model_error < table.rows()[0]["error"] < 2
