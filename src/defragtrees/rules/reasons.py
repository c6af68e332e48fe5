"""Reason codes of a scorecard: columns whose best value would add points to a row.

The conditions of a card divide the values of a column into cells. What a column adds
depends on the cell and, for rules on several columns, on whether their other conditions
match. All of this is text that is known beforehand, so SQL, Python, ONNX and PMML give
the same reasons as the library.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats, Places, Values
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.tables import feature_index

MOST_REASONS = 1000
MOST_OTHERS = 8  # different conditions beside a column, in a reason that is exported
DIGITS = 9  # of points; sums that differ by rounding are equal


@dataclass(frozen=True)
class Reason:
    """What a row of one cell would gain, given whether other conditions match."""

    tests: tuple[tuple[int, bool], ...]  # of `Reasons.atoms`, and whether they match
    gain: float
    text: str


@dataclass(frozen=True)
class _Column:
    """What the values of one column add to the total."""

    feature: int
    cells: tuple[Condition, ...]  # of which one matches each value
    is_remedy: tuple[bool, ...]  # whether one can be told to have such a value
    # Of each rule on the column: its points, the cells that match, and the place of its
    # other conditions among `others`, or -1.
    rules: tuple[tuple[float, Any, int], ...]
    others: tuple[int, ...]  # places of atoms


class Reasons:
    """The reasons of a scorecard with one total.

    `atoms` are conjunctions of conditions, which decide between reasons.
    """

    def __init__(self, card: Any, best: str, exclude: Sequence[Any] = ()) -> None:
        if card.outcome.n_points != 1:
            raise ValueError(
                "reasons need a scorecard with one total, for a number or two classes; "
                f"this one has {card.outcome.n_points}, one per class."
            )
        if best not in ("high", "low"):
            raise ValueError(f"best must be 'high' or 'low'; got {best!r}.")
        given = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        names = card.feature_names
        index: Any = feature_index
        left_out = {index(one, names, "exclude") for one in given}
        self.card, self.sign = card, 1.0 if best == "high" else -1.0
        self.atoms: list[tuple[Condition, ...]] = []
        self._places: dict[tuple[Condition, ...], int] = {}
        features = [c.feature for rule in card.rules for c in rule.conditions]
        kept = [j for j in dict.fromkeys(features) if j not in left_out]
        self.columns = [self._column(j) for j in kept]

    def texts(self, matrix: Floats, n: int) -> Values:
        """The texts of the first reasons of each row, (n_rows, n); None where none."""
        shape = len(matrix), len(self.columns)
        gains, texts = np.zeros(shape), np.full(shape, None, dtype=object)
        flags = {
            place: Rule(self.atoms[place], None).covers(matrix)
            for column in self.columns
            for place in (*column.others, *map(self._place, self._single(column)))
        }
        for k, column in enumerate(self.columns):
            held = np.array([flags[place] for place in column.others], dtype=bool)
            held = held.reshape(len(column.others), len(matrix)).T
            patterns, group = np.unique(held, axis=0, return_inverse=True)
            for i, pattern in enumerate(patterns.tolist()):
                for reason in self._of_pattern(column, pattern):
                    rows = flags[reason.tests[0][0]] & (group.ravel() == i)
                    gains[rows, k], texts[rows, k] = reason.gain, reason.text
        first = np.argsort(-gains, axis=1, kind="stable")[:, :n]
        found = np.full((len(matrix), n), None, dtype=object)
        found[:, : first.shape[1]] = np.take_along_axis(texts, first, axis=1)
        return found

    @property
    def can_be_listed(self) -> bool:
        """Whether few conditions decide between the reasons of each column."""
        return all(len(column.others) <= MOST_OTHERS for column in self.columns)

    def every(self) -> list[tuple[int, Reason]]:
        """All reasons with the place of their column, the largest gain first."""
        found = []
        for k, column in enumerate(self.columns):
            if not self.can_be_listed:
                names = [self.card.feature_names[c.feature] for c in self.columns]
                raise ValueError(
                    f"An export has reasons on columns with at most {MOST_OTHERS} "
                    f"different conditions beside them; one of {names} has more. Fit "
                    "rules with fewer conditions, or leave the column out by exclude=."
                )
            for pattern in itertools.product([False, True], repeat=len(column.others)):
                found += [(k, one) for one in self._of_pattern(column, pattern)]
        return sorted(found, key=lambda one: (-one[1].gain, one[0]))

    def _of_pattern(self, column: _Column, pattern: Sequence[bool]) -> Iterator[Reason]:
        """The reasons of a column, given which other conditions match."""
        points = np.zeros(len(column.cells))
        cells = column.cells, np.array(column.is_remedy)
        for value, inside, other in column.rules:
            if other < 0 or pattern[other]:
                points += value * inside
        points = np.round(points, DIGITS) + 0.0
        can_be = np.where(column.is_remedy, self.sign * points, -np.inf)
        best = points[int(can_be.argmax())]
        remedy = self._text(column, run_of(points, int(can_be.argmax()), *cells))
        name = self.card._vocabulary.names[column.feature]
        for sign in "<>":  # as in "25 if <= 30"
            if remedy.startswith(f"{name} {sign}"):
                remedy = remedy.removeprefix(f"{name} ")
        tests = tuple(zip(column.others, map(bool, pattern), strict=True))
        for k, cell in enumerate(self._single(column)):
            gain = round(float(self.sign * (best - points[k])), DIGITS)
            if gain > 0:
                now = self._text(column, run_of(points, k, *cells))
                text = (
                    f"{now} (points {render.grouped(points[k])}; "
                    f"best {render.grouped(best)} if {remedy})"
                )
                place = self._place(cell)
                yield Reason(((place, True), *tests), gain, render.plain(text))

    def _text(self, column: _Column, cells: Places) -> str:
        return joined(column.cells, cells).text(*self.card._vocabulary)

    def _column(self, feature: int) -> _Column:
        card = self.card
        found = [
            (float(rule.points[0]), own, tuple(c for c in rule.conditions if c != own))
            for rule in card.rules
            for own in rule.conditions
            if own.feature == feature
        ]
        column = card.training and card.training.column(feature)
        special = column.special if column else ()
        conditions = [own for _, own, _ in found]
        conditions += single_values(feature, special)
        cells = cells_of(conditions, card.categories[feature])
        values = np.array([value_in(cell) for cell in cells])
        others: list[int] = []
        rules = []
        for points, own, rest in found:
            if rest and self._place(rest) not in others:
                others.append(self._place(rest))
            place = others.index(self._place(rest)) if rest else -1
            rules.append((points, own.covers(values), place))
        known = card.categories[feature]
        is_remedy = tuple(
            not cell.missing
            and (cell.categories is None or known is None or value < len(known))
            # Nobody can be told to have a code, or what no row had beside codes.
            and not (special and (value in special or not column.rows_of(cell)[0]))
            for cell, value in zip(cells, values.tolist(), strict=True)
        )
        return _Column(feature, cells, is_remedy, tuple(rules), tuple(others))

    def _single(self, column: _Column) -> list[tuple[Condition, ...]]:
        return [(cell,) for cell in column.cells]

    def _place(self, atom: tuple[Condition, ...]) -> int:
        if atom not in self._places:
            self._places[atom] = len(self.atoms)
            self.atoms.append(atom)
        return self._places[atom]


def checked_number(n: Any) -> int:
    """The maximum number of reasons; raises ValueError if it is none."""
    is_whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
    if not is_whole or not 1 <= n <= MOST_REASONS:
        raise ValueError(
            f"n must be a whole number from 1 to {MOST_REASONS:,}; got {n!r}."
        )
    return int(n)


def run_of(points: Any, k: int, cells: Sequence[Condition], is_known: Flags) -> Places:
    """The cells with as many points as cell k that can be written with it."""
    cell = cells[k]
    if cell.missing:
        return np.array([k])
    is_same = (points == points[k]) & ~np.array([c.missing for c in cells])
    if cell.categories is not None:
        return np.flatnonzero(is_same & (is_known == is_known[k]))
    first, last = k, k
    while first > 0 and is_same[first - 1]:
        first -= 1
    while last + 1 < len(points) and is_same[last + 1]:
        last += 1
    return np.arange(first, last + 1)


def joined(cells: Sequence[Condition], run: Places) -> Condition:
    """The condition that a value is in one of some neighbouring cells."""
    first: Condition = cells[int(run[0])]
    last: Condition = cells[int(run[-1])]
    if first.categories is None:
        return dataclasses.replace(first, upper=last.upper)
    codes = [code for k in run.tolist() for code in cells[k].categories or ()]
    return dataclasses.replace(first, categories=tuple(sorted(codes)))


def cells_of(
    conditions: Sequence[Condition], known: Sequence[Any] | None
) -> tuple[Condition, ...]:
    """Conditions that divide all values of a column, missing ones last."""
    feature, is_integer = conditions[0].feature, any(c.is_integer for c in conditions)
    if known is not None or any(c.categories is not None for c in conditions):
        sets = [set(c.categories or ()) for c in conditions]
        n_codes = max(max(one, default=0) for one in sets) + 1
        codes = range(n_codes if known is None else len(known) + 1)
        cells = [Condition(feature, categories=(code,)) for code in codes]
        return (*cells, Condition(feature, categories=(), missing=True))
    edges = {e for c in conditions for e in (c.lower, c.upper) if math.isfinite(e)}
    ends = [-math.inf, *sorted(edges), math.inf]
    whole = [math.floor(e) if is_integer and math.isfinite(e) else e for e in ends]
    cells = [
        Condition(feature, low, high, is_integer=is_integer)
        for k, (low, high) in enumerate(itertools.pairwise(ends))
        if whole[k] < whole[k + 1]
    ]
    missing = Condition(feature, math.inf, missing=True, is_integer=is_integer)
    return (*cells, missing)


def single_values(feature: int, values: Sequence[float]) -> list[Condition]:
    """Conditions that accept one number each."""
    return [Condition(feature, math.nextafter(v, -math.inf), v) for v in values]


def value_in(cell: Condition) -> float:
    """A value that the cell of a column contains."""
    if cell.categories is not None:
        return float(cell.categories[0]) if cell.categories else math.nan
    if cell.missing:
        return math.nan
    if math.isfinite(cell.upper):
        return float(math.floor(cell.upper) if cell.is_integer else cell.upper)
    if math.isfinite(cell.lower):
        after = math.floor(cell.lower) + 1 if cell.is_integer else math.inf
        return float(after if cell.is_integer else math.nextafter(cell.lower, after))
    return 0.0
