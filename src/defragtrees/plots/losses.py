"""Plot of segments by size and loss."""

from typing import TYPE_CHECKING

from defragtrees.plots import style
from defragtrees.segments.found import UNITS, Segments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 8  # of the text, in points
LETTERS = 250  # width of the text of a segment, in points
LINE, ROOM = 0.16, 0.22  # inches per line of text, and between segments


def segments(found: Segments, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean loss of each segment with its interval, beside its conditions.

    The area of a mark is in proportion to the number of rows; the dashed line is the
    mean of the rows in no segment.

    Parameters
    ----------
    found : Segments
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import find_segments
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> found = find_segments(X, (X[:, 0] > 0.8) * 1.0, loss_name="error")
    >>> segments(found).get_xlabel()
    'error'
    """
    texts = [
        style.wrap(f"{k}. {one.rule.text()} ({one.n_rows:,} rows)", LETTERS, SIZE)
        for k, one in enumerate(found, start=1)
    ]
    heights = [LINE * len(lines) + ROOM for lines in texts]
    ax = style.axes_or_new(ax, (7.5, 1.0 + sum(heights)))
    places, top = [], 0.0
    for height in heights:
        places.append(top + height / 2)
        top += height
    for place, one in zip(places, found, strict=True):
        ax.plot(one.interval, [place, place], color=style.COLOURS[1], lw=2)
        ax.scatter(
            [one.mean],
            [place],
            s=20 + 400 * one.share,
            color=style.COLOURS[1],
            zorder=3,
        )
    ax.axvline(found.rest, color=style.GREY, ls="--", lw=1)
    lines = ["\n".join(lines) for lines in texts]
    ax.set_yticks(places, labels=lines, fontsize=SIZE, multialignment="left")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(top, ROOM), 0)
    write = UNITS[found.unit][0]
    ax.text(
        found.rest,
        0,
        f" rest: {write(found.rest)} ",
        fontsize=SIZE,
        ha="left" if found.direction == "high" else "right",
        va="bottom",
    )
    if not len(found):
        ax.text(0.5, 0.5, "no segment", transform=ax.transAxes, ha="center")
    ax.xaxis.set_major_formatter(lambda value, _: write(value))
    ax.set_xlabel(style.plain(found.loss_name))
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax
