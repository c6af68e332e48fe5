"""The XGBoost reader, against XGBoost itself and, where it is right, treelite."""

import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_xgboost import read_file
from defragtrees.errors import UnsupportedModelError
from tests.checks.readers import (
    check_labels,
    check_numbers,
    check_probabilities,
    check_reader,
    rows_around_thresholds,
)

xgboost = pytest.importorskip("xgboost")
# From 3.4 on it calls kinds of boosters outdated, from a place that hears no errors.
pytestmark = pytest.mark.filterwarnings(r"ignore:.*`booster=\w+` is deprecated")

SMALL = {"n_estimators": 6, "max_depth": 3, "n_jobs": 1}
VERSION = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
since_3_1 = pytest.mark.skipif(VERSION < (3, 1), reason="needs XGBoost 3.1")
since_3_2 = pytest.mark.skipif(VERSION < (3, 2), reason="needs XGBoost 3.2")
LETTERS = list("abcdefghij")
LARGEST = float(np.finfo(np.float32).max)


def make_data(n_rows=200):
    """Numbers with missing values, and a score that depends on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    score = np.nan_to_num(X[:, 0], nan=1.0) + np.nan_to_num(X[:, 1]) ** 2 / 2
    return X, score + rng.normal(size=n_rows) / 3


X, SCORE = make_data()
TWO = (SCORE > 0.5).astype(int)
THREE = np.digitize(SCORE, [0.0, 1.0])
POSITIVE = np.exp(SCORE / 3)
SHARE = 1 / (1 + np.exp(-SCORE))


def make_frame(n_rows=300):
    """A frame with numbers, labels as text and as whole numbers, some missing."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "letter": pd.Categorical(rng.choice(LETTERS, n_rows), LETTERS),
            "code": pd.Categorical(rng.choice([3, 7, 11], n_rows)),
            "flag": rng.random(n_rows) > 0.5,
        }
    )
    frame.loc[::7, "letter"] = np.nan
    frame.loc[::11, "size"] = np.nan
    target = frame["letter"].isin(list("adg")) + (frame["code"] == 7)
    return frame, target + frame["size"].fillna(0) / 2


def train(objective, y, **options):
    """A raw Booster and the DMatrix that it was trained on."""
    data = xgboost.DMatrix(X, y)
    if objective.startswith("rank"):
        data.set_info(group=[len(X) // 2, len(X) - len(X) // 2])
    if objective == "survival:aft":
        data.set_info(label_lower_bound=y, label_upper_bound=y)
    parameters = {"objective": objective, "max_depth": 3, "nthread": 1, **options}
    return xgboost.train(parameters, data, 5), data


def document_of(booster):
    return json.loads(bytes(booster.save_raw("json")))


def trees_in(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


def as_booster(document):
    return xgboost.Booster(model_file=bytearray(json.dumps(document).encode()))


@pytest.mark.parametrize(
    ("objective", "y", "link"),
    [
        ("reg:squarederror", SCORE, "identity"),
        ("reg:squaredlogerror", POSITIVE, "identity"),
        ("reg:absoluteerror", SCORE, "identity"),
        ("reg:pseudohubererror", SCORE, "identity"),
        ("reg:quantileerror", SCORE, "identity"),
        ("reg:logistic", SHARE, "sigmoid"),
        ("binary:logistic", TWO, "sigmoid"),
        ("count:poisson", np.floor(POSITIVE), "exp"),
        ("reg:gamma", POSITIVE, "exp"),
        ("reg:tweedie", POSITIVE, "exp"),
        ("survival:cox", POSITIVE, "exp"),
    ],
)
@pytest.mark.parametrize("base_score", [None, 0.25])
def test_regressors_agree(objective, y, link, base_score):
    options = {"quantile_alpha": 0.3} if objective == "reg:quantileerror" else {}
    model = xgboost.XGBRegressor(
        objective=objective, base_score=base_score, **SMALL, **options
    ).fit(X, y)
    forest = check_reader(model, X)
    assert forest.task == "regression"
    assert forest.link == link
    assert forest.feature_names == ("x1", "x2", "x3", "x4")


@pytest.mark.parametrize(
    ("y", "options"),
    [
        (TWO, {}),
        (THREE, {}),
        (TWO, {"base_score": 0.2}),
        (TWO, {"objective": "binary:hinge", "base_score": 0.1}),
        (TWO, {"objective": "binary:logitraw"}),
        (TWO, {"objective": "reg:squarederror"}),
        (TWO, {"objective": "reg:logistic"}),
        (THREE, {"objective": "multi:softmax"}),
        (THREE, {"multi_strategy": "multi_output_tree"}),
        (THREE, {"num_parallel_tree": 2, "subsample": 0.5}),
        (TWO, {"tree_method": "exact", "gamma": 2.0}),
        (TWO, {"tree_method": "approx"}),
        (TWO, {"grow_policy": "lossguide", "max_leaves": 5}),
        (TWO, {"booster": "dart", "rate_drop": 0.5, "one_drop": True}),
        (THREE, {"booster": "dart", "rate_drop": 0.5, "one_drop": True}),
        (TWO, {"n_estimators": 1}),
        pytest.param(0 * TWO, {}, marks=since_3_2),
    ],
)
def test_classifiers_agree(y, options):
    model = xgboost.XGBClassifier(**{**SMALL, **options}).fit(X, y)
    forest = check_reader(model, X)
    assert forest.task == "classification"
    assert forest.classes == tuple(range(max(2, y.max() + 1)))


@pytest.mark.parametrize(
    ("kind", "y"), [("XGBRFClassifier", THREE), ("XGBRFRegressor", SCORE)]
)
@pytest.mark.filterwarnings("ignore:`XGBRF:FutureWarning")
def test_random_forests_agree(kind, y):
    check_reader(getattr(xgboost, kind)(n_estimators=5, n_jobs=1).fit(X, y), X)


def test_rankers_agree():
    groups = np.repeat([0, 1], 100)
    check_reader(xgboost.XGBRanker(**SMALL).fit(X, TWO, qid=groups), X)


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_targets_agree(strategy):
    targets = np.column_stack([SCORE, -3 * SCORE])
    model = xgboost.XGBRegressor(multi_strategy=strategy, **SMALL).fit(X, targets)
    found = read_forest(model).predict(X)
    np.testing.assert_allclose(found, model.predict(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("objective", "y"),
    [
        ("binary:logitraw", TWO),
        ("rank:pairwise", TWO),
        ("rank:ndcg", TWO),
        ("rank:map", TWO),
        ("survival:aft", POSITIVE),
        ("reg:squarederror", SCORE),
    ],
)
def test_boosters_that_answer_with_numbers_agree(objective, y):
    booster, data = train(objective, y)
    forest = read_forest(booster)
    assert forest.task == "regression"
    check_numbers(forest, booster.predict(data), X)


@pytest.mark.parametrize(
    "base_score",
    [0.3, 1e-9, *(pytest.param(edge, marks=since_3_2) for edge in (0.0, 1.0))],
)
def test_boosters_that_answer_with_probabilities_agree(base_score):
    booster, data = train("binary:logistic", TWO, base_score=base_score)
    forest = read_forest(booster)
    assert forest.classes == (0, 1)
    probability = booster.predict(data)
    check_probabilities(forest, np.column_stack([1 - probability, probability]), X)
    # What is close to 0 must agree in its own size, too.
    np.testing.assert_allclose(
        forest.predict_raw(X)[:, 0],
        booster.predict(data, output_margin=True),
        rtol=2e-6,
    )


def test_boosters_that_answer_with_labels_agree():
    hinge, data = train("binary:hinge", TWO, base_score=0.3)
    softmax, _ = train("multi:softmax", THREE, num_class=3)
    for booster in (hinge, softmax):
        found = read_forest(booster).predict(X)
        assert (found == booster.predict(data)).all()
        assert found.dtype.kind == "i"


def test_a_booster_without_trees_agrees():
    data = xgboost.DMatrix(X, THREE)
    options = {"objective": "multi:softprob", "num_class": 3, "nthread": 1}
    booster = xgboost.train(options, data, 0)
    check_probabilities(read_forest(booster), booster.predict(data), X)


@pytest.mark.parametrize(
    "threshold",
    [0.0, -0.0, 1e-45, -1e-45, 1e-40, 0.1, -0.1, 1.0, 16777216.0, LARGEST, np.inf],
)
def test_a_threshold_decides_as_xgboost_does_to_the_last_bit(threshold):
    booster, _ = train("reg:squarederror", SCORE, max_depth=1)
    document = document_of(booster)
    for tree in trees_in(document):
        j = tree["split_indices"][0]
        tree["split_conditions"][0] = threshold
    booster = as_booster(document)
    grid = np.float32(threshold)
    around = [grid, np.nextafter(grid, np.float32(-1)), -grid, 0.0, -0.0, 1e-46, -1e-46]
    with np.errstate(over="ignore"):
        around.append(np.nextafter(grid, np.float32(np.inf)))
    stored = read_forest(booster).splits()[j]
    around += [*stored, *np.nextafter(stored, np.inf), *np.nextafter(stored, -np.inf)]
    rows = np.zeros((len(around), 4))
    rows[:, j] = around
    expected = booster.inplace_predict(rows)
    assert len(set(expected)) == 2
    check_numbers(read_forest(booster), expected, rows)


@since_3_1
def test_frames_with_categories_agree_on_every_combination():
    frame, target = make_frame()
    options = {"enable_categorical": True, "max_cat_to_onehot": 3, **SMALL}
    regressor = xgboost.XGBRegressor(**options).fit(frame, target)
    classifier = xgboost.XGBClassifier(**options).fit(
        frame, np.digitize(target, [0, 1])
    )
    rows = pd.MultiIndex.from_product(
        [
            [-1e9, -1.0, 0.0, 1e30, np.nan],
            [*LETTERS, None],
            [3, 7, 11, None],
            [True, False],
        ],
        names=frame.columns,
    ).to_frame(index=False)
    rows["letter"] = pd.Categorical(rows["letter"], LETTERS[::-1])
    rows["code"] = pd.Categorical(rows["code"], [11, 3, 7])
    forest = read_forest(regressor)
    assert forest.categories == (None, tuple(LETTERS), (3, 7, 11), None)
    assert forest.feature_names == ("size", "letter", "code", "flag")
    check_numbers(forest, regressor.predict(rows), rows)
    forest = read_forest(classifier)
    check_probabilities(forest, classifier.predict_proba(rows), rows)
    check_labels(forest, classifier, rows)


@pytest.mark.parametrize("n_known", [10, 70])
def test_categories_as_numbers_agree_also_on_unseen_ones(n_known):
    rng = np.random.default_rng(2)
    code = rng.integers(0, n_known, 400).astype(float)
    rows = np.column_stack([code, rng.normal(size=400)])
    rows[::9, 0] = np.nan
    model = xgboost.XGBRegressor(
        feature_types=["c", "q"], max_cat_to_onehot=2, **SMALL
    ).fit(rows, (code % 3 == 0) + rows[:, 1] / 5)
    forest = read_forest(model)
    assert forest.categories[0] == tuple(range(len(forest.categories[0])))
    unseen = np.array(
        [[n_known, 0], [n_known + 500, 0], [-1, 0], [np.nan, 0], [1e9, 0]]
    )
    rows = np.vstack([rows, unseen])
    check_numbers(forest, model.predict(rows), rows)


@since_3_1
def test_an_unseen_label_goes_where_an_unseen_number_goes():
    frame, target = make_frame()
    options = {"max_cat_to_onehot": 2, **SMALL}
    by_label = xgboost.XGBRegressor(enable_categorical=True, **options)
    by_label.fit(frame[["letter"]], target)
    code = frame["letter"].cat.codes.replace(-1, np.nan).to_numpy(float)[:, None]
    by_code = xgboost.XGBRegressor(feature_types=["c"], **options).fit(code, target)
    expected = by_code.predict([[99.0]])
    check_numbers(read_forest(by_label), expected, pd.DataFrame({"letter": ["new"]}))


@since_3_1
def test_labels_that_xgboost_stores_broken_are_refused():
    frame = pd.DataFrame({"city": pd.Categorical(["Köln", "Ulm"] * 50)})
    model = xgboost.XGBRegressor(enable_categorical=True, **SMALL)
    model.fit(frame, np.arange(100) % 2)
    with pytest.raises(UnsupportedModelError, match="non-ASCII letters"):
        read_forest(model)


def test_labels_that_an_older_xgboost_did_not_store_are_missed(tmp_path):
    frame, target = make_frame()
    model = xgboost.XGBRegressor(enable_categorical=True, **SMALL).fit(frame, target)
    document = document_of(model.get_booster())
    document["learner"]["gradient_booster"]["model"].pop("cats", None)
    document["version"] = [3, 0, 5]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UnsupportedModelError, match=r"before 3\.1, which does not"):
        read_forest(path)
    # The numbers of an array need no labels, and their splits no thresholds.
    learner = document["learner"]
    learner["feature_names"] = []
    tree = trees_in(document)[0]
    for i in tree["categories_nodes"]:
        tree["split_conditions"][i] = float("nan")
    path.write_text(json.dumps(document))
    assert read_forest(path).categories == (None, tuple(range(10)), (0, 1), None)


def test_weights_of_trees_are_found_in_both_places(tmp_path):
    booster, data = train("reg:squarederror", SCORE, booster="dart", rate_drop=0.5)
    document, path = document_of(booster), tmp_path / "model.json"
    stored = document["learner"]["gradient_booster"]
    model = stored["model"] if stored["name"] == "gbtree" else stored["gbtree"]["model"]
    weights = model.pop("weight_drop", None) or stored.pop("weight_drop")
    assert min(weights) < 1
    with_weights = {**model, "weight_drop": weights}
    for place in (
        {"name": "gbtree", "model": with_weights},  # from 3.4 on
        {"name": "dart", "gbtree": {"model": model}, "weight_drop": weights},
    ):
        document["learner"]["gradient_booster"] = place
        path.write_text(json.dumps(document))
        check_numbers(read_file(path), booster.predict(data), X)


def test_trees_with_several_answers_need_no_weights_of_nodes(tmp_path):
    model = xgboost.XGBClassifier(multi_strategy="multi_output_tree", **SMALL)
    document = document_of(model.fit(X, THREE).get_booster())
    path = tmp_path / "model.json"
    for tree in trees_in(document):
        tree.pop("sum_hessian", None)  # before 3.2
    path.write_text(json.dumps(document))
    forest = read_file(path)
    assert np.isnan(forest.trees[0].cover).all()
    check_probabilities(forest, model.predict_proba(X), X)


def test_a_base_score_is_that_of_the_version_which_saved_it(tmp_path):
    booster, _ = train("binary:logistic", TWO, base_score=1e-9)
    document, path = document_of(booster), tmp_path / "model.json"
    found = []
    for version in ([3, 1, 3], [3, 2, 0]):
        path.write_text(json.dumps(document | {"version": version}))
        found.append(read_file(path).base[0])
    assert found == pytest.approx([np.log(1e-9), np.log(1e-6)], rel=1e-5)


@pytest.mark.parametrize("missing", [-999.0, 0.0, 0.5, np.inf])
def test_a_number_for_missing_values_agrees(missing):
    rows = np.where(np.isnan(X), missing, np.round(X, 1))
    model = xgboost.XGBRegressor(missing=missing, **SMALL).fit(rows, SCORE)
    forest = check_reader(model, rows)
    with_both = np.where(rows > 1, np.nan, rows)
    check_numbers(forest, model.predict(with_both), with_both)


@pytest.mark.parametrize("missing", [-999.0, 3.0])
def test_a_number_for_missing_categories_agrees(missing):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 8, (300, 2)).astype(float)
    y = (rows[:, 0] % 3 == 0) + rows[:, 1]
    rows[::5] = missing
    model = xgboost.XGBRegressor(
        missing=missing, feature_types=["c", "c"], max_cat_to_onehot=2, **SMALL
    ).fit(rows, y)
    rows = np.vstack([rows, [[50, 50], [missing, 1], [1, np.nan]]])
    check_numbers(read_forest(model), model.predict(rows), rows)


def save_all(model, folder):
    """Paths of the files that the model and its booster save."""
    paths = []
    for ending in ("json", "ubj"):
        for kind, source in (("w", model), ("b", model.get_booster())):
            paths.append(folder / f"{kind}.{ending}")
            source.save_model(paths[-1])
    return paths


@since_3_1
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_all_doors_give_the_same_forest(booster, tmp_path):
    frame, target = make_frame()
    model = xgboost.XGBClassifier(enable_categorical=True, booster=booster, **SMALL)
    model.fit(frame, np.digitize(target, [0, 1]))
    forest = read_forest(model)
    assert read_forest(model.get_booster()) == forest
    for path in save_all(model, tmp_path):
        assert read_forest(path) == forest
        assert read_forest(str(path)) == forest


@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_early_stopping_is_used_by_wrappers_and_their_files_only(booster, tmp_path):
    model = xgboost.XGBClassifier(
        n_estimators=40,
        early_stopping_rounds=2,
        learning_rate=0.9,
        booster=booster,
        num_parallel_tree=2,
        n_jobs=1,
    )
    model.fit(X[:100], THREE[:100], eval_set=[(X[100:], THREE[100:])], verbose=False)
    forest = check_reader(model, X)
    assert len(forest.trees) == 2 * 3 * (model.best_iteration + 1)
    every = read_forest(model.get_booster())
    assert len(every.trees) > len(forest.trees)
    expected = model.get_booster().predict(xgboost.DMatrix(X))
    check_probabilities(every, expected, X)
    for path in save_all(model, tmp_path):
        assert read_forest(path) == (forest if path.name.startswith("w") else every)


def test_a_file_is_read_without_xgboost(tmp_path, monkeypatch):
    model = xgboost.XGBRegressor(**SMALL).fit(X, SCORE)
    paths = save_all(model, tmp_path)
    expected = model.predict(X)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    for path in paths:
        check_numbers(read_file(path), expected, X)


def test_treelite_agrees():
    treelite = pytest.importorskip("treelite")
    for objective, y, options in (
        ("binary:logistic", TWO, {}),
        ("multi:softprob", THREE, {"num_class": 3}),
        ("count:poisson", np.floor(POSITIVE), {}),
        ("reg:squarederror", SCORE, {"booster": "dart", "rate_drop": 0.5}),
    ):
        if options.get("rate_drop") and VERSION >= (3, 4):
            continue  # treelite 4.8 does not look for their weights
        booster, _ = train(objective, y, **options)
        forest = read_forest(booster)
        rows = np.vstack([X, rows_around_thresholds(forest, X)]).astype(np.float32)
        other = treelite.frontend.from_xgboost(booster)
        expected = treelite.gtil.predict(other, rows, nthread=1)
        rows = rows.astype(np.float64)
        if forest.task == "regression":
            check_numbers(forest, expected, rows)
        else:
            found = forest.predict_proba(rows)[:, -expected[0].size :]
            np.testing.assert_allclose(found, expected.reshape(found.shape), atol=1e-6)


@since_3_1
def test_the_model_is_left_as_it_was():
    frame, target = make_frame()
    model = xgboost.XGBRegressor(enable_categorical=True, **SMALL).fit(frame, target)
    before = bytes(model.get_booster().save_raw("ubj")), model.get_params()
    copy = frame.copy(deep=True)
    read_forest(model).predict(frame)
    pd.testing.assert_frame_equal(frame, copy)
    after = bytes(model.get_booster().save_raw("ubj")), model.get_params()
    assert str(before) == str(after)


@pytest.mark.parametrize("model", [xgboost.XGBClassifier(), xgboost.Booster()])
def test_an_unfitted_one_says_so(model):
    with pytest.raises(NotFittedError):
        read_forest(model)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: xgboost.XGBRegressor(booster="gblinear").fit(
                np.nan_to_num(X), SCORE
            ),
            "ensemble of 'gblinear'",
        ),
        (
            lambda: xgboost.XGBClassifier(**SMALL).fit(X, np.column_stack([TWO, TWO])),
            "'binary:logistic' and 2 outputs",
        ),
        (
            lambda: train("reg:quantileerror", SCORE, quantile_alpha=[0.1, 0.9])[0],
            "'reg:quantileerror' and 2 outputs",
        ),
        (
            lambda: xgboost.XGBClassifier(objective="count:poisson").fit(X, TWO),
            "classifier with the objective 'count:poisson'",
        ),
        (
            lambda: xgboost.XGBRegressor(objective="multi:softprob", num_class=3).fit(
                X, THREE
            ),
            "regressor with the objective 'multi:softprob'",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(make, message):
    with pytest.raises(UnsupportedModelError, match=message):
        read_forest(make())
