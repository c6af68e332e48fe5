"""The best condition on a feature is the best of all, and compiled sums are equal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.search import kernels
from defragtrees.search.moves import best_condition

gains = st.floats(-5, 5).map(lambda x: float(np.round(x, 2)))


def all_conditions(sums, missing, price, name_price=None, most_named=None):
    """Value of every condition on one feature, by brute force."""
    n_codes = len(sums)
    yield sum(sums) + missing, (True,) * (n_codes + 1)
    for accepts_missing in (False, True):
        extra = missing if accepts_missing else 0.0
        if name_price is not None:
            for bits in range(2**n_codes):
                mask = [bool(bits >> i & 1) for i in range(n_codes)]
                inside = sum(s for s, m in zip(sums, mask, strict=True) if m)
                if not any(mask) and not (accepts_missing and missing):
                    continue
                n_named = min(sum(mask), n_codes - sum(mask))
                if most_named is not None and n_named > most_named:
                    continue
                paid = price + name_price * max(n_named - 1, 0)
                yield inside + extra - paid, (*mask, accepts_missing)
            continue
        if accepts_missing and missing != 0:
            yield missing - price, (False,) * n_codes + (True,)
        for low in range(n_codes):
            for high in range(low, n_codes):
                n_sides = max(1, (low > 0) + (high < n_codes - 1))
                mask = [low <= i <= high for i in range(n_codes)]
                value = sum(sums[low : high + 1]) + extra - n_sides * price
                yield value, (*mask, accepts_missing)


@pytest.mark.parametrize("most_named", [None, 1, 2])
@pytest.mark.parametrize("name_price", [None, 0.0, 0.7, 2.5])
@given(
    sums=st.lists(gains, min_size=1, max_size=7),
    missing=gains,
    price=st.sampled_from([0.0, 0.5, 2.0]),
)
def test_scan_finds_the_best_of_all_conditions(
    name_price, most_named, sums, missing, price
):
    given = missing, price, name_price, most_named
    value, accepted = best_condition(np.array(sums), *given)
    conditions = list(all_conditions(sums, *given))
    best = max(value for value, _ in conditions)
    assert value == pytest.approx(best, abs=1e-9)
    # The accepted codes are worth what the value says.
    worth = [v for v, mask in conditions if mask == tuple(accepted.tolist())]
    assert max(worth) == pytest.approx(value, abs=1e-9)


KERNELS = [kernels.plain_condition_values, kernels.condition_values]


@pytest.mark.parametrize("most_named", [1, 2, 9])
@pytest.mark.parametrize("condition_values", KERNELS)
@given(
    lists=st.lists(st.lists(gains, min_size=1, max_size=6), min_size=1, max_size=4),
    missing=gains,
    kinds=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_all_features_at_once_agree_with_one_at_a_time(
    condition_values, most_named, lists, missing, kinds
):
    n_codes = np.array([len(sums) for sums in lists])
    sums = np.zeros((len(lists), n_codes.max() + 1))
    for row, gained in zip(sums, lists, strict=True):
        row[: len(gained)] = gained
        row[len(gained)] = missing
    prices = np.linspace(0.1, 1.0, len(lists))
    is_set = np.array(kinds[: len(lists)])
    name_prices = np.linspace(0.0, 2.0, len(lists))
    values = condition_values(sums, n_codes, prices, name_prices, is_set, most_named)
    for j, gained in enumerate(lists):
        name_price = name_prices[j] if is_set[j] else None
        priced = missing, prices[j], name_price, most_named
        expected, _ = best_condition(np.array(gained), *priced)
        assert values[j] == pytest.approx(expected, abs=1e-9)


@given(
    seed=st.integers(0, 10**6), n_rows=st.integers(0, 60), n_columns=st.integers(1, 5)
)
def test_compiled_kernels_agree_to_the_last_bit(seed, n_rows, n_columns):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 7, (n_rows, n_columns)).astype(np.uint8)
    gain = np.where(rng.random(n_rows) < 0.2, 0.0, rng.normal(size=n_rows))
    n_rejecting = rng.integers(0, 3, n_rows).astype(np.uint8)
    rejecting = rng.integers(0, n_columns, n_rows)
    arguments = (codes, gain, n_rejecting, rejecting, 7)
    sums = kernels.plain_gain_sums(*arguments)
    np.testing.assert_array_equal(kernels.gain_sums(*arguments), sums)
    n_codes = np.full(n_columns, 6)
    prices, is_set = rng.uniform(0, 2, n_columns), rng.random(n_columns) < 0.5
    name_prices = rng.uniform(0, 2, n_columns)
    arguments = (sums, n_codes, prices, name_prices, is_set, 1 + seed % 4)
    values = kernels.plain_condition_values(*arguments)
    np.testing.assert_array_equal(kernels.condition_values(*arguments), values)


@pytest.mark.parametrize("seed", range(20))
def test_compiled_loops_over_rows_agree_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_boxes, n_outputs, k = 37, seed % 5, seed % 3, seed % (seed % 5 + 1)
    codes = rng.integers(4, size=(n_rows, 6)).astype(np.uint8)
    box = np.array([4, 1]), rng.random((2, 5)) < 0.5
    held = rng.random((n_boxes, n_rows)) < 0.3
    held[k : k + 1] = box[1][0][codes[:, 4]] & box[1][1][codes[:, 1]]
    answering = kernels.first_true(held)
    arguments = (
        held,
        answering,
        k,
        rng.random(n_rows),
        rng.normal(size=(n_rows, n_outputs)),
        rng.normal(size=(n_boxes + 1, n_outputs)),
        0.37,
        rng.integers(3, size=n_rows),
        rng.integers(3, size=n_boxes + 1 if seed % 2 else 0),
        1.7,
    )
    gains = kernels.row_gains(*arguments)
    assert not gains[answering < k].any()
    for start in (0, k):
        first = [
            next((j for j in range(start, n_boxes) if held[j, i]), n_boxes)
            for i in range(n_rows)
        ]
        for find in (kernels.first_true, kernels.plain_first_true):
            assert find(held, start).tolist() == first
    if k == n_boxes:
        return  # the last rule has no box
    other = held.copy()
    other[k] = rng.random(n_rows) < 0.5
    again = kernels.first_true_again(other, answering, k)
    np.testing.assert_array_equal(again, kernels.first_true(other))
    at_once = kernels.plain_rule_gains(*arguments, codes, *box, 5)
    assert_same(kernels.rule_gains(*arguments, codes, *box, 5), at_once)
    step_by_step = kernels.plain_gain_sums(
        codes, gains, *kernels.rejections(codes, *box), 5
    )
    np.testing.assert_array_equal(at_once[0], step_by_step)
    np.testing.assert_array_equal(at_once[1], gains[held[k]])


def assert_same(compiled, plain):
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


@pytest.mark.parametrize("seed", range(10))
def test_compiled_counts_agree_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n_outputs = seed % 3
    answering, classes = rng.integers(3, size=50), rng.integers(2, size=50)
    columns, weight = rng.normal(size=(n_outputs, 50)), rng.random(50)
    for rows in ((answering, 4, columns, weight, classes, 2), (answering, 4, columns)):
        rows = rows if len(rows) > 3 else (*rows, weight, classes[:0], 0)
        counts = kernels.plain_answered_sums(*rows)
        np.testing.assert_array_equal(kernels.answered_sums(*rows), counts)


def test_best_cut_by_hand():
    # Of rows with targets 3, 3 | -1, -1, 0 and one nat for each squared unit that a
    # mean explains, those below the cut are worth 2 * 3**2 and the others 2 / 3 * 2.
    linear, quadratic = [[6.0, -2.0, 0.0, 0.0]], [[2.0, 2.0, 1.0, 0.0]]
    sums = np.array([np.zeros((1, 4)), quadratic, linear])
    prices = np.full((1, 4), 0.5)
    value, cut, is_low = kernels.best_cuts(sums, np.array([3]), prices)
    assert (value.tolist(), cut.tolist(), is_low.tolist()) == ([17.5], [0], [True])
    value, cut, _ = kernels.best_cuts(sums, np.array([1]), prices)
    assert value.tolist() == [-np.inf]
    assert cut.tolist() == [0]
