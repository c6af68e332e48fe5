"""What the schedule of the E-step does to K, to the error and to the time.

Run as `python -m benchmarks.e_step --data FOLDER [--sets A,B] [--seeds N]`. The paper's
method on forests of 100 trees with at least ten rows in a leaf, as many rows as the
paper has, 20 random restarts. For each schedule: components of all restarts and of the
kept one, its test error, and how many times longer EM over K = 1..10 takes, in seconds
of the processor. The last line of a set takes, seed by seed, the better of "original"
and "converged" by training error. `--ours` takes the settings `SEEDED` of
`benchmarks.problems` in place of the paper's. `--standardise` hands numbers to the fit
with mean 0 and standard deviation 1, since the starts of the paper's authors depend on
the units of y.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.paper import published
from benchmarks.paper.data import draw
from benchmarks.paper.parts import Stopwatch, mean_components
from benchmarks.problems import SEEDED
from defragtrees import metrics
from defragtrees._api import simplify
from defragtrees._utils.formatting import text_table
from defragtrees.paper.loop import SCHEDULES

FORESTS = {
    "classification": RandomForestClassifier,
    "regression": RandomForestRegressor,
}
NEAR = 0.03  # of error, from the forest's


@dataclass(frozen=True)
class Outcome:
    """What one schedule gave on one draw of the data."""

    n_all: float
    n_kept: int
    train_error: float
    error: float
    seconds: float


def measured(data, forest, seed, standardise, **settings):
    """The Outcome of the mixture with these settings."""
    watch = Stopwatch()
    y, in_units = standardised(data) if standardise else (data.y, np.asarray)
    model = simplify(forest, data.X, y, random_state=seed, callback=watch, **settings)
    told = [in_units(model.predict_posterior(X)) for X in (data.X, data.X_test)]
    errors = [
        metrics.error(y, answers, data.task)
        for y, answers in zip((data.y, data.y_test), told, strict=True)
    ]
    n_kept, seconds = model.posterior_.n_components, watch.seconds_per_restart(model)
    return Outcome(mean_components(model), n_kept, *errors, seconds)


def standardised(data):
    """y with mean 0 and standard deviation 1, and what brings answers back."""
    if data.task == "classification":
        return data.y, np.asarray
    center, spread = data.y.mean(), data.y.std()
    return (data.y - center) / spread, lambda answers: center + spread * answers


def outcomes(name, seed, folder, with_em, shared):
    """By schedule the Outcomes of one draw; the forest's error and EM's seconds."""
    data = draw(name, seed, folder)
    kind = FORESTS[data.task]
    forest = kind(100, min_samples_leaf=10, random_state=seed).fit(data.X, data.y)
    found = {
        e_step: measured(data, forest, seed, e_step=e_step, **shared)
        for e_step in SCHEDULES
    }
    em = np.nan
    if with_em:
        em = sum(
            measured(data, forest, seed, inference="em", max_rules=k, **shared).seconds
            for k in range(1, published.MOST_COMPONENTS + 1)
        )
    error = metrics.error(data.y_test, forest.predict(data.X_test), data.task)
    return found, error, em


def lines_of(name, runs):
    """A line for each schedule, and one for the better of two."""
    em = np.mean([one for _, _, one in runs])
    lines = []
    for e_step in SCHEDULES:
        own = [found[e_step] for found, _, _ in runs]
        lines.append(
            [
                name,
                e_step,
                f"{np.mean([one.n_all for one in own]):.1f}",
                f"{np.mean([one.n_kept for one in own]):.1f}",
                " ".join(str(one.n_kept) for one in own),
                f"{np.mean([one.error for one in own]):.4g}",
                f"{em / np.mean([one.seconds for one in own]):.1f}",
            ]
        )
    better = [
        min((found["original"], found["converged"]), key=lambda one: one.train_error)
        for found, _, _ in runs
    ]
    errors = [error for _, error, _ in runs]
    near = sum(one.error - e <= NEAR for one, e in zip(better, errors, strict=True))
    mean = np.mean([one.error for one in better])
    lines.append([name, "better of two", "", "", "", f"{mean:.4g}", ""])
    label = f"forest; the better is within {NEAR} in {near} of {len(runs)}"
    lines.append([name, label, "", "", "", f"{np.mean(errors):.4g}", ""])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--sets", default=",".join(published.DATASETS))
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--without-em", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--standardise", action="store_true")
    given = parser.parse_args()
    shared = dict(SEEDED) if given.ours else {"method": "paper"}
    shared.pop("e_step", None)
    shared["standardise"] = given.standardise
    lines = []
    for name in given.sets.split(","):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            runs = [
                outcomes(name, seed, given.data, not given.without_em, shared)
                for seed in range(given.seeds)
            ]
        lines += lines_of(name, runs)
        print(text_table(HEADER, lines[-5:]), flush=True)
    if "," in given.sets:
        print(text_table(HEADER, lines))


HEADER = ["data", "e_step", "all", "kept", "by seed", "test error", "EM / FAB"]

if __name__ == "__main__":
    main()
