"""What the guides in docs/ show is what comes out."""

import doctest
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize(
    ("guide", "least"),
    [
        ("probabilities", 20),
        ("forms", 20),
        ("reading", 12),
        ("start", 15),
        ("trust", 11),
        ("how-short", 12),
        ("columns", 17),
    ],
)
def test_every_example_of_the_guide_is_true(guide, least, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("pandas", reason="the guides have data frames")
    with warnings.catch_warnings():
        # Of a class that no rule answers; the guide says so itself.
        warnings.simplefilter("ignore", UserWarning)
        path = str(DOCS / f"{guide}.md")
        found = doctest.testfile(path, module_relative=False, encoding="utf-8")
    assert found.attempted > least
    assert found.failed == 0
