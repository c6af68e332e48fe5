"""
How many rules?
===============

442 people with diabetes, and the progression of their disease within a year. Effects
are weak, and the forest itself explains less than half of the variance. How many rules
are worth reading?
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
# Lists of every length, measured on rows that the forest has not seen.
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
# The star is the shortest list within one standard error of the best.
plots.trade_off(path)

# %%
# The chosen list:
print(path.rules)
