"""The HTML report as the commands write it."""

import shlex

import click

from defragtrees import render
from defragtrees.cli._command import State
from defragtrees.report import write_report

__all__ = ["report_on"]


def report_on(path, simple, rows, inputs, *, title=None, **options):
    """Write the report of a fitted method, measured on these rows."""
    state = click.get_current_context().find_object(State)
    command = shlex.join(["defragtrees", *state.arguments])
    options |= {"title": title or _title(inputs, simple.rules_), "command": command}
    write_report(path, simple, *rows.rows, **options)


def _title(inputs, rules):
    """Such as "model.json on data.csv: price, in 5 rules"."""
    target = "" if inputs.target is None else f": {inputs.target}"
    size = "1 rule" if rules.n_rules == 1 else f"{rules.n_rules} rules"
    return render.plain(
        f"{inputs.model.resolve().name} on {inputs.data.name}{target}, in {size}"
    )
