"""`defragtrees export`: write saved rules in another format."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_rules
from defragtrees.cli.group import Command
from defragtrees.export import FORMATS, export

EXAMPLE = """\
defragtrees export rules.json sql --dialect mysql --out rules.sql
"""
# The formats that have an option; sql has all.
FOR_FORMATS = {
    "reasons": ("onnx", "pmml", "sql"),
    "best": ("onnx", "pmml", "python", "sql"),
}
FORMAT = click.Choice(list(FORMATS))


@click.command("export", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@click.argument("named", type=FORMAT, required=False, metavar="[FORMAT]")
@options.value(
    "--format",
    FORMAT,
    "FORMAT",
    "The same as FORMAT. [default: by the suffix of --out]",
)
@options.value(
    "--dialect",
    str,
    "DIALECT",
    "Of SQL: ansi, bigquery, duckdb, mysql, postgres, snowflake, sqlite or sqlserver.",
)
@options.value("--table", str, "TABLE", "Of SQL: write a SELECT from this table.")
@options.flag(
    "--probabilities/--no-probabilities",
    "Of SQL: add a column with the probability of each class. [default: of a "
    "list, that of the positive class]",
    default=None,
)
@options.flag("--score", "Of SQL: the total of a scorecard.", default=None)
@options.count(
    "--reasons",
    "Add N reason codes of a scorecard. [default: pmml 3, others 0]",
    metavar="N",
)
@options.choice(
    "--best",
    ["high", "low"],
    "Which totals are desired, for reason codes. [default: high]",
)
@options.output("The file to write. [default: standard output]")
def command(rules, named, format, out, **options):
    """Write saved rules as SQL, Python, ONNX or another format.

    RULES is a file that simplify --out wrote.
    """
    output.check_outputs({"--out": out}, (rules,))
    if named and format not in (None, named):
        raise click.UsageError(f"FORMAT is {named}, but --format is {format}.")
    form = named or format
    if form is None and out is not None:
        suffix = out.suffix.lower()
        form = next((n for n, one in FORMATS.items() if one.suffix == suffix), None)
    if form is None:
        raise click.UsageError(
            f"Name the format: {', '.join(FORMATS)}, or a file whose suffix "
            "shows it with --out."
        )
    options = {name: value for name, value in options.items() if value is not None}
    for name in options:
        if form not in FOR_FORMATS.get(name, ("sql",)):
            *others, last = FOR_FORMATS.get(name, ("sql",))
            formats = f"{', '.join(others)} or {last}" if others else f"{last} only"
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --format {formats}.")
    if out is None and FORMATS[form].to_bytes:
        raise click.UsageError(f"--format {form} is no text; name a file with --out.")
    if form == "sql" and "reasons" in options and "table" not in options:
        raise click.UsageError("--reasons needs --table; name the table.")
    exported = export(read_rules(rules), form, out, **options)
    if out is None:
        with output.open_output(None) as file:
            file.write(exported.rstrip("\n") + "\n")
        return
    click.echo(f"The rules are in {out}.")
