"""Lists to start the search from: the leaves of small trees."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

__all__ = ["boxes_from_tree"]


def boxes_from_tree(table, target, weight, n_leaves):
    """Leaves of a tree that was grown on codes, shortest first, the last left out.

    Parameters
    ----------
    table : RowTable
    target : array of shape (n_samples, n_outputs)
    weight : array of shape (n_samples,)
    n_leaves : int

    Returns
    -------
    list of dict
    """
    grown = DecisionTreeRegressor(max_leaf_nodes=n_leaves, random_state=0)
    tree = grown.fit(table.codes, target, sample_weight=weight).tree_
    boxes, waiting = [], [(0, {})]
    while waiting:
        node, box = waiting.pop()
        if tree.children_left[node] < 0:
            boxes.append(box)
            continue
        j = int(tree.feature[node])
        n_codes = table.columns[j].n_codes
        below = np.arange(n_codes + 1) <= tree.threshold[node]
        accepted = box.get(j, np.ones(n_codes + 1, dtype=bool))
        waiting.append((tree.children_right[node], {**box, j: accepted & ~below}))
        waiting.append((tree.children_left[node], {**box, j: accepted & below}))
    return sorted(boxes, key=len)[:-1]
