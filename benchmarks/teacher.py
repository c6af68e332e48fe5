r"""Does it pay to correct a model by y? target="auto" beside "model" and "labels".

    python -m benchmarks.teacher --data FOLDER --out teacher.csv

Lists and scorecards of 6 and 10 rules, made on 500 and 2,000 rows of each set of the
folder and of its folder `numbers`, with a weak forest (depth 4), one with leaves of 5,
and histogram boosting. `unexplained` is the squared error on new rows as a share of the
variance of y (of classes that of their indicators). `inside` is the share of 90 %
intervals of numbers that have y, or of 95 % intervals of rates, for groups of at least
100 new rows, that have the rate of the group within two standard errors of it. Fits
that the CSV file has already are not made again. The means are of paired differences,
with standard errors over sets; halves are every other set by name.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import MOST_TEST_ROWS, REGRESSION, as_numbers, read
from defragtrees import DefragClassifier, DefragRegressor

TARGETS = ("auto", "model", "labels")
FORMS, SIZES, ROWS = ("list", "points"), (6, 10), (500, 2000)
MODELS = {
    "weak": (RandomForestClassifier, RandomForestRegressor, {"max_depth": 4}),
    "forest": (RandomForestClassifier, RandomForestRegressor, {"min_samples_leaf": 5}),
    "deep": (RandomForestClassifier, RandomForestRegressor, {}),
    "boosted": (HistGradientBoostingClassifier, HistGradientBoostingRegressor, {}),
}
KEYS = ["data", "seed", "rows", "model", "form", "target"]
MEASURES = ["unexplained", "log_loss", "auc", "error", "inside"]
FIELDS = [*KEYS, "n_rules", *MEASURES, "fidelity", "weight", "seconds"]
LEAST_GROUP = 100


def measures(rules, X, y):
    """How well rules predict new rows."""
    if not rules.classes:
        low, high = rules.predict_interval(X).T
        left = np.mean((y - rules.predict(X)) ** 2) / np.var(y)
        inside = np.mean((low <= y) & (y <= high))
        return {"unexplained": left, "inside": inside}
    shares = rules.predict_proba(X)
    is_class = y[:, None] == np.array(rules.classes)
    variance = ((is_class - is_class.mean(axis=0)) ** 2).sum()
    found = {
        "unexplained": ((is_class - shares) ** 2).sum() / variance,
        "log_loss": log_loss(y, shares, labels=list(rules.classes)),
        "error": np.mean(rules.predict(X) != y),
    }
    if len(rules.classes) == 2:
        found["auc"] = roc_auc_score(is_class[:, 1], shares[:, 1])
        ends, group = np.unique(rules.rate_interval(X), axis=0, return_inverse=True)
        n, own = np.bincount(group.ravel()), is_class[:, 1]
        rate = np.bincount(group.ravel(), own) / n
        slack = 2 * np.sqrt(rate * (1 - rate) / n)
        hit = (ends[:, 0] - slack <= rate) & (rate <= ends[:, 1] + slack)
        if (n >= LEAST_GROUP).any():
            found["inside"] = hit[n >= LEAST_GROUP].mean()
    return found


def run(folder, name, seed, n_rows, kind, writer, done):
    """Write the rows of one split and one model that are not there yet."""
    cases = [(name, str(seed), str(n_rows), kind, f, t) for f in FORMS for t in TARGETS]
    if done.issuperset(cases):
        return
    X, y = read(folder, name)
    X, order = as_numbers(X), np.random.default_rng(seed).permutation(len(X))
    n_rows = min(n_rows, len(X) // 2)
    train, test = order[:n_rows], order[n_rows : n_rows + MOST_TEST_ROWS]
    is_number = name in REGRESSION or name.startswith("numbers/")
    if not is_number:
        test = test[np.isin(y[test], y[train])]
    model = MODELS[kind][is_number](random_state=seed, **MODELS[kind][2])
    model.fit(X.iloc[train], y[train])
    for case in cases:
        if case in done:
            continue
        make = DefragRegressor if is_number else DefragClassifier
        made = make(model, form=case[4], target=case[5], max_rules=max(SIZES))
        begin = time.process_time()
        made.fit(X.iloc[train], y[train])
        seconds = time.process_time() - begin
        correction = made.rules_.evidence.correction
        for size in SIZES:
            rules = made.path_[max(k for k in made.path_ if k <= size)]
            row = dict(zip(KEYS, case, strict=True)) | {"n_rules": size}
            row |= measures(rules, X.iloc[test], y[test])
            row["fidelity"] = rules.outcome.fidelity(
                model.predict(X.iloc[test]), rules.predict(X.iloc[test])
            )
            row["weight"] = correction.weight if correction else 0.0
            writer.writerow(row | {"seconds": seconds})


def compare(results):
    """Print differences of "auto" to the others, and how often intervals are right."""
    index = ["half", "data", "rows", "model", "form", "n_rules"]
    means = results.groupby([*index, "target"])[FIELDS[7:]].mean().unstack("target")
    for measure in MEASURES[:-1]:
        lines = {}
        for other in TARGETS[1:]:
            apart = means[measure]["auto"] - means[measure][other]
            groups = apart.dropna().groupby(["half", "model", "rows", "form"])
            # Of both sizes of one set the mean, so that sets are what is counted.
            own = groups.apply(lambda one: one.groupby("data").mean().agg(_mean_text))
            lines[f"auto - {other}"] = own
        print(f"\n{measure}, thousandths: mean difference (standard error)")
        print(pd.DataFrame(lines).to_string())
    print("\nmeans: inside, weight, agreement, seconds of CPU")
    inside = results.groupby(["form", "model", "rows", "target"])[
        ["inside", "weight", "fidelity", "seconds"]
    ]
    print(inside.mean().round(3).to_string())


def _mean_text(apart):
    return f"{1000 * apart.mean():+.1f} ({1000 * apart.sem():.1f}), {len(apart)} sets"


def main():
    """Measure what the file does not have, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder of the sets")
    parser.add_argument("--out", default="teacher.csv", help="results, kept if there")
    parser.add_argument("--sets", help="names of sets, with commas; all by default")
    parser.add_argument("--half", choices=("0", "1"), help="even or odd sets only")
    parser.add_argument("--models", default="weak,forest,boosted")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder, out = Path(options.data), Path(options.out)
    names = [str(path.relative_to(folder))[:-7] for path in folder.glob("*.csv.gz")]
    names += [f"numbers/{path.name[:-7]}" for path in folder.glob("numbers/*.csv.gz")]
    names.sort(key=lambda name: name.split("/")[-1])
    halves = {name: str(k % 2) for k, name in enumerate(names)}
    sets = [
        name
        for name in names
        if options.half in (None, halves[name])
        and (options.sets is None or name in options.sets.split(","))
    ]
    done = set()
    if out.exists():
        done = {tuple(row[key] for key in KEYS) for row in csv.DictReader(out.open())}
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for seed in range(options.seeds):
            for name in sets:
                for n_rows in ROWS:
                    for kind in options.models.split(","):
                        run(folder, name, seed, n_rows, kind, writer, done)
                file.flush()
    results = pd.read_csv(out)
    results["half"] = results["data"].map(halves)
    compare(results)


if __name__ == "__main__":
    main()
