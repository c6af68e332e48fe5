"""The search: the cost never rises, the limits hold, the lists are tidy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from defragtrees.bins import ThresholdGrid
from defragtrees.refine import moves
from defragtrees.refine.augment import draw_rows
from defragtrees.refine.objective import ClassLoss, ErrorLoss, NumberLoss
from defragtrees.refine.rulelist import RuleBoxes, first_true, n_sides
from defragtrees.refine.search import Limits, polish, search
from defragtrees.refine.starts import boxes_from_tree
from defragtrees.refine.table import make_table


class Case:
    """A random table with a loss and a random list of boxes."""

    def __init__(self, seed, n_rows, n_features, kind, missing, with_set):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(n_rows, n_features)), 1)
        signal = X[:, 0] + (X[:, -1] > 0)
        if missing:
            X[rng.random(X.shape) < 0.1] = np.nan
        splits = [np.unique(np.round(rng.normal(size=9), 2)) for _ in range(n_features)]
        if with_set:
            X = np.column_stack([X, rng.integers(0, 5, n_rows)])
            splits.append(rng.random((3, 6)) < 0.5)
        grid = ThresholdGrid(tuple(splits))
        self.table = make_table(grid, grid.bin(X).codes)
        weight = rng.uniform(0.5, 2.0, n_rows)
        if kind == "number":
            self.target = signal + 0.1 * rng.normal(size=n_rows)
            self.loss = NumberLoss(self.target, weight)
        else:
            self.target = np.digitize(signal, [-0.5, 0.7])
            loss = ClassLoss if kind == "class" else ErrorLoss
            self.loss = loss(self.target, 3, weight)
        self.weight = weight
        self.rng = rng

    def boxes(self, n_boxes):
        found = []
        for _ in range(n_boxes):
            box = {}
            for j in self.rng.permutation(len(self.table.columns))[:2]:
                column = self.table.columns[j]
                mask = np.ones(column.n_codes + 1, dtype=bool)
                if column.is_set:
                    mask[:-1] = self.rng.random(column.n_codes) < 0.6
                else:
                    low, high = np.sort(self.rng.integers(0, column.n_codes, 2))
                    mask[:low] = False
                    mask[high + 1 : -1] = False
                mask[-1] = self.rng.random() < 0.5
                box[int(j)] = mask
            found.append(box)
        return found


cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    n_rows=st.integers(15, 80),
    n_features=st.integers(1, 4),
    kind=st.sampled_from(["class", "error", "number"]),
    missing=st.booleans(),
    with_set=st.booleans(),
)


@given(case=cases, n_boxes=st.integers(1, 5))
def test_no_move_raises_the_cost(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    limits = Limits(6)
    for k in range(n_boxes):
        after = moves.improve_rule(rules, k, limits, max_steps=4)
        assert after.cost <= rules.cost
        rules = after
    assert moves.improve_order(rules).cost <= rules.cost
    assert moves.descend(rules, limits).cost <= rules.cost


@given(case=cases, n_boxes=st.integers(1, 4))
def test_cost_kept_along_the_moves_is_that_of_the_list(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    rules = moves.descend(rules, Limits(6))
    again = RuleBoxes(case.table, case.loss, rules.boxes)
    assert again.cost == pytest.approx(rules.cost, abs=1e-9)
    assert (again.answering == rules.answering).all()


@given(case=cases)
def test_change_is_as_good_as_the_best_interval_by_brute_force(case):
    """With fixed answers, no interval on one feature beats the one that is chosen."""
    rules = RuleBoxes(case.table, case.loss, case.boxes(2))
    gain = moves.row_gains(rules, 0)
    box = rules.boxes[0]
    changed = moves.best_change(case.table, box, gain, Limits(6))

    def value(candidate):
        held = np.ones(case.table.n_rows, bool)
        price = 0.0
        for j, mask in candidate.items():
            held &= mask[case.table.codes[j]]
            column = case.table.columns[j]
            price += column.price * n_sides(column, mask)
        return gain[held].sum() - price

    reached = value(box if changed is None else changed)
    for j, column in enumerate(case.table.columns):
        if column.is_set:
            continue
        for low in range(column.n_codes):
            for high in range(low, column.n_codes):
                for takes_missing in (False, True):
                    mask = np.zeros(column.n_codes + 1, dtype=bool)
                    mask[low : high + 1] = True
                    mask[-1] = takes_missing
                    assert value({**box, j: mask}) <= reached + 1e-6


@given(case=cases, most=st.integers(1, 3))
def test_limits_hold(case, most):
    limits = Limits(4, max_conditions=most)
    best = search(case.table, case.loss, [case.boxes(3)], limits, n_rounds=1)
    assert max(best) <= 4
    for n, rules in best.items():
        assert rules.n_rules == n
        for box in rules.boxes:
            used = sum(n_sides(case.table.columns[j], mask) for j, mask in box.items())
            assert 1 <= used <= most


def test_search_finds_a_chessboard():
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(int)
    grid = ThresholdGrid((np.linspace(0.05, 0.95, 19),) * 2)
    table = make_table(grid, grid.bin(X).codes)
    start = boxes_from_tree(table, y, np.ones(600), 6, False)
    best = search(table, ClassLoss(y, 2, np.ones(600)), [start], Limits(6))
    cheapest = min(best.values(), key=lambda rules: rules.cost)
    assert cheapest.n_rules == 3
    errors = cheapest.counts.sum() - cheapest.counts.max(axis=1).sum()
    assert errors == 0


def test_leaves_of_a_tree_answer_as_the_tree_does():
    case = Case(1, 200, 3, "class", False, False)
    boxes = boxes_from_tree(case.table, case.target, case.weight, 6, False)
    assert len(boxes) == 5
    rules = RuleBoxes(case.table, case.loss, boxes)
    assert rules.held.sum(axis=0).max() == 1


def test_polish_keeps_the_cheapest_of_each_length():
    case = Case(2, 150, 3, "class", False, False)
    best = search(case.table, case.loss, [], Limits(5))
    loss = ErrorLoss(case.target, 3, case.weight)
    polished = polish([r.boxes for r in best.values()], case.table, loss, Limits(5))
    assert set(polished) <= set(range(1, 6))
    for n, rules in polished.items():
        assert rules.n_rules == n


def test_first_true_is_the_first_box_or_their_number():
    held = np.array([[False, True, False], [True, True, False]])
    assert first_true(held).tolist() == [1, 0, 2]


def test_cost_of_classes_by_hand():
    # Jeffreys' prior, counts (1, 0): the mean of p under Beta(1/2, 1/2) is one half.
    loss = ClassLoss(np.array([0]), 2, np.ones(1))
    assert loss.cost(np.array([[1.0, 0.0]])) == pytest.approx(np.log(2))
    # Counts (2, 0): E[p^2] = 3 / 8.
    loss = ClassLoss(np.array([0, 0]), 2, np.ones(2))
    assert loss.cost(np.array([[2.0, 0.0]])) == pytest.approx(-np.log(3 / 8))


def test_drawn_rows_keep_to_the_values_of_their_columns():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=50), rng.integers(0, 3, 50)])
    drawn = draw_rows(X, 300, np.array([False, True]), rng)
    assert drawn.shape == (300, 2)
    for j in range(2):
        assert set(drawn[:, j]) <= set(X[:, j])
    known = {tuple(row) for row in X}
    assert sum(tuple(row) not in known for row in drawn) > 150
