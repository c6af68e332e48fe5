"""Reports on rules without an estimator, with and without a model."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import load, simplify, simplify_path
from defragtrees.report.page import write_report
from defragtrees.report.summary import summarize
from tests.report.cases import loans, numbers, weather


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_rules_with_their_model_have_the_figures_of_their_estimator(form):
    simple, X, y = loans(form)
    own = summarize(simple, X, y)
    found = summarize(simple.rules_, X, y, model=simple.forest_)
    assert found.scores == own.scores
    assert found.cards == own.cards
    assert found.facts == own.facts
    assert found.disagreements == own.disagreements
    assert found.simplifier is None


def test_rules_without_a_model_have_nothing_about_one():
    simple, X, y = weather()
    found = summarize(simple.rules_, X, y)
    assert found.model is None
    rows = found.rows
    assert (rows.model_predictions, rows.probabilities, rows.sureness) == (None,) * 3
    assert not [k for k in found.scores if k.startswith(("fidelity", "model_"))]
    assert {card.agrees for card in found.cards} == {None}
    assert [card.right for card in found.cards] == [1.0, 0.5, 1.0]
    assert found.used == [1, 0]
    assert found.disagreements is None
    assert found.trade_off is None
    assert found.facts.model is None


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_edited_and_loaded_rules_have_a_report(tmp_path, form):
    simple, X, y = loans(form)
    simple.rules_.drop(2).save(tmp_path / "rules.json")
    rules = load(tmp_path / "rules.json")
    for options in ({}, {"model": simple.forest_}, {"model": simple.forest_.predict}):
        path = write_report(tmp_path / "page.html", rules, X, y, **options)
        page = path.read_text("utf-8")
        assert page.count("</section>") >= 6
        assert ("disagree" in page) == bool(options)
    write_report(tmp_path / "page.html", rules, X, model=simple.forest_)


def test_rules_for_numbers_have_a_report(tmp_path):
    simple, X, y = numbers("average")
    write_report(tmp_path / "page.html", simple.rules_, X, y)
    found = summarize(simple.rules_, X, model=simple.forest_)
    assert found.cards[0].distance == pytest.approx((1.75 + 4 / 3) / 2)


def test_rules_alone_need_y_or_a_model():
    simple, X, y = weather()
    with pytest.raises(ValueError, match="needs y, model or both; got neither"):
        summarize(simple.rules_, X)
    with pytest.raises(ValueError, match="this estimator has its own"):
        summarize(simple, X, y, model=simple.forest_)
    with pytest.raises(ValueError, match=r"one entry|rows|length"):
        summarize(simple.rules_, X, y[:2])


def test_other_things_are_no_rules(tmp_path):
    forest = RandomForestClassifier(2).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match=r"got RandomForestClassifier\. Pass a"):
        write_report(tmp_path / "page.html", forest, [[0.0]], [0])


def test_a_given_path_is_shown_for_rules_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "b", "a")
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    path = simplify_path(forest, X, y, max_rules=3, random_state=0)
    found = summarize(path.points[-1].rules, X, y, rule_path=path)
    assert found.shown_size == len(path.points) - 1
    simple = simplify(forest, X, y, max_rules=3, random_state=0)
    assert summarize(simple.rules_, X, y).trade_off is None
