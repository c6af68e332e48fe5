"""Maps of columns and their way back, against the functions themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from defragtrees.ensembles.column_maps import (
    LARGEST,
    UNKNOWN,
    Derived,
    Fill,
    Indicator,
    LabelSet,
    LabelTable,
    Monotone,
    Region,
    Steps,
)
from defragtrees.ensembles.pipelines import (
    DOMAINS,
    FUNCTIONS,
    _call_within,
)

NAN = float("nan")
numbers = st.floats(allow_nan=False, allow_infinity=False)


def around(edges):
    edges = np.asarray(edges, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = [np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)]
    return np.concatenate([*near, [-LARGEST, -1.0, -0.0, 0.0, 1.0, LARGEST]])


def wavers(step, value):
    """Whether a map both rises and falls among the 16 numbers next to a value.

    So the cube root of some C libraries does, which rounds its last digit either way;
    numpy takes theirs where a processor has none of its own. No border says it all
    there. Farther away, and wherever a map goes one way, every number counts.
    """
    near = [value]
    for _ in range(8):
        near = [np.nextafter(near[0], -np.inf), *near, np.nextafter(near[-1], np.inf)]
    ways = np.diff(step.apply(np.clip(near, -LARGEST, LARGEST)))
    return (ways > 0).any() and (ways < 0).any()


def check(step, region):
    """The region that was pulled back has what the region has of the map's values."""
    [pulled] = step.pull_back([region])
    assert (np.diff(pulled.edges) > 0).all()
    values = around(pulled.edges)
    values = np.append(values[np.abs(values) <= LARGEST], NAN)
    found, wanted = pulled.contains(values), region.contains(step.apply(values))
    wrong = values[found != wanted]
    assert [value for value in wrong.tolist() if not wavers(step, value)] == []


@settings(max_examples=60, deadline=None)
@given(threshold=numbers, missing=st.booleans(), shift=numbers, scale=numbers)
def test_threshold_of_a_scaled_number(threshold, missing, shift, scale):
    def scaled(values):
        return (values - shift) * scale

    if scale != 0:
        check(Monotone(scaled), Region.up_to(threshold, missing))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_numpy_rise_or_fall_where_it_is_said(function):
    options = {"a_min": -2, "a_max": 2} if function is np.clip else {}
    first, last = DOMAINS.get(function, (-LARGEST, LARGEST))

    def within(values):
        return _call_within(lambda v: function(v, **options), first, last, values)

    step = Monotone(within, FUNCTIONS[function])
    for threshold in (-3.0, -0.5, 0.0, 0.3, 0.5, 1.0, 7.0):
        check(step, Region.up_to(threshold, missing=False))
    # A rough look: on each piece it goes one way.
    for low, high in FUNCTIONS[function]:
        low, high = max(low, first, -50.0), min(high, last, 50.0)
        with np.errstate(all="ignore"):
            steps = np.diff(step.apply(np.linspace(low, high, 201)[1:-1]))
        assert (steps >= 0).all() or (steps <= 0).all()


def test_threshold_is_the_last_number_that_is_below():
    [pulled] = Monotone(np.log1p, ((-1.0, LARGEST),)).pull_back(
        [Region.up_to(2.0, missing=True)]
    )
    # Outside of its piece the function has no value, which goes with missing ones.
    assert pulled.inside.tolist() == [True, False]
    [edge] = pulled.edges
    assert np.log1p(edge) <= 2.0 < np.log1p(np.nextafter(edge, np.inf))
    assert edge == pytest.approx(np.expm1(2.0), rel=1e-12)


def test_falling_functions_turn_the_sides():
    [pulled] = Monotone(np.negative).pull_back([Region.up_to(2.0, missing=True)])
    assert pulled.inside.tolist() == [False, True]
    assert pulled.contains([-2.0, np.nextafter(-2.0, -9.0), NAN]).tolist() == [
        True,
        False,
        True,
    ]


def test_thresholds_out_of_reach_leave_no_edge():
    step = Monotone(special.expit)
    for threshold, everything in ((2.0, True), (-1.0, False)):
        [pulled] = step.pull_back([Region.up_to(threshold, missing=False)])
        assert pulled.edges.tolist() == []
        assert pulled.inside.tolist() == [everything]


def test_steps_and_gaps():
    bins = Steps(lambda x: np.searchsorted([1.0, 2.0], x, side="right"), [0.0, 0.0])
    assert bins.apply(np.array([0.5, 1.0, 3.0])).tolist() == [0.0, 1.0, 2.0]
    check(Fill(3.0), Region.up_to(2.5, missing=True))
    check(Fill(2.0), Region.up_to(2.5, missing=False))
    check(Fill(9.0, marker=-1.0), Region.up_to(2.5, missing=True))
    check(Indicator(), Region.up_to(0.5, missing=False))
    check(Indicator(marker=4.0), Region.up_to(0.5, missing=False))


def test_fill_and_indicator_of_labels():
    assert Fill("none").apply(["a", None, NAN]) == ["a", "none", "none"]
    assert Fill("none", marker="?").apply(["a", "?"]) == ["a", "none"]
    assert Fill("none").apply([UNKNOWN]) == [UNKNOWN]
    assert Indicator().apply(["a", None, UNKNOWN]).tolist() == [0.0, 1.0, 0.0]


def test_table_of_numbers_is_a_set_of_points():
    table = LabelTable((1, 2, 7), np.array([0.5, 3.0, 0.7]), unknown=0.0, missing=9.0)
    region = Region.up_to(0.6, missing=False)
    check(table, region)
    [pulled] = table.pull_back([region])
    values = [0.0, 1.0, 1.5, 2.0, 7.0, 8.0, NAN]
    held = [True, True, True, False, False, True, False]
    assert pulled.contains(values).tolist() == held


def test_set_of_labels_that_are_numbers_is_a_region():
    chosen = LabelSet((3.0, 5.0), np.array([True, False, True]), missing=False)
    region = chosen.as_region()
    values = [2.0, 3.0, 4.0, 5.0, 6.0, NAN]
    assert region.contains(values).tolist() == chosen.contains(values).tolist()
    assert chosen.contains(["x", None]).tolist() == [True, False]


@settings(max_examples=50, deadline=None)
@given(
    edges=st.lists(numbers, min_size=1, max_size=4, unique=True),
    first=st.booleans(),
    missing=st.booleans(),
    power=st.sampled_from([1, 2, 3]),
)
def test_chains_of_maps_go_back_step_by_step(edges, first, missing, power):
    inside = np.array([first ^ bool(k % 2) for k in range(len(edges) + 1)])
    region = Region(np.sort(np.array(edges)), inside, missing)
    pieces = ((-LARGEST, 0.0), (5e-324, LARGEST))
    column = Derived(0).then(Fill(0.5)).then(Monotone(lambda x: x**power, pieces))
    column = column.then(Monotone(np.arctan))
    [pulled] = column.pull_back([region])
    values = around(pulled.edges)
    values = np.append(values[np.abs(values) <= LARGEST], NAN)
    np.testing.assert_array_equal(
        pulled.contains(values), region.contains(column.apply(values))
    )
