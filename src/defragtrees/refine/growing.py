"""A new rule with points: its conditions, one after the other.

What a box would bring is known for every cut of every column with all points fitted
anew, to second order: with G the sum of slopes and H that of bends over the box, and c
how it overlaps with the rules that are there, the loss falls by G² / (H - c' A⁻¹ c),
where A are the bends of these rules.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.refine.kernels import gain_sums
from defragtrees.refine.rulelist import box_price, rows_in, settled

__all__ = ["grow_rule"]

N_SEEDS = 4  # columns whose best cut is grown into rules, from either side
MOST_GROWN = 4  # conditions of a new rule, if there is no limit


@dataclass(frozen=True, eq=False)
class Cut:
    """A condition on one column.

    Parameters
    ----------
    fall : float
        By how much the loss falls with it, all points fitted anew.
    column : int
    accepted : bool array
        Codes of the column, missing last.
    side : {-1, 1}
        Whether it accepts what is below, or what is above.
    """

    fall: float
    column: int
    accepted: np.ndarray
    side: int


class Slopes:
    """What rows say of one more box, beside those that are there.

    Parameters
    ----------
    rules : PointBoxes
    monotone : dict from int to {-1, 1}
        Features with which sums may only fall, or only rise.
    """

    def __init__(self, rules, monotone=None):
        self.table, self.loss = rules.table, rules.loss
        signs = [(monotone or {}).get(c.feature, 0) for c in self.table.columns]
        self.signs = np.array(signs, dtype=int)
        slope, bend = rules.loss.slopes(rules.totals())
        base = np.ones((1, rules.table.n_rows))
        design = np.vstack([rules.held.astype(np.float64), base])
        overlap = design * bend
        matrix = overlap @ design.T + np.diag(rules.prior)
        floor = 1e-9 * max(matrix.diagonal().max(), 1e-300)
        self.inverse = np.linalg.inv(matrix + floor * np.eye(len(matrix)))
        self.n_outputs = slope.shape[1]
        # The base's overlap is the bend itself.
        self.rows = np.vstack([slope.T, overlap])

    def fall(self, sums):
        """By how much the loss falls, from sums of `rows`, (n_rows_of_it, ...)."""
        slope, overlap = sums[: self.n_outputs], sums[self.n_outputs :]
        bend = overlap[-1]
        shared = np.tensordot(self.inverse, overlap, axes=1)
        rest = bend - (overlap * shared).sum(axis=0) + self.loss.prior
        # A box that others make up already has nothing of its own.
        rest = np.where(rest > 1e-6 * bend + 1e-12, rest, np.inf)
        return (slope**2).sum(axis=0) / rest

    def of_rows(self, inside):
        """By how much the loss falls with the box of these rows, and its points."""
        sums = self.rows[:, inside].sum(axis=1)
        overlap = sums[self.n_outputs :]
        rest = overlap[-1] - overlap @ self.inverse @ overlap + self.loss.prior
        return float(self.fall(sums)), sums[: self.n_outputs] / max(rest, 1e-12)

    def cuts(self, inside, sign=0):
        """For each column the best cut of the rows inside, on either side.

        Parameters
        ----------
        inside : bool array of shape (n_samples,)
        sign : {-1, 0, 1}
            That the points of the box must have; 0 for any.

        Returns
        -------
        list of Cut
        """
        table = self.table
        nobody = np.zeros(table.n_rows, dtype=np.uint8), np.zeros(table.n_rows, np.intp)
        sums = np.stack(
            [
                gain_sums(table.codes, np.where(inside, row, 0.0), *nobody, table.width)
                for row in self.rows
            ]
        )
        order = self._code_order(sums)
        sums = np.take_along_axis(sums, order[None], axis=2)
        places = np.arange(table.width)[None, :]
        is_code = places < table.n_codes[:, None]
        reached = np.cumsum(np.where(is_code, sums, 0.0), axis=2)
        is_cut = places < (table.n_codes - 1)[:, None]
        missing = sums[:, np.arange(len(table.columns)), table.n_codes][:, :, None]
        best = []
        for side in (-1, 1):
            sums = reached if side < 0 else reached[:, :, -1:] - reached
            for takes_missing in (False, True):
                if takes_missing and not missing.any():
                    continue
                total = sums + missing if takes_missing else sums
                is_allowed = is_cut & (total[0] * sign >= 0)
                is_allowed &= total[0] * (side * self.signs)[:, None] >= 0
                fall = np.where(is_allowed, self.fall(total), -np.inf)
                best += self._best_cuts(fall, order, side, takes_missing)
        return best

    def sign_of(self, cut, sign=0):
        """The sign that points must have with a cut, if they had one before."""
        return int(cut.side * self.signs[cut.column]) or sign

    def _best_cuts(self, fall, order, side, takes_missing):
        cuts = fall.argmax(axis=1)
        found = []
        for j, column in enumerate(self.table.columns):
            if not np.isfinite(fall[j, cuts[j]]):
                continue
            if takes_missing and not column.has_missing:
                continue
            accepted = np.zeros(column.n_codes + 1, dtype=bool)
            codes = order[j, : column.n_codes]
            end = cuts[j] + 1
            accepted[codes[:end] if side < 0 else codes[end:]] = True
            accepted[-1] = takes_missing
            found.append(Cut(float(fall[j, cuts[j]]), j, accepted, side))
        return found

    def _code_order(self, sums):
        """Codes of each column in order; categories by the slope of their rows."""
        table = self.table
        order = np.tile(np.arange(table.width), (len(table.columns), 1))
        if table.is_set.any():
            slopes = sums[: self.n_outputs]
            widest = int((slopes**2).sum(axis=(1, 2)).argmax())
            for j in np.flatnonzero(table.is_set):
                n = table.n_codes[j]
                bend = np.maximum(sums[-1, j, :n], 1e-300)
                order[j, :n] = np.argsort(sums[widest, j, :n] / bend, kind="stable")
        return order


def grow_rule(rules, limits, n_seeds=N_SEEDS):
    """The cheapest set found with one more rule; None if there is none.

    Parameters
    ----------
    rules : PointBoxes
    limits : Limits
    n_seeds : int
        How many columns to start from.
    """
    slopes = Slopes(rules, limits.monotone)
    every = np.ones(rules.table.n_rows, dtype=bool)
    cuts = sorted(slopes.cuts(every), key=lambda cut: -_value(rules, cut, {}))
    columns = list(dict.fromkeys(cut.column for cut in cuts))[:n_seeds]
    best = None
    for cut in [cut for cut in cuts if cut.column in columns]:
        box = _grown(rules, slopes, cut, limits)
        points = slopes.of_rows(rows_in(rules.table, box))[1]
        longer = rules.with_new_box(len(rules.boxes), box, points)
        if limits.allows(longer) and (best is None or longer.cost < best.cost):
            best = longer
    return best


def _grown(rules, slopes, seed, limits):
    """A box cut down from the seed by the best conditions, one after the other."""
    box, value = {seed.column: seed.accepted}, _value(rules, seed, {})
    sign = slopes.sign_of(seed)
    for _ in range((limits.max_conditions or MOST_GROWN) - 1):
        cuts = slopes.cuts(rows_in(rules.table, box), sign)
        narrowed = [(_value(rules, cut, box), cut) for cut in cuts]
        best, cut = max(narrowed, key=lambda pair: pair[0], default=(value, None))
        if best <= value:
            break
        changed = _narrowed(box, cut)
        if not limits.allows_box(rules.table, changed):
            break
        box, value, sign = changed, best, slopes.sign_of(cut, sign)
    return box


def _narrowed(box, cut):
    accepted = cut.accepted
    if cut.column in box:
        accepted = accepted & box[cut.column]
    return {**box, cut.column: accepted}


def _value(rules, cut, box):
    """Nats that a box brings with a cut, less the price of its conditions."""
    share = cut.fall / (rules.spread * rules.loss.base_deviance)
    # Beyond nearly all of the loss the second order says nothing.
    brought = -0.5 * rules.loss.total_weight * np.log1p(-min(share, 0.99))
    return settled(brought - box_price(rules.table, _narrowed(box, cut)))
