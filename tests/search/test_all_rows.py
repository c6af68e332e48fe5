"""Lists over rows that are elsewhere: the sums of rows that are here, from any cut."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.shards import LocalShards, Shard, pack_boxes
from defragtrees.data.store import Target
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.decision import make_decision
from defragtrees.search import all_rows as all_rows_search
from defragtrees.search import kernels, moves
from defragtrees.search import torch as on_torch
from defragtrees.search.all_rows import (
    AllRows,
    Imitated,
    RowNumbers,
    ShardKeeper,
    polish_all_rows,
)
from defragtrees.search.limits import Limits
from defragtrees.search.lists import RuleBoxes
from defragtrees.search.losses import BothLoss, ErrorLoss, SquaredLoss
from defragtrees.search.moves import cut_conditions
from defragtrees.search.table import RowTable, make_columns, make_table
from defragtrees.search.torch import DeviceKeeper, TorchKeeper

KINDS = ("both", "error", "probability", "number")


class Case:
    """The same random rows as a table in memory and as shards, with a loss."""

    def __init__(self, seed, kind="both", n_rows=400, weighted=True, importance=None):
        rng = np.random.default_rng(seed)
        X = np.round(rng.normal(size=(n_rows, 3)), 1)
        signal = X[:, 0] + (X[:, 2] > 0) + 0.2 * rng.normal(size=n_rows)
        X[rng.random(X.shape) < 0.1] = np.nan
        X = np.column_stack([X, rng.integers(0, 5, n_rows)])
        splits = [np.unique(np.round(rng.normal(size=9), 2)) for _ in range(3)]
        self.grid = ThresholdGrid((*splits, rng.random((3, 6)) < 0.5))
        self.codes = np.ascontiguousarray(self.grid.bin(X).codes)
        self.weight = rng.uniform(0.5, 2.0, n_rows) if weighted else None
        self.rng, self.kind = rng, kind
        weight = np.ones(n_rows) if self.weight is None else self.weight
        if kind == "number":
            outcome, decision = make_outcome("regression", None), None
            column = Target("answers", float(signal.mean()), float(signal.std()))
            self.targets = {"answers": signal}
            self.loss = SquaredLoss(signal[:, None], weight)
        else:
            outcome = make_outcome("classification", ("a", "b", "c"))
            decision = make_decision(("a", "b", "c"), None, class_weight=importance)
            column = Target("answers")
            likely = np.abs(signal[:, None] - [-0.7, 0.1, 0.9])
            shares = np.exp(-3 * likely).astype(np.float32)
            shares /= shares.sum(axis=1)[:, None]
            answers = shares.argmax(axis=1).astype(np.uint8)
            self.targets = {"answers": answers, "probabilities": shares}
            shares = shares.astype(np.float64)
            if importance is not None:
                shares, weight = decision.emphasise(shares, weight)
            squared = SquaredLoss(outcome.search_target(shares), weight, 0.02)
            wrong = ErrorLoss(shares.argmax(axis=1), weight, 3)
            losses = {"both": BothLoss(squared, wrong), "error": wrong}
            self.loss = losses.get(kind, squared)
        self.imitated = Imitated(outcome, column, False, decision)
        self.table = make_table(self.grid, self.codes, least_price=0.5)

    def shards(self, n_parts=3, order=None):
        """The rows, cut into parts."""
        order = np.arange(len(self.codes)) if order is None else order
        return LocalShards(
            Shard(
                self.codes[own],
                {name: column[own] for name, column in self.targets.items()},
                None if self.weight is None else self.weight[own],
            )
            for own in np.array_split(order, n_parts)
        )

    def rows(self, n_parts=3, order=None, keeper=ShardKeeper):
        """AllRows of the rows, cut into parts."""
        shards = self.shards(n_parts, order)
        numbers = RowNumbers.of_totals(
            self.imitated,
            shards.total(self.imitated.totals),
            len(self.codes),
            len(self.codes) if self.weight is None else self.weight.sum(),
            self.loss.counted[0] > 0,
        )
        n_bins = self.grid.n_bins
        counts = [np.bincount(self.codes[:, j], minlength=n_bins[j]) for j in range(4)]
        columns = make_columns(self.grid, counts)
        table = RowTable(columns, np.empty((0, len(columns))), 0.5)
        return AllRows(
            keeper(shards.map(numbers.of)), table, self.loss, numbers, n_bins
        )

    def boxes(self, n_boxes):
        found = []
        for _ in range(n_boxes):
            box = {}
            for j in self.rng.permutation(len(self.table.columns))[:2]:
                n_codes = self.table.columns[j].n_codes
                mask = np.ones(n_codes + 1, dtype=bool)
                if self.table.columns[j].is_set:
                    mask[:-1] = self.rng.random(n_codes) < 0.6
                else:
                    low, high = np.sort(self.rng.integers(0, n_codes, 2))
                    mask[:low] = mask[high + 1 : -1] = False
                mask[-1] = self.rng.random() < 0.5
                box[int(j)] = mask
            found.append(box)
        return tuple(found)


cases = st.builds(
    Case,
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(KINDS),
    weighted=st.booleans(),
)


@given(cases, st.integers(1, 5))
@settings(max_examples=40)
def test_costs_and_gains_are_those_of_rows_in_memory(case, n_boxes):
    boxes = case.boxes(n_boxes)
    here, there = RuleBoxes(case.table, case.loss, boxes), case.rows().list_of(boxes)
    n_rows = len(case.codes)
    np.testing.assert_allclose(there.weights, here.weights, rtol=1e-5)
    assert there.cost == pytest.approx(here.cost, abs=1e-4 * n_rows)
    assert there.n_conditions == here.n_conditions
    for k in range(n_boxes):
        sums, inside = there.code_gains(k)
        gain, box = here.row_gains(k), boxes[k]
        rejected = np.zeros(n_rows, dtype=int)
        for j, mask in box.items():
            rejected += ~mask[case.table.codes[:, j]]
        assert inside == pytest.approx(gain[rejected == 0].sum(), abs=0.02)
        for j, column in enumerate(case.table.columns):
            others = rejected.copy()
            if j in box:
                others -= ~box[j][case.table.codes[:, j]]
            own = np.where(others == 0, gain, 0.0)
            by_hand = np.bincount(case.table.codes[:, j], own, column.n_codes + 1)
            np.testing.assert_allclose(sums[j, : len(by_hand)], by_hand, atol=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_neither_cuts_nor_order_of_rows_have_a_say_in_any_bit(kind):
    case = Case(1, kind)
    boxes = case.boxes(4)
    mixed = np.random.default_rng(0).permutation(len(case.codes))
    found = []
    for rows in (case.rows(1), case.rows(7), case.rows(3, mixed)):
        own = rows.list_of(boxes)
        rows.sweep([own])
        found.append((own.cost, own.counts, own.gains))
    for cost, counts, gains in found[1:]:
        assert cost == found[0][0]
        np.testing.assert_array_equal(counts, found[0][1])
        np.testing.assert_array_equal(gains, found[0][2])
    assert np.abs(found[0][2]).max() > 0.1


def devices():
    torch = pytest.importorskip("torch")
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def keeper_on(device, shards):
    return TorchKeeper(shards.shards, device)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_on_a_device_give_the_same_bits(kind, weighted):
    case = Case(2, kind, weighted=weighted)
    lists = [case.boxes(n) for n in (0, 1, 4, 9)]
    lists.append(case.boxes(70))  # more than one word has bits
    expected = [case.rows().list_of(boxes) for boxes in lists]
    for device in devices():
        rows = case.rows(keeper=partial(keeper_on, device))
        found = [rows.list_of(boxes) for boxes in lists]
        rows.sweep(found)
        for own, other in zip(found, expected, strict=True):
            assert own.cost == other.cost
            np.testing.assert_array_equal(own.counts, other.counts)
            other.rows.sweep([other])
            np.testing.assert_array_equal(own.gains, other.gains)
        assert len(found[-1].gains) == 70


class Elsewhere(LocalShards):
    """Shards as a cluster has them, in groups by place; the first is without rows."""

    def total_of_groups(self, function, *arguments, in_any_order=False):
        assert in_any_order
        nobody, *others = self.shards
        groups = [nobody], others[::2], others[1::2]
        return sum(function(own, 2, *arguments) for own in groups)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_on_devices_elsewhere_give_the_same_bits(kind, weighted):
    case = Case(2, kind, weighted=weighted)
    lists = [case.boxes(n) for n in (0, 3, 9)]
    expected = [case.rows().list_of(boxes) for boxes in lists]
    before = len(on_torch.KEPT.kept)
    for device in devices():
        rows = case.rows(5, keeper=partial(keeper_elsewhere, device))
        found = [rows.list_of(boxes) for boxes in lists]
        rows.sweep(found)
        assert len(on_torch.KEPT.kept) == before + 3
        for own, other in zip(found, expected, strict=True):
            assert own.cost == other.cost
            np.testing.assert_array_equal(own.counts, other.counts)
            other.rows.sweep([other])
            np.testing.assert_array_equal(own.gains, other.gains)
        del rows, own, found
        assert len(on_torch.KEPT.kept) == before


def keeper_elsewhere(device, shards):
    """A few parts have no rows."""
    nobody, none = (shards.shards[0].take(slice(0, 0)) for _ in range(2))
    return DeviceKeeper(Elsewhere([nobody, none, *shards.shards]), device)


def test_codes_of_two_bytes_lie_on_a_device_as_they_are():
    rng = np.random.default_rng(0)
    n_bins = [40_000, 3]
    codes = np.column_stack([rng.integers(0, n, 500) for n in n_bins])
    targets = {
        "target": rng.integers(-9, 9, (500, 1)).astype(np.int32),
        "classes": np.empty(0, dtype=np.uint8),
    }
    shards = LocalShards([Shard(codes.astype(np.uint16), targets)])
    boxes = [{0: rng.random(40_000) < 0.5}, {1: np.array([True, False, True])}]
    packed = pack_boxes(boxes, n_bins)
    expected = ShardKeeper(shards).counts([packed], 0, 3)
    for device in devices():
        keeper = TorchKeeper(shards.shards, device)
        np.testing.assert_array_equal(keeper.counts([packed], 0, 3), expected)


@pytest.mark.parametrize("n_boxes", [0, 1, 7, 61, 63, 130])
def test_compiled_visits_agree_with_numpy_to_the_last_bit(n_boxes):
    compiled = pytest.importorskip("defragtrees.search.list_kernels_numba")
    rng = np.random.default_rng(n_boxes)
    n_rows, n_bins = 500, [4, 300, 9, 7]
    codes = np.column_stack([rng.integers(0, n, n_rows) for n in n_bins])
    codes = codes.astype(np.uint16)
    boxes = [
        {j: rng.random(n_bins[j]) < 0.7 for j in rng.permutation(4)[: 1 + k % 3]}
        for k in range(n_boxes)
    ]
    shape = n_boxes, n_boxes + 1
    packed = pack_boxes(
        boxes,
        n_bins,
        slope=rng.integers(-(2**20), 2**20, (*shape, 2)),
        level=rng.integers(-(2**36), 2**36, (*shape, 3)),
    )
    target = rng.integers(-(2**17), 2**17, (n_rows, 2)).astype(np.int32)
    classes = rng.integers(0, 3, n_rows).astype(np.uint8)
    columns, places = np.array([3, 0, 1, 2]), np.array([0, 7, 11, 311, 320])
    units = rng.integers(0, 2**21, n_rows)
    for weight, unit in ((np.empty(0), np.array([8])), (units / 2**20, units)):
        calls = (
            ("list_answering", codes, *packed.boxes),
            ("list_counts", codes, target, classes, unit, 3, *packed.boxes),
            (
                "list_gains",
                *(codes, target, classes, weight, *packed.boxes),
                *(packed.slope, packed.level, columns, places),
            ),
        )
        for name, *arguments in calls:
            plain = getattr(kernels, f"plain_{name}")(*arguments)
            found = getattr(compiled, name)(*arguments)
            np.testing.assert_array_equal(found, plain)
            assert len(plain) == (n_rows if name == "list_answering" else len(plain))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_polished_lists_cost_less_and_no_change_of_a_condition_helps(
    kind, seed, monkeypatch
):
    # These starts are far off; those of a fit are polished on a sample.
    monkeypatch.setattr(all_rows_search, "MOST_SWEEPS", 40)
    case = Case(seed, kind, n_rows=1200)
    rows, limits = case.rows(4), Limits(6)
    starts = [case.boxes(n) for n in (1, 2, 4, 5)]
    before = {}
    for boxes in starts:
        own = moves.tidy(rows.list_of(boxes), limits)
        before[own.n_rules] = min(own.cost, before.get(own.n_rules, np.inf))
    best = polish_all_rows(rows, starts, limits)
    assert len(best) > 1
    for n, own in best.items():
        assert own.n_rules == n
        assert own.cost <= before.get(n, np.inf)
        here = RuleBoxes(case.table, case.loss, own.boxes)
        for k in range(len(here.boxes)):
            after = moves.improve_rule(here, k, limits, max_steps=1)[0]
            assert after.cost > here.cost - 0.05
    assert any(own.cost < before.get(n, -np.inf) - 1 for n, own in best.items())


def test_classes_that_count_more_do_so_over_all_rows():
    importance = {"a": 5.0, "b": 1.0, "c": 1.0}
    case, plain = Case(3, importance=importance), Case(3)
    boxes = case.boxes(3)
    here, there = RuleBoxes(case.table, case.loss, boxes), case.rows().list_of(boxes)
    np.testing.assert_allclose(there.weights, here.weights, rtol=1e-5)
    even = plain.rows().list_of(boxes).weights
    assert not np.allclose(there.weights, even, rtol=1e-2)


def test_conditions_go_in_the_order_of_rows_in_memory():
    case = Case(5, "number")
    boxes, limits = case.boxes(3), Limits(6)
    here = moves.tidy(RuleBoxes(case.table, case.loss, boxes), limits)
    there = moves.tidy(case.rows().list_of(boxes), limits)
    pairs = zip(
        cut_conditions(here, limits), cut_conditions(there, limits), strict=True
    )
    n_cuts = 0
    for mine, other in pairs:
        n_cuts += 1
        assert [sorted(box) for box in mine.boxes] == [
            sorted(box) for box in other.boxes
        ]
    assert n_cuts >= 3


def test_what_must_be_used_stays_in_use_over_all_rows():
    case = Case(7, "number", n_rows=800)
    rows = case.rows()
    feature = case.table.columns[1].feature
    limits = Limits(5, must_use=(frozenset([feature]),))
    mask = np.ones(case.table.columns[1].n_codes + 1, dtype=bool)
    mask[0] = False
    best = polish_all_rows(rows, [(*case.boxes(2), {1: mask})], limits)
    assert best
    for own in best.values():
        assert any(1 in box for box in own.boxes)
