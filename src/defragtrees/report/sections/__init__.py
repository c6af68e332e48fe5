"""Sections of a report: each is a function, a template and an entry of `SECTIONS`.

The function takes the Page and returns the context of `templates/<name>.html.j2`, or
None to leave the section out. Everything is measured in `report.summary`; `page.draw`
draws a Picture.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from defragtrees.report.sections import alternatives, data, interactive, measures, rules


@dataclass(frozen=True)
class Section:
    """One section of the page; the menus follow from these."""

    name: str  # of its anchor and its template
    link: str  # its label in the menu
    title: str
    fill: Callable[[Any], dict[str, Any] | None]
    is_for_analysts: bool = False  # then it is folded


FOR_ALL = (
    ("rules", "Rules", "The rules", rules.rules),
    ("scorecard", "Card", "The card on paper", rules.scorecard),
    ("decide", "Decide", "Choose a threshold", interactive.decide),
    ("edit", "Edit", "Edit the rules", interactive.edit),
    ("why", "Why", "Why this row?", interactive.why),
)
FOR_ANALYSTS = (
    ("data", "Data", "Data and model", data.data),
    ("measures", "Measures", "Measures", measures.measures),
    ("calibration", "Calibration", "Estimated and observed", measures.calibration),
    ("path", "Trade-off", "Fewer or more rules", alternatives.path),
    ("costs", "Costs", "Cost of mistakes", measures.costs),
    ("segments", "Segments", "Where the model fails", measures.segments),
    ("groups", "Groups", "Results by group", measures.groups),
    ("comparison", "Methods", "Comparison with other methods", alternatives.comparison),
    (
        "disagreements",
        "Disagreement",
        "Disagreement with the model",
        data.disagreements,
    ),
    ("stability", "Stability", "Stability under resampling", alternatives.stability),
    ("features", "Features", "Features", data.features),
    ("settings", "Settings", "Settings and versions", data.settings),
)
SECTIONS = (
    *(Section(*line) for line in FOR_ALL),
    *(Section(*line, is_for_analysts=True) for line in FOR_ANALYSTS),
)
