"""The small pictures at conditions: bars where the rows are, and the cut in place."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from defragtrees.ensembles.forest import Forest
from defragtrees.report.pictures import HALF, WIDTH, histogram
from defragtrees.report.summary import PredictedRows, prediction_colours, summarize
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import numbers, parts_of, stump, weather, written


def condition_picture(summary, k, condition):
    """The SVG of one condition of a rule."""
    return parts_of("parts", summary).histogram(histogram(summary, k, condition))


def cuts(svg):
    return [float(x) for x in re.findall(r'class="cut" d="M([\d.]+) ', svg)]


def bars(svg, colour):
    """Places and heights of the bars of one colour; those below the line are > 0."""
    paths = re.findall(rf'<path d="([^"]*)" fill="var\(--{colour}\)"', svg)
    drawn = re.findall(r"M([\d.]+) \d+v(-?[\d.]+)", "".join(paths))
    return [(float(x), float(height)) for x, height in drawn]


def shades(svg):
    found = re.findall(r'class="shade" x="([\d.]+)" y="0" width="([\d.]+)"', svg)
    return [(float(x), float(width)) for x, width in found]


def test_the_cut_lies_where_its_number_is():
    summary = summarize(*weather())
    svg = condition_picture(summary, 0, Condition(0, lower=17.5))
    # Degrees are from 5 to 30, less a bit at both ends: 17.5 is in the middle.
    assert cuts(svg) == [pytest.approx(WIDTH / 2, abs=2)]
    [(x, width)] = shades(svg)
    assert x == cuts(svg)[0]
    assert x + width == pytest.approx(WIDTH)
    assert "The condition matches 50\N{NO-BREAK SPACE}% of the rows here" in svg


def test_the_class_stands_above_and_the_others_below():
    svg = condition_picture(summarize(*weather()), 0, Condition(1, lower=2.0))
    above, below = bars(svg, "g1"), bars(svg, "g0")
    # Wind of "out": 1, 5, 2; of "in": 1, 9, 8; whole numbers have a bar each.
    width = WIDTH / 9
    assert [round(x / width) for x, _ in above] == [0, 1, 4]
    assert [round(x / width) for x, _ in below] == [0, 7, 8]
    assert {height for _, height in above} == {-(HALF - 1)}
    assert {height for _, height in below} == {HALF - 1}


def test_categories_and_missing_values_have_bars_of_their_own():
    categories = (("red", "green", "blue"),)
    asked = Condition(0, categories=(0, 2), missing=True)
    rules = RuleList(
        (Rule((asked,), "b", (0.0, 1.0)),), Rule((), "a", (1.0, 0.0)), ("colour",),
        "classification", ("a", "b"), categories,
    )  # fmt: skip
    forest = Forest(
        (stump(0, 0.5, [1.0, 0.0], [0.0, 1.0]),), ("colour",), "classification",
        ("a", "b"), "mean",
    )  # fmt: skip
    matrix = np.array([[0.0], [1.0], [2.0], [np.nan]])
    rows = PredictedRows(
        rules, matrix, None, np.ones(4), forest.predict_encoded(matrix)
    )
    summary = SimpleNamespace(
        rows=rows,
        rules=rules,
        outcome=rules.outcome,
        cards=[SimpleNamespace(colour="g1")] * 2,
        colours=prediction_colours(rows),
    )
    svg = condition_picture(summary, 0, asked)
    assert len(shades(svg)) == 3
    assert cuts(svg) == []
    # The forest predicts "a" for red and of what is missing.
    assert len(bars(svg, "g0")) == len(bars(svg, "g1")) == 2
    assert ">missing</text>" in svg


def test_numbers_are_coloured_by_their_mean():
    simple, X, y = numbers("first")
    svg = condition_picture(summarize(simple, X, y), 0, Condition(0, lower=1.0))
    # The means are 0 and 3.5; the fifths of the ensemble end at 0, 0.8, 3.2.
    assert len(bars(svg, "s0")) == len(bars(svg, "s3")) == 1
    assert (
        "coloured by the mean of the outcome"
        in written("rules", summarize(simple, X, y))[1]
    )


def test_a_name_in_a_picture_stays_text():
    evil = "<script>alert(1)</script>"
    simple, X, y = weather()
    summary = summarize(simple, X, y, target_name=evil)
    assert "rows of “out” above the line" in written("rules", summary)[1]
    assert evil not in condition_picture(summary, 0, Condition(0, lower=17.5))
