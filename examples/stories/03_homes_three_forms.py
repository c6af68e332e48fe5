"""
House prices in three forms
===========================

The same forest for the prices of 932 homes around Sacramento, said in three ways: a
list that is read from the top, rules that are true each by itself, and dollars that
add up.
"""

from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("homes")
X = X.drop(columns="zip")  # city and place on the map say the same
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
words = ["city", "type"]
encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=10)
steps = make_column_transformer((encoder, words), remainder="passthrough")
forest = RandomForestRegressor(min_samples_leaf=5, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)

# %%
# In order
# --------
#
# The first rule that matches sets the price, so a later one is about the homes that are
# left. After the price: between which prices eight of ten of them lie.
settings = {"max_rules": 6, "max_conditions": 2, "random_state": 0}
listed = simplify(model, X, y, **settings)
print(listed.rules_)

# %%
# On the map of the two columns that the rules ask about most, with all others held at
# their middle:
plots.regions(listed.rules_, X_test, y_test, features=("longitude", "square feet"))

# %%
# Each by itself
# --------------
#
# Any of these may be quoted alone: its price is that of all homes that it matches.
alone = simplify(model, X, y, form="standalone", **settings)
print(alone.rules_)

# %%
# Dollars that add up
# -------------------
#
# Start at the base and add the points of all rules that match.
points = simplify(model, X, y, form="points", **settings)
print(points.rules_)

# %%
print(points.explain(X_test.iloc[0]))

# %%
# Which is best with at most six rules?
# -------------------------------------
for simple in (listed, alone, points):
    scores = simple.evaluate(X_test, y_test)
    print(
        f"{simple.form:10} off by {scores['mae']:8,.0f} dollars, R2 {scores['r2']:.2f}"
    )
print(f"{'forest':10} off by {scores['ensemble_mae']:8,.0f} dollars")

# %%
# On these homes, as on most data, points come nearest to the forest (:doc:`/forms` has
# the numbers). That is not always so: try both.
#
# A price with a range that holds for nine of ten new homes:
low, high = points.predict_interval(X_test, coverage=0.9).T
inside = ((low <= y_test) & (y_test <= high)).mean()
print(f"first home: {low[0]:,.0f} to {high[0]:,.0f} dollars")
print(f"{inside:.0%} of {len(y_test)} new homes are inside their ranges")
