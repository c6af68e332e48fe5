"""How much of the rules is the data's doing: fitted to two halves of the rows.

Model and rules, and model and distilled tree with as many leaves, are fitted to
each half; the share of test rows on which both give the same class, or the correlation
of the numbers that they give, is how much they agree.
"""

import time
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.data import make_split
from defragtrees import simplify


def run_halves(folder, name, kind, seed, n_train):
    """Rows for the CSV: the agreement of our lists, and of distilled trees."""
    warnings.simplefilter("ignore")
    split = make_split(folder, name, kind, seed, n_train)
    begin = time.perf_counter()
    halves = [fit_half(split, half) for half in (split.train[::2], split.train[1::2])]
    seconds = time.perf_counter() - begin
    methods = "ours, halves", "distilled tree, halves"
    return [
        {
            "data": name,
            "model": kind,
            "seed": seed,
            "method": method,
            "budget": 0,
            "n_test": len(split.test),
            "agreement": agreement(*answers, split.is_number),
            "seconds": seconds,
        }
        for method, answers in zip(methods, zip(*halves, strict=True), strict=True)
    ]


def fit_half(split, half):
    """Test answers of a list by default and of a tree with as many leaves."""
    X, y = split.X.iloc[half], split.y[half]
    model = clone(split.model).fit(X, y)
    simple = simplify(model, X, y, random_state=split.seed)
    kind = DecisionTreeRegressor if split.is_number else DecisionTreeClassifier
    tree = kind(max_leaf_nodes=max(simple.rules_.n_rules, 2), random_state=0)
    tree.fit(split.numbers.iloc[half], model.predict(X))
    return (
        simple.predict(split.X.iloc[split.test]),
        tree.predict(split.numbers.iloc[split.test]),
    )


def agreement(first, second, is_number):
    """Share of equal classes; correlation of numbers, 0 where one is constant."""
    if not is_number:
        return float(np.mean(first == second))
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])
