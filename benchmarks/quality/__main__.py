"""How well rules predict: ours, small trees and FIGS, on every data set.

Run as `make quality`, or `python -m benchmarks.quality --data FOLDER --seeds 5`. Every
set in the folder (see `benchmarks.data`) is split at random, a forest and a boosted
model are trained, and all methods are scored on the rows left out: share of wrong
classes, or squared error as a share of the variance; with two classes also AUC, log
loss, calibration by rule, recall and cost. Results go to a CSV, tables and what the
rules have to reach (see `benchmarks.quality.bars`) to the screen.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from benchmarks.data import RARE, REGRESSION, make_split
from benchmarks.quality.bars import print_bars
from benchmarks.quality.halves import run_halves
from benchmarks.quality.methods import (
    Scores,
    add_bounds,
    add_intervals,
    add_paper,
    add_rules,
)
from benchmarks.quality.optimal_trees import has_streed
from benchmarks.quality.trees import add_figs, add_optimal, add_trees, has_figs
from defragtrees._utils.formatting import text_table

MEASURES = ("auc", "log_loss", "calibration", "error", "n_rules", "mean_conditions")
N_INTERVAL_SPLITS = 10


def run_one(folder, name, kind, seed, n_train, also=()):
    """All methods on one split; a list of rows for the CSV.

    `also` may name "optimal" and "paper".
    """
    warnings.simplefilter("ignore")
    scores = Scores(make_split(folder, name, kind, seed, n_train))
    add_bounds(scores)
    add_rules(scores)
    add_trees(scores)
    add_figs(scores)
    if "optimal" in also:
        add_optimal(scores)
    if "paper" in also:
        add_paper(scores)
    return scores.rows


def run_intervals(folder, name, seed, n_train):
    """Intervals of one split of a regression."""
    warnings.simplefilter("ignore")
    scores = Scores(make_split(folder, name, "forest", seed, n_train))
    add_intervals(scores)
    return scores.rows


def tables(results):
    """One table per data set and model: means by method and budget."""
    header = ["method", "error", "fidelity", "AUC", "log loss", "off", "rules"]
    header += ["conditions", "seconds"]
    columns = ["error", "fidelity", "auc", "log_loss", "calibration", "n_rules"]
    columns += ["mean_conditions", "seconds"]
    for (name, kind), part in results.groupby(["data", "model"], sort=False):
        mean = part.groupby(["method", "budget"], sort=False)[columns].mean()
        lines = [
            [
                method if not budget else f"{method}, {budget} rules",
                *("" if pd.isna(value) else f"{value:.4g}" for value in row),
            ]
            for (method, budget), row in mean.iterrows()
        ]
        print(f"\n{name}, {kind}, {part.seed.nunique()} seeds")
        print(text_table(header, lines))


def by_method(results):
    """Means of the sets with two classes by method, over models and budgets."""
    part = results.dropna(subset=["log_loss"])
    part = part[(part.budget > 0) & ~part.data.isin(RARE)]
    table = part.groupby("method", sort=False)[list(MEASURES)].mean()
    return table.sort_values("log_loss").round(4)


def by_set(results, measure):
    """Means of a measure by method and set with two classes."""
    part = results.dropna(subset=["log_loss"])
    bounds = part.method.isin(["model", "base rate"])
    part = part[(part.budget > 0) | bounds]
    mean = part.groupby(["method", "data"], sort=False)[measure].mean()
    return mean.unstack().round(4)


def markdown(table):
    """A data frame as a table in Markdown."""
    head = ["" if table.index.name is None else table.index.name, *table.columns]
    lines = [head, ["---"] * len(head)]
    for name, row in table.iterrows():
        values = ["" if pd.isna(value) else str(value) for value in row]
        lines.append([str(name), *values])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_markdown(results, bars, path):
    """The bars and the means, for the documentation."""
    header = ["bar", "needed", "all", "chosen on", "kept aside", "n", "verdict"]
    frame = pd.DataFrame(bars, columns=header).set_index("bar")
    n_seeds = results[results.method == "model"].seed.nunique()
    parts = [
        f"Written by `make quality`: {n_seeds} seeds.",
        markdown(frame),
        "Means over the sets with two classes, both models, 4 to 10 rules:",
        markdown(by_method(results)),
    ]
    for measure in ("auc", "log_loss", "error", "calibration"):
        parts += [f"{measure}, by set:", markdown(by_set(results, measure))]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def plot(results, path):
    """Error against number of rules, one panel per data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(results.data.unique())
    figure, axes = plt.subplots(4, -(-len(names) // 4), figsize=(16, 12), squeeze=False)
    forest = results[results.model == "forest"]
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
        ax.axhline(part[part.method == "model"].error.mean(), color="0.5", lw=1)
        ax.set(title=name, xlabel="rules", ylabel="test error")
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", default=os.environ.get("DEFRAGTREES_DATA", "../shared/data")
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1500)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--models", default="forest,boosted")
    parser.add_argument("--paper", action="store_true", help="the paper's method too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", default="quality.csv")
    return parser.parse_args()


def run_all(options, folder):
    """The rows of all splits."""
    names = sorted(p.name.removesuffix(".csv.gz") for p in folder.glob("*.csv.gz"))
    names += [name for name in RARE if name.removesuffix("_rare") in names]
    names = options.only.split(",") if options.only else names
    also = ["optimal"] * has_streed() + ["paper"] * options.paper
    jobs = [
        delayed(run_one)(folder, name, kind, seed, options.rows, also)
        for name in names
        for kind in options.models.split(",")
        for seed in range(options.seeds)
    ]
    jobs += [
        delayed(run_intervals)(folder, name, seed, options.rows)
        for name in names
        if name in REGRESSION
        for seed in range(N_INTERVAL_SPLITS)
    ]
    jobs += [
        delayed(run_halves)(folder, name, kind, seed, options.rows)
        for name in names
        if name not in RARE
        for kind in options.models.split(",")
        for seed in range(options.seeds)
    ]
    done = Parallel(n_jobs=options.jobs, verbose=1)(jobs)
    return pd.DataFrame([row for rows in done for row in rows])


def main():
    options = parse()
    folder = Path(options.data)
    if not folder.is_dir():
        folder = Path(__file__).parents[2] / "src/defragtrees/datasets"
    results = run_all(options, folder)
    results.to_csv(options.out, index=False, float_format="%.6g")
    tables(results)
    print("\nMeans over the sets with two classes, both models, 4 to 10 rules")
    print(by_method(results).to_string())
    if not has_figs():
        print("\nNo FIGS: imodels is not installed.")
    if not has_streed():
        print("\nNo optimal trees: pystreed is not installed.")
    bars = print_bars(results)
    write_markdown(results, bars, Path(options.out).with_suffix(".md"))
    try:
        plot(results, Path(options.out).with_suffix(".png"))
    except ModuleNotFoundError:
        print("\nNo picture: matplotlib is not installed.")


if __name__ == "__main__":
    main()
