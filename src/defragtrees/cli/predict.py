"""`defragtrees predict`: the answers of saved rules for each row of a file."""

import contextlib
import csv
import json
import sys
from pathlib import Path

import click

from defragtrees.cli._command import NAMES, Command, json_option, output_option
from defragtrees.cli._output import check_output, plain, say
from defragtrees.cli._progress import progress_kind
from defragtrees.cli._rules import ask_rules, read_rules
from defragtrees.files import atomic_file

__all__ = ["command", "open_output", "write_json"]

EXAMPLE = "defragtrees predict rules.json data.csv --out answers.csv"


@click.command("predict", cls=Command, example=EXAMPLE)
@click.argument("rules", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("data", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--id", "ids", type=NAMES, metavar="A,B,...", help="Columns of DATA to copy."
)
@click.option("--shares", is_flag=True, help="Add the share of each class.")
@output_option("The CSV file to write. [default: the screen]")
@json_option
def command(rules, data, ids, shares, out, as_json):
    """Write the answers of saved rules for each row of a file.

    RULES is a file that simplify --out wrote; DATA is CSV, Parquet or Feather. Only
    the columns that the rules ask about are read. The answers are CSV, with the number
    of the rule that answers.
    """
    check_output(out, (rules, data))
    found = read_rules(rules)
    if shares and found.task != "classification":
        raise click.UsageError("--shares is for rules that answer with a class.")
    asking = ask_rules(found, data, progress_kind(), ids or ())
    rows = _answers(found, asking, ids or (), shares)
    with open_output(out) as file:
        if as_json:
            write_json(file, rows)
        else:
            header = [*(ids or ()), "prediction", "rule"]
            header += [f"share {label}" for label in found.classes] if shares else []
            writer = csv.DictWriter(file, header, lineterminator="\n")
            writer.writeheader()
            for row in rows:
                writer.writerow(row)
    if out is not None:
        say(f"The answers are in {out}.")


def _answers(rules, asking, ids, shares):
    """One dict for each row of the file."""
    for asked in asking:
        answers, numbers = asked.answers()
        table = rules.predict_proba_encoded(asked.matrix).tolist() if shares else None
        for i, (answer, number) in enumerate(zip(answers, numbers, strict=True)):
            row = {name: asked.column_value(name, i) for name in ids}
            row |= {"prediction": answer, "rule": number}
            if table is not None:
                row |= {
                    f"share {label}": share
                    for label, share in zip(rules.classes, table[i], strict=True)
                }
            yield row


@contextlib.contextmanager
def open_output(path):
    """A text file that appears when it is whole, or standard output."""
    if path is None:
        yield sys.stdout
        return
    with atomic_file(path) as draft:
        with open(draft, "w", encoding="utf-8", newline="") as file:
            yield file


def write_json(file, rows):
    """A JSON array, one entry a line, without holding all of them."""
    before = "["
    for row in rows:
        text = json.dumps(plain(row), ensure_ascii=False, allow_nan=False)
        file.write(f"{before}{text}")
        before = ",\n"
    file.write("]\n" if before != "[" else "[]\n")
