"""`defragtrees export`: write saved rules in another format."""

import click

from defragtrees.cli.group import Command
from defragtrees.cli.inputs import read_rules
from defragtrees.cli.options import FILE, label_options, output_option, relabelled
from defragtrees.cli.output import check_outputs, open_output, say
from defragtrees.export import FORMATS, export

EXAMPLE = """\
defragtrees export rules.json --format sql --dialect mysql --out rules.sql
"""
OTHER_NAMES = {"postgresql": "postgres"}


@click.command("export", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@click.option(
    "--format",
    "form",
    type=click.Choice(
        [name for name, kind in FORMATS.items() if kind.suffix is not None]
    ),
    required=True,
    help="The format to write.",
)
@click.option(
    "--dialect",
    help="With --format sql: ansi, bigquery, duckdb, mysql, postgres, snowflake, "
    "sqlite or sqlserver.",
)
@click.option(
    "--assume-no-nan",
    is_flag=True,
    default=None,
    help="With --format sql: missing values are NULL, so do not test for NaN.",
)
@click.option("--table", help="With --format sql: write a SELECT from this table.")
@click.option(
    "--probabilities",
    is_flag=True,
    default=None,
    help="With --table: add a column with the probability of each class.",
)
@label_options
@output_option("The file to write. [default: standard output]")
def command(rules, form, dialect, assume_no_nan, table, probabilities, labels, out):
    """Write saved rules as SQL, Python, ONNX or another format.

    RULES is a file that simplify --out wrote.
    """
    check_outputs({"--out": out}, (rules,))
    given = {
        "dialect": OTHER_NAMES.get(dialect, dialect),
        "assume_no_nan": assume_no_nan,
        "table": table,
        "probabilities": probabilities,
    }
    options = {name: value for name, value in given.items() if value is not None}
    if options and form != "sql":
        option = next(iter(options)).replace("_", "-")
        raise click.UsageError(f"--{option} is for --format sql only.")
    if out is None and FORMATS[form].to_bytes:
        raise click.UsageError(f"--format {form} is no text; name a file with --out.")
    if probabilities and table is None:
        raise click.UsageError("--probabilities needs --table; name the table.")
    rule_set = relabelled(read_rules(rules), labels)
    exported = export(rule_set, form, out, **options)
    if out is None:
        with open_output(None) as file:
            file.write(exported.rstrip("\n") + "\n")
        return
    say(f"The rules are in {out}.")
