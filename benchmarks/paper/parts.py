"""What is computed on one realisation, in parts that are kept one by one."""

import dataclasses
import time
import warnings

import numpy as np
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.paper import published
from benchmarks.paper.data import fit_forest, search_forest
from benchmarks.paper.regions import count_regions
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators import estimator_for
from defragtrees.outcomes import make_outcome

PROPOSED = "Proposed"  # with the schedule of the authors' code
CONVERGED = "Proposed, until convergence"  # with that of the paper's pseudo code
OF_MIXTURE = (PROPOSED, CONVERGED)
FOUR_RULES = "Proposed, y standardised, K at most 4"
PAPER_SIZE = {
    "n_restarts": published.N_RESTARTS,
    "max_rules": published.MOST_COMPONENTS,
}
ENERGY_FEATURES = ("overall_height", "wall_area")  # of the paper's rules
N_FEW_TREES = 5  # for the pictures of the regions

METHODS = {
    PROPOSED: ("paper", PAPER_SIZE),
    CONVERGED: ("paper", {**PAPER_SIZE, "e_step": "converged"}),
    "defragtrees": ("defrag", {}),
    "BATrees": (
        "born_again",
        {
            "max_depth": published.DEPTHS,
            "min_values": 3,
            "min_gain": None,
            "shorten_thresholds": False,
        },
    ),
    "inTrees": ("intrees", {}),
    "Node Harvest": (
        "node_harvest",
        {"round_digits": 3, "shorten_thresholds": False},
    ),
    "DTree2": (
        "distilled",
        {
            "max_depth": 2,
            "max_rules": None,
            "min_samples_leaf": (5, 10, 20, 30),
            "target": "labels",
        },
    ),
}

# Further settings for a regression.
FOR_NUMBERS = {"inTrees": {"levels": 3, "smoothing": 0.0}}


def make_method(name, forest, seed, **more):
    """One of METHODS around a forest; `more` replaces settings of the experiment."""
    method, settings = METHODS[name]
    kind = estimator_for(method, forest.outcome)
    if not forest.outcome.n_classes:
        settings = settings | FOR_NUMBERS.get(name, {})
    return kind(forest, **{**settings, **more}, random_state=seed)


def method_on(name, data, forest, seed, **more):
    """One of METHODS around the trees that it needs, fitted."""
    if name == "Node Harvest":
        forest = own_trees(data, seed)
    return make_method(name, forest, seed, **more).fit(data.X, data.y)


def own_trees(data, seed):
    """Trees as the R package nodeHarvest grows them, more than it has nodes for."""
    kinds = BaggingRegressor, DecisionTreeRegressor
    if data.task == "classification":
        kinds = BaggingClassifier, DecisionTreeClassifier
    bag, tree = kinds
    tree = tree(max_depth=2, min_samples_split=11, max_features=1 / 3)
    rows = {"max_samples": 0.632, "bootstrap": False}
    grown = bag(tree, 400, **rows, random_state=seed).fit(data.X, data.y)
    return dataclasses.replace(read_forest(grown), feature_names=data.feature_names)


def _model(data, seed):
    forest, chosen = search_forest(data, seed)
    return {
        **chosen,
        "error": make_outcome(data.task).error(
            data.y_test, forest.predict(data.X_test)
        ),
        "n_train": len(data.X),
        "n_test": len(data.X_test),
        "n_features": data.X.shape[1],
        "n_all": data.n_all,
        "n_statements": int(sum(map(len, read_forest(forest).splits()))),
    }


def _em(data, seed, forest):
    """EM for every K up to the largest, timed."""
    by_k = []
    for n_components in range(1, published.MOST_COMPONENTS + 1):
        watch = Stopwatch()
        model = make_method(
            PROPOSED,
            forest,
            seed,
            inference="em",
            max_rules=n_components,
            callback=watch,
        ).fit(data.X, data.y)
        answers = model.predict_posterior(data.X_test)
        by_k.append(
            {
                "n_components": int(model.posterior_.n_components),
                "seconds": watch.seconds_per_restart(model),
                "error": make_outcome(data.task).error(data.y_test, answers),
            }
        )
    return by_k


class Stopwatch:
    """A callback that notes the processor's time at every step of the mixture.

    So neither reading the forest nor printing rules counts, nor other work on the
    machine; the first iteration does not either.
    """

    def __init__(self):
        self.times = []

    def __call__(self, step):
        self.times.append(time.process_time())

    def seconds_per_restart(self, model):
        """What the mixture took."""
        return (self.times[-1] - self.times[0]) / model.n_restarts


def mean_components(model):
    """How many components the restarts have at their ends, on average."""
    ends = {step.restart: step.n_components for step in model.history_}
    return float(np.mean(list(ends.values())))


def _method(name, **more):
    """A part that fits one method and measures it on the test rows."""

    def run(data, seed, forest):
        watch = Stopwatch()
        settings = {**more, "callback": watch} if name in OF_MIXTURE else more
        begin = time.perf_counter()
        model = method_on(name, data, forest, seed, **settings)
        seconds = time.perf_counter() - begin
        printed = answers = model.predict(data.X_test)
        of_restarts = {}
        if name in OF_MIXTURE:
            answers = model.predict_posterior(data.X_test)
            of_restarts = {
                "seconds_per_restart": watch.seconds_per_restart(model),
                "mean_components": mean_components(model),
            }
        return {
            **of_restarts,
            "n_rules": counted_rules(name, model),
            "error": make_outcome(data.task).error(data.y_test, answers),
            "error_printed": make_outcome(data.task).error(data.y_test, printed),
            "overlap": counted_overlap(name, model, data.X_test),
            "seconds": seconds,
            "rules": shown_rules(name, model),
        }

    return run


def counted_rules(name, model):
    """Number of rules as the paper counts them: Node Harvest's root is none."""
    if name in OF_MIXTURE:
        return int(model.posterior_.n_components)
    return model.rules_.n_rules - (name == "Node Harvest")


def counted_overlap(name, model, X):
    """Mean number of rules that cover a row, as the paper counts them.

    inTrees' last rule covers every row and is counted; Node Harvest's root is not; of
    our lists the "otherwise" counts where no other rule matches.
    """
    if name in OF_MIXTURE:
        held = np.array([rule.covers(X) for rule in model.component_rules_])
        return float(held.sum(axis=0).mean())
    n_matching = model.rules_._form.n_matching(model.rules_.covers(X))
    count = float(n_matching.mean())
    if name == "inTrees":
        return count + 1.0
    if name == "defragtrees":
        return count + 1.0 - float((n_matching > 0).mean())
    return count


def shown_rules(name, model):
    """The rules as pairs of what they ask and what they answer, for Table 4."""
    rules = model.rules_
    chosen = model.component_rules_ if name in OF_MIXTURE else tuple(rules)
    is_label = rules.outcome.n_classes > 0
    return [
        [
            rule.text(),
            str(rule.prediction) if is_label else rule.prediction,
        ]
        for rule in chosen
    ]


def _four_rules(data, seed, forest):
    """As many rules as the paper shows for Energy, and on its two features.

    Where y is far from 0 most starts lose components at once, so it is standardised.
    """
    center, spread = data.y.mean(), data.y.std()
    y = (data.y - center) / spread
    unbound = make_method(PROPOSED, forest, seed, max_rules=4).fit(data.X, y)
    model = make_method(
        PROPOSED, forest, seed, max_rules=4, features=ENERGY_FEATURES
    ).fit(data.X, y)
    same = [
        (one.covers(data.X) == two.covers(data.X)).all()
        for one, two in zip(
            unbound.component_rules_, model.component_rules_, strict=True
        )
    ]
    return {
        "n_rules": counted_rules(PROPOSED, model),
        "rules": [
            [text, center + spread * answer]
            for text, answer in shown_rules(PROPOSED, model)
        ],
        "whole_rules": [text for text, _ in shown_rules(PROPOSED, unbound)],
        "n_same": int(sum(same)),
    }


def _regions(data, seed, forest):
    """Every method on a forest of few trees, for the pictures."""
    result = {"n_regions": count_regions(forest), "rules": {}, "n_rules": {}}
    for name in METHODS:
        model = method_on(name, data, forest, seed)
        result["rules"][name] = model.rules_.to_dict()
        result["n_rules"][name] = counted_rules(name, model)
    return result


# What is fitted around the forest that the part "model" has chosen.
PARTS = {
    "regions": _regions,
    "em": _em,
    **{name: _method(name) for name in METHODS},
    FOUR_RULES: _four_rules,
}


def run_part(part, data, seed, chosen=None):
    """The result of one of PARTS; all but "model" need what that part found."""
    with warnings.catch_warnings():
        # A restart that has not converged, or a class that a fold lacks, is a result.
        warnings.simplefilter("ignore", UserWarning)
        if part == "model":
            return _model(data, seed)
        n_trees = N_FEW_TREES if part == "regions" else published.N_TREES
        model = fit_forest(data, chosen["node_size"], chosen["n_leaves"], seed, n_trees)
        forest = dataclasses.replace(
            read_forest(model), feature_names=data.feature_names
        )
        return PARTS[part](data, seed, forest)
