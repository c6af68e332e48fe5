"""The heat map: one cell for each condition, in words and as a bar."""

import numpy as np
import pytest
from matplotlib import colors

from defragtrees import plots
from defragtrees.plots import style
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_classes, make_many, make_single

WORDS = {
    "x > 3": Condition(0, lower=3.0),
    "x <= 1": Condition(0, upper=1.0),
    "1 < x <= 3": Condition(0, lower=1.0, upper=3.0),
    "x is missing": Condition(0, lower=np.inf, missing=True),
    "x <= 1 or missing": Condition(0, upper=1.0, missing=True),
}
X = np.arange(1.0, 11.0)[:, None]


def make_column(conditions):
    rules = tuple(Rule((condition,), 1.0) for condition in conditions)
    return RuleList(rules, Rule((), 0.0), ("size",), "regression")


def bars(ax):
    """Left and right end of the bars, as shares of the room for them."""
    found = []
    for patch in ax.patches:
        if (
            patch.get_height() < 0.2
            and colors.to_hex(patch.get_facecolor()) != "#ffffff"
        ):
            left = (patch.get_x() % 1 - 0.06) / 0.88
            found.append((left, left + patch.get_width() / 0.88))
    return found


def test_cells_show_the_conditions():
    ax = plots.feature_heat_map(make_column(WORDS.values()))
    texts = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert texts == list(WORDS)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["size"]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["1. 1", "2. 1", "3. 1", "4. 1", "5. 1", "6. otherwise: 0"]
    assert ax.get_ylim() == (6, 0)


def test_colours_are_those_of_the_predicted_classes():
    ax = plots.feature_heat_map(make_classes())
    cells = [p for p in ax.patches if (p.get_width(), p.get_height()) == (1, 1)]
    found = [patch.get_facecolor()[:3] for patch in cells]
    wanted = [style.tint(style.COLOURS[i], 0.28) for i in (0, 1, 1, 2)]
    np.testing.assert_allclose(found, wanted)


def test_bars_are_as_long_as_the_share_of_rows():
    ax = plots.feature_heat_map(make_column(WORDS.values()), X)
    wanted = [(0.3, 1.0), (0.0, 0.1), (0.1, 0.3), (0.0, 0.1)]
    np.testing.assert_allclose(bars(ax), wanted, atol=1e-9)


def test_bars_without_rows_lie_between_the_thresholds():
    ax = plots.feature_heat_map(make_column(WORDS.values()))
    third = 1 / 3
    wanted = [(2 * third, 1.0), (0.0, third), (third, 2 * third), (0.0, third)]
    np.testing.assert_allclose(bars(ax), wanted, atol=1e-9)


def test_categories_have_a_bar_for_each():
    ax = plots.feature_heat_map(make_classes())
    # Of price, two of three cities, and of the last feature.
    np.testing.assert_allclose(
        bars(ax), [(1 / 3, 2 / 3), (0, 1 / 3), (2 / 3, 1), (0, 0.5)], atol=1e-9
    )
    assert "x is Lima or Rome" in [text.get_text() for text in ax.texts]


def test_each_condition_of_many_rules_has_a_cell():
    rules = make_many()
    ax = plots.feature_heat_map(rules)
    assert len(ax.texts) == sum(len(rule.conditions) for rule in rules.rules)
    assert len(ax.get_yticks()) == 51


@pytest.mark.parametrize("rows", [None, [[1.0, 2.0]]])
def test_rules_without_conditions_have_no_cells(rows):
    ax = plots.feature_heat_map(make_single(), rows)
    assert list(ax.texts) == []
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1. otherwise: no"]
