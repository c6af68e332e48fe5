"""`defragtrees diff`: show what changed between two rule files."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_rule_rows, read_rules
from defragtrees.cli.group import Command
from defragtrees.cli.terminal import wrapped
from defragtrees.rules.diff import diff_encoded

EXAMPLE = "defragtrees diff rules.json new.json data.csv --target y"


@click.command("diff", cls=Command, example=EXAMPLE)
@click.argument("before", type=options.FILE)
@click.argument("after", type=options.FILE)
@options.data(required=False)
@options.column("--target", "The column with the true values; needs DATA.")
@options.as_json
def command(before, after, data, target, as_json):
    """Show what changed between two rule files.

    BEFORE and AFTER are files that simplify --out wrote. With DATA, which is as for
    simplify, also count the rows whose prediction changed.
    """
    if target is not None and data is None:
        raise click.UsageError("--target needs DATA; name the file.")
    rule_sets = read_rules(before), read_rules(after)
    if data is None:
        found = diff_encoded(*rule_sets)
    else:
        rows = [read_rule_rows(rules, data, target) for rules in rule_sets]
        found = diff_encoded(*rule_sets, [matrix for matrix, *_ in rows], rows[0][1])
    click.echo(
        output.json_text(found.to_dict()) if as_json else wrapped(str(found), "    ")
    )
