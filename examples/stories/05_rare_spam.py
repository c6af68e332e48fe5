"""
Rare classes: finding three in a hundred
========================================

Fraud, faults and spam are rare. This example takes 2,000 real e-mails and removes spam
until three or four in a hundred are left. Always predicting "mail" is then nearly
always right, and useless.
"""

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from defragtrees import DefragClassifier, metrics, plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("spambase")
rng = np.random.default_rng(0)
is_kept = (y == "mail") | (rng.random(len(y)) < 0.05)
X, X_test, y, y_test = train_test_split(
    X[is_kept], y[is_kept], test_size=0.5, stratify=y[is_kept], random_state=0
)
share = (y == "spam").mean()
print(f"{len(y)} e-mails for training, {share:.1%} of them spam")
forest = RandomForestClassifier(
    300, min_samples_leaf=2, class_weight="balanced_subsample", random_state=0
).fit(X, y)

# %%
# A list that ranks
# -----------------
#
# ``criterion="probability"`` searches for rules that separate risks, whatever class
# they predict: all of these predict "mail", but the first rule has a risk of 42 %.
settings = {"max_rules": 5, "max_conditions": 3, "random_state": 0}
ranking = DefragClassifier(forest, criterion="probability", **settings).fit(X, y)
print(ranking.rules_)

# %%
# A list that decides
# -------------------
#
# Missed spam costs, in this example, twenty times as much as a false alarm. Rates and
# probabilities remain those of the unweighted e-mails.
costs = {("spam", "mail"): 20, ("mail", "spam"): 1}
careful = simplify(forest, X, y, costs=costs, **settings)
print(careful.rules_)
plots.coverage(careful.rules_, X_test, y_test)

# %%
# Results on e-mails that neither the forest nor the rules have seen:
for name, simple in (("ranking", ranking), ("careful", careful)):
    predicted = simple.predict(X_test)
    cost = metrics.expected_cost(y_test, predicted, costs)
    found = (predicted == "spam")[y_test == "spam"].mean()
    alarms = (predicted == "spam")[y_test == "mail"].mean()
    auc = simple.evaluate(X_test, y_test)["auc"]
    print(
        f"{name}: finds {found:.0%} of the spam, {alarms:.1%} false alarms, "
        f"AUC {auc:.3f}, cost per e-mail {cost:.3f}"
    )

# %%
# The careful list raises more alarms, misses little, and costs less. Without a new fit,
# choose a threshold on the ranking: check the riskiest e-mails first, as many as there
# is time for.
risks = ranking.predict_proba(X_test)[:, 1]
for cut in sorted({*risks.round(6)}, reverse=True)[:-1]:
    is_seen = risks >= cut - 1e-6
    found = is_seen[y_test == "spam"].mean()
    print(f"check {is_seen.mean():5.1%} of e-mails: {found:.0%} of the spam is found")
