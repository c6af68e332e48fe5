"""How long rules should be, and which rows search and which count."""

from dataclasses import dataclass

import numpy as np

from defragtrees.search.choice import best_model, halves, shortest_model


@dataclass
class Judged:
    """Rules of which only the losses are known."""

    n_conditions: int
    losses: np.ndarray
    n_rules: int = 2


class Rows:
    """Rows that know the losses of rules."""

    def __init__(self, weight):
        self.problem, self.sample_weight = self, weight

    def losses(self, rules):
        return rules.losses


def chosen(*models, weight=None, choose=shortest_model):
    weight = np.ones(len(models[0].losses)) if weight is None else weight
    return choose(list(models), Rows(weight)).n_conditions


def test_rules_are_compared_row_by_row():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)  # of a row, whatever the rules
    best = Judged(9, noise)
    # Behind by a little in every row: far less than noise, but surely.
    worse = Judged(2, noise + 0.01 * (1 + 0.1 * rng.normal(size=400)))
    assert chosen(worse, best) == 9
    # Behind as much on average, by rows that are as often better: who knows?
    apart = rng.normal(size=400)
    apart += 0.01 - apart.mean()
    assert chosen(Judged(2, noise + apart), best) == 2
    assert chosen(Judged(2, noise + apart), best, choose=best_model) == 9


def test_a_row_of_weight_two_judges_as_two_rows():
    rng = np.random.default_rng(2)
    losses, weight = rng.normal(size=(6, 50)), rng.integers(1, 4, 50)
    for spread in (0.01, 0.1, 1.0):
        models = [Judged(n, spread * own) for n, own in enumerate(losses)]
        twice = [Judged(m.n_conditions, np.repeat(m.losses, weight)) for m in models]
        for choose in (best_model, shortest_model):
            by_weight = chosen(*models, weight=weight.astype(float), choose=choose)
            assert by_weight == chosen(*twice, choose=choose)


def test_no_conditions_only_if_none_are_best():
    rng = np.random.default_rng(3)
    noise, apart = rng.normal(size=(2, 300))
    apart -= apart.mean()
    none, one, two = (
        Judged(n, noise + by) for n, by in ((0, apart), (1, apart), (2, 0))
    )
    none.losses = none.losses + 1e-6
    assert chosen(none, one, two) == 1
    none.losses = none.losses - 1
    assert chosen(none, one, two) == 0


def test_of_equals_the_shortest_is_taken():
    losses = np.arange(10.0)
    models = [Judged(n, losses) for n in (4, 2, 3)]
    assert chosen(*models) == chosen(*models, choose=best_model) == 2


CODES = np.random.default_rng(0).integers(0, 200, (4000, 3)).astype(np.uint8)
ORDER, ONES = [0, 1, 2], np.ones(4000)


def test_half_of_the_rows_search_and_half_count():
    target = np.random.default_rng(1).integers(0, 3, 4000)
    searched, counts = halves(CODES, ORDER, target, ONES)
    assert (searched ^ counts).all()
    for c in range(3):
        n_rows = (target == c).sum()
        assert abs(counts[target == c].sum() - n_rows / 2) <= 1


def test_rows_alike_stay_together_and_frequent_ones_are_on_both_sides():
    codes, target = CODES.copy(), np.random.default_rng(1).integers(0, 3, 4000)
    codes[:20], target[:20] = codes[0], target[0]
    codes[20:24], target[20:24] = codes[20], target[20]
    searched, counts = halves(codes, ORDER, target, ONES)
    assert (searched | counts).all()
    assert (searched & counts)[:20].all()
    assert not (searched & counts)[20:].any()
    assert len(set(counts[20:24])) == 1


def test_neither_the_order_of_rows_nor_of_columns_nor_repeats_matter():
    rng = np.random.default_rng(1)
    target, weight = rng.integers(0, 3, 4000), rng.integers(1, 4, 4000)
    expected = np.array(halves(CODES, ORDER, target, weight.astype(float)))
    mixed = rng.permutation(4000)
    found = halves(CODES[mixed], ORDER, target[mixed], weight[mixed].astype(float))
    np.testing.assert_array_equal(found, expected[:, mixed])
    columns = [2, 0, 1]
    order = np.argsort(columns)
    found = halves(CODES[:, columns], order, target, weight.astype(float))
    np.testing.assert_array_equal(found, expected)
    twice = np.repeat(np.arange(4000), weight)
    found = halves(CODES[twice], ORDER, target[twice], np.ones(len(twice)))
    np.testing.assert_array_equal(found, expected[:, twice])
