"""Rules of a model for a quantile report this quantile of y, and its interval."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees import load, simplify, write_report
from defragtrees.errors import ModelFileError
from defragtrees.outcomes.quantiles import Quantiles, interval_shares
from defragtrees.rules.model import RuleModel


def draw(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 2))
    return X, X[:, 0] + rng.exponential(size=n_rows)


X, Y = draw(0, 600)
NEW, Y_NEW = draw(1, 4000)


def model_of(quantile):
    model = HistGradientBoostingRegressor(
        loss="quantile", quantile=quantile, max_iter=30
    )
    return model.fit(X, Y)


@pytest.fixture(scope="module")
def simple():
    return simplify(model_of(0.9), X, Y, max_rules=4, random_state=0)


@pytest.mark.parametrize(
    ("quantile", "form"), [(0.9, "list"), (0.5, "list"), (0.2, "standalone")]
)
def test_a_rule_reports_the_quantile_of_its_rows(quantile, form):
    rules = simplify(
        model_of(quantile), X, Y, max_rules=3, form=form, random_state=0
    ).rules_
    members = rules._form.members(rules.covers(X)).T
    for rule, rows in zip(rules, members, strict=True):
        found = np.quantile(Y[rows], quantile, method="inverted_cdf")
        assert rule.prediction == pytest.approx(found, abs=0.002)
        if rule.quantiles is not None:
            low, high = rule.quantiles
            assert low <= rule.prediction <= high
            for end in rule.quantiles:
                assert min(abs(Y[rows] - end).min(), abs(rule.prediction - end)) < 1e-9
    assert np.mean(Y_NEW <= rules.predict(NEW)) == pytest.approx(quantile, abs=0.04)


@pytest.mark.parametrize(("quantile", "n_rows"), [(0.5, 30), (0.9, 80), (0.1, 400)])
def test_the_interval_has_the_quantile_with_95_per_cent(quantile, n_rows):
    """Of n new numbers, binomially many are below the quantile."""
    low, high = (n_rows * share for share in interval_shares(quantile, n_rows))
    law = binom(n_rows, quantile)
    covered = law.cdf(round(high) - 1) - law.cdf(round(low) - 1)
    assert 0.95 <= covered < 0.985


def test_few_rows_have_no_interval_of_a_high_quantile():
    assert interval_shares(0.9, 30) is None
    assert interval_shares(0.5, 30) is not None


def test_what_is_printed_names_the_quantile(simple):
    header = str(simple.rules_).splitlines()[0]
    assert "90% quantile" in header
    assert "95% interval" in header
    assert "mean" not in str(simple.rules_)
    median = simplify(model_of(0.5), X, Y, max_rules=2, random_state=0).rules_
    assert "median" in str(median).splitlines()[0]


def test_scores_are_of_the_quantile(simple):
    scores = simple.evaluate(NEW, Y_NEW)
    apart = Y_NEW - simple.predict(NEW)
    assert scores["pinball"] == pytest.approx(
        np.where(apart > 0, 0.9 * apart, -0.1 * apart).mean()
    )
    assert scores["share_below"] == np.mean(apart <= 0)
    assert "rmse" not in scores
    line = (
        str(simple.summary(NEW, Y_NEW)).partition("rule  estimated")[2].splitlines()[1]
    )
    inside = simple.apply(NEW) == 0
    share = np.mean(Y_NEW[inside] <= simple.rules_.rules[0].prediction)
    assert f"90.0%     {100 * share:.1f}%" in line


def test_files_and_exports_keep_the_quantile(simple, tmp_path):
    simple.save(tmp_path / "rules.json")
    rules = load(tmp_path / "rules.json")
    assert rules == simple.rules_
    assert rules.outcome == Quantiles(0.9)
    assert rules.explain(NEW[0]) == simple.explain(NEW[0])
    scope = {}
    exec(rules.export("python"), scope)
    rows = [dict(zip(rules.feature_names, row, strict=True)) for row in NEW[:50]]
    assert [scope["predict"](row) for row in rows] == rules.predict(NEW[:50]).tolist()


@pytest.mark.parametrize("value", [0, 1, -0.5, "x", True, [0.5]])
def test_a_file_with_another_quantile_is_rejected(simple, value):
    data = simple.rules_.to_dict() | {"quantile": value}
    with pytest.raises(ModelFileError):
        RuleModel.from_dict(data)


def test_classes_have_no_quantile():
    rules = simplify(lambda rows: np.asarray(rows)[:, 0] > 0.5, X, max_rules=2).rules_
    with pytest.raises(ModelFileError, match="quantile"):
        RuleModel.from_dict(rules.to_dict() | {"quantile": 0.5})


def test_new_rows_of_another_quantile_are_drift(simple):
    found = simple.rules_.check(NEW, 2 * Y_NEW)
    assert "90% quantile" in str(found)


def test_a_set_prediction_has_no_interval(simple):
    rules = simple.rules_.set_prediction(1, 5.0)
    assert rules.rules[0].quantiles is None


def test_the_report_compares_quantiles(simple, tmp_path):
    write_report(tmp_path / "page.html", simple, NEW, Y_NEW)
    text = (tmp_path / "page.html").read_text()
    assert "90% quantile" in text
    assert "pinball loss" in text
    assert "root mean squared" not in text


@pytest.mark.parametrize("form", ["points", "list"])
def test_where_no_quantile_can_be_counted_the_model_is_imitated(form):
    model = model_of(0.9)
    if form == "points":
        with pytest.warns(UserWarning, match="imitate"):
            rules = simplify(model, X, Y, form=form, max_rules=3).rules_
        assert rules.evidence is None
    else:  # without y
        rules = simplify(model, X, max_rules=3).rules_
    assert rules.outcome.quantile is None


def test_labels_are_learned_as_means():
    rules = simplify(model_of(0.9), X, Y, target="labels", max_rules=2).rules_
    assert rules.outcome.quantile is None
    assert rules.default.spread is not None


def test_shards_count_as_rows_in_memory_do(monkeypatch):
    from defragtrees.data import sources

    whole = simplify(model_of(0.9), X, Y, max_rules=3, random_state=0).rules_
    refitted = whole.refit(X, Y)
    for one, two in zip(whole, refitted, strict=True):
        assert one.prediction == two.prediction
    monkeypatch.setattr(sources, "MANY_ROWS", 300)
    rules = simplify(model_of(0.9), X, Y, max_rules=3, random_state=0).rules_
    assert rules.outcome == Quantiles(0.9)
    for rule, rows in zip(rules, rules._form.members(rules.covers(X)).T, strict=True):
        found = np.quantile(Y[rows], 0.9, method="inverted_cdf")
        assert rule.prediction == pytest.approx(found, abs=0.01)
