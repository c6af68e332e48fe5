"""Charts of the page: a Picture as inline SVG.

Every chart is drawn twice, for wide pages and for phones, and the style sheet shows
one of the two: letters keep their size, and labels avoid each other at both widths.
Colours are CSS variables, so that one chart serves light, dark and print.
"""

import math

import numpy as np

from defragtrees._utils.formatting import middle_cut, true_minus
from defragtrees._utils.values import round_significant
from defragtrees.plots.picture import RIGHT_TO_LEFT, Level
from defragtrees.plots.style import tick_text
from defragtrees.report.text import Html, escaped, name

WIDTHS = {"wide": 760, "narrow": 340}
SIZE, LINE = 12, 15  # of letters, and from line to line
PIXELS_PER_TICK = {"x": 70, "y": 55}
COUNTS = 28  # pixels per tick at whole numbers
MARGIN = 0.05  # around the points of an axis without limits
DASHES = {"-": "", "--": "6 4", ":": "2 3", "-.": "7 3 2 3"}
MARKERS = {
    "o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "s": "M-3.6-3.6h7.2v7.2h-7.2z",
    "D": "M0-5L5 0L0 5L-5 0z",
    "^": "M0-4.8L4.8 3.6H-4.8z",
    "v": "M0 4.8L4.8-3.6H-4.8z",
    "P": "M-1.7-5h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3v-3.4h3.3z",
    "*": "M0-6L2-2L6-2L3 1L4 5L0 3L-4 5L-3 1L-6-2L-2-2z",
    "X": "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0z",
    "ring": "M-8.5 0a8.5 8.5 0 1 0 17 0a8.5 8.5 0 1 0-17 0z",
}
# Where the number of a point may lie, first to the upper right.
ANGLES = np.radians(np.arange(-45, 315, 22.5))
DIRECTIONS = list(zip(np.cos(ANGLES).tolist(), np.sin(ANGLES).tolist(), strict=True))
# Widths of letters in ems: those of DejaVu Sans, as other fonts are narrower.
EMS = {
    **dict.fromkeys("ijlI.,:;'|", 0.34),
    **dict.fromkeys("tfr()[]- ", 0.41),
    **dict.fromkeys("mwMW@%", 0.97),
}


def draw(picture):
    """The legend of a Picture as HTML, and its chart at two widths as SVG."""
    charts = (_Chart(picture, *one).svg() for one in WIDTHS.items())
    return Html(_legend(picture)), Html("".join(charts))


def text_width(text, size=SIZE):
    """Width of a text in pixels, at most, in a usual sans-serif font.

    Examples
    --------
    >>> text_width("10%") < text_width("100%") < text_width("estimated")
    True
    """
    ems = (EMS.get(c) or (1.0 if c > "\u2e7f" else 0.64) for c in text)
    return size * sum(ems)


def svg_text(text):
    r"""Text for SVG, in which right-to-left passages are isolated.

    Examples
    --------
    >>> svg_text("a<b"), svg_text("\u05d0 > 1") == "\u2068\u05d0\u2069 &gt; 1"
    ('a&lt;b', True)
    """
    return RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", escaped(text))


def text_at(x, y, text, anchor="start", kind=""):
    """A text element; `kind` is its CSS class."""
    look = f' class="{kind}"' if kind else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{look} {place}>{svg_text(text)}</text>"


def nice_ticks(low, high, n_ticks, is_count=False):
    """Round numbers from `low` to `high`, about so many.

    Examples
    --------
    >>> nice_ticks(0.03, 0.97, 5), nice_ticks(0.4, 5.6, 9, is_count=True)
    ([0.2, 0.4, 0.6, 0.8], [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    least = (high - low) / max(1, n_ticks)
    power = 10.0 ** math.floor(math.log10(least)) if least > 0 else 1.0
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= 0.85 * least)
    if is_count:
        step = max(1.0, math.ceil(step))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round_significant(i * step, 12) for i in range(first, last + 1)]


def _legend(picture):
    """What the marks are, as a list that wraps."""
    entries = []
    for mark in picture.marks:
        if isinstance(mark, Level):
            line, marker, colour = "--", "", "quiet"
        else:
            line, marker, colour = mark.line, mark.marker, mark.colour
        parts = [_stroke("M0 7H26", colour, line)] if line and marker != "ring" else []
        parts += [_marker(marker, colour, 13, 7)] if marker else []
        key = f'<svg aria-hidden="true" viewBox="0 0 26 14">{"".join(parts)}</svg>'
        entries.append(f"<li>{key}<span>{name(mark.label)}</span></li>")
    return f'<ul class="legend" role="list">{"".join(entries)}</ul>'


def _stroke(path, colour, line="-"):
    dash = f' stroke-dasharray="{DASHES[line]}"' if DASHES[line] else ""
    return f'<path class="curve" d="{path}" stroke="var(--{colour})"{dash}/>'


def _marker(marker, colour, x, y):
    kind = "ring" if marker == "ring" else "marker"
    paint = "stroke" if marker == "ring" else "fill"
    return (
        f'<path class="{kind}" d="{MARKERS[marker]}" {paint}="var(--{colour})" '
        f'transform="translate({x:.1f} {y:.1f})"/>'
    )


class _Chart:
    """A Picture at one width."""

    def __init__(self, picture, kind, width):
        self.picture, self.kind, self.width = picture, kind, width
        self.height = picture.height
        self.limits = {
            side: _limits(picture, side, getattr(picture, side)) for side in "xy"
        }
        # The title of the y axis lies above it, and each title has at most two lines.
        self.titles = {
            side: _wrapped(getattr(picture, side).title, width - 20) for side in "xy"
        }
        self.top = 10 + LINE * len(self.titles["y"])
        self.bottom = self.height - 26 - LINE * len(self.titles["x"])
        self.left, self.right = 0.0, width - 12.0
        self.ticks = {"y": self._ticks("y")}
        widths = (text_width(text) for _, text in self.ticks["y"])
        self.left = max(widths, default=0) + 12.0
        self.ticks["x"] = self._ticks("x")

    def x(self, value):
        """Pixels from the left."""
        low, high = self.limits["x"]
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value):
        """Pixels from the top; what is outside the limits is drawn at the edge."""
        low, high = self.limits["y"]
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return self.bottom - share * (self.bottom - self.top)

    def _ticks(self, side):
        """Places and texts of the ticks of an axis."""
        axis = getattr(self.picture, side)
        length = self.right - self.left if side == "x" else self.bottom - self.top
        low, high = self.limits[side]
        least = COUNTS if axis.is_count else PIXELS_PER_TICK[side]
        for n_ticks in range(max(1, int(length // least)), 0, -1):
            places = nice_ticks(low, high, n_ticks, axis.is_count)
            ticks = [(place, axis_text(place, axis.is_share)) for place in places]
            widest = max((text_width(text) for _, text in ticks), default=0)
            # Texts of the x axis lie side by side.
            if side == "y" or len(ticks) * (widest + 12) <= length:
                break
        return ticks

    def _across(self, y):
        return f"M{self.left:.1f} {y:.1f}H{self.right:.1f}"

    def svg(self):
        """The chart as SVG."""
        parts = [*self._axes(), *map(self._mark, self.picture.marks), *self._numbers()]
        return (
            f'<svg class="{self.kind}" aria-hidden="true" focusable="false" '
            f'viewBox="0 0 {self.width} {self.height}">{"".join(parts)}</svg>'
        )

    def _axes(self):
        for value, text in self.ticks["y"]:
            y = self.y(value)
            yield f'<path class="grid" d="{self._across(y)}"/>'
            yield text_at(self.left - 6, y + 4, text, "end")
        yield f'<path class="axis" d="{self._across(self.bottom)}"/>'
        for value, text in self.ticks["x"]:
            x = self.x(value)
            yield f'<path class="axis" d="M{x:.1f} {self.bottom}v4"/>'
            x = min(x, self.width - text_width(text) / 2)
            yield text_at(x, self.bottom + 17, text, "middle")
        for i, line in enumerate(self.titles["y"]):
            yield text_at(0, LINE * (i + 1) - 3, line, kind="title")
        for i, line in enumerate(self.titles["x"]):
            half = text_width(line) / 2
            x = min(max((self.left + self.right) / 2, half), self.width - half)
            y = self.bottom + 20 + LINE * (i + 1)
            yield text_at(x, y, line, "middle", "title")

    def _mark(self, mark):
        if isinstance(mark, Level):
            line = _stroke(self._across(self.y(mark.y)), "quiet", "--")
            return _titled(line, mark.text or mark.label)
        points = [(self.x(x), self.y(y)) for x, y in zip(mark.x, mark.y, strict=True)]
        parts = []
        if mark.line and mark.marker != "ring":
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(_stroke(path, mark.colour, mark.line))
        if not mark.marker:
            if mark.reach:
                ends = [
                    (x, end) for x, (end, _) in zip(mark.x, mark.reach, strict=True)
                ]
                back = zip(mark.x[::-1], mark.reach[::-1], strict=True)
                ends += [(x, end) for x, (_, end) in back]
                path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in ends)
                look = f'fill="var(--{mark.colour})" fill-opacity=".15"'
                parts.append(f'<path d="M{path}z" {look}/>')
            return _titled("".join(parts), mark.label)
        texts = mark.texts or [""] * len(points)
        for (x, y), reach, text in zip(points, _reaches(mark), texts, strict=True):
            shape = _marker(mark.marker, mark.colour, x, y)
            if reach is not None:
                low, high = self.y(reach[0]), self.y(reach[1])
                ends = f"M{x - 3:.1f} {low:.1f}h6M{x:.1f} {low:.1f}V{high:.1f}m-3 0h6"
                look = f'class="interval" stroke="var(--{mark.colour})"'
                shape = f'<path {look} d="{ends}"/>{shape}'
            parts.append(_titled(shape, "\n".join(filter(None, (mark.title, text)))))
        return "".join(parts)

    def _numbers(self):
        """Numbers beside their points, where there is room for them."""
        marks = [mark for mark in self.picture.marks if not isinstance(mark, Level)]
        points = [
            (self.x(x), self.y(y), str(number))
            for mark in marks
            for x, y, number in zip(mark.x, mark.y, mark.numbers or (), strict=False)
        ]
        taken = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
        bars = [
            (self.x(x) - 1, self.y(reach[1]), self.x(x) + 1, self.y(reach[0]))
            for mark in marks
            for x, reach in zip(mark.x, _reaches(mark), strict=True)
            if reach is not None
        ]
        for x, y, number in points:
            spots = self._spots(x, y, text_width(number, 12))
            free = [b for b in spots if not any(_overlap(b, one) for one in taken)]
            if free:  # Otherwise the table and the text on hover have it.
                box = min(free, key=lambda b: sum(_overlap(b, bar) for bar in bars))
                taken.append(box)
                middle = (box[0] + box[2]) / 2
                yield text_at(middle, box[3] - 2, number, "middle", "number")

    def _spots(self, x, y, width):
        """Boxes beside a point and inside the chart, the nearest first."""
        for distance in (7, 13, 18):
            for across, down in DIRECTIONS:
                left = x + across * (distance + width / 2) - width / 2
                top = y + down * (distance + 5) - 6
                is_across = self.left <= left <= self.width - width
                if is_across and self.top - 12 <= top <= self.bottom - 12:
                    yield left, top, left + width, top + 12


def _overlap(one, other):
    is_across = one[0] < other[2] and other[0] < one[2]
    return is_across and one[1] < other[3] and other[1] < one[3]


def _titled(shape, text):
    return f"<g><title>{svg_text(text)}</title>{shape}</g>" if text else shape


def axis_text(value, is_share):
    """A round number at an axis."""
    if is_share:
        return f"{round_significant(100 * value, 4):g}%"
    return true_minus(tick_text(value))


def _reaches(mark):
    """Ends of the interval of each point, or None."""
    reaches = mark.reach
    if reaches is None:
        spreads = mark.spread or [math.nan] * len(mark.y)
        reaches = [(y - by, y + by) for y, by in zip(mark.y, spreads, strict=True)]
    return [None if math.isnan(sum(ends)) else ends for ends in reaches]


def _limits(picture, side, axis):
    """The limits of an axis: those given, or room around all points."""
    if axis.limits is not None:
        return axis.limits
    values = []
    for mark in picture.marks:
        if isinstance(mark, Level):
            values += [mark.y] if side == "y" else []
            continue
        values += getattr(mark, side)
        if side == "y":
            values += [end for reach in _reaches(mark) if reach for end in reach]
    values = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(values), max(values)
    if axis.is_count:
        return 0.4, max(1, high) + 0.6
    room = MARGIN * (high - low) or MARGIN * abs(high) or 0.5
    if axis.starts_at_zero:
        return 0.0, high + room
    return low - room, high + room


def _wrapped(text, width):
    """A title in at most two lines; the second loses its middle if it is too long."""
    text = " ".join(text.split())
    lines = [""]
    for word in text.split(" ") if text else []:
        joined = f"{lines[-1]} {word}".strip()
        if text_width(joined) <= width or not lines[-1] or len(lines) == 2:
            lines[-1] = joined
        else:
            lines.append(word)
    return [middle_cut(line, width, text_width) for line in lines if line]
