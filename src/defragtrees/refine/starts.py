"""Lists to start the search from: the leaves of small trees."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

__all__ = ["boxes_from_tree", "tree_sizes"]


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
