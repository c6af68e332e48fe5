"""Where 90 % intervals of numbers cover y: by size of the prediction and by rule.

Run as `python -m benchmarks.honesty.intervals --data FOLDER --splits 10`. Each split
fits a forest and a boosted model to up to 2,000 and to 500 rows (at most half of a
set), makes rules of each form on the same rows, and asks for intervals of up to 4,000
new rows: from the rows that were fitted, and calibrated on 1,000 others.

Coverage in a third of the predictions is a mean over the splits. That of a rule with
200 new rows or more is of one split, where chance takes some rules out of the limits:
printed beside is how many would stay inside if each covered 90 %, and how many if it
did so as far as the rows that it was counted on can say. Widths are means, in standard
deviations of y.
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
from scipy.stats import betabinom, binom

from benchmarks.data import CHOSEN_ON, REGRESSION, make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

COVERAGE = 0.9
LIMITS = (0.87, 0.93)
FORMS = ("list", "standalone", "points")
N_CALIBRATION = 1000
LEAST_ROWS = 200  # of new rows, to judge a rule by
PARTS = ("low", "middle", "high")
SMALL = {"energy", "energy_cooling", "sacramento_homes"}  # half of them is below 500


def is_inside(coverage):
    """Whether coverages are within the limits, but for rounding."""
    low, high = LIMITS
    return (coverage >= low - 1e-9) & (coverage <= high + 1e-9)


def by_chance(n_rows, n_counted=None):
    """How likely a rule is inside the limits on so many new rows.

    It covers 90 % or, if `n_counted` rows are given, what the ranks of these allow.
    """
    low, high = (round(n_rows * limit, 9) for limit in LIMITS)
    law = binom(n_rows, COVERAGE)
    if n_counted is not None:
        n = n_counted + 1
        law = betabinom(n_rows, COVERAGE * n, (1 - COVERAGE) * n)
    return law.cdf(np.floor(high)) - law.cdf(np.ceil(low) - 1)


def measured(rules, X, y, counted):
    """Width, and coverage in each third of the predictions and in each large rule.

    `counted` are the rows that the intervals rest on.
    """
    low, high = rules.predict_interval(X, COVERAGE).T
    is_covered = (low <= y) & (y <= high)
    order = np.argsort(rules.predict(X), kind="stable")
    yield "width", len(y), np.mean(high - low) / y.std(), 0
    for part, rows in zip(PARTS, np.array_split(order, len(PARTS)), strict=True):
        yield part, len(rows), is_covered[rows].mean(), 0
    members = rules._form.members(rules.covers(X)).T
    n_counted = rules._form.members(rules.covers(counted)).sum(axis=0)
    # The base of points matches all rows, so it is no rule of its own.
    n_judged = len(members) - (rules.form == "points")
    for rows, n in zip(members[:n_judged], n_counted[:n_judged], strict=True):
        if rows.sum() >= LEAST_ROWS:
            yield "rule", int(rows.sum()), is_covered[rows].mean(), int(n)


def run_one(folder, name, kind, n_fit, seed):
    """All forms on one split; a list of rows."""
    warnings.simplefilter("ignore")
    rows = make_split(folder, name, kind, seed, n_fit)
    X, y, fit = rows.X, rows.y, rows.train
    n_more = min(N_CALIBRATION, len(rows.test) // 2)
    more, test = rows.test[:n_more], rows.test[n_more:]
    found = []
    for form in FORMS:
        settings = {"form": form, "random_state": seed}
        rules = simplify(rows.model, X.iloc[fit], y[fit], **settings).rules_
        combined = rules._form
        known = combined.rows_to_calibrate(rules.covers(X.iloc[more]), y[more])
        other = dataclasses.replace(rules, residuals=combined.calibrated(known))
        for way, way_rules, counted, new in (
            ("fitted", rules, fit, rows.test),
            ("calibrated", other, more, test),
        ):
            found += [
                (form, len(fit), way, name, kind, *figures)
                for figures in measured(way_rules, X.iloc[new], y[new], X.iloc[counted])
            ]
    return found


def print_table(frame):
    """Mean coverage of each third and by rule, of each set and model."""
    lines = []
    keys = ["form", "fitted rows", "way", "data", "model"]
    for key, part in frame.groupby(keys, sort=False):
        means = part.groupby("where")["share"].mean()
        rules = part[part["where"] == "rule"]["share"]
        cells = [f"{100 * means[where]:.1f}" for where in PARTS]
        spread = f"{100 * rules.min():.0f} to {100 * rules.max():.0f}"
        cells += [spread if len(rules) else "", str(len(rules))]
        lines.append([*map(str, key), *cells, f"{means['width']:.2f}"])
    print(text_table([*keys, *PARTS, "rules", "number", "width"], lines))


def print_verdict(title, frame):
    """How many thirds and rules are inside the limits."""
    print(f"\n{title}")
    for key, part in frame.groupby(["form", "way"], sort=False):
        thirds = part[part["where"].isin(PARTS)]
        groups = ["fitted rows", "data", "model", "where"]
        means = thirds.groupby(groups)["share"].mean()
        text = f"{' '.join(key)}: {is_inside(means).sum()} of {len(means)} thirds in "
        text += f"87 to 93 % ({100 * means.min():.1f} to {100 * means.max():.1f} %)"
        rules = part[part["where"] == "rule"]
        if len(rules):
            inside = is_inside(rules["share"]).mean()
            exact = np.mean([by_chance(n) for n in rules["rows"]])
            pairs = zip(rules["rows"], rules["counted"], strict=True)
            known = np.mean([by_chance(*pair) for pair in pairs])
            text += (
                f"; {100 * inside:.0f} % of {len(rules)} rules ({100 * exact:.0f} % if "
                f"each covered 90 %, {100 * known:.0f} % as known from its rows), mean "
                f"{100 * rules['share'].mean():.1f} %"
            )
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [
        delayed(run_one)(options.data, name, kind, n_fit, seed)
        for name in sorted(REGRESSION)
        for kind in ("forest", "boosted")
        for n_fit in (2000, 500)
        if n_fit == 2000 or name not in SMALL
        for seed in range(options.splits)
    ]
    parts = Parallel(options.jobs)(tasks)
    names = "form,fitted rows,way,data,model,where,rows,share,counted".split(",")
    frame = pd.DataFrame([row for part in parts for row in part], columns=names)
    print_table(frame)
    is_chosen_on = frame["data"].isin(CHOSEN_ON)
    print_verdict("Sets that settings were chosen on", frame[is_chosen_on])
    print_verdict("Sets held out", frame[~is_chosen_on])


if __name__ == "__main__":
    main()
