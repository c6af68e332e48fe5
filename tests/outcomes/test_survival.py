"""Survival: rules predict hazard ratios, and report the survival of their rows."""

import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.ensemble import RandomSurvivalForest
from sksurv.functions import StepFunction
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import (
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.tree import SurvivalTree
from sksurv.util import Surv
from xgboost import XGBRegressor

import defragtrees
from defragtrees import (
    Condition,
    DefragSurvival,
    Rule,
    RuleList,
    compare,
    compare_models,
    explain_errors,
    metrics,
    plots,
    simplify,
    simplify_path,
    write_report,
)
from defragtrees.cli.group import run
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.survival import Baseline, Curve, concordance, steps
from defragtrees.report.summary import summarize
from tests.pages import text_of_page

N = 400


@pytest.fixture(scope="module")
def patients():
    """Times until an event, by age and dose; age decides."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(30, 90, N), "dose": rng.uniform(0, 1, N)})
    time = rng.exponential(np.where(X["age"] > 65, 200.0, 900.0))
    until = rng.uniform(100, 1500, N)
    return X, Surv.from_arrays(time <= until, np.minimum(time, until).round() + 1)


@pytest.fixture(scope="module")
def model(patients):
    return CoxPHSurvivalAnalysis(alpha=0.1).fit(*patients)


@pytest.fixture(scope="module")
def fitted(patients, model):
    return simplify(model, *patients, max_rules=2, random_state=0)


def test_rules_report_hazard_ratios_and_survival(fitted, patients):
    X, y = patients
    rules = fitted.rules_
    assert rules.task == "survival"
    assert rules.features == ("age",)
    first = fitted.apply(X) == 0
    known = rules.outcome.survival(rules.rules[0])
    [horizon] = rules.outcome.baseline.horizons
    own = kaplan_meier_estimator(
        y["event"][first], y["time"][first], conf_type="log-log"
    )
    place = np.searchsorted(own[0], horizon, side="right") - 1
    [(_, (value, low, high))] = known["survival"]
    assert value == pytest.approx(own[1][place])
    assert low < own[2][0, place] < own[2][1, place] < high  # rows count as fewer
    assert known["median"][0] == own[0][own[1] <= 0.5][0]
    text = str(rules)
    assert f"S({horizon:g})" in text
    assert "median" in text
    assert max(map(len, text.splitlines())) <= 80


def test_intervals_of_survival_are_those_of_scikit_survival(patients):
    _, y = patients
    event, time, weight = y["event"], y["time"], np.ones(N)
    times, at_risk, events = steps(event, time, weight, N)
    curve = (0, *times, time.max()), (N, *at_risk, 1), (0, *events, 0)
    curve = Curve(np.ravel(curve), float(N))
    own = kaplan_meier_estimator(event, time, conf_type="log-log")
    for k in range(5, len(own[0]) - 5, 20):
        expected = own[1][k], *own[2][:, k]
        assert curve.interval(own[0][k]) == pytest.approx(expected)
    few = steps(event, time, weight, 10)
    assert len(few[0]) == 10
    joined = np.cumprod(1 - few[2] / few[1])
    assert joined == pytest.approx(own[1][np.searchsorted(own[0], few[0])])


@pytest.mark.parametrize("n_rows", [40, 1300])
def test_concordance_is_that_of_scikit_survival(n_rows):
    rng = np.random.default_rng(n_rows)
    time = rng.integers(1, 60, n_rows).astype(float)
    event, risk = rng.random(n_rows) < 0.6, rng.integers(0, 9, n_rows) / 7
    expected = concordance_index_censored(event, time, risk)[0]
    found = concordance(event, time, risk, np.ones(n_rows))
    assert found == pytest.approx(expected)
    twice = concordance(
        *(np.tile(one, 2) for one in (event, time, risk)), np.ones(2 * n_rows)
    )
    weighted = concordance(event, time, risk, np.full(n_rows, 2.0))
    assert weighted == pytest.approx(expected)
    assert twice == pytest.approx(expected)


def test_predicted_functions_are_those_of_their_rules(fitted, patients):
    X, y = patients
    survival = fitted.predict_survival_function(X)
    hazard = fitted.predict_cumulative_hazard_function(X)
    some = survival[0]
    assert isinstance(some(300.0), float)
    assert StepFunction(some.x, some.y)(300.0) == some(300.0)
    assert -np.log(some(300.0)) == pytest.approx(hazard[0](300.0))
    array = fitted.predict_survival_function(X, return_array=True)
    assert array.shape == (N, len(fitted.unique_times_))
    first = fitted.apply(X) == 0
    own = kaplan_meier_estimator(y["event"][first], y["time"][first])
    assert array[first][0] == pytest.approx(
        own[1][np.searchsorted(own[0], fitted.unique_times_, side="right") - 1],
        abs=0.02,
    )


def test_points_are_hazard_ratios(patients, model):
    X, y = patients
    card = simplify(model, X, y, form="points", max_rules=3, random_state=0)
    assert "Multiply the base by the ratios" in str(card.rules_)
    function = card.predict_survival_function(X[:1])[0]
    baseline = card.rules_.outcome.baseline
    expected = np.exp(-card.predict(X[:1])[0] * baseline.at(300.0))
    assert function(300.0) == pytest.approx(expected)


def test_rules_are_saved_and_loaded(fitted, patients, tmp_path):
    X, y = patients
    fitted.save(tmp_path / "rules.json")
    again = defragtrees.load(tmp_path / "rules.json")
    assert again == fitted.rules_
    assert str(again) == str(fitted.rules_)
    assert again.evaluate(X, y)["concordance"] == fitted.score(X, y)


@pytest.mark.parametrize("kind", ["forest", "cox", "aft", "log hazard", "no model"])
def test_models_become_hazard_ratios(kind, patients):
    X, y = patients
    signed = np.where(y["event"], y["time"], -y["time"])
    how = {"n_estimators": 20, "max_depth": 2, "random_state": 0}
    if kind == "forest":
        model = RandomSurvivalForest(20, min_samples_leaf=20, random_state=0)
        model.fit(X, y)
    elif kind == "cox":
        model = XGBRegressor(objective="survival:cox", **how).fit(X, signed)
    elif kind == "aft":
        latest = np.where(y["event"], y["time"], np.inf)
        bounds = {"label_lower_bound": y["time"], "label_upper_bound": latest}
        how = {"objective": "survival:aft", "max_depth": 2}
        model = xgboost.train(how, xgboost.DMatrix(X, **bounds), 20)
    elif kind == "no model":
        model = None
    else:

        def model(X):
            return 1.5 * (np.asarray(X["age"]) > 65) + 3.0

    simple = DefragSurvival(model, max_rules=2, random_state=0, target="model")
    simple.fit(X, y)
    first = simple.rules_.rules[0]
    assert simple.rules_.features == ("age",)
    assert 60 < first.conditions[0].lower < 70 or first.conditions[0].upper
    ratios = simple.forest_.predict(X)
    exposure = make_outcome("survival").read(y)[:, 1]
    assert ratios @ exposure == pytest.approx(y["event"].sum(), rel=0.02)
    assert simple.score(X, y) > 0.6
    if kind == "log hazard":
        assert ratios.max() / ratios.min() == pytest.approx(np.exp(1.5))


def test_y_is_read_by_its_form(patients, model):
    X, y = patients
    frame = pd.DataFrame({"time": y["time"], "event": y["event"].astype(int)})
    pairs = pd.DataFrame({"died": y["event"], "days": y["time"]})
    expected = simplify(model, X, y, max_rules=2, random_state=0).rules_
    for given in (frame, pairs):
        assert simplify(model, X, given, max_rules=2, random_state=0).rules_ == expected
    counts = frame[["event", "time"]].to_numpy()
    assert simplify(model, X, counts, max_rules=2, random_state=0).rules_ == expected
    forest = RandomForestRegressor(5, random_state=0)
    forest.fit(X, counts[:, 0] / counts[:, 1], sample_weight=counts[:, 1])
    given = {"exposure": counts[:, 1], "max_rules": 2}
    assert simplify(forest, X, counts[:, 0], **given).rules_.task == "counts"


@pytest.mark.filterwarnings("ignore:Starting with pandas")  # in lifelines
@pytest.mark.parametrize(
    "name", ["CoxPHFitter", "WeibullAFTFitter", "LogNormalAFTFitter"]
)
def test_models_of_lifelines_become_hazard_ratios(name, patients):
    why = "lifelines is in the extra survival and not installed"
    lifelines = pytest.importorskip("lifelines", reason=why)
    X, y = patients
    table = X.assign(days=y["time"], died=y["event"])
    model = getattr(lifelines, name)().fit(table, "days", "died")
    simple = simplify(model, X, y, max_rules=2, random_state=0, target="model")
    assert simple.rules_.task == "survival"
    assert simple.rules_.features == ("age",)
    assert "age" in str(simple.rules_)
    ratios = simple.forest_.predict(X)
    assert np.corrcoef(np.log(ratios), X["age"])[0, 1] > 0.9
    assert simple.evaluate(X, y)["model_concordance"] == pytest.approx(
        model.concordance_index_, abs=1e-6
    )
    alone = simple.rules_.evaluate(X, y, model=model)
    assert alone["model_d2"] == pytest.approx(simple.evaluate(X, y)["model_d2"])
    times = "as times" if "AFT" in name else "as hazard ratios"
    assert times in simple.summary()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"event": 2}, "1 or 0"),
        ({"time": -1.0}, "0 or more"),
        ({"time": np.nan}, "The time must be a finite number; got nan in row 4"),
    ],
)
def test_rows_that_cannot_be_are_rejected(change, word, patients):
    X, y = patients
    frame = pd.DataFrame({"event": y["event"].astype(int), "time": y["time"]})
    frame.loc[3, list(change)] = list(change.values())
    with pytest.raises(ValueError, match=word):
        DefragSurvival().fit(X, frame)


def test_other_input_is_rejected(patients, model, fitted):
    X, y = patients
    none = Surv.from_arrays(np.zeros(N, bool), y["time"])
    with pytest.raises(ValueError, match="censored"):
        DefragSurvival(model).fit(X, none)
    for times in (1e6, [0.0], [-1.0], "a", [], [[1.0], [2.0]], True):
        with pytest.raises(ValueError, match="last time in y"):
            DefragSurvival(model, times=times).fit(X, y)
    with pytest.raises(TypeError, match="setting of DefragSurvival"):
        simplify(model, X, y, times=300)
    swapped = pd.DataFrame({"time": y["event"], "event": y["time"]})
    with pytest.raises(ValueError, match="Are they swapped"):
        DefragSurvival(model).fit(X, swapped)
    with pytest.raises(ValueError, match="Are they swapped"):
        DefragSurvival(model).fit(X, np.column_stack([y["time"], y["event"]]))
    for name in ("event", "time"):
        frame = pd.DataFrame({"event": y["event"] * 1.0, "time": y["time"]})
        frame.loc[2, name] = np.nan
        with pytest.raises(ValueError, match=f"The {name} must be a finite number"):
            DefragSurvival(model).fit(X, frame)
    for weight in (np.zeros(N), np.full(N, np.nan), 1.0 - y["event"]):
        with pytest.raises(ValueError, match="sample_weight"):
            DefragSurvival(model).fit(X, y, weight)
    with pytest.raises(ValueError, match="need y"):
        DefragSurvival(model).fit(X)
    with pytest.raises(ValueError, match="All times in y are 0"):
        DefragSurvival(model).fit(X, pd.DataFrame({"event": y["event"], "time": 0.0}))
    named = np.where(y["event"], "dead", "alive")
    with pytest.raises(ValueError, match="event and time must be numeric"):
        DefragSurvival(model).fit(X, pd.DataFrame({"event": named, "time": y["time"]}))
    for call in (simplify, compare, simplify_path):
        with pytest.raises(ValueError, match="y needs two columns"):
            call(model, X, y["time"])
    with pytest.raises(ValueError, match="these predict hazard ratios"):
        simplify(model, X, y["event"], exposure=y["time"])
    with pytest.raises(ValueError, match="hazard ratios"):
        fitted.rules_.predict_frame(X, exposure=1.0)


def test_rules_by_hand_have_the_curve_of_all_rows():
    baseline = Baseline((1.0, 2.0), (0.5, 1.0), (2.0,))
    rules = RuleList(
        (Rule((Condition(0, lower=3.0),), 2.0),),
        Rule((), 1.0),
        ("age",),
        "survival",
        _baseline=baseline,
    )
    matches = rules.covers([[4.0], [1.0]])
    found = rules.outcome.survival_at(rules._form, matches, [1.0, 2.0])
    assert found == pytest.approx(np.exp([[-1.0, -2.0], [-0.5, -1.0]]))


FORMS = {
    "list": {},
    "standalone": {"form": "standalone"},
    "factors": {"form": "points"},
    "card": {"form": "points", "points": "integer"},
}


@pytest.fixture(scope="module", params=FORMS)
def every_form(request, patients, model):
    settings = {"max_rules": 3, "random_state": 0, **FORMS[request.param]}
    return simplify(model, *patients, **settings).rules_


def test_exports_have_survival_at_the_horizons(every_form, patients):
    X, _ = patients
    expected = every_form.predict_frame(X)
    [name] = [column for column in expected if column.startswith("survival ")]
    functions = every_form.outcome.survival_at(
        every_form._form, every_form.covers(X), every_form.outcome.horizons
    )
    assert expected[name].to_numpy() == pytest.approx(functions[:, 0])
    query = every_form.export("sql", table="X", dialect="sqlite")
    base = sqlite3.connect(":memory:")
    X.to_sql("X", base, index=False)
    found = [pd.read_sql_query(query, base)]
    query = every_form.export("sql", table="X", dialect="duckdb")
    found.append(duckdb.sql(query).df())
    for frame in found:
        for column in expected.columns.intersection(frame.columns):
            assert frame[column].tolist() == pytest.approx(expected[column].tolist())
        assert {"prediction", name} <= {*frame}
    assert ("rule" in found[0]) == every_form._form.is_exclusive
    space: dict = {}
    exec(every_form.export("python"), space)
    rows = X.to_dict("records")
    assert [space["predict"](row) for row in rows] == pytest.approx(
        expected["prediction"].tolist()
    )
    assert [space["further"](row)[name] for row in rows] == pytest.approx(
        expected[name].tolist()
    )


def test_totals_of_a_card_have_survival(patients, model):
    X, y = patients
    how = {"form": "points", "max_rules": 3, "random_state": 0}
    card = simplify(model, X, y, points="integer", **how).rules_
    header, rows = card._view.total_cells()
    [horizon] = card.outcome.horizons
    assert header == ["total", "HR", "95% interval", f"survival {horizon:g}"]
    totals, frame = card.totals(X)[:, 0], card.predict_frame(X)
    for total, ratio, interval, share in rows:
        low, high = map(float, interval.split("–"))
        assert low < float(ratio) < high
        some = frame[totals == float(total)]
        if len(some):
            assert float(ratio) == pytest.approx(some["prediction"].iloc[0], rel=0.01)
            assert float(share.partition("%")[0]) == pytest.approx(
                100 * some[header[-1]].iloc[0], abs=1.0
            )
    factors = simplify(model, X, y, **how).rules_
    assert factors._view.total_cells()[0] == ["HR", *header[2:]]
    product = factors.explain(X[:1])[0].splitlines()[-1].split()
    expected = pytest.approx(factors.predict(X[:1])[0], rel=0.01)
    assert product == ["product", product[1]]
    assert float(product[1]) == expected


def test_cells_have_intervals_below(fitted):
    text = fitted.rules_.table(width=80)
    head, first, second, *_ = text.splitlines()
    assert head.split()[:3] == ["#", "if", "HR"]
    assert "%" in first
    assert "–" in second
    assert "HR, 95% interval" in fitted.rules_.table(details=True)
    narrow = fitted.rules_.table(width=40)
    assert "median" in narrow
    assert ") S(" not in narrow
    assert r"\newline" not in fitted.export("latex")


def test_new_rows_are_checked(fitted, patients):
    X, y = patients
    assert not fitted.rules_.check(X, y).has_moved
    sooner = Surv.from_arrays(y["event"], y["time"] / 4)
    moved = {finding.kind for finding in fitted.rules_.check(X, sooner).moved}
    assert {"mean", "target"} <= moved


def test_a_report_has_the_curves(fitted, patients, tmp_path):
    X, y = patients
    page = write_report(tmp_path / "page.html", fitted, X, y).read_text("utf-8")
    assert 'id="survival"' in page
    assert "(concordance, from 50%)" in page
    assert "Predicting a hazard ratio" in page
    assert 'id="edit"' not in page


def test_curves_are_drawn_with_the_rows_at_risk(fitted, patients, model):
    _, y = patients
    ax = plots.survival(fitted.rules_)
    assert ax.get_ylabel() == "survival"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"rule {k}" for k in range(1, len(fitted.rules_) + 1)
    ]
    ticks = ax.get_xticks()
    at_risk = np.array([int(text.get_text()) for text in ax.texts])
    expected = [(y["time"] >= tick).sum() for tick in ticks]
    sums = at_risk.reshape(-1, len(ticks)).sum(axis=0)
    assert sums == pytest.approx(expected, abs=N / 50)  # censored between events
    card = simplify(model, *patients, form="points", max_rules=2, random_state=0)
    with pytest.raises(ValueError, match="curve"):
        plots.survival(card.rules_)


def test_lengths_and_methods_are_compared(patients, model):
    path = simplify_path(model, *patients, max_rules=3, random_state=0)
    assert path.points[-1].n_rules == 3
    tree = SurvivalTree(max_leaf_nodes=3, min_samples_leaf=20)
    table = compare(model, *patients, others={"tree": tree}, random_state=0)
    line, other = table.rows()  # the baselines are for classes and numbers
    assert 0.5 < line["concordance"] < 1
    for measured in (line, other, table.model_scores):
        assert 0 < measured["d2"] < 0.5
    with pytest.raises(ValueError, match="distilled"):
        simplify(model, *patients, method="distilled")


def test_segments_of_a_model_are_found_by_its_residuals():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(2500, 2)), columns=["a", "b"])
    hazard = np.where(X["a"] > 0.5, 2.0, 1.0)
    time = rng.exponential(1 / (hazard * np.where(X["b"] > 0.7, 3.0, 1.0)))
    until = rng.uniform(0.2, 2.0, len(X))
    y = Surv.from_arrays(time <= until, np.minimum(time, until))
    model = lambda X: np.where(X["a"] > 0.5, 2.0, 1.0)  # noqa: E731
    found = explain_errors(model, X, y)
    assert list(found) == ["deviance", "too low", "too high"]
    [condition] = found["too low"][0].conditions
    assert condition.feature == 1
    assert condition.lower == pytest.approx(0.7, abs=0.03)
    assert "absolute residual" in explain_errors(model, X, y, "martingale")
    with pytest.raises(ValueError, match="deviance, martingale"):
        explain_errors(model, X, y, "absolute")
    # Those of rules are on their own scale.
    simple = DefragSurvival(model, max_rules=2, random_state=0, target="model")
    rules = simple.fit(X, y).rules_
    apart = explain_errors(rules, X, y)["too low"]
    assert {one.feature for one in apart[0].conditions} == {1}
    line = compare_models(model, rules, X, y)
    assert {*line} == {"a better", "b better"}


def test_measures_are_those_of_scikit_survival(patients, model):
    X, y = patients
    old, new = slice(0, 150), slice(150, None)
    fitted = simplify(model, X[old], y[old], max_rules=2, random_state=0)
    rules, (X, train, y) = fitted.rules_, (X[new], y[old], y[new])
    found = metrics.survival(rules, X, y, [300.0])
    # All rows count whose censoring the training rows know.
    last = train["time"].max()
    inside = y["time"] < last
    until = Surv.from_arrays(y["event"] & inside, np.minimum(y["time"], last))
    grid = np.unique(np.quantile(train["time"], np.linspace(0.1, 0.9, 50)))
    curves = np.array([one(grid) for one in fitted.predict_survival_function(X)])
    risk = fitted.predict(X)
    # The functions have at most 500 steps of all rows.
    expected = integrated_brier_score(train, until, curves, grid)
    assert found["brier"] == pytest.approx(expected, abs=0.002)
    [auc], mean = cumulative_dynamic_auc(train, until, risk, [300.0])
    assert found["auc 300"] == found["auc"] == auc == mean
    uno = concordance_index_ipcw(train, until, risk, tau=grid[-1])[0]
    assert found["uno"] == uno
    scores = fitted.evaluate(X, y)
    assert scores["uno"] == uno
    assert scores["integrated_brier"] == found["brier"]
    assert 0.5 < scores["dynamic_auc"] < 1
    assert scores["model_uno"] > 0.6
    again = defragtrees.rules.RuleModel.from_dict(rules.to_dict())
    assert again.evaluate(X, y)["uno"] == uno
    text = fitted.summary(X, y)
    for name in ("Uno's concordance", "integrated Brier score", "AUC at the horizons"):
        assert name in text
    unequal = fitted.evaluate(X, y, np.linspace(1, 2, len(X)))
    assert "uno" not in unequal
    with pytest.raises(ValueError, match="survival"):
        metrics.survival(RuleList((), Rule((), 1.0), ("a",), "counts"), X, y)
    with pytest.raises(ValueError, match="times must be"):
        metrics.survival(rules, X, y, "soon")


def test_comparisons_and_reports_have_the_measures_of_scikit_survival(
    patients, model, tmp_path
):
    X, y = patients
    tree = SurvivalTree(max_leaf_nodes=3, min_samples_leaf=20)
    table = compare(model, X, y, others={"tree": tree}, random_state=0)
    assert "IBS" in str(table)
    for row in table.rows():
        assert 0.5 < row["uno"] < 1
        assert 0 < row["integrated_brier"] < 0.3
    fitted = table.estimators[table.rows()[0]["method"], None]
    path = write_report(tmp_path / "page.html", fitted, X, y)
    page = text_of_page(path.read_text("utf-8"))
    uno = fitted.evaluate(X, y)["uno"]
    assert f"Uno's concordance {uno:.3g}" in page
    assert "Calibration by decile" in page


def test_without_scikit_survival_its_measures_are_left_out(
    fitted, patients, monkeypatch
):
    monkeypatch.setattr("defragtrees.outcomes.survival.find_spec", lambda name: None)
    assert "uno" not in fitted.evaluate(*patients)
    assert "Uno" not in fitted.summary(*patients)


def test_loaded_rules_predict_functions(fitted, patients, tmp_path):
    X, _ = patients
    fitted.save(tmp_path / "rules.json")
    rules = defragtrees.load(tmp_path / "rules.json")
    for name in ("predict_survival_function", "predict_cumulative_hazard_function"):
        own, other = (
            getattr(one, name)(X[:5], return_array=True) for one in (rules, fitted)
        )
        assert own.tolist() == other.tolist()
        function = getattr(rules, name)(X[:5])[0]
        assert function.x.tolist() == fitted.unique_times_.tolist()
        assert function.y.tolist() == own[0].tolist()
    counts = RuleList((), Rule((), 1.0), ("a",), "counts")
    with pytest.raises(AttributeError, match="no survival functions"):
        counts.predict_survival_function([[1.0]])
    assert "predict_survival_function" in dir(rules)
    assert "predict_survival_function" not in dir(counts)


def test_files_and_the_command_line(patients, tmp_path, monkeypatch):
    X, y = patients
    monkeypatch.chdir(tmp_path)
    signed = np.where(y["event"], y["time"], -y["time"])
    how = {"n_estimators": 20, "max_depth": 2, "random_state": 0}
    model = XGBRegressor(objective="survival:cox", **how).fit(X, signed)
    model.save_model("cox.json")
    table = X.assign(event=y["event"].astype(int), time=y["time"])
    table.to_parquet("rows.parquet")
    (tmp_path / "settings.toml").write_text("times = [200, 400]\n")
    rows = ["rows.parquet", "--target", "event,time"]
    for command in (
        ["simplify", "cox.json", *rows, "--max-rules", "2", "--out", "rules.json"],
        ["watch", "rules.json", *rows],
        ["refit", "rules.json", *rows, "--out", "again.json"],
        ["report", "rules.json", *rows, "--out", "page.html"],
        ["segments", "cox.json", *rows, "--loss", "martingale"],
        ["compare", "cox.json", *rows],
    ):
        settings = ["--settings", "settings.toml"] * (command[0] == "simplify")
        assert run([*command, *settings]) == 0, command
    rules = defragtrees.load("rules.json")
    assert rules.outcome.horizons == (200.0, 400.0)
    in_memory = DefragSurvival(model, max_rules=2, times=[200, 400])
    in_memory.fit("rows.parquet", ("event", "time"))
    assert in_memory.rules_.task == "survival"
    assert 'id="survival"' in (tmp_path / "page.html").read_text("utf-8")
    polars = pytest.importorskip("polars")
    in_polars = simplify(
        model, polars.from_pandas(X), polars.from_pandas(table[["event", "time"]])
    )
    assert in_polars.rules_.task == "survival"


def test_a_classifier_and_an_exposure_are_rejected(patients):
    X, y = patients
    classes = RandomForestClassifier(5, random_state=0).fit(X, y["event"])
    with pytest.raises(ValueError, match="2 columns"):
        simplify(classes, X, y)
    with pytest.raises(ValueError, match="y must have one column"):
        simplify(RandomForestRegressor(2).fit(X, y["time"]), X, y, exposure=y["time"])


def test_a_row_of_weight_two_counts_as_two(fitted, patients, model):
    X, y = patients
    weight = np.random.default_rng(0).integers(1, 3, N)
    rows = np.repeat(np.arange(N), weight)
    rules = fitted.rules_
    one = rules.refit(X, y, sample_weight=weight.astype(float))
    two = rules.refit(X.iloc[rows], y[rows])
    for first, second in zip(one, two, strict=True):
        assert first.prediction == pytest.approx(second.prediction, rel=1e-3)
        found, expected = map(rules.outcome.survival, (first, second))
        assert found["median"][0] == expected["median"][0]
        assert found["survival"][0][1][0] == pytest.approx(
            expected["survival"][0][1][0]
        )
    validated = simplify(
        model, X[:300], y[:300], validation=(X[300:], y[300:]), max_rules=2
    )
    assert 0.5 < validated.validation_["concordance"] < 1
    assert "neither the search nor the model used" in str(validated.rules_)


def test_rules_are_fitted_again(fitted, patients):
    X, y = patients
    assert "of 2" in str(fitted.stability(X, y, n=2))


@pytest.fixture(scope="module")
def of_forest(patients):
    """A forest whose risks are expected numbers of events, and rules of it."""
    X, y = patients
    forest = RandomSurvivalForest(20, min_samples_leaf=20, random_state=0).fit(X, y)
    return forest, simplify(forest, X, y, max_rules=3, random_state=0)


def test_a_model_beside_rules_is_on_their_scale(of_forest, patients, tmp_path):
    X, y = patients
    forest, simple = of_forest
    expected = simple.evaluate(X, y)
    found = simple.rules_.evaluate(X, y, model=forest)
    for name in ("model_d2", "model_deviance", "fidelity", "model_concordance"):
        assert found[name] == pytest.approx(expected[name], abs=1e-3), name
    simple.save(tmp_path / "rules.json")
    rules = defragtrees.load(tmp_path / "rules.json")
    assert rules.evaluate(X, model=forest)["fidelity"] == pytest.approx(
        expected["fidelity"], abs=1e-3
    )
    assert not rules.check(X, y, model=forest).has_moved
    assert not rules.check(X, model=forest).has_moved
    agreed = next(f for f in rules.check(X, model=forest).findings if "model" in f.text)
    assert agreed.now < 3 * agreed.then
    alone = summarize(rules, X, y, model=forest).scores
    assert alone["model_d2"] == pytest.approx(expected["model_d2"], abs=1e-3)
    column = X.assign(risk=forest.predict(X))
    assert rules.evaluate(column, y, model="risk")["model_d2"] == pytest.approx(
        expected["model_d2"], abs=1e-3
    )


def test_another_model_beside_rules_has_a_scale_of_its_own(of_forest, patients):
    X, y = patients
    _, simple = of_forest
    other = lambda X: -900.0 * np.exp(-1.5 * (X["age"] > 65))  # noqa: E731
    found = simple.rules_.evaluate(X, y, model=other)
    assert 0.05 < found["model_d2"] < 1
    assert found["model_d2"] > simple.evaluate(X, y)["d2"] - 0.1
    # Rules are on the scale already.
    again = simple.rules_.evaluate(X, y, model=simple.rules_)
    assert again["fidelity"] == 1
    known = replace(simple.rules_._baseline, scale=())
    by_hand = replace(simple.rules_, _baseline=known)
    assert by_hand.evaluate(X, y, model=other)["model_d2"] > 0.05
    with pytest.raises(ValueError, match="pass y"):
        by_hand.evaluate(X, model=other)


def test_rows_at_risk_are_counted(patients, model):
    X, y = patients
    simple = simplify(model, X, y, max_rules=3, random_state=0)
    times, rows = plots.curves.numbers_at_risk(simple.rules_)
    apply = simple.apply(X)
    assert len(times) > 3
    for k, row in enumerate(rows.values()):
        own = y["time"][apply == k]
        assert row == [(own >= time).sum() for time in times]
    # Rules that are left keep their counts.
    times, rows = plots.curves.numbers_at_risk(simple.rules_.drop(2))
    own = y["time"][apply == 0]
    assert rows["rule 1"] == [(own >= time).sum() for time in times]


def test_survival_after_the_last_of_all_events_is_zero():
    curve = Curve((0.0, 1.0, 1.0, 6.0, 6.0, 6.0, 0.0, 6.0, 0.0), 6.0)
    value, low, high = curve.interval(5.0)
    assert (value, low) == (0.0, 0.0)
    assert 0 < high < 0.6
    censored = Curve((0.0, 1.0, 2.0, 6.0, 6.0, 3.0, 0.0, 3.0, 0.0), 6.0)
    assert censored.interval(5.0) is None


def test_segments_are_tested_on_rows_that_did_not_set_the_scale():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 2)), columns=["a", "b"])
    time = rng.exponential(np.where(X["a"] > 0.5, 1.0, 2.0))
    y = Surv.from_arrays(time <= 2, np.minimum(time, 2.0))
    found = explain_errors(lambda X: np.where(X["a"] > 0.5, 2.0, 1.0), X, y)
    assert 1e-5 < abs(found["too low"].mean) < 0.3


@pytest.mark.parametrize("form", FORMS)
def test_rows_have_the_interval_of_their_hazard_ratio(patients, model, form):
    X, y = patients
    simple = simplify(model, X, y, max_rules=3, random_state=0, **FORMS[form])
    low, high = simple.rate_interval(X).T
    ratios = simple.predict(X)
    assert ((0 < low) & (low < ratios) & (ratios < high)).all()
    frame = simple.rules_.predict_frame(X, interval=0.95)
    assert frame["low"].tolist() == low.tolist()


def test_a_report_speaks_of_hazard_ratios(fitted, patients, tmp_path):
    X, y = patients
    groups = np.where(X["dose"] > 0.5, "more", "less")
    path = write_report(tmp_path / "page.html", fitted.rules_, X, y, groups=groups)
    page = text_of_page(path.read_text("utf-8"))
    for word in ("absolute error", "R²", "units of", "of value", "Mean of", "exposure"):
        assert word not in page, word
    deviance = fitted.evaluate(X, y)["deviance"]
    assert f"Deviance Rules {deviance:.3g}" in page
    assert "Observed here: mean hazard ratio" in page


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--exposure", "--target claims,years"),
        ("--event", "--target event,time"),
        ("--times", "times = [365]"),
    ],
)
def test_options_that_there_are_not_have_a_hint(option, words, tmp_path, capsys):
    for name in ("model.json", "data.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    files = [str(tmp_path / name) for name in ("model.json", "data.csv")]
    assert run(["simplify", *files, option, "b"]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["scikit-survival", "XGBoost", "CatBoost"])
def test_models_are_trained_again_on_events_and_times(patients, name):
    X, y = patients
    signed = np.where(y["event"], y["time"], -y["time"])
    if name == "scikit-survival":
        model = make_pipeline(StandardScaler(), CoxPHSurvivalAnalysis(alpha=0.1))
        model.fit(X, y)
    elif name == "XGBoost":
        model = XGBRegressor(objective="survival:cox", n_estimators=10, max_depth=2)
        model.fit(X, signed)
    else:
        model = CatBoostRegressor(20, loss_function="Cox", verbose=0, random_seed=0)
        model.fit(X, signed)
    simple = DefragSurvival(model, max_rules=2, random_state=0, n_jobs=1).fit(X, y)
    found = simple.stability(X, y, n=2)
    assert found.model.startswith("Model and rules were fitted again")
    assert found.n_resamples == 2
    assert found.correlation > 0.8
    assert found.columns["age"] == 2


def test_alternatives_have_curves(patients, model):
    X, y = patients
    simple = DefragSurvival(model, max_rules=3, random_state=0).fit(X, y)
    menu = simple.alternatives(X, y, n=2, within=1.0, without="dose")
    assert len(menu) > 1
    assert menu[1].features == ("age",)
    assert menu[1].outcome.survival(menu[1].rules[0])["survival"]
    for loss, rules in zip(menu.losses, menu, strict=True):
        deviance = rules.evaluate(X, y)["deviance"]
        assert deviance < loss < 1.1 * deviance
