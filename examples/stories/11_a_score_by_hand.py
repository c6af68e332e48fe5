"""
A scorecard to add up by hand
=============================

At a bedside or a counter nobody runs a model, but everybody can add small numbers. A
scorecard has a few yes-or-no questions with whole points, and a table of the risk by
total.
"""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table
from defragtrees.export import export

X, y = load_table("heart")
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
categories = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), categories), remainder="passthrough")
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)

# %%
# At most six rules with one condition each, and whole points. Start at the base and add
# the points of all rules that match; the table below them gives the risk by total.
card = simplify(
    model,
    X,
    y,
    form="points",
    points="integer",
    max_rules=6,
    max_conditions=1,
    random_state=0,
)
print(card.rules_)

# %%
# The scorecard as a picture:
plots.scorecard(card.rules_)

# %%
# The risk by total on new patients: the curve is the estimate, circles are observed
# rates, and a larger circle means more patients.
plots.score_risk(card.rules_, X_test, y_test)

# %%
# What is lost by single conditions and whole points?
scores = card.evaluate(X_test, y_test)
print(f"AUC of the card {scores['auc']:.3f}, of the forest {scores['model_auc']:.3f}")

# %%
# As a table for a document:
print(export(card.rules_, "markdown"))

# sphinx_gallery_thumbnail_path = "_static/stories/a_score_by_hand.svg"
