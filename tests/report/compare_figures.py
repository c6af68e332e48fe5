"""The figures of a page beside those of `recompute`, to the last digit shown.

`python -m tests.report.compare_figures rules.json rows.csv report.html TARGET` prints
each figure of the page that is another. The table has the columns of the rules,
`truth` and, if it was compared with a model, `model` and for classes the model's
`p:CLASS`; perhaps `group`.
"""

import csv
import json
import re
import sys
from html import unescape

from tests.report.recompute import Rows
from tests.report.recomputed_report import Report

__all__ = ["compare", "main"]

NUMBER = re.compile(r"([<>]?)([−-]?\d[\d,]*(?:\.\d+)?(?:e[+−-]?\d+)?)")


def compare(page, report, target):
    """The figures of a page that differ from the report, as lines.

    Parameters
    ----------
    page : str
        HTML.
    report : Report
    target : str
        Name of the target.
    """
    troubles = []
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    shown = dict(_shown_tables(body))
    for caption, lines in report.tables().items():
        name = next((title for title in shown if title.startswith(caption)), None)
        if name is None or len(shown[name]) != len(lines):
            troubles.append(f"{caption}: no such table, or another number of lines")
            continue
        for given, expected in zip(shown[name], lines, strict=True):
            for text, numbers in zip(given[-len(expected) :], expected, strict=True):
                troubles += _differences(f"{caption}: {given[0]}", text, numbers)
    for caption, lines in report.named_lines().items():
        name = next(title for title in shown if title.startswith(caption))
        by_name = {line[0]: line[1:] for line in shown[name]}
        for label, expected in lines.items():
            for text, numbers in zip(by_name.get(label, []), expected, strict=False):
                troubles += _differences(f"{caption}: {label}", text, numbers)
            if label not in by_name:
                troubles.append(f"{caption}: {label} is not in the page")
    troubles += _rule_troubles(body, report)
    return troubles + _sentence_troubles(body, report, target)


def _rule_troubles(body, report):
    """The table of the rules, the evidence below each, and the charts beside it."""
    troubles = []
    rules = body.split('<tbody class="rule"')[1:]
    if len(rules) != len(report.rows.every):
        return ["rules: another number of rules"]
    for k, rule in enumerate(rules):
        rule = rule.split("</tbody>")[0]
        where = f"rule {k + 1}"
        cells = {
            _plain(head).split("(")[0]: _plain(text)
            for head, text in re.findall(r'data-title="([^"]*)"[^>]*>(.*?)</td>', rule)
        }
        for head, numbers in report.reported(k).items():
            if head not in cells:
                troubles.append(f"{where}: there is no column {head}")
                continue
            text = re.sub(r"(?<=\d)(?= ?points?)", "", cells[head]).replace("+", "")
            troubles += _differences(f"{where}, {head}", text, numbers)
        found = re.findall(r'<p class="evidence">(.*?)</p>', rule)
        if found:
            for text, numbers in zip(found, report.evidence(k), strict=True):
                troubles += _differences(f"{where}, evidence", _plain(text), numbers)
        labels = re.findall(r'<svg class="spark".*?aria-label="([^"]*)"', rule)
        for text, numbers in zip(labels, report.pictures(k), strict=True):
            text = unescape(text).rpartition(": ")[2]
            troubles += _differences(f"{where}, picture", text, numbers)
    return troubles


def _sentence_troubles(body, report, target):
    """How often rules and model differ."""
    troubles, rows = [], report.rows
    if rows.has_model and report.classes:
        differ = re.search(r"Rules and model differ on (.*?)\)", _plain(body))[1]
        apart = 100 - report.fidelity()
        numbers = [round(apart / 100 * len(rows)), len(rows), apart]
        troubles += _differences("differ", differ, numbers)
    return troubles


def _differences(where, text, numbers):
    """What a text says other than the numbers, each to the last digit shown."""
    if numbers is None:
        return []
    found = NUMBER.findall(text)
    if len(found) != len(numbers):
        return [f"{where}: {text!r} should have {len(numbers)} numbers, {numbers}"]
    troubles = []
    for (sign, shown), number in zip(found, numbers, strict=True):
        plain = shown.replace(",", "").replace("−", "-")
        mantissa, _, power = plain.partition("e")
        digits = len(mantissa.partition(".")[2])
        tolerance = 0.5000001 * 10.0 ** (int(power or 0) - digits)
        value = float(plain)
        # Measured numbers have three digits, counts all of them.
        is_rounded = isinstance(number, float) and value == float(f"{number:.3g}")
        is_so = abs(value - number) <= tolerance or is_rounded
        if sign:
            is_so = number < value if sign == "<" else number > value
        if not is_so:
            troubles.append(f"{where}: the page says {sign}{shown}, it is {number:.6g}")
    return troubles


def _shown_tables(body):
    """Captions and cells of all tables, the first of each."""
    pattern = r"<caption[^>]*>(.*?)</caption>.*?<tbody>(.*?)</tbody>"
    for table in body.split("<table")[:0:-1]:
        for caption, inside in re.findall(pattern, table, flags=re.DOTALL):
            lines = inside.split("</tr>")[:-1]
            cells = [re.split("</t[hd]>", line)[:-1] for line in lines]
            yield _plain(caption), [[_plain(cell) for cell in line] for line in cells]


def _plain(html):
    return unescape(re.sub("<[^>]*>", "", html)).replace("\N{NO-BREAK SPACE}", " ")


def main(rules_file, rows_file, page_file, target="y"):
    """Compare three files; the number of figures that differ."""
    with open(rules_file, encoding="utf-8") as file:
        rules = json.load(file)
    with open(rows_file, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    with open(page_file, encoding="utf-8") as file:
        page = file.read()
    troubles = compare(page, Report(Rows(rules, table)), target)
    sys.stdout.writelines(f"{line}\n" for line in troubles)
    return len(troubles)


if __name__ == "__main__":
    sys.exit(min(1, main(*sys.argv[1:])))
