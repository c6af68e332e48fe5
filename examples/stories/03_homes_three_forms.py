"""
House prices in three forms
===========================

One forest for the prices of 932 homes around Sacramento, in three forms: a list that is
read from the top, standalone rules, and dollars that add up.
"""

from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("homes")
X = X.drop(columns="zip")  # city and coordinates contain it
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
categories = ["city", "type"]
encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=10)
steps = make_column_transformer((encoder, categories), remainder="passthrough")
forest = RandomForestRegressor(min_samples_leaf=5, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)

# %%
# A list
# ------
#
# The first rule that matches a home predicts its price, so a later rule is about the
# remaining homes. Beside the mean price is the range of the middle 80% of the homes.
settings = {"max_rules": 6, "max_conditions": 2, "random_state": 0}
listed = simplify(model, X, y, **settings)
print(listed.rules_)

# %%
# The same as a picture:
plots.risks(listed.rules_)

# %%
# Standalone rules
# ----------------
#
# Each rule can be quoted alone: its price is the mean of all homes that it matches.
alone = simplify(model, X, y, form="standalone", **settings)
print(alone.rules_)

# %%
# Dollars that add up
# -------------------
#
# Start at the base and add the dollars of all rules that match.
points = simplify(model, X, y, form="points", **settings)
print(points.rules_)

# %%
print(points.explain(X_test.iloc[0]))

# %%
# Which form is best with at most six rules?
# ------------------------------------------
for simple in (listed, alone, points):
    scores = simple.evaluate(X_test, y_test)
    print(
        f"{simple.form:10} off by {scores['mae']:8,.0f} dollars, R2 {scores['r2']:.2f}"
    )
print(f"{'forest':10} off by {scores['model_mae']:8,.0f} dollars")

# %%
# On these homes, as on most data, points come closest to the forest (:doc:`/forms` has
# the numbers). That is not always so: try both.
#
# A prediction interval that contains the price of nine in ten new homes:
low, high = points.predict_interval(X_test, coverage=0.9).T
inside = ((low <= y_test) & (y_test <= high)).mean()
print(f"first home: {low[0]:,.0f} to {high[0]:,.0f} dollars")
print(f"{inside:.0%} of {len(y_test)} new homes are inside their intervals")

# sphinx_gallery_thumbnail_path = "_static/stories/homes_three_forms.svg"
