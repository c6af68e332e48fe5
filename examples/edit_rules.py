"""An expert changes a rule: what it costs, the record, and a check for drift.

Run with: python examples/edit_rules.py
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from defragtrees import diff, simplify

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_new, X_later, y_new, y_later = X[250:400], X[400:], y[250:400], y[400:]
X, y = X[:250], y[:250]
forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
settings = {"max_rules": 3, "validation": (X_new, y_new), "random_state": 0}
rules = simplify(forest, X, y, **settings).rules_
print(rules)

# The clinic measures areas, and prefers round numbers.
edited = rules.replace(2, "worst area <= 850 and worst concave points <= 0.14")
edited = edited.refit(X_new, y_new)
print("\n" + str(edited))
print("\n" + str(diff(rules, edited, X_later, y_later)))

# Have later rows drifted?
print("\n" + str(edited.check(X_later, y_later)))
