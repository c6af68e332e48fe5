"""The numbers among the rows of each rule: all of them, or counted in narrow cells."""

from dataclasses import dataclass

import numpy as np

__all__ = ["INTERVAL", "CountedValues", "KeptValues", "quantiles"]

INTERVAL = (0.1, 0.9)  # shares of rows up to the quantiles of a rule

# Cells grow with their distance from the rule's answer, so that one far-off number
# does not blur the others: a number is known to 0.24 % of this distance, or to a
# 40,000th of the scale where it is nearer than a hundredth of that.
HALF = 4095
NEAR = 0.01
STEP = np.arcsinh(1e6 / NEAR) / HALF


@dataclass(frozen=True, eq=False)
class KeptValues:
    """The numbers of rows that are in one place.

    Parameters
    ----------
    target, weight, group : arrays of shape (n_samples,)
    """

    target: np.ndarray
    weight: np.ndarray
    group: np.ndarray

    def of_group(self, k):
        """Numbers of a group in ascending order, and their weights."""
        rows = np.flatnonzero(self.group == k)
        rows = rows[np.argsort(self.target[rows], kind="stable")]
        return self.target[rows], self.weight[rows]


@dataclass(frozen=True, eq=False)
class CountedValues:
    """Weights of numbers in cells around the answer of each group; they add up.

    Parameters
    ----------
    cells : array of shape (n_groups, 2 * HALF + 1)
    around : array of shape (n_groups,)
    scale : float
    """

    cells: np.ndarray
    around: np.ndarray
    scale: float

    @classmethod
    def of(cls, target, weight, group, around, scale):
        """The cells of some rows.

        Parameters
        ----------
        target, weight, group : arrays of shape (n_samples,)
        around : array of shape (n_groups,)
        scale : float
            Of all numbers, roughly.
        """
        n_cells = 2 * HALF + 1
        apart = np.arcsinh((target - around[group]) / (NEAR * scale)) / STEP
        cell = np.clip(np.rint(apart).astype(np.intp), -HALF, HALF) + HALF
        shape = (len(around), n_cells)
        counts = np.bincount(group * n_cells + cell, weight, shape[0] * shape[1])
        return cls(counts.reshape(shape), around, scale)

    def __add__(self, other):
        return CountedValues(self.cells + other.cells, self.around, self.scale)

    def of_group(self, k):
        """Middles of the cells of a group in ascending order, and their weights."""
        cell = np.flatnonzero(self.cells[k])
        apart = np.sinh((cell - HALF) * STEP) * NEAR * self.scale
        return self.around[k] + apart, self.cells[k, cell]


def quantiles(values, weight, shares):
    """The smallest numbers that have at least these shares of the weight up to them.

    Parameters
    ----------
    values, weight : arrays of shape (n,)
        In ascending order of values.
    shares : array-like

    Examples
    --------
    >>> quantiles(np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.0, 1.0]), [0.25, 0.9])
    array([1., 9.])
    """
    total = np.cumsum(weight)
    # A share of equal weights may miss its row by rounding alone.
    wanted = np.asarray(shares) * total[-1] * (1 - 1e-12)
    return values[np.minimum(np.searchsorted(total, wanted), len(values) - 1)]
