"""`defragtrees diff`: what changed between two files of rules."""

import click

from defragtrees.cli._command import FILE, Command, json_option
from defragtrees.cli._output import json_text, say
from defragtrees.cli._progress import progress_kind
from defragtrees.cli._rule_rows import read_rule_rows
from defragtrees.cli._rules import read_rules
from defragtrees.rules.diff import diff_answers

__all__ = ["command"]

EXAMPLE = "defragtrees diff rules.json new.json data.csv --target y"


@click.command("diff", cls=Command, example=EXAMPLE)
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@click.argument("data", type=FILE, required=False)
@click.option(
    "--target", metavar="COLUMN", help="The column with what is true; needs DATA."
)
@json_option
def command(before, after, data, target, as_json):
    """Say what changed between two files of rules, in words and in rows.

    BEFORE and AFTER are files that simplify --out wrote. With DATA, which is CSV,
    Parquet or Feather, also which rows are answered otherwise.
    """
    if target is not None and data is None:
        raise click.UsageError("--target needs DATA; name the file.")
    rule_sets = read_rules(before), read_rules(after)
    if data is None:
        found = diff_answers(*rule_sets)
    else:
        rows = [
            read_rule_rows(rules, data, progress_kind(), target) for rules in rule_sets
        ]
        answers = [
            rules._predict(rules._covers(part.matrix))
            for rules, part in zip(rule_sets, rows, strict=True)
        ]
        found = diff_answers(*rule_sets, *answers, rows[0].y)
    say(json_text(found.to_dict()) if as_json else str(found))
