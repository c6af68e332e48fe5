"""What docs/exports.md shows is what comes out."""

import doctest
from pathlib import Path

import pytest


def test_every_example_in_the_docs_is_true():
    pytest.importorskip("onnx", reason="one of the examples needs it")
    path = Path(__file__).parents[2] / "docs" / "exports.md"
    found = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert found.attempted > 10
    assert found.failed == 0
