"""Small charts beside conditions: the share of a class, or the mean, by value.

All charts of a page have one scale and a dashed line at the share or mean of all rows.
Bars that the condition accepts are coloured, the others grey.
"""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees._utils.formatting import distinct, middle_cut, percent, plural
from defragtrees.report.charts import (
    axis_text,
    nice_ticks,
    svg_text,
    text_at,
    text_width,
)
from defragtrees.report.text import Html, amount, sentence, value_text

WIDTH, SIZE = 220, 10  # of a chart and of its letters, in pixels
# Of numbers: upright bars, as wide as their rows are many.
TOP, HIGH = 4, 40  # above the bars, and height of the largest
FOOT = 11  # height of a line of labels
MOST_BINS = 8
LEAST, EMPTY = 3, 8  # minimum width of a bar, and of a bin without rows
GAP = 6  # between numbers and missing values
# Of categories: one line each, with name, bar and value.
NAME, BAR = 106, 62
LINES = 11
BOLD = 1.12  # width of bold letters by that of others
MOST_LINES = 6  # categories with a line of their own
MOST_CATEGORIES = 100  # with more, those without rows are left out
SMALL = 0.02  # share of the rows below which a bin does not stretch the scale
EXACT = 12  # digits of thresholds and whole numbers
FEW = 10  # rows below which a bar is pale


@dataclass(frozen=True)
class Bin:
    """Rows with some values of a feature."""

    label: str
    n_rows: int
    weight: float
    value: float | None  # share of the class, or mean; None without rows
    is_accepted: bool
    region: int = 0  # of numbers: how many thresholds of the condition lie below


@dataclass(frozen=True)
class Effect:
    """The bins of a condition's feature; missing values are last, if there are any."""

    bins: list[Bin]
    missing: Bin | None
    ends: list[str]  # of numbers: smallest and largest
    cuts: list[tuple[float, str]]  # of numbers: place among the regions, and text
    is_number: bool
    colour: str
    title: str
    means: list[float | None]  # of the rows that match, of the others, of all

    @property
    def all_bins(self):
        """With the bin of missing values."""
        return self.bins + ([self.missing] if self.missing else [])


def condition_charts(summary):
    """SVG of the conditions of each rule, as a list per rule."""
    rows, rules = summary.rows, list(summary.rules)
    effects = [
        [measure(summary, rule, condition) for condition in rule.shown]
        for rule in rules
    ]
    overall = [rows.mean(_values(summary, rule)[0]) for rule in rules]
    least = SMALL * rows.weight.sum()
    bins = [b for some in effects for effect in some for b in effect.all_bins]
    values = [b.value for b in bins if b.value is not None and b.weight >= least]
    scale = Scale(summary.outcome.statistic == "rates", [*values, *overall])
    return [
        [_draw(effect, scale, level) for effect in some]
        for some, level in zip(effects, overall, strict=True)
    ]


def measure(summary, rule, condition):
    """Count the rows and average the values of each bin of a condition's feature."""
    rows, rules = summary.rows, summary.rules
    column = rows.matrix[:, condition.feature]
    values, whose, colour = _values(summary, rule)

    def make_bin(label, mask, is_accepted, region=0):
        mean = rows.mean(values, mask) if mask.any() else None
        weight = float(rows.weight[mask].sum())
        return Bin(label, int(mask.sum()), weight, mean, is_accepted, region)

    is_missing, missing = np.isnan(column), None
    if is_missing.any() or condition.missing:
        missing = make_bin("missing", is_missing, condition.missing)
    is_number = condition.categories is None
    make_bins = _number_bins if is_number else _category_bins
    bins, ends, cuts = make_bins(column, condition, rules, make_bin)
    matches = condition.covers(column)
    means = [rows.mean(values, matches), rows.mean(values, ~matches), rows.mean(values)]
    title = f"{whose} by {rules._vocabulary.names[condition.feature]}"
    return Effect(bins, missing, ends, cuts, is_number, colour, title, means)


def _values(summary, rule):
    """What is averaged over rows, its name, and its colour."""
    rows, outcome = summary.rows, summary.outcome
    if outcome.statistic != "rates":
        whose = "mean prediction" if rows.y is None else summary.mean_text
        return rows.expected, sentence(whose), "accent"
    label = outcome.labels[outcome.rate_index(rule)]
    [colour] = summary.colours.of([label])
    whose = "Predicted rate" if rows.y is None else "Rate"
    whose = f"{whose} of {outcome.view.prediction(label)}"
    return rows.expected == label, whose, colour


def _number_bins(column, condition, rules, make_bin):
    """At most eight bins with about as many rows each, between the thresholds."""
    scale = rules._vocabulary.scales[condition.feature]
    lower, upper = condition.bounds
    borders = sorted({edge for edge in (lower, upper) if math.isfinite(edge)})
    there = np.sort(column[~np.isnan(column)])
    region_of = np.searchsorted(borders, there)
    signs = [sign for sign, _ in condition.sides] if lower < upper else []
    tops = []  # largest value of each bin; of one without rows its border
    for region, border in enumerate([*borders, math.inf]):
        inside = there[region_of == region]
        if not len(inside) and signs == ["="] and region != 1:
            continue  # "is 0" has no values below in a column of counts
        n_more = (MOST_BINS - len(borders) - 1) * len(inside) // max(1, len(there))
        found = _tops(inside, 1 + n_more) if len(inside) else [border]
        tops += [(float(top), region) for top in found]
    code = np.searchsorted([top for top, _ in tops], column)
    bins = []
    for i, (top, region) in enumerate(tops):
        mask = (code == i) & ~np.isnan(column)
        low, high = [-math.inf, *borders, math.inf][region : region + 2]
        ends = [column[mask].min(), top] if mask.any() else []
        texts = dict.fromkeys(_end_text(end, scale) for end in ends)
        is_accepted = lower <= low and high <= upper
        bins.append(make_bin(" to ".join(texts), mask, is_accepted, region))
    ends = [_end_text(end, scale) for end in there[[0, -1]]] if len(there) else []
    cuts = []
    for sign, value in condition.sides if lower < upper else ():
        edge = lower if sign in (">", ">=") else upper
        place = 1.5 if sign == "=" else borders.index(edge) + 1
        cuts.append((place, value_text(value, None, EXACT, scale)))
    return bins, ends, cuts


def _tops(values, n_bins):
    """Largest value of each bin: of every value if there are few, else quantiles."""
    distinct = np.unique(values)
    if len(distinct) <= n_bins:
        return distinct
    steps = np.arange(1, n_bins + 1)
    return np.unique(values[-(-len(values) * steps // n_bins) - 1])


def _end_text(value, scale):
    digits = EXACT if float(value).is_integer() else 4
    return value_text(float(value), None, digits, scale)


def _category_bins(column, condition, rules, make_bin):
    """One bin per category, the accepted and the frequent first; the rest is joined."""
    labels = rules.categories[condition.feature] or ()
    present = np.unique(column[~np.isnan(column)]).astype(int).tolist()
    codes = present
    if len(labels) <= MOST_CATEGORIES:
        codes = sorted({*range(len(labels)), *present})
    scale = rules._vocabulary.scales[condition.feature]
    names = {
        c: str(scale.label(labels[c])) if c < len(labels) else "other values"
        for c in codes
    }
    inside = set(condition.categories)
    bins = {c: make_bin(names[c], column == c, c in inside) for c in codes}
    order = sorted(codes, key=lambda c: (not bins[c].is_accepted, -bins[c].weight))
    accepted = [c for c in order if bins[c].is_accepted]
    others = order[len(accepted) :]
    n_first = min(len(accepted), max(MOST_LINES // 2, MOST_LINES - len(others)))
    lines = []
    for some, n_named in ((accepted, n_first), (others, MOST_LINES - n_first)):
        # A line for one other category would be no shorter than its own.
        n_named += len(some) == n_named + 1
        lines += [bins[c] for c in some[:n_named]]
        if rest := some[n_named:]:
            label = f"{len(rest)} others" if lines else plural(len(rest), "value")
            lines.append(
                make_bin(label, np.isin(column, rest), bins[rest[0]].is_accepted)
            )
    return lines, [], []


class Scale:
    """One scale for several charts: from 0 if that is near, to a round number."""

    def __init__(self, is_share, values):
        self.is_share = is_share
        low, high = min(values), max(values)
        if is_share:
            low, high = 0.0, 1.0 if high > 0.5 else max(high, 0.001)
        elif low == high:
            low, high = min(low, 0.0), max(high, 0.0 if low else 1.0)
        elif 0 <= low <= 0.6 * high:
            low = 0.0
        elif 0.6 * low <= high <= 0:
            high = 0.0
        ticks = nice_ticks(low, high, 6)
        step = ticks[1] - ticks[0]
        self.low = ticks[0] - step * (low < ticks[0])
        self.high = ticks[-1] + step * (high > ticks[-1])
        # Few per cent have decimals.
        self.n_digits = 0 if self.high >= 0.1 else 1 if self.high >= 0.01 else 2
        self.zero = self.share(0.0)

    def share(self, value):
        """Where a value is, from 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def span(self, value, length):
        """Start and length of the bar of a value, in pixels."""
        start, end = sorted((length * self.zero, length * self.share(value)))
        return start, max(1.0, end - start)

    def text(self, value):
        """A value as text."""
        if not self.is_share:
            return amount(value)
        if value in (0.0, 1.0):
            return axis_text(value, is_share=True)
        return percent(value, self.n_digits)


def _draw(effect, scale, overall):
    """The SVG of an effect, which is also told in one sentence."""
    of = "of" if scale.is_share else "for"
    whose = (f"{of} the rows that match", f"{of} the others", f"{of} all")
    pairs = zip(effect.means, whose, strict=True)
    texts = [f"{scale.text(mean)} {who}" for mean, who in pairs if mean is not None]
    label = svg_text(f"{effect.title}: {', '.join(texts)}")
    shapes = _upright if effect.is_number else _lines
    parts, height = shapes(effect, scale, overall)
    return Html(
        f'<svg class="spark" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg>'
    )


def _group(one, scale, shapes):
    """The shapes of a bin with its text on hover."""
    text = "no rows"
    if one.value is not None:
        between = " of " if scale.is_share else ", "
        text = scale.text(one.value) + between + plural(one.n_rows, "row")
    text = f"{one.label}: {text}" if one.label else text
    return f"<g><title>{svg_text(text)}</title>{shapes}</g>"


def _rect(one, colour, x, y, width, height):
    look = f'fill="var(--{colour if one.is_accepted else "faint"})"'
    look += ' class="few"' if one.n_rows < FEW else ""
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {look} x="{x:.1f}" y="{y:.1f}" {size}/>'


def _upright(effect, scale, overall):
    """Bars of a number, as wide as their rows are many, with labelled thresholds."""
    floor = TOP + HIGH
    ends = [axis_text(value, scale.is_share) for value in (scale.high, scale.low)]
    left = max(_width(text) for text in ends) + 4
    parts = [text_at(left - 3, TOP + 6, ends[0], "end")]
    parts += [text_at(left - 3, floor, ends[1], "end")]
    widths, missing = _widths(effect, WIDTH - left)
    starts = [left, *(left + np.cumsum(widths)).tolist()]
    placed = list(zip(effect.bins, starts, widths, strict=False))
    if effect.missing is not None:
        placed.append((effect.missing, WIDTH - missing[0], missing[1]))
    for one, x, width in placed:
        width, shapes, kind = max(width - 1, 2), "", "axis empty"
        if one.value is not None:
            start, height = scale.span(one.value, HIGH)
            kind, top = "axis", floor - start - height
            shapes = _rect(one, effect.colour, x, top, width, height)
        look = f' style="stroke:var(--{effect.colour})"' if one.is_accepted else ""
        line = f"M{x:.1f} {floor + 0.5}h{width:.1f}"
        shapes += f'<path class="{kind}"{look} d="{line}"/>'
        parts.append(_group(one, scale, shapes))
    y = floor - HIGH * scale.share(overall)
    parts.append(f'<path class="level" d="M{left:.1f} {y:.1f}H{WIDTH}"/>')
    # Each region of numbers begins at the threshold that it is numbered by.
    edges = {
        one.region: x for one, x in reversed([*zip(effect.bins, starts, strict=False)])
    }
    edges[effect.bins[-1].region + 1] = starts[-1]
    for x in edges.values():
        if starts[0] < x < starts[-1]:
            parts.append(f'<path class="cut" d="M{x:.1f} {TOP}V{floor + 3}"/>')
    at = [(edges[int(place)] + edges[math.ceil(place)]) / 2 for place, _ in effect.cuts]
    labels = _spread(at, [text for _, text in effect.cuts])
    parts += [_label(box, floor + FOOT, "cut-label") for box in labels]
    others = []
    if effect.ends:
        filled = [i for i, one in enumerate(effect.bins) if one.value is not None]
        at = [starts[filled[0]], starts[filled[-1] + 1]]
        others = _spread(at, effect.ends, (0.0, 1.0))
        shown = {text for _, _, text in labels}
        others = [box for box in others if box[2] not in shown]
    if effect.missing is not None:
        others += _spread([WIDTH - missing[0] / 2], ["missing"])
    # A second line for those that thresholds leave no room.
    is_free = [
        all(start >= right + 5 or left >= end + 5 for left, right, _ in labels)
        for start, end, _ in others
    ]
    for box, on_first in zip(others, is_free, strict=True):
        parts.append(_label(box, floor + (FOOT if on_first else 2 * FOOT)))
    return parts, floor + FOOT * (1 if all(is_free) else 2) + 3


def _widths(effect, room):
    """Widths of the bars of numbers; width of the place and bar of missing values."""
    there = sum(one.weight for one in effect.bins)
    missing = (0.0, 0.0)
    if effect.missing is not None:
        share = effect.missing.weight / (there + effect.missing.weight or 1.0)
        wanted = (room - GAP) * share
        place = min(max(wanted, _width("missing")), 0.6 * room)
        missing = (place, min(max(wanted, LEAST), place))
        room -= place + GAP
    least = [EMPTY if one.value is None else LEAST for one in effect.bins]
    unit = (room - sum(least)) / (there or 1.0)
    bins = zip(effect.bins, least, strict=True)
    return [width + unit * one.weight for one, width in bins], missing


def _spread(places, texts, anchors=(0.5, 0.5)):
    """Boxes of at most two texts near their places: left, right and text.

    An anchor is the part of a text that lies left of its place.
    """
    room = WIDTH / max(1, len(texts)) / BOLD - 4
    texts = [middle_cut(text, room, _width) for text in texts]
    widths = [BOLD * _width(text) for text in texts]
    lefts = [
        min(max(x - part * width, 0.0), WIDTH - width)
        for x, width, part in zip(places, widths, anchors, strict=False)
    ]
    if len(texts) == 2 and (overlap := lefts[0] + widths[0] + 5 - lefts[1]) > 0:
        most = WIDTH - sum(widths) - 5
        lefts[0] = min(max(lefts[0] - overlap / 2, 0.0), most)
        lefts[1] = lefts[0] + widths[0] + 5
    boxes = zip(lefts, widths, texts, strict=True)
    return [(left, left + width, text) for left, width, text in boxes]


def _lines(effect, scale, overall):
    """One line per category: its name, a bar, and its value."""
    start, lines = NAME + 4, effect.all_bins
    height, parts = LINES * len(lines) + 2, []
    names = distinct([one.label for one in lines], NAME / BOLD, _width)
    for i, (one, name) in enumerate(zip(lines, names, strict=True)):
        top, kind = LINES * i + 1, "cut-label" if one.is_accepted else ""
        shapes = text_at(NAME, top + LINES - 2.5, name, "end", kind)
        text = "no rows"
        if one.value is not None:
            x, width = scale.span(one.value, BAR)
            shapes += _rect(one, effect.colour, start + x, top + 1, width, LINES - 2)
            text = scale.text(one.value)
        shapes += text_at(start + BAR + 4, top + LINES - 2.5, text, "start", kind)
        parts.append(_group(one, scale, shapes))
    x = start + BAR * scale.share(overall)
    parts.append(f'<path class="axis" d="M{start} 1V{height - 1}"/>')
    parts.append(f'<path class="level" d="M{x:.1f} 0V{height}"/>')
    return parts, height


def _width(text):
    return text_width(text, SIZE)


def _label(box, y, kind=""):
    return text_at((box[0] + box[1]) / 2, y, box[2], "middle", kind)
