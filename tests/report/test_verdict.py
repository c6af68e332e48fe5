"""The verdict: its sentences, caveats and tiles, worked by hand on a few rows."""

import dataclasses
import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import r2_score

from defragtrees.report.summary import summarize
from defragtrees.report.verdict import (
    MOST_CAVEATS,
    Figure,
    explained_range,
    make_verdict,
)
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule
from tests.report import test_weak_rules
from tests.report.cases import loans, numbers, verdict, weather
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


def shown(table):
    """Whose bars a table has, and their labels, with plain spaces."""
    lines = ((re.sub("<.*?>", "", who), bar["label"]) for who, bar in table.rows)
    return [(who, label) for who, label in lines]


def test_it_says_what_is_predicted_how_well_and_where_the_class_is_likeliest():
    simple, X, y = weather()
    made = make_verdict(summarize(simple, X, y, target_name="walk"))
    assert made.subtitle == "Rules distilled from the tree ensemble, measured on 6 rows"
    what, where = verdict(summarize(simple, X, y, target_name="walk"))[:2]
    assert what == "3 rules predict walk (in or out) from 2 of 2 features."
    # Wilson's interval of 2 of 2 rows, worth less than that as training rows.
    assert where == (
        "“out” is most likely where degrees > 20 and wind ≤ 5 (rule 1): 100% (95% "
        "interval 17–100%); here 2 of 2 rows."
    )
    # Wrong is row 3; the model on rows 4 and 6; half of the rows are in. Wilson's
    # interval of 5 of 6.
    assert shown(made.tables[0]) == [
        ("Rules", "83% (44–97%)"),
        ("Model", "67%"),
        ("Always “in”", "50%"),
    ]
    assert [table.caption for table in made.tables] == [
        "Right predictions (accuracy)",
        "Pairs in the right order (AUC, from 50%)",
    ]


def test_the_name_of_the_data_and_no_model():
    simple, X, y = weather()
    summary = summarize(simple.rules_, X, y, data_name="june.csv")
    assert make_verdict(summary).subtitle == "Measured on 6 rows of june.csv"
    text = " ".join(verdict(summary))
    assert "model" not in text
    assert "3 rules predict the class (in or out)" in text


def test_caveats_are_few_and_the_worst_comes_first():
    made = make_verdict(summarize(*weather()))
    assert len(made.caveats) == MOST_CAVEATS
    assert made.caveats[0].startswith("The rules are not clearly better than one")
    assert made.caveats[1].startswith("The model may have been trained on these rows")
    assert made.caveats[2:] == (
        "All rules are weak: rules 1, 2 and 3 (not clearly different from all rows).",
        "Only 6 rows were measured: differences of a few per cent may be chance.",
    )
    new = make_verdict(summarize(*weather(), is_new=True))
    assert not any("trained" in caveat for caveat in new.caveats)


def test_without_y_it_says_so():
    simple, X, _ = weather()
    [table] = make_verdict(summarize(simple, X)).tables
    assert "without true values" in table.caption
    assert shown(table)[0] == ("Agreement with the model", "50%")


def test_numbers_are_in_their_units():
    summary = summarize(*numbers("list"))
    what, where = verdict(summary)[:2]
    assert what == "3 rules predict a number from 2 of 2 features."
    # Predictions 4, 4, 1, 0; y 3, 4, 0, 0 with mean 1.75; the model has 4, 4, 0, 0.
    miss, explained = make_verdict(summary).tables
    assert shown(miss) == [
        ("Rules", "0.5 (0.01–0.99)"),
        ("Model", "0.25"),
        ("Always the mean", "1.75"),
    ]
    # The scale goes to the end of all intervals.
    assert max(bar["low"] + bar["reach"] for _, bar in miss.rows) == 100
    assert explained.caption.startswith("Explained variance")
    assert where.startswith("Predictions are highest where size > 1 (rule 1): 4")
    assert "and lowest where no other rule matches (rule 3): 0" in where


def test_a_rare_class_is_judged_by_how_much_of_it_is_found():
    simple, X, y = test_weak_rules.loans()
    summary = summarize(simple, X, y)
    _, where, rare, outside, *_ = verdict(summary)
    # Eight of 400 are bad; the 20 rows after 380 are flagged.
    table = make_verdict(summary).tables[0]
    assert table.caption == "“bad” found (recall)"
    found, right = make_verdict(summary).tables[:2]
    # So does the model.
    assert shown(found) == [("Rules", "100% (68–100%)"), ("Model", "100%")]
    assert right.caption == "Right when flagged (precision)"
    assert shown(right) == [("Rules", "40% (22–61%)"), ("Model", "40%")]
    assert "here 8 of 18 rows" in where
    assert rare.startswith("Always predicting “good” is right on 98.0% of rows, so")
    assert outside == (
        "Estimates off on these rows: rule 4: 10% “bad” estimated, 0% observed "
        "(95% interval 0–1%); rule 3: 20% “bad” estimated, 0% observed (95% "
        "interval 0–4%)."
    )
    never = dataclasses.replace(
        simple.rules_, rules=simple.rules_.rules[2:], default=simple.rules_.default
    )
    table = make_verdict(summarize(never, X, y)).tables[0]
    assert shown(table)[0] == ("Rules", "0% (0–32%)")


def test_the_interval_of_r2_is_that_of_other_samples():
    rng = np.random.default_rng(0)
    y = rng.normal(size=400) ** 3
    predicted, weight = y + 0.7 * y * rng.normal(size=400), np.ones(400)
    shares = []
    for _ in range(400):
        some = rng.integers(400, size=400)
        shares.append(r2_score(y[some], predicted[some]))
    mean = partial(np.average, weights=weight)
    rows = SimpleNamespace(y=y, mean=mean, mean_weight=weight)
    low, high = explained_range(rows, predicted)
    assert (low + high) / 2 == pytest.approx(r2_score(y, predicted))
    assert high - low == pytest.approx(2 * 1.96 * np.std(shares), rel=0.15)


def test_the_unit_of_a_number_is_named():
    simple, X, y = numbers("list")
    miss, _ = make_verdict(summarize(simple, X, y, target_name="price [EUR]")).tables
    assert miss.caption == "Mean absolute error [EUR]"


def test_with_costs_the_cost_decides():
    simple, X, y = test_weak_rules.loans(costs=((0.0, 1.0), (3.0, 0.0)))
    summary = summarize(simple, X, y)
    # Twelve false alarms, or eight missed.
    table = make_verdict(summary).tables[0]
    assert table.caption == "Cost per row"
    assert [label.split()[0] for _, label in shown(table)] == ["0.03", "0.03", "0.06"]
    [caveat] = [text for text in verdict(summary) if "expected cost" in text]
    assert caveat == (
        "The rules predict the class with the lowest expected cost. Costs: bad "
        "predicted for good 1, good predicted for bad 3."
    )


def test_with_a_threshold_it_is_how_much_is_found():
    simple, X, y = weather()
    simple.rules_ = dataclasses.replace(simple.rules_, threshold=0.4)
    summary = summarize(simple, X, y)
    table = make_verdict(summary).tables[0]
    assert table.caption == "“out” found (recall)"
    assert shown(table)[0][1].startswith("100%")
    assert verdict(summary)[2].startswith("The rules predict out if P(out) ≥ 0.4.")


def test_the_highest_total_of_points_is_named():
    what, where = verdict(summarize(*loans("points")))[:2]
    assert what.startswith("3 questions with points predict status")
    # All three rules cannot match at once: -0.625 + 1.25 + 0.5.
    assert where.startswith("“unpaid” is most likely with 1.12 points: 75%; here ")


@pytest.mark.parametrize("n_letters", [10, 1000])
def test_long_names_are_cut(n_letters):
    simple, X, y = weather()
    summary = summarize(simple, X, y, target_name="w" * n_letters)
    assert verdict(summary)[0].count("w") == min(n_letters, 199)


def test_rows_are_new_only_if_the_caller_says_so():
    simple, X, y = test_weak_rules.loans()
    assert not summarize(simple, X, y).is_new
    assert summarize(simple, X, y, is_new=True).is_new


def test_accuracy_stands_beside_that_of_a_guess_and_of_the_model():
    facts = summarize(*weather()).facts
    low, high = (end / 100 for end in wilson(100 * 5 / 6, 6))
    assert facts.rules == Figure(5 / 6, pytest.approx(low), pytest.approx(high), 6, 5)
    # The forest is right on rows 1, 2, 3 and 5; half of the rows are in.
    assert (facts.model.n_part, facts.guess.n_part) == (4, 3)
    assert (facts.focus, facts.is_rare) == ("out", False)
    recall, precision = facts.recall["Rules"], facts.precision["Rules"]
    assert (recall.n_part, recall.n_rows) == (3, 3)
    assert (precision.n_part, precision.n_rows) == (3, 4)
    assert (facts.measure, facts.guess_label) == ("accuracy", "in")


def test_numbers_have_mean_absolute_errors():
    facts = summarize(*numbers("list")).facts
    # Predictions 4, 4, 1, 0; y 3, 4, 0, 0 with mean 1.75; the forest 4, 4, 0, 0.
    assert facts.rules.value == 0.5
    assert facts.guess.value == 1.75
    assert facts.model.value == 0.25
    assert (facts.highest.number, facts.lowest.number) == (1, 3)
    assert facts.highest.observed.value == 3.5


def test_a_rare_class_is_the_one_that_matters():
    X = np.r_[np.zeros(97), np.ones(3)][:, None]
    y = np.array(["no"] * 98 + ["yes"] * 2)
    facts = summarize(sized(rates=(0.0, 0.4)), X, y).facts
    assert facts.is_rare
    assert facts.is_no_better  # it always says no
    recall = facts.recall["Rules"]
    assert (facts.focus, recall.n_part, recall.n_rows) == ("yes", 0, 2)
    assert facts.precision["Rules"] is None
    facts = summarize(sized(), X, y).facts
    assert facts.recall["Rules"].value == 1.0
    assert facts.precision["Rules"].value == pytest.approx(2 / 3)


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


def test_a_rate_outside_its_interval_is_listed():
    X = np.r_[np.zeros(50), np.ones(50)][:, None]
    y = np.array(["no"] * 45 + ["yes"] * 5 + ["yes"] * 20 + ["no"] * 30)
    [outside] = summarize(sized(), X, y).facts.outside
    # Rule 1 reports 80% of 90 rows; 20 of 50 are far below.
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
