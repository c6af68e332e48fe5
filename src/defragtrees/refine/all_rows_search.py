"""The end of the search over all rows: lists go on together, few visits for all.

Every visit says of each list what any change of any condition would gain, if all else
stayed. The best change of every rule is then tried, each alone and all at once; what is
kept is what costs least once it is counted, so the cost over all rows only falls.
"""

from defragtrees.refine.moves import LEAST_GAIN, changes_by_sums, tidy
from defragtrees.refine.search import keep

__all__ = ["polish_all_rows"]

MOST_SWEEPS = 12  # visits for conditions before the order of rules is looked at
MOST_ROUNDS = 2  # how often that is
N_FIRST = 4  # lists that are tried at first: all changes at once, and the best alone
LEAST_SHARE = 1e-7  # nats a row; a list that gains less in a visit is done


def polish_all_rows(rows, lists, limits):
    """The lists after a descent over all rows, by number of rules.

    Parameters
    ----------
    rows : AllRows
    lists : list of (list of dict)
        Boxes over the codes of `rows.table`; each keeps to the limits on other rows.
    limits : Limits

    Returns
    -------
    dict from number of rules to CountedBoxes
    """
    limits = limits.keeping()
    starts = [rows.list_of(boxes) for boxes in lists]
    rows.count(starts)
    polished = {}
    for own in _descended(rows, [tidy(start, limits) for start in starts], limits):
        if limits.allows(own):
            keep(polished, own, limits)
    for n in range(max(polished, default=1) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            shorter = [polished[n + 1].without_box(k) for k in range(n)]
            rows.count(shorter)
            best = tidy(min(shorter, key=lambda own: own.cost), limits)
            for own in _descended(rows, [best], limits):
                if limits.allows(own):
                    keep(polished, own, limits)
    return polished


def _descended(rows, lists, limits):
    """The lists with better conditions, in a better order."""
    active = list(range(len(lists)))
    _improve_conditions(rows, lists, active, limits)
    for _ in range(MOST_ROUNDS):
        active = _improve_order(rows, lists, active, limits)
        if not active:
            break
        _improve_conditions(rows, lists, active, limits)
    return lists


def _improve_conditions(rows, lists, active, limits):
    """Change conditions of the active lists, in place, until nothing moves."""
    least = LEAST_SHARE * rows.loss.total_weight
    for _ in range(MOST_SWEEPS):
        rows.sweep([lists[i] for i in active])
        options = {i: _changed(lists[i], limits) for i in active}
        first = {i: own[:N_FIRST] for i, own in options.items()}
        better = _better(rows, lists, first, limits)
        others = {i: own[N_FIRST:] for i, own in options.items() if i not in better}
        better |= _better(rows, lists, others, limits)
        active = [i for i in better if lists[i].cost - better[i].cost > least]
        for i, own in better.items():
            lists[i] = tidy(own, limits)
        if not active:
            return


def _improve_order(rows, lists, active, limits):
    """Swap neighbours in the active lists, in place; which lists have changed."""
    options = {
        i: [
            lists[i].swapped(k)
            for k in range(len(lists[i].boxes) - 1)
            if _overlap(*lists[i].boxes[k : k + 2])
        ]
        for i in active
    }
    better = _better(rows, lists, options, limits)
    for i, own in better.items():
        lists[i] = tidy(own, limits)
    return list(better)


def _overlap(box, other):
    """Whether a row could be in both boxes."""
    shared = box.keys() & other.keys()
    return all((box[j] & other[j]).any() for j in shared)


def _changed(rules, limits):
    """Lists in which all rules are changed for the better, or one is, best first."""
    changes = []
    for k, box in enumerate(rules.boxes):
        sums, inside = rules.code_gains(k)
        better = changes_by_sums(rules.table, box, sums, inside, limits)
        changes += [(-more, k, place, own) for place, (more, own) in enumerate(better)]
    changes.sort(key=lambda change: change[:3])
    alone = [rules.with_box(k, own) for _, k, _, own in changes]
    best = {k: own for _, k, place, own in changes if place == 0}
    if len(best) < 2:
        return alone
    boxes = [best.get(k, box) for k, box in enumerate(rules.boxes)]
    return [rules.rows.list_of(boxes), *alone]


def _better(rows, lists, options, limits):
    """Of the options for each list the cheapest that costs less and is allowed."""
    rows.count([option for own in options.values() for option in own])
    better = {}
    for i, own in options.items():
        for option in sorted(own, key=lambda option: option.cost):
            if option.cost >= lists[i].cost - LEAST_GAIN:
                break
            if limits.allows(option):
                better[i] = option
                break
    return better
