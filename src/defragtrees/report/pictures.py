"""Charts of the page: inline SVG by matplotlib, and histograms beside conditions.

Charts by matplotlib are for readers without scripts and for print. Colours are CSS
variables of the page, so that one chart serves light, dark and print.

The histograms are drawn by `templates/parts.html.j2` and need neither matplotlib nor
scripts. Bars above the line are the rows of one class, bars below it all others; each
side has its own scale, and heights are square roots of shares, so that rare values
stay visible. For numbers the bars are all rows, coloured by the mean. The values that
the condition accepts are shaded.
"""

import io
import math
import re
import warnings
from dataclasses import dataclass

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.errors import MissingPackageError
from defragtrees.plots import style
from defragtrees.plots.picture import draw_picture
from defragtrees.report.text import percent, value_text

INCHES = 7.0  # width of a chart by matplotlib
LEGEND = 5.6  # inches available to a legend
KEY, LETTER = 0.55, 0.08  # inches of the key of a legend entry, and of a letter
PIXELS = 106  # per inch: width of the page by width of the chart
# matplotlib draws with placeholder colours, which become CSS variables afterwards.
STAND_INS = {
    **{f"g{k}": f"#fe00{k:02x}" for k in range(8)},
    **{f"s{k}": f"#fe01{k:02x}" for k in range(5)},
    **{f"{name}": f"#fe04{k:02x}" for k, name in enumerate(("ink", "quiet", "line"))},
    **{f"{name}": f"#fe05{k:02x}" for k, name in enumerate(("accent", "paper"))},
}
SETTINGS = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": STAND_INS["ink"],
    "axes.labelcolor": STAND_INS["ink"],
    "axes.edgecolor": STAND_INS["line"],
    "xtick.color": STAND_INS["quiet"],
    "ytick.color": STAND_INS["quiet"],
    "lines.markersize": 5,
}

# Sizes of a histogram in pixels; HALF is the maximum height of a bar.
WIDTH, HALF, FOOT = 190, 19, 13
GAP = 8  # between missing values and others
MOST_BINS = 24
MOST_NAMES = 4  # maximum number of categories named below their bars
ENDS = (0.01, 0.99)  # quantiles beyond which values count in the last bars


def can_draw():
    """Whether matplotlib is installed."""
    try:
        require("matplotlib", "A static picture")
    except MissingPackageError:
        return False
    return True


def draw_svg(name, picture):
    """Draw a Picture as SVG with the colours of the page and unique ids."""
    matplotlib = require("matplotlib", "A static picture")
    figure = require("matplotlib.figure", "A static picture")
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # Letters that matplotlib's font lacks are drawn by the browser.
        warnings.simplefilter("ignore", UserWarning)
        size = (INCHES, picture.height / PIXELS)
        canvas = figure.Figure(figsize=size, layout="constrained")
        ax = canvas.subplots()
        for part in (canvas, ax):
            part.patch.set_visible(False)
        handles, labels = draw_picture(picture, ax, STAND_INS)
        style.plain_legend(
            ax,
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=_columns(labels),
            title=picture.legend or None,
            alignment="left",
            borderpad=0,
            handlelength=1.4,
            columnspacing=1.4,
        )
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return _inlined(buffer.getvalue(), name)


def _columns(labels):
    """Number of legend entries that fit side by side."""
    longest = max((len(label) for label in labels), default=0)
    return max(1, min(5, int(LEGEND / (KEY + LETTER * longest))))


def _inlined(svg, name):
    """Make the SVG of matplotlib a part of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Ids must be unique among the charts of a page.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
    # The font of the page, in the sizes of the chart.
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    for variable, colour in STAND_INS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    return re.sub(r' (d|x|y|transform)="[^"]*"', _shortened, svg)


def _shortened(attribute):
    """Round coordinates to one decimal."""
    return re.sub(r"(\.\d)\d+", r"\1", attribute.group())


@dataclass(frozen=True, eq=False)
class _Bins:
    """Bins of a histogram: rows, labels and accepted values."""

    code: np.ndarray  # of each row; -1 for missing values
    n_bins: int
    labels: list[tuple[float, str]]  # position from 0 to 1, and text
    accepted: list[tuple[float, float]]  # from 0 to 1
    cuts: list[float]


def histogram(summary, k, condition):
    """Data of the histogram for a condition of rule k (from 0)."""
    rows, rules = summary.rows, summary.rules
    column = rows.matrix[:, condition.feature]
    make_bins = _number_bins if condition.categories is None else _category_bins
    bins = make_bins(column, condition, rules)
    has_missing = bool((bins.code < 0).any()) or condition.missing
    # Missing values have their own bar at the left.
    left = WIDTH / 12 + GAP if has_missing else 0.0

    def x(place):
        return left + place * (WIDTH - left)

    shades = [(x(a), max(1.0, x(b) - x(a))) for a, b in bins.accepted]
    if condition.missing and has_missing:
        shades.append((0.0, max(1.0, left - GAP)))
    labels = [(x(place), label) for place, label in bins.labels]
    if has_missing:
        labels = [(0.0, "missing"), *labels[1:]]
    base, make_bars = {
        "rates": (HALF, _class_bars),
        "mean": (2 * HALF, _number_bars),
    }[rules.outcome.statistic]
    bars = make_bars(summary, k, bins)
    return {
        "share": percent(rows.share(condition.covers(column))),
        "width": WIDTH,
        "height": 2 * HALF,
        "foot": FOOT,
        "base": base,
        "shades": shades,
        "cuts": [x(cut) for cut in bins.cuts],
        "bars": [
            (_bar_path(heights, highest, bins, left), colour)
            for heights, highest, colour in bars
        ],
        "labels": [
            (at, "start" if at <= 1 else "end" if at >= WIDTH - 1 else "middle", label)
            for at, label in labels
        ],
    }


def _number_bins(column, condition, rules):
    """Bins of equal width, or one per whole number if there are few."""
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
    accepted = []
    if lower < upper:
        accepted = [
            (
                place(lower) if math.isfinite(lower) else 0.0,
                place(upper) if math.isfinite(upper) else 1.0,
            )
        ]
    return _Bins(code, n_bins, labels, accepted, [place(cut) for cut in cuts])


def _category_bins(column, condition, rules):
    """One bin per category, and one for other values if there are any."""
    categories = rules.categories[condition.feature] or ()
    missing = np.isnan(column)
    n_known = len(categories)
    has_other = bool((column[~missing] >= n_known).any())
    n_bins = max(1, n_known + has_other)
    code = np.where(missing, -1, np.minimum(np.nan_to_num(column), n_bins - 1))
    names = [str(label) for label in categories] + ["other"] * has_other
    room = max(2, int(WIDTH / (6 * n_bins)))
    labels = [
        ((i + 0.5) / n_bins, name)
        for i, name in enumerate(_short_names(names, room))
        if n_bins <= MOST_NAMES
    ]
    accepted = [
        (i / n_bins, (i + 1) / n_bins)
        for i in range(n_bins)
        if i in condition.categories
    ]
    return _Bins(code.astype(int), n_bins, labels, accepted, [])


def _short_names(names, room):
    """Names of at most `room` letters; a shared start of long ones is left out."""
    long = [name for name in names if len(name) > room]
    shared = 0
    while len(long) > 1 and len({name[: shared + 1] for name in long}) == 1:
        shared += 1
    names = [f"…{name[shared:]}" if shared and name in long else name for name in names]
    return [name if len(name) <= room else f"{name[: room - 1]}…" for name in names]


def _class_bars(summary, k, bins):
    """Heights, maximum and colour of the bars of one class, and of all others."""
    rows, outcome = summary.rows, summary.outcome
    place = outcome.rate_index(list(rows.rules)[k])
    is_class = rows.expected == outcome.labels[place]
    above, below = summary.cards[k].colour, "faint"
    if outcome.is_binary:
        above, below = summary.colours.name(1), summary.colours.name(0)
    return [
        (_heights(bins, rows.weight * is_class), -HALF, above),
        (_heights(bins, rows.weight * ~is_class), HALF, below),
    ]


def _number_bars(summary, k, bins):
    """Bars of all rows, each in the colour of its mean."""
    rows = summary.rows
    heights = _heights(bins, rows.weight)
    bars = []
    for code in range(-1, bins.n_bins):
        mean = rows.mean(rows.expected, bins.code == code)
        if mean is not None and heights[code] > 0:
            alone = np.zeros(len(heights))
            alone[code] = heights[code]
            bars.append((alone, -2 * HALF, summary.colours.of([mean])[0]))
    return bars


def _heights(bins, weight):
    """Heights of the bars from 0 to 1; the last is that of missing values."""
    sums = np.bincount(bins.code % (bins.n_bins + 1), weight, bins.n_bins + 1)
    heights = np.sqrt(sums)
    return heights / heights.max() if heights.max() > 0 else heights


def _bar_path(heights, highest, bins, left):
    """Bars of one colour as one path; `highest` is negative for upright bars."""
    base = 2 * HALF if highest == -2 * HALF else HALF
    width = (WIDTH - left) / bins.n_bins
    parts = []
    for i, height in enumerate(heights):
        if height <= 0:
            continue
        is_missing = i == bins.n_bins
        x = 0.0 if is_missing else left + i * width
        size = (left - GAP if is_missing else width) - min(1.0, 0.15 * width)
        long = math.copysign(max(1.0, height * (abs(highest) - 1)), highest)
        parts.append(f"M{x:.1f} {base}v{long:.1f}h{size:.1f}V{base}z")
    return "".join(parts)
