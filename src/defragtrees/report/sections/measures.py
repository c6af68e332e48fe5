"""How good the rules are: against y, by cost, by group, as told, by the ensemble."""

import functools
import math

import numpy as np

from defragtrees.plots.measures import calibration_picture
from defragtrees.plots.picture import Axis, Curve, Picture
from defragtrees.report.text import (
    Html,
    Table,
    amount,
    badge,
    count,
    error_text,
    fidelity_text,
    name,
    range_bar,
    rate_text,
    reported_text,
    sentence,
    with_interval,
)
from defragtrees.rules.text import MAYBE_TRAINED

SIGN = "\N{NO-BREAK SPACE}%"
FOUR_FIFTHS = 0.8  # a ratio of selection rates below which it is usual to ask why
MOST_BORDERS = 300  # that are drawn
MOST_GROUPED = 6  # classes whose rates are set side by side
MOST_PAIRED = 12  # classes in a table of pairs
ANSWERING = (
    ("Rules", ""),
    ("Posterior of the mixture", "posterior_"),
    ("Ensemble", "ensemble_"),
)


def measures(page):
    """All measures beside the ensemble's, and which class is taken for which."""
    summary = page.summary
    rows, outcome, rules = summary.rows, summary.outcome, summary.rules
    if rows.y is None:
        return None
    shown = outcome.shown_measures(summary.scores, has_costs=summary.has_costs)
    lines = [
        [
            sentence(label),
            *(
                _value(key, scores.get(f"{prefix}{key}"), outcome)
                for scores in (summary.scores, summary.simplifier.training_)
                for prefix in ("", "ensemble_")
            ),
        ]
        for key, label in shown.items()
    ]
    header = ["Measure", "Rules", f"Ensemble{summary.trained_note}"]
    header += ["Rules, training", f"Ensemble, training ({MAYBE_TRAINED})"]
    context = {
        "label": _positive_text(outcome),
        "threshold": None,
        "has_costs": rules.costs is not None,
        "measures": Table(
            header,
            lines,
            f"Measures against {summary.target}, here and on the training rows",
            numeric=range(1, len(header)),
        ),
        "confusion": None,
    }
    if rules.threshold is not None:
        context["threshold"] = amount(outcome.positive_threshold(rules.threshold), 3)
    if outcome.labels:
        truth = Html(f"{name(summary.target)} is")
        caption = "Rows by what is true and what the rules say"
        context["confusion"] = _pairs(
            summary, (rows.y, rows.predicted), (truth, "rules"), caption
        )
    return context


def _positive_text(outcome):
    """The class of two whose rates and probabilities are shown."""
    return outcome.answer_text(outcome.positive_class) if outcome.is_binary else None


def _value(key, value, outcome):
    if value is None or math.isnan(value):
        return "–"
    if key == "error":
        return error_text(value, outcome)
    if key == "r2" or (outcome.error_is_share and value < 10):
        return fidelity_text(value)
    return amount(value)


def _pairs(summary, columns, whose, caption):
    """How often one says a class and the other another; their number if many."""
    labels, counts = summary.class_pairs(*columns)
    if len(labels) > MOST_PAIRED:
        return len(labels)
    names = [name(summary.outcome.answer_text(label)) for label in labels]
    return Table(
        [whose[0], *(Html(f"{whose[1]}: {label}") for label in names)],
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
        caption,
        numeric=range(1, len(labels) + 1),
        kind="pairs",
    )


def costs(page):
    """What every border between two classes costs, for rules and ensemble."""
    summary = page.summary
    costs = summary.costs
    if costs is None:
        return None
    label, cost = summary.outcome.answer_text, summary.scores["expected_cost"]
    theirs = summary.scores["ensemble_expected_cost"]
    number, labels = summary.outcome.positive_index, summary.outcome.labels
    told, other = (label(labels[k]) for k in (number, 1 - number))
    lines = [
        ["Rules, as they answer", rate_text(costs.border), amount(cost)],
        ["Rules, at their best border", *_best(costs.own)],
        ["Ensemble, at the same border", rate_text(costs.border), amount(theirs)],
        ["Ensemble, at its best border", *_best(costs.theirs)],
        [Html(f"Always {name(told)}"), "–", amount(costs.own.costs[0])],
        [Html(f"Always {name(other)}"), "–", amount(costs.own.costs[-1])],
    ]
    picture = cost_picture((costs.own, costs.theirs), costs.border, cost)
    return {
        "costs": costs,
        "told": told,
        "other": other,
        "picture": page.draw("costs", picture),
        "lines": Table(
            ["Answers of", "Border", "Mean cost"],
            lines,
            "What answers cost, on these rows",
            numeric=(1, 2),
            kind="bars",
        ),
    }


def _best(curve):
    cost, border = curve.best
    return rate_text(border), amount(cost)


def cost_picture(curves, border, cost):
    """Mean cost against the border, and a ring where the rules are."""
    names = ("rules", "the ensemble")
    marks = []
    for curve, label, colour in zip(curves, names, ("g0", "g5"), strict=True):
        step = -(-len(curve.borders) // MOST_BORDERS)
        kept = np.unique([*range(0, len(curve.borders), step), len(curve.borders) - 1])
        # A border between two probabilities predicts as the next one does.
        x = np.concatenate([[0.0], np.repeat(curve.borders[kept], 2)[:-1]])
        y = np.repeat(curve.costs[kept], 2)
        marks.append(Curve(label, x.tolist(), y.tolist(), colour, marker=""))
    ring = Curve("as they answer", [border], [cost], "accent", marker="ring")
    return Picture(
        Axis("border", limits=(0.0, 1.0), is_share=True),
        Axis("mean cost", starts_at_zero=True),
        (*marks, ring),
    )


def groups(page):
    """A table with a line for each group, and how far apart the groups are."""
    summary = page.summary
    if summary.groups is None:
        return None
    tables = {"rates": _rate_groups, "mean": _mean_groups}[summary.outcome.statistic]
    return {"tables": tables(summary)}


def _mean_groups(summary):
    columns = {
        "coverage": ("Coverage", _rate_cell),
        "mean": (Html(f"Mean of {name(summary.target)}"), _mean_cell),
        "answer": ("Mean answer", _mean_cell),
        "off": ("Answer less truth", _mean_cell),
        "error": ("Mean absolute error", _mean_cell),
    }
    lines = summary.group_lines()
    table = _group_table(summary, lines, columns, summary.target)
    return [{"label": None, "table": table}]


def _rate_groups(summary):
    """A table for the positive class, or for each of the first of many."""
    outcome, tables = summary.outcome, []
    shown = outcome.labels[:MOST_GROUPED]
    if outcome.is_binary:
        shown = (outcome.positive_class,)
    for label in shown:
        written, lines = outcome.answer_text(label), summary.group_lines(label)
        columns = {
            "coverage": ("Coverage", _rate_cell),
            "rate": (Html(f"Rate of {name(written)}"), _rate_cell),
            "selection": ("Selection rate", _rate_cell),
            "error": ("Error", _rate_cell),
        }
        table = _group_table(summary, lines, columns, written)
        tables.append({"label": written, "gap": _gap(lines), "table": table})
    return tables


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
    return Table(
        header,
        cells,
        f"{about}, group by group, with 95 % intervals",
        numeric=range(1, len(header)),
        kind="bars groups",
    )


def _rate_cell(rate, low, high):
    if math.isnan(rate):
        return "–"
    return with_interval(
        rate_text(rate), rate_text(low).removesuffix(SIGN), rate_text(high)
    )


def _mean_cell(mean, low, high):
    return "–" if math.isnan(mean) else with_interval(*map(amount, (mean, low, high)))


def _gap(lines):
    """The groups with the smallest and largest selection rate; None if equal."""
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
    """What each rule estimates beside what is observed, as a table and a picture."""
    summary, outcome = page.summary, page.summary.outcome
    if not summary.calibration:
        return None
    tell = functools.partial(reported_text, outcome=outcome)
    seen = [line for line in summary.calibration if line["n_rows"]]
    apart = sum(
        line["n_rows"] * abs(line["estimated"] - line["observed"]) for line in seen
    )
    gap = apart / sum(line["n_rows"] for line in seen)
    lines = []
    for line, card in zip(summary.calibration, summary.cards, strict=True):
        cells = [card.name, badge(card), count(round(line["n_rows"]))]
        told = ["–", "–", "–"]
        if line["n_rows"]:
            keys = ("estimated", "observed", "low", "high")
            *told, low, high = (tell(line[key]) for key in keys)
            told.append(f"{low.removesuffix(SIGN)} to {high}")
        lines.append([*cells, *told])
    picture = calibration_picture(summary.calibration, outcome, tell)
    gap_text = amount(gap)
    if outcome.has_probabilities:
        gap_text = f"{100 * gap:.1f} percentage points"
    return {
        "label": _positive_text(outcome),
        "gap": gap_text,
        "picture": page.draw("calibration", picture),
        "lines": Table(
            ["Rule", "Says", "Rows", "Told", "Observed", "95 % interval"],
            lines,
            "What each rule tells, and what is observed on these rows",
            numeric=(2, 3, 4, 5),
            kind="bars",
        ),
    }


def closeness(page):
    """Fidelity and error, and what the ensemble says where the rules say something."""
    summary = page.summary
    kind = sentence(summary.outcome.error_name)
    header = ["Answers of", f"{kind}, these rows", "Fidelity, these rows"]
    header += [f"{kind}, training", "Fidelity, training"]
    lines = []
    for label, prefix in ANSWERING:
        cells = []
        for scores in (summary.scores, summary.simplifier.training_):
            error = scores.get(f"{prefix}error")
            fidelity = scores.get(f"{prefix}fidelity")
            cells.append("–" if error is None else error_text(error, summary.outcome))
            cells.append("–" if fidelity is None else fidelity_text(fidelity))
        if any(cell != "–" for cell in cells):
            note = summary.trained_note if label == "Ensemble" else ""
            lines.append([f"{label}{note}", *cells])
    return {
        "scores": Table(header, lines, "Error and fidelity", numeric=(1, 2, 3, 4)),
        "details": _agreement(summary) if summary.outcome.labels else _levels(summary),
    }


def _agreement(summary):
    """How often the rules say one class and the ensemble another."""
    columns = summary.rows.predicted, summary.rows.answers
    caption = "Rows by what the rules say and what the ensemble says"
    return _pairs(summary, columns, ("Rules say", "ensemble"), caption)


def _levels(summary):
    """What the ensemble says on the rows of each rule: a bar, and the numbers."""
    answers = summary.rows.answers
    least, width = answers.min(), np.ptp(answers) or 1.0
    lines = []
    for k, levels in summary.ensemble_quantiles.items():
        card = summary.cards[k]
        places = range_bar(*((level - least) / width for level in levels))
        line = [card.name, name(card.then), count(card.n_rows), places]
        lines.append([*line, *map(amount, levels)])
    return Table(
        ["Rule", "Says", "Rows", "Ensemble’s answers", "10 %", "Median", "90 %"],
        lines,
        "What the ensemble says on the rows of each rule: the middle 80 %",
        numeric=(1, 2, 4, 5, 6),
        kind="bars",
    )
