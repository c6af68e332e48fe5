"""compare: one table for all methods, whatever happens to one of them."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import DefragClassifier, compare, simplify_path
from defragtrees.baselines import (
    BornAgainTreeClassifier,
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from defragtrees.estimators import compared_methods
from defragtrees.outcomes import make_outcome

CLASSES = make_outcome("classification", ["no", "yes"])

QUICK = {
    "defrag": DefragClassifier(),
    "born_again": BornAgainTreeClassifier(max_depth=2),
}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return RandomForestClassifier(15, random_state=0).fit(X, y), X, y


def test_every_method_has_a_row_with_all_measures(iris):
    found = compare(*iris, random_state=0)
    assert [row["method"] for row in found.rows()] == list(compared_methods(CLASSES))
    for row in found.rows():
        assert row["failure"] is None
        assert 1 <= row["n_rules"]
        assert 0 <= row["error"] <= 1
        assert 0 <= row["coverage"] <= 1
        assert row["seconds"] > 0
    assert str(found).splitlines()[-1].startswith("model: error ")
    assert len(found.to_frame()) == len(compared_methods(CLASSES))
    assert "<table>" in found._repr_html_()


def test_a_score_is_that_of_the_fitted_estimator_on_the_rows_held_out(iris):
    model, X, y = iris
    found = compare(model, X, y, methods=["distilled"], test_size=50, random_state=3)
    simple = found.estimators["distilled", None]
    _, test = train_test_split(
        np.arange(len(X)), test_size=50, random_state=3, stratify=y
    )
    error = np.mean(simple.predict(X.iloc[test]) != y.iloc[test])
    assert found.rows()[0]["error"] == error
    assert found.model_error == np.mean(model.predict(X.iloc[test]) != y[test])


def test_probabilities_are_measured_beside_the_model(iris):
    model, X, y = iris
    found = compare(model, X, y, methods=["distilled"], test_size=50, random_state=3)
    simple = found.estimators["distilled", None]
    _, test = train_test_split(
        np.arange(len(X)), test_size=50, random_state=3, stratify=y
    )
    told, by_model = (m.predict_proba(X.iloc[test]) for m in (simple, model))
    row = found.rows()[0]
    assert row["log_loss"] == pytest.approx(log_loss(y[test], told))
    assert found.model_scores["log_loss"] == pytest.approx(log_loss(y[test], by_model))
    assert row["auc"] == pytest.approx(
        roc_auc_score(y[test], told, multi_class="ovr", average="macro")
    )
    header, line, last = str(found).splitlines()
    assert re.split("  +", header)[2:6] == [
        *("conditions", "error", "AUC", "log loss"),
    ]
    assert f"{row['auc']:.3g}" in line
    assert last.startswith("model: error ")
    assert ", AUC " in last


def test_conditions_are_counted_in_all_and_per_rule(iris):
    model, X, y = iris
    found = compare(model, X, y, methods=["distilled"], budgets=[4], random_state=0)
    simple = found.estimators["distilled", 4]
    counts = [rule.n_conditions for rule in simple.rules_.rules]
    row, scores = found.rows()[0], simple.evaluate(X, y)
    assert row["n_conditions"] == scores["n_conditions"] == sum(counts) > 4
    assert row["mean_conditions"] == scores["mean_conditions"] == np.mean(counts)
    path = simplify_path(model, X, y, max_rules=3, random_state=0)
    totals = [sum(r.n_conditions for r in point.rules.rules) for point in path.points]
    assert [row["n_conditions"] for row in path.rows()] == totals


def test_budgets_make_a_row_each(iris):
    found = compare(*iris, methods=QUICK, budgets=[2, 3], random_state=0)
    keys = [(row["method"], row["budget"]) for row in found.rows()]
    assert keys == [
        ("defrag", 2),
        ("defrag", 3),
        ("born_again", 2),
        ("born_again", 3),
    ]
    assert all(row["n_rules"] <= row["budget"] for row in found.rows())


def test_cross_validation_gives_means_and_spreads(iris):
    found = compare(*iris, methods=["distilled"], cv=3, random_state=0)
    assert found.n_splits == 3
    assert found.rows()[0]["error_std"] > 0
    assert " ± " in str(found)


def test_a_method_that_fails_says_why_and_the_others_go_on(iris):
    class Broken(DistilledTreeClassifier):
        def _simplify(self, problem, rng):
            raise RuntimeError("the solver gave up")

    methods = {"broken": Broken(), "distilled": "distilled"}
    found = compare(*iris, methods=methods, random_state=0)
    broken, good = found.rows()
    assert broken["failure"] == "RuntimeError: the solver gave up"
    assert good["failure"] is None
    assert "broken failed: RuntimeError: the solver gave up" in str(found)
    assert repr(found) == "<Comparison: 2 fits, 1 failed>"
    assert found.plot().get_xlabel() == "number of rules"


def test_stability_is_measured_on_request(iris):
    found = compare(*iris, methods=["distilled"], n_resamples=2, random_state=0)
    assert 0 < found.rows()[0]["stability"] <= 1
    assert re.search(r" found$", str(found).splitlines()[0])


def test_numbers_and_weights():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    weight = np.ones(len(y))
    methods = [DistilledTreeRegressor(max_rules=4)]
    plain = compare(model, X, y, methods=methods, random_state=0)
    weighted = compare(model, X, y, weight, methods=methods, random_state=0)
    assert plain.rows()[0]["error"] == weighted.rows()[0]["error"]
    assert plain.rows()[0]["method"] == "DistilledTreeRegressor"
    header, line, last = str(plain).splitlines()
    assert re.split("  +", header)[3:5] == ["RMSE", "MAE"]
    row = plain.rows()[0]
    assert f"{row['rmse']:.3g}" in line
    assert row["rmse"] == pytest.approx(row["error"] ** 0.5)
    assert row["mae"] < row["rmse"]
    assert last.startswith("model: RMSE ")
    assert plain.model_scores["rmse"] == pytest.approx(plain.model_error**0.5)


def test_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.random(200), "kind": rng.choice(list("abc"), 200)})
    X.loc[::9, "size"] = np.nan
    X["kind"] = X["kind"].astype("category")
    y = ((X["size"] > 0.5) | (X["kind"] == "b")).to_numpy()
    model = HistGradientBoostingClassifier(
        max_iter=10, categorical_features="from_dtype", random_state=0
    ).fit(X, y)
    found = compare(model, X, y, random_state=0)
    assert [row["failure"] for row in found.rows()] == [None] * len(
        compared_methods(CLASSES)
    )


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["nothing"], "methods must be among"),
        ([], "methods must have at least one method"),
        ([3], "names or instances of estimators of defragtrees; got 3"),
        ([DistilledTreeRegressor()], "does not support a model for classification"),
        (["distilled", "distilled"], "must have different names; got one twice"),
    ],
)
def test_methods_that_cannot_be_are_refused(iris, methods, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compare(*iris, methods=methods)


def test_an_estimator_keeps_its_own_seed_and_a_name_gets_the_shared_one(iris):
    own = BornAgainTreeClassifier(max_depth=2, random_state=7)
    methods = {"own": own, "named": "distilled"}
    found = compare(*iris, methods=methods, random_state=np.random.RandomState(0))
    seeds = [model.random_state for model in found.estimators.values()]
    assert seeds[0] == 7
    assert isinstance(seeds[1], int)


def test_no_method_depends_on_those_before_it(iris):
    alone = compare(*iris, methods=QUICK, random_state=np.random.RandomState(0))
    after = compare(
        *iris,
        methods={"first": "distilled", **QUICK},
        random_state=np.random.RandomState(0),
    )
    for key, model in alone.estimators.items():
        assert after.estimators[key].rules_ == model.rules_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"budgets": [0]}, "budgets must be None or whole numbers from 1; got 0"),
        ({"budgets": "12"}, "budgets must be None or whole numbers from 1; got '12'"),
        ({"budgets": []}, r"budgets must be None or whole numbers from 1; got \[\]"),
        ({"exposure": np.ones(150)}, "exposure is for rules of rates"),
        ({"n_resamples": 1}, "n_resamples must be 0 or at least 2; got 1"),
        ({"sample_weight": np.full(150, -1.0)}, "must hold finite numbers from 0"),
        ({"sample_weight": np.eye(150)[0]}, "need a positive total weight"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_any_fit(iris, settings, message):
    with pytest.raises(ValueError, match=message):
        compare(*iris, methods=["distilled"], **settings)


def test_labels_that_the_model_does_not_know_are_refused(iris):
    model, X, y = iris
    with pytest.raises(ValueError, match="labels that the model does not know"):
        compare(model, X, y.astype(str))
    with pytest.raises(ValueError, match="compare needs y"):
        compare(model, X, None)
    model = compare(model, X, y, methods=["distilled"]).estimators["distilled", None]
    with pytest.raises(ValueError, match="Check the type of the labels"):
        model.evaluate(X, y.astype(str))


def test_a_budget_may_be_a_number_and_repeats_count_once(iris):
    found = compare(*iris, methods=["distilled"], budgets=3, random_state=0)
    assert [row["budget"] for row in found.rows()] == [3]
    found = compare(*iris, methods=["distilled"], budgets=[3, 3], random_state=0)
    assert len(found.rows()) == 1


def test_weights_count_in_coverage_and_overlap(iris):
    model, X, y = iris
    model = DefragClassifier(model, random_state=0).fit(X, y)
    weight = (y == 0).to_numpy(float)
    some = model.evaluate(X, y, weight)
    expected = model.evaluate(X[weight > 0], y[weight > 0])
    assert some == pytest.approx(expected, nan_ok=True)


def test_estimators_of_the_user_are_measured_on_the_same_rows(iris):
    model, X, y = iris
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
    others = {
        "my tree": tree,
        "scaled tree": make_pipeline(StandardScaler(), tree),
        "regression": LogisticRegression(max_iter=1000),
    }
    found = compare(
        model, X, y, methods=["distilled"], budgets=3, others=others, random_state=3
    )
    train, test = train_test_split(np.arange(150), random_state=3, stratify=y)
    fitted = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
    fitted.fit(X.iloc[train], y[train])
    rows = {row["method"]: row for row in found.rows()}
    assert list(rows) == ["distilled", *others]
    row, predicted = rows["my tree"], fitted.predict(X.iloc[test])
    assert row["error"] == np.mean(predicted != y[test])
    likely = fitted.predict_proba(X.iloc[test])
    assert row["log_loss"] == pytest.approx(log_loss(y[test], likely))
    assert row["fidelity"] == np.mean(predicted == model.predict(X.iloc[test]))
    assert rows["distilled"].keys() - {"failure"} <= row.keys()
    assert row["n_rules"] == rows["scaled tree"]["n_rules"] == 3
    assert np.isnan(rows["regression"]["n_rules"])
    assert not row["is_fitted"]
    assert not hasattr(tree, "tree_")
    assert "nan" not in str(found)
    assert found.plot().get_xlabel() == "number of rules"


def test_an_estimator_that_was_fitted_is_taken_as_it_is_and_marked(iris):
    model, X, y = iris
    other = DecisionTreeClassifier(random_state=0).fit(X, np.where(y > 0, "a", "b"))
    with pytest.raises(ValueError, match="must have at least one method"):
        compare(model, X, y, methods=[])
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = compare(
        model, X, y, methods=[], others={"tree": tree, "other": other}, cv=3
    )
    tree_row, other_row = found.rows()
    assert tree_row["error"] == 0
    assert tree_row["is_fitted"]
    assert np.isnan(tree_row["seconds"])
    # Its labels are not those of the model.
    assert other_row["failure"].startswith("ValueError")
    lines = str(found).splitlines()
    assert "tree: already fitted (may be trained on these rows)" in lines
    assert any(
        line.startswith("model: error ")
        and line.endswith(" (may be trained on these rows)")
        for line in lines
    )


def test_other_estimators_of_numbers_with_weights():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = RandomForestRegressor(10, random_state=0).fit(X, y)
    weight = np.arange(len(y)) % 2
    tree = DecisionTreeRegressor(max_leaf_nodes=5, random_state=0)
    found = compare(
        model, X, y, weight, methods=[], others={"tree": tree}, random_state=0
    )
    is_odd = weight > 0
    train, test = train_test_split(np.arange(len(y)), random_state=0)
    train, test = (rows[is_odd[rows]] for rows in (train, test))
    tree.fit(X.iloc[train], y[train])
    error = np.mean((tree.predict(X.iloc[test]) - y[test]) ** 2)
    assert found.rows()[0]["error"] == pytest.approx(error)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        (
            {"tree": DecisionTreeClassifier},
            "must be instances of scikit-learn estimators",
        ),
        ({"tree": 3}, "scikit-learn estimators"),
        ({"distilled": DecisionTreeClassifier()}, "both have 'distilled'"),
    ],
)
def test_others_that_cannot_be_are_refused(iris, others, message):
    with pytest.raises((ValueError, TypeError), match=message):
        compare(*iris, methods=["distilled"], others=others)


def test_costs_of_one_method_are_those_of_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] + rng.normal(size=600) > 1).astype(int)
    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    model.fit(X[::2], y[::2])
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0)
    found = compare(
        model,
        X,
        y,
        methods={
            "plain": "distilled",
            "ours": DefragClassifier(costs={(1, 0): 4}, max_rules=4),
        },
        others={"tree": tree},
        random_state=0,
    )
    train, test = train_test_split(np.arange(600), random_state=0, stratify=y)
    tree.fit(X[train], y[train])
    plain, ours, other = found.rows()

    def cost(model):
        decided = model.predict_proba(X[test])[:, 1] > 0.2
        return np.mean(4 * (y[test] > decided) + (y[test] < decided))

    assert other["expected_cost"] == pytest.approx(cost(tree))
    assert found.model_scores["expected_cost"] == pytest.approx(cost(model))
    for row, name in ((plain, "plain"), (ours, "ours")):
        model = found.estimators[name, None]
        assert row["expected_cost"] == pytest.approx(cost(model))
    assert ours["expected_cost"] < plain["error"] * 4
    assert "  expected  " in str(found).splitlines()[0]
