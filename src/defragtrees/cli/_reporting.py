"""The HTML report as the commands write it."""

import shlex

import click

from defragtrees.cli._command import State
from defragtrees.cli._output import whole_file
from defragtrees.report import write_report

__all__ = ["report_on"]


def report_on(path, simple, rows, **options):
    """Write the report of a fitted method, all of it or nothing.

    Parameters
    ----------
    path : Path
    simple : Simplifier
    rows : Loaded
        That it is measured on.
    **options
        Of `write_report`.
    """
    state = click.get_current_context().find_object(State)
    command = shlex.join(["defragtrees", *state.arguments])
    with whole_file(path) as draft:
        write_report(draft, simple, *rows.rows, command=command, **options)
