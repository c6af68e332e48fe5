"""Ten rules by every method, on data that comes with the packages.

Run as `python -m benchmarks.quality.ten_rules --out ten_rules.csv`. RuleFit and FIGS
need imodels, TE2Rules needs te2rules, optimal trees need pystreed, EBM needs interpret;
of what is not installed the rows that the file has are kept, and that is printed. Four
real sets of two classes are split in halves at random; a forest of 100 trees is
trained, and every method gets the same columns (words as 0 and 1, gaps filled) and at
most ten rules; TE2Rules and what people use without a limit (logistic regression, EBM,
a default decision tree) have none. The small tree is scikit-learn's, on y, its leaf
size chosen by cross-validation. Scores are those of the rows left out; the table is
that of the README.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.optimal_trees import OptimalTree, has_streed
from benchmarks.quality.trees import leaf_depths, small_tree
from defragtrees import DefragClassifier
from defragtrees.baselines import (
    BornAgainTreeClassifier,
    DistilledTreeClassifier,
    InTreesClassifier,
    NodeHarvestClassifier,
)
from defragtrees.datasets import load_table

MOST_RULES, MOST_ROWS = 10, 1000
BAGS = 4  # of EBM, whose default of 14 takes that much longer
SETS = ("breast_cancer", "credit", "heart", "spambase")
OURS = {
    "defragtrees, list": (DefragClassifier, {"random_state": 0}),
    "defragtrees, points": (DefragClassifier, {"form": "points", "random_state": 0}),
    "inTrees": (InTreesClassifier, {}),
    "Node Harvest": (NodeHarvestClassifier, {"random_state": 0}),
    "Born-Again tree": (BornAgainTreeClassifier, {"random_state": 0}),
    "distilled tree": (DistilledTreeClassifier, {"random_state": 0}),
}


def load(name):
    """A table of numbers, and whether each row is of the second class."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return X, 1 - y.to_numpy()
    X, y = load_table(name)
    X = pd.get_dummies(X, dtype=float)
    return X.fillna(X.median()), (y == sorted(y.unique())[1]).to_numpy().astype(int)


def from_this_package(name, forest, X, y):
    """Fit a method of ours; returns how to ask it, and its size."""
    kind, settings = OURS[name]
    fitted = kind(forest, max_rules=MOST_RULES, **settings).fit(X, y)
    rules = fitted.rules_
    n_conditions = sum(rule.n_conditions for rule in rules)
    return fitted.predict, fitted.predict_proba, rules.n_rules, n_conditions


def from_sums(name, forest, X, y):
    """Fit a model that adds up columns to y; it has no conditions."""
    if name == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        fitted = ExplainableBoostingClassifier(outer_bags=BAGS, random_state=0)
    else:
        fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    fitted.fit(X, y)
    return fitted.predict, fitted.predict_proba, np.nan, np.nan


def from_scikit_learn(name, forest, X, y):
    """Fit a tree to y."""
    if name == "small tree":
        tree = small_tree(MOST_RULES, "roc_auc").fit(X, y).best_estimator_
    else:
        tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    depths = leaf_depths(tree)
    return tree.predict, tree.predict_proba, len(depths), depths.sum()


def from_streed(name, forest, X, y):
    """Fit an optimal tree to the forest's predictions."""
    tree = OptimalTree(MOST_RULES, time_limit=10.0).fit(X, forest.predict(X), y)
    depths = leaf_depths(tree)
    return tree.predict, tree.predict_proba, len(depths), depths.sum()


def from_imodels(name, forest, X, y):
    """Fit FIGS or RuleFit; each of their rules is a split or a term of the sum."""
    from imodels import FIGSClassifier, RuleFitClassifier

    if name == "FIGS":
        fitted = FIGSClassifier(max_rules=MOST_RULES - 1).fit(X.to_numpy(), y)
        n_rules, n_conditions = fitted.complexity_ + 1, fitted.complexity_
    else:
        fitted = RuleFitClassifier(
            max_rules=MOST_RULES - 1, include_linear=False, random_state=0
        ).fit(X.to_numpy(), y)
        terms = [rule.rule for rule in fitted.rules_ if rule.args[0] != 0]
        n_rules = len(terms) + 1
        n_conditions = sum(1 + term.count(" and ") for term in terms)
    return (
        lambda rows: fitted.predict(rows.to_numpy()),
        lambda rows: fitted.predict_proba(rows.to_numpy()),
        n_rules,
        n_conditions,
    )


def from_te2rules(name, forest, X, y):
    """Rules for the second class; all other rows are of the first."""
    from te2rules.explainer import ModelExplainer

    names = [f"x{place}" for place in range(X.shape[1])]
    explainer = ModelExplainer(forest, names)
    rules = explainer.explain(X.to_numpy(), forest.predict(X), num_stages=1)
    n_conditions = sum(1 + rule.count("&") for rule in rules)

    def predict(rows):
        return np.asarray(explainer.predict(rows.to_numpy()))

    def predict_proba(rows):
        told = predict(rows).astype(float)
        return np.column_stack([1 - told, told])

    return predict, predict_proba, len(rules) + 1, n_conditions


def methods():
    """Each method with the function that fits it, if it is installed."""
    found = {name: from_this_package for name in OURS}
    found |= dict.fromkeys(("small tree", "default tree"), from_scikit_learn)
    found["logistic regression"] = from_sums
    if find_spec("interpret") is not None:
        found["EBM"] = from_sums
    if has_streed():
        found["optimal tree"] = from_streed
    if find_spec("imodels") is not None:
        found |= {"FIGS": from_imodels, "RuleFit": from_imodels}
    if find_spec("te2rules") is not None:
        found["TE2Rules"] = from_te2rules
    return found


def run(name, seed, chosen):
    """Rows of the results of one split, by the chosen methods."""
    X, y = load(name)
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    X, y = X[:MOST_ROWS], y[:MOST_ROWS]
    forest = RandomForestClassifier(min_samples_leaf=5, random_state=seed).fit(X, y)
    scored = [("forest", forest.predict, forest.predict_proba, np.nan, np.nan, np.nan)]
    for method, fit in chosen.items():
        begin = time.perf_counter()
        fitted = fit(method, forest, X, y)
        scored.append((method, *fitted, time.perf_counter() - begin))
    for method, predict, predict_proba, n_rules, n_conditions, seconds in scored:
        yield {
            "data": name,
            "seed": seed,
            "method": method,
            "error": np.mean(predict(X_test) != y_test),
            "auc": roc_auc_score(y_test, predict_proba(X_test)[:, 1]),
            "fidelity": np.mean(predict(X_test) == forest.predict(X_test)),
            "n_rules": n_rules,
            "n_conditions": n_conditions,
            "seconds": seconds,
        }


def table(results):
    """Means by method in Markdown, the largest AUC first; ours in bold."""
    columns = ["n_rules", "n_conditions", "error", "auc"]
    means = results.groupby("method")[columns].mean()
    lines = ["| | rules | conditions in all | error | AUC |", "| --- |" + " ---: |" * 4]
    for name, row in means.sort_values("auc", ascending=False).iterrows():
        label = "the forest itself" if name == "forest" else name
        label = f"**{label}**" if name.startswith("defragtrees") else label
        sizes = ["" if np.isnan(row[c]) else f"{row[c]:.1f}" for c in columns[:2]]
        cells = [label, *sizes, f"{row.error:.3f}", f"{row.auc:.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default=",".join(SETS))
    parser.add_argument("--methods", nargs="+", help="other rows of the file are kept")
    parser.add_argument("--out", default="ten_rules.csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    missing = {"EBM", "FIGS", "RuleFit", "TE2Rules", "optimal tree"} - set(methods())
    results, chosen = pd.DataFrame(), methods()
    if options.methods:
        chosen = {name: chosen[name] for name in options.methods}
    if Path(options.out).exists():
        results = pd.read_csv(options.out)
        results = results[~results.method.isin({"forest", *chosen})]
    for name in options.only.split(","):
        for seed in range(options.seeds):
            results = pd.concat([results, pd.DataFrame(run(name, seed, chosen))])
            results.to_csv(options.out, index=False, float_format="%.5g")
    print(table(results))
    if missing:
        print(f"Not installed, kept from before: {', '.join(sorted(missing))}.")


if __name__ == "__main__":
    main()
