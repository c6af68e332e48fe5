"""Coverage and overlap: the bars are the shares of rows, counted by hand."""

import dataclasses

import numpy as np
import pytest
from matplotlib import colors

from defragtrees import plots
from defragtrees.plots import style
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_averaged, make_classes, make_numbers

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])


def make_list():
    low = Rule((Condition(0, upper=2.5),), "a")
    wide = Rule((Condition(0, upper=4.5),), "b")
    classes = ("a", "b", "c")
    return RuleList((low, wide), Rule((), "c"), ("x",), "classification", classes)


def widths(ax):
    return [[bar.get_width() for bar in group] for group in ax.containers]


def test_bars_are_the_rows_that_rules_match_and_predict():
    ax = plots.coverage(make_list(), X)
    # Rows 1 and 2; of rows 1 to 4 only the last two; the default gets row 5.
    np.testing.assert_allclose(widths(ax), [[0.4, 0.8, 0.2], [0.4, 0.4, 0.2]])
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["1. x <= 2.5", "2. 2.5 < x <= 4.5", "3. otherwise"]
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["a: 40.0 %", "b: 40.0 %", "c: 20.0 %"]
    colours = [colors.to_hex(bar.get_facecolor()) for bar in ax.containers[1]]
    assert colours == [colour.lower() for colour in style.COLOURS[:3]]


def test_wrong_predictions_have_their_own_bar():
    ax = plots.coverage(make_list(), X, ["a", "b", "b", "b", "a"])
    np.testing.assert_allclose(widths(ax)[2], [0.2, 0.0, 0.2])
    starts = [bar.get_x() for bar in ax.containers[2]]
    np.testing.assert_allclose(starts, [0.2, 0.4, 0.0])
    texts = [text.get_text() for text in ax.texts]
    assert texts == ["a: 40.0 %, 50.0 % wrong", "b: 40.0 %, 0.0 % wrong", *texts[2:]]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["matched", "predicted", "predicted wrongly"]


def test_numbers_show_the_error_in_units_of_y_of_each_rule():
    rules = make_numbers()
    rows = np.array([[0.1, 0.1], [0.5, 0.5], [0.9, 0.9]])
    ax = plots.coverage(rules, rows, [1.25, 4.5, 9.0])
    assert [text.get_text() for text in ax.texts] == [
        "1.25: 33.3 %, root mean squared\nerror 0",
        "3.5: 33.3 %, root mean squared\nerror 1",
        "7: 33.3 %, root mean squared\nerror 2",
    ]
    assert len(ax.containers) == 2


def test_without_rows_the_stored_shares_are_shown():
    with pytest.raises(ValueError, match="Pass X to measure coverage"):
        plots.coverage(make_list())
    rules = make_classes()
    known = tuple(dataclasses.replace(rule, coverage=0.5) for rule in rules.rules)
    default = dataclasses.replace(rules.default, coverage=1.0)
    ax = plots.coverage(dataclasses.replace(rules, rules=known, default=default))
    np.testing.assert_allclose(widths(ax)[0], [0.5, 0.5, 0.5, 0.2])
    np.testing.assert_allclose(widths(ax)[1], [0.1, 0.3, 0.4, 0.2])


def test_averaged_rules_predict_together_so_weights_are_shown():
    rules = make_averaged()
    rows = np.array([[0.1, 0.1], [0.6, 0.1], [0.9, 0.9], [0.7, 0.7]])
    ax = plots.coverage(rules, rows)
    np.testing.assert_allclose(widths(ax), [[0.75, 0.5, 1.0]])
    assert [text.get_text() for text in ax.texts] == [
        "1: 75.0 %, weight 2",
        "0: 50.0 %, weight 0.5",
        "0: 100.0 %, weight 0.1",
    ]
