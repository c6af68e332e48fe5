"""What a default fit takes beside training the forest, in one run, and by part.

Run as `python -m benchmarks.speed.default_cost --data FOLDER` (part of `make bench`),
or with `--plain` as if numba were not installed. One thread for both, in seconds of the
processor; 2,000 rows of every set (half of a small one), and 5,000 of the larger ones;
100 trees with five rows or more in a leaf. The parts are: reading the model, coding
rows, walking them through the trees, the search, and telling (counts and measures of
all rows). Both are made in turn, five times, and the shortest of each counts; a fit
before them lets compiled code be loaded. On the six sets of `BARRED` a fit may take
twice as long as the forest with numba, five times without.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

if "--plain" in sys.argv:
    sys.modules["numba"] = None  # cannot be imported from now on

import numpy as np
from sklearn.base import clone

from benchmarks.data import REGRESSION, as_numbers, make_model, read
from defragtrees import _api
from defragtrees._api import simplify
from defragtrees._utils.formatting import text_table
from defragtrees.data.shards import Encoder
from defragtrees.data.store import RowStore
from defragtrees.estimators import base
from defragtrees.search import driver

PARTS = ("reading", "coding", "walking", "search", "telling", "other")
N_REPEATS = 5
BARRED = (
    "adult",
    "california_housing",
    "magic",
    "miniboone",
    "spambase",
    "wine_quality",
)
LARGE = ("adult", "higgs", "miniboone", "magic")


@contextmanager
def timed_parts():
    """A dict that gathers seconds by part while fits run."""
    spent = dict.fromkeys(PARTS, 0.0)
    places = [
        (_api.__dict__, "read_forest", "reading"),
        (base.__dict__, "read_rows", "coding"),
        (Encoder, "_answers", "walking"),
        (driver.FORMS, "list", "search"),
        (RowStore, "count", "telling"),
        (RowStore, "evaluate", "telling"),
    ]
    originals = [_read(owner, name) for owner, name, _ in places]
    for (owner, name, part), function in zip(places, originals, strict=True):
        _write(owner, name, _timed(function, spent, part))
    try:
        yield spent
    finally:
        for (owner, name, _), function in zip(places, originals, strict=True):
            _write(owner, name, function)


def _read(owner, name):
    return owner[name] if isinstance(owner, dict) else getattr(owner, name)


def _write(owner, name, function):
    if isinstance(owner, dict):
        owner[name] = function
    else:
        setattr(owner, name, function)


def _timed(function, spent, part):
    def run(*arguments, **settings):
        begin = time.process_time()
        try:
            return function(*arguments, **settings)
        finally:
            spent[part] += time.process_time() - begin

    return run


def default_fit(forest, X, y):
    """Seconds of a whole fit, and of its parts."""
    with timed_parts() as spent:
        begin = time.process_time()
        simplify(forest, X, y, random_state=0, n_jobs=1)
        total = time.process_time() - begin
    spent["coding"] -= spent["walking"]  # rows walk while they are coded
    spent["other"] = total - sum(spent.values())
    return total, spent


def measured(folder, name, n_rows):
    """A line of the table: seconds of both, their ratio, shares of the parts."""
    X, y = read(folder, name)
    order = np.random.default_rng(0).permutation(len(X))[: min(n_rows, len(X) // 2)]
    X, y = as_numbers(X).iloc[order], y[order]
    forest = make_model("forest", name in REGRESSION, 0)
    forest.set_params(n_jobs=1)
    training, fits = [], []
    for _ in range(N_REPEATS):
        begin = time.process_time()
        forest = clone(forest).fit(X, y)
        training.append(time.process_time() - begin)
        fits.append(default_fit(forest, X, y))
    total, spent = min(fits, key=lambda fit: fit[0])
    ratio = total / min(training)
    shares = [f"{spent[part] / total:.2f}" for part in PARTS]
    cells = [f"{len(X):,} x {X.shape[1]}", f"{min(training):.2f}", f"{total:.2f}"]
    return ratio, [name, *cells, f"{ratio:.2f}", *shares]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", default=os.environ.get("DEFRAGTREES_DATA", "../shared/data")
    )
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--plain", action="store_true", help="without numba")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(options.data)
    names = sorted(p.name.removesuffix(".csv.gz") for p in folder.glob("*.csv.gz"))
    names = options.only.split(",") if options.only else names
    if not names:
        print(f"\nNo default fit is timed: there is no data set in {folder}.")
        return
    measured(folder, names[0], 300)
    ratios, lines = {}, []
    for n_rows, own in ((2000, names), (5000, [n for n in names if n in LARGE])):
        for name in own:
            ratio, line = measured(folder, name, n_rows)
            ratios[name, n_rows] = ratio
            lines.append(line)
    header = ["data", "rows", "forest s", "fit s", "ratio", *PARTS]
    with_numba = "without numba" if options.plain else "with numba"
    print(f"\nA default fit against its forest of 100 trees, one thread, {with_numba}")
    print(text_table(header, lines))
    below = sum(ratio <= 1 for ratio in ratios.values())
    print(
        f"Ratio: median {np.median(list(ratios.values())):.2f}, largest "
        f"{max(ratios.values()):.2f}; no longer than the forest on {below} of "
        f"{len(ratios)}"
    )
    barred = [ratios[name, 2000] for name in BARRED if (name, 2000) in ratios]
    bar = 5 if options.plain else 2
    if barred:
        within = sum(ratio <= bar for ratio in barred)
        print(
            f"At most {bar} times the forest on {within} of {len(barred)} barred sets"
        )


if __name__ == "__main__":
    main()
