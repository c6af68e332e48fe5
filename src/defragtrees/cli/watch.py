"""`defragtrees watch`: a drift check of new rows."""

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
    details_option,
    json_option,
    output_option,
)
from defragtrees.cli.output import check_outputs, json_text, progress_kind, say
from defragtrees.cli.tables import table, wrapped
from defragtrees.monitoring.check import check_encoded, missing_columns
from defragtrees.monitoring.page import prediction_text

EXAMPLE = "defragtrees watch rules.json new.csv --target y --html check.html"
MOVED = 1  # the exit code


@click.command("watch", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "--target",
    metavar="COLUMN",
    help="The column with the true values; with it rates and errors are tested too.",
)
@click.option(
    "--model",
    type=click.Path(exists=True, path_type=Path),
    help="The model behind the rules; its agreement with them is tested too.",
)
@INPUT_OPTIONS["trust_pickle"]
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Rate of false alarms of all tests together.",
)
@output_option("Write the check as an HTML page.", "--html")
@details_option("Show all tests and the predictions, not only what moved.")
@json_option
@click.pass_context
def command(
    ctx, rules, data, target, model, trust_pickle, level, html, details, as_json
):
    """Test new rows for drift from the reference data of the rules.

    RULES is a file that simplify --out wrote; DATA is CSV, Parquet or Feather. The exit
    code is 0 if there is no drift, 1 if there is, and 2 for an error.
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
    say(json_text(found.to_dict()) if as_json else _text(found, details))
    if html is not None and not as_json:
        say(f"The check is in {html}.")
    if found.has_moved:
        ctx.exit(MOVED)


def _text(found, details):
    """The verdict, what moved, and with details all tests."""
    color = "yellow" if found.has_moved else "green"
    parts = [click.style(wrapped(found.verdict), fg=color, bold=True)]
    shown = found.findings if details else found.moved
    if shown:
        parts.append(table(*found._cells(shown), left=(0, 1, 2, 3)))
    if details:
        rows = [
            [
                name,
                "" if then is None else prediction_text(then, name),
                prediction_text(now, name),
            ]
            for name, then, now in found.predictions
        ]
        parts.append(table(["prediction", "reference", "new"], rows))
    else:
        n_tests = len(found.findings)
        parts.append(click.style(f"All {n_tests} tests: --details.", dim=True))
    notes = [wrapped(f"Note: {note}.", "  ") for note in found.notes]
    return "\n\n".join([*parts, *filter(None, ["\n".join(notes)])])
