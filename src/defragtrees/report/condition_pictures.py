"""A small picture for each condition: where in a feature's values its cut lies.

It is inline SVG written by hand, so it needs neither matplotlib nor scripts. Bars above
the line are the rows of one class, those below it all others; each side has its own
scale, and heights are roots of shares, so that what is rare can be seen. Of numbers
bars are all rows, coloured by the mean answer. What the condition asks for is shaded.
"""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees.report.colours import number_groups
from defragtrees.report.markup import text
from defragtrees.report.wording import percent, value_text

__all__ = ["condition_picture", "picture_words"]

WIDTH, HALF, FOOT = 190, 19, 13  # in pixels; bars are as high as HALF at most
GAP = 8  # between missing values and the others
MOST_BINS = 24
MOST_NAMES = 4  # categories that are named below their bars
ENDS = (0.01, 0.99)  # what lies beyond these quantiles stands in the last bars


@dataclass(frozen=True, eq=False)
class _Bins:
    """Bars side by side: which rows are in which, and which ones are asked for."""

    code: np.ndarray  # of each row; -1 where the value is missing
    n_bins: int
    labels: list[tuple[float, str]]  # place from 0 to 1, and what stands there
    stretches: list[tuple[float, float]]  # from 0 to 1, what is asked for
    cuts: list[float]


def condition_picture(summary, k, condition):
    """The picture of one condition of rule k, counted from 0, as SVG.

    Parameters
    ----------
    summary : Summary
    k : int
    condition : Condition
    """
    rows, rules = summary.rows, summary.rules
    column = rows.matrix[:, condition.feature]
    bins = (_category_bins if condition.categories is not None else _number_bins)(
        column, condition, rules
    )
    has_missing = bool((bins.code < 0).any()) or condition.missing
    left = WIDTH / 12 + GAP if has_missing else 0.0
    draw = _number_bars if not rules.outcome.n_classes else _class_bars
    parts = [
        *_shades(bins, condition, left, has_missing),
        *draw(summary, k, bins, left, has_missing),
        f'<path class="axis" d="M0 {_base(rules)}H{WIDTH}"/>',
        *(
            f'<path class="cut" d="M{_x(cut, left):.1f} 0V{2 * HALF}"/>'
            for cut in bins.cuts
        ),
        *_labels(bins, left, has_missing),
    ]
    held = percent(rows.share(condition.covers(column)))
    label = f"The condition holds in {held} of the rows here"
    return (
        f'<svg class="spark" viewBox="0 0 {WIDTH} {2 * HALF + FOOT}" role="img" '
        f'aria-label="{text(label)}"><title>{text(label)}</title>'
        f"{''.join(parts)}</svg>"
    )


def picture_words(summary):
    """How to read the pictures, in a sentence or two of plain text."""
    outcome = summary.outcome
    whose = "y" if summary.rows.y is not None else "ensemble"
    by = summary.target if whose == "y" else "what the ensemble says"
    ending = "What the condition asks for is shaded, its cut is the line."
    if not outcome.n_classes:
        return (
            f"The small picture at a condition has the rows here by that feature, "
            f"coloured by the mean of {by}. {ending}"
        )
    above = "the answer of the rule is the class"
    if outcome.n_classes == 2:
        above = f"{by} is {outcome.answer_text(outcome.told_class)}"
    return (
        f"The small picture at a condition has the rows here by that feature: above "
        f"the line those of which {above}, below it the others, each side by its own "
        f"scale. {ending}"
    )


def _number_bins(column, condition, rules):
    """Bars of equal width, or one for each whole number where these are few."""
    there = column[~np.isnan(column)]
    lower, upper = condition.edges
    cuts = [edge for edge in (lower, upper) if math.isfinite(edge)]
    low, high = np.quantile(there, ENDS).tolist() if len(there) else (0.0, 1.0)
    low, high = min([low, *cuts]), max([high, *cuts])
    is_whole = bool(len(there)) and bool((there == np.floor(there)).all())
    if is_whole and high - low < MOST_BINS:
        low, high = math.floor(low + 0.5) - 0.5, math.ceil(high - 0.5) + 0.5
        n_bins = round(high - low)
    else:
        margin = 0.02 * (high - low) or 0.5
        low, high, n_bins = low - margin, high + margin, MOST_BINS
    code = np.full(len(column), -1)
    places = (there - low) / (high - low)
    code[~np.isnan(column)] = np.clip(np.floor(places * n_bins), 0, n_bins - 1)

    def place(value):
        return min(max((value - low) / (high - low), 0.0), 1.0)

    scale = rules.vocabulary.scales[condition.feature]
    ends = np.quantile(there, (0.0, 1.0)) if len(there) else ()
    names = [value_text(float(end), None, 4, scale) for end in ends]
    labels = list(zip((0.0, 1.0), names, strict=False))
    stretches = []
    if lower < upper:
        stretches = [
            (
                place(lower) if math.isfinite(lower) else 0.0,
                place(upper) if math.isfinite(upper) else 1.0,
            )
        ]
    return _Bins(code, n_bins, labels, stretches, [place(cut) for cut in cuts])


def _category_bins(column, condition, rules):
    """One bar for each category, and one for any other where there are such rows."""
    categories = rules.categories[condition.feature] or ()
    missing = np.isnan(column)
    n_known = len(categories)
    has_other = bool((column[~missing] >= n_known).any())
    n_bins = max(1, n_known + has_other)
    code = np.where(missing, -1, np.minimum(np.nan_to_num(column), n_bins - 1))
    names = [str(label) for label in categories] + ["other"] * has_other
    room = max(2, int(WIDTH / (6 * n_bins)))
    labels = [
        ((i + 0.5) / n_bins, name if len(name) <= room else f"{name[: room - 1]}…")
        for i, name in enumerate(names)
        if n_bins <= MOST_NAMES
    ]
    stretches = [
        (i / n_bins, (i + 1) / n_bins)
        for i in range(n_bins)
        if i in condition.categories
    ]
    return _Bins(code.astype(int), n_bins, labels, stretches, [])


def _x(place, left):
    return left + place * (WIDTH - left)


def _shades(bins, condition, left, has_missing):
    stretches = [(_x(a, left), _x(b, left)) for a, b in bins.stretches]
    if condition.missing and has_missing:
        stretches.append((0.0, left - GAP))
    return [
        f'<rect class="shade" x="{a:.1f}" y="0" width="{max(1.0, b - a):.1f}" '
        f'height="{2 * HALF}"/>'
        for a, b in stretches
    ]


def _class_bars(summary, k, bins, left, has_missing):
    """One class above the line, and all others below it."""
    rows, outcome = summary.rows, summary.outcome
    rule = list(rows.rules)[k]
    place = outcome.told_place(rule)
    is_class = rows.expected == rows.rules.classes[place]
    above = summary.table.colour(summary.table.rule_groups[k])
    below = "faint"
    if outcome.n_classes == 2:
        above, below = summary.table.colour(1), summary.table.colour(0)
    return [
        _bars(_heights(bins, rows.weight * mask), bins, left, has_missing, high, colour)
        for mask, high, colour in ((is_class, -HALF, above), (~is_class, HALF, below))
    ]


def _number_bars(summary, k, bins, left, has_missing):
    """All rows above the line, in a colour for each fifth of the answers."""
    rows = summary.rows
    heights = _heights(bins, rows.weight)
    groups = number_groups(rows)
    paths = []
    for code in range(-1, bins.n_bins):
        mean = rows.mean(rows.expected, bins.code == code)
        if mean is not None and heights[code] > 0:
            only = np.where(np.arange(len(heights)) == code % len(heights), heights, 0)
            colour = summary.table.colour(groups.of([mean])[0])
            paths.append(_bars(only, bins, left, has_missing, -2 * HALF, colour))
    return paths


def _heights(bins, weight):
    """From 0 to 1, one for each bar; the last is that of missing values."""
    sums = np.bincount(bins.code % (bins.n_bins + 1), weight, bins.n_bins + 1)
    heights = np.sqrt(sums)
    return heights / heights.max() if heights.max() > 0 else heights


def _base(rules):
    """Where bars begin: in the middle, or at the foot where all stand upright."""
    return HALF if rules.outcome.n_classes else 2 * HALF


def _bars(heights, bins, left, has_missing, highest, colour):
    """Bars of one colour as one path; `highest` is below 0 if they stand upright."""
    base = 2 * HALF if highest == -2 * HALF else HALF
    width = (WIDTH - left) / bins.n_bins
    parts = []
    for i, height in enumerate(heights):
        is_missing = i == bins.n_bins
        if height <= 0 or (is_missing and not has_missing):
            continue
        x = 0.0 if is_missing else left + i * width
        size = (left - GAP if is_missing else width) - min(1.0, 0.15 * width)
        long = math.copysign(max(1.0, height * (abs(highest) - 1)), highest)
        parts.append(f"M{x:.1f} {base}v{long:.1f}h{size:.1f}V{base}z")
    return f'<path d="{"".join(parts)}" fill="var(--{colour})"/>'


def _labels(bins, left, has_missing):
    texts = [(_x(place, left), label) for place, label in bins.labels]
    if has_missing:
        texts = [(0.0, "missing"), *texts[1:]]
    parts = []
    for x, label in texts:
        anchor = "start" if x <= 1 else "end" if x >= WIDTH - 1 else "middle"
        parts.append(
            f'<text x="{x:.1f}" y="{2 * HALF + FOOT - 3}" text-anchor="{anchor}">'
            f"{text(label)}</text>"
        )
    return parts
