"""The first example of the README: five rules from a forest for heart disease."""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import simplify
from defragtrees.datasets import load_table

X, y = load_table("heart")  # 303 patients, "healthy" or "ill"
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
categories = make_column_selector(dtype_exclude="number")
encoder = make_column_transformer(
    (OneHotEncoder(), categories), remainder="passthrough"
)
trees = RandomForestClassifier(min_samples_leaf=3, random_state=0)
forest = make_pipeline(encoder, trees).fit(X, y)

simple = simplify(
    forest, X, y, validation=(X_new, y_new), max_rules=5, max_conditions=2
)
print(simple.rules_)
