"""Probabilities of new rows by another tool, in an environment of its own.

`python rivals.py TOOL FILE` reads the arrays of an npz file and prints a JSON list with
the number of lines, the probabilities of the new rows and the seconds of each card. It
imports nothing of this project, whose dependencies may clash with those of the tool.
"""

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd


def fasterrisk(data):
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

    flags, y = data["flags"].astype(float), 2.0 * data["y"] - 1
    most = float(data["most"])
    for n_lines in data["lines"].tolist():
        start = time.perf_counter()
        found = RiskScoreOptimizer(flags, y, k=n_lines, lb=-most, ub=most)
        found.optimize()
        scale, intercept, points = (one[0] for one in found.get_models())
        card = RiskScoreClassifier(scale, intercept, points, X_train=flags)
        seconds = time.perf_counter() - start
        likely = card.predict_prob(data["new_flags"].astype(float))
        yield int(np.count_nonzero(points)), likely, seconds


def interpret(data):
    from interpret.glassbox import ExplainableBoostingClassifier

    kinds = np.where(data["is_category"], "nominal", "continuous").tolist()
    start = time.perf_counter()
    model = ExplainableBoostingClassifier(feature_types=kinds, n_jobs=1, random_state=0)
    model.fit(data["X"], data["y"])
    seconds = time.perf_counter() - start
    yield len(model.term_features_), model.predict_proba(data["new"])[:, 1], seconds


def optbinning(data):
    from optbinning import BinningProcess, Scorecard
    from sklearn.linear_model import LogisticRegression

    names = [f"x{j}" for j in range(data["X"].shape[1])]
    X, new = (pd.DataFrame(data[name], columns=names) for name in ("X", "new"))
    categories = np.array(names)[data["is_category"]].tolist()
    start = time.perf_counter()
    bins = BinningProcess(names, categorical_variables=categories)
    card = Scorecard(bins, LogisticRegression(max_iter=1000)).fit(X, data["y"])
    seconds = time.perf_counter() - start
    table = card.table()
    yield len(table), card.predict_proba(new)[:, 1], seconds


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tool, path = sys.argv[1:]
    found = {"fasterrisk": fasterrisk, "interpret": interpret, "optbinning": optbinning}
    with np.load(path) as data:
        rows = [
            (n_lines, np.asarray(likely).tolist(), seconds)
            for n_lines, likely, seconds in found[tool](data)
        ]
    print("\n" + json.dumps(rows))
