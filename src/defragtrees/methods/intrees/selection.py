"""Choice of rules for inTrees by a regularised forest (Deng and Runger 2013).

Its features are the rules, and a rule that no split has used yet has to be clearly
better than those in use, so that a few rules serve all trees.
"""

import numpy as np

from defragtrees.methods.intrees.candidates import pack

__all__ = ["select_rules"]

N_TREES = 50
MOST_LEAVES = 10
DRAWN_SHARE = 0.632  # of the rows for each tree, without replacement
NEW_RULE_PENALTY = 0.05
LENGTH_PENALTY = 0.01  # for the longest rule, and in proportion for the others
LEAST_IMPORTANCE = 0.01  # of that of the most important rule


def select_rules(measured, target, rng):
    """Numbers of the rules that the forest finds important, the most important first.

    Parameters
    ----------
    measured : MeasuredRules
    target : ClassTarget or NumberTarget
    rng : numpy.random.Generator
    """
    lengths = measured.rules.lengths
    importance = np.zeros(len(measured))
    penalty = NEW_RULE_PENALTY + LENGTH_PENALTY * lengths / lengths.max(initial=1)
    n_rows = len(target.columns)
    n_drawn = max(1, round(DRAWN_SHARE * n_rows))
    for _ in range(N_TREES):
        is_drawn = np.zeros((1, n_rows), dtype=bool)
        is_drawn[0, rng.choice(n_rows, n_drawn, replace=False)] = True
        _grow(pack(is_drawn), measured.bits, target, penalty, importance, rng)
    kept = np.flatnonzero(importance > LEAST_IMPORTANCE * importance.max(initial=0))
    order = np.lexsort((lengths[kept], measured.error[kept], -importance[kept]))
    return kept[order]


def _grow(root, bits, target, penalty, importance, rng):
    """Grow one tree, adding what its splits gain to the importance of their rules."""
    waiting = [root]
    n_leaves = 1
    while waiting and n_leaves < MOST_LEAVES:
        node = waiting.pop(0)
        best = _best_split(node, bits, target, penalty, importance, rng)
        if best is not None:
            rule, gain = best
            importance[rule] += gain
            waiting += [node & bits[rule], node & ~bits[rule]]
            n_leaves += 1


def _best_split(node, bits, target, penalty, importance, rng):
    """The rule that parts a node best, and what it gains; None if none does."""
    is_new = importance == 0
    new = np.flatnonzero(is_new)
    tried = rng.choice(new, min(len(new), len(bits) // 2), replace=False)
    numbers = np.sort(np.concatenate([np.flatnonzero(~is_new), tried]))
    in_node = target.sums(node)
    inside = target.sums(bits[numbers] & node)
    parts = (inside[:, -1] > 0) & (inside[:, -1] < in_node[0, -1])
    numbers, inside = numbers[parts], inside[parts]
    if not numbers.size:
        return None
    before = target.agreement(in_node)[0]
    after = target.agreement(inside) + target.agreement(in_node - inside)
    price = np.where(is_new[numbers], penalty[numbers], 0.0)
    worth = np.round(after - price * np.abs(after), 9)
    best = int(worth.argmax())
    if worth[best] <= np.round(before, 9):
        return None
    return numbers[best], after[best] - before
