"""Every export of fitted rules tells the probabilities of `predict_proba`."""

import json
from html import escape

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from defragtrees import DefragClassifier, RuleModel
from defragtrees.export import export
from defragtrees.rules.profile import WORTH
from tests.export import test_sql

LABELS = {2: ("bad", "good"), 3: ("high", "low", "middle")}
DECIDED = {
    2: [{}, {"threshold": 0.2}, {"class_weight": "balanced"}],
    3: [{}, {"costs": {("low", "high"): 5}}],
}
SETTINGS = [(n, decided) for n in DECIDED for decided in DECIDED[n]]
NEAR = {"rtol": 0, "atol": 1e-9}


def make_rows(n_rows, n_classes, seed):
    """Rows of float32 numbers, some of them missing, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32).astype(np.float64)
    risk = X[:, 0] + (X[:, 1] > 0.5) + rng.normal(size=n_rows)
    y = np.array(LABELS[n_classes])[np.digitize(risk, [1.0, 2.0][: n_classes - 1])]
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def fitted(request):
    n_classes, decided = request.param
    X, y = make_rows(600, n_classes, 0)
    model = HistGradientBoostingClassifier(max_iter=15, random_state=0).fit(X, y)
    simple = DefragClassifier(model, max_rules=6, random_state=0, **decided)
    rules = simple.fit(X, y).rules_
    new, _ = make_rows(1000, n_classes, 1)
    told = rules.predict_proba(new)
    assert len(np.unique(told, axis=0)) == rules.n_rules > 2
    return rules, new, told


def as_rows(X):
    return [[None if x != x else x for x in row] for row in X.tolist()]


def rows_added(X, y, rules):
    """How many rows with the rates of all each rule is given."""
    is_class = y[:, None] == np.array(rules.classes)
    answering = rules.apply(X)
    own = np.array([is_class[answering == k].mean(axis=0) for k in answering])
    within = (own * (1 - own)).sum()
    between = ((own - is_class.mean(axis=0)) ** 2).sum()
    return min(1 + within / between, 1.959963984540054**2)


def test_what_is_told_is_what_y_says(fitted):
    rules, _, _ = fitted
    X, y = make_rows(600, len(rules.classes), 0)
    rates = [np.mean(y == label) for label in rules.classes]
    answering, n_more = rules.apply(X), rows_added(X, y, rules)
    for k, rule in enumerate(rules):
        here = y[answering == k]
        counts = np.array([np.sum(here == label) for label in rules.classes])
        assert rule.n_rows == len(here)
        np.testing.assert_allclose(rule.rates, counts / len(here), **NEAR)
        # Rows that the model was trained on are worth less, and some more have the
        # rates of all.
        worth = WORTH["training"]
        assert rule.n_effective == pytest.approx(worth * len(here))
        shrunk = worth * counts + n_more * np.array(rates)
        shrunk /= worth * len(here) + n_more
        np.testing.assert_allclose(rule.distribution, shrunk, **NEAR)


def test_scores_say_the_answers(fitted):
    rules, X, _ = fitted
    scores = rules._form.decision_scores(rules.covers(X))
    if len(rules.classes) == 2:
        places = (scores > 0).astype(int)
    else:
        places = scores.argmax(axis=1)
    assert np.array(rules.classes)[places].tolist() == rules.predict(X).tolist()


def test_json(fitted):
    rules, X, told = fitted
    saved = RuleModel.from_dict(json.loads(export(rules, "json")))
    assert saved == rules
    np.testing.assert_allclose(saved.predict_proba(X), told, **NEAR)


def test_python(fitted):
    rules, X, told = fitted
    made = {}
    exec(export(rules, "python"), made)
    for row, expected in zip(as_rows(X), told, strict=True):
        row = dict(zip(rules.feature_names, row, strict=True))
        found = made["predict_proba"](row)
        assert tuple(found) == rules.classes
        np.testing.assert_allclose(list(found.values()), expected, **NEAR)


@pytest.mark.parametrize("run", [test_sql.run_in_sqlite, test_sql.run_in_duckdb])
def test_sql_tells_them(fitted, run):
    rules, X, told = fitted
    answers, *columns = zip(*run(rules, as_rows(X), probabilities=True), strict=True)
    assert list(answers) == rules.predict(X).tolist()
    np.testing.assert_allclose(np.column_stack(columns), told, **NEAR)


def test_onnx(fitted):
    pytest.importorskip("onnx", reason="the ONNX export needs it")
    runtime = pytest.importorskip("onnxruntime", reason="ONNX models are run in it")
    rules, X, told = fitted
    model = export(rules, "onnx", single_input=True).SerializeToString()
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    answers, probabilities = session.run(None, {"X": X})
    assert answers.tolist() == rules.predict(X).tolist()
    assert probabilities.dtype == np.float64
    np.testing.assert_allclose(probabilities, told, **NEAR)


def test_what_decides_is_exported(fitted):
    rules, _, _ = fitted
    data = json.loads(export(rules, "json"))
    lines = export(rules, "text").splitlines()
    [decision] = [line for line in lines if line.startswith("Predicts ")] or [""]
    if rules.threshold is not None:
        assert data["threshold"] == 0.2
        assert decision == "Predicts good if P(good) >= 0.2."
    elif len(rules.classes) == 3 and rules.costs:
        assert data["costs"] == [[0, 1, 1], [5, 0, 1], [1, 1, 0]]
        assert decision == (
            "Predicts the class with the lowest expected cost. Costs: low predicted "
            "for high 1, middle predicted for high 1, high predicted for low 5, middle "
            "predicted for low 1, high predicted for middle 1, low predicted for "
            "middle 1."
        )
    if rules.costs or rules.threshold:
        assert f"# {decision}\n" in export(rules, "python")
        assert escape(decision) in rules._repr_html_()
    else:
        assert data["costs"] is data["threshold"] is None
        assert decision == ""
        assert lines[rules.n_rules - 1].startswith(f"{rules.n_rules}. otherwise")
