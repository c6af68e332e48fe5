"""Solvers of optimal trees, run in a process of their own.

They are compiled code of others, which may end the process that it runs in. One process
is kept for all fits, as it takes a second to start.
"""

import math
import os
import warnings
from concurrent.futures import BrokenExecutor
from functools import cache
from importlib import import_module
from types import SimpleNamespace

import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

LONGEST = 1e9  # seconds; with more than 2**31 - 1 a solver ends its process
N_TRIES = 3
IDLE = 300  # seconds after which the process ends


def solve_apart(name, solve, *arguments):
    """`solve(*arguments)` in another process; RuntimeError if that ends early."""
    # A crash rarely comes twice: it depends on what was in memory.
    for _ in range(N_TRIES):
        try:
            return _executor(os.getpid()).submit(solve, *arguments).result()
        except BrokenExecutor as error:
            _executor.cache_clear()
            broken = error
    raise RuntimeError(
        f"The solver {name} ended its process before it had a tree. Lower n_cuts or "
        "max_rules, or try another solver or method."
    ) from broken


@cache
def _executor(_process):
    """The process of the solvers, one for each process that asks."""
    return ProcessPoolExecutor(1, timeout=IDLE)


def solve_streed(kind, task, settings, cuts, binary, target):
    """The best tree over cuts, None if there is none, and whether that is proven.

    `binary` says of each row which side of each cut it is on.
    """
    solver = getattr(import_module("pystreed"), kind)(task, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver.fit(binary, target)
    if not solver.is_fitted():
        return None, False
    tree = _as_arrays(solver.tree_, lambda node: cuts[node.feature])
    return tree, bool(solver.fit_result.is_optimal())


def solve_contree(depth, time_limit, cells, target):
    """The best tree over all cuts, and whether that is proven."""
    kind = import_module("pycontree").ConTree
    solver = kind(max_depth=depth, time_limit=time_limit)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solver.fit(cells, target)
    is_optimal = not any("time limit" in str(w.message) for w in caught)

    def cut_of(node):
        return node.get_split_feature(), node.get_split_threshold()

    return _as_arrays(solver.tree_, cut_of), is_optimal


def _as_arrays(tree, cut_of):
    """A solver's tree with the arrays that `read_tree` asks for."""
    left, right, feature, threshold = [], [], [], []
    waiting = [(tree, None)]
    while waiting:
        node, parent = waiting.pop(0)
        number = len(left)
        if parent is not None:
            side, place = parent
            side[place] = number
        left.append(-1)
        right.append(-1)
        feature.append(-1)
        threshold.append(0.0)
        if not node.is_leaf_node():
            feature[number], threshold[number] = cut_of(node)
            waiting.append((_child(node, "left"), (left, number)))
            waiting.append((_child(node, "right"), (right, number)))
    return SimpleNamespace(
        node_count=len(left),
        children_left=np.array(left),
        children_right=np.array(right),
        feature=feature,
        threshold=threshold,
        missing_go_to_left=[not math.isinf(t) for t in threshold],
    )


def _child(node, side):
    if hasattr(node, f"get_{side}"):
        return getattr(node, f"get_{side}")()
    return getattr(node, f"{side}_child")
