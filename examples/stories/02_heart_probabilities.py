"""
Heart disease: how likely, and how sure
=======================================

A doctor does not ask "yes or no" but "how likely, and from how many patients do you
know that". 303 patients of a clinic in Cleveland; *ill* means that a vessel of the
heart is narrowed by half or more.
"""

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("heart")
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
words = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)

# %%
# Rules with rates and intervals
# ------------------------------
#
# With so few patients intervals are wide, and rules that rest on a handful of them
# should not be there: each must have at least fifteen. The forest was trained on these
# patients, so each counts for less than one, which makes intervals wider still.
labels = {
    "age": "age [years]",
    "highest heart rate": "highest heart rate [per minute]",
    "resting blood pressure": "blood pressure [mmHg]",
}
simple = simplify(
    model,
    X,
    y,
    max_rules=5,
    max_conditions=2,
    min_rows=15,
    feature_labels=labels,
    random_state=0,
)
print(simple.rules_)

# %%
# The same as one picture for a slide: how many are ill among the patients of each rule,
# how sure that is, and how many are ill among all.
plots.risks(simple.rules_)

# %%
# One patient
# -----------
patient = X_test.iloc[[5]]
print(patient.iloc[0].to_string(), "\n")
print(simple.explain(patient.iloc[0]))

# %%
# For many patients, the same as numbers: the risk, and its interval.
risks = simple.predict_proba(X_test[:5])[:, 1]
for risk, (low, high) in zip(risks, simple.rate_interval(X_test[:5]), strict=True):
    print(f"{risk:.0%} ({low:.0%} to {high:.0%})")

# %%
# Estimated and observed
# ----------------------
#
# On 76 patients that neither the forest nor the rules had seen. Where an interval does
# not reach the dashed line, the estimate is off; with few patients chance alone moves
# the circles far.
plots.calibration(simple.rules_, X_test, y_test)

# %%
# The forest knows more than a few rules can say; the scores show how much:
scores = simple.evaluate(X_test, y_test)
for name in ("error", "auc", "log_loss"):
    print(f"{name:9} rules {scores[name]:.3f}, forest {scores['ensemble_' + name]:.3f}")

# %%
# A list has one risk for each of its rules. So it sorts patients into a few groups,
# each with its risk:
risks, counts = np.unique(simple.predict_proba(X_test)[:, 1], return_counts=True)
for risk, count in zip(risks, counts, strict=True):
    print(f"{count:2} patients with a risk of {risk:.0%}")
