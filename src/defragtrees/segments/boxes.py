"""Search for the box of rows whose losses differ most from those of all other rows.

A box is a conjunction of conditions on bins of columns. Its value is the gain in
log-likelihood of a mean of its own for the rows inside (as in scan statistics), less a
price per comparison. The search looks at all rectangles over pairs of columns on a
coarse grid, and improves the best ones by one column at a time on a fine grid, where
the best interval or set of categories is found exactly.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from defragtrees.data.grid import integer_range, round_between, single_value
from defragtrees.rules.conditions import MOST_NAMED, Condition
from defragtrees.rules.labels import ORDERED

COARSE, FINE = 8, 64  # bins of a column
N_STARTS = 12
MOST_STEPS = 20
MOST_PAIRED = 100  # columns whose pairs are searched
TAIL = 0.02  # share of signed losses at either end that are winsorised
INTERVALS = [(a, b) for a in range(COARSE) for b in range(a + 1, COARSE + 1)]
INSIDE = np.array([[float(a <= i < b) for i in range(COARSE)] for a, b in INTERVALS])
N_SIDES = np.array([(a > 0) + (b < COARSE) for a, b in INTERVALS])


@dataclass(frozen=True, eq=False)
class BinColumn:
    """A column in bins; the last bin is for missing values.

    Numbers and ordered categories are cut between neighbouring values, the largest of
    a bin and the smallest of the next. Other categories have one bin each.
    """

    feature: int
    codes: np.ndarray
    n_bins: int  # without that of missing values
    is_set: bool
    n_categories: int = 0  # of categories, ordered or not
    is_integer: bool = False
    kind: str | None = None
    values: np.ndarray | None = None  # the numbers
    largest: np.ndarray | None = None  # of each bin but the last
    next_smallest: np.ndarray | None = None

    def condition(self, accepted):
        """The condition for these bins, a bool per bin with that of missing last."""
        missing, inside = bool(accepted[-1]), np.flatnonzero(accepted[:-1])
        if self.is_set:
            places = tuple(inside.tolist())
            return Condition(self.feature, categories=places, missing=missing)
        lower = self._end(inside[0] - 1) if len(inside) else math.inf
        upper = self._end(inside[-1]) if len(inside) else math.inf
        if self.n_categories:
            places = tuple(k for k in range(self.n_categories) if lower < k <= upper)
            return Condition(self.feature, categories=places, missing=missing)
        if self.is_integer and len(inside):
            distinct = np.unique(self.values[~np.isnan(self.values)])
            ends = float(distinct[0]), float(distinct[-1])
            lower, upper = single_value(lower, upper, *ends, len(distinct) == 2)
        return Condition(
            self.feature, lower, upper, missing=missing, is_integer=self.is_integer
        )

    def cut_at(self, cuts):
        """The same numbers in other bins, which end with these values."""
        missing = np.isnan(self.values)
        distinct = np.unique(self.values[~missing])
        last = np.unique(np.searchsorted(distinct, cuts))
        last = last[last < len(distinct) - 1]
        codes = np.searchsorted(distinct[last], self.values, side="left")
        codes[missing] = len(last) + 1
        ends = {"largest": distinct[last], "next_smallest": distinct[last + 1]}
        return replace(self, codes=codes, n_bins=len(last) + 1, **ends)

    def sharpened(self, accepted):
        """Finer bins around the ends of an interval, and the same interval in them."""
        inside = np.flatnonzero(accepted[:-1])
        near = {inside[0] - 1, inside[0], inside[-1], inside[-1] + 1}
        there = np.unique(
            self.values[np.isin(self.codes, sorted(near - {self.n_bins}))]
        )
        some = np.linspace(0, len(there) - 1, min(len(there), FINE)).round().astype(int)
        finer = self.cut_at(np.union1d(self.largest, there[some]))
        old = np.searchsorted(self.largest, finer.largest, side="left")
        old = np.append(old, self.n_bins - 1)
        return finer, np.append(accepted[old], accepted[-1])

    def _end(self, k):
        """A threshold between bin k and the next one."""
        if k in (-1, self.n_bins - 1):
            return -math.inf if k < 0 else math.inf
        low, high = float(self.largest[k]), float(self.next_smallest[k])
        middle = low + (high - low) / 2
        return round_between(low, high, middle, self.is_integer, self.kind)

    def price(self, n_in, n_categories):
        """Price of the categories after the first that the text of a set names."""
        n_named = np.minimum(n_in, np.maximum(n_categories - n_in, 1))
        price = (n_named - 1) * math.log(max(2, self.n_categories))
        return np.where(n_named <= MOST_NAMED, price, math.inf)


def make_column(feature, values, categories=None, kind=None):
    """A BinColumn of encoded values: numbers, or positions of categories, or NaN."""
    missing = np.isnan(values)
    there = values[~missing]
    n_categories = len(categories or ())
    if categories is not None and kind != ORDERED:
        # A category that is not in the list has the position after the last one.
        codes = np.where(missing, n_categories + 1, np.nan_to_num(values)).astype(int)
        return BinColumn(feature, codes, n_categories + 1, True, n_categories)
    cuts = np.unique(there)[:-1]
    if len(cuts) >= FINE:
        shares = np.linspace(0, 1, FINE + 1)[1:-1]
        cuts = np.quantile(there, shares, method="inverted_cdf")
    is_integer = categories is None and integer_range(np.unique(there)) is not None
    known = kind if kind != ORDERED else None
    column = BinColumn(
        feature, there, 0, False, n_categories, is_integer, known, values
    )
    return column.cut_at(cuts)


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses to search, with the family of their likelihood.

    Two values are rates (Bernoulli); other losses that are never negative have a
    standard deviation in proportion to their mean (gamma, by quasi-likelihood); signed
    ones have a constant variance, and their extreme values are winsorised.
    """

    values: np.ndarray
    weight: np.ndarray
    family: str  # "rate", "scale" or "shift"
    is_high: bool  # whether high means are searched, or low ones
    is_signed: bool  # whether high means above zero, and low means below
    min_weight: float  # of a box

    @cached_property
    def total(self):
        """Weight and sum of all rows."""
        return float(self.weight.sum()), float(self.weight @ self.values)

    @cached_property
    def variance(self):
        """Variance over all rows; relative to the squared mean for "scale"."""
        n, total = self.total
        mean = total / n
        variance = float(self.weight @ (self.values - mean) ** 2) / n
        return variance / mean**2 if self.family == "scale" and mean else variance

    def gain(self, n, total):
        """Gain in log-likelihood of a mean of its own for weight n and this sum."""
        n_all, sum_all = self.total
        with np.errstate(divide="ignore", invalid="ignore"):
            rest, rest_sum = n_all - n, sum_all - total
            inside, outside = total / n, rest_sum / rest
            pairs = (n, inside), (rest, outside), (-n_all, sum_all / n_all)
            parts = [_fit(*pair, self.family) for pair in pairs]
            found = sum(parts)
            if self.family != "rate":
                found = found / self.variance
            is_wanted = (inside > outside) == self.is_high
            if self.is_signed and self.family == "shift":
                is_wanted &= (inside > 0) == self.is_high
        # More than half of the rows are the rule, not a segment.
        is_box = (n >= self.min_weight) & (n > 1e-9 * n_all) & (n <= rest)
        return np.where(is_wanted & is_box, found, -math.inf)


def _fit(n, mean, family):
    """Log-likelihood of n rows at their mean, without terms that cancel."""
    if family == "rate":
        mean = np.clip(mean, 1e-12, 1 - 1e-12)
        return n * (mean * np.log(mean) + (1 - mean) * np.log1p(-mean))
    if family == "scale":
        return -n * np.log(np.maximum(mean, 1e-300))
    return n * mean**2 / 2


def family_of(losses, is_signed=False):
    """The family of the likelihood of some losses; see Losses."""
    if is_signed:
        return "shift"
    if len(np.unique(losses)) == 2:
        return "rate"
    return "scale" if losses.min() >= 0 else "shift"


def make_losses(losses, weight, family, is_high, is_signed, min_weight):
    """The Losses of some rows.

    Of signed ones zero has a meaning, such as no bias, and no value is winsorised.
    """
    if family == "shift" and not is_signed:
        losses = np.clip(losses, *np.quantile(losses, [TAIL, 1 - TAIL]))
    return Losses(losses, weight, family, is_high, is_signed, min_weight)


class BoxSearch:
    """Search for one box after the other; see the module."""

    def __init__(self, columns, losses, max_conditions, price=1.0):
        self.columns = [column for column in columns if column.n_bins > 1]
        self.losses = losses
        self.max_conditions = max_conditions
        # A comparison chooses one of so many: as in a minimum description length.
        self.price = price * math.log(max(1, len(self.columns)) * COARSE)

    def without(self, rows):
        """Leave these rows out of the search."""
        weight = np.where(rows, 0.0, self.losses.weight)
        self.losses = replace(self.losses, weight=weight)

    def best(self):
        """The best box as a dict from column to accepted bins; None without a gain."""
        value, best = 0.0, None
        if not self.columns or not self.losses.total[0] or not self.losses.variance:
            return None
        for start in self._starts():
            found, box = self._climb(start)
            if found > value:
                value, best = found, box
        return best and self._sharpened(best)

    def _sharpened(self, box):
        """Move the ends of intervals to the best of all values near them."""
        for j, accepted in box.items():
            if self.columns[j].is_set or not accepted[:-1].any():
                continue
            self.columns[j], box[j] = self.columns[j].sharpened(accepted)
            others = {k: mask for k, mask in box.items() if k != j}
            found, finer = self._on_column(j, np.flatnonzero(self.covers(others)))
            box[j] = finer if found > -math.inf else box[j]
        return box

    def covers(self, box):
        """Which rows are in a box."""
        inside = np.ones(len(self.losses.weight), dtype=bool)
        for j, accepted in box.items():
            inside &= accepted[self.columns[j].codes]
        return inside

    def _sums(self, codes, n_bins, rows=slice(None)):
        weight = self.losses.weight[rows]
        return (
            np.bincount(codes, weight, n_bins),
            np.bincount(codes, weight * self.losses.values[rows], n_bins),
        )

    def _starts(self):
        """The best rectangles of pairs of columns on the coarse grid."""
        groups = [self._coarse(column) for column in self.columns]
        paired = range(len(self.columns))
        if len(groups) > MOST_PAIRED:
            gains = [self._on_column(j, slice(None))[0] for j in paired]
            paired = np.sort(np.argsort(gains)[-MOST_PAIRED:])
        codes = np.column_stack([groups[j][self.columns[j].codes] for j in paired])
        n_rows, p = codes.shape
        if p == 1:
            return [{}]
        one_hot = np.zeros((n_rows, p * COARSE), dtype=np.float32)
        one_hot[np.arange(n_rows)[:, None], codes + COARSE * np.arange(p)] = 1.0
        weight = self.losses.weight
        weights, sums = (
            ((one_hot * by[:, None].astype(np.float32)).T @ one_hot)
            .reshape(p, COARSE, p, COARSE)
            .astype(np.float64)
            for by in (weight, weight * self.losses.values)
        )
        price = self.price * (N_SIDES[:, None] + N_SIDES)
        found = []
        for one in range(p - 1):
            others = np.arange(one + 1, p)
            n, total = (
                INSIDE @ table[one][:, others].transpose(1, 0, 2) @ INSIDE.T
                for table in (weights, sums)
            )
            values = self.losses.gain(n, total) - price
            flat = values.reshape(len(others), -1)
            for other, at in zip(others, flat.argmax(axis=1), strict=True):
                found.append((flat[other - one - 1, at], one, other, at))
        found.sort(key=lambda one: -one[0])
        starts = []
        for _, one, other, at in found[:N_STARTS]:
            box = {}
            for place, k in zip((one, other), divmod(at, len(INTERVALS)), strict=True):
                (low, high), j = INTERVALS[k], int(paired[place])
                if high - low < COARSE:
                    box[j] = (groups[j] >= low) & (groups[j] < high)
                    if self.columns[j].is_set:
                        n, _ = self._sums(self.columns[j].codes, len(box[j]))
                        box[j] = _without_empty(box[j], n)
            starts.append(box)
        return starts

    def _coarse(self, column):
        """The coarse bin of each fine one; those of a set are ordered by their mean."""
        n, total = self._sums(column.codes, column.n_bins + 1)
        order = np.arange(len(n))
        if column.is_set:
            order = np.argsort(total / np.maximum(n, 1e-9), kind="stable")
        middle = np.cumsum(n[order]) - n[order] / 2
        groups = np.empty(len(n), dtype=int)
        groups[order] = np.minimum(COARSE * middle / n.sum(), COARSE - 1)
        return groups

    def _price(self, box):
        price = 0.0
        for j, accepted in box.items():
            column = self.columns[j]
            if column.is_set:
                n_in = int(accepted[:-1].sum())
                price += self.price + column.price(n_in, column.n_categories)
            else:
                n_ends = int(not accepted[0]) + int(not accepted[-2])
                price += self.price * max(1, n_ends)
        return price

    def _value(self, box):
        inside = self.covers(box)
        weight = self.losses.weight[inside]
        found = self.losses.gain(weight.sum(), weight @ self.losses.values[inside])
        return float(found) - self._price(box)

    def _climb(self, box):
        """Improve a box by the best change of one column, until there is none."""
        value = self._value(box) if box else -math.inf
        for _ in range(MOST_STEPS):
            best, better = value + 1e-9, None
            for j in range(len(self.columns)):
                if j not in box and len(box) == self.max_conditions:
                    continue
                others = {k: accepted for k, accepted in box.items() if k != j}
                rows = np.flatnonzero(self.covers(others)) if others else slice(None)
                found, accepted = self._on_column(j, rows)
                found -= self._price(others)
                if found > best:
                    best, better = found, {**others, j: accepted}
                if j in box and others and (found := self._value(others)) > best:
                    best, better = found, others
            if better is None:
                break
            value, box = best, better
        return value, box

    def _on_column(self, j, rows):
        """The best bins of a column for these rows, with their value."""
        column = self.columns[j]
        n, total = self._sums(column.codes[rows], column.n_bins + 1, rows)
        best = self._best_set if column.is_set else self._best_interval
        return best(column, n, total)

    def _best_interval(self, column, n, total):
        # The first interval is empty, for missing values only.
        places = np.triu_indices(column.n_bins + 1, 1)
        starts, ends = (np.append(0, place) for place in places)
        n_sides = (starts > 0).astype(int) + (ends < column.n_bins)
        until = (np.append(0.0, np.cumsum(values[:-1])) for values in (n, total))
        here, sums = (values[ends] - values[starts] for values in until)
        missing = np.array([[False], [True]])[: 1 + (n[-1] > 0)]
        values = self.losses.gain(here + missing * n[-1], sums + missing * total[-1])
        values -= self.price * np.maximum(n_sides, 1)
        # All numbers are a condition only if missing values are not in it.
        values[(n_sides == 0) & (missing | (n[-1] <= 0))] = -math.inf
        takes_missing, k = np.unravel_index(values.argmax(), values.shape)
        accepted = np.zeros(len(n), dtype=bool)
        accepted[starts[k] : ends[k]] = True
        accepted[-1] = takes_missing
        return float(values[takes_missing, k]), accepted

    def _best_set(self, column, n, total):
        """The best of the sets of categories with the highest, or lowest, means."""
        # With one row of the overall mean, so that a rare category does not lead.
        n_all, sum_all = self.losses.total
        means = (total + sum_all / n_all) / (n + 1)
        order = np.argsort(-means if self.losses.is_high else means, kind="stable")
        order = order[n[order] > 0]
        here, sums = np.cumsum(n[order])[:-1], np.cumsum(total[order])[:-1]
        if not len(here):
            return -math.inf, None
        n_in = np.arange(1, len(here) + 1)
        values = self.losses.gain(here, sums) - self.price
        values -= column.price(n_in, len(order))
        k = int(values.argmax())
        accepted = np.zeros(len(n), dtype=bool)
        accepted[order[: k + 1]] = True
        return float(values[k]), _without_empty(accepted, n)


def _without_empty(accepted, n):
    """A set of categories that has one without rows only if its text names others."""
    is_there = n > 0
    accepted = accepted & is_there
    if 2 * accepted.sum() > is_there.sum():
        accepted[:-1] |= ~is_there[:-1]
    return accepted
