"""rule_table: the rules as a drawn table."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from defragtrees._utils import formatting as render
from defragtrees.plots import style
from defragtrees.rules import text as sentences
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["rule_table"]

LINE = 1.35  # height of a line of text, in font sizes
PADDING = 0.7  # free height of a row of the table, in lines
GAP = 10.0  # between columns, in points
WIDTH, MARGIN = 550.0, 6.0  # of a new figure, in points
BOLD = 1.15  # how much wider bold letters are
SIZES = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0, 4.5, 4.0, 3.5, 3.0)


def rule_table(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """The rules as a table: if, then, share of rows and error.

    Without `ax` the figure is as tall as the rules need; in a given one the letters
    shrink until all rules fit.

    Parameters
    ----------
    rules : RuleModel
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 1.0)
    >>> rules = RuleList((warm,), Rule((), 0.0), ("degrees",), "regression")
    >>> ax = rule_table(rules)
    >>> [text.get_text() for text in ax.texts][2:5]
    ['1', 'degrees > 20', '1']
    """
    header, cells = _cells(rules)
    if ax is None:
        layout = _layout(header, cells, WIDTH, SIZES[0])
        # One point more than the text is high: rounding must not make it smaller.
        wide, high = WIDTH + 2 * MARGIN, layout.height + 2 * MARGIN + 1
        ax = style.axes_or_new(None, (wide / 72, high / 72))
        ax.figure.set_layout_engine("none")
        left, bottom = MARGIN / wide, MARGIN / high
        ax.set_position((left, bottom, 1 - 2 * left, 1 - 2 * bottom))
    box = ax.get_window_extent()
    scale = 72 / ax.figure.dpi
    for size in SIZES:
        layout = _layout(header, cells, box.width * scale, size)
        if layout.height <= box.height * scale:
            break
    _draw(ax, layout, max(box.height * scale, layout.height))
    return ax


def _cells(rules):
    """The words of the table, in fewer digits than elsewhere."""
    shares = None
    if rules.decision == "average" and rules.outcome.n_classes:
        shares = [style.shares_text(rules, rule) for rule in rules]
    return sentences.rule_table(
        rules,
        answer_texts=shares,
        weight_text=lambda weight: render.rounded(weight, 3),
        with_intervals=False,
    )


@dataclass(frozen=True)
class _Layout:
    """Where the words go, in points from the upper left corner."""

    size: float
    lefts: tuple[float, ...]
    lines: list[list[list[str]]]  # of each row of the table, of each cell
    width: float

    def row_height(self, row):
        n_lines = max(len(cell) for cell in row)
        return (n_lines * LINE + PADDING) * self.size

    @property
    def height(self):
        return sum(self.row_height(row) for row in self.lines)


def _layout(header, cells, points, size):
    table = [header, *cells]
    widths = [
        max(BOLD * style.width(header[j], size), *_widths(cells, j, size)) + GAP
        for j in range(len(header))
    ]
    # "then" may be a long list of class shares; "if" gets all that is left.
    widths[2] = min(widths[2], 0.25 * points)
    widths[1] = max(points - sum(widths) + widths[1], 0.2 * points)
    lines = [
        [
            style.wrap(cell, widths[j] - GAP, size) if j in (1, 2) else [cell]
            for j, cell in enumerate(row)
        ]
        for row in table
    ]
    lefts = tuple(sum(widths[:j]) for j in range(len(widths)))
    return _Layout(size, lefts, lines, points)


def _widths(cells, column, size):
    return [style.width(row[column], size) for row in cells]


def _draw(ax, layout, height):
    ax.set(xlim=(0, layout.width), ylim=(height, 0))
    ax.axis("off")
    top = 0.0
    for i, row in enumerate(layout.lines):
        below = top + layout.row_height(row)
        weight = "bold" if i == 0 else "normal"
        for left, cell in zip(layout.lefts, row, strict=True):
            # Line by line, so that letters of all cells stand on one line.
            for n, line in enumerate(cell):
                foot = top + (PADDING / 2 + 1 + n * LINE) * layout.size
                if line:
                    looks = {"size": layout.size, "weight": weight, "va": "baseline"}
                    ax.text(left + GAP / 2, foot, line, **looks)
        ax.axhline(below, color=style.GREY if i == 0 else style.PALE, lw=0.8)
        top = below
