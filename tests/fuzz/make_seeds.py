"""Makes the files that fuzzing starts from: `python -m tests.fuzz.make_seeds`.

They are kept beside, small and of all formats, so that a run needs none of the
libraries and is the same everywhere.
"""

import warnings
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pandas as pd
import skops.io
import xgboost
from sklearn.ensemble import RandomForestClassifier

from defragtrees import DefragClassifier, DefragRegressor
from defragtrees.baselines import NodeHarvestRegressor
from tests.fuzz.cases import R_TREE, SEEDS

LIGHT = {"verbose": -1, "num_threads": 1, "seed": 0, "num_leaves": 4}
CAT = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "depth": 2}


def make_table():
    """Numbers with gaps, a category and three kinds of answers."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "size": np.round(rng.normal(size=n), 2),
            "city": pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], n)),
        }
    )
    frame.loc[::9, "size"] = np.nan
    score = frame["age"] / 20 + 2 * (frame["city"] == "Kiel") + frame["size"].fillna(0)
    frame["price"] = np.round(score, 2)
    frame["class"] = np.digitize(score, [2.5, 4.0])
    return frame


def write_xgboost(frame, folder):
    X, numbers = frame[["age", "size", "city"]], frame[["age", "size"]]
    options = {"n_estimators": 3, "max_depth": 2, "n_jobs": 1}
    labelled = {**options, "enable_categorical": True, "max_cat_to_onehot": 1}
    xgboost.XGBClassifier(**labelled).fit(X, frame["class"] > 0).save_model(
        folder / "xgboost-two.json"
    )
    codes = X.assign(city=X["city"].cat.codes).to_numpy()
    types = ["q", "q", "c"]
    booster = xgboost.train(
        {"max_depth": 2, "nthread": 1, "max_cat_to_onehot": 1},
        xgboost.DMatrix(
            codes, frame["price"], feature_types=types, enable_categorical=True
        ),
        3,
    )
    booster.save_model(folder / "xgboost-codes.json")
    dart = xgboost.XGBRegressor(booster="dart", rate_drop=0.5, **options)
    dart.fit(numbers, frame["price"]).save_model(folder / "xgboost-dart.json")
    xgboost.XGBClassifier(**options).fit(numbers, frame["class"]).save_model(
        folder / "xgboost-three.ubj"
    )


def write_others(frame, folder):
    X, numbers = frame[["age", "size", "city"]], frame[["age", "size"]]
    for name, objective, y in (
        ("binary", {"objective": "binary"}, frame["class"] > 0),
        ("many", {"objective": "multiclass", "num_class": 3}, frame["class"]),
        ("number", {"objective": "regression"}, frame["price"]),
    ):
        data = lightgbm.Dataset(X, y, params={"min_data_per_group": 5})
        booster = lightgbm.train(LIGHT | objective, data, 2)
        booster.save_model(folder / f"lightgbm-{name}.txt")
    two = catboost.CatBoostClassifier(iterations=3, random_seed=0, **CAT)
    two.fit(numbers, frame["class"] > 0)
    two.save_model(str(folder / "catboost-two.cbm"))
    two.save_model(str(folder / "catboost-two.json"), format="json")
    lossy = CAT | {"grow_policy": "Lossguide", "depth": 3}
    nested = catboost.CatBoostRegressor(iterations=2, random_seed=0, **lossy)
    nested.fit(numbers, frame["price"]).save_model(str(folder / "catboost-nested.cbm"))
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    forest.fit(frame[["age", "size"]].fillna(0), frame["class"])
    skops.io.dump(forest, folder / "sklearn.skops")
    (folder / "r-tree.txt").write_text(R_TREE, encoding="utf-8")


def write_rules(frame, folder):
    X = frame[["age", "size", "city"]]
    two, price = np.where(frame["class"] > 0, "yes", "no"), frame["price"]
    options = {"max_rules": 4, "random_state": 0}
    for name, estimator, y in (
        ("classes", DefragClassifier(**options), two),
        ("points", DefragClassifier(form="points", **options), two),
        ("standalone", DefragClassifier(form="standalone", **options), two),
        ("numbers", DefragRegressor(**options), price),
        ("mean", NodeHarvestRegressor(random_state=0), price),
    ):
        estimator.fit(X, y).rules_.save(folder / f"rules-{name}.json")


def write_tables(frame, folder):
    few = frame.head(40)
    few.to_csv(folder / "table.csv", index=False)
    few.to_csv(folder / "table.csv.gz", index=False)
    few.to_parquet(folder / "table.parquet", row_group_size=20)
    few.to_feather(folder / "table.feather", chunksize=20)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    place, table = Path(SEEDS), make_table()
    place.mkdir(exist_ok=True)
    write_xgboost(table, place)
    write_others(table, place)
    write_rules(table, place)
    write_tables(table, place)
