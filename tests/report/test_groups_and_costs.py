"""Results by group and costs of mistakes, worked by hand."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import simplify
from defragtrees.report.summary import summarize
from defragtrees.report.text import amount
from tests.report.cases import cells, numbers, weather, written

CITY = ["b", "a", "b", "a", "b", "a"]


def test_rates_of_groups_are_those_of_their_rows():
    simple, X, y = weather()
    a, b = summarize(simple, X, y, groups=CITY).group_lines("out")
    # Group a has rows 2, 4, 6: predictions out, out, in; y is out, out, in.
    assert (a["group"], a["n_rows"]) == ("a", 3)
    assert a["selection"][0] == a["rate"][0] == pytest.approx(2 / 3)
    assert a["error"][0] == 0.0
    # Wilson's interval of 2 of 3.
    assert a["rate"][1:] == pytest.approx((0.2077, 0.9385), abs=1e-4)
    # Group b has rows 1, 3, 5: predictions out, out, in; y is out, in, in.
    assert b["rate"][0] == b["error"][0] == pytest.approx(1 / 3)


def test_a_column_of_x_that_is_no_feature_names_groups():
    simple, X, y = weather()
    frame = pd.DataFrame(X, columns=["degrees", "wind"]).assign(city=CITY)
    simple.feature_names_in_ = np.array(["degrees", "wind"], dtype=object)
    summary = summarize(simple, frame, y, groups="city")
    assert summary.groups.labels == ("a", "b")
    words, gap, table = written("groups", summary)
    assert "cannot be read from these numbers" in words
    assert "equally often in all groups" in gap
    assert [line[0] for line in cells(table)] == ["a", "b"]


def test_many_numbers_make_quarters_and_missing_ones_a_group():
    simple, X, y = weather()
    rows = np.arange(60) % 6
    ages = [float(age) for age in range(60)]
    ages[0] = np.nan
    found = summarize(simple, X[rows], y[rows], groups=ages).groups
    assert found.labels == (
        "1–15.5", "15.5–30", "30–44.5", "44.5–59", "missing",
    )  # fmt: skip
    assert np.bincount(found.code).tolist() == [15, 15, 14, 15, 1]


def test_large_gaps_of_selection_rates_are_named():
    simple, X, y = weather()
    rows = np.repeat([0, 4, 0, 4], [90, 10, 10, 90])
    city = np.repeat(["x", "y"], 100)
    summary = summarize(simple, X[rows], y[rows], groups=city)
    gap = written("groups", summary)[1]
    assert (
        "(ratio 0.11, below the four-fifths rule; the intervals do not overlap)" in gap
    )
    words = re.sub("<.*?>", "", gap)
    assert "10.0% of rows whose group is y and 90.0% of rows whose group is x" in words


def test_a_group_of_few_rows_excuses_no_gap():
    simple, X, y = weather()
    rows = np.repeat([0, 4, 0, 4, 0, 4], [90, 10, 10, 90, 40, 60])
    rows = np.append(rows, [4, 4])  # of which none is selected, as may be chance
    city = np.append(np.repeat(["x", "y", "z"], 100), ["tiny", "tiny"])
    summary = summarize(simple, X[rows], y[rows], groups=city)
    words = re.sub("<.*?>", "", written("groups", summary)[1])
    assert "is y and 90.0%" in words
    assert "the intervals do not overlap" in words
    assert "pairs do not overlap: y and z; y and x; z and x." in words
    assert "tiny (2 rows) has too few rows to compare." in words


def test_groups_of_numbers_have_means():
    simple, X, y = numbers("list")
    one, two = summarize(simple, X, y, groups=[0, 0, 1, 1]).group_lines()
    # Predictions 4, 4, 1, 0; y 3, 4, 0, 0.
    assert (one["mean"][0], one["prediction"][0], one["bias"][0]) == (3.5, 4.0, 0.5)
    assert two["error"][0] == 0.5
    assert len(written("groups", summarize(simple, X, y, groups=[0, 0, 1, 1]))) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("city", "groups must name a column of X; got 'city', and X has"),
        ([1, 2], "one entry for each of its 6 rows; got the shape"),
    ],
)
def test_bad_groups_are_rejected(given, message):
    simple, X, y = weather()
    with pytest.raises(ValueError, match=message):
        summarize(simple, X, y, groups=given)


def test_with_costs_the_trade_off_shows_them_and_equal_sizes_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, "b", "a")
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    costs = {("a", "b"): 1.0, ("b", "a"): 4.0}
    simple = simplify(forest, X, y, max_rules=4, random_state=0, costs=costs)
    summary = summarize(simple, X, y)
    table = written("path", summary)[1]
    assert "Mean cost" in table
    shown = [line[2:5] for line in cells(table)]
    assert shown[-1][0] == amount(summary.scores["expected_cost"])
    measures = summary.trade_off.model_measures
    assert measures["expected_cost"] == summary.scores["model_expected_cost"]
    # The same list under another number of rules is no other line.
    first, *others = simple.path_.values()
    simple.path_ = {1: first, 2: first, 3: others[-1]}
    assert len(cells(written("path", summarize(simple, X, y))[1])) == 2
    plain = simplify(forest, X, y, max_rules=4, random_state=0)
    assert "Mean cost" not in written("path", summarize(plain, X, y))[1]
