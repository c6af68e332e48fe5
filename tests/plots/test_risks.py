"""risks: points and whiskers are the rates and intervals of the rules."""

import dataclasses

import pytest

from defragtrees import plots
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule


def make_loans(**settings):
    risky = Rule(
        (Condition(0, lower=0.5),),
        "bad",
        (0.75, 0.25),
        n_rows=40,
        rates=(0.75, 0.25),
        share=0.4,
    )
    rest = Rule((), "good", (0.1, 0.9), n_rows=60, rates=(0.1, 0.9), share=0.6)
    classes = ("bad", "good")
    task = "classification"
    return RuleList((risky,), rest, ("debt",), task, classes, **settings)


def drawn(ax):
    """The points and the ends of the whiskers, from the top."""
    lines = [line.get_xdata() for line in ax.lines]
    points = [float(x[0]) for x in lines if len(x) == 1]
    ends = [tuple(map(float, x)) for x in lines if len(x) == 2]
    return points, ends


def test_the_points_are_rates_of_the_positive_class():
    rules = make_loans(pos_label="bad")
    ax = plots.risks(rules)
    points, ends = drawn(ax)
    assert points == [0.75, 0.1]
    assert ends[0] == rules.rules[0].interval[0]
    assert ends[1] == rules.default.interval[0]
    assert ends[2] == pytest.approx((0.36, 0.36))  # 36 of 100 rows are bad
    texts = [text.get_text() for text in ax.texts]
    assert texts == [
        "75.0% (40 rows): bad",
        "10.0% (60 rows): good",
        "all rows: 36.0%",
    ]
    assert ax.get_xlabel() == "probability of bad, with 95% interval"
    assert [text.get_text() for text in ax.get_yticklabels()] == [
        "1. debt > 0.5",
        "2. otherwise",
    ]


def test_the_points_are_estimates():
    rules = make_loans()
    shrunk = dataclasses.replace(rules.rules[0], distribution=(0.7, 0.3))
    ax = plots.risks(dataclasses.replace(rules, rules=(shrunk,)))
    assert drawn(ax)[0][0] == 0.3
    assert ax.texts[0].get_text() == "30.0% (40 rows): bad"


def test_without_pos_label_it_is_the_second_class():
    assert drawn(plots.risks(make_loans()))[0] == [0.25, 0.9]


def test_numbers_have_their_quantiles():
    warm = Rule((Condition(0, lower=20.0),), 5.0, n_rows=30, quantiles=(2.0, 9.0))
    rules = RuleList((warm,), Rule((), 1.0, n_rows=10), ("degrees",), "regression")
    points, ends = drawn(plots.risks(rules))
    assert points == [5.0, 1.0]
    assert ends == [(2.0, 9.0)]


def test_higher_rules_have_room_for_all_their_words():
    words = "a feature with a name that does not fit into a single line of the picture"
    rules = RuleList(
        (Rule((Condition(0, lower=0.5),), 1.0),), Rule((), 0.0), (words,), "regression"
    )
    ax = plots.risks(rules)
    first = ax.get_yticklabels()[0].get_text()
    assert first.replace("\n", " ") == f"1. {words} > 0.5"
    assert "\n" in first


def test_the_scale_of_rare_classes_ends_where_they_do():
    low = Rule(
        (Condition(0, lower=0.5),),
        "no",
        (0.9, 0.1),
        n_rows=90,
        rates=(0.9, 0.1),
        share=1 / 11,
    )
    rest = Rule((), "no", (0.99, 0.01), n_rows=900, rates=(0.99, 0.01), share=10 / 11)
    classes = ("no", "yes")
    rules = RuleList((low,), rest, ("debt",), "classification", classes)
    highest = low.interval[1][1]
    assert highest < plots.risks(rules).get_xlim()[1] < 1.3 * highest
    assert plots.risks(make_loans()).get_xlim()[1] == pytest.approx(1.01)
