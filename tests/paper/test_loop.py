"""The loop gives what the paper's equations give, written out over all statements."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.data.store import Target
from defragtrees.paper import fit as fit_module
from defragtrees.paper.fit import (
    SCHEDULES,
    Schedule,
    Settings,
    Starts,
    draw_rest,
    random_params,
    run,
)
from tests.paper.problems import Case, cases
from tests.reference import dense_mixture


def by_restart(history):
    found = {}
    for step in history:
        found.setdefault(step.restart, []).append(step)
    return list(found.values())


# In how many iterations at the start how many inner steps, and how many later.
STEPS = {"gentle": (3, 1, 10), "original": (5, 2, 10), "converged": (0, 0, 30)}


def test_every_schedule_has_its_oracle():
    assert set(STEPS) == set(SCHEDULES)


# Centre and scale of y; the dense equations see it in these units.
UNITS = [Target(), Target("y", 22.0, 10.0), Target("y", -0.3, 0.01)]


@pytest.mark.parametrize(
    ("inference", "e_step"),
    [("em", "gentle"), ("em", "original"), *(("fab", name) for name in STEPS)],
)
@given(
    case=cases,
    n_components=st.integers(1, 8),
    n_restarts=st.integers(1, 3),
    units=st.sampled_from(UNITS),
)
def test_bound_and_number_of_components_are_those_of_the_dense_equations(
    inference, e_step, case, n_components, n_restarts, units
):
    draws_all = SCHEDULES[e_step].draws_all
    if case.layout.n_classes or not draws_all:
        units = Target()
    betas = [case.responsibilities(n_components) for _ in range(n_restarts)]
    starts, shares, drawn = drawn_starts(case, betas, units if draws_all else None)
    dense = in_units(case.dense, units)
    loop = Settings(inference, max_iter=25, schedule=SCHEDULES[e_step])
    fitted, history = run(case.engine, case.layout, starts, loop, range(n_restarts))
    assert len(fitted) == n_restarts
    total = case.engine.total
    for i, steps in enumerate(by_restart(history)):
        expected, _ = dense_mixture.run(
            dense,
            betas[i],
            inference,
            max_iter=25,
            early=STEPS[e_step][:2],
            inner_iter=STEPS[e_step][2],
            n_k=None if shares is None else shares[i] * total,
            drawn=None if drawn is None else drawn[i],
        )
        # The density of y in other units is so many times smaller.
        smaller = total * np.log(units.scale)
        bounds = [value + smaller for value, _, _ in expected]
        found = [step.objective for step in steps]
        # Whether the last iteration is taken may hang on the last bit of a rise.
        n_both = min(len(bounds), len(found))
        assert abs(len(bounds) - len(found)) <= 1
        np.testing.assert_allclose(
            found[:n_both], bounds[:n_both], rtol=1e-9, atol=1e-9 * abs(smaller)
        )
        assert [s.n_components for s in steps][:n_both] == [k for _, k, _ in expected][
            :n_both
        ]


def drawn_starts(case, betas, units):
    """Starts; of each restart shares, and what is drawn in the units of y, if any is.

    These are proportions, precisions and means.
    """
    params = case.starts(betas)
    if units is None:
        return params, None, None
    seed = int(case.rng.integers(10**6))
    in_units_of_y, starts = (
        draw_rest(params, len(case.codes), generators(seed, len(betas)), target)
        for target in (Target(), units)
    )
    own = in_units_of_y.params
    np.testing.assert_array_equal(own.mean, params.mean)
    drawn = np.array([np.exp(own.log_weight), own.precision, own.mean])
    return starts, starts.share, drawn.reshape(3, *starts.share.shape).swapaxes(0, 1)


def generators(seed, n):
    return np.random.default_rng(seed).spawn(n)


def in_units(dense, units):
    """The same problem with y in these units."""
    if dense.n_classes:
        return dense
    y = units.center + units.scale * dense.y
    return dataclasses.replace(dense, y=y, scale=units.scale)


@pytest.mark.parametrize("schedule", [*SCHEDULES.values(), Schedule(2, 3, 1)])
@given(
    case=cases,
    n_components=st.integers(2, 10),
    inference=st.sampled_from(["fab", "em"]),
    units=st.sampled_from([None, *UNITS]),
)
def test_bound_never_falls_except_where_a_component_is_dropped(
    schedule, case, n_components, inference, units
):
    start, _, _ = drawn_starts(case, [case.responsibilities(n_components)], units)
    loop = Settings(inference, max_iter=40, tol=0.0, schedule=schedule)
    _, history = run(case.engine, case.layout, start, loop, [0])
    for before, after in pairwise(history):
        if after.n_components == before.n_components:
            slack = 1e-10 * abs(before.objective)
            assert after.objective >= before.objective - slack


class CountingSteps:
    """An engine that counts the inner steps of every iteration."""

    def __init__(self, engine):
        self.engine, self.total, self.counts = engine, engine.total, []

    def score(self, params):
        self.counts.append(0)
        self.engine.score(params)

    def assign(self, penalty):
        self.counts[-1] += 1
        return self.engine.assign(penalty)

    def gather(self):
        return self.engine.gather()


@pytest.mark.parametrize(
    ("e_step", "most"),
    [
        ("gentle", [1, 1, 1, 10, 10, 10, 10]),
        ("original", [2, 2, 2, 2, 2, 10, 10]),
        ("converged", [30, 30, 30, 30, 30, 30, 30]),
    ],
)
def test_an_e_step_takes_as_many_inner_steps_as_its_schedule_says(
    e_step, most, monkeypatch
):
    monkeypatch.setattr(fit_module, "NEGLIGIBLE", -1.0)
    case = Case(4, 100, 3, 2, False, False)
    start = case.starts([case.responsibilities(3)])
    # Nothing is too small a rise, and nothing is dropped, so all steps are taken.
    loop = Settings(max_iter=7, tol=-1.0, schedule=SCHEDULES[e_step], min_share=0.0)
    engine = CountingSteps(case.engine)
    run(engine, case.layout, start, loop, [0])
    assert engine.counts == most


def test_more_inner_steps_at_the_start_leave_fewer_components():
    counts = {}
    for name, schedule in SCHEDULES.items():
        counts[name] = 0
        for seed in range(6):
            case = Case(seed, 120, 3, 2, False, False)
            start = case.starts([case.responsibilities(8)])
            loop = Settings(schedule=schedule)
            fitted, _ = run(case.engine, case.layout, start, loop, [0])
            counts[name] += len(fitted[0].statistics.weight)
    assert counts["converged"] < counts["original"] < counts["gentle"]


def test_drawn_shares_are_as_near_to_even_as_the_sums_of_all_rows():
    grid = Case(0, 30, 2, 2, False, False).layout
    rng = np.random.default_rng(0)
    spreads = {}
    for n_rows in (100, 10_000):
        params = random_params(grid, 4 * 200, rng)
        starts = draw_rest(params, n_rows, rng.spawn(200), Target())
        assert isinstance(starts, Starts)
        np.testing.assert_allclose(starts.share.sum(axis=1), 1.0)
        alphas = np.exp(starts.params.log_weight).reshape(200, 4)
        np.testing.assert_allclose(alphas.sum(axis=1), 1.0)
        assert alphas.std() > 0.05
        precision = starts.params.precision
        assert precision.min() > 0
        assert precision.std() > 0.2
        spreads[n_rows] = starts.share.std()
    # The share of one in the sum of four uniform numbers has a variance of 0.0195.
    assert spreads[100] == pytest.approx((0.0195 / 100) ** 0.5, rel=0.25)
    assert spreads[10_000] == pytest.approx((0.0195 / 10_000) ** 0.5, rel=0.25)


def test_em_keeps_every_component():
    case = Case(3, 60, 3, 2, False, False)
    start = case.starts([case.responsibilities(6)])
    fitted, _ = run(case.engine, case.layout, start, Settings("em"), [0])
    assert len(fitted[0].statistics.weight) == 6


def test_fab_drops_components_that_split_one_cluster():
    case = Case(5, 120, 2, 2, False, False)
    start = case.starts([case.responsibilities(8)])
    fitted, history = run(case.engine, case.layout, start, Settings(), [0])
    assert len(fitted[0].statistics.weight) < 8
    assert history[-1].n_components == len(fitted[0].statistics.weight)


def test_whole_number_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    base = Case(11, 50, 3, 2, True, False)
    times = rng.integers(1, 4, 50)
    beta = base.responsibilities(4)
    engine = type(base.engine)
    y = base.dense.y
    weighted = engine(base.layout, base.codes, y, times.astype(float))
    codes = np.repeat(base.codes, times, axis=0)
    repeated = engine(base.layout, codes, np.repeat(y, times), np.ones(times.sum()))
    bounds = []
    for one, rows in ((weighted, beta), (repeated, np.repeat(beta, times, axis=0))):
        one.responsibilities = rows.T
        start = base.layout.maximize(one.gather())
        _, history = run(one, base.layout, start, Settings(), [0])
        bounds.append([step.objective for step in history])
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-10)


def test_callback_sees_every_step_and_can_stop_the_fit():
    case = Case(7, 80, 3, 2, False, False)
    seen = []

    def stop_at_third(step):
        seen.append(step)
        return step.iteration == 3

    start = case.starts([case.responsibilities(5)])
    fitted, history = run(
        case.engine, case.layout, start, Settings(), [0], stop_at_third
    )
    assert seen == history
    assert len(history) == 3
    assert not fitted[0].converged


def test_settled_restart_says_so_and_an_unfinished_one_does_not():
    case = Case(9, 80, 2, 2, False, False)
    start = case.starts([case.responsibilities(4)])
    fitted, _ = run(case.engine, case.layout, start, Settings(max_iter=500), [0])
    assert fitted[0].converged
    fitted, _ = run(case.engine, case.layout, start, Settings(max_iter=2), [0])
    assert not fitted[0].converged
