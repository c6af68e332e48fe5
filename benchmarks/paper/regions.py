"""Regions of a forest, and boxes of rules, on the unit square."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.patches import Rectangle

from defragtrees.plots import COLOURS


def count_regions(forest):
    """Number of regions of a Forest of two features: rows with the same leaves."""
    return int(_cells(forest)[2].max()) + 1


def draw_regions(ax, forest):
    """Fill the square with the predicted classes, with a line where a leaf ends."""
    edges, classes, region = _cells(forest)
    two = ListedColormap(COLOURS[:2])
    ax.pcolormesh(*edges, classes, cmap=two, vmin=0, vmax=1, alpha=0.3)
    thin = {"colors": "0.45", "linewidths": 0.4}
    for i, j in np.argwhere(np.diff(region, axis=0) != 0):
        ax.hlines(edges[1][i + 1], *edges[0][j : j + 2], **thin)
    for i, j in np.argwhere(np.diff(region, axis=1) != 0):
        ax.vlines(edges[0][j + 1], *edges[1][i : i + 2], **thin)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="x1", ylabel="x2")


def draw_rules(ax, rules):
    """Fill the square with what rules of two features predict, and draw their boxes."""
    middles = (np.arange(400) + 0.5) / 400
    x, y = np.meshgrid(middles, middles)
    told = rules.predict_proba(np.column_stack([x.ravel(), y.ravel()]))[:, 1]
    two = LinearSegmentedColormap.from_list("two", COLOURS[:2])
    look = {"cmap": two, "vmin": 0, "vmax": 1, "alpha": 0.3, "extent": (0, 1, 0, 1)}
    ax.imshow(told.reshape(x.shape), origin="lower", **look)
    for rule in rules.rules:
        ends = np.array([[0.0, 1.0], [0.0, 1.0]])
        for condition in rule.conditions:
            low, high = ends[condition.feature]
            ends[condition.feature] = (
                max(low, condition.lower),
                min(high, condition.upper),
            )
        (left, right), (bottom, top) = ends
        box = Rectangle((left, bottom), right - left, top - bottom, fill=False, lw=0.8)
        ax.add_patch(box)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="x1", ylabel="x2")


def _cells(forest):
    """Edges of the cells between thresholds, and the class and region of each cell."""
    edges = [np.concatenate([[0.0], splits, [1.0]]) for splits in forest.splits()]
    # A cell is `lower < x <= upper`, so its upper corner stands for it.
    x, y = np.meshgrid(*(ends[1:] for ends in edges))
    corners = np.column_stack([x.ravel(), y.ravel()])
    leaves = forest.stacked.leaves(corners)
    _, region = np.unique(leaves, axis=0, return_inverse=True)
    codes = forest.outcome.encode(forest.predict(corners))
    return edges, codes.reshape(x.shape), region.reshape(x.shape)
