"""The figures of a page beside those of `recompute`, to the last digit shown.

`python -m tests.report.compare_figures rules.json rows.csv report.html TARGET` prints
each figure of the page that is another. The table has the columns of the rules,
`truth`, `ensemble`, for classes the ensemble's `p:CLASS`, and perhaps `group`.
"""

import csv
import json
import re
import statistics
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
    troubles += _card_troubles(body, report)
    return troubles + _sentence_troubles(body, report, target)


def _card_troubles(body, report):
    troubles = []
    cards = body.split('<li class="card"')[1:]
    if len(cards) != len(report.rows.every):
        return ["cards: another number of rules"]
    for k, card in enumerate(cards):
        where = f"card {k + 1}"
        evidence = re.search(r'<p class="evidence">(.*?)</p>', card)[1]
        troubles += _differences(
            f"{where}, evidence", _plain(evidence), report.evidence(k)
        )
        estimate = re.search(r'<p class="estimate">(.*?)</p>', card, flags=re.DOTALL)
        if estimate:
            first = _plain(estimate[1]).split(" Ensemble:")[0].split(" Read on its")[0]
            first = first.replace("95 % interval", "")
            troubles += _differences(f"{where}, estimate", first, report.estimate(k))
        labels = re.findall(r'<svg class="spark".*?aria-label="([^"]*)"', card)
        for text, numbers in zip(labels, report.effects(k), strict=True):
            figures = unescape(text).rpartition(": ")[2]
            troubles += _differences(f"{where}, chart", figures, numbers)
    return troubles


def _sentence_troubles(body, report, target):
    """The verdict, and how often rules and ensemble differ."""
    words = _plain(re.search(r'<p class="verdict">(.*?)</p>', body)[1])
    rows, measured = report.rows, report.measures()
    if not report.classes:
        rule_error, ensemble_error = measured["Root mean squared error"]
        part = re.search(
            r"The [^.]*? of the rules is .*? would give [\d,.−]+\d", words
        )[0]
        guess = statistics.pstdev(rows.truth)
        numbers = [rule_error, measured["R²"][0], ensemble_error, guess]
        return _differences("verdict", part.replace("R² ", "R "), numbers)
    same = report.fidelity()
    first = re.search(r"with it on (.*?) rows here", words)[1]
    troubles = _differences("verdict", first, [same, len(rows)])
    differ = re.search(r"ensemble differ on (.*?)\)", _plain(body))[1]
    n_apart = round((100 - same) / 100 * len(rows))
    troubles += _differences("differ", differ, [n_apart, len(rows), 100 - same])
    common = max(rows.truth.count(c) for c in report.classes)
    part = re.search(r"The rules are wrong on (.*?) AUC of the rules is [\d.]+", words)[
        0
    ]
    part = part.replace(target, "")
    numbers = [*measured["Error"], 100 - 100 * common / len(rows), measured["AUC"][0]]
    return troubles + _differences("verdict", part, numbers)


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
    for caption, inside in re.findall(pattern, body, flags=re.DOTALL)[::-1]:
        lines = [re.split("</t[hd]>", line)[:-1] for line in inside.split("</tr>")[:-1]]
        yield _plain(caption), [[_plain(cell) for cell in line] for line in lines]


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
