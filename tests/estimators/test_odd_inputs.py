"""Odd inputs end in one sentence that names what is wrong, and what to do."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import defragtrees
from defragtrees import Condition, DefragClassifier, Rule, RuleList, RuleModel, simplify
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.errors import (
    ModelFileError,
    SettingError,
    TableFileError,
    UnsupportedModelError,
)
from defragtrees.estimators import defrag
from defragtrees.export import export
from defragtrees.report.page import write_report
from defragtrees.search.driver import SearchSettings
from tests.fuzz.cases import SEEDS

X = np.random.default_rng(0).normal(size=(60, 2))
Y = (X[:, 0] > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"n_jobs": "x"},
            "a whole number other than 0 up to 1,000,000; got 'x'",
        ),
        ({"n_jobs": 0}, "number other than 0 up to 1,000,000; got 0."),
        ({"n_jobs": 1.5}, "n_jobs must be None or a whole number other than 0"),
        ({"n_jobs": 10**30}, "n_jobs must be None or a whole number other than 0"),
        ({"random_state": "a"}, "random_state must be None, a whole number from 0"),
        ({"features": object()}, "features must be a name or an index of a feature"),
        ({"features": [["a"]]}, "features must have names or indices of features"),
        ({"features": np.zeros((2, 2))}, "features must have names or indices"),
        ({"max_rules": np.arange(500)}, "got ndarray with 500 entries."),
        ({"brevity": np.zeros((2, 3))}, "brevity must be a number from 0; got ndarray"),
    ],
)
def test_a_wrong_setting_is_named(settings, message, model):
    with pytest.raises(SettingError) as caught:
        simplify(model, X, Y, **settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_model_with_several_answers_is_refused():
    stump = Tree(
        [0, -1, -1],
        [0.5, 0, 0],
        [1, -1, -1],
        [2, -1, -1],
        [True] * 3,
        [[0, 0], [1, 2], [3, 4]],
    )
    forest = Forest((stump,), ("a", "b"), "regression", base=np.zeros(2))
    with pytest.raises(UnsupportedModelError, match="this one has 2"):
        simplify(forest, X)


def test_more_categories_than_the_default_model_takes_are_told_by_column():
    frame = pd.DataFrame({"id": [f"c{i}" for i in range(300)], "x": np.arange(300.0)})
    with pytest.raises(ValueError, match="column 'id' has 300"):
        DefragClassifier().fit(frame, frame["x"] > 9)


def test_a_column_of_periods_is_named():
    periods = pd.period_range("2020-01", periods=60, freq="M")
    with pytest.raises(TypeError, match="Column 'month' must hold"):
        DefragClassifier().fit(pd.DataFrame({"month": periods, "x": X[:, 0]}), Y)


def test_half_a_surrogate_pair_is_saved_and_comes_back(tmp_path):
    rules = RuleList(
        (Rule((Condition(0, upper=1.0),), "a\ud800"),),
        Rule((), "b"),
        ("n\udc01",),
        "classification",
        ("a\ud800", "b"),
    )
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules
    with pytest.raises(ValueError, match=r"half of a pair. Rename it first"):
        export(rules, "sql", tmp_path / "rules.sql")


@pytest.mark.parametrize("cut", [5, -10, -400])
def test_a_damaged_parquet_file_is_one_sentence(cut, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    content = bytearray((SEEDS / "table.parquet").read_bytes())
    content[cut : cut + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(content))
    with pytest.raises(TableFileError) as caught:
        DefragClassifier(SEEDS / "lightgbm-binary.txt").fit(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("'rows.parquet' is no whole Parquet file: ")


def test_what_is_no_table(tmp_path, model):
    path = tmp_path / "d.csv"
    path.write_text('{"a": 1}', encoding="utf-8")
    with pytest.raises(TableFileError, match="is no table"):
        simplify(model, path, "target")


def test_a_pickle_says_how_to_open_it_here(tmp_path):
    (tmp_path / "f.pkl").write_bytes(b"\x80\x04N.")
    with pytest.raises(ModelFileError, match=r"read_forest\(path, trust_pickle=True\)"):
        simplify(tmp_path / "f.pkl", X)


def test_a_report_wants_its_arguments_in_order(tmp_path, model):
    simple = simplify(model, X, Y, max_rules=2)
    path = str(tmp_path / "a.html")
    with pytest.raises(TypeError, match="the file comes first"):
        write_report(simple, X, Y, path)
    with pytest.raises(TypeError, match="must be"):
        write_report(path, model, X, Y)


def test_a_budget_beyond_the_rows_is_not_searched_for(monkeypatch, model):
    budgets = []

    def remembered(limits, **settings):
        budgets.append(limits.max_rules)
        return SearchSettings(limits, **settings)

    monkeypatch.setattr(defrag, "SearchSettings", remembered)
    told = "more than the 60 rows of X; at most 12 rules"
    with pytest.warns(UserWarning, match=told):
        simplify(model, X, Y, max_rules=10**6, random_state=0)
    simplify(model, X, Y, max_rules=7, random_state=0)
    assert budgets == [12, 7]


PLAIN = np.random.default_rng(4).normal(size=(300, 3))
GAPS = np.random.default_rng(5).random(PLAIN.shape) < 0.2
WITH_NAN = np.where(GAPS, np.nan, PLAIN)
MASKED = np.ma.array(np.where(GAPS, 1e6, PLAIN), mask=GAPS)
TRUTH = pd.Series(PLAIN[:, 0] > 0)


@pytest.mark.parametrize(
    ("dtype", "classes"),
    [
        ("Int64", (0, 1)),
        ("UInt8", (0, 1)),
        ("int64[pyarrow]", (0, 1)),
        ("boolean", (False, True)),
        ("bool[pyarrow]", (False, True)),
    ],
)
def test_nullable_labels_stay_whole_numbers_and_truth_values(dtype, classes):
    y = TRUTH.astype(dtype)
    simple = DefragClassifier(max_rules=2, random_state=0).fit(PLAIN, y)
    kinds = {type(label) for label in simple.rules_.classes}
    assert simple.rules_.classes == classes
    assert kinds == {type(classes[0])}
    assert simple.predict(PLAIN).dtype == np.asarray(classes).dtype
    assert f"P({classes[1]})" in str(simple.rules_)
    again = RuleModel.from_dict(simple.rules_.to_dict())
    assert again.classes == classes
    assert simple.evaluate(PLAIN, y)["error"] == simple.training_["error"]
    assert again.refit(PLAIN, y).classes == classes
    with pytest.raises(ValueError, match="Input y contains NaN"):
        simple.fit(PLAIN, y.where(TRUTH.index > 3))


def test_masked_cells_are_missing_values():
    model = HistGradientBoostingClassifier(max_iter=5).fit(WITH_NAN, TRUTH)

    def black_box(X):
        return np.nan_to_num(X[:, 0], nan=-1.0) > 0

    for given in (model, None, black_box):
        fits = [
            DefragClassifier(given, max_rules=3, random_state=0).fit(X, TRUTH)
            for X in (WITH_NAN, MASKED)
        ]
        assert fits[0].rules_ == fits[1].rules_
    simple = fits[0]
    for rules in (simple, simple.rules_):
        assert (rules.predict(MASKED) == rules.predict(WITH_NAN)).all()
        assert (rules.predict_proba(MASKED) == rules.predict_proba(WITH_NAN)).all()
    assert simple.evaluate(MASKED, TRUTH) == simple.evaluate(WITH_NAN, TRUTH)
    parts = iter([(MASKED[:100], TRUTH[:100]), (MASKED[100:], TRUTH[100:])])
    whole = DefragClassifier(model, random_state=0).fit(WITH_NAN, TRUTH)
    assert DefragClassifier(model, random_state=0).fit(parts).rules_ == whole.rules_


def test_masked_labels_and_weights_are_rejected():
    y = np.ma.array(TRUTH.to_numpy(), mask=GAPS[:, 0])
    weight = np.ma.array(np.ones(300), mask=GAPS[:, 0])
    simple = DefragClassifier(max_rules=2, random_state=0).fit(PLAIN, TRUTH)
    for call in (simple.fit, simple.evaluate, simple.rules_.refit):
        with pytest.raises(ValueError, match="y must have a value in every row; some"):
            call(PLAIN, y)
    for call in (simple.fit, simple.evaluate):
        with pytest.raises(ValueError, match="sample_weight must have a value in ever"):
            call(PLAIN, TRUTH, sample_weight=weight)
    unmasked = np.ma.array(TRUTH.to_numpy(), mask=False)
    assert simple.fit(PLAIN, unmasked).rules_.classes == (False, True)
