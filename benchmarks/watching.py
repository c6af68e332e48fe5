"""Whether a check of rules in use cries wolf, and whether it cries at the wolf.

Run as `python -m benchmarks.watching --data FOLDER`. Rules are fitted to 1,500 rows of
a real set; batches of 1,000 of its other rows are checked as they are (every alarm is
false), with the column that rules ask about most moved by half a standard deviation,
with two categories swapped, and with 30 % of the answers turned to another one. Printed
is the share of checks that raise an alarm, by set, form and change.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality_data import REGRESSION, make_ensemble, read
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

N_TRAIN, N_NEW = 1500, 1000
SHARE_TURNED = 0.3
FORMS = ("list", "standalone", "points")
CHANGES = ("none", "column moved", "categories swapped", "answers turned")


def changed(X, y, rules, change, rng):
    """A batch in which something is otherwise; None where that cannot be."""
    if change == "column moved":
        name = most_used(rules, [c for c in X.columns if X[c].dtype != "category"])
        return None if name is None else (moved(X, name), y)
    if change == "categories swapped":
        name = most_used(rules, [c for c in X.columns if X[c].dtype == "category"])
        return None if name is None else (swapped(X, name), y)
    if change == "answers turned":
        return X, turned(y, rng)
    return X, y


def most_used(rules, names):
    """Of some columns the one that most conditions are about."""
    asked = Counter(
        rules.feature_names[c.feature] for rule in rules for c in rule.conditions
    )
    return max((n for n in names if asked[n]), key=asked.get, default=None)


def moved(X, name):
    """Every value half a standard deviation higher."""
    return X.assign(**{name: X[name].astype(float) + 0.5 * X[name].std()})


def swapped(X, name):
    """The two most frequent categories take each other's name."""
    first, second = X[name].value_counts().index[:2]
    names = {first: second, second: first}
    words = X[name].astype(object).map(lambda word: names.get(word, word))
    return X.assign(**{name: words.astype(X[name].dtype)})


def turned(y, rng):
    """Some of the answers are another one; numbers are half a deviation higher."""
    if y.dtype.kind == "f":
        return y + 0.5 * y.std()
    labels = np.unique(y)
    other = labels[(np.searchsorted(labels, y) + 1) % len(labels)]
    return np.where(rng.random(len(y)) < SHARE_TURNED, other, y)


def run_one(X, y, name, form, seed, n_batches):
    """Whether each check of one fit raises an alarm, as rows of a table."""
    rng = np.random.default_rng([seed, 11])
    order = rng.permutation(len(X))
    train, rest = order[:N_TRAIN], order[N_TRAIN:]
    ensemble = make_ensemble("boosted", name in REGRESSION, seed)
    ensemble.fit(X.iloc[train], y[train])
    settings = {"form": form, "max_rules": 6, "random_state": seed}
    rules = simplify(ensemble, X.iloc[train], y[train], **settings).rules_
    lines = []
    for _ in range(n_batches):
        new = rng.choice(rest, N_NEW, replace=False)
        for change in CHANGES:
            batch = changed(X.iloc[new], y[new], rules, change, rng)
            if batch is not None:
                alarm = rules.check(*batch).has_moved
                lines.append((name, form, change, alarm))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--sets", default="adult,magic,california_housing")
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--batches", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name in options.sets.split(","):
        X, y = read(Path(options.data), name)
        y = y.astype(float) if name in REGRESSION else y
        for form in FORMS:
            for seed in range(options.fits):
                lines += run_one(X, y, name, form, seed, options.batches)
    table = pd.DataFrame(lines, columns=["set", "form", "change", "alarm"])
    share = table.groupby(["set", "form", "change"], sort=False).alarm.mean().unstack()
    rows = [
        [*key, *("" if pd.isna(v) else f"{100 * v:.1f} %" for v in share.loc[key])]
        for key in share.index
    ]
    print(text_table(["set", "form", *share.columns], rows))
    print(
        f"{options.fits} fits of each form, {options.batches} batches of {N_NEW} rows."
    )


if __name__ == "__main__":
    main()
