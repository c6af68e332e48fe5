"""Whole fits on a Dask cluster: its own models, little memory, workers that die."""

import os
import signal
import weakref
from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import lightgbm
import lightgbm.dask
import numpy as np
import pandas as pd
import pytest
import xgboost
import xgboost.dask
from distributed import Client, LocalCluster
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)

from defragtrees.data import sources
from defragtrees.data.store import RowStore
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators import estimator_for
from defragtrees.estimators.defrag import DefragClassifier
from tests.checks.readers import (
    check_numbers,
    check_probabilities,
    rows_around_thresholds,
)
from tests.paper.settings import GENTLE

pytestmark = pytest.mark.cluster
NAMES = ["age", "income", "height", "speed"]
N_ROWS = 6000
BLOCK_ROWS, N_BLOCKS, N_WIDE = 9500, 60, 200  # of a table of 912 million bytes
STATUS = Path("/proc/self/status")
# LightGBM passes itself a number of threads, and warns that it does not use it.
ignores_threads = pytest.mark.filterwarnings(
    "ignore:Parameter n_jobs will be ignored:UserWarning"
)


def cluster_of(n_workers, **settings):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=None,
        # Also without the dashboard there is a server; any port will do for it.
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
        **settings,
    )


@pytest.fixture(scope="module")
def cluster():
    with cluster_of(2) as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster) as made:
        made.wait_for_workers(2)
        yield made


@pytest.fixture
def few_are_many(monkeypatch):
    """Thousands of rows are many."""
    monkeypatch.setattr(sources, "MANY_ROWS", 1600)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    df = pd.DataFrame(rng.normal(size=(N_ROWS, 4)), columns=NAMES)
    df.loc[rng.random(N_ROWS) < 0.1, "income"] = np.nan
    return df


@pytest.fixture(scope="module")
def groups(frame):
    """One of three groups for each row, by number."""
    rng = np.random.default_rng(1)
    old, fast = frame["age"] > 0.3, frame["speed"] > -0.2
    drawn = pd.Series(rng.integers(0, 3, N_ROWS))
    return drawn.where(rng.random(N_ROWS) < 0.1, old.astype(int) + (old & fast))


@pytest.fixture(scope="module")
def amounts(frame):
    return 1000 + 20 * (frame["age"] > 0.5) - 5 * (frame["income"] > 0)


def lazily(rows, n_parts=4):
    return dd.from_pandas(rows, npartitions=n_parts)


def with_edges(model, frame):
    """The frame's rows, and rows on and beside every threshold of a model."""
    around = rows_around_thresholds(read_forest(model), frame.to_numpy())
    assert len(around) > 20
    edges = pd.DataFrame(around, columns=frame.columns)
    return pd.concat([frame, edges], ignore_index=True)


def simplified(model, *rows, method="defrag", **settings):
    settings = {"max_rules": 6, "random_state": 0, **settings}
    if method == "paper":
        settings = {"n_restarts": 6, **GENTLE, **settings}
    kind = estimator_for(method, read_forest(model).outcome)
    return kind(model, **settings).fit(*rows)


def assert_same_fit(model, frame, **settings):
    """Rules on the cluster are those in memory; returns the fitted simplifier."""
    found = simplified(model, lazily(frame), **settings)
    local = simplified(model, frame, **settings)
    assert found.rules_ == local.rules_
    assert found.rules_.n_rules > 1
    assert found.rules_.feature_names == tuple(NAMES)
    assert found.training_["fidelity"] > 0.8
    return found


@pytest.mark.usefixtures("few_are_many")
def test_xgboost_classifiers_trained_on_the_cluster(client, frame, groups):
    model = xgboost.dask.DaskXGBClassifier(n_estimators=6, max_depth=3)
    model.fit(lazily(frame), lazily(groups))
    rows = with_edges(model, frame)
    forest = read_forest(model)
    assert forest.classes == (0, 1, 2)
    expected = model.predict(lazily(rows)).compute()
    np.testing.assert_array_equal(forest.predict(rows), expected)
    shares = model.predict_proba(lazily(rows)).compute()
    check_probabilities(forest, shares, rows)
    own = model.get_booster().predict(xgboost.DMatrix(rows))
    check_probabilities(forest, own, rows)
    found = assert_same_fit(model, frame)
    assert found.rules_.classes == (0, 1, 2)


@pytest.mark.usefixtures("few_are_many")
def test_xgboost_regressors_that_stopped_early(client, frame, amounts):
    model = xgboost.dask.DaskXGBRegressor(
        n_estimators=40, max_depth=3, learning_rate=0.9, early_stopping_rounds=2
    )
    noisy = amounts + np.random.default_rng(1).normal(0, 3, N_ROWS)
    held_out = (lazily(frame[1::2]), lazily(noisy[1::2]))
    train = (lazily(frame[::2]), lazily(noisy[::2]))
    model.fit(*train, eval_set=[held_out], verbose=False)
    rows = with_edges(model, frame)
    forest = read_forest(model)
    assert len(forest.trees) == model.best_iteration + 1
    assert len(forest.trees) < model.get_booster().num_boosted_rounds()
    check_numbers(forest, model.predict(lazily(rows)).compute(), rows)
    assert_same_fit(model, frame)


@pytest.mark.usefixtures("few_are_many")
def test_boosters_that_xgboost_dask_train_gives(client, frame, groups):
    labels = lazily((groups > 0).astype(int))
    rows = xgboost.dask.DaskDMatrix(client, lazily(frame), labels)
    settings = {"objective": "binary:logistic", "max_depth": 3}
    trained = xgboost.dask.train(client, settings, rows, num_boost_round=5)
    forest = read_forest(trained["booster"])
    rows = with_edges(trained["booster"], frame)
    expected = xgboost.dask.predict(client, trained, lazily(rows)).compute()
    check_probabilities(forest, np.column_stack([1 - expected, expected]), rows)
    np.testing.assert_array_equal(forest.predict(rows), expected > 0.5)
    assert_same_fit(trained["booster"], frame)


@ignores_threads
# Answers that are words are objects to Dask, and it warns of that.
@pytest.mark.filterwarnings("ignore:Dask currently has limited support:UserWarning")
@pytest.mark.parametrize("names", [("low", "mid", "top"), (2, 5, 9)])
@pytest.mark.usefixtures("few_are_many")
def test_lightgbm_classifiers_trained_on_the_cluster(client, frame, groups, names):
    model = lightgbm.DaskLGBMClassifier(
        n_estimators=6, num_leaves=8, verbose=-1, client=client
    )
    labels = pd.Series(np.array(names)[groups])
    model.fit(lazily(frame), lazily(labels))
    rows = with_edges(model, frame)
    forest = read_forest(model)
    assert forest.classes == names
    expected = model.predict(lazily(rows)).compute()
    np.testing.assert_array_equal(forest.predict(rows), expected)
    np.testing.assert_array_equal(model.to_local().predict(rows), expected)
    shares = model.predict_proba(lazily(rows)).compute()
    check_probabilities(forest, shares, rows)
    found = assert_same_fit(model, frame)
    assert found.rules_.classes == names


@ignores_threads
@pytest.mark.usefixtures("few_are_many")
def test_lightgbm_regressors_trained_on_the_cluster(client, frame, amounts):
    model = lightgbm.DaskLGBMRegressor(
        n_estimators=20, num_leaves=8, verbose=-1, client=client
    )
    model.fit(lazily(frame), lazily(amounts))
    rows = with_edges(model, frame)
    forest = read_forest(model)
    check_numbers(forest, model.predict(lazily(rows)).compute(), rows)
    check_numbers(forest, model.to_local().predict(rows), rows)
    assert_same_fit(model, frame)


@pytest.fixture(scope="module")
def boosted(frame, groups):
    labels = np.array(["low", "mid", "top"])[groups]
    return HistGradientBoostingClassifier(max_iter=10, random_state=0).fit(
        frame, labels
    )


@pytest.fixture(scope="module")
def boosted_amounts(frame, amounts):
    kind = HistGradientBoostingRegressor(max_iter=10, random_state=0)
    return kind.fit(frame, amounts)


@pytest.mark.parametrize("method", ["paper", "defrag"])
@pytest.mark.filterwarnings("ignore:No rule predicts")
@pytest.mark.usefixtures("few_are_many")
def test_weights_that_do_not_add_up_exactly_change_no_rule(
    client, frame, boosted, method
):
    weight = np.linspace(0.1, 2.3, N_ROWS)
    labels = boosted.predict(frame)
    local = simplified(boosted, frame, labels, weight, method=method)
    for n_parts in (3, 7):
        lazy = lazily(frame, n_parts)
        found = simplified(boosted, lazy, labels, weight, method=method)
        assert found.rules_ == local.rules_
        assert found.training_ == pytest.approx(local.training_, rel=1e-12)
    assert local.rules_.n_rules > 1


@pytest.mark.usefixtures("few_are_many")
def test_answers_and_measures_are_those_of_the_whole_table(
    client, frame, boosted, boosted_amounts, amounts, monkeypatch
):
    weight = np.random.default_rng(2).uniform(0, 2, N_ROWS)
    labels = pd.Series(boosted.predict(frame)).where(frame["speed"] < 1, "mid")
    for model, y in ((boosted, labels), (boosted_amounts, amounts + weight)):
        simple = simplified(model, frame)
        lazy = lazily(frame)
        mixture = simplified(model, frame, method="paper", n_restarts=2)
        calls = [(simple, verb) for verb in ("predict", "apply")]
        calls += [(simple, "predict_proba")] * hasattr(simple, "predict_proba")
        calls += [(mixture, "predict"), (mixture, "predict_posterior")]
        answers = [getattr(fitted, verb)(lazy).compute() for fitted, verb in calls]
        measured = simple.evaluate(lazy, lazily(y), da.from_array(weight, chunks=1500))
        with monkeypatch.context() as patch:
            patch.setattr(sources, "MANY_ROWS", 10**6)
            for (fitted, verb), found in zip(calls, answers, strict=True):
                np.testing.assert_array_equal(found, getattr(fitted, verb)(frame))
            at_once = simple.evaluate(frame, y, weight)
        assert set(measured) == set(at_once)
        assert measured == pytest.approx(at_once, rel=1e-9)
        assert 0 < measured["error"] != measured["model_error"]


def kill_a_worker(client):
    """End the process of a worker that holds rows; its number."""
    held = client.has_what()
    address = max(held, key=lambda own: len(held[own]))
    assert held[address]
    process = client.run(os.getpid, workers=[address])[address]
    os.kill(process, signal.SIGKILL)
    return process


@pytest.mark.usefixtures("few_are_many")
def test_a_worker_killed_before_rows_are_counted_changes_no_rule(
    client, frame, boosted, monkeypatch
):
    killed, count = [], RowStore.count

    def counts(store, *arguments, **settings):
        if not killed:
            killed.append(kill_a_worker(client))
        return count(store, *arguments, **settings)

    labels = pd.Series(boosted.predict(frame))
    with monkeypatch.context() as patch:
        patch.setattr(RowStore, "count", counts)
        kind = DefragClassifier(boosted, random_state=0)
        found = kind.fit(lazily(frame, 12), lazily(labels, 12))
    assert killed[0] not in client.run(os.getpid).values()
    local = DefragClassifier(boosted, random_state=0).fit(frame, labels)
    assert found.rules_ == local.rules_
    assert found.path_losses_ == local.path_losses_
    assert found.rules_.n_rules > 1


@pytest.mark.usefixtures("few_are_many")
def test_a_worker_killed_among_the_steps_on_the_cluster_changes_no_rule(
    client, frame, boosted
):
    steps, killed = [], []

    def kill(step):
        steps.append(step)
        if len(steps) == 3:
            killed.append(kill_a_worker(client))

    found = simplified(boosted, lazily(frame, 12), method="paper", callback=kill)
    assert len(steps) > 8
    assert killed[0] not in client.run(os.getpid).values()
    assert found.rules_ == simplified(boosted, frame, method="paper").rules_
    assert found.rules_.n_rules > 1


def all_back(client):
    """Wait for two workers; now and then a nanny does not start one again."""
    try:
        client.wait_for_workers(2, timeout=60)
    except TimeoutError:
        client.restart()


def never(block):
    raise AssertionError("No row should be read.")


def rows_or_death(block, path):
    """The rows as they are; but the process dies if nobody has died yet."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return block
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("few_are_many")
def test_a_worker_killed_in_the_first_pass_changes_no_rule(
    client, frame, boosted, tmp_path
):
    lazy = lazily(frame, 12)
    # Not in the first partitions, so that the worker has made some shards.
    last = lazy.partitions[6:].map_partitions(
        rows_or_death, str(tmp_path / "dead"), meta=frame[:0]
    )
    before = set(client.run(os.getpid).values())
    found = simplified(boosted, dd.concat([lazy.partitions[:6], last]))
    all_back(client)
    assert before - set(client.run(os.getpid).values())
    assert found.rules_ == simplified(boosted, frame).rules_
    assert found.rules_.n_rules > 1


class Held:
    """Blocks of a table that live in this process."""

    now = most = 0

    @classmethod
    def count(cls, block):
        cls.now += 1
        cls.most = max(cls.most, cls.now)
        weakref.finalize(block, cls.forget)

    @classmethod
    def forget(cls):
        cls.now -= 1

    @classmethod
    def read_most(cls):
        return cls.most


def wide_block(number):
    return np.random.default_rng(number).random((BLOCK_ROWS, N_WIDE))


def lazy_block(block_info=None):
    block = wide_block(block_info[None]["chunk-location"][0])
    Held.count(block)
    return block


def wide_table(n_blocks):
    chunks = ((BLOCK_ROWS,) * n_blocks, (N_WIDE,))
    return da.map_blocks(lazy_block, chunks=chunks, dtype=float, meta=np.empty((0, 0)))


def peak_memory():
    """Bytes that this process had in memory at most."""
    return 1024 * int(STATUS.read_text().partition("VmHWM:")[2].split()[0])


def wide_model():
    X = wide_block(N_BLOCKS)
    chance = np.where((X[:, 0] > 0.4) & (X[:, 1] > 0.3) | (X[:, 2] > 0.8), 0.95, 0.05)
    y = np.random.default_rng(3).random(BLOCK_ROWS) < chance
    kind = RandomForestClassifier(10, max_depth=5, max_features=0.3, random_state=0)
    return kind.fit(X, y)


@pytest.mark.slow
@pytest.mark.skipif(
    not STATUS.exists() or "VmHWM:" not in STATUS.read_text(),
    reason="no /proc to read the peak of memory from",
)
@pytest.mark.usefixtures("few_are_many")
def test_data_larger_than_what_a_worker_holds():
    model = wide_model()
    settings = {"method": "paper", "n_restarts": 4, "max_rules": 5, "tol": 1e-3}
    lazy = wide_table(N_BLOCKS)
    with cluster_of(2, memory_limit=0) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        # What libraries and their compilers take differs from machine to machine, and
        # a kernel may take their pages back; so two peaks are compared.
        simplified(model, wide_table(2), **settings)
        before = client.run(peak_memory)
        found = simplified(model, lazy, **settings)
        most = client.run(peak_memory)
        held = client.run(Held.read_most)
    assert max(held.values()) in (1, 2), held
    # A third of the rows is more than their codes, even twice, if one worker has all.
    grown = {address: most[address] - before[address] for address in before}
    assert max(grown.values()) < lazy.nbytes / 3, (before, most)
    local = simplified(model, map(wide_block, range(N_BLOCKS)), **settings)
    assert found.rules_ == local.rules_
    assert found.rules_.n_rules > 1
    assert found.training_["fidelity"] > 0.8


def received(dask_worker):
    """Bytes that this worker got from others, and how often, by its own counters."""
    return (
        sum(entry["total"] for entry in dask_worker.transfer_incoming_log),
        dask_worker.state.transfer_incoming_count_total,
    )


@pytest.mark.usefixtures("few_are_many")
def test_no_rows_travel_between_workers_once_they_are_read(client, frame, boosted):
    found = {}

    def watch(step):
        if not found:
            found["start"] = client.run(received)

    lazy = lazily(pd.concat([frame] * 5, ignore_index=True), 24)
    simple = simplified(boosted, lazy, method="paper", callback=watch)
    found["end"] = client.run(received)
    # The counters do count: a worker that asks for another's data is seen.
    first, second = found["end"]
    rows = client.submit(np.ones, 1000, workers=[first])
    client.submit(np.sum, rows, workers=[second]).result()
    assert client.run(received)[second][0] >= found["end"][second][0] + 8000
    n_cells = 5 * N_ROWS * len(NAMES)  # codes have at least a byte for each
    assert simple.rules_.n_rules > 1
    moved = {
        address: np.subtract(found["end"][address], found["start"][address])
        for address in found["end"]
    }
    n_bytes, n_times = sum(moved.values())
    assert (n_bytes, n_times) == (0, 0), f"{n_bytes} bytes; codes have {n_cells}"
