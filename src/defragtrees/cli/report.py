"""`defragtrees report`: write an HTML report on the rules of a model."""

import contextlib
import shlex
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from defragtrees._utils import formatting as render
from defragtrees.cli.compare import compared, most_rules
from defragtrees.cli.data import find_column, is_rules_file, read_rules
from defragtrees.cli.group import Command, State
from defragtrees.cli.inputs import load, load_rule_rows
from defragtrees.cli.options import (
    held_out_option,
    input_options,
    output_option,
    validation_option,
)
from defragtrees.cli.output import check_outputs, progress_kind, say
from defragtrees.cli.settings import fit, setting_options
from defragtrees.data.files import AS_IS
from defragtrees.ensembles.readers import file_kind
from defragtrees.report.page import write_report
from defragtrees.rules.model import RuleModel
from defragtrees.tables import is_missing

# What a report on a file of rules takes; all else is about a fit.
FOR_RULES = {
    *("model", "path", "sep", "decimal", "target", "weights"),
    *("out", "title", "by_group"),
}
SIMPLE = (bool, int, float, str, Decimal)
EXAMPLE = "defragtrees report model.json data.csv --target y --out report.html"


@click.command("report", cls=Command, example=EXAMPLE)
@input_options
@setting_options("form", "max_rules")
@validation_option
@held_out_option("Rows to hold out for the scores, as a share or a number; 0 for none.")
@output_option("The HTML file to write.", required=True)
@click.option("--title", help="The title of the page.")
@click.option(
    "--by-group",
    metavar="COLUMN",
    help="Compare coverage, rates, predictions and errors between the groups of this "
    "column of DATA, which the model need not use.",
)
@click.option(
    "--with-comparison", is_flag=True, help="Add a comparison with other methods."
)
def command(
    inputs, choices, validation, test_size, out, title, by_group, with_comparison
):
    """Write an HTML report on the rules of a model.

    MODEL and DATA are as for simplify. MODEL may also be a file of rules, such as
    edited ones, which are then measured on DATA as they are. The report is one file
    that needs no network and can be printed.
    """
    check_outputs(
        {"--out": out}, (inputs.data.path, inputs.model, validation), out=".html"
    )
    if is_rules_file(inputs.model):
        _report_on_rules(out, inputs, title, by_group)
        return
    if with_comparison and inputs.target is None:
        raise click.UsageError("--with-comparison needs --target.")
    loaded = load(inputs, progress_kind(), validation)
    validation = validation if loaded.validation is not None else None
    if by_group is not None:
        loaded = _with_groups(loaded, by_group, inputs.data, validation)
    train, test = loaded.split(test_size, choices.seed)
    options: dict[str, Any] = {}
    if with_comparison:
        options["comparison"] = compared(
            choices,
            loaded,
            budgets=[most_rules(choices)],
            test_size=test_size or 0.25,
        )
    del loaded
    simple = fit(choices, train)
    rows = train if test is None else test
    if by_group is not None:
        options["groups"] = _Groups(by_group, rows.groups)
    report_on(out, simple, rows, inputs, validation, title=title, **options)
    say(f"The report is in {out}.")


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
    names = inputs.target, inputs.weights
    rows = load_rule_rows(rules, inputs.data, progress_kind(), *names)
    options = {}
    if by_group is not None:
        options["groups"] = _Groups(by_group, _read_groups(inputs.data, by_group))
    report_on(out, rules, rows, inputs, title=title, **options)
    say(f"The report is in {out}.")


@dataclass(frozen=True, eq=False)
class _Groups:
    """Values under the name of their column."""

    name: str
    values: np.ndarray

    def __array__(self, dtype=None, copy=None):
        """The values; the name is lost."""
        return np.asarray(self.values, dtype=dtype)


def _with_groups(loaded, name, data, validation):
    """The rows that the report measures on, with the values of a column."""
    if loaded.validation is None:
        return replace(loaded, groups=_read_groups(data, name))
    more = replace(data, path=validation)
    rows = loaded.validation
    groups = _read_groups(more, name)
    groups = groups if rows.places is None else groups[rows.places]
    return replace(loaded, validation=replace(rows, groups=groups))


def _read_groups(data, name):
    """The values of a column of a data file; numbers if all of them are."""
    source = data.open()
    source.names = [find_column(name, source, "--by-group")]
    source.expected[name] = AS_IS
    values = (value for part in source.parts() for value in part.X[name])
    values = (None if is_missing(value) else value for value in values)
    texts = [v if v is None or isinstance(v, SIMPLE) else str(v) for v in values]
    texts = np.array([*texts, None], dtype=object)[:-1]
    with contextlib.suppress(TypeError, ValueError):
        there = [None if text is None else float(text) for text in texts]
        return np.array(there, dtype=object)
    return texts


def report_on(path, simple, rows, inputs, validation=None, **options):
    """Write the report of a fitted method, measured on these rows.

    They are of the file `validation`, if there is one.
    """
    state = click.get_current_context().find_object(State)
    options |= {
        "command": shlex.join(["defragtrees", *state.arguments]),
        "target_name": inputs.target,
        "data_name": render.plain((validation or inputs.data).name),
        "model_name": None
        if isinstance(simple, RuleModel)
        else _model_name(inputs.model),
        "is_new": True if validation is not None else None,
    }
    write_report(path, simple, *rows.rows, **options)


def _model_name(path):
    """Such as "the XGBoost model in model.json"."""
    kind = None if path.is_dir() else file_kind(path)
    words = "model"
    if kind is not None and kind.endswith(" model"):
        words = kind.split(maxsplit=1)[1]
    return render.plain(f"the {words} in {path.resolve().name}")
