"""Rows that the model never saw count for the rules, wherever they come from.

Rows that it was trained on count too, but less.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV

from defragtrees import DefragClassifier, DefragRegressor, simplify
from defragtrees.baselines import InTreesClassifier, NodeHarvestRegressor
from defragtrees.data import sources
from defragtrees.estimators import METHODS, estimator_for
from defragtrees.rules.profile import WORTH
from defragtrees.search import driver
from tests.fits import fit_rules

RNG = np.random.default_rng(0)
N_ROWS, N_NEW = 500, 300
CITIES = ["Bern", "Lima", "Oslo"]


def make_rows(n_rows):
    X = pd.DataFrame(
        {
            "size": np.round(RNG.normal(size=n_rows), 2),
            "age": RNG.integers(20, 80, n_rows).astype(float),
            "city": pd.Categorical(RNG.choice(CITIES, n_rows), categories=CITIES),
        }
    )
    X.loc[RNG.random(n_rows) < 0.05, "age"] = np.nan
    number = X["size"] + (X["age"] > 50) + (X["city"] == "Oslo")
    return X, (number + RNG.normal(0, 0.7, n_rows)).to_numpy()


X, AMOUNTS = make_rows(N_ROWS)
X_NEW, AMOUNTS_NEW = make_rows(N_NEW)
WEIGHT = RNG.integers(0, 3, N_NEW).astype(float)
WORTH_TRAINED = WORTH["training"]
N_POOLED = N_NEW + WORTH_TRAINED * N_ROWS
NAMES = np.array(["no", "yes"])
Y, Y_NEW = (NAMES[(amounts > 1).astype(int)] for amounts in (AMOUNTS, AMOUNTS_NEW))


@pytest.fixture(scope="module")
def boosted():
    return DefragClassifier(random_state=0).fit(X, Y).model_


def counts(rules, X, y, weight=None):
    """For each rule the rows it predicts, their weight, and that of the "yes"."""
    weight = np.ones(len(X)) if weight is None else weight
    by = rules.apply(X)
    columns = weight > 0, weight, weight * (y == "yes")
    return [np.bincount(by, column, rules.n_rules) for column in columns]


def pooled_counts(rules, X_new, y_new, weight=None):
    """`counts` of these rows and of the training rows, each at its worth."""
    pairs = zip(
        counts(rules, X_new, y_new, weight),
        counts(rules, X, Y, np.full(N_ROWS, WORTH_TRAINED)),
        strict=True,
    )
    return [a + b for a, b in pairs]


def pooled_mean(new, trained):
    """The mean of values of validation rows and of training rows, by their worth."""
    return (new.sum() + WORTH_TRAINED * trained.sum()) / N_POOLED


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("y", [None, Y])
def test_rates_are_those_of_the_rows_that_count(boosted, y, weight):
    """Without their y, training rows do not count."""
    validation = (X_NEW, Y_NEW) if weight is None else (X_NEW, Y_NEW, weight)
    simple = simplify(boosted, X, y, validation=validation, random_state=0)
    rules = simple.rules_
    assert rules.n_rules > 2
    count = counts if y is None else pooled_counts
    n_rows, size, n_found = count(rules, X_NEW, Y_NEW, weight)
    for k, rule in enumerate(rules):
        assert rule.n_rows == n_rows[k]
        # Rows of unequal weights, or of the training, tell less than as many others.
        is_equal = weight is None and y is None
        assert (rule.n_effective == rule.n_rows) == is_equal
        assert rule.n_effective <= rule.n_rows
        assert rule.rates[1] == pytest.approx(n_found[k] / size[k], abs=1e-11)
        assert rule.share == pytest.approx(size[k] / size.sum(), abs=1e-11)
    # A fit keeps the model's probabilities with single precision.
    assert simple.validation_ == pytest.approx(simple.evaluate(*validation))
    assert simple.training_ == pytest.approx(simple.evaluate(X, y))
    for rules in (*simple.path_.values(), *simple.path_by_conditions_.values()):
        assert sum(rule.n_rows for rule in rules) == n_rows.sum()
    n_new = N_NEW if weight is None else (weight > 0).sum()
    evidence = rules.evidence
    assert (evidence.source, evidence.n_rows) == ("validation", n_new)
    assert evidence.n_trained == (0 if y is None else N_ROWS)
    text = rules.export("text")
    assert ("500 rows that the model was trained on" in text) == (y is not None)


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
@pytest.mark.parametrize("shorten", [True, False])
def test_numbers_and_every_form(form, shorten):
    forest = DefragRegressor(random_state=0).fit(X, AMOUNTS).model_
    settings = {"form": form, "shorten_thresholds": shorten, "random_state": 0}
    validation = X_NEW, AMOUNTS_NEW
    simple = fit_rules(forest, X, AMOUNTS, validation=validation, **settings)
    new, trained = map(simple.rules_._encode, (X_NEW, X))
    for rule in simple.rules_:
        expected = pooled_mean(rule.covers(new), rule.covers(trained))
        assert rule.coverage == pytest.approx(expected, abs=1e-11)
    assert simple.validation_ == pytest.approx(simple.evaluate(*validation))


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_the_search_sees_the_training_rows_only(boosted, form, monkeypatch):
    """One search has one model of each size, so rows that count choose nothing."""
    monkeypatch.setattr(driver, "N_SEARCHES", 1)
    settings = {"form": form, "max_rules": 3, "min_rows": 0.0, "random_state": 0}
    one = simplify(boosted, X, Y, **settings)
    two = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), **settings)
    for n, rules in one.path_.items():
        found = two.path_[n]
        assert [r.conditions for r in rules] == [r.conditions for r in found]


def test_summary_says_which_rows_the_scores_are_of(boosted):
    simple = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), random_state=0)
    where = "on 300 validation rows that the model was not trained on"
    assert where in simple.summary()
    assert "training rows" not in simple.summary()
    assert "on these rows" in simple.summary(X, Y)
    assert where in pickle.loads(pickle.dumps(simple)).summary()
    simple.fit(X, Y)
    assert "on training rows" in simple.summary()
    assert not hasattr(simple, "validation_")


def test_rules_are_watched_by_the_rows_that_count(boosted):
    simple = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), random_state=0)
    training = simple.rules_.training
    assert training.n_rows == N_POOLED
    new, trained = (np.bincount(y == "yes") for y in (Y_NEW, Y))
    assert training.target == pytest.approx(new + WORTH_TRAINED * trained)
    assert training.error == pytest.approx(simple.validation_["error"])
    assert not simple.rules_.check(X_NEW, Y_NEW).has_moved


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("is_number", [False, True])
def test_every_method_counts_rows_at_their_worth(method, is_number):
    y, y_new = (AMOUNTS, AMOUNTS_NEW) if is_number else (Y, Y_NEW)
    columns = ["size", "age"]
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    forest = kind(5, max_depth=3, random_state=0).fit(X[columns].fillna(0), y)
    settings = {"paper": {"n_restarts": 2}, "born_again": {"max_depth": 3}}
    estimator = estimator_for(method, simplify(forest, X[columns]).forest_.outcome)
    simple = estimator(forest, random_state=0, **settings.get(method, {}))
    simple.fit(X[columns], y, validation=(X_NEW[columns], y_new))
    new, trained = (simple.rules_._encode(rows[columns]) for rows in (X_NEW, X))
    for rule in simple.rules_:
        expected = pooled_mean(rule.covers(new), rule.covers(trained))
        assert rule.coverage == pytest.approx(expected, abs=1e-11)
    expected = simple.evaluate(X_NEW[columns], y_new)
    assert simple.validation_ == pytest.approx(expected)


def pieces():
    for start in range(0, N_NEW, 70):
        rows = slice(start, start + 70)
        yield X_NEW.iloc[rows], Y_NEW[rows]


@pytest.mark.parametrize("few", [True, False])
def test_rows_of_every_source_count_alike(boosted, few, tmp_path, monkeypatch):
    def fitted(*validation, y=Y):
        return simplify(boosted, X, y, validation=validation, random_state=0)

    # Training rows without y do not count, nor do they beside rows that are many.
    twice = pd.concat([X_NEW, X_NEW]), np.tile(Y_NEW, 2)
    expected = fitted(X_NEW, Y_NEW) if few else fitted(*twice, y=None)
    path = tmp_path / "rows.parquet"
    X_NEW.assign(outcome=Y_NEW).to_parquet(path, row_group_size=110)
    rows = [(path, "outcome"), (pieces(), None)]
    if not few:
        # The rows that count are many, those of the search are not.
        monkeypatch.setattr(sources, "MANY_ROWS", N_ROWS)
        rows = [twice, (*twice, np.full(2 * N_NEW, 0.5))]
    for validation in rows:
        found = fitted(*validation)
        assert str(found.rules_) == str(expected.rules_)
        assert found.validation_ == pytest.approx(expected.validation_)


def test_rows_on_a_cluster_count_alike(boosted):
    dd = pytest.importorskip("dask.dataframe")
    expected = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), random_state=0)
    table = dd.from_pandas(X_NEW.assign(outcome=Y_NEW), npartitions=3)
    lazily = table[list(X_NEW.columns)], table["outcome"]
    found = simplify(boosted, X, Y, validation=lazily, random_state=0)
    assert found.rules_ == expected.rules_


def test_values_that_the_training_rows_do_not_have(boosted):
    odd = pd.DataFrame(
        {
            "size": [-40.0, 0.005, 12.34, np.nan] * 30,
            "age": [np.nan, 33.5, 150.0, 20.0] * 30,
            "city": pd.Categorical(["Rome", "Bern", None, "Oslo"] * 30),
        }
    )
    y = np.array(["no", "yes", "yes", "no"] * 30)
    simple = simplify(boosted, X, Y, validation=(odd, y), random_state=0)
    n_rows, *_ = pooled_counts(simple.rules_, odd, y)
    assert [rule.n_rows for rule in simple.rules_] == n_rows.tolist()


def test_the_model_is_fitted_to_the_training_rows():
    simple = DefragClassifier(random_state=0).fit(X, Y, validation=(X_NEW, Y_NEW))
    alone = DefragClassifier(random_state=0).fit(X, Y)
    told = (one.model_.predict_proba(X_NEW) for one in (simple, alone))
    assert np.array_equal(*told)
    assert simple.validation_["model_error"] > simple.training_["model_error"]


def test_stability_is_that_of_the_training_rows(boosted):
    settings = {"max_rules": 3, "random_state": 0}
    simple = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), **settings)
    assert len(simple.stability(X, Y, n=3).returns) == simple.rules_.n_rules


def test_labels_as_the_target(boosted):
    settings = {"target": "labels", "max_rules": 4, "random_state": 0}
    simple = simplify(boosted, X, Y, validation=(X_NEW, Y_NEW), **settings)
    assert sum(rule.n_rows for rule in simple.rules_) == N_NEW + N_ROWS
    with pytest.raises(ValueError, match="target='labels' requires y"):
        simplify(boosted, X, validation=(X_NEW, Y_NEW), **settings)


@pytest.mark.parametrize(
    ("validation", "error", "text"),
    [
        (X_NEW, TypeError, r"validation must be \(X, y\) or .*; got a DataFrame"),
        ((X_NEW,), TypeError, "got a tuple of length 1"),
        ((X_NEW, None), ValueError, r"validation needs y.* Pass \(X, y\)"),
        ((X_NEW, Y_NEW[:9]), ValueError, "300.* 9|9.* 300"),
        ((X_NEW, np.full(N_NEW, "maybe")), ValueError, "maybe"),
        ((X_NEW[["size", "age"]], Y_NEW), ValueError, "city"),
        ((X_NEW[:0], Y_NEW[:0]), ValueError, "minimum of 1"),
        ((X_NEW, Y_NEW, np.zeros(N_NEW)), ValueError, "positive weight"),
        ((X_NEW, Y_NEW, -WEIGHT), ValueError, "from 0"),
    ],
)
def test_rows_that_cannot_count(boosted, validation, error, text):
    with pytest.raises(error, match=text):
        simplify(boosted, X, Y, validation=validation)


def test_a_file_without_y_cannot_count(boosted, tmp_path):
    path = tmp_path / "rows.parquet"
    X_NEW.to_parquet(path)
    with pytest.raises(ValueError, match="validation needs y"):
        simplify(boosted, X, validation=(path, None))


def test_methods_that_need_numbers_take_them_from_memory(boosted, monkeypatch):
    forest = RandomForestClassifier(3, random_state=0).fit(X[["size"]], Y)
    monkeypatch.setattr(sources, "MANY_ROWS", 100)
    rows = ((X_NEW[["size"]], Y_NEW) for _ in range(1))
    with pytest.raises(TypeError, match="needs all rows in memory"):
        InTreesClassifier(forest).fit(X[["size"]], Y, validation=(rows, None))


def test_averaged_rules_keep_their_predictions():
    columns = ["size", "age"]
    table, table_new = X[columns].fillna(0), X_NEW[columns].fillna(0)
    forest = RandomForestRegressor(5, max_depth=3, random_state=0).fit(table, AMOUNTS)
    simple = NodeHarvestRegressor(forest, random_state=0)
    before = simple.fit(table, AMOUNTS).predict(table_new)
    simple.fit(table, AMOUNTS, validation=(table_new, AMOUNTS_NEW))
    assert np.array_equal(simple.predict(table_new), before)


def test_grid_search_and_routing():
    columns = ["size", "age"]
    grid = GridSearchCV(DefragClassifier(random_state=0), {"max_rules": [2, 3]}, cv=2)
    grid.fit(X[columns], Y)
    assert grid.best_estimator_.rules_.n_rules <= 3
    with sklearn.config_context(enable_metadata_routing=True):
        simple = DefragClassifier(max_rules=2).set_fit_request(validation=True)
        assert simple.get_metadata_routing().fit.requests["validation"] is True
        grid = GridSearchCV(simple, {"max_rules": [2]}, cv=2)
        grid.fit(X[columns], Y, validation=(X_NEW[columns], Y_NEW))
    assert grid.best_estimator_.rules_.training.n_rows == N_POOLED


def test_rows_of_x_are_no_validation_rows(boosted):
    plain = simplify(boosted, X, Y, max_rules=3)
    with pytest.warns(UserWarning, match="500 of the 500 rows of validation are rows"):
        copied = simplify(boosted, X, Y, validation=(X, Y), max_rules=3)
    assert copied.rules_ == plain.rules_
    assert not hasattr(copied, "validation_")
    mixed = pd.concat([X_NEW, X[:100]]), np.concatenate([Y_NEW, Y[:100]])
    # Among the new rows one is equal to a row of X by chance.
    with pytest.warns(UserWarning, match="101 of the 400 rows of validation are rows"):
        mixed = simplify(boosted, X, Y, validation=mixed, max_rules=3)
    assert mixed.rules_.evidence.n_rows == 299


def test_equal_rows_of_small_tables_are_no_copies(boosted, recwarn):
    few = pd.concat([X[["city"]].assign(size=0.0, age=30.0)], ignore_index=True)
    few = few[["size", "age", "city"]]
    simplify(boosted, few[:200], Y[:200], validation=(few[200:], Y[200:]), max_rules=3)
    assert not [w for w in recwarn if "rows of validation" in str(w.message)]
