"""Sections of a report: each is a function, a template and an entry of `SECTIONS`.

The function takes the Page and returns the context of `templates/<name>.html.j2`, or
None to leave the section out. Everything is measured in `report.summary`; `page.draw`
draws a Picture.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from defragtrees.report.sections import for_all, for_analysts


@dataclass(frozen=True)
class Section:
    """One section of the page; the menus follow from these."""

    fill: Callable[[Any], dict[str, Any] | None]
    link: str  # its label in the menu
    title: str
    is_for_analysts: bool = False  # then it is folded

    @property
    def name(self) -> str:
        """Name of its anchor and its template."""
        return self.fill.__name__


FOR_ALL = (
    (for_all.scorecard, "Card", "The card"),
    (for_all.rules, "Rules", "The rules"),
    (for_all.survival, "Survival", "Survival by rule"),
    (for_all.edit, "Change", "Change the rules"),
    (for_all.why, "Why", "Why this row?"),
)
FOR_ANALYSTS = (
    (for_analysts.data, "Data", "Data and model"),
    (for_analysts.measures, "Measures", "Measures"),
    (for_analysts.calibration, "Calibration", "Estimated and observed"),
    (for_analysts.path, "Trade-off", "Fewer or more rules"),
    (for_analysts.segments, "Segments", "Where the model fails"),
    (for_analysts.groups, "Groups", "Results by group"),
    (for_analysts.disagreements, "Disagreement", "Disagreement with the model"),
    (for_analysts.stability, "Stability", "Stability under resampling"),
    (for_analysts.alternatives, "Alternatives", "Other rules as good as these"),
    (for_analysts.features, "Features", "Features"),
    (for_analysts.settings, "Settings", "Settings and versions"),
)
SECTIONS = (
    *(Section(*line) for line in FOR_ALL),
    *(Section(*line, is_for_analysts=True) for line in FOR_ANALYSTS),
)
