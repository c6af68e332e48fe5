"""What comes back on other rows, rule by rule."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees import metrics
from defragtrees._api import simplify
from defragtrees._compare import compare
from defragtrees.baselines.distilled import DistilledTreeClassifier
from defragtrees.metrics import resampling
from defragtrees.metrics.rulesets import members, rule_similarities
from defragtrees.report.summary import summarize
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import weather, written


def split(at, feature=0):
    low = Rule((Condition(feature, upper=at),), "low")
    names = ("size", "age")
    return RuleList((low,), Rule((), "high"), names, "classification", ("low", "high"))


def test_pairs_are_compared_as_one_would_by_hand():
    X = np.column_stack([np.arange(100.0), np.arange(100.0)[::-1]])
    one, near, far, other = split(49.0), split(53.0), split(79.0), split(49.0, 1)
    assert resampling._same_predictions(one, near, X) == 0.96
    assert resampling._same_predictions(one, other, X) == 0.0
    assert resampling._same_features(one, near) == 1.0
    assert resampling._same_features(one, other) == 0.0
    assert resampling._same_cuts(one, near, X) == 1.0
    assert resampling._same_cuts(one, far, X) == 0.0
    assert resampling._same_cuts(one, other, X) == 0.0
    # 50 of 54 rows are common to the lower rules, 20 of 50 to the upper ones of "far".
    rows = members(one, X)
    alike = [rule_similarities(one, k, rows, members(k, X)) for k in (near, far, other)]
    found = [(some >= resampling.SAME_ROWS).any(axis=1) for some in alike]
    assert np.sum(found, axis=0).tolist() == [2, 1]


def test_numbers_are_alike_by_their_distance():
    def rules(value):
        low = Rule((Condition(0, upper=49.0),), 0.0)
        return RuleList((low,), Rule((), value), ("size",), "regression")

    X = np.arange(100.0)[:, None]
    assert resampling._same_predictions(rules(2.0), rules(2.0), X) == 1.0
    # Squared distances 4 in half of the rows; variances 1 and 4.
    assert resampling._same_predictions(rules(2.0), rules(4.0), X) == 1 - 2 / 2.5
    assert resampling._same_predictions(rules(0.0), rules(0.0), X) == 1.0


@pytest.fixture(scope="module")
def clear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0.5).astype(int)
    noise = rng.integers(0, 2, 400)
    return X, y, noise


def test_a_clear_rule_comes_back_and_noise_does_not(clear):
    X, y, noise = clear
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    model = simplify(forest.fit(X, y), X, y, random_state=0, max_rules=2)
    found = model.stability(X, y, n=6)
    assert found.returns == (6,) * model.rules_.n_rules
    assert found.predictions > 0.98
    assert found.features == 1.0
    assert found.cuts > 0.9
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0)
    unclear = simplify(
        forest.fit(X, noise), X, noise, random_state=0, max_rules=5, target="labels",
        brevity=0,
    ).stability(X, noise, n=6)  # fmt: skip
    assert unclear.predictions < found.predictions
    assert unclear.rules < found.rules


def test_it_is_shown_in_the_summary_the_report_and_compare(clear, tmp_path):
    X, y, _ = clear
    forest = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, y)
    model = simplify(forest, X, y, random_state=0, max_rules=2)
    assert "found again" not in model.summary()
    assert model.stability(X, y, n=3) is model.stability_
    sentence = "In 3 refits on random halves of the rows, two rule models agree on"
    assert sentence in model.summary()
    assert "found again" in model.summary()
    pytest.importorskip("jinja2")
    from defragtrees.report.page import write_report

    write_report(tmp_path / "with.html", model, X, y)
    page = (tmp_path / "with.html").read_text(encoding="utf-8")
    assert sentence in page
    assert "3 of 3" in page
    assert "Every rule is found again in at least half of the refits." in page
    without = simplify(forest, X, y, random_state=0)
    write_report(tmp_path / "without.html", without, X, y)
    assert "Found again" not in (tmp_path / "without.html").read_text(encoding="utf-8")
    table = compare(forest, X, y, methods=["distilled"], n_resamples=2, random_state=0)
    assert {"same_predictions", "same_features", "same_cuts"} <= set(table.rows()[0])
    assert "same cuts" in str(table).splitlines()[0]


def test_a_weak_rule_is_named():
    simple, X, y = weather()
    simple.stability_ = metrics.resampling.RuleStability(
        10, 0.9, 0.8, 0.7, 0.6, (10, 4, 1)
    )
    [words, _] = written("stability", summarize(simple, X, y))
    assert (
        "Rules 2 and 3 (67\N{NO-BREAK SPACE}% of the rules) are found again in" in words
    )


def test_refits_are_the_same_each_time_and_a_fit_forgets_them(clear):
    X, *_ = clear
    forest = RandomForestRegressor(10, min_samples_leaf=5, random_state=0).fit(
        X, X[:, 0]
    )
    simple = simplify(forest, X, X[:, 0], random_state=0, max_rules=3)
    one = simple.stability(X, X[:, 0], n=2)
    assert one == simple.stability(X, X[:, 0], n=2)
    assert simple.fit(X, X[:, 0]).stability_ is None


def test_rows_must_be_in_memory(clear):
    X, y, _ = clear
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    simple = simplify(forest, X, random_state=0)
    for given in (iter([X]), "rows.parquet"):
        with pytest.raises(TypeError, match="in memory"):
            simple.stability(given)


def test_one_refit_says_nothing(clear):
    X, y, _ = clear
    model = DistilledTreeClassifier(random_state=0)
    with pytest.raises(ValueError, match="n_resamples must be at least 2; got 1"):
        metrics.rule_stability(model, X, y, n_resamples=1)


def test_the_command_line_tells_it(clear, tmp_path, capsys):
    pd = pytest.importorskip("pandas")
    import joblib

    from defragtrees.cli.group import run

    X, y, _ = clear
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    joblib.dump(forest.fit(frame, y), tmp_path / "model.joblib")
    frame.assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    command = ["simplify", tmp_path / "model.joblib", tmp_path / "data.csv"]
    command += ["--target", "y", "--trust", "pickle", "--stability", "2"]
    assert run([str(part) for part in command]) == 0
    assert "In 2 refits on random halves" in capsys.readouterr().out
    assert run([str(part) for part in [*command, "--json"]]) == 0
    assert json.loads(capsys.readouterr().out)["stability"]["n_resamples"] == 2
