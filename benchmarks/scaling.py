"""How the time of one FAB iteration grows with N, L, D and K.

Run as `python -m benchmarks.scaling` (part of `make bench`). One thread; one quantity
grows while the others stay, and the last column gives the growth over the line before.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time

import numpy as np

from defragtrees._utils.formatting import text_table
from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.store import RowStore
from defragtrees.paper.fit import fit_mixture
from defragtrees.paper.loop import Schedule, Settings

N_ITERATIONS = 10


def seconds(X, thresholds, n_components):
    """Of one iteration of one restart, by a fit with a fixed number of iterations."""
    binned = ThresholdGrid(tuple(thresholds)).bin(X)
    target = (X[:, 0] > 0.5).astype(int)
    rows = RowStore.of_table(binned, target, 2, np.ones(len(X)))
    never_ends = Schedule(N_ITERATIONS, 1, 1)
    settings = Settings(
        "em",
        max_iter=N_ITERATIONS,
        tol=0.0,
        schedule=never_ends,
        max_components=n_components,
        n_restarts=1,
        n_jobs=1,
    )
    best = np.inf
    for _ in range(3):
        steps = []
        fit_mixture(rows, settings, np.random.default_rng(0), callback=steps.append)
        best = min(best, (steps[-1].seconds - steps[0].seconds) / (len(steps) - 1))
    return best


def draw(n_rows, n_features, n_thresholds, n_values=200, rng=None):
    """Rows with `n_values` distinct values a feature, and thresholds between them."""
    rng = np.random.default_rng(0) if rng is None else rng
    X = rng.integers(0, n_values, (n_rows, n_features)) / n_values
    thresholds = [np.unique(rng.random(n_thresholds)) for _ in range(n_features)]
    return X, thresholds


def sweep(label, settings):
    lines, before = [], None
    for n_rows, n_features, n_thresholds, n_components in settings:
        X, thresholds = draw(n_rows, n_features, n_thresholds)
        value = seconds(X, thresholds, n_components)
        growth = "" if before is None else f"x {value / before:.2f}"
        before = value
        lines.append(
            [
                f"{n_rows:,}",
                f"{n_features}",
                f"{n_features * n_thresholds:,}",
                f"{n_components}",
                f"{1e3 * value:.2f}",
                growth,
            ]
        )
    print(f"\n{label}")
    print(text_table(["N", "D", "L", "K", "ms", "growth"], lines))


def main():
    begin = time.perf_counter()
    sweep("More rows", [(n, 20, 200, 10) for n in (10_000, 20_000, 40_000, 80_000)])
    sweep(
        "More trees: ten times the thresholds, 200 values a feature in the data",
        [(20_000, 20, n, 10) for n in (200, 2_000, 20_000)],
    )
    sweep("More features", [(20_000, d, 200, 10) for d in (10, 20, 40)])
    sweep("More components", [(20_000, 20, 200, k) for k in (5, 10, 20)])
    print(f"\n{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
