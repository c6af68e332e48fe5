"""R's printed trees are read as R predicts with them, and cut ones are refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_r import read
from defragtrees.errors import ModelFileError

FOLDER = Path(__file__).parents[1] / "reference" / "rtrees"
PRINTED = json.loads((FOLDER / "rtrees.json").read_text(encoding="utf-8"))
FORESTS = [name for name in PRINTED if name != "about"]
HEADER = "  left daughter right daughter split var split point status prediction"
STUMP = f"""{HEADER}
1             2              3         1         2.5      1          0
2             0              0         0         0.0     -1          1
3             0              0         0         0.0     -1          2
"""
LEAF = f"""{HEADER}
1             0              0         0           0     -1          2
"""


def write(folder, *texts):
    """One file for each text, in a folder of its own."""
    for number, text in enumerate(texts, start=1):
        (folder / f"tree{number}.txt").write_text(text, encoding="utf-8")
    return folder


def read_printed(name, **options):
    """One of R's forests, with what its text does not say."""
    known = PRINTED[name]
    levels = known.get("feature_levels") or [None] * len(known["X"][0])
    names = [f"v{j}" for j in range(len(levels))]
    factors = {n: level for n, level in zip(names, levels, strict=True) if level}
    options = {
        "classes": known.get("classes"),
        "feature_names": names,
        "categories": factors,
        "pattern": f"{name}_*.txt",
        **options,
    }
    return read(FOLDER, **options)


@pytest.mark.parametrize("name", FORESTS)
def test_predictions_are_those_of_r(name):
    known = PRINTED[name]
    forest = read_printed(name)
    X = np.array(known["X"], dtype=object)
    assert forest.task == known["task"]
    assert len(forest.trees) == known["n_trees"]
    if known["task"] == "classification":
        assert forest.predict(X).tolist() == known["pred"]
        votes = np.array(known["pred_each_tree"])
        shares = np.array([(votes == label).mean(axis=1) for label in forest.classes])
        np.testing.assert_allclose(forest.predict_proba(X), shares.T, atol=1e-15)
    else:
        np.testing.assert_allclose(forest.predict(X), known["pred"], rtol=1e-6)


@pytest.mark.parametrize("name", FORESTS)
def test_trees_are_those_of_r(name):
    forest = read_printed(name)
    for tree, known in zip(forest.trees, PRINTED[name]["trees"], strict=True):
        assert tree.feature.tolist() == known["feature"]
        assert tree.left.tolist() == known["left"]
        assert tree.right.tolist() == known["right"]
        number = np.array([j >= 0 and not forest.categories[j] for j in tree.feature])
        np.testing.assert_allclose(
            tree.threshold[number], np.array(known["threshold"])[number], rtol=1e-6
        )


def test_a_mask_sends_its_levels_left():
    # Node 1 of this tree splits at 9 = 1 + 8: the levels 0 and 3 go left.
    forest = read_printed("categorical_clf", pattern="categorical_clf_tree003.txt")
    assert forest.trees[0].categories[0].tolist() == [1, 0, 0, 1, 0, 0]
    left = forest.predict(np.array([[0.1, c, 0.0] for c in "abcde"], dtype=object))
    assert left.tolist() == ["hi", "lo", "lo", "hi", "lo"]


def test_read_forest_takes_a_folder(tmp_path):
    forest = read_forest(write(tmp_path, STUMP), classes=["no", "yes"])
    assert forest.predict([[2.5], [2.6]]).tolist() == ["no", "yes"]


def test_a_tie_goes_to_the_first_class(tmp_path):
    forest = read(write(tmp_path, STUMP, LEAF), classes=["no", "yes"])
    assert forest.predict([[0.0]]).tolist() == ["no"]
    assert forest.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]


def test_classes_and_features_count_from_one_if_not_named(tmp_path):
    forest = read(
        write(tmp_path, STUMP.replace("        1         2.5", "        3 2.5"))
    )
    assert forest.classes == (1, 2)
    assert forest.feature_names == ("x1", "x2", "x3")


def test_files_are_read_in_natural_order(tmp_path):
    for number in (10, 9, 1):
        text = STUMP.replace("2.5", f"{number}.5" if number < 10 else "7.5")
        (tmp_path / f"tree{number}.txt").write_text(text, encoding="utf-8")
    thresholds = [tree.threshold[0] for tree in read(tmp_path).trees]
    assert thresholds == [1.5, 9.5, 7.5]


def test_tables_of_write_table_are_read(tmp_path):
    rows = [line.split() for line in STUMP.splitlines()[1:]]
    rows[0][4] = "0.123456789012345678"
    quoted = '"left daughter" "right daughter" "split var" "split point" "status" '
    text = "\n".join(
        [quoted + '"prediction"'] + [f'"{row[0]}" ' + " ".join(row[1:]) for row in rows]
    )
    forest = read(write(tmp_path, text))
    assert forest.trees[0].threshold[0] == 0.123456789012345678


def test_the_task_of_single_leaves_must_be_said(tmp_path):
    folder = write(tmp_path, LEAF)
    with pytest.raises(ValueError, match="do not show the task"):
        read(folder)
    assert read(folder, task="regression", feature_names=["a"]).predict([[0.0]]) == 2.0
    assert read(folder, classes=["p", "q"]).task == "classification"
    assert read(folder, task="classification").classes == (1, 2)


def test_the_task_of_inner_nodes_that_predict_must_be_said(tmp_path):
    folder = write(tmp_path, STUMP.replace("     1          0", "     1          3"))
    with pytest.raises(ValueError, match="do not show the task"):
        read(folder)
    assert read(folder, task="regression").predict([[9.0]]) == 2.0


def test_a_task_that_the_trees_contradict_is_refused():
    with pytest.raises(ValueError, match="must agree; got task='regression'"):
        read(FOLDER, task="regression", pattern="iris_*.txt")
    with pytest.raises(ValueError, match="must agree; got task=None, classes"):
        read(FOLDER, classes=["a", "b"], pattern="friedman_*.txt")
    with pytest.raises(ValueError, match="task must be 'classification' or"):
        read(FOLDER, task="ranking", pattern="iris_*.txt")


def test_two_forests_at_once_are_refused():
    with pytest.raises(ModelFileError, match="pattern that matches"):
        read(FOLDER)


def test_names_classes_and_categories_must_fit():
    with pytest.raises(ValueError, match="got 2, but the trees split on column 3"):
        read_printed("xor_clf", feature_names=["a", "b"])
    with pytest.raises(ValueError, match="got 2, but the leaves have class number 3"):
        read_printed("iris_clf", classes=["a", "b"])
    with pytest.raises(ValueError, match="categories has 'town'"):
        read_printed("iris_clf", categories={"town": ["a"]})
    with pytest.raises(TypeError, match="categories must"):
        read_printed("iris_clf", categories=[None] * 4)
    with pytest.raises(ValueError, match="a set of its"):
        read_printed("categorical_clf", categories={"v1": ["a", "b"]})
    with pytest.raises(ValueError, match="a set of its"):
        read_printed("categorical_clf", categories={"v0": ["a", "b", "c", "d", "e"]})


def test_a_rounded_mask_is_refused(tmp_path):
    levels = [f"level{j}" for j in range(26)]
    for word, is_exact in (("3.355443e+07", False), ("3.300000e+01", True)):
        folder = write(tmp_path, STUMP.replace("        2.5", word))
        if is_exact:
            forest = read(folder, categories={"x1": levels})
            assert np.flatnonzero(forest.trees[0].categories[0]).tolist() == [0, 5]
        else:
            with pytest.raises(ModelFileError, match="split on 'x1'"):
                read(folder, categories={"x1": levels})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            STUMP + ' [ reached getOption("max.print") -- omitted 7 rows ]\n',
            r"options\(max.print = 1e8\)",
        ),
        (
            "  left daughter right daughter split var\n1 2 3 1\n2 0 0 0\n3 0 0 0\n"
            "  split point status prediction\n1 2.5 1 0\n2 0.0 -1 1\n3 0.0 -1 2\n",
            r"options\(width = 200\)",
        ),
        ("\n".join(STUMP.splitlines()[:3]), "text is cut"),
        (STUMP.rstrip()[:-1], "in place of node 3"),
        (STUMP.replace("\n3  ", "\n3 "), "in place of node 3"),
        (STUMP.replace("2  ", "9  ", 1), "there is a child 9"),
        (STUMP.replace("\n2 ", "\n5 "), "in place of node 2"),
        (STUMP + STUMP, "in place of node 4"),
        (HEADER + "\n", "has no nodes"),
        ("", "must begin with 'left daughter"),
        ("tree\nversion=v4\n", "this one begins with 'tree'"),
        (STUMP.replace("1         2.5", "a         2.5"), "without labelVar=TRUE"),
        (STUMP.replace("2.5", "Inf"), "it has infinite numbers"),
        (STUMP.replace("1         2.5", "1.5       2.5"), "altered|in place"),
        (STUMP.replace("     1          0", "     2          0"), "the status 1 or -3"),
        (STUMP.replace("1             2 ", "1             0 "), "two children"),
        (STUMP.replace("1             2 ", "1             1 "), "not its root"),
        (STUMP.replace("-1          2", "-1        2.5"), "hold class numbers"),
        (STUMP.replace("-1          2", "-1          0"), "hold class numbers"),
    ],
)
def test_a_text_that_is_no_whole_table_is_refused(tmp_path, text, message):
    with pytest.raises(ModelFileError, match=message):
        read(write(tmp_path, text))


def test_whole_numbers_are_needed_for_nodes(tmp_path):
    text = STUMP.replace("1         2.5", "1.5         2.5").replace(" \n", "\n")
    flat = "\n".join(" ".join(line.split()) for line in text.splitlines())
    with pytest.raises(ModelFileError, match="must be whole numbers"):
        read(write(tmp_path, flat))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "tree1.txt").write_bytes(bytes(range(256)))
    with pytest.raises(ModelFileError, match="must begin with 'left daughter"):
        read(tmp_path)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match=r"No file in .* matches"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match="A folder of getTree files is needed"):
        read(tmp_path / "absent")
