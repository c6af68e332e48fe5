"""Whether rates of rules come true on new rows, and whether "auto" is long enough.

Run as `python -m benchmarks.rates --data FOLDER --seeds 2`. Each split fits a forest
and a boosted ensemble to 500 and to 2,000 rows (at most half of a set) of every set
with two classes, makes lists and standalone rules on the same rows, and looks at up to
5,000 new rows. A rule with 100 new rows or more comes true if its rate there lies
within the 95 % interval that it prints, but for two standard errors of that rate.

The second table asks how many rows that the model was trained on are worth one that it
never saw: it shows the share of rules that come true if each such row counts as 1, 1/2,
1/2.5 or 1/3 of a row. The third is about the length: how often the list by default is
within .01 of AUC of the best of all lengths up to ten, and how many rules it has; and
how many somebody would need who knew the new rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality_data import CHOSEN_ON, REGRESSION, make_split
from defragtrees import DefragClassifier
from defragtrees.outcomes.intervals import wilson_interval

FORMS = ("list", "standalone")
KINDS = ("forest", "boosted")
N_RULES = 6
LEAST_ROWS = 100  # of new rows, to judge a rule by
SHARES = {"1": 1.0, "1/2": 0.5, "1/2.5": 0.4, "1/3": 1 / 3}  # of a training row
HIGH = 0.8  # a rate that people act on
NEAR = 0.01  # of AUC


def judged(rules, X, y):
    """For each rule its estimate, and the rate in new rows with its standard error."""
    covers, applied = rules.covers(X), rules.apply(X)
    for k, rule in enumerate(rules):
        is_own = (
            covers[:, k] if rules.form == "standalone" and rule.conditions else None
        )
        rows = applied == k if is_own is None else is_own
        if rows.sum() < LEAST_ROWS or rule.interval is None:
            continue
        rate = y[rows].mean()
        error = np.sqrt(rate * (1 - rate) / rows.sum())
        yield rule, rate, error


def is_true(low, high, rate, error):
    """Whether a rate of new rows is inside an interval, but for its own noise."""
    return bool(low - 2 * error <= rate <= high + 2 * error)


def run_one(folder, name, kind, n_rows, seed):
    """Rules and scores of one split: two lists of rows."""
    warnings.simplefilter("ignore")
    rows = make_split(folder, name, kind, seed, n_rows)
    if not rows.is_binary:
        return [], []
    fit, new = rows.train, rows.test
    X, X_new = rows.X.iloc[fit], rows.X.iloc[new]
    y_new = (rows.y[new] == rows.ensemble.classes_[1]).astype(int)
    key = {"data": name, "ensemble": kind, "rows": n_rows}
    leaves = {"max_leaf_nodes": N_RULES, "min_samples_leaf": 10, "random_state": 0}
    tree = DecisionTreeClassifier(**leaves).fit(rows.numbers.iloc[fit], rows.y[fit])
    tree = tree.predict_proba(rows.numbers.iloc[new])[:, 1]
    found, scores = [], []
    for form in FORMS:
        settings = {"max_rules": N_RULES, "form": form, "random_state": seed}
        simple = DefragClassifier(rows.ensemble, **settings).fit(X, rows.y[fit])
        rules = simple.rules_
        for rule, rate, error in judged(rules, X_new, y_new):
            line = {**key, "form": form, "told": rule.distribution[1], "rate": rate}
            line["true"] = is_true(*rule.interval[1], rate, error)
            for share, worth in SHARES.items():
                ends = wilson_interval(rule.rates[1], worth * rule.n_rows)
                line[share] = is_true(*ends, rate, error)
            found.append(line)
        told = rules.predict_proba(X_new)[:, 1]
        scores.append({**key, "form": form, **losses(y_new, told, tree)})
    default = DefragClassifier(rows.ensemble, random_state=seed).fit(X, rows.y[fit])
    aucs = {
        n: roc_auc_score(y_new, own.predict_proba(X_new)[:, 1])
        for n, own in default.path_.items()
    }
    own = roc_auc_score(y_new, default.rules_.predict_proba(X_new)[:, 1])
    best = max(aucs.values())
    scores.append(
        {
            **key,
            "form": "auto",
            "is near": own >= best - NEAR,
            "rules": default.rules_.n_rules,
            "needed": min(n for n, auc in aucs.items() if auc >= best - NEAR),
        }
    )
    return found, scores


def losses(y, told, tree):
    """Log loss and AUC of rules and of a small tree on y."""
    clipped = (np.clip(own, 1e-3, 1 - 1e-3) for own in (told, tree))
    return {
        name: value
        for own, prefix in zip(clipped, ("", "tree "), strict=True)
        for name, value in (
            (f"{prefix}log loss", log_loss(y, own)),
            (f"{prefix}AUC", roc_auc_score(y, own)),
        )
    }


def print_tables(title, rules, scores):
    """The three tables for some of the sets."""
    print(f"\n{title}")
    groups = ["form", "rows", "ensemble"]
    shares = rules.groupby(groups)["true"].agg(["mean", "size"])
    shares = shares.rename(columns={"mean": "come true", "size": "rules"})
    measures = ["log loss", "tree log loss", "AUC", "tree AUC"]
    print(shares.join(scores.groupby(groups)[measures].mean()).round(3).to_string())
    high = rules[rules["estimated"] >= HIGH]
    print(
        f"rules with a probability of 80 % or more: predicted {high['told'].mean():.3f}"
        f", observed {high['rate'].mean():.3f} ({len(high)} rules)"
    )
    print("\nshare that comes true by what a row that the model knows is worth")
    print(rules.groupby(groups)[list(SHARES)].mean().round(3).to_string())
    auto = scores[scores["form"] == "auto"]
    print(
        f"\n'auto' is within {NEAR} of AUC of the best length on "
        f"{100 * auto['is near'].mean():.0f} % of {len(auto)} pairs with "
        f"{auto['rules'].mean():.1f} rules; {auto['needed'].mean():.1f} are needed by "
        "those who know the new rows"
    )


def main():
    """Run all splits, and print the tables of both halves of the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of name.csv.gz files")
    parser.add_argument("--sets", nargs="+", help="names; all by default")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-jobs", type=int, default=1)
    given = parser.parse_args()
    names = given.sets or sorted(
        path.name.removesuffix(".csv.gz") for path in Path(given.data).glob("*.csv.gz")
    )
    tasks = [
        (given.data, name, kind, n_rows, seed)
        for name in names
        if name not in REGRESSION
        for kind in KINDS
        for n_rows in (500, 2000)
        for seed in range(given.seeds)
    ]
    results = Parallel(given.n_jobs)(delayed(run_one)(*task) for task in tasks)
    rules, scores = (
        pd.DataFrame([line for part in own for line in part])
        for own in zip(*results, strict=True)
    )
    is_chosen = "sets that settings were chosen on", "sets kept aside"
    for title, wanted in zip(is_chosen, (True, False), strict=True):
        parts = [own[own["data"].isin(CHOSEN_ON) == wanted] for own in (rules, scores)]
        if len(parts[0]):
            print_tables(title, *parts)


if __name__ == "__main__":
    main()
