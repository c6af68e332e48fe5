"""The site: every public name has an example and a place; every picture has a text."""

import ast
import doctest
import importlib.util
import inspect
import json
import re
from pathlib import Path

import pytest

from defragtrees import DefragClassifier, RuleModel, simplify
from defragtrees.export import FORMATS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


public_names = load(DOCS / "_ext" / "public_names.py")
check_site = load(DOCS / "check_site.py")


def examples_of(thing):
    return doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")


def has_example(kind, method):
    """Whether it stands with the method, its class, or the same method of rules."""
    in_class = any(f".{method}(" in each.source for each in examples_of(kind))
    places = [getattr(kind, method), getattr(RuleModel, method, None)]
    return in_class or any(map(examples_of, places))


def test_every_public_name_has_an_example():
    without = []
    for name, thing in public_names.public_objects():
        if not examples_of(thing):
            without.append(name)
        if inspect.isclass(thing):
            without += [
                f"{name}.{method}"
                for method in public_names.methods_of(thing)
                if not has_example(thing, method)
            ]
    assert without == []


def documented(thing):
    """Names of the parameters in a docstring."""
    section = inspect.getdoc(thing).partition("\nParameters\n")[2]
    section = re.split(r"\n\w+\n---+\n", section)[0]
    heads = re.findall(r"^(\w[\w, ]*?) : |^\*+(\w+)$", section, re.MULTILINE)
    return [name for pair in heads for name in "".join(pair).split(", ")]


def test_docstrings_have_the_parameters_of_the_signature():
    wrong = {}
    for name, thing in public_names.public_objects():
        is_rules = inspect.isclass(thing) and not hasattr(thing, "fit")
        if "\nParameters\n" in inspect.getdoc(thing) and not is_rules:
            own, listed = [*inspect.signature(thing).parameters], documented(thing)
            if sorted(own) != sorted(listed):
                wrong[name] = set(own) ^ set(listed)
    assert wrong == {}


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    listed, module = set(), ""
    for line in page.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            listed.add(f"{module}.{line.strip()}")
    assert {name for name, _ in public_names.public_objects()} == listed


def test_the_page_for_assistants_names_everything_public():
    page = (DOCS / "assistants.md").read_text(encoding="utf-8")
    names = {name.rpartition(".")[2] for name, _ in public_names.public_objects()}
    names |= {*public_names.methods_of(RuleModel), *FORMATS}
    names |= {*public_names.methods_of(DefragClassifier)}
    words = {*re.findall(r"\w+", page)}
    regressors = {name for name in names if name.endswith("Regressor")}  # "of each"
    assert sorted(names - words - regressors) == []


def test_every_public_name_leads_to_guides_that_are_there():
    for name, thing in public_names.public_objects():
        pages = public_names.guides_of(name, thing)
        assert pages, name
        for page in pages:
            made_here = page == "gallery/index" or (DOCS / f"{page}.md").exists()
            assert made_here, (name, page)


def test_no_picture_is_without_a_text():
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"!\[\s*\]\(", text) == [], page.name
        for picture in re.findall(r"```\{(?:image|figure)\}.*?```", text, re.DOTALL):
            assert re.search(r":alt: *\S", picture), (page.name, picture)
        for picture in re.findall(r"<img[^>]*>", text):
            assert re.search(r'alt="[^"]', picture), (page.name, picture)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_picture_shows_the_rules_of_the_first_example(look):
    image = pytest.importorskip("PIL.Image", reason="it reads the text in the picture")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|text)\n(.*?)^```$", readme, re.M | re.S)
    code, printed, *_ = blocks
    assert (ROOT / "examples" / "first_rules.py").read_text("utf-8").endswith(code)
    with image.open(DOCS / "pictures" / f"forest_to_rules_{look}.png") as picture:
        assert printed.startswith(picture.text["Description"] + "\n")


def test_no_picture_is_left_that_no_page_shows():
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    texts = "".join(page.read_text(encoding="utf-8") for page in pages)
    shown = {*re.findall(r"pictures/(\w+\.\w+)", texts), "social.png"}
    assert {path.name for path in (DOCS / "pictures").iterdir()} == shown


def test_no_block_of_the_readme_is_wider_than_its_column():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", readme, re.M | re.S)
    assert [
        line for text in blocks for line in text.splitlines() if len(line) > 80
    ] == []


def test_faults_of_a_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">good</a><a href="b.html#there">no such place</a>'
        '<a href="c.html">no such page</a><img src="p.png" alt="a picture">'
        '<img src="p.png"><script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1>')
    (tmp_path / "p.png").write_bytes(b"")
    assert check_site.find_faults(tmp_path) == [
        "a.html: picture without a text: p.png",
        "a.html: fetched from elsewhere: https://example.org/x.js",
        "a.html: leads nowhere: b.html#there",
        "a.html: leads nowhere: c.html",
    ]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples" / "stories").glob("*.py")), ids=lambda p: p.stem
)
def test_every_story_has_a_title_a_beginning_and_titles_for_its_parts(path):
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    title, line, *rest = text.splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert len(" ".join(rest)) > 80


def test_what_people_search_for_leads_to_pages_that_are_there():
    pytest.importorskip("sphinx", reason="it builds the site")
    pages = load(DOCS / "_ext" / "site_pages.py")
    assert all((DOCS / f"{page}.md").exists() for page in pages.SUBJECTS)
    source = ["# Title\n\nText.\n"]
    pages.add_subjects(None, "forms", source)
    entries = "```{index} !decision list, !rule set, !scorecard\n```"
    assert source == [f"# Title\n\n{entries}\n\nText.\n"]


def test_going_on_stays_in_a_section():
    pytest.importorskip("sphinx", reason="it builds the site")
    stays = load(DOCS / "_ext" / "site_pages.py").stays_in_its_section
    parents = {"start": "index", "api": "index", "compare": "index"}
    parents |= {"api/load": "api", "api/diff": "api"}
    assert stays("start", "api", parents)
    assert stays("api", "api/load", parents)
    assert stays("api/load", "api/diff", parents)
    assert not stays("compare", "api/diff", parents)
    assert not stays("api/diff", "compare", parents)


def test_the_groups_of_the_reference_are_those_of_the_docstring():
    pytest.importorskip("sphinx", reason="it builds the site")
    groups = load(DOCS / "_ext" / "parameter_groups.py").GROUPS
    lines = inspect.getdoc(simplify).splitlines()
    assert [line for line in lines if line in groups] == list(groups)


def test_the_page_draws_its_pictures(monkeypatch):
    pytest.importorskip("matplotlib", reason="it draws them")
    module = load(ROOT / "examples" / "pictures.py")
    for page in module.PAGES:
        parts = module.PART.findall((DOCS / page).read_text(encoding="utf-8"))
        drawn = sum(
            len(re.findall(r"plots\.(?!count)\w+\(", code)) for code, _ in parts
        )
        shown = [picture for _, picture in parts if picture]
        assert len(shown) == drawn, page
        assert all((DOCS / "pictures" / f"{name}.png").exists() for name in shown)


def test_no_table_has_an_empty_head():
    core = pytest.importorskip("docutils.core", reason="it builds the site")
    fill = load(DOCS / "_ext" / "table_heads.py").fill_heads
    rows = "   * -\n     - b\n   * - 1\n     - 2\n"
    raw = ".. raw:: html\n\n   <th></th>\n"
    text = f".. list-table::\n   :header-rows: 1\n\n{rows}\n{raw}"
    tree = core.publish_doctree(text)
    fill(None, tree)
    cells = [node.astext() for node in tree.findall() if node.tagname == "entry"]
    assert cells == ["name", "b", "1", "2"]
    assert "<th></th>" not in tree.astext()


def test_the_live_report_has_the_rules_of_the_first_example():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    printed = re.search(r"^```text\n(.*?)^```$", readme, re.M | re.S)[1]
    page = (DOCS / "live-report.html").read_text(encoding="utf-8")
    data = re.search(r'<script[^>]*id="report-data">(.*?)</script>', page, re.S)[1]
    copied = json.loads(data)["copies"]["text"]
    figures = re.findall(r"(\d+)% +(\d+–\d+)% +([\d,]+)", printed)
    assert len(figures) == 5
    for rate, interval, n_rows in figures:
        assert f"= {rate}% (95% interval {interval}%, {n_rows} rows)" in copied
    assert len(page.encode()) < 300_000


def test_pictures_of_stories_are_described():
    pytest.importorskip("sphinx_gallery", reason="it builds the site")
    texts = load(DOCS / "_ext" / "gallery_texts.py")
    assert texts.describe("scorecard", "A scorecard to add up by hand") == (
        "A scorecard to add up by hand. "
        "Plot the points of each rule as a bar, with the base at the bottom."
    )


def test_the_table_of_the_site_holds_the_kept_rows_and_escapes_them():
    pytest.importorskip("sphinx", reason="it builds the site")
    pandas = pytest.importorskip("pandas", reason="it reads the results")
    tables = load(DOCS / "_ext" / "result_tables.py")
    rows = pandas.read_csv(tables.RESULTS).dropna(subset=["unexplained"])
    html = tables.QualityTable.write(None)
    assert all(f"<td>{name}</td>" in html for name in set(rows.data) | set(rows.method))
    ours = rows[rows.method == "defragtrees, list"].dropna(subset=["auc"])
    first = ours[(ours.data == ours.data.iloc[0]) & (ours["size"] == 10)]
    first = first[(first.rows == 500) & (first.model == "forest")]
    assert f"<td>{first.auc.mean():.4f}</td>" in html
    html = tables.as_table(["a<b"], [["<script>"]], "c&d", ("a<b",))
    assert "<script>" not in html
    assert "a&lt;b" in html


def test_pages_and_tables_are_those_of_the_kept_rows():
    pytest.importorskip("pandas", reason="it reads the results")
    from benchmarks.quality import tables

    rows = tables.read()
    kept = tables.RESULTS.with_suffix(".md").read_text(encoding="utf-8")
    assert kept == tables.report(rows)
    for page in tables.PAGES:
        text = page.read_text(encoding="utf-8")
        for name, part in tables.page_parts(rows).items():
            assert tables.with_part(text, name, part) == text


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_chart_of_the_readme_shows_what_was_measured(look):
    image = pytest.importorskip("PIL.Image", reason="it reads the text in the picture")
    pytest.importorskip("matplotlib", reason="it draws the chart")
    module = load(ROOT / "examples" / "benchmark_chart.py")
    with image.open(DOCS / "pictures" / f"benchmark_{look}.png") as picture:
        assert picture.text["Description"] == module.read().to_csv()


def test_functions_that_draw_show_their_picture():
    shown = public_names.pictures()
    drawing = {name for name, _ in public_names.public_objects() if ".plots." in name}
    assert drawing == {*shown}
    assert all(text.endswith(".") for text in shown.values())
