"""The loop gives what the paper's equations give, written out over all statements."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.mixture.loop import Settings, run
from tests.mixture.problems import Case, cases
from tests.reference import dense_mixture


def by_restart(history):
    found = {}
    for step in history:
        found.setdefault(step.restart, []).append(step)
    return list(found.values())


@pytest.mark.parametrize("inference", ["fab", "em"])
@given(case=cases, n_components=st.integers(1, 8), n_restarts=st.integers(1, 3))
def test_bound_and_number_of_components_are_those_of_the_dense_equations(
    inference, case, n_components, n_restarts
):
    betas = [case.responsibilities(n_components) for _ in range(n_restarts)]
    loop = Settings(inference=inference, max_iter=25)
    fitted, history = run(
        case.engine, case.layout, case.starts(betas), loop, range(n_restarts)
    )
    assert len(fitted) == n_restarts
    for beta, steps in zip(betas, by_restart(history), strict=True):
        expected, _ = dense_mixture.run(case.dense, beta, inference, max_iter=25)
        bounds = [value for value, _, _ in expected]
        found = [step.objective for step in steps]
        # Whether the last iteration is taken may hang on the last bit of a rise.
        n_both = min(len(bounds), len(found))
        assert abs(len(bounds) - len(found)) <= 1
        np.testing.assert_allclose(found[:n_both], bounds[:n_both], rtol=1e-9)
        assert [s.n_components for s in steps][:n_both] == [k for _, k, _ in expected][
            :n_both
        ]


@given(
    case=cases,
    n_components=st.integers(2, 10),
    inference=st.sampled_from(["fab", "em"]),
    gentle=st.integers(0, 3),
)
def test_bound_never_falls_except_where_a_component_is_dropped(
    case, n_components, inference, gentle
):
    start = case.starts([case.responsibilities(n_components)])
    loop = Settings(inference=inference, max_iter=40, tol=0.0, gentle_iter=gentle)
    _, history = run(case.engine, case.layout, start, loop, [0])
    for before, after in pairwise(history):
        if after.n_components == before.n_components:
            slack = 1e-10 * abs(before.objective)
            assert after.objective >= before.objective - slack


def test_em_keeps_every_component():
    case = Case(3, 60, 3, 2, False, False, "paper")
    start = case.starts([case.responsibilities(6)])
    fitted, _ = run(case.engine, case.layout, start, Settings("em"), [0])
    assert len(fitted[0].statistics.weight) == 6


def test_fab_drops_components_that_split_one_cluster():
    case = Case(5, 120, 2, 2, False, False, "paper")
    start = case.starts([case.responsibilities(8)])
    fitted, history = run(case.engine, case.layout, start, Settings(), [0])
    assert len(fitted[0].statistics.weight) < 8
    assert history[-1].n_components == len(fitted[0].statistics.weight)


def test_whole_number_weights_count_as_repeated_rows():
    rng = np.random.default_rng(0)
    base = Case(11, 50, 3, 2, True, False, 3.0)
    times = rng.integers(1, 4, 50)
    beta = base.responsibilities(4)
    engine = type(base.engine)
    y = base.dense.y
    weighted = engine(base.layout, base.binned.codes, y, times.astype(float))
    codes = np.repeat(base.binned.codes, times, axis=0)
    repeated = engine(base.layout, codes, np.repeat(y, times), np.ones(times.sum()))
    bounds = []
    for one, rows in ((weighted, beta), (repeated, np.repeat(beta, times, axis=0))):
        one.responsibilities = rows.T
        start = base.layout.maximize(one.gather())
        _, history = run(one, base.layout, start, Settings(), [0])
        bounds.append([step.objective for step in history])
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=1e-10)


def test_callback_sees_every_step_and_can_stop_the_fit():
    case = Case(7, 80, 3, 2, False, False, 3.0)
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
    case = Case(9, 80, 2, 2, False, False, 3.0)
    start = case.starts([case.responsibilities(4)])
    fitted, _ = run(case.engine, case.layout, start, Settings(max_iter=500), [0])
    assert fitted[0].converged
    fitted, _ = run(case.engine, case.layout, start, Settings(max_iter=2), [0])
    assert not fitted[0].converged
