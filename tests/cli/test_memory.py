"""Large files: a million rows of Parquet in two gigabytes.

By default fewer rows are read, and only read. DEFRAGTREES_FULL_MEMORY=1 runs
the whole command on a million rows, report included, which takes minutes.
"""

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import ENVIRONMENT, LONG, make_files

MEGABYTE = 2**20
PEAK = "; import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"


def peak_bytes(code):
    """The most memory that a new process held while it ran this code."""
    line = [sys.executable, "-c", code + PEAK]
    done = subprocess.run(
        line, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    kilobytes = int(done.stdout.split()[-1])
    return kilobytes * (1 if sys.platform == "darwin" else 1024)


def test_reading_holds_the_table_little_more_than_once(long_files):
    pytest.importorskip("resource")
    code = (
        "import pandas, pyarrow.parquet; from pathlib import Path; "
        "from defragtrees.cli._command import Inputs; "
        "from defragtrees.cli._inputs import load; "
        "from defragtrees.cli._progress import Silent; "
        f"folder = Path({str(long_files)!r})"
    )
    load = (
        "; loaded = load(Inputs(folder / 'long.txt', folder / 'long.parquet', 'y'), "
        "Silent)"
    )
    table = LONG * 20 * 8
    growth = peak_bytes(code + load) - peak_bytes(code)
    # One batch, as pages of the file and as numbers, is the larger part here.
    assert growth < 2 * table + 100 * MEGABYTE


@pytest.mark.skipif(
    not os.environ.get("DEFRAGTREES_FULL_MEMORY"), reason="takes minutes"
)
def test_a_million_rows_in_two_gigabytes(tmp_path):
    make_files(tmp_path, 1_000_000)
    code = (
        "from defragtrees.cli import main; "
        f"assert main(['simplify', {str(tmp_path / 'long.txt')!r}, "
        f"{str(tmp_path / 'long.parquet')!r}, '--target', 'y', "
        f"'--report', {str(tmp_path / 'report.html')!r}]) == 0"
    )
    assert peak_bytes(code) < 2000 * MEGABYTE
    assert (tmp_path / "report.html").exists()
