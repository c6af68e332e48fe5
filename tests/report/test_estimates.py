"""Estimates, measures and calibration in a report, worked by hand on a few rows."""

import dataclasses
import re
from html import unescape

from defragtrees.report.sections.for_all import strip
from defragtrees.report.summary import summarize
from defragtrees.report.text import condition_parts
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import cells, loans, numbers, weather, written


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
            model_mean=(0.25, 0.75),
            alone=None,
        )
        for rule in simple.rules_
    ]
    simple.rules_ = dataclasses.replace(
        simple.rules_, rules=tuple(counted[:-1]), default=counted[-1]
    )
    return simple, X, y


def plain(html):
    """The words of HTML, with plain spaces."""
    text = unescape(re.sub("<[^>]*>", "", html))
    return text.strip()


def test_a_rule_has_estimate_interval_and_rows_and_its_evidence_below():
    simple, X, y = counted_weather()
    page = "".join(written("rules", summarize(simple, X, y)))
    head = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)
    assert [*map(plain, head)] == [
        "#", "if", "then", "P(out)", "95% interval", "rows",
    ]  # fmt: skip
    rules = page.split('<tbody class="rule"')[1:]
    shown = [[plain(c) for c in re.findall("<td.*?</td>", rule)] for rule in rules]
    # Wilson's interval of 80% in four rows, which is what the ten are worth.
    assert shown[0][1:5] == ["out", "65%", "34–97%", "10"]
    assert shown[2][:2] == ["otherwise", "in"]
    evidence = [plain(p) for p in re.findall('<p class="evidence">.*?</p>', rules[1])]
    # Rows 3 and 4: predicted out, one of them is; the model predicts in for both.
    assert evidence == [
        "Predicts 33% of the rows here (2), 50% right; the model agrees on 0%.",
        "Observed here: rate of out 50% (95% interval 9–91%).",
    ]
    assert f"{len(X)} rows of this report" in plain(page)


def test_points_have_the_colour_of_their_class_and_one_count():
    simple, X, y = loans("points")
    summary = summarize(simple, X, y)
    page = "".join(written("rules", summary))
    found = re.findall(r'class="prediction (\w*)">.*?</span>', page)
    # +1.25 and +0.5 speak for the second class, -0.75 for the first, the base for none.
    assert found == ["g1", "g1", "g0", ""]
    rules = [plain(rule) for rule in page.split('<tbody class="rule"')[1:]]
    n_matching = simple.rules_.covers(X).sum(axis=0)
    for rule, n in zip(rules[:-1], n_matching, strict=False):
        assert f"{n} rows ({100 * n / len(X):.0f}%)" in rule
        assert "Evidence" not in rule
    assert "base score" in rules[-1]


def test_the_card_on_paper_has_questions_points_and_risks():
    simple, X, y = loans("points")
    page = "".join(written("scorecard", summarize(simple, X, y)))
    questions, _, totals = page.split("From total to risk")
    # By column its bins, and below them the rule on two.
    assert questions.count('<span class="box"></span>') == 7
    assert "cityBern or Oslo0" in plain(questions).replace(" \n", "")
    assert "late ≥ 2 and (" in plain(questions)
    assert "> 0.5 or missing)" in plain(questions)
    assert "+1.25" in questions
    assert "−0.75" in questions
    assert [plain(c) for c in re.findall("<th scope=.col.*?</th>", totals)] == [
        "total", "P(unpaid)", "then",
    ]  # fmt: skip
    simple, X, y = weather()
    assert written("scorecard", summarize(simple, X, y)) == []


def test_the_strip_has_a_block_per_rule_as_wide_as_its_rows():
    simple, X, y = weather()
    blocks = strip(summarize(simple, X, y))["blocks"]
    assert [one["n_rows"] for one in blocks] == [2, 2, 2]
    # P(out) of the rules, in the colour of the class of interest.
    assert [one["depth"] for one in blocks] == [100, 50, 0]
    assert {one["colour"] for one in blocks} == {"g1"}
    assert [one["place"] for one in blocks] == ["rule-1", "rule-2", "rule-3"]
    simple, X, y = loans("points")
    summary = summarize(simple, X, y)
    blocks = strip(summary)["blocks"]
    assert sum(one["n_rows"] for one in blocks) == len(X)
    assert strip(summarize(*loans("average"))) is None


def test_bounds_of_earlier_rules_are_named_and_edits_listed():
    simple, X, y = weather()
    names = simple.rules_.feature_names
    cold, mild = (
        Rule((Condition(0, upper=t),), "in", (0.5, 0.5)) for t in (10.0, 20.0)
    )
    rules = dataclasses.replace(simple.rules_, rules=(cold, mild, cold))
    page = "".join(written("rules", summarize(rules, X, y)))
    second = plain(page.split('<tbody class="rule"')[2])
    assert f"10 < {names[0]} ≤ 20" in second
    assert f"Without the rules before it, it reads: {names[0]} ≤ 20." in second
    assert "Limits implied by earlier rules are shown." in plain(page)
    assert "edited" not in page
    edited = plain("".join(written("rules", summarize(rules.drop(3), X, y))))
    assert "These rules were edited after the fit." in edited
    assert "dropped rule 3: if " in edited


def test_charts_of_many_rules_are_folded():
    simple, X, y = weather()
    rules = simple.rules_
    for n_copies, is_folded in ((1, False), (6, True)):
        many = dataclasses.replace(rules, rules=rules.rules * n_copies)
        page = "".join(written("rules", summarize(many, X, y)))
        first = page.split('<tbody class="rule"')[1]
        assert (first.index("<details>") < first.index("<svg")) == is_folded


def test_measures_stand_beside_those_of_the_model():
    summary = summarize(*weather())
    words, measured, confusion = written("measures", summary)
    assert "those of <bdi>out</bdi>" in words
    lines = {line[0]: line[1:3] for line in cells(measured)}
    # Rules are wrong on row 3; the model on rows 4 and 6.
    assert [cell.split()[0] for cell in lines["Error"]] == ["16.7%", "33.3%"]
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
    assert "Expected cost" not in {line[0] for line in cells(measured)}
    costs = ((0.0, 1.0), (3.0, 0.0))
    simple.rules_ = dataclasses.replace(simple.rules_, threshold=None, costs=costs)
    _, measured, _ = written("measures", summarize(simple, X, y))
    assert "Expected cost" in {line[0] for line in cells(measured)}


def test_numbers_are_measured_in_the_units_of_y():
    simple, X, y = numbers("list")
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
    assert "probabilities of <bdi>out</bdi>" in words
    # Only the rows of rule 2, estimated 50% and observed 1 of 2, have both classes.
    assert "differ by 0.0 percentage points" in words
    plain = [[cell for cell in line] for line in cells(lines)]
    assert plain == [
        ["Rule 1", "out", "2", "100%", "100%", "34–100%"],
        ["Rule 2", "out", "2", "50%", "50%", "9–91%"],
        ["Rule 3", "in", "2", "0%", "0%", "0–66%"],
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


def test_rules_that_stand_alone_are_compared_on_the_rows_that_they_match():
    simple, X, y = loans("standalone")
    summary = summarize(simple, X, y)
    label = simple.rules_.outcome.positive_class
    matched = simple.rules_.covers(X)[:, 0]
    line = summary.calibration[0]
    assert line["n_rows"] == matched.sum() == summary.cards[0].n_rows
    assert line["observed"] == (y[matched] == label).mean()
    place = simple.rules_.outcome.positive_index
    assert line["estimated"] == simple.rules_.rules[0].distribution[place]


def test_the_precision_of_a_class_that_is_never_found_is_unknown():
    simple, X, y = weather()
    never = dataclasses.replace(
        simple.rules_, rules=(), default=Rule((), "in", (0.5, 0.5))
    )
    measured = written("measures", summarize(never, X, y))[1]
    lines = {line[0]: line[1] for line in cells(measured)}
    assert (lines["Precision"], lines["Recall"]) == ("–", "0.000")


def test_signs_beside_ordered_categories_are_those_of_print():
    sizes = ("<= 1", "2", ">= 3", "huge")
    rules = RuleList(
        (), Rule((), 2.0), ("size",), "regression", None, (sizes,),
        feature_kinds=("ordered",),
    )  # fmt: skip
    for places, text in (
        ((0, 1), "size ≤ 2"),
        ((2, 3), "size ≥ '>= 3'"),
        ((1, 2), "'2' ≤ size ≤ '>= 3'"),
        ((0,), "size is '<= 1'"),
    ):
        parts = condition_parts(rules, Condition(0, categories=places))
        assert "".join(parts).replace('"', "'") == text
