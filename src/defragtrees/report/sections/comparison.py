"""Other methods on the same ensemble."""

import functools

from defragtrees.plots.curves import comparison_picture
from defragtrees.report.markup import Cell, name, table
from defragtrees.report.sections.path import error_axis
from defragtrees.report.wording import (
    error_text,
    fidelity_text,
    percent,
    sentence,
    shown_error_text,
)

__all__ = ["write"]


def write(page):
    """Error against size, method by method."""
    compared, outcome = page.summary.comparison, page.summary.outcome
    if compared is None:
        return []
    rows = compared.rows()
    kind = sentence(outcome.error_name)
    over = (
        "one split into training and test rows"
        if compared.n_splits == 1
        else f"means over {compared.n_splits} splits into training and test rows"
    )
    tell = functools.partial(shown_error_text, outcome=outcome)
    picture = comparison_picture(compared, error_axis(outcome), tell)
    return [
        f"<p>The same ensemble simplified by other methods, {over}. The ensemble’s own "
        f"error there: {error_text(compared.ensemble_error, outcome)}.</p>",
        page.figure(
            "comparison",
            picture,
            "Error against number of rules, by method",
            f"{kind} against number of rules; lower left is better. The dashed line is "
            "the ensemble itself.",
        ),
        table(
            [
                "Method",
                "Rules",
                "Conditions per rule",
                kind,
                "Fidelity",
                "Coverage",
                "Time",
            ],
            [_cells(row, compared.n_splits, outcome) for row in rows],
            "Methods compared",
            numeric=(1, 2, 3, 4, 5, 6),
            kind="bars",
        ),
        *(
            f"<p>{_method(row)} failed: {name(row['failure'])}</p>"
            for row in rows
            if row["failure"] is not None
        ),
    ]


def _method(row):
    budget = row["budget"]
    return Cell(name(row["method"]) + ("" if budget is None else f", at most {budget}"))


def _cells(row, n_splits, outcome):
    if row["failure"] is not None:
        return [_method(row), *["–"] * 5, "failed"]
    deviation = row["error_std"] if n_splits > 1 else None
    error = error_text(row["error"], outcome, deviation)
    return [
        _method(row),
        f"{row['n_rules']:.4g}",
        f"{row['mean_conditions']:.1f}",
        error,
        fidelity_text(row["fidelity"]),
        percent(row["coverage"]),
        f"{row['seconds']:.2f} s",
    ]
