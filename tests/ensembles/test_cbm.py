"""A .cbm file written by hand, byte by byte: CatBoost's own loader is not asked."""

import json
import struct

import numpy as np
import pytest

from defragtrees.ensembles.readers import read_forest
from defragtrees.ensembles.readers.from_catboost import parse_cbm
from defragtrees.errors import ModelFileError


def number(form, value):
    return ("number", struct.pack(form, value))


def text(value):
    return ("text", value.encode())


def array(form, *values):
    return ("array", len(values), struct.pack(f"<{len(values)}{form}", *values))


def tables(*entries):
    return ("tables", entries)


def lay_table(fields):
    """Bytes of a table, and where it starts in them; what it points to comes behind."""
    n_slots = max(fields, default=-1) + 1
    offsets, inline, behind = [0] * n_slots, b"", []
    for slot, value in fields.items():
        offsets[slot] = 4 + len(inline)
        if not isinstance(value, dict) and value[0] == "number":
            inline += value[1]
        else:
            behind.append((len(inline), value))
            inline += bytes(4)
    head = struct.pack(f"<{n_slots + 2}H", 4 + 2 * n_slots, 4 + len(inline), *offsets)
    body = bytearray(struct.pack("<i", len(head)) + inline)
    for place, value in behind:
        data, start = lay(value)
        struct.pack_into("<I", body, 4 + place, len(body) + start - (4 + place))
        body += data
    return head + bytes(body), len(head)


def lay(value):
    if isinstance(value, dict):
        return lay_table(value)
    if value[0] == "text":
        return struct.pack("<I", len(value[1])) + value[1], 0
    if value[0] == "array":
        return struct.pack("<I", value[1]) + value[2], 0
    offsets, behind = [], b""
    laid = {}
    for j, entry in enumerate(value[1]):
        if id(entry) not in laid:
            data, start = lay_table(entry)
            laid[id(entry)] = len(behind) + start
            behind += data
        offsets.append(4 * (len(value[1]) - j) + laid[id(entry)])
    return struct.pack(f"<{len(offsets) + 1}I", len(offsets), *offsets) + behind, 0


def make_cbm(trees=None, feature=None, information=None):
    """One tree, x <= 1.5 gives 1 and else 2; twice that, and a half more."""
    options = json.dumps({"loss_function": {"type": "RMSE"}})
    feature = {
        1: number("<i", 0),
        2: number("<i", 0),
        3: array("f", 1.5),
        4: text("size"),
        5: number("<b", 2),
        **(feature or {}),
    }
    trees = {
        0: number("<i", 1),
        1: array("i", 0),
        2: array("i", 1),
        5: tables(feature),
        8: array("d", 1.0, 2.0),
        14: number("<d", 2.0),
        15: number("<d", 0.5),
        **(trees or {}),
    }
    information = information or tables({0: text("params"), 1: text(options)})
    core, start = lay_table({1: trees, 2: information})
    core = struct.pack("<I", start + 4) + core
    return b"CBM1" + struct.pack("<I", len(core)) + core


def test_a_file_worked_by_hand(tmp_path):
    path = tmp_path / "model.cbm"
    path.write_bytes(make_cbm())
    forest = read_forest(path)
    assert forest.feature_names == ("size",)
    assert forest.predict([[1.5], [1.6], [np.nan]]).tolist() == [2.5, 4.5, 4.5]


def test_a_list_of_biases_comes_before_the_single_one():
    document = parse_cbm(make_cbm(trees={16: array("d", 7.0)}))
    assert document["scale_and_bias"] == [2.0, [7.0]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"feature": {5: number("<b", 7)}}, "nan treatment"),
        ({"feature": {4: ("text", b"\xff")}}, "can't decode byte"),
        ({"trees": {0: number("<i", -1)}}, "its trees have -1 outputs"),
        ({"trees": {0: number("<i", 2)}}, "fewer splits"),
        ({"trees": {1: array("i", 1)}}, "'split_type' is not where"),
        ({"trees": {1: array("i", -1)}}, "'split_type' is not where"),
        ({"trees": {1: array("i", -1), 6: tables({})}}, "'split_type' is not"),
        ({"trees": {1: array("i")}}, "fewer splits"),
        ({"trees": {2: array("i", 40)}}, "depth 40 cannot"),
        ({"trees": {8: ("array", 2**30, b"")}}, "it points to byte"),
        (
            {"trees": {10: ("array", 1, bytes(4)), 2: array("i", 0)}},
            "0 steps does",
        ),
        (
            {"trees": {10: ("array", 1, bytes(4)), 2: array("i", 9)}},
            "9 steps does",
        ),
        (
            {"information": tables(*[{0: text("k" * 4000)}] * 4000)},
            "its parts overlap",
        ),
    ],
)
def test_a_part_that_cannot_be_is_named(parts, message, tmp_path):
    path = tmp_path / "model.cbm"
    path.write_bytes(make_cbm(**parts))
    with pytest.raises(ModelFileError, match=message):
        read_forest(path)
