"""
Comparing methods
=================

``compare`` fits other methods that make rules, such as inTrees, Node Harvest,
Born-Again trees and distilled trees, to the same forest as our lists. It measures all
of them, and your own estimators, on rows held out.
"""

from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from defragtrees import DefragRegressor, compare, plots
from defragtrees.datasets import load_table

X, y = load_table("energy")
forest = RandomForestRegressor(min_samples_leaf=5, random_state=0).fit(X[::2], y[::2])

# %%
# The heating load of buildings, on rows that the forest has not seen. Each method makes
# at most four rules, then eight; the tree on y has eight leaves.
methods = {
    "list": "defrag",
    "points": DefragRegressor(form="points"),
    "inTrees": "intrees",
    "Node Harvest": "node_harvest",
    "Born-Again": "born_again",
    "distilled tree": "distilled",
}
tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=5, random_state=0)
table = compare(
    forest,
    X[1::2],
    y[1::2],
    methods=methods,
    others={"a tree on y": tree},
    budgets=[4, 8],
    cv=3,
    random_state=0,
)
print(table)

# %%
# The same as a picture: the lower left corner is best.
plots.comparison(table)

# %%
# Points win here, as the effects of walls, roofs and windows add up. On other data
# other methods win.
for row in table.best():
    print(f"with {row['n_rules']:.3g} rules: {row['method']}, RMSE {row['rmse']:.2f}")
