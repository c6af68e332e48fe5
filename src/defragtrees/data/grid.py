"""ThresholdGrid: the thresholds of a model, and X as bin numbers.

The bin of a value is the number of thresholds below it, so `x <= thresholds[j]`
exactly when `bin <= j`. The bin of a category is its position. A missing value has
the last bin.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from defragtrees._utils.types import Flags, Floats, Places, Rows, Values
from defragtrees._utils.values import ByValue, freeze
from defragtrees.rules.conditions import Condition
from defragtrees.rules.labels import KINDS
from defragtrees.tables import MICROSECONDS

# How far a threshold may move, as a share of its gap, to a multiple of ten or of five.
MOST_SHIFT = {1: 0.4, 5: 0.15}
CALENDAR = ("Y", "M", "D", "h", "m", "s")
# From a day to a second.
STEPS_OF_DAYS = (1, 1 / 2, 1 / 4, 1 / 24, 1 / 48, 1 / 96, 1 / 288, 1 / 1440, 1 / 86400)
LARGEST_INTEGER = 2.0**52  # up to here all integers and halves are doubles


@dataclass(frozen=True, eq=False)
class ThresholdGrid(ByValue):
    """The sorted distinct thresholds, or sets of categories, of each feature.

    Examples
    --------
    >>> grid = ThresholdGrid(([1.0, 2.5],))
    >>> grid.bin([[0.0], [1.0], [9.0], [float("nan")]]).ravel().tolist()
    [0, 0, 2, 3]
    """

    # thresholds, or for a categorical feature a bool array of shape (n_sets,
    # n_categories + 1), each row a set of category positions
    splits: tuple[np.ndarray, ...]
    # number of splits of the model behind each threshold; 1 by default
    counts: tuple[np.ndarray, ...] | None = None
    # smallest and largest value of integer features
    ranges: tuple[tuple[float, float] | None, ...] | None = None
    pairs: frozenset[int] = frozenset()  # integer features with two values
    # numbers of a feature that are codes, such as -9 for "no account"
    special: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        splits = tuple(
            freeze(values, bool if np.ndim(values) == 2 else np.float64)
            for values in self.splits
        )
        counts = self.counts or tuple(np.ones(len(values), int) for values in splits)
        counts = tuple(freeze(count, np.int64) for count in counts)
        object.__setattr__(self, "splits", splits)
        object.__setattr__(self, "counts", counts)
        for values, count in zip(splits, counts, strict=True):
            if len(values) != len(count):
                raise ValueError("counts must have one entry per split.")
            if values.ndim == 1 and not (np.diff(values) > 0).all():
                raise ValueError("Thresholds must be sorted and distinct.")

    @cached_property
    def n_bins(self) -> Places:
        """Number of bins of each feature, the bin for missing values included."""
        sizes = [len(v) + 2 if v.ndim == 1 else v.shape[1] + 1 for v in self.splits]
        return freeze(np.array(sizes, int))

    def with_special(self, special: Mapping[int, Sequence[float]]) -> "ThresholdGrid":
        """The grid in which each special value of a feature has a bin of its own.

        Features without thresholds or with categories have none.

        Examples
        --------
        >>> grid = ThresholdGrid(([1.0, 2.5],)).with_special({0: [-9.0]})
        >>> grid.bin([[-10.0], [-9.0], [-8.0], [3.0]]).ravel().tolist()
        [0, 1, 2, 4]
        """
        kept, splits, counts = {}, list(self.splits), list(self.counts or ())
        for j, values in special.items():
            if splits[j].ndim == 1 and len(splits[j]):
                kept[j] = tuple(sorted(values))
                ends = [np.nextafter(kept[j], -np.inf), np.array(kept[j])]
                merged = np.union1d(splits[j], ends)
                count = np.ones(len(merged), int)
                count[np.searchsorted(merged, splits[j])] = counts[j]
                splits[j], counts[j] = merged, count
        return replace(self, splits=tuple(splits), counts=tuple(counts), special=kept)

    def segments(self, feature: int) -> list[tuple[int, int]]:
        """The bins that one condition may accept, from the first to before the last.

        All bins; with special values those between them, each of them, and missing.
        """
        values = np.array(self.special.get(feature, ()))
        n_bins = int(self.n_bins[feature])
        if not len(values):
            return [(0, n_bins)]
        bins = self.bin_column(feature, values)
        starts = sorted({0, *bins.tolist(), *(bins + 1).tolist(), n_bins - 1})
        return [*itertools.pairwise([*starts, n_bins])]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype that holds every bin number."""
        return np.min_scalar_type(int(self.n_bins.max(initial=1)) - 1)

    def is_categorical(self, feature: int) -> bool:
        """Whether the bins of this feature are categories."""
        return self.splits[feature].ndim == 2

    def bin(self, X: Rows) -> Values:
        """Number of thresholds below each value; missing values get the last bin."""
        X = np.asarray(X, dtype=np.float64)
        codes = np.empty(X.shape, dtype=self.dtype, order="F")
        for j in range(len(self.splits)):
            codes[:, j] = self.bin_column(j, X[:, j])
        return codes

    def bin_counts(self, codes: Values) -> list[Places]:
        """The number of rows in each bin of each feature."""
        sizes = enumerate(self.n_bins)
        return [np.bincount(codes[:, j], minlength=n) for j, n in sizes]

    def bin_column(self, feature: int, column: Floats) -> Places:
        """Bin numbers of the values of one feature, as `bin` gives them."""
        values = self.splits[feature]
        missing = np.isnan(column)
        if values.ndim == 1:
            code = np.searchsorted(values, column, side="left")
            return np.where(missing, len(values) + 1, code)
        code = np.where(missing, 0, column).astype(np.intp)
        code = np.minimum(code, values.shape[1] - 1)
        return np.where(missing, values.shape[1], code)

    def condition(self, feature: int, accepts: Flags) -> Condition:
        """The condition that accepts some bins of a feature.

        The last entry of `accepts` stands for missing values. The accepted bins of a
        numeric feature must be neighbours.

        Examples
        --------
        >>> grid = ThresholdGrid(([1.0, 2.5],))
        >>> grid.condition(0, np.array([False, True, False, False])).text(["age"])
        '1 < age <= 2.5'
        """
        missing = bool(accepts[-1])
        inside = np.flatnonzero(accepts[:-1])
        if self.is_categorical(feature):
            return Condition(
                feature, categories=tuple(inside.tolist()), missing=missing
            )
        if not inside.size:
            return Condition(feature, lower=math.inf, missing=missing)
        thresholds = self.splits[feature]
        first, final = inside[0], inside[-1]
        lower = float(thresholds[first - 1]) if first > 0 else -math.inf
        upper = float(thresholds[final]) if final < len(thresholds) else math.inf
        integers = None if self.ranges is None else self.ranges[feature]
        if integers is not None:
            if feature in self.special:
                lower, upper = np.floor([lower, upper]).tolist()
            is_pair = feature in self.pairs
            lower, upper = single_value(lower, upper, *integers, is_pair)
        is_integer = integers is not None
        return Condition(feature, lower, upper, missing=missing, is_integer=is_integer)

    def conditions(
        self, sides: Iterable[tuple[int, Any]], has_missing: Flags | None = None
    ) -> tuple[Condition, ...]:
        """The conjunction of some sides, as one condition per feature.

        A side is a feature and a mask of its accepted bins; sides on one feature must
        have a bin in common. Conditions accept missing values only on features with
        `has_missing`, all by default.

        Examples
        --------
        >>> grid = ThresholdGrid(([1.0, 2.5],))
        >>> above, below = [False, True, True, True], [True, True, False, True]
        >>> [c.text(["age"]) for c in grid.conditions([(0, above), (0, below)])]
        ['1 < age <= 2.5 or missing']
        """
        accepted: dict[int, np.ndarray] = {}
        for feature, accepts in sides:
            accepted[feature] = accepted.get(feature, True) & np.asarray(accepts)
        if has_missing is not None:
            for feature, accepts in accepted.items():
                accepts[-1] &= has_missing[feature]
        return tuple(self.condition(j, accepted[j]) for j in sorted(accepted))

    def without_integers(self, features: Iterable[int]) -> "ThresholdGrid":
        """The same grid, with these integer features treated as real numbers."""
        if self.ranges is None:
            return self
        ranges = tuple(
            None if j in features else ends for j, ends in enumerate(self.ranges)
        )
        return replace(self, ranges=ranges)

    def shorten(
        self, X: Rows, kinds: Sequence[str | None] | None = None
    ) -> "ThresholdGrid":
        """Round thresholds, so that no row of X moves to the other side.

        Thresholds between the same two neighbouring values are merged, and their counts
        added. Thresholds outside the range of X are not changed. `kinds` has the kind
        of each feature that counts days.
        """
        X = np.asarray(X, dtype=np.float64)
        columns = (X[:, j] for j in range(len(self.splits)))
        values = [np.unique(column[~np.isnan(column)]) for column in columns]
        return self.shorten_between(values, [integer_range(v) for v in values], kinds)

    def shorten_between(
        self,
        values: Sequence[Floats],
        ranges: Sequence[tuple[float, float] | None] | None = None,
        kinds: Sequence[str | None] | None = None,
    ) -> "ThresholdGrid":
        """Round thresholds, given only some values of the rows; see `shorten`.

        `values` has sorted distinct values of each feature, with at least the smallest
        and the largest value of every bin; `ranges` are those of the grid.
        """
        none = (None,) * len(self.splits)
        splits, counts, integers = list[Any](), [], []
        pairs = set[int]()
        for own, count, known, ends, kind in zip(
            self.splits,
            self.counts or (),
            values,
            ranges or none,
            kinds or none,
            strict=True,
        ):
            if own.ndim == 2 or kind in KINDS:
                ends = None
            if own.ndim == 1 and len(own):
                shorter = _shortened(own, known, ends is not None, kind)
                own, group = np.unique(shorter, return_inverse=True)
                count = np.bincount(group, weights=count, minlength=len(own))
            # Two are all if a threshold is between them: each bin has its own.
            is_between = ends and ((own >= ends[0]) & (own < ends[1])).any()
            pairs |= {len(splits)} if is_between and len(known) == 2 else set()
            splits.append(own)
            counts.append(count.astype(np.int64))
            integers.append(ends)
        return ThresholdGrid(
            tuple(splits), tuple(counts), tuple(integers), frozenset(pairs)
        )


def rows_covered(conditions, X=None, codes=None, values=None):
    """Mask of the rows that match all conditions.

    Rows are numbers, X, or codes with one value per bin, so that a condition is tested
    once per bin. Codes need conditions on thresholds of the grid.
    """
    matches = np.ones(len(codes if X is None else X), dtype=bool)
    for condition in conditions:
        j = condition.feature
        if X is None:
            matches &= condition.covers(values[j])[codes[:, j]]
        else:
            matches &= condition.covers(X[:, j])
    return matches


def integer_range(values: Floats) -> tuple[float, float] | None:
    """Smallest and largest of sorted values; None if some are not integers.

    Examples
    --------
    >>> integer_range(np.array([1.0, 2.0, 7.0])), integer_range(np.array([1.5, 2.0]))
    ((1.0, 7.0), None)
    """
    if not len(values) or (values != np.floor(values)).any():
        return None
    low, high = float(values[0]), float(values[-1])
    return (low, high) if max(abs(low), abs(high)) < LARGEST_INTEGER else None


def round_between(low, high, target, is_integer=False, kind=None):
    """The roundest threshold in [low, high); of equally round ones, near `target`.

    `low` and `high` are neighbouring values of a feature, `target` is the threshold of
    the model; `kind`, for numbers of days, is a key of `rules.labels.KINDS`.

    Examples
    --------
    >>> round_between(0.1234, 0.1301, 0.1267), round_between(1.9, 3.0, 2.45)
    (0.127, 2.5)
    >>> round_between(2, 3, 2.5, True), round_between(37, 44, 40.2, True)
    (2.0, 40.0)
    >>> round_between(3.7, 3.8, 3.75)  # not a digit more than the values have
    3.7
    >>> round_between(9.99, 10, 9.995)  # below 10
    9.999999999999998
    """
    low, high, target = float(low), float(high), float(target)
    width = high - low
    if not (math.isfinite(width) and width > 0):
        return target
    if kind in ("date", "datetime", "datetime UTC"):
        before = math.nextafter(_round_date(low, high, target), -math.inf)
        return before if before >= low else target
    farthest = max(abs(low), abs(high))
    if kind in KINDS:
        steps = [(step, None, None, 0.4) for step in STEPS_OF_DAYS]
    else:
        smallest = max(math.floor(math.log10(math.ulp(abs(target) or width))), -300)
        largest = math.ceil(math.log10(width)) + 1
        smallest = -1 if is_integer else smallest
        steps = _decimal_steps(largest, smallest, bool(is_integer))
    for step in steps:
        size = step[0]
        first = math.floor(target / size)
        slack = 4 * math.ulp(max(farthest, size))
        if first * size < low - slack and (first + 1) * size > high + slack:
            continue  # no multiple is near
        best = _nearest_multiple(low, high, target, first, step)
        if best is not None:
            if best < high:
                return best
            before = high - 1.0 if is_integer else math.nextafter(high, -math.inf)
            return before if before >= low else target
    return math.floor(target) * 1.0 if is_integer else target


@cache
def _decimal_steps(largest, smallest, is_integer):
    """Candidate step sizes, from large to small.

    Each has the step, its digit and exponent, and how far a threshold may move to a
    multiple of it, as a share of the gap.
    """
    steps = []
    for exponent in range(largest, smallest, -1):
        steps.append((1, f"e{exponent}"))
        if exponent > 0 or not is_integer:
            steps.append((5, f"e{exponent - 1}"))
    return [
        (float(f"{digit}{exponent}"), digit, exponent, MOST_SHIFT[digit])
        for digit, exponent in steps
    ]


def _nearest_multiple(low, high, target, first, step):
    """The multiple of a step nearest to the target; None if it is too far."""
    width = high - low
    size, digit, exponent, shift = step
    allowed = width * shift
    if size == 1.0 and low.is_integer() and high.is_integer():
        allowed = width  # any integer between two integers will do
    if digit is None:
        below, above = first * size, (first + 1) * size
    else:
        # Parsed from text, so that 0.3 is not 0.30000000000000004.
        below = float(f"{first * digit}{exponent}")
        above = float(f"{(first + 1) * digit}{exponent}")
    if width <= size / 10 or (below == low and above == high):
        # One end is a very round number, or both are neighbours on a scale of steps.
        allowed = width
    is_below = low <= below <= high and abs(below - target) <= allowed
    is_above = low <= above <= high and abs(above - target) <= allowed
    if is_below and is_above:
        # The ends are values of rows; a number between them is better.
        keys = (above == high, abs(above - target)), (False, abs(below - target))
        return above if keys[0] < keys[1] else below
    if is_below:
        return below
    return above if is_above else None


def _round_date(low, high, target):
    """The first moment of a year, month, day, … in (low, high], in days."""
    if max(abs(low), abs(high)) > 3e6:  # beyond the years of a calendar
        return high
    time = np.datetime64(round(target * MICROSECONDS), "us")
    for unit in CALENDAR:
        begin = time.astype(f"datetime64[{unit}]")
        starts = [
            moment.astype("datetime64[us]").astype(np.int64) / MICROSECONDS
            for moment in [begin + np.timedelta64(k, unit) for k in (-1, 0, 1, 2)]
        ]
        starts = [float(s) for s in starts if low < s <= high]
        if starts:
            return min(starts, key=lambda s: abs(s - target))
    return high


def single_value(lower, upper, low, high, is_pair):
    """Bounds on both sides if only one value is accepted, as for 0/1 features.

    `low` and `high` are the smallest and the largest value, and of a pair all values.

    Examples
    --------
    >>> single_value(50.0, math.inf, 36.0, 60.0, True)
    (59.0, 60.0)
    """
    is_pair |= high - low == 1 or (low, high) == (-1.0, 1.0)
    if lower == -math.inf and upper < math.inf and (is_pair or low == 0):
        # The smaller of two values; for counts from 0 on, 0.
        if math.floor(upper) == low or (is_pair and low <= upper < high):
            return low - 1, low
    if is_pair and upper == math.inf and low <= lower < high:
        return high - 1, high
    return lower, upper


def _shortened(thresholds, values, is_integer, kind):
    """Replace each threshold by a round number in the same gap between `values`."""
    if len(values) == 0:
        return thresholds
    gaps = np.searchsorted(values, thresholds, side="right")
    # The last threshold of the same gap.
    last = thresholds[np.searchsorted(gaps, gaps, side="right") - 1]
    middle, above = ((thresholds + last) / 2).tolist(), gaps.tolist()
    short, values = thresholds.copy(), values.tolist()
    for i, (t, k) in enumerate(zip(thresholds.tolist(), above, strict=True)):
        if 0 < k < len(values):
            if i and above[i - 1] == k:
                short[i] = short[i - 1]
            else:
                short[i] = round_between(
                    values[k - 1], values[k], middle[i], is_integer, kind
                )
        elif is_integer and math.isfinite(t):
            # A split at infinity separates missing values from numbers.
            short[i] = math.floor(t)
    return short
