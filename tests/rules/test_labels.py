"""Labels, units and kinds: what features and classes are called where people read."""

import json
import math

import numpy as np
import pytest

from defragtrees import Condition, DefragClassifier, Rule, RuleList, RuleModel
from defragtrees.data.grid import round_between
from defragtrees.rules.labels import (
    KINDS,
    Scale,
    checked_labels,
    checked_pos_label,
    make_vocabulary,
)


def some_rules(**words):
    short = Rule((Condition(0, upper=12.0), Condition(1, lower=0.5)), 1, (0.2, 0.8))
    return RuleList(
        (short,),
        Rule((), 0, (0.9, 0.1)),
        ("dur", "x"),
        "classification",
        (0, 1),
        **words,
    )


def test_labels_and_units_are_in_the_text():
    rules = some_rules().relabel({"dur": "Duration [months]"}, ["good", "bad"])
    assert str(rules).splitlines() == [
        "#  if                     then  P(bad)",
        "1  Duration <= 12 months  bad      80%",
        "   and x > 0.5",
        "2  otherwise              good     10%",
    ]
    assert rules.export("text") == (
        "1. if Duration <= 12 months and x > 0.5 then bad\n2. otherwise good\n"
    )
    assert rules.explain([3.0, 1.0]).splitlines() == [
        "Prediction: bad; P(bad) = 80%",
        "",
        "rule  condition              value     match",
        "   1  Duration <= 12 months  3 months  yes",
        "      x > 0.5                1         yes",
    ]
    assert rules.predict([[3.0, 1.0]]).tolist() == [1]
    assert rules.feature_names == ("dur", "x")
    assert repr(rules.rules[0]) == "<Rule: if Duration <= 12 months and x > 0.5 then 1>"


def test_labels_and_kinds_survive_saving():
    rules = some_rules(feature_kinds=("date", None)).relabel(None, {1: "bad"})
    again = RuleModel.from_dict(json.loads(json.dumps(rules.to_dict())))
    assert again == rules
    assert again.export("text") == (
        "1. if dur <= 1970-01-13 and x > 0.5 then bad\n2. otherwise 0\n"
    )


def test_rules_saved_before_there_were_labels_can_be_read():
    data = some_rules().to_dict()
    for name in ("feature_labels", "class_labels", "feature_kinds"):
        del data[name]
    assert RuleModel.from_dict(data) == some_rules()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"age": "Age"}, "must name some of 'dur', 'x'; got 'age'"),
        (["Duration"], "one entry for each of 'dur', 'x'; got 1 for 2"),
        (["a", "a"], "must be unique; got 'a' twice"),
        ({"dur": "x"}, "must be unique; got 'x' twice"),
        ({"dur": 3}, "must be texts; got 3"),
        ({"dur": " "}, "must be texts; got ' '"),
    ],
)
def test_labels_that_fit_no_feature_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        checked_labels(labels, ("dur", "x"), "feature_labels")


def test_labels_of_classes_are_for_classes():
    with pytest.raises(
        ValueError, match="class_labels is for rules that predict class"
    ):
        RuleList((), Rule((), 1.0), ("x",), "regression").relabel(None, ["a", "b"])


def test_a_name_with_brackets_is_no_unit():
    words = make_vocabulary(("size [m]",), None)
    assert words.names == ("size [m]",)
    assert words.scales == (Scale(),)


@pytest.mark.parametrize(
    ("kind", "days", "text"),
    [
        ("date", 0.0, "1970-01-01"),
        ("date", -1.0, "1969-12-31"),
        ("date", 19782.0 + 0.25, "2024-02-29 06:00"),
        ("datetime", 19782.0, "2024-02-29 00:00"),
        ("datetime", 19782 + 1.5 / 86400, "2024-02-29 00:00:01.5"),
        ("date", 1e9, "day 1000000000"),
        ("time", 23.5 / 24, "23:30"),
        ("time", 1.0, "day 1"),
        ("duration", 0.0, "00:00"),
        ("duration", -1.25, "-1 day 06:00"),
        ("duration", 7.0, "7 days"),
        ("datetime UTC", 19782.5, "2024-02-29 12:00 UTC"),
    ],
)
def test_days_read_as_what_they_are(kind, days, text):
    assert Scale(kind=kind).text(days) == text
    assert set(KINDS) == {"date", "datetime", "datetime UTC", "time", "duration"}


@pytest.mark.parametrize(
    ("low", "high", "begin"),
    [
        ("2023-11-03", "2024-02-08", "2024-01-01"),
        ("2024-02-03", "2024-03-08", "2024-03-01"),
        ("2024-02-03", "2024-02-04", "2024-02-04"),
        ("2024-02-03T10:13:05", "2024-02-03T11:40", "2024-02-03T11:00"),
        ("2024-02-03T10:13:05", "2024-02-03T10:13:07", "2024-02-03T10:13:06"),
    ],
)
def test_cuts_of_dates_are_where_something_begins(low, high, begin):
    def days(text):
        return np.datetime64(text, "us").astype(int) / 86_400e6

    low, high = days(low), days(high)
    cut = round_between(low, high, (low + high) / 2, kind="datetime")
    assert low <= cut < high
    assert math.nextafter(cut, math.inf) == days(begin)


@pytest.mark.parametrize("label", [np.arange(3), np.zeros((2, 2)), np.array(["a"])])
def test_an_array_is_no_class(label):
    with pytest.raises(ValueError, match="pos_label must be one of the classes 0, 1"):
        checked_pos_label(label, (0, 1))


def test_categories_that_are_dates_are_printed_as_dates():
    pd = pytest.importorskip("pandas")
    days = ["2020-01-01", "2020-02-01", "2020-03-01"]
    frame = pd.DataFrame({"seen": pd.Categorical(pd.to_datetime(days * 20))})
    y = ["a", "b", "b"] * 20
    rules = DefragClassifier(max_rules=2, random_state=0).fit(frame, y).rules_
    assert rules.rules[0].text() == "seen is 2020-01-01 00:00"
    assert rules.replace(1, "seen is 2020-01-01 00:00").rules[0].shown == (
        rules.rules[0].shown
    )
    assert "2020-01-01" in str(rules.explain(frame.head(1)))
