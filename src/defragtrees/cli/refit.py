"""`defragtrees refit`: count the rates of saved rules on new rows."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_rule_rows, read_rules
from defragtrees.cli.group import Command
from defragtrees.data.refitting import refit_encoded

EXAMPLE = "defragtrees refit rules.json data.csv --target y --out new.json"


@click.command("refit", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@options.data()
@options.column("--target", "The column with the true values.", required=True)
@options.weights
@options.flag(
    "--keep-predictions", "Count rows and rates only; predictions stay as they are."
)
@options.output("Save the rules to this file. [default: only show them]")
def command(rules, data, target, weights, keep_predictions, out):
    """Count the rates of saved rules on the rows of a file.

    RULES is a file that simplify --out wrote; DATA is as for simplify.
    Conditions and their order stay; rates, counts, points and predictions are computed
    from the rows.
    """
    output.check_outputs({"--out": out}, (rules, data.path), out=".json")
    rule_set = read_rules(rules)
    rows = read_rule_rows(rule_set, data, target, weights)
    predictions = "keep" if keep_predictions else "recount"
    counted = refit_encoded(rule_set, *rows, predictions=predictions)
    if out is not None:
        counted.save(out)
    click.echo(output.rules_text(counted))
    if out is not None:
        click.echo(f"The rules are in {out}.")
