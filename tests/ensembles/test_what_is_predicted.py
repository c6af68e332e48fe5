"""Models that predict no mean of y are known by their objective."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from defragtrees.ensembles.predictions import fitted_forest
from defragtrees.outcomes.quantiles import quantile_name


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    return X, X[:, 0] + rng.exponential(size=600)


def lightgbm_of(objective, **settings):
    package = pytest.importorskip("lightgbm")
    settings |= {"n_estimators": 5, "verbose": -1}
    return package.LGBMRegressor(objective=objective, **settings)


def xgboost_of(objective, **settings):
    package = pytest.importorskip("xgboost")
    return package.XGBRegressor(objective=objective, n_estimators=5, **settings)


def catboost_of(loss):
    package = pytest.importorskip("catboost")
    return package.CatBoostRegressor(
        loss_function=loss, iterations=5, verbose=0, allow_writing_files=False
    )


MODELS = {
    "sklearn 90% quantile": lambda: GradientBoostingRegressor(
        loss="quantile", alpha=0.9, n_estimators=5
    ),
    "hist 20% quantile": lambda: HistGradientBoostingRegressor(
        loss="quantile", quantile=0.2, max_iter=5
    ),
    "hist median": lambda: HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=5
    ),
    "forest ": lambda: RandomForestRegressor(5),
    "lightgbm 90% quantile": lambda: lightgbm_of("quantile", alpha=0.9),
    "lightgbm median": lambda: lightgbm_of("mape"),
    "lightgbm ": lambda: lightgbm_of("regression"),
    "xgboost 90% quantile": lambda: xgboost_of("reg:quantileerror", quantile_alpha=0.9),
    "xgboost median": lambda: xgboost_of("reg:absoluteerror"),
    "xgboost ": lambda: xgboost_of("reg:squarederror"),
    "catboost 90% quantile": lambda: catboost_of("Quantile:alpha=0.9"),
    "catboost median": lambda: catboost_of("MAE"),
    "catboost ": lambda: catboost_of("RMSE"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_says_what_is_predicted(rows, name):
    X, y = rows
    model = MODELS[name]().fit(X, np.abs(y) + 1)
    found = fitted_forest(model, X).predicts
    found = quantile_name(found) if isinstance(found, float) else found
    assert found == name.partition(" ")[2]
