"""Rules on their own: cost and moves by brute force, and rules that agree or part."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid
from defragtrees.search import moves
from defragtrees.search.boxes import (
    RuleLoss,
    code_gains,
    condition_price,
    make_table,
    rows_in,
)
from defragtrees.search.limits import Limits
from defragtrees.search.moves import polish, search
from defragtrees.search.standalone import CONFLICT, StandaloneBoxes, add_rule
from tests.search.test_points import Case as PointCase

KINDS = ("number", "class", "both")
seeds = st.integers(0, 10_000)


class Case(PointCase):
    """The tables of points with losses of lists."""

    def __init__(self, seed, kind, **sizes):
        super().__init__(seed, "number", **sizes)
        rows = self.loss.target, self.loss.weight
        classes = np.digitize(self.loss.target[:, 0], [-0.4, 0.6])
        both = RuleLoss(*rows, classes=classes, n_classes=3)
        self.loss = RuleLoss(*rows) if kind == "number" else both
        if kind == "class":
            self.loss = both.without_numbers()


def charged_by_hand(case, boxes):
    """Of each row the farthest of its rules, and as how many wrong rows it counts."""
    loss, table = case.loss, case.table
    held = [rows_in(table, box) for box in boxes]
    held.append(~np.any(held, axis=0))
    apart, count = np.zeros(table.n_rows), np.zeros(table.n_rows)
    for i in range(table.n_rows):
        mine = [h for h in held if h[i]]
        if loss.n_outputs:
            target = loss.target[:, 0]
            means = [np.average(target[h], weights=loss.weight[h]) for h in mine]
            apart[i] = max((loss.target[i, 0] - mean) ** 2 for mean in means)
        if loss.n_classes:
            classes = loss.classes
            labels = {
                int(np.bincount(classes[h], loss.weight[h]).argmax()) for h in mine
            }
            count[i] = (labels != {int(classes[i])}) + CONFLICT * (len(labels) > 1)
    return apart, count


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=30)
def test_a_row_is_charged_for_the_worst_of_its_rules(seed, kind):
    case = Case(seed, kind, missing=seed % 2 == 0)
    boxes = case.boxes(3)
    rules = StandaloneBoxes(case.table, case.loss, boxes)
    apart, count = charged_by_hand(case, boxes)
    assert rules.charges.apart == pytest.approx(apart)
    assert rules.charges.wrong.tolist() == count.tolist()


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=30)
def test_the_best_change_of_a_box_is_that_of_exhaustive_search(seed, kind):
    case = Case(seed, kind, missing=seed % 2 == 0)
    rules = StandaloneBoxes(case.table, case.loss, case.boxes(2))
    gain, box, table = rules.row_gains(1), rules.boxes[1], case.table

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
@settings(max_examples=30)
def test_gains_are_what_rows_are_charged_less_with_answers_as_they_are(seed, kind):
    case = Case(seed, kind)
    rules = StandaloneBoxes(case.table, case.loss, case.boxes(3))
    without = rules._charged(without=2)
    charges = rules.charges
    lost = rules.row_nats(without.apart, without.wrong)
    left = rules.row_nats(charges.apart, charges.wrong)
    inside = rules.held[2]
    assert rules.row_gains(2)[inside] == pytest.approx((lost - left)[inside])


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=20)
def test_the_cost_never_rises(seed, kind):
    case = Case(seed, kind)
    rules = StandaloneBoxes(case.table, case.loss, case.boxes(3))
    for k in range(len(rules.boxes)):
        better = moves.improve_rule(rules, k, Limits(6, max_conditions=3), 12)[0]
        assert better.cost <= rules.cost
        rules = better
    again = StandaloneBoxes(case.table, case.loss, rules.boxes)
    assert again.cost == pytest.approx(rules.cost, abs=1e-9)
    shorter = rules.with_boxes(1)
    again = StandaloneBoxes(case.table, case.loss, shorter.boxes)
    assert again.cost == pytest.approx(shorter.cost, abs=1e-9)


@pytest.mark.parametrize("kind", ["number", "both"])
def test_limits_hold_and_sizes_have_no_gaps(kind):
    case = Case(3, kind, n_rows=200, n_codes=8)
    limits = Limits(5, max_conditions=2, least_answered=20.0)
    empty = StandaloneBoxes(case.table, case.loss, ())
    found, _ = search(empty, [], limits, add_rule, 2)
    best = polish(found.values(), limits, 2)
    assert sorted(best) == list(range(1, max(best) + 1))
    assert 2 < max(best) <= 5
    for rules in best.values():
        assert rules.least_answered >= 20.0
        assert all(limits.allows_box(case.table, box) for box in rules.boxes)


def test_rules_of_different_classes_stand_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(600, 2)).astype(float)
    classes = (X[:, 0] > 3).astype(int) + (X[:, 0] > 3) * (X[:, 1] > 5)
    grid = ThresholdGrid((np.arange(7) + 0.5,) * 2)
    table = make_table(grid, grid.bin(X))
    weight = np.ones(600)
    loss = RuleLoss(np.eye(3)[classes], weight, 0.02, classes, 3)
    empty = StandaloneBoxes(table, loss, ())
    found, _ = search(empty, [], Limits(4), add_rule, 2)
    rules = found[3]
    assert not rules.charges.differ.any()
    assert not rules.charges.is_wrong.any()
