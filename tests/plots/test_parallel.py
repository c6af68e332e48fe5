"""Parallel coordinates: one line for each row, at the heights of its values."""

import numpy as np
import pytest
from matplotlib import colors

from defragtrees import plots
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_averaged, make_classes, make_numbers, make_rows

MISSING = -0.16


def lines(ax):
    return [np.array(line) for one in ax.collections for line in one.get_segments()]


def bars(ax, at):
    """Ends of the broad bars over one feature."""
    own = [line for line in ax.lines if line.get_linewidth() == 9]
    return [line.get_ydata() for line in own if line.get_xdata()[0] == at]


def test_each_row_is_a_line_over_the_features_used():
    rules = make_numbers()
    X = np.array([[0.1, 0.0], [0.5, 0.5], [0.6, 1.0]])
    ax = plots.parallel_coordinates(rules, X)
    found = sorted(line.tolist() for line in lines(ax))
    np.testing.assert_allclose(
        found,
        [[[0, 0.0], [1, 0.0]], [[0, 0.8], [1, 0.5]], [[0, 1.0], [1, 1.0]]],
    )
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x1", "x2"]


def test_lines_have_the_colour_of_the_rule_that_predicts():
    rules = make_numbers()
    X, _ = make_rows(rules)
    ax = plots.parallel_coordinates(rules, X)
    counts = np.bincount(rules.apply(X), minlength=3)
    assert [len(one.get_segments()) for one in ax.collections] == counts.tolist()
    found = [colors.to_hex(one.get_color()[0]) for one in ax.collections]
    assert found == ["#0072b2", "#d55e00", "#009e73"]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["1. 1.25", "2. 3.5", "3. 7"]


def test_the_highlighted_rule_shows_its_intervals_and_greys_the_rest():
    rules = make_numbers()
    X = np.array([[0.0, 0.0], [0.5, 0.5], [0.6, 1.0], [1.0, 0.2]])
    ax = plots.parallel_coordinates(rules, X, rule=1)
    # An open side reaches a little beyond the lowest value.
    np.testing.assert_allclose(bars(ax, 0), [[-0.04, 0.7]])
    np.testing.assert_allclose(bars(ax, 1), [[0.2, 0.6]])
    words = [text.get_text() for text in ax.texts if text.get_weight() == "bold"]
    assert words == ["0.7", "0.2", "0.6"]
    grey = [
        one for one in ax.collections if colors.to_hex(one.get_color()) == "#bfbfbf"
    ]
    assert sum(len(one.get_segments()) for one in grey) == 3
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["2. 3.5", "other rules"]


def test_ranks_put_values_at_the_share_of_rows_not_above_them():
    rules = make_numbers()
    X = np.array([[0.1, 0.0], [0.3, 0.5], [0.5, 0.7], [900.0, 0.3]])
    ax = plots.parallel_coordinates(rules, X, rule=0, scale="rank")
    found = sorted(line[0, 1] for line in lines(ax))
    np.testing.assert_allclose(found, [0.25, 0.5, 0.75, 1.0])
    # Two of four rows are at most 0.4.
    np.testing.assert_allclose(bars(ax, 0), [[-0.04, 0.5]])


def test_missing_values_lie_below_and_accepted_ones_are_marked():
    rules = make_classes()
    X, _ = make_rows(rules)
    ax = plots.parallel_coordinates(rules, X, rule=0)
    heights = np.array([line[0, 1] for line in lines(ax)])
    n_missing = int(np.isnan(rules.encode(X)[:, 0]).sum())
    assert np.sum(heights < MISSING + 0.02) == n_missing > 0
    assert (heights[heights > MISSING + 0.02] >= 0).all()
    np.testing.assert_allclose(bars(ax, 0), [[MISSING - 0.035, MISSING + 0.035]])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["missing"]


def test_categories_are_named_and_accepted_ones_marked():
    rules = make_classes()
    X, _ = make_rows(rules)
    ax = plots.parallel_coordinates(rules, X, rule=1)
    words = {text.get_text(): text.xy for text in ax.texts if text.xy[0] == 1}
    # Three known cities and an unknown one, evenly spread.
    assert list(words) == ["Lima", "Oslo, old", "Rome", "any other"]
    np.testing.assert_allclose([xy[1] for xy in words.values()], [0, 1 / 3, 2 / 3, 1])
    np.testing.assert_allclose(np.mean(bars(ax, 1), axis=1), [0.0, 2 / 3])


def test_no_more_lines_than_asked_for_and_half_of_them_highlighted():
    rules = make_averaged()
    X, _ = make_rows(rules, 500)
    ax = plots.parallel_coordinates(rules, X, max_rows=40)
    assert len(lines(ax)) == 40
    assert ax.get_title(loc="right") == "40 of 500 rows"
    ax = plots.parallel_coordinates(rules, X, rule=1, max_rows=40)
    assert len(ax.collections[-1].get_segments()) == 20
    assert len(lines(ax)) == 40
    assert ax.get_legend().get_title().get_text() == "strongest rule"


def test_one_feature_and_a_constant_column_can_be_drawn():
    rule = Rule((Condition(0, lower=2.0),), 1.0)
    rules = RuleList((rule,), Rule((), 0.0), ("a", "b"), "regression")
    ax = plots.parallel_coordinates(rules, [[3.0, 0.0], [3.0, 1.0]], rule=0)
    assert [line.tolist() for line in lines(ax)] == [[[-0.25, 0.5], [0.25, 0.5]]] * 2
    np.testing.assert_allclose(bars(ax, 0), [[0.0, 1.04]])


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"scale": "log"}, "'range' or 'rank'"), ({"rule": 3}, "below 3; got 3")],
)
def test_bad_settings_are_rejected(settings, message):
    with pytest.raises(ValueError, match=message):
        plots.parallel_coordinates(make_numbers(), [[0.1, 0.2]], **settings)
