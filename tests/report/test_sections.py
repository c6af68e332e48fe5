"""The table of sections, and the kinds of marks that both renderers must know."""

import re
import sys
from importlib import resources
from types import ModuleType

import pytest

from defragtrees.plots import picture
from defragtrees.plots.picture import DRAWERS, Axis, Curve, Picture
from defragtrees.report import sections
from defragtrees.report.sections import SECTIONS, Section
from defragtrees.report.writing import write_report
from tests.report.cases import weather

KINDS = {thing.kind for thing in vars(picture).values() if hasattr(thing, "kind")}


def verdict(page):
    """A section with words and a picture, as one module would have it."""
    curve = Curve("height", [1, 2], [3.0, 4.0], "g1", texts=["low", "high"])
    seen = Picture(Axis("width"), Axis("height"), (curve,))
    n_rules = page.summary.rules.n_rules
    return [
        f"<p>All {n_rules} rules are fine.</p>",
        page.figure("verdict", seen, "A line", "It rises."),
    ]


def test_a_section_is_one_line_in_the_table(tmp_path, monkeypatch):
    module = ModuleType("verdicts")
    module.write = verdict
    monkeypatch.setitem(sys.modules, "verdicts", module)
    line = Section("verdict", "Verdict", "The verdict", "verdicts")
    monkeypatch.setattr(sections, "SECTIONS", (*SECTIONS[:1], line, *SECTIONS[1:]))
    simple, X, y = weather()
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    links = re.findall(r'<li><a href="#(\w+)">(\w+)</a></li>', page)
    assert links[:3] == [
        ("question", "Question"),
        ("verdict", "Verdict"),
        ("rules", "Rules"),
    ]
    headings = re.findall(r'<h2 id="(\w+)-heading">', page)
    assert headings == [place for place, _ in links]
    assert "<p>All 3 rules are fine.</p>" in page
    # Drawn twice from one description: for readers without scripts, and with them.
    assert re.search(r'<svg[^>]*>(?:(?!</svg>).)*id="verdict-', page, flags=re.DOTALL)
    assert 'id="plot-verdict"' in page
    assert '"pictures":{"verdict":{' in page


def test_a_section_without_anything_to_show_is_left_out(tmp_path):
    simple, X, y = weather()
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    assert 'href="#comparison"' not in page
    assert 'id="comparison"' not in page


def test_names_in_the_table_differ():
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_both_renderers_know_every_kind_of_mark(kind):
    script = resources.files("defragtrees.report") / "templates" / "marks.js"
    assert kind in DRAWERS
    assert re.search(rf"^  {kind}\(mark, ", script.read_text(), flags=re.MULTILINE)
