"""Fit rules on a Dask cluster; rows stay on the workers.

Each worker makes its own part of the table and keeps one or two bytes per cell; only
sums are transferred. For a remote cluster, pass its address to `Client`.
"""

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster
from sklearn.ensemble import HistGradientBoostingClassifier

from defragtrees import DefragClassifier

N_PARTS, PART_ROWS = 12, 25_000


def visits(seed):
    """Visits to a shop, and whether something was bought."""
    rng = np.random.default_rng(seed)
    df = pd.DataFrame(
        {
            "minutes": rng.gamma(2.0, 4.0, PART_ROWS).round(1),
            "pages": rng.poisson(6.0, PART_ROWS),
            "age": rng.integers(18, 80, PART_ROWS),
            "basket": rng.lognormal(3.0, 1.0, PART_ROWS).round(2),
        }
    )
    is_keen = (df["minutes"] > 6) & (df["pages"] > 4) | (df["basket"] > 60)
    score = np.where(is_keen, 2.0, -2.0) + (df["age"] - 50) / 15
    bought = rng.random(PART_ROWS) < 1 / (1 + np.exp(-score))
    return df.assign(bought=np.where(bought, "yes", "no"))


def main():
    """Train a model on a sample, and fit rules to all rows."""
    table = dd.from_map(visits, range(N_PARTS))
    X, y = table.drop(columns="bought"), table["bought"]
    sample = visits(N_PARTS)
    model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
    model.fit(sample.drop(columns="bought"), sample["bought"])
    simple = DefragClassifier(model, max_rules=5, random_state=0).fit(X, y)
    print(simple.summary())
    share = (simple.predict(X) == "yes").mean().compute()
    print(f"The rules predict yes for {share:.1%} of {N_PARTS * PART_ROWS:,} visits.")


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster):
        main()
