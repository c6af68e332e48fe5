"""Rows on a Dask cluster: same bits as here, no rows on the way, workers may die."""

import os
import signal
import time
from dataclasses import dataclass, field
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.sizeof import sizeof
from distributed import Client, LocalCluster
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import DefragClassifier
from defragtrees.data import dask as data_dask
from defragtrees.data import sources
from defragtrees.data.dask import DaskShards, DaskSource, blocks
from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.shards import LocalShards, Shard
from defragtrees.paper import FABRulesClassifier, FABRulesRegressor
from defragtrees.tables import read_matrix
from tests.paper.settings import GENTLE

pytestmark = pytest.mark.cluster
N_ROWS, N_FEATURES, N_WORKERS = 12_000, 5, 4
LIMIT = 1_400_000_000  # bytes of memory of each worker, which compiles loops too
GRID = ThresholdGrid((np.linspace(0.01, 0.99, 40),) * N_FEATURES)
N_BINS = int(GRID.n_bins.max())


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        memory_limit=LIMIT,
        dashboard_address=None,
        # Also without the dashboard there is a server; any port will do for it.
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with Client(cluster) as made:
        made.wait_for_workers(N_WORKERS)
        yield made


@pytest.fixture(name="X")
def rows():
    return np.random.default_rng(0).random((N_ROWS, N_FEATURES))


@pytest.fixture
def y(X):
    return (X[:, 0] > 0.4).astype(int)


@dataclass(frozen=True, eq=False)
class Encoder:
    """Codes of a part, the sum of its rows as answers; the digest adds floats up."""

    grid: ThresholdGrid = field(default_factory=lambda: GRID)
    most: float = np.inf

    def __call__(self, part):
        matrix = np.ascontiguousarray(part.X, dtype=float)  # sums depend on it
        if matrix.max(initial=0.0) > self.most:
            raise ValueError(f"No value may be above {self.most!r}.")
        targets = {"answers": matrix @ np.arange(1.0, matrix.shape[1] + 1)}
        if part.y is not None:
            targets["labels"] = np.asarray(part.y)
        shard = Shard(
            np.ascontiguousarray(self.grid.bin(matrix)),
            targets,
            None if part.sample_weight is None else np.asarray(part.sample_weight),
        )
        return shard, np.append(matrix.sum(axis=0), len(matrix))


def expect(shard, table):
    """As the mixture does: a table of floats in, sums of floats by bin out."""
    weight = shard.targets["answers"] * shard.sample_weight
    if "labels" in shard.targets:
        weight = weight * (1.0 + shard.targets["labels"])
    counts = [
        np.bincount(shard.codes[:, j], weight, N_BINS)
        for j in range(shard.codes.shape[1])
    ]
    return np.array(counts) @ table


def table_of(n_columns):
    return np.random.default_rng(1).random((N_BINS, n_columns))


def halved(shard, factor):
    answers = shard.targets["answers"]
    return Shard(shard.codes[::2], {"answers": factor * answers[::2]})


def taken(shard, rows, factor):
    return factor * shard.targets["answers"][rows]


def here(X, cuts, y=None, weight=None):
    """The shards and the digest of these slices, in memory."""
    encoder = Encoder()
    ends = np.cumsum([0, *cuts])
    found = [
        encoder(sources.Part(*(None if v is None else v[a:b] for v in (X, y, weight))))
        for a, b in pairwise(ends)
    ]
    digest = found[0][1]
    for _, own in found[1:]:
        digest = digest + own
    return LocalShards([shard for shard, _ in found]), digest


def assert_same_bits(shards, digest, local, expected):
    assert isinstance(shards, DaskShards)
    assert shards.collect(len) == local.collect(len)
    np.testing.assert_array_equal(digest, expected)
    np.testing.assert_array_equal(
        shards.total(expect, table_of(7)), local.total(expect, table_of(7))
    )


UNEVEN = (1000, 3000, 500, 2500, 4000, 1000)


def test_arrays_give_the_bits_of_shards_in_memory(client, X, y):
    weight = np.linspace(0.5, 2.0, N_ROWS)
    lazy = (da.from_array(X, chunks=(UNEVEN, 2)), da.from_array(y, chunks=700), weight)
    seen = []
    shards, digest = DaskSource(*lazy).encode(Encoder(), watch=seen.append)
    local, expected = here(X, UNEVEN, y, weight)
    assert_same_bits(shards, digest, local, expected)
    assert sorted(seen) == sorted(UNEVEN)


def test_map_and_collect_give_what_shards_in_memory_give(client, X):
    shards, _ = DaskSource(da.from_array(X, chunks=(UNEVEN, -1))).encode(Encoder())
    local, _ = here(X, UNEVEN)
    made, expected = shards.map(halved, 3.0), local.map(halved, 3.0)
    assert_same_bits(made, 0, expected, 0)
    rows = np.arange(2, 40, 3)
    for own, other in zip(
        made.collect(taken, rows, 4.0), expected.collect(taken, rows, 4.0), strict=True
    ):
        np.testing.assert_array_equal(own, other)


def frame_of(X, y=None):
    df = pd.DataFrame(X, columns=list("abcde"))
    return df if y is None else df.assign(label=y)


def test_frames_give_the_bits_of_shards_in_memory(client, X, y):
    weight = np.linspace(0.5, 2.0, N_ROWS)
    lazy = dd.from_pandas(frame_of(X, y), npartitions=6)
    given = (lazy[list("abcde")], lazy["label"], da.from_array(weight, chunks=2000))
    shards, digest = DaskSource(*given).encode(Encoder())
    assert_same_bits(shards, digest, *here(X, [2000] * 6, y, weight))
    shards, digest = DaskSource(given[0], y, weight).encode(Encoder())
    assert_same_bits(shards, digest, *here(X, [2000] * 6, y, weight))


def test_labels_stay_with_their_rows_where_fewer_columns_are_read(
    client, X, y, tmp_path
):
    wide = frame_of(X, y).assign(**{f"more{j}": X[:, 0] for j in range(40)})
    for i in range(6):
        wide[2000 * i : 2000 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet")
    lazy = dd.read_parquet(tmp_path)
    # Dask would read several of these files as one partition.
    assert lazy["label"].optimize().npartitions < 6
    shards, digest = DaskSource(lazy[list("abcde")], lazy["label"]).encode(Encoder())
    assert_same_bits(shards, digest, *here(X, [2000] * 6, y))
    array = da.from_array(X, chunks=(2000, -1))
    shards, digest = DaskSource(array, lazy["label"]).encode(Encoder())
    assert_same_bits(shards, digest, *here(X, [2000] * 6, y))


def test_blocks_of_unknown_length_are_fine_if_they_fit(client, X, y):
    lazy, labels = da.from_array(X, chunks=(3000, 3)), da.from_array(y, chunks=3000)
    kept = lazy[:, 1] > 0.25
    shards, digest = DaskSource(lazy[kept], labels[kept]).encode(Encoder())
    cuts = [int((X[a : a + 3000, 1] > 0.25).sum()) for a in range(0, N_ROWS, 3000)]
    kept = X[:, 1] > 0.25
    assert_same_bits(shards, digest, *here(X[kept], cuts, y[kept]))
    shards, digest = DaskSource(lazy[lazy[:, 1] > 0.25], y[kept]).encode(Encoder())
    assert_same_bits(shards, digest, *here(X[kept], cuts, y[kept]))


def test_labels_that_do_not_fit_are_refused(client, X, y):
    lazy = da.from_array(X, chunks=(3000, -1))
    with pytest.raises(
        ValueError, match="y must have equally many rows; got 12000 and 9"
    ):
        DaskSource(lazy, y[:9])
    with pytest.raises(ValueError, match=r"sample_weight .* got 12000 and 11000"):
        DaskSource(lazy, y, da.ones(11_000, chunks=3000))
    with pytest.raises(ValueError, match="y must have one entry per row; got 'a'"):
        DaskSource(lazy, "a")
    unknown = lazy[lazy[:, 1] > 0.25]
    with pytest.raises(ValueError, match=r"equally many partitions .* got 4 and 5"):
        DaskSource(unknown, da.ones(N_ROWS, chunks=2400))
    frame = dd.from_pandas(frame_of(X), npartitions=4)
    with pytest.raises(ValueError, match=r"equally many partitions .* got 4 and 3"):
        DaskSource(frame, dd.from_pandas(pd.Series(y), npartitions=3))
    with pytest.raises(ValueError, match=r"got \d+ and 3000 in a partition"):
        DaskSource(unknown, da.from_array(y, chunks=3000)).encode(Encoder())
    with pytest.raises(ValueError, match=r"y must have .* got \d+ and 12000"):
        DaskSource(unknown, y).encode(Encoder())


def test_what_is_no_table_is_refused(X):
    with pytest.raises(
        ValueError, match=r"rows and columns; got a Dask array of shape"
    ):
        DaskSource(da.from_array(X[:, 0]))
    with pytest.raises(
        TypeError, match="Dask array or a Dask data frame; got dask Series"
    ):
        DaskSource(dd.from_pandas(frame_of(X), npartitions=2)["a"])


def test_an_error_in_a_block_comes_as_it_is(client, X):
    lazy = da.from_array(X, chunks=(1000, -1))
    with pytest.raises(ValueError, match=r"^No value may be above 0\.5\.$"):
        DaskSource(lazy).encode(Encoder(most=0.5))
    with pytest.raises(ValueError, match=r"^No value may be above 0\.5\.$"):
        DaskSource(lazy).total(Encoder(most=0.5))
    logs = "\n".join(
        text for own in client.get_worker_logs().values() for _, text in own
    )
    assert "Compute Failed" not in logs
    shards, digest = DaskSource(lazy).encode(Encoder())
    assert_same_bits(shards, digest, *here(X, [1000] * 12))


def test_nothing_is_left_on_the_cluster(client, X, y):
    lazy = da.from_array(X, chunks=(1000, -1))
    with pytest.raises(ValueError, match="above"):
        DaskSource(lazy, y).encode(Encoder(most=0.5))
    shards, _ = DaskSource(lazy, y).encode(Encoder())
    shards.map(halved, 2.0).total(expect, table_of(6000))
    DaskSource(lazy, y).total(lengths_and_sums)
    kept = {future.key for future in shards.runs}
    wait_until(lambda: {key for key, own in client.who_has().items() if own} == kept)
    del shards
    wait_until(lambda: not any(client.who_has().values()))


def wait_until(holds, patience=300.0):
    """Wait until something holds; after so many seconds it hangs."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_dask_knows_how_large_a_shard_is():
    targets = {"answers": np.zeros(1000)}
    shard = Shard(np.zeros((1000, 5), np.uint8), targets, np.ones(1000))
    assert sizeof([[shard]]) > 21_000


def lengths_and_sums(part):
    return np.append(np.ascontiguousarray(part.X).sum(axis=0), len(part.X))


def test_total_adds_up_in_the_order_of_blocks(client, X):
    _, expected = here(X, UNEVEN)
    source = DaskSource(da.from_array(X, chunks=(UNEVEN, -1)))
    np.testing.assert_array_equal(source.total(lengths_and_sums), expected)


def run_of(X, start, end):
    return [Encoder()(sources.Part(X[start:end]))[0]]


def test_sums_do_not_depend_on_who_holds_what(client, X):
    ends = np.cumsum([0, *UNEVEN])
    local, _ = here(X, UNEVEN)
    workers = sorted(client.nthreads())
    for holders in ([0] * 6, [0, 1, 0, 1, 0, 1], [3, 3, 2, 1, 0, 0]):
        runs = [
            client.submit(run_of, X, a, b, workers=[workers[k]], pure=False)
            for (a, b), k in zip(pairwise(ends), holders, strict=True)
        ]
        assert_same_bits(DaskShards(client, runs), 0, local, 0)


def test_with_many_blocks_sums_are_made_by_run(client, X, monkeypatch):
    monkeypatch.setattr(data_dask, "MOST_RUNS", 4)
    monkeypatch.setattr(sources, "PART_ROWS", 2000)
    shards, digest = DaskSource(da.from_array(X, chunks=(600, -1))).encode(Encoder())
    # 20 blocks in 4 runs of 5, each joined to shards of at least 1000 rows.
    assert shards.collect(len) == [1200, 1200, 600] * 4
    assert len(shards.runs) == 4
    parts = [
        here(X[a : a + 3000], [1200, 1200, 600])[0].total(expect, table_of(3))
        for a in range(0, N_ROWS, 3000)
    ]
    found = shards.total(expect, table_of(3))
    np.testing.assert_array_equal(found, ((parts[0] + parts[1]) + parts[2]) + parts[3])
    np.testing.assert_array_equal(digest, here(X, [600] * 20)[1])


def test_without_a_client_rows_are_kept_here(X, y, monkeypatch):
    monkeypatch.setattr(sources, "PART_ROWS", 1000)
    for lazy in (
        da.from_array(X, chunks=(UNEVEN, 2)),
        dd.from_pandas(frame_of(X), npartitions=6).repartition(
            divisions=[0, *np.cumsum(UNEVEN)[:-1].tolist(), N_ROWS - 1]
        ),
    ):
        seen = []
        shards, digest = DaskSource(lazy, y).encode(Encoder(), watch=seen.append)
        local, expected = here(X, UNEVEN, y)
        assert isinstance(shards, LocalShards)
        assert seen == list(UNEVEN)
        np.testing.assert_array_equal(digest, expected)
        np.testing.assert_array_equal(
            shards.total(expect, table_of(7)), local.total(expect, table_of(7))
        )
        np.testing.assert_array_equal(DaskSource(lazy).total(lengths_and_sums), digest)


def never(block):
    raise AssertionError("Nothing should be computed.")


def label_of(X):
    return np.where(np.asarray(X)[:, 0] > 0.4, "high", "low")


def shares_of(X):
    return np.asarray(X, dtype=float)[:, :2] / 2


def test_answers_for_arrays_are_lazy_arrays_with_the_same_chunks(X):
    lazy = da.from_array(X, chunks=(UNEVEN, 2))
    found = DaskSource(lazy).each(label_of, dtype="<U4")
    assert (found.chunks, found.dtype) == ((UNEVEN,), np.dtype("<U4"))
    np.testing.assert_array_equal(found.compute(), label_of(X))
    found = DaskSource(lazy).each(shares_of, dtype=float, n_outputs=2)
    assert (found.chunks, found.dtype) == ((UNEVEN, (2,)), np.dtype(float))
    np.testing.assert_array_equal(found.compute(), shares_of(X))
    for function in (label_of, shares_of):
        guessed = DaskSource(lazy).each(function)
        assert guessed.ndim == function(X).ndim
        assert guessed.dtype == function(X[:1]).dtype or function is label_of
        np.testing.assert_array_equal(guessed.compute(), function(X))
    forbidden = lazy.map_blocks(never, dtype=float)
    assert DaskSource(forbidden).each(label_of).ndim == 1


def test_answers_for_frames_are_lazy_with_the_same_index_and_divisions(X):
    df = frame_of(X).set_index(np.arange(N_ROWS) * 2)
    lazy = dd.from_pandas(df, npartitions=4)
    found = DaskSource(lazy).each(label_of, dtype="<U4")
    assert found.divisions == lazy.divisions
    wanted = pd.Series(label_of(X), index=df.index)
    pd.testing.assert_series_equal(found.compute(), wanted)
    found = DaskSource(lazy).each(shares_of)
    assert found.divisions == lazy.divisions
    pd.testing.assert_frame_equal(
        found.compute(), pd.DataFrame(shares_of(X), index=df.index)
    )
    forbidden = lazy.map_partitions(never, meta=df[:0])
    assert DaskSource(forbidden).each(label_of, dtype="<U4").dtype == wanted.dtype


def test_rows_are_counted_only_as_far_as_needed(X, monkeypatch):
    assert DaskSource(da.from_array(X, chunks=(UNEVEN, 2))).n_rows() == N_ROWS
    lazy = dd.from_pandas(frame_of(X), npartitions=6)
    assert DaskSource(lazy).n_rows() == N_ROWS
    monkeypatch.setattr(sources, "MANY_ROWS", 3000)
    assert DaskSource(lazy).n_rows() == 6000  # 2000, and then two more partitions


def test_the_first_row_and_the_columns_are_those_of_the_frame(X, y):
    lazy = dd.from_pandas(frame_of(X, y), npartitions=6)
    source = DaskSource(lazy)
    source.select(("b", "a"))
    first = source.first().X
    assert list(first.columns) == ["b", "a"]
    assert list(first.dtypes) == [np.dtype(float)] * 2
    source.select(("b", "unknown"))
    loaded = DaskSource(source.X, lazy["label"]).load()
    pd.testing.assert_frame_equal(loaded.X, frame_of(X)[["b", "a"]])
    np.testing.assert_array_equal(loaded.y, y)
    assert loaded.sample_weight is None


def test_the_first_row_is_a_real_one_where_types_are_vague(X):
    objects = da.from_array(X.astype(object), chunks=(3000, -1))
    kept = objects[objects[:, 0] > 0.6]
    np.testing.assert_array_equal(DaskSource(kept).first().X, X[X[:, 0] > 0.6][:1])
    fruit = pd.DataFrame({"fruit": ["pear", "fig"] * 50}).astype("category")
    lazy = dd.from_pandas(fruit, npartitions=2)
    assert DaskSource(lazy).first().X["fruit"].tolist() == ["pear"]


def positions(part):
    matrix = read_matrix(part.X, categories=(("fig", "kiwi", "pear"),))
    return np.bincount(matrix[:, 0].astype(int), minlength=4)


def test_categories_may_be_unknown_to_dask(client):
    words = pd.DataFrame({"fruit": ["pear"] * 50 + ["fig"] * 30 + ["plum"] * 20})
    lazy = dd.from_pandas(words, npartitions=4).astype("category")
    assert not lazy["fruit"].cat.known
    assert DaskSource(lazy).total(positions).tolist() == [30, 0, 50, 20]


def received(dask_worker):
    """Bytes and times that this worker got data from others, by its own counters."""
    assert dask_worker.transfer_incoming_log.maxlen is not None
    return (
        sum(entry["total"] for entry in dask_worker.transfer_incoming_log),
        dask_worker.state.transfer_incoming_count_total,
    )


def test_no_rows_travel_after_the_first_pass(client, X):
    assert len(client.nthreads()) == 4
    shards, _ = DaskSource(da.from_array(X, chunks=(500, -1))).encode(Encoder())
    # Each run stays on the worker that encoded its blocks.
    holders = [own for [own] in client.who_has(shards.runs).values()]
    assert 2 <= len(set(holders)) <= 4
    before = client.run(received)
    for _ in range(5):
        shards.total(expect, table_of(1500))  # half a megabyte, as a plan
    shards.total(expect, table_of(6000))  # sent once for each worker
    made = shards.map(halved, 2.0)
    made.total(expect, table_of(1500))
    made.collect(taken, np.arange(3), 1.0)
    assert client.run(received) == before


def test_large_arguments_raise_no_warning(client, X):
    shards, _ = DaskSource(da.from_array(X, chunks=(6000, -1))).encode(Encoder())
    local, _ = here(X, [6000] * 2)
    large = table_of(40_000)
    assert large.nbytes > 12_000_000
    np.testing.assert_array_equal(
        shards.total(expect_first, large), local.total(expect_first, large)
    )


def expect_first(shard, table):
    return expect(shard, table[:, -10:])


def die_once(path):
    """Kill this process, the first time that anybody asks."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def expect_and_die(shard, table, path):
    time.sleep(0.02)
    if shard.codes[0, 0] < 20:
        die_once(path)
    return expect(shard, table)


def test_a_killed_worker_changes_no_bit(client, X, y, tmp_path):
    source = DaskSource(da.from_array(X, chunks=(500, -1)), y)
    shards, _ = source.encode(Encoder())
    local, _ = here(X, [500] * 24, y)
    wanted = local.total(expect, table_of(7))
    made = shards.map(halved, 2.0)
    for path in (tmp_path / "first", tmp_path / "second"):
        for _ in range(3):
            found = shards.total(expect_and_die, table_of(7), os.fspath(path))
            np.testing.assert_array_equal(found, wanted)
        assert path.exists()
    wanted = local.map(halved, 2.0).total(expect, table_of(7))
    np.testing.assert_array_equal(made.total(expect, table_of(7)), wanted)


@dataclass(frozen=True, eq=False)
class DyingEncoder(Encoder):
    path: str = ""

    def __call__(self, part):
        if np.asarray(part.X)[0, 0] < 0.5:
            die_once(self.path)
        return super().__call__(part)


def test_a_worker_killed_in_the_first_pass_changes_no_bit(client, X, tmp_path):
    path = tmp_path / "died"
    source = DaskSource(da.from_array(X, chunks=(500, -1)))
    shards, digest = source.encode(DyingEncoder(path=os.fspath(path)))
    assert path.exists()
    assert_same_bits(shards, digest, *here(X, [500] * 24))


def drawn(start, n_rows, n_features):
    return np.random.default_rng(start).random((n_rows, n_features))


def counted_rows(X, y, weight, given):
    return len(X)


@pytest.mark.parametrize("has_labels", [False, True])
def test_a_block_is_loaded_and_asked_in_one_task(has_labels):
    # Else blocks pile up on a worker while it loads the libraries to ask with.
    lazy = da.map_blocks(np.ones, (10, 3), chunks=((10,) * 6, (3,)), dtype=float)
    labels = da.zeros(60, chunks=10) if has_labels else None
    made = blocks(counted_rows, lazy, labels, given=dask.delayed("given"))
    tasks = {key for own in made for key in own.__dask_graph__()}
    assert len(tasks) == 6 + 1
    assert dask.compute(*made) == (10,) * 6


@pytest.mark.slow
def test_rows_may_be_larger_than_the_memory_of_a_worker(client):
    n_blocks, n_rows, n_features = 80, 28_000, 80
    lazy = da.concatenate(
        [
            da.from_delayed(
                dask.delayed(drawn)(i, n_rows, n_features), (n_rows, n_features), float
            )
            for i in range(n_blocks)
        ]
    )
    assert lazy.nbytes > LIMIT
    processes = client.run(os.getpid)
    grid = ThresholdGrid((np.array([0.2, 0.5]),) * n_features)
    shards, digest = DaskSource(lazy).encode(Encoder(grid))
    assert sum(shards.collect(len)) == n_blocks * n_rows
    total = shards.total(expect, np.ones((N_BINS, 1)))
    assert client.run(os.getpid) == processes  # none was ended for its memory
    assert total.shape == (n_features, 1)
    np.testing.assert_allclose(total[:, 0], digest[:-1] @ np.arange(1.0, 81.0))


@pytest.fixture
def model(X):
    labels = np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.3), "in", "out")
    return RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, labels)


@pytest.fixture
def few_are_many(monkeypatch):
    monkeypatch.setattr(sources, "MANY_ROWS", 2000)


def simplifier(model, method="paper", **settings):
    if method == "defrag":
        return DefragClassifier(model, random_state=0, **settings)
    given = {"n_restarts": 3, "tol": 1e-3, **GENTLE}
    return FABRulesClassifier(model, random_state=0, **given, **settings)


@pytest.mark.parametrize("method", ["paper", "defrag"])
@pytest.mark.usefixtures("few_are_many")
def test_fit_finds_the_rules_of_a_fit_in_memory(client, model, X, method):
    labels = model.predict(X)
    # These add up without rounding; others leave the order of addition in shares.
    weight = np.resize([0.5, 1.0, 2.0], N_ROWS)
    local = simplifier(model, method=method).fit(X, labels, weight)
    lazy = (
        da.from_array(X, chunks=(UNEVEN, 2)),
        da.from_array(labels, chunks=4000),
        da.from_array(weight, chunks=3000),
    )
    found = simplifier(model, method=method).fit(*lazy)
    assert found.rules_ == local.rules_
    assert found.rules_.n_rules > 1
    assert found.training_ == pytest.approx(local.training_, rel=1e-12, nan_ok=True)
    answers, shares = found.predict(lazy[0]), found.predict_proba(lazy[0])
    assert (answers.chunks, shares.chunks) == ((UNEVEN,), (UNEVEN, (2,)))
    np.testing.assert_array_equal(answers.compute(), local.predict(X))
    np.testing.assert_array_equal(shares.compute(), local.predict_proba(X))
    measured = found.evaluate(*lazy)
    assert measured == pytest.approx(local.evaluate(X, labels, weight), rel=1e-12)


@pytest.mark.usefixtures("few_are_many")
def test_the_papers_starts_in_the_units_of_y_are_those_of_a_fit_in_memory(client, X):
    y = 3.0 + 2.5 * (X[:, 0] > 0.5) - 1.5 * (X[:, 1] > 0.3)
    y += 0.3 * np.random.default_rng(1).normal(size=N_ROWS)
    forest = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    given = {"n_restarts": 3, "tol": 1e-3, "random_state": 0, "max_rules": 4}
    local = FABRulesRegressor(forest, **given).fit(X, y)
    lazy = da.from_array(X, chunks=(UNEVEN, 2)), da.from_array(y, chunks=4000)
    found = FABRulesRegressor(forest, **given).fit(*lazy)
    steps = [
        [(s.objective, s.n_components) for s in m.history_] for m in (found, local)
    ]
    np.testing.assert_allclose(steps[0], steps[1], rtol=1e-10)
    # The mean of the model over the rows of a rule depends on the order of summation.
    assert str(found.rules_) == str(local.rules_)
    assert found.posterior_.n_components > 1


@pytest.mark.usefixtures("few_are_many")
def test_fit_takes_frames_with_more_columns(client, model, X):
    df = frame_of(X)
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(
        df, model.predict(X)
    )
    local = simplifier(model).fit(df)
    lazy = dd.from_pandas(df.assign(extra=0), npartitions=5)
    found = simplifier(model).fit(lazy)
    assert found.rules_ == local.rules_
    assert found.rules_.feature_names == tuple("abcde")
    answers = found.predict(lazy)
    assert answers.divisions == lazy.divisions
    assert answers.compute().tolist() == local.predict(df).tolist()


@pytest.mark.usefixtures("few_are_many")
def test_a_worker_killed_during_the_fit_changes_no_rule(client, model, X):
    local = simplifier(model).fit(X)
    victim = sorted(client.run(os.getpid).values())[0]
    steps = []

    def kill(step):
        steps.append(step)
        if len(steps) == 7:
            os.kill(victim, signal.SIGKILL)

    lazy = da.from_array(X, chunks=(500, -1))
    found = simplifier(model, callback=kill).fit(lazy)
    assert len(steps) > 10
    assert victim not in client.run(os.getpid).values()
    assert found.rules_ == local.rules_


class Scheduler:
    """Stands for a client that only knows its workers."""

    def __init__(self, *limits):
        workers = {f"w{i}": {"memory_limit": own} for i, own in enumerate(limits)}
        self.info = {"workers": workers}

    def scheduler_info(self, n_workers):
        assert n_workers == -1  # else only a few of them are named
        return self.info


def test_workers_with_too_little_memory_are_told_of():
    with pytest.warns(
        UserWarning, match=r"2 of 3 have less, such as 'w2' with 0\.3 GB"
    ):
        data_dask.warn_of_small_workers(Scheduler(400_000_000, LIMIT, 300_000_000))
    # Without a limit, or with enough, nothing is said.
    data_dask.warn_of_small_workers(Scheduler(0, None, LIMIT))
