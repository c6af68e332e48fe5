"""Lists to start the search from: components of the mixture, leaves of small trees."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["boxes_from_sides", "boxes_from_tree"]


def boxes_from_tree(table, target, weight, n_leaves, is_number):
    """Leaves of a tree that was grown on codes, shortest first, the last left out.

    Parameters
    ----------
    table : RowTable
    target : array of shape (n_samples,)
    weight : array of shape (n_samples,)
    n_leaves : int
    is_number : bool
        Whether the target is a number.

    Returns
    -------
    list of dict
    """
    kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
    grown = kind(max_leaf_nodes=n_leaves, random_state=0)
    tree = grown.fit(table.codes.T, target, sample_weight=weight).tree_
    boxes, waiting = [], [(0, {})]
    while waiting:
        node, box = waiting.pop()
        if tree.children_left[node] < 0:
            boxes.append(box)
            continue
        j = int(tree.feature[node])
        n_codes = table.columns[j].n_codes
        below = np.arange(n_codes + 1) <= tree.threshold[node]
        known = box.get(j, np.ones(n_codes + 1, dtype=bool))
        waiting.append((tree.children_right[node], {**box, j: known & ~below}))
        waiting.append((tree.children_left[node], {**box, j: known & below}))
    return sorted(boxes, key=len)[:-1]


def boxes_from_sides(table, lists):
    """Boxes over the codes of a table from sides over bins.

    Parameters
    ----------
    table : RowTable
    lists : list of list of (feature, bool array over its bins)
    """
    place = {column.feature: j for j, column in enumerate(table.columns)}
    boxes = []
    for sides in lists:
        box = {}
        for feature, accepts in sides:
            if feature not in place:
                continue
            j = place[feature]
            column = table.columns[j]
            accepted = np.append(accepts[column.bins], accepts[-1])
            box[j] = box.get(j, True) & accepted
        boxes.append({j: mask for j, mask in box.items() if not mask.all()})
    return [box for box in boxes if box]
