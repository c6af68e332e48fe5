"""The first example of the README: five rules and a report from a forest for loans."""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import simplify, write_report
from defragtrees.datasets import load_table

X, y = load_table("credit")  # 4,454 loans, "paid" or "unpaid"
X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
categories = make_column_selector(dtype_exclude="number")
one_hot = OneHotEncoder(handle_unknown="ignore"), categories
encoder = make_column_transformer(one_hot, remainder="passthrough")
trees = RandomForestClassifier(min_samples_leaf=3, random_state=0)
forest = make_pipeline(encoder, trees).fit(X, y)

simple = simplify(forest, X, y, max_rules=5, max_conditions=2)
print(simple.rules_)
write_report("report.html", simple, X_new, y_new, is_new=True)
