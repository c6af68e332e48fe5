"""The stages of long work move the bar of whoever watches."""

import gc

import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from defragtrees import compare, simplify, simplify_path
from defragtrees._utils.progress import Progress, part, parts, watch


class Steps(Progress):
    """A bar that keeps how much was done at each step."""

    def __init__(self, total=1.0):
        super().__init__("work", total)
        self.steps = []

    def advance(self, steps=1):
        self.done += steps
        self.steps.append(self.done)


def test_parts_nest_and_end_where_they_should():
    with watch(Steps()) as bar:
        with part(0.0, 0.5):
            assert [*parts("ab")] == ["a", "b"]
        for _ in parts("abcd", 0.5, 0.9):
            [*parts("xy")]
    expected = [0.25, 0.5, 0.5, 0.55, 0.6, 0.6, 0.65, 0.7, 0.7, 0.75, 0.8, 0.8]
    assert bar.steps == pytest.approx([*expected, 0.85, 0.9, 0.9])


def test_a_bar_counts_in_units_of_its_own():
    with watch(Steps(total=40)) as bar:
        [*parts("ab", 0.0, 0.5)]
    assert bar.steps == pytest.approx([10, 20])


def test_without_a_bar_parts_are_their_items():
    with part(0.2, 0.3):
        assert [*parts([1, 2], 0.5)] == [1, 2]


def test_work_that_fails_leaves_the_rest_of_the_bar_alone():
    with watch(Steps()) as bar:
        for name in parts("ab"):
            left = parts("xyz")
            try:
                next(left)
                if name == "a":
                    raise ValueError
                assert len([*left]) == 2
            except ValueError:
                kept = left  # as a traceback keeps it
        del kept, left
        gc.collect()
        with part(0.9, 1.0):
            [*parts("uv")]
    assert bar.steps == sorted(bar.steps)
    assert bar.steps[0] == pytest.approx(0.5)
    assert bar.steps[-3:] == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "work",
    [
        lambda *given: simplify(*given, random_state=0),
        lambda *given: simplify(*given, max_rules=3, must_use=[0], random_state=0),
        lambda *given: simplify_path(*given, max_rules=3, random_state=0),
        lambda *given: compare(
            *given, methods=["defrag", "distilled"], n_resamples=2, random_state=0
        ),
    ],
    ids=["simplify", "limits", "path", "compare"],
)
def test_a_bar_moves_through_the_whole_work(work):
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    with watch(Steps()) as bar:
        work(forest, X, y)
    assert bar.steps == sorted(bar.steps)
    assert bar.steps[-1] >= 0.9
    apart = [b - a for a, b in zip([0, *bar.steps], bar.steps, strict=False)]
    assert max(apart) <= 0.5
    assert len(set(bar.steps)) >= 8
