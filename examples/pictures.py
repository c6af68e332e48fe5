"""Draw the pictures of docs/pictures.md: `python examples/pictures.py [folder]`."""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from credit_risk import draw_loans
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

from defragtrees import datasets, plots
from defragtrees._api import simplify
from defragtrees._compare import compare
from defragtrees._path import simplify_path
from defragtrees.paper.estimator import FABRulesClassifier, FABRulesRegressor
from defragtrees.rules import RuleEnsemble
from defragtrees.rules.conditions import Condition, Rule

DOCS = Path(__file__).parent.parent / "docs" / "pictures"
DPI = 84
# The paper's method with starts that do not depend on the units of y.
SEEDED = {
    "statement_weight": 3.0,
    "init": "seeded",
    "e_step": "gentle",
    "target": "ensemble",
}


def xor():
    """Synthetic1 of the paper: a chessboard, a tenth of its labels wrong."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((500, 2)), columns=["x1", "x2"])
    y = (X.x1 > 0.5) ^ (X.x2 > 0.5) ^ (rng.random(500) < 0.1)
    y = np.where(y, "odd", "even")
    forest = RandomForestClassifier(10, min_samples_leaf=10, random_state=0).fit(X, y)
    return forest, X, y


def trips():
    """Trips by train, plane or car: numbers, categories and missing values."""
    rng = np.random.default_rng(0)
    n_rows = 800
    X = pd.DataFrame(
        {
            "distance_km": rng.gamma(2, 250, n_rows).round(),
            "country": pd.Categorical(
                rng.choice(["Chile", "Italy", "Japan", "Norway"], n_rows)
            ),
            "price_$": rng.gamma(3, 40, n_rows).round(),
        }
    )
    X.loc[rng.random(n_rows) < 0.12, "distance_km"] = np.nan
    by_train = X.country.isin(["Italy", "Japan"]) & (X.distance_km < 600)
    y = np.where(by_train, "train", np.where(X.distance_km > 450, "plane", "car"))
    forest = HistGradientBoostingClassifier(
        max_iter=30, categorical_features="from_dtype", random_state=0
    )
    return forest.fit(X, y), X, y


def energy():
    """The heating load of buildings; the rows are those that the forest never saw."""
    sample = datasets.load_sample("energy")
    X = pd.DataFrame(sample.X, columns=list(sample.feature_names))
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0)
    return forest.fit(X[::2], sample.y[::2]), X[1::2], sample.y[1::2]


def spam():
    """E-mails that are spam or not; the rows are those that the forest never saw."""
    sample = datasets.load_sample("spambase")
    X = pd.DataFrame(sample.X, columns=list(sample.feature_names))
    y = np.where(sample.y == 1, "spam", "mail")
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    return forest.fit(X[::2], y[::2]), X[1::2], y[1::2]


def averaged():
    """Rules that are averaged, as Node Harvest finds them."""
    sides = (
        ((Condition(0, upper=0.5), Condition(1, lower=0.5)), (0.1, 0.9), 1.0),
        ((Condition(0, lower=0.5), Condition(1, upper=0.5)), (0.1, 0.9), 0.9),
        ((Condition(0, upper=0.5), Condition(1, upper=0.5)), (0.9, 0.1), 0.8),
        ((Condition(0, lower=0.3, upper=0.5),), (0.6, 0.4), 0.3),
        ((Condition(1, lower=0.8),), (0.45, 0.55), 0.2),
    )
    classes = ("even", "odd")
    rules = tuple(
        Rule(conditions, classes[int(np.argmax(shares))], shares, weight=weight)
        for conditions, shares, weight in sides
    )
    default = Rule((), "even", (0.5, 0.5), weight=0.1)
    names = ("x1", "x2")
    return RuleEnsemble(rules, default, names, "classification", classes)


def draw():
    """Yield the name and the Axes of each picture."""
    forest, X, y = xor()
    paper = FABRulesClassifier(forest, random_state=0, **SEEDED).fit(X, y)
    yield "convergence", plots.convergence(paper)
    simple = simplify(forest, X, y, max_rules=4, random_state=0)
    yield "regions", plots.regions(simple.rules_, X, y)
    yield "forest_regions", plots.forest_regions(forest, X, y)
    yield "rule_panels", plots.rule_panels(averaged(), X, y)

    forest, X, y = trips()
    simple = simplify(forest, X, y, max_rules=5, random_state=0)
    yield "regions_categories", plots.regions(simple.rules_, X, y)
    yield "parallel_coordinates", plots.parallel_coordinates(simple.rules_, X, rule=0)

    forest, X, y = energy()
    simple = simplify(forest, X, y, max_rules=6, random_state=0)
    yield "rule_table", plots.rule_table(simple.rules_)
    yield "regions_numbers", plots.regions(simple.rules_, X, y)
    yield "feature_heat_map", plots.feature_heat_map(simple.rules_, X)
    methods = {"search": "defrag", "components": FABRulesRegressor(**SEEDED)}
    budgets = [3, 5, 8]
    found = compare(forest, X, y, methods=methods, budgets=budgets, random_state=0)
    yield "comparison", plots.comparison(found)

    forest, X, y = spam()
    path = simplify_path(forest, X, y, max_rules=8, random_state=0)
    yield "trade_off", plots.trade_off(path)
    yield "coverage", plots.coverage(path.rules, X, y)
    yield "overlap", plots.overlap(path.rules, X)

    X, y, _ = draw_loans(4000, seed=0)
    X_test, y_test, _ = draw_loans(4000, seed=1)
    forest = RandomForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, max_rules=4, random_state=0)
    yield "risks", plots.risks(simple.rules_)
    yield "calibration", plots.calibration(simple.rules_, X_test, y_test)
    whole = {"form": "points", "points": "integer", "max_rules": 6}
    card = simplify(forest, X, y, random_state=0, **whole)
    yield "scorecard", plots.scorecard(card.rules_)
    yield "score_risk", plots.score_risk(card.rules_, X_test, y_test)


def main(folder=DOCS):
    """Write one PNG for each picture to a folder."""
    mpl.use("Agg")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, axes in draw():
        path = folder / f"{name}.png"
        # Without the version of matplotlib the same picture is the same file.
        np.ravel(axes)[0].figure.savefig(path, dpi=DPI, metadata={"Software": None})
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
