"""Bad input gets one clear sentence, or a usable answer and a warning."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError

from defragtrees import (
    DefragClassifier,
    DefragRegressor,
    ModelFileError,
    UnsupportedModelError,
    simplify,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] > 0).astype(int)
forest = RandomForestClassifier(5, random_state=0).fit(X, y)


class Stranger:
    """An object of a library that nobody reads."""


@pytest.mark.parametrize("model", [Stranger(), 3, {"trees": []}])
def test_object_of_an_unknown_library(model):
    with pytest.raises(UnsupportedModelError, match="Cannot read"):
        simplify(model, X)


def test_model_that_is_no_tree_model_is_asked():
    constant = DummyClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="a single value"):
        simple = simplify(constant, X, random_state=0)
    assert "DummyClassifier was queried as a black box" in simple.summary()


def test_unfitted_model_without_y():
    with pytest.raises(ValueError, match="requires y to be passed"):
        DefragClassifier(RandomForestClassifier()).fit(X)
    with pytest.raises(NotFittedError):
        simplify(RandomForestClassifier(), X)


def test_number_of_columns():
    with pytest.raises(ValueError, match="X has 2 features, but the model saw 3"):
        simplify(forest, X[:, :2])
    simple = simplify(forest, X, random_state=0)
    with pytest.raises(ValueError, match="X has 2 features"):
        simple.predict(X[:, :2])


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = RandomForestClassifier(5, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="missing 'c' and unexpected 'z'"):
        simplify(named, frame.rename(columns={"c": "z"}))


def test_columns_are_taken_by_name_with_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = RandomForestClassifier(5, random_state=0).fit(frame, y)
    simple = simplify(named, frame, random_state=0)
    with pytest.warns(UserWarning, match="in another order than in training: 'b'"):
        turned = simplify(named, frame[["b", "a", "c"]], random_state=0)
    with pytest.warns(UserWarning, match=r"not trained on: 'id'. Columns are selected"):
        wider = simplify(named, frame.assign(id="text"), random_state=0)
    assert simple.rules_ == turned.rules_ == wider.rules_
    expected = simple.predict(frame).tolist()
    assert wider.n_features_in_ == 3
    for rows in (frame, frame[["c", "b", "a"]], frame.assign(id="text")):
        assert wider.predict(rows).tolist() == expected
        assert wider.score(rows, y) == simple.score(frame, y)


def test_frame_names_replace_made_up_ones():
    pd = pytest.importorskip("pandas")
    simple = simplify(forest, pd.DataFrame(X, columns=["a", "b", "c"]), random_state=0)
    assert simple.rules_.feature_names == ("a", "b", "c")


def test_features_may_be_given_by_the_names_of_the_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    simple = simplify(forest, frame, features=["a"], random_state=0)
    assert simple.rules_.features == ("a",)


def test_length_of_y():
    with pytest.raises(ValueError, match="equally many rows; got 80 and 79"):
        simplify(forest, X, y[:-1])


def test_labels_that_the_model_does_not_know():
    with pytest.raises(ValueError, match="does not know: \\['no', 'yes'\\]"):
        simplify(forest, X, np.where(y, "yes", "no"))


def test_wrong_task():
    with pytest.raises(ValueError, match="Use DefragClassifier"):
        DefragRegressor(forest).fit(X, y)


def test_one_class_is_one_rule():
    with pytest.warns(UserWarning, match="a single value"):
        simple = DefragClassifier(random_state=0).fit(X, np.zeros(80, int))
    assert simple.rules_.n_rules == 1
    assert (simple.predict(X) == 0).all()


def test_constant_output_is_one_rule():
    with pytest.warns(UserWarning, match="a single value"):
        simple = DefragRegressor(random_state=0).fit(X, np.full(80, 7.5))
    assert simple.rules_.n_rules == 1
    assert simple.predict(X).tolist() == [7.5] * 80


def test_constant_features_are_one_rule():
    flat = np.ones((80, 2))
    with pytest.warns(UserWarning, match="a single value"):
        simple = DefragClassifier(random_state=0).fit(flat, y)
    assert simple.rules_.n_rules == 1


def test_trees_of_single_leaves_are_one_rule():
    stumps = RandomForestRegressor(5, min_samples_leaf=80, bootstrap=False).fit(X, y)
    with pytest.warns(UserWarning, match="a single value"):
        simple = simplify(stumps, X, y.astype(float))
    assert simple.rules_.n_rules == 1
    assert simple.rules_.default.prediction == pytest.approx(y.mean())


def test_fewer_rows_than_rules():
    with pytest.warns(UserWarning, match="more than the 4 rows"):
        simple = simplify(forest, X[:4], max_rules=5, random_state=0)
    assert simple.rules_.n_rules <= 4


def test_column_of_missing_values():
    hollow = X.copy()
    hollow[:, 1] = np.nan
    with pytest.warns(UserWarning, match="'x2' has only missing values"):
        simple = DefragClassifier(random_state=0).fit(hollow, y)
    assert "x2" not in simple.rules_.features


def test_infinite_values():
    endless = X.copy()
    endless[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity.*'x2'"):
        simplify(forest, endless)
    with pytest.raises(ValueError, match="infinity"):
        simplify(forest, X, random_state=0).predict(endless)


def test_no_rows():
    with pytest.raises(ValueError, match="0 sample"):
        simplify(forest, X[:0])


def test_no_rows_in_a_frame():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="0 sample"):
        simplify(forest, pd.DataFrame(X[:0]))


def test_truncated_model_file(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"learner": {"attributes": {')
    with pytest.raises(ModelFileError):
        simplify(path, X)


def test_model_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="model file"):
        simplify(tmp_path / "model.ubj", X)


def test_weights_that_are_all_zero():
    with pytest.raises(ValueError, match=r"non-zero|positive sum"):
        simplify(forest, X, sample_weight=np.zeros(80))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_rules": 0}, "max_rules must be 'auto' or a whole number from 1; got 0"),
        (
            {"max_rules": 2.5},
            "max_rules must be 'auto' or a whole number from 1; got 2.5",
        ),
        ({"target": "y"}, "target must be 'auto' or 'model' or 'labels'; got 'y'"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        simplify(forest, X, **settings)


def test_unfitted_simplifier():
    with pytest.raises(NotFittedError):
        DefragClassifier().predict(X)


def test_missing_label():
    labels = np.where(y, "yes", "no").astype(object)
    labels[3] = None
    with pytest.raises(ValueError, match="y contains missing values"):
        DefragClassifier().fit(X, labels)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_text_count_as_categories_without_an_model(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"c": ["a", "b"] * 50, "x": np.arange(100.0)})
    is_a = np.array(["a", "b"] * 50) == "a"
    simple = DefragClassifier(random_state=0).fit(frame, is_a)
    assert (simple.predict(frame) == is_a).all()


def test_evaluating_nothing():
    with pytest.raises(ValueError, match=r"At least one row|0 sample"):
        simplify(forest, X, random_state=0).evaluate(X[:0])


def test_sparse_table_is_a_table_with_zeros():
    from scipy import sparse

    table = np.where(X > 0, X, 0.0)
    sparse_table = sparse.csr_matrix(table)
    simple = simplify(forest, sparse_table, y, random_state=0)
    assert simple.rules_ == simplify(forest, table, y, random_state=0).rules_
    assert (simple.predict(sparse_table) == simple.predict(table)).all()
    assert simple.evaluate(sparse_table, y) == simple.evaluate(table, y)


ODD_COLUMNS = {
    "infinite": (np.where(X[:, 0] > 1, np.inf, X[:, 0]), "'b' must hold finite"),
    "too large": (np.where(X[:, 0] > 1, 1e308, X[:, 0]), "'b' must hold finite"),
    "no float": ([10**400, *X[1:, 0]], "'b' must hold numbers"),
    "numbers and text": ([1, "x"] * 40, "'b' must hold numbers or text, not both"),
    "truth and text": ([True, "x"] * 40, "'b' must hold numbers or text, not both"),
}


@pytest.mark.parametrize("name", ODD_COLUMNS)
def test_a_column_that_no_model_can_have_is_named(name):
    pd = pytest.importorskip("pandas")
    column, message = ODD_COLUMNS[name]
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Series(column, dtype=object)})
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        DefragClassifier().fit(frame, y)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X[:, 0], y, "X must have rows and columns"),
        ({"a": X[:, 0]}, y, r"got a dict. Pass pandas.DataFrame"),
        (np.array([["x", 1.0]] * 80, dtype=object), y, "Column 1 must hold numbers"),
        (X, np.array([1, "x"] * 40, dtype=object), "y must hold texts or numbers"),
    ],
)
def test_tables_and_labels_that_cannot_be_read(rows, labels, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        DefragClassifier().fit(rows, labels)
    assert "\n" not in str(caught.value)


def test_validation_has_the_columns_of_x_and_rules_take_no_path():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    simple = DefragClassifier(forest, max_rules=2)
    other = frame.rename(columns={"c": "z"})
    with pytest.raises(ValueError, match=r"must have the columns of X.*- z") as caught:
        simple.fit(frame, y, validation=(other, y))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="must have rows and columns"):
        simple.fit(frame[[]], y)
    with pytest.raises(TypeError, match="X must be a table; got the path"):
        simple.fit(X, y).rules_.predict("rows.csv")
