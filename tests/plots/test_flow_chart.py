"""The flow chart asks what the rules ask, in their order, and shows how many rows."""

import itertools

import pytest
from matplotlib import pyplot
from matplotlib.patches import Rectangle

from defragtrees import plots
from defragtrees.plots.flow_chart import QUESTION, STEM

from .conftest import make_averaged, make_classes, make_many, make_numbers, make_single


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


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def test_questions_and_answers_are_those_of_the_list():
    first, _, _, second, third, _, _, *answers = texts_of(plots.flow(make_numbers()))
    # A bound that follows from an earlier rule is shown.
    questions = first, second, third
    assert questions == ("x1 <= 0.4?", "0.4 < x1 <= 0.7", "and 0.2 < x2 <= 0.6?")
    assert answers == ["1.25", "3.5", "7"]


def test_bands_have_the_width_of_their_rows():
    rules = make_classes()
    bands = [patch for patch in plots.flow(rules).patches if type(patch) is Rectangle]
    right = [patch for patch in bands if patch.get_x() >= QUESTION]
    heights = [patch.get_height() / STEM for patch in right]
    assert heights == pytest.approx([0.1, 0.3, 0.4])
    down = [patch for patch in bands if patch.get_height() > patch.get_width()]
    # What is left after each question; of the last one, the rows of the default rule.
    widths = [patch.get_width() / STEM for patch in down]
    assert widths == pytest.approx([0.9, 0.6, 0.2])


@pytest.mark.parametrize("make", [make_classes, make_numbers, make_single, make_many])
def test_words_stay_inside_and_apart(make):
    assert_apart(plots.flow(make()))


def test_letters_shrink_in_axes_that_are_too_small():
    ax = pyplot.subplots(figsize=(3, 2), layout="constrained")[1]
    assert_apart(plots.flow(make_classes(), ax))
    assert ax.texts[0].get_fontsize() < 9


def test_other_forms_are_rejected():
    with pytest.raises(ValueError, match="rule list; got a RuleEnsemble"):
        plots.flow(make_averaged())
