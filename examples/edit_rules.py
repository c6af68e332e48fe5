"""Rules that an expert changed: what it costs, a record of it, and a look at new rows.

Run with: python examples/edit_rules.py
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from defragtrees import diff, simplify

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_new, y_new = X[300:], y[300:]
X, y = X[:300], y[:300]
forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
rules = simplify(forest, X, y, max_rules=3, random_state=0).rules_
print(rules)

# The clinic measures areas, and its limits are round numbers.
edited = rules.replace(1, "worst area <= 850 and worst concave points <= 0.14")
edited = edited.refit(X, y)
print("\n" + str(edited))
print("\n" + str(diff(rules, edited, X_new, y_new)))

# Are the rows that came later still like these?
print("\n" + str(edited.check(X_new, y_new)))
