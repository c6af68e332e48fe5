"""Charts as SVG: ticks, titles and numbers that keep clear of each other."""

import math
import re
from itertools import combinations

import numpy as np
import pytest

from defragtrees.plots.picture import Axis, Curve, Level, Picture
from defragtrees.report.charts import MARKERS, WIDTHS, draw, nice_ticks, text_width
from defragtrees.report.text import visible

NUMBER = r'<text class="number" x="([\d.]+)" y="([\d.]+)" text-anchor="middle">(\d+)<'


def drawn(*marks, x=None, y=None, **options):
    """The two SVGs of a picture, wide and narrow."""
    picture = Picture(x or Axis("x"), y or Axis("y"), marks, **options)
    svg = draw(picture)[1]
    return re.findall(r"<svg.*?</svg>", svg, flags=re.DOTALL)


def texts(svg, kind=""):
    look = f' class="{kind}"' if kind else ""
    return re.findall(rf"<text{look} [^>]*>([^<]*)</text>", svg)


@pytest.mark.parametrize(
    ("low", "high", "n", "expected"),
    [
        (0.0, 1.0, 5, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-30.0, 120_000.0, 3, [0.0, 50_000.0, 100_000.0]),
        (1e-7, 9e-7, 4, [2e-7, 4e-7, 6e-7, 8e-7]),
        (-1.0, 1.0, 2, [-1.0, 0.0, 1.0]),
    ],
)
def test_ticks_are_round(low, high, n, expected):
    assert nice_ticks(low, high, n) == pytest.approx(expected)


def test_numbers_at_axes_are_for_people():
    curve = Curve("a", [0.0, 500_000.0], [-0.1, 0.4], "g0")
    wide, narrow = drawn(curve, y=Axis("share", is_share=True))
    assert {"100,000", "500,000", "20%", "0%"} <= set(texts(wide))
    assert {"0", "200,000", "400,000"} <= set(texts(narrow))
    assert "e+" not in wide


@pytest.mark.parametrize("n_points", [24, 60])
def test_numbers_beside_points_do_not_overlap(n_points):
    rng = np.random.default_rng(0)
    x = rng.beta(1, 4, n_points)
    y = np.clip(x + rng.normal(0, 0.05, n_points), 0, 1)
    curve = Curve(
        "rules", x.tolist(), y.tolist(), "g0", line="",
        reach=[(a - 0.1, a + 0.1) for a in y], numbers=list(range(1, n_points + 1)),
    )  # fmt: skip
    axis = Axis("rate", limits=(-0.03, 1.03), is_share=True)
    for svg, width in zip(drawn(curve, x=axis, y=axis), WIDTHS.values(), strict=True):
        boxes = [
            (float(left), float(base), text_width(number, 11))
            for left, base, number in re.findall(NUMBER, svg)
        ]
        if n_points == 24:
            assert len(boxes) >= 20
        for one, other in combinations(boxes, 2):
            is_beside = abs(one[0] - other[0]) >= (one[2] + other[2]) / 2 - 0.2
            assert is_beside or abs(one[1] - other[1]) >= 11.8
        assert all(0 < x < width for x, *_ in boxes)


def test_long_titles_are_wrapped_and_cut():
    curve = Curve("a", [0.0, 1.0], [0.0, 1.0], "g0")
    long = Axis("a quite long title of an axis " * 12)
    for svg, width in zip(drawn(curve, x=long, y=long), WIDTHS.values(), strict=True):
        lines = texts(svg, "title")
        assert len(lines) == 4
        assert all(text_width(line) <= width for line in lines)
        assert "…" in lines[1]


def test_points_intervals_and_lines_are_in_place():
    curve = Curve("a", [1.0, 3.0], [2.0, 4.0], "g3", spread=[1.0, math.nan], marker="s")
    level = Level("all", 3.0)
    axis = Axis("y", limits=(0.0, 5.0))
    wide, _ = drawn(curve, level, x=Axis("n", is_count=True), y=axis)
    places = re.findall(r'class="marker"[^>]*translate\(([\d.]+) ([\d.]+)\)', wide)
    (_, low), (_, high) = ((float(x), float(y)) for x, y in places)
    [line] = re.findall(r"M[\d.]+ ([\d.]+)H[\d.]+\" stroke=\"var\(--quiet\)", wide)
    assert float(line) == pytest.approx((low + high) / 2, abs=0.11)
    # The second point has no interval.
    [(bottom, top)] = re.findall(r'class="interval"[^>]* ([\d.]+)V([\d.]+)', wide)
    assert float(bottom) - low == pytest.approx(low - float(top), abs=0.2)
    assert float(bottom) - float(top) == pytest.approx(low - high, abs=0.2)
    assert "nan" not in wide
    assert texts(wide, "title") == ["y", "n"]
    assert [tick for tick in texts(wide) if tick in "123"][-3:] == ["1", "2", "3"]


def test_every_marker_is_drawn():
    for marker in MARKERS:
        wide, _ = drawn(Curve("a", [1.0], [1.0], "g0", marker=marker, line=""))
        assert MARKERS[marker] in wide


def test_names_stay_text_and_right_to_left_ones_are_isolated():
    name = "\u05d4\u05db\u05e0\u05e1\u05d4"
    evil = "<script>\u202e"
    curve = Curve(evil, [1.0], [1.0], "g0", title=evil, texts=["one"])
    picture = visible(Picture(Axis(f"rate of {name} > 1"), Axis(evil), (curve,)))
    html = "".join(draw(picture))
    assert "<script" not in html
    assert "\u202e" not in html
    assert f"rate of \u2068{name}\u2069 &gt; 1" in html
    assert "<title>&lt;script&gt;\\u202e\none</title>" in html
