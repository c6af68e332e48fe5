"""The drawn table shows the rules, and no word overlaps another."""

import itertools

import pytest
from matplotlib import pyplot

from defragtrees import plots
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule

from .conftest import make_averaged, make_classes, make_many, make_numbers


def read_table(ax):
    """The words of the table, by column and row, as they stand in the Axes."""
    heads = {}
    for text in ax.texts:
        if text.get_weight() == "bold":
            heads.setdefault(text.get_position()[0], []).append(text)
    lines = sorted({line.get_ydata()[0] for line in ax.lines})
    columns = {}
    for left, head in heads.items():
        own = [t for t in ax.texts if t.get_position()[0] == left and t not in head]
        rows = []
        for top, bottom in itertools.pairwise(lines):
            inside = [t for t in own if top < t.get_position()[1] < bottom]
            rows.append(" ".join(t.get_text() for t in inside).replace(r"\$", "$"))
        columns[" ".join(text.get_text() for text in head)] = rows
    return columns


@pytest.mark.parametrize("make", [make_classes, make_numbers, make_many])
def test_table_shows_the_rules(make):
    rules = make()
    found = read_table(plots.rule_table(rules))
    header, rows = rules._view.cells()
    assert list(found) == header
    # A long name is broken where it must be, so spaces do not count.
    for j, name in enumerate(header):
        cells = ["".join(row[j]).replace(" ", "") for row in rows]
        assert [text.replace(" ", "") for text in found[name]] == cells


def test_columns_without_measures_are_left_out():
    found = read_table(plots.rule_table(make_numbers()))
    assert list(found) == ["#", "if", "prediction"]
    assert found["prediction"] == ["1.25", "3.5", "7"]


def test_averaged_rules_show_weights():
    found = read_table(plots.rule_table(make_averaged()))
    assert found["if"] == ["x1 > 0.5", "x2 <= 0.5", "always"]
    assert found["weight"] == ["2", "0.5", "0.1"]


def assert_apart(ax):
    figure = ax.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent().shrunk(0.98, 0.9) for text in ax.texts]
    frame = ax.get_window_extent().padded(1)
    for box in boxes:
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
        assert box.y1 <= frame.y1
    for one, two in itertools.combinations(boxes, 2):
        assert not one.overlaps(two)


@pytest.mark.parametrize("make", [make_classes, make_averaged, make_many])
def test_words_stay_inside_and_apart(make):
    assert_apart(plots.rule_table(make()))


def test_letters_shrink_in_axes_that_are_too_small_for_them():
    ax = pyplot.subplots(figsize=(5, 1.2))[1]
    assert_apart(plots.rule_table(make_classes(), ax))
    assert ax.texts[0].get_fontsize() < 9


def test_a_name_without_spaces_is_broken():
    name = "word_" * 60
    rules = RuleList(
        (Rule((Condition(0, lower=1.0),), 1.0),), Rule((), 0.0), (name,), "regression"
    )
    ax = plots.rule_table(rules)
    assert_apart(ax)
    assert read_table(ax)["if"][0].replace(" ", "") == f"{name}>1"
