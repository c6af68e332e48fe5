"""
Heart disease: probabilities and intervals
==========================================

A doctor does not ask "yes or no" but "how likely, and based on how many patients". The
data: 303 patients of a clinic in Cleveland. *ill* means that a coronary artery is
narrowed by half or more.
"""

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import DefragClassifier, plots
from defragtrees.datasets import load_table

X, y = load_table("heart")
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
categories = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), categories), remainder="passthrough")
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)

# %%
# Rules with probabilities and intervals
# --------------------------------------
#
# With so few patients intervals are wide, so each rule must have at least fifteen of
# them. The forest was trained on these patients, so each counts for less than one,
# which makes intervals wider still.
labels = {
    "age": "age [years]",
    "highest heart rate": "highest heart rate [per minute]",
    "resting blood pressure": "blood pressure [mmHg]",
}
simple = DefragClassifier(
    model,
    max_rules=5,
    max_conditions=2,
    min_rows=15,
    feature_labels=labels,
    random_state=0,
).fit(X, y)
print(simple.rules_)

# %%
# The same as a picture for a slide: the estimated share of ill patients per rule, its
# 95 % interval, and the overall rate.
plots.risks(simple.rules_)

# %%
# One patient
# -----------
patient = X_test.iloc[[5]]
print(patient.iloc[0].to_string(), "\n")
print(simple.explain(patient.iloc[0]))

# %%
# For many patients, the risk and its interval as numbers:
risks = simple.predict_proba(X_test[:5])[:, 1]
for risk, (low, high) in zip(risks, simple.rate_interval(X_test[:5]), strict=True):
    print(f"{risk:.0%} ({low:.0%} to {high:.0%})")

# %%
# Estimated and observed
# ----------------------
#
# On 76 patients that neither the forest nor the rules have seen. Where an interval does
# not reach the dashed line, the estimate is off. With so few patients, chance alone can
# move the circles far.
plots.calibration(simple.rules_, X_test, y_test)

# %%
# What do a few rules lose against the forest?
scores = simple.evaluate(X_test, y_test)
for name in ("error", "auc", "log_loss"):
    print(f"{name:9} rules {scores[name]:.3f}, forest {scores['model_' + name]:.3f}")

# %%
# A list has one risk per rule, so it divides patients into a few risk groups:
risks, counts = np.unique(simple.predict_proba(X_test)[:, 1], return_counts=True)
for risk, count in zip(risks, counts, strict=True):
    print(f"{count:2} patients with a risk of {risk:.0%}")
