"""One spread for the whole list, or one for each rule? Refine with both, on numbers.

Run as `python -m benchmarks.spread`. Test error as a share of the variance, forests on
the regression sets of the data folder, four seeds.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import pandas as pd

import defragtrees.search.driver as refining
from benchmarks import quality
from defragtrees.search.losses import LEAST_SPREAD, NumberLoss

N_SEEDS = 4


class SpreadPerRule(NumberLoss):
    """A Gaussian with a mean and a spread of its own for every rule."""

    def some(self, rows):
        return SpreadPerRule(self.target[rows], self.weight[rows])

    def counts(self, answering, n_rules):
        squares = np.bincount(answering, self.weight * self.target**2, n_rules)
        return np.column_stack([super().counts(answering, n_rules), squares])

    def _moments(self, counts):
        n, total, squares = counts.T
        mean = total / np.maximum(n, 1e-300)
        spread = np.maximum(squares / np.maximum(n, 1e-300) - mean**2, 0.0)
        return mean, spread + 5 * LEAST_SPREAD

    def cost(self, counts):
        _, spread = self._moments(counts)
        fit = 0.5 * counts[:, 0] @ (np.log(spread) + 1)
        return float(fit + np.log(max(self.total_weight, 2.0)) * len(counts))

    def row_losses(self, counts, answering):
        mean, spread = self._moments(counts)
        residual = (self.target - mean[answering]) ** 2
        loss = residual / (2 * spread[answering]) + 0.5 * np.log(spread[answering])
        return loss * self.weight

    def basis(self, counts):
        return super().basis(counts[:2])

    def proposals(self, rows):
        return [
            np.array([n, value, value**2 + 0.05])
            for n, value in super().proposals(rows)
        ]


def main():
    folder = os.environ.get("DEFRAGTREES_DATA", "../shared/data")
    found = {}
    for label, loss in (("shared", NumberLoss), ("per rule", SpreadPerRule)):
        refining.NumberLoss = loss
        rows = [
            row
            for name in sorted(quality.REGRESSION)
            for seed in range(N_SEEDS)
            for row in quality.run_one(folder, name, "forest", seed, 1500)
        ]
        table = pd.DataFrame(rows)
        table = table[(table.method == "ours") & (table.budget > 0)]
        found[label] = table.groupby(["data", "budget"]).error.mean()
    results = pd.DataFrame(found)
    better = (results["shared"] < results["per rule"]).sum()
    print(results.round(4).to_string())
    print(f"one spread for the list is better on {better} of {len(results)}")


if __name__ == "__main__":
    main()
