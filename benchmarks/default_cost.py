"""What a default fit takes beside training the forest, in one run, and by part.

Run as `python -m benchmarks.default_cost --data FOLDER` (part of `make bench`). One
thread for both, in seconds of the processor; 1,500 rows of every set (half of a small
one), and 5,000 of the larger ones; 100 trees. The parts are: reading the ensemble,
coding rows, walking them through the trees, the search, and telling (counts and
measures of all rows). Every fit is made three times, the shortest counts; a fit before
them lets compiled code be loaded.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.base import clone

from benchmarks.quality_data import REGRESSION, as_numbers, make_ensemble, read
from defragtrees import simplification, simplify
from defragtrees.methods import base, defrag
from defragtrees.render import text_table
from defragtrees.rows.encoding import Encoder
from defragtrees.rows.store import RowStore

PARTS = ("reading", "coding", "walking", "search", "telling", "other")
N_REPEATS = 3


@contextmanager
def timed_parts():
    """A dict that gathers seconds by part while fits run."""
    spent = dict.fromkeys(PARTS, 0.0)
    places = [
        (simplification, "read_forest", "reading"),
        (base, "_read_rows", "coding"),
        (Encoder, "_answers", "walking"),
        (defrag, "refine", "search"),
        (RowStore, "recount", "telling"),
        (RowStore, "evaluate", "telling"),
    ]
    originals = [getattr(owner, name) for owner, name, _ in places]
    for (owner, name, part), function in zip(places, originals, strict=True):
        setattr(owner, name, _timed(function, spent, part))
    try:
        yield spent
    finally:
        for (owner, name, _), function in zip(places, originals, strict=True):
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
    forest = make_ensemble("forest", name in REGRESSION, 0)
    training = []
    for _ in range(N_REPEATS):
        begin = time.process_time()
        forest = clone(forest).fit(X, y)
        training.append(time.process_time() - begin)
    fits = [default_fit(forest, X, y) for _ in range(N_REPEATS)]
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
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(options.data)
    names = sorted(p.name.removesuffix(".csv.gz") for p in folder.glob("*.csv.gz"))
    names = options.only.split(",") if options.only else names
    if not names:
        print(f"\nNo default fit is timed: there is no data set in {folder}.")
        return
    measured(folder, names[0], 300)
    ratios, lines = [], []
    for n_rows in (1500, 5000):
        for name in names:
            if n_rows > 1500 and name not in ("adult", "higgs", "miniboone", "magic"):
                continue
            ratio, line = measured(folder, name, n_rows)
            ratios.append(ratio)
            lines.append(line)
    header = ["data", "rows", "forest s", "fit s", "ratio", *PARTS]
    print("\nA default fit against training its forest of 100 trees, one thread")
    print(text_table(header, lines))
    below = sum(ratio <= 1 for ratio in ratios)
    print(
        f"Ratio: median {np.median(ratios):.2f}, largest {max(ratios):.2f}; "
        f"no longer than the forest on {below} of {len(ratios)}"
    )


if __name__ == "__main__":
    main()
