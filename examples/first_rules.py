"""The first example of the README."""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import simplify
from defragtrees.datasets import load_table

X, y = load_table("heart")  # 303 patients, "healthy" or "ill"
words = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
trees = RandomForestClassifier(min_samples_leaf=3, random_state=0)
forest = make_pipeline(steps, trees).fit(X[::2], y[::2])

simple = simplify(forest, X[::2], y[::2], max_rules=5, max_conditions=2, random_state=0)
print(simple.rules_)
print(simple.predict_proba(X[1:4:2]).round(2))
print(simple.explain(X.iloc[1]))
