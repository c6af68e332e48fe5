"""What rules for classes report besides predictions: rates, intervals, scores."""

import dataclasses
import json
import math
from dataclasses import fields as fields_of

import numpy as np
import pytest

import defragtrees
from defragtrees import (
    Condition,
    ModelFileError,
    Rule,
    RuleEnsemble,
    RuleList,
    RuleModel,
)
from defragtrees.export import export
from defragtrees.outcomes.intervals import wilson_interval

NAMES = ("degrees",)
WARM = (Condition(0, lower=20.0),)
HOT = (Condition(0, lower=30.0),)


def two_classes(**changes):
    hot = Rule(
        HOT,
        "sell",
        (0.75, 0.25),
        share=0.25,
        error=0.125,
        n_rows=2640,
        rates=(2428 / 2640, 212 / 2640),
        model_mean=(0.9, 0.1),
    )
    default = Rule(
        (),
        "wait",
        (0.25, 0.75),
        share=0.75,
        error=0.0,
        n_rows=80,
        rates=(0.25, 0.75),
        model_mean=(0.2, 0.8),
    )
    rules = RuleList((hot,), default, NAMES, "classification", ("sell", "wait"))
    return dataclasses.replace(rules, **changes)


def three_classes(**changes):
    rules = RuleList(
        (Rule(HOT, "c", (0.2, 0.2, 0.6)), Rule(WARM, "a", (0.5, 0.3, 0.2))),
        Rule((), "a", (0.4, 0.3, 0.3)),
        NAMES,
        "classification",
        ("a", "b", "c"),
    )
    return dataclasses.replace(rules, **changes)


# Agresti and Coull (1998): 0 of 10 and 9 of 10 rows by Wilson's formula.
@pytest.mark.parametrize(
    ("n_class", "n_rows", "low", "high"),
    [(0, 10, 0.0, 0.2775), (9, 10, 0.5958, 0.9821), (212, 2640, 0.0705, 0.0913)],
)
def test_an_interval_is_wilsons(n_class, n_rows, low, high):
    found = wilson_interval(n_class / n_rows, n_rows)
    assert found == pytest.approx((low, high), abs=5e-5)


def test_an_interval_holds_the_rate_and_stays_possible():
    for n_rows in (1, 3, 1000, 10**9, 0.5):
        for rate in (0.0, 1e-12, 0.3, 1 - 1e-12, 1.0):
            low, high = wilson_interval(rate, n_rows)
            assert 0 <= low <= rate <= high <= 1


def test_a_rule_has_an_interval_of_each_class_if_it_has_rates_and_rows():
    rule = dataclasses.replace(two_classes().rules[0], distribution=None)
    (low, high), (second_low, second_high) = rule.interval
    assert (second_low, second_high) == pytest.approx((0.0705, 0.0913), abs=5e-5)
    assert (low, high) == pytest.approx((1 - second_high, 1 - second_low))
    assert dataclasses.replace(rule, rates=None).interval is None
    assert dataclasses.replace(rule, n_rows=math.nan).interval is None
    assert dataclasses.replace(rule, n_rows=0.0).interval is None
    # A shrunk estimate is never beside an interval that contradicts it.
    assert two_classes().rules[0].interval[1] == (second_low, 0.25)


def test_an_interval_is_as_wide_as_the_rows_are_worth():
    rule = dataclasses.replace(two_classes().rules[0], distribution=(0.91, 0.09))
    half = dataclasses.replace(rule, n_effective=1320)
    assert half.interval[1] == wilson_interval(212 / 2640, 1320)
    assert half.interval[1][1] > rule.interval[1][1]
    # Rows are those that were counted, whatever they are worth.
    rules = dataclasses.replace(two_classes(), rules=(half,))
    assert "P(wait) = 9% (95% interval 7–10%, 2,640 rows)" in rules.export("text")


def test_of_two_classes_the_probability_of_the_second_is_shown():
    assert str(two_classes()).splitlines() == [
        "#  if            then  P(wait)  95% interval   rows",
        "1  degrees > 30  sell      25%         7–25%  2,640",
        "2  otherwise     wait      75%        65–83%     80",
    ]
    assert two_classes().export("text").splitlines() == [
        "1. if degrees > 30 then sell: P(wait) = 25% (95% interval 7–25%, "
        "2,640 rows)  [25% of rows, 88% agreement with the model]",
        "2. otherwise wait: P(wait) = 75% (95% interval 65–83%, 80 rows)"
        "  [75% of rows, 100% agreement with the model]",
    ]


def test_details_have_observed_rates_shares_and_agreement():
    assert two_classes().table(details=True, width=120).splitlines()[:2] == [
        "#  if            then  P(wait)  95% interval   rows  observed  share  "
        "agreement",
        "1  degrees > 30  sell      25%         7–25%  2,640      8.0%    25%  "
        "      88%",
    ]
    # Where there is little room they have a table of their own.
    first, second, legend = two_classes().table(details=True, width=66).split("\n\n")
    assert first == two_classes().table()
    assert second.splitlines() == [
        "#  observed  share  agreement",
        "1      8.0%    25%        88%",
        "2     75.0%    75%       100%",
    ]
    assert [line.partition(":")[0] for line in legend.splitlines()] == [
        "observed",
        "share",
        "agreement",
    ]


def test_a_rate_has_the_decimals_that_its_interval_supports():
    rare = Rule((), "no", (0.9979, 0.0021), n_rows=90_000, rates=(0.9979, 0.0021))
    rules = RuleList((), rare, NAMES, "classification", ("no", "yes"))
    assert rules.table().splitlines()[1] == (
        "1  otherwise  no     0.21%    0.18–0.24%  90,000"
    )


def test_of_more_classes_the_probability_of_the_prediction_is_shown():
    rules = three_classes()
    default = dataclasses.replace(rules.default, n_rows=50, rates=(0.5, 0.2, 0.3))
    rules = dataclasses.replace(rules, default=default)
    lines = str(rules).splitlines()
    assert lines[0] == "#  if                  then  P(then)  95% interval  rows"
    assert lines[3] == "3  otherwise           a         40%        37–63%    50"


def test_without_y_the_model_is_named():
    rules = two_classes()
    hot = dataclasses.replace(rules.rules[0], rates=None)
    default = Rule((), "wait", (0.25, 0.75), n_rows=0.0)
    rules = dataclasses.replace(rules, rules=(hot,), default=default)
    assert str(rules).splitlines() == [
        "#  if            then  P(wait)   rows",
        "1  degrees > 30  sell      25%  2,640",
        "2  otherwise     wait      75%      0",
        "",
        "P(wait) is estimated by the model, not from y.",
    ]


def test_where_y_was_imitated_there_is_no_agreement_to_report():
    rules = two_classes()
    hot = dataclasses.replace(rules.rules[0], error=212 / 2640)
    default = dataclasses.replace(rules.default, error=0.25)
    rules = dataclasses.replace(rules, rules=(hot,), default=default)
    assert "agreement" in two_classes().table(details=True)
    assert "agreement" not in rules.table(details=True)
    assert "agreement" not in rules.export("text")


def test_rows_have_the_numbers_behind_the_text():
    first, last = two_classes()._view.rows()
    assert first["class"] == last["class"] == "wait"
    assert first["rate"] == 212 / 2640
    assert first["probability"] == first["estimate"] == 0.25
    assert first["model_mean"] == 0.1
    assert first["n_rows"] == 2640
    assert first["interval"] == pytest.approx((0.0705, 0.25), abs=5e-5)
    assert last["estimate_text"] == ("P(wait) = 75% (95% interval 65–83%, 80 rows)")
    unmeasured = three_classes()._view.rows()[0]
    assert math.isnan(unmeasured["rate"])
    assert unmeasured["interval"] is None
    assert unmeasured["estimate_text"] == ""


def test_markdown_has_the_same_table():
    assert export(two_classes(), "markdown").splitlines() == [
        "| # | if | then | P(wait) | 95% interval | rows |",
        "| ---: | :--- | :--- | ---: | ---: | ---: |",
        "| 1 | degrees > 30 | sell | 25% | 7–25% | 2,640 |",
        "| 2 | otherwise | wait | 75% | 65–83% | 80 |",
    ]
    assert export(two_classes(), "markdown", details=True).splitlines()[2] == (
        "| 1 | degrees > 30 | sell | 25% | 7–25% | 2,640 | 8.0% | 25% | 88% |"
    )


def test_a_class_in_the_header_of_a_table_is_escaped():
    labels = ("a", "50% | <b>_")
    default = Rule((), "a", (0.5, 0.5), n_rows=4, rates=(0.5, 0.5))
    rules = RuleList((), default, NAMES, "classification", labels)
    assert r"P(50% \| \<b>\_) |" in export(rules, "markdown")
    assert "<th>P(50% | &lt;b&gt;_)</th>" in export(rules, "html")


def test_explain_gives_the_probability_its_interval_and_rows():
    assert two_classes().explain([[31.0]])[0].splitlines() == [
        "Prediction: sell; P(wait) = 25%, 95% interval 7–25%, 2,640 rows",
        "",
        "rule  condition     value  match",
        "   1  degrees > 30  31     yes",
    ]
    assert three_classes().explain([31.0]).splitlines()[0] == (
        "Prediction: c; P(c) = 60%"
    )
    rules = two_classes()
    default = dataclasses.replace(rules.default, rates=None)
    text = dataclasses.replace(rules, default=default).explain([0.0])
    assert text.splitlines() == [
        "Prediction: wait; P(wait) = 75%, 80 rows",
        "",
        "rule  condition     value  match",
        "   2  otherwise            yes",
        "   1  degrees > 30  0      no",
    ]


def test_explain_gives_the_mean_probability_of_averaged_rules():
    warm = Rule(WARM, "b", (0.0, 1.0), weight=1.0)
    default = Rule((), "a", (0.5, 0.5), weight=1.0)
    rules = RuleEnsemble((warm,), default, NAMES, "classification", ("a", "b"))
    assert rules.explain([21.0]).splitlines() == [
        "Prediction: b; P(b) = 75%",
        "",
        "rule  condition     value  P(b)  weight",
        "   1  degrees > 20  21     100%       1",
        "   2  always                50%       1",
    ]
    assert rules._form.decision_scores(
        rules.covers([[21.0], [0.0]])
    ).tolist() == pytest.approx([math.log(3), 0.0])


def test_scores_of_two_classes_are_log_odds_above_those_that_decide():
    X = [[31.0], [0.0]]
    plain = two_classes()._form.decision_scores(two_classes().covers(X))
    assert plain == pytest.approx([-math.log(3), math.log(3)])
    hot = dataclasses.replace(two_classes().rules[0], prediction="wait")
    strict = two_classes(rules=(hot,), threshold=0.2)
    assert strict._form.decision_scores(strict.covers(X)) == pytest.approx(
        [math.log(1 / 3) - math.log(1 / 4), math.log(3) - math.log(1 / 4)]
    )
    # Mistakes in "wait" cost four times as much: it is answered above 1 in 5.
    costly = two_classes(rules=(hot,), costs=((0, 1), (4, 0)))
    assert costly._form.decision_scores(costly.covers(X)) == pytest.approx(
        strict._form.decision_scores(strict.covers(X))
    )


def test_a_score_says_the_answer_even_in_a_tie():
    tied = Rule((), "wait", (0.7, 0.3))
    rules = RuleList((), tied, NAMES, "classification", ("sell", "wait"), threshold=0.3)
    assert rules._form.decision_scores(rules.covers([[0.0]]))[0] > 0
    tied = dataclasses.replace(tied, prediction="sell", distribution=(0.5, 0.5))
    rules = RuleList((), tied, NAMES, "classification", ("sell", "wait"))
    assert rules._form.decision_scores(rules.covers([[0.0]])).tolist() == [0.0]


def test_scores_are_finite_where_a_probability_is_none():
    sure = Rule((), "wait", (0.0, 1.0))
    rules = RuleList((), sure, NAMES, "classification", ("sell", "wait"))
    assert 20 < rules._form.decision_scores(rules.covers([[0.0]]))[0] < 30


def test_scores_of_more_classes_are_largest_for_the_answer():
    X = [[31.0], [21.0], [0.0]]
    rules = three_classes()
    assert rules._form.decision_scores(rules.covers(X))[0] == pytest.approx(
        [-0.8, -0.8, -0.4]
    )
    places = rules._form.decision_scores(rules.covers(X)).argmax(axis=1)
    assert np.array(rules.classes)[places].tolist() == rules.predict(X).tolist()
    # To answer a or c costs 4 where b is true: 0.8, 1.2 and 1.2; to answer b 0.8, ...
    costs = ((0, 1, 1), (4, 0, 4), (1, 1, 0))
    answers = ("b", "b", "b")
    changed = [
        dataclasses.replace(rule, prediction=answer)
        for rule, answer in zip(rules, answers, strict=True)
    ]
    rules = three_classes(rules=tuple(changed[:2]), default=changed[2], costs=costs)
    scores = rules._form.decision_scores(rules.covers(X))
    assert scores[1] == pytest.approx([-(4 * 0.3 + 0.2), -0.7, -(0.5 + 4 * 0.3)])
    assert scores.argmax(axis=1).tolist() == [1, 1, 1]


def test_numbers_have_neither_probabilities_nor_scores():
    rules = RuleList((), Rule((), 2.0), NAMES, "regression")
    with pytest.raises(AttributeError, match="no class probabilities"):
        rules._form.decision_scores(rules.covers([[0.0]]))
    assert rules._form.unpredicted_classes == ()


def test_probabilities_of_rules_without_any_are_refused():
    rules = RuleList((), Rule((), "a"), NAMES, "classification", ("a", "b"))
    with pytest.raises(AttributeError, match="need a distribution in each rule"):
        rules.predict_proba([[0.0]])


def test_classes_that_no_rule_answers_are_known():
    assert three_classes()._form.unpredicted_classes == ("b",)
    assert two_classes()._form.unpredicted_classes == ()
    default = Rule((), "a", (0.5, 0.5, 0.0), weight=1.0)
    averaged = RuleEnsemble((), default, NAMES, "classification", ("a", "b", "c"))
    assert averaged._form.unpredicted_classes == ("c",)
    rest = Rule((), 1.0)
    numbers = RuleEnsemble((), rest, ("x",), "regression")
    assert numbers._form.unpredicted_classes == ()


@pytest.mark.parametrize("stored", [{"threshold": 0.6}, {"costs": ((0, 2), (1, 0))}])
def test_threshold_and_costs_are_saved_and_come_back(stored, tmp_path):
    rules = two_classes(**stored)
    assert rules != two_classes()
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules
    assert json.loads(export(rules, "json")) == rules.to_dict()


def test_counts_and_decisions_may_be_missing_from_a_file():
    data = two_classes().to_dict()
    for name in ("threshold", "costs"):
        del data[name]
    for rule in (*data["rules"], data["default"]):
        for name in ("n_rows", "rates", "model_mean"):
            del rule[name]
    rules = RuleModel.from_dict(data)
    assert rules.threshold is rules.costs is None
    assert rules.predict([[31.0], [0.0]]).tolist() == ["sell", "wait"]
    assert rules.export("text").splitlines()[0] == (
        "1. if degrees > 30 then sell  [25% of rows, 88% agreement with the model]"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": 1.0}, "threshold must be a number above 0 and below 1; got 1.0"),
        ({"threshold": "half"}, "threshold must be a number above 0 and below 1"),
        ({"threshold": 0.5, "costs": ((0, 1), (1, 0))}, "threshold or costs, not both"),
        ({"costs": ((0, 1),)}, "a row and a column for each of the 2 classes"),
        ({"costs": ((0, -1), (1, 0))}, "costs must be a finite number from 0; got -1"),
        ({"threshold": 0.2}, "which is 'wait'; got 'sell'. Replace"),
        ({"threshold": 0.5, "rules": (Rule(HOT, "sell"),)}, "need the distribution"),
    ],
)
def test_a_threshold_or_costs_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        two_classes(**changes)


def test_averaged_rules_have_a_threshold():
    fields = {f.name: getattr(two_classes(), f.name) for f in fields_of(RuleEnsemble)}
    rules = RuleEnsemble(**fields).with_threshold(0.3)
    X = [[25.0], [5.0]]
    expected = np.where(rules.predict_proba(X)[:, 1] >= 0.3, *rules.classes[::-1])
    assert (rules.predict(X) == expected).all()
    assert RuleModel.from_dict(rules.to_dict()) == rules


def test_a_number_has_no_threshold():
    with pytest.raises(ValueError, match="need rules for classes"):
        RuleList((), Rule((), 2.0), NAMES, "regression", threshold=0.5)


@pytest.mark.parametrize("name", ["rates", "model_mean"])
def test_a_rule_with_too_few_rates_is_refused(name):
    data = two_classes().to_dict()
    data["default"][name] = [1.0]
    with pytest.raises(ModelFileError, match="one share for each class"):
        RuleModel.from_dict(data)
