r"""Rules of many rows on new rows: two versions of the library on the same tables.

    PYTHONPATH=OLD/src:. \
        python -m benchmarks.quality.many_rows --data FOLDER --out old.csv
    python -m benchmarks.quality.many_rows --data FOLDER --out new.csv
    python -m benchmarks.quality.many_rows --compare old.csv new.csv

Lists of at most ten rules are made on 120,000 rows and judged on 100,000 others: which
share of the variance of the model's outputs, and of y, they leave unexplained. Rows of
real tables are drawn near those of the table, with y by a boosted model. Settings were
chosen on the cases of `CHOSEN_ON`.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from benchmarks.speed.rows import labels, make_block
from defragtrees import DefragClassifier, DefragRegressor
from defragtrees.data.sampling import draw_rows

N_ROWS, N_NEW, N_TRAINING = 120_000, 100_000, 30_000
CHOSEN_ON = ("higgs_like", "friedman", "miniboone", "adult", "magic")
WIDTHS = {"higgs_like": 28, "friedman": 12, "steps": 20, "waves": 16}
FORESTS = ("miniboone", "steps", "california_housing", "wine_quality")
NUMBERS = ("friedman", "waves", "california_housing")
CASES = (*CHOSEN_ON, "steps", "waves", "higgs", "california_housing", "wine_quality")


def boosted(name):
    """A boosted model for the y of a case."""
    if name in NUMBERS:
        return HistGradientBoostingRegressor(early_stopping=False, random_state=0)
    return HistGradientBoostingClassifier(early_stopping=False, random_state=0)


def synthetic(name, seed):
    """Rows of numbers, with y by a formula."""
    half, rng = (N_ROWS + N_NEW) // 2, np.random.default_rng([seed, 9])
    blocks = [make_block(100 * seed + 7 + i, half, WIDTHS[name]) for i in range(2)]
    X = np.concatenate(blocks)
    x, noise = X.T, rng.normal(size=len(X))
    if name == "higgs_like":
        return X, labels(X)
    if name == "friedman":
        sine = 10 * np.sin(x[0] * x[1]) + 5 * (x[2] - 0.5) ** 2
        return X, sine + 4 * x[3] + 3 * x[4] * (x[5] > 0) + noise
    if name == "waves":
        sine = np.sin(2 * x[0]) + np.cos(x[1] * x[2]) + np.abs(x[4])
        return X, sine + 0.5 * x[-1] * x[5] + noise
    score, fixed = np.zeros(len(X)), np.random.default_rng(4)
    for _ in range(12):
        columns = fixed.choice(15, 3, replace=False)
        ends = [np.quantile(x[j][:5000], fixed.uniform(0.2, 0.8)) for j in columns]
        inside = np.all([x[j] > e for j, e in zip(columns, ends, strict=True)], axis=0)
        score += 1.5 * fixed.normal() * inside
    chance = 1 / (1 + np.exp(score.mean() - score))
    return X, (rng.random(len(X)) < chance).astype(int)


def real(name, seed, folder):
    """Rows near those of a table, with y by a model of the table."""
    frame = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    is_set = np.array([own.dtype.kind not in "fiub" for _, own in frame.items()])
    for column in frame.columns[is_set]:
        frame[column] = frame[column].astype("category").cat.codes
    y = frame.pop("target").to_numpy()
    X, rng = frame.to_numpy(float), np.random.default_rng([seed, 5])
    truth = boosted(name).fit(X, y)
    rows = draw_rows(X, N_ROWS + N_NEW, is_set[:-1], rng)
    if name in NUMBERS:
        spread = (y - truth.predict(X)).std()
        return rows, truth.predict(rows) + spread * rng.normal(size=len(rows))
    reached = truth.predict_proba(rows).cumsum(axis=1)
    place = (rng.random(len(rows))[:, None] > reached).sum(axis=1)
    return rows, truth.classes_[np.minimum(place, len(truth.classes_) - 1)]


def unexplained(values, predicted):
    """The share of the variance of some columns that predictions leave."""
    left = ((values - predicted) ** 2).sum()
    return left / ((values - values.mean(axis=0)) ** 2).sum()


def measure(name, seed, folder):
    """One list of ten rules; what it leaves unexplained, and its seconds."""
    X, y = synthetic(name, seed) if name in WIDTHS else real(name, seed, folder)
    model = boosted(name)
    if name in FORESTS:
        forest = RandomForestRegressor if name in NUMBERS else RandomForestClassifier
        model = forest(60, min_samples_leaf=20, max_depth=10, random_state=0)
    model.fit(X[:N_TRAINING], y[:N_TRAINING])
    kind = DefragRegressor if name in NUMBERS else DefragClassifier
    simple, begin = kind(model, max_rules=10, random_state=0), time.process_time()
    simple.fit(X[:N_ROWS], y[:N_ROWS])
    seconds, new = time.process_time() - begin, X[N_ROWS:]
    truth = y[N_ROWS:, None]
    if name in NUMBERS:
        told, found = model.predict(new)[:, None], simple.predict(new)[:, None]
    else:
        told, found = model.predict_proba(new), simple.predict_proba(new)
        truth = (truth == model.classes_).astype(float)
    return unexplained(told, found), unexplained(truth, found), seconds


def compare(old, new):
    """Print the means of both, and of their differences with a standard error."""
    old, new = (pd.read_csv(path).set_index(["case", "seed"]) for path in (old, new))
    both = old.add_suffix("_old").join(new.add_suffix("_new"), how="inner")
    both = both.reset_index()
    is_chosen = both["case"].isin(CHOSEN_ON)
    groups = {name: both[both["case"] == name] for name in both["case"].unique()}
    groups |= {"chosen on": both[is_chosen], "confirmed on": both[~is_chosen]}
    print(
        "case                 n  model old    new   change (se)      y change (se)   s"
    )
    for name, own in {**groups, "all": both}.items():
        cells = f"{name:<19} {len(own):>2}"
        for what in ("model", "y"):
            apart = own[f"{what}_new"] - own[f"{what}_old"]
            if what == "model":
                means = own["model_old"].mean(), own["model_new"].mean()
                cells += "     {:.4f} {:.4f}".format(*means)
            cells += f"  {apart.mean():+.4f} ({apart.std() / len(apart) ** 0.5:.4f})"
        seconds = own["seconds_old"].mean(), own["seconds_new"].mean()
        print(cells + "  {:.1f} {:.1f}".format(*seconds))


def main():
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder with the real tables")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", default="sample.csv")
    parser.add_argument("--compare", nargs=2)
    options = parser.parse_args()
    if options.compare:
        compare(*options.compare)
        return
    with open(options.out, "w", encoding="utf-8") as out:
        print("case,seed,model,y,seconds", file=out)
        for seed in range(options.seeds):
            for name in CASES if options.data else WIDTHS:
                values = measure(name, seed, options.data)
                print(name, seed, *values, sep=",", file=out, flush=True)


if __name__ == "__main__":
    main()
