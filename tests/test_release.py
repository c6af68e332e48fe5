"""What is released: versions and bounds that agree, and a wheel that works alone."""

import importlib.util
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import types
import zipfile
from pathlib import Path

import pytest

import defragtrees

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# As a user would: a fit, a report and an export, far from the sources.
SCRIPT = """
import defragtrees, pathlib, sys
assert "{wheel}" in defragtrees.__file__, defragtrees.__file__
from sklearn.ensemble import RandomForestRegressor
from defragtrees import datasets, simplify
from defragtrees.export import export
from defragtrees.report import write_report
energy = datasets.load_sample("energy")
forest = RandomForestRegressor(10, min_samples_leaf=20, random_state=0)
forest.fit(energy.X, energy.y)
simple = simplify(forest, energy.X, energy.y, max_rules=3, random_state=0)
assert export(simple.rules_, "sql").startswith("CASE")
page = write_report("report.html", simple, energy.X, energy.y)
assert page.stat().st_size > 10_000
print(simple.rules_.n_rules)
"""


def requirement_bounds(texts):
    pairs = (re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", text) for text in texts)
    return {pair[1]: pair[2] for pair in pairs if pair}


def test_the_version_is_the_same_everywhere():
    version = defragtrees.__version__
    assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version: "{version}"' in (ROOT / "recipe/recipe.yaml").read_text()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## ([\d.]+)", changelog, re.M)[1] == version


def test_the_page_for_assistants_names_everything_public():
    page = (ROOT / "docs" / "assistants.md").read_text(encoding="utf-8")
    names = [*defragtrees.metrics.__all__, *defragtrees.plots.__all__]
    names += [name for name in defragtrees.__all__ if name[0].islower()]
    estimators = [n for n in defragtrees.__all__ if n.endswith("Classifier")]
    missing = [n for n in (*names, *estimators) if not re.search(rf"`{n}\b", page)]
    assert missing == []
    index = (ROOT / "llms.txt").read_text(encoding="utf-8")
    links = re.findall(r"\]\((.+?)\)", index)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_a_package_has_one_bound():
    project = PROJECT["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    pairs = {pair for group in groups for pair in requirement_bounds(group).items()}
    names = [name for name, _ in pairs]
    assert sorted(names) == sorted({*names})


def test_the_recipe_has_the_bounds_of_the_project():
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    bounds = requirement_bounds(project["dependencies"])
    bounds |= requirement_bounds(text for extra in extras for text in extra)
    recipe = (ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8")
    written = dict(re.findall(r"^ +- ([\w-]+) >=([\d.]+)$", recipe, re.M))
    names = {"matplotlib-base": "matplotlib"}
    written = {names.get(name, name): bound for name, bound in written.items()}
    assert {*requirement_bounds(project["dependencies"])} <= {*written}
    assert written == {name: bounds[name] for name in written}


def test_the_lowest_versions_are_those_of_the_project():
    command = [sys.executable, ROOT / ".ci" / "oldest.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.split()
    assert {"numpy==1.26", "scipy==1.11.1", "scikit-learn==1.6"} <= {*lines}
    assert not any(line.startswith(("pytest==", "mypy==")) for line in lines)


def build(kind, folder):
    """Path of the wheel or sdist, made with what is installed."""
    pytest.importorskip("build", reason="`build` makes the wheel and the sdist")
    pytest.importorskip("hatchling", reason="it makes them, unfetched")
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation"]
    subprocess.run([*command, "-o", folder, ROOT], check=True, capture_output=True)
    return next(path for path in folder.iterdir() if path.suffix in (".whl", ".gz"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_sdist_holds_what_its_tests_read_and_nothing_large(tmp_path):
    with tarfile.open(build("sdist", tmp_path)) as archive:
        files = {m.name.partition("/")[2]: m.size for m in archive if m.isfile()}
    for name in (".ci/oldest.py", "recipe/recipe.yaml", "tests/test_release.py"):
        assert name in files
    assert {"README.md", "LICENSE", "docs/start.md", "llms.txt"} <= {*files}
    assert not any(n.endswith(".pyc") or n.startswith("docs/_build") for n in files)
    assert max(files.values()) < 2_000_000


@pytest.fixture
def index_page(monkeypatch):
    """The function that writes the README for an index, without what builds it."""
    if importlib.util.find_spec("hatchling") is None:
        for name in ("", ".metadata", ".metadata.plugin", ".metadata.plugin.interface"):
            module = types.ModuleType(f"hatchling{name}")
            module.MetadataHookInterface = object
            monkeypatch.setitem(sys.modules, module.__name__, module)
    return runpy.run_path(str(ROOT / ".ci" / "index_page.py"))["index_page"]


def test_an_index_shows_no_link_that_leads_nowhere(index_page):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = index_page(readme, None)
    assert re.findall(r"\]\((?!https?://|#)", page) == []
    assert "<img" not in page
    assert page.index("## Start") < 900
    # With an address, to pages and pictures that the site has.
    page = index_page(readme, "https://site.test/docs")
    assert "[which models](https://site.test/docs/readers.html)" in page
    assert "[changes](https://site.test/docs/changelog.html)" in page
    assert "](https://site.test/docs/_static/forest_to_rules_light.png)" in page
    links = re.findall(r"https://site\.test/docs/([\w-]+)\.html", page)
    names = {path.stem for path in (ROOT / "docs").glob("*.[mh]*")}
    assert len(links) > 8
    assert {*links} <= names


def test_the_metadata_of_the_wheel_is_the_page_for_an_index(wheel, index_page):
    with zipfile.ZipFile(wheel) as archive:
        [name] = [n for n in archive.namelist() if n.endswith("METADATA")]
        text = archive.read(name).decode("utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert index_page(readme, None).strip() in text
    assert "Description-Content-Type: text/markdown" in text


def test_the_wheel_holds_types_data_and_the_schema(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "defragtrees/py.typed" in names
    for folder in ("datasets", "report"):
        assert any(
            name.startswith(f"defragtrees/{folder}/") and not name.endswith(".py")
            for name in names
        ), folder
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_the_wheel_alone_fits_reports_and_exports(wheel, tmp_path):
    # Nothing but the wheel is installed; numpy and others are those of the tests.
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    install += ["--no-index", "--target", place, wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(wheel=place.name)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(place)},
    )
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    # Where its folder is new, or not there, matplotlib says what it does about fonts.
    told = [line for line in done.stderr.splitlines() if "atplotlib" not in line]
    assert told == []


def test_the_paper_cites_what_its_bibliography_has():
    folder = ROOT / "paper"
    text = (folder / "paper.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"@([\w-]+)", text))
    known = re.findall(
        r"^@\w+\{([\w-]+),", (folder / "paper.bib").read_text("utf-8"), re.M
    )
    assert sorted(cited) == sorted(known)
    for picture in re.findall(r"\]\((.+\.png)\)", text):
        assert (folder / picture).exists()
