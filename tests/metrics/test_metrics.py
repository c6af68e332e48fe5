"""What the measures say of rules worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from defragtrees import metrics
from defragtrees.baselines.distilled import DistilledTreeClassifier
from defragtrees.outcomes.intervals import wilson_interval
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.models import MODELS, Scorecard

X = np.array([[1.0], [2.0], [3.0], [4.0]])


def listed(*ends, form="list"):
    rules = tuple(Rule((Condition(0, upper=end),), 0.0) for end in ends)
    return MODELS[form](rules, Rule((), 1.0), ("size",), "regression")


def test_coverage_and_overlap_leave_out_the_otherwise():
    rules = listed(1.5, 2.5)
    found = rules.evaluate(X, [0.0] * 4)
    assert [found["coverage"], found["overlap"]] == [0.5, 0.75]
    assert rules.n_rules == 3
    assert rules._mean_conditions == 1.0


def test_a_partition_has_one_rule_for_each_row():
    found = listed(2.5, form="tree").evaluate(X, [0.0] * 4)
    assert [found["coverage"], found["overlap"]] == [1.0, 1.0]


def test_stability_is_one_for_a_clear_step_and_less_for_noise():
    rng = np.random.default_rng(0)
    table = rng.random((200, 3))
    step = (table[:, 0] > 0.5).astype(int)
    noise = rng.integers(2, size=200)
    found = []
    for y in (step, noise):
        tree = DecisionTreeClassifier(max_depth=6, random_state=0).fit(table, y)
        model = DistilledTreeClassifier(tree, max_rules=6, random_state=0)
        with pytest.raises(NotFittedError):
            metrics.rule_stability(model, table, y)
        model.fit(table, y)
        fits = metrics.rule_stability(model, table, y, n_resamples=5, random_state=0)
        found.append(fits.found_again)
    assert found[0] == 1.0
    assert found[1] < 0.9


LOW = (Condition(0, upper=2.5),)


def telling(low, high, form="list"):
    """Up to 2.5 the first probability of yes, then the second."""
    answers = [Rule((), "yes" if p >= 0.5 else "no", (1 - p, p)) for p in (low, high)]
    rules = (replace(answers[0], conditions=LOW),)
    names, labels = ("size",), ("no", "yes")
    return MODELS[form](rules, answers[1], names, "classification", labels, None)


def test_calibration_has_told_and_observed_by_rule():
    y, weight = ["yes", "no", "no", "no"], [3.0, 1.0, 1.0, 1.0]
    rows = metrics.calibration(telling(0.75, 0.25), X, y, weight)
    # Wilson's intervals for 75% of 4² / (3² + 1²) rows, and for 0 of 2.
    expected = [
        (1, "yes", 0.75, 0.75, 0.1691, 0.9779, 4.0),
        (2, "yes", 0.25, 0.0, 0.0, 0.6576, 2.0),
    ]
    names = ["rule", "class", "estimated", "observed", "low", "high", "n_rows"]
    for row, values in zip(rows, expected, strict=True):
        assert list(row) == names
        for name, value in zip(names, values, strict=True):
            is_text = isinstance(value, str)
            assert row[name] == (value if is_text else pytest.approx(value, abs=1e-4))


def test_an_observed_rate_is_exact_so_that_ties_round_alike():
    y = ["yes"] * 13 + ["no"] * 3
    first, _ = metrics.calibration(telling(0.913684020469, 0.25), [[1.0]] * 16, y)
    assert first["observed"] == 13 / 16


def test_calibration_of_many_classes_is_of_the_answer():
    labels = ("a", "b", "c")
    low, rest = Rule(LOW, "c", (0.2, 0.2, 0.6)), Rule((), "a", (0.8, 0.1, 0.1))
    rules = RuleList((low,), rest, ("size",), "classification", labels)
    rows = metrics.calibration(rules, X, ["c", "a", "a", "unheard"])
    assert [row["class"] for row in rows] == ["c", "a"]
    assert [row["estimated"] for row in rows] == pytest.approx([0.6, 0.8])
    assert [row["observed"] for row in rows] == pytest.approx([0.5, 1.0])
    assert [row["n_rows"] for row in rows] == [2.0, 1.0]


def test_calibration_of_numbers_has_means_and_their_interval():
    rows = metrics.calibration(listed(2.5), X, [1.0, 3.0, 1.0, 1.0])
    assert [row["estimated"] for row in rows] == [0.0, 1.0]
    assert [row["observed"] for row in rows] == [2.0, 1.0]
    # The variance is 1, of two rows.
    assert rows[0]["high"] == pytest.approx(2 + 1.96 / 2**0.5, abs=1e-3)
    assert rows[1]["low"] == rows[1]["high"] == 1.0


def test_calibration_of_averaged_rules_is_of_what_they_tell_together():
    rules = telling(0.9, 0.3, form="average")
    rows = metrics.calibration(rules, X, ["yes", "yes", "no", "no"])
    # In the first two rows both rules hold: the mean of 0.9 and 0.3.
    assert [row["estimated"] for row in rows] == pytest.approx([0.6, 0.3])
    assert [row["observed"] for row in rows] == [1.0, 0.0]


def test_a_rule_without_rows_has_nothing_observed():
    rows = metrics.calibration(telling(0.9, 0.3), X[:2], ["yes", "yes"])
    assert rows[1]["n_rows"] == 0
    assert np.isnan([rows[1]["estimated"], rows[1]["observed"], rows[1]["low"]]).all()


def test_calibration_of_a_scorecard_is_by_total():
    # Totals 0, 0, 1, 2: probabilities 0.5, 0.5, 0.73 and 0.88 of yes.
    points = (Condition(0, lower=2.5), 1.0), (Condition(0, lower=3.5), 1.0)
    rules = [Rule((c,), "yes", (0.5, 0.5), points=(p,)) for c, p in points]
    base = Rule((), "no", (0.5, 0.5), points=(0.0,))
    labels = ("no", "yes")
    card = Scorecard(tuple(rules), base, ("size",), "classification", labels)
    y = ["yes", "no", "no", "yes"]
    rows = metrics.calibration(card, [[1.0], [2.0], [3.0], [4.0]], y, [3, 1, 1, 1])
    assert [row["total"] for row in rows] == [(0, 0), (1, 1), (2, 2)]
    assert [row["n_rows"] for row in rows] == [4, 1, 1]
    assert [row["observed"] for row in rows] == pytest.approx([0.75, 0, 1])
    estimated = [1 / (1 + np.exp(-total)) for total in (0, 1, 2)]
    assert [row["estimated"] for row in rows] == pytest.approx(estimated)
    # Weights 3 and 1 are worth 4 ** 2 / (3 ** 2 + 1 ** 2) rows.
    ends = [wilson_interval(0.75, 1.6), wilson_interval(0, 1), wilson_interval(1, 1)]
    found = [(row["low"], row["high"]) for row in rows]
    assert np.ravel(found) == pytest.approx(np.ravel(ends))
    assert {row["class"] for row in rows} == {"yes"}
    assert "rule" not in rows[0]


def test_calibration_of_a_long_scorecard_has_ten_groups():
    conditions = [Condition(0, lower=k + 0.5) for k in range(40)]
    rules = [Rule((c,), 1.0, points=(1.0,)) for c in conditions]
    base = Rule((), 0.0, points=(0.0,))
    card = Scorecard(tuple(rules), base, ("size",), "regression")
    X = np.arange(40.0)[:, None]
    rows = metrics.calibration(card, X, X[:, 0])
    assert len(rows) == 10
    assert [row["total"] for row in rows[:2]] == [(0, 3), (4, 7)]
    assert [row["estimated"] for row in rows] == [row["observed"] for row in rows]


def test_calibration_needs_probabilities():
    rules = RuleList((), Rule((), "no"), ("size",), "classification", ("no", "yes"))
    with pytest.raises(
        ValueError, match="needs rules with probabilities; one has none"
    ):
        metrics.calibration(rules, X, ["no"] * 4)
