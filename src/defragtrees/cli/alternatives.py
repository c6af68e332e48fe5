"""`defragtrees alternatives`: other rule models that are as good."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_groups
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import hold_out, load
from defragtrees.cli.settings import fit, setting_options
from defragtrees.estimators.alternatives import columns_among

EXAMPLE = """\
defragtrees alternatives model.json data.csv --target y
defragtrees alternatives model.json data.csv --target y --use 2 --out rules.json
"""


@click.command("alternatives", cls=Command, example=EXAMPLE)
@options.inputs
@setting_options("max_rules")
@options.validation
@options.held_out("Rows to hold out from the search, as simplify does; 0 for none.")
@options.names("--without", "Columns that the others may not use.")
@options.names("--with", "Columns that the others must use.")
@options.value(
    "--by",
    str,
    "conditions|COLUMN",
    "List those with the fewest conditions, or with the smallest gap between the "
    "groups of a column of DATA. [default: those that differ most]",
)
@options.count(
    "--use", "The number of those to show in full.", least=0, metavar="NUMBER"
)
@options.output("With --use: save its rules, as JSON.")
def command(inputs, choices, validation, test_size, without, by, use, out, **given):
    """List other rule models that are as good as the rules of simplify.

    MODEL and DATA are as for simplify, and the same settings give the same rules,
    number 0 of the table. The others have a loss within one standard error of the best.
    """
    files = inputs.data.path, inputs.model, validation
    output.check_outputs({"--out": out}, files, out=".json")
    if out is not None and use is None:
        raise click.UsageError("--out needs --use, the number of the rules to save.")
    if choices.method != "defrag":
        raise click.UsageError("alternatives has the method defrag only.")
    forest, rows, unseen = load(inputs, validation)
    for option, names in (("--without", without), ("--with", given["with"])):
        columns_among(forest.feature_names, names, option)
    groups = None
    if by not in (None, "conditions"):
        groups = read_groups(inputs.data, by, "--by")
    train, counted, _ = hold_out((*rows, groups), unseen, test_size, choices.seed)
    *train, groups = train
    simple = fit(choices, forest, train, counted)
    with output.working("searching"):
        menu = simple.alternatives(
            *train,
            validation=counted,
            without=without,
            with_=given["with"],
            by=groups if groups is not None else by or "difference",
        )
    if use is not None:
        simple.use(use)
    click.echo(menu)
    if use is not None:
        click.echo(f"\n{output.rules_text(simple.rules_)}")
    if out is not None:
        simple.rules_.save(out)
        click.echo(f"\nThe rules are in {out}.")
