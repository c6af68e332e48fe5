"""How many other rule models are as good, how they differ, and how they do on new rows.

Run as `python -m benchmarks.quality.alternatives --data FOLDER --plot FILE`. Each split
fits a forest to 2,000 rows of a set (at most half of it), makes rules and asks for up
to ten alternatives. Their loss on up to 5,000 new rows (the Brier score, or the mean
squared error as a share of the variance) is compared with that of the rules, and with
that of the best on the rows that count.

Sets are every other one in alphabetical order, from the second on; the others served to
choose settings.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.data import make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

N_TRAIN = 2000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    names = sorted(path.name.split(".")[0] for path in given.data.glob("*.csv.gz"))
    tasks = [
        delayed(measured)(given.data, name, seed)
        for name in names[1::2]
        for seed in range(given.seeds)
    ]
    rows, apart = zip(*Parallel(given.jobs)(tasks), strict=True)
    table = pd.DataFrame(rows)
    cells = table.map(lambda v: f"{v:.4f}" if isinstance(v, float) else str(v))
    print(text_table([*table], cells.to_numpy().tolist()))
    every = np.concatenate(apart)
    print(
        f"\n{len(every)} alternatives in {len(rows)} fits. On new rows their loss is "
        f"{every.mean():+.4f} on average beside the rules of the fit, "
        f"{table['beside best'].mean():+.4f} beside the best (mean of the fits), "
        f"{np.quantile(every, 0.9):+.4f} or more for one in ten; columns in common: "
        f"{table['columns'].mean():.2f}, predictions as the rules: "
        f"{table['agreement'].mean():.2f}"
    )
    if given.plot is not None:
        draw(given.plot, table, apart)


def measured(folder, name, seed):
    """The line of a fit, and the differences of its alternatives on new rows."""
    warnings.simplefilter("ignore")
    split = make_split(folder, name, "forest", seed, N_TRAIN)
    train, test = (split.X.iloc[rows] for rows in (split.train, split.test))
    y, y_new = split.y[split.train], split.y[split.test]
    begin = time.perf_counter()
    simple = simplify(split.model, train, y, random_state=0)
    fitted = time.perf_counter() - begin
    menu = simple.alternatives(train, y)
    searched = time.perf_counter() - begin - fitted
    losses = [loss(rules, test, y_new) for rules in menu]
    best = losses[int(np.argmin(menu.losses))]
    apart = np.array([own.mean() - losses[0].mean() for own in losses[1:]])
    columns = [set(rules.features) for rules in menu]
    shares = [len(a & b) / len(a | b) for a, b in itertools.combinations(columns, 2)]
    errors = [np.std(own - losses[0]) / np.sqrt(len(test)) for own in losses[1:]]
    return {
        "set": name,
        "seed": seed,
        "others": len(menu) - 1,
        "columns": float(np.mean(shares or [1.0])),
        "agreement": float(np.mean(menu.agreement[1:] or [1.0])),
        "beside rules": float(apart.mean()) if len(apart) else 0.0,
        "beside best": float(np.mean([own.mean() - best.mean() for own in losses])),
        "standard error": float(np.mean(errors or [0.0])),
        "fits": round(searched / fitted),
    }, apart


def loss(rules, X, y):
    """The loss of each row."""
    if not rules.outcome.n_classes:
        return (np.asarray(rules.predict(X)) - y) ** 2 / np.var(y)
    likely = rules.predict_proba(X)
    # A class that no training row has is no column.
    true = np.asarray(y)[:, None] == np.array(rules.classes)
    apart = ((likely - true) ** 2).sum(axis=1)
    return apart / 2 if rules.outcome.is_binary else apart


def draw(path, table, apart):
    """Plot the difference of each alternative on new rows, by set."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 0.35 * len(table) + 1.2), layout="tight")
    for k, (values, error) in enumerate(
        zip(apart, table["standard error"], strict=True)
    ):
        ax.barh(k, 2 * error, left=-error, height=0.6, color="0.88")
        ax.plot(values, np.full(len(values), k), "o", ms=4, alpha=0.7, color="C0")
    ax.axvline(0, color="0.5", lw=1)
    ax.set_yticks(range(len(table)), labels=table["set"])
    ax.invert_yaxis()
    ax.set_xlabel(
        "loss on new rows beside that of the rules; grey: one standard error of it"
    )
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
