"""Does the label have a say? Components found with y, and with y permuted at random.

Run as `python -m benchmarks.label_say` (part of `make bench`). For each restart the
adjusted Rand index between the components that its rows get with the one target and
with the other, from the same seeds. Near 1: the label did not matter.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.problems import make_case
from defragtrees._utils.formatting import text_table
from defragtrees.data.store import RowStore
from defragtrees.paper.fit import fit_mixture
from defragtrees.paper.loop import Settings
from defragtrees.paper.parameters import Posterior

N_RESTARTS = 10


def components(case, target, weight, init):
    """The component of every row, for every restart."""
    grid = case.grid.shorten(case.X)
    binned = grid.bin(case.X)
    rows = RowStore.of_table(binned, target, case.n_classes, np.ones(len(target)))
    settings = Settings(n_restarts=N_RESTARTS, statement_weight=weight, init=init)
    mixture = fit_mixture(rows, settings, np.random.default_rng(0))
    return [
        Posterior(mixture.layout, one.statistics, grid).component(binned.codes)
        for one in mixture.fitted
    ]


def main():
    lines = []
    for name in ("synthetic1", "synthetic2", "spambase"):
        case = make_case(name)
        shuffled = np.random.default_rng(1).permutation(case.y)
        cells = []
        for weight in ("paper", 3.0):
            with_y, without = (
                components(case, target, weight, "random")
                for target in (case.y, shuffled)
            )
            index = [
                adjusted_rand_score(*pair) for pair in zip(with_y, without, strict=True)
            ]
            cells.append(f"{np.mean(index):.3f} ± {np.std(index):.3f}")
        lines.append([name, *cells])
    print("\nAdjusted Rand index between components with y and with y permuted")
    print(text_table(["data", "statement_weight=paper", "default"], lines))


if __name__ == "__main__":
    main()
