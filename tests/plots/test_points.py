"""Scorecards: bars are points, in the colour of the class that they favour."""

import numpy as np
import pytest
from matplotlib import colors

from defragtrees import plots
from defragtrees.plots import style
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_numbers


def make_card(**settings):
    """The first rule adds points for "good", the second subtracts some."""
    rates = {"n_rows": 40.0, "rates": (0.25, 0.75), "distribution": (0.25, 0.75)}
    plus = Rule((Condition(0, lower=0.5),), "good", points=(2.0,), **rates)
    minus = Rule((Condition(1, upper=0.5),), "good", points=(-1.0,), **rates)
    base = Rule((), "good", points=(0.5,), **rates | {"n_rows": 80.0})
    names, classes = ("income", "age"), ("bad", "good")
    return Scorecard((plus, minus), base, names, "classification", classes, **settings)


def hexes(artists):
    return [colors.to_hex(artist.get_facecolor()) for artist in artists]


def test_points_have_the_colour_of_the_class_that_they_favour():
    ax = plots.scorecard(make_card())
    assert [bar.get_width() for bar in ax.containers[0]] == [2.0, -1.0, 0.5]
    bad, good = (colour.lower() for colour in style.COLOURS[:2])
    assert hexes(ax.containers[0]) == [good, bad, colors.to_hex(style.GREY)]
    assert [text.get_text() for text in ax.texts] == ["+2", "-1", "+0.5"]
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert labels == ["1. income > 0.5", "2. age <= 0.5", "3. base"]


def test_risks_of_a_scorecard_show_points_and_call_the_base_so():
    ax = plots.risks(make_card())
    assert [text.get_text() for text in ax.texts][:3] == [
        "75.0% (40 rows): +2 points",
        "75.0% (40 rows): -1 points",
        "75.0% (80 rows): +0.5 points",
    ]
    points = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert [line.get_color() for line in points] == [
        style.COLOURS[1],
        style.COLOURS[0],
        style.GREY,
    ]
    assert ax.get_yticklabels()[-1].get_text() == "3. base"


def test_each_of_more_classes_has_a_bar():
    shares = (0.5, 0.25, 0.25)
    rule = Rule((Condition(0, lower=0.5),), "a", shares, points=(-1.0, 0.5, 0.25))
    base = Rule((), "a", shares, points=(1.0, 0.0, 0.0))
    card = Scorecard((rule,), base, ("x",), "classification", ("a", "b", "c"))
    ax = plots.scorecard(card)
    found = [[bar.get_width() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(found, [[-1, 1], [0.5, 0], [0.25, 0]])
    assert [hexes(bars)[0] for bars in ax.containers] == [
        colour.lower() for colour in style.COLOURS[:3]
    ]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["a", "b", "c"]


def test_totals_have_estimated_and_observed_rates():
    X = [[0.9, 0.9], [0.9, 0.1], [0.1, 0.1], [0.1, 0.1]]
    ax = plots.score_risk(make_card(), X, ["good", "good", "good", "bad"])
    totals = np.array([-0.5, 1.5, 2.5])
    [line] = ax.lines
    np.testing.assert_allclose(line.get_xdata(), totals)
    np.testing.assert_allclose(line.get_ydata(), 1 / (1 + np.exp(-totals)))
    [rings] = ax.collections
    np.testing.assert_allclose(rings.get_offsets()[:, 1], [0.5, 1.0, 1.0])
    assert ax.get_ylabel() == "probability of good"


@pytest.mark.parametrize("picture", [plots.scorecard, plots.score_risk])
def test_other_forms_are_rejected(picture):
    assert isinstance(make_numbers(), RuleList)
    with pytest.raises(ValueError, match="This plot needs a scorecard"):
        picture(make_numbers())
