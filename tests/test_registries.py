"""What is registered in one line of a table is known everywhere."""

import re
import sys
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import defragtrees
from defragtrees._api import simplify
from defragtrees._compare import compare
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import READERS, read_forest
from defragtrees.estimators import METHODS
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.estimators.problem import predicting_rule
from defragtrees.estimators.settings import Integer, setting
from defragtrees.export import FORMATS, Format, export
from defragtrees.plots.picture import Axis, Curve, Picture, draw_picture
from defragtrees.report import sections
from defragtrees.report.page import read_template, write_report
from defragtrees.report.sections import SECTIONS, Section

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.random((60, 2)), columns=["size", "age"])
Y = np.where(X["size"] > 0.5, "large", "small")


@pytest.fixture
def add(monkeypatch):
    """Add a module with some names, and its line in a table."""

    def add(table, key, line=str, **names):
        module = ModuleType(f"a_{key}_from_elsewhere")
        module.__dict__.update(names)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(table, key, line(module.__name__))

    return add


def take_command_line():
    """Take the modules of the command line out of `sys.modules`; returns them."""
    names = [name for name in sys.modules if name.startswith("defragtrees.cli")]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command line in a state as if it had just been started."""

    def call(*arguments):
        take_command_line()
        from defragtrees.cli.group import run

        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        done = capsys.readouterr()
        assert code == 0, done.err
        return done.out

    monkeypatch.setattr(defragtrees, "cli", None, raising=False)
    before = take_command_line()
    yield call
    # None of the fresh modules may stay: they share no state with those of before.
    take_command_line()
    sys.modules.update(before)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    X.assign(answer=Y).to_csv(path, index=False)
    return path


@dataclass
class Stump:
    """An ensemble of a library that nobody knows."""

    threshold: float


Stump.__module__ = "stumps.models"


def read_stump(stump):
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[stump.threshold, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        missing_left=[True, False, False],
        value=[[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]],
    )
    return Forest((tree,), ("size", "age"), "classification", ("large", "small"))


def read_stump_file(path):
    return read_stump(Stump(float(path.read_text().split()[1])))


@pytest.fixture
def stumps(add):
    add(
        READERS,
        "stumps",
        NAME="stumps",
        read=read_stump,
        KIND="a stump",
        SUFFIXES=(".stump",),
        is_file=lambda file: file.head.startswith(b"stump "),
        read_file=read_stump_file,
    )


def test_reader(stumps, call, tmp_path, data):
    assert simplify(Stump(0.5), X).score(X, Y) == 1
    path = tmp_path / "model.any"
    path.write_text("stump 0.5")
    assert read_forest(path).predict(X).tolist() == Y.tolist()
    assert "size <= 0.5" in call("simplify", path, data)


def count(rules):
    return f"{rules.n_rules} rules\n"


def test_export(add, stumps, call, tmp_path):
    rules = simplify(Stump(0.5), X).rules_
    add(FORMATS, "count", lambda module: Format(".txt", module, "write"), write=count)
    assert export(rules, "count", tmp_path / "two.txt") == "2 rules\n"
    assert (tmp_path / "two.txt").read_text() == "2 rules\n"
    rules.save(tmp_path / "rules.json")
    assert call("export", tmp_path / "rules.json", "--format", "count") == "2 rules\n"


def test_export_that_is_no_text(add, stumps, call, tmp_path):
    rules = simplify(Stump(0.5), X).rules_
    add(
        FORMATS,
        "bytes",
        lambda module: Format(".bin", module, "write", "to_bytes"),
        write=lambda rules: rules.n_rules,
        to_bytes=lambda n_rules: bytes([n_rules]),
    )
    assert export(rules, "bytes", tmp_path / "two.bin") == 2
    rules.save(tmp_path / "rules.json")
    path = tmp_path / "other.bin"
    call("export", tmp_path / "rules.json", "--format", "bytes", "--out", path)
    assert path.read_bytes() == (tmp_path / "two.bin").read_bytes() == b"\x02"


@dataclass(repr=False, eq=False)
class _OneRule(Simplifier):
    """One rule that always holds."""

    max_rules: int = setting(1, Integer(1))

    def _simplify(self, problem, rng):
        rows = np.ones(len(problem.X), dtype=bool)
        return problem.rule_set([predicting_rule(problem, (), rows)])


@dataclass(repr=False, eq=False)
class OneRuleClassifier(RuleClassifier, _OneRule):
    pass


class OneRuleRegressor(RuleRegressor, _OneRule):
    pass


def test_method(add, stumps, call, tmp_path, data):
    add(
        METHODS,
        "one_rule",
        __all__=["OneRuleClassifier", "OneRuleRegressor"],
        OneRuleClassifier=OneRuleClassifier,
        OneRuleRegressor=OneRuleRegressor,
    )
    with pytest.raises(ValueError, match="max_rules must be a whole number from 1"):
        OneRuleClassifier(max_rules=0).fit(X, Y)
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    (row,) = compare(forest, X, Y, methods=["one_rule"]).rows()
    assert (row["method"], row["n_rules"]) == ("one_rule", 1)
    path = tmp_path / "model.stump"
    path.write_text("stump 0.5")
    assert "\n1  otherwise" in call("simplify", path, data, "--method", "one_rule")
    out = call("compare", path, data, "--target", "answer", "--methods", "one_rule")
    assert "one_rule" in out


def lengths_picture(rules):
    """How many conditions each rule has."""
    n_rules = len(rules.rules)
    lengths = [len(rule.conditions) for rule in rules.rules]
    curve = Curve("lengths", list(range(n_rules)), lengths, "g1")
    return Picture(Axis("rule"), Axis("conditions"), (curve,))


def rule_lengths(page):
    picture = lengths_picture(page.summary.rules)
    return {"picture": page.draw("lengths", picture)}


LENGTHS = """
{% from "parts.html.j2" import figure %}
<p>Short rules.</p>
{% call figure(picture, "Lengths") %}Few.{% endcall %}
"""


def test_picture(stumps):
    ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
    rules = simplify(Stump(0.5), X).rules_
    draw_picture(lengths_picture(rules), ax, {"g1": "blue"})
    assert [ax.get_xlabel(), ax.get_ylabel()] == ["rule", "conditions"]
    assert ax.lines[0].get_ydata().tolist() == [1]


def test_section_of_the_report(stumps, monkeypatch, call, tmp_path, data):
    files = {"rule_lengths.html.j2": LENGTHS}
    monkeypatch.setattr(
        "defragtrees.report.page.read_template",
        lambda file: files.get(file) or read_template(file),
    )
    line = Section(rule_lengths, "Lengths", "How long the rules are")
    monkeypatch.setattr(sections, "SECTIONS", (*SECTIONS, line))
    page = write_report(tmp_path / "a.html", simplify(Stump(0.5), X), X, Y)
    path = tmp_path / "model.stump"
    path.write_text("stump 0.5")
    call("report", path, data, "--target", "answer", "--out", tmp_path / "b.html")
    for text in (page.read_text("utf-8"), (tmp_path / "b.html").read_text("utf-8")):
        assert '<li><a href="#rule_lengths">Lengths</a></li>' in text
        assert "<p>Short rules.</p>" in text
        assert re.search(r'id="rule_lengths".*?<svg', text, re.DOTALL)
