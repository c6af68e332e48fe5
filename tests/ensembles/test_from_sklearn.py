"""scikit-learn's trees and models are read exactly."""

import joblib
import numpy as np
import pytest
from sklearn import clone, config_context
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

from defragtrees.ensembles.readers.from_sklearn import read
from tests.checks.readers import check_reader, rows_around_thresholds

SMALL = {"n_estimators": 7, "random_state": 0}
HIST = {"max_iter": 5, "min_samples_leaf": 3, "random_state": 0}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "extra tree": ExtraTreeClassifier(random_state=0),
    "random forest": RandomForestClassifier(max_depth=4, **SMALL),
    "extra trees": ExtraTreesClassifier(max_depth=4, **SMALL),
    "boosting": GradientBoostingClassifier(**SMALL),
    "histogram": HistGradientBoostingClassifier(**HIST),
    "adaboost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), **SMALL),
    "bagging": BaggingClassifier(max_features=0.7, **SMALL),
}
REGRESSORS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "random forest": RandomForestRegressor(max_depth=4, **SMALL),
    "extra trees": ExtraTreesRegressor(max_depth=4, **SMALL),
    "boosting": GradientBoostingRegressor(**SMALL),
    "histogram": HistGradientBoostingRegressor(**HIST),
    "adaboost": AdaBoostRegressor(**SMALL),
    "bagging": BaggingRegressor(max_features=0.7, **SMALL),
}
TAKES_MISSING = [
    "tree",
    "extra tree",
    "random forest",
    "extra trees",
    "histogram",
    "bagging",
]


def make_rows(n_rows=90, share_missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)), 2)
    X[rng.random(X.shape) < share_missing] = np.nan
    return X


def make_y(X, target, seed=1):
    rng = np.random.default_rng(seed)
    filled = np.nan_to_num(X, nan=1.0)
    number = filled[:, 0] - filled[:, 1] * filled[:, 2] + rng.normal(size=len(X)) / 2
    if target == "number":
        return number
    if target == "two texts":
        return np.where(number > 0, "yes", "no")
    if target == "two numbers":
        return np.where(number > 0, 7, -1)
    return np.array(["low", "mid", "top"])[np.digitize(number, [-0.5, 0.5])]


def check_exact(model, X):
    """More than `check_reader`: nothing differs by more than the last digits."""
    forest = check_reader(model, X)
    rows = np.vstack([X, rows_around_thresholds(forest, X)])
    if forest.task == "classification":
        found, expected = forest.predict_proba(rows), model.predict_proba(rows)
    else:
        found, expected = forest.predict(rows), model.predict(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
    return forest


@pytest.mark.parametrize("target", ["two texts", "two numbers", "three texts"])
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_classifiers_are_exact(kind, target):
    X = make_rows()
    model = clone(CLASSIFIERS[kind]).fit(X, make_y(X, target))
    forest = check_exact(model, X)
    assert forest.classes == tuple(model.classes_.tolist())
    assert max(tree.depth for tree in forest.trees) > 0


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_are_exact(kind):
    X = make_rows()
    forest = check_exact(clone(REGRESSORS[kind]).fit(X, make_y(X, "number")), X)
    assert forest.classes is None


@pytest.mark.parametrize("target", ["two numbers", "three texts", "number"])
@pytest.mark.parametrize("kind", TAKES_MISSING)
def test_missing_values_are_exact(kind, target):
    X = make_rows(share_missing=0.2)
    kinds = REGRESSORS if target == "number" else CLASSIFIERS
    model = clone(kinds[kind]).fit(X, make_y(X, target))
    forest = check_exact(model, X)
    used = np.concatenate([tree.missing_left for tree in forest.trees])
    assert used.any()
    nothing = np.full((1, 4), np.nan)
    assert forest.predict(nothing)[0] == model.predict(nothing)[0]


@pytest.mark.parametrize("kind", ["tree", "random forest", "bagging"])
def test_missing_values_unseen_in_training_are_exact(kind):
    X = make_rows()
    model = clone(REGRESSORS[kind]).fit(X, make_y(X, "number"))
    holes = make_rows(share_missing=0.5)
    found = read(model).predict(holes)
    np.testing.assert_allclose(found, model.predict(holes), rtol=1e-13)


@pytest.mark.parametrize("n_trees", [1, 2])
@pytest.mark.parametrize("kind", ["random forest", "boosting", "adaboost", "bagging"])
def test_few_trees_are_exact(kind, n_trees):
    X = make_rows()
    model = clone(CLASSIFIERS[kind]).set_params(n_estimators=n_trees)
    forest = check_exact(model.fit(X, make_y(X, "three texts")), X)
    assert len(forest.trees) == n_trees * (3 if kind == "boosting" else 1)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_regressors_of_single_leaves_are_exact(kind):
    X = make_rows()
    forest = check_exact(clone(REGRESSORS[kind]).fit(X, np.full(len(X), 2.5)), X)
    assert forest.predict(X).tolist() == [2.5] * len(X)


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind != "adaboost"])
def test_classifiers_of_single_leaves_are_exact(kind):
    # No split is possible, and the classes are as many: also a test of ties.
    X = np.ones((60, 4))
    model = clone(CLASSIFIERS[kind]).fit(X, np.tile(["a", "b"], 30))
    forest = check_exact(model, X)
    assert max(tree.depth for tree in forest.trees) == 0


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("tree", "a"), ("random forest", "a"), ("boosting", "b"), ("histogram", "a")],
)
def test_a_row_between_two_classes_goes_where_scikit_learn_sends_it(kind, expected):
    X = np.ones((60, 1))
    model = clone(CLASSIFIERS[kind])
    if kind == "random forest":
        model.set_params(bootstrap=False)
    model.fit(X, np.tile(["a", "b"], 30))
    assert model.predict(X[:1])[0] == expected
    assert read(model).predict(X[:1])[0] == expected


@pytest.mark.parametrize(
    "kind", [kind for kind in CLASSIFIERS if kind not in ("boosting", "histogram")]
)
def test_a_single_class_is_certain(kind):
    X = make_rows()
    forest = check_exact(clone(CLASSIFIERS[kind]).fit(X, np.full(len(X), "one")), X)
    assert forest.predict_proba(X).tolist() == [[1.0]] * len(X)


@pytest.mark.parametrize("target", ["two texts", "three texts"])
@pytest.mark.parametrize("kind", ["boosting", "histogram"])
def test_boosted_sums_are_equal_to_the_last_bit(kind, target):
    # Otherwise a row on the border could get another class.
    X = make_rows()
    model = clone(CLASSIFIERS[kind]).fit(X, make_y(X, target))
    raw = model.decision_function(X).reshape(len(X), -1)
    assert (read(model).predict_raw(X) == raw).all()


def test_rows_on_a_tie_of_adaboost_are_exact():
    X = make_rows(400)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.0, 0.7])
    for labels in (y, y > 1):
        model = AdaBoostClassifier(n_estimators=6, random_state=0).fit(X, labels)
        model.estimator_weights_[:] = 0.1
        votes = [tree.predict(X) for tree in model.estimators_]
        counts = np.array([np.sum(votes == k, axis=0) for k in model.classes_])
        top_two = np.sort(counts, axis=0)[-2:]
        assert (top_two[0] == top_two[1]).any()
        forest = read(model)
        assert (forest.predict(X) == model.predict(X)).all()


def test_the_median_of_adaboost_is_weighted():
    X = make_rows()
    model = AdaBoostRegressor(n_estimators=4, random_state=0)
    model.fit(X, make_y(X, "number"))
    model.estimator_weights_[:] = [5.0, 1.0, 1.0, 1.0]
    expected = model.estimators_[0].predict(X)
    np.testing.assert_array_equal(read(model).predict(X), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "absolute_error"},
        {"loss": "huber"},
        {"loss": "quantile", "alpha": 0.8},
        {"init": "zero"},
        {"init": DummyRegressor(strategy="constant", constant=3.0)},
        {"learning_rate": 0.3, "subsample": 0.5},
    ],
)
def test_every_boosted_regressor_is_exact(options):
    X = make_rows()
    model = GradientBoostingRegressor(**SMALL, **options)
    check_exact(model.fit(X, make_y(X, "number")), X)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("two texts", {"loss": "exponential"}),
        ("two texts", {"loss": "exponential", "init": "zero"}),
        ("two texts", {"init": "zero"}),
        ("three texts", {"init": "zero", "learning_rate": 0.3}),
        ("three texts", {"n_iter_no_change": 1, "n_estimators": 50}),
    ],
)
def test_every_boosted_classifier_is_exact(target, options):
    X = make_rows()
    model = GradientBoostingClassifier(**{**SMALL, **options})
    check_exact(model.fit(X, make_y(X, target)), X)


def test_bagged_trees_may_lack_features_and_classes():
    X = make_rows()
    y = np.where(np.arange(len(X)) % 30 == 0, "rare", make_y(X, "two texts"))
    model = BaggingClassifier(
        DecisionTreeClassifier(), max_samples=0.15, max_features=0.5, random_state=0
    )
    with config_context(enable_metadata_routing=True):
        # Only so are rows left out; otherwise they get the weight zero.
        model.fit(X, y)
    assert {len(tree.classes_) for tree in model.estimators_} == {2, 3}
    forest = check_exact(model, X)
    assert forest.classes == ("no", "rare", "yes")


def test_bagged_trees_may_see_a_feature_twice():
    X = make_rows()
    model = BaggingRegressor(bootstrap_features=True, **SMALL)
    check_exact(model.fit(X, make_y(X, "number")), X)
    assert any(len(set(seen)) < 4 for seen in model.estimators_features_)


def test_thresholds_hold_for_doubles_beside_a_float32():
    # 0.5 is where the tree splits; the next double rounds to 0.5 in float32.
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    beside = np.nextafter(0.5, 1.0)
    assert tree.predict([[beside]])[0] == read(tree).predict([[beside]])[0] == 0.0
    assert tree.predict([[0.5000001]])[0] == read(tree).predict([[0.5000001]])[0] == 1.0


def test_names_come_from_the_frame_or_count_from_one():
    pandas = pytest.importorskip("pandas")
    X, y = make_rows(), make_y(make_rows(), "number")
    plain = read(DecisionTreeRegressor(max_depth=2).fit(X, y))
    assert plain.feature_names == ("x1", "x2", "x3", "x4")
    frame = pandas.DataFrame(X, columns=["p", "q", "r", "s"])
    named = read(DecisionTreeRegressor(max_depth=2).fit(frame, y))
    assert named.feature_names == ("p", "q", "r", "s")


@pytest.mark.parametrize("labels", [[1, 2], [True, False], [1.0, 2.0], ["b", "a"]])
def test_labels_are_plain_values_of_the_users_type(labels):
    y = np.array(labels * 10)
    forest = read(DecisionTreeClassifier().fit(np.arange(20.0)[:, None], y))
    assert forest.classes == tuple(sorted(labels))
    assert {type(label) for label in forest.classes} == {type(labels[0])}


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_model_is_left_as_it_was(kind):
    X = make_rows()
    model = clone(CLASSIFIERS[kind]).fit(X, make_y(X, "three texts"))
    before = joblib.hash(model)
    forest = read(model)
    forest.predict(X)
    assert joblib.hash(model) == before


def test_the_forest_does_not_change_with_the_model():
    X = make_rows()
    model = DecisionTreeRegressor(random_state=0).fit(X, make_y(X, "number"))
    forest, expected = read(model), model.predict(X)
    model.tree_.value[:] = 0.0
    assert (model.predict(X) == 0.0).all()
    np.testing.assert_array_equal(forest.predict(X), expected)


@pytest.mark.parametrize("target", ["two texts", "three texts", "number"])
@pytest.mark.parametrize(
    "kind", ["random forest", "extra trees", "boosting", "histogram"]
)
def test_treelite_agrees(kind, target):
    treelite = pytest.importorskip("treelite")
    # Treelite does not round X, so it is given numbers that rounding leaves alone.
    X = make_rows().astype(np.float32).astype(np.float64)
    kinds = REGRESSORS if target == "number" else CLASSIFIERS
    model = clone(kinds[kind]).fit(X, make_y(X, target))
    other = treelite.gtil.predict(treelite.sklearn.import_model(model), X, nthread=1)
    forest = read(model)
    if target == "number":
        found = forest.predict(X)
    else:
        found = forest.predict_proba(X)
    other = other.reshape(len(X), -1)
    if other.shape[1] == 1 and target != "number":
        other = np.hstack([1 - other, other])
    np.testing.assert_allclose(found, np.squeeze(other), rtol=1e-6, atol=1e-7)
