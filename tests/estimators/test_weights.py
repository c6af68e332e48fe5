"""Only ratios of weights matter: their scale changes nothing that rules say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import DefragClassifier, DefragRegressor, metrics
from defragtrees.baselines import DistilledTreeClassifier
from defragtrees.data import sources
from defragtrees.paper import FABRulesClassifier
from defragtrees.tables import relative_weight

SCALES = (1000.0, 1e-3, 7 / 3, 1e300, 1e-300)
N_ROWS = 300


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    number = 3 * X[:, 0] + (X[:, 1] > 0) + rng.normal(size=N_ROWS)
    return X, number, rng.exponential(size=N_ROWS)


def fit(kind, table, weight, **settings):
    X, number, _ = table
    y = number if kind is DefragRegressor else (number > 0).astype(int)
    tree = DecisionTreeRegressor if kind is DefragRegressor else DecisionTreeClassifier
    model = tree(min_samples_leaf=10, random_state=0).fit(X, y)
    return kind(model, random_state=0, **settings).fit(X, y, weight)


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
@pytest.mark.parametrize("kind", [DefragClassifier, DefragRegressor])
def test_the_scale_of_weights_has_no_say(kind, form, table):
    rules = fit(kind, table, table[2], form=form).rules_
    assert rules.n_rules > 1
    for scale in SCALES if form == "list" else SCALES[2:4]:
        scaled = fit(kind, table, scale * table[2], form=form).rules_
        assert scaled.to_dict() == rules.to_dict()
        assert str(scaled) == str(rules)


@pytest.mark.parametrize("kind", [DistilledTreeClassifier, FABRulesClassifier])
def test_nor_for_other_methods(kind, table):
    rules = fit(kind, table, table[2], max_rules=4).rules_
    for scale in SCALES[:2]:
        scaled = fit(kind, table, scale * table[2], max_rules=4).rules_
        assert scaled.to_dict() == rules.to_dict()


@pytest.mark.parametrize("weight", [2.0, 0.1, 1e300])
def test_equal_weights_are_no_weights(weight, table):
    rules = fit(DefragClassifier, table, None).rules_
    weighted = fit(DefragClassifier, table, np.full(N_ROWS, weight)).rules_
    assert weighted.to_dict() == rules.to_dict()


def test_rows_in_shards_have_the_same_unit(table, monkeypatch, tmp_path):
    X, number, weight = table
    forest = fit(DefragClassifier, table, weight).model
    frame = pd.DataFrame(X, columns=["x1", "x2", "x3"])
    frame = frame.assign(y=(number > 0).astype(int))
    monkeypatch.setattr(sources, "MANY_ROWS", 100)
    found = []
    for scale in (1.0, 1000.0):
        path = tmp_path / f"rows-{scale:g}.parquet"
        frame.assign(weight=scale * weight).to_parquet(path, row_group_size=64)
        found.append(DefragClassifier(forest, random_state=0).fit(path, "y", "weight"))
    one, other = (simple.rules_ for simple in found)
    assert one.to_dict() == other.to_dict()
    assert sum(rule.n_rows for rule in one) == pytest.approx(N_ROWS)


def test_intervals_are_those_of_the_effective_number_of_rows(table):
    X, number, weight = table
    y = (number > 0).astype(int)
    rules = fit(DefragClassifier, table, weight).rules_
    refitted = rules.refit(X, y, weight)
    assert rules.refit(X, y, 1e6 * weight) == refitted
    for k, rule in enumerate(refitted):
        own = weight[refitted.apply(X) == k]
        assert rule.n_effective == pytest.approx(own.sum() ** 2 / (own**2).sum())


def test_evaluations_do_not_depend_on_the_scale(table):
    X, number, weight = table
    y = (number > 0).astype(int)
    simple = fit(DefragClassifier, table, weight)
    for scale in SCALES:
        assert simple.evaluate(X, y, scale * weight) == simple.evaluate(X, y, weight)
        rows = metrics.calibration(simple.rules_, X, y, scale * weight)
        assert rows == metrics.calibration(simple.rules_, X, y, weight)


def test_multiples_of_the_smallest_weight_count_repeated_rows():
    assert relative_weight(np.array([2.0, 4.0, 0.0])).tolist() == [1.0, 2.0, 0.0]
    assert relative_weight(np.array([0.001, 0.003])).tolist() == [1.0, 3.0]
    assert relative_weight(np.array([2.0, 3.0])).mean() == pytest.approx(1.0)
    # No table repeats a row a billion times.
    assert relative_weight(np.array([1.0, 1e9])).mean() == pytest.approx(1.0)
