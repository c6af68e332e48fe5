"""Rules for counts: how much of a model's gain they keep, and whether rates hold.

`python -m benchmarks.counts --data FOLDER` reads `motor_belgium` and `motor_france`
(R package CASdatasets). Of each set one half trains a boosted Poisson model of rates,
whose rules are measured on the other half, in several splits:

- gain: by how much the mean Poisson deviance is below that of one rate, as a share of
  the model's gain, for lists of six rules, 15 relativities and a base, and
  scikit-learn's Poisson tree with six leaves, fitted to y;
- ahead: the gain of the list less that of the tree, and its standard error by row;
- held: the share of the intervals of rules that have the rate observed in new rows;
- slope: of observed beside expected events (logarithms) over deciles of the predicted
  rate of the relativities, and its standard error.

With `--simulated N`, y is drawn N times from the model's rates, also with more spread
than a Poisson distribution has, the model is fitted again, and `held` is the share of
intervals of rules that have the true rate of new rows.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import xlogy
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeRegressor

from defragtrees import simplify

SETS = "motor_belgium", "motor_france"
LEAST_ROWS = 100  # of a leaf of the tree
SPREAD = 0.5  # variance of the gamma factor of dispersed counts


def read(folder, name):
    """X, number of events, exposure."""
    X = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    y, years = (X.pop(column).to_numpy(float) for column in ("target", "exposure"))
    for column in X:
        if X[column].dtype.kind not in "fiub":
            X[column] = X[column].astype("category")
    return X, y, years


def fitted_model(X, y, years):
    """A boosted Poisson model of the rate; the number of trees by early stopping."""
    model = HistGradientBoostingRegressor(
        loss="poisson",
        categorical_features="from_dtype",
        learning_rate=0.04,
        max_iter=300,
        max_leaf_nodes=8,
        min_samples_leaf=100,
        early_stopping=True,
        n_iter_no_change=15,
        random_state=0,
    )
    return model.fit(X, y / years, sample_weight=years)


def rules_of(model, X, y, years, **settings):
    """Fitted rules."""
    return simplify(model, X, y, exposure=years, random_state=0, **settings)


def held(simple, X, y, years, rates=None):
    """Whether the interval of each rule has the observed, or true, rate of new rows."""
    apply, found = simple.apply(X), []
    for k, rule in enumerate(simple.rules_):
        rows = apply == k
        low, high = simple.rules_.outcome.estimate(rule)["interval"]
        events = y if rates is None else rates * years
        found.append(low <= events[rows].sum() / years[rows].sum() <= high)
    return found


def slope(rates, y, years):
    """Slope of log(observed / expected) over deciles of the rate, and its error."""
    order = np.argsort(rates, kind="stable")
    parts = np.array_split(order, 10)
    observed, expected = (
        np.array([values[rows].sum() for rows in parts])
        for values in (y, rates * years)
    )
    place = np.arange(10) - np.average(np.arange(10), weights=observed)
    total = observed @ place**2
    return observed @ (place * np.log(observed / expected)) / total, total**-0.5


def measured(name, X, y, years, seed):
    """Whether intervals held, and how far the list is ahead; prints a line."""
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[: len(y) // 2], rows[len(y) // 2 :]
    own, new = ((X.iloc[some], y[some], years[some]) for some in (train, test))
    model = fitted_model(*own)
    one_rate = own[1].sum() / own[2].sum()

    def deviances(rates):
        expected = np.maximum(rates, 1e-9) * new[2]
        return 2000 * (xlogy(new[1], new[1] / expected) - new[1] + expected)

    rules = rules_of(model, *own, max_rules=6)
    card = rules_of(model, *own, form="points", max_rules=16)
    codes = X.assign(
        **{name: X[name].cat.codes for name in X.select_dtypes("category")}
    )
    tree = DecisionTreeRegressor(
        criterion="poisson", max_leaf_nodes=6, min_samples_leaf=LEAST_ROWS
    )
    tree.fit(codes.iloc[train], own[1] / own[2], sample_weight=own[2])
    by_card = card.predict(new[0])
    by_row = [
        deviances(np.full(len(test), one_rate)) - deviances(rates)
        for rates in (
            *(model.predict(new[0]), rules.predict(new[0]), by_card),
            tree.predict(codes.iloc[test]),
        )
    ]
    trend, error = slope(by_card, *new[1:])
    gains, apart = np.mean(by_row, axis=1), by_row[1] - by_row[3]
    ahead, noise = apart.mean(), apart.std() / len(apart) ** 0.5
    print(
        *(f"{name:15} {seed:4}", *(f"{gain:7.3f}" for gain in gains)),
        *(f"{gain / gains[0]:7.0%}" for gain in gains[1:]),
        *(f"{ahead:7.3f} ± {noise:.3f}", f"{trend:7.3f} ± {error:.3f}"),
        flush=True,
    )
    return held(rules, *new), (ahead, noise)


def simulated(X, y, years, n, spread):
    """Whether intervals have true rates, where y is drawn from known ones."""
    rates, found = fitted_model(X, y, years).predict(X), []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        factor = rng.gamma(1 / spread, spread, len(X)) if spread else 1.0
        drawn = rng.poisson(rates * years * factor).astype(float)
        rows = rng.permutation(len(y))
        train, test = rows[: len(y) // 2], rows[len(y) // 2 :]
        own = X.iloc[train], drawn[train], years[train]
        simple = rules_of(fitted_model(*own), *own, max_rules=6)
        found += held(simple, X.iloc[test], drawn[test], years[test], rates[test])
    return found


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--simulated", type=int, default=0, metavar="N")
    given = parser.parse_args()
    print("gain in thousandths of deviance, then as a share of the model's")
    heads = "model list points tree list points tree".split()
    heads = [*(f"{head:>7}" for head in heads), "  ahead          ", "  slope"]
    print(f"{'set':15} seed", *heads)
    every = []
    for name in SETS if given.splits else ():
        data, splits = read(given.data, name), range(given.splits)
        inside, ahead = zip(*(measured(name, *data, k) for k in splits), strict=True)
        every += [one for own in inside for one in own]
        mean, noise = np.mean(ahead, axis=0)
        print(f"{name}: the list is ahead of the tree by {mean:.3f} ± {noise:.3f}")
    if every:
        share = f"{np.mean(every):.0%} of {len(every)}"
        print(f"intervals with the rate of new rows: {share}")
    for spread in (0.0, SPREAD) if given.simulated else ():
        found = simulated(*read(given.data, SETS[0]), given.simulated, spread)
        what = "dispersed" if spread else "Poisson"
        print(f"{what} draws, true rates: {np.mean(found):.0%} of {len(found)}")


if __name__ == "__main__":
    main()
