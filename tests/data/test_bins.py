"""Bins, and thresholds of few digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid

numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: float(np.round(x, 3)))


def test_value_on_a_threshold_goes_with_the_lower_bin():
    grid = ThresholdGrid(([1.0, 2.0],))
    x = [[0.5], [1.0], [np.nextafter(1.0, 2)], [2.0], [2.5]]
    assert grid.bin(x).ravel().tolist() == [0, 0, 1, 1, 2]


@given(st.lists(numbers, min_size=1, max_size=30), st.lists(numbers, max_size=20))
def test_bin_is_at_most_j_exactly_when_x_is_at_most_threshold_j(values, thresholds):
    thresholds = np.unique(thresholds)
    codes = ThresholdGrid((thresholds,)).bin(np.array(values)[:, None])[:, 0]
    for x, code in zip(values, codes, strict=True):
        for j, t in enumerate(thresholds):
            assert (code <= j) == (x <= t)


def test_missing_has_the_last_bin_and_categories_their_position():
    sets = np.array([[True, False, False], [True, True, False]])
    grid = ThresholdGrid(([0.0], sets))
    codes = grid.bin([[np.nan, 1.0], [5.0, np.nan], [0.0, 2.0], [1.0, 9.0]])
    assert codes.tolist() == [[2, 1], [1, 3], [0, 2], [1, 2]]
    assert grid.n_bins.tolist() == [3, 4]
    assert grid.is_categorical(1)


@pytest.mark.parametrize(
    ("n_thresholds", "dtype"), [(3, np.uint8), (254, np.uint8), (255, np.uint16)]
)
def test_codes_have_the_smallest_dtype(n_thresholds, dtype):
    grid = ThresholdGrid((np.arange(n_thresholds, dtype=float),))
    assert grid.bin([[0.0], [np.nan]]).dtype == dtype


def test_seventy_thousand_thresholds_fit():
    grid = ThresholdGrid((np.arange(70_000.0),))
    codes = grid.bin([[69_999.5], [np.nan]])
    assert codes.dtype == np.uint32
    assert codes.ravel().tolist() == [70_000, 70_001]


@given(
    st.lists(numbers, min_size=1, max_size=40),
    st.lists(st.floats(-1e6, 1e6), max_size=30),
)
def test_shortening_moves_no_training_row_and_loses_no_statement(values, thresholds):
    X = np.array(values)[:, None]
    grid = ThresholdGrid((np.unique(thresholds),))
    short = grid.shorten(X)
    before = X > grid.splits[0]
    after = np.repeat(X > short.splits[0], short.counts[0], axis=1)
    assert short.counts[0].sum() == len(grid.splits[0])
    assert sorted(map(tuple, before.T)) == sorted(map(tuple, after.T))


def test_shortened_thresholds_read_well():
    X = np.array([[0.0], [0.1234], [0.1301], [1.0], [7.0]])
    thresholds = [0.12671, 0.5000000074505806, 3.99999999]
    short = ThresholdGrid((thresholds,)).shorten(X)
    assert short.splits[0].tolist() == [0.127, 0.5, 4.0]


def test_shortening_stays_near_the_threshold():
    X = np.array([[100.0], [900.0]])
    assert ThresholdGrid(([512.3],)).shorten(X).splits[0].tolist() == [500.0]


def test_unsorted_thresholds_are_refused():
    with pytest.raises(ValueError, match="sorted and distinct"):
        ThresholdGrid(([2.0, 1.0],))


def test_grids_compare_by_value_and_are_read_only():
    grid = ThresholdGrid(([1.0, 2.0],))
    assert grid == ThresholdGrid(([1.0, 2.0],))
    assert grid != ThresholdGrid(([1.0, 2.5],))
    with pytest.raises(ValueError, match="read-only"):
        grid.splits[0][0] = 5.0


def test_cuts_between_whole_numbers_are_whole_numbers():
    X = np.array([[2.0, 0.0, 37.0], [3.0, 1.0, 44.0], [7.0, 1.0, 1020.0]])
    grid = ThresholdGrid(
        (np.array([2.9, 4.1]), np.array([0.5]), np.array([40.2, 99.9]))
    )
    shorter = grid.shorten(X)
    assert [split.tolist() for split in shorter.splits] == [
        [2.0, 4.0],
        [0.0],
        [40.0, 100.0],
    ]
    assert (shorter.bin(X) == grid.bin(X)).all()


def test_whole_numbers_with_a_split_at_infinity_are_shortened():
    grid = ThresholdGrid(([1.5, np.inf],))
    shorter = grid.shorten(np.array([[1.0], [2.0], [np.nan]]))
    assert shorter.splits[0].tolist() == [1.0, np.inf]
