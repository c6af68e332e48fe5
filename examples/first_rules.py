"""The first example of the README."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from defragtrees import simplify

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
simple = simplify(forest, X, y, max_rules=4, random_state=0)
print(simple.summary(X_test, y_test))
