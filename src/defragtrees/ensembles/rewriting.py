"""Rewrite the splits of trees: on the user's columns, or with more missing values.

A forest on derived columns becomes the same forest on the user's columns: each distinct
split is pulled back once. A split on numbers may become several splits with the same
two children, one on categories becomes a set.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from defragtrees.ensembles.column_maps import (
    UNKNOWN,
    Derived,
    Fill,
    Indicator,
    LabelSet,
    LabelTable,
    Region,
    numbers_of,
)
from defragtrees.ensembles.forest import Tree
from defragtrees.errors import UnsupportedModelError
from defragtrees.rules.labels import ORDERED


def rewrite(forest, columns, names, categories, kinds=None):
    """The forest on the user's columns, with these names, categories and kinds.

    `columns` are the Derived columns that the forest has as features.
    """
    if len(columns) != forest.n_features:
        raise UnsupportedModelError(
            f"Cannot read a pipeline whose last step takes {forest.n_features} "
            f"columns, as the steps before it seem to make {len(columns)}."
        )
    splits = _Splits(forest, columns, categories)
    width = max(
        (len(known) + 1 for known in categories if known is not None), default=0
    )
    trees = []
    for tree, numbers in zip(forest.trees, splits.numbers, strict=True):
        nodes = _Nodes(tree, np.zeros((tree.n_nodes, width), dtype=bool))
        for node in np.flatnonzero(numbers >= 0).tolist():
            nodes.set(node, splits.splits[numbers[node]])
        trees.append(nodes.tree())
    given = {"feature_names": tuple(names), "categories": tuple(categories)}
    return dataclasses.replace(forest, trees=tuple(trees), feature_kinds=kinds, **given)


def with_categories(forest, categories):
    """The forest with longer lists of categories."""
    columns = [Derived(j) for j in range(forest.n_features)]
    kinds = forest.feature_kinds
    return rewrite(forest, columns, forest.feature_names, categories, kinds)


def align(forests, names=None):
    """Forests on the same columns, ordered by `names`, with the same categories."""
    used = dict.fromkeys(name for forest in forests for name in forest.feature_names)
    order = [str(name) for name in (used if names is None else names)]
    names = [name for name in order if name in used]
    place = {name: j for j, name in enumerate(names)}
    columns = [[Derived(place[n]) for n in forest.feature_names] for forest in forests]
    uses = [
        use
        for made, f in zip(columns, forests, strict=True)
        for use in uses_of(made, f)
    ]
    categories, kinds = find_categories(uses, names)
    if all(f.feature_names == tuple(names) for f in forests) and all(
        (f.categories, f.feature_kinds) == (categories, kinds) for f in forests
    ):
        return forests
    return [
        rewrite(forest, made, names, categories, kinds)
        for forest, made in zip(forests, columns, strict=True)
    ]


def count_as_missing(tree, low, high, where):
    """Send every `low <= x <= high` where missing values go, whatever the threshold.

    In XGBoost -999 may mean missing, in LightGBM zero. `where` is a mask of the nodes
    to change, all of which split on numbers.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [5.0, 0, 0], [1, -1, -1], [2, -1, -1],
    ...              [False, False, False], [0.0, 1.0, 3.0])
    >>> changed = count_as_missing(stump, 0.0, 0.0, stump.feature == 0)
    >>> changed.feature.tolist(), changed.left.tolist(), changed.right.tolist()
    ([0, -1, -1, 0, 0], [1, -1, -1, 2, 1], [3, -1, -1, 4, 2])
    """
    if not where.any():
        return tree
    before = np.nextafter(low, -np.inf)
    nodes = _Nodes(tree, tree.categories.copy())
    for node in np.flatnonzero(where).tolist():
        threshold, missing_left = tree.threshold[node], tree.missing_left[node]
        # Which of the intervals that end at these numbers, and then at infinity, go
        # left.
        ends = np.unique([threshold, before, high])
        is_missing = (ends > before) & (ends <= high)
        goes_left = np.where(is_missing, missing_left, ends <= threshold)
        goes_left = np.append(goes_left, False)
        is_edge = goes_left[1:] != goes_left[:-1]
        if ends[is_edge].tolist() != [threshold]:
            inside = np.append(goes_left[:-1][is_edge], False).tolist()
            nodes.chain(node, ends[is_edge].tolist(), inside, missing_left)
    return nodes.tree()


def uses_of(columns, forest):
    """How a forest uses Derived columns: pairs of a user's column and a Use."""
    kinds = forest.feature_kinds or (None,) * forest.n_features
    for column, known, kind in zip(columns, forest.categories, kinds, strict=True):
        yield column.source, _first_use(column.maps, known, kind == ORDERED)


class Use(NamedTuple):
    """What a column is read as: categories, in an order or not, or numbers (None)."""

    categories: tuple[Any, ...] | None
    is_ordered: bool = False


def _first_use(maps, categories, is_ordered):
    """What a column is read as; no categories if only gaps matter."""
    for step in maps:
        if isinstance(step, LabelTable):
            return Use(step.labels, step.is_ordered)
        if isinstance(step, Indicator):
            return Use(())
        if not isinstance(step, Fill):
            return Use(None)
    return Use(categories, is_ordered)


def find_categories(uses, names):
    """Categories and kinds of the user's columns; categories are None for numbers.

    The kind of a column is "ordered" if all that give its categories an order agree.
    """
    labels = [{} for _ in names]
    orders = [set() for _ in names]
    is_number = [False] * len(names)
    # Those with an order first, as others may list them in another one.
    for source, use in sorted(uses, key=lambda pair: not pair[1].is_ordered):
        if use.categories is None:
            is_number[source] = True
        else:
            labels[source].update(dict.fromkeys(use.categories))
        if use.is_ordered:
            orders[source].add(use.categories)
    categories, kinds = [], []
    for j, name in enumerate(names):
        known = tuple(labels[j])
        if known and is_number[j] and numbers_of(known) is None:
            raise UnsupportedModelError(
                f"Cannot read a pipeline that uses {name!r} as numbers and as "
                f"categories such as {known[0]!r}."
            )
        categories.append(known if known and not is_number[j] else None)
        kinds.append(ORDERED if orders[j] == {categories[j]} else None)
    return tuple(categories), tuple(kinds) if any(kinds) else None


@dataclass(frozen=True, eq=False)
class Split:
    """A split on one of the user's columns: a Region of numbers or a set."""

    feature: int
    region: Region | None = None
    inside: np.ndarray | None = None
    missing: bool = False


class _Splits:
    """The distinct splits of a forest, pulled back, and the split number of each node.

    Leaves have number -1.
    """

    def __init__(self, forest, columns, categories):
        self.forest = forest
        self.columns = columns
        self.categories = categories
        self.splits = []
        self.numbers = [np.full(tree.n_nodes, -1) for tree in forest.trees]
        nothing = np.empty(0)
        feature, self.threshold, self.missing_left = (
            np.concatenate([nothing, *(getattr(tree, name) for tree in forest.trees)])
            for name in ("feature", "threshold", "missing_left")
        )
        self.ends = np.cumsum([tree.n_nodes for tree in forest.trees])
        self.all_numbers = np.full(len(feature), -1)
        for j in np.unique(feature[feature >= 0]):
            self._add(int(j), np.flatnonzero(feature == j))
        if len(self.ends):
            self.numbers = np.split(self.all_numbers, self.ends[:-1])

    def _add(self, j, nodes):
        missing = self.missing_left[nodes]
        labels = self.forest.categories[j]
        if labels is None:
            keys = np.column_stack([self.threshold[nodes], missing])
            distinct, number = np.unique(keys, axis=0, return_inverse=True)
            regions = [Region.up_to(t, is_left) for t, is_left in distinct]
        else:
            keys = np.column_stack([self._sets(nodes, len(labels) + 1), missing])
            distinct, number = np.unique(keys, axis=0, return_inverse=True)
            regions = [LabelSet(labels, key[:-1], bool(key[-1])) for key in distinct]
        self.all_numbers[nodes] = len(self.splits) + number.ravel()
        source, labels = self.columns[j].source, self.categories[self.columns[j].source]
        if labels is None:
            regions = [r.as_region() if isinstance(r, LabelSet) else r for r in regions]
            regions = self.columns[j].pull_back(regions)
            self.splits += [Split(source, region=region) for region in regions]
            return
        values = self.columns[j].apply([*labels, UNKNOWN, None])
        for region in regions:
            *inside, missing = region.contains(values)
            self.splits.append(Split(source, None, np.array(inside), bool(missing)))

    def _sets(self, nodes, width):
        tree = np.searchsorted(self.ends, nodes, side="right")
        starts = np.append(0, self.ends)[tree]
        rows = zip(tree.tolist(), (nodes - starts).tolist(), strict=True)
        trees = self.forest.trees
        return np.array([trees[i].categories[node, :width] for i, node in rows])


class _Nodes:
    """The nodes of a tree while it is rewritten, and those added behind them."""

    def __init__(self, tree, sets):
        self.source, self.sets = tree, sets
        self.feature = tree.feature.tolist()
        self.threshold = tree.threshold.tolist()
        self.left, self.right = tree.left.tolist(), tree.right.tolist()
        self.missing_left = tree.missing_left.tolist()
        self.origin = list(range(tree.n_nodes))
        self.skipped = {}  # nodes that send all rows one way, with that child

    def set(self, node, split):
        left, right = self.left[node], self.right[node]
        self.feature[node] = split.feature
        if split.inside is not None:
            self.sets[node, : len(split.inside)] = split.inside
            self.missing_left[node] = split.missing
            if split.inside.all() and split.missing:
                self.skipped[node] = left
            elif not (split.inside.any() or split.missing):
                self.skipped[node] = right
            return
        region = split.region
        edges, inside = region.edges.tolist(), region.inside.tolist()
        if not edges:
            if inside[0] == region.missing:
                self.skipped[node] = left if inside[0] else right
                return
            edges, inside = [np.inf], [*inside, region.missing]
        self.chain(node, edges, inside, region.missing)

    def chain(self, node, edges, inside, missing_left):
        """Nodes that send the intervals between the edges left if they are inside."""
        left, right = self.left[node], self.right[node]
        sides = [left if is_inside else right for is_inside in inside]
        way_of_missing = left if missing_left else right
        for k, edge in enumerate(edges):
            is_last = k == len(edges) - 1
            self.threshold[node] = edge
            self.left[node] = sides[k]
            # A missing value leaves at the first node with its side.
            self.missing_left[node] = sides[k] == way_of_missing
            self.right[node] = sides[k + 1] if is_last else self._new(node)
            node = self.right[node]

    def _new(self, node):
        self.feature.append(self.feature[node])
        self.origin.append(self.origin[node])
        for values in (self.threshold, self.left, self.right, self.missing_left):
            values.append(0)
        return len(self.feature) - 1

    def tree(self):
        left, right = (
            np.array([self._after(child) for child in side])
            for side in (self.left, self.right)
        )
        order = np.arange(len(self.feature))
        if self.skipped:
            order = _reached(self._after(0), self.feature, left, right)
        source, origin = self.source, np.array(self.origin)[order]
        place = np.full(len(self.feature) + 1, -1)
        place[order] = np.arange(len(order))
        is_added = order >= source.n_nodes
        width = self.sets.shape[1]
        added = np.zeros((len(self.feature) - source.n_nodes, width), dtype=bool)
        columns = self.feature, self.threshold, self.missing_left
        feature, threshold, missing_left = (np.array(c)[order] for c in columns)
        sides = place[left[order]], place[right[order]], missing_left
        cover = np.where(is_added, np.nan, source.cover[origin])
        sets = np.vstack([self.sets, added])[order]
        return Tree(feature, threshold, *sides, source.value[origin], cover, sets)

    def _after(self, node):
        while node in self.skipped:
            node = self.skipped[node]
        return node


def _reached(root, feature, left, right):
    """The nodes that are reached from the root, which is the first."""
    order, seen, waiting = [], {root}, [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if feature[node] >= 0:
            for child in (int(right[node]), int(left[node])):
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
    return np.array(order)
