"""Intervals contain what they say, in samples whose truth is known."""

import numpy as np

from defragtrees.outcomes.intervals import mean_interval


def test_a_mean_has_an_interval_that_contains_it_in_new_rows():
    rng = np.random.default_rng(0)
    n, covered = 60, []
    for _ in range(300):
        y = rng.lognormal(size=n)
        low, high = mean_interval(y.mean(), y.std(), n, is_positive=True)
        assert 0 < low < y.mean() < high
        covered.append(low <= np.exp(0.5) <= high)
    assert np.mean(covered) > 0.88  # of skewed numbers; Student's on them has 0.9
    samples = rng.normal(size=(300, n))
    normal = [mean_interval(y.mean(), y.std(), n) for y in samples]
    assert np.mean([low <= 0 <= high for low, high in normal]) > 0.92
