"""Every block of code in the README and in docs/ runs, and prints what is shown."""

import os
import re
import shlex
import tomllib
import warnings
from pathlib import Path

import pytest

from tests.pages import blocks_of, run_page, shell_lines

ROOT = Path(__file__).parents[1]
NEW_ROWS = 10_000  # of a search, as users have
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [
    page
    for page in PAGES
    if {b.language for b in blocks_of(page.read_text("utf-8"))} & {"python", "console"}
]
# What each page needs besides what all tests need.
NEEDED = {
    "command-line": ("click", "pyarrow", "xgboost"),
    "exports": ("onnx", "onnxruntime"),
    "large-data": ("dask.dataframe", "pyarrow"),
    "mlflow": ("mlflow",),
    "readers": ("skops",),
    "survival": ("sksurv",),
    "watching": ("click", "pyarrow", "xgboost"),
}


@pytest.mark.printed
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_every_block_of_the_page_is_true(page, tmp_path, monkeypatch):
    for name in ("pandas", "matplotlib", *NEEDED.get(page.stem, ())):
        pytest.importorskip(name, reason=f"{page.name} has examples with it")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(), plt.rc_context({"backend": "agg"}):
        # Of a class that no rule answers; the pages say so themselves.
        warnings.simplefilter("ignore", UserWarning)
        wrong = run_page(page)
    plt.close("all")
    assert not wrong, "\n".join(wrong)


def test_blocks_that_are_wrong_are_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    good = "```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\n"
    good += "```python\n>>> x + 1\n2\n```\n"
    page.write_text(good)
    assert run_page(page) == []
    for before, after in (
        ("x = 1", "x = y"),
        ("\n1\n", "\n2\n"),
        (">>> x + 1", ">>> x + 2"),
        ("print(x)", "print(x"),
    ):
        page.write_text(good.replace(before, after))
        assert run_page(page), after


def test_what_the_shell_is_told_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for page in PAGES:
        for line in shell_lines(page):
            words = shlex.split(line, comments=True)
            where = f"{page.name}: {line}"
            for extras in re.findall(r"\[([a-z,]+)\]", line):
                known = project["optional-dependencies"]
                assert {*extras.split(",")} <= {*known}, where
            assert words[0] in ("pip", "make", "python"), f"{where}: is not run"
            if words[:1] == ["make"]:
                assert words[1] in targets, where
            if words[:2] == ["python", "-m"] and words[2].startswith("benchmarks"):
                module = ROOT / words[2].replace(".", os.sep)
                assert module.with_suffix(".py").exists() or module.is_dir(), where
            elif words[:1] == ["python"] and words[1].endswith(".py"):
                assert (ROOT / words[1]).exists(), where
