"""Maps: the effect of a transformer on one column, and its inverse on splits.

A map has `apply(values)`, from values of its column to those of the next, and
`pull_back(regions)`, from regions of the next column to regions of its own. Both agree
to the last bit: the border is found by bisection over all float64 numbers with the
transformer's own function.

A region is the set of values that a split sends to the left: a Region is a union of
intervals, a LabelSet a set of categories.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from defragtrees.errors import UnsupportedModelError
from defragtrees.tables import is_missing

LARGEST = float(np.finfo(np.float64).max)
SMALLEST = float(np.nextafter(0.0, 1.0))
ALL_NUMBERS = ((-LARGEST, LARGEST),)
UNKNOWN = object()  # a category that is not in any list


@dataclass(frozen=True, eq=False)
class Derived:
    """A column made of one column of the user's table, the `source`, by some maps."""

    source: int
    maps: tuple["NumberMap", ...] = field(default=())

    def then(self, further):
        """The column after one more map."""
        return Derived(self.source, (*self.maps, further))

    def apply(self, values):
        """Its values for labels or numbers of the user's column."""
        for step in self.maps:
            values = step.apply(values)
        return values

    def pull_back(self, regions):
        """Regions of the user's column for regions of this one."""
        for step in reversed(self.maps):
            regions = step.pull_back(regions)
        return regions


class NumberMap:
    """A map from numbers to numbers; between its `borders` no region changes."""

    def apply(self, values):
        """The values of the next column."""
        raise NotImplementedError

    def borders(self, edges):
        """Sorted numbers between which the side of these edges is constant."""
        raise NotImplementedError

    def pull_back(self, regions):
        """Regions of this column for regions of the next."""
        return self._assembled(regions, [self.borders(r.edges) for r in regions])

    def _assembled(self, regions, borders):
        """Build regions by evaluating each at the last number before each border."""
        borders = [np.unique(b[(b > -np.inf) & (b < LARGEST)]) for b in borders]
        ends = np.cumsum([len(b) + 1 for b in borders])
        lasts = self.apply(np.concatenate([np.append(b, LARGEST) for b in borders]))
        missing = self.apply(np.array([np.nan]))
        return [
            Region(
                edges, region.contains(last), bool(region.contains(missing)[0])
            ).plain()
            for region, edges, last in zip(
                regions, borders, np.split(lasts, ends[:-1]), strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class Monotone(NumberMap):
    """A function that is monotone on each of some pieces.

    `pieces` has the first and the last number of each, in order; elsewhere the function
    is undefined.
    """

    function: Callable
    pieces: tuple[tuple[float, float], ...] = ALL_NUMBERS

    def apply(self, values):
        """The values of the function, NaN where it is undefined."""
        # Adding 0 turns -0.0 into 0.0.
        values = np.asarray(values, dtype=np.float64) + 0.0
        result = np.full(values.shape, np.nan)
        has_value = np.zeros(values.shape, dtype=bool)
        # A previous map may have overflowed.
        finite = np.clip(values, -LARGEST, LARGEST)
        for first, last in self.pieces:
            has_value |= (finite >= first) & (finite <= last)
        with np.errstate(all="ignore"):
            result[has_value] = self.function(values[has_value])
        return result

    def pull_back(self, regions):
        """Regions of this column for regions of the next; bisects all at once."""
        edges = np.unique(np.concatenate([np.empty(0), *(r.edges for r in regions)]))
        found = np.array([self._crossings(edges, *piece) for piece in self.pieces])
        places = [np.searchsorted(edges, region.edges) for region in regions]
        if self.pieces == ALL_NUMBERS and self._is_rising(*ALL_NUMBERS[0]):
            return [
                _moved(region, found[0, place])
                for region, place in zip(regions, places, strict=True)
            ]
        ends = [[numbers_before(first), last] for first, last in self.pieces]
        ends = np.array(ends).ravel()
        return self._assembled(
            regions, [np.append(found[:, place].ravel(), ends) for place in places]
        )

    def _is_rising(self, first, last):
        at_ends = self.apply(np.array([first, last]))
        return bool(at_ends[0] <= at_ends[1])

    def _crossings(self, edges, first, last):
        """The last number of a piece on the first side of each edge."""
        is_rising = self._is_rising(first, last)
        low = np.full(len(edges), _place(first) - 1)
        high = np.full(len(edges), _place(last) + 1)
        while (low + 1 < high).any():
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            is_below = self.apply(_number(middle)) <= edges
            is_first = is_below if is_rising else ~is_below
            is_open = low + 1 < high
            low = np.where(is_open & is_first, middle, low)
            high = np.where(is_open & ~is_first, middle, high)
        return _number(low)


def _moved(region, edges):
    """The region with other edges, some of which may coincide."""
    is_new = np.append(True, edges[1:] > edges[:-1])[: len(edges)]
    inside = np.append(region.inside[:-1][is_new], region.inside[-1])
    return Region(edges[is_new], inside, region.missing).plain()


def _place(number):
    """The rank of a number among all float64, so that neighbours differ by one."""
    bits = np.float64(number).view(np.int64)
    return bits if bits >= 0 else np.int64(-(bits & np.int64(2**63 - 1)))


def _number(places):
    """The numbers at these places."""
    sizes = np.abs(places).view(np.float64)
    return np.where(places < 0, -sizes, sizes)


@dataclass(frozen=True, eq=False)
class Steps(NumberMap):
    """A function that changes only at known numbers: `ends`, the last of each step."""

    function: Callable
    ends: np.ndarray

    def apply(self, values):
        """The function."""
        return np.asarray(self.function(values), dtype=np.float64)

    def borders(self, edges):
        """The steps themselves."""
        return np.asarray(self.ends, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Fill(NumberMap):
    """Replace missing values by another value.

    A `marker`, if there is one, counts as missing instead.
    """

    value: Any
    marker: Any = None

    def gaps(self, values):
        """Which values, in a list or an array, are replaced."""
        if not isinstance(values, list):
            return np.isnan(values) if self.marker is None else values == self.marker
        if self.marker is None:
            return [v is not UNKNOWN and is_missing(v) for v in values]
        return [not is_missing(v) and v == self.marker for v in values]

    def apply(self, values):
        """Values with the gaps filled."""
        gaps = self.gaps(values)
        if isinstance(values, list):
            pairs = zip(values, gaps, strict=True)
            return [self.value if is_gap else value for value, is_gap in pairs]
        return np.where(gaps, self.value, values).astype(np.float64)

    def borders(self, edges):
        """The edges, and the marker."""
        if self.marker is None:
            return edges
        return np.append(edges, [numbers_before(self.marker), self.marker])


@dataclass(frozen=True, eq=False)
class Indicator(NumberMap):
    """1 where a value is missing, or is the `marker`, else 0."""

    marker: Any = None

    def apply(self, values):
        """Ones and zeros."""
        return np.asarray(Fill(None, self.marker).gaps(values), dtype=np.float64)

    def borders(self, edges):
        """The marker alone."""
        return Fill(None, self.marker).borders(np.empty(0))


@dataclass(frozen=True, eq=False)
class LabelTable(NumberMap):
    """A number for each category, for unknown ones and for a missing value."""

    labels: tuple
    values: np.ndarray
    unknown: float
    missing: float
    is_ordered: bool = False  # whether the user gave the labels in their order

    def apply(self, values):
        """The numbers of labels, or of numbers that are labels."""
        table = dict(zip(self.labels, self.values, strict=True))
        values = values if isinstance(values, list) else np.asarray(values).tolist()
        found = [table.get(value, self.unknown) for value in values]
        return np.where(list(map(is_missing, values)), self.missing, found)

    def borders(self, edges):
        """Each label, and the number before it."""
        labels = numbers_of(self.labels)
        if labels is None:
            raise UnsupportedModelError(
                "Cannot read a pipeline that uses the same column as numbers and as "
                f"text such as {self.labels[0]!r}."
            )
        return np.concatenate([numbers_before(labels), labels])


@dataclass(frozen=True, eq=False)
class Region:
    """A union of intervals between sorted edges, with or without missing values.

    The numbers `edges[k - 1] < x <= edges[k]` belong to it if `inside[k]`.

    Examples
    --------
    >>> Region.up_to(2.0, missing=True).contains([2.0, 3.0, np.nan]).tolist()
    [True, False, True]
    """

    edges: np.ndarray
    inside: np.ndarray
    missing: bool

    @classmethod
    def up_to(cls, threshold, missing):
        """The numbers up to a threshold."""
        edges, inside = np.array([threshold]), np.array([True, False])
        return cls(edges, inside, bool(missing)).plain()

    def contains(self, values):
        """Whether each number belongs to it."""
        values = np.asarray(values, dtype=np.float64)
        inside = self.inside[np.searchsorted(self.edges, values)]
        return np.where(np.isnan(values), self.missing, inside)

    def plain(self):
        """The region without edges between equal neighbours or beyond all numbers."""
        inside = self.inside
        is_needed = inside[1:] != inside[:-1]
        is_needed &= (self.edges > -np.inf) & (self.edges < LARGEST)
        if is_needed.all():
            return self
        # Below the first finite edge, and above the last one, lie finite numbers.
        first = np.searchsorted(self.edges, -np.inf, side="right")
        kept = np.flatnonzero(is_needed)
        return Region(
            self.edges[kept], np.append(inside[first], inside[kept + 1]), self.missing
        )


@dataclass(frozen=True, eq=False)
class LabelSet:
    """A set of categories of a list, with or without missing values.

    `inside` has one entry per category and, last, one for unknown categories.
    """

    labels: tuple
    inside: np.ndarray
    missing: bool

    def contains(self, values):
        """Whether each value belongs to it; values are labels or numbers."""
        place = {label: j for j, label in enumerate(self.labels)}
        inside = self.inside[[place.get(value, len(self.labels)) for value in values]]
        return np.where(list(map(is_missing, values)), self.missing, inside)

    def as_region(self):
        """The set as a Region, if all labels are numbers."""
        labels = numbers_of(self.labels)
        edges = np.unique(np.concatenate([numbers_before(labels), labels]))
        inside = self.contains(np.append(edges, LARGEST).tolist())
        return Region(edges, inside, self.missing).plain()


def numbers_before(values):
    """The previous float64 number of each number."""
    with np.errstate(over="ignore"):
        return np.nextafter(values, -np.inf)


def numbers_of(labels):
    """Labels as float64; None if one of them is not a number."""
    if any(isinstance(label, (str, bytes)) for label in labels):
        return None
    try:
        return np.array(labels, dtype=np.float64).reshape(len(labels))
    except (TypeError, ValueError):
        return None
