"""Small files that claim the moon, and models that are no numbers.

Each ends in one sentence, at once and in little memory. What is measured is what numpy
and Python hold, so a claim that is believed shows, whatever the machine.
"""

import io
import json
import time
import tracemalloc
import zipfile

import joblib
import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)

from defragtrees import simplify
from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import ModelFileError, UnsupportedModelError
from tests.fuzz.cases import R_TREE, SEEDS

MOST_BYTES = 200 * 2**20
# Of a slow processor too, with libraries that are imported first; who believes a claim
# here takes minutes or gigabytes. What is told shows that it was not believed.
MOST_SECONDS = 20.0
TREE = ("learner", "gradient_booster", "model", "trees", 0)


def altered(tmp_path, name, *keys, value):
    """A seed file whose JSON has another value at a place."""
    document = json.loads((SEEDS / name).read_text(encoding="utf-8"))
    holder = document
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value(holder[keys[-1]]) if callable(value) else value
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def replaced(tmp_path, name, before, after):
    """A seed file of text in which a line is another."""
    text = (SEEDS / name).read_text(encoding="utf-8")
    assert before in text
    path = tmp_path / name
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    return path


def line_of(name, key):
    lines = (SEEDS / name).read_text(encoding="utf-8").splitlines()
    return next(line for line in lines if line.startswith(key))


def refused(path, **options):
    """What is said of a file that must be refused without being believed."""
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(ModelFileError) as caught:
            read_forest(path, **options)
        assert time.process_time() - start < MOST_SECONDS
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert "\n" not in message
    return message


def first_is(value):
    return lambda values: [value, *values[1:]]


def test_a_category_number_is_not_believed(tmp_path):
    path = altered(
        tmp_path, "xgboost-codes.json", *TREE, "categories", value=first_is(200_000_000)
    )
    assert "too few for 200,000,001 categories" in refused(path)


def test_a_number_of_classes_is_not_believed(tmp_path):
    keys = ("learner", "learner_model_param", "num_class")
    path = altered(tmp_path, "xgboost-two.json", *keys, value="1000000")
    assert "too few for 1,000,000 outputs" in refused(path)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("1 2 3 1 40.5", "1 2 3 100000000 40.5", "100,000,000 split variables"),
        ("3 0 0 0 0.0 -1 2", "3 0 0 0 0.0 -1 100000000", "100,000,000 classes"),
        ("1 2 3 1 40.5", "1 2 3 1e19 40.5", "up to 2,147,483,647"),
        ("3 0 0 0 0.0 -1 2", "3 0 0 0 0.0 -1 1e19", "10,000,000,000,000,000,000"),
    ],
)
def test_numbers_in_r_trees_are_not_believed(before, after, message, tmp_path):
    assert before in R_TREE
    text = R_TREE.replace(before, after)
    (tmp_path / "tree1.txt").write_text(text, encoding="utf-8")
    assert message in refused(tmp_path)


def test_an_r_file_may_have_digits_that_are_no_numbers_in_its_name(tmp_path):
    (tmp_path / "1²2.txt").write_text(R_TREE, encoding="utf-8")
    assert len(read_forest(tmp_path).trees) == 1


def archive(tmp_path, name, member):
    """The seed of skops with another member, packed."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(SEEDS / "sklearn.skops") as before,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        names = before.namelist()
        chosen = next(n for n in names if n.endswith(name))
        for other in names:
            content = member if other == chosen else before.read(other)
            after.writestr(other, content)
    path = tmp_path / "model.skops"
    path.write_bytes(packed.getvalue())
    return path


def test_an_archive_is_not_unpacked_beyond_its_size(tmp_path):
    pytest.importorskip("skops.io")
    schema = b" " * 50_000_000
    message = refused(archive(tmp_path, "schema.json", schema))
    assert "too few for 50,000,000 bytes of 'schema.json'" in message


def test_an_array_is_not_believed_to_be_longer_than_it_is(tmp_path):
    pytest.importorskip("skops.io")
    header = io.BytesIO()
    description = {"descr": "<f8", "fortran_order": False, "shape": (10**9,)}
    np.lib.format.write_array_header_1_0(header, description)
    message = refused(archive(tmp_path, ".npy", header.getvalue()))
    assert "claims 1,000,000,000 numbers" in message


@pytest.mark.parametrize(
    "member",
    [
        b"\x93NUMPY\x01\x00\x76\x00{'descr': '''" + b" " * 200,
        b"\x93NUMPY\x01\x00",
        b"nothing",
    ],
)
def test_a_damaged_archive_is_told_in_a_sentence(member, tmp_path):
    pytest.importorskip("skops.io")
    message = refused(
        archive(tmp_path, ".npy", member), trusted_types=["sklearn.tree._tree.Tree"]
    )
    assert message.startswith("'model.skops' cannot be opened by skops: ")
    assert message.endswith("save the model again.")


def test_a_packed_member_that_is_damaged_is_told_in_a_sentence(tmp_path):
    pytest.importorskip("skops.io")
    path = archive(tmp_path, ".npy", b"\x93NUMPY\x01\x00" + b"ab" * 4000)
    content = bytearray(path.read_bytes())
    for at in range(60, 5000, 7):
        content[at] ^= 255
    path.write_bytes(bytes(content))
    assert refused(path).startswith("'model.skops' ")


def test_a_circle_is_seen_after_one_look_at_each_node():
    # Leaves of a full tree that point back to its second level.
    n_nodes = 2**16 - 1
    n_inner = n_nodes // 2
    here = np.arange(n_nodes)
    left = np.where(here < n_inner, 2 * here + 1, 1)
    right = np.where(here < n_inner, 2 * here + 2, 2)
    start = time.process_time()
    with pytest.raises(ValueError, match="must not form a cycle"):
        Tree(here * 0, here * 0.0, left, right, here < 0, here * 0.0)
    # It took minutes when each level was looked at as often as there are nodes.
    assert time.process_time() - start < MOST_SECONDS


def test_the_depth_is_that_of_the_longest_way():
    # A node that is reached on two ways, one longer than the other.
    tree = Tree(
        feature=[0, 0, 0, -1, -1],
        threshold=np.zeros(5),
        left=[1, 2, 3, -1, -1],
        right=[2, 4, 4, -1, -1],
        missing_left=np.zeros(5, bool),
        value=np.arange(5.0),
    )
    assert tree.depth == 3


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e38 * 1e38 * 1e38])
def test_a_leaf_of_xgboost_must_be_a_number(number, tmp_path):
    tree = json.loads((SEEDS / "xgboost-dart.json").read_text(encoding="utf-8"))
    for key in (*TREE[:2], "gbtree", *TREE[2:]):
        tree = tree[key]
    leaf = tree["left_children"].index(-1)

    def change(values):
        return [*values[:leaf], number, *values[leaf + 1 :]]

    keys = (*TREE[:2], "gbtree", *TREE[2:], "split_conditions")
    path = altered(tmp_path, "xgboost-dart.json", *keys, value=change)
    message = refused(path)
    assert f"in tree 1, node {leaf + 1} has" in message


@pytest.mark.parametrize("text", ["nan", "inf", "[nan]", "[NaN]"])
def test_a_base_score_must_be_a_number(text, tmp_path):
    keys = ("learner", "learner_model_param", "base_score")
    refused(altered(tmp_path, "xgboost-dart.json", *keys, value=text))


def test_a_weight_of_a_tree_must_be_a_number(tmp_path):
    keys = ("learner", "gradient_booster", "weight_drop")
    path = altered(tmp_path, "xgboost-dart.json", *keys, value=first_is(np.nan))
    assert "weights must hold numbers" in refused(path)


@pytest.mark.parametrize("word", ["nan", "1e400", "-inf"])
def test_a_leaf_of_lightgbm_must_be_a_number(word, tmp_path):
    line = line_of("lightgbm-number.txt", "leaf_value=")
    other = f"leaf_value={word} " + line.split(" ", 1)[1]
    message = refused(replaced(tmp_path, "lightgbm-number.txt", line, other))
    assert "in tree 1, node 4 has" in message


def test_a_factor_of_lightgbm_must_be_a_number(tmp_path):
    path = replaced(tmp_path, "lightgbm-binary.txt", "sigmoid:1", "sigmoid:nan")
    assert "weights must hold numbers" in refused(path)


def test_a_bias_of_catboost_must_leave_room_for_squares(tmp_path):
    path = altered(
        tmp_path, "catboost-two.json", "scale_and_bias", value=[1.0, [1e308]]
    )
    assert "base must hold numbers up to 1e+100" in refused(path)


def test_more_splits_than_a_file_has_leaves_are_refused(tmp_path):
    keys = ("oblivious_trees", 0, "splits")
    path = altered(
        tmp_path, "catboost-two.json", *keys, value=lambda splits: splits[:1] * 20_000
    )
    assert "a tree with 20000 splits cannot exist" in refused(path)


def test_answers_beyond_numbers_are_told_of_the_model_not_of_y():
    stump = Tree(
        [0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [True] * 3, [0, 1, 800]
    )
    forest = Forest((stump,), ("size",), "regression", link="exp")
    with pytest.raises(ValueError, match=r"The model must predict .* got inf"):
        simplify(forest, [[0.0], [1.0]])


@pytest.mark.parametrize("name", ["model.skops", "model.joblib"])
def test_a_file_of_an_unfitted_model_is_a_model_file_error(tmp_path, name):
    path, model = tmp_path / name, RandomForestClassifier()
    if name.endswith("skops"):
        pytest.importorskip("skops.io").dump(model, path)
    else:
        joblib.dump(model, path)
    message = refused(path, trust_pickle=True)
    assert message == (
        f"{name!r} holds a model that is not fitted. Fit it, and save it again."
    )


def test_trees_of_single_leaves_from_r_need_a_task(tmp_path):
    (tmp_path / "tree1.txt").write_text(f"{R_TREE.splitlines()[0]}\n1 0 0 0 0 -1 1\n")
    assert "Pass task='classification'" in refused(tmp_path)
    assert read_forest(tmp_path, task="regression").predict([[]]).tolist() == [1.0]


def test_no_message_is_longer_than_500_characters(tmp_path):
    long = "a" * 200_000
    objective = ("learner", "objective", "name")
    for path in (
        altered(tmp_path, "xgboost-two.json", *objective, value=long),
        replaced(
            tmp_path, "lightgbm-binary.txt", "objective=binary", f"objective={long}"
        ),
        replaced(tmp_path, "lightgbm-many.txt", "version=v4", f"{long}=1\n{long}=2"),
    ):
        with pytest.raises((ModelFileError, UnsupportedModelError)) as caught:
            read_forest(path)
        assert len(str(caught.value)) <= 500
        assert str(caught.value).endswith(".")


def test_many_untrusted_types_are_listed_once(tmp_path):
    skops = pytest.importorskip("skops.io")
    members = (RandomForestClassifier(2), HistGradientBoostingClassifier(max_iter=2))
    model = VotingClassifier([("a", members[0]), ("b", members[1])])
    skops.dump(model.fit([[0.0], [1.0]], [0, 1]), tmp_path / "a.skops")
    message = refused(tmp_path / "a.skops")
    assert message.count("sklearn.tree._tree.Tree") == 1
    assert message.endswith("on the command line add --trust for each.")
