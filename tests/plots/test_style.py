"""Words that fit: measured, wrapped, cut, and without formulas."""

from matplotlib import pyplot

from defragtrees import Rule, RuleList
from defragtrees.plots import style

from .conftest import make_many, make_numbers


def test_a_text_is_as_wide_as_it_is_drawn():
    figure, ax = pyplot.subplots()
    for words in ("petal width (cm) <= 0.8", "WWWW", "a_$ <script>"):
        text = ax.text(0, 0, style.plain(words), size=9)
        figure.canvas.draw()
        drawn = text.get_window_extent().width * 72 / figure.dpi
        assert 0.98 * drawn <= style.width(words, 9) <= 1.1 * drawn


def test_lines_are_no_wider_than_asked_for_and_lose_nothing():
    words = "word_freq_remove <= 0.24 and capital_run_length_longest > 7.3 or missing"
    lines = style.wrap(words, 120, 9)
    assert all(style.width(line, 9) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == words.replace(" ", "")


def test_a_comparison_stays_on_one_line_if_it_can():
    assert style.wrap("aaaa bbbb <= 12.5", 80, 9) == ["aaaa", "bbbb <= 12.5"]


def test_a_long_word_breaks_after_an_underscore():
    assert style.wrap("alpha_beta_gamma", 60, 9) == ["alpha_beta_", "gamma"]


def test_lines_left_out_are_marked():
    lines = style.wrap("one two three four five six", 40, 9, most=2)
    assert len(lines) == 2
    assert lines[-1].endswith("…")
    assert not lines[-1].endswith("……")


def test_long_labels_keep_what_differs():
    names = ["status of the account: 1", "status of the account: 2", "none"]
    assert style.distinct(names, 60, 9) == ["…1", "…2", "none"]
    assert style.distinct(["short", "words"], 60, 9) == ["short", "words"]


def test_a_long_label_keeps_both_ends():
    assert style.label("short_$", 100, 9) == r"short_\$"
    label = style.label("rather long category 11", 70, 9)
    assert label.startswith("rathe")
    assert label.endswith("y 11")
    assert style.width(label, 9) <= 70


def test_classes_that_share_a_colour_differ_in_marker():
    looks = {(i % 8, style.marker(i)) for i in range(64)}
    assert len(looks) == 64


def test_classes_beyond_the_eighth_share_a_colour_and_predicted_ones_come_first():
    names = [f"class {i:02d}" for i in range(12)]
    rules = RuleList((), Rule((), "class 11"), ("a",), "classification", names)
    numbers = style.class_numbers(rules)
    assert numbers["class 11"] == 0
    assert [numbers[name] for name in names[:11]] == [1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7]
    assert set(style.class_numbers(make_many()).values()) == set(range(8))
    assert style.class_numbers(make_numbers()) == {}
