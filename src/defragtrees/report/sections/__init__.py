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

    @property
    def name(self) -> str:
        """Name of its anchor and its template."""
        return self.fill.__name__

    @property
    def is_for_analysts(self) -> bool:
        """Whether it is folded."""
        return self.fill.__module__ == for_analysts.__name__


SECTIONS = (
    Section(for_all.scorecard, "Card", "The card"),
    Section(for_all.rules, "Rules", "The rules"),
    Section(for_all.survival, "Survival", "Survival by rule"),
    Section(for_all.edit, "Change", "Change the rules"),
    Section(for_all.why, "Why", "Why this row?"),
    Section(for_analysts.data, "Data", "Data and model"),
    Section(for_analysts.measures, "Measures", "Measures"),
    Section(for_analysts.calibration, "Calibration", "Estimated and observed"),
    Section(for_analysts.path, "Trade-off", "Fewer or more rules"),
    Section(for_analysts.segments, "Segments", "Where the model fails"),
    Section(for_analysts.groups, "Groups", "Results by group"),
    Section(for_analysts.disagreements, "Disagreement", "Disagreement with the model"),
    Section(for_analysts.stability, "Stability", "Stability under resampling"),
    Section(for_analysts.alternatives, "Alternatives", "Other rules as good as these"),
    Section(for_analysts.settings, "Settings", "Settings and versions"),
)
