"""Paths have every length, and choose by any measure."""

import numpy as np
import pytest
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import Bunch

from defragtrees import simplify, simplify_path
from defragtrees.datasets import load_sample


@pytest.fixture(scope="module")
def spam():
    """A forest on the ten columns of spam that forests use most."""
    data = load_sample("spambase")
    columns = [4, 6, 15, 20, 22, 24, 51, 52, 54, 56]
    rows = Bunch(X=data.X[:, columns], y=data.y)
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    return forest.fit(rows.X[:800], rows.y[:800]), rows


def test_path_goes_from_one_rule_up_and_chooses_by_one_standard_error(spam):
    forest, data = spam
    rows = data.X[:800], data.y[:800]
    path = simplify_path(forest, *rows, max_rules=6, random_state=0, choose_by="error")
    sizes = [point.n_rules for point in path.points]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 1
    assert sizes[-1] <= 6
    errors = np.array([point.error for point in path.points])
    best = int(errors.argmin())
    limit = errors[best] + path.points[best].standard_error
    assert errors[path.chosen] <= limit
    assert (errors[: path.chosen] > limit).all()
    assert sum(" *" in line for line in str(path).splitlines()) == 1
    assert str(path).splitlines()[-2].startswith("* chosen by error: the shortest")
    assert path.rules.n_rules == sizes[path.chosen]


@pytest.mark.parametrize("max_rules", ["auto", 5])
def test_path_chooses_the_list_of_simplify(spam, max_rules):
    forest, data = spam
    rows = data.X[:800], data.y[:800]
    options = {"max_rules": max_rules, "random_state": 0}
    simple = simplify(forest, *rows, **options)
    path = simplify_path(forest, *rows, **options)
    assert path.rules == simple.rules_
    assert path.chosen_by is None
    assert sum(" *" in line for line in str(path).splitlines()) == 1
    assert str(path).splitlines()[-2] == "* returned by simplify"


@pytest.mark.parametrize("form", ["list", "points"])
def test_the_rules_of_a_smaller_maximum_are_those_of_the_smallest_loss(spam, form):
    forest, data = spam
    rows = data.X[:800], data.y[:800]
    options = {"form": form, "random_state": 0}
    path, losses = (
        getattr(simplify(forest, *rows, max_rules=10, **options), name)
        for name in ("path_", "path_losses_")
    )
    assert losses.keys() == path.keys()
    assert losses[1] > losses[2] > losses[3]
    for most in (2, 5):
        best = min((n for n in path if n <= most), key=losses.get)
        assert simplify(forest, *rows, max_rules=most, **options).rules_ == path[best]


def test_a_fit_without_a_budget_is_as_good_as_the_best_and_no_shorter_one_is(spam):
    forest, data = spam
    simple = simplify(forest, data.X[:800], data.y[:800], random_state=0)
    lists = simple.path_by_conditions_
    assert simple.rules_ in lists.values()
    assert 1 < simple.rules_.n_rules < 10
    rows = data.X[:800], data.y[:800]
    losses = {n: left_out_losses(rules, *rows) for n, rules in lists.items()}
    best = min(losses, key=lambda n: losses[n].mean())
    is_good = {}
    for n, rules in lists.items():
        assert rules.n_conditions == n
        apart = losses[n] - losses[best]
        is_good[n] = apart.mean() <= apart.std() / np.sqrt(800)
    assert simple.rules_.n_conditions == min(n for n in lists if is_good[n])
    longest = max(simple.path_)
    budget = simplify(forest, *rows, max_rules=longest, random_state=0)
    assert budget.path_ == simple.path_
    assert budget.rules_ in budget.path_.values()


def left_out_losses(rules, X, y):
    """The Brier score of each row, by rates without it."""
    by, is_class = rules.apply(X), y[:, None] == np.array(rules.classes)
    worth, losses = rules.evidence.worth, []
    told = rules.predict_proba(X)
    for i, k in enumerate(by):
        n_rows = worth * (by == k).sum()
        # A mean of so many rows that leaves one out is that much farther from it.
        apart = (is_class[i] - told[i]) * n_rows / (n_rows - worth)
        losses.append((apart**2).sum())
    return np.array(losses)


def test_row_order_and_repeated_rows_do_not_change_what_is_held_out(spam):
    forest, data = spam
    X, y = data.X[:400], data.y[:400]
    order = np.random.default_rng(0).permutation(400)
    rules = simplify(forest, X, y, random_state=0).rules_
    again = simplify(forest, X[order], y[order], random_state=0).rules_
    assert again == rules


def test_path_can_be_chosen_by_any_measure(spam):
    forest, data = spam
    rows = data.X[:800], data.y[:800]
    options = {"max_rules": 5, "random_state": 0}
    for name, is_larger_better in (("auc", True), ("log_loss", False)):
        path = simplify_path(forest, *rows, choose_by=name, **options)
        assert path.chosen_by == name
        values = np.array([row[name] for row in path.rows()])
        spreads = [row[f"{name}_standard_error"] for row in path.rows()]
        losses = -values if is_larger_better else values
        best = int(losses.argmin())
        assert spreads[best] > 0
        limit = losses[best] + spreads[best]
        assert losses[path.chosen] <= limit
        assert (losses[: path.chosen] > limit).all()
        assert values[0] == (0.5 if name == "auc" else pytest.approx(0.67, abs=0.02))
        better = path.model_measures[name] - values
        assert (better > 0 if is_larger_better else better < 0).all()
        assert f"{spreads[best]:.2g}" in str(path)


def test_the_jackknife_is_the_standard_error_of_a_mean(spam):
    forest, data = spam
    path = simplify_path(
        forest,
        data.X[:800],
        data.y[:800],
        choose_by="expected_cost",
        max_rules=4,
        random_state=0,
    )
    # Without costs it is the error, whose standard error is known.
    for point in path.points:
        assert point.measures["expected_cost"] == pytest.approx(point.error)
        spread = point.measure_errors["expected_cost"]
        assert spread == pytest.approx(point.standard_error, rel=0.35)


def test_path_of_numbers_has_errors_in_the_units_of_y():
    energy = load_sample("energy")
    forest = RandomForestRegressor(20, random_state=0).fit(energy.X, energy.y)
    path = simplify_path(
        forest, energy.X, energy.y, choose_by="mae", max_rules=4, random_state=0
    )
    header = str(path).splitlines()[0].split()
    assert header == ["rules", "conditions", "RMSE", "MAE", "fidelity", "coverage"]
    for point in path.points:
        assert point.measures["rmse"] == pytest.approx(point.error**0.5)
        assert point.measure_errors["mae"] > 0


@pytest.mark.parametrize(
    ("choose_by", "has_labels", "message"),
    [
        ("rmse", True, "choose_by must be one of .*'auc'.* got 'rmse'"),
        ("best", True, "got 'best'"),
        ("auc", False, "choose_by='auc' needs y; got None. Pass y"),
    ],
)
def test_a_measure_that_cannot_choose_is_refused(spam, choose_by, has_labels, message):
    forest, data = spam
    y = data.y[:200] if has_labels else None
    with pytest.raises(ValueError, match=message):
        simplify_path(forest, data.X[:200], y, choose_by=choose_by)


def test_rows_of_one_class_cannot_choose_by_ranking(spam):
    forest, data = spam
    rows = data.X[data.y == data.y[0]][:60], data.y[data.y == data.y[0]][:60]
    with pytest.raises(ValueError, match="needs held-out rows of at least two classes"):
        simplify_path(forest, *rows, choose_by="auc", max_rules=2, random_state=0)


def test_path_without_y_measures_against_the_model():
    energy = load_sample("energy")
    forest = RandomForestRegressor(20, random_state=0).fit(energy.X, energy.y)
    path = simplify_path(forest, energy.X, max_rules=4, random_state=0)
    assert path.model_error == 0
    assert path.points[-1].fidelity > path.points[0].fidelity


def test_path_draws_a_trade_off_curve(spam):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    forest, data = spam
    path = simplify_path(
        forest, data.X[:300], data.y[:300], max_rules=3, random_state=0
    )
    ax = path.plot()
    assert ax.get_xlabel() == "number of rules"
    assert path.plot(ax=ax) is ax
    matplotlib.pyplot.close("all")


def test_path_has_every_length_up_to_its_longest_list(spam):
    forest, data = spam
    for seed in range(3):
        path = simplify_path(forest, data.X[:400], max_rules=8, random_state=seed)
        sizes = [point.n_rules for point in path.points]
        assert sizes == list(range(1, sizes[-1] + 1))


def test_path_takes_a_column_of_labels_and_checks_lengths(spam):
    forest, data = spam
    X, y = data.X[:300], data.y[:300]
    settings = {"max_rules": 3, "random_state": 0}
    flat = simplify_path(forest, X, y, **settings)
    column = simplify_path(forest, X, y[:, None], **settings)
    assert [p.error for p in flat.points] == [p.error for p in column.points]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        simplify_path(forest, X, y[:-5], **settings)


def test_a_smaller_budget_is_a_place_on_the_same_path(spam):
    forest, data = spam
    rows = (data.X[:800], data.y[:800])
    long = simplify(forest, *rows, max_rules=8, random_state=0)
    short = simplify(forest, *rows, max_rules=4, random_state=0)
    assert set(short.path_) == {n for n in long.path_ if n <= 4}
    assert all(short.path_[n] == long.path_[n] for n in short.path_)
