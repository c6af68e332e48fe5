"""What comes back on other rows, rule by rule, if the model is trained again."""

import json

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import metrics
from defragtrees._api import simplify
from defragtrees._compare import compare
from defragtrees.baselines.distilled import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from defragtrees.metrics import resampling
from defragtrees.report.summary import summarize
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import weather, written


def split(at, value=1.0, feature=0):
    low = Rule((Condition(feature, upper=at),), 0.0)
    return RuleList((low,), Rule((), value), ("size", "age"), "regression")


def test_rules_are_compared_as_one_would_by_hand():
    X = np.column_stack([np.arange(100.0), np.arange(100.0)[::-1]])
    halves = [np.arange(50)] * 3
    done = [split(53.0, 2.0), split(79.0, 3.0), split(49.0, 4.0, feature=1)]
    same, correlation, rates, columns = resampling._measured(
        split(49.0), done, halves, X
    )
    # 50 of 54 and of 80 rows are common to the lower rules, 46 and 20 of 50 to the
    # upper ones; the upper rule of the third has the lower rows of the printed one.
    assert rates == ((0.0, 0.0, 4.0), (2.0, 0.0))
    assert columns == {"size": 2, "age": 1}
    one = resampling._compared(split(49.0), split(79.0), split(49.0).covers(X), X)
    assert one[1] == pytest.approx(np.corrcoef(X[:, 0] > 49, X[:, 0] > 79)[0, 1])
    assert 0 <= same <= 1
    assert correlation <= 1


@pytest.fixture(scope="module")
def clear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0.5).astype(int)
    noise = rng.integers(0, 2, 400)
    return X, y, noise


class Counting(ClassifierMixin, BaseEstimator):
    """A tree that counts how often it is trained, and on how many rows."""

    trained: list[tuple[int, float]] = []  # noqa: RUF012

    def __init__(self, most=np.inf):
        self.most = most

    def fit(self, X, y, sample_weight=None):
        if len(self.trained) >= self.most:
            raise RuntimeError("the licence ran out")
        self.trained.append((len(X), np.sum(sample_weight or 0)))
        self.tree_ = DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


def text_of(found):
    """What is printed, in one line."""
    return " ".join(str(found).split())


def distilled(model, X, y):
    """Rules of a distilled tree; one process, in which fits can be counted."""
    tree = DistilledTreeClassifier(model, max_rules=3, random_state=0, n_jobs=1)
    return tree.fit(X, y)


def test_the_model_is_trained_again_in_each_fit(clear):
    X, y, _ = clear
    Counting.trained.clear()
    simple = distilled(Counting().fit(X, y), X, y)
    assert len(Counting.trained) == 1
    found = simple.stability(X, y, n=3)
    assert [n for n, _ in Counting.trained[1:]] == [200] * 3
    assert "Model and rules were fitted again to 3" in text_of(found)
    fixed = simple.stability(X, y, n=3, refit=False)
    assert len(Counting.trained) == 4
    assert "the model stayed the same (refit=False)" in text_of(fixed)


def test_a_model_that_fails_when_trained_again_ends_it_with_what_is_done(clear):
    X, y, _ = clear
    Counting.trained.clear()
    simple = distilled(Counting(most=3).fit(X, y), X, y)
    found = simple.stability(X, y, n=5)
    assert found.n_resamples == 2
    assert "Stopped after 2 of 5 fits (RuntimeError: the licence" in text_of(found)
    with pytest.raises(ValueError, match="the licence ran out"):
        simple.stability(X, y, n=5)
    assert simple.stability_ is found


def test_ctrl_c_ends_it_with_what_is_done(clear, monkeypatch):
    X, y, _ = clear
    simple = distilled(DecisionTreeClassifier(max_depth=2).fit(X, y), X, y)
    done, fit_again = [], resampling._fit_again

    def interrupted(*given):
        if len(done) == 2:  # as compiled code reports it
            raise SystemError("returned a result") from KeyboardInterrupt()
        done.append(given)
        return fit_again(*given)

    monkeypatch.setattr(resampling, "_fit_again", interrupted)
    found = simple.stability(X, y, n=9)
    assert "Stopped after 2 of 9 fits (interrupted)" in text_of(found)


@pytest.mark.parametrize("given", ["forest", "no y"])
def test_a_model_that_cannot_be_trained_stays(clear, given):
    X, y, _ = clear
    model = RandomForestClassifier(5, min_samples_leaf=5, random_state=0).fit(X, y)
    simple = distilled(model, X, y)
    if given == "forest":
        simple = distilled(simple.forest_, X, y)
    found = simple.stability(X, y if given == "forest" else None, n=2)
    reason = "a saved model cannot be trained again" if given == "forest" else "no y"
    assert f"the model stayed the same ({reason}" in text_of(found)


def test_pipelines_and_weights_are_trained_again(clear):
    X, y, _ = clear
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=3))
    simple = distilled(model.fit(X, y), X, y)
    found = simple.stability(X, y, np.where(y == 1, 2.0, 1.0), n=2)
    assert found.returns == (2,) * simple.rules_.n_rules
    assert found.model.startswith("Model and rules")


def test_boosting_that_stopped_early_has_its_rounds(clear):
    xgboost = pytest.importorskip("xgboost")
    X, y, _ = clear
    model = xgboost.XGBClassifier(n_estimators=50, early_stopping_rounds=2)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    again = resampling._with_its_rounds(clone(model), model)
    assert again.n_estimators == model.best_iteration + 1 < 50
    again.fit(X, y)  # which needs no other rows


def test_a_clear_rule_comes_back_and_noise_does_not(clear):
    X, y, noise = clear
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    model = simplify(tree, X, y, random_state=0, max_rules=2)
    found = model.stability(X, y, n=4)
    assert found.returns == (4,) * model.rules_.n_rules
    assert found.predictions > 0.98
    assert found.correlation > 0.9
    assert found.columns == {"x1": 4}
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, noise)
    unclear = distilled(tree, X, noise).stability(X, noise, n=4)
    assert unclear.predictions < found.predictions
    assert unclear.found_again < found.found_again
    assert unclear.correlation < found.correlation


def test_it_is_shown_in_the_summary_the_report_and_compare(clear, tmp_path):
    X, y, _ = clear
    forest = DecisionTreeClassifier(max_leaf_nodes=2, random_state=0).fit(X, y)
    model = simplify(forest, X, y, random_state=0, max_rules=2)
    assert "found again" not in model.summary()
    assert model.stability(X, y, n=3) is model.stability_
    sentence = "2 rules of 2 come back in at least half of the fits"
    assert sentence in model.summary()
    assert "found again" in model.summary()
    pytest.importorskip("jinja2")
    from defragtrees.report.page import write_report

    write_report(tmp_path / "with.html", model, X, y)
    page = (tmp_path / "with.html").read_text(encoding="utf-8")
    assert sentence in page
    assert "3 of 3" in page
    assert "Every rule is found again in at least half of the fits." in page
    without = simplify(forest, X, y, random_state=0)
    write_report(tmp_path / "without.html", without, X, y)
    assert "Found again" not in (tmp_path / "without.html").read_text(encoding="utf-8")
    table = compare(forest, X, y, methods=["distilled"], n_resamples=2, random_state=0)
    assert {"stability", "same_predictions"} <= set(table.rows()[0])
    assert "same predictions" in str(table)


def test_a_weak_rule_is_named():
    simple, X, y = weather()
    rates = (0.1,) * 10, (0.5,) * 4, (0.6,)
    simple.stability_ = metrics.resampling.RuleStability(
        simple.rules_, 10, "Fitted again.", 0.9, 0.8, rates, {"sun": 3}
    )
    head, words, _ = written("stability", summarize(simple, X, y))
    assert "Fitted again." in head
    assert "Rules 2 and 3 (67% of the rules) are found again in" in words


def test_fits_are_the_same_each_time_and_a_fit_forgets_them(clear):
    X, *_ = clear
    tree = DecisionTreeRegressor(max_leaf_nodes=3, random_state=0).fit(X, X[:, 0])
    simple = DistilledTreeRegressor(tree, max_rules=3, random_state=0).fit(X, X[:, 0])
    one = simple.stability(X, X[:, 0], n=2)
    assert one == simple.stability(X, X[:, 0], n=2)
    assert simple.fit(X, X[:, 0]).stability_ is None


def test_processes_change_nothing(clear, monkeypatch):
    X, y, _ = clear
    simple = distilled(DecisionTreeClassifier(max_leaf_nodes=3, random_state=0), X, y)
    one = simple.stability(X, y, n=3)
    used, parallel = [], resampling.Parallel

    def counted(n_jobs, **settings):
        used.append(n_jobs)
        return parallel(min(n_jobs, 2), **settings)

    monkeypatch.setattr(resampling, "Parallel", counted)
    assert simple.set_params(n_jobs=None).stability(X, y, n=3) == one
    assert used == [-1]  # all cores


def test_rows_of_validation_are_halved_too(clear, monkeypatch):
    X, y, _ = clear
    model = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    simple = simplify(model, X[:300], y[:300], validation=(X[300:], y[300:]), n_jobs=1)
    sizes, fit = [], type(simple).fit

    def measured(self, *rows, validation=None):
        sizes.append((len(rows[0]), *map(len, validation or ())))
        return fit(self, *rows, validation=validation)

    monkeypatch.setattr(type(simple), "fit", measured)
    simple.stability(X[:300], y[:300], n=2, validation=(X[300:], y[300:]))
    assert sizes == [(150, 50, 50)] * 2


def test_points_are_shown_on_the_scale_of_the_card(clear):
    X, _, _ = clear
    y = (np.sum(X > 0, axis=1) > 1).astype(int)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    form = {"form": "points", "max_conditions": 1, "max_rules": 4, "n_jobs": 1}
    simple = simplify(forest, X, y, random_state=0, **form)
    found = simple.stability(X, y, n=3)
    assert "points" in str(found).splitlines()[1]
    for rule, rates in zip(simple.rules_.rules, found.rates, strict=False):
        [points] = rule.points
        assert all(points * rate > 0 for rate in rates)
    assert sum(found.returns[:-1]) > 3
    card = simple.rules_
    own = [rule.points[0] for rule in card.rules]
    larger = resampling._reported(card, card.scaled(20))[:-1]
    assert larger == pytest.approx(np.array(own) * 20 / np.log(2))


def test_text_is_no_wider_than_a_page(clear):
    X, y, _ = clear
    simple = distilled(DecisionTreeClassifier(max_depth=2).fit(X, y), X, y)
    lines = str(simple.stability(X, y, n=2, refit=False)).splitlines()
    assert max(map(len, lines)) <= 76


def test_rows_must_be_in_memory(clear):
    X, y, _ = clear
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    simple = simplify(forest, X, random_state=0)
    for given in (iter([X]), "rows.parquet"):
        with pytest.raises(TypeError, match="in memory"):
            simple.stability(given)


@pytest.mark.parametrize("n", [0, 1, True])
def test_one_fit_says_nothing(clear, n):
    X, y, _ = clear
    model = distilled(DecisionTreeClassifier(max_depth=2), X, y)
    with pytest.raises(ValueError, match="at least 2 fits"):
        metrics.rule_stability(model, X, y, n_resamples=n)


def test_the_command_line_trains_the_model_in_a_pickle_again(clear, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    from defragtrees.cli.group import run

    X, y, _ = clear
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = np.where(X[:, 1] > 0, "left", "right")
    texts = OneHotEncoder(), make_column_selector(dtype_exclude="number")
    encoder = make_column_transformer(texts, remainder="passthrough")
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    model = make_pipeline(encoder, forest).fit(frame, y)
    joblib.dump(model, tmp_path / "model.joblib")
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    command = ["simplify", tmp_path / "model.joblib", tmp_path / "data.csv"]
    command += ["--target", "y", "--trust", "pickle", "--stability", "2"]
    assert run([str(part) for part in command]) == 0
    assert "Model and rules were fitted again to 2" in capsys.readouterr().out
    assert run([str(part) for part in [*command, "--json"]]) == 0
    assert json.loads(capsys.readouterr().out)["stability"]["n_resamples"] == 2
