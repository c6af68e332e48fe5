"""Rows by their contents: the order of rows, and their cut, do not change a sample."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import read_forest
from defragtrees.data import sources
from defragtrees.data.sampling import code_sums, hash_rows, name_order
from defragtrees.data.sources import TableSource
from defragtrees.data.store import read_store

N_ROWS, N_DRAWN = 5000, 700
rng = np.random.default_rng(0)
X = np.round(rng.normal(size=(N_ROWS, 3)), 1)
X[:, 2] = rng.random(N_ROWS) < 0.5
X[rng.random(X.shape) < 0.05] = np.nan
X[: N_ROWS // 3] = X[0]  # a third of the rows are alike, but for y
NUMBERS = np.nan_to_num(X[:, 0]) + rng.normal(size=N_ROWS)
WEIGHT = rng.integers(1, 3, N_ROWS).astype(float)


def drawn(model, X, y, weight, part_rows, monkeypatch, seed=0):
    monkeypatch.setattr(sources, "MANY_ROWS", 100)
    monkeypatch.setattr(sources, "PART_ROWS", part_rows)
    source = TableSource(X, y, weight)
    settings = {"target": "labels", "shorten": True, "keeps_numbers": False}
    store = read_store(source, read_forest(model), n_jobs=2, **settings)
    names = read_forest(model).feature_names
    shard = store.draw(N_DRAWN, name_order(names), np.random.default_rng(seed))
    return shard, store


def columns_of(shard):
    targets = [shard.targets[name] for name in sorted(shard.targets)]
    return np.column_stack([shard.codes, *targets, shard.sample_weight])


@pytest.fixture(params=["classes", "numbers"])
def case(request):
    if request.param == "classes":
        y = NUMBERS > 0.3
        return RandomForestClassifier(9, max_depth=4, random_state=0).fit(X, y), y
    return RandomForestRegressor(9, max_depth=4, random_state=0).fit(X, NUMBERS), (
        NUMBERS
    )


@pytest.mark.parametrize("part_rows", [130, 4999, 10**6])
def test_neither_order_nor_shards_change_a_sample(case, part_rows, monkeypatch):
    model, y = case
    expected, _ = drawn(model, X, y, WEIGHT, 900, monkeypatch)
    assert len(expected) == N_DRAWN
    order = np.random.default_rng(1).permutation(N_ROWS)
    rows = X[order], y[order], WEIGHT[order]
    found, _ = drawn(model, *rows, part_rows, monkeypatch)
    assert (columns_of(found) == columns_of(expected)).all()
    other, _ = drawn(model, X, y, WEIGHT, 900, monkeypatch, seed=1)
    assert not (columns_of(other) == columns_of(expected)).all()


def test_rows_of_a_sample_are_rows_of_the_source_with_their_shares(case, monkeypatch):
    model, y = case
    sample, store = drawn(model, X, y, None, 900, monkeypatch)
    every = np.concatenate([columns_of(shard) for shard in store.shards.shards])
    have = {row.tobytes() for row in every}
    assert all(row.tobytes() in have for row in columns_of(sample))
    frequent = (sample.codes == store.shards.shards[0].codes[0]).all(axis=1)
    assert (
        abs(frequent.mean() - (every[:, :3] == every[0, :3]).all(axis=1).mean()) < 0.05
    )
    labels = np.concatenate([own.targets["labels"] for own in store.shards.shards])
    spread = labels.std() / np.sqrt(N_DRAWN)
    assert abs(sample.targets["labels"].mean() - labels.mean()) < 4 * spread


def test_all_rows_that_are_alike_are_drawn_in_their_number(monkeypatch):
    table, y = np.repeat([[0.0], [1.0]], [4000, 1000], axis=0), np.arange(5000) % 2
    forest = RandomForestClassifier(5, random_state=0).fit(np.c_[[0.0, 1.0]], [0, 1])
    sample, _ = drawn(forest, table, y, None, 300, monkeypatch)
    counts = np.bincount(2 * sample.codes[:, 0] + sample.targets["labels"], minlength=4)
    assert counts.sum() == N_DRAWN
    assert counts / N_DRAWN == pytest.approx([0.4, 0.4, 0.1, 0.1], abs=0.06)


def test_units_of_y_do_not_change_a_sample(monkeypatch):
    forests = [
        RandomForestRegressor(9, max_depth=4, random_state=0).fit(X, y)
        for y in (NUMBERS, 1000 * NUMBERS)
    ]
    one, _ = drawn(forests[0], X, NUMBERS, None, 900, monkeypatch)
    two, _ = drawn(forests[1], X, 1000 * NUMBERS, None, 900, monkeypatch)
    assert (one.codes == two.codes).all()
    assert two.targets["labels"] == pytest.approx(1000 * one.targets["labels"])


def test_a_hash_depends_on_every_cell_and_its_place():
    a, b = np.array([0.0, 1.0, 1.0]), np.array([2, 2, 3], dtype=np.uint8)
    keys = {*hash_rows([a, b]).tolist(), *hash_rows([b, a]).tolist()}
    assert len(keys) == 6
    assert (hash_rows([-a]) == hash_rows([a]))[0]
    assert not (hash_rows([a], seed=1) == hash_rows([a])).any()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_sums_of_codes_depend_on_the_place_of_columns_alone(dtype):
    codes = np.random.default_rng(0).integers(0, 200, (50, 4)).astype(dtype)
    sums = code_sums(codes, (2, 0, 3, 1))
    assert len(set(sums.tolist())) == 50
    assert (code_sums(codes[:, [2, 0, 3, 1]], range(4)) == sums).all()
    assert not (code_sums(codes, range(4)) == sums).any()
