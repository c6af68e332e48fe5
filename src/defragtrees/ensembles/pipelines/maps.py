"""What a transformer does to one column, and the way back through it.

A map has `apply(values)`, from values of its column to those of the next, and
`pull_back(regions)`, from regions of the next column to those of its own. A number
stands on the same side of both to the last bit: the border is found by halving among
all numbers that a float64 can be, with the transformer's own function.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from defragtrees.data.tables import is_missing
from defragtrees.ensembles.pipelines.regions import (
    LARGEST,
    UNKNOWN,
    Region,
    numbers_before,
    numbers_of,
)
from defragtrees.errors import UnsupportedEnsembleError

__all__ = ["Derived", "Fill", "Indicator", "LabelTable", "Monotone", "Steps"]

ALL_NUMBERS = ((-LARGEST, LARGEST),)


class NumberMap:
    """A map from numbers to numbers; between its `borders` no region changes."""

    keeps_values = False

    def apply(self, values):
        """The values of the next column."""
        raise NotImplementedError

    def borders(self, edges):
        """Sorted numbers between which no side of these edges changes."""
        raise NotImplementedError

    def pull_back(self, regions):
        """Regions of this column for regions of the next."""
        return self._assembled(regions, [self.borders(r.edges) for r in regions])

    def _assembled(self, regions, borders):
        """The regions, each asked for the last number before each of its borders."""
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
    """A function that only rises or only falls on each of some pieces.

    Parameters
    ----------
    function : callable
        From a float64 array to another.
    pieces : tuple of (float, float)
        First and last number of each piece, in order; elsewhere it has no value.
    """

    function: Callable
    pieces: tuple[tuple[float, float], ...] = ALL_NUMBERS

    def apply(self, values):
        """The function, and a missing value where it has none."""
        # Plus zero, since the two zeros are one number.
        values = np.asarray(values, dtype=np.float64) + 0.0
        result = np.full(values.shape, np.nan)
        has_value = np.zeros(values.shape, dtype=bool)
        # A map before may have made a number too large.
        finite = np.clip(values, -LARGEST, LARGEST)
        for first, last in self.pieces:
            has_value |= (finite >= first) & (finite <= last)
        with np.errstate(all="ignore"):
            result[has_value] = self.function(values[has_value])
        return result

    def pull_back(self, regions):
        """As for all maps; borders of all regions are looked for at once."""
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
        """For each edge the last number of a piece that is on its first side."""
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
    """The region with other edges, some of which may have become one."""
    is_new = np.append(True, edges[1:] > edges[:-1])[: len(edges)]
    inside = np.append(region.inside[:-1][is_new], region.inside[-1])
    return Region(edges[is_new], inside, region.missing).plain()


def _place(number):
    """The place of a number among all float64, so that neighbours differ by one."""
    bits = np.float64(number).view(np.int64)
    return bits if bits >= 0 else np.int64(-(bits & np.int64(2**63 - 1)))


def _number(places):
    """The numbers at these places."""
    sizes = np.abs(places).view(np.float64)
    return np.where(places < 0, -sizes, sizes)


@dataclass(frozen=True, eq=False)
class Steps(NumberMap):
    """A function that changes only at known numbers.

    Parameters
    ----------
    function : callable
        From a float64 array, which may have missing values, to another.
    ends : float64 array
        The last number of each step.
    """

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
    """A missing value becomes another value; all others stay, labels too.

    Parameters
    ----------
    value : object
    marker : float or str, optional
        What counts as missing instead.
    """

    value: Any
    marker: Any = None
    keeps_values = True

    def apply(self, values):
        """Values with the gaps filled."""
        if isinstance(values, list):
            return [self.value if self._is_gap(value) else value for value in values]
        values = np.asarray(values, dtype=np.float64)
        gaps = np.isnan(values) if self.marker is None else values == self.marker
        return np.where(gaps, self.value, values).astype(np.float64)

    def _is_gap(self, value):
        if value is UNKNOWN:
            return False
        if self.marker is None:
            return is_missing(value)
        return not is_missing(value) and value == self.marker

    def borders(self, edges):
        """The edges, and the marker."""
        if self.marker is None:
            return edges
        return np.append(edges, [numbers_before(self.marker), self.marker])


@dataclass(frozen=True, eq=False)
class Indicator(NumberMap):
    """1 where a value is missing, else 0.

    Parameters
    ----------
    marker : float or str, optional
        What counts as missing instead.
    """

    marker: Any = None

    def apply(self, values):
        """Ones and zeros."""
        gap = Fill(None, self.marker)
        if isinstance(values, list):
            return np.array([float(gap._is_gap(value)) for value in values])
        if self.marker is None:
            return np.isnan(values).astype(np.float64)
        return (values == self.marker).astype(np.float64)

    def borders(self, edges):
        """The marker alone."""
        return Fill(None, self.marker).borders(np.empty(0))


@dataclass(frozen=True, eq=False)
class LabelTable(NumberMap):
    """A number for each category.

    Parameters
    ----------
    labels : tuple
        The categories, without missing ones.
    values : float64 array of shape (n_labels,)
    unknown, missing : float
        The numbers of other categories, and of a missing value.
    """

    labels: tuple
    values: np.ndarray
    unknown: float
    missing: float

    def apply(self, values):
        """The numbers of labels, or of numbers that are labels."""
        table = dict(zip(self.labels, self.values, strict=True))
        values = values if isinstance(values, list) else np.asarray(values).tolist()
        return np.array(
            [
                self.missing if is_missing(v) else table.get(v, self.unknown)
                for v in values
            ],
            dtype=np.float64,
        )

    def borders(self, edges):
        """Each label, and the number before it."""
        labels = numbers_of(self.labels)
        if labels is None:
            raise UnsupportedEnsembleError(
                "Cannot read a pipeline that takes the same column for numbers and for "
                f"text such as {self.labels[0]!r}."
            )
        return np.concatenate([numbers_before(labels), labels])


@dataclass(frozen=True, eq=False)
class Derived:
    """A column that is made of one column of the user's table.

    Parameters
    ----------
    source : int
        The user's column.
    maps : tuple of NumberMap
        From its values on, in order.
    """

    source: int
    maps: tuple[NumberMap, ...] = field(default=())

    def then(self, further):
        """The column after one more map."""
        return Derived(self.source, (*self.maps, further))

    def apply(self, values):
        """Its values where those of the user's column are labels or numbers."""
        for step in self.maps:
            values = step.apply(values)
        return values

    def pull_back(self, regions):
        """Regions of the user's column for regions of this one."""
        for step in reversed(self.maps):
            regions = step.pull_back(regions)
        return regions
