"""A small profile of the training rows, kept with the rules to detect drift."""

import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np

from defragtrees._utils.formatting import count, plural, round_significant
from defragtrees._utils.types import Floats, Places
from defragtrees._utils.values import all_rounded
from defragtrees.rules import schema

MOST_PARTS = 10  # into which the numbers of a column are counted
# What a row is worth as evidence, by where it comes from. A model was chosen by the y
# of the rows that it was trained on and so, at second hand, were rules that imitate it:
# their rates miss those of new rows as if 2.5 times fewer rows had been counted
# (docs/method.md).
WORTH = {
    "training": 0.4,
    "searched": 0.4,
    "held out": 1.0,
    "validation": 1.0,
    "refit": 1.0,
}
# Means of numbers miss by less: as if 1.7 times fewer rows had been counted
# (`benchmarks/honesty/means.py`).
MEAN_WORTH = 0.6
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
    correction: Annotated[
        Correction | None, schema.NULL | schema.object_of(Correction), "optional"
    ] = None

    def __post_init__(self) -> None:
        if self.source not in WORTH:
            raise ValueError(
                f"The source of evidence must be one of {', '.join(WORTH)}; got "
                f"{self.source!r}."
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

    def __post_init__(self) -> None:
        cuts = self.cuts
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
        names = (
            [*written] if self.cuts is not None else ("feature", "counts", "missing")
        )
        return {name: written[name] for name in names}


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
    agreement: Annotated[
        Agreement | None, schema.NULL | schema.object_of(Agreement), "optional"
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
    weights: Floats,
    thresholds: Floats | None,
    ends: tuple[float, ...],
    is_integer: bool,
) -> TrainingColumn:
    """The profile of a column that was counted by bins.

    Weights are those of the rows in each bin, missing last; thresholds are between
    bins, None of categories; ends are the smallest and the largest number.

    Examples
    --------
    >>> training_column(0, np.array([3.0, 4.0, 5.0, 1.0]), np.array([1.0, 2.0]),
    ...                 (0.0, 9.0), False).counts
    (3.0, 4.0, 5.0)
    """
    missing = round_significant(weights[-1])
    if thresholds is None:
        return TrainingColumn(feature, all_rounded(weights[:-1]), missing)
    reached = np.cumsum(weights[:-1])
    # Bins side by side, put together until they have a share of the rows.
    part = np.ceil(reached * MOST_PARTS / max(reached[-1], 1e-300) - 1e-9)
    is_cut = (part[:-1] != part[1:]) & (reached[:-1] > 0)
    is_cut &= reached[:-1] < reached[-1]
    places = np.flatnonzero(is_cut)
    counts = np.diff([0.0, *reached[places], reached[-1]])
    cuts = tuple(np.asarray(thresholds)[places].tolist())
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    return TrainingColumn(
        feature, all_rounded(counts), missing, cuts, low, high, is_integer
    )


def count_rows(
    features: Iterable[int], categories: Sequence[Any], matrix: Floats, weight: Floats
) -> tuple[TrainingColumn, ...]:
    """The profiles of columns of encoded rows.

    Examples
    --------
    >>> rows = np.arange(100.0)[:, None]
    >>> [column] = count_rows([0], [None], rows, np.ones(100))
    >>> column.counts[:3], column.low, column.high
    ((10.0, 10.0, 10.0), 0.0, 99.0)
    """
    made = []
    for j in sorted(features):
        values, missing = matrix[:, j], np.isnan(matrix[:, j])
        present, weights = values[~missing], weight[~missing]
        gone = weight[missing].sum()
        if categories[j] is not None:
            size = len(categories[j]) + 1
            counts = np.bincount(present.astype(np.intp), weights, size)
            made.append(training_column(j, np.append(counts, gone), None, (), False))
            continue
        distinct, codes = np.unique(present, return_inverse=True)
        counts = np.bincount(codes, weights, len(distinct))
        ends = (distinct[0], distinct[-1]) if len(distinct) else (math.nan, math.nan)
        is_whole = distinct == np.floor(distinct)
        is_integer = bool(len(distinct)) and bool(is_whole.all())
        bins = np.append(counts if len(distinct) else [0.0], gone)
        made.append(training_column(j, bins, distinct[:-1], ends, is_integer))
    return tuple(made)
