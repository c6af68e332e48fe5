"""How long rules should be, and which rows search and which count."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import Condition, read_forest
from defragtrees.data.sources import TableSource
from defragtrees.data.store import read_store
from defragtrees.estimators.problem import Problem
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.points import Scoring
from defragtrees.search.driver import (
    Candidate,
    Path,
    SearchSettings,
    best_model,
    count_found,
    halves,
    leave_one_out_losses,
    share_of_loss,
    shortest_model,
)
from defragtrees.search.limits import Limits


@dataclass
class Judged:
    """Rules of which only the loss is known."""

    n_conditions: int
    share: float
    n_rules: int = 2
    model = property(lambda self: self)


def chosen(*models, choose=shortest_model):
    return choose([Judged(*own) for own in models]).n_conditions


def test_a_shorter_list_may_lose_a_hundredth_of_the_variance():
    models = (9, 0.5), (6, 0.505), (5, 0.5099), (2, 0.511)
    assert chosen(*models) == 5
    assert chosen(*models, choose=best_model) == 9


def test_no_conditions_only_if_none_are_best():
    assert chosen((0, 0.5001), (1, 0.5005), (2, 0.5)) == 1
    assert chosen((0, 0.4), (1, 0.405), (2, 0.41)) == 0


def test_of_equals_the_shortest_is_taken():
    models = [(n, 0.5) for n in (4, 2, 3)]
    assert chosen(*models) == chosen(*models, choose=best_model) == 2


@pytest.fixture(scope="module")
def problem():
    """Two columns, of which the first decides."""
    X = np.random.default_rng(0).uniform(size=(400, 2))
    y = X[:, 0] > 0.5
    forest = read_forest(RandomForestClassifier(9, random_state=0).fit(X, y))
    options = {"target": "answers", "shorten": False, "keeps_numbers": True}
    store = read_store(TableSource(X, y), forest, **options)
    return Problem.of_store(store, forest, len(X), None)


def list_of(problem, *features):
    """A list with a rule for each feature, up to the middle of the column."""
    splits = problem.grid.splits
    upper = [splits[j][np.abs(splits[j] - 0.5).argmin()] for j in features]
    rules = tuple(
        (Condition(j, upper=float(t)),) for j, t in zip(features, upper, strict=True)
    )
    blank = problem.blank("list")._form
    rules = tuple(replace(blank.default, conditions=own) for own in rules)
    return Candidate(replace(blank, rules=rules))


def features_of(path):
    """Features of the rules of each candidate."""
    return [
        [c.feature for rule in one.model.rules for c in rule.conditions] for one in path
    ]


def test_of_each_size_the_rows_that_count_choose_what_is_kept(problem):
    """Not what the search found first."""
    first = [list_of(problem, 1), list_of(problem, 1, 0)]
    second = [list_of(problem, 0), list_of(problem, 0, 1)]
    found = Path((*first, *second), (*first, *second), 1)
    blank, store = problem.blank("list"), problem.store
    decision = make_decision(problem.classes, store.class_shares("probabilities"))
    settings = SearchSettings(Limits(), decision=decision)
    path = count_found(found, blank, store, settings, Scoring(), problem)
    assert features_of(path.by_conditions) == features_of(path.by_rules)
    assert [one.model.n_rules for one in path.by_rules] == [2, 3]
    assert features_of(path.by_rules)[0] == [0]


def judged(form, rows, near=None):
    losses = leave_one_out_losses(rows, form)
    return share_of_loss(np.average(losses, weights=rows.mean_weight), form, rows, near)


def test_rules_are_judged_by_y_and_by_what_they_imitate(problem):
    """As shares of the variance of y; a row of weight two is two rows."""
    rng = np.random.default_rng(0)
    near = problem.synthetic(500, rng)
    form = problem.blank("list")._form
    form = replace(form, rules=(replace(form.default, conditions=()),))
    worth = 0.4 * len(problem.target)
    constant = (worth / (worth - 0.4)) ** 2  # each row left out
    assert judged(form, problem) == pytest.approx(constant, abs=1e-3)
    apart = near.outputs - [form.default.distribution]
    variance = 2 * np.prod(problem.observed.mean(axis=0))
    imitated = (apart**2).sum(axis=1).mean() / variance
    loss = judged(form, problem, near)
    assert loss == pytest.approx(constant + imitated, abs=1e-3)
    weight = rng.integers(1, 4, len(problem.target))
    weighted = replace(problem, sample_weight=weight.astype(float))
    repeated = problem.take(np.repeat(np.arange(len(weight)), weight))
    first, second = (judged(form, own, near) for own in (weighted, repeated))
    assert first == second


CODES = np.random.default_rng(0).integers(0, 200, (4000, 3)).astype(np.uint8)
ORDER, ONES = [0, 1, 2], np.ones(4000)


def test_half_of_the_rows_search_and_half_count():
    target = np.random.default_rng(1).integers(0, 3, 4000)
    searched, counts = halves(CODES, ORDER, target, ONES)
    assert (searched ^ counts).all()
    for c in range(3):
        n_rows = (target == c).sum()
        assert abs(counts[target == c].sum() - n_rows / 2) <= 1


def test_rows_alike_stay_together_and_frequent_ones_are_on_both_sides():
    codes, target = CODES.copy(), np.random.default_rng(1).integers(0, 3, 4000)
    codes[:20], target[:20] = codes[0], target[0]
    codes[20:24], target[20:24] = codes[20], target[20]
    searched, counts = halves(codes, ORDER, target, ONES)
    assert (searched | counts).all()
    assert (searched & counts)[:20].all()
    assert not (searched & counts)[20:].any()
    assert len(set(counts[20:24])) == 1


def test_neither_the_order_of_rows_nor_of_columns_nor_repeats_matter():
    rng = np.random.default_rng(1)
    target, weight = rng.integers(0, 3, 4000), rng.integers(1, 4, 4000)
    expected = np.array(halves(CODES, ORDER, target, weight.astype(float)))
    mixed = rng.permutation(4000)
    found = halves(CODES[mixed], ORDER, target[mixed], weight[mixed].astype(float))
    np.testing.assert_array_equal(found, expected[:, mixed])
    columns = [2, 0, 1]
    order = np.argsort(columns)
    found = halves(CODES[:, columns], order, target, weight.astype(float))
    np.testing.assert_array_equal(found, expected)
    twice = np.repeat(np.arange(4000), weight)
    found = halves(CODES[twice], ORDER, target[twice], np.ones(len(twice)))
    np.testing.assert_array_equal(found, expected[:, twice])
