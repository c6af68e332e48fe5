"""Sections for all readers: the rules, a scorecard on paper, and what scripts fill.

The data of the scripts are the rules, some rows, and texts. The scripts in `templates`
predict, measure, explain and print as the library does.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import to_json
from defragtrees._utils.formatting import category, count, true_minus
from defragtrees.outcomes.points import reachable_totals
from defragtrees.report.condition_charts import FEW, condition_charts
from defragtrees.report.summary import RARE
from defragtrees.report.text import (
    Table,
    amount,
    badge,
    condition_parts,
    percent,
    range_bar,
    rate_range,
    rate_text,
    unbroken,
    visible,
)
from defragtrees.rules.conditions import join_conditions
from defragtrees.rules.labels import KINDS

MOST_UNPREDICTED = 5  # maximum number of classes listed
MOST_CHARTS = 7  # maximum number of rules whose charts are not folded
MOST_TOTALS = 9  # maximum number of totals on a card, or of bands of them
MOST_ROWS = 5000
MOST_CHARACTERS = 250_000  # of the rows, so that the page stays small
MOST_STEPS = 100  # of a slider
LONGEST_NAME = 200  # of a category
SCRIPTED = ("classification", "regression")  # kinds of y that scripts can measure
LARGEST_FILE = 300_000  # characters of a rule file that the page contains
LARGEST_WHOLE = 2**53  # limit of exact whole numbers in scripts


def rules(page):
    """The rules as a table, with the evidence of each on the rows of the report."""
    summary, rules = page.summary, page.summary.rules
    header, lines = rules._view.cells()
    titles = header[2:]
    charts = condition_charts(summary)
    shown = [
        _rule(summary, k, list(zip(titles, line[2:], strict=True)), charts[k])
        for k, line in enumerate(lines)
    ]
    missing = rules._form.unpredicted_classes
    is_sum = rules._form.is_sum
    return {
        "titles": [*titles, "matches"] if is_sum else titles,
        "how_to_read": rules._view.reading,
        "total": true_minus(rules._view.total_text()),
        "contradictions": rules._view.contradictions(),
        "decision": rules._view.decision_text(),
        "is_compact": rules.n_rules > MOST_CHARTS,
        "ranges": [c["range"] for rule in shown for c in rule["cells"] if c["range"]],
        "has_implied": any(rule["full"] for rule in shown),
        "edits": [edit.text for edit in rules.edits],
        "chart_words": _chart_words(summary) if rules.rules else "",
        "rules": shown,
        "unpredicted": [
            (summary.outcome.view.prediction(label), _having(summary.rows, label))
            for label in missing[:MOST_UNPREDICTED]
        ],
        "n_more_unpredicted": len(missing) - MOST_UNPREDICTED,
        "totals": _totals(summary),
    }


def _rule(summary, k, cells, charts):
    rules, card = summary.rules, summary.cards[k]
    is_default = k == len(rules.rules)
    rule = [*rules][k]
    default = rules._view.default_text if rules.rules else "always"
    cells = [_cell(summary, k, title, text) for title, text in cells]
    if rules._form.is_sum:
        default = "base score"
        text = f"{count(card.n_rows)} rows ({percent(card.share)})"
        text = "all rows" if is_default else text
        cells.append({"title": "matches", "text": text, "badge": None, "range": None})
    return {
        "number": k + 1,
        "default": default if is_default else "",
        "conditions": [
            (*condition_parts(rules, condition), chart)
            for condition, chart in zip(rule.shown, charts, strict=True)
        ],
        "cells": cells,
        "card": card,
        "share": (rate_text if card.share < RARE else percent)(card.share),
        "observed": _observed(summary, k),
        # Bounds that follow from the rules before it are left out.
        "full": ""
        if rule.shown == rule.conditions
        else _conditions_text(rule.conditions, rules),
        "alone": unbroken(card.alone),
    }


def _conditions_text(conditions, rules):
    return join_conditions(["".join(condition_parts(rules, c)) for c in conditions])


def _cell(summary, k, title, text):
    """One cell: a text that may have a badge in a colour, or a bar below."""
    rules, outcome = summary.rules, summary.rules.outcome
    text = unbroken(true_minus(text)) or "–"
    cell = {"title": title, "text": text, "badge": None}
    cell["range"] = (
        _interval(summary, k) if title == outcome.view.interval_title else None
    )
    if title in rules._view.then_columns() and title != "weight":
        cell["badge"] = badge(text, _colour(summary, k, title))
    return cell


def _colour(summary, k, title):
    """Points have the colour of the class that they speak for."""
    rules, card = summary.rules, summary.cards[k]
    labels, rule = summary.outcome.labels, list(rules)[k]
    if not rules._form.is_sum:
        return card.colour
    if not labels:
        return ""
    if len(rule.points) > 1:
        shown = [summary.outcome.view.label(label) for label in labels]
        return summary.colours.of([labels[shown.index(title)]])[0]
    if k == len(rules.rules) or not rule.points[0]:
        return ""
    return summary.colours.of([labels[int(rule.points[0] * rules.unit > 0)]])[0]


def _interval(summary, k):
    """The estimate and its interval as a bar from 0 to 100 %, and the base rate."""
    rules, rule = summary.rules, list(summary.rules)[k]
    if summary.outcome.statistic != "rates" or rule.interval is None:
        return None
    place = summary.outcome.rate_index(rule)
    base, estimate = rules._form.training_rates, summary.outcome.estimate(rule)
    low, high = estimate["interval"]
    mark = None if base is None else base[place]
    [colour] = summary.colours.of([summary.outcome.labels[place]])
    return range_bar(low, estimate["estimate"], high, mark, colour)


def _observed(summary, k):
    """What is observed on the rows that a rule predicts here; None if unknown."""
    rules, outcome = summary.rules, summary.outcome
    if not rules._form.is_exclusive or not summary.calibration:
        return None
    line, rule = summary.calibration[k], list(rules)[k]
    if not line["n_rows"]:
        return None
    _, value, interval = observed_cells(line, outcome)
    what = "mean"
    if outcome.labels:
        label = outcome.labels[outcome.rate_index(rule)]
        what = f"rate of {outcome.view.prediction(label)}"
    return {"what": what, "value": value, "interval": interval}


def observed_cells(line, outcome):
    """Estimate, and what is observed with its interval, of a line of calibration."""
    if not line["n_rows"]:
        return ["–", "–", "–"]
    ends = line["low"], line["high"]
    write, interval = amount, f"{amount(ends[0])} to {amount(ends[1])}"
    if outcome.statistic == "rates":
        interval = rate_range(*ends)
        write = partial(percent, digits=render.percent_digits(*ends))
    elif line["n_rows"] <= 1 or ends[0] == ends[1]:
        interval = "–"
    return [write(line["estimated"]), write(line["observed"]), interval]


def _chart_words(summary):
    """How to read the charts at conditions."""
    outcome = summary.outcome
    what = "the model’s mean prediction"
    if summary.rows.y is not None:
        what = f"the mean of {summary.target}"
    if outcome.statistic == "rates":
        whose = "the predicted class"
        if outcome.is_binary:
            whose = f"“{outcome.view.prediction(outcome.positive_class)}”"
        what = f"the share of {whose}"
        if summary.rows.y is None:
            what += " in the model’s predictions"
    return (
        f"Charts show {what} by value of the feature, coloured where the condition is "
        "true; the dashed line is that of all rows. Wider bars have more rows, pale "
        f"ones fewer than {FEW}."
    )


def _having(rows, label):
    """Number and share of the rows of a class that no rule predicts."""
    if rows.y is None:
        return None
    members = rows.y == label
    return {"n_rows": int(members.sum()), "share": rows.share(members)}


def _totals(summary):
    """Estimated and observed values by total of points, on the rows of the report."""
    if not summary.calibration or not summary.totals:
        return None
    outcome = summary.outcome
    what = outcome.view.estimate_title() if outcome.is_binary else "prediction"
    return Table(
        ["Total", "Rows", "Estimated", "Observed", "95 % interval"],
        [
            [
                _total_text(*line["total"]),
                count(round(line["n_rows"])),
                *observed_cells(line, outcome),
            ]
            for line in summary.calibration
        ],
        f"Estimated and observed values of each total: {what}, on these rows",
        numeric=range(1, 5),
    )


def _total_text(low, high):
    """A total of points, or a range of them, with all digits."""
    low, high = (true_minus(render.grouped(total)) for total in (low, high))
    return low if low == high else f"{low} to {high}"


def scorecard(page):
    """A card to fill in on paper: questions, points, and what a total stands for."""
    summary, rules = page.summary, page.summary.rules
    if not rules._form.is_sum or summary.outcome.n_points != 1 or not rules.rules:
        return None
    points = [true_minus(line[2]) for line in rules._view.cells()[1]]
    questions = [_conditions_text(rule.conditions, rules) for rule in rules.rules]
    header, lines = _risks(rules) or ((), ())
    return {
        "questions": list(zip(questions, points, strict=False)),
        "base": points[-1],
        "totals": lines
        and Table(
            header,
            [[true_minus(cell) for cell in line] for line in lines],
            "From total to risk",
            numeric=range(len(header) - 1),
            kind="",
        ),
        "meaning": true_minus(rules._view.total_text()),
    }


def _risks(rules):
    """Header and lines from totals to risks: of every total or, if many, in bands.

    A band has one prediction; None for numbers.
    """
    outcome = rules.outcome
    totals = reachable_totals([rule.points[0] for rule in rules])
    if len(totals) <= MOST_TOTALS or not outcome.is_binary:
        return rules._view.total_cells()
    values = rules.values_of(totals[:, None])
    risks = outcome.linked(values)[:, outcome.positive_index]
    chosen = outcome.decide_points(values, rules.threshold, rules.costs)
    lines = []
    for label in dict.fromkeys(chosen.tolist()):
        places = np.flatnonzero(chosen == label)
        n_bands = max(1, MOST_TOTALS * len(places) // len(totals))
        for band in np.array_split(places, n_bands):
            ends = band[[0, -1]]
            low, high = sorted(risks[ends])
            text = rate_range(low, high) if low < high else percent(low)
            then = outcome.view.prediction(label)
            lines.append([_total_text(*totals[ends].tolist()), text, then])
    return ["total", outcome.view.estimate_title(), "then"], lines


def decide(page):
    """The threshold of two classes and what it brings."""
    summary, rules = page.summary, page.summary.rules
    outcome = summary.outcome
    can_decide = outcome.is_binary and rules._form.has_probabilities
    if not can_decide or not _has_data(page):
        return None
    return {
        "label": outcome.view.prediction(outcome.positive_class),
        "other": outcome.view.prediction(outcome.labels[1 - outcome.positive_index]),
        **_rows(page),
    }


def _has_data(page):
    """Whether scripts can work with these rules; their data is then in the page."""
    if page.edit is None and can_edit(page.summary.given_rules):
        page.edit = page_data(page.summary)
    return page.edit is not None


def can_edit(rules):
    """Whether scripts can measure y and represent labels, and the page has room."""
    labels = rules.outcome.labels or ()
    whole = [c for c in labels if isinstance(c, int | np.integer)]
    is_exact = all(abs(int(c)) < LARGEST_WHOLE for c in whole)
    return (
        rules.task in SCRIPTED
        and is_exact
        and len(to_json(rules.to_dict())) <= LARGEST_FILE
    )


def page_data(summary):
    """All data of the scripts, as plain types."""
    # With whole names: texts of edits must be those of Python. Scripts cut them.
    rules, sample = summary.given_rules, draw_sample(summary)
    outcome, used = rules.outcome, sorted(summary.features.used)
    labels, known = outcome.labels or (), sample.model_predictions
    return {
        # As saved: names stay unchanged, only texts to show are made visible.
        "rules": rules.to_dict(),
        "n_rows": len(sample.matrix),
        "columns": {j: list(map(_plain, sample.matrix[:, j].tolist())) for j in used},
        "expected": _coded(sample.expected, outcome),
        "model_predictions": None if known is None else _coded(known, outcome),
        "weight": sample.weight.tolist() if summary.is_weighted else None,
        "has_y": summary.rows.y is not None,
        "features": {j: _feature(rules, sample, j) for j in used},
        "classes": [outcome.view.prediction(label) for label in labels],
        "class_words": [outcome.view.label(label) for label in labels],
        "colours": summary.colours.of(labels) if labels else [],
        "positive": outcome.positive_index if outcome.is_binary else None,
        "has_shares": bool(labels) and rules._form.has_probabilities,
        "target": visible(summary.target),
        "error_name": outcome.error_name,
        "then_title": outcome.view.prediction_title,
        "default_text": rules._view.default_text,
        "has_weights": rules._view.shows_weights,
        "offers": rules._form.editable,
    }


def draw_sample(summary):
    """Draw at most 5,000 rows, fewer if they are large; the same each time."""
    rows, used = summary.rows, summary.features.used
    generator = np.random.default_rng(0)
    order = generator.permutation(len(rows))[:MOST_ROWS]
    first = rows.matrix[np.ix_(order[:200], used)]
    lengths = [sum(len(f"{_plain(v)}") + 1 for v in row) for row in first.tolist()]
    each = np.mean(lengths) + 8
    n_rows = min(len(order), max(1, int(MOST_CHARACTERS / each)))
    kept = np.sort(order[:n_rows])
    columns = rows.matrix, rows.expected, rows.model_predictions, rows.weight
    return Sample(*(None if column is None else column[kept] for column in columns))


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows of the page that scripts measure on."""

    matrix: np.ndarray
    expected: np.ndarray  # y or, without it, the predictions of the model
    model_predictions: np.ndarray | None
    weight: np.ndarray


def _plain(value):
    """A number for JSON; None if it is missing."""
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < LARGEST_WHOLE else value


def _coded(values, outcome):
    """Class numbers, or numbers."""
    coded = np.asarray(outcome.encode_any(values), dtype=np.float64)
    return [_plain(value) for value in coded.tolist()]


def _feature(rules, sample, j):
    """Name, scale and steps or categories of one feature."""
    scale, categories = rules._vocabulary.scales[j], rules.categories[j]
    about: dict[str, Any] = {
        "name": rules._vocabulary.names[j],
        "ending": scale.ending,
        "is_ordered": scale.is_ordered,
        "kind": scale.kind if scale.kind in KINDS else None,
    }
    if categories is None:
        return about | {"steps": _steps(sample.matrix[:, j], rules, j)}
    shown = [scale.label(one) for one in categories]
    printed = [category(one) for one in shown]
    short = [str(one)[:LONGEST_NAME] for one in shown]
    return about | {"categories": printed, "boxes": short if short != printed else None}


def _steps(column, rules, j):
    """Steps of a slider: quantiles of the rows, and the thresholds of the rules."""
    there = column[~np.isnan(column)]
    levels = np.linspace(0, 1, MOST_STEPS + 1)
    values = set()
    if len(there):
        values = set(np.quantile(there, levels, method="nearest").tolist())
    for condition in (c for rule in rules.rules for c in rule.conditions):
        values |= {v for _, v in condition.sides if condition.feature == j}
    return [_plain(value) for value in sorted(values)]


def _rows(page):
    return {"n_rows": page.edit["n_rows"], "n_all": len(page.summary.rows)}


def edit(page):
    """The editor of the rules."""
    rules = page.summary.rules
    if not rules.rules or rules.task not in SCRIPTED:
        return None
    if not _has_data(page):
        return {"can_edit": False}
    offered = rules._form.editable
    deeds = ["drop a rule", "move a threshold", "remove a condition"]
    deeds += ["change a prediction"] if offered["prediction"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    return {
        "can_edit": True,
        "deeds": f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}.",
        "reason": rules._view.not_editable(),
        **_rows(page),
    }


def why(page):
    """One row: its prediction, the rules behind it, and what would change it."""
    if not page.summary.rules.rules or not _has_data(page):
        return None
    return _rows(page)
