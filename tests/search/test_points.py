"""Points: fits as others fit them, moves as exhaustive search, a cost that falls."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Ridge

from defragtrees.data.grid import ThresholdGrid
from defragtrees.outcomes import points as additive
from defragtrees.search import moves
from defragtrees.search.boxes import code_gains, condition_price, make_table, rows_in
from defragtrees.search.driver import Conversion
from defragtrees.search.limits import Limits
from defragtrees.search.moves import best_cuts, grow_rule, polish, search
from defragtrees.search.points import LinkedLoss, NumberLoss, PointBoxes


class Case:
    """A small random table, what it is to say, and boxes at random."""

    def __init__(self, seed, kind, n_rows=60, n_codes=4, missing=False, n_columns=3):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, n_codes, size=(n_rows, n_columns)).astype(float)
        signal = X[:, 0] + 2 * (X[:, 1] > 1) * (X[:, -1] > 0) + rng.normal(size=n_rows)
        if missing:
            X[rng.random(X.shape) < 0.15] = np.nan
        splits = [np.arange(n_codes - 1) + 0.5] * n_columns
        X = np.column_stack([X, rng.integers(0, 4, n_rows)])
        grid = ThresholdGrid((*splits, rng.random((3, 5)) < 0.5))
        self.table = make_table(grid, grid.bin(X))
        weight = rng.uniform(0.5, 2.0, n_rows)
        if kind == "number":
            self.loss = NumberLoss(signal[:, None], weight, 1e-4)
        elif kind == "several":
            both = np.column_stack([signal, rng.normal(size=n_rows) + X[:, -1]])
            self.loss = NumberLoss(both, weight, 1e-4)
        else:
            likely = expit(signal - signal.mean())
            self.loss = LinkedLoss(
                likely[:, None], weight, 0.02, additive.LINKS["logit"]
            )
        self.rng = rng
        self.empty = PointBoxes(self.table, self.loss, ())

    def masks(self, j):
        """Every interval, or set, of the codes of a column."""
        column = self.table.columns[j]
        n = len(column.bins)
        if column.is_set:
            insides = itertools.product([False, True], repeat=n)
        else:
            ends = itertools.combinations_with_replacement(range(n), 2)
            insides = [[low <= c <= high for c in range(n)] for low, high in ends]
            insides.append([False] * n)
        for inside in insides:
            for takes_missing in (False, True) if column.has_missing else (False,):
                if any(inside) or takes_missing:
                    yield np.array([*inside, takes_missing])

    def boxes(self, n_boxes):
        made = []
        for _ in range(n_boxes):
            columns = self.rng.permutation(len(self.table.columns))[:2].tolist()
            masks = {j: list(self.masks(j)) for j in columns}
            made.append({j: m[self.rng.integers(len(m))] for j, m in masks.items()})
        return made


KINDS = ("number", "several", "log-odds")
seeds = st.integers(0, 10_000)


def test_numbers_are_fitted_as_by_ridge():
    rng = np.random.default_rng(0)
    held = rng.random((400, 4)) < 0.4
    y, weight = rng.normal(size=400) + held @ [1, -2, 0.5, 0], rng.uniform(1, 2, 400)
    patterns, place = additive.find_patterns(held.T)
    sums = np.bincount(place, weight * y)[:, None]
    prior = np.array([5.0] * 4 + [0.0])
    points, _ = additive.fit_numbers(patterns, np.bincount(place, weight), sums, prior)
    other = Ridge(alpha=5.0).fit(held, y, sample_weight=weight)
    expected = [*other.coef_, other.intercept_]
    assert points.ravel() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_fitted_as_by_logistic_regression(n_classes):
    rng = np.random.default_rng(1)
    held = rng.random((900, 3)) < 0.5
    signal = held @ [2.0, -1.0, 0.5] + rng.logistic(size=900)
    y = np.digitize(signal, [0.0, 1.0][: n_classes - 1])
    patterns, place = additive.find_patterns(held.T)
    sums = np.column_stack([np.bincount(place, y == c) for c in range(n_classes)])
    weight, prior = np.bincount(place).astype(float), np.array([4.0, 4.0, 4.0, 0.0])
    other = LogisticRegression(C=0.25, tol=1e-10, max_iter=1000).fit(held, y)
    if n_classes == 2:
        points, _ = additive.fit_linked(
            additive.LINKS["logit"], patterns, weight, sums[:, 1:], prior
        )
        expected = np.vstack([other.coef_.T, other.intercept_])
        assert points == pytest.approx(expected, abs=1e-4)
    else:
        points, _ = additive.fit_shares(patterns, weight, sums, prior)
        shares = softmax(np.column_stack([held, np.ones(900)]) @ points, axis=1)
        assert shares == pytest.approx(other.predict_proba(held), abs=1e-4)


@pytest.mark.parametrize("n_rules", [0, 3, 14, 64, 65, 130])
def test_patterns_say_which_rules_hold_together(n_rules):
    held = np.random.default_rng(0).random((n_rules, 50)) < 0.5
    patterns, place = additive.find_patterns(held)
    assert (patterns[place][:, :-1] == held.T).all()
    assert (patterns[:, -1] == 1).all()
    assert len(np.unique(patterns, axis=0)) == len(patterns) == place.max() + 1


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=30)
def test_the_fall_of_a_cut_is_that_of_fitting_all_points_anew(seed, kind):
    case = Case(seed, kind, missing=seed % 2 == 0)
    rules = PointBoxes(case.table, case.loss, case.boxes(2))
    rows, inverse = rules.curvature
    anything = np.zeros(len(case.table.columns), dtype=int)
    inside = rows_in(case.table, case.boxes(1)[0])
    before = rules.spread * case.loss.base_deviance
    for cut in best_cuts(rules, inside, anything):
        held = inside & cut.accepted[case.table.codes[:, cut.column]]
        slope, overlap = np.split(rows[:, held].sum(axis=1), [-len(inverse)])
        rest = overlap[-1] - overlap @ inverse @ overlap + case.loss.prior
        is_new = rest > 1e-6 * overlap[-1] + 1e-12
        found = (slope**2).sum() / rest if is_new else 0.0
        assert cut.fall == pytest.approx(found, rel=1e-6, abs=1e-9)
        if kind == "log-odds" or not held.any():
            continue
        made = np.vstack([rules.held, held])
        boxes = (*rules.boxes, {cut.column: cut.accepted})
        longer = PointBoxes(case.table, case.loss, boxes, made, (*rules.prices, 0.0))
        after = longer.spread * case.loss.base_deviance
        # A box that others make up already is left alone, though ridge gains a little.
        if cut.fall > 1e-6:
            assert before - after == pytest.approx(cut.fall, rel=1e-5, abs=1e-6)


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=30)
def test_the_best_change_of_a_box_is_that_of_exhaustive_search(seed, kind):
    case = Case(seed, kind, missing=seed % 2 == 0)
    rules = PointBoxes(case.table, case.loss, case.boxes(2))
    gain, box, table = rules.row_gains(0), rules.boxes[0], case.table

    def worth(candidate):
        price = sum(condition_price(table, j, mask) for j, mask in candidate.items())
        return gain[rows_in(table, candidate)].sum() - price

    options = [worth(box)]
    for j in range(len(table.columns)):
        others = {i: mask for i, mask in box.items() if i != j}
        options.append(worth(others))
        for mask in case.masks(j):
            changed = {**others, j: mask}
            # Missing values alone that gain nothing are left to other conditions.
            if mask[:-1].any() or gain[rows_in(table, changed)].sum():
                options.append(worth(changed))
    changed = next(
        moves.box_changes(table, box, *code_gains(table, box, gain), Limits(9)), box
    )
    assert worth(changed) == pytest.approx(max(options), abs=1e-6)


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=20)
def test_the_cost_never_rises(seed, kind):
    case = Case(seed, kind)
    rules = PointBoxes(case.table, case.loss, case.boxes(3))
    limits = Limits(6, max_conditions=3)
    for k in range(len(rules.boxes)):
        better = moves.improve_rule(rules, k, limits, 12)[0]
        assert better.cost <= rules.cost
        rules = better
    again = PointBoxes(case.table, case.loss, rules.boxes)
    assert again.cost == pytest.approx(rules.cost, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_one_rule_is_the_best_of_all_boxes(seed, kind):
    case = Case(seed, kind, n_columns=2)
    limits = Limits(2, max_conditions=4)
    found, _ = search(case.empty, [], limits, grow_rule, 2)
    costs = [case.empty.cost]
    for one, two in itertools.combinations(range(len(case.table.columns)), 2):
        for a, b in itertools.product(case.masks(one), case.masks(two)):
            box = {
                j: mask
                for j, mask in ((one, a), (two, b))
                if not case.table.columns[j].accepts_all(mask)
            }
            costs.append(PointBoxes(case.table, case.loss, (box,)).cost)
    best = min(rules.cost for rules in found.values())
    # One box is grown from one cut at a time, so it may miss the best of all by little.
    assert best <= min(costs) + 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_limits_hold_and_sizes_have_no_gaps(kind):
    case = Case(3, kind, n_rows=200, n_codes=8)
    limits = Limits(5, max_conditions=2, least_answered=20.0)
    found, _ = search(case.empty, [], limits, grow_rule, 2)
    best = polish(found.values(), limits, 2)
    assert sorted(best) == list(range(1, max(best) + 1))
    assert max(best) <= 5
    for n, rules in best.items():
        assert rules.n_rules == n
        assert rules.least_answered >= 20.0
        for box in rules.boxes:
            assert limits.allows_box(case.table, box)
    spreads = [best[n].spread for n in sorted(best)]
    assert spreads == sorted(spreads, reverse=True)


def test_effects_that_add_up_are_found():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(500, 4)).astype(float)
    y = 3.0 * (X[:, 0] > 2) - 2.0 * (X[:, 1] > 3) + 1.0 * (X[:, 2] <= 1) + 5.0
    grid = ThresholdGrid((np.arange(5) + 0.5,) * 4)
    table = make_table(grid, grid.bin(X))
    loss = NumberLoss(y[:, None], np.ones(500), 1e-4)
    found, _ = search(PointBoxes(table, loss, ()), [], Limits(4), grow_rule, 2)
    rules = found[4].in_reading_order()
    scale = y.std()
    assert rules.spread < 0.01
    assert [len(box) for box in rules.boxes] == [1, 1, 1]
    assert np.abs(rules.points[:-1, 0]) * scale == pytest.approx([3, 2, 1], abs=0.1)


def test_a_rule_about_most_rows_is_told_of_the_others():
    case = Case(0, "number")
    column = case.table.columns[0]
    most = np.array([False, *[True] * (len(column.bins) - 1), False])
    rules = PointBoxes(case.table, case.loss, ({0: most},))
    told = rules.in_reading_order()
    assert told.boxes[0][0].tolist() == [True, *[False] * len(column.bins)]
    assert told.points[0, 0] * rules.points[0, 0] < 0
    assert told.cost == pytest.approx(rules.cost, abs=0.5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_box_that_is_removed_is_the_cheapest_one(kind):
    # The other points are fitted again, so a rule that another repeats costs nothing.
    case = Case(1, kind, n_rows=300)
    boxes = case.boxes(6)
    rules = PointBoxes(case.table, case.loss, [*boxes, boxes[0]])
    exact = min(map(rules.with_boxes, range(7)), key=lambda one: one.cost)
    assert len(rules.removable()) == 3
    assert moves.remove_rule(rules).cost == exact.cost


def test_many_rules_are_fitted_as_few_are():
    # Few rules are fitted on patterns of rows, many on the rows themselves.
    case = Case(2, "log-odds", n_rows=400)
    boxes = case.boxes(14)
    rules = PointBoxes(case.table, case.loss, boxes)
    patterns, place = additive.find_patterns(rules.held)
    sums = [np.bincount(place, column, len(patterns)) for column in case.loss.columns]
    prior = np.append(np.full(14, case.loss.prior), 0.0)
    points, _ = additive.fit_linked(
        additive.LINKS["logit"], patterns, sums[0], sums[1][:, None], prior
    )
    assert rules.points == pytest.approx(points, abs=1e-5)


def test_many_rules_are_searched_for_at_few_sizes(monkeypatch):
    case = Case(4, "number", n_rows=400, n_codes=12, n_columns=6)
    limits, sizes = Limits(26, max_conditions=1), []
    descend = moves.descend

    def counting(rules, *arguments):
        sizes.append(rules.n_rules)
        return descend(rules, *arguments)

    monkeypatch.setattr(moves, "descend", counting)
    found, _ = search(case.empty, [], limits, grow_rule, 2)
    assert set(sizes) <= {*range(1, 13), 14, 17, 20, 24, 26}
    assert max(found) > 17
    best = polish(found.values(), limits, 2)
    assert sorted(best) == list(range(1, max(best) + 1))
    assert all(best[n].n_rules == n for n in best)


def test_cuts_with_hardly_a_row_between_them_are_one():
    """Two lines of a card may cut a column at 3 and 3.05."""
    values = np.repeat([1.0, 3.02, 4.0, 6.0, np.nan], [60, 1, 60, 60, 9])
    grid = ThresholdGrid(([3.0, 3.05, 5.0],))
    problem = SimpleNamespace(grid=grid, codes=grid.bin(values[:, None]))
    conversion = Conversion(None, problem, None)
    cuts = {}

    def moved(*accepts):
        made = conversion._on_cuts(0, np.array(accepts, dtype=bool), cuts)
        return made.astype(int).tolist()

    assert moved(0, 1, 1, 1, 0) == [0, 1, 1, 1, 0]  # above 3
    assert moved(0, 0, 1, 1, 1) == [0, 1, 1, 1, 1]  # above 3.05, or missing
    assert moved(1, 1, 1, 0, 0) == [1, 1, 1, 0, 0]  # up to 5
    assert moved(0, 0, 1, 0, 0) == [0, 1, 1, 0, 0]  # above 3.05, up to 5
    assert moved(0, 1, 0, 0, 0) == [0, 1, 0, 0, 0]  # nothing would be left
    assert cuts == {0: [1, 3]}
