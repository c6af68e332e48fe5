"""`defragtrees predict`: predict each row of a file with saved rules."""

from dataclasses import dataclass

import click
import numpy as np

from defragtrees.cli import options, output
from defragtrees.cli.data import (
    arrow_type,
    cells,
    encode,
    open_for_rules,
    read_parts,
    read_rules,
)
from defragtrees.cli.group import Command
from defragtrees.rules.profile import (
    check_seen,
    count_unseen,
    unseen_texts,
    warn_of_unseen,
)

EXAMPLE = "defragtrees predict rules.json data.csv --out predictions.csv"


@click.command("predict", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@options.data()
@options.names("--id", "Columns of DATA to copy to the output.")
@options.flag("--probabilities", "Add the probability of each class.", default=None)
@options.count("--reasons", "Add N reason codes of a scorecard.", metavar="N")
@options.choice("--best", ["high", "low"], "Which totals are desired. [default: high]")
@options.value(
    "--interval", float, "P", "Add an interval of a number with this coverage, or 0.95."
)
@options.choice(
    "--unseen",
    ["warning", "column", "error"],
    "What to do with missing values and categories that no training row had.",
    default="warning",
    show_default=True,
)
@options.flag(
    "--exact",
    "Write CSV cells that begin like a formula unchanged. [default: with an "
    "apostrophe before them]",
)
@options.output(
    "The file to write: .csv, .csv.gz, .parquet, .jsonl or .json. [default: CSV to "
    "standard output]"
)
@options.as_json
def command(rules, data, id, unseen, exact, out, as_json, **given):
    """Predict each row of a file with saved rules.

    RULES is a file that simplify --out wrote; DATA is as for simplify. Only the columns
    that the rules use are read. The columns of the output are those of predict_frame:
    the prediction and the number of the rule that predicts each row; of a scorecard the
    total and, with two classes, the probability.
    """
    output.check_outputs({"--out": out}, (rules, data.path))
    form = output.output_format(out, "json" if as_json else None, output.TABLES, "csv")
    rule_set = read_rules(rules)
    if given["probabilities"] and not rule_set.outcome.n_classes:
        raise click.UsageError(
            "--probabilities is for rules that predict a class; these predict a "
            "number. Leave it out."
        )
    if given["best"] and not given["reasons"]:
        raise click.UsageError("--best needs --reasons.")
    asked = {name: value for name, value in given.items() if value is not None}
    # Zero rows show names and types of the added columns, and raise for bad options.
    no_rows = np.empty((0, len(rule_set.feature_names)))
    added = rule_set._output_columns(no_rows, **asked)
    if unseen == "column":
        added["unseen"] = np.empty(0, dtype=object)
    ids = id or ()
    source = open_for_rules(rule_set, data, ids=ids)
    parts = read_parts(source, "predicting", is_streamed=out is None)
    is_typed = form == "parquet"
    found = _Unseen(unseen)
    columns = (
        _columns(rule_set, part.X, ids, asked, is_typed, found) for part in parts
    )
    header = list(ids)
    for name in added:
        while name in header:  # the name of a column that is copied
            name += "_"
        header.append(name)
    if is_typed:
        types = [arrow_type(rule_set, source, name) for name in ids]
        kinds = {"b": "bool", "i": "int64", "f": "double"}
        types += [kinds.get(values.dtype.kind, "string") for values in added.values()]
        output.write_parquet(out, header, types, columns)
    else:
        output.write_table(out, form, header, columns, exact)
    warn_of_unseen(found.n_unseen, found.n_rows, "--unseen column")
    if out is not None:
        click.echo(f"The predictions are in {out}.")


@dataclass
class _Unseen:
    """What to do about values that training did not have, and how many rows have some.

    They are counted for a warning only.
    """

    choice: str
    n_rows: int = 0
    n_unseen: int = 0


def _columns(rules, X, ids, asked, is_typed, found):
    """The columns that are copied, and those that rules add, for some rows."""
    matrix = encode(rules, X)
    if found.choice == "error":
        check_seen(rules, matrix, "error", "error", found.n_rows)
    copied = [cells(rules, name, X, matrix) for name in ids]
    if is_typed:
        # Dates and times as such, not as text.
        copied = [
            X[name] if X[name].dtype.kind in "mMbiuf" else values
            for name, values in zip(ids, copied, strict=True)
        ]
    added = rules._output_columns(matrix, **asked)
    found.n_rows += len(matrix)
    if found.choice == "column":
        added["unseen"] = unseen_texts(rules, matrix)
    elif found.choice == "warning":
        found.n_unseen += count_unseen(rules, matrix)
    return [*copied, *(values.tolist() for values in added.values())]
