"""
Three wines: more than two classes
==================================

178 wines from one region of Italy, made from three kinds of grapes, and thirteen
laboratory measurements. Which of them separate the grapes?
"""

from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from defragtrees import DefragClassifier, plots

data = load_wine(as_frame=True)
y = data.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
X, X_test, y, y_test = train_test_split(data.data, y, random_state=2, stratify=y)
forest = ExtraTreesClassifier(min_samples_leaf=3, random_state=0).fit(X, y)

# %%
# With more than two classes a rule reports the probability of the class that it
# predicts.
labels = {"color_intensity": "colour", "od280/od315_of_diluted_wines": "dilution"}
simple = DefragClassifier(
    forest, max_rules=4, max_conditions=2, feature_labels=labels, random_state=0
).fit(X, y)
print(simple.summary(X_test, y_test))

# %%
# The predictions by two measurements, divided at the thresholds of the rules.
plots.regions(simple.rules_, X, y)

# %%
# Every class has a probability, also those that the rule does not predict.
for name, share in zip(simple.classes_, simple.predict_proba(X_test)[0], strict=True):
    print(f"{name:11} {share:.1%}")
