"""Whole default fits on a GPU.

    python -m benchmarks.gpu_fit [--rows 11000000] [--only default]
    python -m benchmarks.gpu_fit --dask 2 [--threads 8] [--rows 11000000]

The rows are those of `benchmarks.scale`, in memory as float32. The default fit searches
a sample and ends on all rows; its seconds are given by part, and the same fit with
`engine="auto"` on fewer rows must give the same rules. Then the bundled data sets are
fitted on the GPU and on the CPU with all rows counting, as they do with many, and the
rules are compared.

With `--dask` so many Dask workers on this machine share its GPUs, and each has so many
threads. Default fits, two since the first compiles, are timed beside those without
Dask, and must give the same rules. `--device cpu` tries all this without a GPU.
"""

import argparse
import os
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.paper.data import make_synthetic
from benchmarks.scale_data import BLOCK_ROWS, ensemble, make_block
from defragtrees import datasets
from defragtrees.data import devices, sources
from defragtrees.data.store import RowStore
from defragtrees.estimators import base
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.search import driver

N_FEATURES = 28


def make_rows(n_rows):
    """The rows, made by all cores."""
    starts = range(0, n_rows, BLOCK_ROWS)
    X = np.empty((n_rows, N_FEATURES), dtype=np.float32)

    def fill(start):
        size = min(BLOCK_ROWS, n_rows - start)
        X[start : start + size] = make_block(1 + start // BLOCK_ROWS, size, N_FEATURES)

    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, starts))
    return X


@contextmanager
def timed(places):
    """Seconds by part while functions, each an attribute of an owner, run."""
    spent = {}
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]

    def watched(function, part):
        def run(*arguments, **settings):
            begin = time.perf_counter()
            try:
                return function(*arguments, **settings)
            finally:
                lasted = time.perf_counter() - begin
                spent[part] = spent.get(part, 0.0) + lasted

        return run

    for (owner, name, function), (_, _, part) in zip(originals, places, strict=True):
        setattr(owner, name, watched(function, part))
    try:
        yield spent
    finally:
        for owner, name, function in originals:
            setattr(owner, name, function)


def default_fit(n_rows, engine="cuda", X=None):
    """Fit by default settings; the seconds it took, by part, and its rules."""
    X = make_rows(n_rows) if X is None else X
    model = ensemble(N_FEATURES, 100)
    # On a GPU by default all processors read and count rows.
    n_jobs = None if engine == "cuda" else -1
    simple = DefragClassifier(model, engine=engine, n_jobs=n_jobs, random_state=0)
    places = [
        (base, "read_rows", "coding rows, asking the ensemble"),
        (driver.ListStrategy, "searched", "search on the sample"),
        (driver, "polish", "polish on the sample"),
        (driver, "AllRowsSearch", "rows as whole numbers, to the GPU"),
        (driver, "polish_all_rows", "polish on all rows"),
        (driver, "_paths", "shorter lists by all rows, as conditions"),
        (RowStore, "count", "counts of the rules"),
        (RowStore, "evaluate", "measures of the rules"),
    ]
    with timed(places) as spent:
        begin = time.perf_counter()
        simple.fit(X)
        total = time.perf_counter() - begin
    print(f"default fit of {n_rows:,} rows, engine {engine}: {total:.1f} s")
    for part, lasted in {**spent, "other": total - sum(spent.values())}.items():
        print(f"  {part:<42} {lasted:6.2f} s", flush=True)
    return simple


def test_sets():
    """The bundled sets, and the paper's two that are drawn."""
    for name in ("energy", "spambase"):
        yield datasets.load_sample(name)
    for name in ("synthetic1", "synthetic2"):
        yield make_synthetic(name, 2000, 0)


def same_rules():
    """Rules of the CPU and of the GPU on the test sets."""
    many, sources.MANY_ROWS = sources.MANY_ROWS, 200
    for own in test_sets():
        is_number = own.task == "regression"
        forest = RandomForestRegressor if is_number else RandomForestClassifier
        kind = DefragRegressor if is_number else DefragClassifier
        model = forest(50, min_samples_leaf=5, random_state=0).fit(own.X, own.y)
        here, there = (
            kind(model, engine=engine, random_state=0).fit(own.X, own.y).rules_
            for engine in ("numpy", "cuda")
        )
        print(f"{own.name:<12} {here.n_rules:>2} rules cuda: {there == here}")
    sources.MANY_ROWS = many


def lazy_block(block_info=None):
    """A block of rows, made by the worker that keeps it."""
    number, _ = block_info[None]["chunk-location"]
    return make_block(1 + number, *block_info[None]["chunk-shape"])


def fits_on_dask(n_rows, n_workers, n_threads):
    """The same fits without Dask and on its workers, twice each."""
    import dask.array
    from distributed import Client, LocalCluster

    here = make_rows(n_rows)
    sizes = [min(BLOCK_ROWS, n_rows - i) for i in range(0, n_rows, BLOCK_ROWS)]
    print(f"{n_workers} workers with {n_threads} threads on {devices.DEVICE}")
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=None
        ) as cluster,
        Client(cluster),
    ):
        there = dask.array.map_blocks(
            lazy_block,
            chunks=(tuple(sizes), (N_FEATURES,)),
            dtype=np.float32,
            meta=np.empty((0, 0), dtype=np.float32),
        )
        found = []
        for name, X in (("without Dask", here), ("on Dask", there)):
            for _ in range(2):
                print(f"-- {name}")
                simple = default_fit(n_rows, X=X)
                found.append((simple.rules_, simple.path_costs_))
    print(f"same rules: {[one == found[0] for one in found[1:]]}")


def main():
    """Both parts, or fits on Dask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=11_000_000)
    parser.add_argument("--only", choices=("default",))
    parser.add_argument("--dask", type=int, metavar="WORKERS")
    parser.add_argument("--threads", type=int, help="of each Dask worker")
    parser.add_argument("--device", default=devices.DEVICE)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    devices.DEVICE = arguments.device
    if arguments.dask:
        n_threads = arguments.threads or max(1, os.cpu_count() // arguments.dask)
        fits_on_dask(arguments.rows, arguments.dask, n_threads)
        return
    few = min(arguments.rows, 1_000_000)
    pair = [default_fit(few, engine) for engine in ("cuda", "auto")]
    agree = pair[0].rules_ == pair[1].rules_ and pair[0].path_ == pair[1].path_
    print(f"same rules and path from both: {agree}")
    print(default_fit(arguments.rows).summary())
    if arguments.only != "default":
        same_rules()


if __name__ == "__main__":
    main()
