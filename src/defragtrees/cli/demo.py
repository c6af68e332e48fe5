"""`defragtrees demo`: the rules for a forest on bundled data."""

import click

from defragtrees.cli import demonstration as demo
from defragtrees.cli._command import Command, output_option
from defragtrees.cli._output import check_outputs

__all__ = ["command"]


@click.command("demo", cls=Command, example="defragtrees demo --report demo.html")
@output_option("Write an HTML report.", name="--report")
def command(report):
    """Show the rules for a random forest on bundled data.

    The forest predicts the heating load of buildings (the Energy data of the paper).
    """
    check_outputs({"--report": report})
    if report is not None and report.exists() and not report.is_file():
        raise click.UsageError(f"--report must be a file; {str(report)!r} is none.")
    # The report takes its place at once, when it is complete.
    demo.main([] if report is None else ["--report", str(report)])
