"""Rules in three forms: what each states is what rows say, and they answer by it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import DefragClassifier, DefragRegressor
from defragtrees.data import sources
from defragtrees.estimators import defrag
from tests.estimators.test_limits import is_monotone, made


def make_table(n_rows=500, n_classes=2, seed=0):
    """Numbers with missing values and categories; y depends on both."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "debt": np.round(rng.gamma(2.0, 3.0, n_rows)),
            "job": rng.integers(0, 4, n_rows).astype(float),
        }
    )
    signal = (X.age > 40) * 2.0 - (X.debt > 8) * 2.0 + (X.job == 2) * 1.5
    X.loc[rng.random(n_rows) < 0.1, "debt"] = np.nan
    signal = (signal + rng.normal(0, 0.7, n_rows)).to_numpy()
    y = np.digitize(signal, [0.5, 2.0][: n_classes - 1])
    return X, np.array(["no", "yes", "sure"])[y], signal


@pytest.fixture(scope="module")
def two_classes():
    X, y, _ = make_table()
    return (
        RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y),
        X,
        y,
    )


@pytest.fixture(scope="module")
def three_classes():
    X, y, _ = make_table(n_classes=3)
    return (
        RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y),
        X,
        y,
    )


@pytest.fixture(scope="module")
def numbers():
    X, _, y = make_table()
    return RandomForestRegressor(30, min_samples_leaf=5, random_state=0).fit(X, y), X, y


def held_by_hand(rule, X):
    """Rows in which all conditions of a rule hold, with missing values as told."""
    held = np.ones(len(X), dtype=bool)
    for condition in rule.conditions:
        x = X.iloc[:, condition.feature].to_numpy(float)
        inside = (x > condition.lower) & (x <= condition.upper)
        held &= np.where(np.isnan(x), condition.missing, inside)
    return held


@pytest.mark.parametrize("data", ["two_classes", "three_classes"])
def test_standalone_rules_state_what_all_their_rows_say(data, request):
    forest, X, y = request.getfixturevalue(data)
    rules = DefragClassifier(forest, form="standalone", random_state=0).fit(X, y).rules_
    assert rules.n_rules > 2
    none = np.ones(len(X), dtype=bool)
    for rule in rules.rules:
        held = held_by_hand(rule, X)
        none &= ~held
        assert rule.n_rows == held.sum()
        assert rule.rates == pytest.approx(
            [np.mean(y[held] == c) for c in rules.classes]
        )
        assert rule.share == rule.coverage == pytest.approx(held.mean())
        # Rates are drawn a little to those of all rows, which may settle a near tie.
        stated = rule.rates[rules.classes.index(rule.prediction)]
        assert stated > max(rule.rates) - 0.05
    rest = rules.default
    assert rest.n_rows == none.sum()
    assert rest.rates == pytest.approx([np.mean(y[none] == c) for c in rules.classes])


@pytest.mark.parametrize("seed", range(4))
def test_standalone_rules_predict_their_own_rows(seed):
    """Neither shrinking nor another rule leads to another class than most rows have."""
    X, y, _ = make_table(150, seed=seed)
    y = np.where(np.random.default_rng(seed).random(len(y)) < 0.3, "no", y)
    forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(X, y)
    simple = DefragClassifier(forest, form="standalone", max_rules=8).fit(X, y)
    for rules in simple.path_.values():
        answers, seen = rules.predict(X), set()
        for rule in rules.rules:
            held = held_by_hand(rule, X)
            best = max(np.mean(y[held] == label) for label in ("no", "yes"))
            assert abs(best - np.mean(answers[held] == y[held])) <= 0.02
            assert held.tobytes() not in seen
            seen.add(held.tobytes())


def test_standalone_numbers_are_means_of_all_their_rows(numbers):
    forest, X, y = numbers
    model = DefragRegressor(forest, form="standalone", random_state=0).fit(X, y)
    for rule in model.rules_.rules:
        held = held_by_hand(rule, X)
        assert rule.prediction == pytest.approx(y[held].mean(), abs=2e-3)
        assert rule.n_rows == held.sum()


def test_overlapping_rules_answer_with_their_mean_by_rows(three_classes):
    forest, X, y = three_classes
    model = DefragClassifier(forest, form="standalone", random_state=0).fit(X, y)
    rules = model.rules_
    found = model.predict_proba(X)
    for i in range(60):
        mine = [rule for rule in rules.rules if held_by_hand(rule, X.iloc[[i]])[0]]
        mine = mine or [rules.default]
        weights = [rule.n_rows for rule in mine]
        shares = np.array([rule.distribution for rule in mine])
        assert found[i] == pytest.approx(np.average(shares, axis=0, weights=weights))
    assert rules.conflicts(X).mean() <= 0.02


@pytest.mark.parametrize("data", ["two_classes", "three_classes"])
def test_points_tell_probabilities_that_are_honest_about_y(data, request):
    forest, X, y = request.getfixturevalue(data)
    model = DefragClassifier(forest, form="points", random_state=0).fit(X, y)
    told = model.predict_proba(X)
    for k, label in enumerate(model.classes_):
        # The base is not drawn to zero, so the mean of all rows is kept.
        assert told[:, k].mean() == pytest.approx(np.mean(y == label), abs=1e-3)
    assert model.training_["auc"] > 0.85
    assert model.rules_.form == "points"
    assert 2 < model.rules_.n_rules <= 10


def test_points_add_up_by_hand(two_classes, numbers):
    for forest, X, y in (two_classes, numbers):
        is_class = isinstance(forest, RandomForestClassifier)
        method = DefragClassifier if is_class else DefragRegressor
        model = method(forest, form="points", max_rules=5, random_state=0).fit(X, y)
        rules = model.rules_
        total = np.full(len(X), rules.default.points[0])
        for rule in rules.rules:
            total += rule.points[0] * held_by_hand(rule, X)
        if is_class:
            expected = 1 / (1 + np.exp(-total))
            assert model.predict_proba(X)[:, 1] == pytest.approx(expected)
            assert model.decision_function(X) == pytest.approx(total)
            assert (model.predict(X) == np.where(total > 0, "yes", "no")).all()
        else:
            assert model.predict(X) == pytest.approx(total)


def test_points_say_more_of_sums_than_a_list_of_as_many_rules(numbers):
    forest, X, y = numbers
    errors = {
        form: DefragRegressor(forest, form=form, max_rules=5, random_state=0)
        .fit(X, y)
        .training_["error"]
        for form in ("list", "standalone", "points")
    }
    assert errors["points"] < 0.9 * errors["list"]


@pytest.mark.parametrize("form", ["standalone", "points"])
def test_without_y_rules_tell_what_the_model_says(two_classes, form):
    forest, X, _ = two_classes
    model = DefragClassifier(forest, form=form, random_state=0).fit(X)
    told, expected = model.predict_proba(X)[:, 1], forest.predict_proba(X)[:, 1]
    assert np.corrcoef(told, expected)[0, 1] > 0.9
    assert all(rule.rates is None for rule in model.rules_)


@pytest.mark.parametrize("form", ["standalone", "points"])
def test_a_weight_of_two_is_a_row_given_twice(two_classes, form):
    forest, X, y = two_classes
    twice = np.random.default_rng(0).random(len(X)) < 0.3
    weighted = DefragClassifier(forest, form=form, random_state=0)
    weighted.fit(X, y, sample_weight=1.0 + twice)
    given = DefragClassifier(forest, form=form, random_state=0)
    given.fit(pd.concat([X, X[twice]]), np.concatenate([y, y[twice]]))
    for one, two in zip(weighted.rules_, given.rules_, strict=True):
        assert one.conditions == two.conditions
        assert one.n_rows <= two.n_rows  # rows are rows
        assert one.points == two.points or one.points == pytest.approx(
            two.points, abs=0.05
        )


@pytest.mark.parametrize("form", ["standalone", "points"])
@pytest.mark.parametrize("data", ["two_classes", "three_classes", "numbers"])
def test_rows_in_many_shards_say_the_same(form, data, request, monkeypatch):
    forest, X, y = request.getfixturevalue(data)
    method = DefragRegressor if data == "numbers" else DefragClassifier
    monkeypatch.setattr(sources, "MANY_ROWS", 400)
    monkeypatch.setattr(sources, "PART_ROWS", 90)
    many = method(forest, form=form, max_rules=4, random_state=0).fit(X, y)
    rules = many.rules_
    assert rules.n_rules > 1
    for rule in rules.rules:
        held = held_by_hand(rule, X)
        assert rule.n_rows == held.sum()
    if data == "numbers":
        assert many.predict(X).mean() == pytest.approx(y.mean(), abs=0.05)
    else:
        told = many.predict_proba(X)[:, 1].mean()
        assert told == pytest.approx(np.mean(y == rules.classes[1]), abs=0.02)


def test_costs_and_thresholds_decide_by_probabilities(two_classes):
    forest, X, y = two_classes
    for form in ("standalone", "points"):
        model = DefragClassifier(forest, form=form, threshold=0.2, random_state=0)
        model.fit(X, y)
        told = model.predict_proba(X)[:, 1]
        assert ((model.predict(X) == "yes") == (told >= 0.2)).all()
        costs = {("yes", "no"): 4.0}
        model = DefragClassifier(forest, form=form, costs=costs, random_state=0)
        told = model.fit(X, y).predict_proba(X)[:, 1]
        assert ((model.predict(X) == "yes") == (told * 4 > 1 - told)).all()


def test_points_are_explained_as_a_sum(two_classes):
    forest, X, y = two_classes
    model = DefragClassifier(forest, form="points", max_rules=3, random_state=0)
    rules = model.fit(X, y).rules_
    row = X.iloc[0]
    text = rules.explain(row)
    total = rules.totals(X.iloc[:1])[0, 0]
    *_, base, last = (line.split() for line in text.splitlines())
    assert base == [str(rules.n_rules), "base", f"{rules.default.points[0]:+g}"]
    assert last == ["total", f"{total:.9g}"]
    n_rules = sum(line[:4].strip().isdigit() for line in text.splitlines())
    assert n_rules == rules.covers(X.iloc[:1])[0].sum()


def test_intervals_of_points_hold_about_as_often_as_they_say(numbers):
    forest, X, y = numbers
    model = DefragRegressor(forest, form="points", random_state=0).fit(X, y)
    new, _, true = make_table(seed=1)
    low, high = model.predict_interval(new, coverage=0.9).T
    assert 0.84 < np.mean((low <= true) & (true <= high)) < 0.97
    model.calibrate(new, true)
    assert model.predict_interval(new).shape == (len(new), 2)


def test_min_rows_and_features_are_respected(two_classes):
    forest, X, y = two_classes
    for form in ("standalone", "points"):
        model = DefragClassifier(
            forest,
            form=form,
            min_rows=0.2,
            features=["age", "debt"],
            random_state=0,
        )
        for rule in model.fit(X, y).rules_.rules:
            assert rule.coverage >= 0.2
            assert {c.feature for c in rule.conditions} <= {0, 1}
    assert max(rule.n_conditions for rule in model.rules_.rules) <= 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"form": "tree"}, "form must be"),
        (
            {"form": "points", "criterion": "error"},
            "points are fitted to probabilities",
        ),
    ],
)
def test_settings_that_do_not_go_together_are_refused(two_classes, settings, words):
    forest, X, y = two_classes
    with pytest.raises(ValueError, match=words):
        DefragClassifier(forest, **settings).fit(X, y)


@pytest.mark.parametrize("form", ["standalone", "points"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "limits",
    [
        {"max_total_conditions": 4},
        {"must_use": [2, 3]},
        {"exclude": [0]},
        {"groups": [[0, 1], [2, 3]]},
        {"max_conditions": 1},
        {"min_rows": 40, "augment": 10_000},
    ],
    ids=str,
)
def test_no_form_breaks_a_limit(form, task, limits):
    forest, X, y = made(task)
    method = DefragRegressor if task == "regression" else DefragClassifier
    model = method(forest, form=form, brevity=0.0, random_state=0, **limits).fit(X, y)
    assert max(model.path_) > 2
    for rules in model.path_.values():
        counts = [rule.n_conditions for rule in rules.rules]
        used = [{c.feature for c in rule.conditions} for rule in rules.rules]
        assert sum(counts) <= limits.get("max_total_conditions", 99)
        most = 4 if form == "points" else 99
        assert max(counts, default=0) <= limits.get("max_conditions", most)
        assert set(limits.get("must_use", ())) <= set().union(*used)
        assert not set(limits.get("exclude", ())) & set().union(*used)
        for asked in used if "groups" in limits else ():
            assert asked <= {0, 1} or asked <= {2, 3}
        held = [held_by_hand(rule, pd.DataFrame(X)).sum() for rule in rules.rules]
        assert min(held, default=99) >= limits.get("min_rows", 0)


@pytest.mark.parametrize("points", ["exact", "integer"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_points_keep_the_order_of_a_feature(task, points):
    forest, X, y = made(task)
    method = DefragRegressor if task == "regression" else DefragClassifier
    for sign in (-1, 1):
        model = method(
            forest,
            form="points",
            points=points,
            brevity=0.0,
            monotone={0: sign, 1: -sign},
            random_state=0,
        ).fit(X, y)
        for rules in model.path_.values():
            assert is_monotone(rules, X, 0, sign)
            assert is_monotone(rules, X, 1, -sign)
        assert model.rules_.n_rules > 2


@pytest.mark.parametrize(("form", "n_searches"), [("points", 1), ("list", 2)])
def test_a_limit_makes_the_search_for_points_run_once(
    two_classes, monkeypatch, form, n_searches
):
    forest, X, y = two_classes
    found, find_rules = [], defrag.find_rules
    monkeypatch.setattr(
        defrag, "find_rules", lambda *given: found.append(1) or find_rules(*given)
    )
    limits = {"max_conditions": 1, "max_rules": 4, "max_total_conditions": 2}
    DefragClassifier(forest, form=form, **limits).fit(X, y)
    assert len(found) == n_searches
