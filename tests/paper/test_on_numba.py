"""The numba engine against the numpy engine: one step, and whole runs."""

import pickle
import sys
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.shards import LocalShards, Shard
from defragtrees.data.store import RowStore, Target
from defragtrees.errors import MissingPackageError
from defragtrees.paper.engines import make_engine, on_numpy
from defragtrees.paper.engines.plan import Plan
from defragtrees.paper.levels import Workspace
from defragtrees.paper.loop import Settings, run
from defragtrees.paper.params import make_layout
from defragtrees.paper.schedules import SCHEDULES
from tests.paper.problems import Case, cases

numba = pytest.importorskip("numba")
on_numba = import_module("defragtrees.paper.engines.on_numba")
kernels = import_module("defragtrees.paper.engines._numba_kernels")

SUMS = ("weight", "evidence", "bins", "classes", "first", "second")


def random_plan(rng, n_restarts, n_components, n_classes, widths):
    """A plan that uses all features but the first, the last one first."""
    features = np.arange(1, len(widths))[::-1]
    starts = np.concatenate([[0], np.cumsum(np.asarray(widths)[features])])
    n_columns = n_restarts * n_components
    return Plan(
        features=features,
        starts=starts,
        table=-rng.exponential(size=(starts[-1], n_columns)),
        classes=-rng.exponential(size=(n_classes, n_columns)),
        log_weight=np.log(rng.dirichlet(np.ones(n_columns))),
        mean=rng.normal(size=n_columns),
        precision=rng.uniform(0.5, 50.0, size=n_columns),
        penalty=rng.uniform(0.0, 5.0, size=(n_restarts, n_components)),
        target=Target(),
    )


def random_shard(rng, n_rows, n_classes, widths, weighted=False, kind=np.uint8):
    codes = np.column_stack([rng.integers(0, width, n_rows) for width in widths])
    answers = rng.normal(size=n_rows)
    if n_classes:
        answers = rng.integers(0, n_classes, n_rows)
    weight = rng.uniform(0.2, 3.0, n_rows) if weighted else None
    return Shard(codes.astype(kind), {"answers": answers}, weight)


def check_equal(found, wanted, tolerance=1e-5):
    scale = wanted.weight.sum(axis=1).max() * tolerance + 1e-12
    for name in SUMS:
        own, other = getattr(found, name), getattr(wanted, name)
        assert own.dtype == np.float64
        np.testing.assert_allclose(own, other, rtol=tolerance, atol=scale, err_msg=name)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_components", [1, 8, 9, 40])
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_step_gives_the_sums_of_numpy(kind, n_components, n_classes, weighted):
    rng = np.random.default_rng(n_components)
    # More rows than one float32 sum may hold, and not a whole number of tiles.
    n_rows = kernels.TILE_ROWS * kernels.FLUSH_TILES + 1001
    widths = [3, 256 if kind == np.uint8 else 400, 2, 57, 256]
    plan = random_plan(rng, 3, n_components, n_classes, widths)
    shard = random_shard(rng, n_rows, n_classes, widths, weighted, kind)
    found = on_numba.expect(shard, plan, True)
    check_equal(found, on_numpy.expect(shard, plan, True))
    part = on_numba.expect(shard, plan, False)
    assert part.bins is None
    np.testing.assert_array_equal(part.weight, found.weight)
    np.testing.assert_array_equal(part.evidence, found.evidence)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(0, 70),
    n_restarts=st.integers(1, 4),
    n_components=st.integers(1, 40),
    n_classes=st.sampled_from([0, 2, 5]),
    widths=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    weighted=st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_few_rows_give_the_sums_of_numpy(
    seed, n_rows, n_restarts, n_components, n_classes, widths, weighted
):
    rng = np.random.default_rng(seed)
    plan = random_plan(rng, n_restarts, n_components, n_classes, widths)
    shard = random_shard(rng, n_rows, n_classes, widths, weighted)
    found = on_numba.expect(shard, plan, True)
    check_equal(found, on_numpy.expect(shard, plan, True))


@pytest.mark.parametrize("n_classes", [0, 2])
def test_a_component_that_is_gone_gets_nothing(n_classes):
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 2, 5, n_classes, [4, 30, 9])
    plan.penalty[0, 1] = plan.penalty[1, 0] = plan.penalty[1, 3] = np.inf
    shard = random_shard(rng, 500, n_classes, [4, 30, 9])
    found = on_numba.expect(shard, plan, True)
    gone = np.isinf(plan.penalty)
    assert (found.weight[gone] == 0).all()
    assert (found.bins[:, gone.ravel()] == 0).all()
    check_equal(found, on_numpy.expect(shard, plan, True))


def test_rows_far_from_all_components_but_one_are_that_ones_own():
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 1, 3, 0, [4, 30])
    plan.precision[:] = 1e6
    plan.mean[:] = [-1e3, 0.0, 1e3]
    shard = random_shard(rng, 300, 0, [4, 30])
    found = on_numba.expect(shard, plan, True)
    np.testing.assert_array_equal(found.weight, [[0.0, 300.0, 0.0]])
    check_equal(found, on_numpy.expect(shard, plan, True))


def test_a_narrow_component_far_from_zero_keeps_its_variance():
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 1, 3, 0, [2, 5])
    plan.mean[:] = [-20.0, 7.0, -30.0]
    plan.precision[:] = [0.1, 1e5, 0.1]
    shard = random_shard(rng, 50_000, 0, [2, 5], weighted=True)
    near = np.round(7 + 0.003 * rng.normal(size=20_000), 9)
    shard.targets["answers"][:] -= 25
    shard.targets["answers"][:20_000] = near
    found = on_numba.expect(shard, plan, True)
    weight = found.weight.ravel()
    variance = found.second / weight - (found.first / weight) ** 2
    share = shard.weight[:20_000] / shard.weight[:20_000].sum()
    wanted = share @ (near - share @ near) ** 2
    np.testing.assert_allclose(variance[1], wanted, rtol=1e-6)


def test_narrow_components_far_from_zero_are_told_apart():
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 1, 2, 0, [2, 5])
    plan.mean[:] = [700.0, 700.003]
    plan.precision[:] = 1e5
    shard = random_shard(rng, 50, 0, [2, 5])
    shard.targets["answers"][:] = 700 + 0.003 * rng.normal(size=50)
    found = on_numba.expect(shard, plan, True)
    check_equal(found, on_numpy.expect(shard, plan, True))


@pytest.mark.parametrize("n_classes", [0, 2])
def test_the_bins_of_a_feature_add_up_to_the_weight(n_classes):
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 2, 7, n_classes, [1, 2, 200, 5])
    shard = random_shard(rng, 30_000, n_classes, [1, 2, 200, 5], True)
    found = on_numba.expect(shard, plan, True)
    blocks = np.split(found.bins, plan.starts[1:-1])
    for block in [*blocks, found.classes] if n_classes else blocks:
        np.testing.assert_allclose(block.sum(axis=0), found.weight.ravel(), rtol=1e-13)


def test_read_only_and_strided_codes_are_taken():
    rng = np.random.default_rng(0)
    plan = random_plan(rng, 1, 4, 2, [6, 7, 8])
    shard = random_shard(rng, 90, 2, [6, 7, 8])
    other = Shard(np.asfortranarray(shard.codes), shard.targets)
    other.codes.flags.writeable = False
    found = on_numba.expect(other, plan, True)
    check_equal(found, on_numba.expect(shard, plan, True), 1e-14)


def test_exponential_is_right_to_two_parts_in_ten_million():
    @numba.njit
    def exponentials(numbers, lanes):
        for at in range(0, len(numbers), 16):
            found = kernels._exp(kernels.load(numbers, at, lanes))
            kernels.store(numbers, at, found)

    numbers = np.linspace(-90, 0, 160_000).astype(np.float32)
    wanted = np.exp(numbers.astype(float))
    wanted[numbers <= kernels.LOWEST_LOG] = 0
    exponentials(numbers, (0, 0))
    np.testing.assert_allclose(numbers, wanted, rtol=2e-7)
    assert numbers[-1] == 1


def test_kernels_compile_where_no_folder_can_keep_them():
    names = {}
    # A function of no file has no folder beside it.
    exec("def double(number):\n    return 2 * number", names)
    assert kernels._kept(names["double"])(3) == 6


def test_the_step_can_be_sent_to_a_worker():
    assert pickle.loads(pickle.dumps(on_numba.expect)) is on_numba.expect


def test_without_numba_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, on_numba.__name__)
    with pytest.raises(MissingPackageError, match=r"defragtrees\[numba\]"):
        make_engine("numba", None, None)


def in_shards(case, n_shards):
    weight = case.engine.sample_weight
    parts = np.array_split(np.arange(len(case.binned)), n_shards)
    shards = [
        Shard(case.binned.codes[own], {"answers": case.dense.y[own]}, weight[own])
        for own in parts
    ]
    return RowStore(
        LocalShards(shards, n_jobs=2),
        case.grid,
        Target(),
        case.dense.n_classes,
        case.binned.counts(),
        case.engine.total,
        len(case.binned),
    )


def in_memory(case):
    weight = case.engine.sample_weight
    return RowStore.of_table(case.binned, case.dense.y, case.layout.n_classes, weight)


class Both:
    """The numpy engine, with another one that is asked the same and must agree."""

    def __init__(self, engine, other):
        self.engine, self.other = engine, other
        self.total = engine.total

    def score(self, params):
        self.engine.score(params)
        self.other.score(params)

    def assign(self, penalty):
        weight, evidence = self.engine.assign(penalty)
        found = self.other.assign(penalty)
        np.testing.assert_allclose(found[0], weight, atol=1e-5 * self.total)
        np.testing.assert_allclose(found[1], evidence, rtol=1e-5, atol=1e-5)
        return weight, evidence

    def gather(self):
        wanted, found = self.engine.gather(), self.other.gather()
        for name in ("bins", "weight", "first", "second"):
            own, other = getattr(found, name), getattr(wanted, name)
            np.testing.assert_allclose(own, other, atol=1e-5 * self.total)
        assert found.total == wanted.total
        return wanted


@given(
    case=cases,
    n_shards=st.integers(0, 3),
    n_components=st.integers(1, 18),
    inference=st.sampled_from(["fab", "em"]),
    schedule=st.sampled_from(list(SCHEDULES.values())),
)
@settings(deadline=None, max_examples=40)
def test_all_steps_of_a_run_give_the_sums_of_numpy(
    case, n_shards, n_components, inference, schedule
):
    if not case.layout.n_classes:
        case.engine.target = np.round(case.engine.target, 9)
    rows = in_shards(case, n_shards) if n_shards else in_memory(case)
    engine = Both(case.engine, make_engine("numba", case.layout, rows))
    starts = case.starts([case.responsibilities(n_components) for _ in range(2)])
    loop = Settings(inference, max_iter=30, schedule=schedule)
    fitted, _ = run(engine, case.layout, starts, loop, range(2))
    assert len(fitted) == 2


# Rows enough and few iterations, so that rounding does not grow into another path.
@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weight", ["paper", 3.0])
def test_a_run_of_its_own_follows_numpy(n_classes, missing, weight):
    case = Case(0, 600, 4, n_classes, missing, True, weight)
    if not n_classes:
        case.engine.target = np.round(case.engine.target, 9)
    engine = make_engine("numba", case.layout, in_shards(case, 2))
    starts = case.starts([case.responsibilities(5) for _ in range(2)])
    _, wanted = run(case.engine, case.layout, starts, Settings(), range(2))
    _, found = run(engine, case.layout, starts, Settings(), range(2))
    other = {(step.restart, step.iteration): step for step in wanted}
    shared = [step for step in found if (step.restart, step.iteration) in other]
    assert len(shared) >= len(wanted) - 4
    for step in shared:
        twin = other[step.restart, step.iteration]
        assert step.n_components == twin.n_components
        assert step.objective == pytest.approx(twin.objective, rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(case=cases, n_components=st.integers(1, 11), n_restarts=st.integers(1, 2))
def test_tables_in_memory_give_the_numbers_of_numpy(case, n_components, n_restarts):
    right = case.engine
    own = on_numba.TableEngine.__new__(on_numba.TableEngine)
    own.__dict__.update(right.__dict__)
    own.keep_places()
    own = own.share()
    betas = [case.responsibilities(n_components) for _ in range(n_restarts)]
    params = case.starts(betas)
    penalty = case.rng.uniform(0, 3, (n_restarts, n_components))
    for engine in (right, own):
        engine.score(params)
    np.testing.assert_array_equal(own.scores, right.scores)
    for one, other in zip(own.assign(penalty), right.assign(penalty), strict=True):
        np.testing.assert_array_equal(one, other)
    one, other = own.gather(), right.gather()
    for name in ("bins", "weight", "first", "second"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    workspace = own.workspace(case.layout.levels, n_components * n_restarts)
    found = case.layout.maximize(one, workspace)
    wanted = case.layout.maximize(other)
    np.testing.assert_array_equal(found.table, wanted.table)


def test_tables_of_categories_alone_have_no_levels():
    sets = np.array([[True, False, False, False], [True, True, False, False]])
    grid = ThresholdGrid((sets,))
    codes = np.array([[0], [1], [2], [2]], dtype=np.uint8)
    layout = make_layout(grid, [np.array([1, 1, 2, 0, 0])], 2, 3.0)
    engines = [
        kind(layout, codes, np.array([0, 1, 1, 0]), np.ones(4))
        for kind in (on_numpy.NumpyEngine, on_numba.TableEngine)
    ]
    beta = np.array([[0.9, 0.2, 0.5, 0.4], [0.1, 0.8, 0.5, 0.6]])
    tables = []
    for engine in engines:
        engine.responsibilities = beta
        workspace = getattr(engine, "workspace", Workspace)(layout.levels, 2)
        tables.append(layout.maximize(engine.gather(), workspace).table)
    np.testing.assert_array_equal(*tables)
    assert np.isfinite(tables[0]).all()


def test_few_rows_stay_in_memory():
    case = Case(0, 40, 2, 2, False, False, 3.0)
    rows = RowStore.of_table(case.binned, case.dense.y, 2, np.ones(40))
    assert isinstance(make_engine("numba", case.layout, rows), on_numba.TableEngine)
