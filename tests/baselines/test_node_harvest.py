"""Node Harvest against the original's numbers, its program against optimality."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from defragtrees.baselines.node_harvest import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
    average_rules,
    cut_forest,
    find_nodes,
    make_program,
    solve_program,
)
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators.problem import Problem
from defragtrees.outcomes import make_outcome
from tests.checks import methods
from tests.estimators.test_checks import CHECKS, make_data

RIVALS = Path(__file__).parents[1] / "reference" / "rivals"
FIXTURES = {
    name: json.loads((RIVALS / f"nodeharvest_{name}.json").read_text(encoding="utf-8"))
    for name in ("xor", "cancer", "friedman")
}
SOLUTIONS = [
    (name, place)
    for name, data in FIXTURES.items()
    for place, solution in enumerate(data["solutions"])
    if solution["mode"] == "mean"
]


def forest_of(data, classes=None):
    """The fixture's forest; as one for two classes if asked for."""
    made = []
    for tree in data["generating_forest"]["trees"]:
        n_nodes = len(tree["feature"])
        made.append(
            Tree(
                tree["feature"],
                tree["threshold"],
                tree["left"],
                tree["right"],
                np.zeros(n_nodes, dtype=bool),
                np.full((n_nodes, 2 if classes else 1), 0.5),
            )
        )
    names = tuple(f"x{j + 1}" for j in range(len(data["X"][0])))
    task = "classification" if classes else "regression"
    return Forest(tuple(made), names, task, classes=classes, combine="mean")


def problem_of(data):
    forest = cut_forest(forest_of(data), 2, 30, round_digits=3)
    X, y = np.array(data["X"], dtype=float), np.array(data["y"], dtype=float)
    return Problem(
        X=X,
        target=y,
        sample_weight=np.ones(len(y)),
        forest=forest,
        outcome=make_outcome("regression"),
    ).with_forest(forest, shorten=False)


def members_of(data):
    return np.array([[mark == "1" for mark in n["members"]] for n in data["nodes"]])


def bounds_of(node):
    return sorted((j, float(low), float(high)) for j, low, high in node["bounds"])


def original_settings(data, solution):
    """The original's settings in our words."""
    y = np.array(data["y"], dtype=float)
    is_limited = solution["lambda"] != "inf"
    return {
        "max_weight": solution["lambda"] if is_limited else None,
        "root_weight": 0.0 if is_limited else 0.01,
        "ridge": 1e-5 / ((y - y.mean()) ** 2).sum(),
    }


def test_nodes_of_the_original():
    for name, data in FIXTURES.items():
        problem = problem_of(data)
        nodes = find_nodes(problem, 2, 10, 10**6)
        assert nodes.n_candidates + 1 == data["n_candidates_with_root"]
        places = range(len(nodes.members))
        if name == "cancer":
            # The original takes all nodes with mean 0 for one; here four more stay.
            assert len(nodes.members) == 140
            means = nodes.members @ problem.target / nodes.members.sum(axis=1)
            pure = [k for k in places if means[k] == 0]
            assert len(pure) == 5
            places = [k for k in places if k not in pure[:-1]]
        assert (nodes.members[places] == members_of(data)).all()
        for place, node in zip(places, data["nodes"], strict=True):
            conditions = nodes.conditions(problem.grid, place)
            found = sorted((c.feature, c.lower, c.upper) for c in conditions)
            assert found == bounds_of(node)
            assert nodes.members[place].sum() == node["n"]
            own = problem.target[nodes.members[place]]
            assert own.mean() == pytest.approx(node["mean"], rel=1e-12)


@pytest.mark.parametrize(("name", "place"), SOLUTIONS)
def test_weights_of_the_original(name, place):
    data = FIXTURES[name]
    solution = data["solutions"][place]
    members, y = members_of(data), np.array(data["y"], dtype=float)
    program = make_program(
        members, y[:, None], np.ones(len(y)), **original_settings(data, solution)
    )
    weights = solve_program(program)
    # The original lets weights be -1e-8, or -1e-7 with a limit on their sum.
    slack = 3e-7 if solution["lambda"] == "inf" else 3e-6
    assert weights == pytest.approx(np.array(solution["weights"]), abs=slack)
    assert np.abs(weights @ members - 1).max() < 1e-9
    kept = np.flatnonzero(weights >= 0.01 * weights.max())
    assert kept.tolist() == solution["kept"]
    told = members * np.array([node["mean"] for node in data["nodes"]])[:, None]
    expected = np.array(solution["fitted_train_unnormalised"])
    assert weights[kept] @ told[kept] == pytest.approx(expected, rel=5e-6)
    loss = ((y - weights @ told) ** 2).sum() / 2
    assert loss == pytest.approx(solution["objective_half_rss"], rel=1e-5)


@pytest.mark.parametrize(
    ("name", "place"), [pair for pair in SOLUTIONS if pair[0] != "cancer"]
)
def test_answers_of_the_original(name, place):
    data = FIXTURES[name]
    solution = data["solutions"][place]
    model = NodeHarvestRegressor(
        forest_of(data),
        round_digits=3,
        shorten_thresholds=False,
        digits=None,
        **original_settings(data, solution),
    )
    model.fit(data["X"], data["y"])
    assert model.n_nodes_ == data["n_nodes"]
    has_root = solution["root_index"] in solution["kept"]
    assert (model.rules_.default.weight > 0) == has_root
    assert model.rules_.n_rules == len(solution["kept"]) + (not has_root)
    for rows, expected in (("X", "pred_train"), ("X_test", "pred_test")):
        found = model.predict(data[rows])
        assert found == pytest.approx(np.array(solution[expected]), rel=1e-6)


def test_two_classes_are_the_original_on_zero_and_one():
    data = FIXTURES["xor"]
    solution = data["solutions"][0]
    model = NodeHarvestClassifier(
        forest_of(data, classes=(0, 1)),
        round_digits=3,
        shorten_thresholds=False,
        digits=None,
        **original_settings(data, solution),
    )
    model.fit(data["X"], np.array(data["y"], dtype=int))
    found = model.predict_proba(data["X_test"])[:, 1]
    assert found == pytest.approx(np.array(solution["pred_test"]), rel=1e-6)
    assert (model.predict(data["X_test"]) == (found > 0.5)).all()


def test_usual_settings_are_near_the_original():
    data = FIXTURES["friedman"]
    model = NodeHarvestRegressor(
        forest_of(data), round_digits=3, shorten_thresholds=False
    )
    found = model.fit(data["X"], data["y"]).predict(data["X_test"])
    expected = np.array(data["solutions"][0]["pred_test"])
    assert np.abs(found - expected).max() < 1e-3 * np.std(data["y"])


def random_program(seed, n_rows, n_sides, n_outputs, **more):
    """Nodes of random splits with both sides, and where two of the splits meet."""
    rng = np.random.default_rng(seed)
    sides = rng.random((n_sides, n_rows)) < 0.5
    pairs = [np.vstack([side, ~side]) for side in sides]
    met = [a & b for one in pairs[:3] for two in pairs[3:] for a in one for b in two]
    members = np.unique(np.vstack([*pairs, *met]), axis=0)
    size = members.sum(axis=1)
    members = members[(size >= 2) & (size <= n_rows - 2)]
    target = rng.normal(size=(n_rows, n_outputs)).round(1)
    target[0] += 1
    return {
        "members": np.vstack([members, np.ones(n_rows, dtype=bool)]),
        "target": target,
        "sample_weight": rng.integers(1, 4, n_rows).astype(float),
        **more,
    }


programs = st.builds(
    random_program,
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(4, 40),
    n_sides=st.integers(1, 8),
    n_outputs=st.integers(1, 3),
    ridge=st.sampled_from([1e-7, 1e-3]),
    root_weight=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    max_weight=st.sampled_from([None, 1.0, 1.7, 3.0, 10.0]),
)


def answers_by_hand(case, k):
    """What each node tells each row of output k, node by node."""
    members, weight, target = case["members"], case["sample_weight"], case["target"]
    told = np.zeros(members.shape)
    for g, rows in enumerate(members):
        own = np.tile(weight * rows, (len(weight), 1))
        told[g, rows] = (own @ target[:, k] / own.sum(axis=1))[rows]
    return told


@settings(max_examples=60, deadline=None)
@given(programs)
# Here an equation is nearly one that the others make; a fixed penalty takes for ever.
@example(random_program(26, 26, 8, 3, ridge=1e-3, root_weight=0.0, max_weight=1.7))
# Here a penalty that rises as far as elsewhere leaves a matrix that is indefinite.
@example(random_program(47, 40, 8, 1, ridge=1e-8, root_weight=0.0, max_weight=1.7))
def test_no_other_weights_are_better(case):
    check_optimal(case, tolerance=1e-7)


def check_optimal(case, tolerance):
    """The slope of the loss falls towards no point that meets the constraints.

    A linear program finds the point towards which it falls most; that is all that a
    convex program asks of its solution.
    """
    members, weight = case["members"], case["sample_weight"]
    found = solve_program(make_program(**case))
    root = np.eye(len(members))[-1]
    variance = np.sum(np.average(case["target"] ** 2, axis=0, weights=weight))
    variance -= np.sum(np.average(case["target"], axis=0, weights=weight) ** 2)
    slope = weight.sum() * variance * case["ridge"] * (found - root)
    for k in range(case["target"].shape[1]):
        told = answers_by_hand(case, k)
        slope -= told @ (weight * (case["target"][:, k] - found @ told))
    slope /= weight.sum() * variance
    assert (found >= case["root_weight"] * root - 1e-10).all()
    assert np.abs(found @ members - 1).max() < 1e-8
    limit = case["max_weight"]
    limited = {} if limit is None else {"A_ub": [np.ones(len(found))], "b_ub": [limit]}
    best = linprog(
        slope,
        A_eq=members.T.astype(float),
        b_eq=np.ones(members.shape[1]),
        bounds=[(0, None)] * (len(found) - 1) + [(case["root_weight"], None)],
        **limited,
    )
    if limit is not None:
        assert found.sum() <= limit + 1e-8
    assert slope @ found <= best.fun + tolerance


def test_no_other_weights_are_better_among_many_nodes():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(60, min_samples_leaf=5, random_state=0).fit(X, y)
    forest = cut_forest(read_forest(forest), 2, 60)
    problem = Problem(
        X=X,
        target=y,
        sample_weight=np.ones(len(y)),
        forest=forest,
        outcome=make_outcome("classification", (0, 1)),
    ).with_forest(forest, shorten=True)
    members = find_nodes(problem, 2, 10, 1000).members
    assert len(members) > 200
    check_optimal(
        {
            "members": members,
            "target": y[:, None].astype(float),
            "sample_weight": np.ones(len(y)),
            "ridge": 1e-7,
            "root_weight": 0.01,
            "max_weight": None,
        },
        tolerance=1e-9,
    )


def test_rows_in_other_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    side = rng.random((5, 200)) < 0.5
    members = np.vstack([side, ~side, np.ones((1, 200), dtype=bool)])
    case = {
        "members": members,
        "target": rng.normal(size=(200, 2)),
        "ridge": 1e-7,
        "root_weight": 0.01,
        "max_weight": None,
    }
    for weight in (np.ones(200), rng.integers(1, 4, 200).astype(float)):
        whole = make_program(sample_weight=weight, **case)
        with monkeypatch.context() as patch:
            patch.setattr("defragtrees.baselines.node_harvest.BLOCK_ROWS", 64)
            parts = make_program(sample_weight=weight, **case)
        assert parts.gram == pytest.approx(whole.gram, abs=1e-14)
        assert parts.quadratic == pytest.approx(whole.quadratic, abs=1e-13)
        assert parts.linear == pytest.approx(whole.linear, abs=1e-13)


def some_data(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    signal = X[:, 0] + (X[:, 1] > 0) * X[:, 2]
    return X, signal, np.digitize(signal, [-0.5, 0.8])


@pytest.fixture(scope="module")
def forests():
    X, y, labels = some_data()
    shared = {"n_estimators": 20, "min_samples_leaf": 5, "random_state": 0}
    return (
        RandomForestRegressor(**shared).fit(X, y),
        RandomForestClassifier(**shared).fit(X, labels),
    )


def test_a_weight_of_two_is_a_row_given_twice(forests):
    X, y, labels = some_data()
    weight = np.random.default_rng(1).integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    shared = {"n_nodes": 150, "random_state": 0}
    for kind, forest, target in (
        (NodeHarvestRegressor, forests[0], y),
        (NodeHarvestClassifier, forests[1], labels),
    ):
        model = kind(forest, **shared).fit(X, target, sample_weight=weight)
        again = kind(forest, **shared).fit(X[copies], target[copies])
        assert model.rules_.n_rules > 5
        # Rules are equal; rows are counted as they are given.
        for one, two in zip(model.rules_, again.rules_, strict=True):
            assert (one.text(), one.prediction) == (two.text(), two.prediction)
            matched = one.covers(X)
            assert (one.n_rows, two.n_rows) == (matched.sum(), weight[matched].sum())
        assert (model.predict(X) == again.predict(X)).all()


def test_weights_need_not_be_whole(forests):
    X, y, _ = some_data()
    weight = np.random.default_rng(1).random(len(X))
    weight /= weight.mean()  # the unit in which `min_samples` counts
    model = NodeHarvestRegressor(forests[0], n_nodes=90, random_state=0)
    rules = model.fit(X, y, sample_weight=weight).rules_
    for rule in rules.rules:
        held = rule.covers(X)
        assert 10 <= weight[held].sum() <= weight.sum() - 10
        assert rule.coverage == pytest.approx(weight[held].sum() / weight.sum())
        mean = np.average(y[held], weights=weight[held])
        assert rule.prediction == pytest.approx(mean, abs=1e-3)


def test_the_unit_of_y_has_no_say(forests):
    X, y, _ = some_data()
    small = NodeHarvestRegressor(forests[0]).fit(X, y).rules_
    large = NodeHarvestRegressor(forests[0]).fit(X, 1e6 * y + 1e7).rules_
    assert [r.conditions for r in small] == [r.conditions for r in large]
    assert [r.weight for r in small] == [r.weight for r in large]


def test_the_order_of_columns_has_no_say():
    X, y, _ = some_data()
    table = pd.DataFrame(X, columns=list("abcd"))
    tree = DecisionTreeRegressor(min_samples_leaf=10, random_state=0)
    model = NodeHarvestRegressor(tree, n_nodes=90, random_state=0)
    found = model.fit(table, y).predict(table)
    turned = table[list("dbca")]
    assert (model.fit(turned, y).predict(turned) == found).all()


def mixed_table(seed=0, n_rows=400):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows).round(2),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
            "age": rng.integers(20, 60, n_rows).astype(float),
        }
    )
    y = 2.0 * (table["colour"] == "red") + table["size"] + 0.05 * table["age"]
    table.loc[rng.random(n_rows) < 0.15, "size"] = np.nan
    table.loc[rng.random(n_rows) < 0.15, "colour"] = np.nan
    return table, y.to_numpy()


def test_missing_values_and_categories():
    table, y = mixed_table()
    labels = np.array(["low", "high"])[(y > np.median(y)).astype(int)]
    shared = {"n_nodes": 150, "random_state": 0}
    for kind, model, target in (
        (NodeHarvestRegressor, HistGradientBoostingRegressor, y),
        (NodeHarvestClassifier, HistGradientBoostingClassifier, labels),
    ):
        boosting = model(max_iter=40, random_state=0).fit(table, target)
        model = kind(boosting, **shared).fit(table, target)
        text = model.rules_.table(width=200)
        assert "colour is red" in text
        assert "or missing" in text
        assert model.evaluate(table, target)["fidelity"] > 0.6
        covered = model.rules_.covers(table)
        for k, rule in enumerate(model.rules_):
            assert covered[:, k].mean() == pytest.approx(rule.coverage)
            own = target[covered[:, k]]
            if kind is NodeHarvestRegressor:
                assert rule.prediction == pytest.approx(own.mean(), abs=1e-3)
                assert rule.error == pytest.approx(
                    ((own - rule.prediction) ** 2).mean()
                )
            else:
                shares = [(own == label).mean() for label in model.classes_]
                assert rule.distribution == pytest.approx(shares, abs=1e-4)
                assert rule.error == pytest.approx((own != rule.prediction).mean())
        new = table.head(3).copy()
        new["colour"] = pd.Categorical(["violet", None, "red"])
        assert len(model.predict(new)) == 3


def test_deeper_nodes_say_more(forests):
    X, y, _ = some_data()
    shallow = NodeHarvestRegressor(forests[0], max_depth=1).fit(X, y)
    deep = NodeHarvestRegressor(forests[0], max_depth=3).fit(X, y)
    assert max(rule.n_conditions for rule in shallow.rules_) == 1
    assert max(rule.n_conditions for rule in deep.rules_) == 3
    assert deep.training_["error"] < shallow.training_["error"]


def test_no_more_trees_than_candidates_ask_for(forests):
    X, y, _ = some_data()
    model = NodeHarvestRegressor(forests[0], n_nodes=12).fit(X, y)
    # A tree has at most six nodes below its root, so two or three trees are enough.
    assert 7 <= model.n_nodes_ <= 18


def test_the_same_rows_in_fewer_conditions():
    long = Tree(
        [0, -1, 1, -1, -1],
        [0.0, 0, -9.0, 0, 0],
        [1, -1, 3, -1, -1],
        [2, -1, 4, -1, -1],
        np.zeros(5, dtype=bool),
        np.zeros(5),
    )
    X, y, _ = some_data()
    forest = Forest((long,), ("a", "b", "c", "d"), "regression")
    rules = NodeHarvestRegressor(forest).fit(X, y).rules_
    texts = {rule.text(rules.feature_names) for rule in rules.rules}
    assert texts == {"a <= 0", "a > 0"}


def test_max_rules_is_a_limit_and_well_spent(forests):
    X, y, labels = some_data()
    for kind, forest, target in (
        (NodeHarvestRegressor, forests[0], y),
        (NodeHarvestClassifier, forests[1], labels),
    ):
        whole = kind(forest).fit(X, target)
        weights = {rule.conditions: rule.weight for rule in whole.rules_}
        for most in (1, 2, 6, 1000):
            model = kind(forest, max_rules=most).fit(X, target)
            assert model.rules_.n_rules <= most
            assert all(weights[r.conditions] == r.weight for r in model.rules_)
            if most == 6:
                assert model.rules_.n_rules == 6
                heaviest = whole.rules_.rules[:5]
                plain = type(whole.rules_)(
                    heaviest,
                    whole.rules_.default,
                    whole.rules_.feature_names,
                    whole.rules_.task,
                    whole.rules_.classes,
                )
                assert score(model.rules_, X, target) >= score(plain, X, target)


def score(rules, X, target):
    found = rules.predict(X)
    if rules.task == "classification":
        return np.mean(found == target)
    return 1 - np.mean((found - target) ** 2) / np.var(target)


def test_rules_come_by_weight_and_print_what_predicts(forests):
    X, _, labels = some_data()
    rules = NodeHarvestClassifier(forests[1]).fit(X, labels).rules_
    weights = [rule.weight for rule in rules.rules]
    assert weights == sorted(weights, reverse=True)
    for rule in rules:
        assert rule.weight == float(f"{rule.weight:.4g}")
        assert sum(rule.distribution) == pytest.approx(1, abs=1e-12)
        assert all(round(share, 4) == share for share in rule.distribution)
        assert rule.coverage == rule.share
    exact = NodeHarvestClassifier(forests[1], digits=None).fit(X, labels)
    assert exact.predict_proba(X) == pytest.approx(rules.predict_proba(X), abs=1e-3)
    assert exact.rules_ != rules


def test_three_shares_of_a_third_sum_to_one():
    forest = Forest((), ("x",), "regression")
    problem = Problem(
        X=np.zeros((3, 1)),
        target=np.arange(3),
        sample_weight=np.ones(3),
        forest=forest,
        outcome=make_outcome("classification", ("a", "b", "c")),
    ).with_forest(forest, shorten=True)
    nodes = find_nodes(problem, 2, 10, 1000)
    rules = average_rules(problem, np.eye(3), nodes, np.ones(1), 2)
    assert rules.default.distribution == (0.34, 0.33, 0.33)
    assert rules.default.prediction == "a"


def test_the_model_as_target_needs_no_y(forests):
    X, _, _ = some_data()
    model = NodeHarvestClassifier(forests[1], target="model").fit(X)
    for rule in model.rules_:
        held = rule.covers(X)
        shares = forests[1].predict_proba(X[held]).mean(axis=0)
        assert rule.distribution == pytest.approx(shares, abs=1e-4)
    model = NodeHarvestRegressor(forests[0], target="model").fit(X)
    for rule in model.rules_:
        mean = forests[0].predict(X[rule.covers(X)]).mean()
        assert rule.prediction == pytest.approx(mean, abs=1e-3)
    with pytest.raises(ValueError, match="requires y to be passed"):
        NodeHarvestClassifier(forests[1]).fit(X)


def test_a_limit_on_the_weights_asks_for_larger_nodes(forests):
    X, y, _ = some_data()
    shared = {"digits": None, "min_weight": 0.0}
    free = NodeHarvestRegressor(forests[0], **shared).fit(X, y).rules_
    tight = NodeHarvestRegressor(forests[0], max_weight=2.0, **shared).fit(X, y).rules_
    assert sum(rule.weight for rule in free) > 2.5
    assert sum(rule.weight for rule in tight) == pytest.approx(2.0, abs=1e-7)
    for loose in (20.0, 29.9, 1e9):
        model = NodeHarvestRegressor(forests[0], max_weight=loose, **shared).fit(X, y)
        found = {rule.conditions: rule.weight for rule in model.rules_}
        for rule in free:
            assert found.get(rule.conditions, 0) == pytest.approx(rule.weight, abs=1e-7)
    for rules in (free, tight):
        weight = np.array([rule.weight for rule in rules])
        assert rules.covers(X) @ weight == pytest.approx(np.ones(len(X)), abs=1e-7)


def test_a_row_in_no_rule_gets_the_mean():
    X, y, _ = some_data()
    tree = DecisionTreeRegressor(max_depth=2, min_samples_leaf=20, random_state=0)
    model = NodeHarvestRegressor(tree, root_weight=0.0).fit(X, y)
    assert model.rules_.default.weight == 0
    assert model.rules_.covers(X)[:, :-1].any(axis=1).all()
    lost = np.full((1, 4), np.nan)
    assert not model.rules_.covers(lost)[0, :-1].any()
    assert model.predict(lost) == pytest.approx([y.mean()], abs=1e-3)


def test_where_there_is_no_choice_one_rule_answers():
    X, y, _ = some_data(60)
    stumps = RandomForestRegressor(3, max_depth=1, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="min_samples=40 rows inside and as many"):
        model = NodeHarvestRegressor(stumps, min_samples=40).fit(X, y)
    assert model.rules_.n_rules == 1
    assert model.predict(X) == pytest.approx(np.full(60, y.mean()), abs=1e-3)
    with pytest.warns(UserWarning, match="target has a single value"):
        model = NodeHarvestRegressor(stumps).fit(X, np.full(60, 2.5))
    assert model.rules_.export("text").startswith("1. always 2.5, weight 1")


def test_nodes_that_do_not_add_up_leave_one_rule():
    # The right half has five rows, too few; two nodes are left of the other half.
    tree = Tree(
        [0, 1, -1, -1, -1],
        [0.5, 0.5, 0, 0, 0],
        [1, 3, -1, -1, -1],
        [2, 4, -1, -1, -1],
        np.zeros(5, dtype=bool),
        np.zeros(5),
    )
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [20, 25, 5], axis=0)
    y = X[:, 1] + np.arange(50) / 100
    forest = Forest((tree,), ("a", "b"), "regression")
    with pytest.warns(UserWarning, match="No nodes together cover all rows"):
        model = NodeHarvestRegressor(forest).fit(X, y)
    assert model.n_nodes_ == 3
    assert model.rules_.n_rules == 1
    assert model.rules_.default.weight == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"shorten_thresholds": "yes"}, "shorten_thresholds must be True or False"),
        ({"n_nodes": 0}, "n_nodes must be a whole number from 1; got 0"),
        ({"min_samples": 2.5}, "min_samples must be a whole number from 1; got 2.5"),
        ({"max_depth": True}, "max_depth must be a whole number from 1 to 1000000"),
        ({"max_rules": 0}, "max_rules must be None or a whole number from 1; got 0"),
        ({"digits": 13}, "digits must be None or a whole number from 1 to 12; got 13"),
        ({"round_digits": 0}, "round_digits must be None or a whole number from 1 to"),
        ({"max_weight": 0.5}, "max_weight must be None or a number from 1; got 0.5"),
        ({"min_weight": 1.5}, "min_weight must be a number from 0 to 1; got 1.5"),
        ({"root_weight": -0.1}, "root_weight must be a number from 0 to 1; got -0.1"),
        ({"ridge": 0}, "ridge must be a number from 1e-10; got 0"),
        ({"ridge": math.inf}, "ridge must be a number from 1e-10; got inf"),
        ({"target": "y"}, "target must be 'model' or 'labels'; got 'y'"),
    ],
)
def test_bad_settings_say_what_is_needed(setting, message):
    X, y, _ = some_data(30)
    with pytest.raises(ValueError, match=message):
        NodeHarvestRegressor(**setting).fit(X, y)


def test_iris_from_the_usual_settings():
    X, y = load_iris(return_X_y=True)
    model = NodeHarvestClassifier(random_state=0, max_rules=5).fit(X, y)
    assert model.score(X, y) > 0.93
    assert model.rules_.n_rules == 5
    assert model.rules_.form == "average"


ESTIMATORS = [
    NodeHarvestClassifier(RandomForestClassifier(15, random_state=0), n_nodes=60),
    NodeHarvestRegressor(
        RandomForestRegressor(15, random_state=0),
        n_nodes=60,
        max_weight=2.0,
        max_rules=7,
    ),
]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_method(estimator, check, missing):
    check(estimator, *make_data(estimator._task, missing))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_row_order_has_no_say(estimator):
    X, y = make_data(estimator._task)
    forest = estimator.model.fit(X, y)
    methods.check_row_order_has_no_say(estimator, forest, X, y)
