"""Curves: the points are the numbers of the path, the comparison and the history."""

import dataclasses

import numpy as np
import pytest

from defragtrees import metrics, plots
from defragtrees._compare import Comparison, PathPoint, RulePath
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_numbers

BINARY = ("classification", ("no", "yes"))


def test_trade_off_marks_the_chosen_list_and_the_model():
    rules = make_numbers()
    points = []
    for n, error in ((1, 0.49), (2, 0.36), (3, 0.25)):
        fewer = dataclasses.replace(rules, rules=rules.rules[: n - 1])
        points.append(PathPoint(fewer, error, 0.05, 0.9, 0.8, 1.0))
    ax = plots.trade_off(RulePath(tuple(points), 1, 0.04))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [(1, 0.7), (2, 0.6), (3, 0.5)])
    marked = next(line for line in ax.lines if line.get_label() == "chosen")
    np.testing.assert_allclose(marked.get_xydata(), [(2, 0.6)])
    model = next(line for line in ax.lines if line.get_label() == "model")
    assert model.get_ydata()[0] == 0.2


def make_entry(method, n_rules, error, failure=None):
    return {
        "method": method,
        "budget": None,
        "n_rules": n_rules,
        "error": error,
        "error_std": 0.01,
        "failure": failure,
    }


def test_comparison_has_a_line_for_each_method_that_did_not_fail():
    entries = (
        make_entry("one", 4.0, 0.2),
        make_entry("_two", 9.0, 0.1),
        make_entry("one", 2.0, 0.3),
        make_entry("three", None, None, "ValueError: no"),
        make_entry("distilled", 9.0, 0.1),
    )
    ax = plots.comparison(Comparison(entries, {}, 0.05, 1, "classification"))
    lines = [line for line in ax.lines if line.get_marker() in "os"]
    np.testing.assert_allclose(lines[0].get_xydata(), [(2, 0.3), (4, 0.2)])
    np.testing.assert_allclose(lines[1].get_xydata(), [(9, 0.1)])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["one", "_two", "distilled tree", "model"]
    assert ax.get_ylabel() == "held-out error"


def test_gains_have_a_point_for_each_step_with_the_numbers_of_its_rules():
    high = Rule((Condition(0, lower=0.5),), "no", (0.75, 0.25))
    mild = Rule((Condition(0, lower=0.2),), "yes", (0.25, 0.75))
    rules = RuleList((high, mild), Rule((), "no", (0.9, 0.1)), ("x",), *BINARY)
    X = [[0.6], [0.7], [0.3], [0.4], [0.1], [0.1], [0.1], [0.1]]
    y = ["yes", "no", "yes", "yes", "no", "no", "no", "yes"]
    ax = plots.gains(rules, X, y)
    best, random, found = ax.lines
    steps = [(0, 0), (0.25, 0.5), (0.5, 0.75), (1, 1)]
    np.testing.assert_allclose(found.get_xydata(), steps)
    np.testing.assert_allclose(best.get_xydata(), [(0, 0), (0.5, 1), (1, 1)])
    np.testing.assert_allclose(random.get_xydata(), [(0, 0), (1, 1)])
    assert [text.get_text() for text in ax.texts] == ["2", "1", "3"]
    assert found.get_color() == plots.COLOURS[1]
    assert ax.get_xlabel() == "share of rows contacted"
    assert [tick.get_text() for tick in ax.get_xticklabels()][:2] == ["0%", "20%"]
    for measure, top in (("precision", 1.0), ("lift", 2.0)):
        best, random, line, found = plots.gains(rules, X, y, measure=measure).lines
        steps = metrics.gains(rules, X, y)
        measured = [(step["share"], step[measure]) for step in steps]
        np.testing.assert_allclose(found.get_xydata(), measured)
        # No order of rows does better, not even between two steps.
        x, own = np.array(line.get_xydata(), dtype=float).T
        highest = np.interp(x, *np.array(best.get_xydata(), dtype=float).T)
        assert (own <= highest + 1e-3).all()
        assert (best.get_ydata()[0], random.get_ydata()[0]) == (top, top / 2)
    with pytest.raises(ValueError, match="captured, precision, lift"):
        plots.gains(rules, X, y, measure="auc")
