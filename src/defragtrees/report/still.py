"""Pictures as inline SVG, for readers without scripts and for paper.

Colours are written as CSS variables of the page, so that one picture serves light,
dark and print.
"""

import io
import re
import warnings

from defragtrees._utils.optional import require
from defragtrees.errors import MissingPackageError
from defragtrees.plots import style
from defragtrees.plots.picture import draw_picture, which_rows

__all__ = ["can_draw", "draw_svg"]

WIDTH = 7.0  # inches
LEGEND = 5.6  # inches that a legend may have beside the names of an axis
KEY, LETTER = 0.55, 0.08  # inches of the mark of an entry, and of each letter
PIXELS = 106  # to an inch: the page's width by ours
# matplotlib draws with colours that nobody else uses; afterwards they become variables.
STAND_INS = {
    **{f"g{k}": f"#fe00{k:02x}" for k in range(8)},
    **{f"s{k}": f"#fe01{k:02x}" for k in range(5)},
    **{f"g{k}-soft": f"#fe02{k:02x}" for k in range(8)},
    **{f"s{k}-soft": f"#fe03{k:02x}" for k in range(5)},
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


def can_draw():
    """Whether matplotlib is installed."""
    try:
        require("matplotlib", "A static picture")
    except MissingPackageError:
        return False
    return True


def draw_svg(name, picture, rows):
    """A picture as SVG, with the page's colours and names of its own.

    Parameters
    ----------
    name : str
    picture : Picture
    rows : RowTable
    """
    matplotlib = require("matplotlib", "A static picture")
    figure = require("matplotlib.figure", "A static picture")
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # A name in a script that matplotlib's own font lacks is drawn by the browser.
        warnings.simplefilter("ignore", UserWarning)
        size = (WIDTH, picture.height / PIXELS)
        canvas = figure.Figure(figsize=size, layout="constrained")
        ax = canvas.subplots()
        for part in (canvas, ax):
            part.patch.set_visible(False)
        handles, labels = draw_picture(picture, ax, STAND_INS, rows)
        style.plain_legend(
            ax,
            handles,
            labels,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=_columns(labels),
            title=_legend_title(picture, rows),
            alignment="left",
            borderpad=0,
            handlelength=1.4,
            columnspacing=1.4,
        )
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None})
    return _inlined(buffer.getvalue(), name)


def _columns(labels):
    """As many entries side by side as the picture has room for."""
    longest = max((len(label) for label in labels), default=0)
    return max(1, min(5, int(LEGEND / (KEY + LETTER * longest))))


def _legend_title(picture, rows):
    """What the colours are, and which rows are drawn if they are not all."""
    has_dots = any(mark.kind == "row_dots" for mark in picture.marks)
    return f"{picture.legend}{which_rows(rows)[1] if has_dots else ''}" or None


def _inlined(svg, name):
    """The SVG of matplotlib as a part of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    # Several pictures live on one page, and their names must differ.
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
    # The page's own font, in the picture's sizes.
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    for variable, colour in STAND_INS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    return re.sub(r' (d|x|y|transform)="[^"]*"', _shortened, svg)


def _shortened(attribute):
    """Coordinates with one digit after the point, a hundredth of a millimetre or so."""
    return re.sub(r"(\.\d)\d+", r"\1", attribute.group())
