"""`defragtrees compare`: several methods on the same held-out rows, in one table."""

import math

import click

from defragtrees._compare import compare
from defragtrees._utils import formatting as render
from defragtrees.cli import options, output
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.settings import setting_options
from defragtrees.estimators import METHODS, compared_methods
from defragtrees.search.limits import MOST_RULES

EXAMPLE = """\
defragtrees compare model.json data.csv --target y --methods defrag,distilled
"""


def _budgets(text):
    """Numbers with commas between them."""
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise ValueError(f"{text!r} must be whole numbers from 1")
    return [int(part) for part in parts]


@click.command("compare", cls=Command, example=EXAMPLE)
@options.inputs
@setting_options()
@options.names("--methods", f"Which of {', '.join(METHODS)}. [default: all but paper]")
@click.option(
    "--max-rules",
    "budgets",
    type=options.Text("numbers", _budgets),
    metavar="N,M,...",
    help=f"Maximum number of rules, or several to compare. [default: {MOST_RULES}]",
)
@options.count(
    "--folds",
    "Folds of a cross-validation, in place of --test-size.",
    least=2,
    metavar="N",
)
@options.count(
    "--resamples",
    "Train and fit on this number of random halves of the rows too, and measure how "
    "many rules are found again.",
    least=0,
    metavar="N",
    default=0,
)
@options.held_out("Rows to hold out for the scores, as a share or a number.")
@options.output(
    "Plot error against number of rules: .png, .svg or .pdf.", name="--plot"
)
@options.as_json
def command(
    inputs, choices, methods, budgets, folds, resamples, test_size, plot, as_json
):
    """Compare methods on the same held-out rows.

    MODEL and DATA are as for simplify; --target is needed. Every method may use the
    same maximum number of rules.
    """
    if inputs.target is None:
        raise click.UsageError("compare needs --target.")
    output.check_outputs({"--plot": plot}, (inputs.data.path, inputs.model))
    output.check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: scores need held-out rows."
        )
    if not budgets:
        most = choices.get("max_rules", "auto")
        budgets = [MOST_RULES if most == "auto" else most]
    forest, rows, *_ = load(inputs)
    kind, settings = choices.for_model(forest, ("max_rules", "random_state", "n_jobs"))
    if settings:
        if choices.method not in (methods or [choices.method]):
            raise click.UsageError(
                f"--settings are for {choices.method}, which is not among --methods "
                f"{','.join(methods)}. Add it, or leave the file out."
            )
        names = methods or [*compared_methods(forest.outcome), choices.method]
        methods = {name: name for name in names} | {choices.method: kind(**settings)}
    with output.working("comparing"):
        comparison = compare(
            forest,
            *rows,
            methods=methods,
            budgets=budgets,
            test_size=test_size,
            cv=folds,
            n_resamples=resamples,
            random_state=choices.seed,
            n_jobs=choices.get("n_jobs"),
        )
    if plot is not None:
        output.save_plot(comparison, plot)
    if as_json:
        names = "task", "n_splits", "model_error", "model_scores"
        facts = {name: getattr(comparison, name) for name in names}
        click.echo(output.json_text(facts | {"methods": comparison.rows()}))
        return
    n_rows = len(rows[0])
    measured = f"{render.plural(n_rows, 'row')} in {folds} folds"
    if folds is None:
        n_held_out = test_size if test_size >= 1 else math.ceil(test_size * n_rows)
        measured = render.plural(n_held_out, "held-out row")
    click.echo(f"Measured on {measured}.\n\n{comparison}")
