"""Growing a born-again tree level by level, and cutting it to a depth or a size."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from defragtrees.methods.born_again.smear import smear
from defragtrees.methods.born_again.split import best_split, find_candidates
from defragtrees.methods.leaves import Split, make_tree
from defragtrees.trees import Tree

__all__ = ["Grown", "Growth", "cut", "grow"]

BLOCK_CELLS = 4_000_000  # synthetic values made at once; bounds the memory of a level


@dataclass(frozen=True)
class Growth:
    """How to grow; see the estimator's parameters of the same names."""

    max_depth: int
    min_samples_split: float = 10
    n_smeared: int = 100
    replace_share: float = 0.5
    max_thresholds: int | None = 100
    min_values: int = 2
    min_gain: float | None = 0.0


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree and what growing it has found.

    Parameters
    ----------
    tree : Tree
    depth : int array of shape (n_nodes,)
    rows : tuple of int array
        Training rows of each node.
    """

    tree: Tree
    depth: np.ndarray
    rows: tuple[np.ndarray, ...]


@dataclass(eq=False)
class _Node:
    """A node that may still be split; `number` says where: children of i are 2i, 2i+1.

    Each node has draws of its own, made from the seed and its number. So a tree grown
    to a smaller depth is the upper part of one grown deeper.
    """

    number: int
    depth: int
    rows: np.ndarray
    box: dict[int, np.ndarray]
    split: Split | None = None
    children: tuple["_Node", ...] = ()


def grow(table, ask, settings, seed):
    """A tree on the rows of a table.

    Parameters
    ----------
    table : CodeTable
    ask : callable
        What the ensemble says of a matrix of rows, (n_rows, n_outputs).
    settings : Growth
    seed : sequence of int
        Of the draws.

    Returns
    -------
    Grown
    """
    root = _Node(1, 0, np.arange(len(table.codes)), {})
    level, nodes = [root], []
    while level:
        nodes += level
        for block in _blocks(table, level, settings, seed):
            _split_block(table, ask, settings, block)
        for node in level:
            node.box = {}  # as long as the data; only the children still need it
        level = [child for node in level for child in node.children]
    place = {node.number: i for i, node in enumerate(nodes)}
    return Grown(
        make_tree(
            [node.split for node in nodes],
            [place.get(2 * node.number, -1) for node in nodes],
            [place.get(2 * node.number + 1, -1) for node in nodes],
        ),
        np.array([node.depth for node in nodes]),
        tuple(node.rows for node in nodes),
    )


def _blocks(table, level, settings, seed):
    """The nodes of a level that may be split, with their candidates and draws."""
    size = max(1, BLOCK_CELLS // (settings.n_smeared * table.n_columns))
    block = []
    for node in level:
        weight = table.weight[node.rows].sum()
        if node.depth >= settings.max_depth or weight <= settings.min_samples_split:
            continue
        rng = np.random.default_rng([*seed, node.number])
        candidates = find_candidates(
            table, node.rows, rng, settings.max_thresholds, settings.min_values
        )
        if len(candidates):
            block.append((node, candidates, rng))
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def _split_block(table, ask, settings, block):
    """Split some nodes; the ensemble is asked once for all of them."""
    smeared = [
        smear(table, node.box, settings.n_smeared, settings.replace_share, rng)
        for node, _, rng in block
    ]
    responses = ask(table.matrix(np.vstack(smeared)))
    parts = responses.reshape(len(block), settings.n_smeared, -1)
    for (node, candidates, _), rows, answers in zip(block, smeared, parts, strict=True):
        choice = best_split(table, candidates, rows, answers)
        if settings.min_gain is None or choice.gain > settings.min_gain:
            _divide(table, node, choice)


def _divide(table, node, choice):
    """Give a node its split and its children."""
    column = choice.column
    width, start = table.width(column), table.starts[column]
    if column in table.sets:
        left = table.sets[column][choice.code].copy()
    else:
        left = np.arange(start, start + width) <= choice.code
    place = table.codes[node.rows, column] - start
    missing_left = choice.missing_left
    if missing_left is None:
        # Nobody was asked about missing values; they go where most of the rows go.
        weight = table.weight[node.rows] * (place < width - 1)
        missing_left = bool(weight[left[place]].sum() >= weight[~left[place]].sum())
    left[-1] = missing_left
    node.split = Split(
        int(table.features[column]),
        choice.threshold,
        table.positions[column][choice.code] if column in table.sets else None,
        missing_left,
    )
    inside = node.box.get(column, np.ones(width, dtype=bool))
    goes_left = left[place]
    node.children = tuple(
        _Node(
            2 * node.number + k,
            node.depth + 1,
            node.rows[goes],
            {**node.box, column: inside & side},
        )
        for k, (goes, side) in enumerate(((goes_left, left), (~goes_left, ~left)))
    )


def cut(grown, losses, max_depth, max_leaves=None):
    """The tree to a depth and with so many leaves that lose least.

    Parameters
    ----------
    grown : Grown
    losses : callable
        Given the rows of a node, what it loses as a leaf.
    max_depth : int
    max_leaves : int, optional

    Returns
    -------
    Tree
    """
    tree = _with_leaves(grown.tree, grown.depth >= max_depth)
    n_leaves = np.count_nonzero(tree.feature >= 0) + 1
    if max_leaves is None or n_leaves <= max_leaves:
        return tree
    cost = [losses(rows) for rows in grown.rows]
    best: list[np.ndarray] = [np.empty(0)] * len(cost)
    taken: list[np.ndarray] = [np.empty(0)] * len(cost)
    for node in reversed(range(len(cost))):
        below = ()
        if tree.feature[node] >= 0:
            below = (best[tree.left[node]], best[tree.right[node]])
        best[node], taken[node] = _best_sizes(cost[node], below, max_leaves)
    is_leaf = np.ones(len(cost), dtype=bool)
    # A leaf that gains nothing but rounding is not worth having.
    enough = best[0].min() + 1e-12 * cost[0]
    waiting = [(0, int((best[0] <= enough).argmax()) + 1)]
    while waiting:
        node, n_leaves = waiting.pop()
        if n_leaves > 1:
            is_leaf[node] = False
            n_left = int(taken[node][n_leaves - 1])
            waiting.append((tree.left[node], n_left))
            waiting.append((tree.right[node], n_leaves - n_left))
    return _with_leaves(tree, is_leaf)


def _with_leaves(tree, is_leaf):
    """The tree with some nodes made leaves; what was below them is not reached."""
    return dataclasses.replace(tree, feature=np.where(is_leaf, -1, tree.feature))


def _best_sizes(cost, below, max_leaves):
    """Least loss with 1, 2, ... leaves below a node, and how many of them are left."""
    if not below:
        return np.array([cost]), np.zeros(1, dtype=np.intp)
    left, right = below
    size = min(max_leaves, len(left) + len(right))
    best = np.full(size, np.inf)
    taken = np.zeros(size, dtype=np.intp)
    best[0] = cost
    for n_left in range(1, min(len(left), size - 1) + 1):
        losses = left[n_left - 1] + right[: size - n_left]
        # These trees have n_left + 1, n_left + 2, ... leaves.
        sizes = slice(n_left, n_left + len(losses))
        better = losses < best[sizes]
        best[sizes] = np.where(better, losses, best[sizes])
        taken[sizes] = np.where(better, n_left, taken[sizes])
    return best, taken
