"""Lists: limits are kept, and the printed text is the model."""

import operator
import re

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from defragtrees import DefragClassifier, DefragRegressor, simplify
from defragtrees.datasets import load_sample
from tests.fits import fit_rules


@pytest.fixture(scope="module")
def spam():
    data = load_sample("spambase")
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    return forest.fit(data.X[:800], data.y[:800]), data


@pytest.fixture(scope="module")
def mixed():
    """A frame with numbers, categories and missing values, and two targets."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n_rows = 500
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n_rows).round(1),
            "home town": pd.Categorical(rng.choice(["Bonn", "Oslo", "Rome"], n_rows)),
            "score": rng.integers(0, 9, n_rows).astype(float),
        }
    )
    signal = (frame["age"] > 45) + 1.0 * (frame["home town"] == "Oslo")
    signal = signal + 0.3 * frame["score"].fillna(4)
    frame.loc[::6, "age"] = np.nan
    frame.loc[::9, "home town"] = None
    return frame, signal.to_numpy()


@pytest.mark.parametrize("max_rules", [1, 2, 4])
def test_max_rules_counts_the_otherwise(spam, max_rules):
    forest, data = spam
    simple = simplify(forest, data.X[:400], max_rules=max_rules, random_state=0)
    assert simple.rules_.n_rules <= max_rules
    assert set(simple.path_) <= set(range(1, max_rules + 1))


def test_max_conditions_holds_for_every_rule(spam):
    forest, data = spam
    simple = simplify(forest, data.X[:400], max_conditions=2, random_state=0)
    assert max(rule.n_conditions for rule in simple.rules_) <= 2


def test_rules_use_allowed_features_only(mixed):
    frame, signal = mixed
    model = HistGradientBoostingRegressor(max_iter=30, random_state=0)
    model.fit(frame, signal)
    free = simplify(model, frame, random_state=0)
    bound = simplify(model, frame, features=["age", "score"], random_state=0)
    by_number = simplify(model, frame, features=[0, 2], random_state=0)
    assert "home town" in free.rules_.features
    assert "home town" not in bound.rules_.features
    assert by_number.rules_ == bound.rules_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_rules": 0}, "max_rules must be 'auto' or a whole number from 1; got 0"),
        (
            {"max_rules": -3},
            "max_rules must be 'auto' or a whole number from 1; got -3",
        ),
        ({"max_conditions": 0}, "max_conditions must be None or a whole number"),
        ({"features": ["speed"]}, "features has 'speed', which is not a feature of X"),
        ({"features": []}, "features must name at least one feature"),
        ({"augment": -1}, "augment must be 'auto' or a whole number from 0"),
    ],
)
def test_budget_that_cannot_be_met_is_refused(spam, settings, message):
    forest, data = spam
    with pytest.raises(ValueError, match=message):
        fit_rules(forest, data.X[:100], data.y[:100], **settings)


def test_new_rows_have_no_label(spam):
    forest, data = spam
    with pytest.raises(ValueError, match="y is unknown for synthetic rows"):
        fit_rules(forest, data.X[:100], data.y[:100], target="labels", augment=10)


SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def holds(text, row):
    """Whether one printed condition holds in a row, in plain Python."""
    text = text.removeprefix("(").removesuffix(")")
    takes_missing = text.endswith((" or missing", ", or is missing"))
    text = text.removesuffix(" or missing").removesuffix(", or is missing")
    for name, value in row.items():
        if f"{name} " not in text:
            continue
        missing = value is None or value != value
        if text == f"{name} is missing":
            return missing
        if text == f"{name} is not missing":
            return not missing
        if missing:
            return takes_missing
        if found := re.fullmatch(rf"{name} in {{(.*)}}", text):
            return value in found[1].split(", ")
        if found := re.fullmatch(rf"{name} not in {{(.*)}}", text):
            return value not in found[1].split(", ")
        if found := re.fullmatch(rf"{name} is not (.*)", text):
            return value != found[1]
        if found := re.fullmatch(rf"{name} is (.*)", text):
            if isinstance(value, str):
                return value in re.split(", | or ", found[1])
            return value == float(found[1])
        if found := re.fullmatch(rf"(\S+) (<=?) {name} (<=?) (\S+)", text):
            low, low_sign, sign, high = found.groups()
            return SIGNS[low_sign](float(low), value) and SIGNS[sign](
                value, float(high)
            )
        sign, bound = re.fullmatch(rf"{name} ([<>]=?) (\S+)", text).groups()
        return SIGNS[sign](value, float(bound))
    raise AssertionError(text)


def answering_by_hand(text, row):
    """Number of the rule that answers a row, from the printed text alone."""
    for line in text.splitlines():
        number, body = re.sub(r"  \[.*\]$", "", line).split(". ", 1)
        if body.startswith("otherwise"):
            return int(number)
        conditions = body.removeprefix("if ").rsplit(" then ", 1)[0]
        if all(holds(part, row) for part in conditions.split(" and ")):
            return int(number)
    raise AssertionError("no rule answered")


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_printed_text_applied_by_hand_is_the_model(mixed, task):
    pd = pytest.importorskip("pandas")
    frame, signal = mixed
    if task == "classification":
        y = np.where(signal > np.median(signal), "high", "low")
        model = HistGradientBoostingClassifier(max_iter=30, random_state=0)
    else:
        y, model = signal, HistGradientBoostingRegressor(random_state=0)
    simple = simplify(model.fit(frame, y), frame, y, random_state=0)
    unseen = frame.head(60).astype({"home town": object})
    unseen["home town"] = "Lima"
    frame = pd.concat([frame.astype({"home town": object}), unseen])
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    by_hand = [answering_by_hand(simple.rules_.export("text"), row) - 1 for row in rows]
    assert by_hand == simple.apply(frame).tolist()
    assert {"age", "home town"} <= set(simple.rules_.features)
    answers = [rule.prediction for rule in simple.rules_]
    assert [answers[k] for k in by_hand] == simple.predict(frame).tolist()


def test_every_row_is_answered(spam):
    forest, data = spam
    simple = simplify(forest, data.X[:400], random_state=0)
    assert simple.rules_.covers(data.X)[:, -1].all()
    shares = sum(rule.share for rule in simple.rules_)
    assert shares == pytest.approx(1)


def test_no_rule_rests_on_drawn_rows_alone():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 5))
    forest = RandomForestRegressor(20, random_state=9).fit(X, X[:, 0] * X[:, 1])
    simple = fit_rules(forest, X, random_state=0, augment=2000)
    assert simple.rules_.n_rules > 2
    for rules in simple.path_.values():
        assert all(rule.n_rows > 0 for rule in rules.rules)


def test_a_default_list_has_the_conditions_that_are_needed():
    # A chessboard of four fields; a tenth of the labels is flipped.
    rng = np.random.default_rng(4)
    X = rng.random((2000, 2))
    is_one = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    y = (is_one ^ (rng.random(2000) < 0.1)).astype(int)
    forest = RandomForestClassifier(100, max_leaf_nodes=16, random_state=4)
    forest.fit(X[:1000], y[:1000])
    simple = DefragClassifier(forest, random_state=4).fit(X[:1000], y[:1000])
    assert np.mean(simple.predict(X[1000:]) != y[1000:]) < 0.15


def test_conditions_name_the_values_that_rows_have():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    names = ["Month-to-month", "One year", "Two year"]
    X = pd.DataFrame(
        {
            "contract": pd.Categorical(rng.choice(names, 1000)),
            "term": rng.choice([36, 60], 1000),
            "check": pd.Categorical(rng.choice(["Not sent", "Sent", "Valid"], 1000)),
            "rate": rng.normal(8, 2, 1000),
        }
    )
    X.loc[(X.contract == "Two year") & (X.index % 5 == 0), "rate"] = np.nan
    short, valid = X.contract == "Month-to-month", X.check != "Not sent"
    y = short * 0.5 + (X.contract == "One year") * (X.term == 60) * 0.3 + valid * 0.1
    y += (X.rate > 8) * 0.05
    rules = DefragRegressor(max_rules=8, random_state=0).fit(X, y).rules_
    texts = [rules._view.condition_text(c) for r in rules.rules for c in r.shown]
    assert {"contract is One year", "term is 60"} <= {*texts}
    assert not any("neither" in text or "is not Not" in text for text in texts)
    assert not any(text.startswith("term") and "is" not in text for text in texts)
    # "or missing" stands where a row of the rule is missing, here only "Two year".
    place = rules.apply(X)
    for k, rule in enumerate(rules.rules):
        for c in rule.conditions:
            assert not c.missing or X.iloc[:, c.feature][place == k].isna().any()
