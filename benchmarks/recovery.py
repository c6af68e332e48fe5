"""Rules on the paper's smaller sets: how many, and how good, over ten seeds.

Run as `python -m benchmarks.recovery` (part of `make bench`). Synthetic sets are drawn
anew for each seed (1,000 rows to learn from, 1,000 to test on); Spambase is split at
random at the paper's size, Energy in halves. Forests have 100 trees.
"""

import time
import warnings

import numpy as np

from benchmarks.problems import SEEDED, make_case
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

RUNS = [
    ("synthetic1", "mixture only", 10, SEEDED, {"max_leaf_nodes": None}),
    ("synthetic1", "default", 10, {}, {"max_leaf_nodes": None}),
    ("synthetic2", "at most 6 rules", 6, {}, {"max_leaf_nodes": None}),
    ("spambase", "at most 8 rules", 8, {}, {"min_samples_leaf": 1}),
    ("energy", "mixture only", 10, SEEDED, {"min_samples_leaf": 2}),
    ("energy", "at most 10 rules", 10, {}, {"min_samples_leaf": 2}),
]


def main():
    warnings.simplefilter("ignore")
    lines = []
    for name, label, max_rules, settings, forest in RUNS:
        found, begin = [], time.perf_counter()
        for seed in range(10):
            case = make_case(name, seed, **forest)
            simple = simplify(
                case.forest,
                case.X,
                case.y,
                max_rules=max_rules,
                random_state=seed,
                **settings,
            )
            scores = simple.evaluate(case.X_test, case.y_test)
            found.append(
                [
                    scores["n_rules"],
                    scores["mean_conditions"],
                    scores["error"],
                    scores.get("posterior_error", np.nan),
                    scores["ensemble_error"],
                ]
            )
        table = np.array(found)
        mean = table.mean(axis=0)
        few = f"{table[:, 0].min():.0f}-{table[:, 0].max():.0f}"
        printed = (table[:, 2] <= table[:, 4] + 0.03).sum()
        posterior = (table[:, 3] <= table[:, 4] + 0.02).sum()
        lines.append(
            [
                f"{name}, {label}",
                few,
                f"{mean[1]:.1f}",
                *("" if np.isnan(value) else f"{value:.4g}" for value in mean[2:]),
                f"{printed}" if name != "energy" else "",
                f"{posterior}" if name != "energy" and settings else "",
                f"{(time.perf_counter() - begin) / 10:.1f}",
            ]
        )
    print("\nTen seeds; errors are means on test rows")
    header = (
        "data;rules;conditions;printed;posterior;forest;"
        "printed within 0.03;posterior within 0.02;seconds"
    )
    print(text_table(header.split(";"), lines))


if __name__ == "__main__":
    main()
