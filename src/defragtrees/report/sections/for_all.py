"""Sections for all readers: the rules, a scorecard on paper, and what scripts fill.

The data of the scripts are the rules, some rows, and texts. The scripts in `templates`
predict, measure, explain and print as the library does.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import to_json
from defragtrees._utils.formatting import category, count, percent, true_minus
from defragtrees.plots.curves import numbers_at_risk, survival_picture
from defragtrees.report.charts import axis_text
from defragtrees.report.condition_charts import FEW, Scale, condition_charts
from defragtrees.report.summary import RARE
from defragtrees.report.text import (
    Table,
    amount,
    amount_range,
    badge,
    condition_parts,
    range_bar,
    rate_text,
    span,
    visible,
)
from defragtrees.rules.bins import is_by_column
from defragtrees.rules.conditions import join_conditions
from defragtrees.rules.labels import KINDS

MOST_UNPREDICTED = 5  # maximum number of classes listed
MOST_CHARTS = 12  # maximum number of rules whose charts are not folded
MOST_LETTERS = 90  # of labels side by side
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
    scale, ranges = _ranges(summary)
    shown = [
        _rule(summary, k, zip(titles, line[2:], strict=True), charts[k], ranges[k])
        for k, line in enumerate(lines)
    ]
    missing, unpredicted = rules._form.unpredicted_classes, []
    for label in missing[:MOST_UNPREDICTED]:
        having = None
        if summary.rows.y is not None:
            members = summary.rows.y == label
            share = summary.rows.share(members)
            having = {"n_rows": int(members.sum()), "share": share}
        unpredicted.append((summary.outcome.view.prediction(label), having))
    is_sum = rules._form.is_sum
    return {
        "titles": [*titles, "matches"] if is_sum else titles,
        "how_to_read": f"{rules._view.reading} {rules._view.estimates_text()}",
        "total": true_minus(rules._view.total_text()),
        "contradictions": rules._view.contradictions(),
        "decision": rules._view.decision_text(),
        "is_compact": rules.n_rules > MOST_CHARTS,
        "ranges": scale
        and summary.outcome.view.interval_title in titles
        and _range_words(scale, next(filter(None, ranges))),
        "has_implied": any(rule["full"] for rule in shown),
        "edits": [edit.text for edit in rules.edits],
        "chart_words": _chart_words(summary) if rules.rules else "",
        "rules": shown,
        "unpredicted": unpredicted,
        "n_more_unpredicted": len(missing) - MOST_UNPREDICTED,
        "is_card": is_sum and summary.outcome.n_points == 1 and rules.rules,
    }


def survival(page):
    """The curves of rules of survival, and the rows at risk."""
    rules = page.summary.rules
    has_curves = any(rule.curve for rule in rules) and not rules._form.is_sum
    if not has_curves:
        return None
    times, at_risk = numbers_at_risk(rules)
    lines = [[name, *map(count, row)] for name, row in at_risk.items()]
    header = ["Rule", *map(render.grouped, times)]
    caption = "Rows of each rule that are at risk at a time"
    return {
        "picture": page.draw("survival", survival_picture(rules)),
        "lines": Table(header, lines, caption, numeric=range(1, len(header))),
    }


def _range_words(scale, bar):
    ends = [axis_text(end, scale.is_share) for end in (scale.low, scale.high)]
    what = "rate" if scale.is_share else "mean"
    mark = f", the dotted line shows the {what} of all rows"
    mark = mark if bar["mark"] is not None else ""
    return f"Bars go from {ends[0]} to {ends[1]}; the line is the estimate{mark}."


def _rule(summary, k, cells, charts, range):
    rules, card = summary.rules, summary.cards[k]
    is_default = k == len(rules.rules)
    rule = [*rules][k]
    default = rules._view.default_text if rules.rules else "always"
    cells = [_cell(summary, k, *cell, range) for cell in cells]
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
        "alone": card.alone,
    }


def _conditions_text(conditions, rules):
    return join_conditions(["".join(condition_parts(rules, c)) for c in conditions])


def _cell(summary, k, title, text, range):
    """One cell: a text that may have a badge in a colour, or a bar below."""
    rules, outcome = summary.rules, summary.rules.outcome
    text = true_minus(render.one_line(text)) or "–"
    cell = {"title": title, "text": text, "badge": None}
    cell["range"] = range if title == outcome.view.interval_title else None
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


def _ranges(summary):
    """Estimate and interval of each rule as a bar, all on one scale, or None."""
    outcome, rates = summary.outcome, summary.rules._form.training_rates
    known = [outcome.estimate(rule) for rule in summary.rules]
    ends = [end for one in known for end in one.get("interval") or ()]
    if not ends or summary.rules._form.is_sum:
        return None, [None] * len(known)
    is_share, bars = outcome.statistic == "rates", []
    scale = Scale(is_share, ends)
    for rule, one in zip(summary.rules, known, strict=True):
        mark, colour = None if is_share else summary.baseline.guess, "accent"
        if is_share:
            place = outcome.rate_index(rule)
            mark = None if rates is None else rates[place]
            [colour] = summary.colours.of([outcome.labels[place]])
        low, high = one.get("interval") or (None, None)
        middle = one.get("estimate", rule.prediction)
        limits = scale.low, scale.high
        bars.append(
            low is not None and range_bar(low, middle, high, mark, colour, limits)
        )
    return scale, bars


def strip(summary):
    """A block per rule or total: as wide as its rows, in the colour of its estimate."""
    outcome, rules, lines = summary.outcome, summary.rules, []
    whose, focus = "rule", outcome.positive_class if outcome.is_binary else None
    if summary.totals:
        whose = rules._view.total_name
        for line in summary.totals:
            [low] = rules._view.shown_totals(line["low"])
            title = true_minus(render.rounded(low, 2))
            lines.append(("rules", title, line["n_rows"], line["estimated"], focus))
    elif rules._form.is_exclusive:
        for rule, card in zip(rules, summary.cards, strict=True):
            value, label = rule.prediction, focus
            if outcome.labels:
                value = outcome.estimate(rule).get("estimate", math.nan)
                label = outcome.labels[outcome.rate_index(rule)]
            place = f"rule-{card.number}"
            lines.append((place, card.number, card.n_rows, value, label))
    if len(lines) < 2:
        return None
    shown = outcome.view.estimate_title() if outcome.is_binary else "prediction"
    is_share, blocks = outcome.statistic == "rates", []
    values = [line[3] for line in lines]
    lowest, highest = (0.0, 1.0) if is_share else (min(values), max(values))
    for place, title, n_rows, value, label in lines:
        colour = "s4"
        if outcome.labels:
            [colour] = summary.colours.of([label])
        known = 0.0 if math.isnan(value) else value
        about = {"place": place, "title": title, "n_rows": n_rows, "colour": colour}
        about["depth"] = 100 * (known - lowest) / ((highest - lowest) or 1.0)
        about["text"] = (percent if is_share else _short)(known) * (value == value)
        blocks.append(about)
    caption = (
        f"A block per {whose}, wider with more rows; colour: {shown}{summary.unit}"
    )
    # Labels that would not fit side by side are hidden where blocks are narrow.
    n_letters = sum(2 + len(one["text"]) for one in blocks)
    return {"caption": caption, "blocks": blocks, "is_full": n_letters > MOST_LETTERS}


def _short(value):
    """A number in few letters, such as 659k."""
    for least, unit, letter in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(value) >= least:
            return f"{amount(value / unit)}{letter}"
    return amount(value)


def _observed(summary, k):
    """What is observed on the rows that a rule predicts here; None if unknown."""
    rules, outcome = summary.rules, summary.outcome
    if not rules._form.is_exclusive or not summary.calibration:
        return None
    line, rule = summary.calibration[k], list(rules)[k]
    if not line["n_rows"]:
        return None
    _, value, interval = observed_cells(line, outcome)
    what = outcome.view.mean_word
    if outcome.labels:
        label = outcome.labels[outcome.rate_index(rule)]
        what = f"rate of {outcome.view.prediction(label)}"
    return {"what": what, "value": value, "interval": interval}


def observed_cells(line, outcome):
    """Estimate, and what is observed with its interval, of a line of calibration."""
    if not line["n_rows"]:
        return ["–", "–", "–"]
    ends = line["low"], line["high"]
    write, interval = amount, amount_range(*ends)
    if outcome.statistic == "rates":
        interval = render.percent_range(*ends)
        write = partial(percent, digits=render.percent_digits(*ends))
    elif line["n_rows"] <= 1 or ends[0] == ends[1]:
        interval = "–"
    return [write(line["estimated"]), write(line["observed"]), interval]


def _chart_words(summary):
    """How to read the charts at conditions."""
    outcome = summary.outcome
    what = "the model’s mean prediction"
    if summary.rows.y is not None:
        what = f"the {summary.mean_text}"
    if outcome.statistic == "rates":
        whose = "the predicted class"
        if outcome.is_binary:
            whose = f"“{outcome.view.prediction(outcome.positive_class)}”"
        what = f"the share of {whose}"
        if summary.rows.y is None:
            what += " in the model’s predictions"
    return (
        f"Charts show {what} by value of the feature, coloured where the condition is "
        "true; the dashed line shows all rows. Wider bars have more rows, pale ones "
        f"fewer than {FEW}."
    )


def total_text(low, high):
    """A total of points, or a range of them, with all digits."""
    low, high = (true_minus(render.grouped(total)) for total in (low, high))
    return low if low == high else span(low, high)


def scorecard(page):
    """A card to fill in on paper: questions, points, and what a total stands for."""
    summary, rules = page.summary, page.summary.rules
    if not rules._form.is_sum or summary.outcome.n_points != 1 or not rules.rules:
        return None
    points = [true_minus(line[2]) for line in rules._view.cells()[1]]
    is_read, blocks = is_by_column(rules), {}
    numbers = [one.points for one in rules._view.bins()] if is_read else []
    numbers += [rule.points[0] for rule in rules.rules]
    scale = Scale(False, [0.0, *numbers])
    limits, unit = (scale.low, scale.high), rules.unit
    # Whether higher totals speak for the class of interest, or a number.
    is_for_focus = not summary.outcome.is_binary or bool(summary.outcome.positive_index)

    def bar(value):
        colour = "g1" if (value * unit > 0) == is_for_focus else "g0"
        return range_bar(min(value, 0), value, max(value, 0), 0, colour, limits)

    bins = zip(rules._view.bin_lines(is_typeset=True), numbers, strict=False)
    for (name, text, value), number in bins if is_read else ():
        if text:
            cells = text, true_minus(value), bar(number)
            blocks.setdefault(name, []).append(cells)
    blocks[""] = [
        (_conditions_text(rule.conditions, rules), text, bar(rule.points[0]))
        for rule, text in zip(rules.rules, points, strict=False)
        if not is_read or len(rule.conditions) > 1
    ]
    header, lines = rules._view.total_cells() or ((), ())
    return {
        "blocks": blocks,
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
        "words": rules.outcome.view.point_words if rules._view.is_product else None,
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
        and rules.outcome.quantile is None
        and is_exact
        and len(to_json(rules.to_dict())) <= LARGEST_FILE
    )


def page_data(summary):
    """All data of the scripts, as plain types."""
    # With whole names: texts of edits must be those of Python. Scripts cut them.
    rules, sample = summary.given_rules, draw_sample(summary)
    outcome, used = rules.outcome, sorted(summary.used)
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
    rows, used = summary.rows, summary.used
    generator = np.random.default_rng(0)
    order = generator.permutation(len(rows))[:MOST_ROWS]
    first = rows.matrix[np.ix_(order[:200], used)]
    lengths = [sum(len(f"{_plain(v)}") + 1 for v in row) for row in first.tolist()]
    each = np.mean(lengths) + 8
    n_rows = min(len(order), max(1, int(MOST_CHARACTERS / each)))
    kept = np.sort(order[:n_rows])
    names = "matrix", "y", "model_predictions", "weight"
    columns = {name: getattr(rows, name) for name in names}
    return replace(rows, **{n: v if v is None else v[kept] for n, v in columns.items()})


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
    printed, short = map(category, shown), [str(one)[:LONGEST_NAME] for one in shown]
    about["categories"] = [*printed]
    if short != about["categories"]:
        about |= {"boxes": short, "quoted": [repr(str(one)) for one in shown]}
    return about


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


def edit(page):
    """The editor of the rules and, of two classes, of the threshold."""
    rules = page.summary.rules
    is_measured = rules.task in SCRIPTED and rules.outcome.quantile is None
    if not rules.rules or not is_measured:
        return None
    if not _has_data(page):
        return {"can_edit": False}
    offered = rules._form.editable
    deeds = ["drop a rule", "move a threshold", "remove a condition"]
    deeds += ["change a prediction"] if offered["prediction"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    outcome, can_decide = rules.outcome, rules._form.has_probabilities
    return {
        "can_edit": True,
        "decides": outcome.is_binary
        and can_decide
        and outcome.view.prediction(outcome.positive_class),
        "deeds": f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}.",
        "reason": rules._view.not_editable(),
        "n_rows": page.edit["n_rows"],
        "n_all": len(page.summary.rows),
    }


def why(page):
    """One row: its prediction, the rules behind it, and what would change it."""
    if not page.summary.rules.rules or not _has_data(page):
        return None
    return {"n_rows": page.edit["n_rows"], "n_all": len(page.summary.rows)}
