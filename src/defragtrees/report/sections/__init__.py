"""The sections of a report: one module and one line in `SECTIONS` each.

A module measures what it shows and has a function `write(page)`, which gives the pieces
of HTML of the section; no piece means no section. `page.summary` knows rules, rows and
answers, and `page.figure` takes a picture and has it drawn, with scripts and without.
The page and its navigation follow from the table.
"""

from dataclasses import dataclass
from importlib import import_module

from defragtrees.report.markup import name, text

__all__ = ["SECTIONS", "Section"]


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Parameters
    ----------
    name : str
        Its place, which links point to.
    link : str
        The word in the navigation.
    title : str
        May have `{target}` in it, which stands for what y is called.
    module : str
        Where its `write` is; a name in this package begins with a dot.
    """

    name: str
    link: str
    title: str
    module: str

    @property
    def navigation_entry(self):
        """The link to it."""
        return f'<li><a href="#{self.name}">{text(self.link)}</a></li>'

    def html(self, page):
        """The section with its heading; empty if there is nothing to show."""
        write = import_module(self.module, __name__).write
        pieces = [piece for piece in write(page) if piece]
        if not pieces:
            return ""
        heading = f"{self.name}-heading"
        title = text(self.title).replace("{target}", name(page.summary.target))
        inside = "\n".join(pieces)
        return (
            f'<section id="{self.name}" aria-labelledby="{heading}">\n'
            f'<h2 id="{heading}">{title}</h2>\n{inside}\n</section>'
        )


SECTIONS = (
    Section("question", "Question", "The question", ".question"),
    Section("rules", "Rules", "The rules", ".rules"),
    Section("edit", "Edit", "Argue with the rules", ".edit"),
    Section("totals", "Totals", "From points to answers", ".totals"),
    Section("measures", "Measures", "How good against {target}", ".measures"),
    Section("costs", "Costs", "What mistakes cost", ".costs"),
    Section("groups", "Groups", "Group by group", ".groups"),
    Section("calibration", "Calibration", "Told and observed", ".calibration"),
    Section("path", "Trade-off", "More rules or fewer", ".path"),
    Section("comparison", "Methods", "Other methods", ".comparison"),
    Section("closeness", "Closeness", "How close to the ensemble", ".closeness"),
    Section("disagreements", "Disagreement", "Where they disagree", ".disagreement"),
    Section("rows", "Rows", "The rows, feature by feature", ".rows"),
    Section("maps", "Maps", "Maps of two features", ".maps"),
    Section("features", "Features", "Which features count", ".features"),
    Section("stability", "Stability", "What came back", ".stability"),
    Section("overlap", "Overlap", "Coverage and overlap", ".overlap"),
    Section("settings", "Settings", "Settings and how to reproduce", ".settings"),
)
