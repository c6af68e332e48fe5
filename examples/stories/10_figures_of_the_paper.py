"""
The figures of the paper
========================

The library starts from S. Hara and K. Hayashi, *Making Tree Ensembles Interpretable:
A Bayesian Model Selection Approach*. Its first figures show a chessboard with a tenth
of the labels flipped, and how a forest and a few rules divide it.
"""

import numpy as np
import pandas as pd
from matplotlib import pyplot
from sklearn.ensemble import RandomForestClassifier

from defragtrees import plots, simplify
from defragtrees.baselines import NodeHarvestClassifier

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.random((1000, 2)), columns=["x1", "x2"])
is_odd = (X["x1"] > 0.5) ^ (X["x2"] > 0.5)
is_wrong = rng.random(1000) < 0.1
y = np.where(is_odd ^ is_wrong, "odd", "even")
forest = RandomForestClassifier(5, min_samples_leaf=10, random_state=0).fit(X, y)


# %%
# The regions of five trees, on the grid of all thresholds: two points are in one region
# if they share all leaves.
def edges_of(j):
    trees = [one.tree_ for one in forest.estimators_]
    return np.unique(
        [0, 1, *(t for one in trees for t in one.threshold[one.feature == j])]
    )


edges = edges_of(0), edges_of(1)
middles = np.meshgrid(*((ends[1:] + ends[:-1]) / 2 for ends in edges))
cells = pd.DataFrame({"x1": middles[0].ravel(), "x2": middles[1].ravel()})
print(f"{len(np.unique(forest.apply(cells), axis=0)):,} regions")
is_odd = forest.predict(cells).reshape(middles[0].shape) == "odd"
pyplot.pcolormesh(*edges, is_odd, cmap="coolwarm", alpha=0.5, edgecolors="face")

# %%
# The paper's method
# ------------------
#
# ``method="paper"`` fits the paper's mixture. It starts with ten components, removes
# those that are not needed, and turns each that is left into a rule.
paper = simplify(forest, X, y, method="paper", random_state=0)
print(paper.rules_)
plots.regions(paper.rules_, X, y)

# %%
# The fit from each of twenty starts: the bound, and the number of components left.
plots.convergence(paper)

# %%
# Our default
# -----------
#
# A search for the short list that imitates the forest's probabilities best.
simple = simplify(forest, X, y, random_state=0)
print(simple.rules_)
plots.regions(simple.rules_, X, y)

# %%
# Node Harvest
# ------------
#
# One of the methods in the paper: the mean of many boxes.
harvest = NodeHarvestClassifier(forest, max_rules=8, random_state=0).fit(X, y)
plots.regions(harvest.rules_, X, y)
