"""
The figures of the paper
========================

The library starts from S. Hara and K. Hayashi, *Making Tree Ensembles Interpretable:
A Bayesian Model Selection Approach*. Its first figures show a chessboard with a tenth
of the labels wrong: what a forest makes of it, and what few rules do.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from defragtrees import NodeHarvestClassifier, plots, simplify

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.random((1000, 2)), columns=["x1", "x2"])
is_odd = (X["x1"] > 0.5) ^ (X["x2"] > 0.5)
is_wrong = rng.random(1000) < 0.1
y = np.where(is_odd ^ is_wrong, "odd", "even")
forest = RandomForestClassifier(5, min_samples_leaf=10, random_state=0).fit(X, y)

# %%
# What five trees see: a region is what ends in the same leaf of every tree.
print(f"{plots.count_regions(forest):,} regions")
plots.forest_regions(forest, X, y)

# %%
# The paper's method
# ------------------
#
# With ``method="paper"`` the paper's model is fitted. It starts with ten parts, drains
# those that are not needed, and each that is left becomes a rule.
paper = simplify(forest, X, y, method="paper", random_state=0)
print(paper.rules_)
plots.regions(paper.rules_, X, y)

# %%
# How the fit went, from each of twenty starts: how good it is, and how many parts
# (*components*) are left.
plots.convergence(paper)

# %%
# Our default
# -----------
#
# A search for the short list that says most of what the forest believes.
simple = simplify(forest, X, y, random_state=0)
print(simple.rules_)
plots.regions(simple.rules_, X, y)

# %%
# Node Harvest
# ------------
#
# One of the paper's rivals: many boxes that are averaged, the paler the less weight.
harvest = NodeHarvestClassifier(forest, max_rules=8, random_state=0).fit(X, y)
plots.rule_panels(harvest.rules_, X, y)
