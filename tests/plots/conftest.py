"""Rule sets to draw, made by hand."""

import matplotlib as mpl
import numpy as np
import pytest

from defragtrees import Condition, Rule, RuleEnsemble, RuleList

mpl.use("Agg")

NAMES = ("price_$ per <script>", "city", "a very long feature name in_many_words")
CITIES = ("Lima", "Oslo, old", "Rome")


def make_classes():
    """Three classes over three features: numbers, categories, missing values."""
    missing = Condition(0, lower=np.inf, missing=True)
    high = Condition(0, lower=80.0, upper=200.0)
    cities = Condition(1, categories=(0, 2))
    rules = (
        Rule((missing,), "_ask $", (0.9, 0.1, 0.0), share=0.1, error=0.0),
        Rule((high, cities), "buy", (0.0, 0.75, 0.25), share=0.3, error=0.25),
        Rule((Condition(2, upper=0.5),), "keep", (0.0, 0.2, 0.8), share=0.4),
    )
    default = Rule((), "buy", (0.1, 0.6, 0.3), share=0.2, error=0.5)
    classes = ("_ask $", "buy", "keep")
    known = (None, CITIES, None)
    return RuleList(rules, default, NAMES, "classification", classes, known)


def make_numbers():
    """A regression over two features."""
    low = Rule((Condition(0, upper=0.4),), 1.25, spread=0.5)
    middle = Rule((Condition(0, upper=0.7), Condition(1, 0.2, 0.6)), 3.5, spread=0.5)
    return RuleList((low, middle), Rule((), 7.0), ("x1", "x2"), "regression")


def make_averaged():
    """Rules that are averaged, by weight."""
    rules = (
        Rule((Condition(0, lower=0.5),), 1, (0.2, 0.8), weight=2.0),
        Rule((Condition(1, upper=0.5),), 0, (0.7, 0.3), weight=0.5),
    )
    default = Rule((), 0, (0.5, 0.5), weight=0.1)
    names = ("x1", "x2")
    return RuleEnsemble(rules, default, names, "classification", (0, 1))


def make_single():
    """Nothing but the otherwise."""
    return RuleList((), Rule((), "no"), ("a", "b"), "classification", ("no", "yes"))


def make_many():
    """Fifty rules and twelve classes."""
    rng = np.random.default_rng(0)
    rules = []
    for k in range(50):
        features = rng.choice(6, rng.integers(1, 4), replace=False)
        bounds = np.round(np.sort(rng.random((len(features), 2)), axis=1), 3)
        conditions = (
            Condition(int(j), *map(float, ends))
            for j, ends in zip(np.sort(features), bounds, strict=True)
        )
        rules.append(Rule(tuple(conditions), f"class {k % 12}"))
    names = tuple(f"feature {j} with quite_a_long_name" for j in range(6))
    classes = tuple(f"class {i}" for i in range(12))
    return RuleList(rules, Rule((), "class 0"), names, "classification", classes)


def make_rows(rules, n_rows=60):
    """Rows and answers for a rule set; some values missing, some cities unknown."""
    rng = np.random.default_rng(1)
    X = rng.random((n_rows, len(rules.feature_names)))
    if rules.feature_names != NAMES:
        return X, rules.predict(X)
    table = X.astype(object)
    table[:, 0] = np.round(300 * X[:, 0], 1)
    table[:, 1] = np.array([*CITIES, "Paris"])[(3.5 * X[:, 1]).astype(int)]
    table[::7, 0] = np.nan
    table[3, 1] = None
    return table, rules.predict(table)


MAKERS = {
    "classes": make_classes,
    "numbers": make_numbers,
    "averaged": make_averaged,
    "single": make_single,
    "many": make_many,
}


@pytest.fixture(params=list(MAKERS))
def rules(request):
    return MAKERS[request.param]()
