"""The search for sets without an order, whose objective knows who answers a row."""

from defragtrees.refine.moves import descend, remove_rule, tidy
from defragtrees.refine.search import grow_and_cut, keep

__all__ = ["polish_sets", "search_sets"]

POLISH_ROUNDS = 2


def search_sets(empty, starts, limits, insert, n_rounds=2):
    """The cheapest set found of every number of rules, from one up.

    Parameters
    ----------
    empty : PointBoxes or StandaloneBoxes
        Without boxes.
    starts : list of such sets
        To start from too.
    limits : Limits
    insert : callable
        From a set and limits to one with one more rule, or None.
    n_rounds : int
        Of growing and cutting.

    Returns
    -------
    best : dict from number of rules to set
    n_done : int
        Rounds that it took.
    """
    best = {1: empty}
    for rules in starts:
        keep(best, descend(tidy(rules, limits), limits), limits)
    return grow_and_cut(best, limits, insert, n_rounds)


def polish_sets(sets, limits):
    """The sets after a descent, by number of rules; gaps are filled from above.

    Parameters
    ----------
    sets : list of PointBoxes or StandaloneBoxes
        One of them without boxes.
    limits : Limits
    """
    polished = {}
    for rules in sets:
        start = tidy(rules, limits)
        keep(polished, descend(start, limits, max_rounds=POLISH_ROUNDS), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            keep(polished, tidy(remove_rule(polished[n + 1]), limits), limits)
    return limits.completed(polished)
