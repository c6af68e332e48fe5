"""The row store: one shard or many, the same sums; all columns stay with their rows."""

import dataclasses
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import Condition, Rule, RuleList, read_forest, simplify
from defragtrees.data import sources
from defragtrees.data.shards import LocalShards, Shard, joined
from defragtrees.data.sources import TableSource
from defragtrees.data.store import read_store, read_store_like
from defragtrees.rules.profile import WORTH, Evidence

N_ROWS = 600
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(N_ROWS, 3)), 2)
X[rng.random(X.shape) < 0.05] = np.nan
signal = np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 1]) > 0)
LABELS = np.array(["low", "mid", "top"])[np.digitize(signal, [0.0, 1.0])]
WEIGHT = rng.integers(0, 3, N_ROWS).astype(float)
MODELS = {
    "classes": (RandomForestClassifier(9, max_depth=4, random_state=0), LABELS),
    "numbers": (RandomForestRegressor(9, max_depth=4, random_state=0), 9 + signal),
}


@pytest.fixture(params=MODELS)
def case(request):
    kind, y = MODELS[request.param]
    return kind.fit(X, y), y


def store_of(model, y, keeps_numbers, target="answers", weight=WEIGHT):
    return read_store(
        TableSource(X, y, weight),
        read_forest(model),
        target=target,
        shorten=True,
        keeps_numbers=keeps_numbers,
    )


def without_quantiles(rules):
    """Quantiles are counted in narrow cells where rows are in shards."""
    bare = [dataclasses.replace(rule, quantiles=None) for rule in rules]
    return dataclasses.replace(rules, rules=tuple(bare[:-1]), default=bare[-1])


@pytest.mark.parametrize("target", ["answers", "labels"])
def test_a_table_and_many_shards_say_the_same_of_rules(case, target, monkeypatch):
    model, y = case
    rules = simplify(model, X, max_rules=4, random_state=0).rules_
    table = store_of(model, y, True, target)
    monkeypatch.setattr(sources, "MANY_ROWS", 100)
    monkeypatch.setattr(sources, "PART_ROWS", 130)
    shards = store_of(model, y, False, target)
    assert table.table is not None
    assert shards.table is None
    assert len(shards.shards.shards) > 2
    assert table.grid == shards.grid
    assert table.n_rows == shards.n_rows == (WEIGHT > 0).sum()
    [one], [many] = table.recount([rules]), shards.recount([rules])
    assert without_quantiles(one) == without_quantiles(many)
    for exact, counted in zip(one, many, strict=True):
        assert (exact.quantiles is None) == (one.classes is not None)
        if exact.quantiles is not None:
            near = max(0.0025 * np.ptp([exact.prediction, *exact.quantiles]), 1e-4)
            assert counted.quantiles == pytest.approx(exact.quantiles, abs=near)
    scores = [own.evaluation(rules).scores(rules) for own in (shards, table)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-12, nan_ok=True)
    assert scores[1]["error"] > 0


def test_recounted_rules_have_the_evidence_of_all_rows():
    kind, y = MODELS["classes"]
    model = kind.fit(X, y)
    rules = simplify(model, X, max_rules=3, random_state=0).rules_
    [counted] = store_of(model, y, False, "labels").recount([rules])
    by = rules.apply(X)
    for k, rule in enumerate(counted):
        weight = WEIGHT * (by == k)
        right = weight @ (rule.prediction == LABELS)
        assert rule.share == pytest.approx(weight.sum() / WEIGHT.sum(), abs=1e-12)
        assert rule.error == pytest.approx(1 - right / weight.sum(), abs=1e-12)


def test_rules_for_numbers_tell_what_y_is_in_their_rows():
    kind, y = MODELS["numbers"]
    model = kind.fit(X, y)
    rules = simplify(model, X, max_rules=3, random_state=0).rules_
    [told] = store_of(model, y, True).recount([rules], "recount")
    [kept] = store_of(model, y, True).recount([rules])
    [silent] = store_of(model, None, True).recount([rules], "recount")
    by, answers = rules.apply(X), model.predict(X)
    means = [np.average(y[by == k], weights=WEIGHT[by == k]) for k in range(3)]
    every = np.average(y, weights=WEIGHT)
    within = np.average((y - np.take(means, by)) ** 2, weights=WEIGHT)
    between = np.average((np.take(means, by) - every) ** 2, weights=WEIGHT)
    for k, rule in enumerate(told):
        rows, weight = y[by == k], WEIGHT[by == k]
        n, prior = weight.sum(), within / between
        n_effective = n**2 / (weight**2).sum()
        assert rule.n_effective == pytest.approx(told.evidence.worth * n_effective)
        worth = told.evidence.worth * n
        mean = (worth * means[k] + prior * every) / (worth + prior)
        assert rule.prediction == pytest.approx(mean, abs=6e-4)
        square = np.average((rows - rule.prediction) ** 2, weights=weight)
        assert rule.error == pytest.approx(square, rel=1e-8)
        assert rule.spread == pytest.approx(np.sqrt(square), rel=1e-8)
        twice = np.sort(np.repeat(rows, weight.astype(int)))
        low, high = (twice[int(np.ceil(share * n)) - 1] for share in (0.1, 0.9))
        # Rules keep twelve digits.
        assert rule.quantiles == pytest.approx((low, high), rel=1e-11)
        assert [*kept][k].prediction == [*rules][k].prediction
        mean = np.average(answers[by == k], weights=weight)
        assert [*silent][k].prediction == pytest.approx(mean, abs=6e-4)
        assert [*silent][k].quantiles != rule.quantiles
    assert len(told.residuals.pooled) == WEIGHT.sum()
    assert kept.residuals is None
    assert silent.residuals is None


def test_any_target_stays_with_its_rows():
    def shard(*rows):
        rows = np.array(rows)
        shares = np.column_stack([rows / 10, 1 - rows / 10])
        targets = {"answers": rows, "probabilities": shares}
        return Shard(rows[:, None].astype(np.uint8), targets)

    [one] = joined([shard(1, 2), shard(3, 4, 5)], math.inf)
    assert one.targets["probabilities"].shape == (5, 2)
    some = LocalShards([one], is_table=True).map(Shard.take, np.array([4, 0])).shards[0]
    assert some.codes.ravel().tolist() == [5, 1]
    assert some.targets["probabilities"][:, 0].tolist() == [0.5, 0.1]
    taken = LocalShards([one]).collect(Shard.take, np.array([1]))
    assert taken[0].targets["answers"].tolist() == [2]


@pytest.mark.parametrize("keeps_numbers", [True, False])
@pytest.mark.parametrize("target", ["answers", "labels"])
def test_other_rows_are_coded_as_those_of_a_store(case, target, keeps_numbers):
    model, y = case
    store = store_of(model, y, True, target)
    # On both sides of every threshold, and of the round one that stands for it.
    own, short = read_forest(model).splits(), store.grid.splits
    values = [np.concatenate(pair) for pair in zip(own, short, strict=True)]
    values = [np.r_[v, np.nextafter(v, np.inf), np.nan] for v in values]
    other = rng.choice(values[0], (N_ROWS, 3))
    for j, choice in enumerate(values):
        other[:, j] = rng.choice(choice, N_ROWS)
    like = read_store_like(
        store,
        TableSource(other, y, WEIGHT),
        read_forest(model),
        keeps_numbers=keeps_numbers,
    )
    there = other[WEIGHT > 0]
    [shard] = like.shards.shards
    assert like.grid is store.grid
    assert like.target is store.target
    assert np.array_equal(shard.codes, store.grid.bin(there))
    answers = read_forest(model).outcome.encode(model.predict(there))
    assert np.allclose(shard.targets["answers"], answers)
    assert like.n_rows == len(there)
    assert like.total_weight == WEIGHT.sum()
    assert [count.sum() for count in like.counts] == [len(there)] * 3
    settings = {"sample_weight": WEIGHT, "max_rules": 4, "random_state": 0}
    rules = simplify(model, X, **settings).rules_
    [counted] = like.recount([rules])
    n_rows = np.bincount(rules.apply(there), minlength=rules.n_rules)
    assert [rule.n_rows for rule in counted] == n_rows.tolist()


def test_rows_of_two_stores_count_at_their_worth(case):
    model, y = case
    training = store_of(model, y, True, weight=None)
    other, y_other = 1.5 * X[:200], y[::-1][:200]
    source = TableSource(other, y_other, WEIGHT[:200])
    forest = read_forest(model)
    unseen = read_store_like(training, source, forest, keeps_numbers=True)
    pooled = unseen.pooled_with(training)
    worth, n_new = WORTH["training"], WEIGHT[:200].sum()
    n_rows = int((WEIGHT[:200] > 0).sum())
    assert pooled.grid is training.grid
    assert pooled.n_rows == unseen.n_rows + N_ROWS
    assert pooled.total_weight == pytest.approx(n_new + worth * N_ROWS)
    assert pooled.evidence == Evidence("validation", n_rows, N_ROWS)
    assert [own.sum() for own in pooled.counts] == [pooled.n_rows] * 3
    both = np.vstack([other[WEIGHT[:200] > 0], X])
    ends = [(np.nanmin(own), np.nanmax(own)) for own in both.T]
    np.testing.assert_allclose(pooled.ends, ends)
    # They count as one table does in which each row has its weight.
    weight = np.concatenate([WEIGHT[:200], np.full(N_ROWS, worth)])
    source = TableSource(np.vstack([other, X]), np.concatenate([y_other, y]), weight)
    table = read_store_like(training, source, forest, keeps_numbers=True)
    rules = simplify(model, X, max_rules=4, random_state=0).rules_
    [found], [expected] = pooled.recount([rules]), table.recount([rules])
    for own, one in zip(found, expected, strict=True):
        assert own.n_rows == one.n_rows
        assert own.n_effective <= own.n_rows
        assert own.share == pytest.approx(one.share)
        assert own.coverage == pytest.approx(one.coverage)
        assert own.rates == pytest.approx(one.rates)
        assert own.quantiles == one.quantiles
    # A row of weight two is as good as two rows.
    repeated = np.repeat(np.arange(200), WEIGHT[:200].astype(int))
    source = TableSource(other[repeated], y_other[repeated])
    twice = read_store_like(training, source, forest, keeps_numbers=True)
    [repeated] = twice.pooled_with(training).recount([rules])
    assert [own.rates for own in repeated] == [own.rates for own in found]
    assert [own.share for own in repeated] == [own.share for own in found]
    for own in repeated:  # each as many rows as it was given
        assert worth * own.n_rows < own.n_effective < own.n_rows


def test_rows_count_alone_beside_others_without_y_or_in_shards(case):
    model, y = case
    training = store_of(model, y, True)
    source, forest = TableSource(X, y), read_forest(model)
    unseen = read_store_like(training, source, forest, keeps_numbers=True)
    for other in (store_of(model, None, True), store_of(model, y, False)):
        assert unseen.pooled_with(other) is unseen
    assert unseen.evidence == Evidence("validation", N_ROWS)


def test_a_code_is_of_the_values_that_the_first_store_has():
    """With 0 and 1 in the store, the code of 1 is also that of 2."""
    flag = np.tile([[0.0], [1.0]], (50, 1))
    tree = read_forest(RandomForestClassifier(3, random_state=0).fit(flag, flag[:, 0]))
    options = {"target": "answers", "shorten": True, "keeps_numbers": False}
    store = read_store(TableSource(flag), tree, **options)
    other = TableSource(np.vstack([flag, [[2.0]]]))
    like = read_store_like(store, other, tree, keeps_numbers=False)
    is_one = Rule((Condition(0, 0.0, 1.0, is_integer=True),), 1, (0.0, 1.0))
    default = Rule((), 0, (1.0, 0.0))
    rules = RuleList((is_one,), default, ("x1",), "classification", (0, 1))
    [counted] = like.recount([rules])
    assert [rule.n_rows for rule in counted] == [51, 50]
