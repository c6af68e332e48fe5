"""
Editing rules with an expert
============================

Somebody who knows the subject may want other cuts, drop a rule that makes no sense, or
insist on one that does. Each change is measured on the data at once, so that its cost
is known.
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
categories = make_column_selector(dtype_exclude="number")
steps = make_column_transformer((OneHotEncoder(), categories), remainder="passthrough")
forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
model = make_pipeline(steps, forest).fit(X, y)
proposal = simplify(model, X, y, max_rules=5, max_conditions=2, random_state=0).rules_
print(proposal)

# %%
# The doctor changes a rule
# -------------------------
#
# "The first rule should also ask about chest pain." Conditions are written as they are
# printed. ``refit`` counts the rows of the changed rules again.
first = proposal.rules[0].text()
edited = proposal.replace(1, f"{first} and chest pain is not asymptomatic")
edited = edited.refit(X, y)
print(edited)

# %%
# What did that change? On patients that neither the forest nor the rules have seen:
print(diff(proposal, edited, X_test, y_test))

# %%
# One rule less
# -------------
#
# "The interval of the fourth rule is too wide to act on." So it is dropped.
shorter = edited.drop(4).refit(X, y)
print(shorter)

# %%
# Keep one rule, search for the others again
# ------------------------------------------
#
# "I trust the first rule. Find the others again, at most four in all."
improved = edited.improve(
    X, y, keep=[1], model=model, max_rules=4, max_conditions=2, random_state=0
)
print(improved)
plots.risks(improved)

# %%
# The cost of each change, as the error on new patients. With 76 of them, a difference
# of a few points is chance. Without the fourth rule more patients are wrong: those that
# no rule matches are then a mixture.
for name, rules in {
    "as proposed": proposal,
    "edited": edited,
    "one rule less": shorter,
    "searched again": improved,
}.items():
    wrong = (rules.predict(X_test) != y_test).mean()
    print(f"{name:15} {rules.n_rules} rules, {wrong:.1%} wrong")

# %%
# The record of all changes is saved with the rules.
for edit in improved.edits:
    print("-", edit.text)

# sphinx_gallery_thumbnail_path = "_static/stories/editing_with_an_expert.svg"
