"""The table of sections, and the kinds of marks that both renderers must know."""

import re
from importlib import resources

from defragtrees.plots.picture import Axis, Curve, Picture
from defragtrees.report import sections
from defragtrees.report.page import read_template, write_report
from defragtrees.report.sections import SECTIONS, Section
from tests.report.cases import weather


def verdict(page):
    """A section with words and a picture."""
    curve = Curve("height", [1, 2], [3.0, 4.0], "g1", texts=["low", "high"])
    seen = Picture(Axis("width"), Axis("height"), (curve,))
    return {"picture": page.draw("verdict", seen)}


TEMPLATE = """
{% from "parts.html.j2" import figure %}
<p>All {{ summary.rules.n_rules }} rules of {{ "<us>" }} are fine.</p>
{% call figure(picture, "A line") %}It rises.{% endcall %}
"""


def test_a_section_is_a_function_a_template_and_one_line(tmp_path, monkeypatch):
    files = {"verdict.html.j2": TEMPLATE}
    monkeypatch.setattr(
        "defragtrees.report.page.read_template",
        lambda file: files.get(file) or read_template(file),
    )
    line = Section(verdict, "Verdict", "The verdict")
    monkeypatch.setattr(sections, "SECTIONS", (*SECTIONS[:1], line, *SECTIONS[1:]))
    simple, X, y = weather()
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    links = re.findall(r'<li><a href="#(\w+)">([\w ]+)</a></li>', page)
    assert {("rules", "Rules"), ("verdict", "Verdict")} <= {*links}
    assert links[-1] == ("analyst", "Analyst")
    headings = re.findall(r'<h2 id="(\w+)-heading">', page)
    assert headings == [place for place, _ in links]
    assert "<p>All 3 rules of &lt;us&gt; are fine.</p>" in page
    chart = page[page.index('id="chart-verdict"') :]
    assert chart.startswith('id="chart-verdict" role="img" aria-label="A line"><svg')
    assert chart.index("<title>high</title>") < chart.index("It rises.</figcaption>")


def test_a_section_without_anything_to_show_is_left_out(tmp_path):
    simple, X, y = weather()
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    assert 'href="#groups"' not in page
    assert 'id="groups"' not in page


def test_sections_for_analysts_are_folded_with_links_of_their_own(tmp_path):
    simple, X, y = weather()
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    before, folded = page.split('<details id="analyst">')
    assert "<summary><h2" in folded
    headings = re.findall(r'<h3 id="(\w+)-heading">', folded)
    links = re.findall('<a href="#(\\w+)">', folded.split("</p>")[0])
    assert headings == links
    assert {"measures", "calibration", "settings"} <= set(headings)
    assert "measures-heading" not in before


def test_names_in_the_table_differ():
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


def test_every_section_has_its_template():
    folder = resources.files("defragtrees.report") / "templates"
    for section in SECTIONS:
        assert (folder / f"{section.name}.html.j2").is_file(), section.name
