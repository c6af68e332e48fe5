"""The comparison methods against their originals: time, test error, number of rules.

Run as `python -m benchmarks.paper.originals --data FOLDER --seeds 10`. The originals
(R's inTrees and nodeHarvest on R's forests, and the paper's own Python of Born-Again
Trees) were run on the same data sets, with 1 to 10 random splits; their numbers are
written out below. Ours run with the settings of the originals around scikit-learn's
forest, which is chosen by the same grid and out-of-bag error. With `--kept FOLDER` the
results of `python -m benchmarks.paper --out FOLDER` are taken where they are there.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from benchmarks.paper.data import draw, fit_forest
from benchmarks.paper.parts import run_part
from benchmarks.paper.results import Store
from benchmarks.paper.run import SETTINGS
from defragtrees._utils.formatting import text_table
from defragtrees.baselines import InTreesRegressor

# Mean error, its standard deviation where it is known, and mean number of rules.
ORIGINALS = {
    "spambase": {
        "inTrees": (0.081, 0.009, 32),
        "Node Harvest": (0.100, 0.009, 47),
        "BATrees": (0.110, None, 59),
    },
    "synthetic2": {
        "inTrees": (0.145, 0.008, 52),
        "Node Harvest": (0.134, 0.011, 37),
        "BATrees": (0.134, None, 28),
    },
    "miniboone": {
        "inTrees": (0.108, None, 46),
        "Node Harvest": (0.121, None, 53),
    },
    "higgs": {
        "inTrees": (0.326, None, 68),
        "Node Harvest": (0.353, None, 35),
    },
    "energy": {
        "inTrees": (17.5, 2.4, 23),
        "Node Harvest": (8.9, 0.7, 15),
        "BATrees": (4.1, None, 53),
    },
}
# Seconds of the originals on Spambase with 1,000 rows, on one core.
SECONDS = {"inTrees": 6.6, "Node Harvest": 3.3, "BATrees": 118.0}


def run_one(name, seed, folder, kept=None):
    """All methods on one split; a dict from method to what was measured."""
    data = draw(name, seed, folder)
    store = None if kept is None else Store(Path(kept) / "parts", SETTINGS)
    chosen = None
    found = {}
    for part in ("model", *ORIGINALS[name]):
        result = None if store is None else store.read(name, seed, part)
        if result is None:
            result = run_part(part, data, seed, chosen)
        chosen = chosen or result
        found[part] = result
    return found


def table(results):
    """Ours beside the originals, and whether the errors agree within a deviation."""
    lines, agreeing, total = [], 0, 0
    for name, methods in ORIGINALS.items():
        runs = results.get(name, [])
        for method, (error, spread, n_rules) in methods.items() if runs else ():
            errors = np.array([run[method]["error"] for run in runs])
            rules = np.array([run[method]["n_rules"] for run in runs])
            seconds = np.mean([run[method]["seconds"] for run in runs])
            allowed = max(errors.std(), spread or 0.0)
            agrees = abs(errors.mean() - error) <= allowed
            agreeing += agrees
            total += 1
            lines.append(
                [
                    f"{name}, {method}",
                    f"{errors.mean():.4g} ± {errors.std():.2g}",
                    f"{error:g} ± {spread:g}" if spread else f"{error:g}",
                    "yes" if agrees else "no",
                    f"{rules.mean():.1f} ± {rules.std():.1f}",
                    n_rules,
                    f"{seconds:.2f}",
                ]
            )
    header = ["", "error", "original", "within one sd", "rules", "original", "seconds"]
    print(text_table(header, lines))
    print(f"Errors within one standard deviation: {agreeing} of {total}")


def speed(results):
    """Seconds on Spambase against what the originals took."""
    runs = results.get("spambase", [])
    for method, original in SECONDS.items() if runs else ():
        worst = max(run[method]["seconds"] for run in runs)
        mean = np.mean([run[method]["seconds"] for run in runs])
        print(
            f"Spambase, {method}: {mean:.2f} s (longest {worst:.2f}) where the "
            f"original took {original:g} s: {original / mean:.0f} times as fast"
        )


def numbers_as_they_are(results, folder):
    """inTrees on Energy without levels, our default, on the same splits."""
    errors, sizes = [], []
    for seed, run in enumerate(results.get("energy", [])):
        data = draw("energy", seed, folder)
        chosen = run["model"]
        forest = fit_forest(data, chosen["node_size"], chosen["n_leaves"], seed)
        model = InTreesRegressor(forest, random_state=seed).fit(data.X, data.y)
        errors.append(np.mean((model.predict(data.X_test) - data.y_test) ** 2))
        sizes.append(model.rules_.n_rules)
    if errors:
        print(
            f"energy, inTrees without levels: {np.mean(errors):.3g} ± "
            f"{np.std(errors):.2g} with {np.mean(sizes):.1f} rules"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", default=os.environ.get("DEFRAGTREES_DATA", "../shared/data")
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", help="folder of a run of benchmarks.paper")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(ORIGINALS)
    jobs = [(name, seed) for name in names for seed in range(options.seeds)]
    done = Parallel(n_jobs=options.jobs)(
        delayed(run_one)(name, seed, options.data, options.kept) for name, seed in jobs
    )
    results = {}
    for (name, _), found in zip(jobs, done, strict=True):
        results.setdefault(name, []).append(found)
    table(results)
    numbers_as_they_are(results, options.data)
    print()
    speed(results)


if __name__ == "__main__":
    main()
