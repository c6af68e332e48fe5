"""Optimal trees: proven against all trees of a small grid, and as rivals."""

import itertools
import os
import signal
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import (
    DistilledTreeClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    compare,
)
from defragtrees.baselines._solvers import solve_apart
from defragtrees.errors import MissingPackageError
from defragtrees.estimators import METHODS, installed_methods

needs_solver = pytest.mark.skipif(
    "optimal" not in installed_methods(),
    reason="optimal trees need pystreed; install defragtrees[optimal]",
)


def chessboard(n_rows=400, seed=0):
    """Two features that say nothing alone, and one that says a little."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 3)).astype(float)
    y = ((X[:, 0] > 1) ^ (X[:, 1] > 1)).astype(int)
    noise = rng.random(n_rows) < 0.15
    return X, np.where(noise, (X[:, 2] > 1).astype(int), y)


def best_error(X, y, max_leaves, loss):
    """The smallest loss of any tree of at most so many leaves, by trying all."""

    def best(rows, n_leaves):
        least = loss(y[rows])
        if n_leaves == 1 or least == 0:
            return least
        for j in range(X.shape[1]):
            for cut in np.unique(X[rows, j])[:-1]:
                left = rows[X[rows, j] <= cut]
                right = rows[X[rows, j] > cut]
                for k in range(1, n_leaves):
                    least = min(least, best(left, k) + best(right, n_leaves - k))
        return least

    return best(np.arange(len(y)), max_leaves)


@needs_solver
@pytest.mark.parametrize("max_rules", [2, 3, 4])
def test_no_tree_of_the_size_errs_less(max_rules):
    X, y = chessboard(150)
    forest = RandomForestClassifier(10, random_state=0)
    tree = OptimalTreeClassifier(
        forest, max_rules=max_rules, target="labels", max_depth=3, random_state=0
    ).fit(X, y)
    wrong = int((tree.predict(X) != y).sum())
    mistakes = best_error(X, y, max_rules, lambda own: len(own) - max_count(own))
    assert tree.is_optimal_
    assert tree.rules_.n_rules <= max_rules
    assert wrong == mistakes


def max_count(own):
    return np.bincount(own).max() if len(own) else 0


@needs_solver
def test_no_tree_of_numbers_errs_less():
    X, y = chessboard(120)
    y = y + 0.1 * X[:, 2]
    forest = RandomForestRegressor(10, random_state=0)
    tree = OptimalTreeRegressor(
        forest, max_rules=4, target="labels", max_depth=3, random_state=0
    ).fit(X, y)
    squares = float(((tree.predict(X) - y) ** 2).sum())
    expected = best_error(X, y, 4, lambda own: float(((own - own.mean()) ** 2).sum()))
    # Answers are drawn a little to the mean only where probabilities are told.
    assert squares == pytest.approx(expected, rel=1e-6)


@needs_solver
def test_a_chessboard_is_no_riddle():
    X, y = chessboard()
    forest = RandomForestClassifier(30, random_state=0).fit(X, y)
    settings = {"max_rules": 4, "random_state": 0}
    greedy = DistilledTreeClassifier(forest, **settings).fit(X, y)
    best = OptimalTreeClassifier(forest, **settings).fit(X, y)
    assert best.training_["fidelity"] > 0.85
    assert best.training_["fidelity"] >= greedy.training_["fidelity"]


@needs_solver
def test_all_cuts_are_tried_by_contree():
    pytest.importorskip("pycontree", reason="solver='contree' needs pycontree")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = ((X[:, 0] > 0.1) ^ (X[:, 1] > -0.3)).astype(int)
    forest = RandomForestClassifier(10, random_state=0)
    tree = OptimalTreeClassifier(
        forest, solver="contree", max_rules=5, target="labels", random_state=0
    ).fit(X, y)
    assert tree.rules_.n_rules == 4
    assert tree.training_["error"] == 0
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="needs rows without missing values"):
        tree.fit(X, y)
    with pytest.raises(ValueError, match="min_samples_leaf needs solver='streed'"):
        tree.set_params(min_samples_leaf=5).fit(X, y)


@needs_solver
def test_missing_values_and_categories_have_their_place():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "city": pd.Categorical(rng.choice(["a", "b", "c"], 300)),
            "x": np.where(rng.random(300) < 0.3, np.nan, rng.normal(size=300)),
        }
    )
    y = ((frame["city"] == "b") | frame["x"].isna()).astype(int).to_numpy()
    tree = OptimalTreeClassifier(max_rules=3, random_state=0, target="labels")
    assert tree.fit(frame, y).training_["error"] == 0
    assert "is b" in str(tree.rules_) or "is not b" in str(tree.rules_)
    assert "missing" in str(tree.rules_)


@needs_solver
def test_a_weight_of_two_is_a_row_given_twice():
    X, y = chessboard(100)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(forest, max_rules=4, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).rules_
    repeated = model.fit(np.repeat(X, weight, 0), np.repeat(y, weight)).rules_
    # Rules and rates are equal; intervals of repeated rows are narrower.
    for one, two in zip(weighted, repeated, strict=True):
        assert (one.text(), one.prediction) == (two.text(), two.prediction)
        assert one.rates == pytest.approx(two.rates)
        assert one.n_rows == two.n_rows


@needs_solver
def test_min_samples_leaf_is_kept():
    X, y = chessboard(200)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(forest, min_samples_leaf=30, random_state=0)
    rules = model.fit(X, y).rules_
    assert np.bincount(rules.apply(X)).min() >= 30


@needs_solver
def test_no_proof_in_time_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 20)), rng.integers(0, 2, 2000)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    model = OptimalTreeClassifier(
        forest, max_rules=16, n_cuts=200, time_limit=0.2, target="labels"
    )
    with pytest.warns(UserWarning, match="not proven optimal"):
        model.fit(X, y)
    assert not model.is_optimal_


@needs_solver
def test_compare_has_them():
    X, y = chessboard(200)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    table = compare(
        forest, X, y, methods=["optimal", "distilled"], budgets=[4], random_state=0
    )
    errors = {row["method"]: row["error"] for row in table.rows()}
    assert errors["optimal"] <= errors["distilled"]


def end_this_process():
    os.kill(os.getpid(), signal.SIGABRT)


def test_a_solver_that_ends_its_process_raises():
    with pytest.raises(RuntimeError, match="The solver mine ended its process"):
        solve_apart("mine", end_this_process)
    assert solve_apart("mine", abs, -1) == 1


@needs_solver
@pytest.mark.parametrize("solver", ["streed", "contree"])
def test_no_time_limit_is_too_long(solver):
    if solver == "contree":
        pytest.importorskip("pycontree", reason="solver='contree' needs pycontree")
    X, y = chessboard(60)
    forest = RandomForestClassifier(5, random_state=0)
    settings = {"max_rules": 4, "solver": solver, "random_state": 0}
    tree = OptimalTreeClassifier(forest, time_limit=3e9, **settings).fit(X, y)
    assert tree.is_optimal_


def test_a_missing_solver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pystreed", None)
    X, y = chessboard(60)
    with pytest.raises(MissingPackageError, match=r"defragtrees\[optimal\]"):
        OptimalTreeClassifier(random_state=0).fit(X, y)


def test_compare_leaves_out_what_is_not_installed(monkeypatch):
    from defragtrees import estimators as methods

    monkeypatch.setattr(methods, "find_spec", lambda name: None)
    assert set(METHODS) - set(installed_methods()) == {"optimal"}
    assert list(itertools.islice(installed_methods(), 1)) == ["defrag"]
