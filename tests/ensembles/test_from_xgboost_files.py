"""XGBoost's files: older ones, and those cut short, altered or of another kind."""

import json

import numpy as np
import pandas as pd
import pytest

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_xgboost import read_file
from defragtrees.errors import ModelFileError, UnsupportedModelError

xgboost = pytest.importorskip("xgboost")

VERSION = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
since_3_1 = pytest.mark.skipif(VERSION < (3, 1), reason="needs XGBoost 3.1")


def trees_in(document):
    return document["learner"]["gradient_booster"]["model"]["trees"]


def saved(tmp_path, ending):
    """Path of a file with two trees; the first has seven nodes and splits on sets."""
    rng = np.random.default_rng(1)
    letters = list("abcdefghij")
    frame = pd.DataFrame(
        {
            "letter": pd.Categorical(rng.choice(letters, 120), letters),
            "code": pd.Categorical(rng.choice([3, 7, 11], 120)),
            "size": rng.normal(size=120),
            "flag": rng.random(120) > 0.5,
        }
    )
    target = frame["letter"].isin(list("adg")) + frame["size"] / 2
    model = xgboost.XGBRegressor(
        enable_categorical=True, n_estimators=2, max_depth=2, n_jobs=1
    )
    path = tmp_path / f"model.{ending}"
    model.fit(frame, target).save_model(path)
    return path


def test_an_older_file_is_read(tmp_path):
    # Before 3.1 there was one base score without brackets and no labels; before 2.0
    # no list of where iterations begin; before 1.3 no categories or names at all.
    model = xgboost.XGBClassifier(
        n_estimators=30, early_stopping_rounds=2, learning_rate=0.9, n_jobs=1
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    path = tmp_path / "model.json"
    model.save_model(path)
    document = json.loads(path.read_text())
    learner = document["learner"]
    parameters = learner["learner_model_param"]
    parameters["base_score"] = parameters["base_score"].strip("[]")
    del parameters["num_target"], learner["feature_names"], learner["feature_types"]
    learner["gradient_booster"]["model"].pop("cats", None)
    del learner["gradient_booster"]["model"]["iteration_indptr"]
    for tree in trees_in(document):
        for name in [name for name in tree if name.startswith("categories")]:
            del tree[name]
        del tree["split_type"]
        tree["default_left"] = [bool(left) for left in tree["default_left"]]
    path.write_text(json.dumps(document, indent=1))
    assert read_forest(path) == read_forest(model)


@since_3_1
def test_an_unknown_objective_is_refused_by_name(tmp_path):
    path = saved(tmp_path, "json")
    document = json.loads(path.read_text())
    document["learner"]["objective"]["name"] = "reg:mystery"
    path.write_text(json.dumps(document))
    with pytest.raises(UnsupportedModelError, match="the objective 'reg:mystery'"):
        read_forest(path)


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_a_file_that_is_cut_short_says_so(ending, tmp_path):
    path = saved(tmp_path, ending)
    whole = path.read_bytes()
    for stop in [*range(0, len(whole), 41), len(whole) - 1]:
        path.write_bytes(whole[:stop])
        with pytest.raises(
            ModelFileError, match=f"'model.{ending}' is not a complete XGB"
        ):
            read_forest(path)
    path.write_bytes(whole + whole)
    with pytest.raises(ModelFileError):
        read_forest(path)


@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_a_file_with_altered_bytes_is_read_or_refused(ending, tmp_path):
    path = saved(tmp_path, ending)
    whole = path.read_bytes()
    rng = np.random.default_rng(4)
    n_refused = 0
    for place in rng.integers(0, len(whole), 400):
        altered = bytearray(whole)
        altered[place] = rng.integers(0, 256)
        path.write_bytes(altered)
        try:
            read_forest(path)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > 50


def drop(document, *names):
    for name in names[:-1]:
        document = document[name]
    del document[names[-1]]


def put(value, *names):
    def change(document):
        for name in names[:-1]:
            document = document[name]
        document[names[-1]] = value

    return change


MODEL = ("learner", "gradient_booster", "model")
TREE = (*MODEL, "trees", 0)
PARAMETERS = ("learner", "learner_model_param")


@since_3_1
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: drop(document, "learner"), "it has no 'learner'"),
        (lambda document: drop(document, *MODEL, "trees"), "it has no 'trees'"),
        (lambda document: drop(document, *TREE, "left_children"), "no 'left_children'"),
        (lambda document: document["learner"].update(objective=[]), "."),
        (put({}, *MODEL, "trees"), "."),
        (put([], *MODEL, "trees"), "it should have 2 trees"),
        (put([0, 5], *MODEL, "tree_info"), "beyond the 1"),
        (put([0], *TREE, "left_children"), "differ in length"),
        (put(1, *TREE, "left_children", 1), "cycle"),
        (put(0, *TREE, "left_children", 1), "not its root"),
        (put(99, *TREE, "right_children", 0), "another node"),
        (put(-1, *TREE, "left_children", 1), "does not split on them"),
        (put([10**30] * 7, *TREE, "left_children"), "."),
        (put([2**40] * 7, *TREE, "left_children"), "too large"),
        (put([0.5] * 7, *TREE, "left_children"), "fractions"),
        (put(["a"] * 7, *TREE, "split_conditions"), "something else"),
        (put([float("nan")] * 7, *TREE, "split_conditions"), "not a number"),
        (put([77] * 7, *TREE, "split_indices"), "beyond the 4"),
        (put([-1] * 7, *TREE, "split_indices"), "beyond the 4"),
        (put([0] * 7, *TREE, "split_type"), "both as number"),
        (put([99], *TREE, "categories"), "."),
        (put("9" * 5000, *PARAMETERS, "num_feature"), "."),
        (
            put("999999999999", *PARAMETERS, "num_feature"),
            "claims to have 999999999999",
        ),
        (put("0", *PARAMETERS, "num_feature"), "claims to have 0"),
        (put("999999999999", *PARAMETERS, "num_class"), "claims to have"),
        (put("-1", *PARAMETERS, "num_class"), "claims to have"),
        (put("[1, 2]", *PARAMETERS, "base_score"), "base scores"),
        (put("often", *PARAMETERS, "base_score"), "often"),
        (put(["a", "b"], "learner", "feature_names"), "2 names for 4 features"),
        (put(["a"] * 4, "learner", "feature_names"), "differ"),
        (put([{}], *MODEL, "cats", "enc"), "labels for 1"),
        (put(3, "version"), "."),
        (put(["3", "1"], "version"), "."),
        (put("3", *TREE, "tree_param", "size_leaf_vector"), "3 outputs instead of 1"),
    ],
)
def test_a_file_with_altered_pieces_says_what_is_wrong(change, message, tmp_path):
    path = saved(tmp_path, "json")
    document = json.loads(path.read_text())
    assert len(trees_in(document)[0]["left_children"]) == 7
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        read_forest(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[]", b'{"learner": 1}', b"binf" + b"\0" * 99, b"\x80\x04K\x01."],
)
def test_another_kind_of_file_says_so(content, tmp_path):
    for ending in ("json", "ubj"):
        path = tmp_path / f"model.{ending}"
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="complete XGBoost model"):
            read_file(path)


def test_deep_nesting_is_no_recursion_error(tmp_path):
    path = tmp_path / "model.json"
    path.write_text('{"learner": ' + "[" * 100_000)
    with pytest.raises(ModelFileError, match="nests too deeply"):
        read_forest(path)
