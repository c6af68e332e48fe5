"""LightGBM's files, when they are cut short, altered or no such files."""

import re

import numpy as np
import pandas as pd
import pytest

from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import ModelFileError, UnsupportedModelError

lightgbm = pytest.importorskip("lightgbm")


def saved(tmp_path):
    """Path of a file with two trees, each with one split on categories, or more."""
    rng = np.random.default_rng(1)
    letters = list("abcdefghij")
    frame = pd.DataFrame(
        {
            "letter": pd.Categorical(rng.choice(letters, 120), letters),
            "same": pd.Categorical(["one"] * 120),
            "size": rng.normal(size=120),
            "code": pd.Categorical(rng.choice([3, 7, 11], 120)),
            "weight": rng.normal(size=120),
        }
    )
    target = frame["letter"].isin(list("adg")) + frame["size"] / 2
    options = {"min_data_per_group": 2, "cat_smooth": 1, "max_cat_to_onehot": 2}
    model = lightgbm.LGBMRegressor(
        n_estimators=2,
        num_leaves=6,
        min_child_samples=5,
        n_jobs=1,
        verbose=-1,
        **options,
    )
    path = tmp_path / "model.txt"
    model.fit(frame, target).booster_.save_model(path)
    assert "num_cat=0" not in path.read_text()
    return path


def test_a_file_that_is_cut_short_says_so(tmp_path):
    path = saved(tmp_path)
    whole = path.read_bytes()
    # After the parameters comes one line with the labels, which files that are not
    # from Python do not have; only a cut right before it cannot be seen.
    labels = whole.index(b"\npandas_categorical:")
    for stop in [*range(0, labels - 1, 41), *range(labels + 2, len(whole) - 2, 5)]:
        path.write_bytes(whole[:stop])
        with pytest.raises(ModelFileError, match="complete LightGBM model"):
            read_forest(path)


def test_a_file_with_altered_bytes_is_read_or_refused(tmp_path):
    path = saved(tmp_path)
    whole = path.read_bytes()
    rng = np.random.default_rng(4)
    n_refused = 0
    for place in rng.integers(0, whole.index(b"end of trees"), 400):
        altered = bytearray(whole)
        altered[place] = rng.integers(0, 256)
        path.write_bytes(altered)
        try:
            read_forest(path)
        except (ModelFileError, UnsupportedModelError):
            n_refused += 1
    assert n_refused > 100


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        ("^tree\n", "forest\n", "first line is not 'tree'"),
        ("Tree=1", "Tree=2", "tree 1 is missing"),
        ("num_leaves=.*", "", "it has no 'num_leaves'"),
        ("num_leaves=.*", "num_leaves=0", "a tree has 0 leaves"),
        ("num_leaves=.*", "num_leaves=999999999999", "are needed"),
        ("num_leaves=.*", "num_leaves=" + "9" * 5000, "."),
        ("tree_sizes=.*", "tree_sizes=1 2 3", "it should have 3 trees"),
        ("leaf_value=.*", "leaf_value=1 2", "2 numbers are where"),
        ("leaf_value=", "leaf_value=x", "could not convert"),
        ("left_child=.", "left_child=99", "a child is not"),
        ("left_child=. ", "left_child=0 ", "not its root"),
        ("split_feature=.", "split_feature=77", "beyond the 5"),
        ("split_feature=.", "split_feature=-7", "beyond the 5"),
        ("decision_type=.", "decision_type=77", "unknown type"),
        ("threshold=[^ ]*", "threshold=nan", "not a number"),
        ("cat_boundaries=", "cat_boundaries=9 ", "are needed"),
        ("cat_threshold=", "cat_threshold=9 ", "do not fit together"),
        ("cat_threshold=.*", "cat_threshold=4294967295", "without labels"),
        ("num_cat=.*", "num_cat=0", "split on categories"),
        ("max_feature_idx=.*", "max_feature_idx=9", "largest feature number is 9"),
        ("feature_names=.*", "feature_names=a b a c d", "differ"),
        ("feature_infos=.*", "feature_infos=none", "describes 1 of 5 features"),
        ("num_tree_per_iteration=.*", "num_tree_per_iteration=0", "0 outputs"),
        ("num_tree_per_iteration=.*", "num_tree_per_iteration=99999999999", "outputs"),
        ("pandas_categorical:.*", "pandas_categorical:[[[]]]", "not plain values"),
        ("pandas_categorical:.*", "pandas_categorical:" + "[" * 10**5, "too deeply"),
        ("pandas_categorical:.*", "pandas_categorical:7", "."),
        ("end of parameters", "", "within its parameters"),
    ],
)
def test_a_file_with_altered_pieces_says_what_is_wrong(
    pattern, replacement, message, tmp_path
):
    path = saved(tmp_path)
    text, n_changes = re.subn(pattern, replacement, path.read_text(), count=1)
    assert n_changes == 1
    path.write_text(text)
    with pytest.raises(ModelFileError, match=message):
        read_forest(path)


@pytest.mark.parametrize(
    "content", [b"", b"tree", b"tree\n", b"hello\nend of trees\n", b"\xff\xfe", b"{}"]
)
def test_another_kind_of_file_says_so(content, tmp_path):
    path = tmp_path / "model.txt"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="complete LightGBM model"):
        read_forest(path)
