"""Models that predict no mean of y: rules say so, and imitate those of a quantile."""

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from defragtrees import simplify
from defragtrees.ensembles.opening import fitted_forest


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
    "sklearn 90 % quantile": lambda: GradientBoostingRegressor(
        loss="quantile", alpha=0.9, n_estimators=5
    ),
    "hist 20 % quantile": lambda: HistGradientBoostingRegressor(
        loss="quantile", quantile=0.2, max_iter=5
    ),
    "hist median": lambda: HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=5
    ),
    "forest ": lambda: RandomForestRegressor(5),
    "lightgbm 90 % quantile": lambda: lightgbm_of("quantile", alpha=0.9),
    "lightgbm median": lambda: lightgbm_of("mape"),
    "lightgbm ": lambda: lightgbm_of("regression"),
    "xgboost 90 % quantile": lambda: xgboost_of(
        "reg:quantileerror", quantile_alpha=0.9
    ),
    "xgboost median": lambda: xgboost_of("reg:absoluteerror"),
    "xgboost ": lambda: xgboost_of("reg:squarederror"),
    "catboost 90 % quantile": lambda: catboost_of("Quantile:alpha=0.9"),
    "catboost median": lambda: catboost_of("MAE"),
    "catboost ": lambda: catboost_of("RMSE"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_objective_says_what_is_predicted(rows, name):
    X, y = rows
    model = MODELS[name]().fit(X, np.abs(y) + 1)
    assert fitted_forest(model, X).predicts == name.partition(" ")[2]


def test_rules_of_a_quantile_imitate_the_model(rows):
    """A mean of y in their place would lie above some 60 % of y."""
    X, y = rows
    model = HistGradientBoostingRegressor(loss="quantile", quantile=0.9, max_iter=60)
    model.fit(X, y)
    with pytest.warns(UserWarning, match="90 % quantile of y, not its mean"):
        rules = simplify(model, X, y, max_rules=4, random_state=0).rules_
    new = np.random.default_rng(1).random((4000, 2))
    y_new = new[:, 0] + np.random.default_rng(2).exponential(size=4000)
    assert np.mean(y_new <= rules.predict(new)) == pytest.approx(0.9, abs=0.04)
    simplify(model, X, y, target="labels", max_rules=4, random_state=0)


def test_rules_of_a_median_say_that_they_report_means(rows):
    X, y = rows
    model = HistGradientBoostingRegressor(loss="absolute_error", max_iter=20)
    model.fit(X, y)
    with pytest.warns(UserWarning, match="the median of y; its rules report the mean"):
        rules = simplify(model, X, y, max_rules=2, random_state=0).rules_
    assert rules.evidence is not None
    simplify(model, X, max_rules=2, random_state=0)
