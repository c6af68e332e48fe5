"""A churn list with costs, from a pipeline to a ranked contact list and its profit."""

import numpy as np
import pytest
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import load, metrics, simplify
from defragtrees.datasets import load_table

BENEFIT, COST = 60.0, 12.0
# Not calling a customer who leaves loses the benefit less the call.
NEW_ROWS = 10_000  # of a search, as users have
COSTS = {("leaves", "stays"): BENEFIT - COST, ("stays", "leaves"): COST}


@pytest.fixture(scope="module")
def customers():
    X, y = load_table("churn")
    X = X.drop(columns=["state", "area code"])
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    count = np.arange(len(y_new)) % 2 == 0
    return (X, y), (X_new[count], y_new[count]), (X_new[~count], y_new[~count])


@pytest.fixture(scope="module")
def rules(customers, tmp_path_factory):
    (X, y), counted, _ = customers
    words = make_column_selector(dtype_exclude="number")
    steps = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    model = make_pipeline(steps, HistGradientBoostingClassifier(random_state=0))
    settings = {"pos_label": "leaves", "max_rules": 7, "random_state": 0}
    settings |= {"max_conditions": 3, "costs": COSTS}
    simple = simplify(model.fit(X, y), X, y, validation=counted, **settings)
    path = tmp_path_factory.mktemp("churn") / "rules.json"
    simple.save(path)
    return load(path)


def test_loaded_rules_decide_by_costs_and_can_decide_again(rules, customers):
    X, y = customers[2]
    likely = rules.predict_proba(X)[:, 0]
    assert np.array_equal(rules.predict(X) == "leaves", likely > COST / BENEFIT)
    spent = metrics.expected_cost(y, rules.predict(X), COSTS)
    likeliest = rules.with_threshold(None)
    assert np.array_equal(likeliest.predict(X) == "leaves", likely > 0.5)
    assert spent <= metrics.expected_cost(y, likeliest.predict(X), COSTS)
    best = metrics.best_threshold(rules, *customers[1], COSTS)
    chosen = rules.with_threshold(best).predict(X)
    assert metrics.expected_cost(y, chosen, COSTS) <= 1.1 * spent
    # A call at 40 dollars pays from a probability of 40 / 60 on.
    costs = {("leaves", "stays"): BENEFIT - 40, ("stays", "leaves"): 40}
    costlier = rules.with_costs(costs).predict(X) == "leaves"
    assert np.array_equal(costlier, likely > 40 / BENEFIT)
    assert 0 < costlier.sum() < (rules.predict(X) == "leaves").sum()


def test_the_contact_list_earns_what_the_gains_table_says(rules, customers):
    X, y = customers[2]
    found = metrics.gains(rules, X, y, benefit=BENEFIT, cost=COST)
    ranked = rules.predict_frame(X, probabilities=True)
    ranked = ranked.sort_values("probability leaves", ascending=False, kind="stable")
    leaves = (y == "leaves").loc[ranked.index]
    for step in found:
        n = int(step["n_rows"])
        called = ranked["probability leaves"].iloc[:n]
        assert called.min() == pytest.approx(step["threshold"])
        expected = BENEFIT * called.sum() - COST * n
        assert expected == pytest.approx(step["expected_profit"])
        earned = BENEFIT * leaves.iloc[:n].sum() - COST * n
        assert earned == pytest.approx(step["profit"])
    # The contact list of the costs is the step with the largest expected profit.
    calls = ranked[ranked.prediction == "leaves"]
    expected = BENEFIT * calls["probability leaves"].sum() - COST * len(calls)
    best = max(found, key=lambda step: step["expected_profit"])
    assert expected == pytest.approx(best["expected_profit"])
    assert len(calls) == best["n_rows"] < len(ranked)
    assert calls.index.tolist() == ranked.index[: len(calls)].tolist()
    # On new rows the expected profit comes true.
    assert best["expected_profit"] == pytest.approx(best["profit"], rel=0.15)
    assert best["profit"] > 1.5 * found[-1]["profit"]


def test_calling_the_top_five_hundred(rules, customers):
    X, y = customers[2]
    found = metrics.gains(rules, X, y, benefit=BENEFIT, cost=COST)
    top = found.at(500)
    likely = np.sort(rules.predict_proba(X)[:, 0])[::-1][:500]
    assert top["expected"] == pytest.approx(likely.sum())
    # Which of equally likely customers are called is chance; the mean is known.
    rng, n_leaving = np.random.default_rng(0), []
    every = rules.predict_proba(X)[:, 0]
    for _ in range(300):
        order = np.lexsort((rng.random(len(every)), -every))
        n_leaving.append((y.to_numpy()[order[:500]] == "leaves").sum())
    assert top["n_positive"] == pytest.approx(np.mean(n_leaving), abs=0.5)
    assert top["lift"] == pytest.approx(
        top["n_positive"] / 500 / np.mean(y == "leaves")
    )
