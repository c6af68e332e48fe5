"""`defragtrees segments`: where a model fails, or where two models differ."""

from dataclasses import replace

import click

from defragtrees.cli import options, output
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.ensembles.predictions import predict_rows
from defragtrees.segments.search import LOSSES, compare_models, explain_errors

EXAMPLE = "defragtrees segments model.json new.csv --target y"


@click.command("segments", cls=Command, example=EXAMPLE)
@options.inputs
@options.value(
    "--against",
    options.FILE,
    "MODEL_B",
    "A second model: find where they differ or, with --target, where one is better.",
)
@options.choice(
    "--loss",
    list(LOSSES),
    "The loss per row. [default: error of classes, but log_loss of two "
    "models; absolute of numbers; deviance of rates]",
)
@options.count(
    "--max-segments", "Maximum number of segments.", default=5, show_default=True
)
@options.count(
    "--max-conditions",
    "Maximum number of conditions of each.",
    default=3,
    show_default=True,
)
@options.names("--features", "Columns that segments may use. [default: all]")
@options.output("Save the segments, as JSON.")
@options.as_json
def command(inputs, against, out, as_json, **settings):
    """Find where a model fails, or where two models differ, as short rules.

    MODEL and DATA are as for simplify; DATA should have rows that the model was not
    trained on. All figures come from rows not used in the search.
    """
    output.check_outputs(
        {"--out": out}, (inputs.data.path, inputs.model, against), out=".json"
    )
    if inputs.target is None and against is None:
        raise click.UsageError("segments needs --target or --against.")
    forest, (X, y, settings["sample_weight"]), *_ = load(inputs)
    with output.working("searching"):
        if against is None:
            found = explain_errors(forest, X, y, **settings)
        else:
            other, (X_other, y_other, _), *_ = load(replace(inputs, model=against))
            second = predict_rows(other, X_other, y_other)
            found = compare_models(forest, second, X, y, **settings)
    if out is not None:
        found.save(out)
    click.echo(output.json_text(found.to_dict()) if as_json else str(found))
