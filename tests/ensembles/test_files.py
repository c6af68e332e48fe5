"""One door for model files: what is in them decides, and nothing is run unasked."""

import pickle
import sys
import types
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import Forest, ModelFileError, Tree, read_forest
from defragtrees.cli.group import run
from defragtrees.ensembles.readers import READERS, file_kind

X = np.random.default_rng(0).random((60, 2))
y = (X[:, 0] > 0.5).astype(int)


@pytest.fixture(scope="module")
def model():
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)


class Trap:
    """What writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_is_opened_for_those_who_say_so(model, tmp_path):
    for name in ("a.joblib", "a.model"):
        path = tmp_path / name
        joblib.dump(model, path)
        with pytest.raises(ModelFileError, match="trust_pickle=True"):
            read_forest(path)
        forest = read_forest(path, trust_pickle=True)
        assert (forest.predict(X) == model.predict(X)).all()


def test_a_pickle_is_never_opened_unasked(tmp_path):
    sprung = tmp_path / "sprung"
    for name in ("a.pkl", "a.json", "a.txt", "a.cbm", "a.skops"):
        (tmp_path / name).write_bytes(pickle.dumps(Trap(sprung)))
        with pytest.raises(ModelFileError, match="can run any code"):
            read_forest(tmp_path / name)
        assert file_kind(tmp_path / name) == "a pickle or joblib file"
    assert not sprung.exists()


def test_skops_wants_to_hear_which_types_to_trust(model, tmp_path):
    skops = pytest.importorskip("skops.io")
    skops.dump(model, tmp_path / "a.skops")
    with pytest.raises(ModelFileError, match="does not consider safe") as caught:
        read_forest(tmp_path / "a.skops")
    assert "trusted_types=['sklearn.tree._tree.Tree']" in str(caught.value)
    trusted = ["sklearn.tree._tree.Tree"]
    forest = read_forest(tmp_path / "a.skops", trusted_types=trusted)
    assert (forest.predict(X) == model.predict(X)).all()


def test_the_contents_decide_and_not_the_name(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, y)
    path = tmp_path / "model.json"
    model.booster_.save_model(path)
    assert file_kind(path) == "a LightGBM model"
    assert (read_forest(str(path)).predict(X) == model.predict(X)).all()


def test_a_file_that_nobody_knows_is_told_what_is_known(tmp_path):
    path = tmp_path / "model.bin"
    path.write_text("nothing")
    assert file_kind(path) is None
    with pytest.raises(ModelFileError, match="none of the known formats") as caught:
        read_forest(path)
    assert "an XGBoost model (.json, .ubj)" in str(caught.value)
    assert "a folder of R trees" in str(caught.value)


class Stump:
    """An ensemble of a library that this one has never heard of."""

    __module__ = "stumps.core"

    def __init__(self, threshold):
        self.threshold = threshold


def test_a_reader_is_one_module_and_one_line(monkeypatch, tmp_path, capsys):
    reader = types.ModuleType("from_stumps")
    reader.NAME, reader.KIND, reader.SUFFIXES = "Stumps", "a stump", (".stump",)

    def read(stump):
        tree = Tree(
            feature=[0, -1, -1],
            threshold=[stump.threshold, 0, 0],
            left=[1, -1, -1],
            right=[2, -1, -1],
            missing_left=[False] * 3,
            value=[0.0, 1.0, 3.0],
        )
        return Forest((tree,), ("x1", "x2"), "regression")

    reader.read = read
    reader.is_file = lambda file: file.head.startswith(b"stump ")
    reader.read_file = lambda path: read(Stump(float(path.read_text().split()[1])))
    monkeypatch.setitem(sys.modules, "from_stumps", reader)
    monkeypatch.setitem(READERS, "stumps", "from_stumps")
    assert read_forest(Stump(0.5)).predict([[0.5, 0], [0.6, 0]]).tolist() == [1, 3]
    with pytest.raises(ValueError, match=r"CatBoost or Stumps is needed"):
        read_forest(object())
    path = tmp_path / "model"
    path.write_text("stump 0.5")
    assert read_forest(path).predict([[0.5, 0], [0.6, 0]]).tolist() == [1, 3]
    # The command line asks the readers, and needs no line of its own.
    data = tmp_path / "data.csv"
    data.write_text("x1,x2\n" + "".join(f"{a},{b}\n" for a, b in X))
    assert run(["simplify", str(path), str(data), "--max-rules", "2"]) == 0
    assert "\n1  x1 " in capsys.readouterr().out
    assert run(["predict", str(path), str(data)]) == 2
    assert "is a stump; a file of rules is needed" in capsys.readouterr().err
