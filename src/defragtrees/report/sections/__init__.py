"""Sections of a report: each is a function, a template and an entry of `SECTIONS`.

The function takes the Page and returns the context of `templates/<name>.html.j2`, or
None to leave the section out. Everything is measured in `report.summary`; `page.draw`
draws a Picture, with and without scripts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from defragtrees.report.sections import (
    alternatives,
    interactive,
    measures,
    overview,
    rows,
    rules,
)


@dataclass(frozen=True)
class Section:
    """One section of the page; the navigation follows from these."""

    name: str  # of its anchor and its template
    link: str  # its label in the navigation
    title: str
    fill: Callable[[Any], dict[str, Any] | None]


SECTIONS = (
    Section("question", "Data", "Model and data", overview.question),
    Section("rules", "Rules", "The rules", rules.rules),
    Section("decide", "Decide", "Choose a threshold", interactive.decide),
    Section("edit", "Edit", "Edit the rules", interactive.edit),
    Section("why", "Why", "Why this row?", interactive.why),
    Section("totals", "Totals", "From points to predictions", rules.totals),
    Section("measures", "Measures", "Performance", measures.measures),
    Section("costs", "Costs", "Cost of mistakes", measures.costs),
    Section("groups", "Groups", "Results by group", measures.groups),
    Section(
        "calibration",
        "Calibration",
        "Estimated and observed rates",
        measures.calibration,
    ),
    Section("path", "Trade-off", "Error by number of rules", alternatives.path),
    Section(
        "comparison",
        "Methods",
        "Comparison with other methods",
        alternatives.comparison,
    ),
    Section(
        "closeness", "Agreement", "Agreement with the ensemble", measures.closeness
    ),
    Section(
        "disagreements",
        "Disagreement",
        "Rows on which rules and ensemble disagree",
        rows.disagreements,
    ),
    Section("rows", "Rows", "Typical rows of each rule", rows.typical_rows),
    Section("features", "Features", "Features used", rows.features),
    Section(
        "stability", "Stability", "Stability under resampling", alternatives.stability
    ),
    Section("overlap", "Overlap", "Coverage and overlap", rows.overlap),
    Section("settings", "Settings", "Settings and reproduction", overview.settings),
)
