"""Limits that a user asks for: no list breaks one, and idle ones are refused."""

import functools
import itertools
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import DefragClassifier, DefragRegressor, RuleModel, simplify
from defragtrees.rules import Condition, Rule, RuleList
from defragtrees.search.limits import MonotoneAnswers, rule_pairs
from tests.fits import fit_rules

N_FEATURES = 4


@functools.cache
def made(task, seed=0, n_rows=240):
    """Rows with whole and other numbers, and a forest; answers go up and down."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, N_FEATURES))
    X[:, 1] = rng.integers(0, 6, n_rows)
    X[:, 2] = rng.integers(0, 2, n_rows)
    signal = np.sin(2 * X[:, 0]) + 0.4 * X[:, 1] * (X[:, 3] > 0) - X[:, 2]
    signal += 0.5 * rng.normal(size=n_rows)
    if task == "regression":
        forest = RandomForestRegressor(12, min_samples_leaf=4, random_state=seed)
        return forest.fit(X, signal), X, signal
    y = (signal > np.median(signal)).astype(int)
    forest = RandomForestClassifier(12, min_samples_leaf=4, random_state=seed)
    return forest.fit(X, y), X, y


def numbers_told(rules, X):
    """What is told of each row as a number."""
    return rules.predict_proba(X)[:, 1] if rules.classes else rules.predict(X)


def is_monotone(rules, X, feature, sign):
    """By brute force: every row, with the feature at every value that matters."""
    ends = [
        end
        for rule in rules.rules
        for c in rule.conditions
        if c.feature == feature
        for end in (c.lower, c.upper)
        if np.isfinite(end)
    ]
    ends = np.array([*ends, *X[:, feature]])
    values = np.unique([ends, np.nextafter(ends, np.inf), ends - 0.5, ends + 0.5])
    values = values[:: max(1, len(values) // 60)]
    values = np.unique([*values, *ends[: len(ends) - len(X)]])
    rows = np.repeat(X[:60], len(values), axis=0)
    rows[:, feature] = np.tile(values, len(X[:60]))
    told = numbers_told(rules, rows).reshape(len(X[:60]), len(values))
    return bool((sign * np.diff(told, axis=1) >= -1e-12).all())


LIMITS = st.fixed_dictionaries(
    {"max_rules": st.integers(2, 7)},
    optional={
        "max_conditions": st.integers(1, 3),
        "max_total_conditions": st.integers(1, 8),
        "min_rows": st.integers(1, 60),
        "monotone": st.dictionaries(
            st.sampled_from([0, 1, 3]), st.sampled_from([-1, 1]), min_size=1, max_size=2
        ),
        "must_use": st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True),
        "exclude": st.lists(st.integers(0, 3), min_size=1, max_size=1),
        "groups": st.just([[0, 1], [2, 3]]),
        "prefer": st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
    },
)


@pytest.mark.parametrize("task", ["classification", "regression"])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(limits=LIMITS, seed=st.integers(0, 2), use_labels=st.booleans())
def test_no_list_breaks_a_limit(task, limits, seed, use_labels):
    forest, X, y = made(task, seed)
    target = "labels" if use_labels else "model"
    try:
        model = fit_rules(forest, X, y, random_state=0, target=target, **limits)
    except ValueError as error:
        refusal = str(error)
    else:
        refusal = None
    if refusal is not None:
        assert refusal.endswith(".")
        assert any(name in refusal for name in limits) or "No list" in refusal
        return
    for n, rules in model.path_.items():
        assert n == rules.n_rules
        check_limits(rules, limits, X)
    assert model.rules_ in model.path_.values()


def check_limits(rules, limits, X):
    assert rules.n_rules <= limits["max_rules"]
    counts = [rule.n_conditions for rule in rules.rules]
    assert max(counts, default=0) <= limits.get("max_conditions", 99)
    assert sum(counts) <= limits.get("max_total_conditions", 99)
    used = [{c.feature for c in rule.conditions} for rule in rules.rules]
    every = set().union(*used)
    assert set(limits.get("must_use", ())) <= every
    assert not set(limits.get("exclude", ())) & every
    for asked in used if "groups" in limits else ():
        assert asked <= {0, 1} or asked <= {2, 3}
    answering = np.bincount(rules.apply(X), minlength=rules.n_rules)
    if rules.n_rules > 1:
        assert answering.min() >= limits.get("min_rows", 0)
        if rules.evidence.source == "training":
            assert [rule.n_rows for rule in rules] == answering.tolist()
        assert min(rule.n_rows for rule in rules) >= limits.get("min_rows", 0)
    for feature, sign in limits.get("monotone", {}).items():
        assert is_monotone(rules, X, feature, sign)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_limit_is_what_makes_it_monotone(task):
    """Without the limit the same list goes up and down, so the test can fail."""
    forest, X, y = made(task)
    free = simplify(forest, X, y, random_state=0, max_rules=8, brevity=0).rules_
    assert not is_monotone(free, X, 0, -1) or not is_monotone(free, X, 0, 1)
    for sign in (-1, 1):
        rules = simplify(
            forest, X, y, random_state=0, max_rules=8, brevity=0, monotone={0: sign}
        ).rules_
        assert is_monotone(rules, X, 0, sign)


def test_monotone_keeps_what_is_monotone_already():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 100, 800), rng.normal(size=800)])
    chance = 1 / (1 + np.exp((X[:, 0] - 50) / 10 + X[:, 1]))
    y = (rng.random(800) < chance).astype(int)
    forest = RandomForestClassifier(30, min_samples_leaf=10, random_state=0).fit(X, y)
    settings = {"max_rules": 5, "random_state": 0}
    free = simplify(forest, X, y, **settings)
    held = simplify(forest, X, y, monotone={0: -1}, **settings)
    assert held.rules_.n_rules > 2
    assert 0 in {c.feature for rule in held.rules_.rules for c in rule.conditions}
    assert held.training_["log_loss"] < free.training_["log_loss"] + 0.02
    assert is_monotone(held.rules_, X, 0, -1)


def test_pooled_answers_are_told_saved_and_measured():
    forest, X, y = made("regression", 1)
    model = simplify(forest, X, y, random_state=0, monotone={0: 1, 1: -1}, max_rules=6)
    rules = RuleModel.from_dict(model.rules_.to_dict())
    assert rules == model.rules_
    error = np.mean((y - rules.predict(X)) ** 2)
    assert model.training_["error"] == pytest.approx(error)
    assert is_monotone(rules, X, 0, 1)
    assert is_monotone(rules, X, 1, -1)


def test_groups_have_names():
    forest, X, y = made("classification")
    names = [f"x{j + 1}" for j in range(N_FEATURES)]
    groups = {"money": names[:2], "person": names[2:]}
    rules = simplify(
        forest, X, y, random_state=0, groups=groups, must_use=["person", "money"]
    ).rules_
    used = [{c.feature for c in rule.conditions} for rule in rules.rules]
    assert all(asked <= {0, 1} or asked <= {2, 3} for asked in used)
    assert any(asked <= {0, 1} for asked in used)
    assert any(asked <= {2, 3} for asked in used)
    without = simplify(forest, X, y, random_state=0, groups=groups, exclude="person")
    assert set(without.rules_.features) <= set(names[:2])


def test_weights_count_as_rows():
    forest, X, y = made("classification")
    weight = np.full(len(X), 2.0)
    rules = simplify(forest, X, y, weight, random_state=0, min_rows=60).rules_
    assert min(rule.n_rows for rule in rules) >= 60
    answering = np.bincount(rules.apply(X), minlength=rules.n_rules)
    assert answering.min() >= 30


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"monotone": {"speed": 1}}, "monotone has 'speed', which is not a feature"),
        ({"monotone": {0: 0}}, "monotone must be -1 or 1 for 'x1'; got 0"),
        ({"monotone": {0: True}}, "monotone must be -1 or 1 for 'x1'; got True"),
        ({"monotone": {}}, "monotone must be"),
        ({"monotone": 1}, "monotone must be .* got 1"),
        ({"monotone": {0: 1}, "exclude": [0]}, "'x1', which rules may not use"),
        ({"must_use": [0], "exclude": [0]}, "must_use names 0, which features or excl"),
        ({"must_use": []}, "must_use must name at least one feature"),
        ({"max_categories": 0}, "max_categories must be None or a whole number from 1"),
        ({"prefer": []}, "prefer must name features, each once, the best first"),
        ({"prefer": [0, "x1"]}, "prefer must name features, each once, the best first"),
        ({"prefer": ["x11"]}, "prefer has 'x11', which is not a feature of X"),
        ({"prefer": [0], "exclude": [0]}, "prefer names 'x1', which rules may not use"),
        ({"must_use": ["speed"]}, "must_use has 'speed', which is not a feature of X"),
        ({"exclude": [0, 1, 2, 3]}, "exclude must leave a feature; it names all"),
        ({"exclude": []}, "exclude must name at least one feature; got none"),
        (
            {"exclude": [0], "features": [1]},
            "exclude names 'x1', which is not among features",
        ),
        ({"groups": []}, "groups must have at least one group; got none"),
        ({"groups": [[0, 1, 2, 3]]}, "groups must not hold all features"),
        (
            {"groups": {"x1": [0, 1]}},
            "groups must not have names of features; got 'x1'",
        ),
        ({"groups": [["speed"]]}, "groups has 'speed', which is not a feature of X"),
        ({"min_rows": -1}, "min_rows must be a number from 0; got -1"),
        ({"min_rows": 200}, "min_rows must be at most half of the rows"),
        ({"min_rows": 5, "max_rules": 1}, "min_rows needs at least two rules"),
        ({"max_total_conditions": 0}, "max_total_conditions must be None or a whole"),
        (
            {"max_total_conditions": 8, "max_conditions": 2, "max_rules": 5},
            "max_total_conditions must be below 8, the maximum of 5 rules with",
        ),
        (
            {"must_use": [0, 1, 2], "max_total_conditions": 2},
            "must_use needs 3 conditions; 2 are allowed",
        ),
        ({"monotone": {0: 1}, "max_rules": 1}, "monotone needs at least two rules"),
        ({"must_use": [0], "max_rules": 1}, "must_use needs at least two rules"),
        (
            {"monotone": {0: 1}, "form": "standalone"},
            "monotone needs form='list' or 'points'",
        ),
        (
            {"must_use": [0], "min_rows": 0.6},
            "No list of at most 10 rules is within",
        ),
    ],
    ids=str,
)
def test_limits_that_cannot_be_met_or_do_nothing_are_refused(limits, message):
    forest, X, y = made("classification")
    with pytest.raises(ValueError, match=message):
        fit_rules(forest, X, y, random_state=0, **limits)


def test_an_order_needs_two_classes():
    X = np.arange(60.0)[:, None] @ np.ones((1, 2))
    y = np.repeat([0, 1, 2], 20)
    with pytest.raises(ValueError, match="monotone needs regression or two classes"):
        DefragClassifier(monotone={0: 1}, random_state=0).fit(X, y)


def test_a_direction_needs_numbers_or_an_order():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"city": ["a", "b", "c"] * 20, "x": np.arange(60.0)})
    y = np.arange(60.0)
    with pytest.raises(
        ValueError, match="'city', which has categories without an order"
    ):
        DefragRegressor(monotone={"city": 1}, random_state=0).fit(X, y)


def test_unknown_categories_have_no_place_in_an_order():
    high = Rule((Condition(0, categories=(1, 2)),), 5.0)
    low = Rule((Condition(0, categories=(0,), missing=True),), 1.0)
    levels = (("low", "mid", "high"),)
    rules = RuleList((high,), Rule((), 1.0), ("a",), "regression", categories=levels)
    assert rule_pairs(rules, 0) == {(1, 0)}
    signs = MonotoneAnswers({0: 1}).point_signs
    assert signs([high.conditions, low.conditions]).tolist() == [1, -1, 0]


def test_a_feature_without_splits_cannot_be_used():
    X = np.column_stack([np.arange(80.0), np.zeros(80)])
    y = (X[:, 0] > 30).astype(int)
    with pytest.raises(ValueError, match="splits on; got 'x2', which it does not use"):
        DefragClassifier(must_use=["x2"], random_state=0).fit(X, y)


def towns(seed=0, n_rows=900):
    """Rows of 20 towns, half of which have a high price."""
    rng = np.random.default_rng(seed)
    town, size = rng.integers(0, 20, n_rows), rng.normal(size=n_rows)
    X = pytest.importorskip("pandas").DataFrame(
        {"town": np.array([f"town {i:02}" for i in range(20)])[town], "size": size}
    )
    y = 3.0 * (town % 2) + 0.01 * town + (size > 0) + 0.2 * rng.normal(size=n_rows)
    return X, y


def n_named(rules):
    """The number of the twenty towns that each condition names, inside or outside."""
    return [
        len(re.findall(r"town \d\d", condition.text(["x", "y"], rules.categories)))
        for rule in rules.rules
        for condition in rule.shown
        if condition.categories is not None
    ]


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
@pytest.mark.parametrize(
    "target", ["model", pytest.param("labels", marks=pytest.mark.slow)]
)
def test_conditions_name_few_categories(form, target):
    X, y = towns()
    settings = {"form": form, "target": target, "max_rules": 5, "random_state": 0}
    free = DefragRegressor(**settings, max_categories=None).fit(X, y)
    assert max(n_named(free.rules_)) > 6
    assert free.predict(X).shape == y.shape
    usual = DefragRegressor(**settings).fit(X, y)
    for most, simple in (
        (6, usual),
        (2, DefragRegressor(**settings, max_categories=2).fit(X, y)),
    ):
        named = n_named(simple.rules_)
        assert 0 < max(named) <= most
        for own in simple.path_.values():
            assert max(n_named(own), default=0) <= most
    longer = DefragRegressor(**settings, max_categories=10).fit(X, y)
    assert longer.rules_ == free.rules_


def fish(n_rows=600, seed=0):
    """A weight, two lengths with nearly the same information, and a colour."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_rows)
    columns = {"colour": rng.integers(0, 3, n_rows)}
    for name in ("length", "weight", "width"):
        columns[name] = 20 + 5 * size + 0.01 * rng.normal(size=n_rows)
    X = pytest.importorskip("pandas").DataFrame(columns)
    signal = np.sin(2 * size) + 0.7 * (columns["colour"] == 1)
    y = signal + 0.2 * rng.normal(size=n_rows)
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y)
    return forest, X, y


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_preferred_columns_replace_those_with_the_same_information(form):
    forest, X, y = fish()
    made = {"form": form, "max_rules": 8, "random_state": 0, "augment": 10_000}
    sizes = {"length", "weight", "width"}
    free = fit_rules(forest, X, y, **made)
    assert len(sizes & set(free.rules_.features)) > 1
    for best in sorted(sizes):
        simple = fit_rules(forest, X, y, prefer=[best], **made)
        assert sizes & set(simple.rules_.features) == {best}
        assert "colour" in simple.rules_.features
        assert simple.score(X, y) > free.score(X, y) - 0.03
    first = fit_rules(forest, X, y, prefer=["width", "length"], **made).rules_
    assert sizes & set(first.features) == {"width"}
    unrelated = fit_rules(forest, X, y, prefer="colour", **made).rules_
    assert unrelated == free.rules_
    used = fit_rules(forest, X, y, prefer=["width"], must_use=["length"], **made).rules_
    assert {"length", "width"} <= set(used.features)


def test_a_preferred_column_that_the_model_never_splits_on_is_a_warning():
    forest, X, y = fish()
    forest.fit(X.assign(width=1.0), y)
    with pytest.warns(UserWarning, match="'width', on which the model never splits"):
        simple = simplify(forest, X, y, prefer=["width", "length"], max_rules=4)
    assert "length" in simple.rules_.features


def test_every_pattern_of_rules_is_looked_at():
    """`ordered_pairs` against all rows of a small grid."""
    from defragtrees.search.boxes import ordered_pairs

    rng = np.random.default_rng(0)
    n_codes = (4, 3, 3)
    for _ in range(200):
        boxes = []
        for _ in range(rng.integers(1, 5)):
            chosen = rng.choice(3, rng.integers(1, 4), replace=False)
            boxes.append({int(j): random_mask(rng, n_codes[j]) for j in chosen})
        found = ordered_pairs(boxes, 0, n_codes[0])
        expected = set()
        for others in itertools.product(range(4), range(4)):
            line = [answering(boxes, (c, *others)) for c in range(n_codes[0])]
            steps = itertools.pairwise(line)
            expected |= {(a, b) for a, b in steps if a != b}
        assert expected <= found


def random_mask(rng, n_codes):
    low, high = np.sort(rng.integers(0, n_codes, 2))
    mask = np.zeros(n_codes + 1, dtype=bool)
    mask[low : high + 1] = True
    mask[-1] = rng.random() < 0.3
    return mask


def answering(boxes, codes):
    for k, box in enumerate(boxes):
        if all(mask[codes[j]] for j, mask in box.items()):
            return k
    return len(boxes)


@pytest.mark.parametrize("form", ["list", "standalone"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "max_rules", [6, *(pytest.param(n, marks=pytest.mark.slow) for n in ("auto", 4))]
)
def test_limits_that_the_rules_keep_to_anyhow_change_nothing(form, task, max_rules):
    forest, X, y = made(task, n_rows=600)
    kind = DefragRegressor if task == "regression" else DefragClassifier
    common = {"form": form, "max_rules": max_rules, "augment": 1000, "random_state": 0}
    free = kind(forest, **common).fit(X, y).rules_
    assert free.n_rules > 1
    used = {c.feature for rule in free.rules for c in rule.conditions}
    limits = [
        {"max_conditions": max(rule.n_conditions for rule in free.rules)},
        {"features": sorted(used)},
    ]
    if form == "list":
        least = min(rule.share for rule in free)
        limits += [
            {"max_total_conditions": free.n_conditions},
            {"min_rows": min(0.5, least)},
            {"must_use": [min(used)]},
            {"features": sorted(used), "max_total_conditions": free.n_conditions},
        ]
    for own in limits:
        assert kind(forest, **common, **own).fit(X, y).rules_ == free, own
