from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from defragtrees import compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
print(compare(forest, X, y, budgets=[4], cv=3, random_state=0))
