"""`defragtrees explain`: show which rule predicts each row of a file, and why."""

import re

import click
import numpy as np

from defragtrees.cli import options, output
from defragtrees.cli.data import cells, encode, open_for_rules, read_parts, read_rules
from defragtrees.cli.group import Command

FORMATS = {".txt": "text"} | {s: f for s, f in output.TABLES.items() if "js" in f}
EXAMPLE = "defragtrees explain rules.json data.csv --rows 1-3,10"


def _ranges(text):
    """Numbers and ranges of rows, from 1."""
    ranges = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        low = int(match[1]) if match else 0
        high = int(match[2] or low) if match else 0
        if not 1 <= low <= high:
            raise ValueError(f"{part!r} is no row or range of rows, from 1")
        ranges.append((low, high))
    return tuple(ranges)


@click.command("explain", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@options.data()
@options.value(
    "--rows",
    options.Text("rows", _ranges),
    "1-3,10",
    "Numbers of the rows, from 1. [default: all]",
)
@options.choice(
    "--format",
    ["text", "jsonl", "json"],
    "The output format. [default: by the suffix of --out, else text]",
)
@options.output("The file to write: .txt, .jsonl or .json. [default: standard output]")
def command(rules, data, rows, format, out):
    """Show which rule predicts each row of a file, and why.

    RULES is a file that simplify --out wrote; DATA is as for simplify. Each row
    is shown with its prediction, the rule that matches, the values of the columns in
    it, the estimated probability and its interval, and for every rule before it the
    condition that failed; of a scorecard with the points that add up.
    """
    output.check_outputs({"--out": out}, (rules, data.path))
    form = output.output_format(out, format, FORMATS, "text")
    rule_set = read_rules(rules)
    source = open_for_rules(rule_set, data)
    parts = read_parts(source, "predicting", is_streamed=out is None)
    reasons = _reasons(rule_set, parts, rows, data.name, form == "text")
    with output.open_output(out) as file:
        if form != "text":
            output.write_json(file, form, reasons)
        else:
            for n, text in enumerate(reasons):
                # By click, which knows whether colours are seen; no text has others.
                screen = None if out is None else file
                click.echo(f"\n{text}" if n else text, file=screen)
    if out is not None:
        click.echo(f"The reasons are in {out}.")


def _reasons(rules, parts, ranges, name, is_text):
    """One dict, or text, for each selected row: the prediction, its rule, and why."""
    last = max(high for _, high in ranges) if ranges else None
    n_rows = 0
    for part in parts:
        numbers = n_rows + 1 + np.arange(len(part.X))
        n_rows += len(numbers)
        wanted = np.full(len(numbers), not ranges)
        for low, high in ranges or ():
            wanted |= (numbers >= low) & (numbers <= high)
        X = part.X[wanted]
        matrix = encode(rules, X)
        values = {column: cells(rules, column, X, matrix) for column in rules.features}
        for i, explanation in enumerate(rules._view.explanations(matrix)):
            number = int(numbers[wanted][i])
            if is_text:
                text = rules._view.explanation_text(matrix[i], explanation)
                yield f"{click.style(f'Row {number}', bold=True)}\n{text}"
            else:
                row = {column: texts[i] for column, texts in values.items()}
                yield {"row": number, **_reason(rules, row, explanation)}
        if last is not None and n_rows >= last:
            return
    if last is not None:
        raise ValueError(f"{name!r} has {n_rows} rows; --rows asks for {last}.")


def _reason(rules, row, explanation):
    """The prediction, its rule, and why, with the values of the file."""
    every = list(rules)
    names, vocabulary = rules.feature_names, rules._vocabulary
    holding = [every[k] for k in explanation.combined or (explanation.rule,)]
    features = [c.feature for rule in holding for c in rule.conditions]
    reason = {"prediction": explanation.prediction}
    if not rules._form.is_sum:
        reason["rule"] = explanation.rule + 1
        reason["if"] = every[explanation.rule].text(*vocabulary)
    reason |= {
        "values": {names[j]: row[names[j]] for j in features},
        "failed": [
            {
                "rule": k + 1,
                "condition": condition.text(*vocabulary),
                "feature": names[condition.feature],
                "value": row[names[condition.feature]],
            }
            for k, condition in explanation.failed
        ],
    }
    if explanation.probabilities is not None:
        pairs = zip(rules.classes, explanation.probabilities, strict=True)
        reason["probabilities"] = {str(label): value for label, value in pairs}
    basis = rules._view.basis(explanation)
    if basis:
        reason["basis"] = basis
    return reason | rules._view.explanation_data(explanation)
