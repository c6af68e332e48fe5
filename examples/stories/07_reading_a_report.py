"""
Reading a report
================

For people who did not train the model there is one HTML page: the rules, how
good they are, and where they are wrong. It needs no network and works without scripts.

.. raw:: html

    <p>This is such a report, on heart disease: scroll in it, move a threshold, drop a
    rule. <a href="../live-report.html">Open it on a page of its own</a>.</p>
    <iframe class="live-report" src="../live-report.html" loading="lazy"
      title="Live report on four rules for heart disease"></iframe>
"""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import datasets, plots, simplify, write_report

X, y = datasets.load_table("heart")
X, X_new, y, y_new = train_test_split(X, y, random_state=2, stratify=y)
categories = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), categories), remainder="passthrough")
trees = RandomForestClassifier(min_samples_leaf=3, random_state=0)
forest = make_pipeline(steps, trees).fit(X, y)
limits = {"max_rules": 4, "max_conditions": 2}
simple = simplify(forest, X, y, random_state=0, **limits)

# %%
# One call writes the page. Give it rows that the model has not seen.
write_report("report.html", simple, X_new, y_new)

# %%
# Read it in this order.
#
# **First the rules.** Each reports an estimated probability and the rows behind it;
# beside them the report shows how the rule does on its own rows.
print(simple.rules_)

# %%
# **Then the calibration.** The report draws this picture too: estimated probabilities
# against observed rates.
plots.calibration(simple.rules_, X_new, y_new)

# %%
# **Then coverage and errors.** A rule that covers many rows with few errors carries the
# list; one that covers few rows may be left out.
plots.coverage(simple.rules_, X_new, y_new)

# %%
# **Last, where rules and forest disagree.** Look at these cases one by one: either the
# rules are too simple there, or the forest learned something odd.
is_other = simple.predict(X_new) != forest.predict(X_new)
print(f"They disagree on {is_other.sum()} of {len(y_new)} patients. The first of them:")
print(simple.explain(X_new[is_other].iloc[0]))
