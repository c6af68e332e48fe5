"""Our rules in `benchmarks.quality`, and the measures of every method.

Log loss needs probabilities that are never 0 or 1: those of every method are kept
within [1 / n, 1 - 1 / n] for n training rows, which spares trees with pure leaves.
"""

import time

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from defragtrees import read_forest
from defragtrees.estimators import estimator_for

BUDGETS = (4, 6, 8, 10)
CRITERIA = {"ours": {}, "ours, probability": {"criterion": "probability"}}
CRITERIA["ours, error"] = {"criterion": "error"}
COST_OF_MISS = 5.0


class Scores:
    """Collects one row per method and budget."""

    def __init__(self, split):
        self.split = split
        self.y = split.y[split.test]
        self.y_train = split.y[split.train]
        self.answers = split.model.predict(split.X.iloc[split.test])
        self.rows = []
        self.lists = {}  # what was fitted, by method

    def add(self, method, budget, predicted, seconds, size=(0, 0.0, 0), told=None):
        """One row; `told` are the probability of the second class and the rule."""
        split = self.split
        row = {
            "data": split.name,
            "model": split.kind,
            "seed": split.seed,
            "method": method,
            "budget": budget,
            "n_test": len(self.y),
            **self._errors(predicted),
            "n_rules": size[0],
            "mean_conditions": size[1],
            "n_conditions": size[2],
            "seconds": seconds,
        }
        if split.is_binary:
            row |= self._costs(predicted)
        if told is not None:
            row |= self._probabilities(*told)
        self.rows.append(row)

    def _errors(self, predicted):
        if not self.split.is_number:
            return {
                "error": np.mean(predicted != self.y),
                "fidelity": np.mean(predicted == self.answers),
            }
        away = np.mean((predicted - self.answers) ** 2)
        return {
            "error": np.mean((predicted - self.y) ** 2) / np.var(self.y),
            "fidelity": 1 - away / np.var(self.answers),
        }

    def _costs(self, predicted):
        """Recall of the rare class, and what mistakes cost, for each test row."""
        rare = self.y == self.split.rare_class
        answered = predicted == self.split.rare_class
        rate = np.mean(self.y_train == self.split.rare_class)
        misses, alarms = np.mean(rare & ~answered), np.mean(~rare & answered)
        return {
            "recall": answered[rare].mean() if rare.any() else np.nan,
            "cost": COST_OF_MISS * misses + alarms,
            "balanced_cost": (misses / rate + alarms / (1 - rate)) / 2,
        }

    def _probabilities(self, told, group):
        positive = self.y == self.split.model.classes_[1]
        least = 1 / len(self.y_train)
        kept = np.clip(told, least, 1 - least)
        measures = {
            "auc": roc_auc_score(positive, told),
            "log_loss": log_loss(positive, kept, labels=[False, True]),
        }
        if group is not None:
            measures["calibration"] = miscalibration(told, positive, group)
        return measures


def miscalibration(told, positive, group):
    """Mean over rules of |told - observed|, weighted by rows.

    Parameters
    ----------
    told : array of shape (n_rows,)
        The same for all rows of a rule.
    positive : bool array of shape (n_rows,)
    group : int array of shape (n_rows,)
        The rule that answers each row.
    """
    n = np.bincount(group)
    gap = np.bincount(group, told) - np.bincount(group, positive)
    return np.abs(gap).sum() / n.sum()


def add_bounds(scores):
    """The model itself, and the rate of all training rows."""
    split = scores.split
    told = None
    if split.is_binary:
        test = split.X.iloc[split.test]
        told = split.model.predict_proba(test)[:, 1], None
    scores.add("model", 0, scores.answers, np.nan, told=told)
    if split.is_binary:
        rate = np.mean(scores.y_train == split.model.classes_[1])
        answer = np.full(len(scores.y), split.other_class)
        n = len(answer)
        told = np.full(n, rate), np.zeros(n, dtype=int)
        scores.add("base rate", 0, answer, 0.0, (1, 0.0, 0), told)


def add_rules(scores):
    """Our rules: the default of each criterion, with no more rules than a budget."""
    split = scores.split
    for method, settings in CRITERIA.items():
        if settings and split.is_number:
            continue
        simple, seconds = _simplified(split, **settings)
        scores.lists.setdefault(method, simple)
        add_list(scores, method, 0, simple.rules_, seconds)
        for budget in BUDGETS:
            sizes = [n for n in simple.path_ if n <= budget]
            rules = simple.path_[min(sizes, key=simple.path_costs_.get)]
            add_list(scores, method, budget, rules, seconds)
    if not split.is_binary:
        return
    rare, other = split.rare_class, split.other_class
    costs = {(rare, other): COST_OF_MISS, (other, rare): 1.0}
    for method, settings in (
        ("ours, costs", {"costs": costs}),
        ("ours, balanced", {"class_weight": "balanced"}),
    ):
        simple, seconds = _simplified(split, **settings)
        add_list(scores, method, 0, simple.rules_, seconds)


def add_list_as_short(scores, method, budget, n_conditions):
    """Our cheapest list with no more conditions in all than another method's."""
    simple = scores.lists["ours"]
    sizes = [
        n for n, rules in simple.path_.items() if rules.n_conditions <= n_conditions
    ]
    rules = simple.path_[min(sizes, key=simple.path_costs_.get)]
    add_list(scores, f"ours, conditions of {method}", budget, rules, np.nan)


def add_paper(scores):
    """The paper's settings, its predictor and the rules that it prints."""
    split = scores.split
    paper, seconds = _simplified(split, method="paper", e_step="gentle")
    test = split.X.iloc[split.test]
    size = size_of(paper.rules_)
    for method, predicted in (
        ("paper, posterior", paper.predict_posterior(test)),
        ("paper, printed", paper.predict(test)),
    ):
        scores.add(method, 0, predicted, seconds, size)


def _simplified(split, method="defrag", **settings):
    X, y = split.X.iloc[split.train], split.y[split.train]
    kind = estimator_for(method, read_forest(split.model).outcome)
    begin = time.perf_counter()
    simple = kind(split.model, random_state=split.seed, **settings).fit(X, y)
    return simple, time.perf_counter() - begin


def size_of(rules):
    """Number of rules, conditions a rule, conditions in all."""
    return rules.n_rules, rules._mean_conditions, rules.n_conditions


def add_list(scores, method, budget, rules, seconds):
    """One row for a rule model."""
    split = scores.split
    test = split.X.iloc[split.test]
    told = None
    if split.is_binary:
        told = rules.predict_proba(test)[:, 1], rules.apply(test)
    scores.add(method, budget, rules.predict(test), seconds, size_of(rules), told)


def add_intervals(scores):
    """Share of test rows whose y lies in the interval of 90 %: as fitted, calibrated.

    Every second test row calibrates; the others are counted in both cases.
    """
    split = scores.split
    X, y = split.X.iloc[split.test], scores.y
    simple, seconds = _simplified(split)
    for method in ("ours, interval", "ours, calibrated interval"):
        if method == "ours, calibrated interval":
            simple.calibrate(X[1::2], y[1::2])
        low, high = simple.predict_interval(X[::2], 0.9).T
        size = size_of(simple.rules_)
        scores.add(method, 0, simple.predict(X), seconds, size)
        covered = (low <= y[::2]) & (y[::2] <= high)
        scores.rows[-1]["interval_coverage"] = covered.mean()
