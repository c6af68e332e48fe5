"""Intervals cover y as often as they should, in each rule and for every prediction."""

import dataclasses

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import defragtrees
from defragtrees import Condition, Rule, RuleList, simplify
from defragtrees.baselines import (
    BornAgainTreeRegressor,
    DistilledTreeRegressor,
    NodeHarvestRegressor,
)
from defragtrees.data import sources
from defragtrees.outcomes.intervals import RateBands, Residuals, kept_values

COVERAGES = (0.5, 0.8, 0.9)


def two_rules(**evidence):
    warm = Rule((Condition(0, lower=20.0),), 9.0, **evidence)
    rest = Rule((), 1.0, **evidence)
    return RuleList((warm,), rest, ("degrees",), "regression")


def calibrated(rules, X, y):
    """The rules with intervals from rows that they were not fitted to."""
    form = rules._form
    found = form.calibrated(form.rows_to_calibrate(rules.covers(X), y))
    return dataclasses.replace(rules, residuals=found)


def friedman(seed):
    X, y = make_friedman1(900, noise=1.0, random_state=seed)
    return with_forest(X, y, seed)


def diabetes(seed):
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))
    return with_forest(X[order], y[order], seed)


def with_forest(X, y, seed):
    """A forest of the first third of rows, the rows, and how many a third is."""
    third = len(X) // 3
    forest = RandomForestRegressor(15, min_samples_leaf=5, random_state=seed)
    return forest.fit(X[:third], y[:third]), X, y, third


def coverage_of(rules, X, y, coverage=0.9):
    low, high = rules.predict_interval(X, coverage).T
    return np.mean((low <= y) & (y <= high))


def test_the_ends_by_hand():
    rules = calibrated(two_rules(), [[21.0]] * 19, 9.0 + np.arange(-9.0, 10.0))
    assert rules.residuals.bands == (tuple(np.arange(-9.0, 10.0)), ())
    # Of 19, from the first to the 19th are 18 of 20 gaps, from the second to the 17th
    # 15 of them.
    assert rules.predict_interval([[25.0]], 0.9).tolist() == [[0.0, 18.0]]
    assert rules.predict_interval([[25.0]], 0.75).tolist() == [[1.0, 16.0]]
    with pytest.raises(ValueError, match=r"coverage=0.91 needs 22 rows .* are 19\."):
        rules.predict_interval([[25.0]], 0.91)


def test_a_rule_with_few_rows_takes_those_of_all_in_its_spread():
    y = np.concatenate([9.0 + np.arange(-9.0, 10.0), [1.0, 1.5]])
    rules = calibrated(two_rules(), [[21.0]] * 19 + [[3.0]] * 2, y)
    found = rules.residuals
    every = (2 * np.sum(np.arange(10.0) ** 2) + 0.25) / 21
    assert found.spreads[1] == pytest.approx(np.sqrt((0.25 + 3.84 * every) / 5.84))
    low, high = rules.predict_interval([[3.0]], 0.9)[0]
    # The highest of all 21, in spreads; the lowest would be negative, as y never is.
    wanted = 9.0 / found.spreads[0] * found.spreads[1]
    assert high - 1.0 == pytest.approx(wanted, rel=1e-5)
    assert low == 0.0
    far = calibrated(two_rules(), [[21.0]] * 19 + [[3.0]] * 2, [*y[:-1], 400.0])
    assert far.predict_interval([[3.0]], 0.9)[0, 1] >= 400.0


def test_many_equal_numbers_below_leave_the_rest_to_the_upper_end():
    y = np.concatenate([np.zeros(50), np.arange(1.0, 50.0)])
    found = Residuals.of(y, np.zeros(99, int), 1)
    [[low, high]] = found.interval(np.zeros(1), np.zeros(1, int), 0.9)
    assert (low, high) == (0.0, 41.0)  # 91 of 99 numbers
    by = found.interval(np.zeros(1), np.zeros(1, int), 0.98)
    assert by.tolist() == [[0.0, 49.0]]


def test_whole_numbers_at_the_ends_are_inside():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 5000).astype(float)
    for prediction in rng.uniform(3, 6, 20).round(3):
        rules = RuleList((), Rule((), prediction), ("degrees",), "regression")
        rules = calibrated(rules, np.zeros((5000, 1)), y)
        assert rules.predict_interval([[1.0]], 0.75).tolist() == [[1.0, 8.0]]


def test_intervals_stay_where_y_can_be():
    X, rng = [[21.0]] * 99, np.random.default_rng(0)
    y = rng.exponential(size=99)
    # Of what was 8 below a prediction of 9, nothing is left below one of 1.
    positive = calibrated(two_rules(), X, y).predict_interval([[25.0], [3.0]])
    assert 0 < positive[0, 0] < positive[0, 1] < 6
    assert positive[1].tolist() == [0.0, 0.0]
    negative = calibrated(two_rules(), [[3.0]] * 99, -y).predict_interval([[25.0]])
    assert negative[0, 1] == 0.0
    both = calibrated(two_rules(), X, y - 0.5).residuals
    assert (both.low, both.high) == (None, None)


@pytest.mark.parametrize("n_values", [19, 199, 200, 201, 1999, 5003])
def test_few_residuals_cover_no_less_than_all(n_values):
    values = np.random.default_rng(n_values).permutation(n_values) + 1.0
    found = Residuals.of(values, np.zeros(n_values, int), 1)
    assert len(found.bands[0]) == min(n_values, 200)
    for coverage in (0.05, 0.5, 0.9):
        ends = found.interval(np.zeros(1), np.zeros(1, int), coverage)
        n_gaps = ends[0, 1] - ends[0, 0]
        wanted = coverage * (n_values + 1)
        assert wanted - n_values / 200 - 1 <= n_gaps <= wanted + n_values / 100 + 1


def test_a_weight_of_two_is_a_residual_given_twice():
    values, weight = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    assert kept_values(values, weight, 10) == (1.0, 1.0, 2.0, 2.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("n_seeds", "slack"), [(3, 0.02), pytest.param(10, 0.0, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("make_case", [friedman, diabetes])
def test_intervals_cover_what_they_say(make_case, n_seeds, slack):
    covered = {(way, c): [] for way in ("fitted", "calibrated") for c in COVERAGES}
    for seed in range(n_seeds):
        forest, X, y, third = make_case(seed)
        # Of many rules each has few rows, and then calibrated intervals are wider.
        simple = simplify(forest, X[:third], y[:third], max_rules=5, random_state=seed)
        for way in ("fitted", "calibrated"):
            if way == "calibrated":
                simple.calibrate(X[third : 2 * third], y[third : 2 * third])
            for coverage in COVERAGES:
                share = coverage_of(simple, X[2 * third :], y[2 * third :], coverage)
                covered[way, coverage].append(share)
    # The model knows the rows that are counted. Calibrated intervals cover no less
    # in any rule, so with some 150 rows for all of them they cover a little more.
    allowed = {"fitted": (-0.075, 0.075), "calibrated": (-0.025, 0.04)}
    for (way, coverage), shares in covered.items():
        least, most = allowed[way]
        assert least - slack <= np.mean(shares) - coverage <= most + slack


def test_widths_follow_the_rule():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 1))
    y = 10 * (X[:, 0] > 0.5) + rng.normal(size=2000) * np.where(X[:, 0] > 0.5, 4, 1)
    forest = RandomForestRegressor(10, min_samples_leaf=20, random_state=0)
    simple = simplify(forest.fit(X, y), X, y, max_rules=2, random_state=0)
    low, high = np.diff(simple.predict_interval([[0.1], [0.9]]), axis=1)[:, 0]
    assert 3 < high / low < 5
    for rows in (X[:, 0] <= 0.5, X[:, 0] > 0.5):
        assert coverage_of(simple, X[rows], y[rows]) == pytest.approx(0.9, abs=0.04)


def skewed(seed, n_rows):
    """Prices whose spread grows with their size, and a forest of the first 1,000."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 4))
    y = np.exp(2 * X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=n_rows))
    forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=seed)
    return forest.fit(X[:1000], y[:1000]), X, y


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_intervals_cover_small_and_large_predictions_alike(form):
    shares = []
    for seed in range(3):
        forest, X, y = skewed(seed, 4000)
        settings = {"form": form, "random_state": seed}
        simple = simplify(forest, X[:1000], y[:1000], **settings)
        low, high = simple.predict_interval(X[1000:]).T
        assert low.min() >= 0
        is_covered = (low <= y[1000:]) & (y[1000:] <= high)
        order = np.argsort(simple.predict(X[1000:]), kind="stable")
        shares.append([is_covered[rows].mean() for rows in np.array_split(order, 3)])
    assert np.mean(shares, axis=0) == pytest.approx([0.9] * 3, abs=0.035)


def test_residuals_of_a_list_are_those_of_predictions_without_the_row():
    forest, X, y, third = friedman(0)
    X, y = X[:third], y[:third]
    rules = simplify(forest, X, y, max_rules=4, random_state=0).rules_.refit(X, y)
    by = rules.apply(X)
    means = np.bincount(by, y) / np.bincount(by)
    between = np.mean((means[by] - y.mean()) ** 2)
    prior = np.mean((y - means[by]) ** 2) / between
    for k, found in enumerate(rules.residuals.bands):
        rows = np.flatnonzero(by == k)
        left = (y[rows].sum() - y[rows] + prior * y.mean()) / (len(rows) - 1 + prior)
        assert found == pytest.approx(np.sort(y[rows] - left), abs=4e-3)


@pytest.mark.parametrize("form", ["standalone", "points"])
def test_residuals_of_several_rules_are_those_of_predictions_without_the_row(form):
    forest, X, y, third = friedman(0)
    X, y = X[:third], y[:third]
    settings = {"form": form, "max_rules": 4, "random_state": 0}
    rules = simplify(forest, X, y, **settings).rules_.refit(X, y)
    rows = np.arange(0, third, 7)
    left = []
    for i in rows:
        others = np.arange(third) != i
        without = rules.refit(X[others], y[others])
        left.append(y[i] - without.predict(X[[i]])[0])
    held, weight = rules.covers(X), np.ones(third)
    found = (y - rules.predict(X)) / (1 - rules._form.leverage(held, weight))
    assert found[rows] == pytest.approx(left, abs=2e-2)
    assert len(rules.residuals.bands) == len(rules.residuals.edges) + 1 > 2


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_shards_have_nearly_the_same_intervals(form, monkeypatch):
    forest, X, y, _ = friedman(1)
    settings = {"form": form, "max_rules": 5, "random_state": 0}
    rules = simplify(forest, X, y, **settings).rules_
    monkeypatch.setattr(sources, "MANY_ROWS", 100)
    monkeypatch.setattr(sources, "PART_ROWS", 150)
    sharded = simplify(forest, X, y, **settings)
    assert len(sharded.rules_.residuals.pooled) == 900
    assert sharded.rules_.residuals.low == rules.residuals.low
    share = coverage_of(sharded, X, y)
    assert share == pytest.approx(coverage_of(rules, X, y), abs=0.02)
    calibrated = sharded.calibrate(X, y).predict_interval(X)
    monkeypatch.undo()
    assert calibrated == pytest.approx(sharded.calibrate(X, y).predict_interval(X))


def test_calibrating_reaches_the_lists_of_the_path_and_the_saved_rules(tmp_path):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    simple = simplify(forest.fit(X[:200], y[:200]), X[:200], y[:200], random_state=0)
    before = simple.predict_interval(X)
    simple.calibrate(X[200:320], y[200:320])
    assert not np.allclose(before, simple.predict_interval(X))
    assert simple.path_[simple.rules_.n_rules] == simple.rules_
    assert all(len(rules.residuals.pooled) == 120 for rules in simple.path_.values())
    simple.rules_.save(tmp_path / "rules.json")
    rules = defragtrees.load(tmp_path / "rules.json")
    assert rules == simple.rules_
    assert np.array_equal(rules.predict_interval(X), simple.predict_interval(X))
    other = calibrated(rules, X[200:320], y[200:320])
    assert other.residuals == rules.residuals


@pytest.mark.parametrize("kind", [NodeHarvestRegressor, BornAgainTreeRegressor])
def test_other_methods_have_intervals_once_they_are_calibrated(kind):
    forest, X, y, third = friedman(2)
    simple = kind(forest, random_state=0).fit(X[:third], y[:third])
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        simple.predict_interval(X)
    simple.calibrate(X[third : 2 * third], y[third : 2 * third])
    share = coverage_of(simple, X[2 * third :], y[2 * third :])
    assert share == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 1.5, float("nan"), None, "0.9", True])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    rules = calibrated(two_rules(), [[1.0]] * 20, np.arange(20.0))
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        rules.predict_interval([[1.0]], coverage)


def test_what_cannot_be_calibrated_says_why():
    rules = two_rules()
    with pytest.raises(ValueError, match="y is needed to calibrate intervals"):
        calibrated(rules, [[1.0]], None)
    with pytest.raises(ValueError, match="equally many rows; got 1 and 2"):
        calibrated(rules, [[1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="NaN or infinity"):
        calibrated(rules, [[1.0]], [np.nan])
    with pytest.raises(ValueError, match="At least one row is needed to calibrate"):
        calibrated(rules, np.zeros((0, 1)), [])
    many = calibrated(rules, [[1.0]] * 3000, np.arange(3000.0))
    with pytest.raises(ValueError, match=r"must be 0.998 at most, .* got 0.9999"):
        many.predict_interval([[1.0]], 0.9999)


def test_without_y_one_sentence_says_what_to_do():
    forest, X, y, third = friedman(3)
    simple = simplify(forest, X[:third], random_state=0)
    with pytest.raises(ValueError, match=r"rows with y; none were given\. Call calib"):
        simple.predict_interval(X)
    with pytest.raises(ValueError, match="y is needed to calibrate intervals"):
        simple.calibrate(X)
    simple.calibrate(X[third:], y[third:]).predict_interval(X)


def test_classes_have_no_intervals():
    X = np.arange(40.0)[:, None]
    y = X[:, 0] > 20
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, random_state=0)
    assert not hasattr(simple, "predict_interval")
    with pytest.raises(AttributeError, match="classes have no intervals"):
        simple.rules_.predict_interval(X)
    with pytest.raises(AttributeError, match="classes have no intervals"):
        calibrated(simple.rules_, X, y)


def test_each_object_names_its_own_method_to_calibrate():
    X, y = [[float(k)] for k in range(40)], [float(k) for k in range(40)]
    tree = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
    bare = dataclasses.replace(tree.rules_, residuals=None)
    with pytest.raises(ValueError, match=r"Call refit\(X, y\)"):
        bare.predict_interval(X)
    tree.rules_ = bare
    with pytest.raises(ValueError, match=r"Call calibrate\(X, y\)"):
        tree.predict_interval(X)
    assert hasattr(bare, "refit")
    assert hasattr(tree, "calibrate")


def test_probabilities_that_differ_by_rounding_are_one_band():
    chance = np.array([0.2, np.nextafter(0.2, 1), 0.7])
    n_rows = np.full(3, 100.0)
    events = np.array([20.0, 20.0, 70.0])
    bands = RateBands.of(chance, events, n_rows, n_rows, 0.4)
    assert bands.rates == (0.2, 0.7)
    assert bands.n_effective == (80.0, 40.0)


def test_intervals_of_rates_rise_with_probabilities_and_are_not_stretched():
    means, rates = (0.02, 0.2, 0.4, 0.9), (0.06, 0.3, 0.25, 0.9)
    bands = RateBands((0.1, 0.3, 0.7), rates, (4000.0, 60.0, 30.0, 80.0), means)
    chance = np.linspace(0.001, 0.999, 500)
    ends = bands.interval(chance)
    assert (np.diff(ends, axis=0) >= 0).all()
    assert (ends[:, 0] < ends[:, 1]).all()
    # Four thousand rows reject a probability of 2%.
    low, high = bands.interval(np.array([0.02]))[0]
    assert 0.05 < low < 0.06 < high < 0.07
    # Beyond the bands nothing is known of the inner end.
    inner = bands.interval(np.array([0.9, 0.999]))[:, 0]
    assert inner[0] == inner[1]


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_predictions_of_numbers_have_intervals_in_tables_and_explanations(form):
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = 3 * (X[:, 0] > 0.5) + rng.normal(size=400)
    model = RandomForestRegressor(10, min_samples_leaf=10, random_state=0).fit(X, y)
    rules = simplify(model, X, y, form=form, max_rules=3, random_state=0).rules_
    frame = rules.predict_frame(X, interval=0.9)
    ends = rules.predict_interval(X, 0.9)
    assert frame[["low", "high"]].to_numpy().tolist() == ends.tolist()
    text = rules.explain(X[0])
    assert ("80% of " if form == "list" else "80% interval ") in text
    # The mean of each rule has an interval too, which is narrower than its rows.
    assert ("95% interval" in str(rules)) == (form != "points")
    for rule, pair in zip(rules, rules._mean_intervals, strict=True):
        if form == "points":
            assert pair is None
            continue
        low, high = pair
        assert rule.quantiles[0] < low < rule.prediction < high < rule.quantiles[1]
    # Without y the rows show what the model predicts, which is no mean of y.
    plain = simplify(model, X, form=form, max_rules=3, random_state=0).rules_
    assert "95% interval" not in str(plain)


def test_an_interval_of_a_rate_is_the_one_of_95_percent():
    X = np.arange(40.0)[:, None]
    model = RandomForestClassifier(5, random_state=0).fit(X, X[:, 0] > 20)
    rules = simplify(model, X, X[:, 0] > 20, max_rules=2, random_state=0).rules_
    frame = rules.predict_frame(X, interval=0.95)
    assert frame[["low", "high"]].to_numpy().tolist() == rules.rate_interval(X).tolist()
    with pytest.raises(ValueError, match="The interval of a rate"):
        rules.predict_frame(X, interval=0.9)


def test_rows_with_about_the_same_points_err_less_than_those_of_one_rule():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = X[:, 0] + rng.normal(size=400) > 0.5
    model = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, y)
    settings = {"max_rules": 3, "random_state": 0}
    worth = {
        form: sum(
            simplify(model, X, y, form=form, **settings).rules_.rate_bands.n_effective
        )
        for form in ("points", "standalone")
    }
    assert worth == pytest.approx({"points": 0.9 * 400, "standalone": 0.4 * 400})
