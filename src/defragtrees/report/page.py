"""The page: one file with its style, its data and its scripts inside."""

import base64
import hashlib
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib import resources
from string import Template
from typing import Any

from defragtrees._utils.formatting import plural
from defragtrees._utils.optional import require
from defragtrees.errors import MissingPackageError
from defragtrees.plots.picture import MISSING_AT, Picture
from defragtrees.report import sections
from defragtrees.report.markup import breakable, name, script_json, text
from defragtrees.report.sections.question import tiles
from defragtrees.report.still import can_draw, draw_svg
from defragtrees.report.summary import Summary
from defragtrees.report.verdict import verdict
from defragtrees.report.wording import visible

__all__ = ["Page", "make_page"]

# Each of the two is one function, so that nothing of theirs is seen outside.
LIVE = ("look.js", "legend.js", "marks.js", "page.js")
EDIT = ("edit_numbers.js", "edit_rules.js", "edit_changes.js", "edit_panel.js")
STILL = (
    "The pictures of this report stand still: it was written without plotly. "
    "With pip install 'defragtrees[report]' a rule’s rows can be highlighted."
)
NO_PICTURES = (
    "This report was written without matplotlib and plotly, so it has no pictures "
    "but the small ones at conditions. "
    "pip install 'defragtrees[report,plot]' brings them."
)
NO_SCRIPTS = (
    "Scripts are off: everything can be read, but rules cannot be chosen in the "
    "pictures."
)


@dataclass(eq=False)
class Page:
    """What a section is written on.

    Parameters
    ----------
    summary : Summary
    is_live : bool
        Whether scripts draw pictures.
    is_drawn : bool
        Whether there are pictures for readers without scripts.
    """

    summary: Summary
    is_live: bool
    is_drawn: bool
    pictures: dict[str, Picture] = field(default_factory=dict)
    edit: dict[str, Any] | None = None  # what the edit mode works on

    @property
    def has_pictures(self):
        """Whether there is anything to look at."""
        return self.is_live or self.is_drawn

    def figure(self, name, picture, label, caption):
        """A picture that reads without scripts, and the place for the live one.

        Parameters
        ----------
        name : str
            That no other picture of the page has.
        picture : Picture
        label : str
            What the picture shows, for those who do not see it.
        caption : str
            HTML.
        """
        if not self.has_pictures:
            return ""
        picture = visible(picture)
        still, live, kind = "", "", "picture"
        if self.is_drawn:
            svg = draw_svg(name, picture, visible(self.summary.table))
            still, kind = f'<div class="static">{svg}</div>', "picture has-static"
        if self.is_live:
            self.pictures[name] = picture
            # As high as the picture, so that the page does not jump.
            live = (
                f'<div class="live" id="plot-{name}" role="img" '
                f'aria-label="{text(label)}" style="min-height:{picture.height}px">'
                "</div>"
            )
        return (
            f'<figure class="{kind}">{still}{live}<figcaption>{caption}</figcaption>'
            "</figure>"
        )

    def data(self):
        """What the scripts draw, as a block of JSON."""
        data = {
            "rows": visible(asdict(self.summary.table)),
            "pictures": {name: p.to_dict() for name, p in self.pictures.items()},
            "missing_at": MISSING_AT,
            "target": visible(self.summary.target),
            "edit": self.edit,
        }
        kind = 'type="application/json" id="report-data"'
        return f"<script {kind}>{script_json(data)}</script>"


def make_page(summary):
    """The complete page as text.

    Parameters
    ----------
    summary : Summary
    """
    library = _plotting_library()
    page = Page(summary, library is not None, can_draw())
    written = [(section, section.html(page)) for section in sections.SECTIONS]
    written = [(section, html) for section, html in written if html]
    scripts = [library, _live_script()] if page.is_live else []
    return Template(_template("page.html")).substitute(
        title=text(summary.title),
        heading=breakable(summary.title),
        policy=_policy(scripts),
        style=_template("report.css"),
        lede=_lede(summary),
        verdict=_verdict(summary),
        tiles=tiles(summary),
        navigation="".join(section.navigation_entry for section, _ in written),
        note=_note(page),
        sections="\n".join(html for _, html in written),
        written=date.today().isoformat(),
        data=page.data() if page.is_live else "",
        scripts="".join(f"<script>{script}</script>\n" for script in scripts),
    )


def _template(file):
    folder = resources.files("defragtrees.report") / "templates"
    return (folder / file).read_text(encoding="utf-8")


def _live_script():
    parts = ("\n".join(map(_template, files)) for files in (LIVE, EDIT))
    return "".join(f'(() => {{\n"use strict";\n{part}}})();\n' for part in parts)


def _plotting_library():
    """Plotly's script, or None if it is not installed."""
    try:
        return require("plotly.offline", "A live report").get_plotlyjs()
    except MissingPackageError:
        return None


def _policy(scripts):
    """Nothing may be fetched, and no script may run but these."""
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed or chr(39) + 'none' + chr(39)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(script):
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _lede(summary):
    ensemble = summary.ensemble
    who = f"do the {plural(ensemble.n_trees, 'tree')} of {name(ensemble.name)}"
    if ensemble.origin:
        who = f"does {name(ensemble.name)}"
    return (
        f"What {who} say, in "
        f"{plural(summary.rules.n_rules, 'rule')} that a person can read?"
    )


def _verdict(summary):
    """What the rules are worth, above everything else."""
    return f'<p class="verdict">{" ".join(verdict(summary))}</p>'


def _note(page):
    if page.is_live:
        return f'<noscript><p class="note">{NO_SCRIPTS}</p></noscript>'
    return f'<p class="note">{text(STILL if page.is_drawn else NO_PICTURES)}</p>'
