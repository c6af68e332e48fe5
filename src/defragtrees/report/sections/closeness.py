"""How close the rules are to the ensemble."""

import numpy as np

from defragtrees.report.markup import Cell, isolated, name, range_bar, table
from defragtrees.report.wording import (
    amount,
    count,
    error_text,
    fidelity_text,
    sentence,
)

__all__ = ["class_pairs", "number_levels", "pairs_table", "write"]

MOST_CLASSES = 12
QUANTILES = (0.1, 0.5, 0.9)
ANSWERING = (
    ("Rules", ""),
    ("Posterior of the mixture", "posterior_"),
    ("Ensemble", "ensemble_"),
)


def write(page):
    """Fidelity and error, and what the ensemble says where the rules say something."""
    summary = page.summary
    outcome, origin = summary.outcome, summary.ensemble.origin
    kind = sentence(outcome.error_name)
    header = ["Answers of", f"{kind}, these rows", "Fidelity, these rows"]
    header += [f"{kind}, training", "Fidelity, training"]
    return [
        f"<p>Fidelity is {outcome.fidelity_meaning}; error is {outcome.error_meaning}. "
        "“Training” are the rows that the rules were found on.</p>"
        + (f"<p>{isolated(origin)}</p>" if origin else ""),
        table(header, _scores(summary), "Error and fidelity", numeric=(1, 2, 3, 4)),
        _answers_table(summary) if outcome.n_classes else _levels_table(summary),
    ]


def _scores(summary):
    """One line for the rules, what is behind them, and the ensemble."""
    lines = []
    for label, prefix in ANSWERING:
        cells = []
        for scores in (summary.scores, summary.simplifier.training_):
            error = scores.get(f"{prefix}error")
            fidelity = scores.get(f"{prefix}fidelity")
            cells.append("–" if error is None else error_text(error, summary.outcome))
            cells.append("–" if fidelity is None else fidelity_text(fidelity))
        if any(cell != "–" for cell in cells):
            lines.append([label, *cells])
    return lines


def class_pairs(classes, down, across):
    """Classes that anybody says, and counts of rows by both.

    Parameters
    ----------
    classes : tuple
    down, across : arrays of shape (n_samples,)
        Classes by two of rules, ensemble and y.
    """
    seen = [
        label for label in classes if (down == label).any() or (across == label).any()
    ]
    counts = [
        [int(((down == one) & (across == two)).sum()) for two in seen] for one in seen
    ]
    return seen, counts


def pairs_table(rows, down, across, first, second, caption):
    """How often one says a class and the other another.

    Parameters
    ----------
    rows : AnsweredRows
    down, across : arrays of shape (n_samples,)
        As in `class_pairs`.
    first, second : str
        Who says them.
    caption : str
    """
    write = rows.rules.outcome.answer_text
    labels, counts = class_pairs(rows.rules.classes, down, across)
    if len(labels) > MOST_CLASSES:
        return f"<p>There are {len(labels)} classes, too many for a table.</p>"
    lines = [
        [
            name(write(label)),
            *(
                Cell(f'<span class="{"same" if i == j else "other"}">{count(n)}</span>')
                for j, n in enumerate(line)
            ),
        ]
        for i, (label, line) in enumerate(zip(labels, counts, strict=True))
    ]
    return table(
        [first, *(Cell(f"{second}: {name(write(label))}") for label in labels)],
        lines,
        caption,
        numeric=range(1, len(labels) + 1),
        kind="pairs",
    )


def _answers_table(summary):
    """How often the rules say one class and the ensemble another."""
    rows = summary.rows
    title = "Rows by what the rules say and what the ensemble says"
    both = rows.predicted, rows.answers
    return pairs_table(rows, *both, "Rules say", "ensemble", title)


def number_levels(rows):
    """Quantiles of what the ensemble says on the rows of each rule that has any."""
    return {
        k: np.quantile(rows.answers[members], QUANTILES).tolist()
        for k, members in enumerate(rows.members.T)
        if members.any()
    }


def _levels_table(summary):
    """What the ensemble says on the rows of each rule."""
    answers = summary.rows.answers
    ends = answers.min(), answers.max()
    lines = []
    for k, levels in number_levels(summary.rows).items():
        card = summary.cards[k]
        line = [f"Rule {card.number}", name(card.then), count(card.n_rows)]
        lines.append([*line, _range(levels, ends), *map(amount, levels)])
    return table(
        ["Rule", "Says", "Rows", "Ensemble’s answers", "10 %", "Median", "90 %"],
        lines,
        "What the ensemble says on the rows of each rule: the middle 80 %",
        numeric=(1, 2, 4, 5, 6),
        kind="bars",
    )


def _range(quantiles, ends):
    """A cell with a stretch from the first to the last quantile, and the median."""
    width = (ends[1] - ends[0]) or 1.0
    return range_bar(*((q - ends[0]) / width for q in quantiles))
