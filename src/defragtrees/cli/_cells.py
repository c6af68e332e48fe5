"""CSV that neither a terminal nor a spreadsheet obeys.

A cell of text that begins like a formula gets an apostrophe before it, as spreadsheets
themselves write it; numbers stay numbers. On a terminal, letters that it would obey are
left out; files and pipes get them as they are.
"""

import contextlib
import csv
import sys

import click

from defragtrees._utils import formatting as render
from defragtrees._utils.files import atomic_file
from defragtrees.export.tables import guarded

__all__ = ["cell_writer", "exact_option", "guarded", "open_output"]

exact_option = click.option(
    "--exact",
    is_flag=True,
    help="Write CSV cells that begin like a formula of a spreadsheet as they are. "
    "[default: with an apostrophe before them]",
)


def cell_writer(file, is_exact):
    """A function that writes the cells of a row to a file."""
    writer = csv.writer(file, lineterminator="\n")

    def write(cells):
        writer.writerow(cells if is_exact else map(guarded, cells))

    return write


@contextlib.contextmanager
def open_output(path):
    """A text file that appears when it is complete, or standard output."""
    if path is None:
        yield _Screen(sys.stdout) if sys.stdout.isatty() else sys.stdout
        return
    with atomic_file(path) as draft:
        with open(draft, "w", encoding="utf-8", newline="") as file:
            yield file


class _Screen:
    """A terminal that is told nothing but text; colours of our own are not for CSV."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        lines = text.split("\n")
        return self.stream.write("\n".join(map(render.plain, lines)))
