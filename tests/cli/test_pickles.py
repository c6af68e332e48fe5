"""A pickle is a program, and no program of a model's author is run unasked."""

import json
import pickle
import zlib
from pathlib import Path

import pytest

ADVICE = "add --trust pickle."


class Trap:
    """What writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def trap(tmp_path):
    return tmp_path / "sprung"


@pytest.mark.parametrize(
    "name", [f"model.{end}" for end in "pkl joblib json txt cbm ubj skops bin".split()]
)
@pytest.mark.parametrize("protocol", [2, 5])
def test_a_pickle_is_never_opened_unasked(
    refused, files, tmp_path, trap, name, protocol
):
    model = tmp_path / name
    model.write_bytes(pickle.dumps(Trap(trap), protocol))
    line = refused("simplify", model, files / "iris.csv")
    assert line.endswith(ADVICE)
    assert "can run any code" in line
    assert not trap.exists()


@pytest.mark.parametrize("name", ["model.pkl", "model.json"])
@pytest.mark.parametrize("pack", [bytes, zlib.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("protocol", [0, 1])
def test_nor_is_an_old_or_a_packed_one(
    refused, files, tmp_path, trap, name, pack, protocol
):
    model = tmp_path / name
    # The first protocols have no mark.
    model.write_bytes(pack(pickle.dumps(Trap(trap), protocol)))
    assert refused("simplify", model, files / "iris.csv").endswith(ADVICE)
    assert not trap.exists()


@pytest.mark.parametrize("protocol", [0, 1])
def test_an_old_pickle_of_a_forest_is_known(refused, files, tmp_path, protocol):
    model = tmp_path / "p0.json"
    forest = pickle.loads((files / "forest.pkl").read_bytes())
    model.write_bytes(pickle.dumps(forest, protocol))
    assert refused("simplify", model, files / "iris.csv").endswith(ADVICE)


def test_a_text_is_not_taken_for_an_old_pickle(refused, files, tmp_path):
    for text in ("class\n1\n2\n", "city,a\nUlm,1\n", "(a)\n", "c\nc\nc\n"):
        model = tmp_path / "model.txt"
        model.write_text(text)
        assert "none of the known formats" in refused(
            "simplify", model, files / "iris.csv"
        )


@pytest.mark.parametrize("command", ["explain", "predict", "export"])
def test_nor_one_in_the_place_of_rules(refused, files, tmp_path, trap, command):
    model = tmp_path / "rules.json"
    model.write_bytes(pickle.dumps(Trap(trap)))
    more = ["--format", "sql"] if command == "export" else [files / "iris.csv"]
    assert "a file of rules is needed" in refused(command, model, *more)
    assert not trap.exists()


def test_the_trap_of_these_tests_works(refused, files, tmp_path, trap):
    model = tmp_path / "model.json"
    model.write_bytes(pickle.dumps(Trap(trap)))
    line = refused("simplify", model, files / "iris.csv", "--trust", "pickle")
    assert line.startswith("defragtrees: Cannot read builtins.NoneType")
    assert trap.exists()


def test_a_damaged_pickle_is_told_in_one_line(refused, files, tmp_path):
    model = tmp_path / "model.pkl"
    model.write_bytes((files / "forest.pkl").read_bytes()[:2000])
    line = refused("simplify", model, files / "iris.csv", "--trust", "pickle")
    assert "'model.pkl' cannot be opened as a pickle" in line


def test_the_help_says_why(call):
    words = " ".join(call("simplify", "--help").out.split())
    assert "which can run any code when it is opened" in words


def test_types_that_skops_does_not_trust_are_shown(refused, files):
    line = refused("simplify", files / "forest.skops", files / "iris.csv")
    assert "does not consider safe: sklearn.tree._tree.Tree." in line
    assert "--trust sklearn.tree._tree.Tree" in line


def test_a_skops_file_may_hold_no_type_beside_those_named(refused, files, tmp_path):
    import skops.io

    path = tmp_path / "model.skops"
    skops.io.dump({"trap": Trap("x"), "data": json.dumps({})}, path)
    line = refused(
        *("simplify", path, files / "iris.csv"),
        *("--trust", "sklearn.tree._tree.Tree"),
    )
    assert "Trap" in line
    assert "does not consider safe" in line
