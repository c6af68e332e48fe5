"""Sections on performance: measures, costs, groups, calibration, segments."""

import math

import numpy as np

from defragtrees._utils.formatting import count
from defragtrees.outcomes.decision import positive_threshold
from defragtrees.plots.measures import calibration_picture
from defragtrees.plots.picture import Axis, Curve, Picture
from defragtrees.report.sections.rules import observed_cells
from defragtrees.report.text import (
    Html,
    Table,
    agreement_text,
    amount,
    badge,
    breakable,
    condition_parts,
    error_text,
    escaped,
    fidelity_text,
    isolated,
    name,
    rate_text,
    sentence,
    with_interval,
)
from defragtrees.rules.text import mean_gap
from defragtrees.segments import Segments
from defragtrees.segments.found import Heading

FOUR_FIFTHS = 0.8  # the four-fifths rule for ratios of selection rates
MOST_BORDERS = 300  # maximum number of thresholds drawn
MOST_GROUPED = 6  # maximum number of classes with a table of groups
MOST_PAIRED = 12  # maximum number of classes in a confusion matrix


def measures(page):
    """All measures of rules and model, and the confusion matrix."""
    summary = page.summary
    rows, outcome, rules = summary.rows, summary.outcome, summary.rules
    if rows.y is None:
        return None
    shown = outcome.view.measure_titles(summary.scores, has_costs=rules._has_costs)
    prefixes = ("",) if summary.model is None else ("", "model_")
    training = getattr(summary.simplifier, "training_", None)
    measured = [summary.scores] + ([] if training is None else [training])
    lines = [
        [
            sentence(label),
            *(
                _value(key, prefix, scores, outcome)
                for scores in measured
                for prefix in prefixes
            ),
        ]
        for key, label in shown.items()
    ]
    header = ["Measure", *["Rules", "Model"][: len(prefixes)]]
    if training is not None:
        header += ["Rules, training", "Model, training"][: len(prefixes)]
    if summary.model is not None:
        lines.append(_fidelity_line(summary, measured))
    context = {
        "label": _positive_text(outcome),
        "threshold": None,
        "has_costs": rules.costs is not None,
        "measures": Table(
            header,
            lines,
            f"Measures for {summary.target}",
            numeric=range(1, len(header)),
            kind="",
        ),
        "confusion": _confusion(summary) if outcome.labels else None,
    }
    if rules.threshold is not None:
        context["threshold"] = amount(
            positive_threshold(rules.threshold, outcome.positive_index)
        )
    return context


def _fidelity_line(summary, measured):
    """Agreement with the model, here and on the training rows."""
    values = [scores.get("fidelity") for scores in measured]
    texts = [
        "–" if value is None else agreement_text(value, summary.outcome)
        for value in values
    ]
    return ["Agreement with the model", *(cell for t in texts for cell in (t, "–"))]


def _positive_text(outcome):
    """The class of two whose rates are shown; None for more classes or numbers."""
    return (
        outcome.view.prediction(outcome.positive_class) if outcome.is_binary else None
    )


def _value(key, prefix, scores, outcome):
    value = scores.get(f"{prefix}{key}")
    if value is None or math.isnan(value):
        return "–"
    if key == "precision" and not scores.get(f"{prefix}recall"):
        return "–"  # nothing is found, mostly as the class is never predicted
    if key == "error":
        return error_text(value, outcome)
    if key == "r2" or (outcome.error_is_share and value < 10):
        return fidelity_text(value)
    return amount(value)


def _confusion(summary):
    """Rows by true and predicted class; the number of classes if they are too many."""
    rows = summary.rows
    labels, counts = summary.class_pairs(rows.y, rows.predicted)
    if len(labels) > MOST_PAIRED:
        return len(labels)
    names = [name(summary.outcome.view.prediction(label)) for label in labels]
    return Table(
        ["True class", *(Html(f"rules: {label}") for label in names)],
        [
            [
                label,
                *(
                    {"kind": "same" if i == j else "other", "text": count(n)}
                    for j, n in enumerate(line)
                ),
            ]
            for i, (label, line) in enumerate(zip(names, counts, strict=True))
        ],
        "Rows by true class and class predicted by the rules",
        numeric=range(1, len(labels) + 1),
        kind="pairs",
    )


def costs(page):
    """Mean cost by probability threshold, for rules and model."""
    summary = page.summary
    costs = summary.costs
    if costs is None:
        return None
    label, cost = summary.outcome.view.prediction, summary.scores["expected_cost"]
    number, labels = summary.outcome.positive_index, summary.outcome.labels
    positive, other = (label(labels[k]) for k in (number, 1 - number))
    lines = [
        ["Rules", rate_text(costs.border), amount(cost)],
        ["Rules, best threshold", *_best(costs.of_rules)],
    ]
    curves = [costs.of_rules]
    if costs.of_model is not None:
        model_cost = summary.scores["model_expected_cost"]
        curves.append(costs.of_model)
        lines += [
            ["Model, same threshold", rate_text(costs.border), amount(model_cost)],
            ["Model, best threshold", *_best(costs.of_model)],
        ]
    lines += [
        [Html(f"Always {name(positive)}"), "–", amount(costs.of_rules.costs[0])],
        [Html(f"Always {name(other)}"), "–", amount(costs.of_rules.costs[-1])],
    ]
    picture = cost_picture(curves, costs.border, cost)
    return {
        "costs": costs,
        "positive": positive,
        "other": other,
        "picture": page.draw("costs", picture),
        "lines": Table(
            ["Predictions of", "Threshold", "Mean cost"],
            lines,
            "Mean cost per row, on these rows",
            numeric=(1, 2),
        ),
    }


def _best(curve):
    cost, border = curve.best
    return rate_text(border), amount(cost)


def cost_picture(curves, border, cost):
    """Mean cost against threshold, with a ring at the threshold of the rules."""
    names = ("rules", "model")
    marks = []
    for curve, label, colour in zip(curves, names, ("accent", "quiet"), strict=False):
        step = -(-len(curve.borders) // MOST_BORDERS)
        kept = np.unique([*range(0, len(curve.borders), step), len(curve.borders) - 1])
        # A threshold between two probabilities predicts the same as the next one.
        x = np.concatenate([[0.0], np.repeat(curve.borders[kept], 2)[:-1]])
        y = np.repeat(curve.costs[kept], 2)
        marks.append(Curve(label, x.tolist(), y.tolist(), colour, marker=""))
    ring = Curve("threshold of the rules", [border], [cost], "accent", marker="ring")
    return Picture(
        Axis("probability threshold", limits=(0.0, 1.0), is_share=True),
        Axis("mean cost per row", starts_at_zero=True),
        (*marks, ring),
    )


def groups(page):
    """A table with one row per group, and the largest difference."""
    summary = page.summary
    if summary.groups is None:
        return None
    tables = {"rates": _rate_groups, "mean": _mean_groups}[summary.outcome.statistic]
    return {"tables": tables(summary)}


def _mean_groups(summary):
    columns = {
        "mean": (Html(f"Mean of {name(summary.target)}"), _mean_cell),
        "prediction": ("Mean prediction", _mean_cell),
        "bias": ("Mean error (bias)", _mean_cell),
        "error": ("Mean absolute error", _mean_cell),
    }
    lines = summary.group_lines()
    table = _group_table(summary, lines, columns, summary.target)
    return [{"label": None, "table": table}]


def _rate_groups(summary):
    """One table for the positive class, or one per class for the first of many."""
    outcome, tables = summary.outcome, []
    shown = outcome.labels[:MOST_GROUPED]
    if outcome.is_binary:
        shown = (outcome.positive_class,)
    for label in shown:
        written, lines = outcome.view.prediction(label), summary.group_lines(label)
        columns = {
            "rate": (Html(f"Rate of {name(written)}"), _rate_cell),
            "selection": ("Selection rate", _rate_cell),
            "error": ("Error", _rate_cell),
        }
        table = _group_table(summary, lines, columns, written)
        tables.append({"label": written, "gap": _gap(lines), "table": table})
    return tables


def _group_table(summary, lines, columns, about):
    """One row per group; `columns` are a heading and a cell function by key."""
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
    return Table(
        header,
        cells,
        f"{about} by group, with 95 % intervals",
        numeric=range(1, len(header)),
        kind="bars groups",
    )


def _rate_cell(rate, low, high):
    if math.isnan(rate):
        return "–"
    return with_interval(rate_text(rate), rate_text(low, ""), rate_text(high))


def _mean_cell(mean, low, high):
    return "–" if math.isnan(mean) else with_interval(*map(amount, (mean, low, high)))


def _gap(lines):
    """The groups with the lowest and highest selection rate; None if equal."""
    there = [line for line in lines if not math.isnan(line["selection"][0])]
    low = min(there, key=lambda line: line["selection"][0])
    high = max(there, key=lambda line: line["selection"][0])
    least, most = low["selection"], high["selection"]
    if least[0] == most[0]:
        return None
    return {
        "low": low["group"],
        "low_rate": least[0],
        "high": high["group"],
        "high_rate": most[0],
        "ratio": least[0] / most[0],
        "is_far": least[0] / most[0] < FOUR_FIFTHS,
        "may_be_chance": most[1] <= least[2],
    }


def calibration(page):
    """Estimated and observed rates of each rule, as a table and a picture."""
    summary, outcome = page.summary, page.summary.outcome
    if not summary.calibration:
        return None
    write = rate_text if outcome.statistic == "rates" else amount
    gap = mean_gap(summary.calibration)
    by_rule = summary.rules.form != "points"
    # The prediction of a number is its estimate.
    n_known = int(by_rule and not outcome.labels)
    lines = []
    # A table of totals stands with the rules.
    for line in [] if summary.totals else summary.calibration:
        if "rule" not in line:
            cells = [name(outcome.view.prediction(line["class"]))]
        else:
            card = summary.cards[line["rule"] - 1]
            cells = [card.name, badge(card.then, card.colour)]
        cells.append(count(round(line["n_rows"])))
        lines.append([*cells, *observed_cells(line, outcome)[n_known:]])
    header = ["Rule", "Predicts"] if by_rule else ["Class"]
    values = ["Estimated", "Observed", "95 % interval"][n_known:]
    header += ["Rows", *values]
    picture = calibration_picture(summary.calibration, summary.rules, write)
    gap_text = amount(gap)
    if outcome.has_probabilities:
        gap_text = f"{100 * gap:.1f} percentage points"
    return {
        "label": _positive_text(outcome),
        "gap": gap_text,
        "picture": page.draw("calibration", picture),
        "by_rule": by_rule,
        "lines": lines
        and Table(
            header,
            lines,
            "Estimated and observed values of each rule, on these rows",
            numeric=range(len(header) - 1 - len(values), len(header)),
        ),
    }


def segments(page):
    """One table per group of segments."""
    found = page.summary.segments
    return None if found is None else {"groups": segment_groups(found)}


def segment_groups(found):
    """Heading, table and note of each group; without segments a note only."""
    if isinstance(found, Segments):
        heading = Heading(f"Where the {found.loss_name} is {found.direction}")
        return [_segment_group(heading, found)]
    return [_segment_group(found.headings[key], one) for key, one in found.items()]


def _segment_group(heading, found):
    heading, about = heading
    note = found._note()
    if about:
        note = f"{sentence(about)}. {note}"
    if not len(found):
        return {"heading": heading, "table": None, "note": note}
    header, rows = found._cells()
    rows = [
        [number, _conditions(segment, found.rules), *figures]
        for segment, (number, _, *figures) in zip(found, rows, strict=True)
    ]
    table = Table(
        [name(one) for one in header],
        rows,
        heading,
        numeric=range(2, len(header)),
        kind="segments",
    )
    return {"heading": heading, "table": table, "note": note}


def _conditions(segment, rules):
    """The conditions as HTML, one per line."""
    lines = []
    for condition in segment.conditions:
        before, feature, after = condition_parts(rules, condition)
        lines.append(f"{escaped(before)}{breakable(feature)}{isolated(after)}")
    return Html("<br>and ".join(lines))
