"""Where rules and ensemble part."""

from dataclasses import dataclass

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.markup import Cell, clamped, name, table, value_cells
from defragtrees.report.wording import amount, answer_text, count, percent, value_text

__all__ = ["Disagreements", "measure", "write"]

MOST_ROWS = 12
MOST_FEATURES = 8


@dataclass(frozen=True)
class Disagreements:
    """The rows on which rules and ensemble differ."""

    n_rows: int
    worst: tuple[int, ...]  # numbers from 0 of those on which they differ most
    features: tuple[int, ...]  # features to show, the most used first
    n_left_out: int  # features of the rules that are not shown


def measure(summary):
    """Classes differ most where the ensemble is surest, numbers by their distance."""
    rows = summary.rows
    losses = summary.outcome.losses(rows.answers, rows.predicted)
    differs = losses > 0
    size = losses if rows.sureness is None else np.where(differs, rows.sureness, -1.0)
    # Rows of one size in the order of X, so that a report is the same each time.
    worst = np.argsort(-size, kind="stable")[:MOST_ROWS]
    used = summary.features.used
    return Disagreements(
        int(differs.sum()),
        tuple(worst[differs[worst]].tolist()),
        tuple(used[:MOST_FEATURES]),
        max(0, len(used) - MOST_FEATURES),
    )


def write(page):
    """The rows on which rules and ensemble part most."""
    summary = page.summary
    differing, rows = measure(summary), summary.rows
    if not differing.worst:
        return [
            f"<p>Rules and ensemble say the same on all {plural(len(rows), 'row')}.</p>"
        ]
    words = _how_often(differing, summary)
    words += (
        " Values that the answering rule asks about are in bold; a row’s number is its "
        "place among the rows of this report."
    )
    if differing.n_left_out:
        more = plural(differing.n_left_out, "further feature")
        words += f" {more} of the rules would not fit."
    header = ["Row", "Rule", "Rules say", "Ensemble says"]
    header += [name(summary.target)] if rows.y is not None else []
    names = [clamped(summary.rules.axis_names[j]) for j in differing.features]
    return [
        f"<p>{words}</p>",
        table(
            [*header, *names],
            [_cells(i, summary, differing.features) for i in differing.worst],
            "Rows on which rules and ensemble disagree most",
            numeric=range(len(header), len(header) + len(names)),
            kind="wide",
        ),
    ]


def _how_often(differing, summary):
    rows, n_shown = summary.rows, len(differing.worst)
    if not summary.outcome.n_classes:
        distance = rows.mean(np.abs(rows.predicted - rows.answers))
        return (
            f"Rules and ensemble are {amount(distance)} apart on average. These are "
            f"the {n_shown} rows on which they are farthest apart."
        )
    which = f"These are the {n_shown} on which the ensemble is surest."
    if n_shown == differing.n_rows:
        which = "These are all of them, the ensemble’s surest first."
    if differing.n_rows == 1:
        which = "This is the row."
    share = percent(rows.share(rows.predicted != rows.answers))
    return (
        f"Rules and ensemble differ on {count(differing.n_rows)} of "
        f"{plural(len(rows), 'row')} ({share}). {which}"
    )


def _cells(i, summary, features):
    rows, rules = summary.rows, summary.rules
    k = int(rows.answering[i])
    asked = {condition.feature for condition in list(rules)[k].conditions}
    scales = rules.vocabulary.scales
    values = [
        value_text(rows.matrix[i, j], rules.categories[j], scale=scales[j])
        for j in features
    ]
    answers = [rows.predicted, rows.answers, *([] if rows.y is None else [rows.y])]
    says, ensemble, *truth = (
        name(answer_text(column[i], summary.outcome)) for column in answers
    )
    if rows.sureness is not None:
        ensemble = Cell(f"{ensemble} ({percent(rows.sureness[i])} sure)")
    values = value_cells(values, [j in asked for j in features])
    return [count(i + 1), k + 1, says, ensemble, *truth, *values]
