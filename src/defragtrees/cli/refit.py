"""`defragtrees refit`: count the rates of saved rules on new rows."""

import click

from defragtrees.cli.data import read_rule_rows, read_rules
from defragtrees.cli.group import Command
from defragtrees.cli.options import (
    FILE,
    data_options,
    json_option,
    output_option,
    weights_option,
)
from defragtrees.cli.output import (
    check_outputs,
    json_text,
    progress_kind,
    rules_text,
    say,
)
from defragtrees.data.refitting import refit_encoded

EXAMPLE = "defragtrees refit rules.json data.csv --target y --out new.json"


@click.command("refit", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@data_options()
@click.option(
    "--target",
    metavar="COLUMN",
    required=True,
    help="The column with the true values.",
)
@weights_option
@click.option(
    "--keep-predictions",
    is_flag=True,
    help="Count rows and rates only; predictions stay as they are.",
)
@output_option("Save the rules to this file. [default: only show them]")
@json_option
def command(rules, data, target, weights, keep_predictions, out, as_json):
    """Count the rates of saved rules on the rows of a file.

    RULES is a file that simplify --out wrote; DATA is as for simplify.
    Conditions and their order stay; rates, counts, points and predictions are computed
    from the rows.
    """
    check_outputs({"--out": out}, (rules, data.path), out=".json")
    rule_set = read_rules(rules)
    *rows, _ = read_rule_rows(rule_set, data, progress_kind(), target, weights)
    predictions = "keep" if keep_predictions else "recount"
    counted = refit_encoded(rule_set, *rows, predictions=predictions)
    if out is not None:
        counted.save(out)
    say(json_text(counted.to_dict()) if as_json else rules_text(counted))
    if out is not None and not as_json:
        say(f"The rules are in {out}.")
