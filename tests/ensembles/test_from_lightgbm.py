"""The LightGBM reader, against LightGBM itself and, where it is right, treelite."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_lightgbm import read_file
from defragtrees.errors import UnsupportedModelError
from tests.checks.readers import (
    check_labels,
    check_numbers,
    check_probabilities,
    check_reader,
    rows_around_thresholds,
)

lightgbm = pytest.importorskip("lightgbm")

SMALL = {"num_leaves": 6, "min_child_samples": 5, "n_jobs": 1, "verbose": -1}
CATEGORIES = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 2}
FOREST = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
MISSING = [{}, {"zero_as_missing": True}, {"use_missing": False}]
LETTERS = list("abcdefghij")
LEVELS = ["low", "middle", "high"]


def make_data(n_rows=200):
    """Numbers with zeros and missing values, and a score that depends on them."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n_rows, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.1] = 0
    score = np.nan_to_num(X[:, 0], nan=1.0) + (X[:, 1] == 0)
    return X, score + rng.normal(size=n_rows) / 3


X, SCORE = make_data()
TWO = (SCORE > 0.5).astype(int)
THREE = np.digitize(SCORE, [0.0, 1.0])
POSITIVE = np.exp(SCORE / 3)
SHARE = 1 / (1 + np.exp(-SCORE))


def make_frame(n_rows=300):
    """A frame with all kinds of categories, some missing, one of them constant."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "the size": rng.normal(size=n_rows),
            "letter": pd.Categorical(rng.choice(LETTERS, n_rows), LETTERS),
            "same": pd.Categorical(["one"] * n_rows),
            "level": pd.Categorical(rng.choice(LEVELS, n_rows), LEVELS, ordered=True),
            "code": pd.Categorical(rng.choice([3, 7, 11], n_rows)),
        }
    )
    frame.loc[::7, "letter"] = np.nan
    frame.loc[::11, "level"] = np.nan
    target = frame["letter"].isin(list("adg")) + (frame["code"] == 7)
    return frame, target + frame["the size"] / 2 + 2 * frame["level"].cat.codes % 3


def every_row(frame):
    """All combinations of labels, missing and unseen ones too, in another order."""
    rows = pd.MultiIndex.from_product(
        [
            [-1e9, -1.0, 0.0, 1.0, 1e300],
            [*LETTERS, None, "new"],
            ["one", "two", None],
            [*LEVELS, None, "top"],
            [3, 7, 11, None, 12],
        ],
        names=frame.columns,
    ).to_frame(index=False)
    rows["letter"] = pd.Categorical(rows["letter"], ["new", *LETTERS[::-1]])
    rows["same"] = pd.Categorical(rows["same"])
    rows["level"] = pd.Categorical(rows["level"], ["top", *LEVELS], ordered=True)
    rows["code"] = pd.Categorical(rows["code"], [12, 11, 3, 7])
    return rows


def train(objective, y, n_rounds=5, **options):
    group = None
    if objective in ("lambdarank", "rank_xendcg"):
        group = [len(X) // 2, len(X) - len(X) // 2]
    data = lightgbm.Dataset(X, y, group=group)
    return lightgbm.train({"objective": objective, **SMALL, **options}, data, n_rounds)


def check_booster(booster, rows):
    forest = read_forest(booster)
    expected = booster.predict(rows)
    if forest.task == "regression":
        check_numbers(forest, expected, rows, rtol=1e-12)
    else:
        if expected.ndim == 1:
            expected = np.column_stack([1 - expected, expected])
        check_probabilities(forest, expected, rows, atol=1e-12)
    return forest


def with_edges(forest, rows):
    """The rows, rows around thresholds, and rows with tiny numbers and gaps."""
    tiny = np.array([0.0, -0.0, 1e-36, -1e-36, 1e-35, -1e-35, 5e-324, np.inf, -np.inf])
    edges = np.repeat(rows[:5], len(tiny), axis=0)
    edges[np.arange(len(edges)), np.arange(len(edges)) % 4] = np.tile(tiny, 5)
    rng = np.random.default_rng(5)
    gaps = np.where(rng.random(rows.shape) < 0.3, np.nan, rows)
    zeros = np.where(rng.random(rows.shape) < 0.3, 0.0, rows)
    same = np.repeat(tiny, 4).reshape(-1, 4)
    around = rows_around_thresholds(forest, rows)
    return np.vstack([rows, around, edges, same, gaps, zeros])


@pytest.mark.parametrize(
    ("objective", "y", "options", "link"),
    [
        ("regression", SCORE, {}, "identity"),
        ("regression", SCORE, {"reg_sqrt": True}, "signed_square"),
        ("regression_l1", SCORE, {}, "identity"),
        ("huber", SCORE, {}, "identity"),
        ("fair", SCORE, {}, "identity"),
        ("quantile", SCORE, {}, "identity"),
        ("mape", SCORE, {}, "identity"),
        ("poisson", np.floor(POSITIVE), {}, "exp"),
        ("gamma", POSITIVE, {}, "exp"),
        ("tweedie", POSITIVE, {}, "exp"),
        ("cross_entropy", SHARE, {}, "sigmoid"),
        ("cross_entropy_lambda", SHARE, {}, "softplus"),
        ("lambdarank", TWO, {}, "identity"),
        ("rank_xendcg", TWO, {}, "identity"),
        ("regression", SCORE, FOREST, "identity"),
        ("poisson", np.floor(POSITIVE), FOREST, "exp"),
        ("regression", 0 * SCORE + 3, {}, "identity"),
    ],
)
def test_objectives_for_numbers_agree(objective, y, options, link):
    booster = train(objective, y, **options)
    forest = check_booster(booster, with_edges(read_forest(booster), X))
    assert forest.task == "regression"
    assert forest.link == link


@pytest.mark.parametrize(
    ("objective", "y", "options", "n_classes"),
    [
        ("binary", TWO, {}, 2),
        ("binary", TWO, {"sigmoid": 2.5}, 2),
        ("binary", TWO, {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0}, 2),
        ("binary", TWO, FOREST, 2),
        ("binary", 0 * TWO, {}, 2),
        ("multiclass", THREE, {"num_class": 3}, 3),
        ("multiclass", THREE, {"num_class": 4}, 4),
        ("multiclass", THREE, {"num_class": 3, **FOREST}, 3),
        ("multiclass", 0 * THREE + 1, {"num_class": 3}, 3),
        ("multiclassova", THREE, {"num_class": 3, "sigmoid": 0.7}, 3),
    ],
)
def test_objectives_for_classes_agree(objective, y, options, n_classes):
    booster = train(objective, y, **options)
    forest = check_booster(booster, with_edges(read_forest(booster), X))
    assert forest.task == "classification"
    assert forest.classes == tuple(range(n_classes))


@pytest.mark.parametrize("options", MISSING)
def test_zeros_and_missing_values_agree(options):
    booster = train("regression", SCORE, n_rounds=20, **options)
    forest = check_booster(booster, with_edges(read_forest(booster), X))
    has_chain = any((tree.feature >= 0).sum() > 5 for tree in forest.trees)
    assert has_chain == ("zero_as_missing" in options)


@pytest.mark.parametrize("threshold", ["0", "-0", "5e-36", "-5e-36", "-1e-30", "1e300"])
@pytest.mark.parametrize("options", MISSING)
def test_a_threshold_decides_as_lightgbm_does_to_the_last_bit(threshold, options):
    text = train("regression", SCORE, num_leaves=2, **options).model_to_string()
    text = re.sub("tree_sizes=.*\n", "", text)
    text = re.sub("threshold=.*", f"threshold={threshold}", text)
    booster = lightgbm.Booster(model_str=text)
    check_booster(booster, with_edges(read_forest(booster), X))


@pytest.mark.parametrize(
    "y",
    [
        np.array(["b", "a"])[TWO],
        np.array(["x", "z", "y"])[THREE],
        TWO.astype(bool),
        THREE * 10,
    ],
)
def test_classifiers_agree_and_keep_their_labels(y):
    model = lightgbm.LGBMClassifier(n_estimators=5, **SMALL).fit(X, y)
    forest = check_reader(model, X)
    assert forest.classes == tuple(np.unique(y).tolist())


def test_one_class_is_always_the_answer():
    model = lightgbm.LGBMClassifier(n_estimators=2, **SMALL).fit(X, ["only"] * len(X))
    forest = read_forest(model)
    check_labels(forest, model, X)
    check_probabilities(forest, np.ones((len(X), 1)), X)


@pytest.mark.parametrize(
    "model",
    [
        lightgbm.LGBMRegressor(n_estimators=1, **SMALL).fit(X, SCORE),
        lightgbm.LGBMRegressor(objective="binary", **SMALL).fit(X, TWO),
        lightgbm.LGBMRanker(n_estimators=5, **SMALL).fit(X, TWO, group=[100, 100]),
        lightgbm.LGBMClassifier(objective="regression", **SMALL).fit(X, TWO),
        lightgbm.LGBMClassifier(objective="multiclassova", **SMALL).fit(X, THREE),
    ],
)
def test_other_wrappers_agree(model):
    forest = check_reader(model, X)
    assert forest.feature_names == ("x1", "x2", "x3", "x4")


@pytest.mark.parametrize("options", MISSING)
def test_frames_with_categories_agree_on_every_combination(options):
    frame, target = make_frame()
    options = {**SMALL, **CATEGORIES, **options}
    regressor = lightgbm.LGBMRegressor(n_estimators=15, **options).fit(frame, target)
    forest = read_forest(regressor)
    assert forest.feature_names == ("the_size", "letter", "same", "level", "code")
    assert forest.categories == (
        None,
        tuple(LETTERS),
        ("one",),
        tuple(LEVELS),
        (3, 7, 11),
    )
    used = {int(j) for tree in forest.trees for j in tree.feature}
    assert used == {-1, 0, 1, 3, 4}
    rows = every_row(frame)
    check_numbers(forest, regressor.predict(rows), rows, rtol=1e-12)
    check_numbers(forest, regressor.predict(frame), frame, rtol=1e-12)
    classifier = lightgbm.LGBMClassifier(n_estimators=5, **options)
    classifier.fit(frame, np.digitize(target, [0, 1]))
    forest = read_forest(classifier)
    check_probabilities(forest, classifier.predict_proba(rows), rows)
    check_labels(forest, classifier, rows)


@pytest.mark.parametrize("options", MISSING)
def test_categories_as_numbers_agree_also_on_unseen_ones(options):
    rng = np.random.default_rng(2)
    code = rng.integers(0, 60, 400) * 3.0
    rows = np.column_stack([rng.normal(size=400), code])
    rows[::9, 1] = np.nan
    model = lightgbm.LGBMRegressor(n_estimators=8, **SMALL, **CATEGORIES, **options)
    model.fit(rows, (code % 2 == 0) + rows[:, 0] / 5, categorical_feature=[1])
    forest = read_forest(model)
    assert forest.categories[0] is None
    assert set(forest.categories[1]) <= set(range(0, 180, 3))
    unseen = [[0, 1], [0, -3], [0, 1e6], [0, np.nan], [0, 181], [0, 2e9]]
    rows = np.vstack([rows, unseen])
    check_numbers(forest, model.predict(rows), rows, rtol=1e-12)


def test_ordered_categories_that_could_be_in_several_columns_are_refused():
    frame, target = make_frame()
    frame = frame[["level"]].assign(first=np.arange(300) % 3, last=np.arange(300) % 2)
    model = lightgbm.LGBMRegressor(n_estimators=3, **SMALL).fit(frame, target)
    with pytest.raises(UnsupportedModelError, match=r"\['low', 'middle', 'high'\]"):
        read_forest(model)


def test_labels_go_to_the_column_that_is_split_on_sets():
    frame, target = make_frame()
    frame = frame[["letter"]].assign(first=np.arange(300) % 3, last=np.arange(300) % 2)
    frame = frame[["first", "letter", "last"]]
    model = lightgbm.LGBMRegressor(n_estimators=3, **SMALL).fit(frame, target)
    assert read_forest(model).categories == (None, tuple(LETTERS), None)


def test_a_feature_that_is_both_number_and_category_is_refused():
    rows = np.arange(300.0)[:, None] % 30
    options = {"objective": "regression", **SMALL, **CATEGORIES}
    first = lightgbm.train(options, lightgbm.Dataset(rows, rows[:, 0] > 9), 2)
    data = lightgbm.Dataset(rows, rows[:, 0] % 3, categorical_feature=[0])
    both = lightgbm.train(options, data, 2, init_model=first)
    with pytest.raises(UnsupportedModelError, match="'x1' both as"):
        read_forest(both)


def test_a_column_declared_by_hand_keeps_its_numbers():
    frame, target = make_frame()
    frame = frame[["letter"]].assign(number=np.arange(300) % 20 * 5)
    model = lightgbm.LGBMRegressor(n_estimators=8, **SMALL, **CATEGORIES)
    model.fit(frame, target, categorical_feature=["number", "letter"])
    forest = read_forest(model)
    assert forest.categories == (tuple(LETTERS), tuple(range(0, 100, 5)))
    check_numbers(forest, model.predict(frame), frame, rtol=1e-12)


def test_early_stopping_is_used_by_every_door(tmp_path):
    parts = [lightgbm.Dataset(X[:100], THREE[:100]), lightgbm.Dataset(X, THREE)]
    options = {"objective": "multiclass", "num_class": 3, "learning_rate": 0.8, **SMALL}
    stop = lightgbm.early_stopping(3, verbose=False)
    # Otherwise the later trees are gone when the training ends.
    booster = lightgbm.train(
        options, parts[0], 60, parts[1:], callbacks=[stop], keep_training_booster=True
    )
    forest = check_booster(booster, X)
    assert len(forest.trees) == 3 * booster.best_iteration < booster.num_trees()
    path = tmp_path / "model.txt"
    booster.save_model(path)
    assert read_forest(path) == forest


def test_all_doors_give_the_same_forest(tmp_path):
    frame, target = make_frame()
    model = lightgbm.LGBMRegressor(n_estimators=5, **SMALL, **CATEGORIES)
    model.fit(frame, target)
    forest = read_forest(model)
    path = tmp_path / "model.txt"
    model.booster_.save_model(path)
    again = lightgbm.Booster(model_file=path)
    assert read_forest(model.booster_) == forest
    assert read_forest(path) == read_forest(str(path)) == forest
    assert read_forest(again) == forest
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_forest(path) == forest


def test_a_file_is_read_without_lightgbm(tmp_path, monkeypatch):
    booster = train("regression", SCORE)
    path = tmp_path / "model.txt"
    booster.save_model(path)
    expected = booster.predict(X)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    check_numbers(read_file(path), expected, X)


def test_treelite_agrees():
    treelite = pytest.importorskip("treelite")
    for booster in (
        train("binary", TWO),
        train("multiclass", THREE, num_class=3),
        train("poisson", np.floor(POSITIVE)),
        train("regression", SCORE, **FOREST),
    ):
        forest = read_forest(booster)
        rows = np.vstack([X, rows_around_thresholds(forest, X)])
        # Treelite does not take tiny numbers for zero, as LightGBM does.
        rows = np.where(np.abs(rows) < 1e-30, 0.0, rows)
        other = treelite.frontend.from_lightgbm(booster)
        expected = treelite.gtil.predict(other, rows, nthread=1)
        if forest.task == "regression":
            check_numbers(forest, expected, rows)
        else:
            found = forest.predict_proba(rows)[:, -expected[0].size :]
            np.testing.assert_allclose(found, expected.reshape(found.shape), atol=1e-9)


def test_the_model_is_left_as_it_was():
    frame, target = make_frame()
    model = lightgbm.LGBMRegressor(n_estimators=3, **SMALL).fit(frame, target)
    before = model.booster_.model_to_string(), model.get_params()
    copy = frame.copy(deep=True)
    read_forest(model).predict(frame)
    pd.testing.assert_frame_equal(frame, copy)
    assert (model.booster_.model_to_string(), model.get_params()) == before


def test_an_unfitted_one_says_so():
    with pytest.raises(NotFittedError):
        read_forest(lightgbm.LGBMClassifier())


def custom(y, answer):
    return answer - y, np.ones_like(y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: train("regression", SCORE, linear_tree=True), "linear trees"),
        (
            lambda: lightgbm.LGBMRegressor(objective=custom, **SMALL).fit(X, SCORE),
            "the objective 'custom'",
        ),
        (
            lambda: lightgbm.LGBMClassifier(objective="poisson", **SMALL).fit(X, TWO),
            "classifier with the objective 'poisson'",
        ),
        (
            lambda: lightgbm.LGBMRegressor(
                objective="multiclass", num_class=3, **SMALL
            ).fit(X, THREE),
            "regressor with the objective 'multiclass'",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(make, message):
    with pytest.raises(UnsupportedModelError, match=message):
        read_forest(make())
