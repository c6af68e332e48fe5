"""Rows in shards give the bound of rows in one piece, however they are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

from defragtrees.data import sources
from defragtrees.data.shards import LocalShards, Shard, joined
from defragtrees.data.store import RowStore, Target
from defragtrees.paper import FABRulesRegressor
from defragtrees.paper.engine import ShardEngine
from defragtrees.paper.fit import training_losses
from defragtrees.paper.loop import SCHEDULES, Settings, run
from tests.paper.problems import Case, cases


def shard_rows(case, n_shards, n_jobs=1):
    y, weight = case.dense.y, case.engine.sample_weight
    codes = np.ascontiguousarray(case.binned.codes)
    places = np.array_split(np.arange(len(y)), n_shards)
    shards = [Shard(codes[own], {"answers": y[own]}, weight[own]) for own in places]
    return RowStore(
        LocalShards(shards, n_jobs),
        case.grid,
        Target(),
        case.dense.n_classes,
        case.binned.counts(),
        case.engine.total,
        len(y),
    )


def rounded(case):
    """The case with a target that rounding to 9 digits leaves as it is."""
    if case.engine.target is not None:
        case.dense.y[:] = np.round(case.dense.y, 9)
        case.engine.target = case.dense.y
    return case


@given(
    case=cases,
    n_components=st.integers(1, 8),
    n_restarts=st.integers(1, 3),
    n_shards=st.integers(1, 5),
    schedule=st.sampled_from(list(SCHEDULES.values())),
)
def test_bound_is_that_of_a_table(case, n_components, n_restarts, n_shards, schedule):
    case = rounded(case)
    starts = case.starts(
        [case.responsibilities(n_components) for _ in range(n_restarts)]
    )
    engine = ShardEngine(case.layout, shard_rows(case, n_shards))
    settings = Settings(max_iter=25, schedule=schedule)
    _, expected = run(case.engine, case.layout, starts, settings, range(n_restarts))
    _, found = run(engine, case.layout, starts, settings, range(n_restarts))
    n_both = min(len(found), len(expected))
    # Whether the last iteration is taken may hang on the last bit of a rise.
    assert abs(len(found) - len(expected)) <= n_restarts
    for a, b in zip(found[:n_both], expected[:n_both], strict=True):
        if a.restart == b.restart and a.iteration == b.iteration:
            assert a.objective == pytest.approx(b.objective, rel=1e-10)
            assert a.n_components == b.n_components


@given(case=cases, n_components=st.integers(1, 6))
def test_losses_are_those_of_the_posterior(case, n_components):
    case = rounded(case)
    starts = case.starts([case.responsibilities(n_components) for _ in range(2)])
    fitted, _ = run(case.engine, case.layout, starts, Settings(max_iter=5), range(2))
    losses = training_losses(case.engine, case.layout, fitted)
    weight, y = case.engine.sample_weight, case.dense.y
    for one, loss in zip(fitted, losses, strict=True):
        answers, margin = by_hand(case, one.statistics)
        wrong = answers != y if case.dense.n_classes else (answers - y) ** 2
        # Two components that are equally likely share a row.
        unsure = weight[margin < 1e-3].sum() / weight.sum()
        tolerance = unsure * (np.ptp(y) + 1) ** 2 * 4 + 1e-9
        assert loss == pytest.approx(np.average(wrong, weights=weight), abs=tolerance)


def by_hand(case, statistics):
    """Answers by the likeliest component, and by how many nats it is that."""
    params = case.layout.maximize(statistics)
    scores = np.tile(params.log_weight, (len(case.binned), 1))
    for block in case.layout.blocks:
        column = case.binned.codes[:, block.feature]
        scores += params.table[block.rows[np.searchsorted(block.codes, column)]]
    answers = statistics.first / np.maximum(statistics.weight, 1e-300)
    if case.dense.n_classes:
        answers = statistics.bins[case.layout.class_start :].argmax(axis=0)
    ranked = np.sort(scores, axis=1)
    margin = ranked[:, -1] - ranked[:, -2] if scores.shape[1] > 1 else np.inf
    return answers[scores.argmax(axis=1)], np.broadcast_to(margin, len(scores))


def test_number_of_threads_changes_no_bit():
    case = Case(4, 120, 4, 3, True, True, 3.0)
    starts = case.starts([case.responsibilities(5)])
    bounds = []
    for n_jobs in (1, 4):
        engine = ShardEngine(case.layout, shard_rows(case, 7, n_jobs))
        _, history = run(engine, case.layout, starts, Settings(), [0])
        bounds.append([step.objective for step in history])
    assert bounds[0] == bounds[1]


def test_one_visit_does_for_an_iteration_once_the_penalties_stand_still():
    case = Case(8, 120, 3, 2, False, False, 3.0)
    rows = shard_rows(case, 2)
    visits = []
    total = rows.shards.total
    rows.shards.total = lambda *args: visits.append(args) or total(*args)
    engine = ShardEngine(case.layout, rows)
    start = case.starts([case.responsibilities(3)])
    settings = Settings("em", max_iter=6, tol=0.0)
    _, history = run(engine, case.layout, start, settings, [0])
    assert len(visits) == len(history) == 6


def test_small_shards_are_joined_in_their_order():
    shards = [
        Shard(np.full((n, 2), n), {"answers": np.arange(n)}) for n in (3, 1, 9, 2, 2)
    ]
    found = joined(shards, 8)
    assert [len(shard) for shard in found] == [4, 9, 4]
    codes = np.concatenate([shard.codes for shard in found])
    np.testing.assert_array_equal(
        codes[:, 0], np.repeat([3, 1, 9, 2, 2], [3, 1, 9, 2, 2])
    )
    assert found[0].weight is None
    assert found[0].targets["answers"].tolist() == [0, 1, 2, 0]


def test_of_restarts_without_loss_the_one_with_fewest_components_is_kept(monkeypatch):
    monkeypatch.setattr(sources, "MANY_ROWS", 800)
    X = np.random.default_rng(0).random((1500, 3))
    y = 3.0 + 2.5 * (X[:, 0] > 0.5) - 1.5 * (X[:, 1] > 0.3)
    forest = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    given = {"e_step": "gentle", "n_restarts": 8, "random_state": 2}
    found = FABRulesRegressor(forest, screening=False, **given).fit(X, y)
    # Sums over rows leave 1e-16 of some losses, and nothing of others.
    np.testing.assert_allclose(found.predict_posterior(X), y, atol=1e-9)
    assert found.posterior_.n_components == 4
