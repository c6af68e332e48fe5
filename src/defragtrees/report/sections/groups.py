"""Group by group: coverage, rates, answers and errors, with their intervals."""

import math

import numpy as np

from defragtrees.outcomes.intervals import QUANTILE, wilson_interval
from defragtrees.report.markup import Cell, name, table
from defragtrees.report.wording import amount, count, rate_text

__all__ = ["class_lines", "number_lines", "write"]

SIGN = "\N{NO-BREAK SPACE}%"
FOUR_FIFTHS = 0.8  # a ratio of selection rates below which it is usual to ask why
MOST_CLASSES = 6


def write(page):
    """A table with a line for each group, and how far apart the groups are."""
    summary = page.summary
    if summary.groups is None:
        return []
    if not summary.outcome.n_classes:
        return _number_pieces(summary)
    classes, outcome = summary.rules.classes, summary.outcome
    is_pair = len(classes) == 2
    shown = (outcome.told_class,) if is_pair else classes[:MOST_CLASSES]
    pieces = [
        "<p>A selection rate is the share of a group’s rows that get the answer; a "
        "rate the share of which it is true. Differences inside the intervals may be "
        "chance. Whether a difference is fair, no number says.</p>"
    ]
    for label in shown:
        lines = class_lines(summary, label)
        title = name(summary.outcome.answer_text(label))
        pieces += [
            f"<p>{_gap_words(lines, title)}</p>",
            _class_table(summary, lines, label),
        ]
    return pieces


def class_lines(summary, label):
    """One dict for each group: rows, coverage, and three rates with their intervals.

    Parameters
    ----------
    summary : Summary
    label : the class whose rates are measured
    """
    rows = summary.rows
    covered = _covered(rows)
    lines = []
    for group, mask in summary.groups.masks():
        weight = float(rows.weight[mask].sum())
        line = {
            "group": group,
            "n_rows": int(mask.sum()),
            "coverage": _rate(rows, covered, mask, weight),
            "selection": _rate(rows, rows.predicted == label, mask, weight),
        }
        if rows.y is not None:
            line["rate"] = _rate(rows, rows.y == label, mask, weight)
            line["error"] = _rate(rows, rows.predicted != rows.y, mask, weight)
        lines.append(line)
    return lines


def _covered(rows):
    """Rows in which a rule before the last one holds."""
    return rows.held[:, :-1].any(axis=1)


def _rate(rows, is_so, mask, weight):
    """A share of a group's rows, and Wilson's interval."""
    if not weight > 0:
        return math.nan, math.nan, math.nan
    share = rows.mean(is_so, mask)
    return (share, *wilson_interval(share, weight))


def _class_table(summary, lines, label):
    shown = summary.outcome.answer_text(label)
    columns = {
        "coverage": ("Coverage", _rate_cell),
        "rate": (Cell(f"Rate of {name(shown)}"), _rate_cell),
        "selection": ("Selection rate", _rate_cell),
        "error": ("Error", _rate_cell),
    }
    return _group_table(summary, lines, columns, shown)


def _group_table(summary, lines, columns, about):
    """A row for each group; columns are headings and cells by the key in `lines`."""
    kept = {key: column for key, column in columns.items() if key in lines[0]}
    header = [name(summary.groups.name), "Rows", *(head for head, _ in kept.values())]
    cells = [
        [
            name(line["group"]),
            count(line["n_rows"]),
            *(cell(*line[key]) for key, (_, cell) in kept.items()),
        ]
        for line in lines
    ]
    return table(
        header,
        cells,
        f"{about}, group by group, with 95 % intervals",
        numeric=range(1, len(header)),
        kind="bars groups",
    )


def _rate_cell(rate, low, high):
    if math.isnan(rate):
        return "–"
    low, high = rate_text(low).removesuffix(SIGN), rate_text(high)
    return Cell(f'<b>{rate_text(rate)}</b> <span class="span">{low} to {high}</span>')


def _gap_words(lines, label):
    """How far apart selection rates are, and whether that may be chance."""
    there = [line for line in lines if not math.isnan(line["selection"][0])]
    low = min(there, key=lambda line: line["selection"][0])
    high = max(there, key=lambda line: line["selection"][0])
    least, most = low["selection"], high["selection"]
    if least[0] == most[0]:
        return f"{label} is answered equally often in all groups."
    ratio = least[0] / most[0]
    below = ", below four fifths" if ratio < FOUR_FIFTHS else ""
    chance = (
        "their intervals meet, so it may be chance"
        if most[1] <= least[2]
        else "their intervals do not meet"
    )
    return (
        f"{label} is answered on {rate_text(least[0])} of the rows of "
        f"{name(low['group'])} and {rate_text(most[0])} of those of "
        f"{name(high['group'])}: a ratio of {ratio:.2f}{below}; {chance}."
    )


def number_lines(summary):
    """One dict for each group: rows, coverage, and means with their intervals."""
    rows = summary.rows
    covered = _covered(rows)
    lines = []
    for group, mask in summary.groups.masks():
        weight = float(rows.weight[mask].sum())
        line = {
            "group": group,
            "n_rows": int(mask.sum()),
            "coverage": _rate(rows, covered, mask, weight),
            "answer": _mean(rows, rows.predicted, mask),
        }
        if rows.y is not None:
            apart = rows.predicted - rows.y
            line["mean"] = _mean(rows, rows.y, mask)
            line["off"] = _mean(rows, apart, mask)
            line["error"] = _mean(rows, np.abs(apart), mask)
        lines.append(line)
    return lines


def _mean(rows, values, mask):
    """A mean over a group, and an interval by its standard error."""
    mean = rows.mean(values, mask)
    if mean is None:
        return math.nan, math.nan, math.nan
    variance = rows.mean((values - mean) ** 2, mask)
    half = QUANTILE * math.sqrt(variance / rows.weight[mask].sum())
    return mean, mean - half, mean + half


def _number_pieces(summary):
    lines = number_lines(summary)
    target = name(summary.target)
    columns = {
        "coverage": ("Coverage", _rate_cell),
        "mean": (Cell(f"Mean of {target}"), _mean_cell),
        "answer": ("Mean answer", _mean_cell),
        "off": ("Answer less truth", _mean_cell),
        "error": ("Mean absolute error", _mean_cell),
    }
    return [
        "<p>Differences inside the intervals may be chance. Whether a difference is "
        "fair, no number says.</p>",
        _group_table(summary, lines, columns, summary.target),
    ]


def _mean_cell(mean, low, high):
    if math.isnan(mean):
        return "–"
    return Cell(
        f"<b>{amount(mean)}</b> "
        f'<span class="span">{amount(low)} to {amount(high)}</span>'
    )
