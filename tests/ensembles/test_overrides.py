"""A model that overrides a method of its library is queried, never read without it."""

import numpy as np
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRegressor

from defragtrees import (
    DefragClassifier,
    UnsupportedModelError,
    read_forest,
    simplify,
)
from defragtrees.ensembles.black_box import AskedForest

rng = np.random.default_rng(3)
X = rng.normal(size=(200, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
FOREST = RandomForestClassifier(5, random_state=0)
SCALED = [("scale", StandardScaler()), ("last", FOREST)]
QUIET = {"verbose": 0, "iterations": 5, "allow_writing_files": False}


class Opposite:
    def predict(self, X):
        return 1 - np.ravel(super().predict(X))


class Opposed:
    def predict_proba(self, X, **options):
        return super().predict_proba(X, **options)[:, ::-1]


class Doubled:
    def predict(self, X):
        return 2 * super().predict(X)


def sub(mixin, kind, *arguments, **settings):
    """A fitted model of a class that overrides what `mixin` has."""
    made = type(f"{mixin.__name__}{kind.__name__}", (mixin, kind), {})
    return made(*arguments, **settings).fit(X, Y)


MODELS = {
    "pipeline": lambda: sub(Opposite, Pipeline, SCALED),
    "pipeline's probabilities": lambda: sub(Opposed, Pipeline, SCALED),
    "search": lambda: sub(Opposite, GridSearchCV, FOREST, {"max_depth": [2]}),
    "XGBoost": lambda: sub(Opposite, XGBClassifier, n_estimators=5),
    "XGBoost's probabilities": lambda: sub(Opposed, XGBClassifier, n_estimators=5),
    "XGBoost's numbers": lambda: sub(Doubled, XGBRegressor, n_estimators=5),
    "LightGBM": lambda: sub(Opposite, LGBMClassifier, n_estimators=5, verbose=-1),
    "LightGBM's numbers": lambda: sub(
        Doubled, LGBMRegressor, n_estimators=5, verbose=-1
    ),
    "CatBoost": lambda: sub(Opposite, CatBoostClassifier, **QUIET),
    "CatBoost's numbers": lambda: sub(Doubled, CatBoostRegressor, **QUIET),
    "vote": lambda: sub(Opposite, VotingClassifier, [("a", FOREST)]),
    "forest": lambda: sub(Opposite, RandomForestClassifier, 5, random_state=0),
    "member of a search": lambda: GridSearchCV(
        sub(Opposite, RandomForestClassifier, 5), {"max_depth": [2]}
    ).fit(X, Y),
}


def patched(model, name, function):
    """The fitted model with a function as its attribute."""
    model = model.fit(X, Y)
    setattr(model, name, function)
    return model


MODELS |= {
    "attribute": lambda: patched(
        XGBClassifier(n_estimators=5), "predict", lambda X: np.ones(len(X), dtype=int)
    ),
    "attribute of a pipeline": lambda: patched(
        Pipeline(SCALED), "predict_proba", lambda X: np.tile([0.3, 0.7], (len(X), 1))
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_overrides_are_queried(kind):
    model = MODELS[kind]()
    with pytest.raises(UnsupportedModelError, match=r"it overrides predict(_proba)?"):
        read_forest(model)
    simple = simplify(model, X, Y, max_rules=4, random_state=0)
    assert isinstance(simple.forest_, AskedForest)
    assert (simple.forest_.predict(X) == np.ravel(model.predict(X))).all()
    assert "queried as a black box. Cannot read" in simple.summary()


def test_scores_and_steps_of_their_own_are_not_read():
    class Turned(GradientBoostingClassifier):
        def decision_function(self, X):
            return -super().decision_function(X)

    turned = CalibratedClassifierCV(Turned(n_estimators=3), cv=2).fit(X, Y)
    with pytest.raises(UnsupportedModelError, match="overrides decision_function"):
        read_forest(turned)

    class Part(Pipeline):
        def transform(self, X):
            return -super().transform(X)

    nested = make_pipeline(Part([("scale", StandardScaler())]), FOREST).fit(X, Y)
    with pytest.raises(UnsupportedModelError, match="it overrides transform"):
        read_forest(nested)
    scaled = Pipeline(SCALED).fit(X, Y)
    scaled[0].transform = lambda X: -X
    with pytest.raises(UnsupportedModelError, match="it overrides transform"):
        read_forest(scaled)


def test_a_regressor_with_probabilities_of_its_own_is_not_a_classifier():
    class Sure(XGBRegressor):
        def predict_proba(self, X):
            return np.tile([0.0, 1.0], (len(X), 1))

    with pytest.raises(UnsupportedModelError, match="it overrides predict_proba"):
        read_forest(Sure(n_estimators=2).fit(X, Y))


@pytest.mark.parametrize("mixin", [Opposite, Opposed])
def test_unfitted_ones_are_fitted_first(mixin):
    for kind, settings in (
        (XGBClassifier, {"n_estimators": 3}),
        (LGBMClassifier, {"n_estimators": 3, "verbose": -1}),
        (CatBoostClassifier, QUIET),
    ):
        made = type("Own", (mixin, kind), {})
        simple = DefragClassifier(made(**settings), random_state=0).fit(X, Y)
        assert isinstance(simple.forest_, AskedForest)


def test_what_adds_methods_or_other_settings_is_read():
    class Named(RandomForestRegressor):
        def transform(self, X):
            return self.apply(X)

    class Logged(GridSearchCV):
        def fit(self, X, y):
            return super().fit(X, y)

    class Search(BaseEstimator):  # of a library that does not extend scikit-learn's
        def __init__(self, best):
            self.best_estimator_ = best

        def predict(self, X):
            return self.best_estimator_.predict(X)

    for model in (
        Named(3, random_state=0).fit(X, Y),
        Logged(FOREST, {"max_depth": [2, 3]}).fit(X, Y),
        Search(FOREST.fit(X, Y)),
    ):
        assert (read_forest(model).predict(X) == model.predict(X)).all()
