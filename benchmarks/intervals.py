"""How often intervals of numbers hold, and how wide they are, on every data set.

Run as `python -m benchmarks.intervals --data FOLDER --splits 10`. Each split fits an
ensemble and its rules to up to 2,000 rows, calibrates with up to 1,000 others and asks
up to 4,000 more: intervals from the rows that were fitted, and calibrated ones; each
with widths that follow the rule, and with one width for all. Widths are means, in
standard deviations of y.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import dataclasses
import warnings

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.quality_data import REGRESSION, make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

COVERAGE = 0.9
WAYS = ("fitted", "fitted, one width", "calibrated", "calibrated, one width")
N_FIT, N_CALIBRATION = 2000, 1000


def without_spread(rules):
    """The rules with one width for all: nobody measured their spread."""
    bare = [dataclasses.replace(rule, spread=None) for rule in rules]
    return dataclasses.replace(rules, rules=tuple(bare[:-1]), default=bare[-1])


def left_out(rules, X, y):
    """Rules whose one width is from the rows that they were fitted to."""
    places = rules.apply(X)
    n_rows = np.bincount(places, minlength=rules.n_rules)[places]
    n_conditions = sum(rule.n_conditions for rule in rules)
    growth = n_rows / np.maximum(n_rows - 1, 1) * (1 + 3 * n_conditions / len(y))
    scores = np.abs(y - rules.predict(X)) * growth
    return without_spread(rules).with_scores(scores)


def run_one(folder, name, kind, seed):
    """All ways on one split; a list of rows."""
    warnings.simplefilter("ignore")
    rows = make_split(folder, name, kind, seed, N_FIT)
    X, y, fit = rows.X, rows.y, rows.train
    n_more = min(N_CALIBRATION, len(rows.test) // 2)
    more, test = rows.test[:n_more], rows.test[n_more:]
    rules = simplify(rows.ensemble, X.iloc[fit], y[fit], random_state=seed).rules_
    ways = (
        rules,
        left_out(rules, X.iloc[fit], y[fit]),
        rules.calibrated(X.iloc[more], y[more]),
        without_spread(rules).calibrated(X.iloc[more], y[more]),
    )
    measured = []
    for way, told in zip(WAYS, ways, strict=True):
        low, high = told.predict_interval(X.iloc[test], COVERAGE).T
        measured.append(
            {
                "data": name,
                "ensemble": kind,
                "way": way,
                "covered": np.mean((low <= y[test]) & (y[test] <= high)),
                "width": np.mean(high - low) / y.std(),
            }
        )
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        delayed(run_one)(options.data, name, kind, seed)
        for name in sorted(REGRESSION)
        for kind in ("forest", "boosted")
        for seed in range(options.splits)
    ]
    parts = Parallel(options.jobs)(tasks)
    frame = pd.DataFrame([row for part in parts for row in part])
    means = frame.groupby(["data", "ensemble", "way"], sort=False).mean().unstack()
    cells = [
        [
            name,
            kind,
            *(
                f"{100 * row['covered', way]:.1f} % {row['width', way]:.2f}"
                for way in WAYS
            ),
        ]
        for (name, kind), row in means.iterrows()
    ]
    print(text_table(["data", "ensemble", *WAYS], cells))
    for way in WAYS:
        covered = means["covered"][way]
        print(
            f"{way}: {100 * covered.min():.1f} to {100 * covered.max():.1f} % covered"
        )


if __name__ == "__main__":
    main()
