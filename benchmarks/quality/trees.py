"""The methods that `benchmarks.quality` compares our rules to: small trees and FIGS.

Trees are those of scikit-learn and, where pystreed is installed, optimal ones, each on
y, on the model's answers, and on its answers for the rows and three new ones near each.
The tree of scikit-learn on y has the size of its leaves chosen by cross-validation.
FIGS (of imodels, if it is installed) is its regressor, on zeros and ones for two
classes: the classifier squeezes its sums into the middle, so that they are no
probabilities.
"""

import time
from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.quality.methods import BUDGETS, add_list_as_short
from benchmarks.quality.optimal_trees import OptimalTree
from defragtrees.data.sampling import draw_rows

NEW_ROWS = 3  # for each row
LEAF_SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30)  # least rows in a leaf, to choose from


def small_tree(n_leaves, scoring):
    """A tree to fit to y, its least rows in a leaf chosen by cross-validation."""
    is_number = scoring == "r2"
    kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
    return GridSearchCV(
        kind(max_leaf_nodes=n_leaves, random_state=0),
        {"min_samples_leaf": LEAF_SIZES},
        scoring=scoring,
        cv=10,
    )


def add_trees(scores):
    """Trees with as many leaves on y, on the model's answers, on its belief."""
    split = scores.split
    kind = DecisionTreeRegressor if split.is_number else DecisionTreeClassifier
    train, numbers = split.X.iloc[split.train], split.numbers.iloc[split.train]
    more, _, answers = _with_new_rows(split)
    targets = {
        "distilled tree": (kind, numbers, split.model.predict(train)),
        "distilled tree, new rows": (kind, more, answers),
    }
    if split.is_binary:
        belief = split.model.predict_proba(train)[:, 1]
        targets["tree on probabilities"] = (DecisionTreeRegressor, numbers, belief)
    scoring = "r2" if split.is_number else "roc_auc" if split.is_binary else "accuracy"
    for budget in BUDGETS:
        begin = time.perf_counter()
        search = small_tree(budget, scoring).fit(numbers, scores.y_train)
        seconds = time.perf_counter() - begin
        _add_tree(scores, "tree on y", budget, search.best_estimator_, seconds)
        for method, (make, X, target) in targets.items():
            begin = time.perf_counter()
            tree = make(max_leaf_nodes=budget, random_state=0).fit(X, target)
            _add_tree(scores, method, budget, tree, time.perf_counter() - begin)


def _with_new_rows(split):
    """Rows and new rows near them, as numbers and as the model takes them; answers.

    The model answers all of them.
    """
    numbers = split.numbers.iloc[split.train]
    train = split.X.iloc[split.train]
    is_set = np.array([train[c].dtype == "category" for c in train.columns])
    rng = np.random.default_rng(split.seed)
    new = draw_rows(numbers.to_numpy(float), NEW_ROWS * len(numbers), is_set, rng)
    more = pd.concat([numbers, pd.DataFrame(new, columns=numbers.columns)])
    table = more.copy()
    for name in train.columns[is_set]:
        codes = more[name].fillna(-1).astype(int)
        table[name] = pd.Categorical.from_codes(codes, dtype=train[name].dtype)
    return more, table, split.model.predict(table)


def _add_tree(scores, method, budget, tree, seconds):
    split = scores.split
    test = split.numbers.iloc[split.test]
    predicted, told = tree.predict(test), None
    if split.is_binary:
        if method == "tree on probabilities":
            probability = predicted
            predicted = split.model.classes_[(predicted > 0.5).astype(int)]
        else:
            probability = _second_class(tree, test, split)
        told = probability, tree.apply(test)
    depths = leaf_depths(tree)
    size = len(depths), float(depths.mean()), int(depths.sum())
    scores.add(method, budget, predicted, seconds, size, told)
    if method in ("tree on y", "distilled tree"):
        add_list_as_short(scores, method, budget, size[2])


def _second_class(tree, X, split):
    """Probability of the second class, also of a tree that has seen one class only."""
    place = np.flatnonzero(tree.classes_ == split.model.classes_[1])
    return tree.predict_proba(X)[:, place].sum(axis=1)


def leaf_depths(tree):
    """Number of conditions on the way to each leaf."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    depth = np.zeros(len(left), dtype=int)
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], right[node]]] = depth[node] + 1
    return depth[left < 0]


def add_optimal(scores):
    """Optimal trees with as many leaves on y, on answers, and with new rows."""
    split = scores.split
    train, y = split.numbers.iloc[split.train], scores.y_train
    told = split.model.predict(split.X.iloc[split.train])
    more, _, answers = _with_new_rows(split)
    for method, X, target, counted in (
        ("optimal tree on y", train, y, y),
        ("optimal tree", train, told, told if split.is_number else y),
        ("optimal tree, new rows", more, answers, answers),
    ):
        for budget in BUDGETS:
            tree = OptimalTree(budget, split.is_number)
            begin = time.perf_counter()
            tree.fit(X, target, counted)
            _add_tree(scores, method, budget, tree, time.perf_counter() - begin)


def has_figs():
    return find_spec("imodels") is not None


def add_figs(scores):
    """FIGS with as many splits as a list has rules: a sum of small trees."""
    split = scores.split
    if not (has_figs() and (split.is_binary or split.is_number)):
        return
    from imodels import FIGSRegressor

    numbers = split.numbers.fillna(-1.0).to_numpy()
    y = scores.y_train
    if split.is_binary:
        labels = split.model.classes_
        y = (y == labels[1]).astype(float)
    for budget in BUDGETS:
        begin = time.perf_counter()
        figs = FIGSRegressor(max_rules=budget, random_state=0)
        figs.fit(numbers[split.train], y)
        seconds = time.perf_counter() - begin
        predicted, told = figs.predict(numbers[split.test]).ravel(), None
        if split.is_binary:
            told = np.clip(predicted, 0.0, 1.0), None
            predicted = labels[(told[0] > 0.5).astype(int)]
        n = figs.complexity_
        scores.add("FIGS", budget, predicted, seconds, (n, 1.0, n), told)
