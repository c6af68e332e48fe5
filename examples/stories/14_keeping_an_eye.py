"""
Monitoring rules for drift
==========================

Rules were fitted to past customers. Are today's customers still like them, and are the
rates of the rules still right? ``check`` tests both, with few false alarms however many
columns there are.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("credit")
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
categories = make_column_selector(dtype_exclude="number")
numbers = make_column_selector(dtype_include="number")
steps = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), categories),
    (SimpleImputer(strategy="median"), numbers),
)
model = make_pipeline(steps, HistGradientBoostingClassifier(random_state=0)).fit(X, y)
rules = simplify(model, X, y, max_rules=5, max_conditions=2, random_state=0).rules_
print(rules)

# %%
# A month without drift
# ---------------------
#
# Applications from the same distribution. No drift is found.
print(rules.check(X_new, y_new))

# %%
# A month with drift
# ------------------
#
# The same applications, but incomes fell by a quarter, and more of those who earn least
# do not pay back.
moved = X_new.assign(income=(X_new["income"] * 0.75).round())
rng = np.random.default_rng(0)
is_hit = (moved["income"] < 90) & (rng.random(len(moved)) < 0.3)
y_moved = y_new.where(~is_hit, "unpaid")
found = rules.check(moved, y_moved)
print(found)

# %%
# The result is true if there is drift, for example in a job that runs every night:
if found:
    print("Drift was found.")

# %%
# Month after month
# -----------------
#
# ``append_to`` keeps a history of checks in a file, one line each. Here incomes fall
# from the fifth month on. The plot shows what drifted, and since when.
path = Path(tempfile.mkdtemp(), "checks.jsonl")
for month in range(1, 9):
    rows = X_new.sample(500, random_state=month)
    if month >= 5:
        rows = rows.assign(income=rows["income"] * (1.15 - 0.05 * month))
    check = rules.check(rows, y_new[rows.index], model=model)
    history = check.append_to(path, label=f"month {month}")
print(history)
plots.history(history)

# %%
# Refit
# -----
#
# In the month above, the estimates no longer agree with the observed rates:
plots.calibration(rules, moved, y_moved)

# %%
# The conditions may still be good when the rates are not. ``refit`` counts the same
# rules on the new rows:
print(rules.refit(moved, y_moved))

# sphinx_gallery_thumbnail_path = "_static/stories/keeping_an_eye.svg"
