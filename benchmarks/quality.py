"""How well rules predict: ours, the paper's and small trees, on every data set.

Run as `make quality`, or `python -m benchmarks.quality --data FOLDER --seeds 5`. Every
set in the folder (`name.csv.gz`, the last column is `target`; columns of text are
categories) is split at random, a forest and a boosted ensemble are trained, and all
methods are scored on the rows left out: share of wrong classes, or squared error as a
share of the variance. Results go to a CSV, tables and a summary to the screen.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import simplify
from defragtrees.render import text_table

BUDGETS = (4, 6, 8, 10)
REGRESSION = {"energy", "energy_cooling", "abalone", "california_housing"}


def read(folder, name):
    """X with categories as such, and y."""
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    y = frame.pop("target")
    for column in frame.columns:
        if frame[column].dtype.kind not in "fiub":
            frame[column] = frame[column].astype("category")
    if name == "miniboone":
        kept = (frame > -900).all(axis=1)
        frame, y = frame[kept], y[kept]
    return frame.reset_index(drop=True), y.to_numpy()


def as_numbers(frame):
    """Categories as the positions that they have in alphabetical order."""
    numbers = frame.copy()
    for column in frame.columns:
        if frame[column].dtype == "category":
            codes = frame[column].cat.codes.astype(float)
            numbers[column] = codes.where(codes >= 0)
    return numbers


def make_ensemble(kind, is_number, seed):
    if kind == "forest":
        forest = RandomForestRegressor if is_number else RandomForestClassifier
        return forest(100, min_samples_leaf=5, random_state=seed, n_jobs=1)
    boosted = (
        HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    )
    return boosted(random_state=seed, categorical_features="from_dtype")


def run_one(folder, name, kind, seed, n_train):
    """All methods on one split; a list of rows for the CSV."""
    warnings.simplefilter("ignore")
    X, y = read(folder, name)
    is_number = name in REGRESSION
    order = np.random.default_rng(seed).permutation(len(X))
    n_train = min(n_train, len(X) // 2)
    train, test = order[:n_train], order[n_train : n_train + 5000]
    numbers = as_numbers(X)
    table = numbers if kind == "forest" else X
    ensemble = make_ensemble(kind, is_number, seed)
    begin = time.perf_counter()
    ensemble.fit(table.iloc[train], y[train])
    found = Scores(name, kind, seed, y[test], is_number)
    answers = ensemble.predict(table.iloc[test])
    found.answers = answers
    found.add("ensemble", None, answers, 0, 0, time.perf_counter() - begin)
    own_rules(found, ensemble, table.iloc[train], y[train], table.iloc[test], seed)
    said = ensemble.predict(table.iloc[train])
    trees(found, numbers.iloc[train], y[train], said, numbers.iloc[test])
    return found.rows


class Scores:
    """Collects one row per method and budget."""

    def __init__(self, name, kind, seed, y, is_number):
        self.key = {"data": name, "ensemble": kind, "seed": seed}
        self.y = y
        self.is_number = is_number
        self.rows = []

    def add(self, method, budget, predicted, n_rules, n_conditions, seconds):
        if self.is_number:
            error = np.mean((predicted - self.y) ** 2) / np.var(self.y)
            fidelity = 1 - np.mean((predicted - self.answers) ** 2) / np.var(
                self.answers
            )
        else:
            error = np.mean(predicted != self.y)
            fidelity = np.mean(predicted == self.answers)
        self.rows.append(
            {
                **self.key,
                "method": method,
                "budget": budget or 0,
                "error": error,
                "fidelity": fidelity,
                "n_rules": n_rules,
                "n_conditions": n_conditions,
                "seconds": seconds,
            }
        )


def own_rules(found, ensemble, X, y, X_test, seed):
    begin = time.perf_counter()
    simple = simplify(ensemble, X, y, random_state=seed)
    seconds = time.perf_counter() - begin
    rules = simple.rules_
    found.add(
        "ours",
        None,
        rules.predict(X_test),
        rules.n_rules,
        rules.n_conditions,
        seconds,
    )
    for budget in BUDGETS:
        sizes = [n for n in simple.path_ if n <= budget]
        rules = simple.path_[min(sizes, key=simple.path_costs_.get)]
        found.add(
            "ours",
            budget,
            rules.predict(X_test),
            rules.n_rules,
            rules.n_conditions,
            seconds,
        )
    begin = time.perf_counter()
    paper = simplify(
        ensemble,
        X,
        y,
        refine=False,
        statement_weight="paper",
        target="labels",
        init="random",
        random_state=seed,
    )
    seconds = time.perf_counter() - begin
    rules = paper.rules_
    for method, predicted in (
        ("paper, posterior", paper.predict_posterior(X_test)),
        ("paper, printed", paper.predict(X_test)),
    ):
        found.add(method, None, predicted, rules.n_rules, rules.n_conditions, seconds)


def trees(found, X, y, said, X_test):
    kind = DecisionTreeRegressor if found.is_number else DecisionTreeClassifier
    for budget in BUDGETS:
        for method, target in (("tree on y", y), ("distilled tree", said)):
            begin = time.perf_counter()
            tree = kind(max_leaf_nodes=budget, random_state=0).fit(X, target)
            found.add(
                method,
                budget,
                tree.predict(X_test),
                tree.get_n_leaves(),
                tree.get_depth(),
                time.perf_counter() - begin,
            )


def tables(results):
    """One table per data set and ensemble: mean error by method and budget."""
    for (name, kind), part in results.groupby(["data", "ensemble"], sort=False):
        mean = part.groupby(["method", "budget"], sort=False).mean(numeric_only=True)
        lines = [
            [
                method if not budget else f"{method}, {budget} rules",
                f"{row.error:.4f}",
                f"{row.fidelity:.3f}",
                f"{row.n_rules:.1f}",
                f"{row.n_conditions:.1f}",
                f"{row.seconds:.2f}",
            ]
            for (method, budget), row in mean.iterrows()
        ]
        print(f"\n{name}, {kind}, {part.seed.nunique()} seeds")
        header = ["method", "error", "fidelity", "rules", "conditions", "seconds"]
        print(text_table(header, lines))


def summary(results):
    """Wins, ties and losses against the distilled tree, and the claims of the issue."""
    mean = results.groupby(["data", "ensemble", "method", "budget"]).error.mean()
    for kind in results.ensemble.unique():
        wins, total, worst = 0, 0, []
        for name in results.data.unique():
            for budget in BUDGETS:
                ours = mean[name, kind, "ours", budget]
                tree = mean[name, kind, "distilled tree", budget]
                wins += ours <= tree + 1e-12
                total += 1
                worst.append((ours - tree, name, budget))
        gap, name, budget = max(worst)
        print(f"\n{kind}: at or below the distilled tree on {wins} of {total}")
        print(f"  largest excess {gap:.4f} ({name}, {budget} rules)")
        own = results[(results.method == "ours") & (results.ensemble == kind)]
        print(f"  conditions per rule {own[own.budget == 0].n_conditions.mean():.2f}")
        beaten = [
            name
            for name in results.data.unique()
            if mean[name, kind, "ours", 0] < mean[name, kind, "paper, printed", 0]
        ]
        print(f"  below the paper's printed rules on {len(beaten)} data sets")
    ranks = results[results.budget == 10].groupby(["data", "ensemble", "method"])
    table = ranks.error.mean().unstack().rank(axis=1).mean()
    print(
        "\nMean rank at 10 rules: "
        + ", ".join(f"{m} {r:.2f}" for m, r in table.items())
    )


def plot(results, path):
    """Error against number of rules, one panel per data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(results.data.unique())
    figure, axes = plt.subplots(3, -(-len(names) // 3), figsize=(14, 9), squeeze=False)
    forest = results[results.ensemble == "forest"]
    for ax, name in zip(axes.ravel(), names, strict=False):
        part = forest[forest.data == name]
        for method, mark in (
            ("ours", "o-"),
            ("distilled tree", "s--"),
            ("tree on y", "^:"),
        ):
            line = part[(part.method == method) & (part.budget > 0)]
            line = line.groupby("budget").mean(numeric_only=True)
            ax.plot(line.n_rules, line.error, mark, label=method)
        ax.axhline(part[part.method == "ensemble"].error.mean(), color="0.5", lw=1)
        ax.set(title=name, xlabel="rules", ylabel="test error")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", default=os.environ.get("DEFRAGTREES_DATA", "../shared/data")
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--ensembles", default="forest,boosted")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="quality.csv")
    options = parser.parse_args()
    folder = Path(options.data)
    if not folder.is_dir():
        folder = Path(__file__).parent.parent / "src/defragtrees/data"
    names = sorted(
        path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")
    )
    names = options.only.split(",") if options.only else names
    jobs = [
        delayed(run_one)(folder, name, kind, seed, options.rows)
        for name in names
        for kind in options.ensembles.split(",")
        for seed in range(options.seeds)
    ]
    done = Parallel(n_jobs=options.jobs, verbose=1)(jobs)
    results = pd.DataFrame([row for rows in done for row in rows])
    results.to_csv(options.out, index=False)
    tables(results)
    summary(results)
    try:
        plot(results, Path(options.out).with_suffix(".png"))
    except ModuleNotFoundError:
        print("\nNo picture: matplotlib is not installed.")


if __name__ == "__main__":
    main()
