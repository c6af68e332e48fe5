"""What the measures say of rules worked out by hand."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from defragtrees import metrics
from defragtrees.methods.distilled import DistilledTreeClassifier
from defragtrees.rules import Condition, Rule, RuleSet

X = np.array([[1.0], [2.0], [3.0], [4.0]])


def listed(*ends, decision="first"):
    rules = tuple(Rule((Condition(0, upper=end),), 0.0) for end in ends)
    return RuleSet(rules, Rule((), 1.0), ("size",), "regression", decision=decision)


def test_coverage_and_overlap_leave_out_the_otherwise():
    rules = listed(1.5, 2.5)
    assert metrics.coverage(rules, X) == 0.5
    assert metrics.overlap(rules, X) == 0.75
    assert rules.n_rules == 3
    assert rules.n_conditions == 1.0


def test_a_partition_has_one_rule_for_each_row():
    rules = listed(2.5, decision="partition")
    assert metrics.coverage(rules, X) == 1.0
    assert metrics.overlap(rules, X) == 1.0


def test_similarity_is_of_the_rows_not_of_the_words():
    assert metrics.similarity(listed(2.5), listed(2.9), X) == 1.0
    # 2/3 and 1/2 of the rows in common from one side, 2/3 and 1/2 from the other.
    there, back = (2 * 2 / 3 + 2 * 1 / 2) / 4, (3 * 2 / 3 + 1 * 1 / 2) / 4
    found = metrics.similarity(listed(2.5), listed(3.5), X)
    assert found == pytest.approx((there + back) / 2)


def test_similar_rows_with_another_class_are_not_alike():
    def answering(label, other):
        rule = Rule((Condition(0, upper=2.5),), label)
        return RuleSet(
            (rule,), Rule((), other), ("size",), "classification", ("a", "b")
        )

    first, second = answering("a", "b"), answering("b", "a")
    assert metrics.similarity(first, first, X) == 1.0
    assert metrics.similarity(first, second, X) == 0.0


def test_stability_is_one_for_a_clear_step_and_less_for_noise():
    rng = np.random.default_rng(0)
    table = rng.random((200, 3))
    step = (table[:, 0] > 0.5).astype(int)
    noise = rng.integers(2, size=200)
    found = []
    for y in (step, noise):
        tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(table, y)
        model = DistilledTreeClassifier(tree, max_rules=6, random_state=0)
        found.append(metrics.stability(model, table, y, random_state=0))
    assert found[0] == 1.0
    assert found[1] < 0.9
    assert not hasattr(model, "rules_")


def test_stability_needs_two_samples():
    with pytest.raises(ValueError, match="n_resamples must be at least 2; got 1"):
        metrics.stability(None, X, n_resamples=1)
