"""Large files: a million rows of Parquet in two gigabytes.

By default fewer rows are read, and only read. DEFRAGTREES_FULL_MEMORY=1 runs
the whole command on a million rows, report included, which takes minutes.
"""

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import LONG, make_files

MEGABYTE = 2**20
# Where it is told, the peak since the process runs this code; the other one may be
# that of the process that started it, which had done more.
PEAK = """
import pathlib, resource, sys
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak *= 1 if sys.platform == "darwin" else 1024
for line in pathlib.Path("/proc/self/status").open() if sys.platform == "linux" else ():
    if line.startswith("VmHWM:"):
        peak = 1024 * int(line.split()[1])
print(peak)
"""
LOAD = """
import tracemalloc, pyarrow
from pathlib import Path
from defragtrees.cli.data import DataFile
from defragtrees.cli.inputs import load
from defragtrees.cli.options import Inputs
folder = Path({folder!r})
tracemalloc.start()
data = DataFile(folder / "long.parquet")
loaded = load(Inputs(folder / "long.txt", data, "y"))
print(tracemalloc.get_traced_memory()[1], pyarrow.default_memory_pool().max_memory())
"""


def printed_numbers(code):
    """The numbers that a new process prints last."""
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return [int(word) for word in done.stdout.splitlines()[-1].split()]


def test_reading_holds_the_table_little_more_than_once(long_files):
    pytest.importorskip("pyarrow")
    # What Python, numpy and pyarrow ask for; how much of it a machine gives, and what
    # libraries take beside it, is not for this test to say.
    numbers, pages = printed_numbers(LOAD.format(folder=str(long_files)))
    table = LONG * 20 * 8
    # The table, and of one batch of rows its numbers; then its pages of the file.
    assert numbers < 2.5 * table
    assert pages < 100 * MEGABYTE


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
    [peak] = printed_numbers(f"{code}\n{PEAK}")
    assert peak < 2000 * MEGABYTE
    assert (tmp_path / "report.html").exists()
