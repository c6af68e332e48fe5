"""From probabilities to a class."""

import numpy as np
import pytest

from defragtrees.outcomes.decision import Decision, make_decision

LABELS = ("bad", "good", "unclear")
EQUAL = (1 / 3, 1 / 3, 1 / 3)


def test_mistakes_that_a_dict_does_not_name_cost_one():
    decision = make_decision(LABELS, EQUAL, costs={("bad", "good"): 5})
    assert decision.costs.tolist() == [[0, 5, 1], [1, 0, 1], [1, 1, 0]]


def test_the_answer_is_expected_to_cost_least():
    decision = make_decision(LABELS, EQUAL, costs={("bad", "good"): 5})
    # good costs 5 * 0.2 + 0.1, bad 0.7 + 0.1, unclear 0.2 + 0.7.
    assert decision.choose([[0.2, 0.7, 0.1]]).tolist() == [0]
    assert make_decision("abc", EQUAL).choose([[0.2, 0.7, 0.1]]).tolist() == [1]


def test_equal_costs_leave_weights_as_they_are_to_the_last_bit():
    # Two sums of the same weights differ in their last bits, in a way that depends on
    # the processor, and the rules of two equally good searches with them.
    weight = np.full(10_007, 0.12)
    first = np.arange(len(weight)) % 9 / 8
    made = Decision(1.0 - np.eye(2)).emphasise(
        np.column_stack([first, 1 - first]), weight
    )
    assert (made[1] == weight).all()


def test_rows_in_which_no_mistake_costs_count_for_nothing():
    decision = make_decision(("a", "b"), (0.5, 0.5), costs=[[0, 2], [0, 0]])
    shares, weight = decision.emphasise(np.array([[0.0, 1.0], [0.5, 0.5]]), np.ones(2))
    assert shares.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert weight.tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 0.5}, "threshold needs"),
        ({"costs": np.ones((2, 2))}, "a row and a"),
        (
            {"costs": {"bad": 5}},
            ".true class, predicted",
        ),
        ({"costs": {("bad", "fine"): 5}}, "costs names the class 'fine'"),
        ({"class_weight": {"fine": 5}}, "class_weight names the class 'fine'"),
        ({"class_weight": {"bad": -1}}, "finite number"),
        ({"class_weight": dict.fromkeys(LABELS, 0)}, "class at least"),
    ],
)
def test_what_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        make_decision(LABELS, EQUAL, **settings)
