"""Time and memory of one FAB iteration: ours against the dense equations.

Run as `python -m benchmarks.inference` (part of `make bench`). One
thread, at most ten components, the paper's statement weights. Ours is a whole fit of 20
restarts, set-up and inner steps included, by its number of iterations; dense is one
iteration with ten components. Both in seconds of the processor, the smallest of several
in turn. What counts are the ratios within one run.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import tracemalloc
from dataclasses import replace

import numpy as np

from benchmarks import dense
from benchmarks.problems import SHAPES, make_case
from defragtrees._utils.formatting import text_table
from defragtrees.data.store import RowStore
from defragtrees.paper.fit import fit_mixture
from defragtrees.paper.loop import Settings

N_COMPONENTS = 10


def smallest(calls, times):
    """Of each call the fewest seconds; they are made in turn."""
    best = np.full(len(calls), np.inf)
    for _ in range(times):
        for i, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[i] = min(best[i], time.process_time() - begin)
    return best


def dense_calls(case, beta):
    """One iteration of the plain and of the tuned dense equations."""
    problem = dense.make_problem(case)
    params = dense.dense_mixture.maximize(problem, beta)
    n_k = np.full(beta.shape[1], len(beta) / beta.shape[1])
    return (
        lambda: dense.plain_iteration(problem, params, n_k),
        lambda: dense.tuned_iteration(problem, params, n_k),
    )


def measured(case, beta):
    """Seconds an iteration of the two dense ways and of ours; a restart; peak bytes."""
    binned = case.grid.shorten(case.X).bin(case.X)
    rows = RowStore.of_table(binned, case.target, case.n_classes, np.ones(len(case.X)))
    settings = Settings(n_restarts=20, statement_weight="paper", n_jobs=1)
    found = []

    def once(settings=settings):
        found[:] = [fit_mixture(rows, settings, np.random.default_rng(0))]

    once(replace(settings, n_restarts=2))
    plain, tuned, seconds = smallest((*dense_calls(case, beta), once), 3)
    tracemalloc.start()
    once()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return plain, tuned, seconds / len(found[0].history), seconds / 20, peak


CASES = {
    **{name: (name, {}) for name in SHAPES},
    "miniboone, full trees": (
        "miniboone",
        {"min_samples_leaf": 1, "max_leaf_nodes": None},
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases, separated by commas")
    options = parser.parse_args()
    lines = []
    for label, (name, settings) in CASES.items():
        if options.only and label not in options.only.split(","):
            continue
        case = make_case(name, **settings)
        rng = np.random.default_rng(1)
        beta = rng.dirichlet(np.full(N_COMPONENTS, 0.3), len(case.X))
        plain, tuned, own, restart, peak = measured(case, beta)
        matrix = 8 * len(case.X) * case.n_statements
        lines.append(
            [
                label,
                f"{len(case.X):,} x {case.X.shape[1]}",
                f"{case.n_statements:,}",
                f"{1e3 * plain:.1f}",
                f"{1e3 * tuned:.1f}",
                f"{1e3 * own:.2f}",
                f"{plain / own:.0f}",
                f"{tuned / own:.0f}",
                f"{1e3 * restart:.0f}",
                f"{peak / 1e6:.0f}",
                f"{matrix / 1e6:.0f}",
                f"{peak / matrix:.3f}",
            ]
        )
    header = "data;N x D;L;dense ms;tuned ms;ours ms;dense/ours;tuned/ours"
    header += ";restart ms;fit MB;N x L MB;share"
    print("One FAB iteration, K_max = 10, one thread")
    print(text_table(header.split(";"), lines))


if __name__ == "__main__":
    main()
