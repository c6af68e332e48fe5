"""The engine for a GPU does what the numpy engine does; mostly tried without one."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees.data import devices
from defragtrees.data.grid import Binned, ThresholdGrid
from defragtrees.data.shards import LocalShards, Shard
from defragtrees.data.store import RowStore, Target
from defragtrees.paper.engines import make_engine, on_torch, torch_rows
from defragtrees.paper.engines.on_numpy import NumpyEngine
from defragtrees.paper.loop import Settings, run
from defragtrees.paper.params import Params, make_layout
from defragtrees.paper.schedules import SCHEDULES
from tests.paper.problems import Case, cases

torch = pytest.importorskip("torch")

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
DTYPES = list(TOLERANCE)
needs_cuda = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch finds no CUDA device"
)


def engine_of(case, dtype="float64", device="cpu", **options):
    right = case.engine
    return on_torch.TorchEngine(
        case.layout,
        case.grid.n_bins,
        [case.binned.codes],
        case.dense.y,
        right.sample_weight,
        right.total,
        device,
        dtype,
        **options,
    )


def starts_of(case, n_restarts, n_components):
    return case.starts([case.responsibilities(n_components) for _ in range(n_restarts)])


def objectives(engine, case, starts, n_restarts, schedule):
    loop = Settings(schedule=schedule)
    _, steps = run(engine, case.layout, starts, loop, range(n_restarts))
    return [step.objective for step in steps]


class Both:
    """Asks both engines, compares every answer, and goes on with the right one's."""

    def __init__(self, right, other, tolerance):
        self.right, self.other, self.tolerance = right, other, tolerance
        self.total = right.total

    def score(self, params):
        self.right.score(params)
        self.other.score(params)

    def assign(self, penalty):
        weight, evidence = self.right.assign(penalty)
        own_weight, own_evidence = self.other.assign(penalty)
        self.near(own_weight, weight, self.total)
        self.near(own_evidence, evidence, np.abs(evidence).max())
        return weight, evidence

    def gather(self):
        right, own = self.right.gather(), self.other.gather()
        for name in ("bins", "weight", "first", "second", "total"):
            self.near(getattr(own, name), getattr(right, name), self.total)
        return right

    def near(self, own, right, scale):
        assert np.shape(own) == np.shape(right)
        np.testing.assert_allclose(own, right, rtol=0, atol=self.tolerance * scale)


@settings(max_examples=40)
@given(
    case=cases,
    n_restarts=st.integers(1, 3),
    n_components=st.integers(1, 6),
    schedule=st.sampled_from(list(SCHEDULES.values())),
)
def test_the_bound_is_that_of_the_numpy_engine_at_each_iteration(
    case, n_restarts, n_components, schedule
):
    starts = starts_of(case, n_restarts, n_components)
    right = objectives(case.engine, case, starts, n_restarts, schedule)
    own = engine_of(case, chunk_rows=16)
    found = objectives(own, case, starts, n_restarts, schedule)
    assert found == pytest.approx(right, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("memory", [None, 0])
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=20)
@given(case=cases, n_restarts=st.integers(1, 3), n_components=st.integers(1, 6))
def test_every_answer_is_that_of_the_numpy_engine(
    dtype, memory, case, n_restarts, n_components
):
    own = engine_of(case, dtype, chunk_rows=32, memory=memory)
    both = Both(case.engine, own, TOLERANCE[dtype])
    starts = starts_of(case, n_restarts, n_components)
    run(both, case.layout, starts, Settings(max_iter=15), range(n_restarts))
    assert own.rows.keeps == (memory is None)


@pytest.mark.parametrize("n_thresholds", [300, 40_000])
def test_codes_that_need_more_than_eight_bits(n_thresholds):
    rng = np.random.default_rng(0)
    grid = ThresholdGrid((np.arange(float(n_thresholds)), np.array([0.5])))
    X = np.column_stack([rng.integers(0, n_thresholds, 80), rng.random(80)]) - 0.5
    X[::7, 0] = np.nan
    binned = grid.bin(X)
    assert binned.codes.dtype == np.uint16
    layout = make_layout(grid, binned.counts(), 2, 3.0)
    weight, target = np.ones(80), rng.integers(0, 2, 80)
    right = NumpyEngine(layout, binned.codes, target, weight)
    rows = ([binned.codes], target, None, 80.0, "cpu", "float64")
    own = on_torch.TorchEngine(layout, grid.n_bins, *rows)
    both = Both(right, own, 1e-10)
    both.score(random_params(layout, 4, rng))
    both.assign(rng.random((2, 2)))
    both.gather()


def random_params(layout, n_columns, rng):
    table = -rng.random((layout.n_rows, n_columns))
    log_weight = np.log(rng.dirichlet(np.ones(n_columns)))
    mean, precision = rng.normal(size=n_columns), rng.uniform(0.5, 2, n_columns)
    return Params(table, log_weight, mean, precision)


@pytest.mark.parametrize("n_classes", [0, 2])
def test_rows_without_any_useful_feature(n_classes):
    rng = np.random.default_rng(1)
    grid = ThresholdGrid((np.array([9.0]),))
    binned = grid.bin(np.zeros((30, 1)))
    layout = make_layout(grid, binned.counts(), n_classes, 3.0)
    assert layout.blocks == ()
    target = rng.integers(0, 2, 30) if n_classes else rng.normal(size=30)
    right = NumpyEngine(layout, binned.codes, target, np.ones(30))
    rows = ([binned.codes], target, np.ones(30), 30.0, "cpu", "float64")
    both = Both(right, on_torch.TorchEngine(layout, grid.n_bins, *rows), 1e-10)
    both.score(random_params(layout, 3, rng))
    both.assign(np.zeros((1, 3)))
    both.gather()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_component_with_an_infinite_penalty_gets_nothing(dtype):
    case = Case(3, 60, 3, 2, True, True, 3.0)
    engine = engine_of(case, dtype)
    engine.score(starts_of(case, 2, 3))
    weight, evidence = engine.assign(np.array([[0.0, np.inf, 1.0], [0.0, 0.0, 0.0]]))
    assert weight[0, 1] == 0
    assert np.isfinite(evidence).all()
    assert weight.sum(axis=1) == pytest.approx([case.engine.total] * 2, rel=1e-6)
    assert (engine.gather().bins[:, 1] == 0).all()


def test_an_engine_takes_fewer_columns_and_then_more():
    case = Case(5, 70, 3, 0, False, True, 3.0)
    both = Both(case.engine, engine_of(case), 1e-10)
    for n_restarts, n_components in [(2, 10), (1, 3), (3, 7)]:
        both.score(starts_of(case, n_restarts, n_components))
        both.assign(np.zeros((n_restarts, n_components)))
        both.gather()


def test_scores_are_kept_only_while_there_is_room_for_them():
    case = Case(5, 70, 3, 0, False, True, 3.0)
    engine = engine_of(case, memory=70 * 16 * 8)
    both = Both(case.engine, engine, 1e-10)
    for n_components, keeps in [(10, True), (17, False), (3, True)]:
        both.score(starts_of(case, 1, n_components))
        assert engine.rows.keeps == keeps
        both.assign(np.zeros((1, n_components)))
        both.gather()


def test_engines_that_share_rows_do_not_disturb_each_other():
    case = Case(6, 50, 3, 2, False, False, 3.0)
    engine = engine_of(case)
    engine.score(starts_of(case, 1, 4))
    before = engine.assign(np.zeros((1, 4)))
    twin = engine.share()
    twin.score(starts_of(case, 2, 3))
    twin.assign(np.zeros((2, 3)))
    after = engine.assign(np.zeros((1, 4)))
    assert (before[0] == after[0]).all()
    assert (before[1] == after[1]).all()
    assert engine.gather().bins.shape[1] == 4


def test_sorted_chunks_name_the_rows_of_every_bin():
    cells = torch.tensor([[2, 0, 1, 0, 2, 9], [1, 1, 0, 1, 1, 9]], dtype=torch.uint8)
    found = torch_rows.sorted_chunks(torch, cells, [3, 2], 5, 2)
    order, begins, ends = (array.tolist() for array in found)
    rows = []
    for c in range(3):
        flat = [2 * c + row for own in order[c] for row in own]
        rows.append([flat[begins[c][b] : ends[c][b]] for b in range(5)])
    assert rows == [
        [[1], [], [0], [], [0, 1]],
        [[3], [2], [], [2], [3]],
        [[], [], [4], [], [4]],
    ]


def as_rows(case, n_classes):
    weight = case.engine.sample_weight
    return RowStore.of_table(case.binned, case.dense.y, n_classes, weight)


def as_shards(case, n_classes, center=0.0, scale=1.0, weighted=True):
    codes = np.ascontiguousarray(case.binned.codes)
    y = case.dense.y if n_classes else case.dense.y * scale + center
    parts = []
    for a in range(0, len(codes), 37):
        weight = case.engine.sample_weight[a : a + 37] if weighted else None
        parts.append(Shard(codes[a : a + 37], {"answers": y[a : a + 37]}, weight))
    return RowStore(
        shards=LocalShards(parts, 1),
        grid=case.grid,
        target=Target("answers", center, scale),
        n_classes=n_classes,
        counts=[],
        total_weight=case.engine.total,
        n_rows=len(codes),
    )


@pytest.fixture
def on_cpu(monkeypatch):
    """The engine as it would be on a GPU, but on the processor."""
    monkeypatch.setattr(devices, "DEVICE", "cpu")


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.usefixtures("on_cpu")
def test_rows_in_memory_and_in_shards_give_the_same(n_classes, weighted):
    case = Case(8, 100, 4, n_classes, True, weighted, 3.0)
    shards = as_shards(case, n_classes, 5.0, 8.0, weighted)
    starts = starts_of(case, 2, 4)
    for rows in (as_rows(case, n_classes), shards):
        engine = make_engine("cuda", case.layout, rows)
        assert engine.rows.dtype == torch.float64
        assert engine.total == case.engine.total
        both = Both(case.engine, engine, 1e-7)
        run(both, case.layout, starts, Settings(max_iter=3), range(2))


@pytest.mark.usefixtures("on_cpu")
def test_many_rows_are_scored_in_single_precision(monkeypatch):
    monkeypatch.setattr(on_torch, "EXACT_ROWS", 49)
    case = Case(8, 50, 4, 2, True, True, 3.0)
    engine = make_engine("cuda", case.layout, as_rows(case, 2))
    assert engine.rows.dtype == torch.float32


class Elsewhere(LocalShards):
    """Shards as a cluster has them; each is a group."""

    is_here = False
    n_visits = 0

    def total_of_groups(self, function, *arguments, in_any_order=False):
        self.n_visits += 1
        assert not in_any_order
        parts = [function([shard], 3, *arguments) for shard in self.shards]
        return reduce(add, parts)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.usefixtures("on_cpu")
def test_rows_elsewhere_give_what_rows_here_give(n_classes, dtype, monkeypatch):
    monkeypatch.setattr(on_torch, "EXACT_ROWS", 100 if dtype == "float64" else 99)
    case = Case(8, 100, 4, n_classes, True, True, 3.0)
    rows = as_shards(case, n_classes, 5.0, 8.0)
    nobody = rows.shards.shards[0].take(slice(0, 0))
    shards = Elsewhere([nobody, *rows.shards.shards])
    before = len(on_torch.KEPT.kept)
    engine = make_engine("cuda", case.layout, replace(rows, shards=shards))
    assert isinstance(engine, on_torch.DeviceEngine)
    assert engine.takes_all_restarts
    both = Both(case.engine, engine, max(TOLERANCE[dtype], 1e-7))
    starts = starts_of(case, 2, 4)
    run(both, case.layout, starts, Settings(max_iter=5), range(2))
    # Of other parameters on the same rows another engine knows nothing.
    twin = Both(case.engine, engine.share(), both.tolerance)
    for own in (twin, both, twin):
        own.score(starts_of(case, 1, 3))
        own.assign(np.zeros((1, 3)))
        own.gather()
    assert len(on_torch.KEPT.kept) == before + 4
    made = on_torch.KEPT.kept[shards.shards[1]][-1]
    engine.gather()
    assert on_torch.KEPT.kept[shards.shards[1]][-1] is made
    assert made.n_rows == 37
    del both, twin, own, engine, shards, rows, nobody
    assert len(on_torch.KEPT.kept) == before


@pytest.mark.usefixtures("on_cpu")
def test_rows_elsewhere_are_scored_once_for_all_penalties(monkeypatch):
    scored, real = [], torch_rows.TorchRows.score

    def score(rows, *arguments):
        scored.append(rows)
        return real(rows, *arguments)

    monkeypatch.setattr(torch_rows.TorchRows, "score", score)
    case = Case(8, 100, 4, 2, True, True, 3.0)
    rows = as_shards(case, 2)
    shards = Elsewhere(rows.shards.shards)
    engine = make_engine("cuda", case.layout, replace(rows, shards=shards))
    starts = starts_of(case, 2, 3)
    for n_scores in (3, 6):
        engine.score(starts)
        for value in (0.0, 0.5, 1.0):
            engine.assign(np.full((2, 3), value))
        engine.gather()
        assert len(scored) == n_scores
    assert shards.n_visits == 2 * 4  # three for penalties, one for statistics


def test_without_a_gpu_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    case = Case(1, 30, 2, 2, False, False, 3.0)
    for rows in (as_rows(case, 2), as_shards(case, 2)):
        with pytest.raises(RuntimeError, match="needs a CUDA device") as error:
            make_engine("cuda", case.layout, rows)
        assert 'Use engine="numpy" or "numba".' in str(error.value)


@needs_cuda
@pytest.mark.parametrize("memory", [None, 0])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (20, 10), (2, 150)])
def test_on_a_gpu_every_answer_is_that_of_the_numpy_engine(
    shape, n_classes, dtype, memory
):
    n_restarts, n_components = shape
    case = Case(11, 1000, 5, n_classes, True, n_classes == 0, 3.0)
    own = engine_of(case, dtype, "cuda", chunk_rows=256, memory=memory)
    both = Both(case.engine, own, TOLERANCE[dtype])
    starts = starts_of(case, n_restarts, n_components)
    run(both, case.layout, starts, Settings(max_iter=6), range(n_restarts))


@needs_cuda
def test_on_a_gpu_the_same_rows_give_the_same_numbers():
    rng = np.random.default_rng(0)
    codes = (rng.random((200_000, 6)) ** 2 * 60).astype(np.uint8)
    grid = ThresholdGrid(tuple(np.arange(60.0) for _ in range(6)))
    binned = Binned(codes, grid)
    layout = make_layout(grid, binned.counts(), 2, 3.0)
    target, weight = rng.integers(0, 2, len(codes)), rng.random(len(codes))
    rows = RowStore.of_table(binned, target, 2, weight)
    params = random_params(layout, 24, rng)
    found = []
    for _ in range(2):
        engine = make_engine("cuda", layout, rows)
        engine.score(params)
        engine.assign(np.zeros((3, 8)))
        found.append(engine.gather())
    assert (found[0].bins == found[1].bins).all()
    assert (found[0].weight == found[1].weight).all()
