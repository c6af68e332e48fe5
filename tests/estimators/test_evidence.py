"""Which rows are searched and which count, and what rules say of it."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.neighbors import KNeighborsClassifier

import defragtrees
from defragtrees import ModelFileError, RuleModel, simplify
from defragtrees.estimators import problem
from defragtrees.outcomes.intervals import wilson_interval
from defragtrees.rules.profile import WORTH, Evidence
from defragtrees.search import driver
from tests.fits import fit_rules

NEW_ROWS = driver.NEW_ROWS


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)), 2)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=300) > 0, "yes", "no")
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    return forest.fit(X, y), X, y


def drawn(monkeypatch):
    """The numbers of new rows of the fits from now on."""
    numbers = []

    def draw_rows(X, n_rows, *others):
        numbers.append(n_rows)
        return draw(X, n_rows, *others)

    draw = problem.draw_rows
    monkeypatch.setattr(problem, "draw_rows", draw_rows)
    return numbers


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_rates_are_those_of_all_rows_given_and_each_counts_by_its_worth(rows, form):
    forest, X, y = rows
    rules = simplify(forest, X, y, form=form, max_rules=5, random_state=0).rules_
    assert rules.evidence == Evidence("training", len(y))
    members = rules._form.members(rules.covers(X))
    classes = forest.classes_.tolist()
    for k, rule in enumerate(rules):
        own = y[members[:, k]]
        assert rule.n_rows == len(own)
        rates = [np.mean(own == label) for label in classes]
        assert rule.rates == pytest.approx(rates)
        assert rule.n_effective == pytest.approx(rules.evidence.worth * len(own))
        bounds = [wilson_interval(rate, rule.n_effective) for rate in rates]
        assert np.array(rule.interval) == pytest.approx(np.array(bounds))


def test_new_rows_carry_the_search_if_the_model_can_label_them(rows, monkeypatch):
    forest, X, y = rows
    numbers, few = drawn(monkeypatch), {"max_rules": 3, "random_state": 0}
    by_rows = {
        augment: fit_rules(forest, X, y, augment=augment, **few).rules_
        for augment in ("auto", 0, 700)
    }
    assert numbers == [driver.NEW_ROWS, 700]
    sources = [rules.evidence.source for rules in by_rows.values()]
    assert sources == ["training", "searched", "training"]
    simplify(forest, X, y, target="labels", **few)
    assert len(numbers) == 2
    monkeypatch.setattr("defragtrees.data.sources.MANY_ROWS", 100)
    many = simplify(forest, X, y, **few).rules_
    assert len(numbers) == 2
    assert many.evidence == Evidence("searched", len(y))


def test_new_rows_are_drawn_where_only_codes_are_kept(rows, monkeypatch):
    forest, X, y = rows
    numbers = drawn(monkeypatch)
    monkeypatch.setattr("defragtrees.data.sources.MANY_ROWS", 100)
    rules = fit_rules(forest, X, y, augment=500, max_rules=3, random_state=0).rules_
    assert numbers == [500]
    assert rules.evidence == Evidence("training", len(y))


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_of_y_one_half_is_searched_and_the_other_counts(rows, kind):
    forest, X, y = rows
    if kind == "numbers":
        y = X[:, 3] + np.random.default_rng(0).normal(size=len(y))
        forest = RandomForestRegressor(5, min_samples_leaf=5, random_state=0).fit(X, y)
    settings = {"target": "labels", "max_rules": 4, "random_state": 0}
    rules = simplify(forest, X, y, **settings).rules_
    assert rules.evidence.source == "held out"
    assert rules.evidence.worth == 1.0
    assert rules.evidence.n_rows == pytest.approx(len(y) / 2, abs=3)
    assert sum(rule.n_rows for rule in rules) == rules.evidence.n_rows
    assert all(rule.n_effective == rule.n_rows for rule in rules)
    mixed = np.random.default_rng(1).permutation(len(y))
    assert simplify(forest, X[mixed], y[mixed], **settings).rules_ == rules


def test_without_y_nothing_is_said_of_rates(rows):
    forest, X, _ = rows
    rules = simplify(forest, X, max_rules=3, random_state=0).rules_
    assert rules.evidence is None
    assert "Rates" not in str(rules)


def test_evidence_is_one_line_and_is_saved(rows, tmp_path):
    forest, X, y = rows
    rules = simplify(forest, X, y, max_rules=3, random_state=0).rules_
    line = rules.export("text").splitlines()[-1]
    assert " ".join(str(rules).split()).endswith(line)
    assert line == rules.evidence.text
    assert line.startswith(f"Estimates from {len(y)} rows not used by the search; ")
    assert line in rules._repr_html_()
    rules.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == rules
    assert again.evidence == rules.evidence
    assert str(again) == str(rules)
    data = rules.to_dict()
    assert data["evidence"] == {"source": "training", "n_rows": len(y)}
    assert data["rules"][0]["n_effective"] == rules.rules[0].n_effective
    # Files of rules that were saved before have neither.
    del data["evidence"]
    for rule in (*data["rules"], data["default"]):
        del rule["n_effective"]
    old = RuleModel.from_dict(json.loads(json.dumps(data)))
    assert old.evidence is None
    rule = old.rules[0]
    assert rule.interval[0] == wilson_interval(rule.rates[0], rule.n_rows)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"source": "dreams", "n_rows": 3}, "evidence.source must be"),
        ({"source": "refit"}, "n_rows"),
        ({"source": "refit", "n_rows": -1}, "evidence.n_rows must be"),
        ([], "evidence must be an object"),
    ],
)
def test_evidence_in_a_file_is_checked(rows, evidence, message):
    forest, X, y = rows
    rules = simplify(forest, X, y, max_rules=2, random_state=0).rules_
    with pytest.raises(ModelFileError, match=message):
        RuleModel.from_dict(rules.to_dict() | {"evidence": evidence})


def test_every_source_has_a_sentence():
    for source in WORTH:
        text = Evidence(source, 1000.0).text
        assert text.startswith("Estimates from 1,000 rows ")
        assert text.endswith(".")
        assert ("so they count as" in text) == (WORTH[source] < 1)
    assert "1 row " in Evidence("refit", 1.0).text
    with pytest.raises(ValueError, match="must be one of 'training', 'searched'"):
        Evidence.from_dict({"source": "dreams", "n_rows": 1.0})


@pytest.fixture(scope="module")
def neighbours(rows):
    _, X, y = rows
    return KNeighborsClassifier(15).fit(X, y), X, y


@pytest.mark.parametrize("max_calls", [60, 400, 2000])
def test_half_of_the_calls_to_a_black_box_are_for_new_rows(neighbours, max_calls):
    model, X, y = neighbours
    simple = simplify(model, X, y, max_calls=max_calls, max_rules=5, random_state=0)
    n_rows = min(len(y), max_calls // 2)
    assert simple.n_calls_ <= max_calls
    assert len(simple.forest_.new_rows) >= n_rows
    assert simple.rules_.evidence == Evidence("training", n_rows)


def test_a_black_box_gets_as_many_new_rows_as_asked_for(neighbours):
    model, X, y = neighbours
    few = {"max_rules": 3, "random_state": 0}
    simple = fit_rules(model, X, y, augment=0, max_calls=400, **few)
    assert simple.rules_.evidence.source == "searched"
    for n_rows in (50, 200):
        simple = fit_rules(model, X, y, augment=n_rows, max_calls=400, **few)
        assert simple.rules_.evidence.source == "training"
        assert simple.n_calls_ <= 400
    with pytest.raises(ValueError, match="max_calls must be at least"):
        fit_rules(model, X, y, augment=900, max_calls=400, **few)
