"""A whole fit on a GPU: all restarts side by side on all rows.

    python -m benchmarks.gpu_fit [--rows 11000000] [--restarts 20]

The rows are those of `benchmarks.scale`, in memory as float32. No restart is given up
early. The seconds of the whole `fit` are given, and what it spent them on. Then the
bundled data sets are fitted on the GPU, in float64 and in float32, and on the CPU, and
the rules are compared.
"""

import argparse
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.scale_data import BLOCK_ROWS, ensemble, make_block
from defragtrees import DefragClassifier, DefragRegressor, datasets
from defragtrees.mixture.engines import on_torch

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


def whole_fit(n_rows, n_restarts):
    """Fit and say how long it took."""
    X = make_rows(n_rows)
    model = ensemble(N_FEATURES, 100)
    steps = []

    def watch(step):
        steps.append((time.perf_counter(), step))

    simple = DefragClassifier(
        model,
        refine=False,
        screening=False,
        engine="cuda",
        n_restarts=n_restarts,
        n_jobs=-1,
        random_state=0,
        callback=watch,
    )
    begin = time.perf_counter()
    simple.fit(X)
    end = time.perf_counter()
    n_iterations = max(step.iteration for _, step in steps)
    print(f"whole fit of {n_restarts} restarts on {n_rows:,} rows: {end - begin:.1f} s")
    print(f"  until the first iteration is done  {steps[0][0] - begin:6.1f} s")
    spent = steps[-1][0] - steps[0][0]
    print(f"  {n_iterations:4d} iterations                    {spent:6.1f} s")
    print(f"  choice, rules and measures         {end - steps[-1][0]:6.1f} s")
    finished = [step.iteration for _, step in steps if step.finished]
    print(f"  restarts ended after {sorted(finished)} iterations")
    splits = [len(own) for own in simple.forest_.splits()]
    print(f"  {len(simple.forest_.trees)} trees, at most {max(splits)} thresholds")
    print(simple.summary())


def test_sets():
    """The bundled sets, and the paper's two that are drawn."""
    for name in ("energy", "spambase"):
        yield datasets.load_sample(name)
    for name in ("synthetic1", "synthetic2"):
        yield datasets.load(name, random_state=0)


def same_rules():
    """Rules of the CPU and of the GPU on the test sets."""
    exact = on_torch.EXACT_ROWS
    for own in test_sets():
        is_number = own.task == "regression"
        forest = RandomForestRegressor if is_number else RandomForestClassifier
        kind = DefragRegressor if is_number else DefragClassifier
        model = forest(50, min_samples_leaf=5, random_state=0).fit(own.X, own.y)
        found = {}
        for label, engine, most in (
            ("numpy", "numpy", exact),
            ("cuda float64", "cuda", exact),
            ("cuda float32", "cuda", 0),
        ):
            on_torch.EXACT_ROWS = most
            simple = kind(model, engine=engine, refine=False, random_state=0)
            found[label] = simple.fit(own.X, own.y).rules_
        first = found.pop("numpy")
        agreeing = [f"{label}: {rules == first}" for label, rules in found.items()]
        print(f"{own.name:<12} {first.n_rules:>2} rules", *agreeing)
    on_torch.EXACT_ROWS = exact


def main():
    """Both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=11_000_000)
    parser.add_argument("--restarts", type=int, default=20)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    same_rules()
    for n_restarts in (2, arguments.restarts):
        whole_fit(arguments.rows if n_restarts > 2 else 500_000, n_restarts)


if __name__ == "__main__":
    main()
