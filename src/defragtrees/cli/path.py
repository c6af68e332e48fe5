"""`defragtrees path`: the rule lists from one rule up."""

import click

from defragtrees._path import simplify_path
from defragtrees.cli._command import (
    Command,
    held_out_option,
    input_options,
    json_option,
    output_option,
)
from defragtrees.cli._inputs import load
from defragtrees.cli._methods import method_options, settings_of
from defragtrees.cli._output import check_outputs, json_text, rules_text, say
from defragtrees.cli._plotting import check_plot, save_plot
from defragtrees.cli._progress import progress_kind, ticking
from defragtrees.outcomes import MEASURES

__all__ = ["command", "fit_path"]

EXAMPLE = "defragtrees path model.json data.csv --target y --max-rules 8"


@click.command("path", cls=Command, example=EXAMPLE)
@input_options
@method_options("method", "e_step", "stability")
@click.option(
    "--choose-by",
    type=click.Choice(["error", *MEASURES]),
    help="What the chosen list must be nearly the best in; but for the error it needs "
    "--target. By default the list of simplify is chosen.",
)
@held_out_option("Rows to hold out for the errors.")
@output_option("Save the chosen rules, as JSON.")
@output_option("Draw error against number of rules; .png, .svg or .pdf.", name="--plot")
@json_option
def command(inputs, choices, choose_by, test_size, out, plot, as_json):
    """Show the rule lists from one rule up, with their errors.

    MODEL and DATA are as for simplify. The star marks the list that is chosen: that
    of simplify, or with --choose-by the shortest that is within one standard error of
    the best.
    """
    check_outputs({"--out": out, "--plot": plot}, (inputs.data, inputs.model))
    check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: errors need held-out rows."
        )
    loaded = load(inputs, progress_kind())
    path = fit_path(choices, loaded, test_size, choose_by)
    if out is not None:
        path.rules.save(out)
    if plot is not None:
        save_plot(path, plot)
    if as_json:
        say(
            json_text(
                {
                    "path": path.rows(),
                    "chosen_by": path.chosen_by,
                    "ensemble_error": path.ensemble_error,
                    "ensemble_measures": path.ensemble_measures,
                    "rules": path.rules.rows(),
                }
            )
        )
        return
    say(f"{path}\n\nThe chosen rules:\n{rules_text(path.rules)}")


def fit_path(choices, loaded, test_size, choose_by=None):
    """The RulePath of the user's choice, with a clock on the way."""
    _, settings = settings_of(choices, loaded.forest, loaded.y is not None)
    with ticking("simplifying", 1):
        return simplify_path(
            loaded.forest,
            *loaded.rows,
            test_size=test_size,
            choose_by=choose_by,
            **settings,
        )
