"""Whether 95 % intervals of means contain the mean of new rows of a rule.

Run as `python -m benchmarks.honesty.means --data FOLDER --splits 4`. Each split fits a
forest and a boosted model to up to 2,000 and to 500 rows (at most half of a set) and
makes a list and standalone rules on the same rows. The mean of new rows is known as far
as their number allows, so its own standard error is added to the interval; rules with
fewer than 100 new rows are left out.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import math
import warnings

import numpy as np
import pandas as pd

from benchmarks.data import CHOSEN_ON, REGRESSION, make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

LEAST_ROWS = 100
N_FITTED = (2000, 500)


def run_one(folder, name, kind, n_fit, seed):
    """Of each rule of each form, whether its interval contains the mean of new rows."""
    rows = make_split(folder, name, kind, seed, n_fit)
    X, y, new = rows.X.iloc[rows.train], rows.y[rows.train], rows.test
    for form in ("list", "standalone"):
        rules = simplify(rows.model, X, y, form=form, random_state=seed).rules_
        members = rules._form.members(rules.covers(rows.X.iloc[new])).T
        known = zip(rules, members, rules._mean_intervals, strict=True)
        for rule, inside, interval in known:
            if inside.sum() < LEAST_ROWS or interval is None:
                continue
            here = rows.y[new][inside]
            error = here.std() / math.sqrt(len(here)) * 1.96
            low, high = (abs(end - rule.prediction) for end in interval)
            apart = here.mean() - rule.prediction
            reach = math.hypot(error, low if apart < 0 else high)
            yield form, len(X), name, name in CHOSEN_ON, abs(apart) <= reach


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = pd.DataFrame(
        [
            row
            for name in sorted(REGRESSION)
            for kind in ("forest", "boosted")
            for n_fit in N_FITTED
            for seed in range(options.splits)
            for row in run_one(options.data, name, kind, n_fit, seed)
        ],
        columns=["form", "fitted rows", "data", "chosen on", "covered"],
    )
    lines = []
    for keys in (["form"], ["fitted rows"], ["data"], ["chosen on"]):
        for key, part in found.groupby(keys):
            cells = [keys[0], str(*key), str(len(part))]
            lines.append([*cells, f"{100 * np.mean(part['covered']):.1f} %"])
    print(text_table(["by", "", "rules", "covered"], lines))
    print(f"all: {100 * np.mean(found['covered']):.1f} % of {len(found)}")


if __name__ == "__main__":
    main()
