"""Lists of a path with the answers and evidence of all rows, within all limits."""

from defragtrees.methods.limits import refuse_without_lists, within_limits
from defragtrees.methods.monotone import MonotoneAnswers

__all__ = ["counted_path"]


def counted_path(path, costs, store, decision, limits, max_rules, scoring):
    """The lists that keep to the limits, and their costs, by number of rules.

    Parameters
    ----------
    path : dict from int to RuleSet
    costs : dict from int to float
    store : RowStore
    decision : Decision or None
    limits : RuleLimits
    max_rules : int
        For the message.
    scoring : Scoring
        How points are to be written.

    Returns
    -------
    path, costs : dicts
        Of a list that became shorter, where there is no other of its length.
    """
    order = MonotoneAnswers(limits.monotone) if limits.monotone else None

    def recount(lists):
        return store.recount(lists, "told", decision, scoring, order)

    kept, kept_costs = {}, {}
    counted = recount(list(path.values()))
    for n, rules in sorted(zip(path, counted, strict=True), key=lambda pair: pair[0]):
        if rules.is_list:
            rules = within_limits(rules, limits, lambda one: recount([one])[0])
        if rules is not None and rules.n_rules not in kept:
            kept[rules.n_rules], kept_costs[rules.n_rules] = rules, costs[n]
    if not kept:
        names = next(iter(path.values())).feature_names
        refuse_without_lists(limits, names, max_rules)
    return kept, kept_costs
