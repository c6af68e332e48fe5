"""calibration: estimated probabilities against observed rates."""

import numpy as np
import pytest
from matplotlib import cbook

from defragtrees import metrics, plots
from defragtrees.plots.measures import calibration_picture
from defragtrees.plots.picture import Curve
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_classes, make_numbers, make_rows, make_single


def make_risks():
    """Two rules for a rare class with a dollar in its name."""
    risky = Rule((Condition(0, lower=0.5),), "no", (0.75, 0.25))
    classes = ("no", "yes $5 or $9")
    return RuleList(
        (risky,), Rule((), "no", (1.0, 0.0)), ("x",), "classification", classes
    )


X = np.array([[0.6]] * 8 + [[0.1]] * 4)
Y = np.array(["yes $5 or $9"] * 4 + ["no"] * 8)


def test_a_point_for_each_rule_with_its_interval():
    ax = plots.calibration(make_risks(), X, Y)
    points = ax.containers[-1]
    assert points[0].get_xydata().tolist() == [[0.25, 0.5], [0.0, 0.0]]
    # Wilson's interval of 4 of 8, and of 0 of 4.
    bars = [segment[:, 1] for segment in points[2][0].get_segments()]
    assert bars[0] == pytest.approx([0.2152, 0.7848], abs=1e-4)
    assert bars[1] == pytest.approx([0.0, 0.4899], abs=1e-4)
    assert [text.get_text() for text in ax.texts] == ["1", "2"]
    assert ax.get_xlim() == ax.get_ylim()
    assert not cbook.is_math_text(ax.get_xlabel())


def test_weights_count_as_rows():
    weight = np.r_[np.zeros(4), np.ones(8)]
    ax = plots.calibration(make_risks(), X, Y, weight)
    assert ax.containers[-1][0].get_xydata().tolist() == [[0.25, 0.0], [0.0, 0.0]]


def test_each_class_of_more_than_two_has_its_colour():
    rules = make_classes()
    rows, answers = make_rows(rules)
    ax = plots.calibration(rules, rows, answers)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["perfect calibration", r"_ask \$", "buy", "keep"]
    assert ax.get_xlabel() == "estimated probability"


def test_a_class_has_the_colour_of_its_place_also_if_others_have_no_rule():
    rules = make_classes()
    row = {"rule": 1, "class": "keep", "estimated": 0.5, "observed": 0.5}
    row |= {"low": 0.4, "high": 0.6, "n_rows": 10.0}
    _, points = calibration_picture([row], rules).marks
    place = list(rules.classes).index("keep")
    assert place > 0
    assert (points.label, points.colour) == ("keep", f"g{place}")


def test_a_scorecard_has_a_point_for_each_total():
    points = [Condition(0, lower=0.5), Condition(0, lower=0.8)]
    rules = [Rule((c,), "yes", (0.5, 0.5), points=(1.0,)) for c in points]
    base = Rule((), "no", (0.5, 0.5), points=(0.0,))
    classes = ("no", "yes")
    card = Scorecard(tuple(rules), base, ("x",), "classification", classes)
    X = [[0.1], [0.2], [0.6], [0.9], [0.9]]
    ax = plots.calibration(card, X, ["no", "yes", "yes", "yes", "no"])
    found = ax.containers[-1][0].get_xydata()
    estimated = [1 / (1 + np.exp(-total)) for total in (0, 1, 2)]
    np.testing.assert_allclose(found, np.c_[estimated, [0.5, 1.0, 0.5]])
    assert [text.get_text() for text in ax.texts] == []
    picture = calibration_picture(metrics.calibration(card, X, ["no"] * 5), card)
    assert picture.marks[-1].texts[1].startswith("total 1\nestimated 0.731\n")


def test_numbers_are_means_and_a_rule_without_rows_has_no_point():
    rules = make_numbers()
    low = np.array([[0.1, 0.1], [0.2, 0.9]])
    ax = plots.calibration(rules, low, [1.0, 2.0])
    assert ax.containers[-1][0].get_xydata().tolist() == [[1.25, 1.5]]
    assert ax.get_ylabel() == "observed mean"
    ax.figure.canvas.draw()


def test_rules_without_probabilities_are_rejected():
    with pytest.raises(ValueError, match="needs rules with probabilities"):
        plots.calibration(make_single(), [[0.0, 1.0]], ["no"])


def test_the_text_of_a_point_names_its_rule():
    row = {"rule": 2, "class": "yes", "estimated": 0.1, "observed": 0.2, "n_rows": 10.0}
    row |= {"low": 0.05, "high": 0.5}
    picture = calibration_picture([row], make_risks(), "{:.0%}".format)
    diagonal, points = picture.marks
    assert isinstance(points, Curve)
    assert points.texts == ["rule 2\nestimated 10%\nobserved 20% (5% to 50%)"]
    assert (points.numbers, points.reach) == ([2], [(0.05, 0.5)])
    assert diagonal.x == diagonal.y
