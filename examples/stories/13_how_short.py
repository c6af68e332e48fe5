"""
How short is too short
======================

442 people with diabetes, and how far their illness went on within a year. Effects are
weak here, and a forest itself explains less than half. How many rules are worth
reading?
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

from defragtrees import plots, simplify_path

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
labels = {
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s4": "cholesterol / HDL",
    "s5": "log triglycerides",
}
forest = RandomForestRegressor(min_samples_leaf=10, random_state=0)
forest = forest.fit(X[::2], y[::2])

# %%
# Every length from one rule up, measured on rows that the forest has not seen.
path = simplify_path(
    forest,
    X[1::2],
    y[1::2],
    max_rules=10,
    choose_by="rmse",
    feature_labels=labels,
    random_state=0,
)
print(path)

# %%
# The star is the shortest list that is as good as the best, up to what chance does.
plots.trade_off(path)

# %%
# The list that is chosen:
print(path.rules)

# %%
# What it asks of each column:
plots.feature_heat_map(path.rules, X)
