"""Sections of a report: each is a function, a template and an entry of `SECTIONS`.

The function takes the Page and returns the context of `templates/<name>.html.j2`, or
None to leave the section out. Everything is measured in `report.summary`; `page.draw`
draws a Picture.
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
    segments,
)


@dataclass(frozen=True)
class Section:
    """One section of the page; the menus follow from these."""

    name: str  # of its anchor and its template
    link: str  # its label in the menu
    title: str
    fill: Callable[[Any], dict[str, Any] | None]
    is_for_analysts: bool = False  # then it is folded


SECTIONS = (
    Section("rules", "Rules", "The rules", rules.rules),
    Section("scorecard", "Card", "The card on paper", rules.scorecard),
    Section("decide", "Decide", "Choose a threshold", interactive.decide),
    Section("edit", "Edit", "Edit the rules", interactive.edit),
    Section("why", "Why", "Why this row?", interactive.why),
    Section("data", "Data", "Data and model", overview.data, True),
    Section("measures", "Measures", "Measures", measures.measures, True),
    Section(
        "calibration",
        "Calibration",
        "Estimated and observed",
        measures.calibration,
        True,
    ),
    Section("path", "Trade-off", "Fewer or more rules", alternatives.path, True),
    Section("costs", "Costs", "Cost of mistakes", measures.costs, True),
    Section("segments", "Segments", "Where the model fails", segments.segments, True),
    Section("groups", "Groups", "Results by group", measures.groups, True),
    Section(
        "comparison",
        "Methods",
        "Comparison with other methods",
        alternatives.comparison,
        True,
    ),
    Section(
        "disagreements",
        "Disagreement",
        "Rows on which rules and model disagree",
        rows.disagreements,
        True,
    ),
    Section(
        "stability",
        "Stability",
        "Stability under resampling",
        alternatives.stability,
        True,
    ),
    Section("features", "Features", "Features", rows.features, True),
    Section("settings", "Settings", "Settings and versions", overview.settings, True),
)
