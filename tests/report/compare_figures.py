"""The figures of a page beside those of `recompute`, to the last digit shown.

`python -m tests.report.compare_figures rules.json rows.csv report.html` prints
each figure of the page that is another. The table has the columns of the rules,
`truth`, `ensemble`, for classes the ensemble's `p:CLASS`, and perhaps `group`.
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


def compare(page, report):
    """The figures of a page, as HTML, that differ from the Report, as lines."""
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
    return troubles + _sentence_troubles(body, report)


def _rule_troubles(body, report):
    troubles = []
    rules = re.findall('<tbody class="rule".*?</tbody>', body, flags=re.DOTALL)
    if len(rules) != len(report.rows.every):
        return ["rules: another number of rules"]
    for k, rule in enumerate(rules):
        where = f"rule {k + 1}"
        cells = re.findall(r'<td class="number"[^>]*>(.*?)</td>', rule, re.DOTALL)
        shown = " ".join(_plain(cell) for cell in cells)
        troubles += _differences(f"{where}, cells", shown, report.estimate(k))
        evidence = re.search(r'<p class="evidence">(.*?)</p>', rule)
        if evidence:
            words = _plain(evidence[1])
            troubles += _differences(f"{where}, evidence", words, report.evidence(k))
        labels = re.findall(r'<svg class="spark".*?aria-label="([^"]*)"', rule)
        for text, numbers in zip(labels, report.effects(k), strict=True):
            figures = unescape(text).rpartition(": ")[2]
            troubles += _differences(f"{where}, chart", figures, numbers)
    return troubles


def _sentence_troubles(body, report):
    """How well the verdict says that rules do, and how often they differ."""
    words = [_plain(one) for one in re.findall(r'<p class="verdict">(.*?)</p>', body)]
    troubles = _differences("verdict", words[1], report.verdict())
    if report.classes:
        same, n_rows = report.fidelity(), len(report.rows)
        differ = re.search(r"Rules and model differ on (.*?)\)", _plain(body))[1]
        n_apart = round((100 - same) / 100 * n_rows)
        troubles += _differences("differ", differ, [n_apart, n_rows, 100 - same])
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
    """Captions and cells of all tables but that of rules, the first of each."""
    body = re.sub('<table class="rules.*?</table>', "", body, flags=re.DOTALL)
    pattern = r"<caption[^>]*>(.*?)</caption>.*?<tbody>(.*?)</tbody>"
    for caption, inside in re.findall(pattern, body, flags=re.DOTALL)[::-1]:
        lines = [re.split("</t[hd]>", line)[:-1] for line in inside.split("</tr>")[:-1]]
        yield _plain(caption), [[_plain(cell) for cell in line] for line in lines]


def _plain(html):
    return unescape(re.sub("<[^>]*>", "", html)).replace("\N{NO-BREAK SPACE}", " ")


def main(rules_file, rows_file, page_file):
    """Compare three files; the number of figures that differ."""
    with open(rules_file, encoding="utf-8") as file:
        rules = json.load(file)
    with open(rows_file, encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    with open(page_file, encoding="utf-8") as file:
        page = file.read()
    troubles = compare(page, Report(Rows(rules, table)))
    sys.stdout.writelines(f"{line}\n" for line in troubles)
    return len(troubles)


if __name__ == "__main__":
    sys.exit(min(1, main(*sys.argv[1:])))
