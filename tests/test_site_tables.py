"""The tables of the site in Chromium: sorted by a click, filtered by a choice."""

import importlib.util
from pathlib import Path

import pytest

from tests.report.cases import CHROMIUM, PATIENCE, launch

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("sphinx", reason="it builds the site")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium was found; install it to test the tables"
)

DOCS = Path(__file__).parents[1] / "docs"
ROWS = [
    ["adult", "small tree", 10, "10.2"],
    ["adult", "list", 4, "0.9"],
    ["heart", "points", 10, "9.5"],
    ["heart", "forest", "", "8.1"],
    ["heart", "RuleFit", 10, ""],
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = DOCS / "_ext" / "result_tables.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    header = ["set", "method", "at most", "error"]
    table = tables.as_table(header, ROWS, "Errors", ("set", "at most"), "10")
    script = (DOCS / "_static" / "tables.js").read_text(encoding="utf-8")
    written = tmp_path_factory.mktemp("site") / "page.html"
    written.write_text(f"{table}<script>{script}</script>", encoding="utf-8")
    with playwright.sync_playwright() as running:
        launched = launch(running)
        opened = launched.new_page()
        opened.set_default_timeout(PATIENCE)
        opened.goto(written.as_uri())
        yield opened
        launched.close()


def shown(page):
    methods = page.locator("tbody tr:visible td:nth-child(2)")
    return methods.all_inner_texts()


def test_a_click_sorts_numbers_as_numbers_and_gaps_come_last(page):
    # Of the last filter one value is chosen; rows without one are bounds, and stay.
    assert shown(page) == ["small tree", "points", "forest", "RuleFit"]
    page.get_by_role("button", name="error").click()
    assert shown(page) == ["forest", "points", "small tree", "RuleFit"]
    page.get_by_role("button", name="error").click()
    assert shown(page) == ["small tree", "points", "forest", "RuleFit"]
    page.get_by_role("button", name="method").click()
    assert shown(page) == ["forest", "points", "RuleFit", "small tree"]


def test_a_choice_filters(page):
    page.get_by_label("at most").select_option("all")
    assert len(shown(page)) == len(ROWS)
    page.get_by_label("set").select_option("adult")
    assert sorted(shown(page)) == ["list", "small tree"]
    page.get_by_label("set").select_option("all")
