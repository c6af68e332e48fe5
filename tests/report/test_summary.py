"""The numbers of a report, worked by hand on a few rows."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from defragtrees import simplify
from defragtrees._version import __version__
from defragtrees.ensembles.forest import Forest
from defragtrees.outcomes.intervals import wilson_interval
from defragtrees.paper import FABRulesClassifier
from defragtrees.report.model import changed_settings, versions
from defragtrees.report.page import write_report
from defragtrees.report.summary import summarize
from defragtrees.report.text import condition_parts
from defragtrees.report.verdict import figure
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import (
    GivenClassifier,
    GivenRegressor,
    cells,
    loans,
    numbers,
    stump,
    weather,
    written,
)


def test_evidence_of_each_rule_is_that_of_the_rows_it_predicts():
    cards = summarize(*weather()).cards
    assert [card.n_rows for card in cards] == [2, 2, 2]
    assert [card.right for card in cards] == [1.0, 0.5, 1.0]
    # The forest predicts "out" on rows 1, 2 and 6 only.
    assert [card.agrees for card in cards] == [1.0, 0.0, 0.5]
    assert [card.then for card in cards] == ["out", "out", "in"]


def test_conditions_keep_the_words_of_the_rules():
    rules = weather()[0].rules_
    parts = [
        condition_parts(rules, condition) for condition in rules.rules[0].conditions
    ]
    assert parts == [("", "degrees", " > 20"), ("", "wind", " ≤ 5")]


def test_weights_count_as_rows():
    simple, X, y = weather()
    found = summarize(simple, X, y, [3.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    assert [card.share for card in found.cards] == pytest.approx([0.5, 1 / 3, 1 / 6])
    assert found.scores["error"] == pytest.approx(1 / 6)
    assert found.scores["coverage"] == pytest.approx(5 / 6)


def test_without_y_there_are_no_errors():
    simple, X, _ = weather()
    found = summarize(simple, X)
    assert "error" not in found.scores
    assert {card.right for card in found.cards} == {None}


def test_disagreements_are_the_rows_that_differ():
    summary = summarize(*weather())
    found = summary.disagreements
    assert found.n_rows == 3
    assert found.worst == (2, 3, 5)
    assert found.features == (1, 0)
    # Rule 2 uses the wind; the default rule no feature.
    assert cells(written("disagreements", summary)[1]) == [
        ["3", "2", "out", "in (100%)", "in", "<b>1</b>", "10"],
        ["4", "2", "out", "in (100%)", "out", "<b>2</b>", "12"],
        ["6", "3", "in", "out (100%)", "in", "8", "26"],
    ]


def test_an_averaged_rule_has_all_rows_that_it_matches():
    simple, X, y = numbers("average")
    found = summarize(simple, X, y)
    assert [card.n_rows for card in found.cards] == [2, 2, 4]
    # Predictions are (8+1)/4, 8/3, 1/2 and 0; y is 3, 4, 0 and 0.
    assert found.cards[0].miss == pytest.approx((0.75 + 4 / 3) / 2)
    assert np.flatnonzero(found.rows.members[:, 1]).tolist() == [0, 2]


def test_a_list_gives_a_row_to_its_first_rule():
    simple, X, y = numbers("list")
    found = summarize(simple, X, y)
    assert [card.n_rows for card in found.cards] == [2, 1, 1]
    assert found.cards[0].miss == 0.5


def test_a_frozen_model_has_the_name_of_the_model_inside():
    _, X, y = weather()
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    simple = simplify(FrozenEstimator(forest), X, y, max_rules=2, random_state=0)
    found = summarize(simple, X, y)
    assert found.model.name == "random forest of 5 trees"


def test_the_path_of_the_simplifier_is_measured_on_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, max_rules=4, random_state=0)
    summary = summarize(simple, X, y)
    found = summary.trade_off
    assert [point.n_rules for point in found.points] == sorted(simple.path_)
    at = found.points[summary.shown_size]
    assert at.error == pytest.approx(simple.evaluate(X, y)["error"])
    assert found.chosen == summary.shown_size


def test_what_only_watches_a_fit_is_no_setting_to_repeat():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    forest = RandomForestClassifier(3, random_state=0, verbose=0).fit(X, y)
    simple = FABRulesClassifier(
        forest, max_rules=2, n_restarts=2, random_state=0, callback=lambda *_: None
    ).fit(X, y)
    names = {name for one in (simple, forest) for name, _ in changed_settings(one)}
    assert {"max_rules", "n_estimators"} <= names
    assert not names & {"callback", "verbose"}
    code = written("settings", summarize(simple, X, y))[1]
    assert "callback" not in code
    assert "<dt>max_rules</dt><dd>2</dd>" in code


def test_versions_are_those_of_the_source_and_of_the_models_library(monkeypatch):
    simple, X, y = weather()
    library = SimpleNamespace(__version__="9.8.7")
    monkeypatch.setitem(sys.modules, "lightgbm", library)
    booster = type("Booster", (), {"__module__": "lightgbm.basic"})
    simple.model_ = type("Mine", (booster,), {"__module__": "__main__"})()
    found = summarize(simple, X, y)
    numbers = versions(found.model)
    assert numbers["defragtrees"] == __version__
    assert numbers["lightgbm"] == "9.8.7"
    assert found.model.library == "lightgbm"


def test_colours_go_first_to_the_classes_that_the_rules_predict():
    classes = tuple("abcdefghijkl")
    late = Rule((Condition(0, lower=5.0),), "l", tuple(c == "l" for c in classes))
    rest = Rule((), "k", tuple(c == "k" for c in classes))
    rules = RuleList((late,), rest, ("x",), "classification", classes)
    low, high = np.eye(12)[[9, 0]]
    forest = Forest(
        (stump(0, 5.0, low, high),), ("x",), "classification", classes, "mean"
    )
    X = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match="No rule predicts 'a', 'j'"):
        simple = GivenClassifier(forest, rules=rules).fit(X)
    found = summarize(simple, X)
    # The rules predict k and l; the rest is by order.
    coloured = ["k", "l", "a", "b", "c", "d", "e"]
    assert found.colours.of(coloured) == [f"g{k}" for k in range(7)]
    assert set(found.colours.of(sorted(set(classes) - set(coloured)))) == {"g7"}
    assert [card.colour for card in found.cards] == ["g1", "g0"]


def test_a_number_that_a_rule_predicts_has_the_minus_of_its_evidence():
    rules = RuleList((), Rule((), -0.775), ("x",), "regression")
    forest = Forest((stump(0, 0.0, -0.8, -0.8),), ("x",), "regression")
    X = np.array([[1.0], [-1.0]])
    found = summarize(GivenRegressor(forest, rules=rules).fit(X), X)
    assert found.cards[0].then == "\N{MINUS SIGN}0.775"
    assert "<bdi>\N{MINUS SIGN}0.775</bdi>" in "".join(written("rules", found))


def test_the_trade_off_counts_rows_by_their_weight():
    simple, X, y = weather()
    simple.path_ = {3: simple.rules_}
    summary = summarize(simple, X, y, np.array([3.0, 0.0, 1.0, 1.0, 1.0, 0.0]))
    point = summary.trade_off.points[0]
    assert point.coverage == pytest.approx(5 / 6)
    assert summary.scores["coverage"] == point.coverage


@pytest.mark.parametrize("case", [weather, lambda: numbers("list"), loans])
def test_the_scale_of_weights_changes_no_interval(case):
    simple, X, y = case()
    weight = np.arange(len(X)) % 3 + 1.0
    one, other = (summarize(simple, X, y, weight * by) for by in (1.0, 500.0))
    assert repr(one.baseline) == repr(other.baseline)
    assert repr(one.facts) == repr(other.facts)
    assert [card.flags for card in one.cards] == [card.flags for card in other.cards]
    # Of weights 1, 2 and 3 three rows are worth 36 / 14, as evidence.
    low, high = wilson_interval(1.0, 36 / 14)
    found = figure(one.rows, np.ones(len(X), bool), np.arange(len(X)) < 3)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_the_model_is_walked_once_over_the_rows(tmp_path, monkeypatch):
    simple, X, y = weather()
    simple.path_ = {3: simple.rules_}
    walk, walked = Forest.predict_raw_encoded, []

    def count(forest, matrix):
        walked.append(len(matrix))
        return walk(forest, matrix)

    monkeypatch.setattr(Forest, "predict_raw_encoded", count)
    write_report(tmp_path / "page.html", simple, X, y)
    assert walked == [6]


def test_a_report_says_if_its_rows_chose_the_rules(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X[:100], y[:100])
    parts = [(X[rows], y[rows]) for rows in np.split(np.arange(300), 3)]
    simple = simplify(model, *parts[0], validation=parts[1], max_rules=2)
    for part, n_validation in zip(parts, (0, 100, 0), strict=True):
        summary = summarize(simple, *part)
        assert summary.n_validation == n_validation
        write_report(tmp_path / "report.html", simple, *part)
        text = (tmp_path / "report.html").read_text()
        assert ("These rows helped to choose the rules" in text) == (n_validation > 0)
    assert summarize(simple, *parts[1]).is_new
