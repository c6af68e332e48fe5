"""Sets of values of one column: what a split sends to the left.

A Region is a union of intervals of numbers, a LabelSet a set of categories. Both say
for each value whether they have it, a missing one included.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.data.tables import is_missing

__all__ = ["LARGEST", "LabelSet", "Region", "UNKNOWN", "numbers_before", "numbers_of"]

LARGEST = float(np.finfo(np.float64).max)
UNKNOWN = object()  # a category that nobody has seen


@dataclass(frozen=True, eq=False)
class Region:
    """Numbers in some of the intervals between edges.

    Parameters
    ----------
    edges : float64 array of shape (n_edges,)
        Sorted and distinct.
    inside : bool array of shape (n_edges + 1,)
        Whether the numbers `edges[k - 1] < x <= edges[k]` belong to it.
    missing : bool
        Whether a missing value does.

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
        """The same without edges between equal neighbours, or beyond all numbers."""
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
    """Some categories of a list.

    Parameters
    ----------
    labels : tuple
    inside : bool array of shape (n_labels + 1,)
        Whether each of them belongs to it and, last, any other category.
    missing : bool
    """

    labels: tuple
    inside: np.ndarray
    missing: bool

    def contains(self, values):
        """Whether each value belongs to it; values are labels or numbers."""
        place = {label: j for j, label in enumerate(self.labels)}
        return np.array(
            [
                self.missing
                if is_missing(value)
                else self.inside[place.get(value, len(self.labels))]
                for value in values
            ],
            dtype=bool,
        )

    def as_region(self):
        """The same of numbers, if all labels are numbers."""
        labels = numbers_of(self.labels)
        edges = np.unique(np.concatenate([numbers_before(labels), labels]))
        inside = self.contains(np.append(edges, LARGEST).tolist())
        return Region(edges, inside, self.missing).plain()


def numbers_before(values):
    """For each number the one before it among all float64."""
    with np.errstate(over="ignore"):
        return np.nextafter(values, -np.inf)


def numbers_of(labels):
    """Labels as float64; None if one of them is no number."""
    if any(isinstance(label, (str, bytes)) for label in labels):
        return None
    try:
        return np.array(labels, dtype=np.float64).reshape(len(labels))
    except (TypeError, ValueError):
        return None
