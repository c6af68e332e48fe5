"""The search: from several starts to the cheapest list of every length."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from defragtrees.search.lists import RuleBoxes
from defragtrees.search.moves import descend, insert_rule, remove_rule, tidy

__all__ = [
    "boxes_from_tree",
    "grow_and_cut",
    "keep",
    "polish",
    "polish_sets",
    "search",
    "search_sets",
    "tree_sizes",
]

N_PROMISING = 2
POLISH_ROUNDS = 4


def search(table, loss, starts, limits, n_rounds=1):
    """The cheapest list found of every length, from one rule up.

    Parameters
    ----------
    table : RowTable
    loss : SquaredLoss
    starts : list of list of dict
        Boxes to start from.
    limits : Limits

    Returns
    -------
    best : dict from number of rules to RuleBoxes
    n_done : int
        Rounds of growing and cutting that it took.
    """
    best = {1: RuleBoxes(table, loss, ())}
    for rules in _promising(table, loss, starts, limits):
        keep(best, descend(rules, limits), limits)
    return grow_and_cut(best, limits, insert_rule, n_rounds)


def grow_and_cut(best, limits, insert, n_rounds):
    """Make each list longer and shorter by a rule, while that finds cheaper ones.

    Parameters
    ----------
    best : dict from number of rules to RuleBoxes, PointBoxes or StandaloneBoxes
        Changed in place.
    limits : Limits
    insert : callable
        From a list and limits to one with one more rule, or None.
    n_rounds : int
        At most.

    Returns
    -------
    best : dict
    n_done : int
        Rounds that it took.
    """
    grown, cut = {}, {}
    n_done = 0
    while n_done < n_rounds:
        n_done += 1
        before = {n: rules.cost for n, rules in best.items()}
        for n in range(1, limits.max_rules):
            # A list that has been tried before has nothing new to give.
            if n in best and grown.get(n) is not best[n]:
                grown[n] = best[n]
                longer = insert(best[n], limits)
                if longer is not None:
                    keep(best, descend(tidy(longer, limits), limits), limits)
        for n in range(limits.max_rules, 2, -1):
            if n in best and cut.get(n) is not best[n]:
                cut[n] = best[n]
                shorter = tidy(remove_rule(best[n]), limits)
                keep(best, descend(shorter, limits), limits)
        if before == {n: rules.cost for n, rules in best.items()}:
            break
    return best, n_done


def _promising(table, loss, starts, limits):
    """Of each length the few starts that are cheapest after one round."""
    by_length = {}
    for boxes in starts:
        boxes = [box for box in boxes if limits.allows_box(table, box)]
        rules = RuleBoxes(table, loss, boxes[: limits.max_rules - 1])
        rules = descend(tidy(rules, limits), limits, max_rounds=1, max_steps=2)
        by_length.setdefault(rules.n_rules, []).append(rules)
    for lists in by_length.values():
        yield from sorted(lists, key=lambda rules: rules.cost)[:N_PROMISING]


def polish(lists, table, loss, limits):
    """The lists after a descent on all rows, or by another loss.

    Parameters
    ----------
    lists : list of list of dict
        Boxes to start from.
    table : RowTable
    loss : SquaredLoss or ErrorLoss
    limits : Limits

    Returns
    -------
    dict from number of rules to RuleBoxes
    """
    polished = {1: RuleBoxes(table, loss, ())}
    for boxes in lists:
        start = tidy(RuleBoxes(table, loss, boxes), limits)
        keep(polished, descend(start, limits, max_rounds=POLISH_ROUNDS), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            shorter = tidy(remove_rule(polished[n + 1]), limits)
            keep(polished, shorter, limits)
            keep(polished, descend(shorter, limits, POLISH_ROUNDS), limits)
    return limits.completed(polished)


def keep(best, rules, limits):
    """Note a list if it is the cheapest of its length."""
    n = rules.n_rules
    if n <= limits.max_rules and (n not in best or rules.cost < best[n].cost):
        best[n] = rules


UNORDERED_ROUNDS = 2


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
        keep(polished, descend(start, limits, max_rounds=UNORDERED_ROUNDS), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            keep(polished, tidy(remove_rule(polished[n + 1]), limits), limits)
    return limits.completed(polished)


def tree_sizes(max_rules):
    """Numbers of leaves to start from: about five, the largest first.

    Examples
    --------
    >>> list(tree_sizes(10)), list(tree_sizes(200))
    ([10, 8, 6, 4, 2], [200, 160, 120, 80, 40])
    """
    return range(max_rules, 1, -max(2, max_rules // 5))


def boxes_from_tree(table, target, weight, sizes):
    """Leaves of trees grown on codes, shortest first, the last left out.

    A tree takes its best split first, so a smaller one is the beginning of a larger.

    Parameters
    ----------
    table : RowTable
    target : array of shape (n_samples, n_outputs)
    weight : array of shape (n_samples,)
    sizes : sequence of int
        How many leaves each tree has, at most.

    Returns
    -------
    list of list of dict
        One list of boxes for each size.
    """
    grown = DecisionTreeRegressor(max_leaf_nodes=max(sizes), random_state=0)
    tree = grown.fit(table.codes, target, sample_weight=weight).tree_
    return [_leaves(table, tree, 2 * n - 1) for n in sizes]


def _leaves(table, tree, n_nodes):
    """Boxes of the leaves of the tree that has only the first nodes."""
    boxes, waiting = [], [(0, {})]
    while waiting:
        node, box = waiting.pop()
        left, right = tree.children_left[node], tree.children_right[node]
        if left < 0 or max(left, right) >= n_nodes:
            boxes.append(box)
            continue
        j = int(tree.feature[node])
        n_codes = table.columns[j].n_codes
        below = np.arange(n_codes + 1) <= tree.threshold[node]
        accepted = box.get(j, np.ones(n_codes + 1, dtype=bool))
        waiting.append((right, {**box, j: accepted & ~below}))
        waiting.append((left, {**box, j: accepted & below}))
    return sorted(boxes, key=len)[:-1]
