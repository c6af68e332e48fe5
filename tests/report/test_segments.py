"""Segments in a report, and a page of segments alone."""

import numpy as np
import pandas as pd
import pytest

from defragtrees import explain_errors, find_segments, write_report
from tests.report.cases import weather
from tests.report.test_writing import Outline, without_library


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((2000, 2)), columns=["a<b", "size"])
    y = 10 * X["size"] + 3.0 * (X["a<b"] > 0.75) + rng.random(2000)
    return explain_errors(lambda X: 10 * X["size"], X, y)


def page_of(path, *arguments, **options):
    page = write_report(path, *arguments, **options).read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(without_library(page))
    assert outline.open == []
    return page, outline.levels


def test_a_page_of_segments_alone(groups, tmp_path):
    page, levels = page_of(tmp_path / "page.html", groups, title="Errors & more")
    assert "<h1><bdi>Errors &amp; more</bdi></h1>" in page
    assert levels == [1, 2, 2]
    assert "<h2>Where predictions are too low</h2>" in page
    assert "Bias: mean of observed minus predicted." in page
    [segment] = groups["too low"]
    assert "<bdi>a&lt;b</bdi> &gt; 0.7" in page
    assert f'<td class="number">{segment.n_rows}</td>' in page
    assert "No segment with a low bias was found" in page
    assert "<script" not in page
    named = {"model_name": "the forest", "data_name": "loans.csv"}
    page, _ = page_of(tmp_path / "page.html", groups, **named)
    assert "<h1><bdi>Where the forest fails</bdi></h1>" in page
    assert "rows of loans.csv</p>" in page


def test_segments_of_one_kind(tmp_path):
    X = np.random.default_rng(0).random((500, 1))
    found = find_segments(X, (X[:, 0] > 0.8) * 1.0, loss_name="cost")
    page, levels = page_of(tmp_path / "page.html", found)
    assert "<h1><bdi>Where the cost is high</bdi></h1>" in page
    assert levels == [1]
    # The interval of its mean is drawn beside that of the rest.
    assert page.count('<span class="range') == len(found) == 1


def test_a_report_on_rules_has_a_section_of_segments(groups, tmp_path):
    simple, X, y = weather()
    page, _ = page_of(tmp_path / "page.html", simple, X, y, segments=groups)
    assert '<section id="segments"' in page
    assert "<h4>Where the absolute error is high</h4>" in page
    page, _ = page_of(tmp_path / "page.html", simple, X, y)
    assert 'id="segments"' not in page


def test_bad_arguments_end_in_a_sentence(groups, tmp_path):
    simple, X, y = weather()
    path = tmp_path / "page.html"
    with pytest.raises(TypeError, match="needs X"):
        write_report(path, simple)
    with pytest.raises(TypeError, match="segments must"):
        write_report(path, simple, X, y, segments=[1])
    assert not path.exists()
