"""The rate of all rows that match a rule of a list, whatever rules come before it."""

import json

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import export
from defragtrees._api import simplify
from defragtrees._utils import formatting as render
from defragtrees.baselines.distilled import DistilledTreeClassifier
from defragtrees.data.sources import TableSource
from defragtrees.data.store import read_store
from defragtrees.rules import RuleList, RuleModel
from defragtrees.rules.conditions import Condition, Rule


@pytest.fixture(scope="module")
def titanic():
    """All in first class survive; of the others those who paid much do not."""
    rng = np.random.default_rng(0)
    is_first = rng.random(400) < 0.3
    fare = np.where(is_first, 60 + 20 * rng.random(400), 40 * rng.random(400))
    X = np.column_stack([is_first, np.round(fare)])
    chance = np.where(is_first, 0.95, np.where(X[:, 1] > 22, 0.1, 0.5))
    y = np.where(rng.random(400) < chance, "lived", "died")
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    return X, y, tree


def recounted(titanic):
    """A list by hand, counted on the rows: who paid above 22 died, after rule 1."""
    X, y, tree = titanic
    from defragtrees import read_forest

    forest = read_forest(tree)
    store = read_store(
        TableSource(X, y), forest, target="labels", shorten=True, keeps_numbers=True
    )
    first = Rule((Condition(0, lower=0.0, upper=1.0, is_integer=True),), "lived")
    second = Rule((Condition(1, lower=22.0),), "died")
    rules = RuleList(
        (first, second), Rule((), "died"), ("first class", "fare"), "classification",
        ("died", "lived"),
    )  # fmt: skip
    [counted] = store.recount([rules])
    return counted, X, y


def test_rates_alone_are_those_of_all_rows_in_which_a_rule_holds(titanic):
    rules, X, y = recounted(titanic)
    first, second = rules.rules
    is_high = X[:, 1] > 22
    assert second.alone == pytest.approx(
        [(y[is_high] == "died").mean(), (y[is_high] == "lived").mean()]
    )
    assert second.rates[0] > 0.8 > 0.6 > second.alone[0]
    assert first.alone == pytest.approx(first.rates)
    assert rules.default.alone is None


def test_details_have_the_rate_alone_where_it_differs(titanic):
    rules, *_ = recounted(titanic)
    assert "alone" not in str(rules)
    assert "alone" not in rules._repr_html_()
    assert "alone" not in export.export(rules, "markdown")
    share = f"{100 * rules.rules[1].alone[1]:.0f}%"
    [first, second, last] = rules._view.cells(details=True)[1]
    assert [row[-1] for row in (first, second, last)] == ["", share, ""]
    assert rules.table(details=True, width=120).splitlines()[0].endswith("  alone")
    assert f"| {share} |" in export.export(rules, "markdown", details=True)
    notes = str(rules).split("\n\n")[1].replace("\n", " ")
    assert notes == (
        "Rules apply in order; the first match predicts. " + rules.evidence.text
    )
    again = RuleModel.from_dict(json.loads(json.dumps(rules.to_dict())))
    assert str(again) == str(rules)
    assert again == rules
    assert rules._view.rows()[1]["alone"] == rules.rules[1].alone[1]


def test_no_rate_alone_where_it_is_the_same(titanic):
    rules, *_ = recounted(titanic)
    first = rules.rules[0]
    alone = RuleList(
        (first,), rules.default, rules.feature_names, "classification", rules.classes
    )
    assert "alone" not in alone.table(details=True)


def test_details_of_numbers_have_the_mean_alone():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = np.where(X[:, 0] > 0.5, 100.0, np.where(X[:, 1] > 0.5, 10.0, 0.0))
    y = y + rng.normal(size=400)
    tree = DecisionTreeRegressor(max_leaf_nodes=3, random_state=0).fit(X, y)
    rules = simplify(tree, X, y, random_state=0, max_rules=3).rules_
    marked = [rules.outcome.view.differs_alone(rule) for rule in rules.rules]
    assert sum(marked) == 1
    [place] = np.flatnonzero(marked)
    header, rows = rules._view.cells(details=True)
    assert header[-1] == "alone"
    assert rows[place][-1] == render.rounded(rules.rules[place].alone)


def test_trees_have_nothing_before_a_leaf(titanic):
    X, y, tree = titanic
    rules = DistilledTreeClassifier(tree, random_state=0).fit(X, y).rules_
    assert all(rule.alone is None for rule in rules)
    assert "alone" not in rules.table(details=True)


def test_parts_add_up(titanic):
    X, y, tree = titanic
    one = simplify(tree, X, y, random_state=0, max_rules=3).rules_
    parts = iter([(X[:150], y[:150]), (X[150:], y[150:])])
    two = simplify(tree, parts, random_state=0, max_rules=3).rules_
    assert [rule.alone for rule in one] == [rule.alone for rule in two]


def test_explain_names_the_rules_that_failed(titanic):
    rules, *_ = recounted(titanic)
    assert rules.explain([0, 30]).splitlines()[2:] == [
        "rule  condition         value  match",
        "   2  fare > 22         30     yes",
        "   1  first class is 1  0      no",
    ]


def test_the_report_shows_it(titanic, tmp_path):
    pytest.importorskip("jinja2")
    from defragtrees.report.page import write_report

    X, y, tree = titanic
    model = simplify(tree, X, y, random_state=0, max_rules=3)
    write_report(tmp_path / "report.html", model, X, y)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    is_marked = any(
        model.rules_.outcome.view.differs_alone(r) for r in model.rules_.rules
    )
    assert ("All rows that it matches, also those that earlier" in page) == is_marked
