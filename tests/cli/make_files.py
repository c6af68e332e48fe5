"""Makes the models and data of these tests, in a process of its own.

So what the command reads was written by somebody else, as it is for a user.
"""

import pickle
import sys
from pathlib import Path

import catboost
import joblib
import lightgbm
import numpy as np
import pandas as pd
import skops.io
import xgboost
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

N_JOBS = 1
LIGHT = {"verbose": -1, "num_threads": N_JOBS, "seed": 0}


def iris():
    """Iris with an id, class numbers, class names and weights."""
    data = load_iris(as_frame=True)
    X = data.data.rename(columns=lambda name: name.removesuffix(" (cm)"))
    table = X.copy()
    table.insert(0, "id", [f"flower {i}" for i in range(len(X))])
    table["class"] = data.target
    table["species"] = np.array(data.target_names)[data.target]
    table["weight"] = np.where(data.target == 1, 2.0, 1.0)
    return X, table


def write_iris(folder):
    X, table = iris()
    y, names = table["class"], table["species"]
    table.to_csv(folder / "iris.csv", index=False)
    table.to_csv(folder / "iris.csv.gz", index=False)
    table.to_csv(folder / "iris.tsv", index=False, sep="\t")
    table.to_parquet(folder / "iris.parquet", row_group_size=40)
    table.to_feather(folder / "iris.feather", chunksize=40)
    boosted = {"n_estimators": 10, "max_depth": 3, "n_jobs": N_JOBS}
    xgboost.XGBClassifier(**boosted).fit(X, y).save_model(folder / "xgboost.json")
    unnamed = xgboost.XGBClassifier(**boosted).fit(X.to_numpy(), y)
    unnamed.save_model(folder / "unnamed.ubj")
    light = lightgbm.train(
        LIGHT | {"objective": "multiclass", "num_class": 3}, lightgbm.Dataset(X, y), 10
    )
    light.save_model(folder / "lightgbm.txt")
    options = {"verbose": 0, "allow_writing_files": False, "thread_count": N_JOBS}
    cat = catboost.CatBoostClassifier(iterations=10, random_seed=0, **options)
    cat.fit(X, names)
    cat.save_model(str(folder / "catboost.cbm"))
    cat.save_model(str(folder / "catboost.json"), format="json")
    forest = RandomForestClassifier(10, min_samples_leaf=3, random_state=0)
    forest.fit(X, names)
    skops.io.dump(forest, folder / "forest.skops")
    joblib.dump(forest, folder / "forest.joblib", compress=3)
    with open(folder / "forest.pkl", "wb") as file:
        pickle.dump(forest, file)


def write_shop(folder):
    """A regression with a category, a truth value and missing values."""
    rng = np.random.default_rng(0)
    n = 400
    city = pd.Series(rng.choice(["Bonn", "Kiel", "None", "Ulm"], n))
    size = pd.Series(np.round(rng.normal(size=n), 3)).where(rng.random(n) > 0.1)
    is_new = pd.Series(rng.random(n) < 0.5)
    price = 10 * city.isin(["Kiel", "None"]) + 3 * (size > 0) + 2 * is_new
    price = price + np.round(rng.normal(size=n) / 10, 3)
    X = pd.DataFrame({"city": city.astype("category"), "size": size, "is_new": is_new})
    light = LIGHT | {"objective": "regression", "min_data_per_group": 5}
    lightgbm.train(light, lightgbm.Dataset(X, price), 20).save_model(
        folder / "shop.txt"
    )
    booster = xgboost.XGBRegressor(
        n_estimators=20, max_depth=3, enable_categorical=True, n_jobs=N_JOBS
    )
    booster.fit(X, price).save_model(folder / "shop.json")
    table = X.assign(price=price, city=city)
    table.to_csv(folder / "shop.csv", index=False)
    table.to_parquet(folder / "shop.parquet", index=False)


def write_long(folder, n):
    """Twenty columns and a model of 100 trees, for time and memory."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 20)), columns=[f"c{j}" for j in range(20)])
    y = ((table.c0 > 0.3) & (table.c1 < 0.5) | (table.c2 > 1.2)).astype(int)
    few = slice(0, 10_000)
    light = lightgbm.train(
        LIGHT | {"objective": "binary"}, lightgbm.Dataset(table[few], y[few]), 100
    )
    light.save_model(folder / "long.txt")
    table["y"] = y
    table.to_parquet(folder / "long.parquet")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if len(sys.argv) > 2:
        write_long(place, int(sys.argv[2]))
    else:
        write_iris(place)
        write_shop(place)
