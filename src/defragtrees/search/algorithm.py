"""The search: from several starts to the cheapest rules of every number.

Rules are RuleBoxes, StandaloneBoxes or PointBoxes; the moves are the same for all.
"""

from operator import attrgetter

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from defragtrees.search.moves import descend, remove_rule, tidy

N_PROMISING = 2  # starts of each length that are worth a full descent


def search(empty, starts, limits, insert, n_rounds=1):
    """The cheapest rules found of every number, from one up.

    Returns
    -------
    best : dict from number of rules to rules
    n_done : int
        Rounds that it took.
    """
    best = {1: empty}
    for rules in starts:
        keep(best, descend(tidy(rules, limits), limits), limits)
    grown, cut = {}, {}
    n_done = 0
    while n_done < n_rounds:
        n_done += 1
        before = {n: rules.cost for n, rules in best.items()}
        for n in range(1, limits.max_rules):
            # Rules that have been tried before have nothing new to give.
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


def promising(starts, limits):
    """Of each length the few starts that are cheapest after one round."""
    by_length = {}
    for rules in starts:
        rules = descend(tidy(rules, limits), limits, max_rounds=1, max_steps=2)
        by_length.setdefault(rules.n_rules, []).append(rules)
    for rules in by_length.values():
        yield from sorted(rules, key=attrgetter("cost"))[:N_PROMISING]


def polish(starts, limits, max_rounds, gap_rounds=0):
    """The rules after a descent on all rows, or by another loss, by their number.

    Where a number is left out, rules are cut from those with one more.
    """
    polished = {}
    for rules in starts:
        keep(polished, descend(tidy(rules, limits), limits, max_rounds), limits)
    for n in range(max(polished) - 1, 1, -1):
        if n not in polished and n + 1 in polished:
            shorter = tidy(remove_rule(polished[n + 1]), limits)
            keep(polished, shorter, limits)
            keep(polished, descend(shorter, limits, gap_rounds), limits)
    return limits.completed(polished)


def keep(best, rules, limits):
    """Note rules if they are the cheapest of their number."""
    n = rules.n_rules
    if n <= limits.max_rules and (n not in best or rules.cost < best[n].cost):
        best[n] = rules


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

    One list of boxes for each size. A tree takes its best split first, so a smaller
    one is the beginning of a larger.
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
