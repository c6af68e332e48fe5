"""The page from a summary: one file with its style, its data and its scripts inside."""

import base64
import hashlib
from importlib import resources
from string import Template

from defragtrees._optional import require
from defragtrees.errors import MissingPackageError
from defragtrees.report.markup import Pictures, breakable, name, script_json, text
from defragtrees.report.pictures import draw_pictures
from defragtrees.report.sections.closeness import (
    closeness_section,
    disagreement_section,
)
from defragtrees.report.sections.features import feature_section, overlap_section
from defragtrees.report.sections.question import question_section, tiles
from defragtrees.report.sections.rows import map_section, rows_section
from defragtrees.report.sections.rules import rules_section
from defragtrees.report.sections.settings import reproduction_section
from defragtrees.report.sections.trade_off import comparison_section, path_section
from defragtrees.report.wording import plural, visible

__all__ = ["make_page"]

NAVIGATION = (
    ("question", "Question"),
    ("rules", "Rules"),
    ("path", "Trade-off"),
    ("comparison", "Methods"),
    ("closeness", "Closeness"),
    ("disagreements", "Disagreement"),
    ("rows", "Rows"),
    ("maps", "Maps"),
    ("features", "Features"),
    ("overlap", "Overlap"),
    ("settings", "Settings"),
)
# Together they are one function, so that nothing of theirs is seen outside.
LIVE = ("look.js", "rows.js", "maps.js", "errors.js", "page.js")
STILL = (
    "The pictures of this report stand still: it was written without plotly. "
    "With pip install 'defragtrees[report]' a rule’s rows can be highlighted."
)
NO_PICTURES = (
    "This report was written without matplotlib and plotly, so it has no pictures. "
    "pip install 'defragtrees[report,plot]' brings them."
)
NO_SCRIPTS = (
    "Scripts are off: everything can be read, but rules cannot be chosen in the "
    "pictures."
)


def make_page(summary):
    """The whole page as text.

    Parameters
    ----------
    summary : dict
        What `summarize` gave.
    """
    summary = visible(summary)
    library = _plotting_library()
    is_live = library is not None
    pictures = Pictures(draw_pictures(summary), is_live)
    parts = [
        question_section(summary),
        rules_section(summary, is_live),
        path_section(summary, pictures),
        comparison_section(summary, pictures),
        closeness_section(summary),
        disagreement_section(summary),
        rows_section(summary, pictures),
        map_section(summary, pictures),
        feature_section(summary),
        overlap_section(summary),
        reproduction_section(summary),
    ]
    scripts = [library, _live_script()] if is_live else []
    return Template(_template("page.html")).substitute(
        title=text(summary["title"]),
        heading=breakable(summary["title"]),
        policy=_policy(scripts),
        style=_template("report.css"),
        lede=_lede(summary),
        tiles=tiles(summary),
        navigation=_navigation(summary),
        note=_note(pictures),
        sections="\n".join(part for part in parts if part),
        written=text(summary["written"]),
        data=_data(summary) if is_live else "",
        scripts="".join(f"<script>{script}</script>\n" for script in scripts),
    )


def _template(file):
    folder = resources.files("defragtrees.report") / "templates"
    return (folder / file).read_text(encoding="utf-8")


def _live_script():
    parts = "\n".join(_template(file) for file in LIVE)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


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
    asked = summary["question"]
    return (
        f"What do the {plural(asked['n_trees'], 'tree')} of "
        f"{name(asked['ensemble'])} say, in {plural(asked['n_rules'], 'rule')} "
        "that a person can read?"
    )


def _navigation(summary):
    absent = {part for part in ("path", "comparison") if not summary[part]}
    return "".join(
        f'<li><a href="#{place}">{label}</a></li>'
        for place, label in NAVIGATION
        if place not in absent
    )


def _note(pictures):
    if pictures.is_live:
        return f'<noscript><p class="note">{NO_SCRIPTS}</p></noscript>'
    return f'<p class="note">{text(STILL if pictures else NO_PICTURES)}</p>'


def _data(summary):
    """What the scripts draw, as a block of JSON."""
    data = {
        "task": summary["task"],
        "decision": summary["decision"],
        "plot": summary["plot"],
        "path": summary["path"],
        "comparison": summary["comparison"],
        "answers": [card["then"] for card in summary["rules"]],
    }
    return (
        f'<script type="application/json" id="report-data">{script_json(data)}</script>'
    )
