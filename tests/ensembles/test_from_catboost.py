"""CatBoost's wrappers, .cbm and .json files against CatBoost's own predictions."""

import json
import random
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from defragtrees.ensembles.readers import from_catboost, read_forest
from defragtrees.errors import ModelFileError, UnsupportedModelError
from tests.checks.readers import (
    check_labels,
    check_numbers,
    check_probabilities,
    check_reader,
)

catboost = pytest.importorskip("catboost")

FAST = {
    "iterations": 8,
    "depth": 3,
    "learning_rate": 0.4,
    "allow_writing_files": False,
    "verbose": 0,
    "thread_count": 1,
    "random_seed": 0,
}
POLICIES = ["SymmetricTree", "Depthwise", "Lossguide"]


def make_rows(n_rows=160, missing=0.0):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 4)).round(2)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < missing] = np.nan
    return X, score


def fit_regressor(X, y, **options):
    return catboost.CatBoostRegressor(**{**FAST, **options}).fit(X, y)


def fit_classifier(X, y, **options):
    return catboost.CatBoostClassifier(**{**FAST, **options}).fit(X, y)


def make_city(n_rows=160):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    city = rng.choice(["Bergen", "Oslo", "Tromso", "Voss"], n_rows)
    return pandas.DataFrame({"city": city, "size": rng.normal(size=n_rows)})


def save(model, folder, suffix):
    path = folder / f"model{suffix}"
    model.save_model(str(path), format=suffix[1:])
    return path


def check_doors(model, folder):
    """The wrapper and its two files give one forest."""
    forest = read_forest(model)
    assert read_forest(save(model, folder, ".cbm")) == forest
    assert read_forest(save(model, folder, ".json")) == forest
    return forest


def check_all(model, X, folder):
    forest = check_reader(model, X)
    assert check_doors(model, folder) == forest
    return forest


@pytest.mark.parametrize(
    "loss",
    [
        "RMSE",
        "MAE",
        "Quantile:alpha=0.3",
        "MAPE",
        "Huber:delta=1",
        "Expectile:alpha=0.3",
        "LogLinQuantile:alpha=0.3",
        "Lq:q=2.5",
        "LogCosh",
        pytest.param("RMSPE", marks=pytest.mark.printed),
        "Poisson",
        "Tweedie:variance_power=1.5",
        "Cox",
    ],
)
def test_numbers_are_those_of_catboost_for_each_loss(loss, tmp_path):
    X, score = make_rows()
    model = fit_regressor(X, np.exp(score), loss_function=loss)
    forest = check_all(model, X, tmp_path)
    assert forest.task == "regression"
    assert forest.classes is None
    assert len(np.unique(forest.predict(X))) > 5


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("loss", "n_classes"),
    [
        ("Logloss", 2),
        ("Focal:focal_alpha=0.4;focal_gamma=1.5", 2),
        ("CrossEntropy", 2),
        ("MultiClass", 2),
        ("MultiClass", 4),
        ("MultiClassOneVsAll", 3),
    ],
)
def test_classes_are_those_of_catboost(policy, loss, n_classes, tmp_path):
    X, score = make_rows()
    y = np.digitize(score, [-0.8, 0.0, 0.8][: n_classes - 1])
    model = fit_classifier(X, y, loss_function=loss, grow_policy=policy)
    forest = check_all(model, X, tmp_path)
    assert forest.classes == tuple(range(n_classes))
    assert len(np.unique(forest.predict(X))) == n_classes


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        ["no", "yes"],
        [0.5, 1.5],
        [1.0, 2.0],
        [-3, 7, 12],
        ["é", "b", "a"],
        [1.0, 2.0, 4.0],
    ],
    ids=str,
)
def test_labels_keep_their_type(labels, tmp_path):
    X, score = make_rows()
    y = np.array(labels)[np.digitize(score, [-0.3, 0.6][: len(labels) - 1])]
    model = fit_classifier(X, y)
    forest = check_all(model, X, tmp_path)
    assert set(forest.classes) == set(labels)
    assert {type(label) for label in forest.classes} == {type(labels[0])}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_missing_values_go_where_catboost_sends_them(policy, nan_mode, share, tmp_path):
    X, score = make_rows(missing=share)
    model = fit_regressor(X, score, grow_policy=policy, nan_mode=nan_mode)
    forest = check_all(model, X, tmp_path)
    with_gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.4, np.nan, X)
    assert np.ptp(forest.predict(with_gaps)) > 0.1
    check_numbers(forest, model.predict(with_gaps), with_gaps)


def test_a_border_for_missing_values_alone_is_exact(tmp_path):
    # With nan_mode Max the border is the largest float32; numbers just above it still
    # round down to it.
    X, _ = make_rows(missing=0.4)
    y = np.isnan(X[:, 0]) + 0.0
    model = fit_regressor(X[:, :1], y, nan_mode="Max", depth=1)
    forest = check_all(model, X[:, :1], tmp_path)
    assert forest.splits()[0].max() > np.finfo(np.float32).max


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("options", [{"iterations": 1}, {"depth": 1}], ids=str)
def test_small_models_are_read(policy, options, tmp_path):
    X, score = make_rows()
    model = fit_regressor(X, score, grow_policy=policy, **options)
    forest = check_all(model, X, tmp_path)
    assert len(forest.trees) == options.get("iterations", 8)
    assert max(tree.depth for tree in forest.trees) <= options.get("depth", 3)


def test_trees_of_one_leaf_are_read(tmp_path):
    X, score = make_rows()
    forest = check_all(fit_regressor(X, score, depth=0), X, tmp_path)
    assert [tree.n_nodes for tree in forest.trees] == [1] * 8
    assert forest.predict(X) == pytest.approx(np.full(160, score.mean()), rel=1e-5)


def test_a_constant_target_is_read(tmp_path):
    X, _ = make_rows()
    options = {"allow_const_label": True, "bootstrap_type": "No"}
    model = fit_regressor(X, np.full(160, 3.0), **options)
    forest = check_all(model, X, tmp_path)
    assert forest.predict(X).tolist() == [3.0] * 160


def test_a_single_class_has_probability_one(tmp_path):
    # CatBoost gives two columns of probabilities for its one class.
    X, _ = make_rows()
    model = fit_classifier(X, ["only"] * 160, allow_const_label=True)
    forest = check_doors(model, tmp_path)
    check_labels(forest, model, X)
    assert forest.classes == ("only",)
    assert forest.predict_proba(X).tolist() == [[1.0]] * 160


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], ["d", "a", "b", "c"]])
def test_a_class_without_rows_is_left_out(names, tmp_path):
    # CatBoost's probability for such a class is near 0, and not a sensible number.
    X, score = make_rows()
    y = np.array(["a", "b", "c"])[np.digitize(score, [-0.5, 0.5])]
    model = fit_classifier(X, y, class_names=names, loss_function="MultiClass")
    forest = check_doors(model, tmp_path)
    assert forest.classes == ("a", "b", "c")
    check_labels(forest, model, X)
    seen = [names.index(label) for label in "abc"]
    check_probabilities(forest, model.predict_proba(X)[:, seen], X)


def test_the_order_of_class_names_is_kept(tmp_path):
    X, score = make_rows()
    y = np.digitize(score, [-0.5, 0.5])
    forest = check_all(fit_classifier(X, y, class_names=[2, 0, 1]), X, tmp_path)
    assert forest.classes == (2, 0, 1)


def test_names_of_a_frame_are_the_names_of_the_forest(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, score = make_rows()
    frame = pandas.DataFrame(X, columns=["age", "pay", "size", "é"])
    model = fit_regressor(frame, score)
    forest = check_doors(model, tmp_path)
    assert forest.feature_names == ("age", "pay", "size", "é")
    check_numbers(forest, model.predict(frame), frame)
    numbered = fit_regressor(pandas.DataFrame(X), score)
    assert check_doors(numbered, tmp_path).feature_names == ("0", "1", "2", "3")


def test_features_of_an_array_are_counted_from_one(tmp_path):
    X, score = make_rows()
    X[:, 3] = 1.0
    model = fit_regressor(X, score, ignored_features=[1])
    forest = check_all(model, X, tmp_path)
    assert forest.feature_names == ("x1", "x2", "x3", "x4")
    assert [len(splits) > 0 for splits in forest.splits()] == [True, False, True, False]


def test_a_categorical_column_that_is_not_split_on_is_accepted(tmp_path):
    frame = make_city()
    y = (frame["size"] > 0).astype(int)
    options = {"cat_features": ["city"], "ignored_features": ["city"]}
    model = fit_classifier(frame, y, **options)
    forest = check_doors(model, tmp_path)
    assert forest.categories == ((), None)
    check_labels(forest, model, frame)


def test_early_stopping_scale_and_bias_are_followed(tmp_path):
    X, score = make_rows()
    model = catboost.CatBoostRegressor(**{**FAST, "iterations": 60})
    model.fit(X[:100], score[:100], eval_set=(X[100:], score[100:]))
    forest = check_all(model, X, tmp_path)
    assert len(forest.trees) == model.tree_count_ < 60
    model.set_scale_and_bias(-2.0, 0.25)
    check_all(model, X, tmp_path)
    model.shrink(3)
    assert len(check_all(model, X, tmp_path).trees) == 3


def test_a_plain_catboost_is_read_by_its_loss(tmp_path):
    X, score = make_rows()
    y = np.where(score > 0, 5, 2)
    model = catboost.CatBoost({**FAST, "loss_function": "Logloss"}).fit(X, y)
    forest = check_doors(model, tmp_path)
    check_labels(forest, model, X, prediction_type="Class")
    expected = model.predict(X, prediction_type="Probability")
    check_probabilities(forest, expected, X)


def test_a_sum_of_models_is_read(tmp_path):
    X, score = make_rows()
    parts = [fit_classifier(X, score > 0, random_seed=seed) for seed in (1, 2)]
    total = catboost.sum_models(parts, weights=[0.25, 0.5])
    forest = check_doors(total, tmp_path)
    assert len(forest.trees) == 16
    check_probabilities(forest, total.predict(X, prediction_type="Probability"), X)


@pytest.mark.parametrize("policy", POLICIES)
def test_cover_counts_the_training_rows(policy, tmp_path):
    X, score = make_rows()
    forest = check_doors(fit_regressor(X, score, grow_policy=policy), tmp_path)
    for tree in forest.trees:
        inner = tree.feature >= 0
        below = tree.cover[tree.left[inner]] + tree.cover[tree.right[inner]]
        assert tree.cover[0] == 160
        assert (tree.cover[inner] == below).all()


def test_reading_leaves_the_model_and_the_folder_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, score = make_rows()
    model = fit_regressor(X, score)
    before = model.predict(X), model.get_params()
    read_forest(model)
    assert (model.predict(X) == before[0]).all()
    assert model.get_params() == before[1]
    assert list(tmp_path.iterdir()) == []


def test_files_are_read_without_catboost(tmp_path, monkeypatch):
    X, score = make_rows()
    model = fit_regressor(X, score)
    paths = [save(model, tmp_path, suffix) for suffix in (".cbm", ".json")]
    monkeypatch.setitem(sys.modules, "catboost", None)
    for path in paths:
        assert len(read_forest(path).trees) == 8


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError, match="CatBoostRegressor is not fitted yet"):
        read_forest(catboost.CatBoostRegressor())


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
@pytest.mark.parametrize("one_hot_max_size", [1, 10])
def test_splits_on_categories_are_refused(policy, one_hot_max_size, tmp_path):
    frame = make_city()
    model = fit_classifier(
        frame,
        frame["city"] < "Oz",
        cat_features=["city"],
        grow_policy=policy,
        one_hot_max_size=one_hot_max_size,
    )
    message = (
        "splits on target statistics or hashes of categories, with the categorical "
        "columns 'city'. "
        "Pass the model as catboost loads it, which is queried, or fit it on encoded "
        "categories."
    )
    cbm, text = (save(model, tmp_path, suffix) for suffix in (".cbm", ".json"))
    for source in (model, cbm, text):
        with pytest.raises(UnsupportedModelError, match=message):
            read_forest(source)


def test_text_and_embedding_features_are_refused(tmp_path):
    frame = make_city()
    y = (frame["size"] > 0).astype(int)
    frame["city"] += " is a city"
    model = fit_classifier(frame, y, text_features=["city"])
    for source in (model, save(model, tmp_path, ".cbm")):
        with pytest.raises(UnsupportedModelError, match="'city' hold text features"):
            read_forest(source)
    frame["place"] = [[a, 1.0, a * a] for a in frame.pop("size")]
    options = {"embedding_features": ["place"], "cat_features": ["city"]}
    model = fit_classifier(frame, y, **options)
    for source in (model, save(model, tmp_path, ".cbm")):
        with pytest.raises(UnsupportedModelError, match="'place' hold embedding"):
            read_forest(source)


@pytest.mark.parametrize(
    "loss", ["RMSEWithUncertainty", "MultiQuantile:alpha=0.1,0.5", "MultiRMSE"]
)
def test_other_regression_losses_are_refused_by_name(loss, tmp_path):
    X, score = make_rows()
    model = fit_regressor(X, score, loss_function=loss)
    for source in (model, save(model, tmp_path, ".cbm")):
        with pytest.raises(
            UnsupportedModelError, match=f"its loss is '{loss.split(':')[0]}'"
        ):
            read_forest(source)


def test_rankers_and_many_labels_are_refused_by_name():
    X, score = make_rows()
    ranker = catboost.CatBoostRanker(**FAST)
    ranker.fit(X, np.digitize(score, [0]), group_id=np.arange(160) // 10)
    with pytest.raises(UnsupportedModelError, match="its loss is 'YetiRank'"):
        read_forest(ranker)
    y = np.column_stack([score > 0, score > 1]).astype(int)
    with pytest.raises(UnsupportedModelError, match="its loss is 'MultiLogloss'"):
        read_forest(fit_classifier(X, y, loss_function="MultiLogloss"))


def test_another_probability_threshold_is_refused(tmp_path):
    X, score = make_rows()
    model = fit_classifier(X, score > 0)
    model.set_probability_threshold(0.3)
    cbm, text = (save(model, tmp_path, suffix) for suffix in (".cbm", ".json"))
    for source in (model, cbm, text):
        with pytest.raises(
            UnsupportedModelError, match=r"probability 0\.3, not from 0\.5"
        ):
            read_forest(source)
    model.set_probability_threshold(0.5)
    check_all(model, X, tmp_path)


def split(border, feature=0):
    return {
        "split_type": "FloatFeature",
        "float_feature_index": feature,
        "border": border,
    }


def make_document(treatment="AsFalse"):
    """Worked by hand: the first split is the lowest bit of the leaf's number."""
    feature = {"feature_id": "", "nan_value_treatment": treatment}
    return {
        "features_info": {
            "float_features": [
                {**feature, "feature_index": 0, "flat_feature_index": 1},
                {**feature, "feature_index": 1, "flat_feature_index": 0},
            ]
        },
        "model_info": {"params": {"loss_function": {"type": "RMSE"}}},
        "oblivious_trees": [
            {
                "splits": [split(1.0), split(5.0, feature=1), split(2.0)],
                "leaf_values": [0, 1, 2, 3, 4, 5, 6, 7],
                "leaf_weights": [3, 2, 1, 1, 0, 1, 0, 2],
            }
        ],
        "scale_and_bias": [10.0, [0.5]],
    }


def write(document, folder):
    path = folder / "model.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(("treatment", "missing"), [("AsFalse", 0.5), ("AsTrue", 70.5)])
def test_a_document_worked_by_hand(treatment, missing, tmp_path):
    forest = read_forest(write(make_document(treatment), tmp_path))
    rows = [[0, 1], [0, 1.5], [6, 0], [6, 1.5], [5, 3], [6, 3], [np.nan, np.nan]]
    expected = [0.5, 10.5, 20.5, 30.5, 50.5, 70.5, missing]
    assert forest.predict(rows).tolist() == expected


def test_impossible_branches_are_pruned(tmp_path):
    # Not above 1 is not above 2: the leaves 4 and 6 cannot be reached.
    (tree,) = read_forest(write(make_document(), tmp_path)).trees
    leaves = tree.feature < 0
    assert sorted(tree.value[leaves, 0].tolist()) == [0, 10, 20, 30, 50, 70]
    assert tree.n_nodes == 11
    assert tree.cover[0] == 10


def test_a_question_that_is_asked_again_is_no_split(tmp_path):
    document = make_document()
    tree = {"splits": [split(1.0)] * 3, "leaf_values": [0, 1, 2, 3, 4, 5, 6, 7]}
    document["oblivious_trees"] = [tree]
    (tree,) = read_forest(write(document, tmp_path)).trees
    assert tree.value[:, 0].tolist() == [0, 0, 70]
    assert np.isnan(tree.cover).all()


def alter(document, *path, value):
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = value


TREE = ("oblivious_trees", 0)
FEATURE = ("features_info", "float_features", 0)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("oblivious_trees",), None, "'oblivious_trees' must"),
        (("model_info",), 3, "'model_info' must"),
        (("scale_and_bias",), [1.0], "'scale_and_bias' must have two parts"),
        (("scale_and_bias",), [1.0, [0.0, 1.0]], "does not fit 1 outputs"),
        ((*TREE, "leaf_values"), [1.0] * 7, "'leaf_values' must"),
        ((*TREE, "leaf_values", 2), "2.0", "'leaf_values' must hold finite numbers"),
        ((*TREE, "leaf_values", 2), np.nan, "'leaf_values' must hold finite numbers"),
        ((*TREE, "splits", 0), split(1.0, feature=2), "on feature 2"),
        ((*TREE, "splits", 0, "border"), None, "'border' must hold finite numbers"),
        ((*TREE, "splits", 0, "split_type"), "Other", "type 'Other'"),
        ((*FEATURE, "flat_feature_index"), 9**9, "must count the columns"),
        ((*FEATURE, "nan_value_treatment"), "No", "'No' does not exist"),
        ((*FEATURE, "feature_id"), 7, "'feature_id' must"),
        (("model_info", "params"), "{", "not a complete CatBoost model"),
    ],
)
def test_an_altered_json_file_says_what_is_wrong(path, value, message, tmp_path):
    document = make_document()
    alter(document, *path, value=value)
    with pytest.raises(ModelFileError, match=message):
        read_forest(write(document, tmp_path))


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("class_names", ["a", 2, "c"], "do not fit 'class_label_type'"),
        ("class_names", ["a", "b", "a"], "the same label"),
        ("class_label_type", "Colour", "do not fit 'class_label_type'"),
        ("class_to_label", [0, 1, 7], "does not fit 'class_names'"),
        ("class_to_label", [], "or there are none"),
    ],
)
def test_altered_classes_are_noticed(part, value, message, tmp_path):
    X, score = make_rows()
    y = np.array(["a", "b", "c"])[np.digitize(score, [-0.5, 0.5])]
    path = save(fit_classifier(X, y), tmp_path, ".json")
    document = json.loads(path.read_text())
    document["model_info"]["class_params"][part] = value
    with pytest.raises(ModelFileError, match=message):
        read_forest(write(document, tmp_path))


def test_other_altered_parts_are_noticed(tmp_path):
    X, score = make_rows()
    path = save(fit_classifier(X, score > 0), tmp_path, ".json")
    document = json.loads(path.read_text())
    document["model_info"]["binclass_probability_threshold"] = "half"
    with pytest.raises(ModelFileError, match="'half'"):
        read_forest(write(document, tmp_path))
    classes = document["model_info"]["class_params"]
    classes |= {"class_names": [0, 1, 2], "class_to_label": [0, 1, 2]}
    classes["class_label_type"] = "Integer"
    del document["model_info"]["binclass_probability_threshold"]
    with pytest.raises(ModelFileError, match="loss 'Logloss'"):
        read_forest(write(document, tmp_path))
    document = make_document()
    for feature in document["features_info"]["float_features"]:
        feature["feature_id"] = "twin"
    with pytest.raises(ModelFileError, match="the same name"):
        read_forest(write(document, tmp_path))


@pytest.mark.parametrize("suffix", [".cbm", ".json"])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_a_cut_file_is_a_model_file_error(suffix, policy, tmp_path):
    X, score = make_rows()
    path = save(fit_regressor(X, score, grow_policy=policy), tmp_path, suffix)
    whole = path.read_bytes()
    for end in [0, 3, 4, 8, 11, *range(12, len(whole) - 2, len(whole) // 50)]:
        path.write_bytes(whole[:end])
        with pytest.raises(ModelFileError, match="not a complete CatBoost model"):
            from_catboost.read_file(path)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide"])
def test_an_altered_cbm_file_is_read_or_refused(policy, tmp_path):
    # CatBoost's own loader ends the process on some of these.
    X, score = make_rows(missing=0.1)
    options = {"grow_policy": policy, "iterations": 3}
    path = save(fit_regressor(X, score, **options), tmp_path, ".cbm")
    whole = path.read_bytes()
    rng = random.Random(0)
    n_refused = 0
    for _ in range(400):
        altered = bytearray(whole)
        for _ in range(3):
            altered[rng.randrange(len(whole))] = rng.choice([0, 1, 127, 128, 255])
        path.write_bytes(altered)
        try:
            from_catboost.read_file(path)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert 100 < n_refused < 400


def test_steps_that_share_a_child_are_refused(tmp_path):
    # Two moves to the same step would double the tree at every step.
    X, score = make_rows()
    options = {"grow_policy": "Lossguide", "iterations": 1, "depth": 6}
    path = save(fit_regressor(X, score, **options), tmp_path, ".cbm")
    whole = path.read_bytes()
    tree = np.frombuffer(whole, "<u2", len(whole) // 2)
    moves = [i for i in range(len(tree) - 1) if tree[i] == 1 and 1 < tree[i + 1] < 30]
    n_refused = 0
    for i in moves:
        altered = bytearray(whole)
        altered[2 * i + 2 : 2 * i + 4] = b"\x01\x00"
        path.write_bytes(altered)
        try:
            from_catboost.read_file(path)
        except ModelFileError as error:
            n_refused += "do not form a tree" in str(error)
    assert n_refused > 0


@pytest.mark.parametrize("name", ["model.cbm", "model.json"])
def test_a_file_of_another_kind_is_a_model_file_error(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b'tree\nversion=v4\n"features_info"\xff')
    with pytest.raises(ModelFileError, match="not a complete CatBoost model"):
        from_catboost.read_file(path)
    path.write_text("[" * 100_000 + '"features_info"')
    with pytest.raises(ModelFileError, match="not a complete CatBoost model"):
        from_catboost.read_file(path)
