"""Facts for a verdict, worked by hand."""

import dataclasses

import numpy as np
import pytest

from defragtrees.ensembles.forest import Forest
from defragtrees.report.facts import Figure, Shorter
from defragtrees.report.summary import summarize
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import GivenClassifier, numbers, stump, weather
from tests.report.recompute import wilson


def sized(rates=(0.1, 0.8), n_rows=(90.0, 90.0), **options):
    """Two rules about one feature, with the rates of "yes" that they report."""
    first, second = (
        Rule((), "yes" if rate >= 0.5 else "no", (1 - rate, rate), n_rows=n,
             n_effective=n, rates=(1 - rate, rate))
        for rate, n in zip(rates, n_rows, strict=True)
    )  # fmt: skip
    large = dataclasses.replace(second, conditions=(Condition(0, lower=0.5),))
    labels = ("no", "yes")
    return RuleList((large,), first, ("size",), "classification", labels, **options)


def test_accuracy_stands_beside_that_of_a_guess_and_of_the_model():
    facts = summarize(*weather()).facts
    low, high = (end / 100 for end in wilson(100 * 5 / 6, 6))
    assert facts.rules == Figure(5 / 6, pytest.approx(low), pytest.approx(high), 6, 5)
    # The forest is right on rows 1, 2, 3 and 5; half of the rows are in.
    assert (facts.model.n_part, facts.guess.n_part) == (4, 3)
    assert (facts.focus, facts.is_rare) == ("out", False)
    assert (facts.found.n_part, facts.found.n_rows) == (3, 3)
    assert (facts.right_when_said.n_part, facts.right_when_said.n_rows) == (3, 4)
    assert (facts.measure, facts.guess_label) == ("accuracy", "in")


def test_numbers_have_mean_absolute_errors():
    facts = summarize(*numbers("list")).facts
    # Predictions 4, 4, 1, 0; y 3, 4, 0, 0 with mean 1.75; the forest 4, 4, 0, 0.
    assert facts.rules.value == 0.5
    assert facts.guess.value == 1.75
    assert facts.model.value == 0.25
    assert facts.half_within == 0.5
    assert (facts.highest.number, facts.lowest.number) == (1, 3)
    assert facts.highest.observed.value == 3.5


def test_a_rare_class_is_the_one_that_matters():
    X = np.r_[np.zeros(97), np.ones(3)][:, None]
    y = np.array(["no"] * 98 + ["yes"] * 2)
    facts = summarize(sized(rates=(0.0, 0.4)), X, y).facts
    assert facts.is_rare
    assert facts.is_no_better  # it always says no
    assert (facts.focus, facts.found.n_part, facts.found.n_rows) == ("yes", 0, 2)
    assert facts.right_when_said is None
    facts = summarize(sized(), X, y).facts
    assert facts.found.value == 1.0
    assert facts.right_when_said.value == pytest.approx(2 / 3)


def test_rules_are_no_better_than_a_guess_within_chance():
    X = np.r_[np.zeros(50), np.ones(50)][:, None]
    told = np.where(X[:, 0] > 0, "yes", "no")
    assert not summarize(sized(), X, told).facts.is_no_better
    y = np.where(np.arange(100) % 2, "yes", "no")
    assert summarize(sized(), X, y).facts.is_no_better


def test_costs_stand_beside_the_best_constant():
    rules = sized(costs=((0.0, 1.0), (5.0, 0.0)))
    X = np.r_[np.zeros(60), np.ones(40)][:, None]
    y = np.array(["no"] * 58 + ["yes"] * 2 + ["yes"] * 30 + ["no"] * 10)
    facts = summarize(rules, X, y).facts
    # Two rows are missed at 5 each, ten are false alarms; all yes is 68 alarms.
    assert facts.measure == "cost"
    assert facts.rules.value == pytest.approx((2 * 5 + 10) / 100)
    assert facts.guess.value == pytest.approx(0.68)
    assert (facts.guess_label, facts.model) == ("yes", None)
    assert not facts.is_no_better


def test_a_shorter_list_that_does_as_well_is_found():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2)).round(2)
    y = np.where((X[:, 0] > 0.5) ^ (rng.random(400) < 0.1), "yes", "no")
    yes, no = (0.1, 0.9), (0.9, 0.1)
    large = Rule((Condition(0, lower=0.5),), "yes", yes)
    extra = Rule((Condition(1, upper=0.02), Condition(0, lower=0.6)), "yes", yes)
    names, labels = ("size", "age"), ("no", "yes")
    lists = [
        RuleList(rules, Rule((), "no", no), names, "classification", labels)
        for rules in ((), (large,), (extra, large))
    ]
    forest = Forest(
        (stump(0, 0.5, [0.9, 0.1], [0.1, 0.9]),), names, "classification", labels,
        "mean",
    )  # fmt: skip
    simple = GivenClassifier(forest, rules=lists[-1]).fit(X, y)
    simple.path_ = dict(enumerate([*lists[:2], simple.rules_], 1))
    error = np.mean(y != np.where(X[:, 0] > 0.5, "yes", "no"))
    assert summarize(simple, X, y).facts.shorter == Shorter(
        2, pytest.approx(error), pytest.approx(error), False
    )
    simple.path_ = {1: lists[0], 3: simple.rules_}
    assert summarize(simple, X, y).facts.shorter is None


def test_of_shorter_lists_the_best_is_named():
    X = np.repeat([0.0, 1.0, 2.0, 3.0], 50)[:, None]
    y = np.where(X[:, 0] > 1.5, "yes", "no")
    yes, no = (0.2, 0.8), (0.8, 0.2)

    def above(threshold):
        return Rule((Condition(0, lower=threshold),), "yes", yes)

    lists = [
        RuleList(rules, Rule((), "no", no), ("size",), "classification", ("no", "yes"))
        for rules in (
            (above(2.5),),
            (above(2.5), above(1.5)),
            (above(2.5), above(2.4), above(2.3)),
        )
    ]
    forest = Forest(
        (stump(0, 1.5, [0.9, 0.1], [0.1, 0.9]),), ("size",), "classification",
        ("no", "yes"), "mean",
    )  # fmt: skip
    simple = GivenClassifier(forest, rules=lists[-1]).fit(X, y)
    simple.path_ = dict(enumerate([*lists[:2], simple.rules_], 2))
    # Two rules are as wrong as these four, and three are never wrong.
    assert summarize(simple, X, y).facts.shorter == Shorter(3, 0.0, 0.25, True)


def test_a_rate_outside_its_interval_is_listed():
    X = np.r_[np.zeros(50), np.ones(50)][:, None]
    y = np.array(["no"] * 45 + ["yes"] * 5 + ["yes"] * 20 + ["no"] * 30)
    [outside] = summarize(sized(), X, y).facts.outside
    # Rule 1 reports 80 % of 90 rows; 20 of 50 are far below.
    assert (outside.number, outside.label, outside.estimate) == (1, "yes", 0.8)
    assert (outside.observed.n_part, outside.observed.n_rows) == (20, 50)
    # Three rows say nothing about a rate.
    few = np.r_[np.zeros(97), np.ones(3)][:, None]
    y = np.array(["no"] * 87 + ["yes"] * 10 + ["no"] * 3)
    assert summarize(sized(), few, y).facts.outside == ()


def test_the_extremes_of_a_scorecard_are_totals():
    large = Rule((Condition(0, lower=0.5),), "yes", (0.5, 0.5), points=(3.0,))
    base = Rule((), "no", (0.5, 0.5), points=(-2.0,))
    labels = ("no", "yes")
    card = Scorecard((large,), base, ("size",), "classification", labels)
    X = np.r_[np.zeros(50), np.ones(50)][:, None]
    y = np.array(["no"] * 45 + ["yes"] * 25 + ["no"] * 30)
    facts = summarize(card, X, y).facts
    assert (facts.highest.number, facts.highest.totals) == (None, (1.0, 1.0))
    assert facts.highest.estimate == pytest.approx(1 / (1 + np.exp(-1)))
    assert facts.highest.observed.n_part == 20
    assert facts.lowest.totals == (-2.0, -2.0)
    turned = summarize(card.relabel(pos_label="no"), X, y).facts
    assert turned.highest.totals == (2.0, 2.0)  # points of no
    assert turned.highest.estimate == pytest.approx(1 / (1 + np.exp(-2)))
    assert turned.highest.observed.n_part == 45
