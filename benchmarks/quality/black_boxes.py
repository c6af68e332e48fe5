"""How well ten rules imitate models that cannot be read, beside a tree of ten leaves.

Run as `python -m benchmarks.quality.black_boxes --data FOLDER`. On each of six sets a
stack, a neural network and a calibrated boosted model are trained on raw columns; the
rules and a tree with ten leaves, which is shown numbers and one column for each
category, are made from their answers to the same rows. The agreement with the model is
that on rows that neither has seen: of classes the share of equal answers, of numbers
one less the squared error as a share of the variance.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import simplify
from defragtrees._utils.formatting import text_table
from defragtrees.ensembles.black_box import AskedForest
from defragtrees.outcomes import make_outcome

SETS = (
    "adult",
    "compas",
    "magic",
    "wine_quality",
    "breast_w",
    "california_housing",
)
REGRESSION = ("california_housing",)
N_RULES = 10  # and leaves
SLACK = 0.01  # how much less than the tree's the agreement may be
LEAST_ROWS = 20  # of a class
SEED = 0


def encoder(X):
    """Raw columns as numbers, scaled."""
    text = X.select_dtypes(exclude="number").columns.tolist()
    numbers = [name for name in X.columns if name not in text]
    fill = SimpleImputer(strategy="most_frequent")
    return ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(), StandardScaler()), numbers),
            ("t", make_pipeline(fill, OneHotEncoder(handle_unknown="ignore")), text),
        ],
        sparse_threshold=0,
    )


def models(X, is_number):
    """The models by name, unfitted."""

    def raw(model):
        return make_pipeline(encoder(X), model)

    if is_number:
        forest = RandomForestRegressor(50, random_state=SEED)
        boosted = GradientBoostingRegressor(random_state=SEED)
        stack = StackingRegressor([("a", raw(forest)), ("b", raw(RidgeCV()))], cv=3)
        network = MLPRegressor(
            hidden_layer_sizes=(50, 20), early_stopping=True, random_state=SEED
        )
        logged = TransformedTargetRegressor(
            raw(boosted), func=np.log1p, inverse_func=np.expm1
        )
        return {"stack": stack, "network": raw(network), "calibrated": logged}
    forest = RandomForestClassifier(50, random_state=SEED)
    boosted = GradientBoostingClassifier(n_estimators=50, random_state=SEED)
    linear = raw(LogisticRegression(max_iter=1000))
    stack = StackingClassifier([("a", raw(forest)), ("b", linear)], cv=3)
    network = MLPClassifier(
        hidden_layer_sizes=(50, 20), early_stopping=True, random_state=SEED
    )
    calibrated = CalibratedClassifierCV(raw(boosted), cv=3)
    return {"stack": stack, "network": raw(network), "calibrated": calibrated}


def run(folder, name, n_train):
    """A row for each model of one set."""
    table = pd.read_csv(f"{folder}/{name}.csv.gz")
    is_number = name in REGRESSION
    if not is_number:
        # Folds need some rows of each class.
        table = table.groupby("target").filter(lambda part: len(part) >= LEAST_ROWS)
    X, y = table.drop(columns="target"), table["target"].to_numpy()
    parts = train_test_split(X, y, train_size=min(n_train, len(X) // 2), random_state=0)
    X, X_test, y = parts[0], parts[1][:5000], parts[2]
    outcome = make_outcome("regression" if is_number else "classification")
    rows = []
    for kind, model in models(X, is_number).items():
        model.fit(X, y)
        answers, expected = model.predict(X), model.predict(X_test)
        begin = time.perf_counter()
        simple = simplify(model, X, y, max_rules=N_RULES, random_state=SEED)
        seconds = time.perf_counter() - begin
        grow = DecisionTreeRegressor if is_number else DecisionTreeClassifier
        tree = make_pipeline(
            encoder(X), grow(max_leaf_nodes=N_RULES, random_state=SEED)
        )
        tree.fit(X, answers)
        row = {
            "set": name,
            "model": kind,
            "is_asked": isinstance(simple.forest_, AskedForest),
            "calls": getattr(simple, "n_calls_", 0),
            "seconds": seconds,
            "rules": simple.rules_.n_rules,
        }
        for who, found in (("fidelity", simple), ("tree", tree)):
            row[who] = outcome.fidelity(expected, found.predict(X_test))
        rows.append(row)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder of the sets")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rows", type=int, default=3000, help="to train on, at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in options.sets:
        rows += run(options.data, name, options.rows)
    header = ["set", "model", "how", "calls", "seconds", "rules", "agreement", "tree"]
    lines = [
        [
            row["set"],
            row["model"],
            "asked" if row["is_asked"] else "read",
            f"{row['calls']:,}",
            f"{row['seconds']:.1f}",
            str(row["rules"]),
            f"{row['fidelity']:.3f}",
            f"{row['tree']:.3f}",
        ]
        for row in rows
    ]
    print(text_table(header, lines))
    kept = [row["fidelity"] >= row["tree"] - SLACK for row in rows]
    print(f"{sum(kept)} of {len(kept)} within {SLACK} of the tree or above it.")


if __name__ == "__main__":
    main()
