"""What giving up restarts early costs and saves.

    python -m benchmarks.screening --data FOLDER

For every set the same 20 restarts are fitted twice around one boosted ensemble: all of
them to all rows, and by the ladder of `screening` (all to 12,500 rows, the best five to
50,000, the best two to all rows). Both keep the restart with the smallest training
error of the posterior. Given are that error and the seconds. Sets that are not in the
folder are left out.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from benchmarks.problems import SEEDED
from benchmarks.quality_data import REGRESSION, read
from benchmarks.scale_data import labels, make_block
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

SETS = ("higgs",)
N_MADE = 200_000


def tables(folder):
    """Name, X and y of every set."""
    for name in SETS:
        if folder and (Path(folder) / f"{name}.csv.gz").exists():
            yield name, *read(folder, name)
    X = make_block(0, N_MADE, 28)
    yield "generated", X, labels(X)


def fitted(model, X, seed, screening):
    """A fit, with its seconds and its share of the answers that it misses."""
    begin = time.perf_counter()
    settings = {**SEEDED, "screening": screening, "n_jobs": 2, "random_state": seed}
    simple = simplify(model, X, **settings)
    spent = time.perf_counter() - begin
    return 1 - simple.training_["posterior_fidelity"], spent


def main():
    """Print one line for each set and seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=None)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for name, X, y in tables(arguments.data):
        is_number = name in REGRESSION
        boosted = (
            HistGradientBoostingRegressor
            if is_number
            else HistGradientBoostingClassifier
        )
        known = (
            {} if isinstance(X, np.ndarray) else {"categorical_features": "from_dtype"}
        )
        model = boosted(random_state=0, **known).fit(X, y)
        for seed in range(arguments.seeds):
            full = fitted(model, X, seed, False)
            short = fitted(model, X, seed, "auto")
            lines.append(
                [
                    f"{name} ({len(X):,})",
                    seed,
                    f"{full[0]:.4f}",
                    f"{short[0]:.4f}",
                    f"{short[0] - full[0]:+.4f}",
                    f"{full[1]:.1f}",
                    f"{short[1]:.1f}",
                    f"{full[1] / short[1]:.1f}",
                ]
            )
            print(lines[-1], flush=True)
    head = ["set", "seed", "all", "ladder", "change", "all s", "ladder s", "x"]
    print(text_table(head, lines))


if __name__ == "__main__":
    main()
