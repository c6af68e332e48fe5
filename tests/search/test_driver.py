"""From rows to candidates: what a search on a sample of the rows finds."""

import numpy as np
import pytest

from defragtrees.data.grid import ThresholdGrid
from defragtrees.search import driver
from defragtrees.search.boxes import RuleLoss, make_table
from defragtrees.search.driver import SEARCHES
from defragtrees.search.limits import Limits
from defragtrees.search.points import NumberLoss

N_ROWS = 150


class FirstRows:
    """Draws the first rows of a table."""

    def choice(self, rows, n, replace):
        return rows[:n]


@pytest.mark.parametrize("form", SEARCHES)
def test_a_sample_is_searched_as_the_table_that_repeats_it(monkeypatch, form):
    """Weight, prices and limits are those of all rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    signal = np.sin(2 * X[:, :1]) + (X[:, 1:2] > 0.5)
    signal += 0.3 * rng.normal(size=(N_ROWS, 1))
    grid = ThresholdGrid((np.linspace(-1.5, 1.5, 16),) * 3)
    X, signal = np.tile(X, (4, 1)), np.tile(signal, (4, 1))
    make = NumberLoss if form == "points" else RuleLoss
    loss = make(signal, np.full(len(X), 0.5), 0.01)
    table = make_table(grid, grid.bin(X), least_price=0.01 * loss.total_weight)
    found = []
    for n_rows in (N_ROWS, len(X)):
        monkeypatch.setattr(driver, "SEARCH_ROWS", n_rows)
        limits = Limits(6, min_coverage=0.05)
        lists, _ = SEARCHES[form].searched(limits, FirstRows(), table, loss)
        found.append(
            [
                [{j: mask.tolist() for j, mask in box.items()} for box in boxes]
                for boxes in lists
            ]
        )
    assert found[0] == found[1]
    assert max(map(len, found[0])) > 2
