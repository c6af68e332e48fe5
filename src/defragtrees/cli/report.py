"""`defragtrees report`: write an HTML report on the rules of a model."""

import shlex
from dataclasses import replace

import click
from click.core import ParameterSource

from defragtrees._utils import formatting as render
from defragtrees.cli import options, output
from defragtrees.cli.data import (
    is_rules_file,
    open_for_rules,
    read_groups,
    read_rows,
    read_rules,
    y_names,
)
from defragtrees.cli.group import Command, State
from defragtrees.cli.inputs import hold_out, load
from defragtrees.cli.settings import fit, setting_options
from defragtrees.ensembles.readers import file_kind
from defragtrees.outcomes.base import n_columns
from defragtrees.report.page import write_report
from defragtrees.rules.model import RuleModel

# What a report on a file of rules takes; all else is about a fit.
FOR_RULES = {
    *("model", "path", "sep", "target", "weights"),
    *("out", "title", "by_group"),
}
EXAMPLE = "defragtrees report model.json data.csv --target y --out report.html"


@click.command("report", cls=Command, example=EXAMPLE)
@options.inputs
@setting_options("form", "max_rules")
@options.validation
@options.held_out(
    "Rows to hold out for the scores, as a share or a number; 0 for none."
)
@options.output("The HTML file to write.", required=True)
@click.option("--title", help="The title of the page.")
@options.column(
    "--by-group",
    "Compare coverage, rates, predictions and errors between the groups of this "
    "column of DATA, which the model need not use.",
)
def command(inputs, choices, validation, test_size, out, title, by_group):
    """Write an HTML report on the rules of a model.

    MODEL and DATA are as for simplify. MODEL may also be a file of rules, such as
    edited ones, which are then measured on DATA as they are. The report is one file
    that needs no network and can be printed.
    """
    output.check_outputs(
        {"--out": out}, (inputs.data.path, inputs.model, validation), out=".html"
    )
    if is_rules_file(inputs.model):
        _report_on_rules(out, inputs, title, by_group)
        return
    forest, rows, unseen = load(inputs, validation)
    groups = None
    if by_group is not None:
        measured = replace(inputs.data, path=validation or inputs.data.path)
        groups = read_groups(measured, by_group, "--by-group")
    # The groups are those of the rows that are measured.
    rows, unseen = (*rows, groups), unseen and (*unseen, groups)
    train, counted, test = hold_out(rows, unseen, test_size, choices.seed)
    del rows, unseen
    simple = fit(choices, forest, train[:3], counted and counted[:3])
    *rows, groups = test or train
    report_on(out, simple, rows, inputs, validation, title=title, groups=groups)
    click.echo(f"The report is in {out}.")


def _report_on_rules(out, inputs, title, by_group):
    """Write the report of saved rules, measured on all rows of DATA."""
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(option.name)
        if source is ParameterSource.COMMANDLINE and option.name not in FOR_RULES:
            raise click.UsageError(
                f"{option.opts[0]} is for a model; {inputs.model.name!r} is a file of "
                "rules."
            )
    if inputs.target is None:
        raise click.UsageError("A report on a file of rules needs --target.")
    rules = read_rules(inputs.model)
    source = open_for_rules(rules, inputs.data, inputs.target, inputs.weights)
    X, y, weight = read_rows(source, rules.classes)
    X = X.reindex(columns=list(rules.feature_names))
    groups = by_group and read_groups(inputs.data, by_group, "--by-group")
    report_on(out, rules, (X, y, weight), inputs, title=title, groups=groups)
    click.echo(f"The report is in {out}.")


def report_on(path, simple, rows, inputs, validation=None, **more):
    """Write the report of a fitted method, measured on these rows.

    They are of the file `validation`, if there is one.
    """
    state = click.get_current_context().find_object(State)
    names, is_alone = y_names(inputs.target, ()), isinstance(simple, RuleModel)
    more |= {
        "command": shlex.join(["defragtrees", *state.arguments]),
        "target_name": inputs.target if n_columns(rows[1]) == 1 else names[0],
        "data_name": render.plain((validation or inputs.data).name),
        "model_name": None if is_alone else _model_name(inputs.model),
        "is_new": True if validation is not None else None,
    }
    write_report(path, simple, *rows, **more)


def _model_name(path):
    """Such as "the XGBoost model in model.json"."""
    kind = None if path.is_dir() else file_kind(path)
    what = "model"
    if kind is not None and kind.endswith(" model"):
        what = kind.split(maxsplit=1)[1]
    return render.plain(f"the {what} in {path.resolve().name}")
