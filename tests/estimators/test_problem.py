"""Problem: what must have no say has none."""

import numpy as np

from defragtrees import Forest, Tree
from defragtrees.estimators.problem import Problem


def make_problem(names, n_rows=5):
    X = np.arange(n_rows * len(names), dtype=float).reshape(n_rows, -1)
    stump = Tree([-1], [0.0], [-1], [-1], [False], [1.0])
    forest = Forest((stump,), names, "regression")
    weight = np.ones(n_rows)
    return Problem(X, X[:, 0], weight, forest, forest.outcome)


def test_features_stand_in_the_order_of_names_and_of_numbers_in_them():
    names = ("x10", "x9", "age", "x9b", "10", "9")
    ordered = [names[j] for j in make_problem(names).feature_order]
    assert ordered == ["9", "10", "age", "x9", "x9b", "x10"]


def test_names_that_differ_only_in_zeros_have_one_order_too():
    for names in (("a01", "a1"), ("a1", "a01")):
        ordered = [names[j] for j in make_problem(names).feature_order]
        assert ordered == ["a01", "a1"]


def test_the_order_of_rows_is_that_of_their_contents():
    problem = make_problem(("a", "b"))
    rows = np.array([3, 0, 4, 1, 2])
    turned = Problem(
        problem.X[rows],
        problem.target[rows],
        problem.sample_weight,
        problem.forest,
        problem.outcome,
    )
    one, two = problem.in_canonical_order(), turned.in_canonical_order()
    assert (one.X == two.X).all()
    assert (one.target == two.target).all()
