"""
Reading a report
================

For people who did not train the model there is one HTML page: the rules as cards, how
good they are, and where they go wrong. It needs no network, and works without scripts.
"""

import re
import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from defragtrees import plots
from defragtrees._api import simplify
from defragtrees.report.page import write_report

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
simple = simplify(forest, X, y, max_rules=4, max_conditions=2, random_state=0)

# %%
# One call writes it. Give it rows that nobody trained on.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "report.html"
    write_report(path, simple, X_test, y_test)
    page = path.read_text(encoding="utf-8")
print(f"{len(page) / 1e6:.1f} MB, with these sections:")
for heading in re.findall(r"<h2[^>]*>(.*?)</h2>", page):
    print("-", re.sub("<[^>]+>", "", heading))

# %%
# Read it in this order.
#
# **First the rules.** Under each class stands its estimated probability and the rows
# behind it; beside it how the rule does on the rows of the report.
print(simple.rules_)

# %%
# **Then whether the estimates are right.** The picture in the report is this one.
plots.calibration(simple.rules_, X_test, y_test)

# %%
# **Then where they cover, and where they err.** A rule that covers much and errs little
# carries the list; one that covers little may be left out.
plots.coverage(simple.rules_, X_test, y_test)

# %%
# **Last, where rules and forest disagree.** Of these rows somebody should look at the
# case itself: either the rules are too simple there, or the forest learned something
# odd.
is_other = simple.predict(X_test) != forest.predict(X_test)
print(f"They disagree on {is_other.sum()} of {len(y_test)} rows. The first of them:")
print(simple.explain(X_test[is_other].iloc[0]))
