"""Every function that takes a model accepts the same kinds, with the same errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from defragtrees import (
    compare_models,
    explain_errors,
    read_forest,
    simplify,
    write_report,
)
from defragtrees.ensembles.predictions import match_classes, predict_rows

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.random((400, 3)), columns=["a", "b", "c"])
Y = np.where(rng.random(400) < 0.2 + 0.6 * (X.a > 0.5), "yes", "no")
FOREST = RandomForestClassifier(8, max_depth=3, random_state=0).fit(X, Y)
P = FOREST.predict_proba(X)
TABLE = X.assign(score=P[:, 1], label=FOREST.predict(X))
SIMPLE = simplify(FOREST, X, Y, max_rules=3, random_state=0)


def saved(folder):
    xgboost = pytest.importorskip("xgboost", reason="it writes a model file")
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2).fit(X, Y == "yes")
    model.save_model(folder / "model.json")
    return folder / "model.json"


KINDS = {
    "object": lambda _: FOREST,
    "pipeline": lambda _: make_pipeline(
        StandardScaler(), RandomForestClassifier(5, random_state=0)
    ).fit(X, Y),
    "black box": lambda _: KNeighborsClassifier().fit(X, Y),
    "path": saved,
    "path as text": lambda folder: str(saved(folder)),
    "Forest": lambda _: read_forest(FOREST),
    "rules": lambda _: SIMPLE.rules_,
    "estimator": lambda _: SIMPLE,
    "function of classes": lambda _: lambda X: FOREST.predict(X[["a", "b", "c"]]),
    "function of probabilities": lambda _: (
        lambda X: FOREST.predict_proba(X[["a", "b", "c"]])
    ),
    "function of fractions": lambda _: (
        lambda X: FOREST.predict_proba(X[["a", "b", "c"]])[:, 1]
    ),
    "array of classes": lambda _: FOREST.predict(X),
    "array of probabilities": lambda _: P,
    "array of fractions": lambda _: P[:, 1],
    "list of numbered classes": lambda _: (FOREST.predict(X) == "yes").tolist(),
    "column of classes": lambda _: "label",
    "column of fractions": lambda _: "score",
}


def simplified(model, table):
    shown = [*"abc", model] if isinstance(model, str) and model in table else [*"abc"]
    y = Y if isinstance(model, np.ndarray) or shown[3:] else None
    return simplify(model, table[shown], y, max_rules=2, random_state=0)


QUICK = {"max_segments": 1, "max_conditions": 1, "features": "a"}
USES = {
    "explain_errors": lambda model, X, _: explain_errors(model, X, Y, **QUICK),
    "compare_models": lambda model, X, _: compare_models(FOREST, model, X, Y, **QUICK),
    "evaluate": lambda model, X, _: SIMPLE.rules_.evaluate(X, Y, model=model),
    "check": lambda model, X, _: SIMPLE.rules_.check(X, Y, model=model),
    "write_report": lambda model, X, folder: write_report(
        folder / "report.html", SIMPLE.rules_, X, Y, model=model
    ),
    "simplify": lambda model, X, _: simplified(model, X),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_function_takes_every_kind_of_model(kind, use, tmp_path):
    assert USES[use](KINDS[kind](tmp_path), TABLE, tmp_path) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_predictions_give_the_same_figures(kind, tmp_path):
    if kind in ("black box", "path", "path as text", "rules", "estimator", "pipeline"):
        pytest.skip("another model")
    scores = SIMPLE.rules_.evaluate(TABLE, Y, model=KINDS[kind](tmp_path))
    expected = SIMPLE.evaluate(X, Y)
    assert scores["fidelity"] == expected["fidelity"]
    assert scores["model_error"] == expected["model_error"]
    if "classes" not in kind:
        assert scores["model_auc"] == expected["model_auc"]


BAD = {
    "no such path": ("model.bst", FileNotFoundError, "model file"),
    "no such column": ("points", FileNotFoundError, "column of X"),
    "another length": (P[:7, 1], ValueError, "400 rows"),
    "unknown classes": (np.full(400, "perhaps"), ValueError, "must predict the class"),
    "NaN": (np.full((400, 2), np.nan), ValueError, "finite"),
    "not fitted": (RandomForestClassifier(), NotFittedError, "fitted"),
    "a class": (RandomForestClassifier, ValueError, "Cannot read"),
    "a number": (5, ValueError, "Cannot read"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_model_ends_in_the_same_sentence(bad, use, tmp_path):
    model, error, message = BAD[bad]
    with pytest.raises(error, match=message):
        USES[use](model, TABLE, tmp_path)


def test_given_predictions_may_be_of_rows_in_several_parts(monkeypatch, tmp_path):
    expected = SIMPLE.rules_.evaluate(TABLE, Y, model=P)
    parts = ((TABLE[i : i + 100], Y[i : i + 100]) for i in range(0, 400, 100))
    assert SIMPLE.rules_.evaluate(parts, model=P) == expected
    TABLE.assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    rows = tmp_path / "rows.parquet"
    assert (
        SIMPLE.rules_.evaluate(rows, "y", model=P[:, 1])["fidelity"]
        == (expected["fidelity"])
    )
    assert (
        SIMPLE.rules_.evaluate(rows, "y", model="score")["fidelity"]
        == (expected["fidelity"])
    )


@pytest.mark.parametrize("kind", [k for k in KINDS if k.startswith(("arr", "col"))])
def test_predictions_without_their_model_are_imitated_on_the_rows_of_x(kind):
    model = KINDS[kind](None)
    table = X.assign(**{model: TABLE[model]}) if isinstance(model, str) else X
    simple = simplify(model, table, Y, target="model", max_rules=3, random_state=0)
    assert simple.rules_.feature_names == ("a", "b", "c")
    assert simple.rules_.classes == ("no", "yes")
    assert simple.n_calls_ == len(X)
    assert "not passed" in simple.forest_.origin
    if "classes" not in kind:
        assert simple.training_["model_auc"] == SIMPLE.training_["model_auc"]
    agrees = simple.predict(X) == TABLE.label
    assert agrees.mean() == simple.training_["fidelity"] > 0.9
    with pytest.raises(ValueError, match="rows of X only"):
        simple.evaluate(X + 1, Y)


def test_predictions_of_equal_rows_are_averaged():
    rows = [[0.0], [1.0], [1.0], [1.0]] * 30
    simple = simplify([5.0, 1.0, 2.0, 6.0] * 30, rows, max_rules=2)
    assert simple.predict([[0], [1]]).tolist() == [5, 3]
    classes = simplify(["a", "b", "b", "a"] * 30, np.array(rows), max_rules=2)
    assert classes.predict_proba([[1]]).round(2).tolist() == [[0.33, 0.67]]


def test_whole_numbers_are_classes_if_they_are_few_and_y_has_no_others():
    predicted = (X.a * 3).astype(int)
    assert simplify(predicted, X, predicted, max_rules=3).rules_.classes == (0, 1, 2)
    numbers = simplify(predicted, X, predicted + 0.5, max_rules=3)
    assert numbers.rules_.classes is None


def test_numbers_are_probabilities_only_of_two_classes():
    numbers = predict_rows(P[:, 1], X, np.arange(400.0))
    assert numbers.classes is None
    assert numbers.probabilities is None
    shares = predict_rows(P[:, 1], X, Y)
    assert shares.classes == ("no", "yes")
    assert shares.labels.tolist() == FOREST.predict(X).tolist()
    assert np.allclose(shares.probabilities, P)


def test_classes_of_a_model_are_those_of_y_in_its_order():
    forest = RandomForestClassifier(3, random_state=0).fit(X, (Y == "yes") * 1)
    found = predict_rows(forest, X, Y)
    assert found.classes == ("no", "yes")
    assert found.match.is_by_position
    # y need not have all classes of the model.
    three = np.where(X.c > 0.9, "maybe", Y)
    forest = RandomForestClassifier(3, random_state=0).fit(X, three)
    few = X.c <= 0.9
    assert predict_rows(forest, X[few], three[few]).probabilities.shape[1] == 3
    assert match_classes((0, 1), ("no", "yes"), ("yes", "no")).labels == ("yes", "no")
