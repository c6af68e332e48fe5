"""Gains: by hand, and against scikit-learn."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from defragtrees import Condition, Rule, RuleList, Scorecard, metrics, plots, simplify

X = [[30.0], [25.0], [15.0], [16.0], [5.0], [4.0], [3.0], [2.0]]
Y = ["yes", "no", "yes", "yes", "no", "no", "no", "yes"]


def made(first=0.5, second=0.75, rest=0.1, **settings):
    warm = Rule((Condition(0, lower=20.0),), "yes", (1 - first, first))
    mild = Rule((Condition(0, lower=10.0),), "yes", (1 - second, second))
    rules, rest = (warm, mild), Rule((), "no", (1 - rest, rest))
    labels = ("no", "yes")
    return RuleList(rules, rest, ("degrees",), "classification", labels, **settings)


def test_gains_by_hand():
    steps = metrics.gains(made(), X, Y)
    assert [step["rules"] for step in steps] == [(2,), (1,), (3,)]
    assert [step["threshold"] for step in steps] == [0.75, 0.5, 0.1]
    assert [step["share"] for step in steps] == [0.25, 0.5, 1.0]
    assert [step["n_rows"] for step in steps] == [2, 4, 8]
    assert [step["n_positive"] for step in steps] == [2, 3, 4]
    assert [step["expected"] for step in steps] == pytest.approx([1.5, 2.5, 2.9])
    assert [step["captured"] for step in steps] == [0.5, 0.75, 1.0]
    assert [step["precision"] for step in steps] == [1.0, 0.75, 0.5]
    assert [step["lift"] for step in steps] == [2.0, 1.5, 1.0]


def test_rules_with_the_same_probability_are_one_step():
    first, last = metrics.gains(made(first=0.75), X, Y)
    assert first["rules"] == (1, 2)
    assert (first["n_rows"], first["n_positive"]) == (4, 3)
    assert (last["captured"], last["lift"]) == (1.0, 1.0)


def test_weights_count_and_the_positive_class_may_be_the_first():
    weight = [1, 3, 1, 1, 1, 1, 1, 1]
    steps = metrics.gains(made(pos_label="no"), X, Y, weight)
    assert [step["rules"] for step in steps] == [(3,), (1,), (2,)]
    assert [step["n_rows"] for step in steps] == [4, 8, 10]
    assert [step["captured"] for step in steps] == [0.5, 1.0, 1.0]
    assert steps[0]["lift"] == pytest.approx(0.75 / 0.6)


@pytest.mark.parametrize("form", ["list", "points", "standalone"])
def test_gains_are_those_of_scikit_learn_at_each_threshold(form):
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(10, random_state=0).fit(X[:300], y[:300])
    settings = {"max_rules": 4, "form": form, "random_state": 0}
    simple = simplify(forest, X[:300], y[:300], **settings)
    X, y = X[300:], y[300:]
    likely = simple.predict_proba(X)[:, 1]
    steps = metrics.gains(simple, X, y)
    distinct = sorted({*np.round(likely, 12)}, reverse=True)
    assert [step["threshold"] for step in steps] == pytest.approx(distinct)
    for step in steps:
        flagged = likely >= step["threshold"]
        assert step["n_rows"] == flagged.sum()
        assert step["captured"] == pytest.approx(recall_score(y, flagged))
        assert step["precision"] == pytest.approx(precision_score(y, flagged))
        assert step["lift"] == pytest.approx(step["precision"] / y.mean())
        assert step["expected"] == pytest.approx(likely[flagged].sum())


def test_gains_need_classes_and_a_positive_row():
    numbers = RuleList((), Rule((), 1.0), ("degrees",), "regression")
    with pytest.raises(ValueError, match="gains needs"):
        metrics.gains(numbers, X, [1.0] * 8)
    with pytest.raises(ValueError, match="none is yes"):
        metrics.gains(made(), X, ["no"] * 8)
    with pytest.raises(ValueError, match="pos_label must"):
        metrics.gains(made(), X, Y, pos_label="maybe")
    with pytest.raises(ValueError, match="y must have"):
        metrics.gains(made(), X, [0, 1] * 4)
    with pytest.raises(ValueError, match="sample_weight must hold finite numbers"):
        metrics.gains(made(), X, Y, [-1.0] * 8)


def test_of_three_classes_one_is_looked_for():
    first = Rule((Condition(0, lower=20.0),), "b", (0.2, 0.5, 0.3))
    labels = ("a", "b", "c")
    rest = Rule((), "c", (0.3, 0.1, 0.6))
    rules = RuleList((first,), rest, ("degrees",), "classification", labels)
    y = ["b", "c", "a", "a", "c", "c", "c", "c"]
    with pytest.raises(ValueError, match="pos_label must"):
        metrics.gains(rules, X, y)
    steps = metrics.gains(rules, X, y, pos_label="c")
    assert [step["rules"] for step in steps] == [(2,), (1,)]
    assert [step["n_positive"] for step in steps] == [4, 5]
    assert "P(c)" in str(steps)
    ax = plots.gains(rules, X, y, pos_label="c")
    assert ax.get_ylabel() == "share of c captured"
    assert metrics.gains(made(), X, Y, pos_label="no")[0]["rules"] == (3,)


def test_a_row_of_weight_two_is_contacted_twice():
    settings = {"benefit": 10, "cost": 2}
    once, twice = (metrics.gains(made(), X, Y, w, **settings) for w in (None, [2] * 8))
    assert [step["n_rows"] for step in twice] == [4, 8, 16]
    assert [s["profit"] for s in twice] == [2 * s["profit"] for s in once]


def test_the_top_rows_bring_their_part_of_a_step():
    found = metrics.gains(made(), X, Y, benefit=10, cost=2)
    top = found.at(3)
    assert (top["n_rows"], top["n_positive"], top["expected"]) == (3.0, 2.5, 2.0)
    assert (top["captured"], top["precision"]) == pytest.approx((2.5 / 4, 2.5 / 3))
    assert top["lift"] == pytest.approx(2.5 / 3 / 0.5)
    assert (top["profit"], top["expected_profit"]) == pytest.approx((19.0, 14.0))
    assert (top["threshold"], top["rules"]) == (0.5, (1,))
    assert found.at(share=3 / 8) == top
    assert found.at(4) == found[1]
    assert found.at(1)["captured"] == 0.25
    assert found.best is found[2]
    for wrong in (0, 8.5, -1, "all"):
        with pytest.raises(ValueError, match="share up to"):
            found.at(wrong)
    with pytest.raises(ValueError, match=r"share, write at\(share=0.25"):
        found.at(0.25)
    with pytest.raises(ValueError, match="n_rows or share"):
        found.at(3, share=0.5)


def test_profit_is_what_positive_rows_bring_less_the_cost_of_all():
    steps = metrics.gains(made(), X, Y, benefit=10, cost=2)
    assert [step["profit"] for step in steps] == [16.0, 22.0, 24.0]
    expected = [10 * e - 2 * n for e, n in ((1.5, 2), (2.5, 4), (2.9, 8))]
    assert [step["expected_profit"] for step in steps] == pytest.approx(expected)
    assert "profit" not in metrics.gains(made(), X, Y)[0]
    with pytest.raises(ValueError, match="benefit and cost go together"):
        metrics.gains(made(), X, Y, benefit=10)
    with pytest.raises(ValueError, match="cost must"):
        metrics.gains(made(), X, Y, benefit=10, cost=float("nan"))
    with pytest.raises(ValueError, match="pass benefit and cost"):
        _ = metrics.gains(made(), X, Y).best


def test_gains_print_as_a_table():
    assert str(metrics.gains(made(), X, Y)) == (
        "P(yes)  rules  rows  share  captured  precision  lift\n"
        " 75.0%      2     2    25%       50%       100%  2.00\n"
        " 50.0%      1     4    50%       75%        75%  1.50\n"
        " 10.0%      3     8   100%      100%        50%  1.00\n"
        "Each line adds the rows with this probability; 8 rows, 4 of them yes."
    )


@pytest.mark.parametrize("positive", [None, "benign"])
@pytest.mark.parametrize("form", ["list", "points", "standalone"])
def test_no_threshold_costs_less_than_the_best_one(form, positive):
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    forest = RandomForestClassifier(10, random_state=0).fit(X[:300], y[:300])
    settings = {"max_rules": 4, "form": form, "pos_label": positive}
    rules = simplify(forest, X[:300], y[:300], **settings).rules_
    X, y = X[300:], y[300:]
    weight = np.arange(len(y)) % 3 + 1.0

    def predicted(threshold):
        return rules.with_threshold(threshold).predict(X)

    every = {tuple(predicted(t)) for t in np.linspace(0.001, 0.999, 400)}
    for missed in (0.05, 0.5, 1, 2, 7, 200):
        costs = {("malignant", "benign"): missed, ("benign", "malignant"): 1}
        best = metrics.best_threshold(rules, X, y, costs, weight)
        found, *others = (
            metrics.expected_cost(y, np.array(one), costs, sample_weight=weight)
            for one in (predicted(best), *every)
        )
        assert found == pytest.approx(min(others))


@pytest.mark.parametrize("positive", ["malignant", "benign"])
@pytest.mark.parametrize("form", ["list", "points", "standalone"])
def test_the_threshold_of_a_step_flags_the_rows_of_the_step(form, positive):
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    settings = {"max_rules": 6, "form": form, "pos_label": positive}
    rules = simplify(forest, X, y, **settings).rules_
    steps = metrics.gains(rules, X, y)
    flagged = [
        (rules.with_threshold(step["threshold"]).predict(X) == positive).sum()
        for step in steps
    ]
    assert flagged == [step["n_rows"] for step in steps]
    assert len(flagged) > 3


def test_the_first_class_is_predicted_from_its_threshold_on():
    # 12 digits each: they do not add up to 1 exactly.
    for likely, other in ((0.0907973073454, 0.909202692655), (0.9, 0.1), (0.7, 0.3)):
        rest = Rule((), "no", (likely, other))
        settings = {"classes": ("no", "yes"), "pos_label": "no"}
        rules = RuleList((), rest, ("degrees",), "classification", **settings)
        assert rules.with_threshold(likely).predict([[1.0]]).tolist() == ["no"]
        higher = rules.with_threshold(likely + 1e-6)
        assert higher.predict([[1.0]]).tolist() == ["yes"]
    assert "P(no) >= 0.7" in rules.with_threshold(0.7).edits[0].text


def test_a_probability_of_0_or_1_has_a_threshold_on_one_side_only():
    rules = made(first=1.0, second=0.5, rest=0.0)
    every = [0.01, 0.3, 0.5, 0.7, 0.99]
    for costs in ({("yes", "no"): 100}, {("no", "yes"): 100}):
        for y in (Y, ["yes"] * 8, ["no"] * 8):
            best = metrics.best_threshold(rules, X, y, costs)
            cost = {
                t: metrics.expected_cost(y, rules.with_threshold(t).predict(X), costs)
                for t in [*every, best]
            }
            assert cost[best] == min(cost.values())


def test_the_threshold_is_the_one_that_costs_imply_where_it_costs_no_more():
    costs = {("yes", "no"): 2, ("no", "yes"): 1}
    assert metrics.best_threshold(made(), X, Y, costs) == 0.333
    # Three digits are not enough beside a rule of 33.33%: one third is above it.
    close = made(first=0.3333)
    assert metrics.best_threshold(close, X[1:], Y[1:], costs) == 0.33333
    # One of the four rows of 10% is yes: missing it costs more than three contacts.
    assert metrics.best_threshold(made(), X, Y, {("yes", "no"): 4}) == 0.05
    assert metrics.best_threshold(made(rest=0.3), X, Y, {("yes", "no"): 4}) == 0.2
    with pytest.raises(ValueError, match="names the class 'maybe'"):
        metrics.best_threshold(made(), X, Y, {("maybe", "no"): 4})


def test_gini_and_ks_are_those_of_scikit_learn_and_scipy():
    rng = np.random.default_rng(0)
    degrees = rng.normal(20, 5, 400)
    y = np.where(rng.random(400) < 1 / (1 + np.exp(20 - degrees)), "yes", "no")
    rules = [
        Rule((Condition(0, lower=t),), "yes", (0.5, 0.5), points=(1.0,))
        for t in (14.0, 18.0, 21.0, 26.0)
    ]
    base = Rule((), "no", (0.5, 0.5), points=(-2.0,))
    card = Scorecard(tuple(rules), base, ("t",), "classification", ("no", "yes"))
    found = card.evaluate(degrees[:, None], y)
    likely = card.predict_proba(degrees[:, None])[:, 1]
    assert found["auc"] == pytest.approx(roc_auc_score(y == "yes", likely))
    assert found["gini"] == pytest.approx(2 * found["auc"] - 1)
    ks = ks_2samp(likely[y == "yes"], likely[y == "no"]).statistic
    assert found["ks"] == pytest.approx(ks)
    # The interval is about that of resampled rows.
    draws = [rng.integers(0, 400, 400) for _ in range(300)]
    again = [roc_auc_score(y[i] == "yes", likely[i]) for i in draws]
    assert [found["auc_low"], found["auc_high"]] == pytest.approx(
        np.quantile(again, [0.025, 0.975]), abs=0.01
    )
