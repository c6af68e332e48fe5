"""Regions of a model: drawn over two features, and counted."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.ensembles.readers import read_forest
from defragtrees.plots import style
from defragtrees.plots.picture import encoded
from defragtrees.plots.two_features import (
    add_title,
    draw_rows,
    fixed_text,
    fixed_values,
    make_colours,
    make_plane,
    runs,
    two_features,
)
from defragtrees.tables import column_names, feature_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CELLS = 20_000_000  # maximum size of the grid of thresholds; bounds the memory


def forest_regions(
    model: Any,
    X: Rows | None = None,
    y: Column | None = None,
    features: Sequence[str | int] | None = None,
    ax: "Axes | None" = None,
    *,
    at: Any = None,
    limits: Any = None,
    max_rows: int = 2000,
) -> "Axes":
    """Plot the predictions of a model over two features, and its regions.

    The title shows the number of regions; see `count_regions`. Other features are held
    fixed, as in `regions`.

    Parameters
    ----------
    model : fitted model, path or Forest
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to draw as points. They determine the range shown, and the medians or most
        frequent categories at which other features are held.
    y : array-like of shape (n_samples,), optional
        Labels or numbers for the points.
    features : pair of str or int, optional
        Names or numbers; by default the two with the most splits. A split counts a
        quarter of its parent, so a level of a tree counts half of the one above.
    ax : matplotlib Axes, optional
    at : mapping from name or number to value, optional
        Values at which to hold other features.
    limits : pair of pairs of float, optional
        Range of the two features to show, instead of the range of X.
    max_rows : int or None, default=2000
        Maximum number of points.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    >>> tree = tree.fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    >>> ax = forest_regions(tree)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x2')
    """
    forest = read_forest(model)
    matrix = encoded(forest, X, y)
    used = _used(forest)
    features = two_features(features, forest.feature_names, _importance(forest))
    fixed = fixed_values(forest, at, matrix, features, used)
    plane = make_plane(forest, forest.splits(), features, matrix, limits, fixed)
    pair = plane.y.feature, plane.x.feature
    borders = _borders(forest, pair, [plane.y.values, plane.x.values], fixed)
    predictions = _plane_predictions(forest, plane, *borders)
    ax = style.axes_or_new(ax)
    colours = make_colours(forest, predictions[plane.shown], y)
    colours.mesh(ax, plane, predictions)
    _draw_borders(ax, plane, *borders)
    if matrix is not None:
        draw_rows(ax, plane, colours, matrix, y, max_rows)
    plane.decorate(ax, column_names(X) or forest.feature_names)
    colours.explain(ax)
    text = render.plural(_count(forest, features, fixed), "region")
    others = [j for j in used if j not in features]
    add_title(ax, f"{text} {fixed_text(forest, fixed, others)}".strip())
    return ax


def count_regions(
    model: Any, features: Sequence[str | int] | None = None, *, at: Any = None
) -> int:
    """Count the regions of a model: sets of rows with the same leaf in every tree.

    A region is a non-empty intersection of leaves, one per tree. They are counted
    exactly, on the grid of all thresholds. Without categories each region is a box.
    Missing values and unknown categories are left out.

    Parameters
    ----------
    model : fitted model, path or Forest
    features : sequence of str or int, optional
        Features to count over, with the others held fixed; by default all that have
        splits. The grid grows with the product of the numbers of thresholds, so more
        than two or three features are rarely possible.
    at : mapping from name or number to value, optional
        Values at which to hold the other features that have splits.

    Returns
    -------
    int

    Examples
    --------
    >>> from defragtrees import Forest, Tree
    >>> def stump(feature, threshold):
    ...     return Tree([feature, -1, -1], [threshold, 0, 0], [1, -1, -1],
    ...                 [2, -1, -1], [True, True, True], [0.0, 1.0, 2.0])
    >>> forest = Forest((stump(0, 1.0), stump(0, 2.0), stump(1, 1.0)), ("a", "b"),
    ...                 "regression")
    >>> count_regions(forest)
    6
    """
    forest = read_forest(model)
    used = _used(forest)
    if features is None:
        given = [feature_index(which, forest.feature_names) for which in at or {}]
        features = tuple(j for j in used if j not in given)
    else:
        names = forest.feature_names
        features = tuple(dict.fromkeys(feature_index(f, names) for f in features))
    return _count(forest, features, fixed_values(forest, at, None, features, used))


def _used(forest):
    return sorted({int(j) for tree in forest.trees for j in tree.feature if j >= 0})


def _importance(forest):
    """Number of splits of each feature; a split counts a quarter of its parent."""
    importance = np.zeros(forest.n_features)
    for tree in forest.trees:
        nodes, weight = np.zeros(1, int), 1.0
        while nodes.size:
            nodes = nodes[tree.feature[nodes] >= 0]
            np.add.at(importance, tree.feature[nodes], weight)
            nodes = np.unique(np.concatenate([tree.left[nodes], tree.right[nodes]]))
            weight /= 4
    return importance


def _count(forest, features, fixed):
    if not forest.trees:
        return 1
    splits = forest.splits()
    # For each feature one value per cell of the grid.
    values = [
        np.append(splits[j], np.inf)
        if forest.categories[j] is None
        else np.arange(max(1, len(forest.categories[j])), dtype=np.float64)
        for j in features
    ]
    n_cells = math.prod(len(one) for one in values)
    if n_cells > MOST_CELLS:
        raise ValueError(
            f"The thresholds must form at most {MOST_CELLS:,} cells to count regions; "
            f"these form {n_cells:,}. Pass fewer features, and `at` for the others."
        )
    # The first cell of a region, in the order of the grid, has no preceding neighbour
    # in the same region. Only the leaves of these few cells are compared.
    is_first = np.ones([len(one) for one in values], bool)
    for axis, differs in enumerate(_borders(forest, features, values, fixed)):
        after = np.swapaxes(is_first, 0, axis)[1:]
        after &= np.swapaxes(differs, 0, axis)
    region = np.zeros(int(is_first.sum()), np.int64)
    for tree in forest.trees:
        leaves = _leaves(tree, features, values, fixed, forest.categories)
        pairs = region * tree.n_nodes + leaves[is_first]
        region = np.unique(pairs, return_inverse=True)[1]
    return int(region.max()) + 1


def _borders(forest, features, values, fixed):
    """For each feature, the neighbouring cells between which a leaf of a tree ends."""
    shape = [len(one) for one in values]
    borders = []
    for axis in range(len(shape)):
        borders.append(np.zeros([n - (a == axis) for a, n in enumerate(shape)], bool))
    for tree in forest.trees:
        leaves = _leaves(tree, features, values, fixed, forest.categories)
        for axis, differs in enumerate(borders):
            differs |= np.diff(leaves, axis=axis) != 0
    return borders


def _leaves(tree, features, values, fixed, categories):
    """Leaf of every cell; blocks of cells descend the tree together."""
    leaves = np.empty([len(one) for one in values], np.int32)
    waiting = [(0, tuple(np.arange(len(one)) for one in values))]
    while waiting:
        node, cells = waiting.pop()
        j = tree.feature[node]
        if j < 0:
            leaves[np.ix_(*cells)] = node
        elif j not in features:
            goes_left = _goes_left(tree, node, fixed[j : j + 1], categories[j])[0]
            child = (tree.left if goes_left else tree.right)[node]
            waiting.append((child, cells))
        else:
            axis = features.index(j)
            goes_left = _goes_left(tree, node, values[axis][cells[axis]], categories[j])
            for child, here in ((tree.left, goes_left), (tree.right, ~goes_left)):
                if here.any():
                    block = (*cells[:axis], cells[axis][here], *cells[axis + 1 :])
                    waiting.append((child[node], block))
    return leaves


def _goes_left(tree, node, x, known):
    missing = np.isnan(x)
    if known is None:
        left = x <= tree.threshold[node]
    else:
        codes = np.where(missing, 0, x).astype(int)
        left = tree.categories[node][codes]
    return np.where(missing, tree.missing_left[node], left)


def _plane_predictions(forest, plane, up, across):
    """Prediction in every cell; the model predicts once per region."""
    n_lines, n_columns = plane.shape
    column = np.tile(np.arange(n_columns), (n_lines, 1))
    column[:, 1:][~across] = 0
    column = np.maximum.accumulate(column, axis=1)
    line = np.tile(np.arange(n_lines)[:, None], (1, n_columns))
    line[1:][~up] = 0
    line = np.maximum.accumulate(line, axis=0)
    # To the left end of the region, and from there down.
    first = np.take_along_axis(line, column, axis=1) * n_columns + column
    cells, place = np.unique(first, return_inverse=True)
    raw = forest.predict_raw_encoded(plane.matrix()[cells])
    return forest.predict_from_raw(raw)[place].reshape(plane.shape)


def _draw_borders(ax, plane, up, across):
    """Draw thin lines where a leaf of some tree ends."""
    lines = []
    for i, row in enumerate(up & plane.shown[1:] & plane.shown[:-1]):
        height = plane.y.edges[i + 1]
        ends = [plane.x.edges[list(run)] for run in runs(row)]
        lines += [[(left, height), (right, height)] for left, right in ends]
    for i, row in enumerate((across & plane.shown[:, 1:] & plane.shown[:, :-1]).T):
        place = plane.x.edges[i + 1]
        ends = [plane.y.edges[list(run)] for run in runs(row)]
        lines += [[(place, low), (place, high)] for low, high in ends]
    thin = 0.4 if len(lines) < 2_000 else 0.15
    collection = style.part("collections").LineCollection(
        lines, colors=style.GREY, linewidths=thin, zorder=1
    )
    ax.add_collection(collection, autolim=False)
