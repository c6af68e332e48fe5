"""Drift checks: few false alarms, and no drift missed."""

import dataclasses
import functools
import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

import defragtrees
from defragtrees import Condition, Rule, RuleList, RuleModel, simplify
from defragtrees.monitoring.check import Check, check
from defragtrees.outcomes.tests import (
    holm,
    larger_mean_p,
    larger_share_p,
    same_shares_p,
)
from defragtrees.report.page import read_template

CITIES = ["Bonn", "Lima", "Oslo", "Rome"]


def rows(n, rng, task="classes"):
    age = rng.integers(18, 80, n).astype(float)
    income = rng.lognormal(10, 0.6, n).round()
    city = rng.choice(CITIES, n, p=[0.1, 0.2, 0.4, 0.3])
    debt = rng.exponential(1000, n).round()
    debt[rng.random(n) < 0.05] = np.nan
    odds = -1.0 + 2.2 * (income > 25000) + 1.5 * (age > 40) - 2.0 * (city == "Rome")
    X = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "city": pd.Categorical(city, categories=CITIES),
            "debt": debt,
        }
    )
    if task == "numbers":
        return X, odds * 3 + rng.normal(size=n)
    likely = 1 / (1 + np.exp(-2 * odds))
    return X, np.where(rng.random(n) < likely, "good", "bad")


@functools.cache
def fitted(form="list", task="classes"):
    X, y = rows(1500, np.random.default_rng(1), task)
    numbers, classes = HistGradientBoostingRegressor, HistGradientBoostingClassifier
    make = numbers if task == "numbers" else classes
    model = make(max_iter=20, categorical_features="from_dtype", random_state=0)
    estimator = simplify(model.fit(X, y), X, y, form=form, max_rules=6, random_state=0)
    return estimator.rules_, model


CASES = [
    ("list", "classes"),
    ("standalone", "classes"),
    ("points", "classes"),
    ("list", "numbers"),
]


@pytest.mark.parametrize(("form", "task"), CASES)
def test_without_drift_alarms_are_rare(form, task):
    rules, _ = fitted(form, task)
    rng = np.random.default_rng(7)
    n_alarms = sum(rules.check(*rows(1000, rng, task)).has_moved for _ in range(40))
    # With 5% of false alarms more than 6 of 40 come in one of 150 such tests.
    assert n_alarms <= 6


@pytest.mark.parametrize(("form", "task"), [*CASES, ("points", "numbers")])
@pytest.mark.parametrize("n_rows", [1, 30])
def test_small_batches_raise_no_more_alarms(form, task, n_rows):
    rules, model = fitted(form, task)
    rng = np.random.default_rng(9)
    checks = [rows(n_rows, rng, task) for _ in range(60)]
    found = [rules.check(X, y, model=model).has_moved for X, y in checks]
    # With 5% of false alarms more than 8 of 60 come in one of 150 such tests.
    assert sum(found) <= 8


def shifted(X, y, rng):
    return X.assign(income=X.income * 1.3), y


def swapped(X, y, rng):
    names = {"Oslo": "Rome", "Rome": "Oslo"}
    return X.assign(city=X.city.cat.rename_categories(names)), y


def drifted(X, y, rng):
    if y.dtype.kind == "f":
        return X, y + 1.0
    flipped = np.where(y == "good", "bad", "good")
    return X, np.where(rng.random(len(y)) < 0.3, flipped, y)


@pytest.mark.parametrize(("form", "task"), CASES)
@pytest.mark.parametrize("change", [shifted, swapped, drifted])
def test_drift_raises_an_alarm(form, task, change):
    rules, _ = fitted(form, task)
    rng = np.random.default_rng(8)
    for _ in range(5):
        found = rules.check(*change(*rows(1000, rng, task), rng))
        assert found.has_moved
        kinds = {finding.kind for finding in found.moved}
        kind = {shifted: "column", swapped: "column"}.get(change, "error")
        assert kind in kinds or (kind == "error" and kinds & {"rate", "mean", "target"})


def by_kind(found, kind):
    return {
        finding.about: finding for finding in found.findings if finding.kind == kind
    }


def test_each_rule_is_compared_with_training():
    rules, _ = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    found = rules.check(X, y)
    members = rules._form.members(rules.covers(X))
    for k, rule in enumerate(rules):
        cover = by_kind(found, "coverage")[f"rule {k + 1}"]
        assert cover.then == pytest.approx(rule.n_rows / 1500)
        assert cover.then_text == f"{100 * rule.n_rows / 1500:.1f}%"
        assert cover.now_text == f"{100 * members[:, k].mean():.1f}%"
        rate = by_kind(found, "rate")[f"rule {k + 1}"]
        good = (y[members[:, k]] == "good").mean()
        assert rate.now == pytest.approx(good)
        assert rate.now_text == f"{100 * good:.1f}% good"
        assert rate.then_text == f"{100 * rule.rates[1]:.1f}% good"
    wrong = (rules.predict(X) != y).mean()
    assert by_kind(found, "error")["all rules"].now_text == f"{100 * wrong:.1f}%"
    shares = {name: now for name, _, now in found.predictions}
    assert shares["good"] == pytest.approx((rules.predict(X) == "good").mean())
    assert sum(then for _, then, _ in found.predictions) == pytest.approx(1)


def test_without_y_only_rows_are_tested():
    rules, _ = fitted()
    X, _ = rows(1000, np.random.default_rng(3))
    kinds = {finding.kind for finding in rules.check(X).findings}
    assert kinds & {"rate", "error", "target"} == set()
    assert {"coverage", "column", "range"} <= kinds


def test_new_categories_and_missing_values_are_found():
    rules, _ = fitted()
    X, _ = rows(1000, np.random.default_rng(3))
    city = X.city.astype(object)
    city[:100] = "Kiel"
    found = rules.check(X.assign(city=city))
    new = by_kind(found, "category")["city"]
    assert (new.then_text, new.now_text) == ("0 rows", "100 rows")
    assert (new.then, new.now, new.is_moved) == (0.0, 0.1, True)
    city[:300] = None
    assert by_kind(rules.check(X.assign(city=city)), "missing")["city"].is_moved


def test_values_outside_the_range_are_found():
    rules, _ = fitted()
    X, _ = rows(1000, np.random.default_rng(3))
    age = X.age.copy()
    age[:30] = 130.0
    found = by_kind(rules.check(X.assign(age=age)), "range")["age"]
    assert (found.then_text, found.is_moved) == ("18 to 79", True)
    assert found.now_text == "18 to 130, 30 rows outside"
    assert (found.then, found.now) == (0.0, 0.03)


def test_a_model_that_no_longer_agrees_is_found():
    rules, model = fitted()
    X, _ = rows(1000, np.random.default_rng(3))
    found = by_kind(rules.check(X, model=model), "agreement")["all rules"]
    assert not found.is_moved

    class Other:
        def predict(self, X):
            return np.where(X.age > 50, "good", "bad")

    found = by_kind(rules.check(X, model=Other()), "agreement")["all rules"]
    assert found.is_moved


def test_only_columns_that_rules_use_are_required():
    rules, _ = fitted()
    X, y = rows(100, np.random.default_rng(3))
    unused = [name for name in rules.feature_names if name not in rules.features]
    with pytest.raises(ValueError, match="income"):
        rules.check(X.drop(columns=["income"]), y)
    for name in unused:
        notes = rules.check(X.drop(columns=[name]), y).notes
        assert notes == (f"columns that no rule uses are missing: '{name}'",)


def test_bad_input_is_rejected():
    rules, _ = fitted()
    X, y = rows(100, np.random.default_rng(3))
    with pytest.raises(ValueError, match="got 100 and 3"):
        rules.check(X, y[:3])
    for level in (1.5, math.nan, "low"):
        with pytest.raises(ValueError, match="level must be above 0"):
            rules.check(X, y, level=level)
    with pytest.raises(ValueError, match="Are they of another type"):
        rules.check(X, np.ones(100, dtype=int))
    bare = RuleList((Rule((Condition(0, lower=1.0),), 1.0),), Rule((), 2.0), ("a",),
                   "regression")  # fmt: skip
    with pytest.raises(ValueError, match="There is nothing to test"):
        bare.check([[1.0]])
    # Counts without a share are of an unknown number of rows.
    known = {"n_rows": 10.0, "error": 0.1}
    bare = RuleList((Rule((Condition(0, lower=1.0),), "a", **known),),
                    Rule((), "b", **known), ("x",), "classification",
                    classes=("a", "b"))  # fmt: skip
    with pytest.raises(ValueError, match="There is nothing to test"):
        bare.check([[1.0]], model=lambda X: np.full(len(X), "a"))


def test_edited_rules_without_counts_are_not_tested():
    rules, _ = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    edited = rules.drop(1)
    found = edited.check(X, y)
    assert found.notes == (
        "shares and rates of rules 1, 2, 3, 4, 5 are not tested, as they were edited "
        "and not counted again; refit to test them",
        "the error is not tested, as the rules were edited; refit to test it",
    )
    assert by_kind(found, "coverage") == by_kind(found, "error") == {}
    assert by_kind(found, "target")
    last = rules.replace(len(rules.rules), "age <= 30")
    assert "shares and rates of rules 5, 6 are" in last.check(X, y).notes[0]
    assert by_kind(last.check(X, y), "rate").keys() == {f"rule {k}" for k in "1234"}
    again = edited.refit(*rows(1500, np.random.default_rng(4)))
    assert again.check(X, y).notes == ()
    assert again.training.n_rows == 1500
    assert not again.check(X, y).has_moved


def test_a_check_shows_and_escapes():
    rules, _ = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    renamed = rules.relabel({"age": "<script>alert(1)</script>"})
    found = renamed.check(shifted(X, y, None)[0], y)
    page = found.to_html("<b>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in found._repr_html_()
    assert str(found).startswith(f"Drift in {len(found.moved)} of ")
    assert found.to_dict()["moved"] is True
    assert f"{len(found.moved)} of {len(found.findings)}" in repr(found)
    assert "http" not in page


def test_a_page_draws_columns_that_moved_and_folds_quiet_tests():
    rules, _ = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    assert "<h3>" not in rules.check(X, y).to_html()
    found = rules.check(shifted(X, y, None)[0], y)
    page = found.to_html()
    shown, folded = page.split("<details>")
    for finding in found.findings:
        part = shown if finding.is_moved else folded
        assert f"<td>{finding.about}</td>" in part
    # Signs and colours are those of reports.
    assert " <= " not in page
    assert " ≤ " in page
    assert read_template("report.css") in page
    names = {one.column for one in found.moved if one.kind == "column"}
    assert names
    for name in names:
        assert f"<h3>{name}</h3>" in shown
        _, then, now = np.array(found.bins[name], dtype=object).T
        assert then.sum() == pytest.approx(1)
        assert now.sum() == pytest.approx(1)


def test_predictions_are_shares_whatever_a_class_is_called():
    shares = (("mean", 0.4, 0.5), ("nice", 0.6, 0.5))
    page = Check((), 1000, 200, predictions=shares).to_html()
    assert "40.0%" in page
    assert "60.0%" in page
    page = Check((), 1000, 200, predictions=(("mean", None, 0.5),)).to_html()
    assert "50.0%" not in page
    assert "0.5" in page


def test_the_text_has_the_verdict_first_then_what_moved():
    rules, _ = fitted()
    X, y = rows(1000, np.random.default_rng(3))
    same = rules.check(X, y)
    rows_text = "1,000 new rows against 1,500 training rows"
    verdict = f"No drift in {len(same.findings)} tests ({rows_text}; false"
    assert str(same).startswith(verdict)
    assert "measure" not in str(same)
    assert str(same).endswith("large from 0.25): 4 columns below 0.1")
    renamed = rules.relabel({"income": "income after taxes and all other deductions"})
    found = renamed.check(shifted(X, y, None)[0], y)
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Drift in {len(found.moved)} of {len(found.findings)}")
    assert lines[3].split() == "tested measure training new rows p".split()
    end = lines.index("", 4)
    assert lines[end + 1].startswith("PSI (some change from 0.1, large from 0.25): ")
    first = [line.split("  ")[0] for line in lines[4:end]]
    assert [name for name in first if name.startswith("rule")] == [
        one.about for one in found.moved if one.rule
    ]
    assert any(name.startswith("income after taxes") for name in first)
    assert "age" not in first


def test_the_training_record_is_small_and_kept(tmp_path):
    rules, _ = fitted()
    record = rules.training
    assert record.n_rows == 1500
    assert [rules.feature_names[c.feature] for c in record.columns] == [*rules.features]
    assert all(sum(c.counts) + c.missing == 1500 for c in record.columns)
    assert all(len(c.counts) <= 11 for c in record.columns)
    age = record.column(0)
    assert (age.low, age.high, age.is_integer) == (18.0, 79.0, True)
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules
    data = rules.to_dict()
    data["training"]["columns"][0]["counts"].append(3)
    with pytest.raises(ValueError, match="one less than its counts"):
        RuleModel.from_dict(data)


def test_the_record_counts_the_rows():
    rules, _ = fitted()
    X, y = rows(1500, np.random.default_rng(1))
    for column in rules.training.columns:
        values = rules._encode(X)[:, column.feature]
        assert column.count(values).tolist() == [int(n) for n in column.counts]
    assert rules.training.target == ((y == "bad").sum(), (y == "good").sum())
    error = (rules.predict(X) != y).mean()
    assert rules.training.error == pytest.approx(error)


def test_tests_of_counts():
    # Fisher's tea: 3 and 1 against 1 and 3.
    assert same_shares_p([3, 1], [1, 3]) == pytest.approx(34 / 70)
    assert holm([0.04, 0.01]) == [0.04, 0.02]
    rng = np.random.default_rng(0)
    shares = [0.3, 0.3, 0.2, 0.1, 0.1]
    p = [
        same_shares_p(rng.multinomial(500, shares), rng.multinomial(300, shares))
        for _ in range(1000)
    ]
    assert 0.03 < np.mean(np.array(p) < 0.05) < 0.07


def test_tests_of_one_side():
    # 3 of 4 where 1 of 4 was expected: (16 + 1) / 70 of all ways to draw 4 of 8.
    assert larger_share_p(0.25, 4, 3, 4) == pytest.approx(17 / 70)
    assert larger_share_p(0.3, 100, 30, 100) == larger_share_p(0.3, 0, 9, 9) == 1.0
    # Of many rows, normal: 5% of 10,000 against 4% of 10,000.
    error = np.sqrt(0.045 * 0.955 * 2 / 10_000)
    expected = scipy.stats.norm.sf(0.01 / error)
    assert larger_share_p(0.04, 10_000, 500, 10_000) == pytest.approx(expected)
    rng = np.random.default_rng(0)
    for n_now in (2, 20, 2000):
        pairs = rng.binomial(500, 0.1, 2000) / 500, rng.binomial(n_now, 0.1, 2000)
        p = [larger_share_p(a, 500, int(b), n_now) for a, b in zip(*pairs, strict=True)]
        assert np.mean(np.array(p) < 0.05) < 0.06
    values = rng.normal(size=(2000, 5)) ** 2
    p = [larger_mean_p(1.0, 1e9, own) for own in values]
    assert np.mean(np.array(p) < 0.05) < 0.06


def test_rules_without_a_profile_are_checked_by_their_counts():
    rules = dataclasses.replace(fitted()[0], training=None)
    X, y = rows(1000, np.random.default_rng(3))
    found = rules.check(X, y)
    assert {finding.kind for finding in found.findings} == {"coverage", "rate"}
    assert found.n_then == pytest.approx(1500)
    assert "columns are not tested, as the rules have no profile" in found.notes[0]
    assert not math.isnan(found.n_then)
    assert check(rules, X, y).verdict == found.verdict
