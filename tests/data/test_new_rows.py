"""New rows: near the data, with its values, its distributions and its weights."""

import numpy as np
import pytest

from defragtrees.data.sampling import SCOTT, draw_rows

NO_SETS = np.zeros(2, dtype=bool)


def generator():
    return np.random.default_rng(0)


def test_rows_keep_to_the_values_of_their_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 3, 50)])
    drawn = draw_rows(X, 300, np.array([False, True]), rng)
    assert drawn.shape == (300, 2)
    for j in range(2):
        assert set(drawn[:, j]) <= set(X[:, j])
    known = {tuple(row) for row in X}
    assert sum(tuple(row) not in known for row in drawn) > 150


def test_rows_move_as_the_columns_do():
    rng = np.random.default_rng(1)
    first = rng.normal(size=2000)
    X = np.column_stack([first, first + 0.05 * rng.normal(size=2000)])
    X[::50, 1] = np.nan
    new = draw_rows(X, 4000, NO_SETS, rng)
    there = ~np.isnan(new).any(axis=1)
    assert np.corrcoef(new[there].T)[0, 1] > 0.95


def test_each_column_keeps_its_distribution():
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [
            rng.exponential(size=1000),
            rng.integers(0, 4, 1000),  # whole numbers, each in many rows
            rng.choice([0.0, 1.0, 2.0], 1000, p=[0.6, 0.3, 0.1]),  # categories
        ]
    )
    X[:200, 0] = np.nan
    new = draw_rows(X, 40_000, np.array([False, False, True]), generator())
    for j in range(3):
        values = np.unique(X[:, j])
        before, after = (
            [np.isnan(own).mean(), *(np.mean(own[:, None] <= values, axis=0))]
            for own in (X[:, j], new[:, j])
        )
        np.testing.assert_allclose(after, before, atol=0.015)


def test_whole_numbers_stay_whole_and_columns_without_a_value_stay_so():
    X = np.column_stack([np.arange(30.0) // 4, np.full(30, np.nan)])
    new = draw_rows(X, 500, NO_SETS, generator())
    assert (new[:, 0] == np.floor(new[:, 0])).all()
    assert np.isnan(new[:, 1]).all()
    same = draw_rows(np.full((30, 2), 7.0), 50, NO_SETS, generator())
    assert (same == 7.0).all()


def test_steps_are_shorter_the_more_rows_there_are():
    for n_rows in (100, 3000):
        X = np.column_stack([np.arange(float(n_rows)), np.arange(float(n_rows))[::-1]])
        reach = SCOTT * n_rows**-0.2
        new = draw_rows(X, 4000, NO_SETS, generator())
        # Both columns move together, so a row is still on the line or near it.
        apart = np.abs(new.sum(axis=1) - n_rows + 1)
        assert np.median(apart) < 0.5 * reach * n_rows
        # A category is seldom that of another row.
        swapped = draw_rows(X, 4000, ~NO_SETS, generator())
        is_swapped = swapped.sum(axis=1) != n_rows - 1
        assert is_swapped.mean() == pytest.approx(1 - (1 - reach) ** 2, abs=0.03)


def test_every_row_is_drawn_equally_often():
    X = np.random.default_rng(5).normal(size=(200, 2))
    X[:, 0] = np.arange(200) // 100  # one step seldom crosses the middle
    new = draw_rows(X, 1000, np.array([True, False]), generator())
    near = np.abs(new[:, None, 1] - X[None, :, 1]).argmin(axis=1)
    assert len(np.unique(near)) > 150
    # Weights decide how often.
    weight = np.where(X[:, 0] > 0, 3.0, 1.0)
    new = draw_rows(X, 1000, np.array([True, False]), generator(), weight=weight)
    assert new[:, 0].mean() == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("has_twins", [False, True])
def test_a_row_of_weight_two_is_a_row_given_twice(has_twins):
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 9, 40)])
    X = np.column_stack([X, rng.integers(0, 3, 40)])
    X[::7, 1] = np.nan
    if has_twins:  # their correlation has no inverse
        X[:, 1] = 3 * X[:, 0]
    weight = rng.integers(1, 4, 40)
    is_set = np.array([False, False, True])
    weighted = draw_rows(X, 5000, is_set, generator(), weight=weight.astype(float))
    repeated = draw_rows(np.repeat(X, weight, axis=0), 5000, is_set, generator())
    np.testing.assert_array_equal(weighted, repeated)
    # Its unit does not matter, nor rows that weigh nothing.
    X, weight = np.vstack([X, np.zeros(3)]), np.append(3.0 * weight, 0.0)
    more = draw_rows(X, 5000, is_set, generator(), weight=weight)
    np.testing.assert_array_equal(more, weighted)


def test_the_order_of_columns_does_not_matter():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(60, 2)), rng.integers(0, 3, 60)])
    is_set, moved = np.array([False, False, True]), [2, 0, 1]
    new = draw_rows(X, 300, is_set, generator())
    order = np.argsort(moved)
    other = draw_rows(X[:, moved], 300, is_set[moved], generator(), order=order)
    np.testing.assert_array_equal(other, new[:, moved])
