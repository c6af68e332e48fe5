"""The search: the cost never rises, the limits hold, the lists are tidy."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from defragtrees import datasets
from defragtrees._api import simplify
from defragtrees.data.grid import ThresholdGrid
from defragtrees.search import moves
from defragtrees.search.boxes import (
    Column,
    RowTable,
    RuleBoxes,
    RuleLoss,
    code_gains,
    condition_price,
    make_table,
    n_sides,
)
from defragtrees.search.driver import accepted_bins
from defragtrees.search.kernels import first_true
from defragtrees.search.limits import Limits
from defragtrees.search.moves import (
    BEAM_WIDTH,
    boxes_from_tree,
    cut_conditions,
    insert_rule,
    polish,
    pooled,
    promising,
    search,
    tidy,
)


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
        self.table = make_table(grid, grid.bin(X))
        weight = rng.uniform(0.5, 2.0, n_rows)
        if kind == "number":
            self.target = signal + 0.1 * rng.normal(size=n_rows)
            self.loss = RuleLoss(self.target[:, None], weight)
        else:
            self.target = np.digitize(signal, [-0.5, 0.7])
            shares = np.eye(3)[self.target]
            self.loss = RuleLoss(shares, weight, 0.02, self.target, 3)
            if kind == "error":
                self.loss = self.loss.without_numbers()
        self.weight = weight
        self.rng = rng

    def boxes(self, n_boxes):
        found = []
        for _ in range(n_boxes):
            box = {}
            for j in self.rng.permutation(len(self.table.columns))[:2]:
                column = self.table.columns[j]
                mask = np.ones(len(column.bins) + 1, dtype=bool)
                if column.is_set:
                    mask[:-1] = self.rng.random(len(column.bins)) < 0.6
                else:
                    low, high = np.sort(self.rng.integers(0, len(column.bins), 2))
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
    kind=st.sampled_from(["both", "error", "number"]),
    missing=st.booleans(),
    with_set=st.booleans(),
)


@given(case=cases, n_boxes=st.integers(1, 5))
def test_no_move_raises_the_cost(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    limits = Limits(6)
    for k in range(n_boxes):
        after = moves.improve_rule(rules, k, limits, max_steps=4)[0]
        assert after.cost <= rules.cost
        rules = after
    assert moves.descend(rules, limits, max_steps=0).cost <= rules.cost
    assert moves.descend(rules, limits).cost <= rules.cost


@given(case=cases, n_boxes=st.integers(1, 4))
def test_cost_kept_along_the_moves_is_that_of_the_list(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    rules = moves.descend(rules, Limits(6))
    again = RuleBoxes(case.table, case.loss, rules.boxes)
    assert again.cost == pytest.approx(rules.cost, abs=1e-9)
    assert (again.answering == rules.answering).all()


def test_a_set_costs_what_it_takes_to_name_its_shorter_side():
    columns = (
        Column(0, np.arange(5), True, True, 2.5),
        Column(1, np.arange(5), False, False, 2.0),
    )
    table = RowTable(columns, np.zeros((1, 2), dtype=np.uint8), least_price=0.5)

    def price(j, text):
        return condition_price(table, j, np.array([c == "x" for c in text]))

    assert price(0, "x-----") == price(0, "-xxxxx") == 2.5
    assert price(0, "xx----") == price(0, "xxx---") == price(0, "--xxxx") == 3.0
    assert price(0, "xxxxx-") == price(0, "-----x") == 2.5
    assert price(1, "xx----") == price(1, "--xxx-") == 2.0
    assert price(1, "-xxx--") == 4.0


@given(case=cases)
def test_change_is_as_good_as_the_best_interval_by_brute_force(case):
    """With fixed answers, no interval on one feature beats the one that is chosen."""
    rules = RuleBoxes(case.table, case.loss, case.boxes(2))
    gain = rules.row_gains(0)
    box = rules.boxes[0]
    changed = next(
        moves.box_changes(
            case.table, box, *code_gains(case.table, box, gain), Limits(6)
        ),
        None,
    )

    def value(candidate):
        held = np.ones(case.table.n_rows, bool)
        price = 0.0
        for j, mask in candidate.items():
            held &= mask[case.table.codes[:, j]]
            price += condition_price(case.table, j, mask)
        return gain[held].sum() - price

    reached = value(box if changed is None else changed)
    for j, column in enumerate(case.table.columns):
        if column.is_set:
            continue
        for low in range(len(column.bins)):
            for high in range(low, len(column.bins)):
                for takes_missing in (False, True):
                    mask = np.zeros(len(column.bins) + 1, dtype=bool)
                    mask[low : high + 1] = True
                    mask[-1] = takes_missing
                    assert value({**box, j: mask}) <= reached + 1e-6


def searched(table, loss, starts, limits):
    """A search for lists from boxes to start from."""
    starts = [
        RuleBoxes(table, loss, [box for box in boxes if limits.allows_box(table, box)])
        for boxes in starts
    ]
    empty = RuleBoxes(table, loss, ())
    return search(empty, promising(starts, limits), limits, insert_rule)


@given(case=cases, most=st.integers(1, 3))
def test_limits_hold(case, most):
    if case.loss.n_classes:
        case.loss = RuleLoss(np.eye(3)[case.target], case.weight, 0.02)
    limits = Limits(4, max_conditions=most, least_answered=2.0)
    best, _ = searched(case.table, case.loss, [case.boxes(3)], limits)
    assert max(best) <= 4
    for n, rules in best.items():
        assert rules.n_rules == n
        assert rules.least_answered >= 2.0
        for box in rules.boxes:
            used = sum(n_sides(case.table.columns[j], mask) for j, mask in box.items())
            assert 1 <= used <= most


def test_search_finds_a_chessboard():
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).astype(float)[:, None]
    grid = ThresholdGrid((np.linspace(0.05, 0.95, 19),) * 2)
    table = make_table(grid, grid.bin(X))
    starts = boxes_from_tree(table, y, np.ones(600), [6])
    best, _ = searched(table, RuleLoss(y, np.ones(600), 0.02), starts, Limits(6))
    cheapest = min(best.values(), key=lambda rules: rules.cost)
    assert cheapest.n_rules == 3
    means = cheapest.counts[:, 1] / cheapest.counts[:, 0]
    assert np.abs(means[cheapest.answering] - cheapest.loss.target[:, 0]).max() < 1e-6


@given(case=cases, n_boxes=st.integers(0, 3))
def test_new_rule_gains_what_its_terms_say(case, n_boxes):
    """Gain of a new rule, by its terms, is that of the losses row by row."""
    loss = RuleLoss(np.eye(3)[np.digitize(case.weight, [1.0, 1.5])], case.weight)
    rules = RuleBoxes(case.table, loss, case.boxes(n_boxes))
    mean = np.array([0.3, -0.2, 0.1])
    constant, linear, quadratic = loss.new_rule_terms(rules.counts, rules.answering)
    gain = constant + 2 * (linear @ mean) - (mean @ mean) * quadratic
    counts = np.vstack([rules.counts, [1.0, *mean]])
    told = rules.counts[:, 1:] / np.maximum(rules.counts[:, :1], 1e-300)
    residual = loss.target - told[rules.answering]
    # The last rule is only asked what it would say: the spread stays that of the list.
    scale = case.weight / (2 * rules.loss.gain_terms(rules.counts)[3])
    asked = ((loss.target - mean) ** 2).sum(axis=1) * scale
    assert counts.shape == (n_boxes + 2, 4)
    losses = (residual**2).sum(axis=1) * scale
    np.testing.assert_allclose(gain, losses - asked, atol=1e-9)


@given(case=cases)
def test_inserted_rule_makes_a_longer_list_within_limits(case):
    loss = RuleLoss(np.eye(3)[np.digitize(case.weight, [1.0, 1.5])], case.weight)
    rules = RuleBoxes(case.table, loss, case.boxes(1))
    limits = Limits(6, max_conditions=2)
    longer = insert_rule(rules, limits)
    if longer is not None:
        assert longer.n_rules == rules.n_rules + 1
        for box in longer.boxes:
            if all(box is not before for before in rules.boxes):
                assert limits.allows_box(case.table, box)


def test_a_reader_s_price_makes_lists_shorter():
    case = Case(3, 400, 3, "number", False, False)
    n_conditions = []
    for least_price in (0.0, 20.0):
        table = RowTable(case.table.columns, case.table.codes, least_price)
        best, _ = searched(table, case.loss, [], Limits(8))
        cheapest = min(best.values(), key=lambda rules: rules.cost)
        n_conditions.append(cheapest.n_conditions)
    assert n_conditions[1] < n_conditions[0]


def test_leaves_of_a_tree_answer_as_the_tree_does():
    case = Case(1, 200, 3, "error", False, False)
    target = np.eye(3)[case.target]
    sizes = [6, 4, 2]
    starts = boxes_from_tree(case.table, target, case.weight, sizes)
    for n, boxes in zip(sizes, starts, strict=True):
        assert len(boxes) == n - 1
        rules = RuleBoxes(case.table, case.loss, boxes)
        assert rules.held.sum(axis=0).max() == 1
        tree = DecisionTreeRegressor(max_leaf_nodes=n, random_state=0)
        leaf = tree.fit(case.table.codes, target, case.weight).apply(case.table.codes)
        pairs = set(zip(leaf.tolist(), rules.answering.tolist(), strict=True))
        assert len(pairs) == n


def test_polish_keeps_the_cheapest_of_each_length():
    case = Case(2, 150, 3, "both", False, False)
    best, _ = searched(case.table, case.loss, [], Limits(5))
    loss = case.loss.without_numbers()
    starts = [RuleBoxes(case.table, loss, own.boxes) for own in best.values()]
    polished = polish(starts, Limits(5), 4, 4)
    assert set(polished) <= set(range(1, 6))
    for n, rules in polished.items():
        assert rules.n_rules == n


def test_first_true_is_the_first_box_or_their_number():
    held = np.array([[False, True, False], [True, True, False]])
    assert first_true(held).tolist() == [1, 0, 2]


def test_categories_without_rows_belong_to_one_side_of_a_cut():
    # Six categories in an order, of which the third and fourth have no rows.
    grid = ThresholdGrid((np.tri(5, 7, dtype=bool),))
    column = Column(0, np.array([0, 1, 4, 5]), False, True, 1.0)
    below = np.array([True, True, False, False, False])
    above = np.array([False, False, True, True, False])
    low, high = accepted_bins(grid, column, below), accepted_bins(grid, column, above)
    assert (low ^ high)[:6].all()
    assert not (low | high)[6:].any()  # unknown and missing ones


def test_cost_of_numbers_by_hand():
    # Two rows at -1 and 1 are standardised already. One rule leaves all the variance:
    # log(1 + 0.02) and one mean, log(2) / 2; two rules leave none of it.
    loss = RuleLoss(np.array([[-1.0], [1.0]]), np.ones(2), 0.02)
    one, two = loss.counts(np.array([0, 0]), 1), loss.counts(np.array([0, 1]), 2)
    assert loss.cost(one) == pytest.approx(np.log(1.02) + np.log(2) / 2)
    assert loss.cost(two) == pytest.approx(np.log(0.02) + np.log(2))


def class_loss(classes):
    """The loss of two classes alone."""
    weight = np.ones(len(classes))
    return RuleLoss(np.empty((len(classes), 0)), weight, 0.0, classes, 2)


def test_cost_of_errors_by_hand():
    # Four rows, one wrong: share (1 + 0.5) / 5 = 0.3; two classes and one rule.
    loss = class_loss(np.array([0, 0, 0, 1]))
    code = -3 * np.log(0.7) - np.log(0.3)
    each = np.log(2) + np.log(4) / 2
    assert loss.cost(np.array([[3.0, 1.0]])) == pytest.approx(code + each)


def test_both_losses_add_up():
    target, classes = np.array([[-1.0], [1.0]]), np.array([0, 1])
    squared = RuleLoss(target, np.ones(2))
    wrong = class_loss(classes)
    both = RuleLoss(target, np.ones(2), squared.least_spread, classes, 2)
    answering = np.array([0, 0])
    counts = [loss.counts(answering, 1) for loss in (both, squared, wrong)]
    expected = squared.cost(counts[1]) + wrong.cost(counts[2])
    assert both.cost(counts[0]) == pytest.approx(expected)


@given(case=cases, n_boxes=st.integers(1, 4))
def test_gains_are_losses_after_the_rule_less_losses_with_it(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    weight, target, means, spread, classes, answers, mistake = case.loss.gain_terms(
        rules.counts
    )
    for k in range(n_boxes):
        after = first_true(rules.held, k + 1)
        gain = np.zeros(case.table.n_rows)
        for i in range(case.table.n_rows):
            if rules.held[:k, i].any():
                continue
            for rule, sign in ((after[i], 1), (k, -1)):
                loss = ((target[i] - means[rule]) ** 2).sum() / (2 * spread)
                if len(answers):
                    loss += mistake * (answers[rule] != classes[i])
                gain[i] += sign * weight[i] * loss
        np.testing.assert_allclose(rules.row_gains(k), gain, atol=1e-9)


@given(case=cases, n_boxes=st.integers(2, 4))
def test_gain_of_a_swap_is_that_of_the_swapped_list(case, n_boxes):
    rules = RuleBoxes(case.table, case.loss, case.boxes(n_boxes))
    for k in range(n_boxes - 1):
        swapped = rules.with_boxes(k, rules.boxes[k + 1], rules.boxes[k], n_old=2)
        gained = rules.cost - swapped.cost
        assert rules.swap_gain(k) == pytest.approx(gained, abs=1e-9)


@given(case=cases, n_boxes=st.integers(1, 4))
def test_conditions_are_cut_one_by_one_and_the_cheapest_first(case, n_boxes):
    limits = Limits(6)
    rules = moves.tidy(RuleBoxes(case.table, case.loss, case.boxes(n_boxes)), limits)
    for shorter in cut_conditions(rules, limits):
        assert shorter.n_conditions < rules.n_conditions
        assert shorter.n_rules <= rules.n_rules
        rules = shorter
    assert rules.n_conditions == 0


def test_the_condition_that_brings_least_is_cut_first():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.02)).astype(float)[:, None]
    grid = ThresholdGrid((np.array([0.02, 0.5]),) * 2)
    table = make_table(grid, grid.bin(X))
    box = {0: np.array([0, 0, 1, 0], bool), 1: np.array([0, 1, 1, 0], bool)}
    rules = RuleBoxes(table, RuleLoss(y, np.ones(400), 0.02), (box,))
    first, last = cut_conditions(rules, Limits(6))
    assert list(first.boxes[0]) == [0]
    assert last.n_rules == 1


def test_rules_that_share_no_row_cost_the_same_in_any_order():
    n_noisy = 0
    for seed in range(20):
        case = Case(seed, 60, 2, "both", False, False)
        n_codes = case.table.n_codes[0]
        parts = np.array_split(np.arange(n_codes), 3)
        boxes = [{0: np.isin(np.arange(n_codes + 1), own)} for own in parts]
        boxes[0][1] = np.arange(case.table.n_codes[1] + 1) > 2
        lists = [RuleBoxes(case.table, case.loss, own) for own in permutations(boxes)]
        assert len({rules.cost for rules in lists}) == 1
        n_noisy += len({rules.loss.cost(rules.counts) for rules in lists}) > 1
    # What is not rounded does differ, by the order in which rules are added up.
    assert n_noisy > 0


def test_the_last_digits_of_a_processor_change_no_rule(monkeypatch):
    X, y = datasets.load_sample("energy").X, datasets.load_sample("energy").y
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y)
    expected = simplify(forest, X, y, max_rules=5, random_state=0).rules_
    nats, terms = RuleLoss.nats, RuleLoss.new_rule_terms
    rng = np.random.default_rng(0)

    def noisy(value):
        return value * (1 + 4e-16 * rng.integers(-2, 3, np.shape(value)))

    monkeypatch.setattr(RuleLoss, "nats", lambda *own: noisy(nats(*own)))
    monkeypatch.setattr(
        RuleLoss, "new_rule_terms", lambda *own: tuple(map(noisy, terms(*own)))
    )
    for _ in range(3):
        found = simplify(forest, X, y, max_rules=5, random_state=0).rules_
        assert found == expected


@given(case=cases)
def test_lists_from_a_pool_are_the_cheapest(case):
    limits = Limits(4, max_conditions=3, least_answered=2.0)
    lists = [RuleBoxes(case.table, case.loss, case.boxes(n)) for n in (0, 1, 2, 2, 3)]
    lists = [tidy(rules, limits) for rules in lists]
    best = pooled(lists, limits)
    for rules in lists:
        assert best[rules.n_rules].cost <= rules.cost
    pool = {held.tobytes() for rules in lists for held in rules.held}
    for n, rules in best.items():
        assert rules.n_rules == n <= 4
        assert limits.allows(rules)
        assert {held.tobytes() for held in rules.held} <= pool
    # Of two boxes every order is tried.
    boxes = [box for rules in lists for box in rules.boxes]
    pairs = [RuleBoxes(case.table, case.loss, own) for own in permutations(boxes, 2)]
    costs = [own.cost for own in pairs if limits.allows(own) and all(own.weights[:2])]
    if costs and len(pool) <= BEAM_WIDTH:
        assert best[3].cost <= min(costs)
