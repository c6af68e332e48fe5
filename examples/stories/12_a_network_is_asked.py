"""
Rules from a neural network
===========================

A neural network has no splits to read, so it is queried for its predictions: for the
given rows, and for synthetic rows near them. The rules imitate these predictions, and
the summary says so.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from defragtrees import plots, simplify

data = load_breast_cancer(as_frame=True)
columns = [name for name in data.data if name.startswith("worst")]
X, y = data.data[columns], data.target_names[data.target]
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
network = MLPClassifier((30,), alpha=1.0, max_iter=2000, random_state=0)
network = make_pipeline(StandardScaler(), network).fit(X, y)
print(f"The network errs on {1 - network.score(X_test, y_test):.1%} of new tumours.")

# %%
# At most 5,000 rows are queried, as if each one cost money.
simple = simplify(
    network, X, y, max_rules=6, max_conditions=3, max_calls=5000, random_state=0
)
print(simple.summary(X_test, y_test))

# %%
# The same as a picture:
plots.flow(simple.rules_)

# %%
# The number of queries:
print(f"The network was queried for {simple.n_calls_:,} rows.")

# sphinx_gallery_thumbnail_path = "_static/stories/a_network_is_asked.svg"
