"""The search for sets without an order, whose objective knows who answers a row."""

from defragtrees.refine.moves import descend, remove_rule, tidy
from defragtrees.refine.search import keep

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
    best, tried_longer, tried_shorter = {1: empty}, {}, {}
    for rules in starts:
        keep(best, descend(tidy(rules, limits), limits), limits)
    n_done = 0
    while n_done < n_rounds:
        n_done += 1
        before = {n: rules.cost for n, rules in best.items()}
        for n in range(1, limits.max_rules):
            # A set that has been tried before has nothing new to give.
            if n in best and tried_longer.get(n) is not best[n]:
                tried_longer[n] = best[n]
                longer = insert(best[n], limits)
                if longer is not None:
                    keep(best, descend(tidy(longer, limits), limits), limits)
        for n in range(limits.max_rules, 2, -1):
            if n in best and tried_shorter.get(n) is not best[n]:
                tried_shorter[n] = best[n]
                shorter = tidy(remove_rule(best[n]), limits)
                keep(best, descend(shorter, limits), limits)
        if before == {n: rules.cost for n, rules in best.items()}:
            break
    return best, n_done


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
