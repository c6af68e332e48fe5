"""A small profile of the training rows, kept with the rules to detect drift.

It also knows which missing values and categories of new rows no training row had.
"""

import dataclasses
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from defragtrees._utils import schema
from defragtrees._utils.formatting import count, plural, round_significant
from defragtrees._utils.types import Flags, Floats, Places, Values
from defragtrees._utils.values import all_rounded
from defragtrees._utils.warnings import warn

if TYPE_CHECKING:
    from defragtrees.rules.model import RuleModel

MOST_PARTS = 10  # into which the numbers of a column are counted
# What a row is worth as evidence, by where it comes from. A model was chosen by the y
# of the rows that it was trained on and so, at second hand, were rules that imitate it:
# their rates miss those of new rows as if 2.5 times fewer rows had been counted
# (docs/method.md).
WORTH = dict.fromkeys(("training", "searched"), 0.4)
WORTH |= dict.fromkeys(("held out", "validation", "refit"), 1.0)
KNOWN = "the model may have been trained on them, so they count as {worth}"
ORIGINS = {
    "training": f"{{n}} not used by the search; {KNOWN}",
    "searched": f"{{n}} used by the search; {KNOWN}",
    "held out": "{n} not used by the search",
    "validation": "{n} that neither the search nor the model used",
    "refit": "{n} given to refit",
}

_NUMBERS = schema.list_of(schema.number())
_AMOUNTS = schema.list_of(schema.number(-1e100, 1e100))


@dataclass(frozen=True)
class Correction(schema.Stored):
    """How far rules learned y where the model that they imitate misses part of it."""

    weight: Annotated[float, schema.number(0, 1)]  # of the correction that y suggests
    # share of the model's squared error that it removes in rows that were left out
    gain: Annotated[float, schema.number(-1, 1)]


@dataclass(frozen=True)
class Evidence(schema.Stored):
    """Which rows the rates, means and intervals of rules come from.

    Examples
    --------
    >>> print(Evidence("validation", 1000.0).text)
    Estimates from 1,000 rows that neither the search nor the model used.
    """

    source: Annotated[str, schema.one_of(*WORTH)]
    n_rows: Annotated[float, schema.N_ROWS]
    # further rows that the model was trained on, which count less (`WORTH`)
    n_trained: Annotated[float, schema.N_ROWS, "optional"] = 0.0
    correction: Annotated[Correction | None, schema.maybe(Correction), "optional"] = (
        None
    )

    @property
    def worth(self) -> float:
        """How many rows, drawn after the model was trained, a row is worth."""
        return WORTH[self.source]

    @property
    def text(self) -> str:
        """Where estimates come from, as a sentence."""
        n_rows = plural(round(self.n_rows), "row")
        worth = count(self.worth * self.n_rows)
        text = ORIGINS[self.source].format(n=n_rows, worth=worth)
        if self.n_trained:
            worth = count(WORTH["training"] * self.n_trained)
            trained = plural(round(self.n_trained), "row")
            text += f", and {trained} that the model was trained on, which count as "
            text += worth
        if self.correction is None:
            return f"Estimates from {text}."
        text = text.replace(" not used by the search", "")
        return (
            f"Estimates from {text}. The model misses part of y, which the rules learn "
            f"from the training rows (weight {self.correction.weight:g})."
        )


@dataclass(frozen=True)
class TrainingColumn(schema.Stored):
    """One column of the training rows; counts are of rows, by weight.

    Numbers are counted in each part between `cuts`, the first up to the first cut; or
    each category is counted and, last, the values that are none of them.
    """

    feature: Annotated[int, schema.whole()]
    counts: Annotated[tuple[float, ...], schema.list_of(schema.N_ROWS, 1)]
    missing: Annotated[float, schema.N_ROWS, "required"] = 0.0
    # of numbers, ascending
    cuts: Annotated[tuple[float, ...] | None, _NUMBERS | schema.NULL] = None
    # the smallest and the largest number; None if there is none
    low: Annotated[float | None, schema.number() | schema.NULL] = None
    high: Annotated[float | None, schema.number() | schema.NULL] = None
    # whether all numbers are whole
    is_integer: Annotated[bool, schema.FLAG, "integer"] = False
    # of a scorecard the sums of y in each part, of missing values last: of numbers, or
    # rows of the second class
    sums: Annotated[tuple[float, ...] | None, _AMOUNTS | schema.NULL, "optional"] = None
    # the same of rows, each counted once; None if their weight is their number
    rows: Annotated[
        tuple[float, ...] | None,
        schema.list_of(schema.N_ROWS) | schema.NULL,
        "optional",
    ] = None
    # numbers that are codes, such as -9 for "no account"
    special: Annotated[tuple[float, ...], _NUMBERS, "optional"] = ()

    def __post_init__(self) -> None:
        cuts = self.cuts
        for name, each in (("sums", self.sums), ("rows", self.rows)):
            if each is not None and len(each) != len(self.counts) + 1:
                raise ValueError(
                    f"The {name} of a training column must have one entry more than "
                    f"its counts; got {len(each)}."
                )
        if cuts is None:
            return
        if len(cuts) + 1 != len(self.counts) or list(cuts) != sorted(set(cuts)):
            raise ValueError(
                "The cuts of a training column must be ascending, one less than its "
                f"counts; got {list(cuts)!r}."
            )
        if (self.low is None) != (self.high is None):
            raise ValueError(
                "A training column must have low and high, or neither; got "
                f"{self.low!r} and {self.high!r}."
            )

    def psi(self, column: Floats) -> float:
        """Population stability index of the values of an encoded column.

        Each part, each special value and missing values are a part; half a row is added
        to each, so that it is finite.

        Examples
        --------
        >>> part = TrainingColumn(0, (50.0, 50.0), cuts=(1.5,), low=1.0, high=2.0)
        >>> round(part.psi(np.array([1.0] * 50 + [2.0] * 50)), 3)
        0.0
        >>> round(part.psi(np.array([1.0] * 90 + [2.0] * 10)), 3)
        0.853
        """
        before = np.array([*self.counts, self.missing])
        now = np.append(self.count(column), np.isnan(column).sum())
        before, now = before[before + now > 0], now[before + now > 0]
        shares = [(n + 0.5) / (n.sum() + len(n) / 2) for n in (before, now)]
        return float((shares[1] - shares[0]) @ np.log(shares[1] / shares[0]))

    def rows_of(self, condition: Any) -> tuple[float, float, float]:
        """The rows that a condition accepts, their weight and sum of y, or NaN."""
        parts = np.arange(len(self.counts), dtype=np.float64)
        if self.cuts is not None:
            whole = math.floor if self.is_integer else float
            cuts = [*map(whole, self.cuts)]
            low, high = (math.nan if e is None else e for e in (self.low, self.high))
            for edge in (condition.lower, condition.upper):
                is_cut = math.isfinite(edge) and whole(edge) in cuts
                if math.isfinite(edge) and low <= edge < high and not is_cut:
                    return (math.nan,) * 3
            parts = np.array([*cuts, high])
        inside = condition.covers(parts) & ~np.isnan(parts)
        inside = np.append(inside, condition.missing)
        counts = *self.counts, self.missing
        unknown = (math.nan,) * len(inside)
        n_rows, weight, total = (
            float(np.array(each)[inside].sum())
            for each in (self.rows or counts, counts, self.sums or unknown)
        )
        return n_rows, weight, total if self.sums else math.nan

    def count(self, column: Floats) -> Places:
        """How many values of an encoded column are in each part, without missing ones.

        Examples
        --------
        >>> part = TrainingColumn(0, (2.0, 2.0), cuts=(1.5,), low=1.0, high=2.0)
        >>> part.count(np.array([1.0, 1.5, 9.0, np.nan])).tolist()
        [2, 1]
        """
        values = column[~np.isnan(column)]
        places = values if self.cuts is None else np.searchsorted(self.cuts, values)
        return np.bincount(places.astype(np.intp), minlength=len(self.counts))

    def to_dict(self) -> dict[str, Any]:
        """Its contents in plain numbers and lists."""
        written = super().to_dict()
        names = ("feature", "counts", "missing", "sums", "rows")
        is_set = self.cuts is None
        return {k: v for k, v in written.items() if k in names or not is_set}


CHOICES = ("accept", "error")
AGREED_ON = ("validation", "synthetic", "training")


@dataclass(frozen=True)
class Agreement(schema.Stored):
    """How often rules and their model predicted differently when they were made.

    Rows that the model was trained on would not do: there it predicts some of the noise
    in y, which rules do not. It does not on synthetic rows near them.
    """

    source: Annotated[str, schema.one_of(*AGREED_ON)]  # the rows
    # share of rows with another class, or mean squared difference
    loss: Annotated[float, schema.number(0, 1e250)]
    # what the rows are worth, as rows drawn after the model was trained
    n_rows: Annotated[float, schema.N_ROWS]


@dataclass(frozen=True)
class TrainingRows(schema.Stored):
    """Profile of the rows that rules were fitted to.

    `target` is about y: rows of each class, or the mean and standard deviation of
    numbers. `error` is that of the rules by y: the share of wrong classes, or the mean
    squared error. An edit that changes predictions removes `error` and `agreement`.
    """

    n_rows: Annotated[float, schema.number(0, 1e18, is_open=True)]  # by weight
    # those that the rules use
    columns: Annotated[
        tuple[TrainingColumn, ...], schema.list_of(schema.object_of(TrainingColumn))
    ]
    target: Annotated[tuple[float, ...] | None, _AMOUNTS | schema.NULL] = None
    error: Annotated[float | None, schema.MEASURED] = field(default=None, compare=False)
    agreement: Annotated[Agreement | None, schema.maybe(Agreement), "optional"] = field(
        default=None, compare=False
    )
    # of a scorecard, rows by what their totals stand for, as the log-odds
    score: Annotated[
        TrainingColumn | None, schema.maybe(TrainingColumn), "optional"
    ] = field(default=None, compare=False)

    def column(self, feature: int) -> TrainingColumn | None:
        """What is kept of a feature; None if nothing is."""
        return next((one for one in self.columns if one.feature == feature), None)

    def for_features(self, features: Collection[int]) -> Self:
        """The same of some features only."""
        kept = tuple(one for one in self.columns if one.feature in features)
        return dataclasses.replace(self, columns=kept)

    def check(
        self, categories: Sequence[Any], n_moments: int, has_classes: bool
    ) -> None:
        """Raise ValueError for what does not fit these categories and this y."""
        if self.target is not None and len(self.target) != n_moments:
            raise ValueError(
                f"The training target must have {n_moments} entries; got "
                f"{len(self.target)}."
            )
        # Counts of classes; or a mean, which may be negative, and a spread.
        counts = (self.target or ())[0 if has_classes else 1 :]
        if any(value < 0 for value in counts):
            raise ValueError(
                "Counts and spreads of the training target must be from 0; got "
                f"{min(counts):g}."
            )
        for column in self.columns:
            if not 0 <= column.feature < len(categories):
                raise ValueError(f"A training column is of feature {column.feature}.")
            labels = categories[column.feature]
            is_set = column.cuts is None
            if is_set != (labels is not None) or (
                is_set and len(column.counts) != len(labels) + 1
            ):
                raise ValueError(
                    "A training column must have a count for each category and one "
                    "more, or cuts where it is numeric; got "
                    f"{len(column.counts)} counts."
                )


def training_column(
    feature: int,
    weights: Any,
    thresholds: Floats | None,
    ends: tuple[float, ...],
    is_integer: bool,
    values: Floats | None = None,
    edges: Iterable[float] = (),
    sums: Any = None,
    special: tuple[float, ...] = (),
    rows: Any = None,
) -> TrainingColumn:
    """The profile of a column that was counted by bins.

    Weights are those of the rows in each bin, missing last, sums those of their y, and
    rows their number; thresholds are between bins, None of categories; ends are the
    smallest and the largest number. Parts also end at the edges of conditions, for
    which values has a number of each bin.

    Examples
    --------
    >>> training_column(0, np.array([3.0, 4.0, 5.0, 1.0]), np.array([1.0, 2.0]),
    ...                 (0.0, 9.0), False).counts
    (3.0, 4.0, 5.0)
    """
    missing = round_significant(weights[-1])
    if rows is not None and np.allclose(rows, weights):
        rows = None
    if thresholds is None:
        counts = all_rounded(weights[:-1])
        read = [None if each is None else all_rounded(each) for each in (sums, rows)]
        return TrainingColumn(feature, counts, missing, sums=read[0], rows=read[1])
    thresholds, reached = np.array(thresholds), np.cumsum(weights[:-1])
    # Bins side by side, put together until they have a share of the rows.
    part = np.ceil(reached * MOST_PARTS / max(reached[-1], 1e-300) - 1e-9)
    is_cut = part[:-1] != part[1:]
    if values is not None:
        highest = np.fmax.accumulate(np.append(-math.inf, values[: len(reached)]))
        ends_of = [(math.nextafter(v, -math.inf), v) for v in special]
        for edge in {*edges, *itertools.chain(*ends_of)}:
            place = int(np.searchsorted(highest, edge, side="right")) - 2
            if 0 <= place < len(is_cut):
                is_cut[place], thresholds[place] = True, edge
    is_cut &= (reached[:-1] > 0) & (reached[:-1] < reached[-1])
    places = np.flatnonzero(is_cut)

    def summed(each: Floats) -> tuple[float, ...]:
        return all_rounded(np.add.reduceat(each[:-1], [0, *(places + 1)]))

    cuts = tuple(thresholds[places].tolist())
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    column = TrainingColumn(
        feature, summed(weights), missing, cuts, low, high, is_integer
    )
    read = [
        None if each is None else (*summed(each), round_significant(each[-1]))
        for each in (sums, rows)
    ]
    return dataclasses.replace(column, sums=read[0], rows=read[1], special=special)


def count_rows(
    features: Iterable[int],
    categories: Sequence[Any],
    matrix: Floats,
    weight: Floats,
    edges: Mapping[int, Iterable[float]],
    y: Floats | None = None,
    special: Mapping[int, tuple[float, ...]] = MappingProxyType({}),
) -> tuple[TrainingColumn, ...]:
    """The profiles of columns of encoded rows; see `training_column`.

    Examples
    --------
    >>> rows = np.arange(100.0)[:, None]
    >>> [column] = count_rows([0], [None], rows, np.ones(100), {})
    >>> column.counts[:3], column.low, column.high
    ((10.0, 10.0, 10.0), 0.0, 99.0)
    """
    made = []
    for j in sorted(features):
        column, is_missing = matrix[:, j], np.isnan(matrix[:, j])
        distinct = np.unique(column[~is_missing])
        is_set = categories[j] is not None
        size = len(categories[j]) + 1 if is_set else max(len(distinct), 1)
        codes = column if is_set else np.searchsorted(distinct, column)
        codes = np.where(is_missing, size, codes).astype(np.intp)
        ends = (distinct[0], distinct[-1]) if len(distinct) else (math.nan, math.nan)
        is_whole = len(distinct) > 0 and bool((distinct == np.floor(distinct)).all())
        counts = np.bincount(codes, weight, size + 1)
        sums = None if y is None else np.bincount(codes, weight * y, size + 1)
        thresholds = None if is_set else distinct[:-1]
        rows = None if y is None else np.bincount(codes, weight > 0, size + 1)
        made.append(
            training_column(
                *(j, counts, thresholds, ends, is_whole, distinct, edges.get(j, ())),
                sums=sums,
                special=special.get(j, ()),
                rows=rows,
            )
        )
    return tuple(made)


# Missing values and categories of new rows that the training rows did not have. Rules
# predict such rows too, by the conditions that fail; without a profile all missing
# values are new.


def unseen_values(
    rules: "RuleModel", matrix: Floats
) -> Iterator[tuple[int, str, Flags]]:
    """For each column that rules use, which rows are "missing" and which are "new".

    A row in which all of several columns are missing is new in any case.
    """
    used = sorted({c.feature for rule in rules.rules for c in rule.conditions})
    is_empty: Flags = np.isnan(matrix[:, used]).sum(axis=1) == max(2, len(used))
    for j in used:
        column = None if rules.training is None else rules.training.column(j)
        values, labels = matrix[:, j], (rules.categories or ())[j]
        is_missing = np.isnan(values)
        had_missing = column is not None and column.missing > 0
        yield j, "missing", is_empty if had_missing else is_missing
        if labels is not None:
            counts = (*[1] * len(labels), 0) if column is None else column.counts
            places = np.where(is_missing, 0, values).astype(np.intp)
            yield j, "new", ~is_missing & (np.array(counts)[places] == 0)


def unseen_texts(rules: "RuleModel", matrix: Floats) -> Values:
    """What each row has that training did not have, as text; empty if nothing."""
    texts = np.full(len(matrix), "", dtype=object)
    for j, what, mask in unseen_values(rules, matrix):
        between = np.where(texts[mask] == "", "", ", ").astype(object)
        texts[mask] += between + f"{rules._vocabulary.names[j]} is {what}"
    return texts


def count_unseen(rules: "RuleModel", matrix: Floats) -> int:
    """Number of rows with values that training did not have; 0 without a profile."""
    if rules.training is None:
        return 0
    masks = [mask for _, _, mask in unseen_values(rules, matrix)]
    return int(np.logical_or.reduce(masks).sum()) if masks else 0


def warn_of_unseen(n_unseen: int, n_rows: int, how: str) -> None:
    """Warn of rows with values that training did not have; `how` to see which."""
    if n_unseen:
        warn(
            f"{n_unseen:,} of {plural(n_rows, 'row')} have a missing value or a "
            f"category that no training row had; {how} shows which."
        )


def check_seen(
    rules: "RuleModel",
    matrix: Floats,
    on_missing: str = "accept",
    on_unknown: str = "accept",
    n_before: int = 0,
) -> None:
    """Raise for values that training did not have, if asked to.

    `n_before` rows came before these, for the message.
    """
    for name, value in (("on_missing", on_missing), ("on_unknown", on_unknown)):
        if value not in CHOICES:
            raise ValueError(f"{name} must be 'accept' or 'error'; got {value!r}.")
    if on_missing == on_unknown == "accept":
        return
    for j, what, mask in unseen_values(rules, matrix):
        choice = on_missing if what == "missing" else on_unknown
        if choice == "error" and mask.any():
            raise ValueError(
                f"{rules.feature_names[j]!r} is {what} in {mask.sum():,} of "
                f"{plural(len(mask), 'row')}, the first of them row "
                f"{n_before + mask.argmax() + 1}, as in no training row. Correct these "
                "rows, or leave them out."
            )
