"""`defragtrees watch`: a drift check of new rows."""

from datetime import UTC, datetime
from pathlib import Path

import click

from defragtrees._utils import formatting as render
from defragtrees._utils.files import write_atomic
from defragtrees.cli import options, output, terminal
from defragtrees.cli.data import encode, open_for_rules, read_rows, read_rules
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import open_beside
from defragtrees.ensembles.predictions import read_model
from defragtrees.monitoring.check import check_encoded, missing_columns
from defragtrees.monitoring.history import Record, read_history

EXAMPLE = "defragtrees watch rules.json week7.parquet --target y --history checks.jsonl"
MOVED = 1  # the exit code


@click.command("watch", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@options.data()
@options.column(
    "--target", "The column with the true values, to test rates and errors."
)
@options.value(
    "--model",
    click.Path(exists=True, path_type=Path),
    "PATH",
    "The model behind the rules; whether it agrees less with them is tested too.",
)
@options.names(
    "--classes",
    "The classes of the rules in the order of the model's. [default: "
    "labels that read the same, or the order of the rules]",
)
@options.trust
@options.share(
    "--level",
    "Rate of false alarms of all tests together.",
    default=0.05,
    show_default=True,
)
@options.output("Write the check as an HTML page.", "--html")
@options.value(
    "--history",
    click.Path(dir_okay=False, writable=True, path_type=Path),
    "FILE",
    "Append the check to a file, as one line of JSON.",
)
@options.value(
    "--label",
    str,
    "TEXT",
    "What DATA is called in the history. [default: the name of the file]",
    default="",
)
@options.output("Plot the history: .png, .svg or .pdf.", "--plot")
@options.flag("--details", "Show all tests and the predictions, not only what moved.")
@options.as_json
@click.pass_context
def command(
    ctx,
    rules,
    data,
    target,
    model,
    classes,
    trust,
    level,
    html,
    history,
    label,
    plot,
    details,
    as_json,
):
    """Test new rows for drift from the reference data of the rules.

    RULES is a file that simplify --out wrote; DATA is as for simplify. The exit
    code is 0 if there is no drift, 1 if there is, and 2 for an error.
    """
    outputs = {"--html": html, "--history": history, "--plot": plot}
    output.check_outputs(outputs, (rules, data.path, model), html=".html")
    output.check_plot(plot)
    if classes and model is None:
        raise click.UsageError("--classes needs --model.")
    if (label or plot) and history is None:
        raise click.UsageError(f"{'--label' if label else '--plot'} needs --history.")
    checks = None if history is None else read_history(history, missing_ok=True)
    rule_set = read_rules(rules)
    source = open_for_rules(rule_set, data, target)
    behind = X = predicted = match = None
    if model is not None:
        inputs = options.Inputs(model, data, trust=trust)
        behind, X = open_beside(inputs, rule_set, source)
    table, y, _ = read_rows(source, rule_set.classes)
    matrix = encode(rule_set, table)
    y = None if y is None else rule_set.outcome.read(y)
    if behind is not None:
        X = table[list(behind.feature_names)] if X is None else X
        read = read_model(behind, rule_set, X, classes)
        predicted, _, _, match = read(X, matrix, y)
    notes = missing_columns(rule_set, source.columns)
    found = check_encoded(rule_set, matrix, y, predicted, match, level, notes)
    if html is not None:
        write_atomic(html, found.to_html(f"{rules.name} on {data.name}"))
    if checks is not None:
        record = Record(found, datetime.now(UTC), label, rules.name, data.name)
        if plot is not None:
            output.save_plot(checks.with_record(record), plot)
        checks = checks.append(record)
    if as_json:
        click.echo(output.json_text(found.to_dict()))
    else:
        _say(found, details, html, checks, plot)
    if found.has_moved:
        ctx.exit(MOVED)


def _say(found, details, html, checks, plot):
    """The check, since when there has been drift, and the files that were written."""
    verdict, *parts = found._parts(found.findings if details else found.moved)
    color = "yellow" if found.has_moved else "green"
    tests = render.plural(len(found.findings), "test")
    more = click.style(f"All {tests}: --details.", dim=True)
    if details:
        more = render.text_table(*found._prediction_cells(), width=render.page_width())
    click.echo("\n\n".join([click.style(verdict, fg=color, bold=True), *parts, more]))
    if html is not None:
        click.echo(f"The check is in {html}.")
    if checks is None:
        return
    if checks.since is not None and checks.since is not checks[-1]:
        click.echo(terminal.wrapped(f"There has been drift since {checks.since.name}."))
    click.echo(
        f"The history, of {render.plural(len(checks), 'check')}, is in {checks.path}."
    )
    if plot is not None:
        click.echo(f"Its plot is in {plot}.")
