"""Limits that a user asks for, as the search keeps them.

Each move of the search asks `allows`; lists that come from elsewhere are `repaired`,
and those that lack a feature that must be used are `completed`.
"""

from copy import copy

import numpy as np

from defragtrees.refine.moves import descend, remove_rule
from defragtrees.refine.rulelist import Limits, rows_in

__all__ = ["AskedLimits"]

MOST_TRIED = 8  # forced conditions of each rule, best first


class AskedLimits(Limits):
    """Limits of a search, with all that a user may ask for.

    Parameters
    ----------
    max_rules, max_conditions, least_answered : as for Limits
    max_total : int, optional
        Most conditions of a list.
    monotone : dict from int to {-1, 1}
        Features with which answers may only fall or only rise.
    groups : tuple of frozenset of int
        A rule asks about features of one of them only; those in none are free.
    must_use : tuple of frozenset of int
        One feature of each must be asked about.
    """

    def __init__(
        self,
        max_rules=10,
        max_conditions=None,
        least_answered=0.0,
        *,
        max_total=None,
        monotone=None,
        groups=(),
        must_use=(),
    ):
        super().__init__(max_rules, max_conditions, least_answered)
        self.max_total = max_total
        self.monotone = monotone or {}
        self.groups = groups
        self.must_use = must_use
        self._keeps_used = False
        self._grouped = frozenset().union(*groups)

    def allows_box(self, table, box):
        """Whether a box has few enough conditions, on features of one group."""
        if not super().allows_box(table, box):
            return False
        asked = {table.columns[j].feature for j in box} & self._grouped
        return not asked or any(asked <= group for group in self.groups)

    def allows(self, rules):
        """Whether a list keeps to all limits but what it must use on the way."""
        if not super().allows(rules):
            return False
        if self.max_total is not None and rules.n_conditions > self.max_total:
            return False
        if self._keeps_used and self._unused(rules):
            return False
        return self._is_monotone(rules)

    def _is_monotone(self, rules):
        if not self.monotone:
            return True
        for j, column in enumerate(rules.table.columns):
            sign = self.monotone.get(column.feature)
            if sign is None or not any(j in box for box in rules.boxes):
                continue
            if not rules.keeps_order(j, sign):
                return False
        return True

    def repaired(self, rules):
        """The list without rules that break the limits, the cheapest ones first."""
        while rules.boxes and not self.allows(rules):
            rules = remove_rule(rules)
        return rules

    def completed(self, lists):
        """The lists with what they must use; those that cannot have it are left out.

        Parameters
        ----------
        lists : dict from int to RuleBoxes
            By number of rules.
        """
        if not self.must_use:
            return lists
        keeping, best = self.keeping(), {}
        for rules in lists.values():
            for may_grow in (False, True):
                complete = self._complete(rules, may_grow)
                if complete is None:
                    continue
                for found in (complete, descend(complete, keeping)):
                    n, is_complete = found.n_rules, not self._unused(found)
                    if is_complete and (n not in best or found.cost < best[n].cost):
                        best[n] = found
        return best

    def keeping(self):
        """The same limits for lists that have all that they must have, and keep it."""
        keeping = copy(self)
        keeping._keeps_used = True
        return keeping

    def _unused(self, rules):
        columns = rules.table.columns
        used = {columns[j].feature for box in rules.boxes for j in box}
        return [wanted for wanted in self.must_use if not wanted & used]

    def _complete(self, rules, may_grow):
        """The list with the conditions that cost least on what it does not use."""
        for wanted in self._unused(rules):
            options = [
                changed
                for j, column in enumerate(rules.table.columns)
                if column.feature in wanted
                for changed in self._with_column(rules, j, may_grow)
            ]
            if not options:
                return None
            rules = min(options, key=lambda changed: changed.cost)
        return None if self._unused(rules) else rules

    def _with_column(self, rules, j, may_grow):
        """Lists in which one more rule, or a new last one, asks about a column."""
        for k, box in enumerate(rules.boxes):
            if j not in box:
                for mask in _best_masks(rules, k, j):
                    yield from self._allowed(rules, {**box, j: mask}, k)
        if may_grow and rules.n_rules < self.max_rules:
            for mask in _all_masks(rules.table.columns[j]):
                yield from self._allowed(rules, {j: mask})

    def _allowed(self, rules, box, k=None):
        if not self.allows_box(rules.table, box):
            return
        if k is None:
            changed = rules.with_new_box(len(rules.boxes), box)
        else:
            changed = rules.with_box(k, box)
        if rules_have_rows(changed) and self.allows(changed):
            yield changed


def rules_have_rows(rules):
    """Whether each rule of a list answers some row."""
    return bool((rules.weights > 0).all())


def _best_masks(rules, k, j):
    """Conditions on a column for rule k, those that gain most first."""
    table = rules.table
    column = table.columns[j]
    inside = rows_in(table, rules.boxes[k])
    gain = np.bincount(
        table.codes[inside, j], rules.row_gains(k)[inside], column.n_codes + 1
    )
    masks = list(_all_masks(column))
    masks.sort(key=lambda mask: -gain[mask].sum())
    return masks[:MOST_TRIED]


def _all_masks(column):
    """Conditions with one side, or on one category and all others."""
    n = column.n_codes
    codes = np.arange(n + 1)
    for c in range(n if column.is_set else n - 1):
        below = codes == c if column.is_set else codes <= c
        for mask in (below, ~below):
            mask = mask.copy()
            mask[-1] = False
            yield mask
