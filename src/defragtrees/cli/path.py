"""`defragtrees path`: the best rules of every number of rules."""

import click

from defragtrees._path import simplify_path
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    held_out_option,
    input_options,
    json_option,
    output_option,
    validation_option,
)
from defragtrees.cli.output import (
    check_outputs,
    check_plot,
    json_text,
    progress_kind,
    rules_text,
    save_plot,
    say,
    working,
)
from defragtrees.cli.settings import setting_options
from defragtrees.cli.tables import table, wrapped
from defragtrees.outcomes import MEASURES

EXAMPLE = "defragtrees path model.json data.csv --target y --max-rules 8"


@click.command("path", cls=Command, example=EXAMPLE)
@input_options
@setting_options("form", "max_rules")
@click.option(
    "--choose-by",
    type=click.Choice(["error", *MEASURES]),
    metavar="MEASURE",
    help="Choose the shortest list within one standard error of the best by this "
    f"measure: error or, with --target, {', '.join(MEASURES)}. [default: the list of "
    "simplify]",
)
@validation_option
@held_out_option("Rows to hold out for the errors, as a share or a number.")
@output_option("Save the chosen rules, as JSON.")
@output_option("Plot error against number of rules: .png, .svg or .pdf.", name="--plot")
@json_option
def command(inputs, choices, choose_by, validation, test_size, out, plot, as_json):
    """Show error and size of the best rules for every number of rules.

    MODEL and DATA are as for simplify. The star marks the chosen list: that of
    simplify, or with --choose-by the shortest within one standard error of the best.
    """
    files = inputs.data.path, inputs.model, validation
    check_outputs({"--out": out, "--plot": plot}, files, out=".json")
    check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: errors need held-out rows."
        )
    loaded = load(inputs, progress_kind(), validation)
    if choices.method != "defrag":
        raise click.UsageError("path has the method defrag only; leave method out.")
    _, settings = choices.for_model(loaded.forest)
    settings |= {"test_size": test_size, "choose_by": choose_by}
    if loaded.validation is not None:
        settings["validation"] = loaded.validation.rows
    with working("simplifying"):
        path = simplify_path(loaded.forest, *loaded.rows, **settings)
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
                    "model_error": path.model_error,
                    "model_measures": path.model_measures,
                    "rules": path.rules._view.rows(),
                }
            )
        )
        return
    say(f"{table(*path._cells())}\n")
    reason = _reason(path, choices.get("max_rules", "auto"))
    say(wrapped("\n".join([*path._notes(), reason]), "  "))
    say(f"\n{rules_text(path.rules)}")


def _reason(path, max_rules):
    """Why the row with the star is chosen."""
    if path.chosen_by is not None:
        name = path._shown()[path.chosen_by]
        return (
            f"* chosen: the shortest list within one standard error of the best {name}."
        )
    if max_rules == "auto":
        return (
            "* chosen, as by simplify: the shortest list within one standard error of "
            "the best, on the rows that its rates are from."
        )
    return (
        f"* chosen, as by simplify with --max-rules {max_rules}: the list with the "
        "lowest loss on the rows that its rates are from. Without --max-rules it is "
        "the shortest within one standard error of the best."
    )
