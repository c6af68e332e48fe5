"""Whether the mixture's components help the search: rules with and without them.

Run as `python -m benchmarks.mixture_starts --data FOLDER`. A forest of 100 trees on
1,500 rows of each set. With: the paper's mixture is fitted first (20 restarts, seeded),
and the boxes of the components of its kept restart, the heaviest first, are one start
more at each of three tolerances; all starts are followed to their ends. Without: a
default fit. Shown are the test errors (of numbers as a share of the variance), whether
the rules are the same, and seconds of the processor.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
import warnings
from contextlib import contextmanager

import numpy as np

from benchmarks.problems import SEEDED
from benchmarks.quality_data import make_split
from defragtrees import metrics
from defragtrees._api import simplify
from defragtrees._utils.formatting import text_table
from defragtrees.estimators import estimator_for
from defragtrees.paper.rules import component_sides
from defragtrees.search import driver, moves
from defragtrees.search.table import RowTable

SETS = "spambase,magic,adult,wine_quality,california_housing,abalone,compas,energy"
TOLERANCES = (0.01, 0.03, 0.1)
N_TRAIN = 1_500


def component_boxes(posterior, table, tolerance):
    """Boxes of the components by code of the table, the heaviest first."""
    boxes = []
    for k in np.argsort(-posterior.statistics.weight):
        sides = component_sides(posterior, k, tolerance)
        box = {}
        for j, column in enumerate(table.columns):
            own = [side.accepts for side in sides if side.feature == column.feature]
            if own:
                accepts = np.logical_and.reduce(own)
                box[j] = np.append(accepts[column.bins], accepts[-1])
        boxes.append(box)
    return boxes


@contextmanager
def mixture_among_the_starts(seed):
    """While this holds, a search starts from the mixture's components too."""
    strategy = driver.ListStrategy
    originals = driver.FORMS["list"], strategy.starts, RowTable.coarse
    held = {}

    def find(problem, settings, rng):
        kind = estimator_for("paper", problem.outcome)
        own = {name: SEEDED[name] for name in SEEDED if name != "method"}
        estimator = kind(**own, random_state=seed)
        estimator._fit_mixture(problem, np.random.default_rng(seed))
        held["posterior"] = estimator.posterior_
        return originals[0](problem, settings, rng)

    def coarse(table, rows, most_codes):
        few, groups = originals[2](table, rows, most_codes)
        held["groups"], held["table"] = groups, table
        return few, groups

    def starts(own, few, loss, boxes, limits):
        more = []
        for tolerance in TOLERANCES:
            found = component_boxes(held["posterior"], held["table"], tolerance)
            more.append([_coarse_box(box, held["groups"]) for box in found])
        return originals[1](own, few, loss, [*boxes, *more], limits)

    driver.FORMS["list"], strategy.starts, RowTable.coarse = find, starts, coarse
    # Else a start goes on only if it is among the two cheapest of its length.
    n_promising, moves.N_PROMISING = moves.N_PROMISING, 99
    try:
        yield
    finally:
        driver.FORMS["list"], strategy.starts, RowTable.coarse = originals
        moves.N_PROMISING = n_promising


def _coarse_box(box, groups):
    """A coarse code is accepted where most of its codes are."""
    return {
        j: np.bincount(groups[j], mask) * 2 >= np.bincount(groups[j])
        for j, mask in box.items()
    }


def fitted(ensemble, X, y, seed, max_rules):
    begin = time.process_time()
    simple = simplify(ensemble, X, y, max_rules=max_rules, random_state=seed)
    return simple, time.process_time() - begin


def compared(name, folder, seed, max_rules):
    """Errors without and with, whether the rules are the same, seconds of both."""
    split = make_split(folder, name, "forest", seed, N_TRAIN)
    X, y = split.X.iloc[split.train], split.y[split.train]
    X_test, y_test = split.X.iloc[split.test], split.y[split.test]
    without, seconds = fitted(split.ensemble, X, y, seed, max_rules)
    with mixture_among_the_starts(seed):
        helped, more_seconds = fitted(split.ensemble, X, y, seed, max_rules)
    outcome = without.rules_.outcome
    scale = np.var(y_test) if split.is_number else 1.0
    errors = [
        metrics.error(y_test, one.predict(X_test), outcome.task) / scale
        for one in (without, helped)
    ]
    return *errors, without.rules_ == helped.rules_, seconds, more_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    lines, results = [], []
    compared("energy", given.data, 0, 5)  # lets compiled code be loaded
    for name in given.sets.split(","):
        for max_rules in (5, 9):
            for seed in range(given.seeds):
                own = compared(name, given.data, seed, max_rules)
                results.append(own)
                is_same = "same" if own[2] else ""
                numbers = [f"{own[0]:.4f}", f"{own[1]:.4f}", is_same]
                times = [f"{own[3]:.2f}", f"{own[4]:.2f}"]
                lines.append([name, str(max_rules), str(seed), *numbers, *times])
    header = ["data", "rules", "seed", "without", "with", "rules are", "s", "s with"]
    print(text_table(header, lines))
    without, helped, same, seconds, more = np.array(results, dtype=float).T
    better, worse = (helped < without).sum(), (helped > without).sum()
    print(
        f"{len(results)} fits: the same rules in {same.sum():.0f}, better with in "
        f"{better}, worse in {worse}; mean error {without.mean():.4f} without, "
        f"{helped.mean():.4f} with; {more.sum() / seconds.sum():.1f} times the time."
    )


if __name__ == "__main__":
    main()
