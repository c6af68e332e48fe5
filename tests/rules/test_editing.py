"""Rules as people change them: what they answer, say and still know."""

import dataclasses
import functools
import math

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import defragtrees
from defragtrees import (
    Condition,
    Rule,
    RuleEnsemble,
    RuleList,
    RuleModel,
    diff,
    simplify,
)
from defragtrees.data.refitting import checked_rows, recount_rows
from defragtrees.errors import ConditionTextError
from defragtrees.outcomes.classification import LEAST_PRIOR, MOST_PRIOR
from defragtrees.rules import RuleTree
from defragtrees.rules.profile import WORTH, Evidence

NAMES = ("income", "age", "city")
CITIES = ("Oslo", "Rome", "Lima")
EVIDENCE = {
    "rates": (0.25, 0.75),
    "n_rows": 40.0,
    "coverage": 0.5,
    "share": 0.4,
    "error": 0.1,
    "model_mean": (0.3, 0.7),
}


def measured(conditions, answer, shares=(0.5, 0.5), **more):
    return Rule(tuple(conditions), answer, shares, **EVIDENCE, **more)


def loans(**settings):
    rich = measured([Condition(0, lower=40000.0)], "good", (0.1, 0.9))
    young = measured([Condition(1, upper=24.0, is_integer=True)], "bad", (0.8, 0.2))
    south = measured([Condition(2, categories=(1, 2)), Condition(0, upper=9000.0)],
                     "bad", (0.7, 0.3))  # fmt: skip
    rest = measured([], "good", (0.4, 0.6))
    return RuleList(
        (rich, young, south), rest, NAMES, "classification", ("bad", "good"),
        (None, None, CITIES), **settings,
    )  # fmt: skip


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.uniform(0, 60000, n).round(),
            rng.integers(18, 60, n),
            rng.integers(0, 3, n),
        ]
    ).astype(object)
    X[:, 2] = [CITIES[int(place)] for place in X[:, 2]]
    good = (X[:, 0].astype(float) > 30000) | (rng.random(n) < 0.2)
    return X, np.where(good, "good", "bad")


def texts(rules):
    return [rule.text() for rule in rules]


def is_counted(rules):
    return [not math.isnan(rule.n_rows) for rule in rules]


def test_a_dropped_rule_is_gone_and_later_rules_know_nothing_of_their_rows():
    rules = loans().drop(2)
    assert texts(rules) == [
        "income > 40000",
        "(city is Rome or Lima) and income <= 9000",
        "otherwise",
    ]
    assert is_counted(rules) == [True, False, False]
    assert [rule.coverage for rule in rules] == [0.5] * 3
    assert rules.rules[1].rates is None
    assert rules.rules[1].model_mean is None
    assert rules.rules[1].distribution == (0.7, 0.3)
    assert [e.to_dict() for e in rules.edits] == [
        {
            "action": "drop",
            "rule": 2,
            "text": "dropped rule 2: if age <= 24 then bad",
        }
    ]


def test_replaced_conditions_are_what_the_text_says():
    rules = loans().replace(1, "income <= 40000 and city is not Oslo")
    assert texts(rules)[0] == "income <= 40000 and city is not Oslo"
    assert is_counted(rules) == [False] * 4
    assert math.isnan(rules.rules[0].coverage)
    assert [rule.coverage for rule in rules.rules[1:]] == [0.5, 0.5]
    assert rules.edits[0].text == (
        "rule 1: income > 40000 became income <= 40000 and city is not Oslo"
    )
    assert rules.predict([[10.0, 30.0, "Rome"], [10.0, 30.0, "Oslo"]]).tolist() == [
        "good",
        "good",
    ]


@pytest.mark.parametrize("condition", [2, "income"])
def test_one_condition_can_be_replaced(condition):
    rules = loans().replace(3, "income <= 8000", condition)
    assert texts(rules)[2] == "(city is Rome or Lima) and income <= 8000"
    with pytest.raises(ValueError, match="it would have two on 'city'"):
        loans().replace(3, "city is Oslo", condition)


def test_whole_numbers_stay_whole():
    changed = loans().replace(2, "age < 30").rules[1].conditions[0]
    assert changed == Condition(1, upper=29.0, is_integer=True)


def test_a_condition_can_be_removed_but_the_last_one():
    rules = loans().drop(3, "city")
    assert texts(rules)[2] == "income <= 9000"
    assert rules.edits[0].action == "remove"
    with pytest.raises(ValueError, match="rule 1 has no other"):
        loans().drop(1, 1)


def test_rules_move_and_keep_what_is_still_true():
    rules = loans().move(3, 2)
    assert texts(rules)[1:3] == [
        "(city is Rome or Lima) and income <= 9000",
        "age <= 24",
    ]
    assert is_counted(rules) == [True, False, False, True]
    # The order among those before it changes nothing for the third.
    assert is_counted(loans().move(2, 1)) == [False, False, True, True]


def test_an_answer_is_changed_and_probabilities_stay():
    rules = loans().set_prediction(2, "good")
    assert rules.predict([[10.0, 20.0, "Oslo"]]).tolist() == ["good"]
    assert rules.rules[1].distribution == (0.8, 0.2)
    assert rules.rules[1].rates == (0.25, 0.75)
    assert math.isnan(rules.rules[1].error)
    assert rules.edits[0].text == "rule 2 predicts good, not bad: if age <= 24"
    assert loans().set_prediction(4, "bad").default.prediction == "bad"
    with pytest.raises(ValueError, match=r"predict one of .*; got 'fine'"):
        loans().set_prediction(2, "fine")


def test_a_prediction_set_by_hand_overrides_costs_and_is_recorded():
    costly = loans().with_costs({("good", "bad"): 5, ("bad", "good"): 1})
    assert costly.rules[0].prediction == "good"
    made = costly.set_prediction(1, "bad")
    assert made.rules[0].is_override
    row = [50000.0, 50.0, "Oslo"]
    assert made.predict([row]).tolist() == ["bad"]
    assert "Set by hand: rule 1." in " ".join(str(made).split())
    again = RuleModel.from_dict(made.to_dict())
    assert again == made
    assert [r.get("override") for r in made.to_dict()["rules"]] == [True, None, None]
    # It stays whatever is decided, or counted, later.
    assert made.with_threshold(0.01).rules[0].prediction == "bad"
    counted = made.refit([row, [20.0, 20.0, "Oslo"]] * 20, ["good", "bad"] * 20)
    assert counted.rules[0].prediction == "bad"
    assert made.export("sql").splitlines()[1].endswith("THEN 'bad'")


def test_a_threshold_decides_predictions_and_replaces_costs():
    costs = ((0.0, 5.0), (1.0, 0.0))
    costly = dataclasses.replace(loans().set_prediction(4, "bad"), costs=costs)
    for rules in (loans(), costly):
        made = rules.with_threshold(0.25)
        predictions = [rule.prediction for rule in made]
        assert predictions == ["good", "bad", "good", "good"]
        assert (made.threshold, made.costs) == (0.25, None)
        assert math.isnan(made.rules[2].error)
        assert made.rules[0].error == 0.1
        assert made.edits[-1].text == "predicts good if P(good) >= 0.25"
        assert RuleModel.from_dict(made.to_dict()) == made
    # The first class may be the one whose probability is meant.
    made = loans(pos_label="bad").with_threshold(0.35)
    assert [rule.prediction for rule in made] == ["good", "bad", "bad", "bad"]
    assert made.threshold == pytest.approx(0.65)
    # From a probability on, whichever class it is of.
    made = loans(pos_label="bad").with_threshold(0.4)
    assert [rule.prediction for rule in made] == ["good", "bad", "bad", "bad"]
    with pytest.raises(ValueError, match=r"above 0 and below 1; got 1\.5"):
        loans().with_threshold(1.5)
    number = RuleList((), Rule((), 2.0), NAMES, "regression")
    with pytest.raises(ValueError, match="with_threshold needs rules for classes"):
        number.with_threshold(0.5)
    assert made.with_threshold(None).threshold is None
    three = Rule((), "a", (0.5, 0.3, 0.2))
    three = RuleList((), three, NAMES, "classification", ("a", "b", "c"))
    with pytest.raises(ValueError, match="threshold needs two classes; there are 3"):
        three.with_threshold(0.5)


def test_costs_and_weights_decide_later():
    made = loans().with_costs({("bad", "good"): 5})
    assert [rule.prediction for rule in made] == ["good", "bad", "bad", "bad"]
    assert made.costs == ((0.0, 5.0), (1.0, 0.0))
    assert made.edits[-1].action == "costs"
    assert made.edits[-1].text == (
        "costs: good predicted for bad 5, bad predicted for good 1"
    )
    assert RuleModel.from_dict(made.to_dict()) == made
    assert loans().with_costs([[0, 5], [1, 0]]) == made
    weighted = loans().with_threshold(0.9).with_class_weight({"bad": 5})
    assert weighted.costs == made.costs
    assert weighted.threshold is None
    even = made.with_costs({("bad", "good"): 1})
    assert (even.costs, even.edits[-1].text) == (
        None,
        "predicts the most probable class",
    )
    assert [rule.prediction for rule in even] == [r.prediction for r in loans()]


def test_balanced_weights_need_the_shares_of_the_classes():
    X, y = rows()
    counted = loans().refit(X, y).with_class_weight("balanced")
    share = float(np.mean(y == "bad"))
    wanted = [[0.0, 0.5 / share], [0.5 / (1 - share), 0.0]]
    assert np.array(counted.costs) == pytest.approx(np.array(wanted))
    blank = RuleList((), Rule((), "a", (0.5, 0.5)), ("x",), "classification", "ab")
    with pytest.raises(ValueError, match="'balanced' needs the shares of the classes"):
        blank.with_class_weight("balanced")
    assert blank.with_class_weight({"b": 3}).default.prediction == "b"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.with_costs({("bed", "good"): 5}), "costs names the class 'bed'"),
        (lambda r: r.with_costs({("bad", "good"): -5}), "must be a finite number from"),
        (lambda r: r.with_costs([[0, 1]]), "a row and a column for each of the 2"),
        (lambda r: r.with_costs("much"), "costs must be a dict"),
        (lambda r: r.with_class_weight({"bed": 2}), "class_weight names the class"),
        (
            lambda r: r.with_class_weight("even"),
            "class_weight must be None, 'balanced'",
        ),
        (lambda r: r.with_threshold(0.0), "above 0 and below 1; got 0.0"),
        (lambda r: r.with_threshold("0.3"), "above 0 and below 1; got '0.3'"),
    ],
)
def test_decisions_that_cannot_be(call, words):
    with pytest.raises(ValueError, match=words):
        call(loans())


def test_what_is_no_rule_or_condition_is_refused():
    for number in (0, 4, -1, 1.5, "1", True):
        with pytest.raises(ValueError, match=r"number from 1 to 3; got"):
            loans().drop(number)
    with pytest.raises(ValueError, match=r"one of .'age'.; got 'income'"):
        loans().drop(2, "income")
    with pytest.raises(ConditionTextError, match=r"\[here\]incme"):
        loans().replace(1, "incme <= 3")


def test_edits_are_kept_in_order_and_in_the_file(tmp_path):
    rules = loans().drop(2).replace(1, "income > 50000").set_prediction(2, "good")
    rules.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == rules
    assert [edit.action for edit in again.edits] == ["drop", "replace", "prediction"]


def test_a_tree_without_a_leaf_is_a_list():
    low = Rule((Condition(0, upper=1.0),), 1.0)
    high = Rule((Condition(0, lower=1.0),), 2.0)
    tree = RuleTree((low, high), Rule((), 0.0), ("a",), "regression")
    rules = tree.drop(2)
    assert rules.form == "list"
    assert rules.predict([[0.0], [2.0]]).tolist() == [1.0, 0.0]


@functools.cache
def fitted(form="list", task="classes", **settings):
    X, y = rows()
    X = np.column_stack([X[:, :2].astype(float), X[:, 0].astype(float) % 7])
    if task == "numbers":
        y = X[:, 0] / 1000 + (X[:, 1] > 40)
        model = RandomForestRegressor(10, random_state=0, min_samples_leaf=5)
    else:
        model = RandomForestClassifier(10, random_state=0, min_samples_leaf=5)
    estimator = simplify(
        model.fit(X, y), X, y, form=form, max_rules=4, random_state=0, **settings
    )
    return estimator, X, y


CASES = [
    (form, task)
    for form in ("list", "standalone", "points")
    for task in ("classes", "numbers")
]


def told(rules):
    return [
        (rule.conditions, rule.prediction, rule.distribution, rule.rates, rule.n_rows,
         rule.weight, rule.points)
        for rule in rules
    ]  # fmt: skip


@pytest.fixture
def _worth_the_same(monkeypatch):
    """Rows are as good evidence wherever they come from."""
    for source in WORTH:
        monkeypatch.setitem(WORTH, source, WORTH["training"])


@pytest.mark.usefixtures("_worth_the_same")
@pytest.mark.parametrize(("form", "task"), CASES)
def test_counted_anew_on_the_same_rows_rules_are_the_same(form, task):
    estimator, X, y = fitted(form, task)
    rules = estimator.rules_.refit(X, y)
    assert told(rules) == told(estimator.rules_)
    assert (rules.residuals is None) == (task == "classes")
    assert (rules.rate_bands is None) == (task == "numbers" or form == "list")
    assert rules.edits[0].text == "counted again on 400 rows"
    assert all(rule.model_mean is None for rule in rules)


@pytest.mark.parametrize(("form", "task"), CASES)
def test_counted_anew_on_other_rows_rules_tell_of_them(form, task):
    estimator, X, y = fitted(form, task)
    half = slice(None, 150)
    rules = estimator.rules_.refit(X[half], y[half])
    held = rules.covers(X[half])
    members = rules._form.members(held)
    assert [rule.n_rows for rule in rules] == members.sum(axis=0).tolist()
    if task == "classes":
        for k, rule in enumerate(rules):
            assert rule.rates[1] == pytest.approx(
                (y[half][members[:, k]] == "good").mean()
            )
    kept = estimator.rules_.refit(X[half], y[half], predictions="keep")
    assert kept.predict(X).tolist() == estimator.rules_.predict(X).tolist()
    assert [rule.n_rows for rule in kept] == members.sum(axis=0).tolist()


def test_weights_count_as_rows_given_twice():
    estimator, X, y = fitted()
    weight = np.where(np.arange(400) < 100, 2.0, 1.0)
    weight[390:] = 0
    twice = np.r_[np.arange(390), np.arange(100)]
    by_weight = estimator.rules_.refit(X, y, weight)
    by_rows = estimator.rules_.refit(X[twice], y[twice])
    for one, other in zip(by_weight, by_rows, strict=True):
        assert one.n_rows <= other.n_rows  # rows are rows
        assert one.prediction == other.prediction
        assert one.distribution == other.distribution
        assert (one.rates, one.share) == (other.rates, other.share)


def test_points_keep_their_scale():
    estimator, X, y = fitted("points", points="integer")
    rules = estimator.rules_
    for before in (rules, rules.scaled(20, points=600, odds=50)):
        after = before.refit(X[:200], y[:200])
        assert (after.unit, after.origin) == (before.unit, before.origin)
        assert all(float(p).is_integer() for rule in after for p in rule.points)
        exact = fitted("points")[0].rules_.refit(X[:200], y[:200])
        exact = dataclasses.replace(exact, rules=exact.rules)
        assert after.predict_proba(X).shape == exact.predict_proba(X).shape


def test_rows_that_cannot_be_counted_are_refused():
    rules, X, y = fitted()[0].rules_, *fitted()[1:]
    with pytest.raises(ValueError, match="y is needed to count rules again"):
        rules.refit(X, None)
    with pytest.raises(ValueError, match="equally many rows; got 400 and 3"):
        rules.refit(X, y[:3])
    with pytest.raises(ValueError, match="labels that the model does not know"):
        rules.refit(X, ["fine"] * 400)
    with pytest.raises(ValueError, match="must have a positive sum; all weights are 0"):
        rules.refit(X, y, np.zeros(400))
    with pytest.raises(ValueError, match="predictions must be 'recount' or 'keep'"):
        rules.refit(X, y, predictions="new")


def test_rules_without_counts_do_not_name_rows():
    estimator, X, y = fitted()
    rules = estimator.rules_
    assert rules.evidence.text in rules.export("text")
    # All rules of a list below a change have other rows.
    assert rules.evidence.text not in str(rules.drop(1))
    assert "given to refit" in str(rules.drop(1).refit(X, y))


@pytest.mark.parametrize("source", ["refit", "searched"])
def test_rules_are_drawn_to_all_rows_by_what_the_rows_are_worth(source):
    estimator, X, y = fitted()
    rules = estimator.rules_
    rows = checked_rows(rules, rules._encode(X), y)
    found = recount_rows(rules, *rows, source=source)
    base = (y == "good").mean()
    within = sum(rule.n_rows * rule.rates[0] * rule.rates[1] for rule in found)
    between = sum(rule.n_rows * (rule.rates[1] - base) ** 2 for rule in found)
    prior = min(LEAST_PRIOR + within / between, MOST_PRIOR)
    for rule in found:
        assert rule.n_effective == pytest.approx(WORTH[source] * rule.n_rows)
        counted = rule.n_effective * rule.rates[1] + prior * base
        expected = counted / (rule.n_effective + prior)
        assert rule.distribution[1] == pytest.approx(expected)
    assert found.evidence == Evidence(source, 400.0)


@pytest.mark.usefixtures("_worth_the_same")
@pytest.mark.parametrize(("form", "task"), CASES)
def test_kept_rules_stay_and_others_are_found_anew(form, task):
    estimator, X, y = fitted(form, task)
    before = estimator.rules_.replace(1, "x2 <= 40 and x1 > 100")
    rules = before.improve(X, y, keep=[1], max_rules=4, random_state=0)
    assert rules.rules[0].conditions == before.rules[0].conditions
    assert rules.form == before.form
    assert 2 < rules.n_rules <= 4
    assert rules.edits[-1].text == "kept rule 1, searched for others on 400 rows"
    assert told(rules.refit(X, y)) == told(rules)
    alone = dataclasses.replace(before, rules=before.rules[:1]).refit(X, y)
    error = rules.outcome.error
    assert error(y, rules.predict(X)) < error(y, alone.predict(X))
    again = before.improve(X, y, keep=[1], max_rules=4, random_state=0)
    assert again == rules


def test_improve_says_what_it_cannot_do():
    estimator, X, y = fitted()
    rules = estimator.path_[3]
    with pytest.raises(ValueError, match="keep must have numbers of rules, from 1 to"):
        rules.improve(X, y, keep=[99])
    with pytest.raises(ValueError, match="at least 3, for the 2 rules to keep"):
        rules.improve(X, y, keep=[1, 2], max_rules=2)
    with pytest.raises(ValueError, match="improve keeps the form 'list'"):
        rules.improve(X, y, keep=[1], form="points")
    averaged = RuleEnsemble((), Rule((), 2.0), ("a",), "regression")
    with pytest.raises(ValueError, match="Fit the method again instead"):
        averaged.improve([[1.0]], [1.0], keep=[])


def test_rows_that_were_searched_are_not_new():
    estimator, X, y = fitted()
    rules = estimator.rules_.replace(1, "x2 <= 40 and x1 > 100")
    found = rules.improve(X, y, keep=[1], max_rules=4, random_state=0)
    assert found.evidence == Evidence("searched", 400.0)
    every = range(1, rules.n_rules)
    assert rules.improve(X, y, keep=every).evidence == Evidence("refit", 400.0)


@pytest.mark.usefixtures("_worth_the_same")
def test_all_rules_kept_are_only_counted_anew():
    estimator, X, y = fitted()
    rules = estimator.rules_
    numbers = range(1, rules.n_rules)
    assert told(rules.improve(X, y, keep=numbers)) == told(rules)


def test_improve_speaks_of_categories_by_name():
    X, y = rows()
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "city": pandas.Categorical(X[:, 2], categories=["Lima", "Oslo", "Rome"]),
            "income": X[:, 0].astype(float),
            "age": X[:, 1].astype(float),
        }
    )
    y = np.where((frame.city == "Rome") & (frame.age > 30), "good", "bad")
    rules = loans().improve(frame, y, keep=[2], random_state=0)
    assert rules.categories == (None, None, CITIES)
    assert (rules.predict(frame) == y).mean() > 0.9
    assert any("city is" in text and "Rome" in text for text in texts(rules))


def test_diff_says_in_words_what_changed():
    before = loans()
    after = before.drop(2).replace(1, "income > 50000").set_prediction(3, "bad")
    assert str(diff(before, after)).splitlines() == [
        "rule 2 is gone: if age <= 24 then bad",
        "rule 1: income > 40000 became income > 50000",
        "rule 3 (was 4) predicts bad, was good: otherwise",
    ]
    assert str(diff(before, before)) == "The rules are the same."
    assert not diff(before, before)
    moved = diff(before, dataclasses.replace(before, rules=before.rules[::-1]))
    assert [change.kind for change in moved.changes] == ["moved", "moved"]
    new = diff(dataclasses.replace(before, rules=before.rules[:1]), before)
    assert [(c.kind, c.after) for c in new.changes] == [("new", 2), ("new", 3)]
    costly = before.with_costs({("bad", "good"): 5})
    assert diff(costly, before.with_threshold(0.6)).changes[-1].text == (
        "predicts good if P(good) >= 0.6; before: costs: good predicted for bad 5, bad "
        "predicted for good 1"
    )
    assert (
        diff(before, costly)
        .changes[-1]
        .text.endswith("; before: predicts the most probable class")
    )


def test_diff_counts_rows_that_are_answered_otherwise():
    X, y = rows()
    before, after = loans(), loans().replace(1, "income > 50000")
    found = diff(before, after, X, y)
    changed = before.predict(X) != after.predict(X)
    assert found.is_changed.tolist() == changed.tolist()
    assert found.measures["n_changed"] == changed.sum() > 0
    assert found.measures["error_after"] == pytest.approx(
        (after.predict(X) != y).mean()
    )
    assert sum(n for *_, n in found.moves) == changed.sum()
    assert f"{changed.sum()} rows of 400" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.to_dict()["measures"]["n_rows"] == 400


def test_diff_of_numbers_tells_by_how_much():
    estimator, X, y = fitted("points", "numbers")
    rules = estimator.rules_
    found = diff(rules, rules.set_prediction(1, rules.rules[0].points[0] + 2), X, y)
    held = rules.covers(X)[:, 0]
    assert found.measures["mean_change"] == pytest.approx(2 * held.mean())
    assert "differ by" in str(found)
    # In the unit of y, as everywhere.
    error = float(str(found).split("root mean squared error ")[1].split(",")[0])
    assert error**2 == pytest.approx(found.measures["error_after"], rel=0.02)


def test_diff_refuses_other_answers():
    other = RuleList((), Rule((), 2.0), ("a",), "regression")
    with pytest.raises(ValueError, match="for the same target"):
        diff(loans(), other)
    with pytest.raises(TypeError, match="diff needs two rule models; got dict"):
        diff(loans(), {})


def test_a_rule_is_inserted_as_text():
    made = loans().insert(2, "if age >= 30 and city is Lima then bad")
    assert [rule.text() for rule in made] == [
        "income > 40000",
        "age >= 30 and city is Lima",
        "age <= 24",
        "(city is Rome or Lima) and income <= 9000",
        "otherwise",
    ]
    assert made.rules[1].prediction == "bad"
    # Those of all rows, until it is counted.
    assert made.rules[1].distribution == pytest.approx((0.75, 0.25)[::-1])
    assert made.rules[0].n_rows == 40.0
    assert all(math.isnan(rule.n_rows) for rule in [*made][1:])
    assert made.edits[-1].to_dict() == {
        "action": "insert",
        "rule": 2,
        "text": "inserted rule 2: if age >= 30 and city is Lima then bad",
    }
    assert RuleModel.from_dict(made.to_dict()) == made
    X, y = rows()
    counted = made.refit(X, y)
    taken = (X[:, 0].astype(float) <= 40000) & (X[:, 1].astype(float) >= 30)
    taken &= X[:, 2] == "Lima"
    assert counted.rules[1].n_rows == taken.sum()
    assert counted.rules[1].rates[0] == pytest.approx((y[taken] == "bad").mean())
    last = loans().insert(4, "if age >= 30 then good", probability=0.8)
    assert last.rules[3].distribution == pytest.approx((0.2, 0.8))
    assert [*last][4].text() == "otherwise"


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
@pytest.mark.parametrize("is_number", [False, True])
def test_a_rule_is_inserted_into_every_form(form, is_number):
    X, y = rows()
    X = X[:, :2].astype(float)
    y = X[:, 0] / 1000 + X[:, 1] if is_number else y
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    forest = kind(10, min_samples_leaf=9, random_state=0).fit(X, y)
    rules = simplify(forest, X, y, form=form, max_rules=4, random_state=0).rules_
    then = {"points": "+2.5"}.get(form, "31.5" if is_number else "bad")
    made = rules.insert(1, f"x1 <= 100 then {then}")
    assert made.n_rules == rules.n_rules + 1
    is_row = X[:, 0] <= 100
    if form == "points":
        apart = made.totals(X) - rules.totals(X)
        assert apart[:, 0] == pytest.approx(np.where(is_row, 2.5, 0.0))
    elif form == "list":
        answers = np.where(is_row, 31.5 if is_number else "bad", rules.predict(X))
        assert np.array_equal(made.predict(X), answers.astype(y.dtype))
    else:
        assert made.rules[0].weight == 1.0
    counted = made.refit(X, y)
    assert counted.rules[0].n_rows == is_row.sum()
    assert [edit.action for edit in counted.edits] == ["insert", "refit"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0, "age >= 30 then bad"), "its number from 1 to 4; got 0"),
        ((1, "age >= 30"), "as conditions, then what it predicts: .* got 'age >= 30'"),
        ((1, 30), "as conditions, then what it predicts: .* got 30"),
        ((1, "age >= 30 then worse"), "predict one of .'bad', 'good'.; got 'worse'"),
        ((1, "agee >= 30 then bad"), "agee"),
    ],
)
def test_a_rule_that_cannot_be_read_is_not_inserted(arguments, words):
    with pytest.raises(ValueError, match=words):
        loans().insert(*arguments)


def test_rules_that_cannot_be_inserted():
    number = RuleList(
        (), Rule((), 2.0), NAMES, "regression", None, (None, None, CITIES)
    )
    with pytest.raises(ValueError, match="A number must be predicted; got 'bad'"):
        number.insert(1, "age >= 30 then bad")
    with pytest.raises(ValueError, match="probability is for rules that predict a cla"):
        number.insert(1, "age >= 30 then 3", probability=0.5)
    with pytest.raises(ValueError, match="probability must be a number from 0 to 1"):
        loans().insert(1, "age >= 30 then bad", probability=90)
    decided = loans().with_threshold(0.55)
    with pytest.raises(ValueError, match="Give a probability from which bad follows"):
        decided.insert(1, "age >= 30 then bad")
    made = decided.insert(1, "age >= 30 then bad", probability=0.9)
    assert made.rules[0].prediction == "bad"
    mean = RuleEnsemble((), Rule((), 2.0), NAMES, "regression", None, (None,) * 3)
    with pytest.raises(ValueError, match="no rule can be inserted"):
        mean.insert(1, "age >= 30 then 3")


def test_diff_tells_what_an_edit_costs():
    X, y = rows()
    before, after = loans(), loans().insert(1, "if age >= 50 then bad")
    found = diff(before, after, X, y)
    first, second = before.predict(X), after.predict(X)
    measures = found.measures
    assert measures["n_mended"] == int(((second == y) & (first != y)).sum())
    assert measures["n_broken"] == int(((second != y) & (first == y)).sum())
    gained = measures["n_mended"] - measures["n_broken"]
    apart = measures["error_before"] - measures["error_after"]
    assert gained == pytest.approx(apart * len(y))
    text = f"{measures['n_mended']} newly right, {measures['n_broken']} newly wrong"
    assert text in str(found)
    costly = before.with_costs({("bad", "good"): 5})
    found = diff(before, costly, X, y).measures
    for name, predicted in (("before", first), ("after", costly.predict(X))):
        wrong = np.where(y == "bad", 5.0, 1.0) * (predicted != y)
        assert found[f"cost_{name}"] == pytest.approx(wrong.mean())
    # Of rows of other classes there is nothing to tell.
    assert "cost_after" not in diff(before, costly, X, ["?"] * len(y)).measures


def test_a_threshold_has_no_costs():
    X, y = rows()
    costly = loans().with_costs({("bad", "good"): 5})
    assert "cost_after" in diff(loans(), costly, X, y).measures
    cut = costly.with_threshold(0.6)
    assert "cost_after" not in diff(loans(), cut, X, y).measures
    scores = cut.evaluate(X, y)
    assert scores["expected_cost"] == scores["error"]
    assert "expected cost" not in cut.summary(X, y)
