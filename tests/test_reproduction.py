"""The experiments run, are kept, go on after a stop, and are written up as they are."""

import csv
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.paper import __main__ as command
from benchmarks.paper import data as paper_data
from benchmarks.paper import published
from benchmarks.paper.results import Results, Store, spread_text, to_csv
from benchmarks.paper.run import ITEMS, Plan, cost, reproduce
from benchmarks.paper.tables import table2, table3
from defragtrees._utils.progress import Progress
from tests.report.cases import CHROMIUM, PATIENCE, launch

SMALL = {"quick": True, "datasets": ["energy"], "n_jobs": 1}
WITHOUT_EM = ["table1", "figure_trade_off", "table4"]


def read_csv(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on the bundled Energy data."""
    folder = tmp_path_factory.mktemp("reproduction")
    page = reproduce(folder, only=WITHOUT_EM, **SMALL)
    return folder, page


def test_a_run_writes_tables_pictures_and_a_page(finished):
    folder, page = finished
    text = page.read_text(encoding="utf-8")
    for name in WITHOUT_EM:
        assert (folder / f"{name}.csv").exists()
        assert f'<h2 id="{name}">' in text
    assert (folder / "figure_trade_off.svg").read_bytes().startswith(b"<?xml")
    sources = re.findall(r'<img src="([^"]{30})', text)
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    assert "http" not in re.sub(r'"data:[^"]*"', "", text)


def test_numbers_of_the_page_are_those_of_the_parts(finished):
    folder, page = finished
    part = json.loads((folder / "parts" / "energy-1-inTrees.json").read_text("utf-8"))
    rows = read_csv(folder / "figure_trade_off.csv")
    own = [r for r in rows if r["method"] == "inTrees" and r["seed"] == "1"]
    assert [float(row["error"]) for row in own] == [part["result"]["error"]]
    sizes = [int(r["n_rules"]) for r in rows if r["method"] == "inTrees"]
    text = spread_text(sizes, 4)
    assert f"<td>{text}</td>" in page.read_text(encoding="utf-8")


def test_the_smallest_methods_are_as_the_paper_says(finished):
    rows = read_csv(finished[0] / "figure_trade_off.csv")
    small = [int(r["n_rules"]) for r in rows if r["method"] == "DTree2"]
    assert small == [4, 4]
    for name in ("Proposed", "Proposed, until convergence"):
        proposed = [int(r["n_rules"]) for r in rows if r["method"] == name]
        assert len(proposed) == 2
        assert all(3 <= n <= published.MOST_COMPONENTS for n in proposed)
    rules = read_csv(finished[0] / "table4.csv")
    assert {row["method"] for row in rules} > {"Proposed", "defragtrees", "BATrees"}
    assert all(re.search("[a-z]+_[a-z]+ |otherwise", row["rule"]) for row in rules)


@pytest.mark.slow
def test_a_stopped_run_goes_on_and_ends_with_the_same_files(finished, tmp_path):
    class Stopping(Progress):
        def advance(self, steps=1):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, only=WITHOUT_EM, progress=Stopping, **SMALL)
    kept = {path.name for path in (tmp_path / "parts").iterdir()}
    assert kept
    assert not (tmp_path / "index.html").exists()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    reproduce(tmp_path, only=WITHOUT_EM, **SMALL)
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    whole = finished[0]
    names = {path.relative_to(whole) for path in whole.rglob("*")}
    assert {path.relative_to(tmp_path) for path in tmp_path.rglob("*")} == names
    for name in WITHOUT_EM:
        one, two = (read_csv(f / f"{name}.csv") for f in (whole, tmp_path))
        for row in (*one, *two):
            row.pop("seconds", None)
        assert one == two
    assert len(kept) < len(list((whole / "parts").iterdir()))


def test_only_what_an_item_needs_is_planned():
    plan = Plan(("table2",), ("energy",), (0,))
    parts = ("model", "Proposed", "Proposed, until convergence", "em")
    assert plan.cells() == [("energy", 0, parts)]
    plan = Plan(("table4",), ("energy", "spambase"), (0,))
    assert [cell[0] for cell in plan.cells()] == ["energy"]
    plan = Plan(("figure_regions",), tuple(published.DATASETS), (0, 1))
    assert sorted(cell[:2] for cell in plan.cells()) == [
        ("synthetic1", 0),
        ("synthetic2", 0),
    ]
    every = Plan(tuple(ITEMS), tuple(published.DATASETS), (0,)).cells()
    assert every[0][0] in ("higgs", "miniboone")
    assert cost(*every[0][::2]) > cost(*every[-1][::2])


def test_as_many_draws_are_planned_as_are_wanted(tmp_path):
    page = reproduce(tmp_path, draws=3, only=["table1"], datasets=["energy"], n_jobs=1)
    names = sorted(path.name for path in (tmp_path / "parts").iterdir())
    assert names == [f"energy-{seed}-model.json" for seed in range(3)]
    text = page.read_text(encoding="utf-8")
    assert "Command: python -m benchmarks.paper --draws 3" in text
    assert "3 realisations" in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"only": ["table9"]}, "got 'table9'"),
        ({"datasets": ["iris"]}, "datasets must"),
    ],
)
def test_unknown_names_are_refused(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        reproduce(tmp_path, **settings)


def made_up(tmp_path, fab, em, overlap=1.0):
    """Results with given seconds, to work out verdicts by hand."""
    store = Store(tmp_path, {})
    for dataset in ("synthetic1", "energy"):
        for seed in (0, 1):
            result = {"seconds_per_restart": fab, "overlap": overlap}
            store.write(dataset, seed, "Proposed", result)
            half = {**result, "seconds_per_restart": fab / 2}
            store.write(dataset, seed, "Proposed, until convergence", half)
            store.write(dataset, seed, "em", [{"seconds": em / 10}] * 10)
    return Results(store, (0, 1), ("synthetic1", "energy"))


def test_verdict_on_time_follows_the_numbers(tmp_path):
    slow = table2(made_up(tmp_path / "a", fab=1.0, em=4.4))
    fast = table2(made_up(tmp_path / "b", fab=0.01, em=0.08))
    assert slow.verdict[0].startswith(
        "FAB is at least 5 times faster than EM on 0 of 2"
    )
    assert fast.verdict[0].startswith(
        "FAB is at least 5 times faster than EM on 2 of 2"
    )
    # Twice as fast until convergence: 8.8 of the slow one, 16 of the fast one.
    assert "Until convergence FAB is at least 5 times faster" in slow.verdict[1]
    assert "at least 8 times on 2; the ratio goes from 8.8 to 8.8" in slow.verdict[1]
    assert fast.numbers[0]["ratio_converged"] == pytest.approx(16)
    # The paper's 2.59 s and 0.03 s are 259 and 3 times as long as 0.01 s.
    assert fast.verdict[2].startswith("A restart of FAB is from 3 to 259 times as fast")
    assert fast.numbers[0]["ratio"] == pytest.approx(8)


def test_verdict_on_overlap_follows_the_numbers(tmp_path):
    close = table3(made_up(tmp_path / "a", 1.0, 1.0, overlap=1.2))
    far = table3(made_up(tmp_path / "b", 1.0, 1.0, overlap=1.5))
    assert "within 0.3 of the paper on 2 of 2 sets" in close.verdict[0]
    assert "within 0.3 of the paper on 0 of 2 sets" in far.verdict[0]


def test_a_store_takes_no_results_of_other_settings_or_half_a_file(tmp_path):
    Store(tmp_path, {"version": 1}).write("energy", 0, "em", [1])
    assert Store(tmp_path, {"version": 1}).read("energy", 0, "em") == [1]
    assert Store(tmp_path, {"version": 2}).read("energy", 0, "em") is None
    (tmp_path / "energy-1-em.json").write_text('{"settings": {"ver', "utf-8")
    assert Store(tmp_path, {"version": 1}).read("energy", 1, "em") is None


def test_csv_has_all_columns_of_all_rows():
    assert to_csv([{"a": 1}, {"a": 2, "b": 3}]) == "a,b\n1,\n2,3\n"


def test_the_page_opens_in_a_browser_with_every_picture(finished):
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is missing")
    if CHROMIUM is None:
        pytest.skip("no chromium is installed")
    with driver.sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(finished[1].as_uri())
        widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
        titles = page.locator("section h2").all_text_contents()
        browser.close()
    assert widths
    assert all(width > 100 for width in widths)
    assert len(titles) == len(WITHOUT_EM)
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_the_command_passes_on_its_options(tmp_path, monkeypatch, capsys):
    given = {}

    def stand_in(folder, **options):
        given.update(options, folder=folder)
        return f"{folder}/index.html"

    monkeypatch.setattr(command, "reproduce", stand_in)
    command.main(
        "--quick --only table1,table2 --jobs 1 --data here --out there".split()
    )
    assert capsys.readouterr().out == "The results are in there/index.html.\n"
    assert given == {
        "quick": True,
        "draws": None,
        "only": ["table1", "table2"],
        "datasets": None,
        "data_folder": "here",
        "n_jobs": 1,
        "folder": "there",
    }


@pytest.mark.parametrize("name", ["synthetic1", "synthetic2"])
def test_a_tenth_of_the_labels_of_the_drawn_sets_is_flipped(name):
    drawn = paper_data.make_synthetic(name, 20_000, 3)
    first, second = drawn.X.T
    expected = (first > 0.5) != (second > 0.5)
    if name == "synthetic2":
        step = 0.25 + 0.5 / (1 + np.exp(-20 * (first - 0.5)))
        expected = second > step + 0.05 * np.cos(2 * np.pi * first)
    assert 0.89 < (expected == drawn.y).mean() < 0.91


def table_of(name, n_rows, n_ones):
    """Numbers in the shape of a set, the first rows of class 1."""
    X = np.random.default_rng(0).normal(size=(n_rows, published.DATASETS[name][0]))
    return X, (np.arange(n_rows) < n_ones).astype(int)


def test_failed_reconstructions_in_a_file_are_left_out(tmp_path):
    X, y = table_of("miniboone", 200, 56)
    X[[50, 199]] = -999
    X[60, :-1] = -999
    frame = pd.DataFrame(X).assign(target=y)
    frame.to_csv(tmp_path / "miniboone.csv.gz", index=False)
    read = paper_data.load("miniboone", tmp_path)
    np.testing.assert_array_equal(read.X, np.delete(X, [50, 199], axis=0))
    assert read.y.tolist() == np.delete(y, [50, 199]).tolist()


def test_swapped_classes_and_other_columns_are_noticed(tmp_path):
    X, y = table_of("miniboone", 200, 144)
    frame = pd.DataFrame(X).assign(target=y)
    frame.to_csv(tmp_path / "miniboone.csv.gz", index=False)
    with pytest.raises(ValueError, match="been swapped"):
        paper_data.load("miniboone", tmp_path)
    frame.to_csv(tmp_path / "higgs.csv.gz", index=False)
    with pytest.raises(ValueError, match="higgs must"):
        paper_data.load("higgs", tmp_path)


def test_what_the_folder_lacks_comes_from_openml(tmp_path, monkeypatch):
    X, y = table_of("higgs", 100, 53)
    X[-1, 5:] = np.nan  # as OpenML has it
    asked = []

    def stand_in(**options):
        asked.append((options["data_id"], options["target_column"]))
        names = [f"f{k}" for k in range(28)]
        target = y.astype(str).astype(object)
        return SimpleNamespace(data=X, target=target, feature_names=names)

    monkeypatch.setattr(paper_data, "fetch_openml", stand_in)
    read = paper_data.load("higgs", tmp_path)
    assert asked == [(23512, "class")]
    np.testing.assert_array_equal(read.X, X[:-1])
    assert read.y.tolist() == y[:-1].tolist()
