"""
Editing rules with an expert
============================

Rules are an offer. Somebody who knows the subject will want other cuts, drop a rule
that makes no sense, or insist on one that does. Each change is counted on the data at
once, so that its price is known.
"""

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import diff, plots, simplify
from defragtrees.datasets import load_table

X, y = load_table("heart")
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)
words = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)
offer = simplify(model, X, y, max_rules=5, max_conditions=2, random_state=0).rules_
print(offer)

# %%
# The doctor changes a rule
# -------------------------
#
# "For the first rule I want to know about pain, too." Conditions are written as they
# are printed. What is no longer known of a rule is forgotten until it is counted again.
first = offer.rules[0].text()
edited = offer.replace(1, f"{first} and chest pain is not asymptomatic")
edited = edited.refit(X, y)
print(edited)

# %%
# What did that change, in words and in rows? On patients that nobody had seen:
print(diff(offer, edited, X_test, y_test))

# %%
# A rule less
# -----------
#
# "The fourth rule rests on sixteen patients, which is too few." Out with it.
shorter = edited.drop(4).refit(X, y)
print(shorter)

# %%
# Keep one, search the others again
# ---------------------------------
#
# "I trust the first. Find me the rest again, at most four in all."
improved = edited.improve(
    X, y, keep=[1], ensemble=model, max_rules=4, max_conditions=2, random_state=0
)
print(improved)
plots.rule_table(improved)

# %%
# The price of each wish, as the error on new patients. With 76 of them
# a difference of a few points is chance.
for name, rules in {
    "as offered": offer,
    "edited": edited,
    "one rule less": shorter,
    "searched again": improved,
}.items():
    wrong = (rules.predict(X_test) != y_test).mean()
    print(f"{name:15} {rules.n_rules} rules, {wrong:.1%} wrong")

# %%
# What was changed, and by which step, stays with the rules when they are saved.
for edit in improved.edits:
    print("-", edit.text)
