"""What commands show fits the terminal: no line too wide, no word broken."""

import re
import sys

import click
import pytest

from defragtrees import Condition, Rule, RuleList
from defragtrees.cli.group import run
from defragtrees.cli.output import Bar, rules_text
from defragtrees.cli.terminal import clear_status, wrapped

IRIS = (
    "{xgboost.json} {iris.csv} --target species --classes setosa,versicolor,virginica"
)
SHOP = "{shop.txt} {shop.csv} --target price"
LINES = [
    f"simplify {IRIS} --stability 2",
    f"simplify {IRIS} --details",
    f"simplify {SHOP} --max-rules 5",
    f"simplify {SHOP} --form points --max-rules 5",
    f"path {IRIS} --max-rules 4",
    f"path {SHOP} --max-rules 4",
    f"compare {IRIS} --methods defrag,distilled --folds 2",
    f"compare {SHOP} --methods distilled",
    "explain RULES {iris.csv} --rows 1,60,120",
    "edit RULES --drop 1",
    "refit RULES {iris.csv} --target species",
    "diff RULES RULES {iris.csv} --target species",
    "watch RULES {iris.csv} --target species",
    "watch RULES {iris.csv} --details",
]
EXPONENT = re.compile(r"\d[eE][+-]?\d")


@pytest.fixture(params=[80, 120])
def columns(request, monkeypatch):
    """The width of the terminal that standard output seems to be."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    return request.param


@pytest.fixture(scope="module")
def words(files, tmp_path_factory):
    """From a line to its words, with the files in their places."""
    rules = tmp_path_factory.mktemp("rules") / "rules.json"

    def words(line):
        line = line.replace("RULES", str(rules))
        return re.sub(r"\{(.*?)\}", lambda name: str(files / name[1]), line).split()

    assert run(words(f"simplify {IRIS} --out RULES")) == 0
    return words


@pytest.mark.parametrize("line", LINES)
def test_no_line_is_too_wide_and_no_number_has_an_exponent(call, words, columns, line):
    done = call(*words(line))
    assert (done.code, done.err) == (0, "")
    text = click.unstyle(done.out)
    assert text
    assert max(map(len, text.splitlines())) <= columns, text
    assert not EXPONENT.search(text)


def test_words_are_not_broken(monkeypatch):
    monkeypatch.setattr("defragtrees._utils.formatting.page_width", lambda: 21)
    text = "of all rows, some 45% are-not-broken anywhere"
    assert wrapped(text, "  ") == (
        "of all rows, some 45%\n  are-not-broken\n  anywhere"
    )


def test_only_the_class_of_interest_has_a_colour():
    rule = Rule((Condition(0, upper=1.0),), "bad", (0.9, 0.1))
    rules = RuleList(
        (rule,), Rule((), "good", (0.1, 0.9)), ("bad",), "classification",
        ("bad", "good"), pos_label="bad",
    )  # fmt: skip
    lines = rules_text(rules).splitlines()
    assert [line for line in lines if "\x1b" in line] == [lines[1]]
    assert "\x1b[35m\x1b[1mbad\x1b[0m" in lines[1]
    other = rules_text(rules.relabel(pos_label="good")).splitlines()
    assert [k for k, line in enumerate(other) if "\x1b" in line] == [2]


def test_the_status_line_is_there_at_once_and_leaves_nothing(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "9")
    with Bar("simplifying"):
        assert capsys.readouterr().err == "\rsimplify"
    assert capsys.readouterr().err == "\r        \r"
    clear_status()
    assert capsys.readouterr().err == ""
