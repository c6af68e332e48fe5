"""The site: every public name has an example and a place; every picture has a text."""

import ast
import doctest
import importlib.util
import inspect
import re
from pathlib import Path

import pytest

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
    """Whether it stands with the method, or with its class."""
    in_class = any(f".{method}(" in each.source for each in examples_of(kind))
    return in_class or bool(examples_of(getattr(kind, method)))


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


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    listed, module = set(), ""
    for line in page.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [\w.]+", line):
            listed.add(f"{module}.{line.strip()}")
    assert {name for name, _ in public_names.public_objects()} == listed


def test_no_picture_is_without_a_text():
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"!\[\s*\]\(", text) == [], page.name
        for picture in re.findall(r"```\{(?:image|figure)\}.*?```", text, re.DOTALL):
            assert re.search(r":alt: *\S", picture), (page.name, picture)
        for picture in re.findall(r"<img[^>]*>", text):
            assert re.search(r'alt="[^"]', picture), (page.name, picture)


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


def test_tables_hold_the_kept_results_and_escape_what_they_hold():
    pytest.importorskip("sphinx", reason="it builds the site")
    tables = load(DOCS / "_ext" / "result_tables.py")
    means = tables.read_quality()
    assert {"defragtrees", "tree on y", "ensemble"} <= {*means.method}
    ten = means[(means.data == "adult") & (means.budget == 10)]
    assert (ten.n_rules <= 10).all()
    assert ten.auc.between(0.5, 1.0).all()
    # At 10 leaves there are at least 9 splits, and as many questions on the ways down.
    assert (ten[ten.method == "tree on y"].in_all > 9).all()
    html = tables.as_table(["a<b"], [["<script>"]], "c&d", ("a<b",))
    assert "<script>" not in html
    assert "a&lt;b" in html
