"""Regions of rules: the colours are the predictions, the boxes are the conditions."""

import numpy as np
import pytest
from matplotlib import colors

from defragtrees import plots
from defragtrees.plots import style
from defragtrees.rules import RuleEnsemble, RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import (
    CITIES,
    make_averaged,
    make_classes,
    make_many,
    make_numbers,
    make_rows,
    make_single,
)


def colour_at(ax, x, y):
    """Colour of the rectangle that holds the point; its right and upper edge count."""
    mesh = ax.collections[0]
    mesh.update_scalarmappable()
    corners = mesh.get_coordinates()
    across, up = corners[0, :, 0], corners[:, 0, 1]
    colours = mesh.get_facecolors().reshape(len(up) - 1, len(across) - 1, 4)
    return colours[np.searchsorted(up, y) - 1, np.searchsorted(across, x) - 1, :3]


def assert_colours_are_predictions(ax, rules, points, X):
    """Points lie where the Axes has them; X are the rows that stand there."""
    predicted = rules.predict(X)
    for (x, y), answer in zip(points, predicted, strict=True):
        if rules.task == "classification":
            i = list(rules.classes).index(answer)
            wanted = style.tint(style.COLOURS[i % 8], 0.3)
        else:
            wanted = ax.collections[0].to_rgba(answer)[:3]
        np.testing.assert_allclose(colour_at(ax, x, y), wanted, atol=1e-3)


def near_thresholds(rules, n_points=150):
    """Random points, half of them on a threshold or one step above it."""
    rng = np.random.default_rng(2)
    points = rng.random((n_points, 2))
    for i in range(2):
        ends = [
            end
            for rule in rules.rules
            for c in rule.conditions
            if c.feature == i
            for end in (c.lower, c.upper)
            if np.isfinite(end)
        ]
        if ends:
            rows = rng.choice(n_points, n_points // 4, replace=False)
            points[rows, i] = rng.choice(ends, len(rows))
            points[rows[::2], i] = np.nextafter(points[rows[::2], i], np.inf)
    return points


@pytest.mark.parametrize("make", [make_numbers, make_averaged, make_single])
def test_the_rectangle_of_a_point_has_the_colour_of_its_prediction(make):
    rules = make()
    points = near_thresholds(rules)
    ax = plots.regions(rules, limits=((0, 1), (0, 1)))
    assert_colours_are_predictions(ax, rules, points, points)


def test_numbers_between_two_predictions_of_an_average_are_exact():
    listed = make_numbers()
    names, task = listed.feature_names, listed.task
    rules = RuleEnsemble(listed.rules, listed.default, names, task)
    points = near_thresholds(rules)
    ax = plots.regions(rules, limits=((0, 1), (0, 1)))
    assert_colours_are_predictions(ax, rules, points, points)


def test_other_features_are_held_at_the_values_that_the_title_names():
    rules = make_many()
    X, _ = make_rows(rules)
    names = rules.feature_names
    at = {name: 0.25 + 0.1 * j for j, name in enumerate(names)}
    at.pop(names[1])
    at.pop(names[4])
    ax = plots.regions(rules, features=(4, names[1]), limits=[(0, 1)] * 2, at=at)
    points = near_thresholds(rules)
    rows = np.tile([0.25, 0.35, 0.45, 0.55, 0.65, 0.75], (len(points), 1))
    rows[:, 4], rows[:, 1] = points.T
    assert_colours_are_predictions(ax, rules, points, rows)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (names[4], names[1])
    assert "feature 0 with quite_a_long_name = 0.25" in ax.get_title(
        loc="left"
    ).replace("\n", " ")
    medians = plots.regions(rules, X, features=(4, 1))
    middle = np.sort(X[:, 0])[29]
    assert f"= {middle:.4g}" in medians.get_title(loc="left").replace("\n", " ")


def test_categories_and_missing_values_have_places_of_their_own():
    rules = make_classes()
    X, y = make_rows(rules)
    ax = plots.regions(rules, X, y, features=(0, 1), at={2: 2.0})
    price = np.array([50.0, 80.0, 80.1, 200.0, 200.1])
    places, missing = ticks(ax.yaxis), ticks(ax.xaxis)["\nmissing"]
    assert list(places) == ["missing", "Lima", "Oslo, old", "Rome", "any other"]
    cities = {**{name: name for name in CITIES}, "any other": "Paris", "missing": None}
    for name, city in cities.items():
        rows = [[p, city, 2.0] for p in [*price, np.nan]]
        points = [(p, places[name]) for p in [*price, missing]]
        assert_colours_are_predictions(ax, rules, points, np.array(rows, object))


def ticks(axis):
    texts = [label.get_text() for label in axis.get_ticklabels()]
    return dict(zip(texts, axis.get_ticklocs(), strict=True))


def rectangles(ax):
    return [
        (*patch.get_xy(), patch.get_width(), patch.get_height())
        for patch in ax.patches
        if type(patch).__name__ == "Rectangle"
    ]


def test_each_rule_is_a_box_with_its_number():
    ax = plots.regions(make_numbers(), limits=((0, 1), (0, 1)))
    np.testing.assert_allclose(rectangles(ax), [(0, 0, 0.4, 1), (0, 0.2, 0.7, 0.4)])
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3"]
    # The number is in the middle of the largest area that the rule predicts.
    np.testing.assert_allclose(ax.texts[1].xy, (0.55, 0.4))


def test_a_set_of_categories_is_a_box_for_each_part():
    rules = make_classes()
    X, _ = make_rows(rules)
    ax = plots.regions(rules, X, features=(0, 1), at={2: 2.0})
    heights = [
        (y, y + height) for x, y, _, height in rectangles(ax) if x == pytest.approx(80)
    ]
    assert heights == [(-0.5, 0.5), (1.5, 2.5)]


def test_a_rule_that_does_not_match_the_fixed_values_has_no_box():
    rules = make_classes()
    ax = plots.regions(rules, features=(0, 1), at={2: 2.0})
    shown = plots.regions(rules, features=(0, 1), at={2: 0.0})
    assert len(rectangles(ax)) == 2
    assert len(rectangles(shown)) == 3


def test_rows_are_points_in_the_colour_and_marker_of_their_class():
    rules = make_averaged()
    X = np.array([[0.1, 0.2], [0.6, 0.7], [0.8, 0.3]])
    ax = plots.regions(rules, X, [0, 1, 7])
    points = ax.collections[1:]
    assert [len(one.get_offsets()) for one in points] == [1, 1, 1]
    np.testing.assert_allclose(points[0].get_offsets(), X[:1])
    found = [colors.to_hex(one.get_facecolor()[0]) for one in points]
    assert found == ["#0072b2", "#d55e00", "#009e73"]
    shapes = [len(one.get_paths()[0].vertices) for one in points]
    assert len(set(shapes)) > 1
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["0", "1", "7"]


def test_no_more_points_than_asked_for():
    rules = make_numbers()
    X, _ = make_rows(rules)
    ax = plots.regions(rules, X, max_rows=7)
    assert len(ax.collections[1].get_offsets()) == 7


def test_features_are_by_default_those_in_most_rules():
    rules = make_many()
    counts = [
        sum(c.feature == j for rule in rules.rules for c in rule.conditions)
        for j in range(6)
    ]
    X, _ = make_rows(rules)
    ax = plots.regions(rules, X)
    shown = {ax.get_xlabel(), ax.get_ylabel()}
    largest = sorted(range(6), key=lambda j: -counts[j])[:2]
    assert shown == {rules.feature_names[j] for j in largest}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": (0, 9)}, "names or indices"),
        (
            {"features": ("no such", 1)},
            "features has",
        ),
        ({"features": (2, 2)}, "two different ones"),
        ({}, "must have a value"),
        ({"features": (0, 1), "at": {1: 2.0}}, "features shown"),
    ],
)
def test_bad_features_are_rejected(settings, message):
    with pytest.raises(ValueError, match=message):
        plots.regions(make_many(), **settings)


def test_one_feature_makes_no_plane():
    rules = RuleList((), Rule((), 1.0), ("a",), "regression")
    with pytest.raises(ValueError, match="needs two features"):
        plots.regions(rules)


def test_conditions_that_nothing_fulfils_have_no_box():
    never = Rule((Condition(0, lower=0.5, upper=0.5),), 1.0)
    rules = RuleList((never,), Rule((), 0.0), ("a", "b"), "regression")
    ax = plots.regions(rules, limits=((0, 1), (0, 1)))
    assert rectangles(ax) == []
    assert [text.get_text() for text in ax.texts] == ["2"]
