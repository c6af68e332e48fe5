"""What docs/probabilities.md shows is what comes out."""

import doctest
import warnings
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "probabilities.md"


def test_every_example_of_the_guide_is_true():
    pytest.importorskip("pandas", reason="the guide has data frames")
    with warnings.catch_warnings():
        # Of a class that no rule answers; the guide says so itself.
        warnings.simplefilter("ignore", UserWarning)
        found = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert found.attempted > 20
    assert found.failed == 0
