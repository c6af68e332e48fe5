"""Whole points: they cost little, a total says how likely, and PMML says the same."""

import dataclasses
import itertools
import math
import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import roc_auc_score

from defragtrees import load, metrics, plots, write_report
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.export import export
from defragtrees.outcomes.points import (
    LINKS,
    FittedPoints,
    bent,
    calibrated,
    fit_linked,
    whole_linked,
    whole_points,
)
from defragtrees.rules import RuleList, RuleSet, Scorecard
from defragtrees.rules.conditions import Condition, Rule
from tests.estimators.test_forms import make_table
from tests.export import cases

mpl.use("Agg")


def fitted(n_classes=2, **settings):
    X, y, number = make_table(n_classes=max(n_classes, 2))
    if n_classes:
        forest = RandomForestClassifier(30, min_samples_leaf=5, random_state=0)
        method = DefragClassifier
    else:
        forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)
        method, y = DefragRegressor, number
    settings = {"form": "points", "points": "integer", "random_state": 0, **settings}
    return method(forest.fit(X, y), max_rules=6, **settings).fit(X, y), X, y


def all_points(rules):
    return [value for rule in rules for value in rule.points]


def test_the_text_of_a_card_for_three_classes_gives_the_probabilities():
    rules, X = fitted(3)[0].rules_, fitted(3)[1]
    unit = float(re.search(r"multiplied by ([\d.]+) to give the log", str(rules))[1])
    expected = rules.predict_proba(X)
    assert softmax(unit * rules.totals(X), axis=1) == pytest.approx(expected, abs=0.01)
    exact = fitted(3, points="exact")[0].rules_
    assert "the total is the logarithm of a" in " ".join(str(exact).split())


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_no_line_of_a_summary_is_wider_than_a_page(n_classes):
    simple, X, y = fitted(n_classes)
    edited = simple.rules_.drop(1).refit(X, y)
    for text in (simple.summary(), edited.summary(X, y)):
        assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_points_are_whole_and_say_nearly_as_much(n_classes):
    whole, X, y = fitted(n_classes)
    exact, *_ = fitted(n_classes, points="exact")
    assert all(value.is_integer() for value in all_points(whole.rules_))
    assert (whole.rules_.unit, whole.rules_.origin) != (1.0, 0.0)
    if n_classes == 2:
        scores = [
            roc_auc_score(y, model.predict_proba(X)[:, 1]) for model in (whole, exact)
        ]
        assert scores[0] > scores[1] - 0.01
        assert max(map(abs, all_points(whole.rules_))) <= 20
    measure = "log_loss" if n_classes else "error"
    assert whole.training_[measure] < exact.training_[measure] * 1.05


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("most", [2, 5])
def test_points_of_rules_can_be_bounded(n_classes, most):
    bounded = fitted(n_classes, max_points=most)[0]
    points = [abs(value) for rule in bounded.rules_.rules for value in rule.points]
    assert max(points) <= most
    assert all(value.is_integer() for value in points)
    # Cutting off the points of the card without a bound is worse.
    free = fitted(n_classes)[0]
    measure = "log_loss" if n_classes else "error"
    assert bounded.training_[measure] < free.training_[measure] * (1.6 - most / 10)


def test_bounded_points_are_those_of_the_smallest_loss():
    rng = np.random.default_rng(1)
    held = np.column_stack([rng.random((60, 3)) < 0.5, np.ones(60)]).astype(float)
    weight = rng.integers(5, 30, 60).astype(float)
    likely = 1 / (1 + np.exp(-held @ [0.4, -2.1, 0.9, -0.2]))
    events, link = np.round(weight * likely), LINKS["logit"]
    points = np.array([[0.4], [-2.1], [0.9], [-0.2]])
    card = whole_linked(link, held, weight, events, points, 0.0, float, 2)
    costs = []
    for whole in itertools.product(range(-2, 3), repeat=3):
        line = np.column_stack([held[:, :3] @ whole, np.ones(60)])
        costs.append(fit_linked(link, line, weight, events[:, None], np.zeros(2))[1])
    assert card.cost == pytest.approx(min(costs), rel=1e-4)


def test_rounding_is_no_worse_than_any_neighbour():
    rng = np.random.default_rng(0)
    held = np.column_stack([rng.random((40, 3)) < 0.5, np.ones(40)]).astype(float)
    weight = rng.integers(5, 30, 40).astype(float)
    likely = 1 / (1 + np.exp(-held @ [0.8, -1.3, 0.4, -0.2]))
    events = np.round(weight * likely)

    def nats(values):
        return float(weight @ np.logaddexp(0, values[:, 0]) - events @ values[:, 0])

    points = np.array([[0.8], [-1.3], [0.4], [-0.2]])
    unit = math.log(2) / 3
    card = whole_points(held, points, nats, 0.0, math.inf, lambda _: unit)
    for k in range(4):
        for step in (-1, 1):
            moved = card.points.copy()
            moved[k] += step
            assert nats(held @ moved * unit) >= card.cost - 1e-9
    assert card.cost == pytest.approx(nats(held @ card.points * unit))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"form": "list"}, "points='integer' needs form='points'"),
        ({"points": "whole"}, "points must be"),
        ({"max_points": 0}, "max_points must be"),
        ({"points": "exact", "max_points": 3}, "max_points needs points='integer'"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        fitted(**settings)


def test_a_table_says_what_totals_stand_for():
    model, X, y = fitted()
    rules = model.rules_
    lines = metrics.score_table(rules, X, y)
    totals, told = rules.totals(X)[:, 0], model.predict_proba(X)[:, 1]
    assert sum(line["n_rows"] for line in lines) == len(X)
    for line in lines:
        rows = (totals >= line["low"]) & (totals <= line["high"])
        assert line["n_rows"] == rows.sum()
        assert line["estimated"] == pytest.approx(told[rows].mean())
        assert line["observed"] == pytest.approx(np.mean(y[rows] == "yes"))
    possible = metrics.score_table(rules)
    assert {line["low"] for line in lines} <= {line["low"] for line in possible}
    assert [line["estimated"] for line in possible] == sorted(
        line["estimated"] for line in possible
    )


def test_totals_that_are_many_are_grouped():
    model, X, y = fitted(points="exact", brevity=0.0)
    lines = metrics.score_table(model.rules_, X, y)
    assert len(lines) <= 30
    assert sum(line["n_rows"] for line in lines) == len(X)
    highs = [line["high"] for line in lines]
    assert all(low["low"] > high for low, high in zip(lines[1:], highs, strict=False))


def test_lists_have_no_totals():
    rules = RuleList((), Rule((), 2.0), ("a",), "regression")
    with pytest.raises(ValueError, match="score_table needs a scorecard"):
        metrics.score_table(rules)
    for name in ("totals", "reasons", "scaled", "values_of", "unit", "origin"):
        assert not hasattr(rules, name)
    with pytest.raises(ValueError, match="This plot needs a scorecard"):
        plots.scorecard(rules)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_pictures_show_the_points_and_the_risk(n_classes):
    model, X, y = fitted(n_classes)
    ax = plots.scorecard(model.rules_)
    shown = [text.get_text() for text in ax.texts]
    n_columns = len(model.rules_.default.points)
    assert len(shown) == model.rules_.n_rules * n_columns
    first = model.rules_.rules[0].points[0]
    assert shown[0] == f"{first:+g}"
    assert ax.get_yticklabels()[-1].get_text().endswith("base")
    if n_classes < 3:
        ax = plots.score_risk(model.rules_, X, y)
        assert ax.get_xlabel() == "total points"
    mpl.pyplot.close("all")


def evaluate(document, row):
    """Score of a row by a PMML scorecard, as the standard says; None is missing."""
    names = {"p": "http://www.dmg.org/PMML-4_4"}
    model = ElementTree.fromstring(document).find("p:Scorecard", names)
    total = float(model.get("initialScore"))
    for one in model.find("p:Characteristics", names):
        for attribute in one:
            if holds(attribute[0], row) is True:
                total += float(attribute.get("partialScore"))
                break
        else:
            raise AssertionError("no attribute holds")
    return total


def holds(element, row):
    kind = element.tag.rpartition("}")[2]
    if kind in ("True", "False"):
        return kind == "True"
    if kind == "CompoundPredicate":
        parts = [holds(part, row) for part in element]
        is_and = element.get("booleanOperator") == "and"
        decisive = not is_and
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    value, operator = row[element.get("field")], element.get("operator")
    if operator in ("isMissing", "isNotMissing"):
        return (value is None) == (operator == "isMissing")
    if value is None:
        return None
    if kind == "SimpleSetPredicate":
        words = element[0].text or ""
        listed = [
            word.replace('\\"', '"').replace("\\\\", "\\")
            for word in words.strip().removeprefix('"').removesuffix('"').split('" "')
        ]
        inside = _pmml_label(value) in listed
        return inside == (element.get("booleanOperator") == "isIn")
    if operator in ("equal", "notEqual") and not isinstance(value, float):
        is_equal = _pmml_label(value) == element.get("value")
        return is_equal == (operator == "equal")
    compare = {
        "greaterThan": float.__gt__,
        "greaterOrEqual": float.__ge__,
        "lessThan": float.__lt__,
        "lessOrEqual": float.__le__,
        "equal": float.__eq__,
        "notEqual": float.__ne__,
    }
    return compare[operator](float(value), float(element.get("value")))


def _pmml_label(value):
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


@pytest.mark.parametrize("labels", [None, ("no", "yes")])
def test_pmml_adds_up_to_the_same_totals(labels):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, "points", labels)
    whole = [
        Rule(
            r.conditions, r.prediction, r.distribution, points=(round(9 * r.points[0]),)
        )
        for r in rules
    ]
    rules = Scorecard(
        tuple(whole[:-1]),
        whole[-1],
        rules.feature_names,
        rules.task,
        labels,
        rules.categories,
        unit=0.25,
        origin=2.0,
    )
    rows = cases.make_rows(rng)
    document = export(rules, "pmml")
    expected = rules.totals(cases.array(rows))[:, 0].tolist()
    dicts = [dict(zip(cases.NAMES, row, strict=True)) for row in rows]
    assert [evaluate(document, row) for row in dicts] == expected
    assert len(set(expected)) > 5
    names = ["prediction", *([f"probability {labels[1]}"] if labels else [])]
    for name in names:
        assert f'<OutputField name="{name}" feature="transformedValue"' in document


def test_pmml_needs_whole_points():
    base = Rule((), 2.5, points=(2.5,))
    rules = Scorecard((), base, ("a",), "regression")
    with pytest.raises(ValueError, match="a scorecard with whole points"):
        export(rules, "pmml")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": None}, "must have points"),
        ({"points": (1.0, 2.0)}, "must have points"),
        ({"points": (math.nan,)}, "must have points"),
    ],
)
def test_points_that_do_not_fit_are_refused(change, words):
    rule = Rule((Condition(0, lower=1.0),), 2.0, **change)
    base = Rule((), 2.5, points=(2.5,))
    with pytest.raises(ValueError, match=words):
        Scorecard((rule,), base, ("a",), "regression")


def test_standalone_default_has_no_weight():
    with pytest.raises(ValueError, match="weight must be 0"):
        RuleSet((), Rule((), 2.5), ("a",), "regression")


def test_a_frame_with_texts_gets_a_scorecard():
    X, y, _ = make_table()
    X = X.assign(job=pd.Categorical(X.job.map({0: "a", 1: "b", 2: "c", 3: "d"})))
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(X, y)
    card = DefragClassifier(model, form="points", points="integer", random_state=0)
    card.fit(X, y)
    X = X[::10]
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    document = export(card.rules_, "pmml")
    totals = card.rules_.totals(X)[:, 0].tolist()
    assert [evaluate(document, row) for row in rows] == totals


def test_points_are_put_on_the_scale_of_the_user():
    exact, X, _ = fitted(points="exact")
    rules = exact.rules_.scaled(20, points=600, odds=50)
    assert all(value.is_integer() for value in all_points(rules))
    told, before = rules.predict_proba(X)[:, 1], exact.predict_proba(X)[:, 1]
    log_odds = np.log(told / (1 - told))
    totals = rules.totals(X)[:, 0]
    assert log_odds == pytest.approx((totals - 600) * math.log(2) / 20 + math.log(50))
    # Half a point of each rule, and of the base, is what rounding may change.
    most = 0.5 * rules.n_rules * math.log(2) / 20
    assert np.abs(log_odds - np.log(before / (1 - before))).max() <= most


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ({"points_to_double": 0}, "points_to_double must be a number above 0; got 0"),
        ({"odds": -1}, "odds must be a number above 0; got -1"),
        ({"odds": "50"}, "odds must be a number above 0; got '50'"),
        ({"points": math.nan}, "points must be a number; got nan"),
        ({"of": "maybe"}, "of must be one of the classes"),
    ],
)
def test_a_scale_that_is_none_is_refused(scale, words):
    exact, *_ = fitted(points="exact")
    with pytest.raises(ValueError, match=words):
        exact.rules_.scaled(**scale)


def test_only_two_classes_are_scaled():
    numbers, *_ = fitted(0)
    with pytest.raises(ValueError, match="for two classes"):
        numbers.rules_.scaled()


def test_labels_are_shown_where_people_read():
    model, X, y = fitted(class_labels={"yes": "in trouble"})
    assert "total  P(in trouble)  95% interval  then" in str(model.rules_)
    ax = plots.score_risk(model.rules_, X, y)
    assert ax.get_ylabel() == "probability of in trouble"
    mpl.pyplot.close("all")


def contradicting(pos_label=None):
    """Rule 1 adds points of yes, although yes is rarer in its rows than in all."""
    evidence = {"n_rows": 100.0, "share": 0.2, "coverage": 0.2}
    old = Rule((Condition(0, lower=60.0),), "no", (0.9, 0.1), points=(2.0,),
               rates=(0.9, 0.1), **evidence)  # fmt: skip
    late = Rule((Condition(1, lower=0.0),), "yes", (0.4, 0.6), points=(3.0,),
                rates=(0.4, 0.6), **evidence)  # fmt: skip
    near = Rule((Condition(1, lower=5.0),), "no", (0.71, 0.29), points=(1.0,),
                rates=(0.71, 0.29), **evidence)  # fmt: skip
    base = Rule((), "no", (0.7, 0.3), points=(-4.0,), rates=(0.7, 0.3), n_rows=500.0)
    card = Scorecard((old, late, near), base, ("age", "late"), "classification",
                     ("no", "yes"))  # fmt: skip
    return card.relabel(pos_label=pos_label)


@pytest.mark.parametrize(
    ("pos_label", "text"),
    [
        (None, "Rule 1 adds points although yes is less frequent in its rows (10%) "
               "than in all (30%): points count given the other rules."),
        ("no", "Rule 1 subtracts points although no is more frequent in its rows (90%) "
               "than in all (70%): points count given the other rules."),
    ],
)  # fmt: skip
def test_points_that_contradict_the_rate_of_their_rows_are_explained(
    pos_label, text, tmp_path
):
    card = contradicting(pos_label)
    assert card._view.contradictions() == [text]
    assert text in " ".join(str(card).split())
    X, y = [[70.0, 1.0], [20.0, 6.0], [30.0, 0.0]], ["no", "yes", "no"]
    write_report(tmp_path / "card.html", card, X, y)
    page = (tmp_path / "card.html").read_text("utf-8")
    assert "points count given the other rules" in page


def test_of_a_rare_class_small_differences_contradict_too():
    low, rest = (0.984, 0.016), (0.97, 0.03)
    rule = Rule((Condition(0, lower=60.0),), "no", low, points=(2.0,), rates=low,
                n_rows=1000.0, share=0.2, coverage=0.2)  # fmt: skip
    base = Rule((), "no", rest, points=(-4.0,), rates=rest, n_rows=5000.0)
    card = Scorecard((rule,), base, ("age",), "classification", ("no", "yes"))
    [text] = card._view.contradictions()
    assert "in its rows (1.6%) than in all (3.0%)" in text
    scaled = card.scaled(20, points=600, odds=50, of="no")
    [text] = scaled._view.contradictions()
    assert text.startswith("Rule 1 subtracts points although yes is less frequent")


@pytest.mark.parametrize("n_classes", [0, 2])
def test_points_may_be_made_to_follow_the_rates(n_classes):
    rng = np.random.default_rng(4)
    # Old people pay more often, but only as they have more income.
    age = rng.uniform(20, 80, 4000)
    income = age + rng.normal(0, 6, 4000)
    X = pd.DataFrame({"age": age, "income": income})
    score = 0.3 * (income - 50) - 0.2 * (age - 50)
    y = np.where(rng.random(4000) < 1 / (1 + np.exp(-score)), "pays", "owes")
    kind = RandomForestClassifier
    if not n_classes:
        y, kind = score + rng.normal(0, 1, 4000), RandomForestRegressor
    forest = kind(30, min_samples_leaf=20, random_state=0).fit(X, y)
    method = DefragClassifier if n_classes else DefragRegressor
    settings = {"form": "points", "max_rules": 8, "max_conditions": 1}
    settings |= {"random_state": 0}
    free = method(forest, **settings).fit(X, y).rules_
    held = method(forest, monotone="auto", **settings).fit(X, y).rules_
    number = np.where(y == "pays", 1.0, 0.0) if n_classes else y

    def contradict(rules):
        means = [number[rule.covers(rules._encode(X))].mean() for rule in rules.rules]
        apart = np.array(means) - number.mean()
        return apart * [rule.points[0] for rule in rules.rules] < 0

    assert contradict(free).any()
    assert not contradict(held).any()
    assert all(any(rule.points) for rule in held.rules)
    assert held._view.contradictions() == []


def test_only_one_total_of_a_card_follows_trends():
    with pytest.raises(ValueError, match="monotone needs regression or two"):
        fitted(3, monotone="auto")
    with pytest.raises(ValueError, match="monotone='auto' needs form='points'"):
        fitted(form="list", points="exact", monotone="auto")


@pytest.mark.parametrize("points", ["exact", "integer"])
def test_points_count_for_the_positive_class(points):
    second, X, y = fitted(points=points)
    first, *_ = fitted(points=points, pos_label="no")
    turned = second.rules_.relabel(pos_label="no")
    assert turned == first.rules_
    assert (
        turned.relabel(pos_label="yes").to_dict()["rules"]
        == (second.rules_.to_dict()["rules"])
    )
    assert (first.rules_.scored_class, second.rules_.scored_class) == ("no", "yes")
    assert first.predict_proba(X) == pytest.approx(second.predict_proba(X))
    assert first.predict(X).tolist() == second.predict(X).tolist()
    totals = [model.rules_.totals(X)[:, 0].round(9) for model in (first, second)]
    assert totals[0] == pytest.approx(-totals[1])
    lines = metrics.score_table(first.rules_, X, y)
    for line in lines:
        rows = (totals[0] >= line["low"]) & (totals[0] <= line["high"])
        assert line["observed"] == pytest.approx(np.mean(y[rows] == "no"))
        assert line["estimated"] == pytest.approx(
            first.predict_proba(X)[rows, 0].mean()
        )
    assert [line["estimated"] for line in metrics.score_table(first.rules_)] == sorted(
        line["estimated"] for line in metrics.score_table(first.rules_)
    )
    assert "of no" in plots.score_risk(first.rules_, X, y).get_ylabel()
    mpl.pyplot.close("all")
    again = first.rules_.refit(X, y)
    assert again.scored_class == "no"
    assert again.totals(X) == pytest.approx(first.rules_.totals(X), abs=1.5)
    loaded = type(again).from_dict(again.to_dict())
    assert loaded == again


def test_a_scale_that_somebody_chose_is_not_turned():
    exact, X, _ = fitted(points="exact")
    bank = exact.rules_.scaled(20, points=600, odds=50, of="no")
    assert bank.scored_class == "no"
    odds = bank.predict_proba(X)[:, 0] / bank.predict_proba(X)[:, 1]
    totals = bank.totals(X)[:, 0]
    assert np.log2(odds) == pytest.approx((totals - 600) / 20 + np.log2(50))
    for label in ("no", "yes"):
        again = bank.relabel(pos_label=label)
        assert np.array_equal(again.totals(X), bank.totals(X))
        assert again.predict(X).tolist() == bank.predict(X).tolist()
    with pytest.raises(ValueError, match="of must be one of the classes"):
        exact.rules_.scaled(of="maybe")


def counted_card(log_odds, n_rows, points=(1.0, 2.0, 4.0, 0.0)):
    """A card of three rules, calibrated on as many rows of each pattern.

    `log_odds` is a function from a total to the log-odds of the second class.
    """
    matches = np.array([[*p, 1.0] for p in itertools.product([0.0, 1.0], repeat=3)])
    totals = matches @ np.array(points)
    weight = np.full(len(matches), n_rows / len(matches))
    card = FittedPoints(np.array(points)[:, None], origin=3.5)
    made = calibrated(
        card, matches, weight, weight * expit(log_odds(totals)), LINKS["logit"]
    )
    return made, totals


def test_points_shrink_by_what_fitting_gains_by_chance():
    shares = []
    for n_rows in (50, 500, 50_000):
        made, _ = counted_card(lambda total: 0.9 * (total - 3.5), n_rows)
        assert not made.tails
        shares.append(made.unit)
        assert made.origin == pytest.approx(3.5, abs=0.1)
    assert shares == sorted(shares)
    assert shares[0] < 0.8
    made, _ = counted_card(lambda total: total - 3.5, 50_000)
    assert made.unit == pytest.approx(1.0, abs=1e-3)
    # Of points that say nothing little is left.
    made, _ = counted_card(lambda total: 0.0 * total, 50_000)
    assert made.unit <= 0.1


def test_log_odds_bend_where_rows_show_it():
    true = ((-1.0, 0.2), (2.0, 1.5))
    made, totals = counted_card(lambda total: bent(total - 3.5, true), 200_000)
    (low, low_slope), (high, high_slope) = made.tails
    assert low < high
    assert low_slope < 0.5
    assert high_slope > 1.1
    values = bent((totals - made.origin) * made.unit, made.tails)
    apart = expit(values) - expit(bent(totals - 3.5, true))
    assert np.abs(apart).max() < 0.08
    assert (np.diff(values[np.argsort(totals)]) > 0).all()
    # Few rows do not show it.
    assert not counted_card(lambda total: bent(total - 3.5, true), 60)[0].tails


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_card_of_one_class_stays(rate):
    made, _ = counted_card(lambda total: np.where(rate, 99.0, -99.0) + total, 100)
    assert np.isfinite([made.unit, made.origin]).all()


def test_a_card_with_tails_says_where_and_predicts_so(tmp_path):
    simple, X, _ = fitted()
    straight = simple.rules_
    card = dataclasses.replace(straight, tails=((-1.0, 0.5), (1.5, 2.0)))
    before, after = (
        rules.values_of(rules.totals(X))[:, 0] for rules in (straight, card)
    )
    np.testing.assert_array_equal(after < -1, before < -1)
    inside = (before >= -1) & (before <= 1.5)
    assert (after[inside] == before[inside]).all()
    assert np.allclose(after[before > 1.5], 1.5 + 2 * (before[before > 1.5] - 1.5))
    np.testing.assert_allclose(card.predict_proba(X)[:, 1], expit(after))
    assert "a point counts 0.5, above" in str(card)
    assert "a point counts" not in str(straight)
    card.save(tmp_path / "card.json")
    assert load(tmp_path / "card.json") == card
    assert "tails" not in straight.to_dict()
    # A scale changes points, and no probability but by rounding.
    scaled = dataclasses.replace(card, unit=1.0, origin=0.0).scaled(1000, points=5)
    assert scaled.tails == card.tails


@pytest.mark.parametrize(
    "tails", [((1.0, 1.0), (0.0, 1.0)), ((0.0, -1.0), (1.0, 1.0)), ((0.0, 1.0),) * 3]
)
def test_tails_that_do_not_rise_are_refused(tails):
    with pytest.raises(ValueError, match="tails"):
        dataclasses.replace(fitted()[0].rules_, tails=tails)
