"""Lists of a path with the answers and evidence of all rows, within all limits."""

from dataclasses import dataclass
from typing import Any

from defragtrees.methods.limits import refuse_without_lists, within_limits
from defragtrees.methods.monotone import MonotoneAnswers

__all__ = ["PathCounter", "nearest"]


@dataclass(frozen=True, eq=False)
class PathCounter:
    """Counts lists over all rows, and leaves out those that break a limit.

    Parameters
    ----------
    store : RowStore
    decision : Decision or None
    limits : RuleLimits
    scoring : Scoring
        How points are to be written.
    """

    store: Any
    decision: Any
    limits: Any
    scoring: Any

    def by_rules(self, path, costs, max_rules):
        """The lists that keep to the limits, and their costs, by number of rules.

        Parameters
        ----------
        path : dict from int to RuleSet
        costs : dict from int to float
        max_rules : int
            For the message.

        Returns
        -------
        path, costs : dicts
            Of a list that became shorter, where there is no other of its length.
        """
        kept, kept_costs = {}, {}
        for n, rules in sorted(self._counted(path).items()):
            if rules.n_rules not in kept:
                kept[rules.n_rules], kept_costs[rules.n_rules] = rules, costs[n]
        if not kept:
            names = next(iter(path.values())).feature_names
            refuse_without_lists(self.limits, names, max_rules)
        return kept, kept_costs

    def by_conditions(self, path):
        """The lists that keep to the limits, by their total number of conditions."""
        kept = {}
        for _, rules in sorted(self._counted(path).items()):
            kept.setdefault(rules.total_conditions, rules)
        return kept

    def _counted(self, path):
        """Those of the lists that keep to the limits, under the same numbers."""
        counted = zip(path, self._recount(list(path.values())), strict=True)
        kept = {}
        for n, rules in counted:
            if rules.is_list:
                rules = within_limits(rules, self.limits, self._recount_one)
            if rules is not None:
                kept[n] = rules
        return kept

    def _recount(self, lists):
        monotone = self.limits.monotone
        order = MonotoneAnswers(monotone) if monotone else None
        return self.store.recount(lists, "told", self.decision, self.scoring, order)

    def _recount_one(self, rules):
        return self._recount([rules])[0]


def nearest(sizes, enough):
    """The smallest size that is enough, else the largest.

    Any smaller one was more than a standard error behind on rows that were not seen.

    Examples
    --------
    >>> nearest([0, 2, 5], 4), nearest([0, 2, 5], 2), nearest([0], 1)
    (5, 2, 0)
    """
    return min((size for size in sizes if size >= enough), default=max(sizes))
