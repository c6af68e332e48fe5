"""Two features at a time: the rows, and what the rules ask of these two."""

from defragtrees.plots.picture import (
    MISSING_AT,
    SCALES,
    Axis,
    Picture,
    RowDots,
    RuleBoxes,
)
from defragtrees.report.boxes import map_boxes
from defragtrees.report.markup import choices, name
from defragtrees.report.positions import positions_of

__all__ = ["describe", "write"]


def write(page):
    """One map for each pair of features."""
    summary = page.summary
    if not (summary.pairs and page.has_pictures):
        needs = "two features" if page.has_pictures else "matplotlib or plotly"
        return [f"<p>A map needs {needs}.</p>"]
    pictures = [describe(summary, pair) for pair in summary.pairs]
    explained = _explanation(summary, pictures)
    pieces = [choices("map-chip", "maps", len(summary.cards)) if page.is_live else ""]
    for number, picture in enumerate(pictures):
        across, up = picture.x.title, picture.y.title
        label = (
            f"Map of {across} and {up}: rows by the ensemble’s answer, and the "
            "rectangles of the rules"
        )
        caption = f"<b>{name(up)}</b> over <b>{name(across)}</b>. {explained}"
        pieces.append(page.figure(f"map-{number}", picture, label, caption))
    return pieces


def describe(summary, pair):
    """The map of two features."""
    positions = [positions_of(summary, j) for j in pair]
    axes = [place.axis(is_spread=True) for place in positions]
    boxes = map_boxes(summary.rules, pair, positions)
    return Picture(
        *(_side(axis) for axis in axes),
        (RuleBoxes(boxes), RowDots(*axes)),
        height=500,
        legend="the ensemble says",
        scale="maps",
    )


def _side(axis):
    """The side of a map, with a place for missing values where there are any."""
    missing = [(MISSING_AT, "missing")] if axis.has_missing else []
    low = MISSING_AT - 0.04 if axis.has_missing else -0.03
    ticks = {scale: [*missing, *axis.labels[scale]] for scale in SCALES}
    return Axis(axis.name, limits=(low, 1.03), ticks=ticks)


def _explanation(summary, pictures):
    """How to read a map."""
    cross = (
        " A cross is a row on which the rules say something else."
        if summary.table.agrees is not None
        else ""
    )
    filled = (
        " In a filled one every row gets the rule’s answer."
        if any(box.is_filled for picture in pictures for box in picture.marks[0].boxes)
        else ""
    )
    return (
        "Dots are rows, coloured by what the ensemble says; by order, equal values are "
        f"spread over their stretch.{cross} Rectangles are what a rule asks of these "
        "two features; dashed ones ask about others too, so not every row inside is "
        f"theirs.{filled}"
    )
