"""`defragtrees predict`: predict each row of a file with saved rules."""

from dataclasses import dataclass

import click
import numpy as np

from defragtrees._utils.optional import require
from defragtrees.cli.data import (
    arrow_type,
    cells,
    encode,
    open_for_rules,
    read_parts,
    read_rules,
)
from defragtrees.cli.group import Command
from defragtrees.cli.options import (
    FILE,
    data_options,
    json_option,
    names_option,
    output_option,
)
from defragtrees.cli.output import (
    TABLES,
    check_outputs,
    output_format,
    progress_kind,
    say,
    write_parquet,
    write_table,
)
from defragtrees.rules.unseen import (
    check_seen,
    count_unseen,
    unseen_texts,
    warn_of_unseen,
)

EXAMPLE = "defragtrees predict rules.json data.csv --out predictions.csv"


@click.command("predict", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@data_options()
@names_option("--id", "Columns of DATA to copy to the output.")
@click.option(
    "--probabilities",
    is_flag=True,
    help="Add the estimated probability of each class.",
)
@click.option(
    "--reasons",
    type=click.IntRange(min=1),
    metavar="N",
    help="Add N reason codes: what costs a row most points of a scorecard.",
)
@click.option(
    "--best",
    type=click.Choice(["high", "low"]),
    help="With --reasons: which totals are desired. [default: high]",
)
@click.option(
    "--unseen",
    type=click.Choice(["warning", "column", "error"]),
    default="warning",
    show_default=True,
    help="What to do with missing values and categories that no training row had.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Write CSV cells that begin like a spreadsheet formula unchanged. [default: "
    "with an apostrophe before them]",
)
@output_option(
    "The file to write: .csv, .csv.gz, .parquet, .jsonl or .json. [default: CSV to "
    "standard output]"
)
@json_option
def command(
    rules,
    data,
    id,
    probabilities,
    reasons,
    best,
    unseen,
    exact,
    out,
    as_json,
):
    """Predict each row of a file with saved rules.

    RULES is a file that simplify --out wrote; DATA is as for simplify. Only the columns
    that the rules use are read. The columns of the output are those of predict_frame:
    the prediction and the number of the rule that predicts each row; of a scorecard the
    total and, with two classes, the probability.
    """
    check_outputs({"--out": out}, (rules, data.path))
    form = output_format(out, "json" if as_json else None, TABLES, "csv")
    rule_set = read_rules(rules)
    if probabilities and not rule_set.outcome.n_classes:
        raise click.UsageError(
            "--probabilities is for rules that predict a class; these predict a "
            "number. Leave it out."
        )
    if best and not reasons:
        raise click.UsageError("--best needs --reasons.")
    options = probabilities or None, reasons or 0, best or "high"
    # Zero rows show names and types of the added columns, and raise for bad options.
    no_rows = np.empty((0, rule_set.n_rules), dtype=bool)
    added = rule_set._output_columns(no_rows, *options)
    if unseen == "column":
        added["unseen"] = np.empty(0, dtype=object)
    ids = id or ()
    source = open_for_rules(rule_set, data, ids=ids)
    parts = read_parts(source, progress_kind(is_streamed=out is None), "predicting")
    is_typed = form == "parquet"
    found = _Unseen(unseen)
    columns = (
        _columns(rule_set, part.X, ids, options, is_typed, found) for part in parts
    )
    header = _header(ids, added)
    if is_typed:
        types = [arrow_type(rule_set, source, name) for name in ids]
        types += [_arrow_type(values) for values in added.values()]
        write_parquet(out, header, types, (_arrays(part, types) for part in columns))
    else:
        write_table(out, form, header, columns, exact)
    warn_of_unseen(found.n_unseen, found.n_rows, "--unseen column")
    if out is not None:
        say(f"The predictions are in {out}.")


@dataclass
class _Unseen:
    """What to do about values that training did not have, and how many rows have some.

    They are counted for a warning only.
    """

    choice: str
    n_rows: int = 0
    n_unseen: int = 0


def _header(ids, added):
    """Copied columns, then added ones, with an underscore if the name is taken."""
    header = list(ids)
    for name in added:
        while name in header:
            name += "_"
        header.append(name)
    return header


def _arrow_type(values):
    arrow = require("pyarrow", "Writing Parquet")
    kinds = {"b": arrow.bool_(), "i": arrow.int64(), "f": arrow.float64()}
    return kinds.get(values.dtype.kind, arrow.string())


def _columns(rules, X, ids, options, is_typed, found):
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
    added = rules._output_columns(rules._covers(matrix), *options)
    found.n_rows += len(matrix)
    if found.choice == "column":
        added["unseen"] = unseen_texts(rules, matrix)
    elif found.choice == "warning":
        found.n_unseen += count_unseen(rules, matrix)
    return [*copied, *(values.tolist() for values in added.values())]


def _arrays(columns, types):
    """Columns as arrays of pyarrow."""
    arrow = require("pyarrow", "Writing Parquet")
    arrays = []
    for values, type_ in zip(columns, types, strict=True):
        if not isinstance(values, list):
            arrays.append(arrow.Array.from_pandas(values).cast(type_, safe=False))
            continue
        if arrow.types.is_string(type_):
            values = [None if value is None else str(value) for value in values]
        arrays.append(arrow.array(values, type_))
    return arrays
