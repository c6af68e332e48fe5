"""Flow chart of a rule list: one question after the other."""

from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.plots import style
from defragtrees.plots.rules import rule_look
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import RuleList

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE, SMALL, LINE = 11.0, 9.5, 1.35  # letters in points; a line in letters
QUESTION, BETWEEN, ANSWER = 236.0, 66.0, 156.0  # widths in points
STEM, THINNEST = 60.0, 1.5  # width of the band of all rows, and of any band
PAD, GAP, MARGIN = 6.0, 20.0, 4.0  # in a box, between two questions, around the chart


def flow(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Draw a rule list as a flow chart of questions and predictions.

    A row goes down from question to question, and to the right where the answer is yes.
    The width of a band is the share of the training rows that take it.

    Parameters
    ----------
    rules : RuleList
    ax : matplotlib Axes, optional
        By default a new figure, as large as the rules need; in given Axes the chart
        and its letters shrink until they fit.

    Examples
    --------
    >>> [text.get_text() for text in flow(numeric).texts]
    ['degrees > 20?', 'yes', 'no', '9', '1']
    """
    if not isinstance(rules, RuleList):
        raise ValueError(
            f"A flow chart needs a rule list; got a {type(rules).__name__}. Fit with "
            "form='list', or draw plots.risks."
        )
    header, rows = rules._view.cells()
    questions = []
    for row in rows[:-1]:
        *others, last = render.lines_of(row[1])
        texts = (
            style.wrap(text, QUESTION - 2 * PAD, SIZE) for text in (*others, f"{last}?")
        )
        questions.append([line for lines in texts for line in lines])
    answers, counts = zip(*(_answer(header, row) for row in rows), strict=True)
    shares = np.nan_to_num([rule.share for rule in rules])
    bands = np.maximum(STEM * shares, THINNEST)
    boxes = [_height([SIZE] * len(lines)) for lines in questions]
    places = [_height([SIZE] + [SMALL] * (len(lines) - 1)) for lines in answers]
    heights = np.maximum(np.maximum([*boxes, 0.0], places), bands)
    middles = np.cumsum(heights + GAP) - GAP - heights / 2
    across, down = QUESTION + BETWEEN + ANSWER, float(middles[-1] + heights[-1] / 2)
    whole = np.array([across, down]) + 2 * MARGIN
    if ax is None:
        ax = style.axes_or_new(None, tuple(whole / 72))
        figure: Any = ax.figure
        figure.set_layout_engine("none")
        ax.set_position((0, 0, 1, 1))
    ax.set(xlim=(-MARGIN, across + MARGIN), ylim=(down + MARGIN, -MARGIN))
    ax.set_aspect("equal", anchor="NW")
    ax.axis("off")
    scale = min(1.0, float((style.size_in_points(ax) / whole).min()))
    ink = style.part("pyplot").rcParams["text.color"]
    colours = [rule_look(rules, rule)["color"] for rule in rules]
    left, n_questions = (QUESTION - STEM) / 2, len(questions)
    answer = QUESTION + BETWEEN  # its left end
    words: dict[str, Any] = {"size": SMALL * scale, "color": ink, "alpha": 0.75}
    under_band = words | {"ha": "right", "va": "top"}
    for k, question in enumerate(questions):
        # The rows that are left go down; in the end they turn to the right.
        is_last = k + 1 == n_questions
        remaining = bands[-1] if is_last else max(STEM * (1 - shares[: k + 1].sum()), 1)
        end = middles[k + 1] + (bands[-1] / 2 if is_last else 0.0)
        look = (colours[-1], 0.45) if is_last else (ink, 0.15)
        _rectangle(ax, left, middles[k], left + remaining, end, look)
        top, bottom = middles[k] - bands[k] / 2, middles[k] + bands[k] / 2
        _rectangle(ax, QUESTION, top, answer, bottom, (colours[k], 0.45))
        _box(ax, 0.0, middles[k], QUESTION, boxes[k], ink)
        _text(ax, question, QUESTION / 2, middles[k], [SIZE] * len(question), scale)
        ax.text(QUESTION + 5, top - 2, "yes", va="bottom", **words)
        under = middles[k] + boxes[k] / 2 + 2
        ax.text(left - 5, under, "no", ha="right", va="top", **words)
    for k, lines in enumerate(answers):
        if counts[k]:
            ax.text(answer - 5, middles[k] + bands[k] / 2 + 2, counts[k], **under_band)
        if k == n_questions:
            top, bottom = middles[k] - bands[k] / 2, middles[k] + bands[k] / 2
            start = left + bands[-1] if n_questions else 0.0
            _rectangle(ax, start, top, answer, bottom, (colours[k], 0.45))
        _box(ax, answer, middles[k], ANSWER, places[k], colours[k], (colours[k], 0.15))
        sizes = [SIZE] + [SMALL] * (len(lines) - 1)
        _text(ax, lines, answer + ANSWER / 2, middles[k], sizes, scale)
    return ax


def _answer(header, row):
    """The lines of an answer, the prediction first, and the rows behind it."""
    cells = dict(zip(header[2:], map(render.one_line, row[2:]), strict=True))
    n_rows, interval = cells.pop("rows", ""), cells.pop("95% interval", "")
    (_, then), *measured = cells.items()
    texts = [f"{name}: {value}" for name, value in measured if value]
    if texts and interval:
        texts[-1] += f" ({interval})"
    small = [
        line for text in texts for line in style.wrap(text, ANSWER - 2 * PAD, SMALL)
    ]
    counted = f"{n_rows} rows" if n_rows else ""
    if style.width(counted, SMALL) > BETWEEN - 5:
        counted = n_rows
    return [*style.wrap(then, ANSWER - 2 * PAD, SIZE, most=1), *small], counted


def _height(sizes):
    return LINE * sum(sizes) + 2 * PAD


def _rectangle(ax, left, top, right, bottom, colour):
    patch = style.part("patches").Rectangle
    ends = (left, top), right - left, bottom - top
    ax.add_patch(patch(*ends, facecolor=colour, edgecolor="none", zorder=1))


def _box(ax, left, middle, width, height, edge, fill=None):
    """A box with round corners, in which no band shows through."""
    make = style.part("patches").FancyBboxPatch
    look = {"boxstyle": "round,pad=0,rounding_size=5", "zorder": 2}
    place = (left, middle - height / 2), width, height
    paper = style.part("pyplot").rcParams["axes.facecolor"]
    ax.add_patch(make(*place, facecolor=paper, edgecolor="none", **look))
    ax.add_patch(make(*place, facecolor=fill or "none", edgecolor=edge, lw=1.1, **look))


def _text(ax, lines, x, middle, sizes, scale):
    """Centred lines, the first of an answer in bold."""
    top = middle - LINE * sum(sizes) / 2
    is_answer = len(set(sizes)) > 1 or x > QUESTION
    for i, (line, size) in enumerate(zip(lines, sizes, strict=True)):
        place = top + LINE * size / 2
        weight = "bold" if is_answer and not i else "normal"
        look = {"ha": "center", "va": "center", "size": size * scale, "zorder": 3}
        ax.text(x, place, line, weight=weight, **look)
        top += LINE * size
