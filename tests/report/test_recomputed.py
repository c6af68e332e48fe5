"""All figures of a page beside those of an independent script."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

from defragtrees import load
from defragtrees.ensembles.forest import Forest
from defragtrees.report.page import write_report
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report import compare_figures
from tests.report.cases import GivenClassifier, loans, numbers, stump


def written(folder, simple, X, y, rules=None, model=None, **options):
    """The report, the rules and the rows as files; of rules alone if there are some."""
    forest = simple.forest_ if rules is None else model
    given, rules = rules or simple, rules or simple.rules_
    table = pd.DataFrame(X, columns=list(rules.feature_names))
    table = table.assign(truth=np.asarray(y))
    if forest is not None:
        table["model"] = forest.predict(X)
    if forest is not None and rules.classes:
        probabilities = forest.predict_proba(X)
        for label, shares in zip(rules.classes, probabilities.T, strict=True):
            table[f"p:{label}"] = shares
    if "groups" in options:
        table["group"] = np.asarray(options["groups"])
    files = folder / "rules.json", folder / "rows.csv", folder / "page.html"
    rules.save(files[0])
    table.to_csv(files[1], index=False)
    write_report(files[2], given, X, y, model=model, **options)
    return files


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_every_figure_about_classes_is_so(tmp_path, capsys, form):
    simple, X, y = loans(form)
    groups = np.where(np.arange(len(X)) % 3, "young", "old")
    files = written(tmp_path, simple, X, y, groups=groups)
    assert compare_figures.main(*files, "status") == 0, capsys.readouterr().out


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_every_figure_about_edited_and_loaded_rules_is_so(tmp_path, capsys, form):
    simple, X, y = loans(form)
    rules = simple.rules_.drop(2)
    files = written(tmp_path, simple, X, y, rules)
    assert compare_figures.main(*files, "status") == 0, capsys.readouterr().out
    files = written(tmp_path, simple, X, y, load(files[0]), simple.forest_)
    assert compare_figures.main(*files, "status") == 0, capsys.readouterr().out
    if form == "points":
        scaled = rules.scaled(20, points=600, odds=50)
        files = written(tmp_path, simple, X, y, scaled)
        assert compare_figures.main(*files, "status") == 0, capsys.readouterr().out


def test_every_figure_about_three_classes_is_so(tmp_path, capsys):
    classes, names = ("u", "v", "w"), ("a", "b")
    rules = RuleList(
        (
            Rule((Condition(0, upper=-0.5),), "w", (0.2, 0.2, 0.6)),
            Rule((Condition(1, lower=0.25),), "v", (0.1, 0.7, 0.2)),
        ),
        Rule((), "u", (0.5, 0.25, 0.25)),
        names,
        "classification",
        classes,
    )
    tree = stump(0, 0.0, [0.1, 0.3, 0.6], [0.5, 0.3, 0.2])
    forest = Forest((tree,), names, "classification", classes, "mean")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2)).round(2)
    y = np.array(classes)[np.digitize(X[:, 0] + rng.normal(size=90), [-0.5, 0.5])]
    simple = GivenClassifier(forest, rules=rules).fit(X, y)
    files = written(tmp_path, simple, X, y)
    assert compare_figures.main(*files) == 0, capsys.readouterr().out


def test_every_figure_about_numbers_is_so(tmp_path, capsys):
    simple, X, _ = numbers("list")
    rng = np.random.default_rng(0)
    X = np.repeat(X, 50, axis=0) + rng.normal(size=(200, 2)).round(2)
    y = (40_000 * X[:, 0] + rng.normal(scale=5_000, size=200)).round(1)
    files = written(tmp_path, simple, X, y, target_name="price")
    assert compare_figures.main(*files, "price") == 0, capsys.readouterr().out


def test_every_figure_about_costs_is_so(tmp_path, capsys):
    simple, X, y = loans()
    costs = ((0.0, 1.0), (1.0, 0.0))
    simple.rules_ = dataclasses.replace(simple.rules_, costs=costs)
    files = written(tmp_path, simple, X, y)
    assert compare_figures.main(*files, "status") == 0, capsys.readouterr().out


def test_the_script_sees_a_figure_that_is_not_so(tmp_path, capsys):
    simple, X, y = loans()
    files = written(tmp_path, simple, X, y)
    page = files[2].read_text("utf-8")
    wrong = re.sub(r"(\d)%</b> right", "7%</b> right", page)
    assert wrong != page
    files[2].write_text(wrong, "utf-8")
    assert compare_figures.main(*files, "status") >= 1
    assert "evidence: the page says" in capsys.readouterr().out
