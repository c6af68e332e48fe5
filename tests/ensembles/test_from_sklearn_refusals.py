"""What the scikit-learn reader cannot read, it refuses, and says what to do."""

import numpy as np
import pytest
from sklearn import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_sklearn import read
from defragtrees.errors import UnsupportedModelError
from tests.ensembles.test_from_sklearn import CLASSIFIERS, SMALL, make_rows, make_y


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_an_unfitted_model_says_so(kind):
    model = clone(CLASSIFIERS[kind])
    name = type(model).__name__
    with pytest.raises(NotFittedError, match=f"this {name} is not fitted. Call fit"):
        read(model)


@pytest.mark.parametrize(
    "model",
    [
        IsolationForest(n_estimators=3),
        LogisticRegression(),
        BaggingClassifier(LogisticRegression(), n_estimators=2),
        BaggingClassifier(RandomForestClassifier(n_estimators=2), n_estimators=2),
        BaggingRegressor(DecisionTreeClassifier(), n_estimators=2),
        AdaBoostClassifier(LogisticRegression(), n_estimators=2),
        AdaBoostRegressor(LinearRegression(), n_estimators=2),
    ],
)
def test_what_is_no_model_of_trees_is_refused(model):
    X = make_rows()
    model.fit(X, make_y(X, "two numbers"))
    name = type(model).__name__
    with pytest.raises(UnsupportedModelError, match=f"^Cannot read {name}"):
        read(model)


@pytest.mark.parametrize(
    "init", [LogisticRegression(), DummyClassifier(strategy="uniform", random_state=0)]
)
def test_boosting_from_another_estimator_is_refused(init):
    X = make_rows()
    model = GradientBoostingClassifier(init=init, **SMALL)
    model.fit(X, make_y(X, "two texts"))
    message = f"starts from the predictions of {type(init).__name__}"
    with pytest.raises(UnsupportedModelError, match=message):
        read(model)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        RandomForestRegressor(n_estimators=2),
        BaggingRegressor(n_estimators=2),
        ExtraTreesClassifier(n_estimators=2),
    ],
)
def test_several_targets_are_refused(model):
    X = make_rows()
    y = make_y(X, "two numbers")
    model.fit(X, np.column_stack([y, y[::-1]]))
    with pytest.raises(UnsupportedModelError, match="predicts 2 targets at once"):
        read(model)


def test_a_tree_with_a_predict_of_its_own_is_refused():
    class Rounded(DecisionTreeRegressor):
        def predict(self, X):
            return np.round(super().predict(X))

    X = make_rows()
    y = make_y(X, "number")
    with pytest.raises(UnsupportedModelError, match="Cannot read Rounded"):
        read_forest(Rounded().fit(X, y))
    with pytest.raises(UnsupportedModelError, match="of Rounded"):
        read(BaggingRegressor(Rounded(), n_estimators=2).fit(X, y))
    forest = RandomForestRegressor(2).fit(X, y)
    forest.estimators_[1] = Rounded().fit(X, y)
    with pytest.raises(UnsupportedModelError, match="of Rounded"):
        read_forest(forest)
