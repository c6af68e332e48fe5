"""
A million rows
==============

A fit to a million rows takes less than a minute, and little memory: one byte per cell
is kept, which says between which two thresholds of the model it lies. Rows may also
come from a file or in parts, with the same rules.

The data: the credit applications of the first example, sampled a million times with a
little noise, since no real table of that size fits into a package.
"""

import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from defragtrees import DefragClassifier, plots
from defragtrees.datasets import load_table

credit, status = load_table("credit")
numbers = ["seniority", "months", "age", "expenses", "income", "assets", "amount"]
credit = credit[numbers].fillna(credit[numbers].median())
rng = np.random.default_rng(0)
rows = rng.integers(0, len(credit), 1_000_000)
noise = rng.normal(1.0, 0.05, (len(rows), len(numbers)))
X = (credit.to_numpy()[rows] * noise).round(1)
y = status.to_numpy()[rows]
print(f"{X.shape[0]:,} rows, {X.nbytes / 1e6:.0f} MB")

# %%
# The model is trained on a part of them.
model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
model = model.fit(X[:50_000], y[:50_000])

# %%
begin = time.perf_counter()
settings = {"max_rules": 5, "feature_labels": numbers, "random_state": 0}
simple = DefragClassifier(model, n_jobs=2, **settings).fit(X, y)
print(simple.rules_)
seconds = time.perf_counter() - begin

# %%
# A sample gave the candidate lists; then all million rows decided the cuts, and all
# were counted. The fit does not know which rows the model was trained on, so all count
# as training rows.
print("under a minute" if seconds < 60 else f"{seconds:.0f} s")
print(f"{sum(rule.n_rows for rule in simple.rules_):,.0f} rows counted")
plots.flow(simple.rules_)


# %%
# In parts
# --------
#
# The same rows from an iterator, as they would come from a file or a database. The
# whole table is never in memory, and the rules are the same.
def parts(size=100_000):
    """Yield the rows and their labels, part by part."""
    for start in range(0, len(X), size):
        yield X[start : start + size], y[start : start + size]


again = DefragClassifier(model, **settings).fit(parts())
print("the same rules" if again.rules_ == simple.rules_ else "other rules")

# sphinx_gallery_thumbnail_path = "_static/stories/a_million_rows.svg"
