"""The small UBJSON parser, on bytes written by hand."""

import numpy as np
import pytest

from defragtrees.ensembles.readers.from_xgboost import parse_ubjson


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"i\xff", -1),
        (b"U\xff", 255),
        (b"I\x01\x00", 256),
        (b"l\x00\x01\x00\x00", 65536),
        (b"L\x00\x00\x00\x01\x00\x00\x00\x00", 2**32),
        (b"d\x3f\x80\x00\x00", 1.0),
        (b"D\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5),
        (b"Z", None),
        (b"NT", True),
        (b"F", False),
        (b"Ca", "a"),
        (b"Si\x03\xc3\xa9x", "éx"),
        (b"[]", []),
        (b"[#i\x02i\x07Z", [7, None]),
        (b"{#i\x01i\x01ai\x07", {"a": 7}),
        (b"{i\x01a{i\x01b[i\x05]}}", {"a": {"b": [5]}}),
        (b"[$S#i\x02i\x01ai\x01b", ["a", "b"]),
    ],
)
def test_a_value_is_read(data, expected):
    found = parse_ubjson(data)
    assert found == expected
    assert type(found) is type(expected)


def test_numbers_of_one_type_become_an_array_in_native_order():
    found = parse_ubjson(b"[$l#U\x02\x00\x00\x00\x01\xff\xff\xff\xff")
    assert found.tolist() == [1, -1]
    assert found.dtype == np.int32
    assert found.dtype.isnative


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "ends early"),
        (b"L\x00", "ends early"),
        (b"[i\x01", "ends early"),
        (b"{i\x01a", "ends early"),
        (b"Si\x09abc", "ends early"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff", "ends early"),
        (b"[$d#i\xff", "should be a length"),
        (b"[#D\x3f\xf8\x00\x00\x00\x00\x00\x00", "should be a length"),
        (b"S[]", "should be a length"),
        (b"[$Z#L\x7f\xff\xff\xff\xff\xff\xff\xff", "but no number"),
        (b"[$d\x00", "but no number"),
        (b"x", "unknown type"),
        (b"TT", "1 bytes follow"),
        (b"[" * 200, "levels deep"),
        (b"{i\x01a" * 200, "levels deep"),
        (b"Si\x01\xff", "can't decode"),
    ],
)
def test_what_is_no_ubjson_is_a_value_error(data, message):
    with pytest.raises(ValueError, match=message):
        parse_ubjson(data)
