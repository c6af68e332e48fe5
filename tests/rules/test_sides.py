"""What is said of an interval, and that it is what is asked."""

import math
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid
from defragtrees.rules.conditions import Condition, sides_of

SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
INTEGERS = st.integers(-1200, 1200).map(float)
BOUND = st.one_of(st.just(math.inf), INTEGERS)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (2, math.inf, "x >= 3"),
        (-math.inf, 2, "x <= 2"),
        (39, math.inf, "x >= 40"),
        (-math.inf, 39, "x < 40"),
        (40, math.inf, "x > 40"),
        (-math.inf, 40, "x <= 40"),
        (18, 19, "x is 19"),
        (-1, 0, "x is 0"),
        (18, 20, "19 <= x <= 20"),
        (20, 39, "20 < x < 40"),
        (1999, math.inf, "x >= 2000"),
        (-3, math.inf, "x >= -2"),
    ],
)
def test_whole_numbers_read_as_a_person_writes_them(lower, upper, text):
    condition = Condition(0, lower=lower, upper=upper, is_integer=True)
    assert condition.text(["x"]) == text


@pytest.mark.parametrize(
    ("lower", "upper", "text"),
    [
        (2.5, math.inf, "x > 2.5"),
        (math.nextafter(10, 0), math.inf, "x >= 10"),
        (-math.inf, math.nextafter(10, 0), "x < 10"),
        (math.nextafter(0.5, 0), 0.5, "x is 0.5"),
        (2.0, 3.0, "2 < x <= 3"),
    ],
)
def test_other_numbers_are_said_in_the_shortest_way(lower, upper, text):
    assert Condition(0, lower=lower, upper=upper).text(["x"]) == text


@given(st.booleans(), BOUND, BOUND, st.one_of(NUMBER, INTEGERS))
def test_what_is_said_is_what_is_asked(is_integer, one, other, x):
    lower, upper = -one if one == math.inf else one, other
    if lower >= upper:
        return
    condition = Condition(0, lower=lower, upper=upper, is_integer=is_integer)
    by_text = all(SIGNS[sign](x, value) for sign, value in condition.sides)
    assert bool(condition.covers([x])[0]) == by_text
    low, high = Condition(0, lower, upper, is_integer=is_integer).bounds
    assert (low < x <= high) == by_text
    if x == math.floor(x):
        assert by_text == (lower < x <= upper)


@given(NUMBER, NUMBER, st.one_of(NUMBER))
def test_neighbouring_doubles_are_told_apart(lower, upper, x):
    if lower >= upper:
        return
    for value in (x, lower, upper, math.nextafter(lower, math.inf)):
        said = all(SIGNS[s](value, bound) for s, bound in sides_of(lower, upper))
        assert said == (lower < value <= upper)


def test_one_number_is_one_condition():
    assert Condition(0, lower=18, upper=19, is_integer=True).n_sides == 1
    assert Condition(0, lower=17, upper=19, is_integer=True).n_sides == 2


@pytest.mark.parametrize(
    ("values", "threshold", "below", "above"),
    [
        ([0, 1], 0.5, "x is 0", "x is 1"),
        ([1, 2], 1.5, "x is 1", "x is 2"),
        ([-1, 1], 0.0, "x is -1", "x is 1"),
        ([0, 3, 9], 1.2, "x is 0", "x >= 1"),
        ([0, 1, 9], 0.5, "x is 0", "x >= 1"),
        ([2, 3, 4], 2.5, "x <= 2", "x >= 3"),
        ([37, 44], 40.2, "x is 37", "x is 44"),
        ([37, 38, 44], 40.2, "x <= 40", "x > 40"),
        ([0.5, 1, 2], 1.5, "x <= 1", "x > 1"),
        ([980, 1037.5], 1003.0, "x <= 1000", "x > 1000"),
        ([9.99, 10], 9.995, "x < 10", "x >= 10"),
    ],
)
def test_a_cut_reads_by_what_the_rows_have(values, threshold, below, above):
    X = np.array(values, dtype=float)[:, None]
    grid = ThresholdGrid(([threshold],)).shorten(X)
    sides = np.array([True, False, False]), np.array([False, True, False])
    conditions = [grid.condition(0, accepts) for accepts in sides]
    assert [c.text(["x"]) for c in conditions] == [below, above]
    is_below = X[:, 0] <= threshold
    assert (conditions[0].covers(X[:, 0]) == is_below).all()
    assert (conditions[1].covers(X[:, 0]) == ~is_below).all()


@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=12),
    st.lists(st.floats(-31, 31), min_size=1, max_size=6, unique=True),
)
def test_conditions_on_whole_numbers_hold_in_the_rows_of_their_bins(values, cuts):
    X = np.array(values, dtype=float)[:, None]
    grid = ThresholdGrid((np.unique(np.array(cuts) + 0.0),)).shorten(X)
    codes = grid.bin(X)[:, 0]
    n_bins = grid.n_bins[0] - 1
    for first in range(n_bins):
        for last in range(first, n_bins):
            accepts = np.zeros(n_bins + 1, dtype=bool)
            accepts[first : last + 1] = True
            condition = grid.condition(0, accepts)
            assert (condition.covers(X[:, 0]) == accepts[codes]).all()
            for sign, value in condition.sides:
                assert value == math.floor(value), sign


def test_whole_numbers_survive_saving():
    condition = Condition(0, lower=2.0, is_integer=True)
    assert Condition.from_dict(condition.to_dict()) == condition
    old = {k: v for k, v in condition.to_dict().items() if k != "integer"}
    assert Condition.from_dict(old) == Condition(0, lower=2.0)
