"""The common suite: rules, trees, sums and bounds on the sets of a folder.

Run as `make quality`, or `python -m benchmarks.quality --data FOLDER`. Every set of the
folder and of its folder `numbers` is split at random; splits come in pairs, which share
at most 5,000 test rows and have different training rows, so that their agreement is
that of two halves. Results are appended to a CSV, one row per set, split, rows, model,
method and size; what it has already is not run again. Then the tables are written.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import csv
import signal
import warnings
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import MOST_TEST_ROWS, as_numbers, make_model, read
from benchmarks.quality import methods, tables

SIZES = (4, 6, 10, 15)
MOST_CLASSES = 20  # y with more different numbers is a number
LEAST_PRINTED = 100  # new rows of a rule whose rate is looked at
MOST_SECONDS = 120  # of the processor, for one fit
UNIT = ["data", "split", "rows", "model", "method"]
MEASURES = ["error", "auc", "log_loss", "unexplained", "n_rules", "n_conditions"]
MEASURES += ["printed", "held", "gap", "agreement", "seconds"]
FIELDS = [*UNIT, "size", "kind", *MEASURES, "failure"]


@dataclass
class Part:
    """Training and test rows of one split, and the model fitted to the first."""

    kind: str
    views: dict
    y: np.ndarray
    y_test: np.ndarray
    model: object = None


@lru_cache(maxsize=1)
def pair_of_parts(folder, name, pair, n_rows, model):
    """Both splits of a pair."""
    X, y = read(folder, name)
    order = np.random.default_rng(pair).permutation(len(X))
    n_test = min(MOST_TEST_ROWS, len(X) // 3)
    n_rows = min(n_rows or len(X), (len(X) - n_test) // 2)
    test, rest = order[:n_test], order[n_test:]
    return [
        make_part(X, y, rest[half * n_rows :][:n_rows], test, model, 2 * pair + half)
        for half in range(2)
    ]


def make_part(X, y, train, test, model, seed):
    """One split: what methods see of its rows."""
    is_number = y.dtype.kind in "fi" and len(np.unique(y)) > MOST_CLASSES
    if is_number:
        y, kind = y.astype(float), "numbers"
    else:
        labels = np.unique(y[train])
        test = test[np.isin(y[test], labels)]  # others cannot be predicted
        kind = "two classes" if len(labels) == 2 else "classes"
        y = np.searchsorted(labels, y)
    numbers = as_numbers(X)
    filled = numbers.fillna(numbers.iloc[train].median()).fillna(0.0)
    views = {"frame": X, "numbers": filled}
    views["table"] = X if model == "boosted" else numbers
    part = Part(
        kind,
        {key: (view.iloc[train], view.iloc[test]) for key, view in views.items()},
        y[train],
        y[test],
    )
    if model != "none":
        part.model = make_model(model, is_number, seed)
        part.model.fit(part.views["table"][0], part.y)
    return part


def measure(part, fitted, X):
    """How well a fitted method predicts the test rows; and its predictions."""
    y = part.y_test
    if part.kind == "numbers":
        predicted = np.asarray(fitted.predict(X), dtype=float)
        return {"unexplained": np.mean((y - predicted) ** 2) / np.var(y)}, predicted
    codes = np.arange(part.y.max() + 1)
    if hasattr(fitted, "predict_proba"):
        shares = np.asarray(fitted.predict_proba(X), dtype=float)
    else:
        shares = (np.asarray(fitted.predict(X))[:, None] == codes).astype(float)
    predicted = shares.argmax(axis=1)
    if hasattr(fitted, "predict"):
        predicted = np.asarray(fitted.predict(X)).astype(int)
    is_class = y[:, None] == codes
    variance = ((is_class - is_class.mean(axis=0)) ** 2).sum()
    # Of pure leaves the log loss would be infinite.
    kept = np.clip(shares, 1 / len(part.y), 1)
    found = {
        "error": np.mean(predicted != y),
        "unexplained": ((is_class - shares) ** 2).sum() / variance,
        "log_loss": log_loss(y, kept / kept.sum(axis=1)[:, None], labels=codes),
    }
    if part.kind == "two classes":
        found["auc"] = roc_auc_score(y, shares[:, 1])
        if hasattr(fitted, "printed"):
            found |= look_at_printed(fitted.printed(X), y)
    return found, predicted


def look_at_printed(rules, y):
    """Rules with enough new rows, how many hold there, and the mean gap of rates."""
    held, gaps = [], []
    for matches, rate, low, high in rules:
        if matches.sum() >= LEAST_PRINTED:
            new = y[matches].mean()
            held.append(low <= new <= high)
            gaps.append(abs(rate - new))
    gap = np.mean(gaps) if gaps else np.nan
    return {"printed": len(held), "held": sum(held), "gap": gap}


def fits(method, part, sizes):
    """Fitted methods by size, with the processor's seconds of each fit."""
    sees = methods.trait(method, "sees")
    given = part.views[sees][0], part.y
    if methods.trait(method, "models"):
        given = *given, part.model
    if not methods.trait(method, "has_size"):
        sizes = [0]
    largest, seconds = None, np.nan
    for size in sorted(sizes, reverse=True):
        if largest is not None and hasattr(largest, "at"):
            yield size, largest.at(size), seconds
            continue
        begin = sum(os.times()[:4])
        largest = methods.make(method, size)
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
            largest.fit(*given)
        except Exception as error:
            # A method that fails is a result; it must not end the others.
            yield size, type(error).__name__, np.nan
            largest = None
            continue
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = sum(os.times()[:4]) - begin
        yield size, largest, seconds


def agreement(first, second, kind):
    """Share of equal classes; correlation of numbers, 0 where one is constant."""
    if kind != "numbers":
        return np.mean(first == second)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return np.corrcoef(first, second)[0, 1]


def stop(*_):
    raise TimeoutError


def run(folder, name, pair, n_rows, model, method, sizes, also):
    """The rows of one method on a pair of splits."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGVTALRM, stop)
    for path in also:
        methods.add_from(path)
    rows, predictions = [], {}
    parts = pair_of_parts(folder, name, pair, n_rows, model)
    for half, part in enumerate(parts):
        unit = dict(
            zip(UNIT, (name, 2 * pair + half, n_rows, model, method), strict=True)
        )
        unit["kind"] = part.kind
        if part.kind not in methods.trait(method, "kinds"):
            rows.append(unit | {"failure": "not for this y"})
            continue
        X = part.views[methods.trait(method, "sees")][1]
        for size, fitted, seconds in fits(method, part, sizes):
            row = unit | {"size": size, "seconds": seconds}
            rows.append(row)
            if isinstance(fitted, str):
                row["failure"] = fitted
                continue
            found, predictions[size, half] = measure(part, fitted, X)
            row |= found
            row["n_rules"] = getattr(fitted, "n_rules", np.nan)
            row["n_conditions"] = fitted.n_conditions
    for row in rows:
        both = [predictions.get((row.get("size"), half)) for half in range(2)]
        # Where the splits have other classes or rows, there is nothing to compare.
        if all(one is not None for one in both) and len(both[0]) == len(both[1]):
            row["agreement"] = agreement(*both, row["kind"])
    return rows


def plan(options, folder, names):
    """Every unit in order: a run that is cut off has the first rows of all sets.

    Small sets are run once with all of the rows that they have.
    """
    lengths = {name: len(read(folder, name)[1]) for name in names}
    for pair, n_rows, model, name in product(
        range(options.splits // 2), options.rows, [*options.models, "none"], names
    ):
        most = (lengths[name] - min(MOST_TEST_ROWS, lengths[name] // 3)) // 2
        smaller = [n for n in options.rows if 0 < n < (n_rows or np.inf)]
        if any(n >= most for n in smaller):
            continue
        for method in options.methods:
            if model in methods.models_of(method):
                yield name, pair, n_rows, model, method


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with one file per set")
    parser.add_argument("--out", default=tables.RESULTS, type=Path)
    parser.add_argument("--only", nargs="+", help="sets")
    parser.add_argument("--methods", nargs="+", help="all by default")
    parser.add_argument("--also", nargs="*", default=[], help="files with methods")
    parser.add_argument("--models", nargs="+", default=["forest", "boosted"])
    parser.add_argument(
        "--rows", nargs="+", default=[500, 2000], type=int, help="0: all"
    )
    parser.add_argument("--sizes", nargs="+", default=SIZES, type=int)
    parser.add_argument("--splits", default=2, type=int, help="an even number")
    parser.add_argument("--jobs", default=1, type=int)
    options = parser.parse_args(arguments)
    for path in options.also:
        methods.add_from(path)
    options.methods = options.methods or list(methods.METHODS)
    return options


def main(arguments=None):
    """Run what is missing, and write the tables."""
    options = parse(arguments)
    folder = Path(options.data)
    paths = sorted([*folder.glob("*.csv.gz"), *folder.glob("numbers/*.csv.gz")])
    names = [str(path.relative_to(folder)).removesuffix(".csv.gz") for path in paths]
    names = options.only or names
    for method, package in methods.missing(options.methods).items():
        print(f"{method} is left out: {package} is not installed.")
        options.methods.remove(method)
    done = set()
    if options.out.exists():
        kept = pd.read_csv(options.out, usecols=UNIT)
        done = {tuple(map(str, line)) for line in kept.itertuples(index=False)}
    todo = [
        (name, pair, *rest)
        for name, pair, *rest in plan(options, folder, names)
        if tuple(map(str, (name, 2 * pair, *rest))) not in done
    ]
    jobs = (delayed(run)(folder, *unit, options.sizes, options.also) for unit in todo)
    with options.out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        running = Parallel(options.jobs, return_as="generator", batch_size=1)
        for place, rows in enumerate(running(jobs), 1):
            for row in rows:
                short = {k: f"{v:.5g}" for k, v in row.items() if isinstance(v, float)}
                writer.writerow(row | short)
            file.flush()
            print(f"{place} of {len(todo)}: {rows[0]['data']}, {rows[0]['method']}")
    print(tables.write(options.out))


if __name__ == "__main__":
    main()
