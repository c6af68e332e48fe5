"""From components to rules: the zero-one pattern of eta is a box (paper, section 4.2).

A box is a list of sides; a side is one statement that bounds it (a lower threshold, an
upper one, a set of categories, missing or not) and says which bins it accepts.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Side", "component_sides", "needed_sides"]


@dataclass(frozen=True, eq=False)
class Side:
    """One bound of a box.

    Parameters
    ----------
    feature : int
    kind : {"lower", "upper", "set", "missing"}
    accepts : bool array of shape (n_bins,)
        By bin number; the last is for missing values.
    """

    feature: int
    kind: str
    accepts: np.ndarray


def component_sides(posterior, k, tolerance):
    """Sides of component k: statements that all but a share of its weight satisfies.

    Parameters
    ----------
    posterior : Posterior
    k : int
    tolerance : float
        The share that may lie outside of each side.
    """
    sides = []
    for block in posterior.layout.blocks:
        bins = posterior.statistics.bins[block.rows, k : k + 1]
        n_bins = int(posterior.grid.n_bins[block.feature])
        accepted = _interval(block, bins, tolerance, n_bins)
        if block.sets is not None:
            accepted = _category_set(block, bins, tolerance, n_bins)
        sides += [Side(block.feature, kind, mask) for kind, mask in accepted]
        if block.has_missing:
            sides += _missing_sides(block, bins[:, 0], tolerance, n_bins)
    return sides


def _interval(block, bins, tolerance, n_bins):
    if block.sets is not None:
        return []
    above, below = (mass[:, 0] for mass in block.masses(bins))
    total = above[0] + below[0] if len(above) else 0.0
    if total <= 0:
        return []
    sides = []
    bin_number = np.arange(n_bins)
    missing = bin_number == n_bins - 1
    lower = np.flatnonzero(below <= tolerance * total)
    upper = np.flatnonzero(above <= tolerance * total)
    if lower.size:
        after = _between(block.codes, lower[-1])
        sides.append(("lower", (bin_number > after) | missing))
    if upper.size:
        after = _between(block.codes, upper[0])
        sides.append(("upper", (bin_number <= after) | missing))
    return sides


def _between(codes, statement):
    """The middle one of the thresholds between two neighbouring codes."""
    return (codes[statement] + codes[statement + 1] - 1) // 2


def _category_set(block, bins, tolerance, n_bins):
    above, below = (mass[:, 0] for mass in block.masses(bins))
    accepted = np.ones(len(block.codes), dtype=bool)
    for column in range(len(above)):
        total = above[column] + below[column]
        if above[column] <= tolerance * total:
            accepted &= ~block.sets[:, column]
        elif below[column] <= tolerance * total:
            accepted &= block.sets[:, column]
    if accepted.all() or not accepted.any():
        return []
    mask = np.zeros(n_bins, dtype=bool)
    mask[block.codes[accepted]] = True
    mask[-1] = True
    return [("set", mask)]


def _missing_sides(block, bins, tolerance, n_bins):
    missing, total = bins[-1], bins.sum()
    mask = np.ones(n_bins, dtype=bool)
    if missing <= tolerance * total:
        mask[-1] = False
    elif total - missing <= tolerance * total:
        mask[:-1] = False
    else:
        return []
    return [Side(block.feature, "missing", mask)]


def needed_sides(sides, codes):
    """The sides without which the box would hold other rows, strongest last.

    Of two sides that keep the same rows out, one goes: those that keep out fewest rows
    go first.

    Parameters
    ----------
    sides : list of Side
    codes : unsigned int array of shape (n_samples, n_features)
        The rows that reach the rule.
    """
    if not sides or len(codes) == 0:
        return []
    rejects = np.array([~side.accepts[codes[:, side.feature]] for side in sides])
    n_rejecting = rejects.sum(axis=0, dtype=np.int32)
    kept = []
    for j in np.argsort(np.count_nonzero(rejects, axis=1), kind="stable"):
        if (n_rejecting[rejects[j]] == 1).any():
            kept.append(sides[j])
        else:
            n_rejecting -= rejects[j]
    return kept
