"""
Where does a model fail?
========================

A credit model is right for four loans of five. For which ones is it wrong, and is a new
version of it better for these? ``explain_errors`` and ``compare_models`` answer with
short rules, whose figures come from rows that did not find them.
"""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import compare_models, explain_errors, plots
from defragtrees.datasets import load_table

X, y = load_table("credit")
X, X_new, y, y_new = train_test_split(X, y, test_size=0.7, random_state=0, stratify=y)
X_new, X_later, y_new, y_later = train_test_split(X_new, y_new, random_state=0)


def fit(columns):
    """A forest on some columns."""
    words = make_column_selector(dtype_exclude="number")
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough"
    )
    trees = RandomForestClassifier(min_samples_leaf=5, random_state=0)
    return make_pipeline(steps, trees).fit(X[columns], y)


# %%
# Errors as rules
# ---------------
#
# The first version does not know whether a customer has unpaid debts on record. A
# segment may use this column all the same.
old = fit([name for name in X if name != "records"])
found = explain_errors(old, X_new, y_new)
print(found["error"])

# %%
# The model predicts a far lower risk for these customers than is observed:
print(found["too low"])

# %%
# A segment holds on other rows
# -----------------------------
#
# The loans of a later month, which neither trained the model nor found the segments.
wrong = old.predict(X_later) != y_later
covers = found["error"].covers(X_later)
for segment, inside in zip(found["error"], covers.T, strict=True):
    print(f"{segment.mean:.0%} reported, {wrong[inside].mean():.0%} later")
print(f"{found['error'].rest:.0%} reported for the rest, ", end="")
print(f"{wrong[~covers.any(axis=1)].mean():.0%} later")

# %%
# What does a new version change?
# -------------------------------
#
# It knows the column, and predicts a higher risk for these customers. With y the
# segments would be those in which one version is better.
new = fit(list(X))
print(compare_models(old, new, X_new)["b higher"])

# %%
# The picture for a slide: the area of a circle is the number of rows, the line the
# 95% interval, the dashed line the rest.
plots.segments(found["error"])

# sphinx_gallery_thumbnail_path = "_static/stories/where_a_model_fails.svg"
