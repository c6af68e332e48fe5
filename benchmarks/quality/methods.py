"""The methods of the common suite.

A method is a class that is made with a `size`, the maximum number of rules, and has

- ``fit(X, y)``, where y are numbers or the codes 0, 1, ... of classes;
- ``predict_proba(X)`` or ``predict(X)``, or both;
- ``n_conditions``, those of all rules together.

What else a class may say is in `DEFAULTS`. ``n_rules`` is counted where it is there,
``at(size)`` makes a smaller one of the largest, and ``printed(X)`` yields for each rule
of two classes which rows it matches, its rate of the second class and both ends of its
interval.
"""

import copy
import runpy
from importlib.util import find_spec

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.quality.leaves import Leaves
from benchmarks.quality.optimal_trees import ConTree, STreeD
from defragtrees import DefragClassifier, DefragRegressor, baselines

KINDS = ("two classes", "classes", "numbers")
DEFAULTS = {
    "kinds": ("two classes",),  # of y, of `KINDS`
    "sees": "numbers",  # without gaps; "frame": the columns; "table": as the model
    "models": (),  # which it reads, by fit(X, y, model); "forest", "boosted"
    "has_size": True,
    "package": None,  # what has to be installed
}
LEAF_SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30)  # least rows in a leaf, to choose from
OURS = "defragtrees, "


class RuleModelMethod:
    """A rule model of this package."""

    kinds, sees, models = KINDS, "table", ("forest", "boosted")

    def __init__(self, size, classifier, regressor, **settings):
        self.size, self.settings = size, settings
        self.classifier, self.regressor = classifier, regressor

    def fit(self, X, y, model):
        kind = self.classifier if y.dtype.kind == "i" else self.regressor
        self.fitted = kind(model, max_rules=self.size, **self.settings).fit(X, y)
        self.rules = self.fitted.rules_

    def predict(self, X):
        return self.rules.predict(X)

    def predict_proba(self, X):
        return self.rules.predict_proba(X)

    @property
    def n_rules(self):
        return self.rules.n_rules

    @property
    def n_conditions(self):
        return self.rules.n_conditions

    def printed(self, X):
        """Of points by band of totals, of others by rule."""
        rules = self.rules
        if rules.form == "points":
            likely = rules.predict_proba(X)[:, 1]
            ends, band = np.unique(rules.rate_interval(X), axis=0, return_inverse=True)
            for k, (low, high) in enumerate(ends):
                is_band = band.ravel() == k
                yield is_band, likely[is_band].mean(), low, high
            return
        matches = rules.covers(X)
        if rules.form in ("list", "tree"):
            matches = np.eye(rules.n_rules, dtype=bool)[rules.apply(X)]
        elif rules.form == "standalone":
            matches[:, -1] = ~matches[:, :-1].any(axis=1)
        for k, rule in enumerate(rules):
            if rule.interval is not None:
                rates = rule.distribution or rule.rates
                yield matches[:, k], rates[1], *rule.interval[1]


class Ours(RuleModelMethod):
    """A form of rules, and what they learn; one fit has all sizes."""

    def __init__(self, size, **settings):
        settings |= {"random_state": 0}
        super().__init__(size, DefragClassifier, DefragRegressor, **settings)

    def at(self, size):
        path, smaller = self.fitted.path_, copy.copy(self)
        smaller.rules = path[max(n for n in path if n <= size)]
        return smaller


class Tree(Leaves):
    """CART on y, the least rows in a leaf chosen by cross-validation."""

    kinds = KINDS

    def __init__(self, size):
        self.size = size

    def fit(self, X, y):
        is_number = y.dtype.kind == "f"
        kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
        score = "r2" if is_number else "roc_auc" if y.max() == 1 else "accuracy"
        search = GridSearchCV(
            kind(max_leaf_nodes=self.size, random_state=0),
            {"min_samples_leaf": LEAF_SIZES},
            scoring=score,
            cv=5,
        ).fit(X, y)
        self.tree_, self.apply = (
            search.best_estimator_.tree_,
            search.best_estimator_.apply,
        )
        return self.count(X, y)


class DefaultTree(Tree):
    """scikit-learn's tree as it comes, without a limit."""

    has_size = False

    def fit(self, X, y):
        is_number = y.dtype.kind == "f"
        kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
        grown = kind(random_state=0).fit(X, y)
        self.tree_, self.apply = grown.tree_, grown.apply
        return self.count(X, y)


class Sum:
    """Base of what imodels fits to numbers, or to two classes as 0 and 1."""

    kinds, package = ("two classes", "numbers"), "imodels"

    def __init__(self, size):
        self.size = size

    def predict(self, X):
        values = np.asarray(self.model.predict(X.to_numpy(float))).ravel()
        return values if self.is_number else (values > 0.5).astype(int)

    def predict_proba(self, X):
        likely = np.clip(self.model.predict(X.to_numpy(float)).ravel(), 0, 1)
        return np.column_stack([1 - likely, likely])


class Figs(Sum):
    """A sum of small trees with one split less than rules.

    Its regressor, on zeros and ones: the classifier's probabilities are squeezed.
    """

    def fit(self, X, y):
        from imodels import FIGSRegressor

        self.is_number = y.dtype.kind == "f"
        self.model = FIGSRegressor(max_rules=self.size - 1, random_state=0)
        self.model.fit(X.to_numpy(float), y.astype(float))
        self.n_conditions = self.model.complexity_
        self.n_rules = self.n_conditions + 1


class RuleFit(Sum):
    """A sparse sum of rules of boosted trees."""

    def fit(self, X, y):
        from imodels import RuleFitClassifier, RuleFitRegressor

        self.is_number = y.dtype.kind == "f"
        kind = RuleFitRegressor if self.is_number else RuleFitClassifier
        settings = {"include_linear": False, "random_state": 0}
        self.model = kind(max_rules=self.size - 1, **settings)
        self.model.fit(X.to_numpy(float), y)
        terms = [str(rule) for rule in self.model.rules_]
        self.n_rules = len(terms) + 1
        self.n_conditions = sum(1 + term.count(" and ") for term in terms)

    def predict_proba(self, X):
        return self.model.predict_proba(X.to_numpy(float))

    def predict(self, X):
        return self.model.predict(X.to_numpy(float))


class TE2Rules:
    """Rules for the second class as the forest predicts it; it has no limit."""

    package, models, has_size = "te2rules", ("forest",), False
    n_stages = 1  # None: as many as trees, which takes minutes

    def __init__(self, size):
        pass

    def fit(self, X, y, model):
        from te2rules.explainer import ModelExplainer

        self.model = ModelExplainer(model, [f"x{j}" for j in range(X.shape[1])])
        X = X.to_numpy(float)
        rules = self.model.explain(
            X, model.predict(X).tolist(), num_stages=self.n_stages
        )
        self.n_rules = len(rules) + 1
        self.n_conditions = sum(1 + rule.count("&") for rule in rules)

    def predict(self, X):
        return np.asarray(self.model.predict(X.to_numpy(float)), dtype=int)


class Frame:
    """Base of what is no rules: a bound to compare with."""

    kinds, has_size, n_conditions = KINDS, False, np.nan

    def __init__(self, size):
        pass

    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        return self.model.predict_proba(X)


class Model(Frame):
    """The model that rules are made from."""

    sees, models = "table", ("forest", "boosted")

    def fit(self, X, y, model):
        self.model = model


class Linear(Frame):
    """Logistic or ridge regression on scaled numbers and one column per category."""

    sees = "frame"

    def fit(self, X, y):
        words = make_column_selector(dtype_exclude="number")
        numbers = make_column_selector(dtype_include="number")
        encoder = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), words),
            (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            sparse_threshold=0,
        )
        is_number = y.dtype.kind == "f"
        last = RidgeCV() if is_number else LogisticRegression(max_iter=1000)
        self.model = make_pipeline(encoder, last).fit(X, y)


class Boosted(Frame):
    """An explainable boosting machine: one curve per column, and pairs."""

    sees, package = "frame", "interpret"

    def fit(self, X, y):
        from interpret import glassbox

        is_number = y.dtype.kind == "f"
        names = (
            glassbox.ExplainableBoostingClassifier,
            glassbox.ExplainableBoostingRegressor,
        )
        self.model = names[is_number](n_jobs=1, random_state=0).fit(X, y)


def baseline(name, **settings):
    """A comparison method of this package."""
    ends = {"classifier": "Classifier", "regressor": "Regressor"}
    kinds = {kind: getattr(baselines, f"{name}{end}") for kind, end in ends.items()}
    return RuleModelMethod, kinds | settings


FORMS = {
    "list": {"form": "list"},
    "standalone": {"form": "standalone"},
    "points": {"form": "points"},
    "integer points": {"form": "points", "points": "integer"},
}
# Each class with its settings.
METHODS = {
    "model": (Model, {}),
    **{f"{OURS}{form}": (Ours, settings) for form, settings in FORMS.items()},
    "CART": (Tree, {}),
    "default tree": (DefaultTree, {}),
    "FIGS": (Figs, {}),
    "distilled tree": baseline("DistilledTree", random_state=0),
    "inTrees": baseline("InTrees"),
    "Node Harvest": baseline("NodeHarvest", random_state=0),
    "Born-Again tree": baseline("BornAgainTree", random_state=0),
    "logistic regression": (Linear, {}),
    "RuleFit": (RuleFit, {}),
    "STreeD": (STreeD, {}),
    "ConTree": (ConTree, {}),
    "TE2Rules": (TE2Rules, {}),
    **{
        f"{OURS}{form}, {target}": (Ours, {**settings, "target": target})
        for target in ("model", "labels")
        for form, settings in FORMS.items()
    },
    "EBM": (Boosted, {}),
}


def trait(method, name):
    """What the class of a method says, or the default."""
    return getattr(METHODS[method][0], name, DEFAULTS[name])


def models_of(method):
    """Which models it is made from; "none" is one of them."""
    return trait(method, "models") or ("none",)


def make(method, size):
    """An unfitted method."""
    kind, settings = METHODS[method]
    return kind(size, **settings)


def missing(names):
    """Methods whose package is not installed."""
    packages = {name: trait(name, "package") for name in names}
    return {n: p for n, p in packages.items() if p is not None and find_spec(p) is None}


def add_from(path):
    """Register each class of a file that has `fit`, by its `name`; return the names."""
    found = [
        kind
        for kind in runpy.run_path(str(path)).values()
        if hasattr(kind, "fit") and kind.__module__ == "<run_path>"
    ]
    new = {getattr(kind, "name", kind.__name__): (kind, {}) for kind in found}
    METHODS.update(new)
    return list(new)
