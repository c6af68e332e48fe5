"""Whether 95 % intervals contain what they are of on new rows.

Run as `python -m benchmarks.honesty.means --data FOLDER --splits 4`. Each split fits
models to up to 2,000 and to 500 rows (at most half of a set), makes rules of each form
on the same rows, and counts on up to 5,000 new rows

- means: of y in the rows of a rule, by a forest and a boosted model;
- quantiles: the same of models for the 10 %, 50 % and 90 % quantile, and beside it how
  many y are at most what is predicted;
- numbers: `predict_frame(interval=0.95)`, which `explain` prints at 80 %;
- rates: of rows with about the same points, in tenths of the intervals of `explain`.

The truth in new rows is known as far as their number allows, so its own error is added
to the interval; groups with fewer than 100 new rows are left out.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import math
import warnings

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.data import CHOSEN_ON, REGRESSION, make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table
from defragtrees.outcomes.quantiles import Quantiles

LEAST_ROWS = 100
N_FITTED = (2000, 500)
LEVELS = (0.1, 0.5, 0.9)
BINARY = ("adult", "credit_status", "compas", "magic", "phone_churn", "remote_work")
COLUMNS = ("kind", "form", "level", "fitted rows", "data", "half", "covered")


def holds(estimate, interval, seen):
    """Whether an interval contains what is seen, as far as its own interval says."""
    value, *ends = seen
    k = int(value > estimate)
    reach = math.hypot(interval[k] - estimate, value - ends[1 - k])
    return abs(value - estimate) <= reach


def seen_mean(values):
    """The mean of some values and its interval."""
    half = 1.96 * values.std() / math.sqrt(len(values))
    return values.mean(), values.mean() - half, values.mean() + half


def of_rules(rules, X, y, seen):
    """For each rule with an interval, whether it contains what is seen of y."""
    members = rules._form.members(rules.covers(X)).T
    for rule, inside, interval in zip(
        rules, members, rules._mean_intervals, strict=True
    ):
        if inside.sum() >= LEAST_ROWS and interval is not None:
            yield holds(rule.prediction, interval, seen(y[inside]))


def of_numbers(folder, name, n_fit, seed):
    """Means, quantiles and predictions of numbers."""
    for kind in ("forest", "boosted"):
        rows = make_split(folder, name, kind, seed, n_fit)
        X, y = rows.X.iloc[rows.train], rows.y[rows.train]
        new, y_new = rows.X.iloc[rows.test], rows.y[rows.test]
        for form in ("list", "standalone", "points"):
            rules = simplify(rows.model, X, y, form=form, random_state=seed).rules_
            low, high = rules.predict_interval(new, 0.95).T
            key = form, "", len(X)
            yield "numbers", *key, np.mean((low <= y_new) & (y_new <= high))
            if form != "points":
                for found in of_rules(rules, new, y_new, seen_mean):
                    yield "means", *key, found
    for level in LEVELS:
        model = HistGradientBoostingRegressor(
            loss="quantile",
            quantile=level,
            random_state=seed,
            categorical_features="from_dtype",
        ).fit(X, y)
        share = np.mean(y_new <= model.predict(new))
        yield "quantile, model", "", level, len(X), share
        for form in ("list", "standalone"):
            rules = simplify(model, X, y, form=form, random_state=seed).rules_
            key = form, level, len(X)
            share = np.mean(y_new <= rules.predict(new))
            yield "quantile, y up to it", *key, share

            def seen(values, level=level):
                return Quantiles(level).observed(values, np.ones(len(values)))

            for found in of_rules(rules, new, y_new, seen):
                yield "quantiles", *key, found


def of_rates(folder, name, n_fit, seed):
    """Intervals of rates, by points."""
    rows = make_split(folder, name, "forest", seed, n_fit)
    X, new = rows.X.iloc[rows.train], rows.X.iloc[rows.test]
    rules = simplify(
        rows.model, X, rows.y[rows.train], form="points", random_state=seed
    ).rules_
    chance, ends = rules.predict_proba(new)[:, 1], rules.rate_interval(new)
    is_second = rows.y[rows.test] == rules.classes[1]
    tenth = np.searchsorted(np.quantile(chance, np.arange(0.1, 1, 0.1)), chance)
    for k in np.unique(tenth):
        inside = tenth == k
        if inside.sum() >= LEAST_ROWS:
            found = holds(
                chance[inside].mean(),
                ends[inside].mean(axis=0),
                seen_mean(is_second[inside]),
            )
            yield "rates", "points", "", len(X), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--splits", type=int, default=4)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for names, measure in ((REGRESSION, of_numbers), (BINARY, of_rates)):
        for name in sorted(names):
            half = "chosen on" if name in CHOSEN_ON else "other"
            for n_fit in N_FITTED:
                for seed in range(options.splits):
                    found += [
                        (*line[:4], name, half, *line[4:])
                        for line in measure(options.data, name, n_fit, seed)
                    ]
    found = pd.DataFrame(found, columns=COLUMNS)
    lines = []
    for kind, part in found.groupby("kind"):
        for column in ("kind", "form", "level", "fitted rows", "data", "half"):
            for key, some in part.groupby(column):
                if column == "kind" or key != "":
                    share = f"{100 * some['covered'].astype(float).mean():.1f} %"
                    key = "all" if column == "kind" else key
                    lines.append([kind, str(key), str(len(some)), share])
    print(text_table(["what", "of", "intervals", "covered"], lines))


if __name__ == "__main__":
    main()
