"""How well find_segments finds planted segments, beside sliceline.

Run as `python -m benchmarks.segments --data FOLDER`; sliceline is optional
(`pip install sliceline`). A segment of 3 to 12 % of the rows of a real set, made of two
or three conditions on its columns, has losses of its own: errors in 40 % of its rows
against 10 %, or squared losses with four times the mean. 3,000 rows are searched.
Printed are

- Jaccard's index of the best segment and the planted one, on rows that were not
  searched, for find_segments and for sliceline (10 bins per column, 2 columns);
- how often two planted segments are both found (Jaccard above one half);
- how often a segment is reported where losses are pure noise;
- for a model with probabilities, how often a failure is reported where labels are drawn
  from these (planted uncertainty), and Jaccard's index where labels are turned in 30 %
  of the rows of a segment (planted failure), by the excess and by the error alone;
- how often the 95 % interval of a segment contains its true mean;
- the time of both, also for 100,000 rows;
- for real errors of a forest, the excess of each segment where it was found and on
  rows that `find_segments` never had.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import importlib.util
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import explain_errors, find_segments
from defragtrees._utils.formatting import text_table

N_ROWS, N_MANY, N_STORY = 3000, 100_000, 9000
STORIES = ("adult", "card_default", "compas", "phone_churn")
FEWEST_NEW = 400  # rows of a set that are not searched
SHARES = (0.03, 0.12)  # of a planted segment
LEVELS = (0.05, 0.95)  # of a planted condition
N_BINS = 10
KINDS = (("error", 2), ("error", 3), ("squared", 2), ("squared", 3))
MEANS = {"error": (0.1, 0.4), "squared": (1.0, 4.0)}


def plant(X, n_conditions, rng):
    """Rows in a random box with so many conditions; each leaves rows out."""
    while True:
        inside = np.ones(len(X), dtype=bool)
        for name in rng.choice(X.columns, n_conditions, replace=False):
            inside &= _random_condition(X[name], rng)
        if SHARES[0] <= inside.mean() <= SHARES[1]:
            return inside


def _random_condition(column, rng):
    if not pd.api.types.is_numeric_dtype(column):
        labels = np.array(sorted(column.dropna().unique()), dtype=object)
        n_kept = rng.integers(1, max(2, len(labels) // 2 + 1))
        inside = column.isin(rng.choice(labels, n_kept, replace=False)).to_numpy()
    else:
        cut = column.quantile(rng.uniform(0.1, 0.9))
        inside = (column > cut if rng.random() < 0.5 else column <= cut).to_numpy()
    is_real = LEVELS[0] <= inside.mean() <= LEVELS[1]
    return inside if is_real else np.zeros(len(column), dtype=bool)


def draw_losses(kind, inside, rng):
    """Losses of rows inside and outside a segment."""
    mean = np.where(inside, *reversed(MEANS[kind]))
    if kind == "error":
        return (rng.random(len(inside)) < mean).astype(np.float64)
    return mean * rng.standard_normal(len(inside)) ** 2


def jaccard(one, two):
    """Rows in both sets, as a share of those in either."""
    either = (one | two).sum()
    return float((one & two).sum() / either) if either else 0.0


def sliceline_best(X, losses, X_new):
    """Which new rows are in the first slice of sliceline; and the seconds it took."""
    from sliceline.slicefinder import Slicefinder

    start = time.perf_counter()
    names = [_binned(X[name], X[name]) for name in X]
    finder = Slicefinder(
        alpha=0.95, k=1, max_l=2, min_sup=max(10, len(X) // 100), verbose=False
    )
    finder.fit(np.column_stack(names), losses)
    seconds = time.perf_counter() - start
    inside = np.zeros(len(X_new), dtype=bool)
    if len(finder.top_slices_):
        inside[:] = True
        for name, value in zip(X, finder.top_slices_[0], strict=True):
            if value is not None:
                inside &= _binned(X_new[name], X[name]) == value
    return inside, seconds


def _binned(column, known):
    """A column in at most ten bins, from those of the rows that are searched."""
    if not pd.api.types.is_numeric_dtype(known):
        labels = sorted(known.dropna().unique())
        return pd.Categorical(column, labels).codes + 1
    cuts = np.unique(known.quantile(np.linspace(0, 1, N_BINS + 1)[1:-1]).dropna())
    return np.where(column.isna(), 0, np.searchsorted(cuts, column, side="left") + 1)


class Case:
    """Rows that are searched, and new ones, of one set."""

    def __init__(self, X, seed, n_rows=N_ROWS):
        self.rng = np.random.default_rng([seed, 32])
        self.X = X
        order = self.rng.permutation(len(X))
        n_rows = min(n_rows, len(X) - FEWEST_NEW)
        self.old, self.new = order[:n_rows], order[n_rows:]

    def find(self, losses):
        """Segments, which new rows each matches, and the seconds it took."""
        start = time.perf_counter()
        found = find_segments(self.X.iloc[self.old], losses[self.old], random_state=0)
        seconds = time.perf_counter() - start
        number = found.apply(self.X.iloc[self.new])
        return found, number[:, None] == 1 + np.arange(len(found)), seconds


def one_planted(X, seed, kind, n_conditions):
    """One row of the table: both methods on one planted segment."""
    case = Case(X, seed)
    inside = plant(X, n_conditions, case.rng)
    losses = draw_losses(kind, inside, case.rng)
    found, covers, seconds = case.find(losses)
    best = np.zeros(len(case.new), dtype=bool)
    if len(found):
        best = covers[:, int(np.argmax([one.explained for one in found]))]
    row = {"jaccard": jaccard(best, inside[case.new]), "seconds": seconds}
    mean = np.where(inside[case.new], *reversed(MEANS[kind]))
    row["inside"] = [
        one.interval[0] <= mean[covers[:, k]].mean() <= one.interval[1]
        for k, one in enumerate(found)
        if covers[:, k].any()
    ]
    if HAS_SLICELINE:
        old, new = X.iloc[case.old], X.iloc[case.new]
        theirs, row["their_seconds"] = sliceline_best(old, losses[case.old], new)
        row["theirs"] = jaccard(theirs, inside[case.new])
    return row


def one_pair(X, seed):
    """Whether two planted segments are both found."""
    case = Case(X, seed)
    first, second = (plant(X, 2, case.rng) for _ in range(2))
    while jaccard(first, second) > 0.2:
        second = plant(X, 2, case.rng)
    losses = draw_losses("error", first | second, case.rng)
    _, covers, _ = case.find(losses)
    return all(
        any(jaccard(one, planted[case.new]) > 0.5 for one in covers.T)
        for planted in (first, second)
    )


def is_false_alarm(X, seed, kind):
    """Whether a segment is reported in pure noise."""
    case = Case(X, seed)
    nowhere = np.zeros(len(X), dtype=bool)
    return len(case.find(draw_losses(kind, nowhere, case.rng))[0]) > 0


def probabilities(X, rng):
    """Probabilities from 0.02 to 0.98 that depend on two columns, 0.5 in a segment."""
    score = np.zeros(len(X))
    for name in rng.choice(X.columns, 2, replace=False):
        codes = pd.Series(pd.factorize(X[name], sort=True)[0])
        score += rng.choice([-1, 1]) * codes.rank(pct=True).to_numpy()
    likely = 1 / (1 + np.exp(-8 * (score - score.mean())))
    return np.where(plant(X, 2, rng), 0.5, np.clip(likely, 0.02, 0.98))


def with_probabilities(X, seed, n_rows=N_ROWS):
    """Whether uncertainty is called a failure; Jaccard of failures by excess, error."""
    case = Case(X, seed, n_rows)
    likely = probabilities(X, case.rng)
    old, new = X.iloc[case.old], X.iloc[case.new]
    y = (case.rng.random(len(X)) < likely).astype(int)
    found = explain_errors(likely[case.old], old, y[case.old], random_state=0)
    inside = plant(X, 2, case.rng)
    turned = np.where(inside & (case.rng.random(len(X)) < 0.3), 1 - y, y)
    scores = []
    for excess in (True, False):
        failing = explain_errors(
            likely[case.old], old, turned[case.old], excess=excess, random_state=0
        )["error"]
        best = failing.apply(new) == 1
        scores.append(jaccard(best, inside[case.new]))
    return len(found["error"]) > 0, *scores


def large_times(X, seed):
    """Seconds of both methods on 100,000 rows, drawn again from those of a set."""
    rng = np.random.default_rng([seed, 33])
    many = X.iloc[rng.integers(len(X), size=N_MANY)].reset_index(drop=True)
    losses = draw_losses("error", plant(many, 2, rng), rng)
    start = time.perf_counter()
    find_segments(many, losses, random_state=0)
    own = time.perf_counter() - start
    return own, sliceline_best(many, losses, many[:10])[1] if HAS_SLICELINE else np.nan


def print_story(name, X, y):
    """Segments of a forest's errors, found on one half of some rows, on the other."""
    order = np.random.default_rng([0, 34]).permutation(len(X))[:N_STORY]
    train, here, there = np.array_split(order, 3)
    words = make_column_selector(dtype_exclude="number")
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words), remainder="passthrough"
    )
    trees = RandomForestClassifier(100, min_samples_leaf=3, random_state=0)
    model = make_pipeline(encoder, trees).fit(X.iloc[train], y.iloc[train])
    found = explain_errors(model, X.iloc[here], y.iloc[here])["error"]
    wrong = (model.predict(X.iloc[there]) != y.iloc[there]).to_numpy()
    covers = found.covers(X.iloc[there])
    rest = wrong[~covers.any(axis=1)].mean()
    print(f"{name}: error of the rest {found.rest:.3f}, on the other half {rest:.3f}")
    for k, segment in enumerate(found):
        told, true = segment.mean - found.rest, wrong[covers[:, k]].mean() - rest
        text = segment.rule.text()
        print(f"  {text}: excess {told:.3f}, on the other half {true:.3f}")


HAS_SLICELINE = importlib.util.find_spec("sliceline") is not None


def print_planted(jobs):
    """Print a table of planted segments; returns its rows."""
    planted, rows = [], []
    for kind, n_conditions in KINDS:
        here = [one_planted(X, seed, kind, n_conditions) for _, X, seed in jobs]
        planted += here
        cells = [f"{kind}, {n_conditions} conditions", len(here)]
        cells.append(f"{np.mean([row['jaccard'] for row in here]):.3f}")
        if HAS_SLICELINE:
            cells.append(f"{np.mean([row['theirs'] for row in here]):.3f}")
            ahead = np.mean([row["jaccard"] > row["theirs"] for row in here])
            ratio = np.sum([row["seconds"] for row in here])
            ratio /= np.sum([row["their_seconds"] for row in here])
            cells += [f"{100 * ahead:.0f} %", f"{ratio:.2f}"]
        rows.append(cells)
    header = ["planted", "cases", "Jaccard", "sliceline", "ahead", "time ratio"]
    print(text_table(header[: len(rows[0])], rows), flush=True)
    return planted


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", default="", help="names, separated by commas")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [name for name in options.sets.split(",") if name]
    paths = sorted(options.data.glob("*.csv.gz"))
    tables = {
        path.name.split(".")[0]: pd.read_csv(path).drop(columns="target")
        for path in paths
        if not names or path.name.split(".")[0] in names
    }
    is_large = {name: len(X) >= N_ROWS + FEWEST_NEW for name, X in tables.items()}
    jobs = [
        (name, X, seed)
        for name, X in tables.items()
        for seed in range(options.seeds)
        if is_large[name]
    ]
    planted = print_planted(jobs)
    small = [name for name, large in is_large.items() if not large]
    if small:
        print(f"\nfewer rows ({', '.join(small)}):")
        print_planted([(n, tables[n], s) for n in small for s in range(options.seeds)])
    inside = [one for row in planted for one in row["inside"]]
    print(f"true mean inside the interval: {np.mean(inside):.3f} of {len(inside)}")
    both = [one_pair(X, seed) for _, X, seed in jobs]
    print(f"two planted segments both found: {np.mean(both):.3f} of {len(both)}")
    for kind in MEANS:
        alarms = [is_false_alarm(X, seed + 100, kind) for _, X, seed in jobs]
        print(f"segments in noise ({kind}): {np.mean(alarms):.3f} of {len(alarms)}")
    found = [with_probabilities(X, seed) for _, X, seed in jobs]
    false, excess, error = np.mean(found, axis=0)
    print(f"planted uncertainty called a failure: {false:.3f} of {len(found)}")
    print(f"planted failures, Jaccard: {excess:.3f} by excess, {error:.3f} by error")
    for name in [name for name, large in is_large.items() if large][:4]:
        own, theirs = large_times(tables[name], 0)
        print(f"{name}, {N_MANY:,} rows: {own:.2f} s, sliceline {theirs:.2f} s")
    for name in STORIES:
        if name in tables:
            y = pd.read_csv(options.data / f"{name}.csv.gz", usecols=["target"])
            print_story(name, tables[name], y["target"])


if __name__ == "__main__":
    main()
