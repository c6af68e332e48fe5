"""Time and memory of one FAB iteration: ours against the dense equations.

Run as `python -m benchmarks.inference` (part of `make bench`). One thread, ten
components, the paper's statement weights, the same start for all; each time is the
smallest of several, and what counts are the ratios within one run.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time
import tracemalloc

import numpy as np

from benchmarks import dense
from benchmarks.problems import SHAPES, make_case
from defragtrees.mixture.engines.on_numpy import NumpyEngine
from defragtrees.mixture.fit import MixtureSettings, Rows, fit_mixture
from defragtrees.mixture.loop import Settings, run
from defragtrees.mixture.params import make_layout
from defragtrees.render import text_table

N_COMPONENTS = 10


def smallest(call, times):
    best = np.inf
    for _ in range(times):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def ours(case, beta, n_iterations=12):
    """Seconds per iteration of our loop over a whole short run, from this start."""
    binned = case.grid.shorten(case.X).bin(case.X)
    layout = make_layout(binned, case.n_classes, "paper")
    engine = NumpyEngine(layout, binned.codes, case.target, np.ones(len(case.X)))
    engine.responsibilities = np.ascontiguousarray(beta.T)
    start = layout.maximize(engine.gather())
    settings = Settings(max_iter=n_iterations, tol=0.0, gentle_iter=n_iterations)

    def fit():
        run(engine, layout, start, settings, [0])

    return smallest(fit, 5) / n_iterations


def dense_seconds(case, beta):
    """Seconds per iteration of the plain and of the tuned dense equations."""
    problem = dense.make_problem(case)
    params = dense.dense_mixture.maximize(problem, beta)
    n_k = np.full(beta.shape[1], len(beta) / beta.shape[1])
    plain = smallest(lambda: dense.plain_iteration(problem, params, n_k), 2)
    tuned = smallest(lambda: dense.tuned_iteration(problem, params, n_k), 3)
    return plain, tuned


def fit_memory(case):
    """Seconds per restart, and peak bytes of the fit of 20 restarts."""
    binned = case.grid.shorten(case.X).bin(case.X)
    rows = Rows(binned, case.target, case.n_classes, np.ones(len(case.X)))
    settings = MixtureSettings(n_restarts=20, statement_weight="paper", n_jobs=1)
    begin = time.perf_counter()
    fit_mixture(rows, settings, np.random.default_rng(0))
    seconds = (time.perf_counter() - begin) / 20
    tracemalloc.start()
    fit_mixture(rows, settings, np.random.default_rng(0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak


def main():
    lines = []
    for name in SHAPES:
        case = make_case(name)
        rng = np.random.default_rng(1)
        beta = rng.dirichlet(np.full(N_COMPONENTS, 0.3), len(case.X))
        plain, tuned = dense_seconds(case, beta)
        own = ours(case, beta)
        restart, peak = fit_memory(case)
        matrix = 8 * len(case.X) * case.n_statements
        lines.append(
            [
                name,
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
    print("One FAB iteration, K = 10, one thread")
    print(text_table(header.split(";"), lines))


if __name__ == "__main__":
    main()
