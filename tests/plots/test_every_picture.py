"""What holds for all pictures: the Axes, the words, the missing package."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import cbook, pyplot
from matplotlib.text import Text

from defragtrees import find_segments, plots
from defragtrees._compare import Comparison, PathPoint, RulePath
from defragtrees.errors import MissingPackageError
from defragtrees.metrics.resampling import RuleStability

from .conftest import make_classes, make_numbers, make_rows
from .test_checks import make_history

PICTURES = {
    "risks": lambda rules, X, y, ax: plots.risks(rules, ax=ax),
}
PATH = RulePath((PathPoint(make_numbers(), 0.5, 0.1, 0.9, 1.0, 1.2),), 0, 0.4)
COMPARISON = Comparison(
    (
        {
            "method": "_one $",
            "budget": 3,
            "n_rules": 3.0,
            "error": 0.5,
            "error_std": 0.1,
            "failure": None,
        },
        {"method": "two", "budget": None, "failure": "ValueError: no"},
    ),
    {},
    0.25,
    2,
    "regression",
)
SEGMENTS = find_segments(
    np.arange(100.0).reshape(-1, 1), (np.arange(100) > 70) * 1.0, loss_name="_one $"
)
STABLE = RuleStability(
    make_classes(), 4, "", 0.9, 0.8, ((0.5,),) * make_classes().n_rules, {"_a $": 3}
)
CURVES = {
    "trade_off": (plots.trade_off, PATH),
    "comparison": (plots.comparison, COMPARISON),
    "segments": (plots.segments, SEGMENTS),
    "stability": (plots.stability, STABLE),
    "history": (plots.history, make_history(4)),
}


def forbid(*arguments, **settings):
    raise AssertionError("show was called")


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_drawn_into_the_axes_given(name, rules, monkeypatch):
    monkeypatch.setattr(pyplot, "show", forbid)
    X, y = make_rows(rules)
    figure, axes = pyplot.subplots(1, 2, figsize=(12, 6), layout="constrained")
    found = PICTURES[name](rules, X, y, axes[1])
    assert np.ravel(found)[0] is axes[1]
    assert not axes[0].has_data()
    if rules.n_rules < 10:
        figure.canvas.draw()


@pytest.mark.parametrize("name", PICTURES)
def test_picture_makes_a_figure_and_shows_names_as_they_are(name, rules):
    X, y = make_rows(rules)
    figure = np.ravel(PICTURES[name](rules, X, y, None))[0].figure
    figure.canvas.draw()
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert pyplot.get_fignums() == [figure.number]
    assert not any(cbook.is_math_text(text) for text in texts)
    shown = " ".join(texts).replace("\n", " ")
    if "_ask $" in (rules.classes or ()):
        assert r"_ask \$" in shown


@pytest.mark.parametrize("name", CURVES)
def test_curve_is_drawn_into_the_axes_given_or_a_new_one(name):
    picture, argument = CURVES[name]
    figure, ax = pyplot.subplots()
    assert picture(argument, ax=ax) is ax
    figure.canvas.draw()
    fresh = picture(argument)
    assert fresh.figure is not figure
    fresh.figure.canvas.draw()


class Absent:
    """An importer that finds no matplotlib."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "matplotlib":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])


@pytest.mark.parametrize("name", PICTURES)
def test_missing_matplotlib_names_the_extra(name, monkeypatch):
    rules = make_classes()
    X, y = make_rows(rules)
    without_matplotlib(monkeypatch)
    with pytest.raises(MissingPackageError, match=r"pip install 'defragtrees\[plot\]'"):
        PICTURES[name](rules, X, y, None)


@pytest.mark.parametrize("name", CURVES)
def test_missing_matplotlib_names_the_extra_for_curves(name, monkeypatch):
    picture, argument = CURVES[name]
    without_matplotlib(monkeypatch)
    with pytest.raises(MissingPackageError, match=r"pip install 'defragtrees\[plot\]'"):
        picture(argument)


def test_importing_the_pictures_does_not_import_matplotlib():
    code = "import sys, defragtrees.plots; print('matplotlib' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_names_are_the_promised_ones_and_documented():
    assert plots.__all__ == [
        "calibration",
        "comparison",
        "flow",
        "gains",
        "history",
        "risks",
        "score_risk",
        "scorecard",
        "segments",
        "stability",
        "survival",
        "trade_off",
    ]
    for name in plots.__all__:
        assert getattr(plots, name).__doc__, name
