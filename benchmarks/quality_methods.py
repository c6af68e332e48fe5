"""What `benchmarks.quality` compares: our rules, small trees, FIGS, and the measures.

Log loss needs probabilities that are never 0 or 1: those of every method are kept
within [1 / n, 1 - 1 / n] for n training rows, which spares trees with pure leaves.
FIGS (of imodels, if it is installed) is its regressor on zeros and ones: the
classifier squeezes its sums into the middle, so that they are no probabilities.
"""

import time
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import OptimalTreeClassifier, OptimalTreeRegressor, simplify
from defragtrees.methods import installed_methods

BUDGETS = (4, 6, 8, 10)
CRITERIA = {"ours": {}, "ours, probability": {"criterion": "probability"}}
CRITERIA["ours, error"] = {"criterion": "error"}
COST_OF_MISS = 5.0
OPTIMAL_SECONDS = 20.0  # for the proof of one optimal tree


class Scores:
    """Collects one row per method and budget."""

    def __init__(self, split):
        self.split = split
        self.y = split.y[split.test]
        self.y_train = split.y[split.train]
        self.answers = split.ensemble.predict(split.X.iloc[split.test])
        self.rows = []

    def add(self, method, budget, predicted, seconds, size=(0, 0.0), told=None):
        """One row; `told` are the probability of the second class and the rule."""
        split = self.split
        row = {
            "data": split.name,
            "ensemble": split.kind,
            "seed": split.seed,
            "method": method,
            "budget": budget,
            "n_test": len(self.y),
            **self._errors(predicted),
            "n_rules": size[0],
            "n_conditions": size[1],
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
        positive = self.y == self.split.ensemble.classes_[1]
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
    """The ensemble itself, and the rate of all training rows."""
    split = scores.split
    told = None
    if split.is_binary:
        test = split.X.iloc[split.test]
        told = split.ensemble.predict_proba(test)[:, 1], None
    scores.add("ensemble", 0, scores.answers, np.nan, told=told)
    if split.is_binary:
        rate = np.mean(scores.y_train == split.ensemble.classes_[1])
        answer = np.full(len(scores.y), split.other_class)
        n = len(answer)
        told = np.full(n, rate), np.zeros(n, dtype=int)
        scores.add("base rate", 0, answer, 0.0, (1, 0.0), told)


def add_rules(scores):
    """Our rules: the default of each criterion, with no more rules than a budget."""
    split = scores.split
    for method, settings in CRITERIA.items():
        if settings and split.is_number:
            continue
        simple, seconds = _simplified(split, **settings)
        _add_list(scores, method, 0, simple.rules_, seconds)
        for budget in BUDGETS:
            sizes = [n for n in simple.path_ if n <= budget]
            rules = simple.path_[min(sizes, key=simple.path_costs_.get)]
            _add_list(scores, method, budget, rules, seconds)
    if not split.is_binary:
        return
    rare, other = split.rare_class, split.other_class
    costs = {(rare, other): COST_OF_MISS, (other, rare): 1.0}
    for method, settings in (
        ("ours, costs", {"costs": costs}),
        ("ours, balanced", {"class_weight": "balanced"}),
    ):
        simple, seconds = _simplified(split, **settings)
        _add_list(scores, method, 0, simple.rules_, seconds)


def add_paper(scores):
    """The paper's settings, its predictor and the rules that it prints."""
    split = scores.split
    settings = {"statement_weight": "paper", "target": "labels", "init": "random"}
    paper, seconds = _simplified(split, refine=False, **settings)
    test = split.X.iloc[split.test]
    size = paper.rules_.n_rules, paper.rules_.n_conditions
    for method, predicted in (
        ("paper, posterior", paper.predict_posterior(test)),
        ("paper, printed", paper.predict(test)),
    ):
        scores.add(method, 0, predicted, seconds, size)


def _simplified(split, **settings):
    X, y = split.X.iloc[split.train], split.y[split.train]
    begin = time.perf_counter()
    simple = simplify(split.ensemble, X, y, random_state=split.seed, **settings)
    return simple, time.perf_counter() - begin


def _add_list(scores, method, budget, rules, seconds):
    split = scores.split
    test = split.X.iloc[split.test]
    told = None
    if split.is_binary:
        told = rules.predict_proba(test)[:, 1], rules.apply(test)
    size = rules.n_rules, rules.n_conditions
    scores.add(method, budget, rules.predict(test), seconds, size, told)


def add_trees(scores):
    """Trees with as many leaves on y, on the ensemble's answers, on its belief."""
    split = scores.split
    kind = DecisionTreeRegressor if split.is_number else DecisionTreeClassifier
    train = split.X.iloc[split.train]
    targets = {
        "tree on y": (kind, scores.y_train),
        "distilled tree": (kind, split.ensemble.predict(train)),
    }
    if split.is_binary:
        belief = split.ensemble.predict_proba(train)[:, 1]
        targets["tree on probabilities"] = (DecisionTreeRegressor, belief)
    for budget in BUDGETS:
        for method, (make, target) in targets.items():
            begin = time.perf_counter()
            tree = make(max_leaf_nodes=budget, random_state=0)
            tree.fit(split.numbers.iloc[split.train], target)
            _add_tree(scores, method, budget, tree, time.perf_counter() - begin)


def _add_tree(scores, method, budget, tree, seconds):
    split = scores.split
    test = split.numbers.iloc[split.test]
    predicted, told = tree.predict(test), None
    if split.is_binary:
        if method == "tree on probabilities":
            probability = predicted
            predicted = split.ensemble.classes_[(predicted > 0.5).astype(int)]
        else:
            probability = _second_class(tree, test, split)
        told = probability, tree.apply(test)
    size = tree.get_n_leaves(), _mean_depth(tree)
    scores.add(method, budget, predicted, seconds, size, told)


def _second_class(tree, X, split):
    """Probability of the second class, also of a tree that has seen one class only."""
    place = np.flatnonzero(tree.classes_ == split.ensemble.classes_[1])
    return tree.predict_proba(X)[:, place].sum(axis=1)


def _mean_depth(tree):
    """Mean number of conditions on the way to a leaf."""
    left, right = tree.tree_.children_left, tree.tree_.children_right
    depth = np.zeros(len(left))
    for node in np.flatnonzero(left >= 0):
        depth[[left[node], right[node]]] = depth[node] + 1
    return float(depth[left < 0].mean())


def add_optimal(scores):
    """Optimal trees with as many leaves on y and on the ensemble's answers."""
    if "optimal" not in installed_methods():
        return
    split = scores.split
    kind = OptimalTreeRegressor if split.is_number else OptimalTreeClassifier
    train = split.X.iloc[split.train]
    for method, target in (
        ("optimal tree on y", "labels"),
        ("optimal tree", "ensemble"),
    ):
        for budget in BUDGETS:
            tree = kind(
                split.ensemble,
                max_rules=budget,
                target=target,
                time_limit=OPTIMAL_SECONDS,
                random_state=0,
            )
            begin = time.perf_counter()
            with warnings.catch_warnings():
                # Not proven in time; it is the best that was found.
                warnings.simplefilter("ignore", UserWarning)
                tree.fit(train, scores.y_train)
            seconds = time.perf_counter() - begin
            _add_list(scores, method, budget, tree.rules_, seconds)


def has_figs():
    return find_spec("imodels") is not None


def add_figs(scores):
    """FIGS with as many splits as a list has rules: a sum of small trees."""
    if not (scores.split.is_binary and has_figs()):
        return
    from imodels import FIGSRegressor

    split = scores.split
    numbers = split.numbers.fillna(-1.0).to_numpy()
    labels = split.ensemble.classes_
    for budget in BUDGETS:
        begin = time.perf_counter()
        figs = FIGSRegressor(max_rules=budget, random_state=0)
        figs.fit(numbers[split.train], (scores.y_train == labels[1]).astype(float))
        seconds = time.perf_counter() - begin
        told = np.clip(figs.predict(numbers[split.test]).ravel(), 0.0, 1.0)
        predicted = labels[(told > 0.5).astype(int)]
        size = figs.complexity_, float(figs.complexity_)
        scores.add("FIGS", budget, predicted, seconds, size, (told, None))


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
        size = simple.rules_.n_rules, simple.rules_.n_conditions
        scores.add(method, 0, simple.predict(X), seconds, size)
        covered = (low <= y[::2]) & (y[::2] <= high)
        scores.rows[-1]["interval_coverage"] = covered.mean()
