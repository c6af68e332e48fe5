"""`defragtrees path`: the best rules of every number of rules."""

import click

from defragtrees._compare import simplify_path
from defragtrees.cli import options, output
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.settings import setting_options
from defragtrees.outcomes import MEASURES

EXAMPLE = "defragtrees path model.json data.csv --target y --max-rules 8"


@click.command("path", cls=Command, example=EXAMPLE)
@options.inputs
@setting_options("max_rules")
@options.value(
    "--choose-by",
    click.Choice(["error", *MEASURES]),
    "MEASURE",
    "Choose the shortest list within one standard error of the best by this measure: "
    f"error or, with --target, {', '.join(MEASURES)}. [default: the list of simplify]",
)
@options.validation
@options.held_out("Rows to hold out for the errors, as a share or a number.")
@options.output("Save the chosen rules, as JSON.")
@options.output(
    "Plot error against number of rules: .png, .svg or .pdf.", name="--plot"
)
@options.as_json
def command(inputs, choices, choose_by, validation, test_size, out, plot, as_json):
    """Show error and size of the best rules for every number of rules.

    MODEL and DATA are as for simplify. The star marks the chosen list: that of
    simplify, or with --choose-by the shortest within one standard error of the best.
    """
    files = inputs.data.path, inputs.model, validation
    output.check_outputs({"--out": out, "--plot": plot}, files, out=".json")
    output.check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: errors need held-out rows."
        )
    forest, rows, unseen = load(inputs, validation)
    if choices.method != "defrag":
        raise click.UsageError("path has the method defrag only; leave method out.")
    _, settings = choices.for_model(forest)
    settings |= {"test_size": test_size, "choose_by": choose_by, "validation": unseen}
    with output.working("simplifying"):
        path = simplify_path(forest, *rows, **settings)
    if out is not None:
        path.rules.save(out)
    if plot is not None:
        output.save_plot(path, plot)
    if as_json:
        names = "chosen_by", "model_error", "model_measures"
        facts = {"path": path.rows(), "rules": path.rules._view.rows()}
        facts |= {name: getattr(path, name) for name in names}
        click.echo(output.json_text(facts))
        return
    click.echo(f"{path}\n\n{output.rules_text(path.rules)}")
