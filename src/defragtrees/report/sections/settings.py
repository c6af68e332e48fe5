"""Settings, versions, and how to make the same again."""

from defragtrees.report.ensemble import read_settings, versions
from defragtrees.report.text import Table


def settings(page):
    """Code and command, settings, versions, and the rules as text."""
    summary = page.summary
    own = read_settings(summary.simplifier)
    changed = [f"{one.name}={one.value}" for one in own if not one.is_default]
    # Of the ensemble's those are left out that are None by default: they are many.
    theirs = [
        one
        for one in read_settings(summary.ensemble.fitted)
        if not (one.is_default and one.value == "None")
    ]
    return {
        "method": type(summary.simplifier).__name__,
        "call": ", ".join(["ensemble", *changed]),
        "own": own,
        "theirs": theirs,
        "versions": Table(
            ["Package", "Version"],
            list(versions(summary.ensemble).items()),
            "Versions",
            kind="narrow",
            is_quiet=True,
        ),
    }
