"""Distilled trees: scikit-learn's tree as rules, with missing values and categories."""

import dataclasses

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from defragtrees.baselines.distilled import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from defragtrees.datasets import load_sample
from defragtrees.ensembles.readers import read_forest
from tests.checks import methods
from tests.estimators.test_checks import CHECKS, make_data

DTREE2 = {
    "max_depth": 2,
    "max_rules": None,
    "min_samples_leaf": (5, 10, 20, 30),
    "target": "labels",
}


ESTIMATORS = [
    DistilledTreeClassifier(RandomForestClassifier(15, random_state=0)),
    DistilledTreeRegressor(RandomForestRegressor(15, random_state=0), **DTREE2),
]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_method(estimator, check, missing):
    check(estimator, *make_data(estimator._task, missing))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_row_order_has_no_say(estimator, missing):
    X, y = make_data(estimator._task, missing)
    forest = estimator.model.fit(X, y)
    methods.check_row_order_has_no_say(estimator, forest, X, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(
    [
        DistilledTreeClassifier(
            DecisionTreeClassifier(random_state=0), min_samples_leaf=(1, 3)
        ),
        DistilledTreeRegressor(
            DecisionTreeRegressor(random_state=0), max_rules=None, target="labels"
        ),
    ]
)
def test_scikit_learn_checks_with_other_settings(estimator, check):
    check(estimator)


@pytest.mark.parametrize("missing", [False, True])
def test_rules_say_what_scikit_learns_tree_says(missing):
    X, y = make_data("regression", missing)
    X = X.astype(np.float32).astype(np.float64)  # which its own thresholds suppose
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    simple = DistilledTreeRegressor(
        forest, max_rules=12, shorten_thresholds=False, random_state=0
    )
    simple.fit(X, y)
    tree = DecisionTreeRegressor(max_leaf_nodes=12, random_state=0)
    tree.fit(X, forest.predict(X))
    assert simple.rules_.n_rules == tree.get_n_leaves() == 12
    # An answer is rounded to a thousandth of the spread, which is about 10.
    assert simple.predict(X) == pytest.approx(tree.predict(X), abs=0.01)
    other = np.random.default_rng(5).normal(size=(500, 4))
    assert simple.predict(other) == pytest.approx(tree.predict(other), abs=0.01)


def test_leaves_are_a_partition_and_the_longest_is_the_otherwise():
    X, y = make_data("classification", missing=True)
    forest = RandomForestClassifier(15, random_state=0).fit(X, y)
    rules = DistilledTreeClassifier(forest, random_state=0).fit(X, y).rules_
    assert rules.form == "tree"
    assert rules.n_rules == 8
    held = rules._covers(X)[:, :-1].sum(axis=1)
    assert (held <= 1).all()
    assert (held == 0).mean() == pytest.approx(rules.default.share)


def test_papers_small_tree():
    spam = load_sample("spambase")
    X, y = spam.X, spam.y
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    simple = DistilledTreeClassifier(forest, random_state=0, **DTREE2).fit(X, y)
    assert simple.rules_.n_rules <= 4
    assert simple.min_samples_leaf_ in (5, 10, 20, 30)
    assert max(rule.n_conditions for rule in simple.rules_) <= 2
    # Without the model's answers: a tree on y of the same kind.
    tree = DecisionTreeClassifier(
        max_depth=2, min_samples_leaf=simple.min_samples_leaf_, random_state=0
    )
    assert simple.score(X, y) == pytest.approx(tree.fit(X, y).score(X, y))


def test_cross_validation_prefers_large_leaves_where_y_is_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.normal(size=200)
    tree = DecisionTreeRegressor(random_state=0).fit(X, y)
    settings = {"max_rules": None, "target": "labels", "random_state": 0}
    noise = DistilledTreeRegressor(tree, min_samples_leaf=[1, 80], **settings)
    assert noise.fit(X, y).min_samples_leaf_ == 80
    clear = DistilledTreeRegressor(tree, min_samples_leaf=[1, 80], **settings)
    assert clear.fit(X, X[:, 0]).min_samples_leaf_ == 1


def test_tie_in_cross_validation_goes_to_the_largest_leaf():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = X[:, 0] * 5
    tree = DecisionTreeRegressor(random_state=0).fit(X, y)
    simple = DistilledTreeRegressor(tree, min_samples_leaf=(2, 8, 4), random_state=0)
    # One row and its copies stay together: no fold knows both values.
    assert simple.fit(X, y).min_samples_leaf_ == 8


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_weight_of_two_is_a_row_given_twice(estimator, missing):
    X, y = make_data(estimator._task, missing, 150)
    forest = read_forest(estimator.model.fit(X, y))
    weight = np.random.default_rng(3).integers(0, 4, len(X))
    again = np.repeat(np.arange(len(X)), weight)
    for settings in ({"min_samples_leaf": 12}, DTREE2):
        model = type(estimator)(forest, random_state=0, **settings)
        by_weight = model.fit(X, y, sample_weight=weight).rules_
        by_rows = model.fit(X[again], y[again]).rules_
        assert [*by_weight.to_frame()["if"]] == [*by_rows.to_frame()["if"]]


def test_smallest_leaf_is_by_weight():
    X, y = make_data("regression")
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    for least in (40, 60.5, 120):
        simple = DistilledTreeRegressor(
            forest, max_rules=None, min_samples_leaf=least, random_state=0
        )
        rules = simple.fit(X, y).rules_
        assert rules.n_rules > 1
        assert min(rule.share for rule in rules) * len(X) >= least - 1e-6
    whole = DistilledTreeRegressor(forest, min_samples_leaf=121).fit(X, y)
    assert whole.rules_.n_rules == 1


def test_order_of_columns_has_no_say():
    pd = pytest.importorskip("pandas")
    energy = load_sample("energy")
    frame = pd.DataFrame(energy.X, columns=list(energy.feature_names))
    model = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    forest = read_forest(model.fit(frame, energy.y))
    order = [3, 0, 7, 5, 1, 2, 6, 4]
    place = np.argsort(order)
    trees = tuple(
        dataclasses.replace(
            tree, feature=np.where(tree.feature >= 0, place[tree.feature], -1)
        )
        for tree in forest.trees
    )
    names = tuple(forest.feature_names[j] for j in order)
    moved = dataclasses.replace(
        forest, trees=trees, feature_names=names, categories=None
    )
    conditions = []
    for one in (forest, moved):
        rules = (
            DistilledTreeRegressor(one, max_rules=20, random_state=0)
            .fit(frame[list(one.feature_names)], energy.y)
            .rules_
        )
        conditions.append(
            [sorted(c.text(rules.feature_names) for c in r.conditions) for r in rules]
        )
    assert conditions[0] == conditions[1]


@pytest.mark.parametrize("library", ["sklearn", "lightgbm"])
def test_categories_and_missing_values_from_a_frame(library):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    city = rng.choice(["Bonn", "Oslo", "Rome", "Turku"], 500)
    sex = rng.choice(["female", "male"], 500)
    age = rng.normal(40, 10, 500)
    y = np.isin(city, ["Oslo"]) ^ (age > 50) ^ (sex == "male")
    age[::7] = np.nan
    frame = pd.DataFrame(
        {"city": pd.Categorical(city), "sex": pd.Categorical(sex), "age": age}
    )
    frame.loc[::11, "city"] = None
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=30, verbose=-1, n_jobs=1)
    else:
        model = HistGradientBoostingClassifier(random_state=0, max_iter=30)
    model.fit(frame, y)
    simple = DistilledTreeClassifier(model, max_rules=12, random_state=0)
    simple.fit(frame, y)
    assert simple.training_["fidelity"] > 0.85
    text = str(simple.rules_)
    assert "city is Oslo" in text
    assert "city is not Oslo" in text
    assert "or missing" in text
    assert simple.rules_.covers(frame)[:, :-1].sum(axis=1).max() == 1
    unseen = frame.head(3).astype({"city": object}).assign(city="Lima")
    unseen["city"] = unseen["city"].astype("category")
    assert simple.predict(unseen).shape == (3,)


@pytest.mark.parametrize("seed", range(4))
def test_two_categories_are_told_apart_by_name(seed):
    pd = pytest.importorskip("pandas")
    sex = np.array(["female", "male"] * 100)
    frame = pd.DataFrame({"sex": pd.Categorical(sex)})
    model = HistGradientBoostingClassifier(random_state=0, max_iter=3)
    model.fit(frame, sex == "male")
    simple = DistilledTreeClassifier(model, random_state=seed).fit(frame)
    assert [row["if"] for row in simple.rules_._view.rows()] == [
        "sex is male",
        "otherwise",
    ]


def test_only_missing_values_may_go_right():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[rng.random(200) < 0.4, 0] = np.nan
    y = np.isnan(X[:, 0]).astype(float)
    model = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y)
    simple = DistilledTreeRegressor(model, random_state=0).fit(X, y)
    # Of two rules with one condition each, the last is the "otherwise".
    assert [row["if"] for row in simple.rules_._view.rows()] == [
        "x1 is not missing",
        "otherwise",
    ]
    assert simple.score(X, y) == 1


def test_numbers_are_not_rounded_to_float32():
    X = np.repeat([[1e9], [1e9 + 1], [1e9 + 2]], 20, axis=0)
    X = np.hstack([X, np.full((60, 1), 1e300)])
    y = np.repeat([0.0, 1.0, 0.0], 20)
    forest = read_forest(DecisionTreeRegressor(random_state=0).fit(X[:, :1], y))
    labels = DistilledTreeRegressor(forest, target="labels", random_state=0)
    assert labels.fit(X[:, :1], y).predict(X[:, :1]).tolist() == y.tolist()


@pytest.mark.parametrize("n_rows", [1, 2, 30])
def test_constant_columns_and_few_rows(n_rows):
    X = np.ones((n_rows, 2))
    X[:, 1] = np.arange(n_rows)
    y = np.arange(n_rows) % 2
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    simple = DistilledTreeClassifier(tree, min_samples_leaf=(1, 2), random_state=0)
    assert simple.fit(X, y).predict(X).shape == (n_rows,)
    assert set(simple.rules_.features) <= {"x2"}
    assert simple.fit(X[:, [0, 0]], y).rules_.n_rules == 1


def test_one_class_and_one_rule():
    X, y = make_data("classification")
    only = np.full(len(X), "only")
    tree = DecisionTreeClassifier().fit(X, only)
    rules = DistilledTreeClassifier(tree, random_state=0).fit(X, only).rules_
    assert rules.export("text").startswith("1. otherwise only")
    tree = DecisionTreeClassifier().fit(X, y)
    assert DistilledTreeClassifier(tree, max_rules=1).fit(X, y).rules_.n_rules == 1


def test_y_is_not_needed_for_the_models_answers():
    X, y = make_data("regression")
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    simple = DistilledTreeRegressor(forest, random_state=0)
    # y changes what is told of the rules, not what they are.
    without, beside = list(simple.fit(X).rules_), list(simple.fit(X, y).rules_)
    for one, other in zip(without, beside, strict=True):
        assert one.conditions == other.conditions
        assert one.prediction == other.prediction
    with pytest.raises(ValueError, match="requires y to be passed"):
        DistilledTreeRegressor(forest, target="labels").fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_rules": 0}, "max_rules must be None or a whole number from 1; got 0"),
        ({"max_depth": 1.5}, "a whole number from 1 to 1000000; got 1.5"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number above 0 or a"),
        ({"min_samples_leaf": []}, r"min_samples_leaf must be .* got \[\]"),
        ({"min_samples_leaf": [1, "2"]}, "min_samples_leaf must be a number above 0"),
        ({"shorten_thresholds": None}, "shorten_thresholds must be True or False; got"),
        ({"target": None}, "target must be 'model' or 'labels'; got None"),
    ],
)
def test_bad_settings(settings, message):
    X, y = make_data("regression", n_rows=30)
    tree = DecisionTreeRegressor().fit(X, y)
    with pytest.raises(ValueError, match=message):
        DistilledTreeRegressor(tree, **settings).fit(X, y)


@pytest.mark.filterwarnings("ignore:No rule predicts True")
def test_rare_class_is_ranked_though_the_model_never_predicts_it():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 3))
    y = rng.uniform(size=2000) < 0.02 + 0.2 * (X[:, 0] > 0.8)
    forest = RandomForestClassifier(30, min_samples_leaf=40, random_state=0).fit(X, y)
    assert not forest.predict(X).any()
    simple = DistilledTreeClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    assert simple.rules_.n_rules == 4
    new = rng.uniform(size=(5000, 3))
    is_high = new[:, 0] > 0.8
    likely = simple.predict_proba(new)[:, 1]
    assert roc_auc_score(is_high, likely) > 0.95
    assert likely[is_high].mean() == pytest.approx(y[X[:, 0] > 0.8].mean(), abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_split_as_scikit_learns_tree_on_probabilities_splits(n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4)).astype(np.float32).astype(np.float64)
    y = np.digitize(
        X[:, 0] + X[:, 1] * rng.normal(size=400), [0.0, 1.0][: n_classes - 1]
    )
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)
    simple = DistilledTreeClassifier(
        forest, max_rules=6, shorten_thresholds=False, random_state=0
    ).fit(X, y)
    tree = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0)
    leaves = tree.fit(X, forest.predict_proba(X)).apply(X)
    assert len(set(zip(simple.apply(X), leaves, strict=True))) == 6
