"""The rows as lines over the features of the rules."""

from defragtrees._utils.formatting import plural
from defragtrees.plots.picture import Axis, Picture, RowLines, RuleBox, RuleBoxes
from defragtrees.plots.two_features import typical_value
from defragtrees.report.markup import choices, clamped, table, value_cells
from defragtrees.report.positions import positions_of
from defragtrees.report.wording import count, value_text

__all__ = ["describe", "write"]

MOST_AXES = 14
MOST_FEATURES = 8
BAND = 0.16  # half the height of what a rule asks for


def write(page):
    """All rows as lines over the features that the rules use, and typical values."""
    summary = page.summary
    if not summary.features.telling:
        return ["<p>There is no feature to draw.</p>"]
    pieces = []
    if page.has_pictures:
        label = "Parallel coordinates: the rows over the features of the rules"
        pieces = [
            f"<p>{_words(summary)}</p>",
            choices("chip", "rows", len(summary.cards)) if page.is_live else "",
            page.figure("rows", describe(summary), label, _caption(summary)),
        ]
    return [*pieces, _typical_rows(summary)]


def describe(summary):
    """The picture of the rows."""
    shown = summary.features.telling[:MOST_AXES]
    positions = [positions_of(summary, j) for j in shown]
    has_missing = any(place.has_missing for place in positions)
    bands = []
    for k, rule in enumerate(summary.rules):
        for condition in rule.conditions:
            if condition.feature in shown:
                at = shown.index(condition.feature)
                stretches = positions[at].bands(condition)
                sides = {
                    scale: [(*ends, at - BAND, at + BAND) for ends in some]
                    for scale, some in stretches.items()
                }
                bands.append(RuleBox(k, sides))
    return Picture(
        Axis(limits=(-0.21 if has_missing else -0.04, 1.03), is_bare=True),
        Axis(limits=(len(shown) - 0.45, -0.4), is_bare=True),
        (
            RuleBoxes(bands, is_for_chosen=True),
            RowLines([place.axis() for place in positions]),
        ),
        height=90 + 58 * len(shown),
        legend="the rules say",
        scale="rows",
    )


def _has_bands(summary):
    return len(summary.drawn) > RowLines.most_lines


def _words(summary):
    if _has_bands(summary):
        return (
            "A band has the middle half of the rows with one answer, its line their "
            "median. Where bands part, the answer follows from that feature. Choose a "
            "rule to see its rows one by one."
        )
    return (
        "Where lines of one colour run together, the answer follows from those "
        "features."
    )


def _caption(summary):
    n_rows, n_drawn = len(summary.rows), len(summary.drawn)
    drawn = (
        f"All {plural(n_drawn, 'row')} are here"
        if n_drawn == n_rows
        else f"{count(n_drawn)} of {plural(n_rows, 'row')}, drawn by chance, are here"
    )
    each = ", as bands" if _has_bands(summary) else ", one line each"
    n_more = len(summary.features.telling) - MOST_AXES
    left_out = (
        f" The {MOST_AXES} features used most are drawn; {n_more} more are not."
        if n_more > 0
        else ""
    )
    return (
        f"{drawn}{each} from feature to feature. By order, rows stand side "
        "by side from the smallest value to the largest; a thick stretch is one value "
        "that many rows share, and a stretch that a rule asks for is as wide as its "
        f"share of rows.{left_out}"
    )


def _typical_rows(summary):
    """The rows of each rule in words, also for those who see no picture."""
    rules, rows = summary.rules, summary.rows
    shown = summary.features.telling[:MOST_FEATURES]
    lines = []
    for card, rule, members in zip(summary.cards, rules, rows.members.T, strict=True):
        if card.n_rows:
            asked = {condition.feature for condition in rule.conditions}
            values = [
                value_text(
                    typical_value(rows.matrix[members, j], rules.categories[j]),
                    rules.categories[j],
                    4,
                    rules.vocabulary.scales[j],
                )
                for j in shown
            ]
            cells = value_cells(values, [j in asked for j in shown])
            lines.append([f"Rule {card.number}", count(card.n_rows), *cells])
    return table(
        ["Rule", "Rows", *(clamped(rules.axis_names[j]) for j in shown)],
        lines,
        "A typical row of each rule: the median or commonest value, in bold where the "
        "rule asks about the feature",
        numeric=range(1, 2 + len(shown)),
        kind="wide bars",
    )
