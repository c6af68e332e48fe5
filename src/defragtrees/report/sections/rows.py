"""The rows as lines and as maps."""

from defragtrees.report.markup import (
    Cell,
    clamped,
    figure,
    name,
    section,
    table,
)
from defragtrees.report.wording import count, plural

__all__ = ["map_section", "rows_section"]


def rows_section(summary, pictures):
    """All rows as lines over the features that the rules use, and typical values."""
    plot = summary["plot"]
    if not plot["shown"]:
        return section("rows", "The rows", "<p>There is no feature to draw.</p>")
    label = (
        "Parallel coordinates: one line for each row, over the features of the rules"
    )
    return section(
        "rows",
        "The rows, one line each" if pictures else "The rows",
        "<p>Where lines of one colour run together, the answer follows from those "
        "features.</p>"
        if pictures
        else "",
        _chips(summary, "chip", "Highlight the rows of") if pictures.is_live else "",
        _scales("rows") if pictures.is_live else "",
        figure("rows", label, _caption(plot), pictures, 110 + 56 * plot["shown"]),
        _typical(summary["typical"]),
    )


def _caption(plot):
    n_drawn = len(plot["rows"]["number"])
    drawn = (
        f"All {plural(n_drawn, 'row')} are drawn"
        if n_drawn == plot["n_rows"]
        else f"{count(n_drawn)} of {plural(plot['n_rows'], 'row')}, drawn by chance, "
        "are shown"
    )
    left_out = (
        f" The {plot['shown']} features used most are drawn; "
        f"{plot['n_used_left_out']} more are not."
        if plot["n_used_left_out"]
        else ""
    )
    return (
        f"{drawn}, one line each, from feature to feature. By order, rows stand side "
        "by side from the smallest value to the largest; a thick stretch is one value "
        "that many rows share, and a stretch that a rule asks for is as wide as its "
        f"share of rows.{left_out}"
    )


def _typical(found):
    """The rows of each rule in words, also for those who see no picture."""
    rows = [
        [
            f"Rule {row['number']}",
            count(row["n_rows"]),
            *(
                Cell(f"<b>{name(value)}</b>") if is_asked else name(value)
                for value, is_asked in zip(row["values"], row["asked"], strict=True)
            ),
        ]
        for row in found["rows"]
    ]
    return table(
        ["Rule", "Rows", *(clamped(feature) for feature in found["features"])],
        rows,
        "A typical row of each rule: the median or commonest value, in bold where the "
        "rule asks about the feature",
        numeric=range(1, 2 + len(found["features"])),
        kind="wide bars",
    )


def _chips(summary, group, legend):
    """Small radio buttons, one for each rule; the cards' choice is the same one."""
    items = [("0", "all rules", "All rules")]
    items += [
        (str(card["number"]), str(card["number"]), f"Rule {card['number']}")
        for card in summary["rules"]
    ]
    parts = "".join(
        f'<span class="chip"><input type="radio" name="{group}" id="{group}-{value}" '
        f'value="{value}" aria-label="{label}"{" checked" if value == "0" else ""}>'
        f'<label for="{group}-{value}" aria-hidden="true">{shown}</label></span>'
        for value, shown, label in items
    )
    return (
        f'<fieldset class="chips live-only"><legend>{legend}</legend>{parts}</fieldset>'
    )


def _scales(picture):
    parts = "".join(
        f'<span class="chip"><input type="radio" name="scale-{picture}" '
        f'id="scale-{picture}-{value}" value="{value}" data-scale="{picture}"'
        f"{' checked' if value == 'order' else ''}>"
        f'<label for="scale-{picture}-{value}">{label}</label></span>'
        for value, label in (("order", "by order"), ("value", "by value"))
    )
    return f'<fieldset class="chips live-only"><legend>Axes</legend>{parts}</fieldset>'


def map_section(summary, pictures):
    """Two features at a time: the rows, and what the rules ask of these two."""
    plot = summary["plot"]
    if not (plot["maps"] and pictures):
        needs = "two features" if pictures else "matplotlib or plotly"
        words = f"<p>A map needs {needs}.</p>"
        return section("maps", "Maps of two features", words)
    explained = _explanation(summary)
    figures = []
    for number, pair in enumerate(plot["maps"]):
        across, up = (plot["axes"][pair[side]]["name"] for side in ("x", "y"))
        label = (
            f"Map of {across} and {up}: rows by the ensemble’s answer, and the "
            "rectangles of the rules"
        )
        caption = f"<b>{name(up)}</b> over <b>{name(across)}</b>. {explained}"
        figures.append(figure(f"map-{number}", label, caption, pictures, 460))
    is_live = pictures.is_live
    return section(
        "maps",
        "Maps of two features",
        _chips(summary, "map-chip", "Highlight the rows of") if is_live else "",
        _scales("maps") if is_live else "",
        *figures,
    )


def _explanation(summary):
    """How to read a map."""
    cross = (
        " A cross is a row on which the rules say something else."
        if summary["task"] == "classification"
        else ""
    )
    maps = summary["plot"]["maps"]
    filled = (
        " In a filled one every row gets the rule’s answer."
        if any(box["is_filled"] for pair in maps for box in pair["boxes"])
        else ""
    )
    return (
        "Dots are rows, coloured by what the ensemble says; by order, equal values are "
        f"spread over their stretch.{cross} Rectangles are what a rule asks of these "
        "two features; dashed ones ask about others too, so not every row inside is "
        f"theirs.{filled}"
    )
