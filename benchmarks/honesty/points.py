"""Whether 95 % intervals of totals contain the rate of new rows, at both ends.

Run as `python -m benchmarks.honesty.points --data FOLDER --half odd`; settings were
chosen on the sets with odd places in alphabetical order and confirmed on the others.
Each split fits a forest and a boosted model to 500 and to 2,000 rows (at most half of a
set) and makes a scorecard, with and without half as many validation rows; every other
split has whole points. New rows are sorted by their probability and cut at 5, 20 and
50 %, then into up to four groups of 200 rows or more. The rate of a group is known as
far as its rows allow, so their standard error is added to the mean interval.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from itertools import product

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from benchmarks.data import as_numbers, make_model, read
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

BINARY = (
    "adult",
    "adult_rare",
    "breast_w",
    "card_default",
    "compas",
    "credit_status",
    "higgs",
    "magic",
    "magic_rare",
    "miniboone",
    "mortgage_denied",
    "orange_juice",
    "phone_churn",
    "remote_work",
    "spambase",
)
CUTS = (0.05, 0.2, 0.5)
REGIONS = ("P <= 5 %", "5 - 20 %", "20 - 50 %", "P > 50 %")
GROUP_ROWS, MOST_GROUPS, LEAST_ROWS = 200, 4, 100
MOST_NEW_ROWS = 20_000


def run_one(folder, name, kind, n_fit, seed, with_validation):
    """The groups of new rows of one scorecard."""
    X, y = read(folder, name)
    y = np.unique(y, return_inverse=True)[1]
    y = 1 - y if y.mean() > 0.5 else y
    X = as_numbers(X).fillna(-1) if kind == "forest" else X
    n_fit = min(n_fit, len(X) // 2)
    order = np.random.default_rng(seed).permutation(len(X))
    fitted, known, new = np.split(order, [n_fit, n_fit + n_fit // 2])
    if not with_validation:
        known, new = known[:0], np.append(known, new)
    new = new[:MOST_NEW_ROWS]
    model = make_model(kind, False, seed).fit(X.iloc[fitted], y[fitted])
    validation = (X.iloc[known], y[known]) if len(known) else None
    points = "integer" if seed % 2 else "exact"
    rules = simplify(
        model,
        X.iloc[fitted],
        y[fitted],
        validation=validation,
        form="points",
        points=points,
        random_state=seed,
    ).rules_
    likely = rules.predict_proba(X.iloc[new])[:, 1]
    ends = rules.rate_interval(X.iloc[new])
    loss = log_loss(y[new], likely)
    regions = np.searchsorted(CUTS, likely)
    for place, region in enumerate(REGIONS):
        rows = np.flatnonzero(regions == place)
        rows = rows[np.argsort(likely[rows], kind="stable")]
        if len(rows) < LEAST_ROWS:
            continue
        n_groups = int(np.clip(len(rows) // GROUP_ROWS, 1, MOST_GROUPS))
        for group in np.array_split(rows, n_groups):
            rate, mean = y[new][group].mean(), likely[group].mean()
            error = 1.96 * np.sqrt(mean * (1 - mean) / len(group))
            low, high = ends[group].mean(axis=0)
            reach = np.hypot(error, mean - low if rate < mean else high - mean)
            is_inside = low <= rate <= high or abs(rate - mean) <= reach
            yield {
                "data": name,
                "rows": f"{n_fit if n_fit in (500, 2000) else 'fewer'}",
                "validation": "with" if with_validation else "without",
                "region": region,
                "points": points,
                "model": kind,
                "predicted": mean,
                "observed": rate,
                "width": high - low,
                "inside": is_inside,
                "tails": bool(rules.tails),
                "loss": loss,
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--half", choices=["odd", "even"], default="odd")
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = BINARY[options.half == "even" :: 2]
    cases = product(
        range(options.splits), names, ("forest", "boosted"), (500, 2000), (False, True)
    )
    found = pd.DataFrame(
        [
            row
            for seed, name, kind, n_fit, with_validation in cases
            for row in run_one(options.data, name, kind, n_fit, seed, with_validation)
        ]
    )
    lines = []
    for keys in (["rows", "validation", "region"], ["points"], ["model"], ["data"]):
        for key, part in found.groupby(keys, sort=False):
            means = part[["predicted", "observed", "width", "inside"]].mean() * 100
            shares = [f"{value:.1f} %" for value in means]
            lines.append([", ".join(map(str, key)), str(len(part)), *shares])
    header = ["part", "groups", "predicted", "observed", "width", "inside"]
    print(text_table(header, lines))
    print(
        f"{options.half} sets: {100 * found['inside'].mean():.1f} % of {len(found)} "
        f"groups inside; {100 * found['tails'].mean():.0f} % of scorecards with tails; "
        f"mean log loss {found['loss'].mean():.4f}"
    )


if __name__ == "__main__":
    main()
