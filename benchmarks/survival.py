"""Rules of survival beside trees and Cox models of the same size.

`python -m benchmarks.survival --data FOLDER` reads `gbsg2`, `whas500` (of
scikit-survival) and `rotterdam` (R package survival). Half of the rows of a set train a
random survival forest, whose rules are measured on the other half, in several splits:

- Harrell's concordance and the integrated Brier score (thousandths) of lists of 4 and 8
  rules, of scikit-survival's SurvivalTree with as many leaves, and of a Cox model with
  as many columns as the list has, the best by their own concordance, alone and with its
  risk cut into as many groups, each with its own curve;
- concordance of the forest, and of points with eight lines and a base;
- held: the share of the intervals of survival at the horizon, of the lists, that have
  the survival of new rows (Kaplan and Meier).

With `--simulated N`, times are drawn N times for the rows of each set, with hazards of
a known Cox model, and `held` is the share of intervals that have the true survival of
the new rows of a rule.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from sksurv.ensemble import RandomSurvivalForest
from sksurv.functions import StepFunction
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored, integrated_brier_score
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.tree import SurvivalTree
from sksurv.util import Surv

from defragtrees import simplify

SETS = "gbsg2", "rotterdam", "whas500"
GROUPS = 4, 8
LINES = 9  # eight and the base
LEAST_ROWS = 15  # of a leaf


def read(folder, name):
    """X and y, the array of scikit-survival."""
    X = pd.read_csv(Path(folder) / f"{name}.csv.gz")
    time, event = (X.pop(column).to_numpy() for column in ("time", "event"))
    for column in X:
        if X[column].dtype.kind not in "fiub":
            X[column] = X[column].astype("category").cat.codes
    X = X.astype(float).fillna(X.median())
    X = (X - X.mean()) / X.std()
    return X, Surv.from_arrays(event.astype(bool), time.astype(float))


def c_index(y, risk):
    """Harrell's concordance."""
    return concordance_index_censored(y["event"], y["time"], risk)[0]


def brier(old, new, model, X):
    """The integrated Brier score of predicted survival."""
    last = min(old["time"].max(), np.quantile(new["time"], 0.9))
    inside = new["time"] < old["time"].max()  # else the weights are unknown
    times = np.linspace(np.quantile(new["time"], 0.1), last, 50)[:-1]
    functions = model.predict_survival_function(X[inside])
    values = np.array([function(times) for function in functions])
    return integrated_brier_score(old, new[inside], values, times)


def cox(X, y, n_columns):
    """A Cox model of the best columns, and these."""
    every = [abs(c_index(y, X[column].to_numpy()) - 0.5) for column in X]
    best = [X.columns[j] for j in np.argsort(every)[::-1][:n_columns]]
    return CoxPHSurvivalAnalysis(alpha=0.01).fit(X[best], y), best


class Grouped:
    """Risks in groups of equal size, each with the curve of its training rows."""

    def __init__(self, risk, y, n):
        self.edges = np.unique(np.quantile(risk, np.arange(1, n) / n))
        place = self.predict(risk)
        curves = [
            kaplan_meier_estimator(y["event"][place == k], y["time"][place == k])
            for k in range(len(self.edges) + 1)
        ]
        self.curves = [StepFunction(*curve) for curve in curves]

    def predict(self, risk):
        return np.searchsorted(self.edges, risk)

    def predict_survival_function(self, risk):
        return [self.at(self.curves[k]) for k in self.predict(risk)]

    @staticmethod
    def at(curve):
        return lambda times: np.where(
            times < curve.x[0], 1.0, curve(np.clip(times, curve.x[0], curve.x[-1]))
        )


def survival_of(y, time):
    """Estimated survival of rows until a time; NaN beyond the last one."""
    if time > y["time"].max():
        return np.nan
    times, values = kaplan_meier_estimator(y["event"], y["time"])
    place = np.searchsorted(times, time, side="right") - 1
    return 1.0 if place < 0 else values[place]


def held(simple, X, y, truth=None):
    """Whether the interval of each rule has the survival of new rows, or the true."""
    apply, found = simple.apply(X), []
    for k, rule in enumerate(simple.rules_):
        [(time, interval)] = simple.rules_.outcome.survival(rule)["survival"]
        rows = apply == k
        if interval is None or not rows.any():
            continue
        value = survival_of(y[rows], time) if truth is None else truth(rows, time)
        if value == value:
            found.append(interval[1] <= value <= interval[2])
    return found


def rules_of(forest, X, y, n, **settings):
    """Fitted rules, of just this number or the nearest below."""
    simple = simplify(forest, X, y, max_rules=n, random_state=0, **settings)
    simple.rules_ = simple.path_[max(simple.path_)]
    return simple


def forest_of(X, y):
    """The model that rules explain."""
    forest = RandomSurvivalForest(
        100, min_samples_leaf=LEAST_ROWS, low_memory=True, random_state=0
    )
    return forest.fit(X, y)


def halves(X, y, seed):
    """Rows to train on, and new ones."""
    rows = np.random.default_rng(seed).permutation(len(y))
    return rows[: len(y) // 2], rows[len(y) // 2 :]


def measured(name, X, y, seed):
    """Measures of a split by name, and whether intervals held."""
    train, test = halves(X, y, seed)
    X, new, y, other = X.iloc[train], X.iloc[test], y[train], y[test]
    forest, found, inside = forest_of(X, y), {}, []
    found["forest C"] = c_index(other, forest.predict(new))
    for n in GROUPS:
        simple = rules_of(forest, X, y, n)
        tree = SurvivalTree(
            max_leaf_nodes=n, min_samples_leaf=LEAST_ROWS, random_state=0
        ).fit(X, y)
        linear, best = cox(X, y, len(simple.rules_.features))
        grouped = Grouped(linear.predict(X[best]), y, n)
        for what, model, own in (
            ("list", simple, new),
            ("tree", tree, new),
            ("Cox", linear, new[best]),
            ("groups", grouped, linear.predict(new[best])),
        ):
            found[f"{what} {n} C"] = c_index(other, model.predict(own))
            found[f"{what} {n} B"] = brier(y, other, model, own)
        found[f"n {n}"] = simple.rules_.n_rules
        inside += held(simple, new, other)
    card = rules_of(forest, X, y, LINES, form="points")
    found["n points"] = card.rules_.n_rules
    found["points C"] = c_index(other, card.predict(new))
    found["points B"] = brier(y, other, card, new)
    return {"set": name, "seed": seed, **found}, inside


def simulated(X, y, n):
    """Whether intervals have the true survival, where y is drawn from a known model."""
    linear = CoxPHSurvivalAnalysis(alpha=0.1).fit(X, y)
    ratios, found = np.exp(linear.predict(X) - linear.predict(X).mean()), []
    scale = np.median(y["time"])
    for seed in range(n):
        rng = np.random.default_rng(seed)
        time = scale * rng.exponential(1.5 / ratios)
        until = scale * rng.uniform(0.5, 3.0, len(X))
        drawn = Surv.from_arrays(time <= until, np.minimum(time, until))
        train, test = halves(X, drawn, seed)
        own, new = (X.iloc[train], drawn[train]), test
        simple = rules_of(forest_of(*own), *own, 4)

        def truth(rows, time, new=new):
            return np.exp(-time / scale * ratios[new][rows] / 1.5).mean()

        found += held(simple, X.iloc[test], drawn[test], truth)
    return found


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--simulated", type=int, default=0, metavar="N")
    given = parser.parse_args()
    every, lines = [], []
    for name in given.sets:
        data = read(given.data, name)
        for seed in range(given.splits):
            line, inside = measured(name, *data, seed)
            lines.append(line)
            every += inside
    if lines:
        table = pd.DataFrame(lines).set_index(["set", "seed"])
        print("means in thousandths")
        print((1000 * table).groupby("set").mean().round(1).T.to_string())
        print("lists ahead by (thousandths, standard error)")
        for n in GROUPS:
            for what in ("tree", "Cox", "groups"):
                for measure, sign in (("C", 1000), ("B", -1000)):
                    ahead = (
                        table[f"list {n} {measure}"] - table[f"{what} {n} {measure}"]
                    )
                    mean, error = ahead.mean() * sign, ahead.sem() * 1000
                    print(f"{what:6} {n} {measure} {mean:7.1f} ({error:.1f})")
        share = f"{np.mean(every):.0%} of {len(every)}"
        print(f"intervals with the survival of new rows: {share}")
    if given.simulated:
        found = [
            one
            for name in given.sets
            for one in simulated(*read(given.data, name), given.simulated)
        ]
        print(f"draws with true survival: {np.mean(found):.0%} of {len(found)}")


if __name__ == "__main__":
    main()
