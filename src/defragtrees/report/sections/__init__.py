"""The sections of a report: a function, a template and a line in `SECTIONS` each.

The function takes the Page, and gives what `templates/<name>.html.j2` shows beside the
Summary, or None if there is nothing to show. Everything is measured in
`report.summary`; `page.draw` has a Picture drawn, with scripts and without.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from defragtrees.report.sections import alternatives, measures, overview, rows, rules


@dataclass(frozen=True)
class Section:
    """One section of the page; the navigation follows from these."""

    name: str  # of its place, which links point to, and of its template
    link: str  # the word in the navigation
    title: str
    fill: Callable[[Any], dict[str, Any] | None]
    is_about_target: bool = False  # whether its title ends with what y is called


SECTIONS = (
    Section("question", "Question", "The question", overview.question),
    Section("rules", "Rules", "The rules", rules.rules),
    Section("edit", "Edit", "Argue with the rules", rules.edit),
    Section("totals", "Totals", "From points to answers", rules.totals),
    Section("measures", "Measures", "How good against", measures.measures, True),
    Section("costs", "Costs", "What mistakes cost", measures.costs),
    Section("groups", "Groups", "Group by group", measures.groups),
    Section("calibration", "Calibration", "Told and observed", measures.calibration),
    Section("path", "Trade-off", "More rules or fewer", alternatives.path),
    Section("comparison", "Methods", "Other methods", alternatives.comparison),
    Section("closeness", "Closeness", "How close to the ensemble", measures.closeness),
    Section("disagreements", "Disagreement", "Where they disagree", rows.disagreements),
    Section("rows", "Rows", "The rows, feature by feature", rows.typical_rows),
    Section("features", "Features", "Which features count", rows.features),
    Section("stability", "Stability", "What came back", alternatives.stability),
    Section("overlap", "Overlap", "Coverage and overlap", rows.overlap),
    Section("settings", "Settings", "Settings and how to reproduce", overview.settings),
)
