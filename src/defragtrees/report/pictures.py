"""Pictures of a summary as inline SVG, for readers without scripts and for paper.

Colours are written as CSS variables of the page, so that one picture serves light,
dark and print.
"""

import io
import re
import warnings

from defragtrees._optional import require
from defragtrees.errors import MissingPackageError
from defragtrees.report.markup import RIGHT_TO_LEFT

__all__ = ["draw_pictures"]

WIDTH = 7.0  # inches
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
    "legend.frameon": False,
}
MARKERS = "osD^vP*X"
LONGEST_NAME = 30
MOST_ROWS = 400  # a still picture of more is large and no clearer


def draw_pictures(summary):
    """From name to SVG; empty if matplotlib is not installed.

    Parameters
    ----------
    summary : dict
        What `summarize` gave.
    """
    try:
        matplotlib = require("matplotlib", "A static picture")
        figure = require("matplotlib.figure", "A static picture")
    except MissingPackageError:
        return {}
    found = {}
    with matplotlib.rc_context(SETTINGS), warnings.catch_warnings():
        # A name in a script that matplotlib's own font lacks is drawn by the browser.
        warnings.simplefilter("ignore", UserWarning)
        if summary["path"]:
            found["path"] = _svg(figure, "path", 3.0, _path, summary)
        if summary["comparison"]:
            found["comparison"] = _svg(figure, "comparison", 3.2, _comparison, summary)
        plot = summary["plot"]
        if plot["shown"]:
            height = 0.8 + 0.48 * plot["shown"]
            found["rows"] = _svg(figure, "rows", height, _parallel, plot)
        for number, pair in enumerate(plot["maps"]):
            name = f"map-{number}"
            found[name] = _svg(figure, name, 4.6, _region, plot, pair)
    return found


def _svg(figure, name, height, fill, *arguments):
    """The SVG of one picture, with names of its own and the page's colours."""
    canvas = figure.Figure(figsize=(WIDTH, height), layout="constrained")
    ax = canvas.subplots()
    for part in (canvas, ax):
        part.patch.set_visible(False)
    fill(ax, *arguments)
    buffer = io.StringIO()
    canvas.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
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


def _path(ax, summary):
    path = summary["path"]
    points = path["points"]
    n_rules = [point["n_rules"] for point in points]
    errors = [point["error"] for point in points]
    spread = [point["standard_error"] for point in points]
    ax.errorbar(
        n_rules, errors, spread, fmt="o-", ms=5, color=STAND_INS["g0"], label="rules"
    )
    if path["chosen"] is not None:
        at = path["chosen"]
        ax.plot(
            n_rules[at], errors[at], "o", ms=12, mfc="none", mew=2,
            mec=STAND_INS["accent"], label="chosen",
        )  # fmt: skip
    _error_axes(ax, path["ensemble_error"], summary["task"])
    if len(n_rules) <= 25:
        ax.set_xticks(n_rules)


def _comparison(ax, summary):
    found = summary["comparison"]
    done = [row for row in found["rows"] if row["failure"] is None]
    for k, name in enumerate(dict.fromkeys(row["method"] for row in done)):
        own = sorted(
            (row["n_rules"], row["error"]) for row in done if row["method"] == name
        )
        x, y = zip(*own, strict=True)
        colour = STAND_INS[f"g{k % 8}"]
        ax.plot(x, y, f"{MARKERS[k % 8]}-", ms=6, color=colour, label=name)
    _error_axes(ax, found["ensemble_error"], summary["task"])


def _error_axes(ax, ensemble_error, task):
    ax.axhline(
        ensemble_error, color=STAND_INS["quiet"], ls="--", lw=1, label="ensemble"
    )
    ax.set(xlabel="number of rules", ylabel="error")
    ax.set_ylim(bottom=0)
    if task == "classification":
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g} %")
    else:
        ax.set_ylabel("squared error")
    _legend_above(ax, None)


def _drawn(plot):
    """Numbers of the rows of a still picture, and how to say which they are."""
    n_rows = len(plot["rows"]["number"])
    step = -(-n_rows // MOST_ROWS)
    ending = {2: "nd", 3: "rd"}.get(step, "th")
    words = "" if step == 1 else f" (every {step}{ending} row)"
    return range(0, n_rows, step), words


def _parallel(ax, plot):
    """One line a row; axes lie, so that names of any length stand beside them."""
    shown = plot["axes"][: plot["shown"]]
    drawn, words = _drawn(plot)
    collections = require("matplotlib.collections", "A static picture")
    for group, label in enumerate(plot["groups"]["labels"]):
        own = [i for i in drawn if plot["rows"]["says_group"][i] == group]
        if not own:
            continue
        lines = [[(axis["order"][i], y) for y, axis in enumerate(shown)] for i in own]
        colour = _colour(plot, group)
        # One path for each row: where many lie on one another the colour is stronger.
        ax.add_collection(
            collections.LineCollection(lines, colors=colour, lw=0.6, alpha=0.45)
        )
        ax.plot([], [], "-", color=colour, lw=2, label=label)
    for y, axis in enumerate(shown):
        _draw_axis(ax, axis, y)
    missing = [y for y, axis in enumerate(shown) if axis["has_missing"]]
    for y in missing:
        _label(ax, "missing", plot["missing_at"], y, -9, "center")
    ax.set_yticks(range(len(shown)), [_short(axis["name"]) for axis in shown])
    ax.tick_params(axis="y", length=0, labelcolor=STAND_INS["ink"])
    ax.set_xticks([])
    ax.set_xlim(plot["missing_at"] - 0.06 if missing else -0.03, 1.03)
    ax.set_ylim(len(shown) - 0.45, -0.4)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    _legend_above(ax, f"the rules say{words}", _n_columns(plot))


def _draw_axis(ax, axis, y):
    """A lying axis; equal values are a thick stretch, values stand below it."""
    ax.plot([0, 1], [y, y], color=STAND_INS["quiet"], lw=0.8, zorder=3)
    for low, high in axis["stretches"]:
        ax.plot(
            [low + 0.003, high - 0.003], [y, y], color=STAND_INS["quiet"], lw=3,
            zorder=3, solid_capstyle="butt",
        )  # fmt: skip
    for place, label in _thinned(axis["labels"]["order"], 0.013):
        _label(ax, label, place, y, -9)


def _label(ax, words, x, y, shift, align=None):
    if align is None:
        align = "left" if -0.1 < x < 0.03 else "right" if x > 0.97 else "center"
    ax.annotate(
        words, (x, y), (0, shift), textcoords="offset points", ha=align, va="center",
        fontsize=7.5, color=STAND_INS["quiet"], zorder=4,
        bbox={"fc": STAND_INS["paper"], "ec": "none", "alpha": 0.75, "pad": 0.8},
    )  # fmt: skip


def _thinned(labels, width):
    """Labels that do not touch each other; `width` is that of a letter."""
    kept = []
    for place, label in labels:
        label = _short(label, 14)
        room = width * (len(label) + len(kept[-1][1]) + 3) / 2 if kept else 0.0
        if not kept or place - kept[-1][0] >= room:
            kept.append((place, label))
    return kept


def _region(ax, plot, pair):
    """Rows at two features, and what the rules ask of the two."""
    across, up = plot["axes"][pair["x"]], plot["axes"][pair["y"]]
    corners = {}
    for box in pair["boxes"]:
        soft = f"{_prefix(plot)}{plot['rules'][box['rule']]['group']}-soft"
        for x0, x1, y0, y1 in box["order"]:
            ax.fill(
                [x0, x1, x1, x0],
                [y0, y0, y1, y1],
                facecolor=STAND_INS[soft] if box["is_filled"] else "none",
                edgecolor=STAND_INS["quiet"],
                ls="-" if box["is_whole"] else (0, (4, 3)),
                lw=0.9,
                zorder=1,
            )
            corners.setdefault((x0, y1), []).insert(0, str(box["rule"] + 1))
    for corner, numbers in corners.items():
        words = ", ".join(numbers[:6]) + ", …" * (len(numbers) > 6)
        _label(ax, words, *corner, -7, "left")
    words = _points(ax, plot, across, up)
    for axis, ticks, label, limit in (
        (across, ax.set_xticks, ax.set_xlabel, ax.set_xlim),
        (up, ax.set_yticks, ax.set_ylabel, ax.set_ylim),
    ):
        width = 0.015 if axis is across else 0.008
        missing = [(plot["missing_at"], "missing")] if axis["has_missing"] else []
        places = _thinned([*missing, *axis["labels"]["order"]], width)
        ticks([p for p, _ in places], [t for _, t in places])
        label(_short(axis["name"], 40))
        limit(plot["missing_at"] - 0.04 if axis["has_missing"] else -0.03, 1.03)
    _legend_above(ax, f"the ensemble says{words}", _n_columns(plot))


def _points(ax, plot, across, up):
    """Rows as dots, and as crosses where the rules differ; which rows, in words."""
    rows = plot["rows"]
    drawn, words = _drawn(plot)
    for group, label in enumerate(plot["groups"]["labels"]):
        for does_agree, marker, size in ((True, "o", 4), (False, "X", 6)):
            own = [
                i
                for i in drawn
                if rows["ensemble_group"][i] == group
                and (rows["agrees"] is None or rows["agrees"][i]) == does_agree
            ]
            if own:
                ax.plot(
                    [across["spread"][i] for i in own],
                    [up["spread"][i] for i in own],
                    marker,
                    ms=size,
                    mfc=_colour(plot, group),
                    mec=STAND_INS["paper"],
                    mew=0.4,
                    zorder=2 if does_agree else 3,
                    label=label if does_agree else f"{_alone(label)}, the rules differ",
                )
    return words


def _legend_above(ax, title, n_columns=4):
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=n_columns,
        title=title,
        alignment="left",
        borderpad=0,
        handlelength=1.4,
        columnspacing=1.4,
    )


def _n_columns(plot):
    return 5 if plot["groups"]["ordered"] else 4


def _prefix(plot):
    return "s" if plot["groups"]["ordered"] else "g"


def _colour(plot, group):
    return STAND_INS[f"{_prefix(plot)}{group}"]


def _alone(label):
    """A label that keeps its direction to itself, inside a longer text."""
    return f"\u2068{label}\u2069" if RIGHT_TO_LEFT.search(label) else label


def _short(name, longest=LONGEST_NAME):
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
