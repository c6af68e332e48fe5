"""`defragtrees watch`: whether new rows are still like those of the fit."""

from pathlib import Path

import click
import numpy as np

from defragtrees._utils.files import write_atomic
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load, read_rule_rows, read_rules
from defragtrees.cli.options import (
    FILE,
    INPUT_OPTIONS,
    Inputs,
    json_option,
    output_option,
)
from defragtrees.cli.output import check_outputs, json_text, progress_kind, say
from defragtrees.monitoring.check import check_encoded, missing_columns

EXAMPLE = "defragtrees watch rules.json new.csv --target y --html check.html"
MOVED = 1  # the exit code


@click.command("watch", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with what is true; with it rates and errors are tested too.",
)
@click.option(
    "--model",
    type=click.Path(exists=True, path_type=Path),
    help="The model behind the rules; whether it still agrees with them.",
)
@INPUT_OPTIONS["trust_pickle"]
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="How often all tests together may raise a false alarm.",
)
@output_option("A page to write the check to.", "--html")
@json_option
@click.pass_context
def command(ctx, rules, data, target, model, trust_pickle, level, html, as_json):
    """Say whether new rows are still like those that rules were fitted to.

    RULES is a file that simplify --out wrote; DATA is CSV, Parquet or Feather. The exit
    code is 0 if nothing has moved, 1 if something has, and 2 if something is wrong.
    """
    check_outputs({"--html": html}, (rules, data))
    rule_set = read_rules(rules)
    matrix, y, _, names = read_rule_rows(rule_set, data, progress_kind(), target)
    answers = None
    if model is not None:
        loaded = load(Inputs(model, data, trust_pickle=trust_pickle), progress_kind())
        answers = np.ravel(loaded.forest.predict(loaded.X))
    y = None if y is None else rule_set.outcome.check(y)
    notes = missing_columns(rule_set, names)
    found = check_encoded(rule_set, matrix, y, answers, level, notes)
    if html is not None:
        write_atomic(html, found.to_html(f"{rules.name} on {data.name}"))
    say(json_text(found.to_dict()) if as_json else str(found))
    if html is not None and not as_json:
        say(f"The check is in {html}.")
    if found.has_moved:
        ctx.exit(MOVED)
