"""Counts with exposure: rules predict the rate of events per unit of exposure."""

import json
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import PoissonRegressor, TweedieRegressor
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import defragtrees
from defragtrees import (
    Condition,
    DefragCounter,
    Rule,
    RuleList,
    Scorecard,
    explain_errors,
    metrics,
    simplify,
    write_report,
)
from defragtrees.cli.group import run
from defragtrees.export import to_frame
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.counts import Counts, rate_interval
from defragtrees.report.summary import summarize
from tests.pages import text_of_page


@pytest.fixture(scope="module")
def claims():
    """Claims in years of exposure, by distance and age; the distance decides."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 10, 900), rng.uniform(20, 80, 900)])
    years = rng.uniform(0.1, 2.0, 900)
    claims = rng.poisson(np.where(X[:, 0] < 3, 3.0, 0.5) * years)
    return X, np.column_stack([claims, years])


@pytest.fixture
def rules():
    near = (900.0, 300.0, 1.0), Condition(0, upper=3.0)
    first = Rule(near[1:], 3.0, n_rows=300.0, totals=near[0])
    far = Rule((), 0.5, n_rows=600.0, totals=(290.0, 600.0, 1.0))
    return RuleList((first,), far, ("distance", "age"), "counts")


@pytest.fixture(scope="module")
def model(claims):
    X, y = claims
    model = RandomForestRegressor(20, min_samples_leaf=10, random_state=0)
    return model.fit(X, y[:, 0] / y[:, 1], sample_weight=y[:, 1])


@pytest.fixture(scope="module")
def fitted(claims, model):
    X, y = claims
    return simplify(model, X, y[:, 0], exposure=y[:, 1], max_rules=2, random_state=0)


def test_rules_predict_and_are_printed(rules):
    assert rules.predict([[1.0, 30.0], [5.0, 30.0]]).tolist() == [3.0, 0.5]
    assert "2.81–3.2" in str(rules)
    assert "900 events in an exposure of 300" in rules.export("text")
    assert "2.81–3.2" in rules.export("markdown")
    assert "900 events" in str(rules.explain([[1.0, 30.0]]))


def test_y_is_read_in_two_columns():
    outcome = make_outcome("counts")
    frame = pd.DataFrame({"events": [2, 0], "exposure": [1.0, 0.5]})
    assert outcome.read(frame).tolist() == [[2.0, 1.0], [0.0, 0.5]]
    assert outcome.read(frame.to_records(index=False)).tolist() == [[2, 1], [0, 0.5]]
    with pytest.raises(ValueError, match="events, exposure"):
        outcome.read([1.0, 2.0])
    with pytest.raises(ValueError, match="above 0"):
        outcome.read([[1.0, 0.0]])
    with pytest.raises(ValueError, match="equally many rows"):
        outcome.read(frame, 3)


def test_rules_are_saved_and_loaded(rules, tmp_path):
    rules.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == rules
    assert isinstance(again.outcome, Counts)
    assert again.rules[0].totals == (900.0, 300.0, 1.0)
    assert json.loads((tmp_path / "rules.json").read_text())["task"] == "counts"


def test_rules_are_measured_by_their_own_loss(rules, claims):
    X, y = claims
    expected = mean_poisson_deviance(y[:, 0], rules.predict(X) * y[:, 1])
    scores = rules.evaluate(X, y)
    assert scores["error"] == pytest.approx(expected)
    assert scores["deviance"] == pytest.approx(expected)
    near, _ = metrics.calibration(rules, X, y)
    observed = y[X[:, 0] <= 3].sum(axis=0)
    assert near["estimated"] == pytest.approx(3.0)
    assert near["observed"] == pytest.approx(observed[0] / observed[1])
    assert near["low"] < near["observed"] < near["high"]


def test_edited_rules_are_compared_by_their_loss(rules, claims):
    X, y = claims
    after = rules.set_prediction(1, 2.0)
    frame = pd.DataFrame(y, columns=["events", "exposure"])
    found = defragtrees.diff(rules, after, X, frame).measures
    assert found["n_changed"] == (X[:, 0] <= 3).sum()
    assert found["error_after"] == pytest.approx(after.evaluate(X, y)["deviance"])


def test_rules_are_exported(rules, claims):
    X, _ = claims
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE claims (distance REAL, age REAL)")
    base.executemany("INSERT INTO claims VALUES (?, ?)", X.tolist())
    answers = [row[-1] for row in base.execute(rules.export("sql", table="claims"))]
    assert answers == rules.predict(X).tolist()
    space: dict = {}
    exec(rules.export("python"), space)
    assert space["predict"]({"distance": 1.0, "age": 30.0}) == 3.0
    assert json.loads(rules.export("json"))["task"] == "counts"
    assert to_frame(rules)["then"].tolist() == [3.0, 0.5]


def test_the_search_fits_them_and_counts_events_and_exposure(fitted, claims):
    X, y = claims
    first, default = fitted.rules_
    [condition] = first.conditions
    assert condition.feature == 0
    assert condition.bounds[-1] == pytest.approx(3.0, abs=0.2)
    events, years = y[first.covers(X)].sum(axis=0)
    assert first.totals[:2] == pytest.approx((events, years))
    assert first.prediction == pytest.approx(events / years, rel=0.05)
    assert default.prediction == pytest.approx(0.5, rel=0.2)
    assert sum(rule.totals[0] for rule in fitted.rules_) == y[:, 0].sum()
    scores = fitted.evaluate(X, y)
    by_rule = sum(rule.share * rule.error for rule in fitted.rules_)
    assert scores["deviance"] == pytest.approx(by_rule)
    assert "Poisson deviance" in fitted.summary()


def test_rules_are_fitted_to_events_and_to_more_rows(claims, model):
    X, y = claims
    simple = DefragCounter(model, target="labels", max_rules=2, random_state=0)
    rules = simple.fit(X, y).rules_
    assert rules.rules[0].conditions[0].feature == 0
    again = rules.refit(X, y)
    assert sum(rule.totals[1] for rule in again) == pytest.approx(y[:, 1].sum())


def test_a_report_has_rates_per_unit_of_exposure(fitted, claims, tmp_path):
    X, y = claims
    groups = np.where(X[:, 1] > 50, "old", "young")
    page = write_report(
        tmp_path / "claims.html", fitted, X, y, target_name="claims", groups=groups
    ).read_text("utf-8")
    events, years = y.sum(axis=0)
    assert f"its mean rate is <b>{events / years:.3g}</b>" in page
    events, years = y[fitted.rules_.rules[0].covers(X)].sum(axis=0)
    assert f"Observed here: mean rate <b>{events / years:.3g}</b>" in page
    old, exposure = y[groups == "old"].sum(axis=0)
    assert f"<b>{old / exposure:.3g}</b>" in page
    assert "Poisson deviance" in page
    assert 'id="calibration"' in page
    assert "80% of rows" not in page
    assert "They miss" not in page
    # Scripts compute no deviance.
    assert 'id="edit"' not in page
    alone = summarize(fitted.rules_, X, y)
    assert alone.scores["deviance"] == pytest.approx(fitted.evaluate(X, y)["deviance"])


def test_new_rows_are_checked(fitted, claims):
    X, y = claims
    assert not fitted.rules_.check(X, y).has_moved
    more = np.column_stack([y[:, 0] + (y[:, 1] > 0.5), y[:, 1]])
    moved = {finding.kind for finding in fitted.rules_.check(X, more).moved}
    assert {"mean", "target", "error"} <= moved
    longer = np.column_stack([2 * y[:, 0], 2 * y[:, 1]])
    assert "target" not in {one.kind for one in fitted.rules_.check(X, longer).moved}


def test_an_interval_of_a_rate_is_exact_and_wider_if_events_vary_more():
    low, high = rate_interval(10, 5.0)
    assert low == pytest.approx(chi2.ppf(0.025, 20) / 2 / 5)
    assert high == pytest.approx(chi2.ppf(0.975, 22) / 2 / 5)
    wide = rate_interval(10, 5.0, 4.0)
    assert wide[0] < low < high < wide[1]
    assert rate_interval(0, 5.0)[0] == 0 < rate_interval(0, 5.0)[1]


@pytest.mark.parametrize("spread", [None, 0.7])
def test_intervals_of_rates_hold_for_the_expected_events(spread):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, 6000)[:, None].astype(float)
    rates, years = np.array([0.1, 0.2, 0.5, 1.0])[X[:, 0].astype(int)], 0.8
    inside = []
    rules = RuleList(
        tuple(Rule((Condition(0, upper=k),), 0.1) for k in range(3)),
        Rule((), 0.1),
        ("group",),
        "counts",
    )
    for _ in range(30):
        happened = rates * years
        if spread is not None:  # negative binomial
            happened = happened * rng.gamma(1 / spread, spread, len(X))
        y = np.column_stack([rng.poisson(happened), np.full(len(X), years)])
        found = [rule.totals and rule for rule in rules.refit(X, y)]
        for rule, rate in zip(found, (0.1, 0.2, 0.5, 1.0), strict=True):
            low, high = rules.outcome.estimate(rule)["interval"]
            inside.append(low <= rate <= high)
    assert np.mean(inside) >= 0.93


def test_points_are_relativities(claims, model):
    X, y = claims
    card = simplify(
        model, X, y[:, 0], exposure=y[:, 1], form="points", max_rules=3, random_state=0
    ).rules_
    text = str(card)
    assert "relativity" in text
    assert "Multiply the base rate" in text
    _, rows = card._view.cells()
    *factors, base = [float(row[2].removeprefix("x ")) for row in rows]
    expected = np.full(len(X), base)
    for rule, factor in zip(card.rules, factors, strict=True):
        expected = expected * np.where(rule.covers(X), factor, 1.0)
    assert card.predict(X) == pytest.approx(expected)
    # Exact points are those of a Poisson regression, up to their prior and digits.
    columns = np.column_stack([rule.covers(X) for rule in card.rules]).astype(float)
    linear = PoissonRegressor(alpha=0, tol=1e-9, max_iter=1000)
    linear.fit(columns, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    points = [rule.points[0] for rule in card.rules]
    assert points == pytest.approx(linear.coef_, rel=0.15, abs=0.1)
    assert (np.abs(points) < np.abs(linear.coef_) + 0.01).all()  # shrunk


def test_whole_points_are_steps_of_a_factor(claims, model):
    X, y = claims
    card = simplify(
        model,
        *(X, y[:, 0]),
        exposure=y[:, 1],
        form="points",
        points="integer",
        max_rules=4,
        random_state=0,
    ).rules_
    assert all(float(p).is_integer() for rule in card for p in rule.points)
    assert " x " not in str(card.drop(1))
    factor = np.exp(card.unit)
    assert factor == pytest.approx(round(factor, 2))
    assert f"each point multiplies the rate by {factor:.3g}" in " ".join(
        str(card).split()
    )
    assert card.predict(X) == pytest.approx(
        np.exp(card.values_of(card.totals(X)))[:, 0]
    )


def test_exposure_is_an_array_a_column_or_the_second_column_of_y(claims, model):
    X, y = claims
    table = pd.DataFrame(X, columns=["distance", "age"])
    years = {"max_rules": 2, "random_state": 0}
    model = RandomForestRegressor(20, min_samples_leaf=10, random_state=0)
    model.fit(table, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    by_array = simplify(model, table, y[:, 0], exposure=y[:, 1], **years)
    with_years = table.assign(years=y[:, 1])
    by_name = simplify(model, with_years, y[:, 0], exposure="years", **years)
    in_y = DefragCounter(model, **years).fit(table, y)
    assert by_array.rules_ == by_name.rules_ == in_y.rules_
    assert by_name.evaluate(with_years, y[:, 0]) == in_y.evaluate(table, y)
    assert by_name.score(with_years, y[:, 0]) == in_y.evaluate(table, y)["d2"]


def test_measures_are_those_of_scikit_learn(fitted, claims):
    X, y = claims
    found = fitted.evaluate(X, y)
    rates, weight = fitted.predict(X), y[:, 1]
    events = y[:, 0]
    observed = events / weight
    expected = d2_tweedie_score(observed, rates, sample_weight=weight, power=1)
    assert found["d2"] == pytest.approx(expected)
    # The area of the ordered Lorenz curve, by hand for two rates.
    low = rates == rates.min()
    x, y = weight[low].sum() / weight.sum(), y[low, 0].sum() / y[:, 0].sum()
    assert found["gini"] == pytest.approx(x - y)
    miss = sum(abs(events[own].sum() - rates[own] @ weight[own]) for own in (low, ~low))
    assert found["calibration"] == pytest.approx(miss / events.sum())
    assert 0 < found["fidelity"] < found["model_d2"] + 1


def test_a_model_of_counts_is_said_to_be_one(claims):
    X, y = claims
    table = pd.DataFrame(X, columns=["distance", "age"]).assign(years=y[:, 1])
    model = HistGradientBoostingRegressor(loss="poisson").fit(table, y[:, 0])
    with pytest.raises(ValueError, match="predicts counts"):
        simplify(model, table, y[:, 0], exposure="years")
    with pytest.raises(ValueError, match="exposure needs y"):
        simplify(model, table, exposure="years")


@pytest.mark.parametrize("least", [0.1, 0.78])
def test_a_model_that_seems_to_predict_counts_gives_a_warning(least):
    rng = np.random.default_rng(0)
    X, years = rng.uniform(size=(12_000, 1)), rng.uniform(least, 1.0, 12_000)
    claims = rng.poisson(np.where(X[:, 0] > 0.5, 0.6, 0.3) * years)
    settings = {"max_rules": 2, "random_state": 0}
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=20)
    with pytest.warns(UserWarning, match="seems to predict counts"):
        simplify(model.fit(X, claims), X, claims, exposure=years, **settings)
    model.fit(X, claims / years, sample_weight=years)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simple = simplify(model, X, claims, exposure=years, **settings)
    words = "predictions are taken as rates: times the exposure they add"
    assert words in " ".join(simple.summary().split())
    assert f"{claims.sum():,} happened" in " ".join(simple.summary().split())


def test_trees_with_an_offset_predict_rates(claims):
    X, y = claims
    model = LGBMRegressor(objective="poisson", n_estimators=40, verbose=-1)
    model.fit(X, y[:, 0], init_score=np.log(y[:, 1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simple = simplify(model, X, y[:, 0], exposure=y[:, 1], max_rules=2)
    assert "taken as rates" in simple.summary()
    assert simple.evaluate(X, y)["model_d2"] > 0.1


def test_a_frame_has_the_expected_counts(rules, model):
    frame = rules.predict_frame([[1.0, 30.0], [5.0, 30.0]], exposure=[2.0, 0.5])
    assert frame["expected"].tolist() == [6.0, 0.25]
    assert rules.predict_frame([[1.0, 30.0]], exposure=2)["expected"].tolist() == [6.0]
    with pytest.raises(ValueError, match="above 0"):
        rules.predict_frame([[1.0, 30.0]], exposure=[0.0])


def test_rates_follow_a_model_without_y_for_its_rows_only_with_exposure(claims):
    X, y = claims
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=20, max_depth=2)
    model.fit(X, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    simple = DefragCounter(model, max_rules=2, random_state=0).fit(X)
    assert simple.rules_.rules[0].totals is None
    assert simple.predict([[1.0, 30.0]]) == pytest.approx(3, rel=0.2)


@pytest.mark.parametrize(
    ("y", "exposure", "match"),
    [
        ([1, -1, 0], [1, 1, 1], "0 or more; got -1 in row 2"),
        ([1, 0, 0], [1, 0, 1], "exposure must be above 0; got 0 in row 2"),
        ([0, 0, 0], [1, 1, 1], "no events"),
        ([1, 0, 2], [1, np.nan, 1], "exposure must be a finite number"),
        ([1, 0, 2], [1e-30, 1e-30, 1e-30], "Use another unit"),
        ([1, 0, 2], [1, 1], "equally many"),
        ([1, 0, 2], "years", "column of X"),
        ([1, 0, 2], [[1], [1], [1]], "one number per row"),
    ],
)
def test_bad_counts_are_rejected(claims, model, y, exposure, match):
    with pytest.raises(ValueError, match=match):
        simplify(model, claims[0][:3], y, exposure=exposure)


@pytest.mark.parametrize("form", ["list", "points"])
def test_rules_are_improved(claims, model, form):
    simple = DefragCounter(model, form=form, max_rules=2, random_state=0).fit(*claims)
    made = simple.rules_.improve(*claims, keep=1, max_rules=3)
    assert made.outcome == simple.rules_.outcome
    assert made.rules[0].conditions == simple.rules_.rules[0].conditions


def test_exposure_is_rejected_for_classes_and_without_y(claims, model):
    X, y = claims
    classes = RandomForestClassifier(5, random_state=0).fit(X, y[:, 0] > 0)
    with pytest.raises(ValueError, match="predict classes"):
        simplify(classes, X, y[:, 0] > 0, exposure=y[:, 1])
    with pytest.raises(ValueError, match="needs y"):
        simplify(model, X, exposure=y[:, 1])
    logarithms = lambda X: np.log(model.predict(X))  # noqa: E731
    with pytest.raises(ValueError, match="logarithms"):
        simplify(logarithms, X, y[:, 0], exposure=5 * y[:, 1])


@pytest.fixture(scope="module")
def cards(claims, model):
    X, y = claims
    settings = {"form": "points", "max_rules": 4, "random_state": 0}
    return [
        simplify(model, X, y[:, 0], exposure=y[:, 1], points=points, **settings).rules_
        for points in ("exact", "integer")
    ]


def test_scorecards_are_exported(cards, claims):
    X, _ = claims
    onnxruntime = pytest.importorskip("onnxruntime")
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE claims (x1 REAL, x2 REAL)")
    base.executemany("INSERT INTO claims VALUES (?, ?)", X.tolist())
    for card in cards:
        expected = pytest.approx(card.predict(X))
        answers = pd.read_sql_query(card.export("sql", table="claims"), base)
        assert answers["prediction"].tolist() == expected
        space: dict = {}
        exec(card.export("python"), space)
        rows = [dict(zip(("x1", "x2"), row, strict=True)) for row in X.tolist()]
        assert [space["predict"](row) for row in rows] == expected
        session = onnxruntime.InferenceSession(card.export("onnx").SerializeToString())
        names = [one.name for one in session.get_inputs()]
        given = {name: X[:, [j]] for j, name in enumerate(names)}
        [found, *_] = session.run(["prediction"], given)
        assert found.ravel() == expected
    assert "exp" in cards[1].export("pmml")


def test_methods_and_lengths_are_compared_by_deviance(claims, model):
    X, y = claims
    tree = DecisionTreeRegressor(criterion="poisson", max_leaf_nodes=3, random_state=0)
    given = model, X, y[:, 0]
    table = defragtrees.compare(
        *given,
        exposure=y[:, 1],
        methods=["defrag"],
        others={"tree": tree},
        random_state=0,
    )
    ours, other = table.rows()
    assert ours["failure"] is None
    assert ours["d2"] > other["d2"] - 0.01
    assert "deviance" in str(table)
    path = defragtrees.simplify_path(
        *given, exposure=y[:, 1], max_rules=3, random_state=0
    )
    assert [row["n_rules"] for row in path.rows()] == [1, 2, 3]
    assert path.rows()[0]["d2"] == pytest.approx(0, abs=0.05)
    assert "deviance" in str(path)
    assert "RMSE" not in str(path)


def test_the_command_line_takes_the_column_of_exposure(claims, tmp_path, capsys):
    X, y = claims
    table = pd.DataFrame(X, columns=["distance", "age"])
    model = LGBMRegressor(objective="poisson", n_estimators=20, verbose=-1)
    model.fit(table, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    model.booster_.save_model(tmp_path / "model.txt")
    table.assign(claims=y[:, 0], years=y[:, 1]).to_csv(
        tmp_path / "data.csv", index=False
    )
    files = [str(tmp_path / name) for name in ("model.txt", "data.csv", "rules.json")]
    both = ["--target", "claims,years"]

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        done = capsys.readouterr()
        assert code == 0, done.err
        return done.out

    text = call("simplify", *files[:2], *both, "--out", files[2], "--max-rules", 2)
    assert "events" in text
    assert "D²" in text
    rules = defragtrees.load(files[2])
    assert rules.task == "counts"
    assert sum(rule.totals[0] for rule in rules) < y[:, 0].sum()  # some are held out
    call("refit", files[2], files[1], *both, "--out", tmp_path / "again.json")
    first = defragtrees.load(tmp_path / "again.json").rules[0]
    assert first.totals[0] == y[rules.rules[0].covers(X), 0].sum()
    call("watch", files[2], files[1], *both)
    call("report", files[0], files[1], *both, "--out", tmp_path / "report.html")
    simple = simplify(files[0], files[1], "claims", exposure="years", random_state=0)
    assert simple.rules_.task == "counts"


def test_a_card_has_a_factor_table():
    near = Rule((Condition(0, upper=3.0),), 1.5, points=(np.log(3.0),))
    far = Rule((Condition(1, lower=50.0),), 0.6, points=(np.log(1.2),))
    base = Rule((), 0.5, points=(np.log(0.5),))
    card = Scorecard((near, far), base, ("distance", "age"), "counts")
    X = np.array([[1.0, 30.0], [2.0, 60.0], [5.0, 60.0], [6.0, 20.0]])
    y = np.array([[2, 1.0], [3, 2.0], [1, 0.5], [0, 1.5]])
    table = card.bins(X, y)
    table = table[table["rows"] > 0].set_index("bin")
    assert table["relativity"].tolist() == pytest.approx([3.0, 1.0, 1.0, 1.2, 0.5])
    near = table.loc["distance <= 3"]
    assert near[["events", "exposure", "rate"]].tolist() == pytest.approx([5, 3, 5 / 3])
    assert table["events"].iloc[-1] == 6
    whole = Scorecard(
        (Rule((Condition(0, upper=3.0),), 1.5, points=(4.0,)),),
        Rule((), 0.5, points=(1.0,)),
        ("distance", "age"),
        "counts",
        unit=0.1,
        origin=3.0,
    )
    factors = whole.bins()["relativity"].tolist()
    assert factors[0] * factors[-1] == pytest.approx(whole.predict(X)[0], rel=1e-5)


def test_the_card_of_factors_is_multiplied(cards, claims, tmp_path):
    X, y = claims
    pages = [
        write_report(tmp_path / "card.html", card, X, y).read_text("utf-8")
        for card in cards
    ]
    assert "multiply the relativities and the base rate" in pages[0]
    assert "add up the points" not in pages[0]
    assert "add up the points" in pages[1]


def test_totals_have_the_rate_of_their_exposure(cards, claims):
    X, y = claims
    card = cards[1]
    totals = card.totals(X)[:, 0]
    lines = metrics.score_table(card, X, y)
    assert len(lines) > 2
    for line in lines:
        own = (totals >= line["low"]) & (totals <= line["high"])
        events, years = y[own].sum(axis=0)
        assert line["observed"] == pytest.approx(events / years)
        expected = card.predict(X[own]) @ y[own, 1]
        assert line["estimated"] == pytest.approx(expected / years)
        assert line["n_rows"] == own.sum()


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_rows_have_the_interval_of_their_rate(claims, model, form):
    X, y = claims
    settings = {"form": form, "max_rules": 3, "random_state": 0}
    simple = DefragCounter(model, **settings).fit(X, y)
    rules = simple.rules_
    low, high = simple.rate_interval(X).T
    frame = rules.predict_frame(X, interval=0.95)
    assert frame[["low", "high"]].to_numpy().tolist() == rules.rate_interval(X).tolist()
    rates = simple.predict(X)
    assert (0 < low).all()
    assert ((low < rates) & (rates < high)).all()
    for rate in np.unique(rates):
        own = rates == rate
        observed = np.divide(*y[own].sum(axis=0))
        if y[own, 0].sum() > 100:
            assert low[own][0] < observed < high[own][0]
    ends = [
        DefragCounter(lambda X, n=n: model.predict(X) / n, **settings)
        .fit(X, y * [1, n])
        .rate_interval(X)
        for n in (1, 12)
    ]
    assert ends[0] == pytest.approx(12 * ends[1], rel=0.01)
    assert "95% interval" in rules.explain(X[:1])[0]
    again = defragtrees.rules.RuleModel.from_dict(json.loads(rules.export("json")))
    assert again.rate_interval(X).tolist() == rules.rate_interval(X).tolist()
    with pytest.raises(ValueError, match=r"interval=0\.95"):
        rules.predict_frame(X, interval=0.9)
    with pytest.raises(AttributeError, match="rate_interval"):
        rules.predict_interval(X)


def test_totals_have_the_interval_of_their_rate(cards, claims):
    X, _ = claims
    card = cards[1]
    header, rows = card._view.total_cells()
    assert header == ["total", "rate", "95% interval"]
    totals, ends = card.totals(X)[:, 0], card.rate_interval(X)
    for total, rate, interval in rows:
        low, high = map(float, interval.split("–"))
        assert low < float(rate) < high
        some = totals == float(total)
        if some.any():
            assert [low, high] == pytest.approx(ends[some][0].tolist(), rel=0.01)
    header, rows = cards[0]._view.total_cells()
    assert header == ["rate", "95% interval"]
    assert len(rows) > 2


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_intervals_of_totals_hold(spread):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(20):
        X = rng.uniform(size=(3000, 3))
        rates = 0.3 * np.exp((X[:, 0] > 0.5) + 0.7 * (X[:, 1] > 0.3) - X[:, 2])
        factor = rng.gamma(1 / spread, spread, len(X)) if spread else 1.0
        years = rng.uniform(0.1, 1.0, len(X))
        y = np.column_stack([rng.poisson(rates * factor * years), years])
        card = DefragCounter(
            lambda X: np.exp(X[:, 0] + 0.7 * X[:, 1] - X[:, 2]) / 2.5,
            form="points",
            max_rules=5,
            random_state=0,
        ).fit(X, y)
        totals = card.predict(X)
        for low, high, part in zip(
            *card.rate_interval(X).T[:, np.argsort(totals)][:, 150::300],
            np.array_split(np.argsort(totals), 10),
            strict=True,
        ):
            found.append(low <= np.average(rates[part], weights=years[part]) <= high)
    assert np.mean(found) >= 0.93


def test_a_report_speaks_of_rates_and_deviance(fitted, cards, claims, tmp_path):
    X, y = claims
    groups = np.where(X[:, 1] > 50, "old", "young")
    pages = []
    for rules in (fitted.rules_, *cards):
        path = write_report(tmp_path / "page.html", rules, X, y, groups=groups)
        pages.append(text_of_page(path.read_text("utf-8")))
        for word in ("absolute error", "R²", "units of", "of value", "Mean of"):
            assert word not in pages[-1], word
        deviance = rules.evaluate(X, y)["deviance"]
        assert f"Poisson deviance Rules {deviance:.3g}" in pages[-1]
        assert "Always the mean rate" in pages[-1]
        assert "Explained deviance (D²) Rules" in pages[-1]
        assert "per unit of exposure 1." not in pages[-1]
    first, factors, steps = pages
    events, years = y.sum(axis=0)
    assert f"{events:,.0f} events in an exposure of {years:.0f}" in first
    worse = mean_poisson_deviance(y[:, 0], events / years * y[:, 1])
    assert f"Always the mean rate {worse:.3g}" in first
    own = fitted.rules_.rules[0].covers(X)
    miss = mean_poisson_deviance(y[own, 0], fitted.predict(X[own]) * y[own, 1])
    assert f"Poisson deviance {miss:.3g}" in first
    assert "add up" not in factors
    assert "with points" not in factors
    assert "The base and the factors of every rule that matches are" in factors
    assert "add up" in steps
    assert "From total to risk total rate 95% interval 0 " in steps


def test_calibration_of_factors_is_by_their_product(cards, claims):
    text = cards[0].summary(*claims)
    table = text.partition("Estimated and observed")[2].splitlines()
    assert table[1].split()[0] == "product"
    for line in table[2:-1]:
        cell, estimated = line.split("  ")[0].split()[0], line.split()[1:]
        assert float(cell) > 0, estimated


def test_exposure_is_taken_where_y_is(fitted, claims, model):
    X, y = claims
    events, years, rules = y[:, 0], y[:, 1], fitted.rules_
    table = pd.DataFrame(X, columns=["x1", "x2"]).assign(years=years)
    expected = rules.evaluate(X, y)
    assert rules.evaluate(X, events, exposure=years) == expected
    assert rules.evaluate(table, events, exposure="years") == expected
    assert fitted.evaluate(X, events, exposure=years) == fitted.evaluate(X, y)
    assert rules.refit(X, events, exposure=years) == rules.refit(X, y)
    assert rules.check(X, events, exposure=years).findings == rules.check(X, y).findings
    again = DefragCounter(model, max_rules=2, random_state=0)
    assert again.fit(X, events, exposure=years).rules_ == rules
    frame = pd.DataFrame({"claims": events, "exposure": years})
    for given in (frame, frame.to_records(index=False), y):
        assert rules.evaluate(X, given) == expected
    by_name = simplify(model, X, frame, max_rules=2, random_state=0)
    assert by_name.rules_ == rules
    found = explain_errors(model, X, events, exposure=years)
    assert "deviance" in found
    numbers = RuleList((), Rule((), 1.0), ("x1", "x2"), "regression")
    with pytest.raises(ValueError, match="these predict numbers"):
        numbers.evaluate(X, events, exposure=years)
    with pytest.raises(ValueError, match="needs y"):
        rules.evaluate(X, exposure=years)


def test_exposure_of_dask_is_a_column(claims, model):
    dd = pytest.importorskip("dask.dataframe")
    X, y = claims
    table = pd.DataFrame(X, columns=["distance", "age"])
    table = table.assign(claims=y[:, 0], years=y[:, 1])
    model = RandomForestRegressor(5, min_samples_leaf=10, random_state=0)
    model.fit(table[["distance", "age"]], y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    lazy = dd.from_pandas(table, npartitions=3)
    given = lazy.drop(columns=["claims"]), lazy["claims"]
    settings = {"max_rules": 2, "random_state": 0}
    simple = simplify(model, *given, exposure="years", **settings)
    both = table[["distance", "age"]], y[:, 0]
    expected = simplify(model, *both, exposure=y[:, 1], **settings)
    assert simple.rules_ == expected.rules_
    named = DefragCounter(model, exposure="years", **settings).fit(*given)
    assert named.rules_ == expected.rules_
    array = dd.from_pandas(table, npartitions=3).to_dask_array(lengths=True)
    with pytest.raises(TypeError, match="second column of y"):
        simplify(model, array[:, :2], array[:, 2], exposure=array[:, 3])


def test_two_columns_become_counts_only_if_something_says_so(claims):
    X, y = claims
    both = np.column_stack([y[:, 0], X[:, 0]])
    plain = RandomForestRegressor(5, random_state=0).fit(X, y[:, 0] / y[:, 1])
    for call in (simplify, defragtrees.compare, defragtrees.simplify_path):
        with pytest.raises(ValueError, match=r"exposure=.*output="):
            call(plain, X, both)
    with pytest.raises(ValueError, match=r"exposure=.*output="):
        explain_errors(plain, X, both)
    two = RandomForestRegressor(5, random_state=0).fit(X, both)
    assert simplify(two, X, both, output=1, max_rules=2).rules_.task == "regression"
    rates = y[:, 0] / y[:, 1], y[:, 1]
    glm = make_pipeline(StandardScaler(), PoissonRegressor())
    glm.fit(X, rates[0], poissonregressor__sample_weight=rates[1])
    trees = HistGradientBoostingRegressor(loss="poisson", max_iter=5).fit(X, *rates)
    forest = RandomForestRegressor(5, criterion="poisson").fit(X, *rates)
    for model in (glm, trees, forest):
        assert (
            simplify(model, X, y, max_rules=2, random_state=0).rules_.task == "counts"
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exposure": np.nan}, "exposure must be a finite number; got nan in row 2"),
        ({"events": np.nan}, "The number of events must be a finite number; got nan"),
        ({"exposure": np.inf}, "exposure must be a finite number; got inf in row 2"),
    ],
)
def test_a_missing_exposure_is_named(claims, model, change, words):
    X, y = claims
    frame = pd.DataFrame({"events": y[:, 0], "exposure": y[:, 1]})
    frame.loc[1, list(change)] = list(change.values())
    with pytest.raises(ValueError, match=words):
        DefragCounter(model).fit(X, frame)


def test_rows_of_validation_have_an_exposure_too(claims, model):
    X, y = claims
    settings = {"exposure": y[:700, 1], "max_rules": 2, "random_state": 0}
    given = model, X[:700], y[:700, 0]
    with pytest.raises(ValueError, match="validation needs a y of two columns"):
        simplify(*given, validation=(X[700:], y[700:, 0]), **settings)
    simple = simplify(*given, validation=(X[700:], y[700:]), **settings)
    assert simple.rules_.task == "counts"


RATES = {
    "scikit-learn": HistGradientBoostingRegressor(loss="poisson", max_iter=30),
    "XGBoost": XGBRegressor(objective="count:poisson", n_estimators=30),
    "XGBoost Tweedie": XGBRegressor(objective="reg:tweedie", n_estimators=30),
    "LightGBM": LGBMRegressor(objective="poisson", n_estimators=30, verbose=-1),
    "LightGBM Tweedie": LGBMRegressor(objective="tweedie", verbose=-1),
    "CatBoost": CatBoostRegressor(200, loss_function="Poisson", verbose=0),
    "CatBoost Tweedie": CatBoostRegressor(
        200, loss_function="Tweedie:variance_power=1.5", verbose=0
    ),
    "Poisson GLM": make_pipeline(StandardScaler(), PoissonRegressor()),
    "Tweedie GLM": make_pipeline(StandardScaler(), TweedieRegressor(power=1.3)),
}


@pytest.mark.parametrize("name", RATES)
def test_every_model_of_rates_says_so_and_is_imitated(claims, name):
    X, y = claims
    y_rates, weight = y[:, 0] / y[:, 1], y[:, 1]
    model = clone(RATES[name])
    last = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    model.fit(X, y_rates, **{f"{last}sample_weight": weight})
    simple = simplify(model, X, y, max_rules=2, random_state=0)
    assert simple.rules_.task == "counts"
    near, far = simple.predict([[1.0, 50.0], [8.0, 50.0]])
    assert near > 2 * far
    rates = simple.predict(X)
    assert rates @ y[:, 1] == pytest.approx(y[:, 0].sum(), rel=0.1)


def test_what_else_a_fit_is_asked_for_needs_its_exposure(claims, model):
    X, y = claims
    settings = {"max_rules": 2, "random_state": 0, "n_jobs": 1}
    simple = DefragCounter(model, **settings).fit(X, y)
    for call in ("evaluate", "summary", "score", "stability", "alternatives"):
        with pytest.raises(ValueError, match="events and exposure, as in fit"):
            getattr(simple, call)(X, y[:, 0])
    assert simple.evaluate(X, y[:, 0], exposure=y[:, 1]) == simple.evaluate(X, y)
    frame = pd.DataFrame(X, columns=["distance", "age"]).assign(years=y[:, 1])
    plain = clone(model).fit(frame[["distance", "age"]], y[:, 0] / y[:, 1])
    named = DefragCounter(plain, exposure="years", **settings).fit(frame, y[:, 0])
    assert named.stability(frame, y[:, 0], n=2).found_again > 0.5
    assert len(named.alternatives(frame, y[:, 0], n=1)) >= 1


def test_the_model_is_trained_again_on_rates(claims, monkeypatch):
    X, y = claims
    trained, fit = [], RandomForestRegressor.fit

    def counted(self, X, y, sample_weight=None):
        trained.append((len(X), y @ sample_weight))
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(RandomForestRegressor, "fit", counted)
    forest = RandomForestRegressor(5, min_samples_leaf=10, random_state=0)
    forest.fit(X, y[:, 0] / y[:, 1], sample_weight=y[:, 1])
    simple = DefragCounter(forest, max_rules=2, random_state=0, n_jobs=1).fit(X, y)
    trained.clear()
    found = simple.stability(X, y, n=3)
    assert [n for n, _ in trained] == [450] * 3
    assert np.mean([n for _, n in trained]) == pytest.approx(y[:, 0].sum() / 2, rel=0.1)
    assert found.returns == (3, 3)
    assert all(2.0 < rate < 4.0 for rate in found.rates[0])
    assert "found again" in simple.summary(X, y)


def test_alternatives_are_compared_by_the_deviance(claims, model):
    X, y = claims
    simple = DefragCounter(model, max_rules=3, random_state=0).fit(X, y)
    menu = simple.alternatives(X, y, n=2, within=1.0)
    assert len(menu) > 1
    for loss, rules in zip(menu.losses, menu, strict=True):
        deviance = rules.evaluate(X, y)["deviance"]
        assert deviance < loss < 1.1 * deviance
    simple.use(1)
    assert simple.rules_.edits[-1].action == "use"


@pytest.mark.parametrize("form", ["list", "points"])
def test_rates_of_another_level_are_scaled_to_the_events(claims, model, form):
    X, y = claims
    low = lambda X: 0.1 * model.predict(X)  # noqa: E731  # as with an offset
    simple = simplify(low, X, y[:, 0], exposure=y[:, 1], form=form, max_rules=3)
    assert "to which the rules are scaled" in simple.summary(X, y).replace("\n", " ")
    assert simple.predict(X) @ y[:, 1] == pytest.approx(y[:, 0].sum(), rel=0.05)
