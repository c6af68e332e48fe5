"""`defragtrees report`: one HTML page about the rules of a model."""

from dataclasses import replace
from typing import Any

import click

from defragtrees.cli._command import (
    Command,
    held_out_option,
    input_options,
    output_option,
)
from defragtrees.cli._inputs import load
from defragtrees.cli._methods import fit, method_options
from defragtrees.cli._output import check_outputs, say
from defragtrees.cli._progress import progress_kind
from defragtrees.cli._reporting import Column, read_group_column, report_on
from defragtrees.cli.compare import compared

__all__ = ["command"]

EXAMPLE = "defragtrees report model.json data.csv --target y --out report.html"


@click.command("report", cls=Command, example=EXAMPLE)
@input_options
@method_options()
@held_out_option("Rows to hold out for the scores; 0 scores the training rows.")
@output_option("The HTML file to write.", required=True)
@click.option("--title", help="The title of the page.")
@click.option(
    "--by-group",
    metavar="COLUMN",
    help="A column of DATA, also one that the model does not use: coverage, rates, "
    "answers and errors are set side by side, group by group.",
)
@click.option("--with-comparison", is_flag=True, help="Add the other methods.")
def command(inputs, choices, test_size, out, title, by_group, with_comparison):
    """Write one HTML page about the rules of a model.

    MODEL and DATA are as for simplify. The page needs no network and can be printed.
    """
    check_outputs({"--out": out}, (inputs.data, inputs.model))
    if with_comparison and inputs.target is None:
        raise click.UsageError("--with-comparison needs --target.")
    loaded = load(inputs, progress_kind())
    if by_group is not None:
        loaded = replace(loaded, groups=read_group_column(inputs.data, by_group))
    train, test = loaded.split(test_size, choices["random_state"])
    options: dict[str, Any] = {}
    if with_comparison:
        options["comparison"] = compared(
            choices, loaded, methods=None, test_size=test_size or 0.25
        )
    del loaded
    simple = fit(choices, train)
    rows = train if test is None else test
    if by_group is not None:
        options["groups"] = Column(by_group, rows.groups)
    report_on(out, simple, rows, inputs, title=title, **options)
    say(f"The report is in {out}.")
