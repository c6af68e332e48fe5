"""The verdict: its sentences, caveats and tiles, worked by hand on a few rows."""

import dataclasses

import numpy as np
import pytest

from defragtrees.report.facts import Shorter
from defragtrees.report.summary import summarize
from defragtrees.report.verdict import MOST_CAVEATS, make_verdict
from tests.report import test_weak_rules
from tests.report.cases import loans, numbers, verdict, weather


def test_it_says_what_is_predicted_how_well_and_where_the_class_is_likeliest():
    simple, X, y = weather()
    made = make_verdict(summarize(simple, X, y, target_name="walk"))
    assert made.subtitle == "Short rules for the tree ensemble, measured on 6 rows"
    what, how_well, where = verdict(summarize(simple, X, y, target_name="walk"))[:3]
    assert what == "3 rules predict walk (in or out) from 2 of 2 features."
    # Wrong is row 3; the model on rows 4 and 6; half of the rows are in. Wilson's
    # interval of 5 of 6.
    assert how_well == (
        "They are right on 83 % (95 % interval 44 to 97 %) of 6 rows, the model on "
        "67 %; always predicting “in” is right on 50 %."
    )
    # Wilson's interval of 2 of 2 rows, worth less than that as training rows.
    assert where == (
        "“out” is most likely where degrees > 20 and wind ≤ 5 (rule 1): 100 % (95 % "
        "interval 17 to 100 %); here 2 of 2 rows."
    )
    values = [value.replace("\N{NO-BREAK SPACE}", " ") for value, _ in made.tiles]
    assert values == ["3 rules", "83 %", "44 to 97 %", "67 %", "50 %"]


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
    assert verdict(summarize(simple, X))[1] == (
        "Their agreement with the model is 50 % on 6 rows; how often they are right is "
        "unknown, as there are no true values."
    )


def test_numbers_are_in_their_units():
    what, how_well, where = verdict(summarize(*numbers("list")))[:3]
    assert what == "3 rules predict a number from 2 of 2 features."
    # Predictions 4, 4, 1, 0; y 3, 4, 0, 0 with mean 1.75; the model has 4, 4, 0, 0.
    assert how_well == (
        "They miss by 0.5 on average (95 % interval 0.01 to 0.99) on 4 rows, in half "
        "of them by less than 0.5. The model misses by 0.25. Predicting the average "
        "for every row would miss by 1.75."
    )
    assert where.startswith("Predictions are highest where size > 1 (rule 1): 4")
    assert "and lowest where no other rule matches (rule 3): 0" in where


def test_a_rare_class_is_judged_by_how_much_of_it_is_found():
    simple, X, y = test_weak_rules.loans()
    _, found, where, rare, outside, *_ = verdict(summarize(simple, X, y))
    # Eight of 400 are bad; the 20 rows after 380 are flagged.
    assert found == (
        "2.0 % of 400 rows are “bad”: of these they find 100 % (95 % interval 68 to "
        "100 %), and 40 % of the rows that they flag are right."
    )
    assert "here 8 of 18 rows" in where
    assert rare.startswith("Always predicting “good” is right on 98.0 % of rows, so")
    assert outside == (
        "Estimates that do not hold here: rule 4: 10 % “bad” estimated, 0 % observed "
        "(95 % interval 0 to 1 %); rule 3: 20 % “bad” estimated, 0 % observed (95 % "
        "interval 0 to 4 %)."
    )
    never = dataclasses.replace(
        simple.rules_, rules=simple.rules_.rules[2:], default=simple.rules_.default
    )
    assert verdict(summarize(never, X, y))[1] == (
        "They predict “bad” for no row, although 2.0 % of 400 rows are “bad”."
    )


def test_with_costs_the_cost_decides():
    simple, X, y = test_weak_rules.loans(costs=((0.0, 1.0), (3.0, 0.0)))
    summary = summarize(simple, X, y)
    # Twelve false alarms, or eight missed.
    assert verdict(summary)[1] == (
        "Their mistakes cost 0.03 per row on 400 rows, those of the model 0.03; always "
        "predicting “good” costs 0.06."
    )
    [caveat] = [text for text in verdict(summary) if "not the measure" in text]
    assert caveat == (
        "The rules predict the class with the lowest expected cost. Costs: bad "
        "predicted for good 1, good predicted for bad 3. They are wrong on 3 % of "
        "rows, which is not the measure here."
    )
    assert [label for _, label in make_verdict(summary).tiles][1:] == [
        "cost per row of the rules",
        "cost per row of the model",
        "cost per row of always predicting “good”",
    ]


def test_with_a_threshold_it_is_how_much_is_found():
    simple, X, y = weather()
    simple.rules_ = dataclasses.replace(simple.rules_, threshold=0.4)
    texts = verdict(summarize(simple, X, y))
    assert texts[1].startswith("50 % of 6 rows are “out”: of these they find 100 %")
    assert texts[3].startswith("The rules predict out if P(out) ≥ 0.4. They are")


def test_the_highest_total_of_points_is_named():
    what, _, where = verdict(summarize(*loans("points")))[:3]
    assert what.startswith("3 questions with points predict status")
    # All three rules cannot match at once: -0.625 + 1.25 + 0.5.
    assert where.startswith("“unpaid” is most likely with 1.12 points: 75 %; here ")


@pytest.mark.parametrize("n_letters", [10, 1000])
def test_long_names_are_cut(n_letters):
    simple, X, y = weather()
    summary = summarize(simple, X, y, target_name="w" * n_letters)
    assert verdict(summary)[0].count("w") == min(n_letters, 199)


def test_whether_rows_are_new_shows_in_the_figures_of_the_model():
    simple, X, y = test_weak_rules.loans()
    assert not summarize(simple, X, y).is_new
    turned = np.where(y == "bad", "good", "bad")
    assert summarize(simple, X, turned).is_new
    assert not summarize(simple, X, turned, is_new=False).is_new
    assert not summarize(simple.rules_, X, turned, model=simple.forest_).is_new


@pytest.mark.parametrize(
    ("shorter", "text"),
    [
        ((3, 0.158, 0.25, True), "3 rules are better here: wrong on 15.8 % instead of"),
        ((3, 0.253, 0.253, False), "3 rules are as good here: wrong on 25.3 %."),
        ((4, 0.26, 0.25, False), "4 rules are almost as good here: wrong on 26.0 %"),
    ],
)
def test_a_shorter_list_is_named(shorter, text):
    summary = summarize(*loans())
    facts = dataclasses.replace(summary.facts, shorter=Shorter(*shorter))
    summary.__dict__["facts"] = facts
    assert any(caveat.startswith(text) for caveat in verdict(summary))
