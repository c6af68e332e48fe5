"""Codes and bins of rows, against the grid row by row."""

import numpy as np

from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.shards import TILE_ROWS, code_rows


def test_codes_and_ranges_of_bins_are_those_of_the_rows():
    rng = np.random.default_rng(3)
    n_rows = TILE_ROWS + 100
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] = rng.integers(-5, 5, n_rows)
    X[:, 2] = rng.integers(0, 6, n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    splits = np.unique(rng.normal(size=300))
    X[:100, 0] = rng.choice(splits, 100)  # on a threshold
    grid = ThresholdGrid((splits, np.empty(0), rng.random((4, 6)) < 0.5, [0.5]))
    codes, (counts, low, high, is_integer) = code_rows(grid, X)
    assert codes.dtype == np.uint16
    assert codes.flags.c_contiguous
    np.testing.assert_array_equal(codes, grid.bin(X))
    assert is_integer.tolist() == [False, True, True, False]
    for j in range(4):
        for code, n in enumerate(counts[j]):
            values = X[codes[:, j] == code, j]
            assert n == len(values)
            if code < len(counts[j]) - 1:
                assert low[j][code] == values.min(initial=np.inf)
                assert high[j][code] == values.max(initial=-np.inf)
