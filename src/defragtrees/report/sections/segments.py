"""The section on segments, and what a page of segments alone needs."""

from defragtrees.report.names import condition_parts
from defragtrees.report.text import (
    Html,
    Table,
    breakable,
    escaped,
    isolated,
    name,
    sentence,
)
from defragtrees.segments import Segments


def segments(page):
    """One table per group of segments."""
    found = page.summary.segments
    return None if found is None else {"groups": segment_groups(found)}


def segment_groups(found):
    """Heading, table and note of each group; without segments a note only."""
    if isinstance(found, Segments):
        return [_group(f"Where the {found.loss_name} is {found.direction}:", found)]
    return [_group(found.headings[key], one) for key, one in found.items()]


def _group(heading, found):
    heading, _, about = heading.removesuffix(":").partition(" (")
    note = f"{sentence(about.removesuffix(')'))}. " * bool(about) + found._note()
    if not len(found):
        return {"heading": heading, "table": None, "note": note}
    header, rows = found._cells()
    rows = [
        [number, _conditions(segment, found.rules), *figures]
        for segment, (number, _, *figures) in zip(found, rows, strict=True)
    ]
    table = Table(
        [name(one) for one in header],
        rows,
        heading,
        numeric=range(2, len(header)),
        kind="segments",
    )
    return {"heading": heading, "table": table, "note": note}


def _conditions(segment, rules):
    """The conditions as HTML, one per line."""
    lines = []
    for condition in segment.conditions:
        before, feature, after = condition_parts(rules, condition)
        lines.append(f"{escaped(before)}{breakable(feature)}{isolated(after)}")
    return Html("<br>and ".join(lines))
