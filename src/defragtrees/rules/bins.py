"""A scorecard by characteristic: the bins of each column with their points."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Floats
from defragtrees.rules.conditions import Condition, Rule, is_single
from defragtrees.rules.reasons import cells_of, joined, run_of, single_values, value_in

MOST_TOTALS = 10_000  # beyond it some are left out
ALSO = "and also"  # the characteristic of rules on several columns
BASE = "base"


@dataclass(frozen=True)
class Bin:
    """A line of a card: values of one column, a rule on several, or the base."""

    feature: int | None  # None but for values of one column
    conditions: tuple[Condition, ...]
    points: float
    rules: tuple[int, ...]  # by index, whose points these are
    n_rows: float = math.nan
    weight: float = math.nan  # of its rows
    total: float = math.nan  # of y in its rows: of numbers, or rows of the second class

    @property
    def mean(self) -> float:
        """Mean of y, or share of the second class, by weight."""
        return self.total / self.weight if self.weight else math.nan

    def woe(self, every: "Bin", sign: int = 1) -> tuple[float, float]:
        """Weight of evidence, and part of the information value, among all rows.

        The first is the logarithm of the odds of the second class in the bin, less that
        in all rows. Half a row of either kind is added, so that it is finite. For the
        first class the sign is -1.
        """
        inside = np.array([self.total, self.weight - self.total])
        both = np.array([every.total, every.weight - every.total])
        if not (self.weight > 0 and (both > 0).all()):
            return math.nan, 0.0
        event, other = (np.maximum(inside, 0.0) + 0.5) / (both + 0.5)
        woe = math.log(event / other)
        return sign * woe, float((event - other) * woe)


def is_by_column(card: Any) -> bool:
    """Whether a card is read by characteristic: most rules have one condition."""
    if not card._form.is_sum:
        return False
    n_single = sum(len(rule.conditions) == 1 for rule in card.rules)
    return card.outcome.n_points == 1 and 2 * n_single > len(card.rules)


def bins_of(
    card: Any, matrix: Floats | None = None, y: Floats | None = None
) -> list[Bin]:
    """The bins of a card, rules on several columns and, last, the base.

    Rows are those of an encoded matrix, with y as `Bin.total` sums it up, or else of
    the profile of the counted rows.
    """
    found = list[Bin]()
    single = [k for k, rule in enumerate(card.rules) if len(rule.conditions) == 1]
    for feature in dict.fromkeys(card.rules[k].conditions[0].feature for k in single):
        own = [k for k in single if card.rules[k].conditions[0].feature == feature]
        found += _bins_of_column(card, feature, own)
    for k, rule in enumerate(card.rules):
        if len(rule.conditions) != 1:
            found.append(Bin(None, rule.conditions, float(rule.points[0]), (k,)))
    found.append(Bin(None, (), float(card.default.points[0]), (len(card.rules),)))
    counts = [_counted(card, one, matrix, y) for one in found]
    return [
        dataclasses.replace(one, n_rows=n_rows, weight=weight, total=total)
        for one, (n_rows, weight, total) in zip(found, counts, strict=True)
    ]


def _bins_of_column(card: Any, feature: int, own: list[int]) -> list[Bin]:
    """From the lowest values to the highest; special and missing ones last."""
    column = card.training and card.training.column(feature)
    special = column.special if column else ()
    conditions = [card.rules[k].conditions[0] for k in own]
    alone = single_values(feature, special)
    known = card.categories[feature]
    cells = cells_of([*conditions, *alone], known)
    values = np.array([value_in(cell) for cell in cells])
    inside = np.array([c.covers(values) for c in (*conditions, *alone)])
    # Cells that the same rules accept are one bin.
    pattern = np.unique(inside.T, axis=0, return_inverse=True)[1].ravel()
    points = np.array([float(card.rules[k].points[0]) for k in own])
    sums = np.round(points @ inside[: len(own)], 9) + 0.0
    is_known = np.array(
        [known is None or cell.missing or v < len(known)
         for cell, v in zip(cells, values.tolist(), strict=True)]
    )  # fmt: skip
    made, done = list[Bin](), set[int]()
    for k in range(len(cells)):
        if k not in done:
            run = run_of(pattern, k, cells, is_known)
            done |= set(run.tolist())
            rules = tuple(i for i, flags in zip(own, inside, strict=False) if flags[k])
            whole = (joined(cells, run),)
            made.append(Bin(feature, whole, float(sums[k]), rules))
    return sorted(made, key=lambda one: _is_special(one.conditions[0], special))


def _is_special(condition: Condition, special: tuple[float, ...]) -> int:
    """2 for missing values, 1 for special ones, 0 for all others."""
    is_value = condition.upper in special and is_single(
        condition.lower, condition.upper, condition.is_integer
    )
    is_missing = condition.missing and value_in(condition) != value_in(condition)
    return 2 * is_missing + is_value


def is_shown(card: Any, one: Bin) -> bool:
    """Whether values of a bin have points or occurred, or may have if nobody counted.

    Missing values and unknown categories, that is, of which nothing is said.
    """
    [condition] = one.conditions
    if one.points or not math.isnan(one.n_rows):
        return bool(one.points or one.n_rows)
    value, known = value_in(condition), card.categories[one.feature]
    return value == value and not (known is not None and value >= len(known))


def _counted(
    card: Any, one: Bin, matrix: Floats | None, y: Floats | None
) -> tuple[float, float, float]:
    """Number of rows of a bin, their weight and sum of y; NaN where it is not known."""
    if matrix is not None:
        rows = Rule(one.conditions, None).covers(matrix)
        n_rows = float(rows.sum())
        return n_rows, n_rows, math.nan if y is None else float(y[rows].sum())
    if card.training is None:
        return (math.nan,) * 3
    if one.feature is not None:
        column = card.training.column(one.feature)
        return (math.nan,) * 3 if column is None else column.rows_of(*one.conditions)
    rule = [*card][one.rules[0]]
    weight = card.training.n_rows * (rule.share if one.conditions else 1.0)
    rate = card.outcome.has_sums and rule.rates is not None
    return rule.n_rows, weight, weight * rule.rates[-1] if rate else math.nan


def bin_text(condition: Condition, vocabulary: Any) -> str:
    """A condition without the name of its feature.

    Examples
    --------
    >>> from defragtrees.rules.labels import make_vocabulary
    >>> words = make_vocabulary(("age", "job"), (None, ("a", "b", "c")))
    >>> bin_text(Condition(0, 17.0, 30.0, is_integer=True), words)
    '18 to 30'
    >>> bin_text(Condition(0, 1.5, 3.0), words), bin_text(Condition(0, 3.0), words)
    ('> 1.5 to 3', '> 3')
    >>> bin_text(Condition(1, categories=(0, 2)), words)
    'a or c'
    """
    scale = vocabulary.scales[condition.feature]
    known = vocabulary.categories and vocabulary.categories[condition.feature]
    places = condition.categories or ()
    if places and known is not None and min(places) >= len(known):
        return "another or missing" if condition.missing else "another"
    before, _, after = condition.parts(*vocabulary)
    if not before or condition.categories is not None:
        return render.plain(f"{before}{after.strip().removeprefix('is ')}")
    (sign, low), (other, high) = condition.sides
    if condition.is_integer:
        low, high = math.floor(condition.lower) + 1.0, math.floor(condition.upper)
        sign, other = ">=", "<="
    signs = [f"{scale.sign(s)} " * (s not in (">=", "<=")) for s in (sign, other)]
    ends = f"{signs[0]}{scale.number(low)} to {signs[1]}{scale.number(float(high))}"
    missing = " or missing" if condition.missing else ""
    return render.plain(f"{ends}{scale.ending}{missing}")


def bin_rows(card: Any, matrix: Floats | None, y: Floats | None) -> dict[str, Any]:
    """The columns of `Scorecard.bins`."""
    sums = y if y is not None and y.ndim > 1 else None  # events, exposure
    found = bins_of(card, matrix, y if sums is None else None)
    words, outcome, (*_, every) = card._vocabulary, card.outcome, found
    rules, names = [Rule(one.conditions, None) for one in found], words.names
    counts = {}
    if sums is not None and matrix is not None:
        parts = [rule.covers(matrix) for rule in rules]
        events, exposure = np.array([sums[part, :2].sum(axis=0) for part in parts]).T
        counts = {"events": events, "exposure": exposure}
        counts["rate"] = events / np.where(exposure > 0, exposure, math.nan)
    columns: dict[str, list[Any]] = {
        "characteristic": [
            (ALSO if b.conditions else BASE) if b.feature is None else names[b.feature]
            for b in found
        ],
        "bin": [render.plain(r.text(*words)) if r.conditions else "" for r in rules],
        "points": [one.points for one in found],
        **_factors(card, found),
        "rules": [", ".join(str(k + 1) for k in one.rules) for one in found],
    }
    if not math.isnan(every.n_rows):
        columns["rows"] = [one.n_rows for one in found]
        columns["share"] = [one.n_rows / max(every.n_rows, 1e-300) for one in found]
    columns |= counts
    if not math.isnan(every.total):
        sign = -1 if card.unit < 0 else 1
        means = [one.mean for one in found]
        name = "rate" if outcome.n_classes else "mean"
        columns[name] = [1 - mean if sign < 0 else mean for mean in means]
        if outcome.is_binary:
            pairs = [one.woe(every, sign) for one in found]
            columns["woe"] = [woe for woe, _ in pairs]
            columns["iv"] = [
                math.nan if one.feature is None and one.conditions else iv
                for one, (_, iv) in zip(found, pairs, strict=True)
            ]
    return columns


def _factors(card: Any, found: list[Bin]) -> dict[str, list[float]]:
    """The factors for which points stand as their logarithms, or as steps of them."""
    if card.outcome.link != "log":
        return {}
    *others, base = [one.points * card.unit for one in found]
    logs = [*others, base - card.origin * card.unit]
    factors = [render.round_significant(math.exp(log), 6) for log in logs]
    return {card.outcome.view.point_words[0]: factors}


def totals_of(card: Any) -> Floats:
    """The totals that occur: a row is in one bin of each column.

    Of very many totals some are left out.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> low = Rule((Condition(0, upper=9.0),), 5.0, points=(3.0,))
    >>> high = Rule((Condition(0, lower=9.0),), 5.0, points=(1.0,))
    >>> totals_of(Scorecard((low, high), Rule((), 2.0, points=(2.0,)), ("x",),
    ...                     "regression")).tolist()  # 2 where x is missing
    [2.0, 3.0, 5.0]
    """
    choices: dict[Any, set[float]] = {}
    *found, base = bins_of(card)
    for one in found:
        if one.points or one.n_rows != 0:
            key = one.rules if one.feature is None else one.feature
            choices.setdefault(key, set()).add(one.points)
            if one.feature is None:
                choices[key].add(0.0)
    totals = np.array([base.points])
    for points in choices.values():
        sums = totals[:, None] + np.array(sorted(points))
        totals = np.unique(np.round(sums, 9))
        if len(totals) > MOST_TOTALS:
            places = np.linspace(0, len(totals) - 1, MOST_TOTALS).round().astype(int)
            totals = totals[places]
    return totals
