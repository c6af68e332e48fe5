"""The rules as rows of text, which Markdown, LaTeX and HTML set each in its own way."""

import math

from defragtrees import render

__all__ = []


def table(rules):
    """Header and cells; a column in which nobody measured anything is left out.

    A control character, such as a line break in a name, becomes a space.
    """
    columns = [("", _numbers), ("if", _conditions), ("then", _answers)]
    if rules.decision == "average":
        columns.append(("weight", _weights))
    rows = rules.rows()
    for name, key in (("rows", "answered"), ("error", "error")):
        if not all(math.isnan(row[key]) for row in rows):
            columns.append((name, _errors if key == "error" else _shares))
    cells = [[_printable(write(rules, row)) for _, write in columns] for row in rows]
    return [name for name, _ in columns], cells


def _numbers(rules, row):
    return str(row["rule"])


def _conditions(rules, row):
    if row["if"] == "otherwise" and rules.decision == "average":
        return "always"
    return row["if"]


def _answers(rules, row):
    return row["then"]


def _weights(rules, row):
    return render.number(row["weight"])


def _shares(rules, row):
    return "" if math.isnan(row["answered"]) else render.share(row["answered"])


def _errors(rules, row):
    if math.isnan(row["error"]):
        return ""
    if rules.task == "classification":
        return render.share(row["error"])
    return render.rounded(row["error"], 3)


def _printable(text):
    return "".join(c if c.isprintable() or c == " " else " " for c in text)
