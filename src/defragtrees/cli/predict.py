"""`defragtrees predict`: predict each row of a file with saved rules."""

import click

from defragtrees.cli.group import Command
from defragtrees.cli.inputs import batches_for, read_rules
from defragtrees.cli.options import FILE, NAMES, json_option, output_option
from defragtrees.cli.output import (
    cell_writer,
    check_outputs,
    exact_option,
    open_output,
    progress_kind,
    say,
    write_json,
)

EXAMPLE = "defragtrees predict rules.json data.csv --out predictions.csv"


@click.command("predict", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "--id",
    "ids",
    type=NAMES,
    metavar="A,B,...",
    help="Columns of DATA to copy to the output.",
)
@click.option(
    "--probabilities",
    "--shares",
    "probabilities",
    is_flag=True,
    help="Add the estimated probability of each class. --shares is the old name.",
)
@exact_option
@output_option("The CSV file to write. [default: standard output]")
@json_option
def command(rules, data, ids, probabilities, exact, out, as_json):
    """Predict each row of a file with saved rules.

    RULES is a file that simplify --out wrote; DATA is CSV, Parquet or Feather. Only
    the columns that the rules use are read. The output is CSV, with the number of the
    rule that predicts each row.
    """
    check_outputs({"--out": out}, (rules, data))
    rule_set = read_rules(rules)
    if probabilities and not rule_set.outcome.n_classes:
        raise click.UsageError(
            "--probabilities is for rules that predict a class; these predict a "
            "number. Leave it out."
        )
    ids = ids or ()
    batches = batches_for(rule_set, data, progress_kind(is_streamed=out is None), ids)
    header = _header(ids, rule_set.classes if probabilities else ())
    rows = _predictions(rule_set, batches, ids, probabilities)
    with open_output(out) as file:
        if as_json:
            write_json(file, (dict(zip(header, row, strict=True)) for row in rows))
        else:
            write = cell_writer(file, exact)
            write(header)
            for row in rows:
                write(row)
    if out is not None:
        say(f"The predictions are in {out}.")


def _header(ids, classes):
    """Columns copied, then ours; where one has our name, ours gets an underscore."""
    header = list(ids)
    for name in ("prediction", "rule", *(f"probability {label}" for label in classes)):
        while name in header:
            name += "_"
        header.append(name)
    return header


def _predictions(rules, batches, ids, probabilities):
    """The cells of each row of the file, in the order of the header."""
    for batch in batches:
        predictions = rules._predict(rules._covers(batch.matrix)).tolist()
        numbers = (rules._apply(rules._covers(batch.matrix)) + 1).tolist()
        table = [()] * len(batch)
        if probabilities:
            table = rules._predict_proba(rules._covers(batch.matrix)).tolist()
        for i, cells in enumerate(zip(predictions, numbers, table, strict=True)):
            prediction, number, proba = cells
            yield [
                *(batch.column_value(name, i) for name in ids),
                prediction,
                number,
                *proba,
            ]
