"""
Credit risk: from a pipeline to SQL
===================================

A bank has a pipeline that says who will not pay back, and a database that can run
nothing but SQL. Between the two stand a few rules that the credit department can
read.

The table has 4,454 real applications with words, numbers and gaps.
"""

import sqlite3

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import plots, simplify
from defragtrees.datasets import load_table
from defragtrees.export import export

X, y = load_table("credit")
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
X.head(3)

# %%
# The pipeline as somebody left it: words become columns of 0 and 1, gaps are filled,
# boosted trees do the rest.
steps = make_column_transformer(
    (
        OneHotEncoder(handle_unknown="ignore"),
        make_column_selector(dtype_exclude="number"),
    ),
    (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number")),
)
model = make_pipeline(steps, HistGradientBoostingClassifier(random_state=0)).fit(X, y)
print(
    f"The pipeline errs on {1 - model.score(X_test, y_test):.1%} of new applications."
)

# %%
# Rules on the columns of the table
# ---------------------------------
#
# The rules speak of what stands in the table, not of what the steps made of it. A
# credit that is not paid back costs about four times a customer sent away, so say so.
costs = {("unpaid", "paid"): 4, ("paid", "unpaid"): 1}
simple = simplify(
    model, X, y, max_rules=6, max_conditions=3, costs=costs, random_state=0
)
print(simple.summary(X_test, y_test))

# %%
# With these costs more applications are rejected, by the rules and by the pipeline,
# which is measured with the same costs: both make more errors, but cheaper ones. By
# *expected cost* the pipeline is still ahead: that is the price of six readable lines.
#
# Are the estimates right? Each circle is a rule: its estimate, and what was observed in
# applications that neither the model nor the rules had seen.
plots.calibration(simple.rules_, X_test, y_test)

# %%
# Into the database
# -----------------
#
# The same rules as one SELECT. With ``probabilities=True`` the risk stands beside the
# class.
query = export(simple.rules_, "sql", dialect="sqlite", table="applications")
print(query)

# %%
# Does the database predict the same? SQLite runs it on the new applications.
with sqlite3.connect(":memory:") as database:
    X_test.to_sql("applications", database, index=False)
    rows = database.execute(query).fetchall()
answers = [row[len(X_test.columns)] for row in rows]
same = sum(a == b for a, b in zip(answers, simple.predict(X_test), strict=True))
print(f"SQL and predict agree in {same:,} of {len(answers):,} rows.")

# %%
# And for the clerk who is asked why, one sentence:
print(simple.explain(X_test.iloc[3]))
