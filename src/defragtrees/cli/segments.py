"""`defragtrees segments`: where a model fails, or where two models differ."""

from dataclasses import replace

import click

from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    FILE,
    input_options,
    json_option,
    names_option,
    output_option,
)
from defragtrees.cli.output import (
    check_outputs,
    json_text,
    progress_kind,
    say,
    working,
)
from defragtrees.ensembles.predictions import predict_rows
from defragtrees.segments.models import (
    LOSSES,
    compare_models,
    explain_errors,
)

EXAMPLE = "defragtrees segments model.json new.csv --target y"


@click.command("segments", cls=Command, example=EXAMPLE)
@input_options
@click.option(
    "--against",
    type=FILE,
    metavar="MODEL_B",
    help="A second model: find where the two differ or, with --target, where one is "
    "better.",
)
@click.option(
    "--loss",
    type=click.Choice(list(LOSSES)),
    help="The loss per row. [default: error of classes, absolute error of numbers]",
)
@click.option(
    "--max-segments",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="The maximum number of segments of each kind.",
)
@click.option(
    "--max-conditions",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="The maximum number of conditions per segment.",
)
@click.option(
    "--min-rows",
    type=click.IntRange(1),
    help="The minimum number of rows of a segment. [default: 1 %, at least 20]",
)
@names_option("--features", "Columns that segments may use. [default: all]")
@output_option("Save the segments, as JSON.")
@json_option
def command(inputs, against, out, as_json, **settings):
    """Find where a model fails, or where two models differ, as short rules.

    MODEL and DATA are as for simplify; DATA should have rows that the model was not
    trained on. All figures come from rows that did not find the segments.
    """
    check_outputs(
        {"--out": out}, (inputs.data.path, inputs.model, against), out=".json"
    )
    if inputs.target is None and against is None:
        raise click.UsageError("segments needs --target or --against.")
    loaded = load(inputs, progress_kind())
    settings["sample_weight"] = loaded.sample_weight
    with working("searching"):
        if against is None:
            found = explain_errors(loaded.forest, loaded.X, loaded.y, **settings)
        else:
            other = load(replace(inputs, model=against), progress_kind())
            second = predict_rows(other.forest, other.X, other.y)
            found = compare_models(
                loaded.forest, second, loaded.X, loaded.y, **settings
            )
    if out is not None:
        found.save(out)
    say(json_text(found.to_dict()) if as_json else str(found))
