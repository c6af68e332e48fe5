"""
Credit risk: from a pipeline to SQL
===================================

A bank has a pipeline that predicts who will not pay back, and a database that runs
nothing but SQL. A few rules connect the two, and the credit department can read them.

The table has 4,454 real applications with categories, numbers and missing values.
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
# The existing pipeline: categories are one-hot encoded, missing values are filled, and
# boosted trees predict.
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
# The rules use the columns of the table, not the encoded ones. A loan that is not paid
# back costs about four times as much as a customer turned away; ``costs`` says so.
costs = {("unpaid", "paid"): 4, ("paid", "unpaid"): 1}
simple = simplify(
    model, X, y, max_rules=6, max_conditions=3, costs=costs, random_state=0
)
print(simple.summary(X_test, y_test))

# %%
# With these costs both the rules and the pipeline reject more applications. Both make
# more errors, but cheaper ones. By *expected cost* the pipeline is still ahead: that is
# the price of six readable rules.
#
# Are the estimates right? Each circle is a rule: its estimated rate, and the observed
# rate in applications that neither the model nor the rules have seen.
plots.calibration(simple.rules_, X_test, y_test)

# %%
# Into the database
# -----------------
#
# The same rules as one SELECT, with the prediction and the risk of each application.
query = export(simple.rules_, "sql", dialect="sqlite", table="applications")
print(query)

# %%
# Does the database predict the same? SQLite runs the query on the new applications.
with sqlite3.connect(":memory:") as database:
    X_test.to_sql("applications", database, index=False)
    rows = database.execute(query).fetchall()
predictions = [row[len(X_test.columns)] for row in rows]
same = (simple.predict(X_test) == predictions).sum()
print(f"SQL and predict agree in {same:,} of {len(predictions):,} rows.")

# %%
# For the clerk who is asked why:
print(simple.explain(X_test.iloc[3]))

# sphinx_gallery_thumbnail_path = "_static/stories/credit_to_sql.svg"
