"""Estimates, measures and calibration in a report, worked by hand on a few rows."""

import dataclasses
import re

from defragtrees.report.summary import summarize
from defragtrees.rules.conditions import Rule
from tests.report.cases import cells, numbers, weather, written


def counted_weather():
    """The weather with rules that were counted on ten training rows each."""
    simple, X, y = weather()
    counted = [
        dataclasses.replace(
            rule,
            distribution=(0.35, 0.65),
            n_rows=10.0,
            n_effective=4.0,
            rates=(0.2, 0.8),
            ensemble_mean=(0.25, 0.75),
            alone=None,
        )
        for rule in simple.rules_
    ]
    simple.rules_ = dataclasses.replace(
        simple.rules_, rules=tuple(counted[:-1]), default=counted[-1]
    )
    return simple, X, y


def test_a_card_has_estimate_rows_and_interval_first_and_the_ensemble_second():
    page = "".join(written("rules", summarize(*counted_weather())))
    found = re.findall(r'<p class="estimate">(.*?)</p>', page)
    plain = [
        re.sub("<[^>]*>", "", words).replace("\N{NO-BREAK SPACE}", " ")
        for words in found
    ]
    # Wilson's interval of 80 % in four rows, which is what the ten are worth.
    assert plain[0] == (
        "P(out) = 65 % (8 of 10 rows, 95 % interval 34 - 97 %). Ensemble: 75.0 % on "
        "average."
    )
    assert plain[2].startswith("P(out) = 65 % (8 of 10 rows, ")


def test_measures_stand_beside_those_of_the_ensemble():
    summary = summarize(*weather())
    words, measured, confusion = written("measures", summary)
    assert "those of <bdi>out</bdi>" in words
    lines = {line[0]: line[1:3] for line in cells(measured)}
    # Rules are wrong on row 3; the ensemble on rows 4 and 6.
    assert [cell.split()[0] for cell in lines["Error"]] == ["16.7", "33.3"]
    assert lines["Precision"] == ["0.750", "0.667"]
    assert lines["Recall"] == ["1.000", "0.667"]
    # Estimates are 1, 1, .5, .5, 0, 0; y is 1, 1, 0, 1, 0, 0: one of 9 pairs is tied.
    assert lines["AUC"][0] == f"{8.5 / 9:.3f}"
    assert "Expected cost" not in lines
    assert cells(confusion) == [["in", "2", "1"], ["out", "0", "3"]]


def test_costs_have_a_line_of_their_own():
    simple, X, y = weather()
    simple.rules_ = dataclasses.replace(simple.rules_, threshold=0.5)
    words, measured, _ = written("measures", summarize(simple, X, y))
    assert "predict <bdi>out</bdi> from a probability of 0.5 on" in words
    assert "Expected cost" in {line[0] for line in cells(measured)}


def test_numbers_are_measured_in_the_units_of_y():
    simple, X, y = numbers("first")
    lines = cells(written("measures", summarize(simple, X, y))[1])
    # Predictions are 4, 4, 1 and 0; y is 3, 4, 0 and 0.
    assert [line[:2] for line in lines][:2] == [
        ["Root mean squared error", "0.707"],
        ["Mean absolute error", "0.5"],
    ]


def test_without_y_nothing_is_measured_against_it():
    simple, X, _ = weather()
    found = summarize(simple, X)
    assert written("measures", found) == written("calibration", found) == []


def test_estimated_and_observed_rates_of_each_rule():
    summary = summarize(*weather())
    words, lines = written("calibration", summary)
    assert "the probability of <bdi>out</bdi>" in words
    # Only the rows of rule 2, estimated 50 % and observed 1 of 2, have both classes.
    assert "differ by 0.0 percentage points" in words
    plain = [
        [cell.replace("\N{NO-BREAK SPACE}", " ") for cell in line]
        for line in cells(lines)
    ]
    assert plain == [
        ["Rule 1", "out", "2", "100 %", "100 %", "34.2 to 100 %"],
        ["Rule 2", "out", "2", "50.0 %", "50.0 %", "9.5 to 90.5 %"],
        ["Rule 3", "in", "2", "0 %", "0 %", "0 to 65.8 %"],
    ]


def test_rules_without_probabilities_have_no_calibration():
    simple, X, y = weather()
    bare = [dataclasses.replace(rule, distribution=None) for rule in simple.rules_]
    simple.rules_ = dataclasses.replace(
        simple.rules_, rules=tuple(bare[:-1]), default=bare[-1]
    )
    found = summarize(simple, X, y)
    assert written("calibration", found) == []
    assert "AUC" not in {line[0] for line in cells(written("measures", found)[1])}


def test_classes_that_no_rule_predicts_are_named():
    simple, X, y = weather()
    always = dataclasses.replace(
        simple.rules_, rules=(), default=Rule((), "in", (0.5, 0.5))
    )
    simple.rules_ = always
    page = "".join(written("rules", summarize(simple, X, y)))
    assert "No rule predicts <b><bdi>out</bdi></b> (3 rows here, 50" in page
    simple, X, y = weather()
    assert "No rule predicts" not in "".join(written("rules", summarize(simple, X, y)))
